//! Register blocks: rows, constants, and the register at an offset.

use crate::region::Target;

/// How software may use a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Read and write.
    ReadWrite,
}

/// A block of registers.
#[derive(Debug)]
pub struct Block {
    /// Name, also that of the module in [`reg`].
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Bytes it decodes.
    pub bytes: u32,
    /// Where it appears.
    pub instances: &'static [Instance],
    /// Its registers, by offset.
    pub registers: &'static [Register],
}

/// One place where a block appears.
#[derive(Debug)]
pub struct Instance {
    /// Target of the address map.
    pub target: Target,
    /// Prefix of printed names.
    pub prefix: &'static str,
    /// Address of offset 0.
    pub base: u32,
}

/// One register or array of registers.
#[derive(Debug)]
pub struct Register {
    /// Byte offset in the block.
    pub offset: u32,
    /// Name.
    pub name: &'static str,
    /// Bits that hold a value.
    pub width: u32,
    /// Access.
    pub access: Access,
    /// Value after reset, when known.
    pub reset: Option<u32>,
    /// Number of elements.
    pub count: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// One line of explanation.
    pub doc: &'static str,
    /// Its named bits, lowest first.
    pub fields: &'static [RegisterField],
    /// Source keys.
    pub sources: &'static [&'static str],
}

/// Named bits of a register. All are constants in [`reg`], in a module per register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterField {
    /// Name, as in the vendor's headers where they have one.
    pub name: &'static str,
    /// Lowest bit.
    pub lo: u8,
    /// Bits.
    pub width: u8,
    /// One line of explanation.
    pub doc: &'static str,
}

impl RegisterField {
    /// Its bits in a word.
    #[must_use]
    pub const fn mask(self) -> u32 {
        let ones = if self.width >= 32 { u32::MAX } else { (1 << self.width) - 1 };
        ones << self.lo
    }

    /// Its value in a word.
    #[must_use]
    pub const fn of(self, word: u32) -> u32 {
        (word & self.mask()) >> self.lo
    }

    /// Whether it is anything but 0 in a word.
    #[must_use]
    pub const fn is_set(self, word: u32) -> bool {
        word & self.mask() != 0
    }

    /// A word with that value in it and nothing else. What does not fit is cut off.
    #[must_use]
    pub const fn put(self, value: u32) -> u32 {
        value << self.lo & self.mask()
    }
}

impl Register {
    /// Element of this register that covers byte `offset` of the block.
    #[must_use]
    pub fn element(&self, offset: u32) -> Option<u32> {
        let distance = offset.checked_sub(self.offset)?;
        if self.stride == 0 {
            return (distance < 4).then_some(0);
        }
        let index = distance / self.stride;
        (index < self.count && distance % self.stride < 4).then_some(index)
    }
}

include!(concat!(env!("OUT_DIR"), "/registers.rs"));

/// The block that `target` shows, with the instance.
#[must_use]
pub fn block(target: Target) -> Option<(&'static Block, &'static Instance)> {
    BLOCKS.iter().find_map(|b| b.instances.iter().find(|i| i.target == target).map(|i| (b, i)))
}

/// The register of `target` at byte `offset` of its block, with the element index.
#[must_use]
pub fn register_at(target: Target, offset: u32) -> Option<(&'static Register, u32)> {
    let (block, _) = block(target)?;
    block.registers.iter().find_map(|r| r.element(offset).map(|index| (r, index)))
}
