//! Parking: a core that polls is taken out of the schedule and put back as if it had not been.
//!
//! From time to time a running core is *probed*: at a jump target its registers are remembered
//! and its loads recorded. When it comes back to that target with equal registers, having stored
//! nothing and read nothing that moves with time, every further round will be the same until one
//! of the words it loaded changes. The core is then *parked* with the list of loads. When a
//! commit changes one of them, the core is put where it would have been by spinning: whole rounds
//! are counted, the rest of a round is executed again with the remembered load values.
//!
//! A loop that loads from devices only repeats with the same timing if every round starts at the
//! same offset within an epoch, because such a load waits for the end of its epoch; that is
//! checked too.

use sim_core::{Cycle, Width};

use crate::op::REGISTER_SLOTS;

/// One load of a parked loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchedLoad {
    /// Byte address as the core sees it.
    pub addr: u32,
    /// The value read, zero-extended.
    pub value: u32,
    /// How many bytes.
    pub width: Width,
    /// The instruction.
    pub pc: u32,
    /// Whether it went to a device (else to L1).
    pub device: bool,
}

/// A loop that a core is parked in.
#[derive(Clone, Debug)]
pub struct Spin {
    /// Address of the first instruction of a round.
    pub head: u32,
    /// Cycle at which the core was last at `head`.
    pub(crate) parked_at: u64,
    /// Cycles per round.
    pub period_cycles: u64,
    /// Instructions per round.
    pub period_instructions: u64,
    /// Everything a round loads from L1 and devices, in program order.
    pub loads: Vec<WatchedLoad>,
}

impl Spin {
    /// When the core was taken out of the schedule.
    #[must_use]
    pub fn parked_at(&self) -> Cycle {
        Cycle(self.parked_at)
    }

    /// Cycle at which the recorded round began: none of its loads is older. The core may have been
    /// polling for some rounds before, if it was not being looked at then.
    #[must_use]
    pub fn began(&self) -> Cycle {
        Cycle(self.parked_at.saturating_sub(self.period_cycles))
    }

    /// Whether a round reads a device register.
    #[must_use]
    pub fn watches_devices(&self) -> bool {
        self.loads.iter().any(|load| load.device)
    }
}

/// Most loads and instructions of a round that is still recognised.
pub(crate) const MAX_LOADS: usize = 64;
const MAX_ROUND_CYCLES: u64 = 1024;
/// A probe that saw no jump target come round by then gives up.
const MAX_ROUNDS: u32 = 3;
/// Cycles between a probe that met a side effect and the next.
const SIDE_EFFECT_PAUSE: u64 = 128;
const FIRST_INTERVAL: u64 = 32;
/// A loop that computes is probed at least this often. A probe of a loop of eight instructions
/// costs about as much as 150 instructions of the fast loop.
const LONGEST_INTERVAL: u64 = 1024;

/// An attempt to recognise a polling loop.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// Jump target at which the round began; `None` until the first jump.
    head: Option<u32>,
    registers: [u32; 32],
    start_cycle: u64,
    start_instructions: u64,
    loads: Vec<WatchedLoad>,
    rounds: u32,
    began: u64,
}

/// When to probe, and the probe under way.
#[derive(Clone, Debug)]
pub(crate) struct Prober {
    enabled: bool,
    active: bool,
    next_cycle: u64,
    /// From this cycle on a probe is due or under way.
    gate: u64,
    interval: u64,
    probe: Box<Probe>,
}

impl Prober {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            active: false,
            next_cycle: 0,
            gate: if enabled { 0 } else { u64::MAX },
            interval: FIRST_INTERVAL,
            probe: Box::new(Probe {
                head: None,
                registers: [0; 32],
                start_cycle: 0,
                start_instructions: 0,
                loads: Vec::with_capacity(MAX_LOADS),
                rounds: 0,
                began: 0,
            }),
        }
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
            self.active = true;
            self.probe.head = None;
            self.probe.loads.clear();
            self.probe.rounds = 0;
            self.probe.began = cycle;
            self.update_gate();
        }
    }

    /// The loop computes; try again later, less and less often.
    fn give_up(&mut self, cycle: u64) {
        self.active = false;
        self.next_cycle = cycle + self.interval;
        self.interval = (self.interval * 2).min(LONGEST_INTERVAL);
        self.update_gate();
    }

    /// The situation changed (woken, reset): probe again soon, but not within this epoch.
    pub(crate) fn restart(&mut self, cycle: u64) {
        self.active = false;
        self.interval = FIRST_INTERVAL;
        self.next_cycle = cycle + FIRST_INTERVAL;
        self.update_gate();
    }

    /// Something happened that a polling loop does not do.
    #[inline]
    pub(crate) fn side_effect(&mut self, cycle: u64) {
        if self.active {
            self.active = false;
            self.next_cycle = cycle + SIDE_EFFECT_PAUSE;
            self.update_gate();
        }
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
    ) -> Option<Spin> {
        if !self.active {
            return None;
        }
        let probe = &mut *self.probe;
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
                    return Some(Spin {
                        head: target,
                        parked_at: cycle,
                        period_cycles,
                        period_instructions: instructions - probe.start_instructions,
                        loads: probe.loads.clone(),
                    });
                }
            }
            _ => {}
        }
        probe.rounds += 1;
        if probe.rounds > MAX_ROUNDS {
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
