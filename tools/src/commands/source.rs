//! Which session is asked about: a boot, a plan, or the tape of a host program.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use loader::plan::{ChipPlan, LaunchPlan, Plan};

use super::live::tape_of;
use super::machine::MachineArgs;
use super::views::ViewArgs;

/// What files begin with that hold a host's calls: a tape, a recording, and packed ones.
const BEGINNINGS: [&[u8]; 4] = [b"TSTAPE01", b"TTREC01\n", b"\xFD7zXZ\0", b"\x1F\x8B"];

/// Whether a file is a tape or a recording rather than a plan.
#[must_use]
pub fn is_tape(path: &Path) -> bool {
    let mut head = [0; 8];
    let mut length = 0;
    // Opening a pipe would wait for somebody at its other end.
    if path.is_file()
        && let Ok(mut file) = File::open(path)
    {
        while let Ok(more @ 1..) = file.read(&mut head[length..]) {
            length += more;
        }
    }
    BEGINNINGS.iter().any(|beginning| head[..length].starts_with(beginning))
}

/// Who acts as host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Nobody but the firmware's boot.
    Boot,
    /// A plan.
    Plan(PathBuf),
    /// A tape or a recording.
    Tape(PathBuf),
}

impl Source {
    /// What the arguments name; a program is run to its end now. Also looks whether the other arguments go with it.
    ///
    /// # Errors
    /// One line: they do not, or the program leaves no tape.
    pub fn of(
        path: Option<&Path>,
        program: &[OsString],
        views: &ViewArgs,
        machine: &MachineArgs,
        out: &mut dyn Write,
    ) -> Result<Self> {
        views.records.check()?;
        let source = match path {
            _ if !program.is_empty() => Self::Tape(PathBuf::new()),
            Some(path) if is_tape(path) => Self::Tape(path.to_owned()),
            Some(path) => Self::Plan(path.to_owned()),
            None => Self::Boot,
        };
        match source {
            Self::Tape(path) => {
                if let Some(option) = machine.given() {
                    bail!("{option} is for plans: a host program has chosen its own machine");
                }
                if program.is_empty() {
                    return Ok(Self::Tape(path));
                }
                Ok(Self::Tape(tape_of(program, out)?))
            }
            other => {
                views.select.check_plan(machine.logical)?;
                Ok(other)
            }
        }
    }

    /// The launches of a plan; none of a boot.
    ///
    /// # Errors
    /// The plan cannot be used.
    pub fn launches(&self) -> Result<Vec<loader::plan::Launch>> {
        match self {
            Self::Plan(path) => Ok(LaunchPlan::read(path)?.launches),
            Self::Boot | Self::Tape(_) => Ok(Vec::new()),
        }
    }
}

/// The plan that the arguments name, if it is of several tiles.
///
/// # Errors
/// The plan cannot be used.
pub(super) fn chip_plan(path: Option<&Path>, program: &[OsString]) -> Result<Option<ChipPlan>> {
    let Some(path) = path.filter(|path| program.is_empty() && !is_tape(path)) else {
        return Ok(None);
    };
    Ok(match Plan::read(path)? {
        Plan::Chip(plan) => Some(plan),
        Plan::Tile(_) => None,
    })
}
