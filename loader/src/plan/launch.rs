//! A launch, ready to be written.

use std::ops::Range;
use std::sync::Arc;

use observe::why::CircularBuffer;
use sim_core::CoreId;
use symbols::image::Image;

use super::message::{MESSAGE_BYTES, Mode};
use crate::firmware::Write;

/// A kernel in L1.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The core that runs it.
    pub core: CoreId,
    /// Its image, for symbols.
    pub image: Arc<Image>,
    /// L1 address of its first loaded byte.
    pub address: u32,
    /// L1 address of its first instruction.
    pub entry: u32,
}

/// Bytes that must be in L1 after a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expect {
    /// L1 address.
    pub address: u32,
    /// Expected bytes.
    pub bytes: Vec<u8>,
}

/// One launch, ready to be written.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Name from the plan.
    pub name: String,
    /// Who is told that it is done.
    pub mode: Mode,
    /// How many times it is launched, at least 1. Every time all [`Launch::writes`] are repeated.
    pub repeat: u32,
    /// Kernels start before the go signal.
    pub preload: bool,
    /// L1 writes: kernel-config block, kernels, inputs. Disjoint, by ascending address.
    pub writes: Vec<Write>,
    /// The launch message; it goes to [`super::launch_slot`] of the current read pointer.
    pub message: [u8; MESSAGE_BYTES],
    /// The word for [`super::GO_MESSAGE`], to be written last and as one word.
    pub go_word: u32,
    /// Kernels, for symbols.
    pub kernels: Vec<Kernel>,
    /// Where the runtime arguments of each core lie, first its own, then its common ones; empty
    /// ranges where it has none.
    pub arguments: Vec<(CoreId, Range<u32>)>,
    /// Addresses of the semaphores, for names.
    pub semaphores: Vec<u32>,
    /// Circular buffers, for names and checks.
    pub circular: Vec<CircularBuffer>,
    /// What must hold afterwards.
    pub expects: Vec<Expect>,
}

impl Launch {
    /// The name of a round, counted from 0: the launch's own unless it is repeated.
    #[must_use]
    pub fn round_name(&self, round: u32) -> String {
        if self.repeat > 1 { format!("{} #{}", self.name, round + 1) } else { self.name.clone() }
    }
}
