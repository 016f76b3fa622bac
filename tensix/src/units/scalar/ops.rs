//! Pure functions of the scalar unit.

use isa::op::Opcode;

/// The result of a two-operand instruction; `None` for a mode nobody defined.
pub(crate) const fn binary(opcode: Opcode, mode: u32, left: u32, right: u32) -> Option<u32> {
    Some(match opcode {
        Opcode::Adddmareg => left.wrapping_add(right),
        Opcode::Subdmareg => left.wrapping_sub(right),
        Opcode::Muldmareg => (left & 0xFFFF).wrapping_mul(right & 0xFFFF),
        Opcode::Bitwopdmareg => match mode {
            0 => left & right,
            1 => left | right,
            2 => left ^ right,
            _ => return None,
        },
        Opcode::Shiftdmareg => match mode {
            0 => left << (right & 0x1F),
            1 => left >> (right & 0x1F),
            _ => return None,
        },
        Opcode::Cmpdmareg => match mode {
            0 => (left > right) as u32,
            1 => (left < right) as u32,
            2 => (left == right) as u32,
            _ => return None,
        },
        _ => return None,
    })
}

/// Replaces half-register `half` (0 is the low half of register 0).
pub(crate) const fn set_half(gprs: &mut [u32; super::GPRS], half: usize, value: u16) {
    let gpr = &mut gprs[half >> 1 & 0x3F];
    *gpr = if half & 1 == 0 {
        *gpr & 0xFFFF_0000 | value as u32
    } else {
        *gpr & 0xFFFF | (value as u32) << 16
    };
}

/// Writes a tile header of zeroes over the first registers of `gprs`, sparing reserved fields:
/// TileSize (word 0, 15:0), DataFormat, DisableZeroCompression and SpareBits (word 1, 23:16) and
/// AllZeroFlags (word 2).
pub(crate) fn clear_tile_header(gprs: &mut [u32]) {
    let masks = [0xFFFF, 0x00FF_0000, u32::MAX];
    for (gpr, mask) in gprs.iter_mut().zip(masks) {
        *gpr &= !mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_follows_the_functional_models() {
        // Worked by hand from the *DMAREG pages of the Wormhole tree.
        for (opcode, mode, left, right, expected) in [
            (Opcode::Adddmareg, 0, u32::MAX, 2, Some(1)),
            (Opcode::Subdmareg, 0, 1, 2, Some(u32::MAX)),
            (Opcode::Muldmareg, 0, 0xABCD_FFFF, 0x1_FFFF, Some(0xFFFE_0001)),
            (Opcode::Bitwopdmareg, 0, 0b1100, 0b1010, Some(0b1000)),
            (Opcode::Bitwopdmareg, 1, 0b1100, 0b1010, Some(0b1110)),
            (Opcode::Bitwopdmareg, 2, 0b1100, 0b1010, Some(0b0110)),
            (Opcode::Bitwopdmareg, 3, 0, 0, None),
            (Opcode::Shiftdmareg, 0, 1, 33, Some(2)),
            (Opcode::Shiftdmareg, 1, 0x8000_0000, 31, Some(1)),
            (Opcode::Shiftdmareg, 2, 0, 0, None),
            (Opcode::Cmpdmareg, 0, 0x8000_0000, 1, Some(1)),
            (Opcode::Cmpdmareg, 1, 0x8000_0000, 1, Some(0)),
            (Opcode::Cmpdmareg, 2, 7, 7, Some(1)),
        ] {
            assert_eq!(binary(opcode, mode, left, right), expected, "{opcode} mode {mode}");
        }
    }

    #[test]
    fn set_half_leaves_the_other_half() {
        let mut gprs = [0xAAAA_BBBB; super::super::GPRS];
        set_half(&mut gprs, 3, 0x1234);
        set_half(&mut gprs, 4, 0x5678);
        assert_eq!(gprs[..3], [0xAAAA_BBBB, 0x1234_BBBB, 0xAAAA_5678]);
    }
}
