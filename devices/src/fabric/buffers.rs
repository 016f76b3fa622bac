//! Memory of data that packets have carried, for packets to come.
//!
//! Data leave one tile and end in another, so each host thread has a store for all tiles. No part of any state. A host
//! that closes its device while it ends has none any more.

use std::cell::RefCell;

use crate::niu::MAX_PACKET_BYTES;

/// So many are kept: a multicast to all tiles needs one for each.
const KEPT: usize = 192;
/// Largest capacity in bytes that is kept: a buffer that grows up to the data of a packet may have doubled.
const LARGEST: usize = 2 * MAX_PACKET_BYTES as usize;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer, most likely with room.
#[must_use]
pub fn take_buffer() -> Vec<u8> {
    BUFFERS.try_with(|buffers| buffers.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// A buffer that holds a copy.
#[must_use]
pub fn copy_to_buffer(data: &[u8]) -> Vec<u8> {
    let mut buffer = take_buffer();
    buffer.extend_from_slice(data);
    buffer
}

/// Takes a buffer back that is no longer needed.
pub fn keep_buffer(mut buffer: Vec<u8>) {
    if (1..=LARGEST).contains(&buffer.capacity()) {
        buffer.clear();
        let _ = BUFFERS.try_with(|buffers| {
            let mut buffers = buffers.borrow_mut();
            if buffers.len() < KEPT {
                buffers.push(buffer);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_empty_and_with_room() {
        while take_buffer().capacity() != 0 {}
        keep_buffer(vec![7; 100]);
        let copy = copy_to_buffer(&[1, 2, 3]);
        assert_eq!(copy, [1, 2, 3]);
        assert!(copy.capacity() >= 100, "the same memory");
        for _ in 0..2 * KEPT {
            keep_buffer(vec![7; 4]);
        }
        let kept = std::iter::from_fn(|| Some(take_buffer()).filter(|one| one.capacity() != 0));
        assert_eq!(kept.count(), KEPT);
        keep_buffer(vec![0; LARGEST + 1]);
        assert_eq!(take_buffer().capacity(), 0, "too large to keep");
    }
}
