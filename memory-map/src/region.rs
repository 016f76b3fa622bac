//! Regions: the same address means different things to different askers.
//!
//! Not here: names of single registers ([`crate::register_name`]).
//! Source: `[isa-bh: TensixTile/BabyRISCV/README.md]`, table "Memory map".

use crate::layout::L1_BYTES;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// BRISC.
    B,
    /// TRISC0.
    T0,
    /// TRISC1.
    T1,
    /// TRISC2.
    T2,
    /// NCRISC.
    Nc,
    /// The NoC, and the Tensix coprocessor.
    Noc,
}

impl View {
    /// All views, in table order.
    pub const ALL: [Self; 6] = [Self::B, Self::T0, Self::T1, Self::T2, Self::Nc, Self::Noc];

    /// Position in [`View::ALL`] and in [`RegionRow::views`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The Tensix thread of a TRISC view: 0, 1 or 2.
    #[inline]
    #[must_use]
    pub const fn thread(self) -> Option<usize> {
        match self {
            Self::T0 => Some(0),
            Self::T1 => Some(1),
            Self::T2 => Some(2),
            Self::B | Self::Nc | Self::Noc => None,
        }
    }

    /// Name in prose.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::B => "BRISC",
            Self::T0 => "TRISC0",
            Self::T1 => "TRISC1",
            Self::T2 => "TRISC2",
            Self::Nc => "NCRISC",
            Self::Noc => "NoC",
        }
    }
}

/// What [`lookup`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hit {
    /// Row of the address map.
    pub region: RegionId,
    /// Byte offset from the base of that row.
    pub offset: u32,
    /// What answers to this asker.
    pub target: Target,
}

/// A row of the address map.
#[derive(Debug)]
pub struct RegionRow {
    /// The row's identity.
    pub id: RegionId,
    /// Its name.
    pub name: &'static str,
    /// First address.
    pub base: u32,
    /// Last address, inclusive.
    pub limit: u32,
    /// What each view sees, by [`View::index`]; `None` is unmapped.
    pub views: [Option<Target>; 6],
    /// One line of explanation.
    pub doc: &'static str,
    /// Source keys.
    pub sources: &'static [&'static str],
    /// Where sources disagree or are silent.
    pub note: &'static str,
}

/// A mapped range of one view.
#[derive(Debug)]
pub(crate) struct Range {
    base: u32,
    limit: u32,
    region: RegionId,
    target: Target,
}

include!(concat!(env!("OUT_DIR"), "/regions.rs"));

impl RegionId {
    /// The row of this region.
    #[inline]
    #[must_use]
    pub fn row(self) -> &'static RegionRow {
        &REGIONS[self as usize]
    }
}

/// What `view` sees at `addr`; `None` where nothing is mapped.
///
/// # Units and shapes
/// `addr` is a byte address; any alignment. The whole access must be checked by the caller against
/// the row's limit.
#[inline]
#[must_use]
pub fn lookup(view: View, addr: u32) -> Option<Hit> {
    if addr < L1_BYTES {
        return Some(Hit { region: RegionId::L1, offset: addr, target: Target::L1 });
    }
    let ranges = RANGES[view.index()];
    let range = &ranges[ranges.partition_point(|r| r.base <= addr).checked_sub(1)?];
    (addr <= range.limit).then(|| Hit {
        region: range.region,
        offset: addr - range.base,
        target: range.target,
    })
}
