//! What a polling loop compares with: read off the instructions that it executed last.
//!
//! From the load on, everything that is made of its value is followed through the round, also
//! through calls; the other operand of the first comparison is the answer.

use isa::word::{self, BRANCH, OP, OP_IMM};
use sim_core::{CoreId, Retire};

use super::scene::Scene;

/// Minor opcode of `and` `[riscv: 2.4]`.
const AND: u32 = 7;

/// Operand fields of an instruction.
struct Fields {
    opcode: u32,
    function: u32,
    left: u8,
    right: u8,
    immediate: u32,
    /// Bit 30: `sub` instead of `add`.
    subtract: bool,
}

impl Fields {
    const fn of(word: u32) -> Self {
        Self {
            opcode: word::opcode(word),
            function: word::funct3(word),
            left: word::rs1(word) as u8,
            right: word::rs2(word) as u8,
            immediate: word::imm_i(word).cast_unsigned(),
            subtract: word >> 30 & 1 == 1,
        }
    }
}

/// Registers of a core while its log is read.
pub(super) struct Values<'a, 'b> {
    pub(super) scene: &'a Scene<'b>,
    pub(super) core: CoreId,
    pub(super) log: &'a [&'a Retire],
}

impl Values<'_, '_> {
    /// What a register held when entry `at` of the log executed: what an entry before it wrote, else
    /// what it still holds.
    pub(super) fn before(&self, at: usize, register: u8) -> u32 {
        let wrote = |retire: &&&Retire| retire.rd == register;
        match self.log[..at].iter().rev().find(wrote) {
            _ if register == 0 => 0,
            Some(retire) => retire.value,
            None => self.scene.machine.register(self.core, register),
        }
    }
}

/// The value that the round behind the load at `pc` compares what it loaded with: 0 for a loop that goes on for as long
/// as what it loads is anything else. `None` if that is nothing to tell, as for one that goes on while it loads 0.
pub(super) fn compared(scene: &Scene<'_>, core: CoreId, pc: u32) -> Option<u32> {
    let log: Vec<_> = scene.loops.log(core).collect();
    let load = log.iter().rposition(|retire| retire.pc == pc)?;
    // The last round may have been cut off.
    let before = || log[..load].iter().rposition(|retire| retire.pc == pc);
    match behind(scene, core, &log, load) {
        Some(found) => found,
        None => behind(scene, core, &log, before()?).flatten(),
    }
}

/// What the branch behind entry `start` compares with; `None` if none is there.
fn behind(scene: &Scene<'_>, core: CoreId, log: &[&Retire], start: usize) -> Option<Option<u32>> {
    let values = Values { scene, core, log };
    let mut derived = 1_u32 << log[start].rd & !1;
    // Those that hold what was loaded, and not what was made of it.
    let mut copies = derived;
    let mut candidate = None;
    for (at, retire) in log.iter().enumerate().skip(start + 1) {
        let fields = Fields::of(retire.word);
        if retire.pc == log[start].pc || derived == 0 {
            break;
        }
        let is = |register: u8| derived >> register & 1 == 1;
        let (left, right) = (is(fields.left), is(fields.right));
        let other = if left { fields.right } else { fields.left };
        let reads = match fields.opcode {
            BRANCH if left != right => {
                let own = if left { fields.left } else { fields.right };
                let ends_at_zero = matches!(fields.function, 0 | 1)
                    && copies >> own & 1 == 1
                    && values.before(at, own) != 0;
                return Some(match other {
                    0 if ends_at_zero => candidate.or(Some(0)),
                    0 => candidate,
                    _ => Some(values.before(at, other)),
                });
            }
            // sub, slt, sltu, xor.
            OP if left != right && compares(&fields) => {
                if other != 0 {
                    candidate = Some(values.before(at, other));
                }
                true
            }
            OP_IMM if left => {
                candidate = immediate(&fields).or(candidate);
                true
            }
            OP => left || right,
            _ => false,
        };
        if retire.rd != 0 {
            let is_copy = copies >> fields.left & 1 == 1 && is_move(&fields);
            derived = derived & !(1 << retire.rd) | u32::from(reads) << retire.rd;
            copies = copies & !(1 << retire.rd) | u32::from(is_copy) << retire.rd;
        }
    }
    None
}

/// A count that a polling loop makes of what it loads, and how much of it ends the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Count {
    /// What it made of it.
    pub(super) is: u32,
    /// What it waits for.
    pub(super) wanted: u32,
}

/// What the loop behind the load at `pc` counts and waits for: `received - acked < wanted`. `None`
/// if it does not add or subtract anything, or does not wait for more.
pub(super) fn counted(scene: &Scene<'_>, core: CoreId, pc: u32) -> Option<Count> {
    let log: Vec<_> = scene.loops.log(core).collect();
    let last = log.iter().rposition(|retire| retire.pc == pc)?;
    let before = log[..last].iter().rposition(|retire| retire.pc == pc);
    // The last round may have been cut off.
    count(scene, core, &log, last).or_else(|| count(scene, core, &log, before?))
}

/// The count at the first comparison behind entry `start`.
fn count(scene: &Scene<'_>, core: CoreId, log: &[&Retire], start: usize) -> Option<Count> {
    let values = Values { scene, core, log };
    let mut derived = 1_u32 << log[start].rd & !1;
    let (mut is_count, mut masked) = (false, None);
    for (at, retire) in log.iter().enumerate().skip(start + 1) {
        let fields = Fields::of(retire.word);
        if retire.pc == log[start].pc || derived == 0 {
            return None;
        }
        let is = |register: u8| derived >> register & 1 == 1;
        let (left, right) = (is(fields.left), is(fields.right));
        // What the round does not write itself it compares with as it is now.
        let is_written = |register: u8| log[start..at].iter().any(|retire| retire.rd == register);
        let operand = |register: u8| {
            let at = if is(register) || is_written(register) { at } else { log.len() };
            values.before(at, register)
        };
        let sets = matches!(fields.function, 2 | 3);
        if let (OP, AND, true) = (fields.opcode, fields.function, left != right) {
            let (own, other) =
                if left { (fields.left, fields.right) } else { (fields.right, fields.left) };
            masked = at_least(values.before(at, own), operand(other));
        }
        let reads = match fields.opcode {
            // A count without its low bits is 0 for as long as it is less.
            BRANCH if left != right && matches!(fields.function, 0 | 1) && is_count => {
                let other = if left { fields.right } else { fields.left };
                return masked.filter(|_| other == 0);
            }
            BRANCH if left != right => {
                let less = goes_on(log, at, fields.function)?;
                let (l, r) = (operand(fields.left), operand(fields.right));
                return until(l, r, left, less).filter(|_| is_count);
            }
            // A truth value is no count.
            OP | OP_IMM if sets && (left || right) => return None,
            OP => left || right,
            OP_IMM => left,
            _ => false,
        };
        // add and sub.
        is_count |= reads && fields.opcode == OP && fields.function == 0;
        if retire.rd != 0 {
            derived = derived & !(1 << retire.rd) | u32::from(reads) << retire.rd;
        }
    }
    None
}

/// What a count must come up to for `count & mask` not to be 0: compilers test for a power of two so.
fn at_least(is: u32, mask: u32) -> Option<Count> {
    let wanted = 1_u32.checked_shl(mask.trailing_zeros())?;
    (wanted > 1 && is < wanted).then_some(Count { is, wanted })
}

/// Whether a loop goes on for as long as the left operand of the branch at entry `at` is the lesser
/// one: a branch back is taken then, one that leaves is not.
fn goes_on(log: &[&Retire], at: usize, function: u32) -> Option<bool> {
    let retire = log[at];
    let is_back = word::branch_target(retire.word, retire.pc) <= retire.pc;
    let was_taken = log.get(at + 1)?.pc != retire.pc.wrapping_add(4);
    match function {
        _ if !is_back && was_taken => None,
        4 | 6 => Some(is_back),
        5 | 7 => Some(!is_back),
        _ => None,
    }
}

/// What a count must grow to for `l < r` to change from what it is; `left` says which the count is.
fn until(l: u32, r: u32, left: bool, less: bool) -> Option<Count> {
    match (left, less) {
        (true, true) => Some(Count { is: l, wanted: r }),
        (false, false) => Some(Count { is: r, wanted: l.wrapping_add(1) }),
        _ => None,
    }
}

/// `mv`.
const fn is_move(fields: &Fields) -> bool {
    fields.opcode == OP_IMM && fields.function == 0 && fields.immediate == 0
}

const fn compares(fields: &Fields) -> bool {
    fields.function == 0 && fields.subtract || matches!(fields.function, 2..=4)
}

/// The value in `addi`, `slti`, `sltiu` or `xori`, if it can be one that is compared with.
fn immediate(fields: &Fields) -> Option<u32> {
    match (fields.function, fields.immediate) {
        // A move, and `seqz`.
        (0, 0) | (3, 1) => None,
        (0, by) => Some(by.wrapping_neg()),
        (2..=4, value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_without_low_bits_is_a_power_of_two_to_come_up_to() {
        assert_eq!(at_least(1, 0x1_FFFE), Some(Count { is: 1, wanted: 2 }));
        assert_eq!(at_least(1, 0x1_FFFF), None);
        assert_eq!(at_least(0, 0), None);
    }

    /// `l < r` holds: the left one must come up to the right one. It does not: the right one must
    /// grow beyond the left one. What would have to fall is no count.
    #[test]
    fn count_that_has_to_grow_is_told_with_what_it_must_reach() {
        assert_eq!(until(2, 4, true, true), Some(Count { is: 2, wanted: 4 }));
        assert_eq!(until(3, 2, false, false), Some(Count { is: 2, wanted: 4 }));
        assert_eq!(until(2, 4, false, true), None);
        assert_eq!(until(4, 2, true, false), None);
    }
}
