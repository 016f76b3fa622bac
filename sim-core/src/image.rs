//! What L1 holds at a moment, to go back to: pages that equal those of an earlier moment are
//! shared with it.
//!
//! Nothing takes note of stores for this: a page is compared with what the last image had of it, which
//! costs nothing between two images. What an image costs: the `snapshots` example of `tile`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::l1::{L1, PAGE_BYTES, PAGE_COUNT};

/// Words of a page.
const PAGE_WORDS: usize = (PAGE_BYTES / 4) as usize;

/// A page of an image.
type Page = Arc<[u32; PAGE_WORDS]>;

/// Content of L1 at a moment. A copy shares all of its pages.
#[derive(Clone, Debug, Default)]
pub struct L1Image {
    /// By number; what is not there, or `None`, is zero.
    pages: Vec<Option<Page>>,
}

impl L1Image {
    fn page(&self, number: usize) -> Option<&Page> {
        self.pages.get(number)?.as_ref()
    }

    /// Bytes of pages that this image has and `other` has not.
    #[must_use]
    pub fn bytes_beyond(&self, other: &Self) -> usize {
        let is_own = |&(number, page): &(usize, &Option<Page>)| match (page, other.page(number)) {
            (Some(page), Some(other)) => !Arc::ptr_eq(page, other),
            (page, _) => page.is_some(),
        };
        self.pages.iter().enumerate().filter(is_own).count() * PAGE_BYTES as usize
    }
}

impl L1 {
    /// What L1 holds. Pages that are as in `like` are shared with it.
    #[must_use]
    pub fn image(&self, like: &L1Image) -> L1Image {
        let pages = self.words().chunks_exact(PAGE_WORDS).enumerate().map(|(number, words)| {
            let same = |page: &Page| words.iter().zip(&**page).all(|(a, b)| a.load(Relaxed) == *b);
            match like.page(number) {
                Some(page) if same(page) => Some(Arc::clone(page)),
                _ if words.iter().all(|word| word.load(Relaxed) == 0) => None,
                _ => Some(Arc::new(std::array::from_fn(|i| words[i].load(Relaxed)))),
            }
        });
        L1Image { pages: pages.collect() }
    }

    /// Puts back what L1 held.
    pub fn restore(&self, image: &L1Image) {
        for (number, words) in self.words().chunks_exact(PAGE_WORDS).enumerate() {
            match image.page(number) {
                Some(page) => words.iter().zip(&**page).for_each(|(a, b)| a.store(*b, Relaxed)),
                // A page that was never touched stays one that the host has no memory for.
                None => {
                    for word in words {
                        if word.load(Relaxed) != 0 {
                            word.store(0, Relaxed);
                        }
                    }
                }
            }
        }
    }
}

const _: () = assert!(PAGE_COUNT * PAGE_WORDS == crate::l1::WORDS);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::StateHasher;

    fn hash(l1: &L1) -> u64 {
        let mut hasher = StateHasher::default();
        l1.hash_state(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn restored_l1_holds_what_the_image_was_made_of() {
        let l1 = L1::new();
        l1.set_word(0x2004, 7);
        l1.set_word(0x17_FFFC, 8);
        let (before, image) = (hash(&l1), l1.image(&L1Image::default()));
        // A page that was not zero becomes so, one that was zero does not stay so, one changes.
        l1.set_word(0x2004, 0);
        l1.set_word(0x5000, 1);
        l1.set_word(0x17_FFFC, 9);
        let (after, second) = (hash(&l1), l1.image(&image));
        assert_ne!(before, after);
        l1.restore(&image);
        assert_eq!(hash(&l1), before);
        l1.restore(&second);
        assert_eq!(hash(&l1), after);
        l1.restore(&L1Image::default());
        assert_eq!(hash(&l1), hash(&L1::new()));
    }

    #[test]
    fn image_shares_the_pages_that_have_not_changed() {
        let l1 = L1::new();
        for page in 0..10 {
            l1.set_word(page * PAGE_BYTES, page + 1);
        }
        let first = l1.image(&L1Image::default());
        assert_eq!(first.bytes_beyond(&L1Image::default()), 10 * PAGE_BYTES as usize);
        l1.set_word(3 * PAGE_BYTES + 8, 1);
        let second = l1.image(&first);
        assert_eq!(second.bytes_beyond(&first), PAGE_BYTES as usize);
        assert_eq!(l1.image(&second).bytes_beyond(&second), 0);
    }
}
