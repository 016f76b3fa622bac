//! One thread's frontend up to the wait gate.
//!
//! ```text
//! TRISC push -> FIFO 32 -> MOP expander -+-> FIFO 8 -> replay expander -> FIFO 2 -> wait gate
//! BRISC push ----------------------------+
//! ```
//!
//! Every stage moves at most one instruction per cycle. An instruction that finds all stages before
//! it empty and idle falls through to the last FIFO in its first cycle: no source states the latency
//! of an empty frontend [unknown: U-042]. Depths: `[isa-bh:
//! TensixTile/BabyRISCV/PushTensixInstruction.md]`, `[spec: boot-and-sync 5.1]`.

pub(crate) mod mop;
pub(crate) mod replay;
pub(crate) mod set;

use isa::op::{OPCODE, Opcode};
use isa::operands::MopCfg;
use sim_core::Cycle;

use crate::gate::Gate;
use crate::queue::{Origin, Queued, Ring};
use mop::{CONFIG_WORDS, Expansion, Unexpandable};
use replay::Replay;

const MOP: u32 = Opcode::Mop as u32;
const MOP_CFG: u32 = Opcode::MopCfg as u32;
const REPLAY: u32 = Opcode::Replay as u32;

/// Whether an expander takes an instruction in, which then never issues.
#[inline]
pub(crate) const fn is_for_expanders(word: u32) -> bool {
    matches!(OPCODE.get(word), MOP | MOP_CFG | REPLAY)
}

/// Entries the first FIFO can hold.
pub(crate) const FIRST_FIFO: usize = 32;
/// The first FIFO takes a store (a bundle of up to four) while it holds at most this many.
pub(crate) const FIRST_FIFO_ACCEPTS: usize = 28;
/// Entries of the FIFO before the replay expander.
pub(crate) const REPLAY_FIFO: usize = 8;

/// Why the frontend cannot go on. The word that caused it comes along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FrontendFault {
    /// `MOP` that cannot be expanded.
    Mop(Unexpandable),
    /// `REPLAY` with more than 32 instructions.
    ReplayTooLong,
    /// BRISC and the TRISC (or its MOP expander) reached the mux in the same cycle.
    Collision,
}

/// Why a push is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// The FIFO is full.
    Full,
    /// The other side of the mux delivered in this cycle.
    Collision,
}

/// What the MOP expander is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MopState {
    Idle,
    /// Expanding the `MOP` pushed by `origin`; `emitted` instructions are out.
    Expanding {
        expansion: Expansion,
        origin: Origin,
        emitted: u32,
    },
}

impl MopState {
    /// The state as numbers, for the state hash.
    pub(crate) fn state_words(&self) -> [u32; 8] {
        let Self::Expanding { expansion, origin, emitted } = self else { return [0; 8] };
        match *expansion {
            Expansion::Masked { mask, left, stage } => {
                [1, origin.pc, *emitted, mask, left, u32::from(stage), 0, 0]
            }
            Expansion::Nested { outer, inner, j, i, alternates, stage } => [
                2 | u32::from(alternates) << 2 | (stage as u32) << 3,
                origin.pc,
                *emitted,
                outer,
                inner,
                j,
                i,
                0,
            ],
        }
    }
}

/// One thread's frontend.
#[derive(Clone, Debug)]
pub(crate) struct Frontend {
    pub(crate) first: Ring<FIRST_FIFO>,
    pub(crate) mop: MopState,
    pub(crate) mop_config: [u32; CONFIG_WORDS],
    pub(crate) mask_high: u32,
    pub(crate) second: Ring<REPLAY_FIFO>,
    pub(crate) replay: Replay,
    pub(crate) third: Ring<2>,
    pub(crate) gate: Gate,
    /// Instructions the TRISC pushed that have neither reached the back end nor been consumed by
    /// an expander. They, not the first FIFO alone, limit what is accepted
    /// `[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]`.
    pub(crate) tracked: u32,
    /// The last cycle in which BRISC's side of the mux delivered an instruction.
    pub(crate) brisc_mux: Cycle,
    /// The last cycle in which the TRISC's side did.
    pub(crate) trisc_mux: Cycle,
}

impl Frontend {
    pub(crate) const fn new() -> Self {
        Self {
            first: Ring::new(),
            mop: MopState::Idle,
            mop_config: [0; CONFIG_WORDS],
            mask_high: 0,
            second: Ring::new(),
            replay: Replay::new(),
            third: Ring::new(),
            gate: Gate::new(),
            tracked: 0,
            brisc_mux: Cycle::NEVER,
            trisc_mux: Cycle::NEVER,
        }
    }

    /// Nothing queued, expanding, playing or latched. A recording that waits for instructions is
    /// idle.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.third.is_empty()
            && self.second.is_empty()
            && self.first.is_empty()
            && matches!(self.mop, MopState::Idle)
            && !self.replay.is_playing()
            && self.gate.latch.is_none()
    }

    /// Whether it takes an instruction from the TRISC.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        !self.first.is_full() && (self.tracked as usize) < FIRST_FIFO
    }

    /// Whether an instruction of the TRISC that is not for expanders finds everything before the last FIFO empty and
    /// idle, that FIFO too, and the mux free.
    #[inline]
    fn is_clear(&self, now: Cycle) -> bool {
        self.first.is_empty()
            && self.second.is_empty()
            && self.third.is_empty()
            && matches!(self.mop, MopState::Idle)
            && matches!(self.replay.mode, replay::Mode::Pass)
            && self.trisc_mux != now
            && self.brisc_mux != now
    }

    /// Whether such an instruction would be at the gate at once, with nothing latched there.
    #[inline]
    pub(crate) fn lets_through(&self, now: Cycle) -> bool {
        self.is_clear(now) && self.passes_on() && self.has_room()
    }

    /// Takes an instruction from the TRISC.
    #[inline]
    pub(crate) fn accept(&mut self, entry: Queued, now: Cycle) -> Option<Refusal> {
        if !self.has_room() {
            return Some(Refusal::Full);
        }
        self.tracked += 1;
        if self.is_clear(now) && !is_for_expanders(entry.word()) {
            self.trisc_mux = now;
            self.third.push(entry);
        } else {
            self.first.push(entry);
        }
        None
    }

    /// Takes an instruction from BRISC.
    #[inline]
    pub(crate) fn accept_behind_mop(&mut self, entry: Queued, now: Cycle) -> Option<Refusal> {
        if self.second.is_full() {
            return Some(Refusal::Full);
        }
        if self.trisc_mux == now {
            return Some(Refusal::Collision);
        }
        self.take_behind_mop(entry, now);
        None
    }

    /// Takes an instruction at BRISC's side of the mux, where there is room.
    pub(crate) fn take_behind_mop(&mut self, entry: Queued, now: Cycle) {
        if self.falls_through_replay(&entry) && self.brisc_mux != now {
            self.third.push(entry);
        } else {
            self.second.push(entry);
        }
        self.brisc_mux = now;
    }

    /// Whether an instruction at the mux finds the rest of the frontend empty and idle.
    #[inline]
    fn falls_through_replay(&self, entry: &Queued) -> bool {
        self.second.is_empty()
            && self.third.is_empty()
            && matches!(self.replay.mode, replay::Mode::Pass)
            && OPCODE.get(entry.word()) != REPLAY
    }

    /// Whether a step of the expanders would change nothing.
    #[inline]
    pub(crate) fn expanders_are_idle(&self) -> bool {
        self.first.is_empty()
            && self.second.is_empty()
            && matches!(self.mop, MopState::Idle)
            && !self.replay.is_playing()
    }

    /// One cycle of the replay expander and then the MOP expander; whether anything moved.
    ///
    /// # Errors
    /// A fault together with the entry that caused it.
    #[inline(always)]
    pub(crate) fn step_expanders(
        &mut self,
        now: Cycle,
    ) -> Result<bool, Box<(FrontendFault, Queued)>> {
        let replayed = self.step_replay()?;
        let expanded = self.step_mop(now, !replayed)?;
        Ok(replayed | expanded)
    }

    #[inline]
    fn step_replay(&mut self) -> Result<bool, Box<(FrontendFault, Queued)>> {
        if self.replay.is_playing() {
            return Ok(self.play_one());
        }
        let Some(&entry) = self.second.front() else { return Ok(false) };
        if let replay::Mode::Record { execute, .. } = self.replay.mode {
            if execute && self.third.is_full() {
                return Ok(false);
            }
            self.second.drop_front();
            if self.replay.record(entry.word()) {
                self.third.push(entry);
            } else {
                self.untrack(&entry);
            }
            return Ok(true);
        }
        if OPCODE.get(entry.word()) == REPLAY {
            self.second.drop_front();
            self.untrack(&entry);
            self.replay
                .begin(entry)
                .map_err(|_| Box::new((FrontendFault::ReplayTooLong, entry)))?;
            // A playback emits its first instruction in the cycle that takes the REPLAY in.
            self.play_one();
            return Ok(true);
        }
        if self.third.is_full() {
            return Ok(false);
        }
        self.second.drop_front();
        self.third.push(entry);
        Ok(true)
    }

    /// Whether its expanders have nothing to do but to pass instructions on, and nothing is latched at the gate or waits
    /// there.
    #[inline]
    pub(crate) fn passes_on(&self) -> bool {
        matches!(self.mop, MopState::Idle)
            && matches!(self.replay.mode, replay::Mode::Pass)
            && self.gate.latch.is_none()
            && self.gate.wait.is_none()
    }

    /// Whether there is something for the gate and nothing for the expanders to take in next.
    #[inline]
    pub(crate) fn has_plain(&self) -> bool {
        !self.third.is_empty()
            && !self.first.front().is_some_and(|entry| is_for_expanders(entry.word()))
            && !self.second.front().is_some_and(|entry| is_for_expanders(entry.word()))
    }

    /// [`Frontend::step_expanders`] of one that [passes on](Frontend::passes_on) only and has room in its last FIFO.
    /// `false`: one of the expanders has something else to do, and nothing has happened.
    #[inline(always)]
    pub(crate) fn pass_on(&mut self, now: Cycle) -> bool {
        let (first, second) = (self.first.front().copied(), self.second.front().copied());
        let replays = |entry: Queued| OPCODE.get(entry.word()) == REPLAY;
        let is_taken = |entry: Queued| matches!(OPCODE.get(entry.word()), MOP | MOP_CFG);
        if second.is_some_and(replays) || first.is_some_and(is_taken) || self.brisc_mux == now {
            return false;
        }
        if let Some(entry) = second {
            self.second.drop_front();
            self.third.push(entry);
        }
        if let Some(entry) = first {
            self.first.drop_front();
            self.trisc_mux = now;
            if second.is_none() && self.third.is_empty() && !replays(entry) {
                self.third.push(entry);
            } else {
                self.second.push(entry);
            }
        }
        true
    }

    /// Whether its expanders do nothing but play the replay buffer until it has come to its end:
    /// the MOP expander has nothing to do, or no room for it, and nothing is latched at the gate.
    #[inline]
    pub(crate) fn only_plays(&self) -> bool {
        let upstream_rests = match self.mop {
            MopState::Expanding { .. } => self.second.is_full(),
            // The MOP expander takes these two in whether there is room behind it or not.
            MopState::Idle => self.first.front().is_none_or(|entry| {
                self.second.is_full() && !matches!(OPCODE.get(entry.word()), MOP | MOP_CFG)
            }),
        };
        self.replay.is_playing() && self.gate.latch.is_none() && upstream_rests
    }

    /// Moves the next instruction of the replay buffer on, if there is room.
    #[inline]
    pub(crate) fn play_one(&mut self) -> bool {
        if self.third.is_full() {
            return false;
        }
        match self.replay.play() {
            Some(entry) => {
                self.third.push(entry);
                true
            }
            None => false,
        }
    }

    #[inline]
    fn step_mop(
        &mut self,
        now: Cycle,
        replay_is_free: bool,
    ) -> Result<bool, Box<(FrontendFault, Queued)>> {
        if let MopState::Expanding { .. } = self.mop {
            return self.step_expansion(now, replay_is_free);
        }
        let Some(&entry) = self.first.front() else { return Ok(false) };
        match OPCODE.get(entry.word()) {
            MOP => self.begin_mop(entry, now, replay_is_free),
            MOP_CFG => {
                self.first.drop_front();
                self.untrack(&entry);
                self.mask_high = MopCfg::of(entry.word()).zmask_hi16;
                Ok(true)
            }
            _ => {
                if self.second.is_full() {
                    return Ok(false);
                }
                self.first.drop_front();
                self.deliver(entry, now, replay_is_free)?;
                Ok(true)
            }
        }
    }

    fn begin_mop(
        &mut self,
        entry: Queued,
        now: Cycle,
        replay_is_free: bool,
    ) -> Result<bool, Box<(FrontendFault, Queued)>> {
        self.first.drop_front();
        self.untrack(&entry);
        let expansion = Expansion::begin(entry.word(), self.mask_high, &self.mop_config)
            .map_err(|why| Box::new((FrontendFault::Mop(why), entry)))?;
        self.mop = MopState::Expanding { expansion, origin: entry.origin(), emitted: 0 };
        // The first instruction leaves in the cycle that takes the MOP in.
        self.emit_expanded(now, replay_is_free)?;
        Ok(true)
    }

    /// Begins a MOP that hardware would not expand as configured, as configured.
    #[cold]
    pub(crate) fn begin_mop_anyway(&mut self, entry: Queued) {
        let expansion = Expansion::begin_anyway(entry.word(), self.mask_high, &self.mop_config);
        self.mop = MopState::Expanding { expansion, origin: entry.origin(), emitted: 0 };
    }

    fn step_expansion(
        &mut self,
        now: Cycle,
        replay_is_free: bool,
    ) -> Result<bool, Box<(FrontendFault, Queued)>> {
        if self.second.is_full() {
            return Ok(false);
        }
        if !self.emit_expanded(now, replay_is_free)? {
            // The expansion is over. Another MOP begins in this cycle; anything else has to let
            // one cycle pass [isa-wh: TensixCoprocessor/MOPExpander.md].
            if let Some(&entry) = self.first.front()
                && OPCODE.get(entry.word()) == MOP
            {
                self.begin_mop(entry, now, replay_is_free)?;
            }
        }
        Ok(true)
    }

    /// Emits one instruction of the expansion if there is room; `false` when it has ended.
    #[inline]
    fn emit_expanded(
        &mut self,
        now: Cycle,
        replay_is_free: bool,
    ) -> Result<bool, Box<(FrontendFault, Queued)>> {
        let MopState::Expanding { expansion, origin, emitted } = &mut self.mop else {
            return Ok(false);
        };
        if self.second.is_full() {
            return Ok(true);
        }
        match expansion.next(&self.mop_config) {
            Some(word) => {
                *emitted = emitted.wrapping_add(1);
                let entry = Queued::expanded(word, *origin, *emitted, 0);
                self.deliver(entry, now, replay_is_free)?;
                Ok(true)
            }
            None => {
                self.mop = MopState::Idle;
                Ok(false)
            }
        }
    }

    /// The TRISC's side of the mux.
    #[inline]
    fn deliver(
        &mut self,
        entry: Queued,
        now: Cycle,
        replay_is_free: bool,
    ) -> Result<(), Box<(FrontendFault, Queued)>> {
        if self.brisc_mux == now {
            return Err(Box::new((FrontendFault::Collision, entry)));
        }
        self.trisc_mux = now;
        if replay_is_free && self.falls_through_replay(&entry) {
            self.third.push(entry);
        } else {
            self.second.push(entry);
        }
        Ok(())
    }

    /// An instruction left the tracked part of the frontend.
    #[inline]
    pub(crate) fn untrack(&mut self, entry: &Queued) {
        if entry.is_tracked() {
            self.tracked = self.tracked.saturating_sub(1);
        }
    }

    /// Whether a `MOP` is queued before the MOP expander or being expanded.
    pub(crate) fn mop_busy(&self) -> bool {
        matches!(self.mop, MopState::Expanding { .. })
            || self.first.iter().any(|entry| OPCODE.get(entry.word()) == MOP)
    }

    /// The TRISC enters reset: the MOP expander and the FIFO before it are emptied
    /// `[isa-bh: TensixTile/SoftReset.md]`. Its configuration and the MOP_CFG mask stay.
    pub(crate) fn discard_input(&mut self) {
        let dropped = self.first.len() as u32;
        self.first.clear();
        self.tracked = self.tracked.saturating_sub(dropped);
        self.mop = MopState::Idle;
    }
}
