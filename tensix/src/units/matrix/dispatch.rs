//! The matrix unit's door: its gate rule, and one arm per opcode.

use isa::op::Opcode;
use sim_core::WaitReason;

use super::counters::cleardvalid;
use super::moves::Blocked;
use super::zero::zerosrc;
use super::{Operation, Product, trnspsrcb};
use crate::backend::Backend;
use crate::checks;
use crate::units::{Fault, Issued};

/// `LaneConfig.BLOCK_DEST_MOV` starts at this bit `[isa-wh: TensixCoprocessor/SFPCONFIG.md]`.
const BLOCK_DEST_MOV: u32 = 9;

/// Positions of the address modifier in the word.
const ADDR_MODE: u32 = 14;
const POOL_ADDR_MODE: u32 = 15;

impl Backend {
    /// Which of the operands in `needs` do not belong to the matrix unit.
    #[inline]
    pub(crate) fn lacking(&self, needs: u8) -> u8 {
        if needs == 0 {
            return 0;
        }
        let waits =
            u8::from(self.src[0].matrix_waits()) | u8::from(self.src[1].matrix_waits()) << 1;
        needs & waits
    }

    /// Why an instruction that needs those operands cannot start.
    pub(crate) fn matrix_refuses(&self, needs: u8) -> Option<WaitReason> {
        let operand = match self.lacking(needs) {
            0 => return None,
            2 => 1,
            _ => 0,
        };
        let bank = u8::from(self.src[usize::from(operand)].matrix_bank);
        Some(WaitReason::SrcBank { operand, bank, for_matrix: true })
    }

    /// Columns that moves leave alone: two bits per lane of the first row of lanes.
    fn blocked_columns(&self) -> Blocked {
        let lanes = self.vector.lane_config.iter().take(8).enumerate();
        lanes.fold(0, |blocked, (lane, config)| {
            blocked | ((config >> BLOCK_DEST_MOV & 3) as Blocked) << (lane * 2)
        })
    }

    /// Executes a matrix-unit instruction.
    pub(crate) fn matrix_op(&mut self, opcode: Opcode, issued: &Issued) -> Result<(), Fault> {
        let blocked = match opcode {
            Opcode::Mova2d
            | Opcode::Movdbga2d
            | Opcode::Movb2d
            | Opcode::Movdbgb2d
            | Opcode::Movd2a
            | Opcode::Movd2b => self.blocked_columns(),
            _ => 0,
        };
        if let Opcode::Mvmul
        | Opcode::Dotpv
        | Opcode::Gapool
        | Opcode::Elwadd
        | Opcode::Elwsub
        | Opcode::Elwmul = opcode
        {
            self.note_stochastic(opcode, issued);
        }
        let (unit, config, src) = (&mut self.matrix, &self.config, &mut self.src);
        match opcode {
            Opcode::Mvmul => {
                let broadcast = issued.field(19, 1) != 0;
                let what = if broadcast { Product::Broadcast } else { Product::Eight };
                unit.product(issued, what, ADDR_MODE, config, src)
            }
            Opcode::Dotpv => unit.product(issued, Product::Eight, ADDR_MODE, config, src),
            Opcode::Gapool => unit.product(issued, Product::Four, POOL_ADDR_MODE, config, src),
            Opcode::Gmpool => {
                if issued.field(19, 1) == 0 {
                    self.warnings.note(issued, checks::GMPOOL_SHAPE);
                }
                unit.gmpool(issued, config, src)
            }
            Opcode::Elwadd => unit.elementwise(issued, Operation::Add, config, src),
            Opcode::Elwsub => unit.elementwise(issued, Operation::Subtract, config, src),
            Opcode::Elwmul => unit.elementwise(issued, Operation::Multiply, config, src),
            Opcode::Mova2d | Opcode::Movdbga2d => unit.mova2d(issued, config, src, blocked),
            Opcode::Movb2d | Opcode::Movdbgb2d => unit.movb2d(issued, config, src, blocked),
            Opcode::Movd2a => unit.movd2s(issued, 0, config, src, blocked),
            Opcode::Movd2b => unit.movd2s(issued, 1, config, src, blocked),
            Opcode::Shiftxa => unit.shiftxa(issued, src),
            Opcode::Zeroacc => unit.zeroacc(issued, config, src),
            Opcode::Conv3s1 | Opcode::Conv3s2 | Opcode::Mfconv3s1 => {
                unit.legacy(issued, ADDR_MODE, config, src)
            }
            Opcode::Apool3s1 | Opcode::Apool3s2 => unit.legacy(issued, POOL_ADDR_MODE, config, src),
            _ => self.matrix_op_without_faults(opcode, issued),
        }
    }

    fn matrix_op_without_faults(&mut self, opcode: Opcode, issued: &Issued) -> Result<(), Fault> {
        let (unit, config, src) = (&mut self.matrix, &self.config, &mut self.src);
        match opcode {
            Opcode::Movb2a => unit.movb2a(issued, config, src),
            Opcode::Shiftxb => unit.shiftxb(issued, config, src),
            Opcode::Trnspsrcb => trnspsrcb(src),
            Opcode::Zerosrc => zerosrc(issued, src),
            Opcode::Setrwc => unit.setrwc(issued, config, src),
            Opcode::Incrwc => unit.incrwc(issued),
            Opcode::Cleardvalid => cleardvalid(issued, src),
            // The operand cache is not modelled.
            Opcode::Gatesrcrst => {}
            Opcode::Clrexphist => self.packer.clear_histogram(),
            _ => return self.matrix_op_assumed(opcode, issued),
        }
        Ok(())
    }
}
