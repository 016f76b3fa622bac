//! Contents of Dst, SrcA, SrcB, LRegs and GPRs, shown between two instructions.

use isa::op::{Opcode, Unit};
use sim_core::observer::{Cell, Doing, Event, Glimpse, ShowsCells, Slot};

use crate::backend::Backend;
use crate::coprocessor::Coprocessor;
use crate::decode::Decoded;
use crate::env::Env;
use crate::state::dst::DstMap;
use crate::units::Issued;

/// The thread that issues to the matrix unit.
const MATH_THREAD: usize = 1;
/// Rows of Dst that a lane's column has in an LReg.
const ROWS_OF_LREG: u16 = 4;

impl ShowsCells for Backend {
    fn cell(&self, cell: Cell) -> u32 {
        match cell {
            Cell::Dst { wide, row, column } => {
                let (dst, row, column) = (&self.matrix.dst, u32::from(row), usize::from(column));
                let config = &self.config;
                let map = DstMap::of(&config.states[config.state_id(MATH_THREAD)]);
                let half = |physical: u32| {
                    let row = dst.cells.get(physical as usize);
                    row.and_then(|row| row.get(column)).map_or(0, |&cell| u32::from(cell))
                };
                if wide {
                    let physical = map.row32(row);
                    half(physical) << 16 | half(physical + 8)
                } else {
                    half(map.row16(row))
                }
            }
            Cell::Src { operand, bank, row, column } => {
                let banks = self.src.get(usize::from(operand));
                let bank = banks.and_then(|banks| banks.cells.get(usize::from(bank)));
                let row = bank.and_then(|bank| bank.get(usize::from(row)));
                row.and_then(|row| row.get(usize::from(column))).copied().unwrap_or(0)
            }
            Cell::LReg { register, lane } => {
                let register = self.vector.file().lregs().get(usize::from(register));
                register.and_then(|lanes| lanes.get(usize::from(lane))).copied().unwrap_or(0)
            }
            Cell::MatrixBank { operand } => {
                self.src.get(usize::from(operand)).map_or(0, |banks| u32::from(banks.matrix_bank()))
            }
            Cell::Gpr { thread, index } => {
                let gprs = &self.scalar.gprs[thread.index()];
                gprs.get(usize::from(index)).copied().unwrap_or(0)
            }
        }
    }
}

impl ShowsCells for Coprocessor {
    fn cell(&self, cell: Cell) -> u32 {
        self.backend.cell(cell)
    }
}

impl Backend {
    /// To be called before an instruction executes: what [`Backend::after`] compares with.
    #[inline]
    pub(crate) fn before<E: Env>(
        &mut self,
        decoded: &Decoded,
        issued: &Issued,
        env: &mut E,
    ) -> Option<[u8; 2]> {
        if env.wants_cells() {
            let doing = Doing::Before { word: issued.word };
            env.cells(Glimpse { at: issued.stamp(), doing }, self);
        }
        if env.wants_dst_reads() {
            self.show_reads(decoded, issued, env);
        }
        env.if_heard(|| self.ownership())
    }

    #[cold]
    fn show_reads<E: Env>(&mut self, decoded: &Decoded, issued: &Issued, env: &mut E) {
        let (at, word, thread) = (issued.stamp(), issued.word, issued.thread.index());
        match (decoded.unit, decoded.opcode) {
            (Unit::Packer, Opcode::Pacr) => {
                let rows = self.packer.rows_read(word, thread, &self.config, &self.adcs);
                let rows: Vec<u16> = rows.into_iter().flatten().collect();
                let view = self.packer.view(word, thread, &self.config);
                let held = rows.iter().any(|&row| view.is_valid(&self.matrix.dst, row.into()));
                env.dst_read(at, &rows, held);
            }
            (Unit::Vector, Opcode::Sfpload) => {
                let first = self.vector_store_row(issued) as u16 & !(ROWS_OF_LREG - 1);
                let rows: [u16; ROWS_OF_LREG as usize] =
                    std::array::from_fn(|at| first + at as u16);
                let map = DstMap::of(&self.config.states[self.config.state_id(thread)]);
                let physical = match self.vector_loads_word(issued) {
                    true => map.row32(first.into()),
                    false => map.row16(first.into()),
                };
                env.dst_read(at, &rows, self.matrix.dst.valid_in_group(physical) != 0);
            }
            _ => {}
        }
    }

    /// Ownership of SrcA and SrcB as events show it.
    fn ownership(&self) -> [u8; 2] {
        [self.src[0].ownership(), self.src[1].ownership()]
    }

    /// To be called when an instruction has executed.
    #[inline]
    pub(crate) fn after<E: Env>(
        &self,
        banks: Option<[u8; 2]>,
        (issued, slot): (&Issued, Slot),
        env: &mut E,
    ) {
        let (at, word) = (issued.stamp(), issued.word);
        let changes = banks.into_iter().flat_map(|banks| banks.into_iter().zip(self.ownership()));
        for (operand, (before, after)) in (0..).zip(changes) {
            if before != after {
                env.emit(at, || Event::SrcBanks { operand, before, after });
            }
        }
        if env.wants_cells() {
            env.cells(Glimpse { at, doing: Doing::Instruction { word, slot } }, self);
        }
    }
}
