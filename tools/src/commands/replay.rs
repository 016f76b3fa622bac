//! `tilescope replay`: recorded host sessions on a device library.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use chip::{ChipConfig, ClockStep};
use clap::Args;
use hostlib::{DynamicLibrary, Recording};
use replay::{Difference, Library, Mismatch, Options, Outcome, OwnChip, Plan};
use serde_json::{Value, json};

use crate::exit::Exit;

const EXAMPLES: &str = "\
A recording is what a real host program wrote to a chip and read from it; `tilescope record` makes
one. Reads are compared in a way that other timing can pass: polling is not compared, a read may
show the value of a later one (early), or is repeated after more clocks (late).

Examples:
  tilescope replay session.rec.xz                      on our own chip
  tilescope replay --lib libother.so --strict *.rec    every read at its recorded point
  tilescope replay --bisect session.rec.xz             which shortcut of the simulator is to blame
  tilescope replay --json --repeat 2 session.rec       twice; the state hashes must be equal
";

/// Replay recorded host sessions and compare every read
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct ReplayArgs {
    /// Recordings, .rec or .rec.xz
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Device library to replay on; without it our own chip, as TILESCOPE_* variables have it
    #[arg(long, value_name = "LIB.so")]
    pub lib: Option<PathBuf>,
    /// Host threads of our own chip
    #[arg(long, value_name = "N", conflicts_with = "lib", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// As JSON: one object per replay
    #[arg(long)]
    pub json: bool,
    /// Every read must return the recorded bytes at the recorded clock
    #[arg(long)]
    pub strict: bool,
    /// Clocks that one read may wait for its value
    #[arg(long, value_name = "N", default_value_t = Options::default().max_clocks)]
    pub max_clocks: u64,
    /// Replay with all shortcuts and with none, and say which is to blame for a difference
    ///
    /// Compared are what the host reads, when, and the state at the end (docs/shortcuts.md). A clock
    /// lets a fixed number of cycles pass, 16 unless TILESCOPE_CYCLES_PER_CLOCK says how many:
    /// `auto` looks at which cores are parked.
    #[arg(long, conflicts_with_all = ["lib", "repeat"])]
    pub bisect: bool,
    /// Stop a recording after so many mismatches
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub max_mismatches: usize,
    /// Refuse recordings of more than so many MiB, decompressed; a replay needs up to twice as much
    #[arg(long, value_name = "MIB", default_value_t = replay::MAX_BYTES >> 20, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub max_size: u64,
    /// Replay each file so many times in this process
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

/// One replay of one file.
struct Done {
    name: String,
    outcome: Outcome,
    /// State hashes differ from those of the first replay of this file.
    differs: bool,
}

impl Done {
    fn passed(&self) -> bool {
        self.outcome.passed() && !self.differs
    }
}

/// Runs the command.
///
/// # Errors
/// One line when a file or the library cannot be used.
pub fn run(args: &ReplayArgs, out: &mut dyn Write) -> Result<Exit> {
    let options = Options {
        strict: args.strict,
        max_clocks: args.max_clocks,
        max_mismatches: args.max_mismatches,
    };
    if args.bisect {
        return bisect(args, &options, out);
    }
    let (mut replays, mut failed, mut seconds) = (0_u32, 0_u32, 0.0);
    let mut written = Ok(());
    for file in &args.files {
        let recording = Arc::new(replay::read_up_to(file, args.max_size << 20)?);
        let plan = Plan::of(&recording);
        let mut first_hashes = None;
        for _ in 0..args.repeat {
            // Loaded anew each time: a library may keep more from one session to the next than
            // `exit` clears, and the recording began in a fresh process.
            let mut library = open(args)?;
            let outcome = replay::replay(&mut *library, &recording, &plan, &options)
                .map_err(anyhow::Error::msg)
                .with_context(|| format!("cannot replay {}", file.display()))?;
            let first = first_hashes.get_or_insert_with(|| outcome.state_hashes.clone());
            let differs = *first != outcome.state_hashes;
            let done = Done { name: short_name(file), outcome, differs };
            replays += 1;
            failed += u32::from(!done.passed());
            seconds += done.outcome.seconds;
            if written.is_ok() {
                written = show(&done, args.json, out);
            }
        }
    }
    if !args.json && replays > 1 && written.is_ok() {
        written = writeln!(out, "{replays} replays, {failed} failed, {seconds:.3} s");
    }
    let exit = if failed == 0 { Exit::Ok } else { Exit::WrongResult };
    exit.whatever_became_of(written.map_err(Into::into))
}

fn chip_config(args: &ReplayArgs) -> Result<ChipConfig> {
    let mut config = ChipConfig::from_env()?;
    if let Some(threads) = args.threads {
        config.threads = threads as usize;
    }
    Ok(config)
}

/// Cycles per clock where `auto` would look at who is parked.
const BISECT_CYCLES: u32 = 16;

/// `--bisect`: each file with all shortcuts and with none.
fn bisect(args: &ReplayArgs, options: &Options, out: &mut dyn Write) -> Result<Exit> {
    let mut config = chip_config(args)?;
    if config.clock == ClockStep::Auto {
        config.clock = ClockStep::Cycles(BISECT_CYCLES);
    }
    let mut exit = Exit::Ok;
    for file in &args.files {
        let recording: Arc<Recording> = Arc::new(replay::read(file)?);
        let open = |shortcuts| -> Box<dyn Library> {
            Box::new(OwnChip::new(ChipConfig { shortcuts, ..config }))
        };
        let found = replay::bisect(open, &recording, options)
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("cannot replay {}", file.display()))?;
        if found.is_some() {
            exit = Exit::WrongResult;
        }
        let name = short_name(file);
        if args.json {
            writeln!(out, "{}", difference_json(&name, found.as_ref()))?;
        } else {
            difference_text(&name, found.as_ref(), out)?;
        }
        out.flush()?;
    }
    Ok(exit)
}

fn difference_text(name: &str, found: Option<&Difference>, out: &mut dyn Write) -> Result<()> {
    let Some(Difference { blamed, first, shows, replays }) = found else {
        writeln!(out, "PASS {name:<24} the same with all shortcuts and with none")?;
        return Ok(());
    };
    writeln!(out, "FAIL {name:<24} not the same; it is without {blamed} ({replays} replays)")?;
    let Some((with, without)) = first else {
        writeln!(out, "  the state differs behind the last read")?;
        return Ok(());
    };
    let cycle = |read: &replay::bisect::Read| read.cycle.map_or(String::new(), |c| c.to_string());
    let what = if *shows { "shows something else" } else { "finds another state" };
    writeln!(out, "  record {}: {} {what}", with.record, with.call)?;
    writeln!(out, "  at cycle {}, {} without shortcuts", cycle(with), cycle(without))?;
    Ok(())
}

fn difference_json(name: &str, found: Option<&Difference>) -> Value {
    let Some(Difference { blamed, first, shows, replays }) = found else {
        return json!({ "name": name, "same": true });
    };
    let blamed: Vec<String> = blamed.iter().map(|shortcut| shortcut.to_string()).collect();
    let first = first.as_ref().map(|(with, without)| {
        json!({
            "record": with.record,
            "call": with.call,
            "cycle": with.cycle,
            "cycle_without_shortcuts": without.cycle,
            "shows_something_else": shows,
        })
    });
    json!({ "name": name, "same": false, "blamed": blamed, "replays": replays, "first": first })
}

fn open(args: &ReplayArgs) -> Result<Box<dyn Library>> {
    let Some(path) = &args.lib else {
        return Ok(Box::new(OwnChip::new(chip_config(args)?)));
    };
    if !path.is_file() {
        bail!("{} is not a file; --lib names a device library", path.display());
    }
    // Without a slash the linker would look elsewhere.
    let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    Ok(Box::new(DynamicLibrary::open(&path)?))
}

/// `llk_matmul` for `.../llk_matmul.rec.xz`.
fn short_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let name = name.strip_suffix(".xz").unwrap_or(&name);
    name.strip_suffix(".rec").unwrap_or(name).to_owned()
}

fn verdict(done: &Done) -> &'static str {
    if done.passed() { "PASS" } else { "FAIL" }
}

fn show(done: &Done, as_json: bool, out: &mut dyn Write) -> io::Result<()> {
    if as_json {
        json(done, out)?;
    } else {
        text(done, out)?;
    }
    out.flush()
}

fn text(done: &Done, out: &mut dyn Write) -> io::Result<()> {
    let Outcome { compared, polls, early, late, extra_clocks, clocks, .. } = done.outcome;
    write!(
        out,
        "{} {:<24} {compared} reads compared, {early} early, {late} late; {polls} polls; \
         {clocks} clocks, {extra_clocks} extra; {:.3} s",
        verdict(done),
        done.name,
        done.outcome.seconds
    )?;
    if let Some(hash) = done.outcome.state_hashes.last() {
        write!(out, "; state hash {hash:016x}")?;
    }
    writeln!(out)?;
    for mismatch in &done.outcome.mismatches {
        writeln!(out, "  {mismatch}")?;
    }
    if done.outcome.stopped {
        writeln!(out, "  stopped here; --max-mismatches lets it go on")?;
    }
    if done.differs {
        writeln!(out, "  the state hash differs from that of the first replay")?;
    }
    if done.outcome.dma_unknown > 0 {
        writeln!(out, "  {} DMA accesses that were not recorded", done.outcome.dma_unknown)?;
    }
    for report in &done.outcome.reports {
        writeln!(out, "  device: {report}")?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn mismatch_json(mismatch: &Mismatch) -> Value {
    json!({
        "record": mismatch.record,
        "call": mismatch.op.name(),
        "place": mismatch.place,
        "tile": mismatch.tile.map(|(x, y, _)| [x, y]),
        "address": mismatch.tile.map(|(_, _, address)| address),
        "size": mismatch.size,
        "offset": mismatch.offset,
        "expected": hex(&mismatch.expected),
        "got": hex(&mismatch.got),
    })
}

fn json(done: &Done, out: &mut dyn Write) -> io::Result<()> {
    let outcome = &done.outcome;
    let hashes: Vec<String> =
        outcome.state_hashes.iter().map(|hash| format!("{hash:016x}")).collect();
    let value = json!({
        "name": done.name,
        "verdict": verdict(done),
        "records": outcome.records,
        "reads_compared": outcome.compared,
        "polls": outcome.polls,
        "early": outcome.early,
        "late": outcome.late,
        "clocks": outcome.clocks,
        "extra_clocks": outcome.extra_clocks,
        "bytes_read": outcome.bytes_read,
        "bytes_written": outcome.bytes_written,
        "dma": { "reads": outcome.dma_reads, "writes": outcome.dma_writes,
                 "not_recorded": outcome.dma_unknown },
        "seconds": outcome.seconds,
        "state_hashes": hashes,
        "same_as_first": !done.differs,
        "stopped": outcome.stopped,
        "mismatches": outcome.mismatches.iter().map(mismatch_json).collect::<Vec<_>>(),
        "reports": outcome.reports,
    });
    writeln!(out, "{value}")
}

#[cfg(test)]
mod tests {
    use replay::bisect::Read;
    use sim_core::{Shortcut, Shortcuts};

    use super::*;

    #[test]
    fn difference_is_told_with_who_is_to_blame_and_where_it_begins() {
        let read = |cycle, bytes: &[u8]| Read {
            record: 17,
            call: "mem_read of 4 bytes at 0x100".to_owned(),
            cycle: Some(cycle),
            bytes: bytes.to_vec(),
        };
        let difference = Difference {
            blamed: Shortcuts::NONE.with(Shortcut::Trials).with(Shortcut::Runs),
            first: Some((read(320, &[1]), read(304, &[2]))),
            shows: true,
            replays: 9,
        };
        let mut text = Vec::new();
        difference_text("session", Some(&difference), &mut text).expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("it is without trials,runs (9 replays)"), "{text}");
        assert!(text.contains("record 17: mem_read of 4 bytes at 0x100 shows something"), "{text}");
        assert!(text.contains("at cycle 320, 304 without shortcuts"), "{text}");
        let value = difference_json("session", Some(&difference));
        assert_eq!(value["blamed"], json!(["trials", "runs"]));
        assert_eq!((&value["same"], &value["first"]["record"]), (&json!(false), &json!(17)));
    }
}
