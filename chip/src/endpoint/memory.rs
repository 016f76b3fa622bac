//! What all endpoints have in common: an address space, plain memory, what is not there.

use std::sync::Arc;

use devices::DeviceFault;
use sim_core::Category;
use zero_pages::ZeroPages;

/// Something on the NoC with an address space of its own.
pub(crate) trait Endpoint {
    /// Reads `bytes.len()` bytes.
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), DeviceFault>;

    /// Writes `bytes`.
    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceFault>;

    /// Whether bytes are there that somebody may have written; where nobody has, hardware shows whatever it came up
    /// with.
    fn holds(&self, addr: u64, bytes: u32) -> bool {
        let _ = (addr, bytes);
        true
    }

    /// What a read there and the place of its data have to be the same modulo `[hdr: noc_parameters.h]`.
    fn read_unit(&self, addr: u64) -> u64 {
        let _ = addr;
        1
    }
}

/// Nothing is at that address of an endpoint.
pub(super) fn unmapped(what: &str, addr: u64, bytes: usize) -> DeviceFault {
    let text = format!("{what} address {addr:#x} (+{bytes}): nothing is known there");
    DeviceFault::new(Category::Unsupported, "endpoint-unmapped", text)
}

/// A block of plain memory. A copy shares the bytes until one of the two writes.
#[derive(Clone, Debug)]
pub(super) struct Ram {
    pub(super) base: u64,
    pub(super) bytes: Arc<ZeroPages<[u8]>>,
}

impl Ram {
    pub(super) fn new(base: u64, size: usize) -> Self {
        // Of a large block the host gives only what is touched.
        Self { base, bytes: Arc::new(ZeroPages::slice(size)) }
    }

    /// The bytes at an address, if all of them are inside.
    pub(super) fn slice(&self, addr: u64, length: usize) -> Option<&[u8]> {
        self.bytes.get(self.range(addr, length)?)
    }

    /// The bytes at an address, to be written, if all of them are inside.
    pub(super) fn slice_mut(&mut self, addr: u64, length: usize) -> Option<&mut [u8]> {
        let range = self.range(addr, length)?;
        let is_inside = range.end <= self.bytes.len();
        is_inside.then(|| &mut Arc::make_mut(&mut self.bytes)[range])
    }

    pub(super) fn range(&self, addr: u64, length: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(addr.checked_sub(self.base)?).ok()?;
        Some(start..start.checked_add(length)?)
    }

    pub(super) fn word(&self, addr: u64) -> u32 {
        let start = (addr - self.base) as usize;
        let word = self.bytes.get(start..start + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, u32::from_le_bytes)
    }

    pub(super) fn set_word(&mut self, addr: u64, value: u32) {
        if let Some(word) = self.slice_mut(addr, 4) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}
