//! Which instructions a pipeline does not take yet, because of what it has just taken.
//!
//! * Dst: for four cycles after a write by the matrix or the vector unit, neither the matrix unit
//!   nor PACR reads the aligned block of eight rows `[isa-bh: TensixCoprocessor/Dst.md]`. Writes by
//!   the unpacker are not tracked: kernels order those by semaphores.
//! * Matrix unit: what may follow a move `[isa-wh: TensixCoprocessor/MOVD2A.md]`, `MOVD2B.md`,
//!   `MOVA2D.md`.
//! * Vector unit: results after two cycles ([`isa::lregs`]); SFPSWAP
//!   `[isa-wh: TensixCoprocessor/SFPSWAP.md]`.
//! * SrcA and SrcB: a bank that was handed over is the matrix unit's when its last datum is there.
//! * An unpacker begins an address while at most two cycles of the last fetch are left
//!   [inferred: "execution proceeds in a pipelined fashion"].
//!
//! Only the time of instructions changes: a value is there from the cycle of issue on.

use isa::lregs::{known_reads, late_results};
use isa::op::{DstUse, Opcode, Unit};
use isa::operands::Elementwise;
use sim_core::{Cycle, StateHasher, ThreadId, WaitReason};

use super::Cost;
use super::amounts::{self, Fetch, Speed};
use crate::decode::Decoded;
use crate::state::adc::ThreadAdcs;
use crate::state::src::SrcBanks;
use crate::unit::busy;
use crate::units::Issued;
use crate::units::config::ConfigUnit;
use crate::units::matrix::MatrixUnit;
use crate::units::packer::Packer;
use crate::units::unpacker::unpacker_of;

/// Cycles in which a block of Dst cannot be read after the cycle of a write.
const DST_CYCLES: u64 = 4;
/// Blocks that can have been written in that time, one per cycle and unit.
const DST_BLOCKS: usize = 8;
/// Sustained rate of ATINCGET `[isa-wh: TensixCoprocessor/ATINCGET.md]`.
const ATINCGET_CYCLES: u64 = 12;

/// An aligned block of eight rows of Dst.
pub(crate) type Block = u8;

/// What the matrix unit takes after a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    Movd2a,
    Movd2b,
    /// MOVA2D, MOVB2D and their debugging forms.
    MoveToDst,
}

impl After {
    fn holds(self, next: Opcode) -> bool {
        match self {
            Self::Movd2a => !matches!(next, Opcode::Movd2a | Opcode::Movb2a),
            Self::Movd2b => next != Opcode::Movd2b,
            Self::MoveToDst => {
                matches!(next.row().dst, DstUse::Accumulates | DstUse::Reads)
            }
        }
    }
}

/// What instructions have left in the pipelines. Nothing in the unit model.
#[derive(Clone, Debug)]
pub(crate) struct Pipelines {
    /// Blocks of Dst, and the first cycle in which they can be read.
    dst: [(Block, Cycle); DST_BLOCKS],
    next_block: usize,
    after_move: (After, Cycle),
    /// Registers as a mask, and the cycle in which they cannot be read.
    lregs: (u32, Cycle),
    /// Cycle in which the vector unit takes only SFPNOP.
    swap: Cycle,
    /// Of each unpacker.
    pub(super) fetches: [Fetch; 2],
    /// First cycle in which the matrix unit can use bank 0 and 1 of SrcA and of SrcB.
    filled: [[Cycle; 2]; 2],
    /// First cycle for the next ATINCGET.
    atincget: Cycle,
    /// The last of all these cycles.
    last: Cycle,
    /// What the instruction that executes costs, if that depends on its data.
    pub(crate) cost: Option<Cost>,
}

impl Default for Pipelines {
    fn default() -> Self {
        Self {
            dst: [(0, Cycle::ZERO); DST_BLOCKS],
            next_block: 0,
            after_move: (After::Movd2a, Cycle::ZERO),
            lregs: (0, Cycle::ZERO),
            swap: Cycle::ZERO,
            fetches: [Fetch::NONE; 2],
            filled: [[Cycle::ZERO; 2]; 2],
            atincget: Cycle::ZERO,
            last: Cycle::ZERO,
            cost: None,
        }
    }
}

impl Pipelines {
    /// Whether time alone will still let something through after `now`.
    pub(crate) fn has_timers(&self, now: Cycle) -> bool {
        self.last > now
    }

    fn blocks_dst(&self, block: Block, now: Cycle) -> bool {
        self.dst.iter().any(|&(written, free)| written == block && free > now)
    }

    fn until(&mut self, cycle: Cycle) -> Cycle {
        self.last = self.last.max(cycle);
        cycle
    }

    /// A write to a block of Dst.
    fn write_dst(&mut self, block: Block, now: Cycle) {
        let free = self.until(now + (DST_CYCLES + 1));
        self.dst[self.next_block] = (block, free);
        self.next_block = (self.next_block + 1) % DST_BLOCKS;
    }

    fn note(&mut self, opcode: Opcode, word: u32, now: Cycle) {
        let after = match opcode {
            Opcode::Movd2a => Some((After::Movd2a, 2)),
            Opcode::Movd2b => Some((After::Movd2b, 4)),
            Opcode::Mova2d | Opcode::Movb2d | Opcode::Movdbga2d | Opcode::Movdbgb2d => {
                Some((After::MoveToDst, 4))
            }
            _ => None,
        };
        if let Some((after, cycles)) = after {
            self.after_move = (after, self.until(now + cycles));
        }
        let written = late_results(opcode, word);
        if written != 0 {
            self.until(now + 2);
            self.lregs = (written, now + 1);
        }
        if opcode == Opcode::Sfpswap {
            self.until(now + 2);
            self.swap = now + 1;
        }
        if opcode == Opcode::Atincget {
            self.atincget = self.until(now + ATINCGET_CYCLES);
        }
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // Which block is next only decides where a memory of the oldest lies. The cost is for the
        // instruction that executes.
        let Self {
            dst,
            next_block: _,
            after_move,
            lregs,
            swap,
            fetches,
            filled,
            atincget,
            last,
            cost: _,
        } = self;
        for &(block, free) in dst {
            hasher.u8(block);
            hasher.u64(free.0);
        }
        hasher.u8(after_move.0 as u8);
        hasher.u32(lregs.0);
        let cycles = [after_move.1, lregs.1, *swap, *atincget, *last];
        let wanted = fetches.map(|fetch| fetch.wanted);
        let fetches = fetches.map(|fetch| fetch.end);
        for cycle in cycles.iter().chain(filled.as_flattened()).chain(&fetches) {
            hasher.u64(cycle.0);
        }
        wanted.iter().for_each(|&speed| hasher.u8(speed as u8));
    }
}

/// Whether a matrix instruction reads the rows of Dst that it names, moves from Dst apart.
fn accumulates(opcode: Opcode, word: u32) -> bool {
    match opcode.row().dst {
        DstUse::Accumulates => true,
        DstUse::MayAccumulate => Elementwise::of(word).dest_accum_en,
        DstUse::None | DstUse::Reads | DstUse::Writes => false,
    }
}

/// What instructions name their operands by.
pub(crate) struct Operands<'a> {
    pub(crate) matrix: &'a MatrixUnit,
    pub(crate) config: &'a ConfigUnit,
    pub(crate) src: &'a [SrcBanks; 2],
    pub(crate) packer: &'a Packer,
    pub(crate) adcs: &'a [ThreadAdcs; 3],
}

impl Operands<'_> {
    /// The block of Dst that a matrix instruction names.
    fn block(&self, opcode: Opcode, word: u32, thread: ThreadId) -> Block {
        let dst = opcode.row().arg("dst").map_or(0, |arg| arg.get(word));
        (self.matrix.dst_row((thread, dst), self.config, self.src) >> 3) as Block
    }

    /// What a matrix instruction is about to write to Dst. Asked before it executes, which moves the
    /// counters.
    #[cold]
    pub(crate) fn dst_target(&self, opcode: Opcode, issued: &Issued) -> Option<Block> {
        let writes = !matches!(opcode.row().dst, DstUse::None | DstUse::Reads);
        writes.then(|| self.block(opcode, issued.word, issued.thread))
    }
}

impl Pipelines {
    /// Why the documented timing does not let an instruction issue at `now`.
    #[cold]
    pub(crate) fn not_yet(
        &self,
        decoded: &Decoded,
        word: u32,
        (thread, now): (ThreadId, Cycle),
        named: &Operands<'_>,
    ) -> Option<WaitReason> {
        let opcode = decoded.opcode;
        let waits = match decoded.unit {
            Unit::Matrix => {
                let (after, until) = self.after_move;
                let reads = accumulates(opcode, word) || opcode.row().dst == DstUse::Reads;
                until > now && after.holds(opcode)
                    || reads && self.blocks_dst(named.block(opcode, word, thread), now)
            }
            Unit::Vector => {
                let (registers, cycle) = self.lregs;
                cycle == now && registers & known_reads(opcode, word) != 0
                    || self.swap == now && opcode != Opcode::Sfpnop
            }
            Unit::Packer if opcode == Opcode::Pacr => {
                let rows = named.packer.rows_read(word, thread.index(), named.config, named.adcs);
                rows.into_iter().flatten().any(|row| self.blocks_dst((row >> 3) as u8, now))
            }
            Unit::Unpacker if opcode == Opcode::Unpacr => {
                self.fetches[unpacker_of(word)].end > now + 2
            }
            Unit::Scalar => opcode == Opcode::Atincget && self.atincget > now,
            _ => false,
        };
        if waits {
            return Some(busy(decoded.unit));
        }
        let operand = (0..2).find(|&operand| {
            decoded.needs >> operand & 1 != 0 && self.is_filling(named.src, operand, now)
        })?;
        let bank = u8::from(named.src[operand].matrix_bank());
        Some(WaitReason::SrcBank { operand: operand as u8, bank, for_matrix: true })
    }

    /// Whether the matrix unit's bank of SrcA or SrcB is its own, but not all datums are there.
    pub(crate) fn is_filling(&self, src: &[SrcBanks; 2], operand: usize, now: Cycle) -> bool {
        let banks = &src[operand];
        !banks.matrix_waits() && self.filled[operand][usize::from(banks.matrix_bank())] > now
    }

    /// Notes what an instruction that has just executed leaves in the self.
    #[cold]
    pub(crate) fn issued(&mut self, opcode: Opcode, issued: &Issued, target: Option<Block>) {
        if let Some(block) = target {
            self.write_dst(block, issued.now);
        }
        self.note(opcode, issued.word, issued.now);
    }

    /// Books an `UNPACR` of `bytes`, whose bank is `handed_over` if there is one.
    #[cold]
    pub(crate) fn book_unpack(
        &mut self,
        unpacker: usize,
        bytes: u64,
        wanted: Speed,
        handed_over: Option<bool>,
        now: Cycle,
    ) {
        let cost = self.unpack(unpacker, bytes, wanted, now);
        let end = self.until(now + u64::from(cost.latency));
        if let Some(bank) = handed_over {
            self.filled[unpacker][usize::from(bank)] = end;
        }
        self.cost = Some(cost);
    }

    /// Books a `PACR` that wrote `blocks` blocks of 16 bytes.
    #[cold]
    pub(crate) fn book_pack(&mut self, blocks: u32, accumulates: bool) {
        self.cost = Some(amounts::pack(blocks, accumulates));
    }
}
