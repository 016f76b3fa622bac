//! SETDMAREG's second mode: packer configuration and state into registers.
//!
//! Source: `[isa-wh: TensixCoprocessor/SETDMAREG_Special.md]`. Blackhole has one packer; the other
//! three positions read as zero [inferred: their state does not exist].

use isa::operands::Setdmareg;

use super::ops;
use crate::state::gprs::GPRS;

/// What the packer shows of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PackerView {
    /// Sizes of the tiles since the last reset, for the asking thread, in 16-byte units.
    pub(crate) accumulated_size: u16,
    /// Size of the last tile if the asking thread packed it, else 0.
    pub(crate) last_size: u16,
    /// One bit per compression row.
    pub(crate) all_zero_flags: u32,
    /// Saturating counters by the low five bits of the exponent.
    pub(crate) histogram: [u8; 32],
    pub(crate) max_exponent: u8,
    /// `Out_data_format`.
    pub(crate) format: u8,
    /// `Disable_zero_compress`, or its override.
    pub(crate) uncompressed: bool,
}

/// The fields of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Special {
    /// Half-word of the 128 bits that a 16-bit result takes.
    pub(crate) input_half: usize,
    /// Which 128 bits.
    pub(crate) source: u32,
    /// Index of a packer, or mask of packers.
    pub(crate) packers: u32,
    /// 0: 16 bits, 1: 32, 2: 128, 3: 128 without the reserved fields of a tile header.
    pub(crate) size: u32,
    /// Half-register that takes the result.
    pub(crate) result_half: usize,
}

impl Special {
    pub(crate) const fn of(operands: Setdmareg) -> Self {
        Self {
            result_half: operands.reg_index_16b as usize,
            input_half: operands.input_half as usize,
            source: operands.source,
            packers: operands.packers,
            size: operands.payload_sig_sel_size,
        }
    }

    /// Whether it also resets the accumulated tile size of packer 0.
    pub(crate) const fn resets_size(self) -> bool {
        self.source == 8 && self.packers & 1 != 0
    }

    /// The 128 bits to choose from.
    pub(crate) fn values(self, packer: &PackerView) -> [u32; 4] {
        let mut values = [0; 4];
        match self.source {
            0 => {
                let accumulated = u32::from(packer.accumulated_size);
                values[0] = accumulated << 16 | u32::from(packer.last_size);
            }
            1 => values[0] = packer.all_zero_flags,
            2 => {
                values[0] = u32::from(packer.last_size.wrapping_add(1));
                values[1] =
                    u32::from(packer.format & 0xF) << 16 | u32::from(packer.uncompressed) << 20;
                values[2] = packer.all_zero_flags;
            }
            // A tile header of a packer that does not exist: one unit long.
            3..=5 => values[0] = 1,
            6 | 7 if self.packers & 3 == 0 => {
                let bins = &packer.histogram[(self.source as usize - 6) * 16..][..16];
                for (value, bins) in values.iter_mut().zip(bins.chunks_exact(4)) {
                    *value = bins.iter().rev().fold(0, |value, &bin| value << 8 | u32::from(bin));
                }
            }
            8 => values[0] = packer.all_zero_flags & 1,
            9 => values[0] = u32::from(packer.max_exponent),
            _ => {}
        }
        values
    }

    /// Writes the chosen part of the 128 bits.
    pub(crate) fn deliver(self, values: [u32; 4], gprs: &mut [u32; GPRS]) {
        let gpr = self.result_half >> 1;
        match self.size {
            0 => {
                let value = values[self.input_half >> 1] >> (16 * (self.input_half & 1));
                ops::set_half(gprs, self.result_half, value as u16);
            }
            1 => gprs[gpr] = values[self.input_half >> 1],
            2 => gprs[gpr & 0x3C..][..4].copy_from_slice(&values),
            _ => ops::merge_tile_header(&mut gprs[gpr & 0x3C..], values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKER: PackerView = PackerView {
        accumulated_size: 0x1234,
        last_size: 0x41,
        all_zero_flags: 0xF00F_0001,
        histogram: [7; 32],
        max_exponent: 0x82,
        format: 5,
        uncompressed: true,
    };

    fn special(source: u32, size: u32) -> Special {
        Special { input_half: 1, source, packers: 0, size, result_half: 5 }
    }

    #[test]
    fn fields_are_where_the_encoding_has_them() {
        // [isa-wh: Diagrams/Src/Bits32.lua, SETDMAREG_Special]
        let word = 0x45 << 24 | 2 << 22 | 0xA << 15 | 7 << 11 | 6 << 8 | 1 << 7 | 0x55;
        let expected =
            Special { input_half: 6, source: 7, packers: 0xA, size: 2, result_half: 0x55 };
        assert_eq!(Special::of(Setdmareg::of(word)), expected);
    }

    #[test]
    fn sources_follow_the_functional_model() {
        assert_eq!(special(0, 0).values(&PACKER), [0x1234_0041, 0, 0, 0]);
        assert_eq!(special(2, 0).values(&PACKER), [0x42, 0x0015_0000, 0xF00F_0001, 0]);
        assert_eq!(special(6, 0).values(&PACKER), [0x0707_0707; 4]);
        assert_eq!(special(8, 0).values(&PACKER), [1, 0, 0, 0]);
        assert_eq!(special(9, 0).values(&PACKER), [0x82, 0, 0, 0]);
        assert_eq!(special(10, 0).values(&PACKER), [0; 4]);
    }

    #[test]
    fn sizes_write_their_part() {
        let values = [0x1111_2222, 0x3333_4444, 0x5555_6666, 0x7777_8888];
        let mut gprs = [0xAAAA_BBBB; GPRS];
        special(0, 0).deliver(values, &mut gprs);
        assert_eq!(gprs[..4], [0xAAAA_BBBB, 0xAAAA_BBBB, 0x1111_BBBB, 0xAAAA_BBBB]);
        special(0, 1).deliver(values, &mut gprs);
        assert_eq!(gprs[2], 0x1111_2222);
        special(0, 3).deliver(values, &mut gprs);
        assert_eq!(gprs[..4], [0xAAAA_2222, 0xAA33_BBBB, 0x5555_6666, 0xAAAA_BBBB]);
        special(0, 2).deliver(values, &mut gprs);
        assert_eq!(gprs[..4], values);
    }
}
