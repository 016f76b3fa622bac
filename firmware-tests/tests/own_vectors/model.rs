//! A slow model of the arithmetic, written from `[spec: numerics 2, 3, 4, 5]` alone and sharing no
//! code with the simulator: everything is (sign, exponent, mantissa) in wide integers, or a host
//! float where that is exact.

/// Sign, exponent field, mantissa with its hidden bit (0 if the exponent is 0).
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    sign: bool,
    exponent: i64,
    significand: i64,
}

/// A BF16, its significand in eleven bits as in SrcA and SrcB; exponent 0 is zero.
fn parts(bits: u16) -> Parts {
    let exponent = i64::from(bits >> 7 & 0xFF);
    let significand = if exponent == 0 { 0 } else { (i64::from(bits & 0x7F) | 0x80) << 3 };
    Parts { sign: bits >> 15 != 0, exponent, significand }
}

/// One of the terms that the final accumulation adds: mantissa with 1.0 = 2^23.
#[derive(Clone, Copy)]
struct Term {
    sign: bool,
    exponent: i64,
    mantissa: i64,
    /// Ties of negative sums go towards zero; those of Dst away from it.
    is_sum: bool,
}

const NOTHING: Term = Term { sign: false, exponent: 0, mantissa: 0, is_sum: true };

/// 3.2: the final accumulation into a 16-bit Dst of BF16.
fn accumulate(sums: [Term; 2], dst: u16) -> u16 {
    let old = parts(dst);
    let old = Term {
        sign: old.sign,
        exponent: old.exponent,
        mantissa: old.significand << 13,
        is_sum: false,
    };
    let terms = [sums[0], sums[1], old];
    let top = terms.iter().map(|term| term.exponent).max().unwrap_or(0);
    if top <= 0 {
        return 0;
    }
    let mut total = 0_i64;
    for term in terms {
        let tie = i64::from(term.is_sum && term.sign);
        let distance = top - term.exponent;
        let mut mantissa = term.mantissa;
        if distance >= 31 {
            mantissa = 0;
        } else if distance > 0 {
            mantissa = (mantissa + (1 << (distance - 1)) - tie) >> distance;
        }
        mantissa = (mantissa + (1 << 12) - tie) & !0x1FFF;
        total += if term.sign { -mantissa } else { mantissa };
    }
    if total == 0 {
        return 0;
    }
    // Eight significant bits, half away, in one shift with the normalisation.
    let magnitude = total.unsigned_abs();
    let length = i64::from(64 - magnitude.leading_zeros());
    let mut exponent = top + length - 24;
    let shift = length - 8;
    let mut kept = match shift {
        1.. => (magnitude + (1 << (shift - 1))) >> shift,
        _ => magnitude << -shift,
    };
    if kept == 256 {
        kept = 128;
        exponent += 1;
    }
    let sign = if total < 0 { 0x8000 } else { 0 };
    match exponent {
        i64::MIN..=0 => 0,
        255.. => sign | 0x7F80,
        _ => sign | (exponent as u16) << 7 | (kept as u16 & 0x7F),
    }
}

/// 3.5: ELWADD and ELWSUB onto nothing.
pub(crate) fn add(a: u16, b: u16, subtract: bool) -> u16 {
    let b = if subtract { b ^ 0x8000 } else { b };
    let magnitude = |parts: Parts| (parts.exponent, parts.significand);
    let (mut big, mut small) = (parts(a), parts(b));
    if magnitude(small) > magnitude(big) {
        (big, small) = (small, big);
    }
    let distance = big.exponent - small.exponent;
    let aligned = match distance {
        0 => small.significand,
        1..12 => (small.significand + (1 << (distance - 1))) >> distance,
        _ => 0,
    };
    let signed = |sign: bool, value: i64| if sign { -value } else { value };
    let sum = signed(big.sign, big.significand) + signed(small.sign, aligned);
    let term =
        Term { sign: sum < 0, exponent: big.exponent, mantissa: sum.abs() << 13, is_sum: true };
    accumulate([term, NOTHING], 0)
}

/// 3.1: what of two operands a fidelity phase multiplies: exponent, 12-bit mantissa with 1.0 = 2^10.
fn product(a: u16, b: u16, phase: u32) -> Option<Term> {
    let (a, b) = (parts(a), parts(b));
    if a.significand == 0 || b.significand == 0 {
        return None;
    }
    let (low_a, low_b) = (phase & 1 != 0, phase & 2 != 0);
    let left = if low_a { a.significand >> 1 & 31 } else { a.significand >> 6 };
    let right = if low_b { (b.significand & 15) << 3 } else { b.significand >> 4 };
    let exponent = a.exponent + b.exponent + adjustment(phase);
    Some(Term { sign: a.sign != b.sign, exponent, mantissa: left * right, is_sum: true })
}

const fn adjustment(phase: u32) -> i64 {
    -127 - if phase & 1 != 0 { 5 } else { 0 } - if phase & 2 != 0 { 7 } else { 0 }
}

/// 3.4: ELWMUL in one phase onto Dst.
pub(crate) fn multiply(a: u16, b: u16, phase: u32, dst: u16) -> u16 {
    let term = product(a, b, phase).filter(|term| term.exponent > 0);
    let term = term.map_or(Term { exponent: adjustment(phase).max(0), ..NOTHING }, |term| Term {
        mantissa: term.mantissa << 13,
        ..term
    });
    accumulate([term, NOTHING], dst)
}

/// 3.3: eight products of one group.
fn group(pairs: &[(u16, u16)], phase: u32) -> Term {
    let zero = Term { exponent: adjustment(phase).max(0), ..NOTHING };
    let products: Vec<Term> =
        pairs.iter().map(|&(a, b)| product(a, b, phase).unwrap_or(zero)).collect();
    let top = products.iter().map(|term| term.exponent).max().unwrap_or(0);
    if top <= 0 {
        return NOTHING;
    }
    let mut total = 0;
    for term in products {
        let distance = (top - term.exponent).min(30);
        let aligned = (2 * term.mantissa + (1 << distance)) >> (distance + 1);
        total += if term.sign { -aligned } else { aligned };
    }
    Term { sign: total < 0, exponent: top, mantissa: total.abs() << 13, is_sum: true }
}

/// 3.3: one element of MVMUL or GAPOOL in one phase onto Dst: sixteen pairs of SrcA and SrcB.
pub(crate) fn dot(pairs: &[(u16, u16)], phase: u32, dst: u16) -> u16 {
    accumulate([group(&pairs[..8], phase), group(&pairs[8..], phase)], dst)
}

/// 4.1: BF16 out of a 16-bit Dst: infinity for NaN, +0 for denormals.
pub(crate) const fn packed(bits: u16) -> u16 {
    if bits & 0x7F80 == 0 {
        0
    } else if bits & 0x7FFF > 0x7F80 {
        bits & 0x8000 | 0x7F80
    } else {
        bits
    }
}

/// 3.8: a BF16 through MOVA2D.
pub(crate) const fn moved(bits: u16) -> u16 {
    if bits & 0x7F80 == 0 { 0 } else { bits }
}

/// 4.2: ReLU in mode 0 to 3 with a positive threshold.
pub(crate) const fn relu(bits: u16, mode: u32, threshold: u16) -> u16 {
    if mode == 0 {
        return bits;
    }
    if bits & 0x8000 != 0 || mode == 2 && bits <= threshold {
        return 0;
    }
    if mode == 3 && bits > threshold { threshold } else { bits }
}

pub(crate) fn number(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

/// 5.1 and SFPSTORE: a result that a host float holds exactly, as FP32 rounded to nearest even,
/// then truncated to BF16, denormals to zeros of their sign.
pub(crate) fn stored(exact: f64) -> u16 {
    let single = exact as f32;
    let bits = single.to_bits();
    let flushed = if bits & 0x7F80_0000 == 0 { bits & 0x8000_0000 } else { bits };
    (flushed >> 16) as u16
}

/// 2: a BFP8 datum with its shared exponent.
pub(crate) fn of_bfp8(byte: u8, shared: u8) -> u16 {
    let (sign, magnitude) = (u16::from(byte >> 7) << 15, byte & 0x7F);
    if magnitude == 0 {
        return if sign == 0 { 0 } else { 0xFF80 };
    }
    let aligned = magnitude << 1;
    let zeros = aligned.leading_zeros() as u8;
    let exponent = shared.wrapping_sub(zeros);
    sign | u16::from(exponent) << 7 | u16::from(aligned << zeros & 0x7E)
}

/// 4.4: sixteen BF16 of Dst as BFP8: the shared exponent and the bytes. 4.1 rounds them to six bits
/// of mantissa before.
pub(crate) fn to_bfp8(block: &[u16]) -> (u8, Vec<u8>) {
    let rounded: Vec<u16> = block
        .iter()
        .map(|&bits| match packed(bits) {
            0 => 0,
            bits => (bits + 1) & 0xFFFE,
        })
        .collect();
    let exponent = |bits: u16| bits >> 7 & 0xFF;
    let shared = rounded.iter().map(|&bits| exponent(bits)).max().unwrap_or(0);
    let bytes = rounded.iter().map(|&bits| {
        let hidden = if exponent(bits) == 0 { 0 } else { 128 };
        let distance = u32::from(shared - exponent(bits));
        let significand = u64::from(bits & 0x7F | hidden);
        let magnitude = match distance {
            8.. => 0,
            _ => ((significand + (1 << distance)) >> (distance + 1)).min(127),
        };
        let sign = if magnitude == 0 { 0 } else { bits >> 8 & 0x80 };
        sign as u8 | magnitude as u8
    });
    (shared as u8, bytes.collect())
}

/// 2: FP32 to BF16 in the unpacker.
pub(crate) const fn unpacked_bf16(bits: u32) -> u16 {
    if bits & 0x7F80_0000 == 0 { (bits >> 16) as u16 & 0x8000 } else { (bits >> 16) as u16 }
}

/// 4.3: FP16 of Dst to FP32.
pub(crate) fn widened(bits: u16) -> u32 {
    let (sign, exponent) = (u32::from(bits & 0x8000) << 16, u32::from(bits >> 10 & 31));
    if exponent == 0 { 0 } else { sign | (exponent + 112) << 23 | u32::from(bits & 0x3FF) << 13 }
}

/// 4.5: BF16 L1 accumulation of ordinary numbers, exact in a host float.
pub(crate) fn accumulated(old: u16, new: u16) -> u16 {
    let flush = |bits: u16| if bits & 0x7F80 == 0 { bits & 0x8000 } else { bits };
    let sum = number(flush(old)) + number(flush(new));
    if sum == 0.0 {
        return if sum.is_sign_negative() { 0x8000 } else { 0 };
    }
    let quantum = (sum.abs().log2().floor() - 7.0).exp2();
    let units = (sum.abs() / quantum).round_ties_even();
    let bits = ((units * quantum) as f32).to_bits() >> 16;
    bits as u16 | if sum < 0.0 { 0x8000 } else { 0 }
}
