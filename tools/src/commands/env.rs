//! `tilescope env`: the settings of `tilescope run`, for a shell of one's own.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use super::live::settings::{Dispatch, Settings};
use crate::exit::Exit;
use crate::fetch::Cache;

const EXAMPLES: &str = "\
The library and its descriptor are installed in your cache directory (TILESCOPE_CACHE names another),
or in DIR. After an update of tilescope, ask again.

Examples:
  eval \"$(tilescope env)\"
  tilescope env --fast-dispatch --dir ~/sim
";

/// Print what a shell needs for host programs to find the simulated chip
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct EnvArgs {
    /// Let kernels on the chip dispatch the work (TT_METAL_SLOW_DISPATCH_MODE unset)
    #[arg(long)]
    pub fast_dispatch: bool,
    /// Install the library in this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Take this library instead of the one that belongs to this program
    #[arg(long, value_name = "LIB.so")]
    pub lib: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// One line when there is no library, or the directory cannot be written.
pub fn run(args: &EnvArgs, out: &mut dyn Write) -> Result<Exit> {
    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => Cache::directory().context("--dir names a directory")?.join("sim"),
    };
    // A shell that has it set otherwise asks for what is printed.
    let dispatch = if args.fast_dispatch { Dispatch::Fast } else { Dispatch::Slow };
    for line in Settings::installed(args.lib.as_deref(), &dir, dispatch)?.lines() {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Ok)
}
