//! Arguments that every command with a tile shares: which firmware, how it is run, how long, and
//! what is written down.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use riscv::IcacheModel;
use sim_core::engine::EngineKind;
use sim_core::{EpochLength, Shortcut, Shortcuts};
use tensix::{Check, TimingModel, UnknownCheck, Warned};
use tile::TileConfig;

use super::views::{Records, ViewArgs};
use super::{parse_u32, parse_xy};

/// Cycles per epoch.
const EPOCH: u32 = 8;
/// Cycles of a stage.
const MAX_CYCLES: u64 = 100_000_000;

/// How the five cores are put on host threads. The result is the same for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum EngineChoice {
    /// One host thread per core where the host has six or more CPUs, else inline
    #[default]
    Auto,
    /// Every core in turn on one host thread
    Inline,
    /// One host thread per core
    Threads,
}

/// What an operation costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum TimingChoice {
    /// Everything takes one cycle
    #[default]
    Unit,
    /// The figures that the public documents state
    Documented,
}

/// The tile and how it is run.
#[derive(Args, Clone, Debug)]
pub struct MachineArgs {
    /// Firmware: a directory, banks as DRAM/L1 (8/140), or the start of a set's id
    ///
    /// A directory holds brisc.elf, ncrisc.elf, trisc0.elf, trisc1.elf and trisc2.elf, or the same
    /// files each in a directory of its own name. Without this option the cached set with most
    /// banks is used (see `tilescope firmware list`); with an empty cache you are asked whether
    /// to fetch, and if you do not, the embedded firmware boots.
    #[arg(long, value_name = "FIRMWARE", conflicts_with = "embedded")]
    pub firmware: Option<OsString>,

    /// Boot tilescope's own small firmware, which speaks the same mailbox protocol
    #[arg(long)]
    pub embedded: bool,

    /// Logical coordinates of the tile
    #[arg(long, value_name = "X,Y", default_value = "0,0", value_parser = parse_xy)]
    pub logical: (u8, u8),

    /// How cores are put on host threads; the result is the same
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineChoice,

    /// Cycles per epoch; 1 is lock-step
    #[arg(long, value_name = "CYCLES", default_value_t = EPOCH,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(EpochLength::MAX)))]
    pub epoch: u32,

    /// Simulate every round of a polling loop; the result is the same, only slower, and a deadlock
    /// shows as no progress
    #[arg(long)]
    pub no_parking: bool,

    /// Ways to the same result that are taken: all, none, names, or -name for all but that one
    ///
    /// A list with commas; each item changes what stands before it. The names and what they stand for:
    /// docs/shortcuts.md. The result is the same with any of them, only slower.
    #[arg(long, value_name = "LIST", default_value = "all", allow_hyphen_values = true,
          value_parser = Shortcuts::parse)]
    pub shortcuts: Shortcuts,

    /// Let instruction caches go stale, and diagnose a missing invalidate
    #[arg(long)]
    pub stale_icache: bool,

    /// What coprocessor instructions cost
    #[arg(long, value_enum, default_value_t)]
    pub timing: TimingChoice,

    /// Go on after what this check diagnoses, with a warning; may be repeated
    ///
    /// The ids, what they diagnose and how the coprocessor then goes on: docs/checks.md.
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = parse_check)]
    pub warn: Vec<Check>,

    /// The same for the checks of a TOML file of `[[warn]]` with `id` and `reason`
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(|path| read_warned(&path)))]
    pub warn_file: Option<Warned>,

    /// Stop each boot or launch after this many cycles
    #[arg(long, value_name = "CYCLES", default_value_t = MAX_CYCLES)]
    pub max_cycles: u64,
}

impl MachineArgs {
    /// An option that was given, by its name; none if all are as they are without any.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            (self.firmware.is_some(), "--firmware"),
            (self.embedded, "--embedded"),
            (self.logical != (0, 0), "--logical"),
            (self.engine != EngineChoice::default(), "--engine"),
            (self.epoch != EPOCH, "--epoch"),
            (self.no_parking, "--no-parking"),
            (self.shortcuts != Shortcuts::ALL, "--shortcuts"),
            (self.stale_icache, "--stale-icache"),
            (self.timing != TimingChoice::default(), "--timing"),
            (!self.warn.is_empty(), "--warn"),
            (self.warn_file.is_some(), "--warn-file"),
            (self.max_cycles != MAX_CYCLES, "--max-cycles"),
        ];
        options.into_iter().find_map(|(given, name)| given.then_some(name))
    }

    /// The checks that are lowered to warnings.
    fn warned(&self) -> Warned {
        self.warn.iter().fold(self.warn_file.unwrap_or_default(), |set, &check| set.with(check))
    }

    fn shortcuts(&self) -> Shortcuts {
        let parks = self.shortcuts.has(Shortcut::Parking) && !self.no_parking;
        self.shortcuts.set(Shortcut::Parking, parks)
    }

    /// The tile these arguments describe.
    #[must_use]
    pub fn tile_config(&self) -> TileConfig {
        TileConfig {
            epoch: EpochLength::new(self.epoch).unwrap_or_default(),
            engine: match self.engine {
                EngineChoice::Auto => EngineKind::Auto,
                EngineChoice::Inline => EngineKind::Inline,
                EngineChoice::Threads => EngineKind::Threads,
            },
            shortcuts: self.shortcuts(),
            icache: if self.stale_icache { IcacheModel::Stale } else { IcacheModel::Coherent },
            timing: match self.timing {
                TimingChoice::Unit => TimingModel::Unit,
                TimingChoice::Documented => TimingModel::Documented,
            },
            warned: self.warned(),
            ..TileConfig::default()
        }
    }
}

/// What is written down about a run.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputArgs {
    /// What can be asked of any session.
    #[command(flatten)]
    pub views: ViewArgs,

    /// Print L1 afterwards; may be repeated
    #[arg(long, value_name = "ADDRESS:BYTES", value_parser = parse_range)]
    pub dump: Vec<(u32, u32)>,
}

impl OutputArgs {
    /// Whether the result is one JSON object.
    #[must_use]
    pub fn json(&self) -> bool {
        self.views.forms.json
    }

    /// Whether standard output takes a file that text behind it would spoil.
    #[must_use]
    pub fn takes_stdout(&self) -> bool {
        self.views.takes_stdout()
    }

    /// Whether something is written to the terminal or a pipe while the run goes on.
    #[must_use]
    pub fn streams(&self) -> bool {
        let Records { instructions, jsonl, perfetto, waves, log, trace_handshakes, .. } =
            &self.views.records;
        let files = [instructions, jsonl, perfetto, waves];
        let dash = |path: &&PathBuf| path.as_os_str() == "-";
        log.is_some() || *trace_handshakes || files.into_iter().flatten().any(|path| dash(&path))
    }
}

fn parse_check(id: &str) -> Result<Check, UnknownCheck> {
    Check::by_id(id)
}

fn read_warned(path: &Path) -> Result<Warned, String> {
    super::allow::warned(path).map_err(|error| format!("{error:#}"))
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let (address, size) =
        text.split_once(':').ok_or_else(|| format!("{text:?} is not ADDRESS:BYTES"))?;
    let (address, size) = (parse_u32(address)?, parse_u32(size)?);
    if loader::layout::in_l1(address, size) {
        Ok((address, size))
    } else {
        Err(format!("{text:?} is not a range of L1 (0..0x180000)"))
    }
}
