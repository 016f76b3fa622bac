//! Slow, independent models: values as host f64, rounding by search in the table of all values of
//! a 16-bit format.

/// Field widths of a format.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) exponent_bits: u32,
    pub(super) mantissa_bits: u32,
}

pub(super) const FP16_LAYOUT: Layout = Layout { exponent_bits: 5, mantissa_bits: 10 };
pub(super) const BF16_LAYOUT: Layout = Layout { exponent_bits: 8, mantissa_bits: 7 };

impl Layout {
    pub(super) fn infinity(self) -> u16 {
        (((1_u32 << self.exponent_bits) - 1) << self.mantissa_bits) as u16
    }

    pub(super) fn smallest_normal(self) -> u16 {
        1 << self.mantissa_bits
    }

    pub(super) fn is_nan(self, bits: u16) -> bool {
        bits & 0x7FFF > self.infinity()
    }

    pub(super) fn is_signaling(self, bits: u16) -> bool {
        self.is_nan(bits) && bits & self.smallest_normal() >> 1 == 0
    }

    pub(super) fn nan(self) -> u16 {
        self.infinity() | self.smallest_normal() >> 1
    }

    /// The exact value; NaN for any NaN.
    pub(super) fn value(self, bits: u16) -> f64 {
        let magnitude = bits & 0x7FFF;
        let absolute = if self.is_nan(bits) {
            f64::NAN
        } else if magnitude == self.infinity() {
            f64::INFINITY
        } else {
            self.finite(magnitude)
        };
        if bits >> 15 == 1 { -absolute } else { absolute }
    }

    /// As [`Layout::value`], but the pattern of infinity is the next power of two.
    fn finite(self, magnitude: u16) -> f64 {
        let field = i32::from(magnitude >> self.mantissa_bits);
        let mantissa = f64::from(magnitude & (self.smallest_normal() - 1));
        let bias = (1 << (self.exponent_bits - 1)) - 1;
        let hidden = if field == 0 { 0.0 } else { f64::from(self.smallest_normal()) };
        let scale = field.max(1) - bias - self.mantissa_bits as i32;
        (hidden + mantissa) * 2.0_f64.powi(scale)
    }

    /// Rounds the sum of `value` and a `residue` too small to change `value`, with denormals.
    pub(super) fn round(self, value: f64, residue: f64, nearest: bool) -> u16 {
        if value.is_nan() {
            return self.nan();
        }
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let residue = if sign == 0 { residue } else { -residue };
        let value = value.abs();
        if value.is_infinite() {
            return sign | self.infinity();
        }
        // The pattern of the largest value that is not above the exact one.
        let (mut below, mut above) = (0_u16, self.infinity());
        if (value, residue) >= (self.finite(above), 0.0) {
            below = above;
        }
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if (value, residue) >= (self.finite(middle), 0.0) {
                below = middle;
            } else {
                above = middle;
            }
        }
        if !nearest {
            return sign | below.min(self.infinity() - 1);
        }
        if below == self.infinity() {
            return sign | below;
        }
        let half = (self.finite(below) + self.finite(below + 1)) / 2.0;
        let up =
            (value, residue) > (half, 0.0) || ((value, residue) == (half, 0.0) && below & 1 == 1);
        sign | (below + u16::from(up))
    }

    /// Replaces a denormal by the zero of its sign.
    pub(super) fn flush(self, bits: u16) -> u16 {
        if bits & 0x7FFF < self.smallest_normal() { bits & 0x8000 } else { bits }
    }
}

/// `a + b` as a rounded sum and the exact remainder (Knuth's two-sum).
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    if !sum.is_finite() {
        return (sum, 0.0);
    }
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}
