//! What a tape is played on.

use chip::{Chip, HostMemory};
use sim_core::Observer;

/// A machine behind a host's calls. Reads fill `bytes`, with ones where nothing answers.
pub trait Machine {
    /// One word of configuration space.
    fn config_read(&mut self, bdf: u32, offset: u32) -> u32;
    /// Writes one word of configuration space.
    fn config_write(&mut self, bdf: u32, offset: u32, value: u32);
    /// Reads through a BAR.
    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]);
    /// Writes through a BAR.
    fn mem_write(&mut self, paddr: u64, bytes: &[u8]);
    /// Reads from a tile at its translated coordinate.
    fn tile_read(&mut self, x: u32, y: u32, addr: u64, bytes: &mut [u8]);
    /// Writes to a tile at its translated coordinate.
    fn tile_write(&mut self, x: u32, y: u32, addr: u64, bytes: &[u8]);
    /// Lets host clocks pass.
    fn clock(&mut self, clocks: u32);
    /// Lets cycles pass over a machine at rest, in one go.
    fn rest(&mut self, cycles: u64);
    /// Through what the device reaches the host's memory.
    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>);
    /// A hash of everything that determines the future.
    fn state_hash(&mut self) -> u64;
    /// Cycles since power-on.
    fn now(&self) -> u64;
}

/// An access that the chip refuses changed nothing when it was recorded, and does not now: the host
/// saw ones, and so does the comparison.
impl<O: Observer + Send + 'static> Machine for Chip<O> {
    fn config_read(&mut self, bdf: u32, offset: u32) -> u32 {
        Self::config_read(self, bdf, offset)
    }

    fn config_write(&mut self, bdf: u32, offset: u32, value: u32) {
        Self::config_write(self, bdf, offset, value);
    }

    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) {
        let _ = Self::mem_read(self, paddr, bytes);
    }

    fn mem_write(&mut self, paddr: u64, bytes: &[u8]) {
        let _ = Self::mem_write(self, paddr, bytes);
    }

    fn tile_read(&mut self, x: u32, y: u32, addr: u64, bytes: &mut [u8]) {
        if Self::tile_read(self, x, y, addr, bytes).is_err() {
            bytes.fill(0xFF);
        }
    }

    fn tile_write(&mut self, x: u32, y: u32, addr: u64, bytes: &[u8]) {
        let _ = Self::tile_write(self, x, y, addr, bytes);
    }

    fn clock(&mut self, clocks: u32) {
        Self::clock(self, clocks);
    }

    fn rest(&mut self, cycles: u64) {
        Self::rest(self, cycles);
    }

    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>) {
        Self::set_host_memory(self, memory);
    }

    fn state_hash(&mut self) -> u64 {
        Self::state_hash(self)
    }

    fn now(&self) -> u64 {
        Self::now(self).0
    }
}
