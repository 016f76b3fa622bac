//! Cycles at rest with nothing in between.

/// Every length of an epoch of a chip divides this: `chip::LOOKAHEAD`.
const WHOLE_EPOCHS: u64 = 16;

/// What two times at rest come to as one; `None` if that is not certain.
///
/// A chip is always at the end of an epoch, and rounds a time at rest up to epochs. So a first part
/// of whole epochs and a second part come to their sum, and another first part need not: with
/// epochs of 8, 4 and 4 are 16. How long the epochs are the tape does not know; of cycles that
/// clocks have let pass the sum is nearly always a multiple.
pub(crate) fn sum(first: u64, second: u64) -> Option<u64> {
    if first.is_multiple_of(WHOLE_EPOCHS) { first.checked_add(second) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_epochs_are_followed_by_more() {
        assert_eq!((sum(64, 5), sum(0, 8), sum(32, 16)), (Some(69), Some(8), Some(48)));
        assert_eq!((sum(8, 8), sum(5, 64), sum(1 << 63, 1 << 63)), (None, None, None));
    }
}
