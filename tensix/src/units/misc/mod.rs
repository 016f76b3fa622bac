//! The miscellaneous unit: address counters.
//!
//! `NOP` does nothing, `RESOURCEDECL` only tells Auto TTSync what instruction classes touch, and
//! `SETDVALID` is the unpackers' business.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MiscellaneousUnit.md]` and the instruction pages, whose
//! encodings the vendor's opcode table confirms.

use super::{Fault, Issued};
use crate::checks::Check;
use crate::state::adc::{Channel, Dimension, ThreadAdcs};

#[cfg(test)]
mod tests;

/// The dimensions a two-dimension instruction is about.
pub(crate) type Pair = [Dimension; 2];

pub(crate) const XY: Pair = [Dimension::X, Dimension::Y];
pub(crate) const ZW: Pair = [Dimension::Z, Dimension::W];

/// SETADC: one counter of the selected sets. Bits 17:16 of the value are a thread override.
pub(crate) fn setadc(adcs: &mut [ThreadAdcs; 3], issued: &Issued) -> Result<(), Fault> {
    let thread = counters_of(issued, 16)?;
    let dimension = Dimension::from_bits(issued.field(18, 2));
    let channel = issued.field(20, 1) as usize;
    let value = issued.field(0, 18);
    each(&mut adcs[thread], issued, |channels| channels[channel].set(dimension, value));
    Ok(())
}

/// SETADCXX: both X counters of the selected sets.
pub(crate) fn setadcxx(adcs: &mut [ThreadAdcs; 3], issued: &Issued) {
    let values = [issued.field(0, 10), issued.field(10, 10)];
    each(&mut adcs[issued.thread.index()], issued, |channels| {
        for (channel, value) in channels.iter_mut().zip(values) {
            channel.set(Dimension::X, value);
        }
    });
}

/// SETADCXY, SETADCZW: the counters that bits 3:0 name get three-bit values.
pub(crate) fn set_pair(
    adcs: &mut [ThreadAdcs; 3],
    issued: &Issued,
    pair: Pair,
) -> Result<(), Fault> {
    each_counter(adcs, issued, issued.field(0, 4), pair, Channel::set)
}

/// INCADCXY, INCADCZW: all four counters of the pair advance.
pub(crate) fn increment_pair(
    adcs: &mut [ThreadAdcs; 3],
    issued: &Issued,
    pair: Pair,
) -> Result<(), Fault> {
    each_counter(adcs, issued, 0xF, pair, Channel::add)
}

/// ADDRCRXY, ADDRCRZW: the copies that bits 3:0 name advance, and their counters follow.
pub(crate) fn carriage_return_pair(
    adcs: &mut [ThreadAdcs; 3],
    issued: &Issued,
    pair: Pair,
) -> Result<(), Fault> {
    each_counter(adcs, issued, issued.field(0, 4), pair, Channel::add_cr)
}

/// Applies `change` to the sets that bits 23:21 select.
#[inline]
fn each(adcs: &mut ThreadAdcs, issued: &Issued, mut change: impl FnMut(&mut [Channel; 2])) {
    for adc in adcs.selected(issued.field(21, 3)) {
        change(adc);
    }
}

/// Applies `change` to the counters that `mask` names, with the three-bit operands at bit 6.
/// Operands and mask bits go channel by channel: 0 and 1 for channel 0, 2 and 3 for channel 1.
#[inline]
fn each_counter(
    adcs: &mut [ThreadAdcs; 3],
    issued: &Issued,
    mask: u32,
    pair: Pair,
    change: impl Fn(&mut Channel, Dimension, u32),
) -> Result<(), Fault> {
    let thread = counters_of(issued, 18)?;
    let operands = issued.field(6, 12);
    each(&mut adcs[thread], issued, |channels| {
        for index in 0..4_u32 {
            if mask >> index & 1 != 0 {
                let channel = &mut channels[index as usize >> 1];
                change(channel, pair[index as usize & 1], operands >> (3 * index) & 7);
            }
        }
    });
    Ok(())
}

/// The thread whose counters are meant. The two bits at `lo` select another thread's when not zero,
/// which the pages call unsupported and know only weakly.
#[inline]
fn counters_of(issued: &Issued, lo: u32) -> Result<usize, Fault> {
    match issued.field(lo, 2) {
        0 => Ok(issued.thread.index()),
        selected => thread_override(issued, selected),
    }
}

#[cold]
fn thread_override(issued: &Issued, selected: u32) -> Result<usize, Fault> {
    issued.refuse(
        Check::AdcThreadOverride,
        format!("thread override {selected}: counters of another thread cannot be named reliably"),
    )?;
    Ok(selected as usize - 1)
}
