//! A session of a plan, carried out once at full speed, so that it can be carried out again.

use std::sync::atomic::AtomicBool;

use loader::firmware::{BootOptions, FirmwareSet};
use loader::plan::{Kernel, Launch};
use loader::session::{Outcome, Session, SessionError};
use sim_core::engine::EngineKind;
use sim_core::{Cycle, GuestError, NullObserver};
use tile::{HostWrite, Quiescence, Stop, TileConfig, TileSnapshot, Verdict};

/// How a session ends.
#[derive(Clone, Debug)]
pub enum End {
    /// All launches are done.
    Done,
    /// Nothing moves any more.
    Quiescent(Box<Quiescence>),
    /// A guest mistake.
    Mistake(Box<GuestError>),
    /// The cycle limit, or whoever recorded it had enough.
    Limit,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done => f.write_str("DONE: all launches are done"),
            Self::Quiescent(quiescence) => match quiescence.verdict {
                Verdict::Deadlock => {
                    write!(
                        f,
                        "DEADLOCK since cycle {}: nothing can move any more",
                        quiescence.closed
                    )
                }
                Verdict::HostWait => f.write_str("HOST-WAIT: only the host can go on"),
            },
            Self::Mistake(mistake) => write!(f, "{mistake}"),
            Self::Limit => f.write_str("NO-PROGRESS: the cycle limit was reached"),
        }
    }
}

/// A part of a session.
#[derive(Clone, Debug)]
pub struct Stage {
    /// `boot`, or the launch's name with the number of its round.
    pub name: String,
    /// When it began.
    pub began: Cycle,
    /// Kernels that are launched.
    pub kernels: Vec<Kernel>,
}

/// A recorded session of one tile.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The tile.
    pub config: TileConfig,
    /// At power-on, with firmware staged.
    pub first: TileSnapshot,
    /// What the host wrote since.
    pub writes: Vec<HostWrite>,
    /// Boot and launches.
    pub stages: Vec<Stage>,
    /// When it ends.
    pub until: Cycle,
    /// How.
    pub end: End,
    /// [`tile::Tile::state_hash`] at the end.
    pub hash: u64,
}

/// What is recorded, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Cycles of each stage.
    pub max_cycles: u64,
    /// Ends the recording when it is set.
    pub stop: Option<&'static AtomicBool>,
}

impl Recording {
    /// Boots the firmware and carries out the launches.
    ///
    /// # Errors
    /// Firmware or plan cannot be used.
    pub fn of_plan(
        config: TileConfig,
        set: &FirmwareSet,
        options: &BootOptions,
        launches: &[Launch],
        limits: Limits,
    ) -> Result<Self, SessionError> {
        let config = TileConfig { engine: EngineKind::Inline, ..config };
        let mut session = Session::stage(config, set, options, NullObserver)?;
        if let Some(flag) = limits.stop {
            session.stop_at(flag);
        }
        let first = session.tile.snapshot(None);
        session.tile.keep_host_writes();
        let boot = Stage { name: "boot".to_owned(), began: Cycle::ZERO, kernels: Vec::new() };
        let mut stages = vec![boot];
        let mut outcome = session.run_to_done(limits.max_cycles);
        for launch in launches {
            for round in 0..launch.repeat {
                if !matches!(outcome, Outcome::Done) {
                    break;
                }
                let (name, kernels) = (launch.round_name(round), launch.kernels.clone());
                stages.push(Stage { name, began: session.tile.now(), kernels });
                outcome = session.launch(launch, limits.max_cycles)?;
            }
        }
        let end = match outcome {
            Outcome::Done => End::Done,
            Outcome::Stopped(Stop::Quiescent(quiescence)) => End::Quiescent(Box::new(quiescence)),
            Outcome::Stopped(Stop::Fault(mistake)) => End::Mistake(mistake),
            Outcome::Stopped(_) => End::Limit,
        };
        Ok(Self {
            config,
            first,
            writes: session.tile.take_host_writes(),
            stages,
            until: session.tile.now(),
            end,
            hash: session.tile.state_hash(),
        })
    }

    /// The part of the session that a cycle belongs to.
    #[must_use]
    pub fn stage_at(&self, cycle: Cycle) -> &Stage {
        let later = self.stages.partition_point(|stage| stage.began <= cycle);
        &self.stages[later.saturating_sub(1)]
    }
}
