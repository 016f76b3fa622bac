//! Zeroed words that cost the host nothing until they are touched.
//!
//! A chip has 140 L1s of 1.5 MiB, and a program touches a tenth of them. An allocator may give zeroed
//! memory by handing out what was freed before and overwriting it: glibc's does so for all sizes up
//! to the largest that the process has freed, at most 32 MiB. [`ZeroWords`] takes its memory from the
//! operating system, whose pages are zero when they are first touched, and gives it back when it is
//! dropped. Record: `docs/decisions/0008-zeroed-memory.md`.

use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU32;

use memmap2::{MmapMut, MmapRaw};

/// `N` words in memory of their own, zero at first. Meant for many: it takes whole pages.
#[derive(Debug)]
pub struct ZeroWords<const N: usize> {
    pages: MmapRaw,
}

impl<const N: usize> ZeroWords<N> {
    /// That many zeroes. As with any allocation, the process ends if the host has no memory left.
    #[must_use]
    pub fn new() -> Self {
        let layout = Layout::new::<[AtomicU32; N]>();
        let Ok(pages) = MmapMut::map_anon(layout.size()) else { handle_alloc_error(layout) };
        Self { pages: pages.into() }
    }
}

impl<const N: usize> Default for ZeroWords<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Deref for ZeroWords<N> {
    type Target = [AtomicU32; N];

    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline]
    fn deref(&self) -> &[AtomicU32; N] {
        // SAFETY: the mapping is as long as the array, begins at a page and so is aligned for it, and
        // lasts as long as `self`; any bytes are words. It is private and nobody else has its address,
        // so all access goes through references made here, which borrow `self` as if it held the words.
        unsafe { &*self.pages.as_ptr().cast() }
    }
}

impl<const N: usize> DerefMut for ZeroWords<N> {
    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline]
    fn deref_mut(&mut self) -> &mut [AtomicU32; N] {
        // SAFETY: as in `deref`; `&mut self` means that there is no other reference.
        unsafe { &mut *self.pages.as_mut_ptr().cast() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn words_begin_as_zero_and_keep_what_is_stored() {
        // Not a whole number of pages; two at a time, so that they would show if they overlapped.
        let (mut a, b) = (ZeroWords::<1500>::new(), ZeroWords::<1500>::new());
        assert!(a.iter().chain(b.iter()).all(|word| word.load(Relaxed) == 0));
        for (number, word) in a.iter().enumerate() {
            word.store(number as u32, Relaxed);
        }
        *a[1499].get_mut() = 7;
        assert!(a[..1499].iter().zip(0..).all(|(word, number)| word.load(Relaxed) == number));
        assert_eq!(a[1499].load(Relaxed), 7);
        assert!(b.iter().all(|word| word.load(Relaxed) == 0));
    }

    /// Where an allocator would hand out what was given back.
    #[test]
    fn words_begin_as_zero_again() {
        for _ in 0..3 {
            let words = ZeroWords::<{ 1 << 18 }>::new();
            assert!(words.iter().all(|word| word.swap(1, Relaxed) == 0));
        }
    }
}
