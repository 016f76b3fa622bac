//! A device library that forwards every call to another one and records it,
//! `libtilescope_record.so`.
//!
//! `TILESCOPE_RECORD_TARGET` names the library to forward to, `TILESCOPE_RECORD_FILE` the recording
//! (`%p` in it becomes the process id; without it `session.%p.rec` in the current directory). The
//! format is that of `hostlib::recording`; one file holds all sessions of the process. If either
//! cannot be opened, one line on standard error says so and the host finds no device.
//!
//! Not here: replaying, and finding out how a host is made to load this (`tilescope record`).

#![expect(unsafe_code, reason = "functions that C calls, with buffers as C has them")]

mod tape;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use hostlib::abi::{DmaRead, DmaWrite};
use hostlib::{DynamicLibrary, Op};
use parking_lot::Mutex;

use crate::tape::{with, write};

/// The host's own functions, behind ours.
static HOST: Mutex<(Option<DmaRead>, Option<DmaWrite>)> = Mutex::new((None, None));

/// # Safety
/// `at` is null, or `size` bytes from there on may be written during `'a`.
unsafe fn output<'a>(at: *mut c_void, size: u32) -> &'a mut [u8] {
    if size == 0 || at.is_null() {
        return &mut [];
    }
    // SAFETY: by this function's condition.
    unsafe { slice::from_raw_parts_mut(at.cast(), size as usize) }
}

/// # Safety
/// `at` is null, or `size` bytes from there on may be read during `'a`.
unsafe fn input<'a>(at: *const c_void, size: u32) -> &'a [u8] {
    if size == 0 || at.is_null() {
        return &[];
    }
    // SAFETY: by this function's condition.
    unsafe { slice::from_raw_parts(at.cast(), size as usize) }
}

/// No panic crosses into C.
fn guarded<T>(absent: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(absent)
}

/// Begins a session.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_init() {
    guarded((), || {
        write(Op::Init, 0, 0, &[]);
        with(DynamicLibrary::init);
    });
}

/// Ends the session; what was recorded until now is on disk.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_exit() {
    guarded((), || {
        write(Op::Exit, 0, 0, &[]);
        tape::flush();
        with(DynamicLibrary::exit);
    });
}

/// Hands the target functions of ours, which record and call the host's.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_set_pci_dma_mem_callbacks(
    read: Option<DmaRead>,
    write: Option<DmaWrite>,
) {
    guarded((), || {
        *HOST.lock() = (read, write);
        tape::write(Op::SetCallbacks, 0, 0, &[]);
        let ours_read: Option<DmaRead> = if read.is_some() { Some(dma_read) } else { None };
        let ours_write: Option<DmaWrite> = if write.is_some() { Some(dma_write) } else { None };
        with(|target| target.set_raw_callbacks(ours_read, ours_write));
    });
}

/// # Safety
/// The target lends `size` bytes at `to`.
unsafe extern "C" fn dma_read(paddr: u64, to: *mut c_void, size: u32) {
    guarded((), || {
        let host = HOST.lock().0;
        if let Some(host) = host {
            // SAFETY: the host's function, with what the target gave.
            unsafe { host(paddr, to, size) };
        }
        // SAFETY: the target's buffer, for the time of the call.
        write(Op::DmaRead, paddr, 0, unsafe { output(to, size) });
    });
}

/// # Safety
/// The target lends `size` bytes at `from`.
unsafe extern "C" fn dma_write(paddr: u64, from: *const c_void, size: u32) {
    guarded((), || {
        // SAFETY: the target's buffer, for the time of the call.
        write(Op::DmaWrite, paddr, 0, unsafe { input(from, size) });
        let host = HOST.lock().1;
        if let Some(host) = host {
            // SAFETY: the host's function, with what the target gave.
            unsafe { host(paddr, from, size) };
        }
    });
}

/// One word of configuration space.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_pci_config_rd32(bdf: u32, offset: u32) -> u32 {
    guarded(u32::MAX, || {
        let word = with(|target| target.config_read(bdf, offset)).unwrap_or(u32::MAX);
        write(Op::ConfigRead, bdf.into(), offset.into(), &word.to_le_bytes());
        word
    })
}

/// Writes one word of configuration space.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_pci_config_wr32(bdf: u32, offset: u32, value: u32) {
    guarded((), || {
        write(Op::ConfigWrite, bdf.into(), offset.into(), &value.to_le_bytes());
        with(|target| target.config_write(bdf, offset, value));
    });
}

/// Reads `size` bytes at a physical address.
///
/// # Safety
/// `size` bytes at `to` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_pci_mem_rd_bytes(paddr: u64, to: *mut c_void, size: u32) {
    guarded((), || {
        // SAFETY: the host lends the buffer for the time of the call.
        let bytes = unsafe { output(to, size) };
        if with(|target| target.mem_read(paddr, bytes)).is_none() {
            bytes.fill(0xFF);
        }
        write(Op::MemRead, paddr, 0, bytes);
    });
}

/// Writes `size` bytes at a physical address.
///
/// # Safety
/// `size` bytes at `from` may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_pci_mem_wr_bytes(paddr: u64, from: *const c_void, size: u32) {
    guarded((), || {
        // SAFETY: the host lends the buffer for the time of the call.
        let bytes = unsafe { input(from, size) };
        write(Op::MemWrite, paddr, 0, bytes);
        with(|target| target.mem_write(paddr, bytes));
    });
}

/// `x` and `y` as a record keeps them.
fn tile(x: u32, y: u32) -> u64 {
    u64::from(x) | u64::from(y) << 32
}

/// Reads `size` bytes from a tile.
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
    guarded((), || {
        // SAFETY: the host lends the buffer for the time of the call.
        let bytes = unsafe { output(to, size) };
        if with(|target| target.tile_read(x, y, address, bytes)).is_none() {
            bytes.fill(0xFF);
        }
        write(Op::TileRead, address, tile(x, y), bytes);
    });
}

/// Writes `size` bytes to a tile.
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
    guarded((), || {
        // SAFETY: the host lends the buffer for the time of the call.
        let bytes = unsafe { input(from, size) };
        write(Op::TileWrite, address, tile(x, y), bytes);
        with(|target| target.tile_write(x, y, address, bytes));
    });
}

/// Lets host clocks pass.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_clock(clocks: u32) {
    guarded((), || {
        write(Op::Clock, clocks.into(), 0, &[]);
        with(|target| target.clock(clocks));
    });
}

/// Called by the dynamic linker when the process ends: a host need not call `libttsim_exit`.
extern "C" fn at_end() {
    guarded((), tape::flush);
}

// SAFETY: a section of function pointers without arguments, which is what the linker expects.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;
