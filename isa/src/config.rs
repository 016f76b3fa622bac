//! Backend configuration fields.
//!
//! A field is a few bits of a 32-bit word of ThreadConfig (one copy per Tensix thread) or of Config
//! (two banks). Table: `tables/backend_config.toml`, checked against the vendor's header.
//!
//! Not here: the words themselves and the effect of writing them.

use crate::op::{DstUse, Opcode, Unit};
use crate::operands::Unpacr;

/// Which array of words a field lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// ThreadConfig: per thread, written with SETC16.
    Thread,
    /// Config: two banks, chosen by the thread's `CFG_STATE_ID_StateID`.
    Config,
}

/// 32-bit words per bank of Config [hdr: hw/inc/internal/tt-1xx/blackhole/cfg_defines.h].
pub const CONFIG_WORDS: u32 = 224;
/// Words per thread of ThreadConfig [hdr: hw/inc/internal/tt-1xx/blackhole/cfg_defines.h].
pub const THREAD_WORDS: u32 = 68;
/// From this word on, a write to Config goes to both banks [spec: boot-and-sync 5.14].
pub const GLOBAL_BASE: u32 = 180;

/// One configuration field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigField {
    /// Vendor's spelling.
    pub name: &'static str,
    /// Vendor's block, e.g. `THCON`.
    pub section: &'static str,
    /// Array of words.
    pub scope: Scope,
    /// Index of the word.
    pub addr32: u32,
    /// Lowest bit.
    pub lo: u8,
    /// Bits. More than 32 (tile descriptors: 128) spans whole words from `addr32` on.
    pub width: u8,
    /// The units whose instructions go by it, of a field of Config, as far as that is known.
    pub users: Users,
}

impl ConfigField {
    /// Mask of the field inside its (first) word.
    #[inline]
    #[must_use]
    pub const fn mask(&self) -> u32 {
        if self.width >= 32 { u32::MAX } else { ((1 << self.width) - 1) << self.lo }
    }

    /// Value from the words of its array; the first word of a longer field.
    /// 0 when `words` is too short.
    #[inline]
    #[must_use]
    pub const fn get(&self, words: &[u32]) -> u32 {
        let index = self.addr32 as usize;
        if index < words.len() { self.of_word(words[index]) } else { 0 }
    }

    /// Value from its (first) word.
    #[inline]
    #[must_use]
    pub const fn of_word(&self, word: u32) -> u32 {
        (word & self.mask()) >> self.lo
    }

    /// The (first) word with this field set to `value`, which is cut to the field.
    #[inline]
    #[must_use]
    pub const fn insert(&self, word: u32, value: u32) -> u32 {
        (word & !self.mask()) | ((value << self.lo) & self.mask())
    }

    /// True for a field of Config whose writes go to both banks.
    #[inline]
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.scope == Scope::Config && self.addr32 >= GLOBAL_BASE
    }

    /// Index of the field's last word.
    #[inline]
    #[must_use]
    pub const fn last_word(&self) -> u32 {
        self.addr32 + (self.width as u32).div_ceil(32).saturating_sub(1)
    }
}

/// Units whose instructions go by a configuration, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Users(u8);

impl Users {
    /// None that is known.
    pub const NONE: Self = Self(0);
    /// UNPACR of unpacker 0 and of unpacker 1.
    pub const UNPACKERS: [Self; 2] = [Self(1), Self(2)];
    /// PACR.
    pub const PACKER: Self = Self(4);
    /// Instructions of the matrix unit that read or write Dst.
    pub const MATRIX: Self = Self(8);
    /// SFPLOAD and SFPSTORE.
    pub const VECTOR: Self = Self(16);

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether one is in both sets.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: [&str; 5] =
            ["unpacker 0", "unpacker 1", "packer", "matrix unit", "vector unit"];
        NAMES
            .into_iter()
            .enumerate()
            .filter(move |(at, _)| self.0 >> at & 1 == 1)
            .map(|(_, name)| name)
    }

    /// The unit that an instruction is one of.
    #[must_use]
    pub fn of_instruction(word: u32) -> Self {
        let Some(opcode) = Opcode::from_word(word) else { return Self::NONE };
        match opcode {
            Opcode::Unpacr => Self::UNPACKERS[usize::from(Unpacr::of(word).unpack_block_selection)],
            Opcode::Pacr => Self::PACKER,
            Opcode::Sfpload | Opcode::Sfpstore => Self::VECTOR,
            _ if opcode.unit() == Unit::Matrix && opcode.row().dst != DstUse::None => Self::MATRIX,
            _ => Self::NONE,
        }
    }
}

impl ConfigField {
    /// Whether one of the bits of word `addr32` is its own.
    #[must_use]
    pub const fn has_bits(&self, addr32: u32, bits: u32) -> bool {
        let mask = if addr32 == self.addr32 { self.mask() } else { u32::MAX };
        self.addr32 <= addr32 && addr32 <= self.last_word() && mask & bits != 0
    }
}

/// One constant per field, in the vendor's spelling.
#[allow(non_upper_case_globals, reason = "the vendor's spelling is what people search for")]
pub mod field {
    use super::{ConfigField, Scope, Users};

    include!(concat!(env!("OUT_DIR"), "/config.rs"));
}

pub use field::ALL;

/// The field with this name, in any case.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static ConfigField> {
    with_prefix(name).find(|f| f.name.len() == name.len())
}

/// All fields whose name begins with `prefix`, in any case, in alphabetic order.
pub fn with_prefix(prefix: &str) -> impl Iterator<Item = &'static ConfigField> {
    let wanted = prefix.to_ascii_lowercase();
    let start =
        field::BY_NAME.partition_point(|i| ALL[usize::from(*i)].name.to_ascii_lowercase() < wanted);
    field::BY_NAME[start..]
        .iter()
        .map(|i| &ALL[usize::from(*i)])
        .take_while(move |f| f.name.to_ascii_lowercase().starts_with(&wanted))
}

/// The fields that touch a word, lowest bit first. A field of several words is found by each of them.
pub fn in_word(scope: Scope, addr32: u32) -> impl Iterator<Item = &'static ConfigField> {
    // A field spans at most four words, so earlier rows than that cannot reach this word.
    let start = ALL.partition_point(|f| (f.scope, f.addr32 + 4) <= (scope, addr32));
    ALL[start..]
        .iter()
        .take_while(move |f| (f.scope, f.addr32) <= (scope, addr32))
        .filter(move |f| f.scope == scope && f.last_word() >= addr32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_config_are_read_by_their_units() {
        // One with a beginning of its own within that of another unit, one of two units, one of none.
        let names = |field: &str| {
            let field = by_name(field).unwrap_or_else(|| panic!("no field {field}"));
            field.users.names().collect::<Vec<_>>()
        };
        assert_eq!(names("THCON_SEC0_REG1_Unp_LF8_4b_exp"), ["unpacker 0"]);
        assert_eq!(names("THCON_SEC0_REG1_L1_Dest_addr"), ["packer"]);
        assert_eq!(names("ALU_FORMAT_SPEC_REG1_SrcB"), ["matrix unit", "vector unit"]);
        assert_eq!(names("CFG_STATE_ID_StateID"), [""; 0]);
        let word = crate::encode::stallwait(1, 1);
        assert_eq!(Users::of_instruction(word), Users::NONE);
    }
}
