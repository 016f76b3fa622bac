//! What happens to datums between the two conversions: ReLU, exponent statistics, exponent
//! threshold.
//!
//! Source: `[spec: numerics 4.2]`, `[isa-wh: TensixCoprocessor/Packers/ReLU.md]`,
//! `ExponentHistogram.md`, `ExponentThresholding.md`.

use isa::config::field;

use super::early::Row;
use super::formats::{self, Class};
use super::settings::Settings;

/// ReLU as configured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relu {
    /// No change.
    Off,
    /// Negative values become zero.
    Zero,
    /// Values up to this become zero.
    Above(u32),
    /// Negative values become zero, greater ones become this.
    Clamp(u32),
}

impl Relu {
    /// The configured operation; `None` if its threshold is negative, which is undefined.
    ///
    /// The threshold is a BF16 or FP16 pattern, whichever the intermediate format resembles; both
    /// sit in the top half of a datum.
    pub(crate) const fn choose(words: &[u32]) -> Option<Self> {
        let threshold = field::STACC_RELU_ReluThreshold.get(words) << 16;
        match field::STACC_RELU_ApplyRelu.get(words) & 3 {
            0 => Some(Self::Off),
            1 => Some(Self::Zero),
            _ if threshold >> 31 != 0 => None,
            2 => Some(Self::Above(threshold)),
            _ => Some(Self::Clamp(threshold)),
        }
    }

    /// Applies it to a row. Values are compared as the integers that their bits are.
    #[inline]
    pub(crate) fn apply(self, row: &mut Row) {
        match self {
            Self::Off => {}
            Self::Zero => {
                for datum in row {
                    *datum = if *datum >> 31 != 0 { 0 } else { *datum };
                }
            }
            Self::Above(threshold) => {
                for datum in row {
                    *datum = if *datum >> 31 != 0 || *datum <= threshold { 0 } else { *datum };
                }
            }
            Self::Clamp(threshold) => {
                for datum in row {
                    // The upper comparison has the precision of TF32 [spec: numerics 4.2].
                    *datum = if *datum >> 31 != 0 {
                        0
                    } else if *datum >> 13 > threshold >> 13 {
                        threshold
                    } else {
                        *datum
                    };
                }
            }
        }
    }
}

/// Exponents seen since the last `CLREXPHIST`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Histogram {
    /// Saturating count by the low five bits of the exponent.
    pub(crate) bins: [u8; 32],
    pub(crate) max: u8,
}

impl Histogram {
    /// Raises the greatest exponent to one of a row's.
    #[inline]
    pub(crate) fn raise(&mut self, exponents: [u8; 16]) {
        self.max = exponents.into_iter().fold(self.max, u8::max);
    }

    /// Counts datums; the bins only while `ENABLE_ACC_STATS` is set for some thread.
    #[inline]
    pub(crate) fn update(&mut self, datums: &[u32], exponent: ExponentOf, bins: bool) {
        for &datum in datums {
            let exponent = exponent.of(datum);
            self.max = self.max.max(exponent);
            if bins {
                let bin = &mut self.bins[usize::from(exponent & 31)];
                *bin = bin.saturating_add(1);
            }
        }
    }
}

/// Where a datum's exponent is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExponentOf {
    Eight,
    Five,
    /// INT16: the low eight bits.
    Low8,
}

impl ExponentOf {
    /// By class and width of integers. INT32 is read as FP32. INT8 is not specified; read as FP16,
    /// whose layout Dst uses for it [unknown: U-048].
    pub(crate) const fn choose(class: Class, format: u8) -> Self {
        match class {
            Class::Exponent8 => Self::Eight,
            Class::Exponent5 => Self::Five,
            Class::Integer => match format {
                formats::INT32 => Self::Eight,
                formats::INT16 => Self::Low8,
                _ => Self::Five,
            },
        }
    }

    #[inline]
    pub(crate) const fn of(self, datum: u32) -> u8 {
        match self {
            Self::Eight => (datum >> 23) as u8,
            Self::Five => (datum >> 26 & 0x1F) as u8,
            Self::Low8 => (datum >> 16) as u8,
        }
    }
}

/// Exponent threshold: datums with a smaller exponent become zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Threshold {
    pub(crate) exponent: ExponentOf,
    pub(crate) least: u32,
}

impl Threshold {
    /// `Ok(None)` if off or without effect on the format, `Err` for the format that hardware gets
    /// wrong.
    pub(crate) const fn choose(settings: &Settings<'_>) -> Result<Option<Self>, ()> {
        let Some(least) = settings.exponent_threshold() else { return Ok(None) };
        let exponent = match settings.in_format() {
            formats::FP32 | formats::TF32 | formats::BF16 | formats::BFP8 | formats::BFP4 => {
                ExponentOf::Eight
            }
            formats::FP16 | formats::FP8 | formats::BFP8A | formats::BFP4A => ExponentOf::Five,
            formats::BFP2A => return Err(()),
            _ => return Ok(None),
        };
        Ok(Some(Self { exponent, least }))
    }

    pub(crate) fn apply(self, row: &mut Row) {
        for datum in row {
            if u32::from(self.exponent.of(*datum)) < self.least {
                *datum = 0;
            }
        }
    }
}
