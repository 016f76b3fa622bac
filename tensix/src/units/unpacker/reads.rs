//! Which bytes of L1 an `UNPACR` has read, for observers of reads of what was never written.
//!
//! Follows [`super::run`]: groups of 16 datums, and a shared exponent for each. Compressed and
//! upsampled data is not told: how far it reaches is known only while it is read.

use sim_core::observer::Stamp;

use super::addr::Input;
use super::run::L1_BITS;
use super::settings::Settings;
use super::sink::COLUMNS;
use crate::env::Env;

/// Datums that are read at once.
const GROUP: u32 = COLUMNS as u32;

/// Tells the bytes that the datums of `input` and their exponents lie in.
#[cold]
pub(super) fn tell<E: Env>(settings: &Settings, input: &Input, at: Stamp, env: &mut E) {
    if !settings.uncompressed || settings.upsample_zeroes != 0 {
        return;
    }
    let group_bits = u64::from(settings.datum_bits) * u64::from(GROUP);
    let (mut datums, mut exponents) = (input.datums, input.exponents);
    for group in 0..input.count.div_ceil(GROUP) {
        let left = input.count - group * GROUP;
        let bits = u64::from(left.min(GROUP)) * u64::from(settings.datum_bits);
        read(env, datums, bits, at);
        if let Some(exponent) = &mut exponents {
            read(env, *exponent / 16 * 8, 8, at);
            *exponent = settings.wrap_exponent(*exponent + u64::from(GROUP));
        }
        datums = match settings.row_stride {
            Some(stride) if (group + 1).is_multiple_of(settings.groups_per_row()) => {
                let row_bits = group_bits * u64::from(settings.groups_per_row() - 1);
                datums.wrapping_sub(row_bits).wrapping_add(u64::from(stride) * 8)
            }
            _ => datums.wrapping_add(group_bits),
        };
        datums = settings.fifo.wrap(datums, 8);
    }
}

/// Tells a range in bits, if it lies in L1.
fn read<E: Env>(env: &mut E, from: u64, bits: u64, at: Stamp) {
    let Some(end) = from.checked_add(bits).filter(|end| *end <= L1_BITS) else { return };
    let (first, last) = (from / 8, end.div_ceil(8));
    env.l1_read(first as u32, (last - first) as u32, at);
}
