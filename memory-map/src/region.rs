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

impl Target {
    /// As one of 64 bits.
    #[inline]
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << self as u32
    }
}

const _: () = assert!(Target::ALL.len() <= 64, "a set has 64 bits");

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

/// Ranges other than L1 lie from here on, and are found by the page that an address is in.
const FIRST: u32 = 0xFFB0_0000;
const PAGE_BITS: u32 = 12;
const PAGES: usize = ((u32::MAX - FIRST) >> PAGE_BITS) as usize + 1;

/// How many ranges of each view begin in a page or before it: a search by halves for each access of a core to a
/// device took several times as long.
static BEGUN: [[u8; PAGES]; View::ALL.len()] = begun();

const fn begun() -> [[u8; PAGES]; View::ALL.len()] {
    let mut counts = [[0; PAGES]; View::ALL.len()];
    let mut view = 0;
    while view < counts.len() {
        let ranges = RANGES[view];
        assert!(ranges.len() < 256, "a count has eight bits");
        let mut page = 0;
        let mut count = 0;
        while page < PAGES {
            let last = FIRST + ((page as u32) << PAGE_BITS) + ((1 << PAGE_BITS) - 1);
            while count < ranges.len() && ranges[count].base <= last {
                assert!(ranges[count].base < L1_BYTES || ranges[count].base >= FIRST);
                count += 1;
            }
            counts[view][page] = count as u8;
            page += 1;
        }
        view += 1;
    }
    counts
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
    let page = (addr.checked_sub(FIRST)? >> PAGE_BITS) as usize;
    let begun = usize::from(BEGUN[view.index()][page]);
    let ranges = RANGES[view.index()].get(..begun)?;
    // Several may begin in one page.
    let range = ranges.iter().rev().find(|range| range.base <= addr)?;
    (addr <= range.limit).then(|| Hit {
        region: range.region,
        offset: addr - range.base,
        target: range.target,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word, and the last byte of each.
    #[test]
    fn lookup_finds_what_a_search_by_halves_finds() {
        let search = |view: View, addr: u32| {
            let ranges = RANGES[view.index()];
            let range =
                &ranges[ranges.partition_point(|range| range.base <= addr).checked_sub(1)?];
            (addr <= range.limit).then_some((range.region, addr - range.base, range.target))
        };
        let below = (L1_BYTES..FIRST).step_by(0x1_0004);
        for addr in below.chain((FIRST..=u32::MAX - 3).step_by(4)) {
            for view in View::ALL {
                for addr in [addr, addr + 3] {
                    let found = lookup(view, addr).map(|hit| (hit.region, hit.offset, hit.target));
                    assert_eq!(found, search(view, addr), "{view:?} {addr:#x}");
                }
            }
        }
    }
}
