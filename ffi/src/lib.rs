//! The chip as a C library, `libtilescope_bh.so`.
//!
//! Two interfaces in one file:
//!
//! * [`ttsim`]: the `libttsim_*` functions that hosts of the vendor's software stack load, one chip
//!   per process image `[spec: host-abi 2.1]`;
//! * [`capi`]: our own `tilescope_*` functions, several chips as opaque instances, a status from
//!   each call (`include/tilescope.h`).
//!
//! No panic crosses into C, and nothing here decides what a chip does: that is crate `chip`. Unsafe
//! code is what C needs: exported names, and buffers that come as pointer and size.

mod bell;
mod buffer;
pub mod capi;
mod fork;
mod memory;
mod report;
mod rounds;
mod session;
mod standby;
mod taping;
pub mod ttsim;
mod vigil;
mod windows;
