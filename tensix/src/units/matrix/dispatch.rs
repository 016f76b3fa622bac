//! The matrix unit's door: its gate rule, and one method per instruction.

use isa::execute::MatrixOps;
use isa::operands;
use sim_core::WaitReason;

use super::counters::cleardvalid;
use super::moves::Blocked;
use super::undocumented::trnspsrca;
use super::zero::zerosrc;
use super::{MatrixUnit, Operation, Product, Target, trnspsrcb};
use crate::checks::{self, Assumption};
use crate::state::src::SrcBanks;
use crate::units::config::ConfigUnit;
use crate::units::packer::Packer;
use crate::units::vector::LReg;
use crate::units::{Issued, Outcome};
use crate::warnings::Warnings;

/// `LaneConfig.BLOCK_DEST_MOV` starts at this bit `[isa-wh: TensixCoprocessor/SFPCONFIG.md]`.
const BLOCK_DEST_MOV: u32 = 9;

/// Which of the operands in `needs` do not belong to the matrix unit.
#[inline]
pub(crate) fn lacking(src: &[SrcBanks; 2], needs: u8) -> u8 {
    if needs == 0 {
        return 0;
    }
    let waits = u8::from(src[0].matrix_waits()) | u8::from(src[1].matrix_waits()) << 1;
    needs & waits
}

/// Why an instruction that needs those operands cannot start.
pub(crate) fn refuses(src: &[SrcBanks; 2], needs: u8) -> Option<WaitReason> {
    let operand = match lacking(src, needs) {
        0 => return None,
        2 => 1,
        _ => 0,
    };
    let bank = u8::from(src[usize::from(operand)].matrix_bank());
    Some(WaitReason::SrcBank { operand, bank, for_matrix: true })
}

/// What the instructions of this unit reach.
pub(crate) struct Reach<'a> {
    pub(crate) matrix: &'a mut MatrixUnit,
    pub(crate) config: &'a ConfigUnit,
    pub(crate) src: &'a mut [SrcBanks; 2],
    pub(crate) packer: &'a mut Packer,
    /// `LaneConfig` of the vector unit.
    pub(crate) lane_config: &'a LReg,
    pub(crate) warnings: &'a mut Warnings,
}

impl Reach<'_> {
    /// Columns that moves leave alone: two bits per lane of the first row of lanes.
    fn blocked_columns(&self) -> Blocked {
        let lanes = self.lane_config.iter().take(8).enumerate();
        lanes.fold(0, |blocked, (lane, config)| {
            blocked | ((config >> BLOCK_DEST_MOV & 3) as Blocked) << (lane * 2)
        })
    }

    #[inline]
    fn note_stochastic(&mut self, issued: &Issued) {
        let modes = self.config.stochastic_modes(issued.thread.index());
        self.warnings.note_stochastic(modes, true, issued);
    }

    fn product(&mut self, issued: &Issued, at: Target, what: Product) -> Outcome {
        self.note_stochastic(issued);
        self.matrix.product(issued, at, what, self.config, self.src)
    }

    fn elementwise(
        &mut self,
        issued: &Issued,
        operands: operands::Elementwise,
        operation: Operation,
    ) -> Outcome {
        self.note_stochastic(issued);
        self.matrix.elementwise(issued, operands, operation, self.config, self.src)
    }

    fn convolution(&mut self, issued: &Issued, operands: operands::Convolution) -> Outcome {
        let operands::Convolution { dst, addr_mode: addr_mod, clear_dvalid, .. } = operands;
        self.legacy(issued, Target { dst, addr_mod, clear_dvalid })
    }

    fn average_pool(&mut self, issued: &Issued, operands: operands::Pool3) -> Outcome {
        let operands::Pool3 { dst, pool_addr_mode: addr_mod, clear_dvalid, .. } = operands;
        self.legacy(issued, Target { dst, addr_mod, clear_dvalid })
    }

    fn legacy(&mut self, issued: &Issued, at: Target) -> Outcome {
        self.matrix.legacy(issued, at, self.config, self.src);
        Ok(())
    }

    fn maximum_pool(&mut self, issued: &Issued, operands: operands::Pool3) -> Outcome {
        self.matrix.mpool(issued, operands, self.config, self.src);
        self.assumed(issued, checks::MPOOL)
    }

    /// Notes what an instruction without a page was taken to do.
    fn assumed(&mut self, issued: &Issued, assumption: &'static Assumption) -> Outcome {
        self.warnings.note(issued, assumption);
        Ok(())
    }
}

impl MatrixOps<&Issued> for Reach<'_> {
    type Outcome = Outcome;

    #[inline(always)]
    fn mvmul(&mut self, operands: operands::Mvmul, issued: &Issued) -> Outcome {
        let operands::Mvmul { dst, addr_mode: addr_mod, instr_mod19, clear_dvalid } = operands;
        let what = if instr_mod19 { Product::Broadcast } else { Product::Eight };
        self.product(issued, Target { dst, addr_mod, clear_dvalid }, what)
    }

    #[inline(always)]
    fn dotpv(&mut self, operands: operands::Dotpv, issued: &Issued) -> Outcome {
        let operands::Dotpv { dst, addr_mode: addr_mod, clear_dvalid, .. } = operands;
        self.product(issued, Target { dst, addr_mod, clear_dvalid }, Product::Eight)
    }

    #[inline(always)]
    fn gapool(&mut self, operands: operands::Gapool, issued: &Issued) -> Outcome {
        let operands::Gapool { dst, pool_addr_mode: addr_mod, clear_dvalid, .. } = operands;
        self.product(issued, Target { dst, addr_mod, clear_dvalid }, Product::Four)
    }

    #[inline(always)]
    fn gmpool(&mut self, operands: operands::Gmpool, issued: &Issued) -> Outcome {
        if !operands.instr_mod19 {
            self.warnings.note(issued, checks::GMPOOL_SHAPE);
        }
        self.matrix.gmpool(issued, operands, self.config, self.src);
        Ok(())
    }

    #[inline(always)]
    fn elwadd(&mut self, operands: operands::Elwadd, issued: &Issued) -> Outcome {
        self.elementwise(issued, operands, Operation::Add)
    }

    #[inline(always)]
    fn elwsub(&mut self, operands: operands::Elwsub, issued: &Issued) -> Outcome {
        self.elementwise(issued, operands, Operation::Subtract)
    }

    #[inline(always)]
    fn elwmul(&mut self, operands: operands::Elwmul, issued: &Issued) -> Outcome {
        self.elementwise(issued, operands, Operation::Multiply)
    }

    #[inline(always)]
    fn mova2d(&mut self, operands: operands::Mova2d, issued: &Issued) -> Outcome {
        let blocked = self.blocked_columns();
        self.matrix.mova2d(issued, operands, self.config, self.src, blocked)
    }

    #[inline(always)]
    fn movdbga2d(&mut self, operands: operands::Movdbga2d, issued: &Issued) -> Outcome {
        self.mova2d(operands, issued)
    }

    #[inline(always)]
    fn movb2d(&mut self, operands: operands::Movb2d, issued: &Issued) -> Outcome {
        let blocked = self.blocked_columns();
        self.matrix.movb2d(issued, operands, self.config, self.src, blocked)
    }

    #[inline(always)]
    fn movdbgb2d(&mut self, operands: operands::Movdbgb2d, issued: &Issued) -> Outcome {
        self.movb2d(operands, issued)
    }

    #[inline(always)]
    fn movd2a(&mut self, operands: operands::Movd2a, issued: &Issued) -> Outcome {
        let blocked = self.blocked_columns();
        self.matrix.movd2s(issued, (0, operands), self.config, self.src, blocked)
    }

    #[inline(always)]
    fn movd2b(&mut self, operands: operands::Movd2b, issued: &Issued) -> Outcome {
        let blocked = self.blocked_columns();
        self.matrix.movd2s(issued, (1, operands), self.config, self.src, blocked)
    }

    #[inline(always)]
    fn movb2a(&mut self, operands: operands::Movb2a, issued: &Issued) -> Outcome {
        self.matrix.movb2a(issued, operands, self.config, self.src);
        Ok(())
    }

    #[inline(always)]
    fn shiftxa(&mut self, operands: operands::Shiftxa, issued: &Issued) -> Outcome {
        self.matrix.shiftxa(issued, operands, self.src)
    }

    #[inline(always)]
    fn shiftxb(&mut self, operands: operands::Shiftxb, issued: &Issued) -> Outcome {
        let thread = issued.thread.index();
        self.matrix.shiftxb(thread, operands, self.config, self.src);
        Ok(())
    }

    #[inline(always)]
    fn zeroacc(&mut self, operands: operands::Zeroacc, issued: &Issued) -> Outcome {
        self.matrix.zeroacc(issued, operands, self.config, self.src)
    }

    #[inline(always)]
    fn zerosrc(&mut self, operands: operands::Zerosrc, _: &Issued) -> Outcome {
        zerosrc(operands, self.src);
        Ok(())
    }

    #[inline(always)]
    fn trnspsrcb(&mut self, _: &Issued) -> Outcome {
        trnspsrcb(self.src);
        Ok(())
    }

    #[inline(always)]
    fn setrwc(&mut self, operands: operands::Setrwc, issued: &Issued) -> Outcome {
        self.matrix.setrwc(issued.thread, operands, self.config, self.src);
        Ok(())
    }

    #[inline(always)]
    fn incrwc(&mut self, operands: operands::Incrwc, issued: &Issued) -> Outcome {
        self.matrix.incrwc(issued.thread, operands);
        Ok(())
    }

    #[inline(always)]
    fn cleardvalid(&mut self, operands: operands::Cleardvalid, _: &Issued) -> Outcome {
        cleardvalid(operands, self.src);
        Ok(())
    }

    /// Nothing to do: the operand cache is not modelled.
    #[inline(always)]
    fn gatesrcrst(&mut self, _: operands::Gatesrcrst, _: &Issued) -> Outcome {
        Ok(())
    }

    #[inline(always)]
    fn clrexphist(&mut self, _: &Issued) -> Outcome {
        self.packer.clear_histogram();
        Ok(())
    }

    #[inline(always)]
    fn conv3s1(&mut self, operands: operands::Conv3s1, issued: &Issued) -> Outcome {
        self.convolution(issued, operands)
    }

    #[inline(always)]
    fn conv3s2(&mut self, operands: operands::Conv3s2, issued: &Issued) -> Outcome {
        self.convolution(issued, operands)
    }

    #[inline(always)]
    fn mfconv3s1(&mut self, operands: operands::Mfconv3s1, issued: &Issued) -> Outcome {
        self.convolution(issued, operands)
    }

    #[inline(always)]
    fn apool3s1(&mut self, operands: operands::Apool3s1, issued: &Issued) -> Outcome {
        self.average_pool(issued, operands)
    }

    #[inline(always)]
    fn apool3s2(&mut self, operands: operands::Apool3s2, issued: &Issued) -> Outcome {
        self.average_pool(issued, operands)
    }

    #[inline(always)]
    fn mpool3s1(&mut self, operands: operands::Mpool3s1, issued: &Issued) -> Outcome {
        self.maximum_pool(issued, operands)
    }

    #[inline(always)]
    fn mpool3s2(&mut self, operands: operands::Mpool3s2, issued: &Issued) -> Outcome {
        self.maximum_pool(issued, operands)
    }

    #[inline(always)]
    fn trnspsrca(&mut self, issued: &Issued) -> Outcome {
        trnspsrca(self.src);
        self.assumed(issued, checks::TRNSPSRCA)
    }

    #[inline(always)]
    fn setibrwc(&mut self, operands: operands::Setibrwc, issued: &Issued) -> Outcome {
        self.matrix.setibrwc(issued.thread, operands);
        self.assumed(issued, checks::SETIBRWC)
    }

    #[inline(always)]
    fn rareb(&mut self, issued: &Issued) -> Outcome {
        self.assumed(issued, checks::WITHOUT_EFFECT)
    }

    #[inline(always)]
    fn setashrmh(&mut self, _: operands::Setashrmh, issued: &Issued) -> Outcome {
        self.assumed(issued, checks::WITHOUT_EFFECT)
    }

    #[inline(always)]
    fn setashrmh0(&mut self, _: operands::Setashrmh0, issued: &Issued) -> Outcome {
        self.assumed(issued, checks::WITHOUT_EFFECT)
    }

    #[inline(always)]
    fn setashrmh1(&mut self, _: operands::Setashrmh1, issued: &Issued) -> Outcome {
        self.assumed(issued, checks::WITHOUT_EFFECT)
    }

    #[inline(always)]
    fn setashrmv(&mut self, _: operands::Setashrmv, issued: &Issued) -> Outcome {
        self.assumed(issued, checks::WITHOUT_EFFECT)
    }

    #[inline(always)]
    fn setpkedgof(&mut self, _: operands::Setpkedgof, issued: &Issued) -> Outcome {
        self.assumed(issued, checks::WITHOUT_EFFECT)
    }
}
