//! ZEROACC and ZEROSRC.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ZEROACC.md]`, `ZEROSRC.md`; the relative tile numbers of
//! Blackhole and the two `clear_dvalid` bits of `ZEROACC` `[llk: instructions/assembly.yaml]`,
//! `[spec: numerics 3.8]`.

use super::MatrixUnit;
use crate::checks::Check;
use crate::state::dst::DstMap;
use crate::state::src::{SRC_COLUMNS, SRC_ROWS, SrcBanks, SrcCells};
use crate::units::config::ConfigUnit;
use crate::units::{Fault, Issued};
use isa::config::field;
use isa::operands;

/// ZEROACC modes; mode 3 is all of Dst.
const ONE_ROW: u32 = 0;
const ROWS_16: u32 = 1;
const HALF: u32 = 2;

/// A cell of 19 ones: the lowest value that SrcA can hold.
const LOWEST: u32 = 0x7_FFFF;

impl MatrixUnit {
    /// Marks rows of Dst invalid.
    pub(crate) fn zeroacc(
        &mut self,
        issued: &Issued,
        operands: operands::Zeroacc,
        config: &ConfigUnit,
        src: &mut [SrcBanks; 2],
    ) -> Result<(), Fault> {
        if self.zeroacc_held {
            return Ok(());
        }
        let mode = operands.clear_mode;
        let (words, revert) = (operands.use_32_bit_mode, operands.clear_zero_flags);
        // Used on 16 rows of words by the vendor's kernels, in spite of the documents.
        if revert && (mode != ROWS_16 || !words) && mode != ONE_ROW {
            issued.refuse(
                Check::ZeroaccRevert,
                "ZEROACC with clear_zero_flags set, other than for one row or 16 rows of words",
            )?;
        }
        let thread = issued.thread.index();
        let state = &config.states[config.state_id(thread)];
        let map = DstMap::of(state);
        let base = config
            .thread_field(thread, &field::DEST_TARGET_REG_CFG_MATH_Offset)
            .wrapping_add(u32::from(self.rwcs[thread].dst))
            .wrapping_add(config.state_field(thread, &field::DEST_REGW_BASE_Base));
        match mode {
            ONE_ROW => {
                let words = field::ALU_ACC_CTRL_Fp32_enabled.get(state) != 0
                    || field::ALU_ACC_CTRL_INT8_math_enabled.get(state) != 0;
                self.mark(operands.where_.wrapping_add(base), words, map, revert);
            }
            ROWS_16 => {
                let absolute = field::DEST_ACCESS_CFG_zeroacc_absolute_tile_mode.get(state) != 0;
                let block = operands.block + if absolute { 0 } else { tile_base(base, words) };
                if block < if words { 32 } else { 64 } {
                    (0..16).for_each(|row| self.mark(block * 16 + row, words, map, revert));
                }
            }
            HALF => {
                let half = usize::from(operands.half) * 8;
                self.dst.valid[half..half + 8].fill(0);
            }
            _ => self.dst.valid.fill(0),
        }
        super::release(issued.thread, operands.clear_dvalid, config, src);
        if mode == ONE_ROW || mode == ROWS_16 {
            self.apply_addr_mod(operands.addr_mode, thread, config);
        }
        Ok(())
    }

    fn mark(&mut self, row: u32, words: bool, map: DstMap, valid: bool) {
        // A row of words consults the valid bit of its high half only.
        let physical = if words { map.row32(row) } else { map.row16(row) };
        if valid {
            self.dst.validate(physical);
        } else {
            self.dst.invalidate(physical);
        }
    }
}

/// Blocks of 16 rows by which ZEROACC's block number counts from the half of Dst in use, unless
/// tile numbers are absolute `[spec: numerics 3.8]`.
const fn tile_base(row: u32, words: bool) -> u32 {
    match (words, row & 0x200 != 0, row & 0x300 != 0) {
        (false, true, _) => 32,
        (true, _, true) => 16,
        _ => 0,
    }
}

/// Fills banks of SrcA and SrcB.
pub(crate) fn zerosrc(operands: operands::Zerosrc, src: &mut [SrcBanks; 2]) {
    let operands::Zerosrc {
        src_mask, bank_mask: both, write_mode: matrix, zero_val: lowest, ..
    } = operands;
    for (operand, banks) in src.iter_mut().enumerate() {
        if src_mask >> operand & 1 == 0 {
            continue;
        }
        // Only SrcA can be filled with the lowest value.
        let cells: SrcCells =
            [[if lowest && operand == 0 { LOWEST } else { 0 }; SRC_COLUMNS]; SRC_ROWS];
        if both {
            *banks.cells = [cells; 2];
        } else if matrix {
            *banks.matrix_side_mut() = cells;
        } else {
            *banks.unpacker_side_mut() = cells;
        }
    }
}
