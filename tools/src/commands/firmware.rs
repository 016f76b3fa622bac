//! `tilescope firmware fetch|list`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::fetch::{Cache, CachedSet, DEFAULT_VERSION, FetchOptions, Interrupt};

const EXAMPLES: &str = "\
The firmware belongs to its vendor and is not part of tilescope. `fetch` runs your own
`python3 -m pip` to download the ttnn wheel (about 100 MB), takes the Blackhole Tensix firmware
out of it and deletes the wheel. TILESCOPE_CACHE names another cache directory.

Examples:
  tilescope firmware fetch
  tilescope firmware fetch --wheel ttnn-0.81.1-cp310-cp310-manylinux_2_34_x86_64.whl
  tilescope firmware list
  tilescope firmware list --json
";

/// Ctrl-C reaches the fetch that is under way through this.
static INTERRUPT: Interrupt = Interrupt::new();

/// Get, list and check the vendor's firmware
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct FirmwareArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: FirmwareCommand,
}

/// What can be done with the cache.
#[derive(Subcommand, Clone, Debug)]
pub enum FirmwareCommand {
    /// Download firmware with pip, or take it out of a wheel
    Fetch {
        /// Version of the ttnn package
        #[arg(long, value_name = "VERSION", default_value = DEFAULT_VERSION)]
        version: String,
        /// Use a wheel that is already here
        #[arg(long, value_name = "FILE", conflicts_with = "version")]
        wheel: Option<PathBuf>,
        /// Replace what the cache holds
        #[arg(long)]
        force: bool,
    },
    /// Show the cached firmware sets and check every file's hash
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// One line: see [`Cache::fetch`] and [`Cache::list`].
pub fn run(args: &FirmwareArgs, out: &mut dyn Write) -> Result<Exit> {
    let cache = Cache::open()?;
    match &args.command {
        FirmwareCommand::Fetch { version, wheel, force } => {
            ctrlc::set_handler(|| INTERRUPT.raise()).context("cannot handle Ctrl-C")?;
            let options = FetchOptions {
                version,
                wheel: wheel.as_deref(),
                force: *force,
                interrupt: &INTERRUPT,
            };
            let (dir, manifest) = cache.fetch(&options)?;
            writeln!(
                out,
                "ttnn {}: {} Blackhole firmware sets in {}",
                manifest.version,
                manifest.sets.len(),
                dir.display()
            )?;
            Ok(Exit::Ok)
        }
        FirmwareCommand::List { json } => list(&cache, *json, out),
    }
}

fn list(cache: &Cache, json: bool, out: &mut dyn Write) -> Result<Exit> {
    let versions = cache.list()?;
    let exit = if versions.iter().all(|version| version.problems.is_empty()) {
        Exit::Ok
    } else {
        Exit::Host
    };
    if json {
        serde_json::to_writer_pretty(&mut *out, &versions)?;
        writeln!(out)?;
        return Ok(exit);
    }
    if versions.is_empty() {
        writeln!(out, "no firmware in the cache; `tilescope firmware fetch` gets it")?;
    }
    for version in &versions {
        writeln!(out, "{}", version.dir.display())?;
        let sets = version.manifest.iter().flat_map(|manifest| &manifest.sets);
        for set in sets {
            list_set(set, &version.problems, out)?;
        }
        for problem in &version.problems {
            writeln!(out, "  damaged: {problem}")?;
        }
        if !version.problems.is_empty() {
            writeln!(out, "  repair with: tilescope firmware fetch --force")?;
        }
    }
    Ok(exit)
}

fn list_set(set: &CachedSet, problems: &[String], out: &mut dyn Write) -> Result<()> {
    let number = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let dispatch = match set.info.dispatch_stream {
        Some(stream) => format!("reports to stream {stream}"),
        None => "reports to no fixed stream".to_owned(),
    };
    let hashes: BTreeSet<_> = set.files.iter().map(|file| &file.sha256).collect();
    let prefix = format!("{}/", set.id);
    let damaged = problems.iter().any(|problem| problem.starts_with(&prefix));
    writeln!(
        out,
        "  {:<20}  {:>3} DRAM / {:>3} L1 banks  {dispatch}  {} files  {}",
        set.id,
        number(set.info.dram_banks),
        number(set.info.l1_banks),
        hashes.len(),
        if damaged { "DAMAGED" } else { "ok" }
    )?;
    Ok(())
}
