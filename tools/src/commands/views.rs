//! What can be asked of any session, in one argument group: forms of the explanation, recordings of what
//! happened, and which tiles and cycles are looked at.
//!
//! A session is a plan, the tape or recording of a host program, or such a program itself, which is run and
//! leaves its tape. Every command with these views gives its own answer, and the files
//! that are asked for besides.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use session::selection::Selection;
use sim_core::{CoreId, CoreSet, Cycle};

use super::forms::WhyOutput;

/// Everything that can be asked of a session.
#[derive(Args, Clone, Debug, Default)]
pub struct ViewArgs {
    /// The explanation.
    #[command(flatten)]
    pub forms: WhyOutput,
    /// The recordings.
    #[command(flatten)]
    pub records: Records,
    /// Where to look.
    #[command(flatten)]
    pub select: Select,
}

/// What is written down while a session runs.
#[derive(Args, Clone, Debug, Default)]
pub struct Records {
    /// Write a Perfetto trace, for <https://ui.perfetto.dev>; `-` is standard output; the report then
    /// goes to standard error
    ///
    /// Of several tiles each is a process, with arrows for NoC reads, writes, atomics and multicasts from tile to
    /// tile and back.
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub perfetto: Option<PathBuf>,

    /// Leave functions out of the Perfetto trace: it is smaller
    #[arg(long, requires = "perfetto", help_heading = "Views")]
    pub no_functions: bool,

    /// Write every event as a line of JSON; `-` is standard output (keys: docs/events.md)
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub jsonl: Option<PathBuf>,

    /// Write waves of about 200 signals per tile in the FST format, for GTKWave or Surfer; `-` as above
    #[arg(long, value_name = "FILE.fst", help_heading = "Views")]
    pub waves: Option<PathBuf>,

    /// Log what matches this filter, such as `semaphore`, `go,mailbox` or `tilescope::noc=debug`
    ///
    /// Topics: go, mailbox, semaphore, mutex, pcbuf, reset, noc, stream, wait, push, config, l1
    /// and more (see docs/events.md). The log goes to standard output, with --json to standard
    /// error.
    #[arg(long, value_name = "FILTER", help_heading = "Views")]
    pub log: Option<String>,

    /// Log every handshake: go and done words, mailboxes, semaphores, mutexes, PCBufs, resets,
    /// NoC transactions, waits
    #[arg(long, conflicts_with = "log", help_heading = "Views")]
    pub trace_handshakes: bool,

    /// Write every executed instruction with disassembly to a file; `-` is standard error
    ///
    /// A core that goes round a polling loop is parked, and the rounds that it is spared are missing. Of several
    /// tiles each line begins with the tile.
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub instructions: Option<PathBuf>,

    /// Cores for --instructions, such as brisc,trisc1 [default: all]
    #[arg(
        long,
        value_name = "CORES",
        value_delimiter = ',',
        requires = "instructions",
        help_heading = "Views"
    )]
    pub cores: Vec<String>,

    /// Record only the last N events (and executed jumps and instructions) of the session
    #[arg(long, value_name = "N", help_heading = "Views")]
    pub last: Option<usize>,

    /// Record nothing before this cycle
    #[arg(long, value_name = "CYCLE", help_heading = "Views")]
    pub from: Option<u64>,

    /// Record nothing after this cycle
    #[arg(long, value_name = "CYCLE", help_heading = "Views")]
    pub to: Option<u64>,
}

/// Of a tape: which tiles, with what names, on how many threads.
#[derive(Args, Clone, Debug, Default)]
pub struct Select {
    /// Tiles to look at: busy, all, or columns and rows such as 0,1 or 0-3,0-1 (several in quotes)
    ///
    /// Coordinates are those with which the vendor's runtime counts workers, from 0,0; NoC coordinates are shown
    /// beside. Busy are the tiles that were launched, or run a program without the vendor's firmware.
    #[arg(long, value_name = "TILES", help_heading = "Views")]
    pub tiles: Option<Selection>,

    /// Of a tape: directory with ELF files of its kernels, looked up by content; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Views")]
    pub elf: Vec<PathBuf>,

    /// Of a tape: host threads that advance tiles; the result is the same
    #[arg(long, value_name = "N", help_heading = "Views")]
    pub threads: Option<usize>,
}

impl Records {
    /// Whether anything is recorded.
    #[must_use]
    pub fn any(&self) -> bool {
        self.perfetto.is_some()
            || self.jsonl.is_some()
            || self.waves.is_some()
            || self.log.is_some()
            || self.trace_handshakes
            || self.instructions.is_some()
    }

    /// Where executed instructions go, and of which cores.
    ///
    /// # Errors
    /// There is no core of a name.
    pub fn instructions(&self) -> Result<Option<(&Path, CoreSet)>> {
        let mut cores = if self.cores.is_empty() { CoreSet::ALL } else { CoreSet::EMPTY };
        for name in &self.cores {
            match CoreId::from_name(name) {
                Some(core) => cores.insert(core),
                None => bail!("--cores {name}: not one of brisc, ncrisc, trisc0, trisc1, trisc2"),
            }
        }
        Ok(self.instructions.as_deref().map(|path| (path, cores)))
    }

    /// Whether standard output takes a file that text behind it would spoil.
    #[must_use]
    pub fn takes_stdout(&self) -> bool {
        [&self.perfetto, &self.waves].into_iter().flatten().any(|path| path.as_os_str() == "-")
    }

    /// Whether a cycle is to be recorded.
    #[must_use]
    pub fn has(&self, from: Cycle, to: Cycle) -> bool {
        self.from.is_none_or(|first| to.0 >= first) && self.to.is_none_or(|last| from.0 <= last)
    }

    /// # Errors
    /// The window is empty, or there is no such core.
    pub(super) fn check(&self) -> Result<()> {
        self.instructions()?;
        match (self.from, self.to) {
            (Some(from), Some(to)) if from > to => {
                bail!("--from {from} --to {to}: that is no time at all")
            }
            _ => Ok(()),
        }
    }
}

impl Select {
    /// The tiles.
    #[must_use]
    pub fn tiles(&self) -> Selection {
        self.tiles.clone().unwrap_or_default()
    }

    /// # Errors
    /// Something is asked for that a plan does not have.
    pub(super) fn check_plan(&self, (x, y): (u8, u8)) -> Result<()> {
        if let Some(tiles) = &self.tiles
            && !tiles.has((x, y), true)
        {
            bail!("--tiles {tiles}: the plan has one tile, {x},{y}");
        }
        if !self.elf.is_empty() {
            bail!("--elf is for tapes: a plan names its kernels");
        }
        if self.threads.is_some() {
            bail!("--threads is for tapes; for a plan: --engine");
        }
        Ok(())
    }
}

impl ViewArgs {
    /// Whether a file in a form of the explanation is asked for.
    #[must_use]
    pub fn wants_forms(&self) -> bool {
        let files = [&self.forms.html, &self.forms.sarif, &self.forms.dot];
        files.into_iter().any(Option::is_some)
    }

    /// Whether standard output is one of the files.
    #[must_use]
    pub fn takes_stdout(&self) -> bool {
        self.records.takes_stdout() || self.forms.takes_stdout()
    }

    /// The same without the forms of the explanation, or without the recordings.
    #[must_use]
    pub fn only_records(&self) -> Self {
        Self { forms: WhyOutput { json: self.forms.json, ..WhyOutput::default() }, ..self.clone() }
    }
}
