//! Zero compression: runs of zeroes become counts beside the datums before them.
//!
//! A kept datum carries a four-bit count of the zeroes elided after it. Datums go out in groups of
//! 32, followed by their 32 counts in 16 bytes. The first and last datum of a compression row are
//! always kept. Row start indices count kept datums from the start of the tile.
//!
//! The documents give the format, not the encoder [unknown: U-044]: here a run is
//! elided as far as its count reaches, and zero means all bits zero.
//!
//! Source: `[isa-wh: TensixCoprocessor/Packers/Compression.md]`.

use super::early::Row;

/// Datums in a group.
const GROUP: usize = 32;
/// Greatest count.
const RUN: u8 = 15;

/// A full or final group: 32 datums of which `count` are meant, and their counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub(crate) datums: [Row; 2],
    pub(crate) count: u8,
    runs: [u8; GROUP],
}

impl Group {
    const EMPTY: Self = Self { datums: [[0; 16]; 2], count: 0, runs: [0; GROUP] };

    /// The 16 bytes of counts, low nibble first.
    pub(crate) fn counts(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(self.runs.chunks_exact(2)) {
            *byte = pair[0] | pair[1] << 4;
        }
        bytes
    }

    fn last_run(&mut self) -> &mut u8 {
        &mut self.runs[usize::from(self.count).saturating_sub(1) % GROUP]
    }

    fn keep(&mut self, datum: u32) {
        let at = usize::from(self.count) % GROUP;
        self.datums[at / 16][at % 16] = datum;
        self.count += 1;
    }
}

/// The encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Compressor {
    group: Group,
    /// Datums kept since the start of the tile.
    kept: u16,
    /// Rows finished in this tile.
    rows: u32,
    /// A row has begun.
    in_row: bool,
    /// The row's latest datum was elided.
    elided: bool,
    /// Every datum of the row was zero.
    all_zero: bool,
}

impl Default for Compressor {
    fn default() -> Self {
        Self {
            group: Group::EMPTY,
            kept: 0,
            rows: 0,
            in_row: false,
            elided: false,
            all_zero: false,
        }
    }
}

/// What ends with a compression row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowEnd {
    /// Index behind the row's last datum; the next row starts there.
    pub(crate) index: u16,
    /// Number of the row in its tile.
    pub(crate) row: u32,
    /// Whether all its datums were zero.
    pub(crate) all_zero: bool,
}

impl Compressor {
    /// Whether nothing of the tile has come yet.
    pub(crate) const fn is_new_tile(&self) -> bool {
        self.rows == 0 && !self.in_row
    }

    /// Takes a datum; a group that it pushed out.
    pub(crate) fn push(&mut self, datum: u32) -> Option<Group> {
        let first = !self.in_row;
        self.all_zero = datum == 0 && (first || self.all_zero);
        self.in_row = true;
        self.elided = datum == 0 && !first && *self.group.last_run() < RUN;
        if self.elided {
            *self.group.last_run() += 1;
            return None;
        }
        self.keep(datum)
    }

    /// A group leaves when the datum behind it comes: only then are its counts final.
    fn keep(&mut self, datum: u32) -> Option<Group> {
        let full = usize::from(self.group.count) == GROUP;
        let done = full.then(|| std::mem::replace(&mut self.group, Group::EMPTY));
        self.group.keep(datum);
        self.kept = self.kept.wrapping_add(1);
        done
    }

    /// Ends the row, if one has begun; a group that this pushed out.
    pub(crate) fn end_row(&mut self) -> Option<(RowEnd, Option<Group>)> {
        if !self.in_row {
            return None;
        }
        // The last datum is kept even if it is zero.
        let group = if self.elided {
            *self.group.last_run() -= 1;
            self.keep(0)
        } else {
            None
        };
        let end = RowEnd { index: self.kept, row: self.rows, all_zero: self.all_zero };
        (self.in_row, self.elided) = (false, false);
        self.rows = self.rows.wrapping_add(1);
        Some((end, group))
    }

    /// Ends the tile; the last group, if it has datums.
    pub(crate) fn finish(&mut self) -> Option<Group> {
        let group = std::mem::take(self).group;
        (group.count != 0).then_some(group)
    }

    /// Words that determine the future.
    pub(crate) fn state_words(&self, mut word: impl FnMut(u32)) {
        let Self { group, kept, rows, in_row, elided, all_zero } = self;
        let Group { datums, count, runs: _ } = group;
        datums.iter().flatten().for_each(|&datum| word(datum));
        for runs in group.counts().chunks_exact(4) {
            word(u32::from_le_bytes([runs[0], runs[1], runs[2], runs[3]]));
        }
        word(u32::from(*count) | u32::from(*kept) << 16);
        word(*rows);
        word(u32::from(*in_row) | u32::from(*elided) << 1 | u32::from(*all_zero) << 2);
    }
}
