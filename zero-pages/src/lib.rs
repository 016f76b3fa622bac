//! Zeroed memory that costs the host little.
//!
//! A chip has 140 L1s of 1.5 MiB, and a program touches a tenth of them. An allocator may give zeroed
//! memory by handing out what was freed before and overwriting it: glibc's does so for all sizes up
//! to the largest that the process has freed, at most 32 MiB, and for whatever comes from the top of its heap.
//! [`ZeroPages`] takes its memory from the operating system, whose pages are zero when they are first touched, and
//! gives it back when it is dropped. What is large has pages of its own; what is small, as a core's local RAM, lies
//! beside others, in huge pages if there is much of it. So does what a [`PageBox`] holds, a value that is not zero: what
//! each of many tiles has is visited together, tile after tile. Record: `docs/decisions/0008-zeroed-memory.md`.

mod page_box;
mod place;

use std::fmt;
use std::marker::PhantomData;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Zeroable;

pub use crate::page_box::PageBox;
use crate::place::{LEAST_ALIGNMENT, Pages, Place};

/// A `T`, which may be a slice, in memory that is zero at first. Meant for what is large, or what each of many tiles has.
pub struct ZeroPages<T: ?Sized> {
    at: NonNull<T>,
    /// What it lies in.
    #[cfg_attr(not(test), expect(dead_code, reason = "kept as long as the `T` is"))]
    pages: Pages,
    /// It owns a `T`.
    owns: PhantomData<T>,
}

// SAFETY: it owns the `T`, as a box does: nobody else has its address, and the pages are only kept, which any thread
// may give up.
#[expect(unsafe_code, reason = "a pointer goes to no other thread by itself")]
unsafe impl<T: ?Sized + Send> Send for ZeroPages<T> {}
// SAFETY: as above; a shared reference to it gives shared references to the `T` and nothing else.
#[expect(unsafe_code, reason = "a pointer is shared with no other thread by itself")]
unsafe impl<T: ?Sized + Sync> Sync for ZeroPages<T> {}

/// Mapped memory is aligned well enough, and that nothing is dropped with it is no loss.
const fn check_plain<T>() {
    assert!(align_of::<T>() <= LEAST_ALIGNMENT && !needs_drop::<T>());
}

impl<T: Zeroable> ZeroPages<T> {
    /// All zeroes. As with any allocation, the process ends if the host has no memory left.
    #[must_use]
    pub fn new() -> Self {
        const { check_plain::<T>() };
        Self::of(Place::of(size_of::<T>()))
    }

    fn of(Place { at, pages }: Place) -> Self {
        Self { at: at.cast(), pages, owns: PhantomData }
    }
}

impl<T: Zeroable> ZeroPages<[T]> {
    /// So many zeroes. As with any allocation, the process ends if the host has no memory left.
    ///
    /// # Panics
    /// They are more than there are addresses.
    #[must_use]
    pub fn slice(length: usize) -> Self {
        Self::of(length, Place::of)
    }

    fn of(length: usize, place: impl FnOnce(usize) -> Place) -> Self {
        const { check_plain::<T>() };
        let bytes = length.checked_mul(size_of::<T>()).expect("a slice that fits into memory");
        let Place { at, pages } = place(bytes);
        Self { at: NonNull::slice_from_raw_parts(at.cast(), length), pages, owns: PhantomData }
    }
}

impl<T: Zeroable> Default for ZeroPages<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> Deref for ZeroPages<T> {
    type Target = T;

    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: at that place are as many bytes as a `T` has, aligned for it (`check_plain`), which last as long as
        // `pages` and are given to nobody else (`Place`); zeroes are a `T`, and only a `T` is written later. All
        // access goes through references made here, which borrow `self` as if it held the `T`.
        unsafe { self.at.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for ZeroPages<T> {
    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` means that there is no other reference.
        unsafe { self.at.as_mut() }
    }
}

// Copies are for snapshots, of which some outlive others for long: none of them keeps memory of others.
impl<T: Zeroable + Copy> Clone for ZeroPages<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::of(Place::apart(size_of::<T>()));
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        **self = **other;
    }
}

impl<T: Zeroable + Copy> Clone for ZeroPages<[T]> {
    fn clone(&self) -> Self {
        let mut copy = Self::of(self.len(), Place::apart);
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
        assert!(all.windows(2).any(|pair| pair[0].pages.are_those_of(&pair[1].pages)));
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
        assert!(!copy.pages.are_those_of(&bytes.pages));
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
