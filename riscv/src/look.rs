//! What a debugger sees of a core that stands between two instructions, without touching it.

use sim_core::{L1, Shared, Store, Width};

use crate::csr::{Csr, CsrFile};
use crate::decode::decode;
use crate::doors::fuses;
use crate::hart::{Hart, MAX_FUSED};
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

/// A control and status register, as a read would give it now.
pub(crate) fn csr(hart: &Hart, number: u16) -> Option<u32> {
    match CsrFile::classify(u32::from(number), hart.id) {
        Csr::Stored(index) => Some(hart.csr.read_stored(index)),
        Csr::Constant(value) => Some(value),
        Csr::Counter { instructions, high } => {
            Some(hart.csr.counter(instructions, high, hart.count_since_reset(instructions)))
        }
        Csr::Status | Csr::Unknown => None,
    }
}

/// What the instruction with that word, at the pc, does to memory.
pub(crate) fn access_of(hart: &Hart, word: u32) -> Option<MemoryAccess> {
    let op = decode(word, hart.pc);
    let base = hart.x[usize::from(op.rs1)];
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

/// How many words from the pc on are executed as one; `stores` are those that the core has posted.
pub(crate) fn bundle_words(hart: &Hart, stores: &[Store], shared: &Shared) -> u32 {
    let pushes = |pc: u32| {
        L1::holds_aligned(pc, Width::Word)
            && decode(hart.read_l1(stores, shared, pc, Width::Word), pc).kind == Kind::Ttinsn
    };
    let fuses = fuses(hart);
    if !fuses || !pushes(hart.pc) {
        return 1;
    }
    let follows = |count: &u32| {
        let pc = hart.pc.wrapping_add(4 * count);
        same_page(hart.pc, pc) && pushes(pc)
    };
    1 + (1..MAX_FUSED).take_while(follows).count() as u32
}
