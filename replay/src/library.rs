//! What a recording is replayed on: our own chip, or any device library.

use std::fmt::Debug;

use hostlib::abi::HostMemory;
use hostlib::dynamic::DynamicLibrary;

/// A device behind the calls of the host ABI. Reads always fill `bytes`.
pub trait Library: Debug {
    /// A fresh device.
    ///
    /// # Errors
    /// One line when there can be none.
    fn init(&mut self) -> Result<(), String>;
    /// Ends the session.
    fn exit(&mut self);
    /// Host memory for the device's DMA; asked for before `init`, kept until `exit`.
    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>);
    /// One word of configuration space.
    fn config_read(&mut self, bdf: u32, offset: u32) -> u32;
    /// Writes one word of configuration space.
    fn config_write(&mut self, bdf: u32, offset: u32, value: u32);
    /// Reads BAR memory.
    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]);
    /// Writes BAR memory.
    fn mem_write(&mut self, paddr: u64, bytes: &[u8]);
    /// Reads a tile's memory at the NoC coordinate.
    fn tile_read(&mut self, x: u32, y: u32, address: u64, bytes: &mut [u8]);
    /// Writes a tile's memory at the NoC coordinate.
    fn tile_write(&mut self, x: u32, y: u32, address: u64, bytes: &[u8]);
    /// Lets host clocks pass.
    fn clock(&mut self, clocks: u32);
    /// Witness of everything that determines the device's future, if the library has one.
    fn state_hash(&mut self) -> Option<u64> {
        None
    }
    /// Cycles since power-on, from libraries that say so.
    fn now(&self) -> Option<u64> {
        None
    }
    /// The calls that follow belong to the record of that number.
    fn begin_record(&mut self, _number: usize) {}
    /// What the device has to say about mistakes since it was last asked.
    fn take_reports(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Library for DynamicLibrary {
    fn init(&mut self) -> Result<(), String> {
        Self::init(self);
        Ok(())
    }

    fn exit(&mut self) {
        Self::exit(self);
    }

    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>) {
        Self::set_host_memory(self, Some(memory));
    }

    fn config_read(&mut self, bdf: u32, offset: u32) -> u32 {
        Self::config_read(self, bdf, offset)
    }

    fn config_write(&mut self, bdf: u32, offset: u32, value: u32) {
        Self::config_write(self, bdf, offset, value);
    }

    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) {
        Self::mem_read(self, paddr, bytes);
    }

    fn mem_write(&mut self, paddr: u64, bytes: &[u8]) {
        Self::mem_write(self, paddr, bytes);
    }

    fn tile_read(&mut self, x: u32, y: u32, address: u64, bytes: &mut [u8]) {
        Self::tile_read(self, x, y, address, bytes);
    }

    fn tile_write(&mut self, x: u32, y: u32, address: u64, bytes: &[u8]) {
        Self::tile_write(self, x, y, address, bytes);
    }

    fn clock(&mut self, clocks: u32) {
        Self::clock(self, clocks);
    }
}
