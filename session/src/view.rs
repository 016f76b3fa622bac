//! What is known of a tile besides its state.

use std::ops::Range;

use observe::why::CircularBuffer;
use observe::{BuiltInNames, Names};
use sim_core::CoreId;

/// What is known of a tile besides its state: names and buffers of the launch in force.
pub struct TileView {
    /// Names of its code.
    pub names: Box<dyn Names>,
    /// Circular buffers.
    pub circular: Vec<CircularBuffer>,
    /// Kernels by core, as their authors call them: `reader`, `compute.cpp`.
    pub kernels: Vec<(String, String)>,
    /// The operation that launched them.
    pub operation: Option<String>,
    /// Where the code of kernels lies in L1.
    pub code: Vec<(CoreId, Range<u32>)>,
}

impl Default for TileView {
    fn default() -> Self {
        Self {
            names: Box::new(BuiltInNames),
            circular: Vec::new(),
            kernels: Vec::new(),
            operation: None,
            code: Vec::new(),
        }
    }
}

impl std::fmt::Debug for TileView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TileView")
            .field("kernels", &self.kernels)
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}
