//! The libttsim ABI `[spec: host-abi 2.1]`: exactly the functions of a single-chip library. A host
//! that also finds `libttsim_create_device_by_id` asks for a set of others.
//!
//! Any thread may call. A read that cannot be done, and every read without a session, gives all
//! ones, as a bus without a device does.

#![expect(unsafe_code, reason = "functions that C calls, with buffers as C has them")]

use std::ffi::c_void;

use hostlib::abi::{DmaRead, DmaWrite};

use crate::buffer::{input, output};
use crate::memory::TtsimMemory;
use crate::session;

/// Begins a session: a fresh chip.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_init() {
    session::init();
}

/// Ends the session; everything it had is freed.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_exit() {
    session::exit();
}

/// The host's functions for the device's DMA; null takes one away. They may be called from within
/// `libttsim_clock` and the accesses, on any thread, and must not call back.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_set_pci_dma_mem_callbacks(
    read: Option<DmaRead>,
    write: Option<DmaWrite>,
) {
    session::set_memory(TtsimMemory { read, write });
}

/// One word of configuration space; `bdf` is the device number times eight.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_pci_config_rd32(bdf: u32, offset: u32) -> u32 {
    session::config_read("libttsim_pci_config_rd32", bdf, offset)
}

/// Writes one word of configuration space.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_pci_config_wr32(bdf: u32, offset: u32, value: u32) {
    session::config_write("libttsim_pci_config_wr32", bdf, offset, value);
}

/// Reads `size` bytes at a physical address.
///
/// # Safety
/// `size` bytes at `to` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_pci_mem_rd_bytes(paddr: u64, to: *mut c_void, size: u32) {
    // SAFETY: the caller lends the buffer for the time of the call.
    match unsafe { output(to, size as usize) } {
        Ok(bytes) => session::mem_read("libttsim_pci_mem_rd_bytes", paddr, bytes),
        Err(null) => session::refuse("libttsim_pci_mem_rd_bytes", null.into()),
    }
}

/// Writes `size` bytes at a physical address.
///
/// # Safety
/// `size` bytes at `from` may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_pci_mem_wr_bytes(paddr: u64, from: *const c_void, size: u32) {
    // SAFETY: the caller lends the buffer for the time of the call.
    let buffer = unsafe { input(from, size as usize) };
    match buffer {
        Ok(bytes) => session::mem_write("libttsim_pci_mem_wr_bytes", paddr, bytes),
        Err(why) => session::refuse("libttsim_pci_mem_wr_bytes", why.into()),
    }
}

/// Reads `size` bytes from the tile at a translated NoC coordinate, past the windows.
///
/// # Safety
/// `size` bytes at `to` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_tile_rd_bytes(
    x: u32,
    y: u32,
    address: u64,
    to: *mut c_void,
    size: u32,
) {
    // SAFETY: the caller lends the buffer for the time of the call.
    match unsafe { output(to, size as usize) } {
        Ok(bytes) => session::tile_read("libttsim_tile_rd_bytes", (x, y), address, bytes),
        Err(null) => session::refuse("libttsim_tile_rd_bytes", null.into()),
    }
}

/// Writes `size` bytes to the tile at a translated NoC coordinate, past the windows.
///
/// # Safety
/// `size` bytes at `from` may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_tile_wr_bytes(
    x: u32,
    y: u32,
    address: u64,
    from: *const c_void,
    size: u32,
) {
    // SAFETY: the caller lends the buffer for the time of the call.
    let buffer = unsafe { input(from, size as usize) };
    match buffer {
        Ok(bytes) => session::tile_write("libttsim_tile_wr_bytes", (x, y), address, bytes),
        Err(null) => session::refuse("libttsim_tile_wr_bytes", null.into()),
    }
}

/// Lets host clocks pass.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_clock(clocks: u32) {
    session::clock("libttsim_clock", clocks);
}
