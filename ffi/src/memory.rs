//! The host's memory behind C functions.

#![expect(unsafe_code, reason = "calls the host's functions")]

use std::ffi::c_void;

use hostlib::abi::{DmaRead, DmaWrite};

/// Longest piece that one call carries: the size is a C `uint32_t`.
const PIECE_BYTES: usize = 1 << 30;

/// The two functions of the libttsim ABI; either may be missing.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct TtsimMemory {
    pub(crate) read: Option<DmaRead>,
    pub(crate) write: Option<DmaWrite>,
}

impl TtsimMemory {
    pub(crate) fn is_some(self) -> bool {
        self.read.is_some() || self.write.is_some()
    }
}

impl chip::HostMemory for TtsimMemory {
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        let Some(read) = self.read else {
            bytes.fill(0xFF);
            return;
        };
        // What a host leaves alone is zero, whatever the buffer held.
        bytes.fill(0);
        for (at, piece) in pieces(paddr).zip(bytes.chunks_mut(PIECE_BYTES)) {
            // SAFETY: the host's function of that type; pointer and size describe `piece`.
            unsafe { read(at, piece.as_mut_ptr().cast(), size(piece)) }
        }
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        let Some(write) = self.write else { return };
        for (at, piece) in pieces(paddr).zip(bytes.chunks(PIECE_BYTES)) {
            // SAFETY: as above; the host only reads `piece`.
            unsafe { write(at, piece.as_ptr().cast(), size(piece)) }
        }
    }
}

type UserRead = unsafe extern "C" fn(*mut c_void, u64, *mut c_void, u32);
type UserWrite = unsafe extern "C" fn(*mut c_void, u64, *const c_void, u32);

/// The functions of our own interface, which get back a pointer of the caller's.
#[derive(Debug)]
pub(crate) struct UserMemory {
    pub(crate) read: UserRead,
    pub(crate) write: UserWrite,
    pub(crate) user: *mut c_void,
}

// SAFETY: the pointer is only handed back to the caller's functions, which the interface requires
// to be callable from any thread.
unsafe impl Send for UserMemory {}

impl chip::HostMemory for UserMemory {
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        // As above.
        bytes.fill(0);
        for (at, piece) in pieces(paddr).zip(bytes.chunks_mut(PIECE_BYTES)) {
            // SAFETY: the caller's function of that type; pointer and size describe `piece`.
            unsafe { (self.read)(self.user, at, piece.as_mut_ptr().cast(), size(piece)) }
        }
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        for (at, piece) in pieces(paddr).zip(bytes.chunks(PIECE_BYTES)) {
            // SAFETY: as above; the caller only reads `piece`.
            unsafe { (self.write)(self.user, at, piece.as_ptr().cast(), size(piece)) }
        }
    }
}

/// Where each piece begins.
fn pieces(paddr: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |piece: u64| paddr.wrapping_add(piece * PIECE_BYTES as u64))
}

fn size(piece: &[u8]) -> u32 {
    u32::try_from(piece.len()).expect("a piece is shorter than 4 GiB")
}
