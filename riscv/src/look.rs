//! What a debugger sees of a core that stands between two instructions, without touching it.

use sim_core::{L1, Shared, Width};

use crate::access::MAX_FUSED;
use crate::core::Core;
use crate::csr::{CFG0_DIS_TRISC_CACHE, Csr, CsrFile};
use crate::decode::decode;
use crate::icache::same_page;
use crate::op::Kind;

/// What an instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAccess {
    /// Byte address as the core sees it.
    pub addr: u32,
    /// How many bytes.
    pub width: Width,
    /// It loads.
    pub reads: bool,
    /// It stores.
    pub writes: bool,
}

impl Core {
    /// A control and status register, as a read would give it now; `None` for one that is not there
    /// or shows the coprocessor.
    #[must_use]
    pub fn csr(&self, number: u16) -> Option<u32> {
        match CsrFile::classify(u32::from(number), self.id) {
            Csr::Stored(index) => Some(self.csr.read_stored(index)),
            Csr::Constant(value) => Some(value),
            Csr::Counter { instructions, high } => {
                let since_reset = if instructions {
                    self.instructions_since_reset()
                } else {
                    self.cycles_since_reset()
                };
                Some(self.csr.counter(instructions, high, since_reset))
            }
            Csr::Status | Csr::Unknown => None,
        }
    }

    /// Address of the instruction the core is at: the next one, or the one that waits for an answer.
    #[must_use]
    pub fn at(&self) -> u32 {
        self.batch.request.map_or(self.pc, |request| request.pc)
    }

    /// The word that the core would execute next. Of words that were decoded before the core itself
    /// changed them in this epoch it is the new one.
    #[must_use]
    pub fn next_word(&self, shared: &Shared) -> Option<u32> {
        L1::holds_aligned(self.pc, Width::Word).then(|| self.read_l1(shared, self.pc, Width::Word))
    }

    /// What the instruction with that word does to memory if the core executes it now. Pushing
    /// (`.ttinsn`) is no access in this sense.
    #[must_use]
    pub fn access_of(&self, word: u32) -> Option<MemoryAccess> {
        let op = decode(word, self.pc);
        let base = self.x[usize::from(op.rs1)];
        let (width, reads, writes) = match op.kind {
            Kind::Lb | Kind::Lbu => (Width::Byte, true, false),
            Kind::Lh | Kind::Lhu | Kind::Flh => (Width::Half, true, false),
            Kind::Lw | Kind::Flw => (Width::Word, true, false),
            Kind::Sb => (Width::Byte, false, true),
            Kind::Sh | Kind::Fsh => (Width::Half, false, true),
            Kind::Sw | Kind::Fsw => (Width::Word, false, true),
            Kind::Amo => {
                return Some(MemoryAccess {
                    addr: base,
                    width: Width::Word,
                    reads: true,
                    writes: true,
                });
            }
            _ => return None,
        };
        Some(MemoryAccess { addr: base.wrapping_add(op.imm), width, reads, writes })
    }

    /// How many words from the pc on are executed as one: a TRISC pushes up to four adjacent
    /// `.ttinsn` in a cycle.
    #[must_use]
    pub fn bundle_words(&self, shared: &Shared) -> u32 {
        let pushes = |pc: u32| {
            L1::holds_aligned(pc, Width::Word)
                && decode(self.read_l1(shared, pc, Width::Word), pc).kind == Kind::Ttinsn
        };
        let fuses = self.id.thread().is_some() && self.csr.cfg0() & CFG0_DIS_TRISC_CACHE == 0;
        if !fuses || !pushes(self.pc) {
            return 1;
        }
        let follows = |count: &u32| {
            let pc = self.pc.wrapping_add(4 * count);
            same_page(self.pc, pc) && pushes(pc)
        };
        1 + (1..MAX_FUSED).take_while(follows).count() as u32
    }
}
