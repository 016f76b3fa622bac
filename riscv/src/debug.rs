//! What a debugger can do to a core: pause it between two instructions, step, resume, look at and
//! change its state, and have it pause at breakpoints and watchpoints.
//!
//! `[isa-wh: TensixTile/BabyRISCV/DebugInterface.md]`, in terms of a core that executes one
//! instruction after the other:
//!
//! * a breakpoint, `ebreak` and `ecall` pause *behind* the instruction: the page lets it retire;
//! * a read watchpoint pauses *at* the load, which the page keeps from retiring; it is executed
//!   when the core is resumed;
//! * a write watchpoint pauses behind the store, which has reached memory;
//! * a pause that is asked for while an access is under way comes when that has its answer.
//!
//! Whether one address or every byte of an access is compared, the page does not say; we compare
//! the address `[unknown: U-070]`.
//!
//! No cost without a debugger: a core with anything to watch for is [`Core::set_trace`]'s kind of
//! careful, and only the careful loop looks here.

use sim_core::{Cycle, RequestKind, Shared, StateHasher, Width};

use crate::config::LOCAL_BASE;
use crate::core::{Core, Status};
use crate::hart::Pending;
use crate::op::{Kind, Op};
use crate::slice::Slice;

/// Bits of the reason why a core is paused, as its status register has them.
pub mod reason {
    /// A breakpoint was hit.
    pub const BREAKPOINT: u32 = 1 << 1;
    /// A memory watchpoint was hit.
    pub const WATCHPOINT: u32 = 1 << 2;
    /// `ebreak` or `ecall` was executed.
    pub const EBREAK: u32 = 1 << 3;
    /// Breakpoint or watchpoint 0 was hit; the others follow.
    pub const FIRST_HIT: u32 = 1 << 8;
}

/// Breakpoints and watchpoints of a core.
pub const WATCHPOINTS: usize = 8;

/// A breakpoint or memory watchpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watchpoint {
    /// The address compared with.
    pub addr: u32,
    /// Pauses behind the instruction at the address.
    pub execute: bool,
    /// Pauses at a load from the address.
    pub read: bool,
    /// Pauses behind a store to the address.
    pub write: bool,
}

/// What a core knows of its debugger.
#[derive(Clone, Debug, Default)]
pub(crate) struct Debug {
    watchpoints: [Watchpoint; WATCHPOINTS],
    /// Whether one of them can be hit.
    armed: bool,
    /// To be paused when the access under way has its answer.
    halt_requested: bool,
    /// To be paused behind the next instruction.
    stepping: bool,
    /// Step commands seen that have not moved it yet.
    steps: u32,
    /// Why it is paused.
    reasons: u32,
    /// Why it will be paused when the access under way has its answer.
    reasons_at_answer: u32,
    /// The load at the pc has hit its watchpoint and is now to be executed.
    past_watchpoint: bool,
    /// Answer of a memory read on behalf of the debugger.
    result: Option<u32>,
}

impl Debug {
    /// Whether every instruction has to be looked at.
    fn is_attentive(&self) -> bool {
        self.armed || self.stepping || self.halt_requested
    }

    /// Feeds what lasts longer than an instruction into a hash.
    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // The breakpoints are in the debug registers, which the tile hashes, and so is an answer.
        let Self {
            watchpoints: _,
            armed: _,
            halt_requested,
            stepping,
            steps,
            reasons,
            reasons_at_answer,
            past_watchpoint,
            result: _,
        } = self;
        hasher.words(&[*reasons, *reasons_at_answer, *steps]);
        hasher.u8(u8::from(*halt_requested)
            | u8::from(*stepping) << 1
            | u8::from(*past_watchpoint) << 2);
    }

    /// Watchpoints of a kind that have this address, as bits of the status.
    fn hits(&self, addr: u32, kind: impl Fn(&Watchpoint) -> bool) -> u32 {
        let hit = |(i, point): (usize, &Watchpoint)| {
            u32::from(kind(point) && point.addr == addr) * (reason::FIRST_HIT << i)
        };
        self.watchpoints.iter().enumerate().map(hit).sum()
    }

    fn breakpoints(&self, addr: u32) -> u32 {
        named(self.hits(addr, |point| point.execute), reason::BREAKPOINT)
    }

    fn writes(&self, addr: u32) -> u32 {
        named(self.hits(addr, |point| point.write), reason::WATCHPOINT)
    }

    fn reads(&self, addr: u32) -> u32 {
        named(self.hits(addr, |point| point.read), reason::WATCHPOINT)
    }
}

/// Hits together with their common bit.
const fn named(hits: u32, bit: u32) -> u32 {
    if hits == 0 { 0 } else { hits | bit }
}

/// What becomes of a memory access for the debugger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DebugAccess {
    /// Done; the value that was read.
    Done(u32),
    /// Not this core's to answer: [`Core::batch`] has the request.
    Requested,
}

impl Core {
    /// Whether every instruction has to be executed with care.
    pub(crate) fn update_care(&mut self) {
        self.always_careful =
            self.trace || self.hart.config.is_careful() || self.debug.is_attentive();
    }

    /// Why the core is paused: bits of [`reason`]. Zero if it is not, or for no other reason than
    /// that it was asked to.
    #[must_use]
    pub fn pause_reasons(&self) -> u32 {
        self.debug.reasons
    }

    /// Replaces all breakpoints and watchpoints. A parked core is woken as of `now`: its loop may
    /// contain one.
    pub fn set_watchpoints(
        &mut self,
        shared: &Shared,
        points: [Watchpoint; WATCHPOINTS],
        now: Cycle,
    ) {
        self.wake(shared, now);
        self.debug.watchpoints = points;
        self.debug.armed = points.iter().any(|point| point.execute || point.read || point.write);
        self.prober.restart(now.0, false);
        self.update_care();
    }

    /// Forgets everything about a pause and a step; breakpoints and watchpoints stay.
    pub(crate) fn forget_debugger(&mut self) {
        let Debug { watchpoints, armed, .. } = self.debug;
        self.debug = Debug { watchpoints, armed, ..Debug::default() };
        self.update_care();
    }

    /// Pauses the core as of `now`, an epoch boundary: at once, or when its access under way has
    /// its answer.
    pub fn halt(&mut self, shared: &Shared, now: Cycle) {
        self.wake(shared, now);
        match self.status {
            Status::Running | Status::PushBlocked(_) => self.pause(0),
            Status::Waiting if self.pending != Pending::Debugger => {
                self.debug.halt_requested = true;
                self.update_care();
            }
            _ => {}
        }
    }

    /// Lets a paused core go on from its pc.
    pub fn resume(&mut self, now: Cycle) {
        if matches!(self.status, Status::Halted) {
            (self.debug.reasons, self.debug.steps) = (0, 0);
            self.status = Status::Running;
            self.hart.cycle = now.0;
            self.update_care();
        }
    }

    /// A step command, of which `needed` in a row execute one instruction; no time passes. What
    /// the instruction did to the outside is in [`Core::batch`]. The core is paused again, unless
    /// the instruction has to wait: then it will be when that is over. Returns whether an
    /// instruction was begun.
    pub fn step_once(&mut self, shared: &Shared, needed: u32, now: Cycle) -> bool {
        if !matches!(self.status, Status::Halted) {
            return false;
        }
        self.debug.steps += 1;
        if self.debug.steps < needed {
            return false;
        }
        self.resume(now);
        self.debug.stepping = true;
        self.update_care();
        let mut slice = Slice::new(shared, now.0 + 1);
        self.step_watched(&mut slice);
        true
    }

    /// Sets the pc of a paused core and forgets what it was paused for.
    pub fn set_pc(&mut self, pc: u32) {
        if matches!(self.status, Status::Halted) {
            self.hart.pc = pc;
            self.debug.reasons = 0;
            self.debug.past_watchpoint = false;
        }
    }

    /// Reads (`value` is `None`) or writes an aligned word of local RAM for the debugger, or
    /// prepares the request for anything else. The core must be paused.
    pub fn debug_access(&mut self, addr: u32, value: Option<u32>, now: Cycle) -> DebugAccess {
        let offset = addr.wrapping_sub(LOCAL_BASE);
        if let Some(word) = self.read_local(offset, Width::Word) {
            if let Some(value) = value {
                self.write_local(offset, value, Width::Word);
            }
            return DebugAccess::Done(word);
        }
        let kind = value.map_or(RequestKind::Load, |value| RequestKind::Store { value });
        self.hart.cycle = now.0;
        self.pending = Pending::Debugger;
        let _ = self.request(addr, Width::Word, kind);
        DebugAccess::Requested
    }

    /// Takes the answer of a [`Core::debug_access`] that had to wait.
    pub fn take_debug_result(&mut self) -> Option<u32> {
        self.debug.result.take()
    }

    /// The outstanding access is a mistake: an instruction's stops the core for good, one of the
    /// debugger is forgotten.
    pub fn refuse_request(&mut self) {
        self.batch.request = None;
        if self.pending == Pending::Debugger {
            self.status = Status::Halted;
        } else {
            self.stop_faulted();
        }
    }

    /// The access on behalf of the debugger has its answer: the core is paused as before.
    pub(crate) fn answer_debugger(&mut self, kind: RequestKind, value: u32) {
        if matches!(kind, RequestKind::Load) {
            self.debug.result = Some(value);
        }
        self.status = Status::Halted;
    }

    /// Pauses between two instructions.
    fn pause(&mut self, reasons: u32) {
        self.debug.reasons = reasons;
        self.debug.reasons_at_answer = 0;
        (self.debug.stepping, self.debug.halt_requested) = (false, false);
        self.debug.steps = 0;
        self.status = Status::Halted;
        // A probe under way would take a step for a round of a loop.
        self.prober.restart(self.hart.cycle, false);
        self.update_care();
    }

    /// The instruction that waited for an answer has completed.
    pub(crate) fn pause_if_due(&mut self) {
        let reasons = self.debug.reasons_at_answer;
        if reasons != 0 || self.debug.stepping || self.debug.halt_requested {
            self.pause(reasons);
        }
    }

    /// `ebreak` and `ecall` retire and pause the core.
    pub(crate) fn pause_for_ebreak(&mut self) {
        self.pause(reason::EBREAK);
    }

    /// Whether every instruction has to be looked at. Such a core is not parked either.
    #[inline]
    pub(crate) fn is_debugged(&self) -> bool {
        self.debug.is_attentive()
    }

    /// As [`Core::step`], and pauses where the debugger wants it.
    #[cold]
    pub(crate) fn step_watched(&mut self, slice: &mut Slice<'_>) -> bool {
        if !self.open_page(slice.shared) {
            return false;
        }
        let pc = self.hart.pc;
        let op = self.hart.decoded(&self.batch.stores, slice.shared, pc);
        let (loads, stores) = self.accesses(op);
        if let Some(addr) = loads
            && !std::mem::take(&mut self.debug.past_watchpoint)
        {
            let hits = self.debug.reads(addr);
            if hits != 0 {
                self.pause(hits);
                self.debug.past_watchpoint = true;
                return false;
            }
        }
        let mut reasons = stores.map_or(0, |addr| self.debug.writes(addr));
        let goes_on = self.step(slice);
        let behind = self.hart.pc;
        reasons |= match op.kind {
            // Up to four adjacent words may have been executed as one.
            Kind::Ttinsn if matches!(self.status, Status::Running) => {
                (pc..behind).step_by(4).fold(0, |hits, word| hits | self.debug.breakpoints(word))
            }
            _ => self.debug.breakpoints(pc),
        };
        match self.status {
            Status::Running if reasons != 0 || self.debug.stepping => {
                self.pause(reasons);
                false
            }
            Status::Halted => {
                self.debug.reasons |= reasons;
                false
            }
            Status::Waiting => {
                self.debug.reasons_at_answer = reasons;
                false
            }
            _ => goes_on,
        }
    }

    /// The addresses an instruction loads from and stores to. `.ttinsn` does neither in the sense
    /// of a watchpoint.
    fn accesses(&self, op: Op) -> (Option<u32>, Option<u32>) {
        let base = self.hart.x[usize::from(op.rs1)];
        let addr = base.wrapping_add(op.imm);
        match op.kind {
            Kind::Lb | Kind::Lh | Kind::Lw | Kind::Lbu | Kind::Lhu | Kind::Flw | Kind::Flh => {
                (Some(addr), None)
            }
            Kind::Sb | Kind::Sh | Kind::Sw | Kind::Fsw | Kind::Fsh => (None, Some(addr)),
            Kind::Amo => (Some(base), Some(base)),
            _ => (None, None),
        }
    }
}
