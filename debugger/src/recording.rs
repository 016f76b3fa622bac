//! What a tile did in a session, as what came to it from outside, so that it can be done again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loader::firmware::{BootOptions, FirmwareSet};
use loader::plan::{CircularBuffer, Kernel, Launch};
use loader::session::{Outcome, Session, SessionError};
use sim_core::engine::EngineKind;
use sim_core::{CoreId, Cycle, GuestError, NullObserver, Observer};
use symbols::tile_names::TileNames;
use tile::{Input, Quiescence, Stop, Tile, TileConfig, TileSnapshot, Verdict};

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
    /// A session over several tiles: how it ends in words, and a core to look at if that is no good end.
    Session(Arc<str>, Option<CoreId>),
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
            Self::Session(text, _) => f.write_str(text),
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
    /// What runs.
    pub code: Code,
}

impl Stage {
    /// The circular buffers of what runs.
    #[must_use]
    pub fn circular(&self) -> Vec<CircularBuffer> {
        match &self.code {
            Code::Names(names) => session::checks::circular(names),
            Code::Launch(_, buffers) => buffers.clone(),
        }
    }
}

/// The code of a part of a session.
#[derive(Clone, Debug)]
pub enum Code {
    /// Kernels and circular buffers of a plan's launch.
    Launch(Vec<Kernel>, Vec<CircularBuffer>),
    /// What files say of what stood in L1.
    Names(Arc<TileNames>),
}

impl Code {
    /// No kernels.
    #[must_use]
    pub const fn none() -> Self {
        Self::Launch(Vec::new(), Vec::new())
    }
}

/// What one tile did in a session.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Coordinates of the tile as the vendor's runtime counts workers.
    pub place: (u8, u8),
    /// Its number, by which other NoC endpoints know it.
    pub number: u16,
    /// The tile.
    pub config: TileConfig,
    /// When it was first touched.
    pub first: TileSnapshot,
    /// What came from outside since.
    pub inputs: Vec<Input>,
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
        session.tile.keep_inputs();
        let boot = Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() };
        let mut stages = vec![boot];
        let mut outcome = session.run_to_done(limits.max_cycles);
        for launch in launches {
            for round in 0..launch.repeat {
                if !matches!(outcome, Outcome::Done) {
                    break;
                }
                let (name, began) = (launch.round_name(round), session.tile.now());
                let code = Code::Launch(launch.kernels.clone(), launch.circular.clone());
                stages.push(Stage { name, began, code });
                outcome = session.launch(launch, limits.max_cycles)?;
            }
        }
        let end = match outcome {
            Outcome::Done => End::Done,
            Outcome::Stopped(Stop::Quiescent(quiescence)) => End::Quiescent(Box::new(quiescence)),
            Outcome::Stopped(Stop::Fault(mistake)) => End::Mistake(mistake),
            Outcome::Stopped(_) => End::Limit,
        };
        let kept = session.tile.take_inputs().expect("they have been kept since the beginning");
        Ok(Self {
            place: options.logical,
            number: 0,
            config,
            first: kept.first,
            inputs: kept.inputs,
            stages,
            until: session.tile.now(),
            end,
            hash: session.tile.state_hash(),
        })
    }

    /// When something comes from outside next, of which `given` has come already.
    #[must_use]
    pub fn next_input(&self, given: usize) -> Option<Cycle> {
        self.inputs.get(given).map(|input| input.cycle)
    }

    /// Has come to a tile what has come up to now, of which `given` has already.
    pub fn give<O: Observer>(&self, tile: &mut Tile<O>, given: &mut usize) {
        while let Some(input) = self.inputs.get(*given).filter(|input| input.cycle <= tile.now()) {
            tile.give(&input.kind);
            *given += 1;
        }
    }

    /// Takes a tile to an epoch boundary, at full speed. What it sends to others has been sent.
    pub fn run<O: Observer>(&self, tile: &mut Tile<O>, given: &mut usize, until: Cycle) {
        while tile.now() < until {
            self.give(tile, given);
            let next = self.next_input(*given).map_or(until, |input| input.min(until));
            if next <= tile.now() {
                continue;
            }
            if let Stop::Quiescent(_) = tile.run(next, None) {
                tile.pass_time(next);
            }
            forget_sent(tile);
        }
    }

    /// Bytes of what came from outside.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        let bytes = |input: &Input| match &input.kind {
            tile::InputKind::Write { bytes, .. } => bytes.len(),
            tile::InputKind::Read { .. } => 0,
            tile::InputKind::Arrival(arrival) => arrival.message.data().len(),
        };
        self.inputs.iter().map(|input| size_of::<Input>() + bytes(input)).sum()
    }

    /// The part of the session that a cycle belongs to.
    #[must_use]
    pub fn stage_at(&self, cycle: Cycle) -> &Stage {
        let later = self.stages.partition_point(|stage| stage.began <= cycle);
        &self.stages[later.saturating_sub(1)]
    }
}

/// What a tile has sent is with its receivers already.
pub(crate) fn forget_sent<O: Observer>(tile: &mut Tile<O>) {
    drop(tile.take_departures());
    drop(tile.take_ebreaks());
}
