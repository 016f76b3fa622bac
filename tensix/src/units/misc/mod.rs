//! The miscellaneous unit: address counters.
//!
//! `NOP` does nothing, `RESOURCEDECL` only tells Auto TTSync what instruction classes touch, and
//! `SETDVALID` is the unpackers' business.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MiscellaneousUnit.md]` and the instruction pages, whose
//! encodings the vendor's opcode table confirms.

use isa::execute::MiscOps;
use isa::operands;

use super::packer::Packer;
use super::unpacker::{Banks, Unpackers};
use super::{Issued, Outcome};
use crate::checks;
use crate::state::adc::{Channel, Dimension, ThreadAdcs};
use crate::warnings::Warnings;

#[cfg(test)]
mod tests;

/// The dimensions a two-dimension instruction is about.
type Pair = [Dimension; 2];

const XY: Pair = [Dimension::X, Dimension::Y];
const ZW: Pair = [Dimension::Z, Dimension::W];

/// SETADC: one counter of the selected sets. Bits 17:16 of the value are a thread override, and no part of the count:
/// the vendor's kernels set X ends of other threads so `[llk: common/inc/ckernel_common_ops.h]`.
fn setadc(adcs: &mut [ThreadAdcs; 3], operands: operands::Setadc, issued: &Issued) {
    let thread = counters_of(operands.thread_override, issued);
    let dimension = Dimension::from_bits(operands.dimension_index);
    let channel = usize::from(operands.channel_index);
    for channels in adcs[thread].selected(operands.cnt_set_mask) {
        channels[channel].set(dimension, operands.count);
    }
}

/// Sets, thread override and three-bit values of an instruction about two dimensions. Values go
/// channel by channel: 0 and 1 for channel 0, 2 and 3 for channel 1.
struct Counters {
    sets: u32,
    thread_override: u32,
    values: [u32; 4],
}

impl Counters {
    fn of_pair(operands: operands::CounterPair) -> Self {
        let operands::CounterPair { ch0_x, ch0_y, ch1_x, ch1_y, .. } = operands;
        let (sets, thread_override) = (operands.cnt_set_mask, operands.thread_override);
        Self { sets, thread_override, values: [ch0_x, ch0_y, ch1_x, ch1_y] }
    }

    fn of_steps(operands: operands::CounterSteps) -> Self {
        let operands::CounterSteps { ch0_x, ch0_y, ch1_x, ch1_y, .. } = operands;
        let (sets, thread_override) = (operands.cnt_set_mask, operands.thread_override);
        Self { sets, thread_override, values: [ch0_x, ch0_y, ch1_x, ch1_y] }
    }

    /// Applies `change` to the counters that `mask` names, in the order of the values.
    #[inline]
    fn each(
        self,
        mask: u32,
        pair: Pair,
        (adcs, issued): (&mut [ThreadAdcs; 3], &Issued),
        change: impl Fn(&mut Channel, Dimension, u32),
    ) {
        let thread = counters_of(self.thread_override, issued);
        for channels in adcs[thread].selected(self.sets) {
            for (index, &value) in self.values.iter().enumerate() {
                if mask >> index & 1 != 0 {
                    change(&mut channels[index >> 1], pair[index & 1], value);
                }
            }
        }
    }
}

/// The thread whose counters are meant: its own, or that below the value of an override that is not zero.
#[inline]
fn counters_of(thread_override: u32, issued: &Issued) -> usize {
    match thread_override {
        0 => issued.thread.index(),
        selected => selected as usize - 1,
    }
}

/// All four counters of a pair of dimensions.
const ALL: u32 = 0xF;

/// What the instructions of this unit reach.
pub(crate) struct Reach<'a> {
    pub(crate) adcs: &'a mut [ThreadAdcs; 3],
    pub(crate) unpackers: &'a mut Unpackers,
    pub(crate) banks: Banks<'a>,
    pub(crate) packer: &'a mut Packer,
    pub(crate) warnings: &'a mut Warnings,
}

impl<'a> MiscOps<&'a Issued> for Reach<'_> {
    type Outcome = Outcome;

    #[inline(always)]
    fn nop(&mut self, _: &'a Issued) -> Outcome {
        Ok(())
    }

    #[inline(always)]
    fn setadc(&mut self, operands: operands::Setadc, issued: &'a Issued) -> Outcome {
        setadc(self.adcs, operands, issued);
        Ok(())
    }

    /// Both X counters of the selected sets.
    #[inline(always)]
    fn setadcxx(&mut self, operands: operands::Setadcxx, issued: &'a Issued) -> Outcome {
        let values = [operands.x_start, operands.x_end2];
        for channels in self.adcs[issued.thread.index()].selected(operands.cnt_set_mask) {
            for (channel, value) in channels.iter_mut().zip(values) {
                channel.set(Dimension::X, value);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn setadcxy(&mut self, operands: operands::Setadcxy, issued: &'a Issued) -> Outcome {
        let (mask, at) = (operands.bit_mask, (&mut *self.adcs, issued));
        Counters::of_pair(operands).each(mask, XY, at, Channel::set);
        Ok(())
    }

    #[inline(always)]
    fn setadczw(&mut self, operands: operands::Setadczw, issued: &'a Issued) -> Outcome {
        let (mask, at) = (operands.bit_mask, (&mut *self.adcs, issued));
        Counters::of_pair(operands).each(mask, ZW, at, Channel::set);
        Ok(())
    }

    #[inline(always)]
    fn incadcxy(&mut self, operands: operands::Incadcxy, issued: &'a Issued) -> Outcome {
        Counters::of_steps(operands).each(ALL, XY, (&mut *self.adcs, issued), Channel::add);
        Ok(())
    }

    #[inline(always)]
    fn incadczw(&mut self, operands: operands::Incadczw, issued: &'a Issued) -> Outcome {
        Counters::of_steps(operands).each(ALL, ZW, (&mut *self.adcs, issued), Channel::add);
        Ok(())
    }

    /// The copies that the mask names advance, and their counters follow.
    #[inline(always)]
    fn addrcrxy(&mut self, operands: operands::Addrcrxy, issued: &'a Issued) -> Outcome {
        let (mask, at) = (operands.bit_mask, (&mut *self.adcs, issued));
        Counters::of_pair(operands).each(mask, XY, at, Channel::add_cr);
        Ok(())
    }

    #[inline(always)]
    fn addrcrzw(&mut self, operands: operands::Addrcrzw, issued: &'a Issued) -> Outcome {
        let (mask, at) = (operands.bit_mask, (&mut *self.adcs, issued));
        Counters::of_pair(operands).each(mask, ZW, at, Channel::add_cr);
        Ok(())
    }

    #[inline(always)]
    fn setdvalid(&mut self, operands: operands::Setdvalid, issued: &'a Issued) -> Outcome {
        self.unpackers.set_valid(operands, issued.thread, &mut self.banks);
        Ok(())
    }

    /// "Soft reset of TDMA engine" `[hdr: hw/inc/internal/tt-1xx/blackhole/tensix.h]`. Taken to be what
    /// the packers' reset line does; that of the unpackers resets nothing either
    /// `[isa-bh: TensixTile/SoftReset.md]` [unknown: U-076].
    #[inline(always)]
    fn rstdma(&mut self, issued: &'a Issued) -> Outcome {
        self.packer.enter_reset();
        self.packer.leave_reset();
        self.warnings.note(issued, checks::RSTDMA);
        Ok(())
    }
}
