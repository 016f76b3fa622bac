//! A value in memory that comes as a pointer, owned as a box owns it.

use std::marker::PhantomData;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Zeroable;

use crate::place::{LEAST_ALIGNMENT, Pages, Place};

/// A `T`, which may be a slice, at a [`Place`] of its own.
pub(crate) struct Held<T: ?Sized> {
    pub(crate) at: NonNull<T>,
    /// What it lies in.
    #[cfg_attr(not(test), expect(dead_code, reason = "kept as long as the `T` is"))]
    pub(crate) pages: Pages,
    /// It owns a `T`.
    owns: PhantomData<T>,
}

// SAFETY: it owns the `T`, as a box does: nobody else has its address, and the pages are only kept, which any thread
// may give up.
#[expect(unsafe_code, reason = "a pointer goes to no other thread by itself")]
unsafe impl<T: ?Sized + Send> Send for Held<T> {}
// SAFETY: as above; a shared reference to it gives shared references to the `T` and nothing else.
#[expect(unsafe_code, reason = "a pointer is shared with no other thread by itself")]
unsafe impl<T: ?Sized + Sync> Sync for Held<T> {}

/// Places are aligned well enough.
const fn check_alignment<T>() {
    assert!(align_of::<T>() <= LEAST_ALIGNMENT);
}

/// And that nothing is dropped that began as zeroes is no loss.
const fn check_plain<T>() {
    check_alignment::<T>();
    assert!(!needs_drop::<T>());
}

impl<T> Held<T> {
    /// Takes a value to the place for so many bytes that is asked for.
    #[expect(unsafe_code, reason = "the value is written to memory that comes as a pointer")]
    pub(crate) fn value(value: T, place: impl FnOnce(usize) -> Place) -> Self {
        const { check_alignment::<T>() };
        let Place { at, pages } = place(size_of::<T>());
        let at = at.cast::<T>();
        // SAFETY: at that place are as many bytes as a `T` has, aligned for it (`check_alignment`), which are given to
        // nobody else (`Place`).
        unsafe { at.write(value) };
        Self { at, pages, owns: PhantomData }
    }
}

impl<T: Zeroable> Held<T> {
    /// Zeroes at the place that is asked for.
    pub(crate) fn zeroes(place: impl FnOnce(usize) -> Place) -> Self {
        const { check_plain::<T>() };
        let Place { at, pages } = place(size_of::<T>());
        Self { at: at.cast(), pages, owns: PhantomData }
    }
}

impl<T: Zeroable> Held<[T]> {
    /// So many zeroes.
    ///
    /// # Panics
    /// They are more than there are addresses.
    pub(crate) fn zeroes(length: usize, place: impl FnOnce(usize) -> Place) -> Self {
        const { check_plain::<T>() };
        let bytes = length.checked_mul(size_of::<T>()).expect("a slice that fits into memory");
        let Place { at, pages } = place(bytes);
        Self { at: NonNull::slice_from_raw_parts(at.cast(), length), pages, owns: PhantomData }
    }
}

impl<T: ?Sized> Deref for Held<T> {
    type Target = T;

    #[expect(unsafe_code, reason = "memory comes as a pointer")]
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: at that place are as many bytes as a `T` has, aligned for it (`check_alignment`), which last as long as
        // `pages` and are given to nobody else (`Place`); a `T` was written there, or zeroes are one (`Zeroable`), and only
        // a `T` is written later. All access goes through references made here, which borrow `self` as if it held the `T`.
        unsafe { self.at.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Held<T> {
    #[expect(unsafe_code, reason = "memory comes as a pointer")]
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` means that there is no other reference.
        unsafe { self.at.as_mut() }
    }
}

impl<T: ?Sized> Drop for Held<T> {
    #[expect(unsafe_code, reason = "nobody else drops what lies behind a pointer")]
    #[inline]
    fn drop(&mut self) {
        // SAFETY: there is a `T`, as in `deref`; nobody refers to it any more, and it is not used again. Its pages are
        // given up behind this.
        unsafe { self.at.drop_in_place() };
    }
}
