//! The matrix unit (FPU): products of SrcA and SrcB accumulated in Dst, moves between the three
//! register files, and the register window counters.
//!
//! `setup` reads formats and rows; `accumulate` is the adder, `unflushed` the one for a rare mode;
//! `multiply`, `elementwise`, `integer` and `pool` compute; `moves` copies; `zero` and `counters`
//! need no operands; `undocumented` does what is most plausible; `window` is the cores' view of
//! Dst.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MatrixUnit.md]`, which the Blackhole page refers to, and
//! the instruction pages; `[isa-bh: TensixCoprocessor/Dst.md]`; arithmetic `[spec: numerics 3]`.
//!
//! Not modelled: stochastic rounding [unknown: U-083]; the operand cache of SrcB, so `GATESRCRST` has nothing to
//! invalidate; exponent histograms, so `CLREXPHIST` has nothing to clear; bit 11 of
//! `DBG_FEATURE_DISABLE`. The stalls that protect Dst and the source registers from being read too
//! early are unnecessary, because every instruction completes at once.

mod accumulate;
mod counters;
mod dispatch;
mod elementwise;
mod integer;
mod moves;
mod multiply;
mod operands;
mod pool;
#[cfg(test)]
mod reference;
mod setup;
#[cfg(test)]
mod tests;
mod undocumented;
mod unflushed;
pub(crate) mod window;
mod zero;

use super::config::ConfigUnit;
use super::{Fault, Issued};
use crate::checks::Check;
use crate::state::dst::{DST_COLUMNS, DST_ROWS, Dst};
use crate::state::rwc::Rwc;
use crate::state::src::{SRC_COLUMNS, SRC_ROWS, SrcBanks};
use counters::release;
pub(crate) use dispatch::{Reach, lacking, refuses};
use elementwise::{Mode, Operation};
use isa::operands::{Elementwise, Gmpool, Mova2d, Movb2a, Movb2d, Movd2a, Shiftxa, Shiftxb};
use moves::Blocked;
use multiply::Shape;
use setup::{Setup, Style};
use sim_core::ThreadId;

/// The matrix unit's state.
#[derive(Clone, Debug)]
pub(crate) struct MatrixUnit {
    /// Dst.
    pub(crate) dst: Dst,
    /// Register window counters per thread.
    pub(crate) rwcs: [Rwc; 3],
    /// Row of SrcA that the last instruction with one started at: where `SHIFTXA` reads from.
    pub(crate) last_src_a_row: u8,
    /// `ZEROACC` is held in soft reset: it does nothing.
    pub(crate) zeroacc_held: bool,
}

/// The two source operands and configuration, as an instruction sees them.
type Sources<'a> = &'a mut [SrcBanks; 2];

/// Operands of all instructions that compute: the row of Dst, the address modifier that is applied
/// and the banks that are given back, bit 0 for SrcA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Target {
    dst: u32,
    addr_mod: u32,
    clear_dvalid: u32,
}

/// What a matrix multiplication covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Product {
    /// MVMUL and DOTPV: eight rows.
    Eight,
    /// MVMUL with a broadcast row of SrcB: every other of seven rows.
    Broadcast,
    /// GAPOOL: four rows.
    Four,
}

impl MatrixUnit {
    pub(crate) fn new() -> Self {
        Self {
            dst: Dst::default(),
            rwcs: [Rwc::default(); 3],
            last_src_a_row: 0,
            zeroacc_held: false,
        }
    }

    /// All rows valid again: `ZEROACC` soft reset.
    pub(crate) fn revert_all(&mut self) {
        self.dst.valid = [u64::MAX; DST_ROWS / 64];
    }

    /// Bank hand-over and counters, after an instruction that computes.
    #[inline]
    fn finish(&mut self, issued: &Issued, at: Target, config: &ConfigUnit, src: Sources<'_>) {
        release(issued.thread, at.clear_dvalid, config, src);
        self.apply_addr_mod(at.addr_mod, issued.thread.index(), config);
    }

    /// The row of Dst that an instruction names by the field `dst`, before alignment.
    pub(crate) fn dst_row(
        &self,
        (thread, dst): (ThreadId, u32),
        config: &ConfigUnit,
        src: &[SrcBanks; 2],
    ) -> u32 {
        Setup::new(self, thread, dst, config, src).dst_row & 0x3FF
    }

    /// MVMUL, DOTPV, GAPOOL.
    fn product(
        &mut self,
        issued: &Issued,
        at: Target,
        what: Product,
        config: &ConfigUnit,
        src: Sources<'_>,
    ) -> Result<(), Fault> {
        let mut setup = Setup::new(self, issued.thread, at.dst, config, src).checked(issued)?;
        let broadcast = what == Product::Broadcast;
        let (rows, step) = match what {
            Product::Eight => (8, 1),
            Product::Broadcast => (7, 2),
            Product::Four => (4, 1),
        };
        setup.src_a_row &= 0x38;
        setup.src_b_row &= if broadcast { 0x3F } else { 0x38 };
        setup.dst_row &= 0x400 - rows;
        self.last_src_a_row = setup.src_a_row as u8;
        let shape = Shape { rows, step, broadcast };
        let (a, b) = (src[0].matrix_side().0, src[1].matrix_side().0);
        multiply::multiply(&mut self.dst, a, b, &setup, shape);
        self.finish(issued, at, config, src);
        Ok(())
    }

    /// ELWADD, ELWSUB, ELWMUL.
    fn elementwise(
        &mut self,
        issued: &Issued,
        operands: Elementwise,
        operation: Operation,
        config: &ConfigUnit,
        src: Sources<'_>,
    ) -> Result<(), Fault> {
        let Elementwise { dst, addr_mode: addr_mod, clear_dvalid, .. } = operands;
        let at = Target { dst, addr_mod, clear_dvalid };
        let mut setup = Setup::new(self, issued.thread, dst, config, src).checked(issued)?;
        let multiply = operation == Operation::Multiply;
        if !multiply && setup.phase != 0 {
            let text = format!("ELWADD or ELWSUB in fidelity phase {}", setup.phase);
            issued.refuse(Check::ElwaddPhase, text)?;
            setup.phase = 0;
        }
        let mode = Mode {
            broadcast_column: operands.broadcast_column,
            broadcast_row: operands.broadcast_row,
            accumulate: multiply || operands.dest_accum_en,
        };
        setup.src_a_row &= 0x38;
        setup.src_b_row &= if mode.broadcast_row { 0x3F } else { 0x38 };
        setup.dst_row &= 0x3F8;
        self.last_src_a_row = setup.src_a_row as u8;
        let (a, b) = (src[0].matrix_side().0, src[1].matrix_side().0);
        elementwise::block(&mut self.dst, a, b, &setup, operation, mode);
        self.finish(issued, at, config, src);
        Ok(())
    }

    /// GMPOOL.
    fn gmpool(&mut self, issued: &Issued, operands: Gmpool, config: &ConfigUnit, src: Sources<'_>) {
        let Gmpool { dst, pool_addr_mode: addr_mod, clear_dvalid, .. } = operands;
        let mut setup = Setup::new(self, issued.thread, dst, config, src);
        // "0 - single row wide; 1 - 16x16 wide" [llk: instructions/assembly.yaml]; the page has
        // the latter only. A single row needs no alignment [unknown: U-075].
        let rows = if operands.instr_mod19 { pool::ROWS } else { 1 };
        setup.src_a_row &= if rows == 1 { 0x3F } else { 0x30 };
        setup.src_b_row &= 0x38;
        setup.dst_row &= 0x3FC;
        self.last_src_a_row = setup.src_a_row as u8;
        let (a, b) = (src[0].matrix_side().0, src[1].matrix_side().0);
        let shape = pool::Shape { rows, argmax: operands.max_pool_index_en };
        pool::maximum(&mut self.dst, a, b, &setup, shape);
        self.finish(issued, Target { dst, addr_mod, clear_dvalid }, config, src);
    }

    /// CONV3S1, CONV3S2, MFCONV3S1, APOOL3S1, APOOL3S2: `Dst += 0`. That it is a block of eight
    /// rows is taken from the descriptions of what they once were [unknown: U-061].
    fn legacy(&mut self, issued: &Issued, at: Target, config: &ConfigUnit, src: Sources<'_>) {
        let mut setup = Setup::new(self, issued.thread, at.dst, config, src);
        setup.dst_row &= 0x3F8;
        setup.style_b = setup.style_a;
        self.last_src_a_row = (setup.src_a_row & 0x38) as u8;
        let nothing = [[0; SRC_COLUMNS]; SRC_ROWS];
        let shape = Shape { rows: 8, step: 1, broadcast: false };
        multiply::multiply(&mut self.dst, &nothing, &nothing, &setup, shape);
        self.finish(issued, at, config, src);
    }

    /// MOVA2D and MOVDBGA2D: one row or an aligned block of eight.
    fn mova2d(
        &mut self,
        issued: &Issued,
        operands: Mova2d,
        config: &ConfigUnit,
        src: Sources<'_>,
        blocked: Blocked,
    ) -> Result<(), Fault> {
        let setup = Setup::new(self, issued.thread, operands.dst, config, src);
        let low = operands.dest_32b_lo;
        self.check_low(issued, low, &setup)?;
        let (rows, align) = if operands.block { (8, !7) } else { (1, !0) };
        let from = (operands.src + setup.src_a_row) & align;
        self.last_src_a_row = (from & 0x3F) as u8;
        let cells = src[0].matrix_side().0;
        for i in 0..rows {
            let row = cells[(from + i) as usize % SRC_ROWS]
                .map(|cell| moves::cleaned(cell, setup.flush, Style::Tf32));
            moves::to_dst(&mut self.dst, &setup, (setup.dst_row & align) + i, &row, low, blocked);
        }
        self.apply_addr_mod(operands.addr_mode, issued.thread.index(), config);
        Ok(())
    }

    /// MOVB2D and MOVDBGB2D: one row, an aligned block of four, or one row to eight; column 0 to
    /// all columns.
    fn movb2d(
        &mut self,
        issued: &Issued,
        operands: Movb2d,
        config: &ConfigUnit,
        src: Sources<'_>,
        blocked: Blocked,
    ) -> Result<(), Fault> {
        let setup = Setup::for_src_b(self, issued.thread, operands.dst, config, src);
        let low = operands.dest_32b_lo;
        self.check_low(issued, low, &setup)?;
        let broadcast = operands.broadcast;
        let (rows, dst_align, src_align) = match (broadcast, operands.block) {
            (false, false) => (1, !0, !0),
            (false, true) => (4, !3, !3),
            (true, _) => (8, !7, !0),
        };
        let from = (operands.src + setup.src_b_row) & src_align;
        self.last_src_a_row = setup.src_a_row as u8;
        let cells = src[1].matrix_side().0;
        for i in 0..rows {
            let row = cells[(from + if broadcast { 0 } else { i }) as usize % SRC_ROWS];
            let row = if operands.first_column { [row[0]; DST_COLUMNS] } else { row };
            let row = row.map(|cell| moves::cleaned(cell, setup.flush, setup.style_b));
            moves::to_dst(
                &mut self.dst,
                &setup,
                (setup.dst_row & dst_align) + i,
                &row,
                low,
                blocked,
            );
        }
        self.apply_addr_mod(operands.addr_mode, issued.thread.index(), config);
        Ok(())
    }

    /// MOVD2A (`operand` 0) and MOVD2B (1): one row or an aligned block of four.
    fn movd2s(
        &mut self,
        issued: &Issued,
        (operand, operands): (usize, Movd2a),
        config: &ConfigUnit,
        src: Sources<'_>,
        blocked: Blocked,
    ) -> Result<(), Fault> {
        let setup = if operand == 0 {
            Setup::new(self, issued.thread, operands.dst, config, src)
        } else {
            Setup::for_src_b(self, issued.thread, operands.dst, config, src)
        };
        let low = operands.dest_32b_lo;
        let words = setup.wide;
        if !words && (low || setup.style_a == Style::Tf32) {
            issued.refuse(
                Check::Movd2HalfWords,
                "Dst is in 16-bit mode, which has neither TF32 nor low halves to move",
            )?;
        }
        let (rows, align) = if operands.block { (4, !3) } else { (1, !0) };
        let counter = [setup.src_a_row, setup.src_b_row][operand & 1];
        let to = (operands.src + counter) & align;
        self.last_src_a_row = if operand == 0 { to & 0x3F } else { setup.src_a_row } as u8;
        let cells = src[operand & 1].matrix_side_mut();
        for i in 0..rows {
            let row = (setup.dst_row & align) + i;
            let values = moves::from_dst(&self.dst, &setup, row, words, low);
            let target = &mut cells[(to + i) as usize % SRC_ROWS];
            for (column, (cell, value)) in target.iter_mut().zip(values).enumerate() {
                if blocked >> column & 1 == 0 {
                    *cell = value;
                }
            }
        }
        self.apply_addr_mod(operands.addr_mode, issued.thread.index(), config);
        Ok(())
    }

    /// MOVB2A: one row or an aligned block of four, denormals flushed `[spec: numerics 3]`.
    fn movb2a(&mut self, issued: &Issued, operands: Movb2a, config: &ConfigUnit, src: Sources<'_>) {
        // It names no row of Dst.
        let setup = Setup::new(self, issued.thread, 0, config, src);
        let (rows, align) = if operands.block { (4, !3) } else { (1, !0) };
        let from = (operands.srcb + setup.src_b_row) & align;
        let to = (operands.srca + setup.src_a_row) & align;
        self.last_src_a_row = (to & 0x3F) as u8;
        let [a, b] = src;
        let (source, target) = (b.matrix_side().0, a.matrix_side_mut());
        for i in 0..rows {
            target[(to + i) as usize % SRC_ROWS] = source[(from + i) as usize % SRC_ROWS]
                .map(|cell| moves::cleaned(cell, setup.flush, Style::Tf32));
        }
        self.apply_addr_mod(operands.addr_mode, issued.thread.index(), config);
    }

    /// Refuses a move to the low halves of Dst of a TF32, which hardware gets wrong.
    fn check_low(&self, issued: &Issued, low: bool, setup: &Setup) -> Result<(), Fault> {
        if low && setup.format_a == setup::TF32 {
            issued.refuse(
                Check::MovTf32Low,
                "a TF32 moved to the low halves of Dst, which Blackhole does wrong",
            )?;
        }
        Ok(())
    }

    /// SHIFTXA: sixteen rows, from where the last instruction read SrcA, by one column into rows
    /// 0 to 15. That origin is a documented hardware bug.
    fn shiftxa(&self, issued: &Issued, operands: Shiftxa, src: Sources<'_>) -> Result<(), Fault> {
        let direction = operands.shift_mode;
        if direction < 2 {
            return Err(issued.error(
                Check::ShiftxaDirection,
                format!("SHIFTXA with reserved direction {direction}"),
            ));
        }
        let from = usize::from(self.last_src_a_row & 0x30);
        let cells = src[0].matrix_side_mut();
        for i in 0..16 {
            let mut row = cells[(from + i) % SRC_ROWS];
            if direction == 2 {
                row.copy_within(..SRC_COLUMNS - 1, 1);
                row[0] = 0;
            } else {
                row.copy_within(1.., 0);
                row[SRC_COLUMNS - 1] = 0;
            }
            cells[i] = row;
        }
        Ok(())
    }

    /// SHIFTXB: one row, left by one column, rotating or filling with zero. The functional model's
    /// loop leaves column 14 as it was, which its diagram does not; we follow the diagram and the
    /// summary [unknown: U-062].
    fn shiftxb(&mut self, thread: usize, operands: Shiftxb, config: &ConfigUnit, src: Sources<'_>) {
        let row = operands.row + u32::from(self.rwcs[thread].src_b);
        let cells = &mut src[1].matrix_side_mut()[row as usize % SRC_ROWS];
        cells.rotate_left(1);
        if operands.fill_zero {
            cells[SRC_COLUMNS - 1] = 0;
        }
        self.apply_addr_mod(operands.addr_mode, thread, config);
    }
}

/// TRNSPSRCB: transposes rows 16 to 31.
fn trnspsrcb(src: Sources<'_>) {
    let cells = src[1].matrix_side_mut();
    let block: [[u32; SRC_COLUMNS]; 16] = std::array::from_fn(|row| cells[16 + row]);
    for (i, row) in block.iter().enumerate() {
        for (j, &cell) in row.iter().enumerate() {
            cells[16 + j][i] = cell;
        }
    }
}
