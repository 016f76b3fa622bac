//! RV32M. Division by zero and overflow give the values of the RISC-V manual, chapter 13.

/// High half of signed × signed.
#[inline]
#[must_use]
pub fn mulh(a: u32, b: u32) -> u32 {
    ((i64::from(a.cast_signed()) * i64::from(b.cast_signed())) >> 32) as u32
}

/// High half of signed × unsigned.
#[inline]
#[must_use]
pub fn mulhsu(a: u32, b: u32) -> u32 {
    ((i64::from(a.cast_signed()) * i64::from(b)) >> 32) as u32
}

/// High half of unsigned × unsigned.
#[inline]
#[must_use]
pub fn mulhu(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// Signed quotient; -1 for division by zero, `i32::MIN` for overflow.
#[inline]
#[must_use]
pub fn div(a: u32, b: u32) -> u32 {
    if b == 0 { u32::MAX } else { a.cast_signed().wrapping_div(b.cast_signed()).cast_unsigned() }
}

/// Unsigned quotient; all ones for division by zero.
#[inline]
#[must_use]
pub fn divu(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(u32::MAX)
}

/// Signed remainder; the dividend for division by zero, 0 for overflow.
#[inline]
#[must_use]
pub fn rem(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { a.cast_signed().wrapping_rem(b.cast_signed()).cast_unsigned() }
}

/// Unsigned remainder; the dividend for division by zero.
#[inline]
#[must_use]
pub fn remu(a: u32, b: u32) -> u32 {
    a.checked_rem(b).unwrap_or(a)
}
