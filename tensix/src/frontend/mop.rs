//! The MOP expander of one thread: turns a `MOP` into a loop of instructions.
//!
//! A generator: each call of [`Expansion::next`] resolves control flow up to the next emitted
//! instruction and reads the configuration at that moment, as the hardware does. Timing (one
//! instruction per cycle, one idle cycle afterwards) is the frontend's business.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MOPExpander.md]`, which the Blackhole page calls similar
//! but not identical; counts are 10 bits wide on Blackhole `[spec: boot-and-sync 5.9]`.

use isa::op::{OPCODE, Opcode};
use isa::operands::Mop;

/// Number of configuration words.
pub(crate) const CONFIG_WORDS: usize = 9;

/// Loop counts of template 1 are 10 bits on Blackhole `[spec: boot-and-sync 5.9]`.
const COUNT_MASK: u32 = 0x3FF;

/// A `MOP` that cannot be expanded faithfully.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unexpandable {
    /// Bits 19:0 of a template 1 `MOP` override the loop counts on Blackhole according to third
    /// parties; the public page does not define them. [unknown: U-040]
    CountOverride,
    /// One outer iteration without start instruction, inner loop or anything but an end
    /// instruction: the hardware then runs additional outer iterations, and sources differ on how
    /// many. [unknown: U-041]
    OuterBug,
}

/// Where an expansion stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expansion {
    /// Template 0: a masked sequence.
    Masked { mask: u32, left: u32, stage: u8 },
    /// Template 1: two nested loops. `inner` is already doubled when the loop alternates.
    Nested { outer: u32, inner: u32, j: u32, i: u32, alternates: bool, stage: Stage },
}

/// Parts of one outer iteration of template 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Start,
    Loop,
    End0,
    End1,
}

impl Expansion {
    /// Begins the expansion of a `MOP` word.
    pub(crate) fn begin(
        word: u32,
        mask_high: u32,
        config: &[u32; CONFIG_WORDS],
    ) -> Result<Self, Unexpandable> {
        let expansion = Self::begin_anyway(word, mask_high, config);
        let Self::Nested { outer, inner, .. } = expansion else { return Ok(expansion) };
        if Mop::of(word).count_override != 0 {
            return Err(Unexpandable::CountOverride);
        }
        if outer == 1 && inner == 0 && is_nop(config[2]) && !is_nop(config[3]) {
            return Err(Unexpandable::OuterBug);
        }
        Ok(expansion)
    }

    /// Begins the expansion of a `MOP` word as configured, whatever hardware may add to it.
    pub(crate) fn begin_anyway(word: u32, mask_high: u32, config: &[u32; CONFIG_WORDS]) -> Self {
        let operands = Mop::of(word);
        if !operands.mop_type {
            let mask = mask_high << 16 | operands.zmask_lo16_or_loop_count;
            return Self::Masked { mask, left: operands.loop_count + 1, stage: 0 };
        }
        let outer = config[0] & COUNT_MASK;
        let alternates = !is_nop(config[6]);
        let inner = (config[1] & COUNT_MASK) << u32::from(alternates);
        Self::Nested { outer, inner, j: 0, i: 0, alternates, stage: Stage::Start }
    }

    /// The next instruction, or `None` when the expansion is over.
    #[inline]
    pub(crate) fn next(&mut self, config: &[u32; CONFIG_WORDS]) -> Option<u32> {
        match self {
            Self::Masked { mask, left, stage } => next_masked(mask, left, stage, config),
            Self::Nested { outer, inner, j, i, alternates, stage } => {
                while *j < *outer {
                    let now = *stage;
                    match now {
                        Stage::Start => {
                            *stage = Stage::Loop;
                            *i = 0;
                            if !is_nop(config[2]) {
                                return Some(config[2]);
                            }
                        }
                        Stage::Loop => {
                            if *i < *inner {
                                let position = *i;
                                *i += 1;
                                return Some(loop_word(
                                    position,
                                    *inner,
                                    *j + 1 == *outer,
                                    *alternates,
                                    config,
                                ));
                            }
                            *stage = Stage::End0;
                        }
                        Stage::End0 => {
                            if is_nop(config[3]) {
                                *stage = Stage::Start;
                                *j += 1;
                            } else {
                                *stage = Stage::End1;
                                return Some(config[3]);
                            }
                        }
                        Stage::End1 => {
                            *stage = Stage::Start;
                            *j += 1;
                            if !is_nop(config[4]) {
                                return Some(config[4]);
                            }
                        }
                    }
                }
                None
            }
        }
    }
}

/// Only the plain `NOP` counts, not `DMANOP` or `SFPNOP`.
const fn is_nop(word: u32) -> bool {
    OPCODE.get(word) == Opcode::Nop as u32
}

fn loop_word(i: u32, inner: u32, last_outer: bool, alternates: bool, config: &[u32; 9]) -> u32 {
    if i + 1 == inner {
        return if last_outer { config[7] } else { config[8] };
    }
    // An alternating loop has an even number of rounds, so every outer iteration starts alike.
    if alternates && i & 1 == 1 { config[6] } else { config[5] }
}

/// Stages of one round: 0 is A0 or SkipA0, 1 to 3 are A1 to A3, 4 is B, 5 is SkipB.
fn next_masked(
    mask: &mut u32,
    left: &mut u32,
    stage: &mut u8,
    config: &[u32; CONFIG_WORDS],
) -> Option<u32> {
    if *left == 0 {
        return None;
    }
    let has_b = config[1] & 1 != 0;
    let has_a123 = config[1] & 2 != 0;
    let skipped = *mask & 1 != 0;
    let (word, following) = match *stage {
        0 if skipped => (config[7], if has_b { 5 } else { 0 }),
        0 if has_a123 => (config[3], 1),
        0 => (config[3], if has_b { 4 } else { 0 }),
        1 => (config[4], 2),
        2 => (config[5], 3),
        3 => (config[6], if has_b { 4 } else { 0 }),
        4 => (config[2], 0),
        _ => (config[8], 0),
    };
    *stage = following;
    if following == 0 {
        *mask >>= 1;
        *left -= 1;
    }
    Some(word)
}
