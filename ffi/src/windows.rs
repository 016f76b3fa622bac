//! What the window registers hold, for those who do not hold the lock.
//!
//! Hosts aim a window before each access, with three words `[spec: host-abi 2.4]`, and most often where it points
//! already: nothing that anybody could tell. Such a write costs a look here.

use std::sync::atomic::{AtomicU64, Ordering};

use chip::WINDOW_WORDS;

/// Above the word: it is known.
const KNOWN: u64 = 1 << 32;

/// The words of all windows, as far as the host has written them in this session.
pub(crate) struct Windows([AtomicU64; WINDOW_WORDS]);

impl Windows {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; WINDOW_WORDS])
    }

    /// Whether a register, by its number, holds those bytes already.
    #[inline]
    pub(crate) fn holds(&self, register: usize, bytes: &[u8]) -> bool {
        let Ok(word) = <[u8; 4]>::try_from(bytes) else { return false };
        let known = KNOWN | u64::from(u32::from_le_bytes(word));
        self.0.get(register).is_some_and(|kept| kept.load(Ordering::Acquire) == known)
    }

    /// A register has been written. Only who has the chip may say so.
    pub(crate) fn wrote(&self, register: usize, bytes: &[u8]) {
        if let (Some(kept), Ok(word)) = (self.0.get(register), <[u8; 4]>::try_from(bytes)) {
            kept.store(KNOWN | u64::from(u32::from_le_bytes(word)), Ordering::Release);
        }
    }

    /// There is no session, or another one.
    pub(crate) fn forget(&self) {
        self.0.iter().for_each(|kept| kept.store(0, Ordering::Release));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_holds_what_was_written_until_it_is_forgotten() {
        let windows = Windows::new();
        // A window that nobody has written is not known to hold zero.
        assert!(!windows.holds(3, &[0; 4]));
        windows.wrote(3, &[1, 2, 3, 4]);
        assert!(windows.holds(3, &[1, 2, 3, 4]));
        for (register, bytes) in [(3, &[1, 2, 3, 5][..]), (4, &[1, 2, 3, 4]), (3, &[1, 2, 3])] {
            assert!(!windows.holds(register, bytes));
        }
        windows.wrote(WINDOW_WORDS, &[1, 2, 3, 4]);
        assert!(!windows.holds(WINDOW_WORDS, &[1, 2, 3, 4]));
        windows.forget();
        assert!(!windows.holds(3, &[1, 2, 3, 4]));
    }
}
