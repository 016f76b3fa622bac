//! Pure functions on semaphores.

/// A semaphore: two four-bit counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Semaphore {
    pub(crate) value: u8,
    pub(crate) max: u8,
}

/// SEMPOST: one more, at most 15. The maximum plays no part.
#[inline]
pub(crate) const fn post(value: u8) -> u8 {
    if value < 15 { value + 1 } else { 15 }
}

/// SEMGET: one less, at least 0.
#[inline]
pub(crate) const fn get(value: u8) -> u8 {
    value.saturating_sub(1)
}

/// SEMWAIT: the semaphores of `mask` that keep it waiting. Bit 0 of `condition` waits while a
/// value is zero, bit 1 while it is at least its maximum.
pub(crate) fn unmet(semaphores: &[Semaphore; 8], mask: u8, condition: u8) -> u8 {
    let mut unmet = 0;
    for (index, semaphore) in semaphores.iter().enumerate() {
        let zero = condition & 1 != 0 && semaphore.value == 0;
        let full = condition & 2 != 0 && semaphore.value >= semaphore.max;
        unmet |= u8::from(zero || full) << index;
    }
    unmet & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_and_get_saturate_at_15_and_0() {
        assert_eq!([0, 14, 15].map(post), [1, 15, 15]);
        assert_eq!([0, 1, 15].map(get), [0, 0, 14]);
    }

    #[test]
    fn unmet_selects_zero_and_full_semaphores() {
        let mut semaphores = [Semaphore { value: 1, max: 2 }; 8];
        semaphores[0].value = 0;
        semaphores[3].value = 2;
        assert_eq!(unmet(&semaphores, 0xFF, 1), 0b0001);
        assert_eq!(unmet(&semaphores, 0xFF, 2), 0b1000);
        assert_eq!(unmet(&semaphores, 0b0111, 3), 0b0001);
    }
}
