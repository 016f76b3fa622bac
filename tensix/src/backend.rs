//! The back end as a whole: the units' state, what is in flight, and what the gates ask it.

use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, Cycle, Shortcut, Shortcuts, ThreadId, UnitId, WaitReason};

use crate::decode::Decoded;
use crate::env::Env;
use crate::gate::{Condition, Latch};
use crate::state::adc::ThreadAdcs;
use crate::state::src::SrcBanks;
use crate::timing::hazards::Pipelines;
use crate::timing::{Cost, TimingModel};
use crate::ttsync::Declarations;
use crate::unit::unit_id;
use crate::units::config::ConfigUnit;
use crate::units::matrix::MatrixUnit;
use crate::units::mover::Mover;
use crate::units::packer::Packer;
use crate::units::scalar::ScalarUnit;
use crate::units::sync::{SyncUnit, ops};
use crate::units::unpacker::{Unpackers, unpacker_of};
use crate::units::vector::VectorUnit;
use crate::units::{Fault, Issued};
use crate::warnings::Warnings;
use isa::op::{GateRule, Opcode, Unit};

/// Units with state of their own in the arrays below; `Unit` as an index.
pub(crate) const UNITS: usize = 10;

/// Overlay registers that STREAMWAIT compares `[hdr: noc_overlay_parameters.h]`.
const STREAM_CURR_PHASE: u16 = 29;
const STREAM_NUM_MSGS_RECEIVED: u16 = 259;

/// Bits of SOFT_RESET_0 that concern the back end `[isa-bh: TensixTile/SoftReset.md]`.
pub(crate) mod soft_reset {
    pub(crate) const UNPACKERS: u32 = 0x83;
    pub(crate) const PACKERS: u32 = 0x3C;
    pub(crate) const GLUE: u32 = 1 << 8;
    pub(crate) const THCON: u32 = 1 << 9;
    pub(crate) const MATH: u32 = 1 << 10;
    pub(crate) const SRC_A_CLIENT: u32 = 1 << 15;
    pub(crate) const SRC_B_CLIENT: u32 = 1 << 16;
    pub(crate) const ZEROACC: u32 = 1 << 17;
}

/// An instruction that takes longer than the cycle it issued in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InFlight {
    /// First cycle in which it is gone.
    pub(crate) done: Cycle,
    pub(crate) issued: Issued,
    pub(crate) unit: Unit,
}

/// The back end.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) sync: SyncUnit,
    pub(crate) config: ConfigUnit,
    pub(crate) scalar: ScalarUnit,
    pub(crate) matrix: MatrixUnit,
    pub(crate) packer: Packer,
    pub(crate) vector: VectorUnit,
    pub(crate) unpackers: Unpackers,
    pub(crate) mover: Mover,
    /// SrcA, SrcB.
    pub(crate) src: [SrcBanks; 2],
    /// Address counters per thread.
    pub(crate) adcs: [ThreadAdcs; 3],
    /// SOFT_RESET_0 as last written.
    pub(crate) held: u32,
    /// First cycle in which a unit takes another instruction.
    pub(crate) unit_free: [Cycle; UNITS],
    /// First cycle in which a thread may issue again.
    pub(crate) thread_free: [Cycle; 3],
    /// Thread that a unit served last; the next one has priority.
    pub(crate) last_served: [u8; UNITS],
    /// Whether instructions have costs.
    pub(crate) timed: bool,
    /// Whether costs, soft reset or a busy scalar unit can keep an instruction from issuing.
    pub(crate) restricted: bool,
    /// Empty in the unit timing model.
    pub(crate) in_flight: Vec<InFlight>,
    /// As at the start in the unit timing model.
    pub(crate) pipelines: Pipelines,
    /// What Auto TTSync takes instructions to use.
    pub(crate) declarations: Declarations,
    /// Ways to the same result that are taken.
    pub(crate) shortcuts: Shortcuts,
    /// Assumptions that programs relied on; no part of the state.
    pub(crate) warnings: Warnings,
}

impl Backend {
    pub(crate) fn new(timing: TimingModel) -> Self {
        Self {
            timed: timing != TimingModel::Unit,
            restricted: timing != TimingModel::Unit,
            sync: SyncUnit::default(),
            config: ConfigUnit::new(),
            scalar: ScalarUnit::new(),
            matrix: MatrixUnit::new(),
            packer: Packer::default(),
            vector: VectorUnit::new(),
            unpackers: Unpackers::default(),
            mover: Mover::new(),
            src: [SrcBanks::default(), SrcBanks::default()],
            adcs: [ThreadAdcs::default(); 3],
            held: 0,
            unit_free: [Cycle::ZERO; UNITS],
            thread_free: [Cycle::ZERO; 3],
            last_served: [2; UNITS],
            in_flight: Vec::new(),
            pipelines: Pipelines::default(),
            declarations: Declarations::default(),
            shortcuts: Shortcuts::ALL,
            warnings: Warnings::default(),
        }
    }

    /// Takes these ways to the same result from now on.
    pub(crate) fn take_shortcuts(&mut self, shortcuts: Shortcuts) {
        self.shortcuts = shortcuts;
        let piecemeal = !shortcuts.has(Shortcut::WholeRows);
        self.packer.piecemeal = piecemeal;
        self.unpackers.piecemeal = piecemeal;
        self.vector.take_whole_registers(shortcuts.has(Shortcut::WholeRegisters));
    }

    /// Retires what is done by `now`, in thread order; whether anything was.
    pub(crate) fn complete<E: Env>(&mut self, now: Cycle, env: &mut E) -> bool {
        if self.in_flight.is_empty() {
            return false;
        }
        let before = self.in_flight.len();
        if E::OBSERVED {
            for thread in ThreadId::ALL {
                let done = |entry: &&InFlight| entry.done <= now && entry.issued.thread == thread;
                for entry in self.in_flight.iter().filter(done) {
                    let agent = AgentId::Thread(thread);
                    let at = Stamp { cycle: now, agent, pc: entry.issued.origin.pc };
                    env.event(at, Event::UnitDone { thread, word: entry.issued.word });
                }
            }
        }
        self.in_flight.retain(|entry| entry.done > now);
        self.in_flight.len() != before
    }

    /// Books what an issued instruction costs.
    pub(crate) fn occupy(&mut self, issued: &Issued, unit: Unit, cost: Cost) {
        let now = issued.now;
        self.unit_free[unit as usize] = now + u64::from(cost.unit);
        self.thread_free[issued.thread.index()] = now + u64::from(cost.thread);
        if cost.latency > 1 {
            let done = now + u64::from(cost.latency);
            self.in_flight.push(InFlight { done, issued: *issued, unit });
        }
    }

    /// Ownership of SrcA and SrcB as events show it.
    pub(crate) fn ownership(&self) -> [u8; 2] {
        [self.src[0].ownership(), self.src[1].ownership()]
    }

    /// Reports what changed in the ownership of SrcA and SrcB since `before`.
    #[inline]
    pub(crate) fn report_ownership<E: Env>(&self, before: [u8; 2], at: Stamp, env: &mut E) {
        for (operand, (before, after)) in (0..).zip(before.into_iter().zip(self.ownership())) {
            if before != after {
                env.event(at, Event::SrcBanks { operand, before, after });
            }
        }
    }

    /// Whether time alone will still change something after `now`.
    pub(crate) fn has_timers(&self, now: Cycle) -> bool {
        // What ends at the next cycle still has to be looked at in it.
        !self.in_flight.is_empty()
            || self.retry_is_due(now)
            || self.mover.has_work(now)
            || self.pipelines.has_timers(now)
            || self.unit_free.iter().any(|&free| free > now)
            || self.thread_free.iter().any(|&free| free > now)
    }

    /// To be called when what [`Backend::restricted`] sums up may have changed.
    pub(crate) fn update_restricted(&mut self) {
        self.restricted = self.timed || self.held & HOLDING != 0 || self.scalar.blocking.is_some();
    }

    /// Whether something goes on behind the gates, apart from what is in flight.
    #[inline]
    pub(crate) fn has_background(&self) -> bool {
        self.scalar.blocking.is_some() || self.mover.has_commands()
    }

    /// Whether there is anything to do in a cycle besides what threads issue.
    #[inline]
    pub(crate) fn acts_by_itself(&self) -> bool {
        self.vector.is_active() || self.has_background() || !self.in_flight.is_empty()
    }

    /// A cycle of what goes on behind the gates; whether anything changed.
    #[cold]
    pub(crate) fn step_background<E: Env>(
        &mut self,
        now: Cycle,
        env: &mut E,
    ) -> Result<bool, Fault> {
        let commanded = self.step_tdma(now, env)?;
        Ok(self.retry(now, env)? | commanded)
    }

    fn runs(&self, unit: Unit, thread: Option<ThreadId>) -> bool {
        self.in_flight
            .iter()
            .any(|entry| entry.unit == unit && thread.is_none_or(|t| entry.issued.thread == t))
    }

    /// Whether a unit can take the instruction, other threads apart.
    #[inline]
    pub(crate) fn accepts(
        &self,
        decoded: &Decoded,
        word: u32,
        thread: ThreadId,
        now: Cycle,
    ) -> bool {
        (!self.restricted && decoded.gate == GateRule::None && self.lacking(decoded.needs) == 0)
            || self.refuses(decoded, word, thread, now).is_none()
    }

    /// Why a unit cannot take the instruction, apart from other threads wanting it too.
    pub(crate) fn refuses(
        &self,
        decoded: &Decoded,
        word: u32,
        thread: ThreadId,
        now: Cycle,
    ) -> Option<WaitReason> {
        let unit = decoded.unit as usize;
        // SETC16 is not part of the configuration unit's pipeline.
        let unit_busy = self.unit_free[unit] > now && decoded.opcode != Opcode::Setc16;
        if unit_busy || self.thread_free[thread.index()] > now {
            return Some(busy(decoded.unit));
        }
        if self.held & HOLDING != 0 && self.is_held(decoded) {
            return Some(busy(decoded.unit));
        }
        if self.timed
            && let Some(reason) = self.not_yet(decoded, word, thread, now)
        {
            return Some(reason);
        }
        if let Some(reason) = self.blocked_by_scalar(decoded.unit, thread) {
            return Some(reason);
        }
        match decoded.gate {
            GateRule::Mutex => self.mutex_refuses(decoded, word, thread),
            GateRule::Unpacker => self.unpacker_refuses(decoded.opcode, word),
            GateRule::Mover => self.mover.is_busy(now).then(|| busy(Unit::Mover)),
            GateRule::None => self.matrix_refuses(decoded.needs),
        }
    }

    fn mutex_refuses(&self, decoded: &Decoded, word: u32, thread: ThreadId) -> Option<WaitReason> {
        let index = SyncUnit::named_mutex(word);
        let available = match SyncUnit::mutex_slot(index) {
            Some(slot) => {
                decoded.opcode == Opcode::Atrelm || self.sync.mutex_available(slot, thread)
            }
            // An index without a mutex waits for ever.
            None => false,
        };
        let index = index.min(0xFF) as u8;
        (!available).then_some(WaitReason::Mutex { index })
    }

    /// Whether soft reset keeps the instruction from starting.
    fn is_held(&self, decoded: &Decoded) -> bool {
        use soft_reset::{GLUE, MATH, PACKERS, THCON, UNPACKERS};
        let holders = match decoded.unit {
            Unit::Matrix | Unit::Vector => MATH,
            Unit::Scalar => match decoded.opcode {
                Opcode::Dmanop | Opcode::Setdmareg => GLUE,
                _ => GLUE | THCON,
            },
            Unit::Packer => GLUE | PACKERS,
            Unit::Unpacker => GLUE | UNPACKERS,
            Unit::Mover => GLUE,
            Unit::Sync | Unit::Config | Unit::Misc | Unit::Frontend => 0,
        };
        self.held & holders != 0
    }

    /// What keeps a latched wait instruction of `thread` waiting; `None` if nothing does.
    pub(crate) fn unmet<E: Env>(
        &self,
        latch: &Latch,
        thread: ThreadId,
        now: Cycle,
        env: &E,
    ) -> Option<WaitReason> {
        match latch.condition {
            Condition::Stall { mask } => {
                let unmet = self.unmet_conditions(mask, thread, now);
                (unmet != 0).then_some(WaitReason::Stall { conditions: unmet })
            }
            Condition::Semaphores { mask, condition } => {
                let unmet = ops::unmet(&self.sync.semaphores, mask, condition);
                (unmet != 0).then_some(WaitReason::Semaphore { mask: unmet, condition })
            }
            Condition::Stream { select, target, messages } => {
                let stream = self.config.selected_stream(thread.index(), u32::from(select));
                let register = if messages { STREAM_NUM_MSGS_RECEIVED } else { STREAM_CURR_PHASE };
                (env.stream_register(stream, register) < target).then_some(WaitReason::Stream {
                    stream,
                    target,
                    messages,
                })
            }
        }
    }

    fn unmet_conditions(&self, mask: u16, thread: ThreadId, now: Cycle) -> u16 {
        let mut unmet = self.unmet_low_conditions(mask, thread);
        let mut check = |bit: u32, waits: bool| {
            unmet |= mask & u16::from(waits) << bit;
        };
        check(4, self.runs(Unit::Matrix, Some(thread)));
        check(5, self.src[0].unpacker_waits());
        check(6, self.src[1].unpacker_waits());
        check(7, self.src[0].matrix_waits() || self.src_is_filling(0, now));
        check(8, self.src[1].matrix_waits() || self.src_is_filling(1, now));
        check(9, self.mover.is_busy(now));
        // C10 is never unmet: a core's access is processed in the cycle that emits it.
        check(11, self.runs(Unit::Vector, Some(thread)) || self.vector.runs(thread));
        check(12, self.runs(Unit::Config, None));
        unmet
    }

    /// Conditions C0 to C3, which FLUSHDMA shares with STALLWAIT.
    pub(crate) fn unmet_low_conditions(&self, mask: u16, thread: ThreadId) -> u16 {
        let requests = u16::from(self.scalar.outstanding[thread.index()] != 0);
        if self.in_flight.is_empty() {
            return mask & requests;
        }
        let unpacking = |select: usize| {
            self.in_flight.iter().any(|entry| {
                entry.unit == Unit::Unpacker
                    && entry.issued.thread == thread
                    && unpacker_of(entry.issued.word) == select
            })
        };
        let packing = self.runs(Unit::Packer, Some(thread));
        mask & (requests
            | u16::from(unpacking(0)) << 1
            | u16::from(unpacking(1)) << 2
            | u16::from(packing) << 3)
    }
}

/// Soft reset bits that can hold instructions.
pub(crate) const HOLDING: u32 = {
    use soft_reset::{GLUE, MATH, PACKERS, THCON, UNPACKERS};
    GLUE | MATH | PACKERS | THCON | UNPACKERS
};

/// The reason for waiting for a unit.
pub(crate) const fn busy(unit: Unit) -> WaitReason {
    let unit = match unit_id(unit) {
        Some(unit) => unit,
        None => UnitId::Misc,
    };
    WaitReason::UnitBusy { unit }
}
