//! Where zeroes are taken from.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::{RefCell, UnsafeCell};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use memmap2::{MmapMut, MmapRaw};

/// How places are aligned, in bytes: at the beginning of a line of any host's cache.
pub(crate) const LEAST_ALIGNMENT: usize = 64;
/// The most that lies beside others, in bytes. A large thing is seldom touched all over.
const SMALL: usize = 64 << 10;
/// A thread's first piece of memory for small things, enough for two tiles,
const FIRST_PIECE: usize = 256 << 10;
/// and further ones, in which 34 have room: two huge pages of most hosts, which cost less than as many small ones.
const PIECE: usize = 4 << 20;

/// Zeroed bytes that nobody else has, as long as their pages are kept.
pub(crate) struct Place {
    pub(crate) at: NonNull<u8>,
    pub(crate) pages: Pages,
}

/// What bytes lie in.
#[cfg_attr(not(test), expect(dead_code, reason = "kept, and looked at by tests only"))]
pub(crate) enum Pages {
    /// Pages of the system, perhaps with others.
    Mapped(Arc<MmapRaw>),
    /// Memory of the allocator.
    Allocated(Arc<[UnsafeCell<Line>]>),
}

/// As many bytes as places are aligned to.
#[repr(C, align(64))]
pub(crate) struct Line([u8; LEAST_ALIGNMENT]);

/// The memory that small things are being taken from, which is given back with the last of them.
struct Piece {
    pages: Weak<MmapRaw>,
    used: usize,
}

thread_local! {
    static PIECE_IN_USE: RefCell<Piece> = const { RefCell::new(Piece { pages: Weak::new(), used: 0 }) };
}

/// Fresh pages.
fn map(bytes: usize) -> Arc<MmapRaw> {
    let Ok(pages) = MmapMut::map_anon(bytes.max(1)) else {
        handle_alloc_error(
            Layout::from_size_align(bytes, LEAST_ALIGNMENT).unwrap_or(Layout::new::<u8>()),
        )
    };
    Arc::new(pages.into())
}

impl Place {
    /// For so many bytes: beside others if they are few.
    pub(crate) fn of(bytes: usize) -> Self {
        if bytes > SMALL {
            return Self::alone(bytes);
        }
        // A thread that ends has none any more.
        let place = PIECE_IN_USE.try_with(|piece| piece.borrow_mut().take(bytes));
        place.unwrap_or_else(|_| Self::alone(bytes))
    }

    /// For so many bytes, in pages of their own.
    fn alone(bytes: usize) -> Self {
        let pages = map(bytes);
        Self { at: start(&pages, 0), pages: Pages::Mapped(pages) }
    }

    /// For so many bytes that are all written at once: few of them come from the allocator, as the system has only so
    /// many mappings for a process.
    pub(crate) fn apart(bytes: usize) -> Self {
        if bytes > SMALL {
            return Self::alone(bytes);
        }
        let lines = bytes.div_ceil(LEAST_ALIGNMENT);
        let zeroes = std::iter::repeat_with(|| UnsafeCell::new(Line([0; LEAST_ALIGNMENT])));
        let lines: Arc<[_]> = zeroes.take(lines.max(1)).collect();
        let at = NonNull::new(lines.as_ptr().cast_mut()).expect("memory is not at zero");
        Self { at: at.cast(), pages: Pages::Allocated(lines) }
    }
}

impl Pages {
    /// Whether these are the pages of something else, too.
    #[cfg(test)]
    pub(crate) fn are_those_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mapped(one), Self::Mapped(other)) => Arc::ptr_eq(one, other),
            (Self::Allocated(one), Self::Allocated(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Piece {
    fn take(&mut self, bytes: usize) -> Place {
        let size = bytes.next_multiple_of(LEAST_ALIGNMENT);
        let pages = match self.pages.upgrade() {
            Some(pages) if self.used + size <= pages.len() => pages,
            full => {
                let pages = map(if full.is_some() { PIECE } else { FIRST_PIECE });
                if full.is_some() {
                    ask_for_huge_pages(&pages);
                }
                *self = Self { pages: Arc::downgrade(&pages), used: 0 };
                pages
            }
        };
        let at = start(&pages, self.used);
        self.used += size;
        Place { at, pages: Pages::Mapped(pages) }
    }
}

/// The address of a byte of some pages.
fn start(pages: &MmapRaw, offset: usize) -> NonNull<u8> {
    NonNull::new(pages.as_mut_ptr().wrapping_add(offset)).expect("pages are not mapped at zero")
}

/// A host that has none, or gives them to nobody, gives small ones.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(pages: &MmapRaw) {
    let _ = pages.advise(memmap2::Advice::HugePage);
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: &MmapRaw) {}
