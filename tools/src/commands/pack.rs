//! `tilescope pack`: a tape that explains itself on another machine.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use session::pack::{Packed, pack};

use crate::exit::Exit;

const EXAMPLES: &str = "\
`tilescope run` does this at its end. It is for tapes of the library alone (TILESCOPE_TAPE), and for those
whose files could not be written then. To be called where the program ran, before its caches are gone.
What is put in: ELF files of the firmware and the kernels that were loaded, each once, the sources of their
lines, and what the host wrote down of kernels and operations.

Examples:
  tilescope pack session.tstape
  tilescope pack session.tstape --elf build/
";

/// Put into a tape what explains it on another machine
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct PackArgs {
    /// Tapes of sessions that have ended
    #[arg(required = true, value_name = "TAPE")]
    pub tapes: Vec<PathBuf>,
    /// Directory with ELF files of kernels, looked up by content; may be repeated
    #[arg(long, value_name = "DIR")]
    pub elf: Vec<PathBuf>,
}

/// What was put in, for people.
#[must_use]
pub fn told(packed: &Packed) -> String {
    let some = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let (programs, sources) = (some(packed.programs, "program"), some(packed.sources, "source"));
    format!("{programs} and {sources}")
}

/// Packs tapes.
///
/// # Errors
/// One line when a tape cannot be read or written.
pub fn run(args: &PackArgs, out: &mut dyn Write) -> Result<Exit> {
    for tape in &args.tapes {
        let packed = pack(tape, &args.elf)?;
        writeln!(out, "{}: {} added, {} bytes", tape.display(), told(&packed), packed.bytes)?;
    }
    Ok(Exit::Ok)
}
