//! `tilescope record`: runs a host program with the recorder in front of a device library.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf, absolute};
use std::process;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use hostlib::Op;

use super::sim::{DEVICE_LIBRARY, LIB_HINT, SOC_DESCRIPTOR, export, install, own_library};
use crate::exit::Exit;
use crate::output::{counted, note, print_error};
use crate::supervise::{self, Ended, Unwatched};

const RECORDER: &str = "libtilescope_record.so";

/// There is no option for it: the recorder belongs to this program.
const RECORDER_HINT: &str = "`cargo build --release -p recorder` makes it";

const EXAMPLES: &str = "\
The program runs with TT_METAL_SIMULATOR naming the recorder, which forwards to the library of --lib
and writes down every call. Without a program the settings are printed, for a shell of your own;
--dir then says where the recorder is to lie.

The exit status is the program's; if a signal ended it, 128 and the signal's number. Ctrl-C and other
signals that ask to end go to the program and to all that it started. What it did up to then is a
recording, which can be replayed.

Examples:
  tilescope record -o add.rec -- python3 my_program.py
  tilescope record --lib ~/sim/libother.so -o 'run.%p.rec' -- pytest --run-simulator test_x.py
  tilescope record --dir ~/recorder -o session.rec
";

/// Run a host program and record what it does to the chip
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct RecordArgs {
    /// Device library to forward to; our own unless given
    #[arg(long, value_name = "LIB.so")]
    pub lib: Option<PathBuf>,
    /// The recording; %p becomes the process id
    #[arg(short, long, value_name = "FILE", default_value = "session.rec")]
    pub output: PathBuf,
    /// Keep the recorder in this directory
    #[arg(long, value_name = "DIR", required_unless_present = "command")]
    pub dir: Option<PathBuf>,
    /// Program and arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
/// One line when a library is missing, the program cannot be run, or nothing was recorded.
pub fn run(args: &RecordArgs, out: &mut dyn Write) -> Result<Exit> {
    let target = match &args.lib {
        Some(path) => path.clone(),
        None => own_library(DEVICE_LIBRARY, LIB_HINT)?,
    };
    let target =
        target.canonicalize().with_context(|| format!("cannot find {}", target.display()))?;
    let descriptor = target.with_file_name(SOC_DESCRIPTOR);
    let descriptor = descriptor.is_file().then_some(descriptor);
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let dir = args.dir.as_deref().unwrap_or(scratch.path());
    let recorder = install(&own_library(RECORDER, RECORDER_HINT)?, descriptor.as_deref(), dir)?;
    let file = absolute(&args.output).context("cannot find the current directory")?;
    let settings = [
        ("TT_METAL_SIMULATOR", recorder.as_path()),
        ("TILESCOPE_RECORD_TARGET", &target),
        ("TILESCOPE_RECORD_FILE", &file),
    ];
    let Some((program, arguments)) = args.command.split_first() else {
        export(&settings, out)?;
        return Ok(Exit::Ok);
    };
    out.flush()?;
    let mut command = process::Command::new(program);
    let ended = supervise::run(command.args(arguments).envs(settings), &mut Unwatched)
        .with_context(|| format!("cannot run {}", program.display()))?;
    let shown =
        if args.output.to_string_lossy().contains("%p") { Ok(()) } else { summary(&file, out) };
    if ended.success() {
        return shown.map(|()| Exit::Ok);
    }
    if let Err(error) = shown {
        print_error(&error);
    }
    if let Ended::Signal(_) = ended {
        note(&format!("{}: {ended}", program.display()));
    }
    Ok(Exit::Program(ended.shell_status()))
}

fn summary(file: &Path, out: &mut dyn Write) -> Result<()> {
    if !file.is_file() {
        bail!("nothing was recorded: the program did not load the library");
    }
    let counts = replay::counts(file)?;
    let count = |op: Op| counts[op as usize - 1];
    writeln!(
        out,
        "{}: {}, {}, {}, {}",
        file.display(),
        counted(counts.iter().sum(), "record", "records"),
        counted(count(Op::Init), "session", "sessions"),
        counted(count(Op::MemRead) + count(Op::TileRead), "read", "reads"),
        counted(count(Op::MemWrite) + count(Op::TileWrite), "write", "writes")
    )?;
    Ok(())
}
