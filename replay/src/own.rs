//! Our own chip as a library to replay on, without the detour through C.

use chip::{Chip, ChipConfig, HostError};
use hostlib::abi::HostMemory;

use crate::library::Library;

/// Different mistakes that are kept.
const KEPT: usize = 100;

/// The chip of one session at a time.
#[derive(Debug)]
pub struct OwnChip {
    config: ChipConfig,
    chip: Option<Box<Chip>>,
    /// Handed over before the session it is for.
    memory: Option<Box<dyn HostMemory>>,
    reports: Vec<String>,
}

#[derive(Debug)]
struct Memory(Box<dyn HostMemory>);

impl chip::HostMemory for Memory {
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        self.0.read(paddr, bytes);
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        self.0.write(paddr, bytes);
    }
}

impl OwnChip {
    /// No chip yet: `init` makes one.
    #[must_use]
    pub fn new(config: ChipConfig) -> Self {
        Self { config, chip: None, memory: None, reports: Vec::new() }
    }

    /// The chip of the session under way.
    pub fn chip(&mut self) -> Option<&mut Chip> {
        self.chip.as_deref_mut()
    }

    fn keep(&mut self, report: String) {
        if self.reports.len() < KEPT && !self.reports.contains(&report) {
            self.reports.push(report);
        }
    }

    /// Runs `body` on the chip. Without one the host sees what a bus without a device shows.
    fn on<T>(&mut self, absent: T, body: impl FnOnce(&mut Chip) -> Result<T, HostError>) -> T {
        let Some(chip) = &mut self.chip else {
            self.keep("call without a session".to_owned());
            return absent;
        };
        body(chip).unwrap_or_else(|error| {
            self.keep(error.to_string());
            absent
        })
    }
}

impl Library for OwnChip {
    fn init(&mut self) -> Result<(), String> {
        let mut chip = Chip::new(self.config);
        if let Some(memory) = self.memory.take() {
            chip.set_host_memory(Box::new(Memory(memory)));
        }
        self.chip = Some(Box::new(chip));
        Ok(())
    }

    fn exit(&mut self) {
        self.chip = None;
    }

    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>) {
        match &mut self.chip {
            Some(chip) => chip.set_host_memory(Box::new(Memory(memory))),
            None => self.memory = Some(memory),
        }
    }

    fn config_read(&mut self, bdf: u32, offset: u32) -> u32 {
        self.on(u32::MAX, |chip| Ok(chip.config_read(bdf, offset)))
    }

    fn config_write(&mut self, bdf: u32, offset: u32, value: u32) {
        self.on((), |chip| {
            chip.config_write(bdf, offset, value);
            Ok(())
        });
    }

    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) {
        bytes.fill(0xFF);
        self.on((), |chip| chip.mem_read(paddr, bytes));
    }

    fn mem_write(&mut self, paddr: u64, bytes: &[u8]) {
        self.on((), |chip| chip.mem_write(paddr, bytes));
    }

    fn tile_read(&mut self, x: u32, y: u32, address: u64, bytes: &mut [u8]) {
        bytes.fill(0xFF);
        self.on((), |chip| chip.tile_read(x, y, address, bytes));
    }

    fn tile_write(&mut self, x: u32, y: u32, address: u64, bytes: &[u8]) {
        self.on((), |chip| chip.tile_write(x, y, address, bytes));
    }

    fn clock(&mut self, clocks: u32) {
        self.on((), |chip| {
            chip.clock(clocks);
            Ok(())
        });
    }

    fn state_hash(&mut self) -> Option<u64> {
        self.chip.as_mut().map(|chip| chip.state_hash())
    }

    fn now(&self) -> Option<u64> {
        self.chip.as_ref().map(|chip| chip.now().0)
    }

    fn take_reports(&mut self) -> Vec<String> {
        for report in self.chip.as_mut().map(|chip| chip.take_reports()).into_iter().flatten() {
            self.keep(report);
        }
        std::mem::take(&mut self.reports)
    }
}
