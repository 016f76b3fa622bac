//! Zeroed memory that costs the host little.
//!
//! A chip has 140 L1s of 1.5 MiB, and a program touches a tenth of them. An allocator may give zeroed
//! memory by handing out what was freed before and overwriting it: glibc's does so for all sizes up
//! to the largest that the process has freed, at most 32 MiB, and for whatever comes from the top of its heap.
//! [`ZeroPages`] takes its memory from the operating system, whose pages are zero when they are first touched, and
//! gives it back when it is dropped. What is large has pages of its own; what is small, as a core's local RAM, lies
//! beside others, in huge pages if there is much of it. So does what a [`PageBox`] holds, a value that is not zero: what
//! each of many tiles has is visited together, tile after tile. Record: `docs/decisions/0008-zeroed-memory.md`.

mod held;
mod page_box;
mod place;

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::Zeroable;

use crate::held::Held;
pub use crate::page_box::PageBox;
use crate::place::Place;

/// A `T`, which may be a slice, in memory that is zero at first. Meant for what is large, or what each of many tiles has.
pub struct ZeroPages<T: ?Sized>(Held<T>);

impl<T: Zeroable> ZeroPages<T> {
    /// All zeroes. As with any allocation, the process ends if the host has no memory left.
    #[must_use]
    pub fn new() -> Self {
        Self(Held::<T>::zeroes(Place::of))
    }
}

impl<T: Zeroable> ZeroPages<[T]> {
    /// So many zeroes. As with any allocation, the process ends if the host has no memory left.
    ///
    /// # Panics
    /// They are more than there are addresses.
    #[must_use]
    pub fn slice(length: usize) -> Self {
        Self(Held::<[T]>::zeroes(length, Place::of))
    }
}

impl<T: Zeroable> Default for ZeroPages<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> Deref for ZeroPages<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for ZeroPages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

// Copies are for snapshots, of which some outlive others for long: none of them keeps memory of others.
impl<T: Zeroable + Copy> Clone for ZeroPages<T> {
    fn clone(&self) -> Self {
        let mut copy = Self(Held::<T>::zeroes(Place::apart));
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        **self = **other;
    }
}

impl<T: Zeroable + Copy> Clone for ZeroPages<[T]> {
    fn clone(&self) -> Self {
        let mut copy = Self(Held::<[T]>::zeroes(self.len(), Place::apart));
        copy.copy_from_slice(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        if self.len() == other.len() {
            self.copy_from_slice(other);
        } else {
            *self = other.clone();
        }
    }
}

impl<T: ?Sized + PartialEq> PartialEq for ZeroPages<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for ZeroPages<T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ZeroPages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    type Words<const N: usize> = ZeroPages<[AtomicU32; N]>;

    #[test]
    fn words_begin_as_zero_and_keep_what_is_stored() {
        // Not a whole number of pages; two at a time, so that they would show if they overlapped.
        let (mut a, b) = (Words::<1500>::new(), Words::<1500>::new());
        assert!(a.iter().chain(b.iter()).all(|word| word.load(Relaxed) == 0));
        for (number, word) in a.iter().enumerate() {
            word.store(number as u32, Relaxed);
        }
        *a[1499].get_mut() = 7;
        assert!(a[..1499].iter().zip(0..).all(|(word, number)| word.load(Relaxed) == number));
        assert_eq!(a[1499].load(Relaxed), 7);
        assert!(b.iter().all(|word| word.load(Relaxed) == 0));
    }

    #[test]
    fn copy_is_as_the_original_and_goes_its_own_way() {
        let mut rows = ZeroPages::<[[u16; 16]; 300]>::new();
        rows[299][15] = 3;
        let mut copy = rows.clone();
        assert_eq!(copy, rows);
        copy[0][0] = 1;
        assert_ne!(copy, rows);
        copy.clone_from(&rows);
        assert_eq!((copy[0][0], copy[299][15]), (0, 3));
    }

    /// More of them than one piece of memory has room for, of sizes that are no multiple of an alignment.
    #[test]
    fn small_ones_lie_beside_each_other_and_are_nobody_elses() {
        let mut all: Vec<ZeroPages<[u16]>> = Vec::new();
        for number in 0..600_usize {
            let mut words = ZeroPages::slice(2000 + number % 7);
            assert!(words.iter().all(|&word| word == 0));
            words.fill(number as u16);
            all.push(words);
            if number % 3 == 0 {
                all.swap_remove(number / 3);
            }
        }
        assert!(all.iter().all(|words| words.iter().all(|&word| word == words[0])));
        let mut numbers: Vec<_> = all.iter().map(|words| words[0]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all.len());
        assert!(all.windows(2).any(|pair| pair[0].0.pages.are_those_of(&pair[1].0.pages)));
    }

    #[test]
    fn they_outlive_the_thread_that_made_them() {
        let made = std::thread::spawn(|| {
            let mut words = ZeroPages::<[u32]>::slice(100);
            words[99] = 5;
            words
        });
        let words = made.join().expect("a thread that makes a slice");
        assert_eq!((words[0], words[99], words.len()), (0, 5, 100));
    }

    #[test]
    fn copy_of_a_slice_has_its_own_memory_and_length() {
        let mut bytes = ZeroPages::<[u8]>::slice(300);
        bytes[299] = 9;
        let mut copy = bytes.clone();
        assert!(!copy.0.pages.are_those_of(&bytes.0.pages));
        copy[0] = 1;
        assert_eq!((bytes[0], copy[299]), (0, 9));
        copy.clone_from(&bytes);
        assert_eq!(copy, bytes);
        copy.clone_from(&ZeroPages::slice(2));
        assert_eq!(*copy, [0, 0]);
        assert!(ZeroPages::<[u64]>::slice(0).clone().is_empty());
    }

    /// Where an allocator would hand out what was given back.
    #[test]
    fn words_begin_as_zero_again() {
        for _ in 0..3 {
            let words = Words::<{ 1 << 18 }>::new();
            assert!(words.iter().all(|word| word.swap(1, Relaxed) == 0));
        }
    }
}
