//! Moves between SrcA, SrcB and Dst: no arithmetic, but changes of format.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MOVA2D.md]`, `MOVB2D.md`, `MOVD2A.md`, `MOVD2B.md`;
//! `[spec: numerics 3.8]`.

use super::setup::{Setup, Style, TF32};
use crate::state::dst::{
    DST_COLUMNS, Dst, decode_bf16, decode_fp16, decode_fp32, encode_bf16, encode_fp16,
};
use crate::state::src::{cell_of_bf16, cell_of_fp16, cell_of_fp32};

/// Columns that `LaneConfig.BLOCK_DEST_MOV` keeps from being moved, bit *i* is column *i*.
pub(crate) type Blocked = u16;

/// Whether a source format moves with an eight-bit exponent.
fn is_wide_exponent(setup: &Setup) -> bool {
    !setup.forced && !Style::of(setup.format_a).is_narrow()
}

/// Puts a row of cells into row `row` of Dst. `low` asks for the low halves of words.
pub(crate) fn to_dst(
    dst: &mut Dst,
    setup: &Setup,
    row: u32,
    cells: &[u32; DST_COLUMNS],
    low: bool,
    blocked: Blocked,
) {
    let wide = is_wide_exponent(setup);
    let half = |cell: u32| {
        if wide {
            encode_bf16((cell >> 3) as u16)
        } else {
            encode_fp16((cell >> 3 & 0x8000) as u16 | (cell & 0x7FFF) as u16)
        }
    };
    if setup.format_a == TF32 {
        let mut values = dst.read32(setup.map, row);
        each(&mut values, cells, blocked, |_, cell| u32::from(half(cell)) << 16 | (cell & 7) << 13);
        dst.write32(setup.map, row, &values);
    } else if low {
        let mut values = dst.read32(setup.map, row);
        each(&mut values, cells, blocked, |old, cell| old & 0xFFFF_0000 | u32::from(half(cell)));
        dst.write32(setup.map, row, &values);
    } else {
        let mut values = dst.read16(setup.map, row).map(u32::from);
        each(&mut values, cells, blocked, |_, cell| u32::from(half(cell)));
        dst.write16(setup.map, row, &values.map(|value| value as u16));
    }
}

fn each(
    values: &mut [u32; DST_COLUMNS],
    cells: &[u32; DST_COLUMNS],
    blocked: Blocked,
    convert: impl Fn(u32, u32) -> u32,
) {
    for (column, (value, &cell)) in values.iter_mut().zip(cells).enumerate() {
        if blocked >> column & 1 == 0 {
            *value = convert(*value, cell);
        }
    }
}

/// A cell as a move leaves it: exponent zero is zero if `flush`, and bits that SrcB's format
/// `style` does not have are dropped.
pub(crate) const fn cleaned(cell: u32, flush: bool, style: Style) -> u32 {
    if flush && cell >> 10 & 0xFF == 0 { 0 } else { cell & style.mask() }
}

/// Takes row `row` of Dst as cells. `words` reads Dst as words, `low` their low halves. Reading
/// half-words as TF32 or reading their low halves is for the caller to refuse.
pub(crate) fn from_dst(
    dst: &Dst,
    setup: &Setup,
    row: u32,
    words: bool,
    low: bool,
) -> [u32; DST_COLUMNS] {
    if !words {
        let narrow = setup.style_a.is_narrow();
        return dst.read16(setup.map, row).map(|cell| half_word(cell, narrow));
    }
    dst.read32(setup.map, row).map(|word| {
        let half = if low { word as u16 } else { (word >> 16) as u16 };
        match setup.style_a {
            Style::Bf16 => half_word(half, false),
            Style::Fp16 => half_word(half, true),
            Style::Tf32 if low => {
                // The 13 bits that a TF32 lacks, as the cell physically lies: exponent lowest.
                (word & 0xFF) << 10 | word >> 8 & 0x1F
            }
            Style::Tf32 => cell_of_fp32(decode_fp32(word)),
        }
    })
}

const fn half_word(cell: u16, narrow: bool) -> u32 {
    if narrow { cell_of_fp16(decode_fp16(cell)) } else { cell_of_bf16(decode_bf16(cell)) }
}
