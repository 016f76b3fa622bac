//! Outbound address translation: where in host memory an access of the device goes.
//!
//! Source: `[spec: host-abi 2.5]`. The registers of the read-DMA channel (`super::dma`) are kept here
//! too.

use std::collections::BTreeMap;

use sim_core::StateHasher;

/// First register of the regions, and bytes per region.
const REGIONS: u32 = 0x1000;
const REGION_BYTES: u32 = 0x200;
const REGION_COUNT: u32 = 16;
/// Bit of the second control word.
const ENABLE: u32 = 1 << 31;

/// Registers of BAR2.
#[derive(Clone, Debug, Default)]
pub(crate) struct Iatu {
    words: BTreeMap<u32, u32>,
}

impl Iatu {
    pub(super) fn word(&self, offset: u32) -> u32 {
        self.words.get(&offset).copied().unwrap_or(0)
    }

    pub(super) fn set_word(&mut self, offset: u32, value: u32) {
        self.words.insert(offset, value);
    }

    pub(super) fn read(&self, offset: u32) -> Option<u32> {
        if !offset.is_multiple_of(4) {
            return None;
        }
        Some(self.word(offset))
    }

    pub(super) fn write(&mut self, offset: u32, value: u32) -> bool {
        let is_word = offset.is_multiple_of(4);
        if is_word {
            self.set_word(offset, value);
        }
        is_word
    }

    /// The host address of a device address; unchanged where no region is enabled.
    pub(crate) fn translate(&self, address: u64) -> u64 {
        for region in 0..REGION_COUNT {
            let at = |offset| self.word(REGIONS + region * REGION_BYTES + offset);
            let pair = |low, high| u64::from(at(low)) | u64::from(at(high)) << 32;
            if at(4) & ENABLE == 0 {
                continue;
            }
            let base = pair(0x8, 0xC);
            let limit = pair(0x10, 0x20);
            if (base..=limit).contains(&address) {
                return pair(0x14, 0x18).wrapping_add(address - base);
            }
        }
        address
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { words } = self;
        for (&offset, &value) in words {
            hasher.u32(offset);
            hasher.u32(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enabled_region_moves_addresses_and_others_stay() {
        let mut iatu = Iatu::default();
        let words = [
            (0x08, 0),
            (0x0C, 0),
            (0x10, 0x3FFF_FFFF),
            (0x14, 0x8000_0000),
            (0x18, 0x10),
            (0x20, 0),
        ];
        for (offset, value) in words {
            assert!(iatu.write(0x1000 + offset, value));
        }
        assert_eq!(iatu.translate(0x1234), 0x1234);
        assert!(iatu.write(0x1004, ENABLE));
        assert_eq!(iatu.translate(0x1234), 0x10_8000_1234);
        assert_eq!(iatu.translate(0x4000_0000), 0x4000_0000);
    }
}
