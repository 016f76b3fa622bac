//! The libttsim C ABI from the caller's side, and the recording format.
//!
//! A *device library* is a shared library that presents a chip to host software through a handful
//! of C functions `[spec: host-abi 2.1]`. [`abi`] has their names and types, [`dynamic`] loads such
//! a library and calls it, [`recording`] is the file a session with one is kept in. Not here: what
//! our own library answers (crate `ffi`), and comparing recordings (crate `replay`).
//!
//! Unsafe code lies in [`dynamic`] alone: calls through pointers that came out of a library.

pub mod abi;
pub mod dynamic;
mod headers;
pub mod recording;

pub use abi::HostMemory;
pub use dynamic::{DynamicLibrary, LoadError};
pub use recording::{FormatError, Op, Record, Recording};
