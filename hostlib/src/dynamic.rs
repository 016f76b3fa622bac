//! A device library loaded from a file.
//!
//! The signatures are those of the ABI; that the file keeps them is what whoever names the file
//! vouches for. Nothing else about the library is trusted: a missing symbol is an error.

#![expect(unsafe_code, reason = "foreign functions of a library chosen at run time")]

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::slice;

use libloading::Library;
use parking_lot::Mutex;

use crate::abi::{DmaRead, DmaWrite, HostMemory};

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The dynamic linker refuses the file.
    #[error("cannot load {path}: {reason}", path = path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the linker says.
        reason: String,
    },
    /// A function of the ABI is missing.
    #[error("{path} is no device library: it does not export {symbol}", path = path.display())]
    Symbol {
        /// The file.
        path: PathBuf,
        /// The function.
        symbol: &'static str,
    },
}

type Plain = unsafe extern "C" fn();
type SetCallbacks = unsafe extern "C" fn(Option<DmaRead>, Option<DmaWrite>);
type ConfigRead = unsafe extern "C" fn(u32, u32) -> u32;
type ConfigWrite = unsafe extern "C" fn(u32, u32, u32);
type MemRead = unsafe extern "C" fn(u64, *mut c_void, u32);
type MemWrite = unsafe extern "C" fn(u64, *const c_void, u32);
type TileRead = unsafe extern "C" fn(u32, u32, u64, *mut c_void, u32);
type TileWrite = unsafe extern "C" fn(u32, u32, u64, *const c_void, u32);
type Clock = unsafe extern "C" fn(u32);
type Version = unsafe extern "C" fn() -> *const c_char;

/// A loaded library. Its state is the library's own: opening one file twice gives one device.
/// Dropping unloads it, so whoever calls `init` calls `exit` before that.
#[derive(Debug)]
pub struct DynamicLibrary {
    init: Plain,
    exit: Plain,
    set_callbacks: SetCallbacks,
    config_read: ConfigRead,
    config_write: Option<ConfigWrite>,
    mem_read: MemRead,
    mem_write: MemWrite,
    tile_read: TileRead,
    tile_write: TileWrite,
    clock: Clock,
    version: Option<Version>,
    /// Last, so that the functions above do not outlive it.
    _library: Library,
}

/// Memory the callbacks reach: they get no argument to carry it.
static HOST: Mutex<Option<Box<dyn HostMemory>>> = Mutex::new(None);

impl DynamicLibrary {
    /// Loads `path` and finds the functions.
    ///
    /// # Errors
    /// The file cannot be loaded, or a function that hosts require is missing.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        // SAFETY: the file's initialisers run; it is a device library by the caller's word.
        let opened = unsafe { Library::new(path) };
        let library = opened.map_err(|error| LoadError::Open {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let missing = |symbol| LoadError::Symbol { path: path.to_owned(), symbol };
        macro_rules! find {
            ($name:literal) => {
                // SAFETY: the type of the field is that of the function in the ABI, and the
                // library is kept as long as the pointer.
                *unsafe { library.get($name) }.map_err(|_| missing($name))?
            };
        }
        Ok(Self {
            init: find!("libttsim_init"),
            exit: find!("libttsim_exit"),
            set_callbacks: find!("libttsim_set_pci_dma_mem_callbacks"),
            config_read: find!("libttsim_pci_config_rd32"),
            // Not every host needs it, so not every library has it.
            // SAFETY: as above.
            config_write: unsafe { library.get("libttsim_pci_config_wr32") }
                .ok()
                .map(|found| *found),
            mem_read: find!("libttsim_pci_mem_rd_bytes"),
            mem_write: find!("libttsim_pci_mem_wr_bytes"),
            tile_read: find!("libttsim_tile_rd_bytes"),
            tile_write: find!("libttsim_tile_wr_bytes"),
            clock: find!("libttsim_clock"),
            // SAFETY: as above; the name is that of our own libraries.
            version: unsafe { library.get("tilescope_version") }.ok().map(|found| *found),
            _library: library,
        })
    }

    /// The version of a library of this project; `None` of another one.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        // SAFETY: no arguments.
        let text = unsafe { (self.version?)() };
        // SAFETY: a static string, as the library's header says.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// A fresh device.
    pub fn init(&self) {
        // SAFETY: no arguments; hosts may call it at any time outside a session.
        unsafe { (self.init)() }
    }

    /// Ends the session.
    pub fn exit(&self) {
        // SAFETY: no arguments; ends what `init` began.
        unsafe { (self.exit)() }
    }

    /// Gives the device host memory to reach, or takes it away. One memory serves all libraries of
    /// the process.
    pub fn set_host_memory(&self, memory: Option<Box<dyn HostMemory>>) {
        let some = memory.is_some();
        *HOST.lock() = memory;
        let read: Option<DmaRead> = if some { Some(host_read) } else { None };
        let write: Option<DmaWrite> = if some { Some(host_write) } else { None };
        self.set_raw_callbacks(read, write);
    }

    /// Hands the library two C functions.
    pub fn set_raw_callbacks(&self, read: Option<DmaRead>, write: Option<DmaWrite>) {
        // SAFETY: pointers to functions of the agreed type, or null.
        unsafe { (self.set_callbacks)(read, write) }
    }

    /// One word of configuration space.
    #[must_use]
    pub fn config_read(&self, bdf: u32, offset: u32) -> u32 {
        // SAFETY: values only.
        unsafe { (self.config_read)(bdf, offset) }
    }

    /// Writes one word of configuration space; nothing happens in a library that lacks the call.
    pub fn config_write(&self, bdf: u32, offset: u32, value: u32) {
        if let Some(write) = self.config_write {
            // SAFETY: values only.
            unsafe { write(bdf, offset, value) }
        }
    }

    /// Reads BAR memory; `bytes` shorter than 4 GiB.
    pub fn mem_read(&self, paddr: u64, bytes: &mut [u8]) {
        // SAFETY: the pointer and the length describe `bytes`.
        unsafe { (self.mem_read)(paddr, bytes.as_mut_ptr().cast(), length(bytes)) }
    }

    /// Writes BAR memory; `bytes` shorter than 4 GiB.
    pub fn mem_write(&self, paddr: u64, bytes: &[u8]) {
        // SAFETY: the pointer and the length describe `bytes`, which the library only reads.
        unsafe { (self.mem_write)(paddr, bytes.as_ptr().cast(), length(bytes)) }
    }

    /// Reads a tile's memory at the NoC coordinate; `bytes` shorter than 4 GiB.
    pub fn tile_read(&self, x: u32, y: u32, address: u64, bytes: &mut [u8]) {
        // SAFETY: the pointer and the length describe `bytes`.
        unsafe { (self.tile_read)(x, y, address, bytes.as_mut_ptr().cast(), length(bytes)) }
    }

    /// Writes a tile's memory at the NoC coordinate; `bytes` shorter than 4 GiB.
    pub fn tile_write(&self, x: u32, y: u32, address: u64, bytes: &[u8]) {
        // SAFETY: the pointer and the length describe `bytes`, which the library only reads.
        unsafe { (self.tile_write)(x, y, address, bytes.as_ptr().cast(), length(bytes)) }
    }

    /// Lets `clocks` host clocks pass.
    pub fn clock(&self, clocks: u32) {
        // SAFETY: a value only.
        unsafe { (self.clock)(clocks) }
    }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("accesses are shorter than 4 GiB, as documented")
}

/// A slice of `size` bytes at `at`, or an empty one.
///
/// # Safety
/// A pointer that is not null covers `size` bytes that nobody else touches during `'a`.
unsafe fn slice_mut<'a>(at: *mut c_void, size: u32) -> &'a mut [u8] {
    if size == 0 || at.is_null() {
        return &mut [];
    }
    // SAFETY: by this function's condition.
    unsafe { slice::from_raw_parts_mut(at.cast(), size as usize) }
}

/// # Safety
/// As the ABI says: `to` has room for `size` bytes.
unsafe extern "C" fn host_read(paddr: u64, to: *mut c_void, size: u32) {
    // SAFETY: the library lends its buffer for the time of the call.
    let bytes = unsafe { slice_mut(to, size) };
    match HOST.lock().as_mut() {
        Some(memory) => memory.read(paddr, bytes),
        None => bytes.fill(0xFF),
    }
}

/// # Safety
/// As the ABI says: `from` has `size` bytes.
unsafe extern "C" fn host_write(paddr: u64, from: *const c_void, size: u32) {
    if size == 0 || from.is_null() {
        return;
    }
    // SAFETY: the library lends its buffer for the time of the call.
    let bytes = unsafe { slice::from_raw_parts(from.cast::<u8>(), size as usize) };
    if let Some(memory) = HOST.lock().as_mut() {
        memory.write(paddr, bytes);
    }
}
