//! Moves from Dst to SrcA and SrcB, which do not wait for their bank by themselves.
//!
//! A STALLWAIT for the bank looks at the one that the matrix unit is at in that moment. An instruction in front of it
//! that turns the unit to the other bank does so at its end: without a wait for the matrix unit too, the wait is for the
//! bank before `[isa-wh: TensixCoprocessor/MOVD2A.md]`, `MOVD2B.md`, `ELWMUL.md`.

use isa::op::{Opcode, Unit};
use isa::operands::Stallwait;
use sim_core::{AgentId, Event, Stamp, ThreadId};

use super::circular::Violation;
use super::hazards as h;

/// Bits of [`Event::SrcBanks`]: the matrix unit's next bank.
const NEXT: u8 = 3;
/// STALLWAIT waits for the matrix unit `[isa-bh: TensixCoprocessor/STALLWAIT.md]`.
const MATH: u32 = 1 << 4;
/// And for the matrix unit's bank of SrcA and of SrcB.
const FILLED: [u32; 2] = [1 << 7, 1 << 8];

/// SrcA and SrcB as math finds them.
#[derive(Clone, Debug, Default)]
pub(super) struct Banks {
    operands: [Operand; 2],
    /// Math's last instruction of the matrix unit.
    last: Option<Opcode>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Operand {
    /// Who has its banks: bits of [`Event::SrcBanks`].
    banks: u8,
    /// What has turned the matrix unit to another bank, if nothing has waited for that.
    turned: Option<Opcode>,
    /// The wait for the bank since then.
    wait: Option<Stamp>,
}

impl Banks {
    /// Takes an event.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) -> Option<Violation> {
        match *event {
            Event::SrcBanks { operand, before, after } => {
                let own = &mut self.operands[usize::from(operand == 1)];
                own.banks = after;
                let is_math = stamp.agent == AgentId::Thread(ThreadId::T1);
                if is_math && (before ^ after) >> NEXT & 1 == 1 {
                    (own.turned, own.wait) = (self.last, None);
                }
                None
            }
            Event::Issue { thread: ThreadId::T1, word, .. } => {
                let opcode = Opcode::from_word(word)?;
                match opcode {
                    Opcode::Movd2a => self.moved(stamp, opcode, 0),
                    Opcode::Movd2b => self.moved(stamp, opcode, 1),
                    Opcode::Stallwait => {
                        self.waits(stamp, Stallwait::of(word).wait_res);
                        None
                    }
                    _ if opcode.unit() == Unit::Matrix => {
                        self.computes(opcode);
                        None
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn waits(&mut self, stamp: Stamp, conditions: u32) {
        for (own, filled) in self.operands.iter_mut().zip(FILLED) {
            if conditions & MATH != 0 {
                own.turned = None;
            } else if conditions & filled != 0 {
                own.wait = Some(stamp);
            }
        }
    }

    /// An instruction that reads a bank waits for it by itself, behind those in front of it.
    fn computes(&mut self, opcode: Opcode) {
        for (operand, own) in self.operands.iter_mut().enumerate() {
            if opcode.row().needs >> operand & 1 == 1 {
                own.turned = None;
            }
        }
        self.last = Some(opcode);
    }

    fn moved(&mut self, stamp: Stamp, opcode: Opcode, operand: usize) -> Option<Violation> {
        let own = &mut self.operands[operand];
        let (name, source) = (opcode.row().name, ["SrcA", "SrcB"][operand]);
        let (bank, turned) = (own.banks >> NEXT & 1, own.turned.take());
        if own.banks >> bank & 1 == 0 {
            let text = format!(
                "{name} moves to bank {bank} of {source}, which is the unpacker's: nothing waited for it"
            );
            return Some((stamp, h::B6, text));
        }
        let turner = turned?.row().name;
        let (stamp, what) = match own.wait {
            Some(wait) => (wait, "the wait for that bank is for the one before, unless it waits"),
            None => (stamp, "nothing waits"),
        };
        let text = format!(
            "{name} comes behind the {turner} that turns the matrix unit to the other bank of {source}, and {what} \
             for the matrix unit"
        );
        Some((stamp, h::B6, text))
    }
}

#[cfg(test)]
mod tests {
    use sim_core::Cycle;
    use sim_core::observer::Slot;

    use super::*;

    #[test]
    fn move_goes_to_the_bank_that_the_matrix_unit_is_at() {
        let (movd2a, movd2b) = (0x0800_0000, 0x0A00_0000);
        let (thread, slot) = (ThreadId::T1, Slot::default());
        let stamp = Stamp { cycle: Cycle(1), agent: AgentId::Thread(thread), pc: 0xE000 };
        let mut banks = Banks::default();
        let mut after = |operand, after, word| {
            let event = Event::SrcBanks { operand, before: 0, after };
            assert!(banks.event(stamp, &event).is_none());
            banks.event(stamp, &Event::Issue { thread, word, slot }).map(|(_, _, text)| text)
        };
        let text = "MOVD2A moves to bank 1 of SrcA, which is the unpacker's: nothing waited for it";
        assert_eq!(after(0, 0b1001, movd2a).as_deref(), Some(text));
        assert_eq!(after(0, 0b1010, movd2a), None);
        assert_eq!(after(0, 0b0001, movd2a), None);
        assert!(after(1, 0b0000, movd2b).is_some());
        assert_eq!(after(1, 0b0001, movd2b), None);
    }

    #[test]
    fn wait_for_a_bank_is_for_the_one_before_while_the_unit_is_turned() {
        let (setrwc, movd2a) = (0x3700_0000, 0x0800_0000);
        let (bank, drain) = (isa::encode::stallwait(1 << 7, 1 << 6), MATH | 1 << 7);
        let run = |words: &[u32]| {
            let mut banks = Banks::default();
            let (thread, slot) = (ThreadId::T1, Slot::default());
            let stamp = Stamp { cycle: Cycle(1), agent: AgentId::Thread(thread), pc: 0xE000 };
            let issue = |banks: &mut Banks, word| {
                banks.event(stamp, &Event::Issue { thread, word, slot }).map(|(_, _, text)| text)
            };
            assert_eq!(issue(&mut banks, setrwc), None);
            let turn = Event::SrcBanks { operand: 0, before: 0b0011, after: 0b1010 };
            assert!(banks.event(stamp, &turn).is_none());
            words.iter().find_map(|word| issue(&mut banks, *word))
        };
        let said = run(&[bank, movd2a]).expect("the wait was for the bank before");
        assert_eq!(
            said,
            "MOVD2A comes behind the SETRWC that turns the matrix unit to the other bank of SrcA, and the wait for \
             that bank is for the one before, unless it waits for the matrix unit"
        );
        assert!(
            run(&[movd2a]).is_some_and(|said| said.ends_with("nothing waits for the matrix unit"))
        );
        assert_eq!(run(&[isa::encode::stallwait(drain, 1 << 6), movd2a]), None);
        // MVMUL waits for SrcA and SrcB by itself.
        assert_eq!(run(&[0x2600_0000, movd2a]), None);
    }
}
