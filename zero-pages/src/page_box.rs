//! A value beside others in pages.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::place::{LEAST_ALIGNMENT, Pages, Place};

/// A box whose memory is where the small [`ZeroPages`](crate::ZeroPages) of its thread are. Meant for what each of many
/// tiles has, and what lives as long as the tile: the memory is given back with that of its neighbours, not by itself.
pub struct PageBox<T> {
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
unsafe impl<T: Send> Send for PageBox<T> {}
// SAFETY: as above; a shared reference to it gives shared references to the `T` and nothing else.
#[expect(unsafe_code, reason = "a pointer is shared with no other thread by itself")]
unsafe impl<T: Sync> Sync for PageBox<T> {}

impl<T> PageBox<T> {
    /// Takes the value there. As with any allocation, the process ends if the host has no memory left.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self::put(value, Place::of)
    }

    #[expect(unsafe_code, reason = "the value is written to memory that comes as a pointer")]
    fn put(value: T, place: impl FnOnce(usize) -> Place) -> Self {
        const { assert!(align_of::<T>() <= LEAST_ALIGNMENT) };
        let Place { at, pages } = place(size_of::<T>());
        let at = at.cast::<T>();
        // SAFETY: at that place are as many bytes as a `T` has, aligned for it (the assertion), which are given to nobody
        // else (`Place`).
        unsafe { at.write(value) };
        Self { at, pages, owns: PhantomData }
    }
}

impl<T> Deref for PageBox<T> {
    type Target = T;

    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: `put` has written a `T` there, whose memory lasts as long as `pages`. All access goes through references
        // made here, which borrow `self` as if it held the `T`.
        unsafe { self.at.as_ref() }
    }
}

impl<T> DerefMut for PageBox<T> {
    #[expect(unsafe_code, reason = "mapped memory comes as a pointer")]
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` means that there is no other reference.
        unsafe { self.at.as_mut() }
    }
}

impl<T> Drop for PageBox<T> {
    #[expect(unsafe_code, reason = "nobody else drops what was written to a pointer")]
    fn drop(&mut self) {
        // SAFETY: there is a `T` (`put`), nobody refers to it any more, and it is not used again; its pages are given up
        // behind this.
        unsafe { self.at.drop_in_place() };
    }
}

// Copies are for snapshots, of which some outlive others for long: none of them keeps memory of others.
impl<T: Clone> Clone for PageBox<T> {
    fn clone(&self) -> Self {
        Self::put((**self).clone(), Place::apart)
    }

    fn clone_from(&mut self, other: &Self) {
        (**self).clone_from(other);
    }
}

impl<T: fmt::Debug> fmt::Debug for PageBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ZeroPages;

    #[test]
    fn values_lie_beside_each_other_and_are_dropped_once() {
        let counted = Arc::new(());
        let mut all: Vec<_> =
            (0..300_u32).map(|n| PageBox::new((n, [n; 500], Arc::clone(&counted)))).collect();
        let zeroes = ZeroPages::<[u32]>::slice(700);
        assert_eq!(Arc::strong_count(&counted), 301);
        assert!(all.windows(2).any(|pair| pair[0].pages.are_those_of(&pair[1].pages)));
        all[7].1[499] = 0;
        all.retain(|value| value.0 % 2 == 1);
        assert_eq!(Arc::strong_count(&counted), 151);
        let is_own = |(n, words, _): &(u32, [u32; 500], Arc<()>)| {
            words[..499].iter().all(|word| word == n) && words[499] == if *n == 7 { 0 } else { *n }
        };
        assert!(all.iter().all(|value| is_own(value)) && zeroes.iter().all(|&word| word == 0));
        drop(all);
        assert_eq!(Arc::strong_count(&counted), 1);
    }

    #[test]
    fn copy_lies_apart_and_is_written_over_where_it_is() {
        let mut value = PageBox::new((1, String::from("one")));
        let mut copy = value.clone();
        assert!(!copy.pages.are_those_of(&value.pages));
        value.1.push('s');
        assert_eq!(*copy, (1, String::from("one")));
        let at = copy.at;
        copy.clone_from(&value);
        assert_eq!((&*copy, copy.at), (&(1, String::from("ones")), at));
    }

    #[test]
    fn value_outlives_the_thread_that_made_it() {
        let made = std::thread::spawn(|| PageBox::new(vec![1, 2, 3]));
        assert_eq!(*made.join().expect("a thread that makes a value"), [1, 2, 3]);
    }
}
