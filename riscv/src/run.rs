//! Slices of execution, and the careful loop.
//!
//! A slice alternates between two loops. The fast one ([`crate::fast`]) executes what concerns
//! only the core. This file's careful one executes everything, an instruction at a time: it
//! decodes, goes to devices, feeds the instruction log, probes for polling loops, checks for stale
//! code, and replays the rest of a round when a parked core is woken.

use sim_core::l1::{L1_BYTES, PAGE_BYTES};
use sim_core::{Category, Cycle, Jump, JumpKind, L1, Retire, Shared, Width};

use crate::access::Access;
use crate::config::LOCAL_BASE;
use crate::core::{Core, Status};
use crate::dispatch::dispatch;
use crate::exec::{bits, is_taken, muldiv};
use crate::fast::{Alone, Exit, Outside, Posted};
use crate::hart::Pending;
use crate::icache::IcacheModel;
use crate::mark;
use crate::op::{Kind, Op, SINK};
use crate::poll::{self, Foresight};
use crate::rare::{self, Rare};
use crate::slice::{Flow, Memory, Slice};
use crate::spin::WatchedLoad;

/// How long the careful loop runs before the fast one gets another chance.
const CAREFUL_CHUNK_CYCLES: u64 = 64;
/// Longest single run of the fast loop; keeps its counters far from their ends.
const FAST_CHUNK_CYCLES: u64 = 1 << 32;

/// Whether there can be an instruction at `pc`.
const fn is_fetchable(pc: u32) -> bool {
    pc & 3 == 0 && pc < L1_BYTES
}

impl Core {
    /// Executes to `until`, or to the first access only the commit phase can answer.
    pub(crate) fn run_slice(&mut self, mut slice: Slice<'_>) {
        let shared = slice.shared;
        while self.hart.cycle < slice.until && self.is_running() {
            let gate = self.prober.gate();
            if self.always_careful {
                if !self.is_debugged() && self.hart.cycle >= gate {
                    self.prober.begin(self.hart.cycle);
                }
                self.careful(&mut slice, CAREFUL_CHUNK_CYCLES);
                continue;
            }
            let is_probed = self.hart.cycle >= gate;
            let most = self.hart.cycle.saturating_add(FAST_CHUNK_CYCLES);
            let chunk = if is_probed { slice.until } else { slice.until.min(gate) }.min(most);
            let exit = if is_probed {
                self.prober.begin(self.hart.cycle);
                if slice.is_direct() && self.hart.stored_words == 0 {
                    self.fast_probed::<Alone>(shared, chunk)
                } else {
                    self.fast_probed::<Posted>(shared, chunk)
                }
            } else if let Memory::Direct(own) = &mut slice.memory
                && self.hart.stored_words == 0
            {
                self.fast_alone(own.as_deref_mut(), shared, chunk)
            } else if slice.is_direct() {
                self.hart.fast_slice::<Posted>(Outside::new(&mut self.batch), shared, chunk)
            } else {
                self.fast_posted(shared, chunk)
            };
            match exit {
                Exit::Done => {}
                Exit::Waits(want) => self.wait_for(want),
                Exit::Careful => self.attend(&mut slice),
                // A fetch that fails does so in its own cycle, which may be of the next epoch.
                Exit::NoPage if self.hart.cycle < slice.until => {
                    self.open_page(shared);
                }
                Exit::NoPage => {}
            }
        }
    }

    /// As [`Core::run_slice`], where the fast loop has just met something that is not for it.
    pub(crate) fn run_slice_carefully(&mut self, mut slice: Slice<'_>) {
        self.attend(&mut slice);
        self.run_slice(slice);
    }

    /// Deals with the instruction at which the fast loop stopped: decodes it, or else executes it.
    fn attend(&mut self, slice: &mut Slice<'_>) {
        if self.hart.icache.op(self.hart.pc).is_some_and(|op| op.kind == Kind::Undecoded) {
            self.hart.decode_from(&self.batch.stores, slice.shared, self.hart.pc);
        } else {
            self.careful(slice, 1);
        }
    }

    /// The careful loop: at most that many cycles, and no longer than there is reason for care.
    #[inline(never)]
    fn careful(&mut self, slice: &mut Slice<'_>, cycles: u64) {
        let chunk = self.hart.cycle.saturating_add(cycles);
        if self.is_debugged() {
            while self.hart.cycle < chunk.min(slice.until) && self.step_watched(slice) {}
            return;
        }
        while self.hart.cycle < chunk.min(slice.until) && self.step_here(slice) {
            if !self.always_careful && !self.prober.is_active() {
                return;
            }
        }
    }

    /// The pc, the instruction there, and for one that a polling loop was marked by whether it polls by
    /// calls. `None`: there is none that this slice may execute.
    #[inline(always)]
    fn fetch(&mut self, slice: &Slice<'_>) -> Option<(u32, Op, Option<bool>)> {
        if slice.is_foreseen() {
            return Some((self.hart.pc, self.fetch_ahead(slice.shared)?, None));
        }
        if !self.open_page(slice.shared) {
            return None;
        }
        let pc = self.hart.pc;
        let mut op = self.hart.decoded(&self.batch.stores, slice.shared, pc);
        let mut polls = None;
        if op.kind == Kind::Poll {
            polls = (slice.is_real() && !self.is_debugged()).then(|| mark::calls(op));
            op = mark::original(op);
        }
        if self.hart.icache.model == IcacheModel::Stale && !self.check_fresh(slice.shared) {
            return None;
        }
        Some((pc, op, polls))
    }

    /// The instruction at the pc in a round that is only tried out, which makes no mistakes and leaves no trace, decoded
    /// words included. `None`: it is not for such a round.
    #[inline(always)]
    fn fetch_ahead(&mut self, shared: &Shared) -> Option<Op> {
        let pc = self.hart.pc;
        let Some(op) = self.hart.icache.op(pc) else {
            if is_fetchable(pc) {
                self.open_page(shared);
            }
            return None;
        };
        let op = if op.kind == Kind::Poll { mark::original(op) } else { op };
        (op.kind != Kind::Undecoded && poll::is_harmless(&self.hart, op)).then_some(op)
    }

    /// Executes one instruction. `false`: it did not complete, or the core does not go on.
    pub(crate) fn step(&mut self, slice: &mut Slice<'_>) -> bool {
        self.step_here(slice)
    }

    /// As [`Core::step`], in the middle of a loop.
    #[inline(always)]
    fn step_here(&mut self, slice: &mut Slice<'_>) -> bool {
        let Some((pc, op, polls)) = self.fetch(slice) else { return false };
        let mut consumed = 1;
        macro_rules! x {
            ($index:expr) => {
                self.hart.x[usize::from($index)]
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
                        self.hart.pc = pc.wrapping_add(4);
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
                leave!(Access { core: self, slice }.load(addr, $width, pending));
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
                return self.jump_and_link(slice, op.imm, (op.rd, None));
            }
            Kind::Jalr => {
                let target = x!(op.rs1).wrapping_add(op.imm) & !1;
                return self.jump_and_link(slice, target, (op.rd, Some(op.rs1)));
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
                let (flow, count) = Access { core: self, slice }.push_inline(op);
                leave!(flow);
                consumed = count;
            }
            _ => leave!(self.execute_rare(slice, op)),
        });
        self.completed(slice, (pc, consumed), op.rd);
        // `ebreak` completes and pauses.
        self.is_running()
    }

    /// The instruction at `pc` has completed, or a fused bundle of so many words there.
    #[inline(always)]
    fn completed(&mut self, slice: &Slice<'_>, (pc, words): (u32, u32), rd: u8) {
        // The last of a bundle is what completes now.
        self.log(slice, self.hart.cycle, pc.wrapping_add(4 * (words - 1)), rd);
        self.hart.pc = pc.wrapping_add(4 * words);
        self.hart.cycle += 1;
        self.hart.instructions += 1;
    }

    /// Executes an instruction of the kinds the loop does not know.
    #[inline(never)]
    fn execute_rare(&mut self, slice: &mut Slice<'_>, op: Op) -> Flow {
        if rare::is_noticed(op.kind) {
            self.prober.side_effect(self.hart.cycle);
        }
        match rare::execute(&mut self.hart, op) {
            Rare::Done => Flow::Next,
            Rare::Load { addr, width, pending } => {
                Access { core: self, slice }.load(addr, width, pending)
            }
            Rare::Store { addr, value, width } => {
                let local = addr.wrapping_sub(LOCAL_BASE);
                let is_local = local < self.hart.id.local_ram_bytes();
                if is_local && addr & (width.bytes() - 1) == 0 {
                    self.write_local(local, value, width);
                    return Flow::Next;
                }
                Access { core: self, slice }.store(addr, value, width)
            }
            Rare::Request { addr, kind, pending } => {
                self.pending = pending;
                self.request(addr, Width::Word, kind)
            }
            Rare::Break if self.hart.config.debugger => {
                self.pause_for_ebreak();
                Flow::Next
            }
            Rare::Break => self.refuse_rare(rare::without_debugger(op)),
            Rare::Refused(refusal) => self.refuse_rare(refusal),
        }
    }

    fn refuse_rare(&mut self, refusal: rare::Refusal) -> Flow {
        let rare::Refusal { category, id, message, word } = refusal;
        self.fault(category, id, message, self.hart.pc, Some(word));
        Flow::Hold
    }

    /// Whether the branch at the pc is taken, which a probe wants to know if it `polls`: whether
    /// by calls.
    #[inline]
    fn takes(&mut self, polls: Option<bool>, taken: bool) -> bool {
        if let Some(calls) = polls {
            self.prober.poll(self.hart.pc, calls, taken, self.hart.cycle);
        }
        taken
    }

    /// `jal` and `jalr` to `target`, with the registers that they link to and come from.
    #[inline(always)]
    fn jump_and_link(
        &mut self,
        slice: &Slice<'_>,
        target: u32,
        (rd, rs1): (u8, Option<u8>),
    ) -> bool {
        self.log_jump(slice, JumpKind::of(rd, rs1), target);
        self.hart.x[usize::from(rd)] = self.hart.pc.wrapping_add(4);
        self.jumped(slice, target, rd)
    }

    /// The instruction at the pc jumps. `false`: nowhere, or into a loop it is parked in.
    fn jumped(&mut self, slice: &Slice<'_>, target: u32, rd: u8) -> bool {
        let from = self.hart.pc;
        self.log(slice, self.hart.cycle, from, rd);
        self.hart.pc = target;
        self.hart.cycle += 1;
        self.hart.instructions += 1;
        // What cannot be fetched is a mistake in the cycle of the fetch, not of the jump.
        !is_fetchable(target) || self.open_page(slice.shared) && !self.closes_round(slice, target)
    }

    /// Makes sure that there is a page of decoded instructions for the pc; or faults.
    #[inline]
    pub(crate) fn open_page(&mut self, shared: &Shared) -> bool {
        self.hart.icache.page(self.hart.pc).is_some() || self.open_new_page(shared)
    }

    #[cold]
    fn open_new_page(&mut self, shared: &Shared) -> bool {
        let pc = self.hart.pc;
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
        if self.hart.icache.open(pc) {
            shared.mark_code((pc / PAGE_BYTES) as u16, self.hart.id);
        }
        true
    }

    /// In the stale model: whether the word at the pc is still the one that was decoded.
    fn check_fresh(&mut self, shared: &Shared) -> bool {
        let pc = self.hart.pc;
        let now = shared.l1.word(pc);
        match self.hart.icache.decoded_word(pc) {
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
                value: self.hart.x[usize::from(rd & 63)],
            });
        }
    }

    /// Jump log.
    fn log_jump(&mut self, slice: &Slice<'_>, kind: JumpKind, to: u32) {
        if self.hart.logs_jumps && slice.is_real() {
            let (cycle, pc) = (Cycle(self.hart.cycle), self.hart.pc);
            self.batch.jumps.push(Jump { cycle, pc, to, kind });
        }
    }

    /// A jump while probing: parks the core if a round closed that will repeat for ever.
    fn closes_round(&mut self, slice: &Slice<'_>, target: u32) -> bool {
        if !slice.is_real() {
            return false;
        }
        let (cycle, epoch) = (self.hart.cycle, self.hart.config.epoch.cycles());
        let is_fresh =
            self.prober.is_fresh_poll() && self.hart.icache.model == IcacheModel::Coherent;
        let spin = self.prober.jump(target, &self.hart.x, cycle, self.hart.instructions, epoch);
        let foreseen =
            if is_fresh { Foresight { core: self, shared: slice.shared }.round() } else { None };
        let Some(spin) = spin.or(foreseen) else { return false };
        self.prober.closed(cycle);
        let current = |load: &WatchedLoad| {
            load.device || slice.shared.l1.read(load.addr, load.width) == load.value
        };
        if !spin.loads.iter().all(current) {
            self.prober.keep(spin);
            return false;
        }
        self.status = Status::Parked(spin);
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
        let Some(word) = self.hart.local.get_mut(L1::word_index(offset, width)) else {
            return Access { core: self, slice }.store(addr, value, width);
        };
        let new = width.put(*word, offset, value);
        if new != *word {
            self.prober.side_effect(self.hart.cycle);
        }
        *word = new;
        Flow::Next
    }
}
