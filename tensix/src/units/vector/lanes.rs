//! `LaneConfig`: per-lane settings, turned into lane sets when they change.
//!
//! Source: `[isa-bh: TensixCoprocessor/SFPCONFIG.md]`.

use super::{LANES, LReg};

/// Implemented bits of `LaneConfig`.
pub(super) const LANE_CONFIG_BITS: u32 = 0x3_FFFF;

const ENABLE_FP16A_INF: u32 = 0;
const DISABLE_BACKDOOR_LOAD: u32 = 1;
const ENABLE_DEST_INDEX: u32 = 2;
const CAPTURE_DEFAULT_DEST_INDEX: u32 = 3;
const BLOCK_DEST_WR_FROM_SFPU: u32 = 4;
const BLOCK_SFPU_RD_FROM_DEST: u32 = 5;
const DEST_RD_COL_EXCHANGE: u32 = 6;
const DEST_WR_COL_EXCHANGE: u32 = 7;
const EXCHANGE_SRCB_SRCC: u32 = 8;
/// First of four bits, one per row of eight lanes.
const ROW_MASK: u32 = 12;

/// Lanes for which each setting holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LaneSets {
    /// Rows switched off, by the configuration of the first row of lanes.
    pub(super) masked: u32,
    /// Instructions with VD of 12 and above write templates.
    pub(super) backdoor: u32,
    pub(super) fp16_infinity: u32,
    pub(super) dest_index: u32,
    /// SFPLOAD writes the Dst index too; needs `dest_index` as well, which is included here.
    pub(super) capture_index: u32,
    pub(super) store_blocked: u32,
    pub(super) load_blocked: u32,
    /// SFPLOAD from odd columns, by the configuration of the first row of lanes.
    pub(super) load_odd: u32,
    /// SFPSTORE to odd columns, by the configuration of the first row of lanes.
    pub(super) store_odd: u32,
    /// SFPSWAP inverts its comparison.
    pub(super) exchange: u32,
}

impl LaneSets {
    pub(super) fn of(config: &LReg) -> Self {
        let bit = |bit: u32| lanes(|lane| config[lane] >> bit & 1 != 0);
        let column = |bit: u32| lanes(|lane| config[lane & 7] >> bit & 1 != 0);
        Self {
            masked: lanes(|lane| config[lane & 7] >> (ROW_MASK + lane as u32 / 8) & 1 != 0),
            backdoor: !bit(DISABLE_BACKDOOR_LOAD),
            fp16_infinity: bit(ENABLE_FP16A_INF),
            dest_index: bit(ENABLE_DEST_INDEX),
            capture_index: bit(ENABLE_DEST_INDEX) & bit(CAPTURE_DEFAULT_DEST_INDEX),
            store_blocked: bit(BLOCK_DEST_WR_FROM_SFPU),
            load_blocked: bit(BLOCK_SFPU_RD_FROM_DEST),
            load_odd: column(DEST_RD_COL_EXCHANGE),
            store_odd: column(DEST_WR_COL_EXCHANGE),
            exchange: bit(EXCHANGE_SRCB_SRCC),
        }
    }
}

/// The lanes for which a setting holds.
#[inline]
fn lanes(setting: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).fold(0, |set, lane| set | u32::from(setting(lane)) << lane)
}
