//! Edge masks of the packer that a reduction has set, and that are still in force where other results are packed.
//!
//! The `init` of a reduction lets pack write zeros but for the first column, row or datum, and only `reduce_uninit` takes
//! that back `[hdr: tt-llk llk_pack_common.h]`. What math has done in a section of Dst is told by the names of the
//! library's functions whose instructions it has executed there.

use std::collections::VecDeque;

use isa::config::field;
use isa::op::{Opcode, Unit};
use isa::operands::{Semget, Sempost, Semwait};
use sim_core::{AgentId, CoreId, Event, Stamp, ThreadId};

use super::circular::Violation;
use super::hazards as h;
use super::operations::{called, operation};
use super::sections::{MATH_PACK_BIT, WHILE_ZERO};
use crate::names::Names;

/// A mask that lets all datums of a row pass.
const ALL: u32 = 0xFFFF;

/// Most places of a section that are looked at: in one with more anything may have been done.
const MOST: usize = 64;

/// Where math has pushed the instructions of the matrix unit that it has executed in a section of Dst.
#[derive(Clone, Debug, Default)]
struct Section {
    places: Vec<u32>,
}

impl Section {
    fn been(&mut self, pc: u32) {
        if self.places.last() != Some(&pc)
            && self.places.len() <= MOST
            && !self.places.contains(&pc)
        {
            self.places.push(pc);
        }
    }

    /// The first place, if all that was done is known, and none of it is a reduction.
    fn no_reduction(&self, names: &impl Names) -> Option<u32> {
        let is_other = |pc: &u32| {
            let frames = names.frames(CoreId::Trisc1, *pc);
            operation(&frames).is_some_and(|(name, _)| !reduces(name))
        };
        let are_all = self.places.len() <= MOST && self.places.iter().all(is_other);
        self.places.first().copied().filter(|_| are_all)
    }
}

/// Whether a function of the library is part of a reduction.
fn reduces(name: &str) -> bool {
    name.split('_').any(|word| word == "reduce")
}

/// Masks, and the sections that math has given to pack.
#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    /// The pc where masks in force were set, if a reduction has set them.
    set: Option<u32>,
    math: Section,
    given: VecDeque<Section>,
    /// Pack has packed something of the first of them, or has kept one that it should have given back: from then on it
    /// packs others than math means.
    packed: bool,
    kept: bool,
}

impl Masks {
    /// All kernels are done.
    pub(super) fn ended(&mut self) {
        *self = Self::default();
    }

    /// Other names are in force.
    pub(super) fn launched(&mut self) {
        self.set = None;
    }

    /// Takes an event.
    pub(super) fn event(
        &mut self,
        names: &impl Names,
        stamp: Stamp,
        event: &Event,
    ) -> Option<Violation> {
        match *event {
            // A new program begins, of which nobody says so.
            Event::Reset { core: CoreId::Trisc1 | CoreId::Trisc2, asserted: false, .. } => {
                self.ended();
                None
            }
            Event::Issue { thread: ThreadId::T1, word, .. } => {
                self.math(stamp.pc, word);
                None
            }
            Event::Issue { thread: ThreadId::T2, word, .. } => self.pack(names, stamp, word),
            Event::Config { state: 0 | 1, index, after, .. }
                if stamp.agent == AgentId::Thread(ThreadId::T2) =>
            {
                let mask = &field::PCK_EDGE_OFFSET_SEC0_mask;
                if u32::from(index) == mask.addr32 {
                    let frames = names.frames(CoreId::Trisc2, stamp.pc);
                    let by_reduction = operation(&frames).is_some_and(|(name, _)| reduces(name));
                    let is_set = by_reduction && mask.of_word(after) != ALL;
                    self.set = is_set.then_some(stamp.pc);
                }
                None
            }
            _ => None,
        }
    }

    fn math(&mut self, pc: u32, word: u32) {
        let Some(opcode) = Opcode::from_word(word) else { return };
        if opcode == Opcode::Sempost && Sempost::of(word).sem_sel & MATH_PACK_BIT != 0 {
            self.given.push_back(std::mem::take(&mut self.math));
        }
        if opcode.unit() == Unit::Matrix {
            self.math.been(pc);
        }
    }

    fn pack(&mut self, names: &impl Names, stamp: Stamp, word: u32) -> Option<Violation> {
        match Opcode::from_word(word)? {
            Opcode::Semget if Semget::of(word).sem_sel & MATH_PACK_BIT != 0 => {
                self.given.pop_front();
                self.packed = false;
                None
            }
            Opcode::Semwait => {
                let wait = Semwait::of(word);
                let is_next =
                    wait.wait_sem_cond & WHILE_ZERO != 0 && wait.sem_sel & MATH_PACK_BIT != 0;
                self.kept |= is_next && self.packed;
                None
            }
            Opcode::Pacr => {
                self.packed = true;
                let place = self.set.filter(|_| !self.kept)?;
                let (math, pack) = (CoreId::Trisc1, CoreId::Trisc2);
                let section = self.given.front_mut()?;
                let Some(other) = section.no_reduction(names) else {
                    // It is not looked at again.
                    section.places.clear();
                    return None;
                };
                self.set = None;
                let text = format!(
                    "{} packs what {} has computed with the edge masks that {} has set in {}",
                    called(names, pack, stamp.pc)?,
                    called(names, math, other)?,
                    called(names, pack, place)?,
                    names.site(pack, place)?
                );
                Some((stamp, h::C24, text))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use isa::encode;
    use sim_core::observer::Slot;

    use super::*;
    use crate::names::CodeName;
    use crate::testing::at;

    /// Places of a reduction, and of an addition.
    const REDUCTION: u32 = 0x100;
    const ADDITION: u32 = 0x200;

    #[derive(Clone, Copy)]
    struct Library;

    impl Names for Library {
        fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
            let unit = if core == CoreId::Trisc2 { "pack" } else { "math" };
            let name = if pc == REDUCTION { "reduce" } else { "add" };
            Some(CodeName { function: format!("_llk_{unit}_{name}_"), file: None, line: None })
        }
    }

    /// What either side does.
    #[derive(Clone, Copy)]
    enum Act {
        /// Math computes there and gives its section to pack.
        Give(u32),
        /// Masks of a reduction are set.
        Set,
        Wait,
        Pack,
        Return,
    }
    use Act::{Give, Pack, Return, Set, Wait};

    fn word(opcode: Opcode) -> u32 {
        u32::from(opcode as u8) << 24
    }

    /// The ids of what is said.
    fn said(acts: &[Act]) -> Vec<&'static str> {
        let mut masks = Masks::default();
        let mut found = Vec::new();
        for act in acts {
            let issue = |thread, pc, word| {
                (
                    at(1, AgentId::Thread(thread), pc),
                    Event::Issue { thread, word, slot: Slot::default() },
                )
            };
            let (math, pack) = (ThreadId::T1, ThreadId::T2);
            let index = field::PCK_EDGE_OFFSET_SEC0_mask.addr32 as u16;
            let events = match *act {
                Give(pc) => vec![
                    issue(math, pc, word(Opcode::Elwadd)),
                    issue(math, pc, encode::sempost(MATH_PACK_BIT)),
                ],
                Set => {
                    let config = Event::Config { state: 0, index, before: ALL, after: 1 };
                    vec![(at(1, AgentId::Thread(pack), REDUCTION), config)]
                }
                Wait => vec![issue(pack, ADDITION, encode::semwait(WHILE_ZERO, MATH_PACK_BIT, 0))],
                Pack => vec![issue(pack, ADDITION, word(Opcode::Pacr))],
                Return => vec![issue(pack, ADDITION, encode::semget(MATH_PACK_BIT))],
            };
            let told =
                events.iter().filter_map(|(stamp, event)| masks.event(&Library, *stamp, event));
            found.extend(told.map(|(_, hazard, _)| hazard.id));
        }
        found
    }

    #[test]
    fn other_results_that_are_packed_with_the_masks_of_a_reduction_are_told() {
        let none: [&str; 0] = [];
        assert_eq!(said(&[Give(ADDITION), Wait, Pack, Return]), none);
        assert_eq!(said(&[Set, Give(REDUCTION), Wait, Pack, Return]), none);
        assert_eq!(said(&[Set, Give(ADDITION), Wait, Pack, Pack, Return]), ["C24"]);
        let next = [Set, Give(REDUCTION), Wait, Pack, Return, Give(ADDITION), Wait, Pack];
        assert_eq!(said(&next), ["C24"]);
    }

    #[test]
    fn which_section_is_packed_is_not_known_once_one_was_not_given_back() {
        let none: [&str; 0] = [];
        let kept = [Give(ADDITION), Wait, Pack, Set, Give(REDUCTION), Wait, Pack, Return];
        assert_eq!(said(&kept), none);
        let given_back = [Give(ADDITION), Wait, Pack, Return, Set, Give(ADDITION), Wait, Pack];
        assert_eq!(said(&given_back), ["C24"]);
    }
}
