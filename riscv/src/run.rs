//! Slices of execution, and the careful loop.
//!
//! A slice alternates between two loops. The fast one ([`crate::fast`]) executes what concerns
//! nobody but the core. This file's careful one executes everything, an instruction at a time: it
//! decodes, goes to devices, feeds the instruction log, probes for polling loops, checks for stale
//! code, and replays the rest of a round when a parked core is woken.

use sim_core::l1::{L1_BYTES, PAGE_BYTES};
use sim_core::{Category, Cycle, Jump, JumpKind, L1, Retire, Shared, Width};

use crate::core::{Core, LOCAL_BASE, Pending, Status};
use crate::dispatch::dispatch;
use crate::exec::{bits, muldiv};
use crate::fast::{Alone, Exit, Posted};
use crate::icache::IcacheModel;
use crate::op::{Kind, Op, SINK};
use crate::park::WatchedLoad;
use crate::poll::{self, Foreseen};
use crate::timed::TimedRegisters;

/// How long the careful loop runs before the fast one gets another chance.
const CAREFUL_CHUNK_CYCLES: u64 = 64;
/// Longest single run of the fast loop; keeps its counters far from their ends.
const FAST_CHUNK_CYCLES: u64 = 1 << 32;

/// How an instruction that left the straight path ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// Completed; go on behind it.
    Next,
    /// Handed to the commit phase, which completes it.
    Wait,
    /// Did not happen: the core faulted, halted, or must try it again.
    Hold,
}

/// State of one slice that is not part of the core.
pub(crate) struct Slice<'a> {
    pub(crate) shared: &'a Shared,
    /// First cycle that must not be executed.
    pub(crate) until: u64,
    /// Whether quiet L1 stores go straight to L1.
    pub(crate) direct: bool,
    /// Remembered loads while a woken core catches up.
    pub(crate) replay: Option<std::iter::Cycle<std::slice::Iter<'a, WatchedLoad>>>,
    /// Loads of a round that is only tried out.
    pub(crate) foreseen: Option<Foreseen>,
    /// Registers that a core may look at itself.
    pub(crate) timed: Option<&'a mut TimedRegisters<'a>>,
}

impl<'a> Slice<'a> {
    /// Ordinary execution, with stores that are posted.
    pub(crate) fn new(shared: &'a Shared, until: u64) -> Self {
        Self { shared, until, direct: false, replay: None, foreseen: None, timed: None }
    }

    /// Whether what is executed happens now for the first time.
    pub(crate) fn is_real(&self) -> bool {
        self.replay.is_none() && self.foreseen.is_none()
    }
}

/// Whether there can be an instruction at `pc`.
const fn is_fetchable(pc: u32) -> bool {
    pc & 3 == 0 && pc < L1_BYTES
}

impl Core {
    /// Executes to `until`, or to the first access only the commit phase can answer.
    pub(crate) fn run_slice(&mut self, mut slice: Slice<'_>) {
        let shared = slice.shared;
        while self.cycle < slice.until && self.is_running() {
            let gate = self.prober.gate();
            if self.cycle >= gate || self.always_careful {
                if !self.is_debugged() {
                    self.prober.begin(self.cycle);
                }
                self.careful(&mut slice, CAREFUL_CHUNK_CYCLES);
                continue;
            }
            let chunk = slice.until.min(gate).min(self.cycle.saturating_add(FAST_CHUNK_CYCLES));
            let exit = if slice.direct && self.stored_words == 0 {
                self.fast_slice::<Alone>(shared, chunk)
            } else {
                self.fast_slice::<Posted>(shared, chunk)
            };
            match exit {
                Exit::Done => {}
                Exit::Careful => self.attend(&mut slice),
                // A fetch that fails does so in its own cycle, which may be of the next epoch.
                Exit::NoPage if self.cycle < slice.until => {
                    self.open_page(shared);
                }
                Exit::NoPage => {}
            }
        }
    }

    /// The same where the fast loop has just met something that is not for it.
    pub(crate) fn run_slice_carefully(&mut self, mut slice: Slice<'_>) {
        self.attend(&mut slice);
        self.run_slice(slice);
    }

    /// Deals with the instruction at which the fast loop stopped: decodes it, or else executes it.
    fn attend(&mut self, slice: &mut Slice<'_>) {
        if self.icache.op(self.pc).is_some_and(|op| op.kind == Kind::Undecoded) {
            self.decode_from(slice.shared, self.pc);
        } else {
            self.careful(slice, 1);
        }
    }

    /// The careful loop: at most that many cycles, and no longer than there is reason for care.
    #[inline(never)]
    fn careful(&mut self, slice: &mut Slice<'_>, cycles: u64) {
        let chunk = self.cycle.saturating_add(cycles);
        if self.is_debugged() {
            while self.cycle < chunk.min(slice.until) && self.step_watched(slice) {}
            return;
        }
        while self.cycle < chunk.min(slice.until) && self.step(slice) {
            if !self.always_careful && !self.prober.is_active() {
                return;
            }
        }
    }

    /// Executes one instruction. `false`: it did not complete, or the core does not go on.
    pub(crate) fn step(&mut self, slice: &mut Slice<'_>) -> bool {
        // What is only tried out makes no mistakes.
        if slice.foreseen.is_some() && !is_fetchable(self.pc) {
            return false;
        }
        if !self.open_page(slice.shared) {
            return false;
        }
        let pc = self.pc;
        // A round that is only tried out leaves no trace, decoded words included.
        if slice.foreseen.is_some() && self.icache.undecoded(pc, 1) != 0 {
            return false;
        }
        let mut op = self.decoded(slice.shared, pc);
        let mut polls = None;
        if op.kind == Kind::Poll {
            polls = (slice.is_real() && !self.is_debugged()).then(|| poll::calls(op));
            op = poll::original(op);
        }
        if slice.foreseen.is_some() && !self.is_harmless(op) {
            return false;
        }
        if self.icache.model == IcacheModel::Stale && !self.check_fresh(slice.shared) {
            return false;
        }
        let mut consumed = 1;
        macro_rules! x {
            ($index:expr) => {
                self.x[usize::from($index)]
            };
        }
        macro_rules! branch {
            ($taken:expr) => {
                if self.takes(polls, $taken) {
                    return self.jumped(slice, op.imm, SINK);
                }
            };
        }
        macro_rules! leave {
            ($flow:expr) => {
                match $flow {
                    Flow::Next => {}
                    Flow::Wait => {
                        self.pc = pc.wrapping_add(4);
                        return false;
                    }
                    Flow::Hold => return false,
                }
            };
        }
        macro_rules! load {
            ($width:expr, $signed:expr) => {{
                let addr = x!(op.rs1).wrapping_add(op.imm);
                let pending = Pending::Integer { rd: op.rd, signed: $signed };
                leave!(self.slow_load(slice, addr, $width, pending));
            }};
        }
        macro_rules! store {
            ($width:expr) => {{
                let addr = x!(op.rs1).wrapping_add(op.imm);
                let value = x!(op.rs2) & $width.mask();
                leave!(self.careful_store(slice, addr, value, $width));
            }};
        }
        dispatch!(op, x, branch, {
            Kind::Jal => {
                self.takes(polls, true);
                self.log_jump(slice, JumpKind::of(op.rd, None), op.imm);
                x!(op.rd) = pc.wrapping_add(4);
                return self.jumped(slice, op.imm, op.rd);
            }
            Kind::Jalr => {
                let target = x!(op.rs1).wrapping_add(op.imm) & !1;
                self.log_jump(slice, JumpKind::of(op.rd, Some(op.rs1)), target);
                x!(op.rd) = pc.wrapping_add(4);
                return self.jumped(slice, target, op.rd);
            }
            Kind::Lb => load!(Width::Byte, true),
            Kind::Lh => load!(Width::Half, true),
            Kind::Lw => load!(Width::Word, false),
            Kind::Lbu => load!(Width::Byte, false),
            Kind::Lhu => load!(Width::Half, false),
            Kind::Sb => store!(Width::Byte),
            Kind::Sh => store!(Width::Half),
            Kind::Sw => store!(Width::Word),
            Kind::Ttinsn => {
                let (flow, count) = self.push_inline(slice, op);
                leave!(flow);
                consumed = count;
            }
            _ => leave!(self.execute_rare(slice, op)),
        });
        // The last of a fused bundle is what completes now.
        self.log(slice, self.cycle, pc.wrapping_add(4 * (consumed - 1)), op.rd);
        self.pc = pc.wrapping_add(4 * consumed);
        self.cycle += 1;
        self.instructions += 1;
        // `ebreak` completes and pauses.
        self.is_running()
    }

    /// Whether the branch at the pc is taken, which a probe wants to know if it `polls`: whether
    /// by calls.
    #[inline]
    fn takes(&mut self, polls: Option<bool>, taken: bool) -> bool {
        if let Some(calls) = polls {
            self.prober.poll(self.pc, calls, taken, self.cycle);
        }
        taken
    }

    /// The instruction at the pc jumps. `false`: nowhere, or into a loop it is parked in.
    fn jumped(&mut self, slice: &Slice<'_>, target: u32, rd: u8) -> bool {
        let from = self.pc;
        self.log(slice, self.cycle, from, rd);
        self.pc = target;
        self.cycle += 1;
        self.instructions += 1;
        // What cannot be fetched is a mistake in the cycle of the fetch, not of the jump.
        !is_fetchable(target) || self.open_page(slice.shared) && !self.closes_round(slice, target)
    }

    /// Makes sure that there is a page of decoded instructions for the pc; or faults.
    #[inline]
    pub(crate) fn open_page(&mut self, shared: &Shared) -> bool {
        self.icache.page(self.pc).is_some() || self.open_new_page(shared)
    }

    #[cold]
    fn open_new_page(&mut self, shared: &Shared) -> bool {
        let pc = self.pc;
        if pc & 3 != 0 {
            let message = format!("jump to {pc:#x}, which is not a multiple of four");
            self.fault(Category::UndefinedBehavior, "misaligned-fetch", message, pc, None);
            return false;
        }
        if pc >= L1_BYTES {
            let message = format!("jump to {pc:#x}: instructions can only be fetched from L1");
            self.fault(Category::UndefinedBehavior, "fetch-outside-l1", message, pc, None);
            return false;
        }
        if self.icache.open(pc) {
            shared.mark_code((pc / PAGE_BYTES) as u16, self.id);
        }
        true
    }

    /// The instruction at `pc`, whose page is open.
    pub(crate) fn decoded(&mut self, shared: &Shared, pc: u32) -> Op {
        match self.icache.op(pc) {
            Some(op) if op.kind != Kind::Undecoded => op,
            _ => self.decode_from(shared, pc),
        }
    }

    /// In the stale model: whether the word at the pc is still the one that was decoded.
    fn check_fresh(&mut self, shared: &Shared) -> bool {
        let pc = self.pc;
        let now = shared.l1.word(pc);
        match self.icache.decoded_word(pc) {
            Some(then) if then != now => {
                let message = format!(
                    "executes a cached instruction ({then:#010x}) whose word in L1 has changed to \
                     {now:#010x}; no instruction cache invalidate was written in between"
                );
                let category = Category::NonContractual;
                self.fault(category, "stale-instruction-cache", message, pc, Some(then));
                false
            }
            _ => true,
        }
    }

    /// Instruction log.
    fn log(&mut self, slice: &Slice<'_>, cycle: u64, pc: u32, rd: u8) {
        if self.trace && slice.is_real() {
            let word = self.read_l1(slice.shared, pc, Width::Word);
            self.batch.retired.push(Retire {
                cycle: Cycle(cycle),
                pc,
                word,
                rd: if rd < 32 { rd } else { 0 },
                value: self.x[usize::from(rd & 63)],
            });
        }
    }

    /// Jump log.
    fn log_jump(&mut self, slice: &Slice<'_>, kind: JumpKind, to: u32) {
        if self.logs_jumps && slice.is_real() {
            let (cycle, pc) = (Cycle(self.cycle), self.pc);
            self.batch.jumps.push(Jump { cycle, pc, to, kind });
        }
    }

    /// A jump while probing: parks the core if a round closed that will repeat for ever.
    fn closes_round(&mut self, slice: &Slice<'_>, target: u32) -> bool {
        if !slice.is_real() {
            return false;
        }
        let (cycle, epoch) = (self.cycle, self.config.epoch.cycles());
        let is_fresh = self.prober.is_fresh_poll() && self.icache.model == IcacheModel::Coherent;
        let spin = self.prober.jump(target, &self.x, cycle, self.instructions, epoch);
        let foreseen = if is_fresh { self.foresee(slice.shared) } else { None };
        let Some(spin) = spin.or(foreseen) else { return false };
        self.prober.closed(cycle);
        let current = |load: &WatchedLoad| {
            load.device || slice.shared.l1.read(load.addr, load.width) == load.value
        };
        if !spin.loads.iter().all(current) {
            return false;
        }
        self.status = Status::Parked(Box::new(spin));
        true
    }

    /// A store; to local RAM it only matters if it changes something.
    fn careful_store(
        &mut self,
        slice: &mut Slice<'_>,
        addr: u32,
        value: u32,
        width: Width,
    ) -> Flow {
        let offset = addr.wrapping_sub(LOCAL_BASE);
        let Some(word) = self.local.get_mut(L1::word_index(offset, width)) else {
            return self.slow_store(slice, addr, value, width);
        };
        let shift = (offset & 3) * 8;
        let new = *word & !(width.mask() << shift) | value << shift;
        if new != *word {
            self.prober.side_effect(self.cycle);
        }
        *word = new;
        Flow::Next
    }
}
