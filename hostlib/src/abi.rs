//! Names and types of the C ABI `[spec: host-abi 2.1]`, and where its memory lies.
//!
//! Not here: calling anything.

use std::ffi::c_void;
use std::fmt::Debug;

/// The functions a single-chip library exports, and no others of that prefix: a host that also
/// finds `libttsim_create_device_by_id` asks for a whole set of multi-chip functions.
pub const SYMBOLS: [&str; 10] = [
    "libttsim_init",
    "libttsim_exit",
    "libttsim_set_pci_dma_mem_callbacks",
    "libttsim_pci_config_rd32",
    "libttsim_pci_config_wr32",
    "libttsim_pci_mem_rd_bytes",
    "libttsim_pci_mem_wr_bytes",
    "libttsim_tile_rd_bytes",
    "libttsim_tile_wr_bytes",
    "libttsim_clock",
];

/// The host's function that reads its memory: `(paddr, destination, size_bytes)`.
pub type DmaRead = unsafe extern "C" fn(u64, *mut c_void, u32);
/// The host's function that writes its memory: `(paddr, source, size_bytes)`.
pub type DmaWrite = unsafe extern "C" fn(u64, *const c_void, u32);

/// Start of BAR0 in `paddr` `[spec: host-abi 2.3]`.
pub const BAR0: u64 = 0x1_0000_0000;
/// Start of BAR2 in `paddr` `[spec: host-abi 2.3]`.
pub const BAR2: u64 = 0x1_2000_0000;
/// Start of BAR4 in `paddr`; 32 GiB follow `[spec: host-abi 2.3]`.
pub const BAR4: u64 = 0x8_0000_0000;
/// End of BAR4.
pub const BAR4_END: u64 = BAR4 + (32 << 30);
/// Windows of 2 MiB at the start of BAR0 `[spec: host-abi 2.4]`.
pub const SMALL_WINDOWS: usize = 202;
/// Windows of 4 GiB in BAR4; their registers follow those of the small ones `[spec: host-abi 2.4]`.
pub const LARGE_WINDOWS: usize = 8;
/// Window registers, twelve bytes each, in `paddr` `[spec: host-abi 2.4]`.
pub const WINDOW_REGISTERS: u64 = BAR0 + 0x1FC0_0000;

/// Host memory that a device reaches by DMA. Addresses are the host's bus addresses, in bytes.
pub trait HostMemory: Send + Debug {
    /// Fills `bytes` with what the host has at `paddr`.
    fn read(&mut self, paddr: u64, bytes: &mut [u8]);
    /// Writes `bytes` into the host's memory at `paddr`.
    fn write(&mut self, paddr: u64, bytes: &[u8]);
}
