//! Mistakes a core can make at the coprocessor's MMIO front doors.

use std::fmt;

use sim_core::{Category, Context, GuestError, Width};

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
    /// Stable name of the check.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::ThreadConfigReadOnly(_) => "tensix-thread-config-store",
            Self::NoConfigWord(_) => "tensix-config-unmapped",
            Self::NoMopWord(_) => "tensix-mop-config-unmapped",
            Self::DstFormat { .. } => "tensix-dst-window-width",
            Self::NoDstDatum(_) => "tensix-dst-window-end",
        }
    }

    /// As a diagnosis of whoever stored.
    #[must_use]
    pub fn into_guest_error(self, at: Context) -> GuestError {
        GuestError::new(Category::UndefinedBehavior, self.id(), self.to_string(), at)
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
