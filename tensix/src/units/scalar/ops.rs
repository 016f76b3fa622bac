//! Pure functions of the scalar unit.

use crate::state::gprs::GPRS;
use sim_core::Width;

/// MULDMAREG: the product of the low halves.
pub(crate) const fn multiply(left: u32, right: u32) -> u32 {
    (left & 0xFFFF).wrapping_mul(right & 0xFFFF)
}

/// BITWOPDMAREG; `None` for a mode that no document defines.
pub(crate) const fn bitwise(mode: u32, left: u32, right: u32) -> Option<u32> {
    match mode {
        0 => Some(left & right),
        1 => Some(left | right),
        2 => Some(left ^ right),
        _ => None,
    }
}

/// SHIFTDMAREG; `None` for a mode that no document defines.
pub(crate) const fn shift(mode: u32, left: u32, right: u32) -> Option<u32> {
    match mode {
        0 => Some(left << (right & 0x1F)),
        1 => Some(left >> (right & 0x1F)),
        _ => None,
    }
}

/// CMPDMAREG; `None` for a mode that no document defines.
pub(crate) const fn compare(mode: u32, left: u32, right: u32) -> Option<u32> {
    match mode {
        0 => Some((left > right) as u32),
        1 => Some((left < right) as u32),
        2 => Some((left == right) as u32),
        _ => None,
    }
}

/// Replaces half-register `half` (0 is the low half of register 0).
pub(crate) const fn set_half(gprs: &mut [u32; GPRS], half: usize, value: u16) {
    let gpr = &mut gprs[half >> 1 & 0x3F];
    *gpr = if half & 1 == 0 {
        *gpr & 0xFFFF_0000 | value as u32
    } else {
        *gpr & 0xFFFF | (value as u32) << 16
    };
}

/// Half-register `half` (0 is the low half of register 0).
pub(crate) const fn half(gprs: &[u32; GPRS], half: usize) -> u16 {
    (gprs[half >> 1 & 0x3F] >> (16 * (half & 1))) as u16
}

/// Width of sizes 1 to 3 of the indirect memory instructions.
pub(crate) const fn width(size: u32) -> Width {
    match size {
        1 => Width::Word,
        2 => Width::Half,
        _ => Width::Byte,
    }
}

/// The sum in the bits of `mask`, the old value in the others.
pub(crate) const fn masked_add(old: u32, increment: u32, mask: u32) -> u32 {
    old.wrapping_add(increment) & mask | old & !mask
}

/// Whether a FIFO of 2 to the power of (`width` - 1) entries has room to push to, or an entry to
/// pop `[isa-wh: TensixCoprocessor/ATINCGETPTR.md]`.
pub(crate) const fn fifo_is_ready(read: u32, write: u32, push: bool, width: u32) -> bool {
    let size = write.wrapping_sub(read);
    if !push {
        return size != 0;
    }
    let capacity = if width == 0 { 0x8000 } else { 1 << ((width & 0x1F) - 1) };
    size == 0 || size & (capacity - 1) != 0
}

/// Four cells for a source bank from two registers. A low half is a BF16 as Dst holds it
/// (sign, mantissa, exponent), a high half an ordinary one
/// `[isa-wh: TensixCoprocessor/STOREIND_Src.md]`.
pub(crate) fn bf16_cells(registers: [u32; 2]) -> [u32; 4] {
    let low = |x: u32| (x & 0x8000) << 3 | (x & 0xFF) << 10 | (x & 0x7F00) >> 8 << 3;
    let high = |x: u32| x >> 16 << 3;
    [low(registers[0]), high(registers[0]), low(registers[1]), high(registers[1])]
}

/// Copies a tile header but for its reserved fields: TileSize (word 0, 15:0), DataFormat,
/// DisableZeroCompression and SpareBits (word 1, 23:16) and AllZeroFlags (word 2).
pub(crate) fn merge_tile_header(gprs: &mut [u32], values: [u32; 4]) {
    let masks = [0xFFFF, 0x00FF_0000, u32::MAX];
    for ((gpr, mask), value) in gprs.iter_mut().zip(masks).zip(values) {
        *gpr = *gpr & !mask | value & mask;
    }
}

/// The part of a register that REG2FLOP moves to an address counter
/// `[isa-wh: TensixCoprocessor/REG2FLOP_ADC.md]`.
pub(crate) const fn counter_part(register: u32, size: u32, shift: u32) -> u32 {
    match (size, shift) {
        (1, 0) => register,
        (2, 0) => register & 0xFFFF,
        (2, 2) => register >> 16,
        (3, shift) => register >> (8 * (shift & 3)) & 0xFF,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_follow_the_functional_models() {
        type Function = fn(u32, u32, u32) -> Option<u32>;
        // Worked by hand from the *DMAREG pages of the Wormhole tree.
        assert_eq!(multiply(0xABCD_FFFF, 0x1_FFFF), 0xFFFE_0001);
        let table: [(Function, u32, u32, u32, Option<u32>); 10] = [
            (bitwise, 0, 0b1100, 0b1010, Some(0b1000)),
            (bitwise, 1, 0b1100, 0b1010, Some(0b1110)),
            (bitwise, 2, 0b1100, 0b1010, Some(0b0110)),
            (bitwise, 3, 0, 0, None),
            (shift, 0, 1, 33, Some(2)),
            (shift, 1, 0x8000_0000, 31, Some(1)),
            (shift, 2, 0, 0, None),
            (compare, 0, 0x8000_0000, 1, Some(1)),
            (compare, 1, 0x8000_0000, 1, Some(0)),
            (compare, 2, 7, 7, Some(1)),
        ];
        for (row, (function, mode, left, right, expected)) in table.into_iter().enumerate() {
            assert_eq!(function(mode, left, right), expected, "row {row}");
        }
    }

    #[test]
    fn set_half_leaves_the_other_half() {
        let mut gprs = [0xAAAA_BBBB; GPRS];
        set_half(&mut gprs, 3, 0x1234);
        set_half(&mut gprs, 4, 0x5678);
        assert_eq!(gprs[..3], [0xAAAA_BBBB, 0x1234_BBBB, 0xAAAA_5678]);
    }

    #[test]
    fn fifo_is_ready_unless_full_or_empty() {
        // Capacity 4: three-bit counters. Worked by hand from [isa-wh: ATINCGETPTR.md].
        for (read, write, push, ready) in [
            (0, 0, true, true),
            (0, 0, false, false),
            (2, 6, true, false),
            (2, 6, false, true),
            (6, 1, true, true),
            (6, 2, true, false),
        ] {
            assert_eq!(fifo_is_ready(read, write, push, 3), ready, "{read} {write} {push}");
        }
        assert!(!fifo_is_ready(0, 0x8000, true, 0));
    }

    #[test]
    fn bf16_cells_take_both_layouts() {
        // -1.5 is sign 1, exponent 0x7F, mantissa 0x40: ordinary 0xBFC0, in Dst 0xC07F.
        let expected = 1 << 18 | 0x7F << 10 | 0x40 << 3;
        assert_eq!(bf16_cells([0xBFC0_C07F, 0xBFC0_C07F]), [expected; 4]);
    }

    #[test]
    fn counter_part_selects_bytes_and_halves() {
        let register = 0x8765_4321;
        for (size, shift, expected) in [
            (0, 0, 0),
            (1, 0, register),
            (1, 1, 0),
            (2, 0, 0x4321),
            (2, 1, 0),
            (2, 2, 0x8765),
            (3, 0, 0x21),
            (3, 3, 0x87),
        ] {
            assert_eq!(counter_part(register, size, shift), expected, "{size} {shift}");
        }
    }

    #[test]
    fn masked_add_keeps_the_bits_above() {
        assert_eq!(masked_add(0xFF07, 1, 7), 0xFF00);
        assert_eq!(masked_add(u32::MAX, 2, u32::MAX), 1);
    }
}
