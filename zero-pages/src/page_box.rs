//! A value beside others in pages.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::held::Held;
use crate::place::Place;

/// A box whose memory is where the small [`ZeroPages`](crate::ZeroPages) of its thread are. Meant for what each of many
/// tiles has, and what lives as long as the tile: the memory is given back with that of its neighbours, not by itself.
pub struct PageBox<T> {
    held: Held<T>,
}

impl<T> PageBox<T> {
    /// Takes the value there. As with any allocation, the process ends if the host has no memory left.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { held: Held::value(value, Place::of) }
    }
}

impl<T> Deref for PageBox<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.held
    }
}

impl<T> DerefMut for PageBox<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.held
    }
}

// Copies are for snapshots, of which some outlive others for long: none of them keeps memory of others.
impl<T: Clone> Clone for PageBox<T> {
    fn clone(&self) -> Self {
        Self { held: Held::value((**self).clone(), Place::apart) }
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
        assert!(all.windows(2).any(|pair| pair[0].held.pages.are_those_of(&pair[1].held.pages)));
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
        assert!(!copy.held.pages.are_those_of(&value.held.pages));
        value.1.push('s');
        assert_eq!(*copy, (1, String::from("one")));
        let at = copy.held.at;
        copy.clone_from(&value);
        assert_eq!((&*copy, copy.held.at), (&(1, String::from("ones")), at));
    }

    #[test]
    fn value_outlives_the_thread_that_made_it() {
        let made = std::thread::spawn(|| PageBox::new(vec![1, 2, 3]));
        assert_eq!(*made.join().expect("a thread that makes a value"), [1, 2, 3]);
    }
}
