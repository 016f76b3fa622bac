//! Zeroed memory that costs the host nothing until it is touched.
//!
//! A chip has 140 L1s of 1.5 MiB, and a program touches a tenth of them. An allocator may give zeroed
//! memory by handing out what was freed before and overwriting it: glibc's does so for all sizes up
//! to the largest that the process has freed, at most 32 MiB, and for whatever comes from the top of its heap.
//! [`ZeroPages`] takes its memory from the operating system, whose pages are zero when they are first touched, and
//! gives it back when it is dropped. Record: `docs/decisions/0008-zeroed-memory.md`.

use std::alloc::{Layout, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};

use bytemuck::Zeroable;
use memmap2::{MmapMut, MmapRaw};

/// A `T` in memory of its own, zero at first. Meant for what is large: it takes whole pages.
pub struct ZeroPages<T> {
    pages: MmapRaw,
    /// It owns a `T`, and goes to other threads as a `T` does.
    owns: PhantomData<T>,
}

/// The least that a page of any host has, in bytes.
const LEAST_PAGE: usize = 4096;

impl<T: Zeroable> ZeroPages<T> {
    /// Mapped memory is aligned well enough, and that nothing is dropped with it is no loss.
    const IS_PLAIN: () = assert!(align_of::<T>() <= LEAST_PAGE && !needs_drop::<T>());

    /// All zeroes. As with any allocation, the process ends if the host has no memory left.
    #[must_use]
    pub fn new() -> Self {
        let () = Self::IS_PLAIN;
        let layout = Layout::new::<T>();
        let Ok(pages) = MmapMut::map_anon(layout.size()) else { handle_alloc_error(layout) };
        Self { pages: pages.into(), owns: PhantomData }
    }
}

impl<T: Zeroable> Default for ZeroPages<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Zeroable> Deref for ZeroPages<T> {
    type Target = T;

    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the mapping is as long as a `T`, begins at a page and so is aligned for it (`IS_PLAIN`), and
        // lasts as long as `self`; zeroes are a `T`, and only a `T` is written later. It is private and nobody
        // else has its address, so all access goes through references made here, which borrow `self` as if it
        // held the `T`.
        unsafe { &*self.pages.as_ptr().cast() }
    }
}

impl<T: Zeroable> DerefMut for ZeroPages<T> {
    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` means that there is no other reference.
        unsafe { &mut *self.pages.as_mut_ptr().cast() }
    }
}

impl<T: Zeroable + Copy> Clone for ZeroPages<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        **self = **other;
    }
}

impl<T: Zeroable + PartialEq> PartialEq for ZeroPages<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Zeroable + Eq> Eq for ZeroPages<T> {}

impl<T: Zeroable + fmt::Debug> fmt::Debug for ZeroPages<T> {
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

    /// Where an allocator would hand out what was given back.
    #[test]
    fn words_begin_as_zero_again() {
        for _ in 0..3 {
            let words = Words::<{ 1 << 18 }>::new();
            assert!(words.iter().all(|word| word.swap(1, Relaxed) == 0));
        }
    }
}
