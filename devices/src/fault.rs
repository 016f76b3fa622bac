//! Guest mistakes as devices see them, and how registers behave under polling.

use std::fmt;

use memory_map::Target;
use sim_core::{Category, Context, GuestError};

/// A guest mistake without its place; the tile adds cycle, agent and pc.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceFault {
    /// Kind of mistake.
    pub category: Category,
    /// Stable id of the check, such as `noc-alignment`.
    pub id: &'static str,
    /// One sentence: what was done and why it is wrong.
    pub message: String,
}

impl DeviceFault {
    /// A fault of that kind.
    #[must_use]
    pub fn new(category: Category, id: &'static str, message: impl Into<String>) -> Self {
        Self { category, id, message: message.into() }
    }

    /// Adds the place to a mistake.
    #[must_use]
    pub fn at(self, at: Context) -> GuestError {
        GuestError::new(self.category, self.id, self.message, at)
    }
}

impl fmt::Display for DeviceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]: {}", self.category, self.id, self.message)
    }
}

impl std::error::Error for DeviceFault {}

/// What a read of a register depends on and does. Decides whether a core that polls it may be
/// parked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReadClass {
    /// Changes only when the device is written or one of its packets or FIFOs moves; the
    /// read itself changes nothing.
    Pure,
    /// Moves with simulated time.
    Timed,
    /// The read itself changes the device.
    SideEffect,
}

/// The register of `target` nearest to `offset`, for "did you mean" texts.
pub(crate) fn nearest(target: Target, offset: u32) -> String {
    memory_map::block(target)
        .and_then(|(block, _)| block.registers.iter().min_by_key(|r| r.offset.abs_diff(offset)))
        .map_or_else(String::new, |r| format!("nearest known: {} at +{:#x}", r.name, r.offset))
}
