//! Binary floating-point formats as field widths, their special patterns, and NaN boxing.
//!
//! Not here: arithmetic. Source: IEEE 754 interchange formats; BF16 is the upper half of
//! binary32.

/// A binary format, sign bit first:
///
/// ```text
/// | sign (1) | exponent (exponent_bits) | mantissa (mantissa_bits) |
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Format {
    /// Width of the biased exponent field.
    pub(super) exponent_bits: u32,
    /// Width of the mantissa field, without the hidden bit.
    pub(super) mantissa_bits: u32,
}

/// binary32, what the `.s` instructions operate on.
pub(super) const SINGLE: Format = Format { exponent_bits: 8, mantissa_bits: 23 };
/// binary16, what the `.h` instructions operate on unless `cfg0.EnBFloat` is set.
pub(super) const HALF: Format = Format { exponent_bits: 5, mantissa_bits: 10 };
/// BF16, what the `.h` instructions operate on while `cfg0.EnBFloat` is set
/// `[isa-bh: TensixTile/BabyRISCV/CSRs.md]`.
pub(super) const BFLOAT: Format = Format { exponent_bits: 8, mantissa_bits: 7 };

/// What happens to the bits below the last place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    /// To the nearest value, ties to the one with an even last place.
    NearestEven,
    /// Towards zero: the bits are dropped.
    TowardZero,
}

impl Format {
    /// Mask of all bits of a value.
    const fn mask(self) -> u32 {
        u32::MAX >> (31 - self.exponent_bits - self.mantissa_bits)
    }

    /// The sign bit.
    pub(super) const fn sign_bit(self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The exponent field of infinities and NaNs.
    pub(super) const fn exponent_max(self) -> i32 {
        (1 << self.exponent_bits) - 1
    }

    /// What is added to an exponent before it is stored.
    pub(super) const fn bias(self) -> i32 {
        self.exponent_max() >> 1
    }

    /// Mask of the mantissa field.
    pub(super) const fn mantissa_mask(self) -> u32 {
        (1 << self.mantissa_bits) - 1
    }

    /// +infinity.
    pub(super) const fn infinity(self) -> u32 {
        (self.exponent_max() as u32) << self.mantissa_bits
    }

    /// The positive quiet NaN without payload, the only NaN that arithmetic returns
    /// `[spec: numerics 6]` `[riscv: F, NaN generation]`.
    pub(super) const fn canonical_nan(self) -> u32 {
        self.infinity() | 1 << (self.mantissa_bits - 1)
    }

    /// 1.0.
    pub(super) const fn one(self) -> u32 {
        (self.bias() as u32) << self.mantissa_bits
    }

    /// The sign bit of `bits`, in place.
    pub(super) const fn sign_of(self, bits: u32) -> u32 {
        bits & self.sign_bit()
    }

    /// `bits` without its sign.
    pub(super) const fn magnitude(self, bits: u32) -> u32 {
        bits & (self.sign_bit() - 1)
    }

    /// The biased exponent field of `bits`.
    pub(super) const fn exponent_of(self, bits: u32) -> i32 {
        (self.magnitude(bits) >> self.mantissa_bits) as i32
    }

    /// The mantissa field of `bits`.
    pub(super) const fn mantissa_of(self, bits: u32) -> u32 {
        bits & self.mantissa_mask()
    }

    /// Whether `bits` is a NaN of either kind.
    pub(super) const fn is_nan(self, bits: u32) -> bool {
        self.magnitude(bits) > self.infinity()
    }

    /// Whether `bits` is a signalling NaN: top mantissa bit clear.
    pub(super) const fn is_signaling(self, bits: u32) -> bool {
        self.is_nan(bits) && bits >> (self.mantissa_bits - 1) & 1 == 0
    }

    /// Whether `bits` is an infinity.
    pub(super) const fn is_infinite(self, bits: u32) -> bool {
        self.magnitude(bits) == self.infinity()
    }

    /// Magnitude returned for a result too large for the format: infinity, or the largest finite
    /// value when rounding towards zero.
    pub(super) const fn overflow_magnitude(self, rounding: Rounding) -> u32 {
        match rounding {
            Rounding::NearestEven => self.infinity(),
            Rounding::TowardZero => self.infinity() - 1,
        }
    }

    /// Takes a value out of a 32-bit register. A narrow value that is not boxed in ones reads as
    /// the canonical NaN, as the standard asks; whether the hardware checks the box is not
    /// published `[riscv: F, NaN boxing]` `[unknown: U-067]`.
    pub(super) const fn unboxed(self, register: u32) -> u32 {
        if register | self.mask() == u32::MAX {
            register & self.mask()
        } else {
            self.canonical_nan()
        }
    }

    /// Puts a value into a 32-bit register, narrow ones boxed in ones.
    pub(super) const fn boxed(self, bits: u32) -> u32 {
        bits | !self.mask()
    }
}
