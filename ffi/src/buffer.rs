//! Buffers as C hands them over: a pointer and a size.

#![expect(unsafe_code, reason = "a pointer from C becomes a slice")]

use std::ffi::c_void;
use std::slice;

/// The host gave a null pointer for a size that is not zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NullBuffer;

/// Bytes to fill.
///
/// # Safety
/// `at` is null, or `size` bytes from there on may be written and nobody else touches them during
/// `'a`.
pub(crate) unsafe fn output<'a>(at: *mut c_void, size: usize) -> Result<&'a mut [u8], NullBuffer> {
    match (size, at.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err(NullBuffer),
        // SAFETY: by this function's condition, and the pointer is not null.
        _ => Ok(unsafe { slice::from_raw_parts_mut(at.cast(), size) }),
    }
}

/// Bytes to read.
///
/// # Safety
/// `at` is null, or `size` bytes from there on may be read and nobody writes them during `'a`.
pub(crate) unsafe fn input<'a>(at: *const c_void, size: usize) -> Result<&'a [u8], NullBuffer> {
    match (size, at.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(NullBuffer),
        // SAFETY: by this function's condition, and the pointer is not null.
        _ => Ok(unsafe { slice::from_raw_parts(at.cast(), size) }),
    }
}
