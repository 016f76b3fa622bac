//! Programmable constants of the vector unit that a kernel reads and has not set.
//!
//! LReg 12 to 14 are what `SFPCONFIG` has put there last `[isa-bh: TensixCoprocessor/LReg.md]`: of another kernel, where
//! the `init` of an operation is left out. LReg 11 is left out here: firmware sets it to -1
//! `[hdr: hw/inc/internal/tt-1xx/blackhole/c_tensix_core.h]`.
//!
//! Operations share the three registers: each has an `init` that sets those which it goes by, and an `init` in between
//! sets others. Whether what reads a constant and what has set it belong together is told by the names of the functions
//! that they were inlined into: `sfpu_reciprocal_init` within `recip_init` sets what `sfpu_reciprocal_iter` within
//! `calculate_reciprocal` reads. Code whose functions have no such names says nothing.

use std::collections::{BTreeMap, BTreeSet};

use isa::lregs::{known_reads, missed_reads};
use isa::op::{Opcode, Unit};
use isa::operands::Sfpconfig;
use sim_core::{CoreId, Event, Stamp};

use super::circular::Violation;
use super::hazards as h;
use crate::names::{FrameName, Names};

/// The first of the constants, and how many there are.
const FIRST: u32 = 12;
const COUNT: usize = 3;
/// All of them, as a mask of registers.
const CONSTANTS: u32 = ((1 << COUNT) - 1) << FIRST;
/// Which registers are read depends on the data.
const ANY: u32 = 0xFFFF;

/// Constants that have been set, or said to be missing, since the kernels began.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    set: u32,
    /// Where each of them was set last.
    setters: [Option<u32>; COUNT],
    /// Places that set and read one, which have been looked at.
    pairs: BTreeSet<(u32, u32)>,
    /// What is computed at places of the kernel.
    operations: BTreeMap<u32, Operation>,
}

impl Constants {
    /// All kernels are done.
    pub(super) fn ended(&mut self) {
        *self = Self::default();
    }

    /// Takes an event.
    pub(super) fn event(
        &mut self,
        names: &impl Names,
        stamp: Stamp,
        event: &Event,
    ) -> Option<Violation> {
        // A new program begins, of which nobody says so.
        if let Event::Reset { core: CoreId::Trisc1, asserted: false, .. } = *event {
            self.ended();
        }
        let Event::Issue { word, .. } = *event else { return None };
        let opcode = Opcode::from_word(word).filter(|opcode| opcode.unit() == Unit::Vector)?;
        if opcode == Opcode::Sfpconfig {
            let register = Sfpconfig::of(word).config_dest;
            self.set |= 1 << register;
            if let Some(setter) = setter_of(&mut self.setters, register) {
                *setter = Some(stamp.pc);
            }
            return None;
        }
        let read = known_reads(opcode, word) | missed_reads(opcode, word);
        let missing = if read == ANY { 0 } else { read & CONSTANTS & !self.set };
        if missing == 0 {
            let read = if read == ANY { 0 } else { read & CONSTANTS };
            return self.strange(names, stamp, (opcode, read));
        }
        self.set |= missing;
        let text = format!(
            "{} reads LReg {}, a constant that the kernel has not set",
            opcode.row().name,
            missing.trailing_zeros()
        );
        Some((stamp, h::C5, text))
    }

    /// Takes a read of some constants that have been set. A violation if that was for something else.
    fn strange(
        &mut self,
        names: &impl Names,
        stamp: Stamp,
        (opcode, mut read): (Opcode, u32),
    ) -> Option<Violation> {
        while read != 0 {
            let register = read.trailing_zeros();
            read &= read - 1;
            let setter = setter_of(&mut self.setters, register).and_then(|setter| *setter);
            let Some(setter) = setter.filter(|setter| self.pairs.insert((*setter, stamp.pc)))
            else {
                continue;
            };
            let mut at = |pc: u32| {
                let operation = self.operations.entry(pc);
                operation
                    .or_insert_with(|| Operation::of(&names.frames(CoreId::Trisc1, pc)))
                    .clone()
            };
            let (set, used) = (at(setter), at(stamp.pc));
            if set.is_strange_to(&used) {
                let text = format!(
                    "{} of {} reads LReg {register}, a constant that {} has set in {}",
                    opcode.row().name,
                    used.name,
                    set.name,
                    names.site(CoreId::Trisc1, setter)?
                );
                return Some((stamp, h::C5, text));
            }
        }
        None
    }
}

/// The place of a register among the constants.
fn setter_of(setters: &mut [Option<u32>; COUNT], register: u32) -> Option<&mut Option<u32>> {
    setters.get_mut(register.checked_sub(FIRST)? as usize)
}

/// Where the vendor's vector functions are `[hdr: tt-llk common/inc/sfpu]`.
const LIBRARY: &str = "ckernel::sfpu::";
/// Words of their names that do not say what is computed. Which activation is applied is a template argument.
const COMMON: [&str; 10] = [
    "activation",
    "apply",
    "body",
    "calculate",
    "impl",
    "init",
    "internal",
    "iter",
    "mode",
    "sfpu",
];
/// Letters by which a word is known: `exp_init` is for `calculate_exponential`.
const LETTERS: usize = 3;

/// What code of a kernel computes, as the functions say that it was inlined into.
#[derive(Clone, Default, Debug)]
struct Operation {
    /// The outermost function of the library.
    name: String,
    /// What the names of all of them say.
    words: BTreeSet<String>,
}

impl Operation {
    fn of(frames: &[FrameName]) -> Self {
        let functions = || {
            let names = frames.iter().map(|frame| frame.code.function.as_str());
            names.filter_map(|name| Some(name.split_once(LIBRARY)?.1))
        };
        let plain = |name: &str| name.split(['<', '(']).next().unwrap_or_default().to_owned();
        let split = |name: String| name.split('_').map(str::to_owned).collect::<Vec<_>>();
        let words = functions().map(plain).flat_map(split);
        // Words of types begin with a capital letter.
        let says = |word: &String| {
            let is_lower = word.starts_with(|first: char| first.is_ascii_lowercase());
            is_lower && word.len() >= LETTERS && !COMMON.contains(&word.as_str())
        };
        Self {
            name: functions().next_back().map(plain).unwrap_or_default(),
            words: words.filter(says).collect(),
        }
    }

    /// Whether both say what they do, and it is not the same.
    fn is_strange_to(&self, other: &Self) -> bool {
        let same =
            |one: &str| other.words.iter().any(|other| one.get(..LETTERS) == other.get(..LETTERS));
        !self.words.is_empty()
            && !other.words.is_empty()
            && !self.words.iter().any(|word| same(word))
    }
}

#[cfg(test)]
mod tests {
    use isa::encode;
    use sim_core::observer::Slot;
    use sim_core::{AgentId, Cycle, ThreadId};

    use super::*;
    use crate::names::{BuiltInNames, CodeName};

    const PLACE: Stamp =
        Stamp { cycle: Cycle(1), agent: AgentId::Thread(ThreadId::T1), pc: 0xD000 };

    fn issue(word: u32) -> Event {
        Event::Issue { thread: ThreadId::T1, word, slot: Slot::default() }
    }

    fn said(constants: &mut Constants, words: &[u32]) -> Vec<String> {
        let mut found = |word: &u32| {
            let found = constants.event(&BuiltInNames, PLACE, &issue(*word));
            found.map(|(.., text)| text)
        };
        words.iter().filter_map(&mut found).collect()
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

    /// Two places that set constants, and one that reads them, within these functions.
    struct Library([&'static [&'static str]; 3]);

    impl Names for Library {
        fn frames(&self, _: CoreId, pc: u32) -> Vec<FrameName> {
            let named = |name: &&str| FrameName {
                code: CodeName { function: (*name).to_owned(), file: None, line: None },
                arguments: String::new(),
            };
            self.0[(pc / 4) as usize].iter().map(named).collect()
        }

        fn site(&self, _: CoreId, pc: u32) -> Option<CodeName> {
            Some(CodeName { function: format!("line {pc}"), file: None, line: None })
        }
    }

    #[test]
    fn constant_of_another_operation_is_strange() {
        let exp: &[_] = &["sfpi::vFloat", "ckernel::sfpu::exp_init<true>", "exp_tile_init"];
        let recip: &[_] = &["ckernel::sfpu::sfpu_reciprocal_init", "ckernel::sfpu::recip_init"];
        let reads: &[_] = &[
            "ckernel::sfpu::sfpu_reciprocal_iter(sfpi::vFloat)",
            "ckernel::sfpu::calculate_reciprocal",
            "kernel_main",
        ];
        let (set, read) = (encode::sfpconfig(0, 13, 0), encode::sfpmad(0, 3, 2, 1, 13));
        let said = |names: &Library, order: &[u32]| -> Vec<String> {
            let mut constants = Constants::default();
            let mut at = |pc: &u32| {
                let word = if *pc == 8 { read } else { set };
                let stamp = Stamp { pc: *pc, ..PLACE };
                constants.event(names, stamp, &issue(word)).map(|(.., text)| text)
            };
            order.iter().filter_map(&mut at).collect()
        };
        let names = Library([exp, recip, reads]);
        assert_eq!(said(&names, &[0, 4, 8, 8]), [""; 0]);
        let text = "SFPMAD of calculate_reciprocal reads LReg 13, a constant that exp_init has set in line 0";
        assert_eq!(said(&names, &[4, 8, 0, 8, 8]), [text]);
        // What is said in a template argument only.
        let any: &[_] =
            &["ckernel::sfpu::ActivationImpl<false>::apply", "ckernel::sfpu::apply_activation"];
        assert_eq!(said(&Library([exp, recip, any]), &[0, 8]), [""; 0]);
        // Who says nothing of itself, or one that is part of another.
        for inner in
            [&["kernel_main"][..], &["ckernel::sfpu::_init_exp_", "ckernel::sfpu::recip_init"]]
        {
            assert_eq!(said(&Library([inner, recip, reads]), &[0, 8]), [""; 0]);
        }
        let long: &[_] = &["ckernel::sfpu::_calculate_exponential_body_<true, 8>"];
        assert_eq!(said(&Library([exp, recip, long]), &[0, 8]), [""; 0]);
    }
}
