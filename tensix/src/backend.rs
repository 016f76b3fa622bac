//! The back end as a whole: the units, and what the gates ask of them.

use sim_core::{AgentId, Cycle, Shortcut, Shortcuts, ThreadId, WaitReason};

use crate::decode::Decoded;
use crate::env::Env;
use crate::gate::{Condition, Latch};
use crate::occupancy::{Occupancy, UNITS};
use crate::state::adc::ThreadAdcs;
use crate::state::src::SrcBanks;
use crate::timing::TimingModel;
use crate::timing::hazards::Pipelines;
use crate::ttsync::Declarations;
use crate::unit::busy;
use crate::units::Fault;
use crate::units::config::ConfigUnit;
use crate::units::matrix::{self, MatrixUnit, lacking};
use crate::units::mover::Mover;
use crate::units::packer::Packer;
use crate::units::scalar::Blocking;
use crate::units::scalar::ScalarUnit;
use crate::units::sync::SyncUnit;
use crate::units::unpacker::{self, Unpackers};
use crate::units::vector::VectorUnit;
use crate::warnings::Warnings;
use isa::op::{GateRule, Opcode, Unit};

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
    /// Who is busy until when.
    pub(crate) occupancy: Occupancy,
    /// Thread that a unit served last; the next one has priority.
    pub(crate) last_served: [u8; UNITS],
    /// Whether costs, soft reset or a busy scalar unit can keep an instruction from issuing.
    pub(crate) restricted: bool,
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
            occupancy: Occupancy::new(timing),
            last_served: [2; UNITS],
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

    /// Whether time alone will still change something after `now`.
    pub(crate) fn has_timers(&self, now: Cycle) -> bool {
        self.occupancy.has_timers(now)
            || self.scalar.blocking.as_ref().is_some_and(|blocking| blocking.tried != now)
            || self.mover.has_work(now)
            || self.pipelines.has_timers(now)
    }

    /// To be called when what [`Backend::restricted`] sums up may have changed.
    pub(crate) fn update_restricted(&mut self) {
        self.restricted =
            self.occupancy.timed() || self.held & HOLDING != 0 || self.scalar.blocking.is_some();
    }

    /// Whether something goes on behind the gates, apart from what is in flight.
    #[inline]
    pub(crate) fn has_background(&self) -> bool {
        self.scalar.blocking.is_some() || self.mover.has_commands()
    }

    /// Whether there is anything to do in a cycle besides what threads issue.
    #[inline]
    pub(crate) fn acts_by_itself(&self) -> bool {
        self.vector.is_active() || self.has_background() || !self.occupancy.is_empty()
    }

    /// Whether nothing but a semaphore or a bank of SrcA or SrcB can end a wait for one, or change what it
    /// is for.
    #[inline]
    pub(crate) fn waits_by_sight(&self) -> bool {
        !self.restricted && !self.has_background() && self.occupancy.is_empty()
    }

    /// A cycle of what goes on behind the gates; whether anything changed.
    #[cold]
    pub(crate) fn step_background<E: Env>(
        &mut self,
        now: Cycle,
        env: &mut E,
    ) -> Result<bool, Fault> {
        let mut mover = self.mover_reach();
        let (commanded, effects) = (mover.step_tdma(now, env), mover.effects);
        self.apply(effects);
        let commanded = commanded?;
        let retried = self.scalar_attempts().retry(now, env)?;
        self.update_restricted();
        Ok(retried | commanded)
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
        (!self.restricted
            && decoded.gate == GateRule::None
            && lacking(&self.src, decoded.needs) == 0)
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
        if self.occupancy.keeps_out(decoded, thread, now)
            || self.held & HOLDING != 0 && self.is_held(decoded)
        {
            return Some(busy(decoded.unit));
        }
        if self.occupancy.timed()
            && let Some(reason) =
                self.pipelines.not_yet(decoded, word, (thread, now), &self.operands())
        {
            return Some(reason);
        }
        if let Some(reason) = self.blocked_by_scalar(decoded.unit, thread) {
            return Some(reason);
        }
        match decoded.gate {
            GateRule::Mutex => self.mutex_refuses(decoded, word, thread),
            GateRule::Unpacker => unpacker::refuses(&self.src, decoded.opcode, word),
            GateRule::Mover => self.mover.is_busy(now).then(|| busy(Unit::Mover)),
            GateRule::None => matrix::refuses(&self.src, decoded.needs),
        }
    }

    /// Why the scalar unit keeps an instruction of `unit` and `thread` out.
    fn blocked_by_scalar(&self, unit: Unit, thread: ThreadId) -> Option<WaitReason> {
        let blocking = self.scalar.blocking.as_ref()?;
        if blocking.issued.thread == thread {
            return Some(self.blocking_reason(blocking));
        }
        (unit == Unit::Scalar).then(|| busy(Unit::Scalar))
    }

    /// What an instruction in the scalar unit waits for.
    pub(crate) fn blocking_reason(&self, blocking: &Blocking) -> WaitReason {
        blocking.reason(&self.scalar, &self.src, &self.occupancy)
    }

    /// Gives up what `thread` still tries or has scheduled.
    pub(crate) fn drop_thread(&mut self, thread: ThreadId) {
        if self.scalar.blocking.is_some_and(|blocking| blocking.issued.thread == thread) {
            self.scalar.blocking = None;
            self.update_restricted();
        }
        self.vector.drop_thread(thread);
    }

    /// Something behind the gates was refused for `fault`. With the check lowered it is given up.
    #[cold]
    pub(crate) fn background_refused(&mut self, fault: Fault) -> Result<(), Fault> {
        let agent = fault.at.agent;
        self.warnings.lower(fault)?;
        if let AgentId::Thread(_) = agent {
            self.scalar.blocking = None;
            self.update_restricted();
        }
        Ok(())
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
                let unmet = self.sync.semaphores.unmet(mask, condition);
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
        let mut unmet = mask & self.scalar.flushing(thread, &self.occupancy);
        let mut check = |bit: u32, waits: bool| {
            unmet |= mask & u16::from(waits) << bit;
        };
        check(4, self.occupancy.runs(Unit::Matrix, Some(thread)));
        check(5, self.src[0].unpacker_waits());
        check(6, self.src[1].unpacker_waits());
        check(7, self.src[0].matrix_waits() || self.pipelines.is_filling(&self.src, 0, now));
        check(8, self.src[1].matrix_waits() || self.pipelines.is_filling(&self.src, 1, now));
        check(9, self.mover.is_busy(now));
        // C10 is never unmet: a core's access is processed in the cycle that emits it.
        check(11, self.occupancy.runs(Unit::Vector, Some(thread)) || self.vector.runs(thread));
        check(12, self.occupancy.runs(Unit::Config, None));
        unmet
    }
}

/// Soft reset bits that can hold instructions.
pub(crate) const HOLDING: u32 = {
    use soft_reset::{GLUE, MATH, PACKERS, THCON, UNPACKERS};
    GLUE | MATH | PACKERS | THCON | UNPACKERS
};
