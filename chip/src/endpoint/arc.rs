//! The ARC tile as its firmware leaves it: boot status, telemetry, and a message queue that is
//! answered at once.
//!
//! Source: `[spec: host-abi 2.7]`.

use devices::DeviceFault;
use sim_core::StateHasher;

use super::memory::{Endpoint, Ram, unmapped};
use crate::grid::{Harvest, Product};

const CSM: u64 = 0x1000_0000;
const CSM_BYTES: usize = 512 << 10;
const RESET_UNIT: u64 = 0x8003_0000;
const RESET_UNIT_BYTES: usize = 0x1000;
/// `ARC_MISC_CNTL`: bit 16 asks the firmware to look at the queues.
const MISC_CONTROL: u64 = RESET_UNIT + 0x100;
const PROCESS_QUEUES: u32 = 1 << 16;
/// A write there asks for the same.
const MSI_FIFO: u64 = 0x800B_0000;
/// The NIUs, NoC 0 and 1.
const NIU: [u64; 2] = [0x8005_0000, 0x8005_8000];
const NODE_ID: u64 = 0x44;
const NIU_CFG_0: u64 = 0x100;
const TRANSLATION_ON: u32 = 1 << 14;

const SCRATCH_RAM: u64 = RESET_UNIT + 0x400;
const TELEMETRY_TABLE: u64 = CSM + 0x100;
const TELEMETRY_VALUES: u64 = CSM + 0x200;
const QUEUE_CONTROL: u64 = CSM + 0x300;
const QUEUES: u64 = CSM + 0x400;
const QUEUE_COUNT: u64 = 4;
const QUEUE_ENTRIES: u64 = 8;
const ENTRY_BYTES: u64 = 32;
const HEADER_BYTES: u64 = 32;
const QUEUE_BYTES: u64 = HEADER_BYTES + 2 * QUEUE_ENTRIES * ENTRY_BYTES;
/// Offsets in a queue's header.
const REQUEST_WRITTEN: u64 = 0;
const RESPONSE_READ: u64 = 4;
const REQUEST_READ: u64 = 0x10;
const RESPONSE_WRITTEN: u64 = 0x14;

/// Telemetry: tag, value. What a healthy chip reports.
const TELEMETRY: &[(u16, u32)] = &[
    // Board id, high half: see `BOARD`.
    (BOARD, 0),
    (2, 1),
    // ASIC id.
    (3, 1),
    // Harvesting state of the Tensix columns: see `HARVESTING`.
    (HARVESTING, 0),
    // Temperatures, 16.16 degrees.
    (11, 40 << 16),
    (13, 35 << 16),
    // Clocks in MHz: AI, AXI, ARC.
    (14, 1000),
    (15, 900),
    (16, 540),
    // Ethernet live status, DDR status.
    (21, 0xFFF),
    (22, 0x5555),
    // Firmware bundle 18.5.
    (28, 0x1205_0000),
    // Timer heartbeat.
    (32, 1),
    (52, 0),
    // PCIe usage, enabled ethernet channels.
    (38, 1),
    (ENABLED_ETH, 0xFFF),
    (61, 0),
    (62, 1),
];
/// Tag of the high half of the board id.
const BOARD: u16 = 1;
/// Tag of the mask of usable ethernet channels.
const ENABLED_ETH: u16 = 35;
/// Tag of the mask of usable DRAM channels.
const ENABLED_DRAM: u16 = 36;
/// Tag of the mask of fused-off Tensix columns.
const HARVESTING: u16 = 4;

/// Tag of the mask of usable Tensix columns, which is what the host driver reads
/// `[umd: device/tt_device/blackhole_tt_device.cpp]`.
const ENABLED_COLUMNS: u16 = 34;
/// NoC 0 column of each bit there: from the edges inwards, as ethernet channels are counted.
const COLUMN_OF_BIT: [u8; 14] = [1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10];

/// The mask for columns that are counted from left to right.
fn enabled(fused_off: u16) -> u32 {
    let usable = |x: &u8| {
        let index = if *x > 9 { x - 3 } else { x - 1 };
        fused_off >> index & 1 == 0
    };
    (0..).zip(COLUMN_OF_BIT).filter(|(_, x)| usable(x)).fold(0, |mask, (bit, _)| mask | 1 << bit)
}

/// Message codes the firmware knows.
const ACCEPTED: &[u8] = &[
    0x11, 0x21, 0x51, 0x52, 0x53, 0x54, 0x56, 0x57, 0x58, 0x90, 0xA0, 0xA3, 0xB6, 0xB7, 0xBA, 0xBC,
    0xC1, 0xC7,
];
/// Status byte of the response to any other.
const UNRECOGNISED: u32 = 0xFF;

/// The ARC tile.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    csm: Ram,
    reset_unit: Ram,
}

impl Arc {
    /// Of a chip with that grid.
    pub(super) fn new(product: Product, harvest: Harvest) -> Self {
        let mut csm = Ram::new(CSM, CSM_BYTES);
        let mut reset_unit = Ram::new(RESET_UNIT, RESET_UNIT_BYTES);
        // Boot status: ready and started.
        reset_unit.set_word(SCRATCH_RAM + 2 * 4, 0x5);
        reset_unit.set_word(SCRATCH_RAM + 11 * 4, QUEUE_CONTROL as u32);
        reset_unit.set_word(SCRATCH_RAM + 12 * 4, TELEMETRY_VALUES as u32);
        reset_unit.set_word(SCRATCH_RAM + 13 * 4, TELEMETRY_TABLE as u32);
        // A whole chip's firmware does not tell which are enabled: all.
        let columns = (harvest.columns != 0).then(|| (ENABLED_COLUMNS, enabled(harvest.columns)));
        let dram = (harvest.dram != 0).then(|| (ENABLED_DRAM, u32::from(!harvest.dram)));
        let telemetry: Vec<(u16, u32)> =
            TELEMETRY.iter().copied().chain(columns).chain(dram).collect();
        csm.set_word(TELEMETRY_TABLE + 4, telemetry.len() as u32);
        for (index, (tag, value)) in (0..).zip(telemetry) {
            let value = match tag {
                BOARD => product.board(),
                HARVESTING => u32::from(harvest.columns),
                ENABLED_ETH => value & !u32::from(harvest.eth),
                _ => value,
            };
            csm.set_word(TELEMETRY_TABLE + 8 + 4 * index, u32::from(tag) | (index as u32) << 16);
            csm.set_word(TELEMETRY_VALUES + 4 * index, value);
        }
        csm.set_word(QUEUE_CONTROL, QUEUES as u32);
        csm.set_word(QUEUE_CONTROL + 4, (QUEUE_ENTRIES | QUEUE_COUNT << 8) as u32);
        Self { csm, reset_unit }
    }

    /// Answers every request of every queue.
    fn process(&mut self) {
        for queue in 0..QUEUE_COUNT {
            let base = QUEUES + queue * QUEUE_BYTES;
            let modulus = 2 * QUEUE_ENTRIES as u32;
            let written = self.csm.word(base + REQUEST_WRITTEN) % modulus;
            let mut read = self.csm.word(base + REQUEST_READ) % modulus;
            let mut answered = self.csm.word(base + RESPONSE_WRITTEN) % modulus;
            let taken = self.csm.word(base + RESPONSE_READ) % modulus;
            while read != written && (answered + modulus - taken) % modulus < QUEUE_ENTRIES as u32 {
                let entry = |first: u64, index: u32| {
                    base + HEADER_BYTES + (first + u64::from(index) % QUEUE_ENTRIES) * ENTRY_BYTES
                };
                let request = self.csm.word(entry(0, read));
                let known = ACCEPTED.contains(&(request as u8));
                let response = entry(QUEUE_ENTRIES, answered);
                for word in 0..ENTRY_BYTES / 4 {
                    self.csm.set_word(response + 4 * word, 0);
                }
                self.csm.set_word(response, if known { 0 } else { UNRECOGNISED });
                read = (read + 1) % modulus;
                answered = (answered + 1) % modulus;
            }
            self.csm.set_word(base + REQUEST_READ, read);
            self.csm.set_word(base + RESPONSE_WRITTEN, answered);
        }
    }

    /// A register of its NIUs.
    fn niu(addr: u64) -> Option<u32> {
        let noc = NIU.iter().position(|&base| (base..base + 0x1000).contains(&addr))?;
        match addr - NIU[noc] {
            NODE_ID => {
                let at = devices::niu::Coordinate { x: 8, y: 0 };
                Some(devices::niu::Identity { noc: noc as u8, physical: at, logical: at }.node_id())
            }
            NIU_CFG_0 => Some(TRANSLATION_ON),
            _ => None,
        }
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { csm, reset_unit } = self;
        hasher.bytes(&csm.bytes);
        hasher.bytes(&reset_unit.bytes);
    }
}

impl Endpoint for Arc {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        for ram in [&self.csm, &self.reset_unit] {
            if let Some(data) = ram.slice(addr, bytes.len()) {
                bytes.copy_from_slice(data);
                return Ok(());
            }
        }
        match (Self::niu(addr), bytes.len()) {
            (Some(value), 4) => bytes.copy_from_slice(&value.to_le_bytes()),
            _ => return Err(unmapped("ARC", addr, bytes.len())),
        }
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        if addr == MSI_FIFO && bytes.len() == 4 {
            self.process();
            return Ok(());
        }
        let csm = self.csm.slice_mut(addr, bytes.len());
        let Some(data) = csm.or_else(|| self.reset_unit.slice_mut(addr, bytes.len())) else {
            return Err(unmapped("ARC", addr, bytes.len()));
        };
        data.copy_from_slice(bytes);
        let control = self.reset_unit.word(MISC_CONTROL);
        if control & PROCESS_QUEUES != 0 {
            self.reset_unit.set_word(MISC_CONTROL, control & !PROCESS_QUEUES);
            self.process();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(arc: &mut Arc, addr: u64) -> u32 {
        let mut bytes = [0; 4];
        arc.read(addr, &mut bytes).expect("known");
        u32::from_le_bytes(bytes)
    }

    /// The values and the order of the sheet.
    #[test]
    fn start_up_reads_are_those_of_the_sheet() {
        let mut arc = Arc::new(Product::Full, Harvest::default());
        assert_eq!(word(&mut arc, 0x8003_0060), 0);
        assert_eq!(word(&mut arc, 0x8003_0408), 5);
        assert_eq!(word(&mut arc, 0x8003_042C), 0x1000_0300);
        assert_eq!(word(&mut arc, 0x1000_0300), 0x1000_0400);
        assert_eq!(word(&mut arc, 0x1000_0304), 8 | 4 << 8);
        assert_eq!(word(&mut arc, 0x8003_0434), 0x1000_0100);
        assert_eq!(word(&mut arc, 0x8003_0430), 0x1000_0200);
        assert_eq!(word(&mut arc, 0x1000_0104), 0x12);
    }

    /// Columns 15 and 16 are bits 3 and 1.
    #[test]
    fn fused_off_columns_are_told_to_the_driver() {
        assert_eq!(enabled(0b11 << 12), 0x3FF5);
        let mut arc = Arc::new(Product::P100a, Product::P100a.harvest());
        let count = word(&mut arc, 0x1000_0104);
        let entries: Vec<(u32, u32)> = (0..u64::from(count))
            .map(|index| {
                let entry = word(&mut arc, 0x1000_0108 + 4 * index);
                let value = word(&mut arc, 0x1000_0200 + 4 * u64::from(entry >> 16));
                (entry & 0xFFFF, value)
            })
            .collect();
        // The driver takes bits 36 and up of the board id: 0x43 is a p100a.
        for expected in [(34, 0x3FF5), (36, 0x7F), (35, 0), (1, 0x43 << 4)] {
            assert!(entries.contains(&expected), "{expected:x?} in {entries:x?}");
        }
    }

    #[test]
    fn message_is_answered_when_the_firmware_is_asked_to_look() {
        let mut arc = Arc::new(Product::Full, Harvest::default());
        let queue = 0x1000_0400;
        for (code, status) in [(0x90u32, 0), (0x77, 0xFF)] {
            let slot = word(&mut arc, queue);
            let entry = queue + 32 + 32 * u64::from(slot % 8);
            arc.write(entry, &code.to_le_bytes()).expect("CSM");
            arc.write(queue, &(slot + 1).to_le_bytes()).expect("CSM");
            assert_eq!(word(&mut arc, queue + 0x14), slot, "not yet");
            arc.write(0x8003_0100, &(1u32 << 16).to_le_bytes()).expect("register");
            assert_eq!(word(&mut arc, 0x8003_0100), 0, "clears itself");
            assert_eq!(word(&mut arc, queue + 0x14), slot + 1);
            let response = queue + 32 + 32 * (8 + u64::from(slot % 8));
            assert_eq!(word(&mut arc, response) & 0xFF, status);
            arc.write(queue + 4, &(slot + 1).to_le_bytes()).expect("CSM");
        }
    }
}
