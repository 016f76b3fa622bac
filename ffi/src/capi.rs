//! Our own C interface: chips as instances, a status from each call, text for people on request.
//!
//! The header `include/tilescope.h` is written from this file; a test compares. Nothing here ends
//! the process or writes to standard error. Instances are independent, and each may be used from
//! any thread, one call at a time being carried out.

#![expect(unsafe_code, reason = "functions that C calls, with pointers as C has them")]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use chip::{Chip, ChipConfig, HostError};
use parking_lot::Mutex;

use crate::buffer::{NullBuffer, input, output};
use crate::memory::UserMemory;
use crate::session::panic_text;

/// What came of a call.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It was done.
    Ok = 0,
    /// An argument is null or means nothing.
    InvalidArgument = 1,
    /// The chip refuses the access; bytes to be read are all ones.
    Refused = 2,
    /// It was done, and firmware or a kernel erred; `tilescope_report` says how.
    GuestError = 3,
    /// The simulator failed. Only `tilescope_error` and `tilescope_destroy` are of use now.
    Broken = 4,
}

/// Reads host memory: fills `size` bytes at `destination` with what the host has at `paddr`.
pub type ReadFunction = Option<
    unsafe extern "C" fn(user: *mut c_void, paddr: u64, destination: *mut c_void, size: u32),
>;
/// Writes `size` bytes from `source` into host memory at `paddr`.
pub type WriteFunction =
    Option<unsafe extern "C" fn(user: *mut c_void, paddr: u64, source: *const c_void, size: u32)>;

/// A chip.
#[derive(Debug)]
pub struct Instance {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// `None` after the simulator failed.
    chip: Option<Box<Chip>>,
    error: String,
    reports: std::collections::VecDeque<String>,
}

/// Why no instance could be made.
static CREATE_ERROR: Mutex<String> = Mutex::new(String::new());

enum Failure {
    Argument(String),
    Refused(HostError),
}

impl From<NullBuffer> for Failure {
    fn from(_: NullBuffer) -> Self {
        Self::Argument("the buffer is a null pointer".to_owned())
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        Self::Refused(error)
    }
}

/// Runs `body` on the chip of an instance.
///
/// # Safety
/// `instance` is null, or came from `tilescope_create` and is not destroyed yet.
unsafe fn on(
    instance: *const Instance,
    body: impl FnOnce(&mut Chip) -> Result<(), Failure>,
) -> Status {
    // SAFETY: by this function's condition.
    let Some(instance) = (unsafe { instance.as_ref() }) else { return Status::InvalidArgument };
    let inner = &mut *instance.inner.lock();
    let Some(chip) = &mut inner.chip else { return Status::Broken };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let result = body(chip);
        (result, chip.take_reports())
    }));
    let (result, reports) = match result {
        Ok(both) => both,
        Err(payload) => {
            inner.error = panic_text(&*payload);
            inner.chip = None;
            return Status::Broken;
        }
    };
    let erred = !reports.is_empty();
    inner.reports.extend(reports);
    match result {
        Ok(()) if erred => Status::GuestError,
        Ok(()) => Status::Ok,
        Err(Failure::Argument(text)) => {
            inner.error = text;
            Status::InvalidArgument
        }
        Err(Failure::Refused(error)) => {
            inner.error = error.to_string();
            Status::Refused
        }
    }
}

/// Copies `text` and a closing zero, cut to `size` bytes.
///
/// # Safety
/// `to` is null, or `size` bytes there may be written.
unsafe fn copy_text(text: &str, to: *mut c_char, size: usize) -> usize {
    // SAFETY: by this function's condition.
    let room = unsafe { output(to.cast(), size) };
    if let Ok(bytes @ [_, ..]) = room {
        let mut count = text.len().min(bytes.len() - 1);
        while !text.is_char_boundary(count) {
            count -= 1;
        }
        bytes[..count].copy_from_slice(&text.as_bytes()[..count]);
        bytes[count] = 0;
    }
    text.len()
}

/// The version of the library, a static string.
#[unsafe(no_mangle)]
pub extern "C" fn tilescope_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Makes a chip. `settings` is a list of strings `NAME=VALUE`, closed by a null pointer, with the
/// names that are environment variables elsewhere (`TILESCOPE_PRODUCT`, `TILESCOPE_COLUMNS_OFF`,
/// `TILESCOPE_THREADS`, `TILESCOPE_CYCLES_PER_CLOCK`, `TILESCOPE_EPOCH`, `TILESCOPE_PARKING`,
/// `TILESCOPE_AHEAD`, `TILESCOPE_TIMING`); what it does not name has its default. A null pointer
/// takes the environment's. On success `*created`
/// is the chip, to be given to `tilescope_destroy` once; else it is null, and
/// `tilescope_error(NULL, ...)` says why.
///
/// # Safety
/// `settings` and `created` are as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_create(
    settings: *const *const c_char,
    created: *mut *mut Instance,
) -> Status {
    if created.is_null() {
        return Status::InvalidArgument;
    }
    // SAFETY: not null, and the caller's to be written.
    unsafe { created.write(std::ptr::null_mut()) };
    let result = catch_unwind(|| {
        // SAFETY: as the caller promises.
        let config = unsafe { config(settings) }?;
        let chip = Some(Box::new(Chip::new(config)));
        let inner = Inner { chip, error: String::new(), reports: Default::default() };
        Ok(Box::new(Instance { inner: Mutex::new(inner) }))
    });
    let (status, text) = match result {
        Ok(Ok(instance)) => {
            // SAFETY: as above.
            unsafe { created.write(Box::into_raw(instance)) };
            return Status::Ok;
        }
        Ok(Err(text)) => (Status::InvalidArgument, text),
        Err(payload) => (Status::Broken, panic_text(&*payload)),
    };
    *CREATE_ERROR.lock() = text;
    status
}

/// # Safety
/// `settings` is null or a list as `tilescope_create` describes.
unsafe fn config(settings: *const *const c_char) -> Result<ChipConfig, String> {
    if settings.is_null() {
        return ChipConfig::from_env().map_err(|error| error.to_string());
    }
    let mut pairs = Vec::new();
    for index in 0.. {
        // SAFETY: the list goes on until its null pointer.
        let text = unsafe { *settings.add(index) };
        if text.is_null() {
            break;
        }
        // SAFETY: the entries are C strings.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        match text.split_once('=') {
            Some((name, value)) => pairs.push((name.to_owned(), value.to_owned())),
            None => return Err(format!("{text:?} is not NAME=VALUE")),
        }
    }
    let asked = RefCell::new(Vec::new());
    let config = ChipConfig::from_variables(|name| {
        asked.borrow_mut().push(name.to_owned());
        // Of two settings of one name the later holds.
        pairs.iter().rev().find(|pair| pair.0 == name).map(|pair| pair.1.clone())
    });
    let config = config.map_err(|error| error.to_string())?;
    let asked = asked.into_inner();
    match pairs.iter().find(|pair| !asked.contains(&pair.0)) {
        Some((name, _)) => {
            Err(format!("there is no setting {name}; known are {}", asked.join(", ")))
        }
        None => Ok(config),
    }
}

/// Frees a chip; a null pointer is fine.
///
/// # Safety
/// `chip` is null or came from `tilescope_create`; nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_destroy(chip: *mut Instance) {
    if !chip.is_null() {
        // SAFETY: it was made by `Box::into_raw` and is given back once.
        let instance = unsafe { Box::from_raw(chip) };
        // A panic while freeing has nobody to be told.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(instance)));
    }
}

/// Copies the text of the chip's latest error, cut to `size` bytes with a closing zero, and returns
/// its whole length without the zero. Without a chip: why the latest `tilescope_create` failed.
///
/// # Safety
/// `chip` is null or a chip; `text` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_error(
    chip: *const Instance,
    text: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: as the caller promises.
    let instance = unsafe { chip.as_ref() };
    let error = match instance {
        Some(instance) => instance.inner.lock().error.clone(),
        None => CREATE_ERROR.lock().clone(),
    };
    // SAFETY: as the caller promises.
    unsafe { copy_text(&error, text, size) }
}

/// Copies the oldest guest error not taken yet, as `tilescope_error` does, and takes it if it fitted.
/// Returns 0 when there is none.
///
/// # Safety
/// `chip` is null or a chip; `text` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_report(
    chip: *const Instance,
    text: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: as the caller promises.
    let Some(instance) = (unsafe { chip.as_ref() }) else { return 0 };
    let reports = &mut instance.inner.lock().reports;
    let Some(oldest) = reports.front() else { return 0 };
    // SAFETY: as the caller promises.
    let length = unsafe { copy_text(oldest, text, size) };
    if length < size && !text.is_null() {
        reports.pop_front();
    }
    length
}

/// Reads a word of PCI configuration space. `bdf` is the device number times eight.
///
/// # Safety
/// `chip` is null or a chip; `value` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_config_read(
    chip: *const Instance,
    bdf: u32,
    offset: u32,
    value: *mut u32,
) -> Status {
    // SAFETY: as the caller promises.
    let Some(value) = (unsafe { value.as_mut() }) else { return Status::InvalidArgument };
    // SAFETY: as the caller promises.
    unsafe {
        on(chip, |chip| {
            *value = chip.config_read(bdf, offset);
            Ok(())
        })
    }
}

/// Writes a word of PCI configuration space.
///
/// # Safety
/// `chip` is null or a chip.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_config_write(
    chip: *const Instance,
    bdf: u32,
    offset: u32,
    value: u32,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe {
        on(chip, |chip| {
            chip.config_write(bdf, offset, value);
            Ok(())
        })
    }
}

/// Reads `size` bytes at a physical address: a BAR's base plus an offset.
///
/// # Safety
/// `chip` is null or a chip; `bytes` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_pci_read(
    chip: *const Instance,
    paddr: u64,
    bytes: *mut c_void,
    size: usize,
) -> Status {
    // SAFETY: as the caller promises, for both.
    unsafe {
        let buffer = output(bytes, size);
        on(chip, |chip| Ok(chip.mem_read(paddr, buffer?)?))
    }
}

/// Writes `size` bytes at a physical address.
///
/// # Safety
/// `chip` is null or a chip; `bytes` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_pci_write(
    chip: *const Instance,
    paddr: u64,
    bytes: *const c_void,
    size: usize,
) -> Status {
    // SAFETY: as the caller promises, for both.
    unsafe {
        let buffer = input(bytes, size);
        on(chip, |chip| Ok(chip.mem_write(paddr, buffer?)?))
    }
}

/// Reads `size` bytes at `address` of the tile at a translated NoC coordinate.
///
/// # Safety
/// `chip` is null or a chip; `bytes` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_tile_read(
    chip: *const Instance,
    x: u32,
    y: u32,
    address: u64,
    bytes: *mut c_void,
    size: usize,
) -> Status {
    // SAFETY: as the caller promises, for both.
    unsafe {
        let buffer = output(bytes, size);
        on(chip, |chip| Ok(chip.tile_read(x, y, address, buffer?)?))
    }
}

/// Writes `size` bytes at `address` of the tile at a translated NoC coordinate.
///
/// # Safety
/// `chip` is null or a chip; `bytes` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_tile_write(
    chip: *const Instance,
    x: u32,
    y: u32,
    address: u64,
    bytes: *const c_void,
    size: usize,
) -> Status {
    // SAFETY: as the caller promises, for both.
    unsafe {
        let buffer = input(bytes, size);
        on(chip, |chip| Ok(chip.tile_write(x, y, address, buffer?)?))
    }
}

/// Lets host clocks pass; how many cycles one stands for is a setting.
///
/// # Safety
/// `chip` is null or a chip.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_clock(chip: *const Instance, clocks: u32) -> Status {
    // SAFETY: as the caller promises.
    unsafe {
        on(chip, |chip| {
            chip.clock(clocks);
            Ok(())
        })
    }
}

/// The chip's time in AI-clock cycles.
///
/// # Safety
/// `chip` is null or a chip; `cycles` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_now(chip: *const Instance, cycles: *mut u64) -> Status {
    // SAFETY: as the caller promises.
    let Some(cycles) = (unsafe { cycles.as_mut() }) else { return Status::InvalidArgument };
    // SAFETY: as the caller promises.
    unsafe {
        on(chip, |chip| {
            *cycles = chip.now().0;
            Ok(())
        })
    }
}

/// Witness of everything that determines the chip's future: two chips that got the same calls have
/// the same.
///
/// # Safety
/// `chip` is null or a chip; `hash` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_state_hash(chip: *const Instance, hash: *mut u64) -> Status {
    // SAFETY: as the caller promises.
    let Some(hash) = (unsafe { hash.as_mut() }) else { return Status::InvalidArgument };
    // SAFETY: as the caller promises.
    unsafe {
        on(chip, |chip| {
            *hash = chip.state_hash();
            Ok(())
        })
    }
}

/// Gives the chip host memory to reach by DMA. The functions get `user` back; they are called from
/// within other calls on this chip, on any thread, and must not call it.
///
/// # Safety
/// `chip` is null or a chip; the functions may be called with `user` until the chip is destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilescope_set_host_memory(
    chip: *const Instance,
    read: ReadFunction,
    write: WriteFunction,
    user: *mut c_void,
) -> Status {
    let (Some(read), Some(write)) = (read, write) else { return Status::InvalidArgument };
    // SAFETY: as the caller promises.
    unsafe {
        on(chip, |chip| {
            chip.set_host_memory(Box::new(UserMemory { read, write, user }));
            Ok(())
        })
    }
}
