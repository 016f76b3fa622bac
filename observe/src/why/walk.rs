//! The code that a waiting core would run next, read on from where it stands.
//!
//! Registers and memory are followed as far as they are known; what the core waits for is not: others
//! will have changed it. A branch on something unknown is passed straight on, and taken when it is met
//! again: so a loop that polls is left. A reading, no proof: what a wait is for may send the core another
//! way.

use std::collections::{BTreeMap, BTreeSet};

use isa::word;
use memory_map::layout::LOCAL_RAM_BASE;
use sim_core::l1::L1_BYTES;
use sim_core::{CoreId, Width};

use super::scene::Machine;

/// Bytes of the local memory of any core.
const LOCAL_BYTES: u32 = memory_map::layout::LOCAL_RAM_BYTES_DM;
/// Low bits of a RISC-V word; others are Tensix instructions `[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]`.
const RISC_V: u32 = 3;

/// A store on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Store {
    pub(super) pc: u32,
    pub(super) addr: u32,
    pub(super) value: Option<u32>,
}

/// Where the reading stands.
pub(super) struct Walk<'a> {
    machine: &'a dyn Machine,
    core: CoreId,
    pc: u32,
    known: [Option<u32>; 32],
    /// Words that were stored on the way.
    stored: BTreeMap<u32, Option<u32>>,
    /// Branches on something unknown that have been passed straight on.
    passed: Vec<u32>,
    /// Instructions that may yet be read.
    left: usize,
}

impl<'a> Walk<'a> {
    /// From `pc` on, at most `far` instructions. Words of `changed` hold something else by then.
    pub(super) fn new(
        machine: &'a dyn Machine,
        core: CoreId,
        pc: u32,
        changed: impl IntoIterator<Item = u32>,
        far: usize,
    ) -> Self {
        let mut known = std::array::from_fn(|index| Some(machine.register(core, index as u8)));
        known[0] = Some(0);
        let stored = changed.into_iter().map(|addr| (addr & !3, None)).collect();
        Self { machine, core, pc, known, stored, passed: Vec::new(), left: far }
    }

    fn register(&self, index: u32) -> Option<u32> {
        self.known[index as usize]
    }

    fn plus(&self, index: u32, by: i32) -> Option<u32> {
        self.register(index).map(|value| value.wrapping_add_signed(by))
    }

    /// A value in memory, if nothing that is not known has been there before.
    fn load(&self, addr: u32, function: u32) -> Option<u32> {
        let width = match function & 3 {
            0 => Width::Byte,
            1 => Width::Half,
            _ => Width::Word,
        };
        let is_local = (LOCAL_RAM_BASE..LOCAL_RAM_BASE + LOCAL_BYTES).contains(&addr);
        let value = match self.stored.get(&(addr & !3)) {
            Some(word) => (*word)? >> (8 * (addr & 3 & !(width.bytes() - 1))) & width.mask(),
            None if addr < L1_BYTES => self.machine.l1(addr, width),
            None if is_local => self.machine.local(self.core, addr - LOCAL_RAM_BASE, width)?,
            None => return None,
        };
        let is_signed = function & 4 == 0;
        Some(match width {
            Width::Byte if is_signed => i32::from(value as u8 as i8).cast_unsigned(),
            Width::Half if is_signed => i32::from(value as u16 as i16).cast_unsigned(),
            _ => value,
        })
    }

    fn store(&mut self, text: u32) -> Option<Store> {
        let addr = self.plus(word::rs1(text), word::imm_s(text))?;
        let is_word = word::funct3(text) == 2;
        let value = self.register(word::rs2(text)).filter(|_| is_word);
        self.stored.insert(addr & !3, value);
        Some(Store { pc: self.pc, addr, value })
    }

    /// Whether a branch is taken.
    fn branches(&mut self, text: u32) -> bool {
        let operands = self.register(word::rs1(text)).zip(self.register(word::rs2(text)));
        let Some((left, right)) = operands else {
            let again = self.passed.contains(&self.pc);
            self.passed.push(self.pc);
            return again;
        };
        let (signed, unsigned) = (left.cast_signed() < right.cast_signed(), left < right);
        match word::funct3(text) {
            0 => left == right,
            1 => left != right,
            4 => signed,
            5 => !signed,
            6 => unsigned,
            _ => !unsigned,
        }
    }

    /// One instruction. `Some(None)`: it is no store; `None`: the way on is not known.
    fn step(&mut self) -> Option<Option<Store>> {
        let text = self.machine.l1(self.pc, Width::Word);
        let mut next = self.pc.wrapping_add(4);
        if text & RISC_V != RISC_V {
            self.pc = next;
            return Some(None);
        }
        let (mut store, mut result) = (None, None);
        match word::opcode(text) {
            word::LUI => result = Some(word::imm_u(text)),
            word::AUIPC => result = Some(self.pc.wrapping_add(word::imm_u(text))),
            word::OP_IMM => {
                let immediate = Some(word::imm_i(text).cast_unsigned());
                let subtracts = word::funct3(text) == 5 && text >> 30 & 1 == 1;
                let plain = !matches!(word::funct3(text), 1 | 5) || text >> 25 & 0x5F == 0;
                let left = self.register(word::rs1(text)).filter(|_| plain);
                result = operate(word::funct3(text), subtracts, left, immediate);
            }
            word::OP => {
                let (left, right) =
                    (self.register(word::rs1(text)), self.register(word::rs2(text)));
                result = match (text >> 25, word::funct3(text)) {
                    (0 | 0x20, function) => operate(function, text >> 30 == 1, left, right),
                    // sh1add, sh2add and sh3add.
                    (0x10, shift @ (2 | 4 | 6)) => left
                        .zip(right)
                        .map(|(left, right)| (left << (shift / 2)).wrapping_add(right)),
                    _ => None,
                };
            }
            word::LOAD => {
                let addr = self.plus(word::rs1(text), word::imm_i(text));
                result = addr.and_then(|addr| self.load(addr, word::funct3(text)));
            }
            word::STORE => store = self.store(text),
            word::BRANCH => {
                let target = word::branch_target(text, self.pc);
                next = if self.branches(text) { target } else { next };
            }
            word::JAL => {
                result = Some(next);
                next = word::jump_target(text, self.pc);
            }
            word::JALR => {
                result = Some(next);
                next = self.plus(word::rs1(text), word::imm_i(text))? & !1;
            }
            _ => {}
        }
        let writes = !matches!(word::opcode(text), word::STORE | word::BRANCH);
        if let (true, rd @ 1..) = (writes, word::rd(text)) {
            self.known[rd as usize] = result;
        }
        self.pc = next;
        Some(store)
    }
}

/// Where a core goes that moves: read on from where it stands, until it stands there again.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Round {
    /// Every instruction, in order of addresses.
    pub pcs: Vec<u32>,
    /// Addresses that it stores to.
    pub stores: Vec<u32>,
    /// Whether it comes back to where it began.
    pub returns: bool,
}

/// Instructions of a round that are followed.
const ROUND: usize = 1 << 14;

/// The round that a core goes which is at work, as far as its code and its registers tell.
#[must_use]
pub fn round(machine: &dyn Machine, core: CoreId, pc: u32) -> Round {
    let mut walk = Walk::new(machine, core, pc, [], 0);
    let (mut round, mut pcs, mut stores) = (Round::default(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..ROUND {
        pcs.insert(walk.pc);
        let Some(step) = walk.step() else { break };
        stores.extend(step.map(|store| store.addr));
        // A loop within the round may lead past the beginning as well: the addresses are what matters.
        if walk.pc == pc {
            round.returns = true;
            break;
        }
    }
    (round.pcs, round.stores) = (pcs.into_iter().collect(), stores.into_iter().collect());
    round
}

/// What an instruction of the base set makes of its operands; `other` says `sub` and `sra`.
fn operate(function: u32, other: bool, left: Option<u32>, right: Option<u32>) -> Option<u32> {
    let (left, right) = left.zip(right)?;
    let shift = right & 31;
    Some(match (function, other) {
        (0, false) => left.wrapping_add(right),
        (0, true) => left.wrapping_sub(right),
        (1, _) => left << shift,
        (2, _) => u32::from(left.cast_signed() < right.cast_signed()),
        (3, _) => u32::from(left < right),
        (4, _) => left ^ right,
        (5, false) => left >> shift,
        (5, true) => (left.cast_signed() >> shift).cast_unsigned(),
        (6, _) => left | right,
        _ => left & right,
    })
}

/// The stores on the way.
impl Iterator for Walk<'_> {
    type Item = Store;

    fn next(&mut self) -> Option<Store> {
        while self.left > 0 {
            self.left -= 1;
            if let Some(store) = self.step()? {
                return Some(store);
            }
        }
        None
    }
}
