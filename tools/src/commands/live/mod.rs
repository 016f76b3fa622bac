//! `tilescope run`: a host program on the simulated chip, with a tape, and an explanation if it hangs.
//!
//! The library itself proves and explains a hang, within the program; here is what goes around it: the
//! settings, the signals, and the last words.

pub mod settings;
mod watch;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf, absolute};
use std::process;

use anyhow::{Context as _, Result};
use clap::Args;

use super::pack::told;
use super::views::ViewArgs;
use crate::exit::Exit;
use crate::output::say;
use crate::supervise::{self, Ended};
use nix::sys::signal::Signal;
use session::pack::pack;
use settings::{Dispatch, Settings};
use tape::{Ending, Tape};
use watch::{News, OnHang, Watcher};

const EXAMPLES: &str = "\
The program runs with TT_METAL_SIMULATOR naming our library, in slow dispatch unless the environment
or --fast-dispatch says otherwise. Its input and output are its own; what tilescope says goes to
standard error. When the chip can never move again, the explanation is printed at once and the
program waits on, until it gives up by itself or you end it.

  Ctrl-C, Ctrl-\\   where every core stands at this moment; the second one ends the program
  SIGTERM, SIGHUP  the same, and end the program with all that it has started

The tape has everything that the program did to the chip, and answers questions later:
`tilescope why FILE`. It is named after the program, or after the script of a Python or a shell, and
replaces an older one of that name. Each further process that opens the chip appends its id.

The exit status, the first that applies:
  3  a deadlock was proved             4  the chip waits for the host for ever (HOST-WAIT)
  1  a kernel or firmware has erred    2  the program, or our library, cannot be found
  else the program's own; if a signal ended it, 128 and the signal's number.

Examples:
  tilescope run -- python3 my_program.py
  tilescope run --on-hang exit --report hang.html -- pytest test_add.py
  tilescope run --fast-dispatch --no-tape -- python3 my_program.py
  tilescope run --perfetto t.pftrace --tiles 0,0 -- python3 my_program.py
  tilescope run --attach -- python3 my_program.py        # tt-exalens, tt-triage: in another shell
";

/// Run a host program on the simulated chip, and say why if it hangs
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct LiveArgs {
    /// The tape; %p becomes the process id [default: the program's name, with .tstape]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep no tape
    #[arg(long, conflicts_with_all = ["output", "tape_bytes"])]
    pub no_tape: bool,
    /// Let the tape have at most so many bytes
    ///
    /// When the device is opened again and more than half of them is used, sessions that are over are dropped. Within
    /// a session the tape ends at the limit, which is said. What explains the tape elsewhere, programs and their
    /// sources, comes on top when the program has ended.
    #[arg(long, value_name = "N")]
    pub tape_bytes: Option<u64>,
    /// What happens once a hang is explained [default: continue]
    #[arg(long, value_name = "WHAT")]
    pub on_hang: Option<OnHang>,
    /// Write explanations and mistakes to this file too: text, or .json, .html, .sarif
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Let kernels on the chip dispatch the work (TT_METAL_SLOW_DISPATCH_MODE unset)
    #[arg(long)]
    pub fast_dispatch: bool,
    /// Let tt-exalens and tt-triage attach to the program while it runs or hangs
    ///
    /// Each in a shell of its own with the same TMPDIR. The program serves the chip over a socket there
    /// (TT_METAL_SIMULATOR_SERVE_OVER_SOCKETS), and what tt-triage asks of the runtime at port 50051
    /// (TT_METAL_INSPECTOR_RPC).
    #[arg(long)]
    pub attach: bool,
    /// Take this library instead of the one that belongs to this program
    #[arg(long, value_name = "LIB.so")]
    pub lib: Option<PathBuf>,
    /// What is asked of the tape when the program has ended.
    #[command(flatten)]
    pub views: ViewArgs,
    /// Program and arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
/// One line when there is no library, or the program cannot be run.
pub fn run(args: &LiveArgs, out: &mut dyn Write) -> Result<Exit> {
    let asks = args.views.records.any() || args.views.wants_forms();
    if asks && args.no_tape {
        anyhow::bail!("--no-tape: what is asked of a session is asked of its tape");
    }
    if args.views.forms.json {
        anyhow::bail!(
            "--json is not for run, whose output is the program's; --report FILE.json keeps why"
        );
    }
    let (exit, tapes) = supervised(args, out)?;
    if asks {
        for (at, tape) in tapes.iter().enumerate() {
            if at > 0 {
                say(&format!("{}: ask this one by itself", tape.display()));
                continue;
            }
            super::taped::files(tape, &args.views, out)?;
        }
    }
    Ok(exit)
}

/// Runs a program, and gives its tape.
///
/// # Errors
/// There is no library, the program cannot be run, or it does not open the chip.
pub fn tape_of(command: &[OsString], out: &mut dyn Write) -> Result<PathBuf> {
    let args = LiveArgs {
        output: None,
        no_tape: false,
        tape_bytes: None,
        on_hang: Some(OnHang::Exit),
        report: None,
        fast_dispatch: false,
        attach: false,
        lib: None,
        views: ViewArgs::default(),
        command: command.to_vec(),
    };
    let (_, tapes) = supervised(&args, out)?;
    let [tape, others @ ..] = &tapes[..] else {
        anyhow::bail!("{} has left no tape", title(command).display());
    };
    for other in others {
        say(&format!("{}: ask this one by itself", other.display()));
    }
    Ok(tape.clone())
}

/// Runs the program to its end. Gives the tapes that it has left.
fn supervised(args: &LiveArgs, out: &mut dyn Write) -> Result<(Exit, Vec<PathBuf>)> {
    let Some((program, arguments)) = args.command.split_first() else {
        anyhow::bail!("no program");
    };
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let dispatch = Dispatch::wanted(args.fast_dispatch);
    let settings = Settings::installed(args.lib.as_deref(), &scratch.path().join("sim"), dispatch)?;
    let news = scratch.path().join("run");
    std::fs::create_dir(&news).context("cannot make a temporary directory")?;
    let mut command = process::Command::new(program);
    command.args(arguments);
    settings.apply(&mut command);
    command.env("TILESCOPE_RUN_DIR", &news);
    wishes(args, &mut command)?;
    out.flush()?;
    let mut watcher = Watcher::new(&news, args.on_hang.unwrap_or(OnHang::Continue), args.attach);
    let ended = supervise::run(&mut command, &mut watcher)
        .with_context(|| format!("cannot run {}", program.display()))?;
    let seen = watcher.finish();
    last_words(&title(&args.command), ended, &seen);
    let tapes = seen.tapes.iter().filter(|tape| tape.is_file()).cloned().collect();
    Ok((exit(ended, &seen), tapes))
}

/// The variables of the library. What the environment says already and no option does stays.
fn wishes(args: &LiveArgs, command: &mut process::Command) -> Result<()> {
    let here = |path: &Path| absolute(path).context("cannot find the current directory");
    if args.no_tape {
        command.env_remove("TILESCOPE_TAPE");
    } else if args.output.is_some() || std::env::var_os("TILESCOPE_TAPE").is_none() {
        let tape = args.output.clone().unwrap_or_else(|| default_tape(&args.command));
        command.env("TILESCOPE_TAPE", here(&tape)?);
    }
    // Only so does the host write down which operation each launch is, for a line of text each.
    if !args.no_tape && std::env::var_os(OPERATIONS).is_none() {
        command.env(OPERATIONS, "1");
    }
    if args.attach {
        ATTACHED.into_iter().for_each(|name| _ = command.env(name, "1"));
    }
    if let Some(bytes) = args.tape_bytes {
        command.env("TILESCOPE_TAPE_BYTES", bytes.to_string());
    }
    if let Some(on_hang) = args.on_hang {
        command.env("TILESCOPE_ON_HANG", on_hang.name());
    }
    if let Some(report) = &args.report {
        command.env("TILESCOPE_REPORT", here(report)?);
    }
    Ok(())
}

/// Whether the host writes names of operations into its logs [spec: live-sessions].
const OPERATIONS: &str = "TT_METAL_INSPECTOR_LOG_RUNTIME_ENTRIES";

/// What has the vendor's driver serve the chip, and its runtime what it knows of kernels, to other processes.
const ATTACHED: [&str; 2] = ["TT_METAL_SIMULATOR_SERVE_OVER_SOCKETS", "TT_METAL_INSPECTOR_RPC"];

/// Programs whose first argument is the program that people mean.
const INTERPRETERS: [&str; 4] = ["python", "pypy", "bash", "sh"];

/// What people call the program: `my_program` of `python3 dir/my_program.py`, `pytest` of
/// `python3 -m pytest`.
fn title(command: &[OsString]) -> OsString {
    let stem = |word: &OsStr| Path::new(word).file_stem().map(OsStr::to_owned);
    let program = command.first().and_then(|word| Path::new(word).file_name()).unwrap_or_default();
    let name = program.to_string_lossy();
    let versioned = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    let mut script = None;
    if INTERPRETERS.contains(&versioned) {
        let mut words = command.iter().skip(1);
        script = match words.find(|word| !word.is_empty()) {
            Some(word) if word == "-m" => words.next().cloned(),
            Some(word) if !word.to_string_lossy().starts_with('-') => stem(word),
            // As `python3 -u my_program.py`; what stands behind -c is no file.
            Some(word) if word != "-c" => words
                .find(|word| !word.to_string_lossy().starts_with('-'))
                .filter(|word| Path::new(word).is_file())
                .and_then(|word| stem(word)),
            _ => None,
        };
    }
    script.unwrap_or_else(|| program.to_owned())
}

fn default_tape(command: &[OsString]) -> PathBuf {
    let mut name = title(command);
    name.push(".tstape");
    PathBuf::from(name)
}

/// What the program did, in a line or two.
fn last_words(name: &OsStr, ended: Ended, news: &News) {
    let name = name.display();
    let how = match news.ended_by {
        Some(Signal::SIGINT) if !ended.success() => format!("{name} was ended by Ctrl-C"),
        Some(signal) if !ended.success() => format!("{name} was ended by {signal}"),
        _ => format!("{name}: {ended}"),
    };
    if news.sessions == 0 {
        say(&format!("{how}; it did not open the chip"));
        return;
    }
    let errors = match news.errors {
        0 => String::new(),
        1 => "a guest error, named above".to_owned(),
        errors => format!("{errors} guest errors, named above"),
    };
    let found = match news.worst_hang() {
        Some(hang) if errors.is_empty() => {
            format!("{} at cycle {}, explained above", hang.verdict, hang.cycle)
        }
        Some(hang) => format!("{errors}, then {} at cycle {}", hang.verdict, hang.cycle),
        None if errors.is_empty() && ended.success() => "no hang".to_owned(),
        None if errors.is_empty() => "no hang was proved".to_owned(),
        None => errors,
    };
    say(&format!("{how}; {found}"));
    news.tapes.iter().for_each(|tape| finish(tape));
}

/// Puts into a tape what explains it elsewhere, now that nobody writes it any more, and says where it is.
fn finish(tape: &Path) {
    let packed = pack(tape, &[]);
    let size = match std::fs::metadata(tape) {
        Ok(file) => bytes(file.len()),
        Err(error) => {
            say(&format!("no tape {}: {error}", tape.display()));
            return;
        }
    };
    let with = match &packed {
        Ok(packed) if packed.programs > 0 => {
            format!(" ({} with {})", bytes(packed.bytes), told(packed))
        }
        _ => String::new(),
    };
    let is_full = Tape::open(tape).is_ok_and(|tape| tape.ending() == Ending::Limit);
    let full = if is_full { ", full before the session ended" } else { "" };
    say(&format!("the tape, {size}{with}{full}, for more: tilescope why {}", shortest(tape)));
    if let Err(error) = packed {
        say(&format!("{error}; on this machine it explains itself all the same"));
    }
}

/// A path as one would type it here.
pub(super) fn shortest(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let short = path.strip_prefix(&here).unwrap_or(path);
    settings::quoted(&short.display().to_string())
}

fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} kB", count / 1000),
        _ => format!("{} MB", count / 1_000_000),
    }
}

fn exit(ended: Ended, news: &News) -> Exit {
    match news.worst_hang() {
        Some(hang) if hang.verdict == "DEADLOCK" => Exit::Deadlock,
        Some(_) => Exit::NoProgress,
        None if news.errors > 0 => Exit::Guest,
        None => match news.ended_by {
            // As a shell says it; which signal the group was ended with is our affair.
            Some(signal) if !ended.success() => Exit::Program(Ended::Signal(signal).shell_status()),
            _ if ended.success() => Exit::Ok,
            _ => Exit::Program(ended.shell_status()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tape_is_named_after_what_people_call_the_program() {
        let tape =
            |words: &[&str]| default_tape(&words.iter().map(OsString::from).collect::<Vec<_>>());
        for (words, expected) in [
            (&["./build/bin/my_host"][..], "my_host.tstape"),
            (&["python3", "dir/add.py", "-x"], "add.tstape"),
            (&["/venv/bin/python3.12", "add.py"], "add.tstape"),
            (&["python3", "-m", "pytest", "test_x.py"], "pytest.tstape"),
            (&["python3", "-c", "import ttnn"], "python3.tstape"),
            (&["python3", "-u", file!(), "-v"], "mod.tstape"),
            (&["python"], "python.tstape"),
            (&["pytest", "test_x.py"], "pytest.tstape"),
            (&["bash", "-c", "true"], "bash.tstape"),
        ] {
            // Tests run in the directory of the package, and `file!` counts from the workspace's.
            let expected = if words.contains(&file!()) && !Path::new(file!()).is_file() {
                "python3.tstape"
            } else {
                expected
            };
            assert_eq!(tape(words), Path::new(expected), "{words:?}");
        }
    }
}
