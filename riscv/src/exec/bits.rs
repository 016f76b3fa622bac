//! Zbb and the Zbkb subset `[riscv-bitmanip 1.0.0]`, `[riscv-crypto 1.0.1]`.

use crate::op::Kind;

/// Computes the instructions of these extensions; `amount` is the immediate of `rori`.
/// `None` for any other kind.
#[must_use]
pub fn execute(kind: Kind, a: u32, b: u32, amount: u32) -> Option<u32> {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    Some(match kind {
        Kind::Andn => a & !b,
        Kind::Orn => a | !b,
        Kind::Xnor => !(a ^ b),
        Kind::Clz => a.leading_zeros(),
        Kind::Ctz => a.trailing_zeros(),
        Kind::Cpop => a.count_ones(),
        Kind::Max => sa.max(sb).cast_unsigned(),
        Kind::Maxu => a.max(b),
        Kind::Min => sa.min(sb).cast_unsigned(),
        Kind::Minu => a.min(b),
        Kind::SextB => (sa << 24 >> 24).cast_unsigned(),
        Kind::SextH => (sa << 16 >> 16).cast_unsigned(),
        Kind::ZextH => a & 0xFFFF,
        Kind::Rol => a.rotate_left(b & 31),
        Kind::Ror => a.rotate_right(b & 31),
        Kind::Rori => a.rotate_right(amount & 31),
        Kind::OrcB => u32::from_le_bytes(a.to_le_bytes().map(|x| if x == 0 { 0 } else { 0xFF })),
        Kind::Rev8 => a.swap_bytes(),
        Kind::Pack => a & 0xFFFF | b << 16,
        Kind::Brev8 => u32::from_le_bytes(a.to_le_bytes().map(u8::reverse_bits)),
        Kind::Grevi => grev(a, amount),
        _ => return None,
    })
}

/// Generalised reverse: bit *i* of the amount swaps neighbouring groups of 2^*i* bits
/// `[riscv-bitmanip 0.94-draft]`.
fn grev(value: u32, amount: u32) -> u32 {
    const MASKS: [u32; 5] = [0x5555_5555, 0x3333_3333, 0x0F0F_0F0F, 0x00FF_00FF, 0x0000_FFFF];
    (0..5).filter(|bit| amount >> bit & 1 != 0).fold(value, |value, bit| {
        let (mask, shift) = (MASKS[bit as usize], 1 << bit);
        (value & mask) << shift | value >> shift & mask
    })
}
