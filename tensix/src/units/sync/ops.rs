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

/// Eight semaphores: a byte of each number for each. Waits look at all of them at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SemaphoreFile {
    values: u64,
    maxima: u64,
}

/// The top bit of each byte, which no counter has.
const TOPS: u64 = 0x8080_8080_8080_8080;

impl SemaphoreFile {
    /// A semaphore, by its number modulo 8.
    #[inline]
    pub(crate) const fn get(&self, index: u8) -> Semaphore {
        let at = 8 * (index & 7) as u32;
        Semaphore { value: (self.values >> at) as u8, max: (self.maxima >> at) as u8 }
    }

    /// Changes a semaphore, by its number modulo 8.
    #[inline]
    pub(crate) const fn set(&mut self, index: u8, Semaphore { value, max }: Semaphore) {
        let at = 8 * (index & 7) as u32;
        let kept = !(0xFF << at);
        self.values = self.values & kept | (value as u64) << at;
        self.maxima = self.maxima & kept | (max as u64) << at;
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Semaphore> {
        (0..8).map(|index| self.get(index))
    }

    /// SEMWAIT: the semaphores of `mask` that keep it waiting. Bit 0 of `condition` waits while a
    /// value is zero, bit 1 while it is at least its maximum.
    #[inline]
    pub(crate) const fn unmet(&self, mask: u8, condition: u8) -> u8 {
        // Counters of four bits carry into no other byte.
        let not_zero = self.values + (TOPS - (TOPS >> 7));
        let full = (self.values | TOPS) - self.maxima;
        let mut unmet = 0;
        if condition & 1 != 0 {
            unmet |= !not_zero;
        }
        if condition & 2 != 0 {
            unmet |= full;
        }
        // Byte i times 2^(8 (7 - i) + i) has its lowest bit at 56 + i.
        let bits = (unmet & TOPS) >> 7;
        (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8 & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_and_get_saturate_at_15_and_0() {
        assert_eq!([0, 14, 15].map(post), [1, 15, 15]);
        assert_eq!([0, 1, 15].map(get), [0, 0, 14]);
    }

    /// As the documents say it, one after the other.
    fn unmet_of(semaphores: &[Semaphore], mask: u8, condition: u8) -> u8 {
        let waits = |semaphore: &Semaphore| {
            condition & 1 != 0 && semaphore.value == 0
                || condition & 2 != 0 && semaphore.value >= semaphore.max
        };
        let bits = (0..).zip(semaphores).map(|(index, one)| u8::from(waits(one)) << index);
        bits.fold(0, |all, bit| all | bit) & mask
    }

    #[test]
    fn unmet_selects_zero_and_full_semaphores() {
        let mut file = SemaphoreFile::default();
        (0..8).for_each(|index| file.set(index, Semaphore { value: 1, max: 2 }));
        file.set(0, Semaphore { value: 0, max: 2 });
        file.set(3, Semaphore { value: 2, max: 2 });
        assert_eq!(file.unmet(0xFF, 1), 0b0001);
        assert_eq!(file.unmet(0xFF, 2), 0b1000);
        assert_eq!(file.unmet(0b0111, 3), 0b0001);
    }

    /// Every semaphore at every place, beside every other one.
    #[test]
    fn all_at_once_is_one_after_the_other() {
        let all = || (0..16).flat_map(|value| (0..16).map(move |max| Semaphore { value, max }));
        for one in all() {
            for (place, other) in (0..8).zip(all().cycle().skip(usize::from(one.value) * 7)) {
                let mut file = SemaphoreFile::default();
                (0..8).for_each(|index| file.set(index, other));
                file.set(place, one);
                let seen: Vec<Semaphore> = file.iter().collect();
                for condition in 0..4 {
                    let wanted = unmet_of(&seen, 0xFF, condition);
                    assert_eq!(file.unmet(0xFF, condition), wanted, "{seen:?} {condition}");
                }
                assert_eq!(file.get(place), one);
            }
        }
    }
}
