//! What comes to a tile from outside: accesses of the host and messages of other NoC endpoints.
//!
//! A tile is a pure function of these. Whoever has kept them can have the tile do again what it did,
//! alone, without the chip around it.

use std::sync::Arc;

use sim_core::l1::L1_BYTES;
use sim_core::{Cycle, Observer};

use crate::config::TileConfig;
use crate::fabric::Arrival;
use crate::snapshot::TileSnapshot;
use crate::tile::Tile;

/// Something that came from outside between two epochs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// When: behind the epoch that ends there.
    pub cycle: Cycle,
    /// What.
    pub kind: InputKind,
}

/// What came from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// The host wrote.
    Write {
        /// Byte address.
        addr: u32,
        /// What.
        bytes: Arc<[u8]>,
    },
    /// The host read registers, which may change them. Reads of L1 are not kept.
    Read {
        /// Byte address.
        addr: u32,
        /// How many bytes.
        bytes: usize,
    },
    /// A message of another endpoint was handed over, to take effect in its own cycle.
    Arrival(Arrival),
}

/// A tile at a moment and all that came to it since.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// What was chosen of the tile.
    pub config: TileConfig,
    /// The tile when it began.
    pub first: TileSnapshot,
    /// What came, the oldest first.
    pub inputs: Vec<Input>,
}

impl<O: Observer + ?Sized> Tile<O> {
    /// [`Tile::keep_inputs`]
    pub(crate) fn keep_inputs_here(&mut self) {
        let (config, first) = (self.config, self.snapshot_here(None));
        self.kept = Some(Box::new(Inputs { config, first, inputs: Vec::new() }));
    }

    /// What has come since [`Tile::keep_inputs`], which ends with this.
    pub fn take_inputs(&mut self) -> Option<Inputs> {
        self.kept.take().map(|kept| *kept)
    }

    /// [`Tile::give`]
    pub(crate) fn give_here(&mut self, input: &InputKind) {
        match input {
            InputKind::Write { addr, bytes } => drop(self.host_write_here(*addr, bytes)),
            InputKind::Read { addr, bytes } => {
                drop(self.host_read_here(*addr, &mut vec![0; *bytes]));
            }
            InputKind::Arrival(arrival) => self.receive_here(arrival.clone()),
        }
    }

    pub(crate) fn note_input(&mut self, kind: impl FnOnce() -> InputKind) {
        let cycle = self.now;
        if let Some(kept) = &mut self.kept {
            kept.inputs.push(Input { cycle, kind: kind() });
        }
    }

    /// L1 is not changed by who reads it.
    pub(crate) fn note_host_read(&mut self, addr: u32, bytes: usize) {
        if u64::from(addr) + bytes as u64 > u64::from(L1_BYTES) {
            self.note_input(|| InputKind::Read { addr, bytes });
        }
    }
}
