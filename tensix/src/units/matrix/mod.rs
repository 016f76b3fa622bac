//! The matrix unit (FPU): so far Dst, the register window counters, and `ZEROACC`.
//!
//! Sources: `[isa-bh: TensixCoprocessor/Dst.md]`, `[isa-wh: TensixCoprocessor/ZEROACC.md]`,
//! `[isa-wh: TensixCoprocessor/RWCs.md]`.

pub(crate) mod ops;

use isa::config::field;
use sim_core::Category;

use super::config::ConfigUnit;
use super::{Fault, Issued};
use crate::state::dst::{self, DST_ROWS, Dst};
use crate::state::rwc::Rwc;

/// First words of `ADDR_MOD_AB_SEC` and `ADDR_MOD_DST_SEC` in thread configuration, eight each.
const ADDR_MOD_AB: usize = field::ADDR_MOD_AB_SEC0_SrcAIncr.addr32 as usize;
const ADDR_MOD_DST: usize = field::ADDR_MOD_DST_SEC0_DestIncr.addr32 as usize;

/// The matrix unit's state.
#[derive(Clone, Debug)]
pub(crate) struct MatrixUnit {
    /// Dst.
    pub(crate) dst: Dst,
    /// Register window counters per thread.
    pub(crate) rwcs: [Rwc; 3],
    /// `ZEROACC` is held in soft reset: it does nothing.
    pub(crate) zeroacc_held: bool,
}

impl MatrixUnit {
    pub(crate) fn new() -> Self {
        Self { dst: Dst::default(), rwcs: [Rwc::default(); 3], zeroacc_held: false }
    }

    /// All rows valid again: `ZEROACC` soft reset.
    pub(crate) fn revert_all(&mut self) {
        self.dst.valid = [u64::MAX; DST_ROWS / 64];
    }

    pub(crate) fn zeroacc(&mut self, issued: &Issued, config: &ConfigUnit) -> Result<(), Fault> {
        let mode = issued.field(19, 2);
        if self.zeroacc_held {
            return Ok(());
        }
        if mode != ops::ONE_ROW && issued.field(17, 1) != 0 {
            return Err(issued.error(
                Category::UndefinedBehavior,
                "tensix-zeroacc-revert",
                "ZEROACC with clear_zero_flags set in a mode other than one row",
            ));
        }
        let thread = issued.thread.index();
        let remap = Adjust::of(config);
        let where_ = issued.field(0, 10);
        let use_32_bit = issued.field(18, 1) != 0;
        match mode {
            ops::ONE_ROW => {
                let base = config.thread_field(thread, &field::DEST_TARGET_REG_CFG_MATH_Offset);
                let row = where_
                    .wrapping_add(base)
                    .wrapping_add(u32::from(self.rwcs[thread].dst))
                    .wrapping_add(config.state_field(thread, &field::DEST_REGW_BASE_Base));
                let wide = config.state_field(thread, &field::ALU_ACC_CTRL_Fp32_enabled) != 0
                    || config.state_field(thread, &field::ALU_ACC_CTRL_INT8_math_enabled) != 0;
                self.invalidate(row, wide, remap);
            }
            ops::ROWS_16 => {
                let block = where_ & 0xFF;
                let blocks = if use_32_bit { 32 } else { 64 };
                if block < blocks {
                    for row in block * 16..block * 16 + 16 {
                        self.invalidate(row, use_32_bit, remap);
                    }
                }
            }
            ops::HALF => {
                let half = (where_ & 1) as usize * 8;
                self.dst.valid[half..half + 8].fill(0);
            }
            _ => self.dst.valid.fill(0),
        }
        if mode == ops::ONE_ROW || mode == ops::ROWS_16 {
            self.apply_addr_mod(issued.field(14, 3), thread, config);
        }
        Ok(())
    }

    fn invalidate(&mut self, row: u32, wide: bool, adjust: Adjust) {
        let row = row & (DST_ROWS as u32 - 1);
        if wide {
            // A 32-bit row consults the valid bit of its high half only.
            self.dst.invalidate(dst::adj32(row, adjust.remap, adjust.swizzle));
        } else {
            self.dst.invalidate(dst::adj16(row, adjust.remap));
        }
    }

    /// Advances the counters of `thread` as its address modifier says. Blackhole encodes all three
    /// bits of the modifier in the instruction, so the Wormhole bit that `ADDR_MOD_SET` and
    /// `ADDR_MOD_BIAS` provide is not needed [inferred: field `addr_mode` is three bits wide].
    pub(crate) fn apply_addr_mod(&mut self, addr_mod: u32, thread: usize, config: &ConfigUnit) {
        let words = &config.threads[thread];
        let index = addr_mod as usize & 7;
        self.rwcs[thread] =
            self.rwcs[thread].advanced(words[ADDR_MOD_AB + index], words[ADDR_MOD_DST + index]);
    }
}

/// How rows of Dst map to physical rows.
#[derive(Clone, Copy, Debug)]
struct Adjust {
    remap: bool,
    swizzle: bool,
}

impl Adjust {
    fn of(config: &ConfigUnit) -> Self {
        Self {
            remap: field::DEST_ACCESS_CFG_remap_addrs.get(&config.states[0]) != 0,
            swizzle: field::DEST_ACCESS_CFG_swizzle_32b.get(&config.states[0]) != 0,
        }
    }
}
