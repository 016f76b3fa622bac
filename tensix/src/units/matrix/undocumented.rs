//! Matrix-unit instructions of which the public sources name operands at most.
//!
//! Each does the most plausible thing and warns. The vendor's list
//! `[llk: instructions/assembly.yaml]` has one line for each; the instructions that would consume
//! what most of them set (`CONV*`, `MPOOL*`, `APOOL*`) were neutered for Wormhole
//! `[isa-wh: TensixCoprocessor/MatrixUnit.md]`.

use isa::operands;
use sim_core::ThreadId;

use super::{MatrixUnit, Sources, Target, pool};
use crate::state::src::{SRC_COLUMNS, SRC_ROWS};
use crate::units::Issued;
use crate::units::config::ConfigUnit;
use crate::units::matrix::setup::Setup;

/// Rows of SrcA that `TRNSPSRCA` exchanges with columns.
const MAIN_ROWS: usize = 16;

impl MatrixUnit {
    /// MPOOL3S1 and MPOOL3S2: "something similar to what GMPOOL would do if SrcA was entirely
    /// zero" `[isa-wh: TensixCoprocessor/MatrixUnit.md]`; taken literally [unknown: U-072].
    pub(super) fn mpool(
        &mut self,
        issued: &Issued,
        operands: operands::Pool3,
        config: &ConfigUnit,
        src: Sources<'_>,
    ) {
        let operands::Pool3 { dst, index_en, pool_addr_mode: addr_mod, clear_dvalid } = operands;
        let mut setup = Setup::new(self, issued.thread, dst, config, src);
        self.last_src_a_row = (setup.src_a_row & 0x30) as u8;
        setup.src_a_row = 0;
        setup.src_b_row &= 0x38;
        setup.dst_row &= 0x3FC;
        let nothing = [[0; SRC_COLUMNS]; SRC_ROWS];
        let shape = pool::Shape { rows: pool::ROWS, argmax: index_en };
        pool::maximum(&mut self.dst, &nothing, src[1].matrix_side().0, &setup, shape);
        self.finish(issued, Target { dst, addr_mod, clear_dvalid }, config, src);
    }

    /// SETIBRWC: sets the bias counter or, with bit 0, adds to it; with bit 18 the copy follows
    /// the counter, without it the counter follows the copy. That is the vendor's one line about
    /// each field `[llk: instructions/assembly.yaml]`; widths are those of the increments in
    /// `ADDR_MOD_BIAS` `[llk: ckernel_addrmod.h]` [unknown: U-073].
    pub(super) fn setibrwc(&mut self, thread: ThreadId, operands: operands::Setibrwc) {
        let rwc = &mut self.rwcs[thread.index()];
        let value = operands.value as u8;
        let base = match (operands.increment, operands.from_counter) {
            (false, _) => 0,
            (true, true) => rwc.bias,
            (true, false) => rwc.bias_cr,
        };
        rwc.bias_cr = (base + value) & 0xF;
        rwc.bias = rwc.bias_cr;
    }
}

/// TRNSPSRCA: "transpose SRCA main registers rows", as `TRNSPSRCB` does for rows 16 to 31 of SrcB
/// `[llk: instructions/assembly.yaml]`. The main registers of earlier architectures were the first
/// 16 rows; the rest was halo [unknown: U-071].
pub(super) fn trnspsrca(src: Sources<'_>) {
    let cells = src[0].matrix_side_mut();
    let block: [[u32; SRC_COLUMNS]; MAIN_ROWS] = std::array::from_fn(|row| cells[row]);
    for (i, row) in block.iter().enumerate() {
        for (j, &cell) in row.iter().enumerate() {
            cells[j][i] = cell;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::backend::Backend;
    use crate::checks::Warned;
    use isa::op::Opcode;
    use sim_core::{CoreId, Cycle};

    use super::*;
    use crate::queue::Origin;
    use crate::timing::TimingModel;

    fn backend() -> Backend {
        let mut backend = Backend::new(TimingModel::Unit);
        for banks in &mut backend.src {
            banks.unpacker_release(5);
        }
        backend
    }

    fn run(backend: &mut Backend, opcode: Opcode, operands: u32) {
        let origin = Origin { core: CoreId::Trisc1, pc: 0x40 };
        let word = (opcode as u32) << 24 | operands;
        let issued =
            Issued { word, thread: ThreadId::T1, origin, now: Cycle::ZERO, allowed: Warned::NONE };
        backend.matrix_op(opcode, &issued).expect("the model has a behaviour");
    }

    #[test]
    fn trnspsrca_exchanges_rows_and_columns_of_the_first_block() {
        let mut backend = backend();
        for (row, cells) in (0..).zip(backend.src[0].matrix_side_mut()) {
            *cells = std::array::from_fn(|column| row * 16 + column as u32);
        }
        run(&mut backend, Opcode::Trnspsrca, 0);
        let cells = backend.src[0].matrix_side().0;
        for (row, cells) in (0..16).zip(cells) {
            assert_eq!(*cells, std::array::from_fn(|column| column as u32 * 16 + row));
        }
        assert_eq!((cells[16][3], cells[63][15]), (16 * 16 + 3, 63 * 16 + 15), "others stay");
        let [warning] = backend.warnings.list() else { panic!("one warning") };
        assert_eq!((warning.id, warning.at.pc), ("tensix-trnspsrca", Some(0x40)));
    }

    #[test]
    fn mpool_raises_negative_columns_to_zero() {
        // [isa-wh: MatrixUnit.md, GMPOOL.md]: the maximum of zeroes and the Dst row; rows 1 to 3
        // of the block become zero. SrcB is 1.0, which does not scale.
        let mut backend = backend();
        *backend.src[1].matrix_side_mut() = [[0x3F80 << 3; SRC_COLUMNS]; SRC_ROWS];
        // -2.0 and 3.0 as Dst stores BF16: sign, mantissa, exponent.
        let row: [u16; 16] = std::array::from_fn(|j| if j % 2 == 0 { 0x8080 } else { 0x4080 });
        let map = crate::state::dst::DstMap::default();
        for i in 0..4 {
            backend.matrix.dst.write16(map, i, &row);
        }
        run(&mut backend, Opcode::Mpool3s1, 0);
        let expected: [u16; 16] = std::array::from_fn(|j| if j % 2 == 0 { 0 } else { 0x4080 });
        assert_eq!(backend.matrix.dst.read16(map, 0), expected);
        assert_eq!(backend.matrix.dst.read16(map, 1), [0; 16]);
    }

    #[test]
    fn mpool_gives_banks_back_as_asked() {
        let mut backend = backend();
        run(&mut backend, Opcode::Mpool3s2, 3 << 22);
        assert!(backend.src.iter().all(|banks| banks.ownership() & 3 == 0));
    }

    #[test]
    fn setibrwc_sets_increments_and_carries() {
        // [llk: assembly.yaml]: bit 0 increments, bit 18 takes the counter instead of its copy.
        let mut backend = backend();
        run(&mut backend, Opcode::Setibrwc, 3 << 6);
        assert_eq!((backend.matrix.rwcs[1].bias, backend.matrix.rwcs[1].bias_cr), (3, 3));
        run(&mut backend, Opcode::Setibrwc, 1 << 18 | 5 << 6 | 1);
        assert_eq!((backend.matrix.rwcs[1].bias, backend.matrix.rwcs[1].bias_cr), (8, 8));
    }

    #[test]
    fn instructions_without_effect_only_warn_and_once() {
        let mut backend = backend();
        for opcode in [Opcode::Rareb, Opcode::Setashrmh, Opcode::Setashrmv, Opcode::Setpkedgof] {
            let before = (backend.matrix.rwcs, backend.src.clone(), backend.matrix.dst.clone());
            run(&mut backend, opcode, 0xFFFF);
            assert!(
                before == (backend.matrix.rwcs, backend.src.clone(), backend.matrix.dst.clone())
            );
        }
        assert_eq!(backend.warnings.list().len(), 1);
    }
}
