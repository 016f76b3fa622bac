//! PCI configuration space of the device `[spec: host-abi 2.3]`.

use sim_core::StateHasher;

/// Vendor Tenstorrent, device Blackhole.
const ID: u32 = 0xB140_1E52;
/// Class: processing accelerator.
const CLASS: u32 = 0x1200_0000;
/// No interrupt pin is used.
const INTERRUPT: u32 = 0xFF;
/// Bits of a 64-bit, not prefetchable memory BAR.
const BAR_KIND: u32 = 4;

/// A 64-bit BAR: where, how large.
#[derive(Clone, Copy, Debug)]
struct Bar {
    base: u64,
    size: u64,
}

/// The first 64 bytes; everything behind reads as zero.
#[derive(Clone, Debug)]
pub(super) struct ConfigSpace {
    /// Command and status; the low half can be written.
    command: u32,
    /// Cache line size and friends; the low half can be written.
    cache_line: u32,
    bars: [Bar; 3],
}

impl ConfigSpace {
    pub(super) fn new() -> Self {
        let bar = |(base, size)| Bar { base, size };
        Self {
            command: 0,
            cache_line: 0,
            bars: [bar(super::BAR0), bar(super::BAR2), bar(super::BAR4)],
        }
    }

    pub(super) fn read(&self, offset: u32) -> u32 {
        match offset & !3 {
            0x00 => ID,
            0x04 => self.command,
            0x08 => CLASS,
            0x0C => self.cache_line,
            at @ 0x10..=0x24 => {
                let bar = self.bars[((at - 0x10) / 8) as usize];
                if at & 4 == 0 { bar.base as u32 | BAR_KIND } else { (bar.base >> 32) as u32 }
            }
            0x3C => INTERRUPT,
            _ => 0,
        }
    }

    /// Writing all ones to a BAR and reading it back tells its size; the addresses at which the
    /// BARs answer stay.
    pub(super) fn write(&mut self, offset: u32, value: u32) {
        match offset & !3 {
            0x04 => self.command = self.command & !0xFFFF | value & 0xFFFF,
            0x0C => self.cache_line = self.cache_line & !0xFFFF | value & 0xFFFF,
            at @ 0x10..=0x24 => {
                let bar = &mut self.bars[((at - 0x10) / 8) as usize];
                let written = if at & 4 == 0 {
                    bar.base & !0xFFFF_FFFF | u64::from(value)
                } else {
                    bar.base & 0xFFFF_FFFF | u64::from(value) << 32
                };
                bar.base = written & !(bar.size - 1);
            }
            _ => {}
        }
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { command, cache_line, bars } = self;
        hasher.u32(*command);
        hasher.u32(*cache_line);
        // Sizes are fixed.
        bars.iter().for_each(|&Bar { base, size: _ }| hasher.u64(base));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the sheet.
    #[test]
    fn words_read_as_recorded() {
        let space = ConfigSpace::new();
        let words = [
            (0x00, 0xB140_1E52),
            (0x08, 0x1200_0000),
            (0x10, 4),
            (0x14, 1),
            (0x18, 0x2000_0004),
            (0x1C, 1),
            (0x20, 4),
            (0x24, 8),
            (0x2C, 0),
            (0x3C, 0xFF),
        ];
        for (offset, value) in words {
            assert_eq!(space.read(offset), value, "offset {offset:#x}");
        }
    }

    #[test]
    fn sizing_gives_the_size_and_can_be_undone() {
        let mut space = ConfigSpace::new();
        for (offset, low, high) in
            [(0x10, 0xE000_0004, u32::MAX), (0x18, 0xFFF0_0004, u32::MAX), (0x20, 4, 0xFFFF_FFF8)]
        {
            let before = (space.read(offset), space.read(offset + 4));
            space.write(offset, u32::MAX);
            space.write(offset + 4, u32::MAX);
            assert_eq!((space.read(offset), space.read(offset + 4)), (low, high));
            space.write(offset, before.0);
            space.write(offset + 4, before.1);
            assert_eq!((space.read(offset), space.read(offset + 4)), before);
        }
    }
}
