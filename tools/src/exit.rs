//! What the exit status of `tilescope` means. One number per class of outcome, so that a script
//! can tell a hung kernel from a mistyped path.

use std::process::ExitCode;

use anyhow::Result;

use crate::output::print_error;

/// Outcome of a run, as the shell sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Everything asked for was done.
    Ok,
    /// The guest did something the hardware documents forbid; it was diagnosed.
    Guest,
    /// A mistake on the host's side: arguments, files, a broken ELF, no network.
    Host,
    /// A deadlock was proved.
    Deadlock,
    /// A limit was reached without the awaited event, or the user stopped it.
    NoProgress,
    /// The run ended, but memory does not hold what was expected, or a replay read something else.
    WrongResult,
    /// The status of somebody else's program, passed on.
    Program(u8),
}

impl Exit {
    /// The number that the shell sees.
    #[must_use]
    pub const fn status(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Guest => 1,
            Self::Host => 2,
            Self::Deadlock => 3,
            Self::NoProgress => 4,
            Self::WrongResult => 5,
            Self::Program(status) => status,
        }
    }

    /// This outcome, although it may not have been possible to write it down: what a run found is
    /// not made good by a full disk. An error that is not returned is printed.
    ///
    /// # Errors
    /// Nothing was found, so that the output is all there is to complain about.
    pub fn whatever_became_of(self, output: Result<()>) -> Result<Self> {
        match output {
            Ok(()) => Ok(self),
            Err(error) if self == Self::Ok => Err(error),
            Err(error) => {
                print_error(&error);
                Ok(self)
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

/// The table for `--help`.
pub const EXIT_HELP: &str = "\
Exit status:
  0  done
  1  guest error: firmware or a kernel did what the hardware forbids (diagnosed)
  2  host error: arguments, files, ELF images, plan, download
  3  deadlock, proved
  4  no progress: a limit was reached first, or Ctrl-C stopped it, which says where everybody stood
  5  wrong result: an [[launch.expect]] block does not hold, or a replayed read differs
130  Ctrl-C a second time, which ends it at once";
