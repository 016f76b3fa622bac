//! Memory of data that packets have carried, for packets to come.
//!
//! Data leave one tile and end in another, so each host thread has a store for all tiles. No part of any state. A host
//! that closes its device while it ends has none any more.

use std::cell::RefCell;

use crate::niu::MAX_PACKET_BYTES;

/// So many of a kind are kept: a multicast to all tiles needs one for each.
const KEPT: usize = 192;
/// Largest capacity in bytes that is kept: a buffer that grows up to the data of a packet may have doubled.
const LARGEST: usize = 2 * MAX_PACKET_BYTES as usize;
/// Buffers of up to so many bytes are kept on their own: words and flits would cut the others short.
const SMALL: usize = 64;

/// Buffers that nobody needs, each as long as its last data.
struct Kept {
    small: Vec<Vec<u8>>,
    large: Vec<Vec<u8>>,
}

impl Kept {
    fn of(&mut self, capacity: usize) -> &mut Vec<Vec<u8>> {
        if capacity <= SMALL { &mut self.small } else { &mut self.large }
    }
}

thread_local! {
    static BUFFERS: RefCell<Kept> = const { RefCell::new(Kept { small: Vec::new(), large: Vec::new() }) };
}

/// A buffer of so many bytes, in which anything may stand: what fills it anyway need not be cleared.
#[must_use]
pub(super) fn take_buffer(bytes: usize) -> Vec<u8> {
    let kept = BUFFERS.try_with(|buffers| buffers.borrow_mut().of(bytes).pop()).ok().flatten();
    let mut buffer = kept.unwrap_or_else(|| Vec::with_capacity(bytes.max(SMALL)));
    buffer.resize(bytes, 0);
    if cfg!(debug_assertions) {
        // Tests are to see who does not fill it.
        buffer.fill(0xA5);
    }
    buffer
}

/// A buffer that holds a copy.
#[must_use]
pub fn copy_to_buffer(data: &[u8]) -> Vec<u8> {
    let mut buffer = take_buffer(data.len());
    buffer.copy_from_slice(data);
    buffer
}

/// Takes a buffer back that is no longer needed.
pub fn keep_buffer(buffer: Vec<u8>) {
    let capacity = buffer.capacity();
    if (1..=LARGEST).contains(&capacity) {
        let _ = BUFFERS.try_with(|buffers| {
            let mut buffers = buffers.borrow_mut();
            let kept = buffers.of(capacity);
            if kept.len() < KEPT {
                kept.push(buffer);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_with_their_memory() {
        for bytes in [1, SMALL, SMALL + 1, 1000] {
            let first = take_buffer(bytes);
            let memory = first.as_ptr();
            keep_buffer(first);
            let second = take_buffer(bytes);
            assert_eq!((second.len(), second.as_ptr()), (bytes, memory));
            let copy = copy_to_buffer(&[1, 2, 3]);
            assert_eq!(copy, [1, 2, 3]);
            assert_ne!(copy.as_ptr(), memory, "somebody has it");
        }
    }

    #[test]
    fn small_ones_do_not_cut_large_ones_short() {
        keep_buffer(vec![7; 1000]);
        let small = take_buffer(4);
        assert!(small.capacity() <= SMALL);
        keep_buffer(small);
        assert!(take_buffer(1000).iter().all(|&byte| byte != 0), "nothing was cleared");
    }

    #[test]
    fn so_many_are_kept_and_none_that_is_too_large() {
        for _ in 0..2 * KEPT {
            keep_buffer(vec![7; 4]);
            keep_buffer(vec![7; 400]);
        }
        let kept = |bytes: usize| BUFFERS.with(|buffers| buffers.borrow_mut().of(bytes).len());
        assert_eq!((kept(4), kept(400)), (KEPT, KEPT));
        BUFFERS.with(|buffers| buffers.borrow_mut().large.clear());
        keep_buffer(vec![0; LARGEST + 1]);
        assert_eq!(kept(LARGEST + 1), 0);
        keep_buffer(vec![0; LARGEST]);
        assert_eq!(kept(LARGEST), 1);
    }
}
