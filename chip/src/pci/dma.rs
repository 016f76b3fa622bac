//! The read-DMA channel: the device fetches a block of host memory and writes it through a window.
//!
//! Source: `[spec: host-abi 2.5]`; what a destination means and how completion is announced:
//! `[umd: device/tt_device/protocol/pcie_dma/blackhole_dma_transfer.cpp, pcie_protocol.cpp]`. A transfer
//! is done when the doorbell has been rung. There is no channel the other way.

use super::{BAR0, NocPort, Pci, Window};
use crate::error::HostError;

/// Rings with bit 0 set.
pub(super) const DOORBELL: u32 = 0x104;
const START: u32 = 1;
/// Bytes to move; zero when they have been.
const SIZE: u32 = 0x11C;
/// Host address, low word first.
const SOURCE: u32 = 0x120;
/// Place in BAR0, low word first.
const DESTINATION: u32 = 0x128;
/// What happens at the end.
const INTERRUPTS: u32 = 0x188;
/// Bit of it: write the message word to the address of the stop message.
const REMOTE_STOP: u32 = 1 << 5;
/// Host address of the stop message, low word first.
const STOP_MESSAGE: u32 = 0x190;
const MESSAGE: u32 = 0x1A8;

impl Pci {
    /// The doorbell is written.
    pub(super) fn ring(&mut self, value: u32, port: &mut impl NocPort) -> Result<(), HostError> {
        if value & START == 0 {
            return Ok(());
        }
        let registers = port.iatu();
        let [size, interrupts, message] = [SIZE, INTERRUPTS, MESSAGE].map(|at| registers.word(at));
        let pair = |at| u64::from(registers.word(at)) | u64::from(registers.word(at + 4)) << 32;
        let [source, destination, stop] = [SOURCE, DESTINATION, STOP_MESSAGE].map(pair);
        let (paddr, length) = (BAR0.0.saturating_add(destination), size as usize);
        match self.tlbs.window(0, destination) {
            Some(Window { left, .. }) if length as u64 <= left => {}
            Some(Window { number: window, .. }) => {
                return Err(HostError::LeavesWindow { paddr, bytes: length, window });
            }
            None => return Err(HostError::OutsideBars { paddr, bytes: length }),
        }
        let mut bytes = vec![0; length];
        port.host_read(source, &mut bytes)?;
        self.write(paddr, &bytes, port)?;
        port.iatu().set_word(SIZE, 0);
        if interrupts & REMOTE_STOP != 0 {
            port.host_write(stop, &message.to_le_bytes())?;
        }
        Ok(())
    }
}
