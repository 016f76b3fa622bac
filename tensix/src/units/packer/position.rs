//! Tile position generator and edge masking.
//!
//! Rows packed since the start of the tile have a position in it, which selects the columns that
//! pass. `Last` starts the next tile: the page does not say so, vectors show it.
//!
//! Source: `[isa-bh: TensixCoprocessor/PACR.md]`,
//! `[isa-wh: TensixCoprocessor/Packers/EdgeMasking.md]`.

use super::early::Row;
use super::formats::Class;
use super::settings::Settings;

/// Position inside the tile of the next row read from Dst.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TilePosition {
    /// Counts rows and returns to zero at the end of a plane.
    pub(crate) inner: u8,
    /// Counts planes.
    pub(crate) outer: u8,
}

impl TilePosition {
    /// Y and Z of the row `ahead` rows further.
    #[inline]
    pub(crate) const fn yz(self, ahead: u8, settings: &Settings<'_>) -> (u32, u32) {
        let (inner, outer) = (self.inner.wrapping_add(ahead) as u32, self.outer as u32);
        if settings.is_yz_transposed() { (outer, inner) } else { (inner, outer) }
    }

    /// Moves on by `rows`; whether that completed a plane. A plane is complete only when the
    /// count lands on its size: steps over it are not noticed.
    #[inline]
    pub(crate) const fn advance(&mut self, rows: u8, settings: &Settings<'_>) -> bool {
        self.inner = self.inner.wrapping_add(rows);
        let complete = self.inner as u32 == settings.rows_per_plane();
        if complete {
            self.inner = 0;
            self.outer = self.outer.wrapping_add(1);
        }
        complete
    }

    /// Columns of the row `ahead` rows further that pass.
    #[inline]
    pub(crate) const fn edge_mask(self, ahead: u8, settings: &Settings<'_>) -> u16 {
        let (y, z) = self.yz(ahead, settings);
        settings.edge_mask(settings.row_mapping(settings.z_offset() + z), y)
    }
}

/// Replaces the datums whose bit in `mask` is clear.
pub(crate) fn apply(row: &mut Row, mask: u16, replacement: u32) {
    for (column, datum) in row.iter_mut().enumerate() {
        if mask >> column & 1 == 0 {
            *datum = replacement;
        }
    }
}

/// Negative infinity as an intermediate datum. Types with five exponent bits have their greatest
/// magnitude there `[isa-wh: TensixCoprocessor/FloatBitPatterns.md]`; integers are not specified
/// and get theirs [unknown: U-049].
pub(crate) const fn negative_infinity(class: Class) -> u32 {
    match class {
        Class::Exponent8 => 0xFF80_0000,
        Class::Exponent5 => 0xFFFF_0000,
        Class::Integer => 0xFFFF_FFFF,
    }
}
