//! A plan carried out a step at a time: boot, then every launch, as [`loader::session`] does it in
//! one go. A person looks in between.

use std::rc::Rc;

use anyhow::Result;
use loader::firmware::{BootOptions, FirmwareSet};
use loader::names::LoadedNames;
use loader::plan::{CircularBuffer, GO_MESSAGE, LAUNCH_RD_PTR, Launch, MESSAGE_BYTES, launch_slot};
use loader::session::{GO_SIGNAL, HOST_REACTION_CYCLES, Mismatch, PRELOAD_LEAD_CYCLES, Session};
use sim_core::{Cycle, Observer, Width};
use tile::{HostWait, Stop, Tile, TileConfig, Verdict};

/// What the host waits for: firmware's "done".
const DONE: HostWait = HostWait { addr: GO_SIGNAL, width: Width::Byte, value: 0 };

/// What the host does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Waits for firmware to report done: of the boot, or of the launch before `next`.
    Waiting,
    /// Lets time pass before the next launch is written.
    Reacting { until: u64 },
    /// Lets preloaded kernels come to their wait.
    Preloading { until: u64, slot: u32 },
    /// Nothing is left to do.
    Over,
}

/// A session under way, and who watches it.
pub(super) struct Stepper<O: Observer> {
    session: Session<O>,
    pub(super) names: Rc<LoadedNames>,
    launches: Vec<Launch>,
    /// Launches with repetitions, as indices.
    order: Vec<usize>,
    next: usize,
    phase: Phase,
    /// Why it stands, if it does.
    pub(super) status: String,
    /// The first byte that is not as a launch expects, with the launch's name.
    pub(super) wrong: Option<(String, Mismatch)>,
    stuck: Option<&'static str>,
}

impl<O: Observer> Stepper<O> {
    /// A tile with that firmware, about to boot; `watch` makes who listens.
    pub(super) fn watched(
        config: TileConfig,
        set: &FirmwareSet,
        logical: (u8, u8),
        launches: Vec<Launch>,
        watch: impl FnOnce(Rc<LoadedNames>) -> O,
    ) -> Result<Self> {
        let names = Rc::new(LoadedNames::new(set));
        let options = BootOptions { logical, ..BootOptions::default() };
        let session = Session::stage(config, set, &options, watch(Rc::clone(&names)))?;
        let each = launches.iter().enumerate();
        let order = each.flat_map(|(at, one)| (0..one.repeat).map(move |_| at)).collect();
        let status = "boots".to_owned();
        let phase = Phase::Waiting;
        let (wrong, stuck) = (None, None);
        Ok(Self { session, names, launches, order, next: 0, phase, status, wrong, stuck })
    }

    pub(super) fn tile(&self) -> &Tile<O> {
        &self.session.tile
    }

    pub(super) fn tile_mut(&mut self) -> &mut Tile<O> {
        &mut self.session.tile
    }

    /// The launch under way, or the last one; none before the first.
    fn launched(&self) -> Option<&Launch> {
        let under_way = self.next.checked_sub(1).and_then(|at| self.order.get(at));
        under_way.map(|at| &self.launches[*at])
    }

    /// Circular buffers of the launch under way.
    pub(super) fn buffers(&self) -> &[CircularBuffer] {
        self.launched().map_or(&[], |launch| &launch.circular)
    }

    /// `boot`, or the name of the launch under way or behind.
    pub(super) fn stage(&self) -> &str {
        self.launched().map_or("boot", |launch| &launch.name)
    }

    /// How it ended, by the names that reports use; `None` while it can go on.
    pub(super) fn verdict(&self) -> Option<&'static str> {
        let over = if self.wrong.is_some() { "WRONG-RESULT" } else { "DONE" };
        self.stuck.or_else(|| (self.phase == Phase::Over).then_some(over))
    }

    /// Whether there is nothing more to see.
    pub(super) fn is_over(&self) -> bool {
        self.verdict().is_some()
    }

    /// Goes on for at most that many cycles. Gives whether it can go on further.
    pub(super) fn go_on(&mut self, cycles: u64) -> Result<bool> {
        let limit = self.session.tile.now().0.saturating_add(cycles);
        while !self.is_over() && self.session.tile.now().0 < limit {
            self.one_phase(limit)?;
        }
        Ok(!self.is_over())
    }

    fn one_phase(&mut self, limit: u64) -> Result<()> {
        match self.phase {
            Phase::Waiting => match self.session.tile.run(Cycle(limit), Some(DONE)) {
                Stop::Met => self.done(),
                Stop::Limit => {}
                stop => self.stopped(&stop),
            },
            Phase::Reacting { until } => {
                self.let_pass(until.min(limit));
                if self.session.tile.now().0 >= until && self.stuck.is_none() {
                    self.launch()?;
                }
            }
            Phase::Preloading { until, slot } => {
                self.let_pass(until.min(limit));
                if self.session.tile.now().0 >= until && self.stuck.is_none() {
                    self.session.tile.host_write(slot + MESSAGE_BYTES as u32 - 1, &[0])?;
                    self.go()?;
                }
            }
            Phase::Over => {}
        }
        Ok(())
    }

    /// Firmware has reported done.
    fn done(&mut self) {
        let now = self.session.tile.now().0;
        if let (Some(launch), None) = (self.launched(), &self.wrong) {
            let wrong = self.session.mismatches(&launch.expects).first().copied();
            self.wrong = wrong.map(|wrong| (launch.name.clone(), wrong));
        }
        if self.next == self.order.len() {
            self.phase = Phase::Over;
            self.status = format!("DONE at cycle {now}");
        } else {
            self.phase = Phase::Reacting { until: now + HOST_REACTION_CYCLES };
            "the host prepares a launch".clone_into(&mut self.status);
        }
    }

    fn let_pass(&mut self, until: u64) {
        match self.session.tile.run(Cycle(until), None) {
            Stop::Limit | Stop::Met => {}
            Stop::Quiescent(_) => self.session.tile.pass_time(Cycle(until)),
            stop => self.stopped(&stop),
        }
    }

    fn launch(&mut self) -> Result<()> {
        let launch = &self.launches[self.order[self.next]];
        self.names.set_kernels(&launch.kernels);
        for (address, bytes) in &launch.writes {
            self.session.tile.host_write(*address, bytes)?;
        }
        let slot = launch_slot(self.session.tile.l1_value(LAUNCH_RD_PTR, Width::Word));
        self.session.tile.host_write(slot, &launch.message)?;
        if launch.preload {
            let until = self.session.tile.now().0 + PRELOAD_LEAD_CYCLES;
            self.phase = Phase::Preloading { until, slot };
            return Ok(());
        }
        self.go()
    }

    fn go(&mut self) -> Result<()> {
        let launch = &self.launches[self.order[self.next]];
        self.session.tile.host_write_word(GO_MESSAGE, launch.go_word)?;
        self.status = format!("runs {}", launch.name);
        self.next += 1;
        self.phase = Phase::Waiting;
        Ok(())
    }

    fn stopped(&mut self, stop: &Stop) {
        let (stuck, status) = match stop {
            Stop::Quiescent(quiescence) => {
                let (cycle, name) = (quiescence.cycle, quiescence.verdict.name());
                let hint = match quiescence.verdict {
                    Verdict::Deadlock => ": `tilescope why`",
                    Verdict::HostWait => "",
                };
                (name, format!("{name} at cycle {cycle}{hint}"))
            }
            Stop::Fault(fault) if fault.category.is_guest_fault() => {
                ("GUEST-ERROR", format!("GUEST-ERROR: {fault}"))
            }
            Stop::Fault(fault) => ("NOT-SIMULATED", format!("NOT-SIMULATED: {fault}")),
            Stop::Halted(core) => ("HALTED", format!("{core} halted at ebreak")),
            Stop::Met | Stop::Limit => return,
        };
        (self.stuck, self.status) = (Some(stuck), status);
    }
}
