//! Parking: a core that polls is taken out of the schedule and put back as if it had not been.
//!
//! From time to time a running core is *probed*: at a jump target its registers are remembered
//! and its loads recorded. When it comes back to that target with equal registers, having stored
//! nothing and read nothing that moves with time, every further round will be the same until one
//! of the words it loaded changes. The core is then *parked* with the list of loads. When a
//! commit changes one of them, the core is put where it would have been by spinning: whole rounds
//! are counted, the rest of a round is executed again with the remembered load values.
//!
//! A core that takes a backward jump of a polling loop (`crate::poll`) is probed at once, so that
//! it is parked as soon as a whole round has repeated; other loops are found by probing from time
//! to time.
//!
//! In a loop that waits by the wall clock every round is different, but it is known how: until the
//! round that may leave the loop, each is carried out again from the cycle alone (`crate::poll`).
//!
//! A loop that loads from devices only repeats with the same timing if every round starts at the
//! same offset within an epoch, because such a load waits for the end of its epoch; that is
//! checked too.

use std::collections::VecDeque;

use memory_map::View;
use sim_core::{CoreId, Shortcut, Shortcuts, Width};

use crate::config::view;
use crate::op::REGISTER_SLOTS;
use crate::spin::{FIRST_INTERVAL, Spin, WatchedLoad};

/// Most loads and instructions of a round that is still recognised.
pub(crate) const MAX_LOADS: usize = 64;
const MAX_ROUND_CYCLES: u64 = 1024;
/// A probe that saw no jump target come round by then gives up.
const MAX_ROUNDS: u32 = 3;
/// Cycles between a probe that met a side effect and the next: at first, and at most, in a loop in
/// which every probe meets one.
const SIDE_EFFECT_PAUSE: u64 = 128;
const LONGEST_PAUSE: u64 = 512;
/// A loop that computes is probed at least this often. A probe of a loop of eight instructions
/// costs about as much as 150 instructions of the fast loop.
const LONGEST_INTERVAL: u64 = 1024;

/// A cycle for the next probe, at least `pause` after `cycle`. All cores probe at about the same time:
/// between probes they can go ahead together (`crate::ahead`).
fn together(cycle: u64, pause: u64) -> u64 {
    (cycle + pause).next_multiple_of(pause)
}

/// Cycles in which the jump of a polling loop starts no probe after one that came to nothing: at
/// first, and at most. Such loops read a clock, or a word that changes from round to round.
const FIRST_BACKOFF: u64 = 8;
const LONGEST_BACKOFF: u64 = 64;

/// Most loops around a wait by the wall clock that are not looked at between two that are.
const LONGEST_NESTS_PAUSE: u32 = 63;

/// Places whose last look at a device is remembered.
const SHOWN: usize = 8;

/// An attempt to recognise a polling loop.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// Where the jump is that started it, if that is what did.
    tail: Option<u32>,
    /// Whether a round goes elsewhere than from the head to the tail.
    calls: bool,
    /// Jump target at which the round began; `None` until the first jump.
    head: Option<u32>,
    registers: [u32; 32],
    start_cycle: u64,
    start_instructions: u64,
    loads: Vec<WatchedLoad>,
    rounds: u32,
    began: u64,
}

/// What a probe has to be told of what is executed as long as nothing happens that it decides about.
pub(crate) struct Watch<'a> {
    /// Where loads from L1 are noted, if a round has begun.
    loads: Option<&'a mut Vec<WatchedLoad>>,
    /// Jumps to elsewhere than here mean nothing to it; `None`: all do.
    head: Option<u32>,
}

impl Watch<'_> {
    /// No probe is under way.
    pub(crate) const NONE: Self = Self { loads: None, head: None };

    /// Whether a jump means nothing.
    #[inline(always)]
    pub(crate) fn passes(&self, target: u32) -> bool {
        self.head.is_some_and(|head| head != target)
    }

    /// The core loads from L1. `false`: it has loaded too much, which is for [`Prober::load`].
    #[inline(always)]
    pub(crate) fn note(&mut self, addr: u32, value: u32, width: Width, pc: u32) -> bool {
        let Some(loads) = &mut self.loads else { return true };
        let has_room = loads.len() < MAX_LOADS;
        if has_room {
            loads.push(WatchedLoad { addr, value, width, pc, device: false });
        }
        has_room
    }
}

/// When to probe, and the probe under way.
#[derive(Clone, Debug)]
pub(crate) struct Prober {
    /// How the core sees addresses.
    view: View,
    enabled: bool,
    /// Jumps of polling loops are marked where they are decoded.
    marks_polls: bool,
    active: bool,
    next_cycle: u64,
    /// From this cycle on a probe is due or under way.
    gate: u64,
    interval: u64,
    pause: u64,
    /// From these cycles on a poll's jump starts a probe: since it was woken, since one failed.
    poll_after_wake: u64,
    poll_after_failure: u64,
    backoff: u64,
    /// Head of the last loop that waited by the wall clock.
    pub(crate) clock_loop: Option<u32>,
    /// Loops around a wait that are not to be looked at before the next one is, and how many it were last.
    nests_left: u32,
    nests_pause: u32,
    /// What devices showed last, by the place they were read from, the oldest first.
    shown: VecDeque<(u64, WatchedLoad)>,
    probe: Box<Probe>,
    /// The loop that was left last: the next one takes its place, so that a core which is parked and woken all the
    /// time needs no new memory for it.
    spare: Option<Box<Spin>>,
    /// When it was left, if the core has done nothing since but go on from there.
    left_at: Option<u64>,
    /// Answers that the core got since then.
    answers: u32,
}

impl Prober {
    pub(crate) fn new(id: CoreId, shortcuts: Shortcuts) -> Self {
        let enabled = shortcuts.has(Shortcut::Parking);
        Self {
            view: view(id),
            enabled,
            marks_polls: enabled && shortcuts.has(Shortcut::Polls),
            active: false,
            next_cycle: 0,
            gate: if enabled { 0 } else { u64::MAX },
            interval: FIRST_INTERVAL,
            pause: SIDE_EFFECT_PAUSE,
            poll_after_wake: 0,
            poll_after_failure: 0,
            backoff: FIRST_BACKOFF,
            clock_loop: None,
            nests_left: 0,
            nests_pause: 0,
            shown: VecDeque::new(),
            probe: Box::new(Probe {
                tail: None,
                calls: false,
                head: None,
                registers: [0; 32],
                start_cycle: 0,
                start_instructions: 0,
                loads: Vec::new(),
                rounds: 0,
                began: 0,
            }),
            spare: None,
            left_at: None,
            answers: 0,
        }
    }

    /// A loop to park in, with the loads of one that the prober has collected or been given.
    pub(crate) fn spin(&mut self, spin: Spin) -> Box<Spin> {
        let mut place = self.spare.take().unwrap_or_default();
        self.left_at = None;
        let old = std::mem::replace(&mut *place, spin);
        self.give_loads(old.loads);
        place.sum_up(self.view);
        place
    }

    /// A loop that has been left.
    pub(crate) fn keep(&mut self, spin: Box<Spin>) {
        self.spare = Some(spin);
        self.left_at = None;
    }

    /// A loop that the core goes on from at `now`.
    pub(crate) fn leave(&mut self, spin: Box<Spin>, now: u64) {
        self.spare = Some(spin);
        (self.left_at, self.answers) = (Some(now), 0);
    }

    /// Something besides the core has changed what it executes, or its registers or RAM.
    #[inline]
    pub(crate) fn disturbed(&mut self) {
        self.left_at = None;
    }

    /// The core got an answer.
    #[inline]
    pub(crate) fn answered(&mut self) {
        self.answers = self.answers.saturating_add(1);
    }

    /// The loop with that head that the core left last, if it has done nothing since but go once to the end of a round
    /// of it. It reads devices only, and each of them has shown what it showed, once: so all it did was what it does in
    /// that loop, and at `cycle` it stands at the head as it stood there before.
    pub(crate) fn again(&mut self, head: u32, cycle: u64) -> Option<Box<Spin>> {
        let left_at = self.left_at?;
        let spin = self.spare.as_deref()?;
        if spin.head != head || !spin.may_doze() || !spin.watches_devices() || spin.nest.is_some() {
            return None;
        }
        let (mut oldest, mut answers) = (cycle, 0);
        for load in &spin.loads {
            let (shown, value) = self.last_shown(load.pc, load.addr, load.width)?;
            if value != load.value {
                return None;
            }
            oldest = oldest.min(shown);
            answers += u32::from(shown >= left_at);
        }
        if answers != self.answers {
            return None;
        }
        self.left_at = None;
        let mut spin = self.spare.take()?;
        (spin.parked_at, spin.began, spin.seen, spin.dozes) = (cycle, oldest, oldest, None);
        Some(spin)
    }

    /// Whether a probe is under way.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// The cycle from which on a probe is due or under way.
    #[inline]
    pub(crate) fn gate(&self) -> u64 {
        self.gate
    }

    fn update_gate(&mut self) {
        self.gate = match (self.active, self.enabled) {
            (true, _) => 0,
            (false, true) => self.next_cycle,
            (false, false) => u64::MAX,
        };
    }

    /// Starts a probe if one is due.
    pub(crate) fn begin(&mut self, cycle: u64) {
        if self.enabled && !self.active && cycle >= self.next_cycle {
            self.start(None, cycle);
        }
    }

    fn start(&mut self, tail: Option<u32>, cycle: u64) {
        self.active = true;
        self.probe.tail = tail;
        self.probe.calls = false;
        self.probe.head = None;
        self.probe.loads.clear();
        self.probe.rounds = 0;
        self.probe.began = cycle;
        self.update_gate();
    }

    /// The jump of a polling loop at `pc` is about to be taken, or not. One that is taken starts a
    /// probe; one that is not ends the probe it started.
    pub(crate) fn poll(&mut self, pc: u32, calls: bool, taken: bool, cycle: u64) {
        if taken && self.marks_polls {
            // One that was due anyway knows less.
            let is_free = !self.active || self.probe.tail.is_none();
            // It may be the loop around a wait by the clock, of which the last rounds came to nothing just now.
            let is_outer = self.clock_loop.is_some() && self.probe.tail != Some(pc);
            let failed = cycle < self.poll_after_failure && !(is_outer && self.tries_nests());
            if is_outer {
                self.nests_left = self.nests_left.saturating_sub(1);
            }
            if is_free && cycle >= self.poll_after_wake && !failed {
                self.start(Some(pc), cycle);
                self.probe.calls = calls;
            }
        } else if self.active && self.probe.tail == Some(pc) {
            self.stop(cycle);
        }
    }

    /// While no probe is under way: the cycle before which the jump of a polling loop means nothing, taken or not.
    #[inline]
    pub(crate) fn polls_from(&self) -> u64 {
        match (self.marks_polls, self.clock_loop) {
            (false, _) => u64::MAX,
            // It may be that of the loop around a wait, which are counted.
            (true, Some(_)) => 0,
            (true, None) => self.poll_after_wake.max(self.poll_after_failure),
        }
    }

    /// The polling loop was left.
    fn stop(&mut self, cycle: u64) {
        self.active = false;
        self.next_cycle = self.next_cycle.max(cycle + FIRST_INTERVAL);
        self.update_gate();
    }

    /// A probe that a polling loop started came to nothing.
    fn back_off(&mut self, cycle: u64) {
        if self.probe.tail.is_some() {
            self.poll_after_failure = cycle + self.backoff;
            self.backoff = (self.backoff * 2).min(LONGEST_BACKOFF);
        }
    }

    /// The loop computes; try again later, less and less often.
    fn give_up(&mut self, cycle: u64) {
        self.active = false;
        self.back_off(cycle);
        self.next_cycle = together(cycle, self.interval);
        self.interval = (self.interval * 2).min(LONGEST_INTERVAL);
        self.update_gate();
    }

    /// The situation changed (woken, reset): probe again soon, but not within this epoch. Nor does
    /// a poll of `devices` start a probe by itself before [`Prober::allow_parking`]: while devices change
    /// in every epoch it would be parked and woken for nothing.
    pub(crate) fn restart(&mut self, cycle: u64, devices: bool) {
        self.active = false;
        self.left_at = None;
        self.interval = FIRST_INTERVAL;
        self.pause = SIDE_EFFECT_PAUSE;
        self.next_cycle = cycle + FIRST_INTERVAL;
        self.poll_after_wake = if devices { self.next_cycle } else { 0 };
        self.update_gate();
    }

    /// A wait by the wall clock is over, or nearly: what comes now is something else.
    pub(crate) fn resume(&mut self, cycle: u64) {
        self.restart(cycle, false);
        self.next_cycle = cycle + SIDE_EFFECT_PAUSE;
        self.update_gate();
    }

    /// Lets a poll of devices start a probe by itself: nothing but cores is at work any more.
    #[inline]
    pub(crate) fn allow_parking(&mut self) {
        self.poll_after_wake = 0;
    }

    /// Something happened that a polling loop does not do.
    #[inline]
    pub(crate) fn side_effect(&mut self, cycle: u64) {
        if self.active {
            self.active = false;
            self.back_off(cycle);
            self.next_cycle = together(cycle, self.pause);
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            self.update_gate();
        }
    }

    /// The core is parked, or nearly was.
    pub(crate) fn closed(&mut self, cycle: u64) {
        self.active = false;
        self.backoff = FIRST_BACKOFF;
        self.next_cycle = cycle + SIDE_EFFECT_PAUSE;
        self.update_gate();
    }

    /// Whether the jump that has just been taken starts a probe of a polling loop.
    pub(crate) fn is_fresh_poll(&self) -> bool {
        self.active && self.probe.tail.is_some() && self.probe.head.is_none()
    }

    /// Whether a loop around a wait by the wall clock is to be tried out now.
    pub(crate) fn tries_nests(&self) -> bool {
        self.nests_left == 0
    }

    /// Whether one could be parked in: such loops that do something else are looked at less and less often.
    pub(crate) fn tried_nest(&mut self, parks: bool) {
        self.nests_pause =
            if parks { 0 } else { (2 * self.nests_pause + 1).min(LONGEST_NESTS_PAUSE) };
        self.nests_left = self.nests_pause;
    }

    /// What the probe under way has to be told before a cycle, which is given.
    #[inline]
    pub(crate) fn watch(&mut self) -> (Watch<'_>, u64) {
        let Probe { head, tail, loads, began, .. } = &mut *self.probe;
        let passed = head.filter(|_| tail.is_none());
        (Watch { loads: head.is_some().then_some(loads), head: passed }, *began + MAX_ROUND_CYCLES)
    }

    /// A list for the loads of a round.
    pub(crate) fn take_loads(&mut self) -> Vec<WatchedLoad> {
        std::mem::take(&mut self.probe.loads)
    }

    /// Gives it back.
    pub(crate) fn give_loads(&mut self, mut loads: Vec<WatchedLoad>) {
        loads.clear();
        self.probe.loads = loads;
    }

    /// A device was asked at `cycle` and showed something that stays until some device changes.
    pub(crate) fn showed(&mut self, load: WatchedLoad, cycle: u64) {
        if !self.enabled {
            return;
        }
        if let Some(last) = self.shown.back_mut()
            && last.1.pc == load.pc
        {
            *last = (cycle, load);
            return;
        }
        if let Some(at) = self.shown.iter().position(|(_, old)| old.pc == load.pc) {
            self.shown.remove(at);
        } else if self.shown.len() == SHOWN {
            self.shown.pop_front();
        }
        self.shown.push_back((cycle, load));
    }

    /// The core has been through more rounds of a loop that it dozed in, and stands at `now`.
    pub(crate) fn showed_again(&mut self, spin: &Spin, now: u64) {
        for (cycle, load) in &mut self.shown {
            let same = |other: &WatchedLoad| (other.pc, other.addr) == (load.pc, load.addr);
            if spin.loads.iter().any(same) {
                let rounds = now.saturating_sub(*cycle + 1) / spin.period_cycles;
                *cycle += rounds * spin.period_cycles;
            }
        }
    }

    /// What that load showed last, and when.
    pub(crate) fn last_shown(&self, pc: u32, addr: u32, width: Width) -> Option<(u64, u32)> {
        let same = |load: &WatchedLoad| (load.pc, load.addr, load.width) == (pc, addr, width);
        self.shown.iter().find(|(_, load)| same(load)).map(|(cycle, load)| (*cycle, load.value))
    }

    /// The core loaded from L1 or a device.
    pub(crate) fn load(&mut self, load: WatchedLoad, cycle: u64) {
        if self.active && self.probe.head.is_some() {
            if self.probe.loads.len() == MAX_LOADS {
                self.give_up(cycle);
            } else {
                self.probe.loads.push(load);
            }
        }
    }

    /// The core jumped to `target`. A round that closed with equal registers is given back.
    pub(crate) fn jump(
        &mut self,
        target: u32,
        registers: &[u32; REGISTER_SLOTS],
        cycle: u64,
        instructions: u64,
        epoch_cycles: u64,
    ) -> Option<Box<Spin>> {
        if !self.active {
            return None;
        }
        let probe = &mut *self.probe;
        if let (Some(head), Some(tail), false) = (probe.head, probe.tail, probe.calls)
            && !(head..=tail).contains(&target)
        {
            self.stop(cycle);
            return None;
        }
        match probe.head {
            Some(head) if head != target => {
                if cycle - probe.began > MAX_ROUND_CYCLES {
                    self.give_up(cycle);
                }
                return None;
            }
            Some(_) if probe.registers[..] == registers[..32] => {
                let period_cycles = cycle - probe.start_cycle;
                let devices = probe.loads.iter().any(|load| load.device);
                if !devices || period_cycles.is_multiple_of(epoch_cycles) {
                    let spin = Spin {
                        head: target,
                        parked_at: cycle,
                        began: probe.start_cycle,
                        seen: probe.start_cycle,
                        period_cycles,
                        period_instructions: instructions - probe.start_instructions,
                        loads: std::mem::take(&mut probe.loads),
                        ..Spin::default()
                    };
                    return Some(self.spin(spin));
                }
            }
            _ => {}
        }
        probe.rounds += 1;
        // What has computed for long most likely still does: one look.
        let most = if self.interval < LONGEST_INTERVAL { MAX_ROUNDS } else { 1 };
        if probe.rounds > most {
            self.give_up(cycle);
            return None;
        }
        probe.head = Some(target);
        probe.registers.copy_from_slice(&registers[..32]);
        probe.start_cycle = cycle;
        probe.start_instructions = instructions;
        probe.loads.clear();
        None
    }
}
