//! Numbers for the recorded vectors: a generator, and operands with the exponents and patterns that
//! arithmetic trips over.

/// xorshift32 with a fixed seed.
pub(super) struct Random(u32);

/// Bit patterns that are special in some 32-bit format.
const SPECIAL_WORDS: [u32; 16] = [
    0,
    0x8000_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0x7F80_0001,
    0xFFFF_FFFF,
    0x7F7F_FFFF,
    0x0080_0000,
    0x007F_FFFF,
    1,
    0x3F80_0000,
    0xBF80_0000,
    0x3F7F_FFFF,
    0x4780_0000,
    0x3880_0000,
];

/// Bit patterns that are special in some 16-bit format.
const SPECIAL_HALVES: [u16; 16] = [
    0, 0x8000, 0x7C00, 0xFC00, 0x7FFF, 0xFFFF, 0x7F80, 0xFF80, 0x7FC0, 0x0080, 0x007F, 1, 0x3F80,
    0x3C00, 0x0400, 0x03FF,
];

impl Random {
    pub(super) const fn new(seed: u32) -> Self {
        Self(seed)
    }

    pub(super) const fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    pub(super) const fn below(&mut self, limit: u32) -> u32 {
        // The high bits of xorshift are better than its low ones.
        ((self.next() as u64 * limit as u64) >> 32) as u32
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// An FP32 pattern: special, any, or near 1.0.
    pub(super) fn word(&mut self) -> u32 {
        let bits = self.next();
        match self.below(8) {
            0 => self.pick(&SPECIAL_WORDS),
            1 => bits,
            _ => bits & 0x807F_FFFF | (117 + self.below(20)) << 23,
        }
    }

    /// A small integer, a large one, or a pattern.
    pub(super) fn integer(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(64),
            1 => self.next() >> self.below(32),
            2 => self.word(),
            _ => self.next(),
        }
    }

    /// A 16-bit pattern with an exponent field of `bits` bits: special, any, or near 1.0.
    pub(super) fn half(&mut self, bits: u32) -> u16 {
        let any = self.next() as u16;
        let fraction = 15 - bits;
        match self.below(8) {
            0 => self.pick(&SPECIAL_HALVES),
            1 => any,
            _ => {
                let one = (1_u32 << (bits - 1)) - 1;
                let exponent = one + self.below(one.min(16)) - one.min(16) / 2;
                any & (0x8000 | ((1_u16 << fraction) - 1)) | (exponent as u16) << fraction
            }
        }
    }

    pub(super) fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.word()).collect()
    }

    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}
