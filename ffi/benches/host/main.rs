//! Speed as a host sees it, beside another library with the libttsim ABI.
//!
//!     cargo bench -p ffi --bench host
//!     TILESCOPE_RIVAL=OTHER.so cargo bench -p ffi --bench host              # with ratios
//!     TILESCOPE_RECORDING=FILE ... cargo bench -p ffi --bench host -- replay   # a recorded session
//!     TILESCOPE_RECORDING=DIR ... cargo bench -p ffi --bench host -- replay    # all of a directory
//!
//! Every figure is taken in a process of its own, the libraries by turns, the median of several
//! rounds; `--rounds N` and `--seconds S` change how many and how long. A name selects figures.
//! Steps are clocks times cores out of reset: both libraries execute an instruction per clock.
//! Sessions are the least of the rounds instead, in CPU time of the thread that makes the calls, with one thread; the
//! last column is what the replayer takes for itself, which is in both others.
//! Figures that begin with `tensix` are instructions that a kernel's replay buffer issues; those that begin with
//! `clocks` are clocks of so many tiles in which a kernel computes and two cores load and store.
//! Not a test: nothing depends on what it prints.

mod device;
mod guest;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use device::{Figure, Unit};

/// What is measured: a name, the unit, whether less is better.
const FIGURES: &[Figure] = &[
    Figure { name: "init", unit: Unit::Milliseconds, run: device::init },
    Figure { name: "memory-after-init", unit: Unit::Megabytes, run: device::memory_after_init },
    Figure { name: "memory-all-l1", unit: Unit::Megabytes, run: device::memory_all_l1 },
    Figure { name: "empty-clock", unit: Unit::PerSecond, run: device::empty_clock },
    Figure {
        name: "one-core-alu",
        unit: Unit::PerSecond,
        run: |b| device::steps(b, guest::ALU, 1, 1),
    },
    Figure {
        name: "one-core-load-store",
        unit: Unit::PerSecond,
        run: |b| device::steps(b, guest::LOAD_STORE, 1, 1),
    },
    Figure {
        name: "five-cores-alu",
        unit: Unit::PerSecond,
        run: |b| device::steps(b, guest::ALU, 1, 5),
    },
    Figure {
        name: "16-tiles-alu",
        unit: Unit::PerSecond,
        run: |b| device::steps(b, guest::ALU, 16, 5),
    },
    Figure {
        name: "700-cores-alu",
        unit: Unit::PerSecond,
        run: |b| device::steps(b, guest::ALU, 140, 5),
    },
    Figure {
        name: "700-cores-load-store",
        unit: Unit::PerSecond,
        run: |b| device::steps(b, guest::LOAD_STORE, 140, 5),
    },
    Figure {
        name: "700-cores-polling",
        unit: Unit::PerSecond,
        run: |b| device::steps(b, guest::POLL, 140, 5),
    },
    Figure { name: "host-poll-1-core", unit: Unit::PerSecond, run: |b| device::polls(b, 1, 1) },
    Figure {
        name: "host-poll-700-cores",
        unit: Unit::PerSecond,
        run: |b| device::polls(b, 140, 5),
    },
    Figure { name: "host-write-64k", unit: Unit::PerSecond, run: device::block_writes },
    Figure { name: "host-read-64k", unit: Unit::PerSecond, run: device::block_reads },
    Figure {
        name: "noc-write-1k",
        unit: Unit::PerSecond,
        run: |b| device::requests(b, guest::NOC_WRITES),
    },
    Figure {
        name: "noc-write-16k",
        unit: Unit::PerSecond,
        run: |b| device::requests(b, guest::NOC_LONG_WRITES),
    },
    Figure {
        name: "noc-read-1k",
        unit: Unit::PerSecond,
        run: |b| device::requests(b, guest::NOC_READS),
    },
    Figure {
        name: "noc-multicast-69",
        unit: Unit::PerSecond,
        run: |b| device::requests(b, guest::NOC_MULTICASTS),
    },
    Figure {
        name: "noc-atomic",
        unit: Unit::PerSecond,
        run: |b| device::requests(b, guest::NOC_ATOMICS),
    },
    Figure {
        name: "tensix-sfpmad",
        unit: Unit::PerSecond,
        run: |b| device::instructions(b, guest::SFPMAD),
    },
    Figure {
        name: "tensix-sfpmad-growing",
        unit: Unit::PerSecond,
        run: |b| device::instructions(b, guest::SFPMAD_GROWING),
    },
    Figure {
        name: "tensix-sfpmad-pushed",
        unit: Unit::PerSecond,
        run: |b| device::instructions(b, guest::SFPMAD_PUSHED),
    },
    Figure {
        name: "tensix-sfpload-store",
        unit: Unit::PerSecond,
        run: |b| device::instructions(b, guest::SFPLOAD_SFPSTORE),
    },
    Figure {
        name: "tensix-sempost-semget",
        unit: Unit::PerSecond,
        run: |b| device::instructions(b, guest::SEMPOST_SEMGET),
    },
    Figure {
        name: "tensix-dmanop",
        unit: Unit::PerSecond,
        run: |b| device::instructions(b, guest::DMANOP),
    },
    Figure { name: "memory-per-tile", unit: Unit::Megabytes, run: device::memory_per_tile },
    Figure { name: "clocks-1-tile", unit: Unit::PerSecond, run: |b| device::busy_tiles(b, 1) },
    Figure { name: "clocks-16-tiles", unit: Unit::PerSecond, run: |b| device::busy_tiles(b, 16) },
    Figure { name: "clocks-64-tiles", unit: Unit::PerSecond, run: |b| device::busy_tiles(b, 64) },
    Figure { name: "clocks-140-tiles", unit: Unit::PerSecond, run: |b| device::busy_tiles(b, 140) },
    Figure { name: "replay", unit: Unit::Milliseconds, run: device::replay },
    // A part of `replay`.
    Figure { name: REPLAYER, unit: Unit::Milliseconds, run: device::replay_nothing },
];

/// What a replay takes of which no call is made.
const REPLAYER: &str = "replayer";

/// What was asked for.
struct Options {
    rounds: usize,
    seconds: f64,
    selected: Vec<String>,
    /// Set in a child process: the library to measure.
    library: Option<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options { rounds: 5, seconds: 0.3, selected: Vec::new(), library: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} wants a value"));
        let number = |text: String| text.parse::<f64>().map_err(|_| format!("{text}: no number"));
        match argument.as_str() {
            "--rounds" => options.rounds = number(value()?)?.max(1.0) as usize,
            "--seconds" => options.seconds = number(value()?)?.clamp(0.001, 60.0),
            "--library" => options.library = Some(value()?.into()),
            // What cargo passes.
            "--bench" | "--test" => {}
            name if FIGURES.iter().any(|figure| figure.name == name) => {
                options.selected.push(name.to_owned());
            }
            other => return Err(format!("{other}: no option and no figure")),
        }
    }
    Ok(options)
}

/// The library that was built with this program: beside it.
fn own_library() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let name = "libtilescope_bh.so";
    let places = program.ancestors().skip(1).take(2).map(|place| place.join(name));
    places.into_iter().find(|path| path.exists()).ok_or(format!("no {name} beside this program"))
}

/// A figure that is not there by then will not come.
const PATIENCE: Duration = Duration::from_secs(20);

/// One figure of one library, in a process of its own.
fn measure(
    library: &Path,
    name: &str,
    seconds: f64,
    environment: &[(&str, &OsStr)],
) -> Option<f64> {
    let program = std::env::current_exe().ok()?;
    let seconds = seconds.to_string();
    let mut child = Command::new(program)
        .args(["--seconds", &seconds, name, "--library"])
        .arg(library)
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let latest = Instant::now() + PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > latest {
            // Some library does not come back from a call: no figure.
            child.kill().ok()?;
            child.wait().ok()?;
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().ok()?;
    let said = String::from_utf8_lossy(&ended.stdout);
    let figure = said.lines().find_map(|line| line.strip_prefix("FIGURE "))?.parse().ok();
    figure.filter(|_| ended.status.success())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The recorded sessions that `TILESCOPE_RECORDING` names: a file, or all of a directory.
fn recordings() -> Result<Vec<PathBuf>, String> {
    let Some(path) = std::env::var_os("TILESCOPE_RECORDING").map(PathBuf::from) else {
        return Ok(Vec::new());
    };
    if !path.is_dir() {
        return Ok(vec![path]);
    }
    let entries = path.read_dir().map_err(|error| format!("{}: {error}", path.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.to_string_lossy().contains(".rec"));
    files.sort();
    Ok(files)
}

/// CPU time of whole sessions, the least of the rounds; last what of each of them is the replayer's own.
fn sessions(own: &Path, rival: Option<&Path>, rounds: usize) -> Result<(), String> {
    let mut ratios = Vec::new();
    let mut sums = [0.0, 0.0, 0.0];
    for file in recordings()? {
        let environment =
            [("TILESCOPE_RECORDING", file.as_os_str()), ("TILESCOPE_THREADS", OsStr::new("1"))];
        let (mut ours, mut theirs): (Option<f64>, Option<f64>) = (None, None);
        let mut replayer = None;
        let nothing = || measure(own, REPLAYER, 0.0, &environment);
        let measure = |library: &Path| measure(library, "replay", 0.0, &environment);
        let least = |known: Option<f64>, new: Option<f64>| match (known, new) {
            (Some(known), Some(new)) => Some(known.min(new)),
            (known, new) => known.or(new),
        };
        for _ in 0..rounds {
            ours = least(ours, measure(own));
            theirs = least(theirs, rival.and_then(measure));
            replayer = least(replayer, nothing());
        }
        let text = |value: Option<f64>| {
            value.map_or("-".to_owned(), |value| Unit::Milliseconds.text(value))
        };
        let ratio = ours.zip(theirs).map(|(ours, theirs)| theirs / ours);
        let times = ratio.map_or("-".to_owned(), |times| format!("{times:.2}"));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default();
        let (ours_text, theirs_text, own_share) = (text(ours), text(theirs), text(replayer));
        println!("{name:32} {ours_text:>16} {theirs_text:>16} {times:>10} {own_share:>16}");
        if let Some((ours, theirs)) = ours.zip(theirs) {
            ratios.extend(ratio);
            sums = [sums[0] + ours, sums[1] + theirs, sums[2] + replayer.unwrap_or(0.0)];
        }
    }
    ratios.sort_by(f64::total_cmp);
    if let (Some(least), Some(most)) = (ratios.first(), ratios.last()) {
        let below = ratios.iter().filter(|&&ratio| ratio < 1.0).count();
        println!(
            "{} sessions: {:.0} ms to {:.0} ms, {:.2} times; least {least:.2}, median {:.2}, most {most:.2}, {below} below 1; \
             of both {:.0} ms are the replayer's own",
            ratios.len(),
            sums[0],
            sums[1],
            sums[1] / sums[0],
            ratios[ratios.len() / 2],
            sums[2],
        );
    }
    Ok(())
}

fn run() -> Result<(), String> {
    // `cargo test --benches` only wants to know that it starts.
    let only_test = std::env::args().any(|argument| argument == "--test");
    let options = options()?;
    if let Some(library) = &options.library {
        let figure = options.selected.first().ok_or("--library wants a figure")?;
        let figure = FIGURES.iter().find(|known| known.name == figure).ok_or("no such figure")?;
        let bench = device::Bench::open(library, options.seconds)?;
        let value = (figure.run)(&bench)?;
        println!("FIGURE {value}");
        // What a rate counted in all: for who counts host instructions.
        println!("COUNTED {}", value * bench.looked());
        return Ok(());
    }
    let own = own_library()?;
    let rival = std::env::var_os("TILESCOPE_RIVAL").map(PathBuf::from);
    let (rounds, seconds) = if only_test { (1, 0.001) } else { (options.rounds, options.seconds) };
    println!("{:22} {:>16} {:>16} {:>10}", "figure", "ours", "rival", "times");
    for figure in FIGURES {
        let wanted =
            options.selected.is_empty() || options.selected.iter().any(|n| n == figure.name);
        if !wanted {
            continue;
        }
        if figure.name == REPLAYER {
            continue;
        }
        if figure.name == "replay" {
            sessions(&own, rival.as_deref(), rounds)?;
            continue;
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let measure = |library: &Path| measure(library, figure.name, seconds, &[]);
        for _ in 0..rounds {
            ours.extend(measure(&own));
            theirs.extend(rival.as_deref().and_then(measure));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let text =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| figure.unit.text(value));
        let times = ours.zip(theirs).map(|(ours, theirs)| figure.unit.advantage(ours, theirs));
        let times = times.map_or("-".to_owned(), |times| format!("{times:.1}"));
        println!("{:22} {:>16} {:>16} {times:>10}", figure.name, text(ours), text(theirs));
        if only_test && ours.is_none() {
            return Err(format!("{} gives no figure", figure.name));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
