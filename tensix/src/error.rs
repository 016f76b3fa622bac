//! Mistakes a core can make at the coprocessor's MMIO front doors.

use std::fmt;

use sim_core::{Context, GuestError, Width};

use crate::checks::Check;

/// A write that no register takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DoorError {
    /// `ThreadConfig` cannot be written by a core, only by `SETC16`
    /// `[isa-bh: TensixCoprocessor/BackendConfiguration.md]`. Holds the window word.
    ThreadConfigReadOnly(u32),
    /// The configuration window ends before that word.
    NoConfigWord(u32),
    /// The MOP expander has nine configuration words
    /// `[isa-wh: TensixCoprocessor/MOPExpander.md]`. Holds the index.
    NoMopWord(u32),
    /// The configured shape of the window onto Dst has no datums of that width
    /// `[isa-bh: TensixCoprocessor/Dst.md]`.
    DstFormat {
        /// `RISC_DEST_ACCESS_CTRL_SEC[thread].fmt`.
        format: u8,
        /// Width of the access.
        width: Width,
    },
    /// The window onto Dst has no datum there in the configured shape. Holds the byte offset.
    NoDstDatum(u32),
}

impl DoorError {
    /// The check.
    #[must_use]
    pub const fn check(self) -> Check {
        match self {
            Self::ThreadConfigReadOnly(_) => Check::ThreadConfigStore,
            Self::NoConfigWord(_) => Check::ConfigUnmapped,
            Self::NoMopWord(_) => Check::MopConfigUnmapped,
            Self::DstFormat { .. } => Check::DstWindowWidth,
            Self::NoDstDatum(_) => Check::DstWindowEnd,
        }
    }

    /// As a diagnosis of whoever stored.
    #[must_use]
    pub fn into_guest_error(self, at: Context) -> GuestError {
        *self.check().fault(self.to_string(), at)
    }
}

impl fmt::Display for DoorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThreadConfigReadOnly(word) => {
                write!(
                    f,
                    "store to word {word} of the configuration window: cores cannot write ThreadConfig, only SETC16 can"
                )
            }
            Self::NoConfigWord(word) => {
                write!(f, "word {word} is beyond the configuration window")
            }
            Self::NoMopWord(index) => {
                write!(f, "MOP expander configuration has words 0 to 8, not {index}")
            }
            Self::DstFormat { format, width } => write!(
                f,
                "access of {} bytes to the window onto Dst, whose format is {format}",
                width.bytes()
            ),
            Self::NoDstDatum(offset) => {
                write!(f, "the window onto Dst has no datum at offset {offset:#x} in this format")
            }
        }
    }
}

impl std::error::Error for DoorError {}
