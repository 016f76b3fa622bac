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
