//! Programmable constants of the vector unit that a kernel reads and has not set.
//!
//! LReg 12 to 14 are what `SFPCONFIG` has put there last `[isa-bh: TensixCoprocessor/LReg.md]`: of another kernel, where
//! the `init` of an operation is left out. LReg 11 is left out here: firmware sets it to -1
//! `[hdr: hw/inc/internal/tt-1xx/blackhole/c_tensix_core.h]`.

use isa::lregs::{known_reads, missed_reads};
use isa::op::{Opcode, Unit};
use isa::operands::Sfpconfig;
use sim_core::{CoreId, Event, Stamp};

use super::circular::Violation;
use super::hazards as h;

/// The constants, as a mask of registers.
const CONSTANTS: u32 = 0b111 << 12;
/// Which registers are read depends on the data.
const ANY: u32 = 0xFFFF;

/// Constants that have been set, or said to be missing, since the kernels began.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    set: u32,
}

impl Constants {
    /// All kernels are done.
    pub(super) fn ended(&mut self) {
        self.set = 0;
    }

    /// Takes an event.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) -> Option<Violation> {
        // A new program begins, of which nobody says so.
        if let Event::Reset { core: CoreId::Trisc1, asserted: false, .. } = *event {
            self.ended();
        }
        let Event::Issue { word, .. } = *event else { return None };
        let opcode = Opcode::from_word(word).filter(|opcode| opcode.unit() == Unit::Vector)?;
        if opcode == Opcode::Sfpconfig {
            self.set |= 1 << Sfpconfig::of(word).config_dest;
            return None;
        }
        let read = known_reads(opcode, word) | missed_reads(opcode, word);
        let missing = if read == ANY { 0 } else { read & CONSTANTS & !self.set };
        if missing == 0 {
            return None;
        }
        self.set |= missing;
        let text = format!(
            "{} reads LReg {}, a constant that the kernel has not set",
            opcode.row().name,
            missing.trailing_zeros()
        );
        Some((stamp, h::C5, text))
    }
}

#[cfg(test)]
mod tests {
    use isa::encode;
    use sim_core::observer::Slot;
    use sim_core::{AgentId, Cycle, ThreadId};

    use super::*;

    fn said(constants: &mut Constants, words: &[u32]) -> Vec<String> {
        let stamp = Stamp { cycle: Cycle(1), agent: AgentId::Thread(ThreadId::T1), pc: 0xD000 };
        let issue = |word: &u32| {
            let event = Event::Issue { thread: ThreadId::T1, word: *word, slot: Slot::default() };
            constants.event(stamp, &event).map(|(.., text)| text)
        };
        words.iter().filter_map(issue).collect()
    }

    #[test]
    fn constant_is_missing_until_the_kernel_has_set_it() {
        let (read, set) = (encode::sfpmad(0, 3, 2, 1, 13), encode::sfpconfig(0, 13, 0));
        let text = "SFPMAD reads LReg 13, a constant that the kernel has not set";
        assert_eq!(said(&mut Constants::default(), &[set, read]), [""; 0]);
        let mut constants = Constants::default();
        assert_eq!(said(&mut constants, &[read, read]), [text], "said once");
        constants.ended();
        assert_eq!(said(&mut constants, &[read]), [text]);
        // Constants that are always there, and -1.
        let fixed = [9, 10, 11].map(|lreg| encode::sfpmad(0, 3, 2, 1, lreg));
        assert_eq!(said(&mut constants, &fixed), [""; 0]);
        assert_eq!(said(&mut Constants::default(), &[encode::sfpmad(4, 3, 2, 1, 13)]), [""; 0]);
    }
}
