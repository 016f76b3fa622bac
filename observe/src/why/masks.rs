//! Edge masks of the packer that a reduction has set, and that are still in force where other results are packed.
//!
//! The `init` of a reduction lets pack write zeros but for the first column, row or datum, and only `reduce_uninit` takes
//! that back `[hdr: tt-llk llk_pack_common.h]`. What math has done in a section of Dst is told by the names of the
//! library's functions whose instructions it has executed there.

use std::collections::VecDeque;

use isa::config::field;
use isa::names::SEMAPHORES;
use isa::op::{Opcode, Unit};
use isa::operands::{Semget, Sempost};
use sim_core::{AgentId, CoreId, Event, Stamp, ThreadId};

use super::circular::Violation;
use super::hazards as h;
use super::operations::{called, operation};
use crate::cache::Cache;
use crate::names::Names;

/// A mask that lets all datums of a row pass.
const ALL: u32 = 0xFFFF;

/// What instructions that math has pushed somewhere are part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// A reduction.
    Reduction,
    /// Another operation.
    Other,
    /// That is not known.
    Unknown,
}

/// What math has done in a section of Dst.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    /// Something that is a reduction, or of which nothing is known.
    reduces: bool,
    /// Where the core has pushed an instruction of another operation.
    other: Option<u32>,
}

/// Masks, and the sections that math has given to pack.
#[derive(Clone, Debug)]
pub(super) struct Masks {
    /// The bit of MATH_PACK in the masks of instructions.
    bit: u32,
    /// The pc where masks in force were set.
    set: Option<u32>,
    math: Section,
    given: VecDeque<Section>,
    /// What code of the math kernel is part of, by pc.
    code: Cache<u32, Part>,
}

impl Default for Masks {
    fn default() -> Self {
        let own = SEMAPHORES.iter().find(|row| row.name == "MATH_PACK");
        Self {
            bit: own.map_or(0, |row| 1 << row.number),
            set: None,
            math: Section::default(),
            given: VecDeque::new(),
            code: Cache::default(),
        }
    }
}

impl Masks {
    /// All kernels are done.
    pub(super) fn ended(&mut self) {
        *self = Self::default();
    }

    /// Other names are in force.
    pub(super) fn launched(&mut self) {
        (self.set, self.code) = Default::default();
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
                self.math(names, stamp.pc, word);
                None
            }
            Event::Issue { thread: ThreadId::T2, word, .. } => self.pack(names, stamp, word),
            Event::Config { state: 0 | 1, index, after, .. }
                if stamp.agent == AgentId::Thread(ThreadId::T2) =>
            {
                let mask = &field::PCK_EDGE_OFFSET_SEC0_mask;
                if u32::from(index) == mask.addr32 {
                    self.set = Some(stamp.pc).filter(|_| mask.of_word(after) != ALL);
                }
                None
            }
            _ => None,
        }
    }

    fn math(&mut self, names: &impl Names, pc: u32, word: u32) {
        let Some(opcode) = Opcode::from_word(word) else { return };
        if opcode == Opcode::Sempost && Sempost::of(word).sem_sel & self.bit != 0 {
            self.given.push_back(std::mem::take(&mut self.math));
        }
        if opcode.unit() != Unit::Matrix {
            return;
        }
        let part = *self.code.get(pc, || {
            let frames = names.frames(CoreId::Trisc1, pc);
            match operation(&frames) {
                Some((name, _)) if name.split('_').any(|word| word == "reduce") => Part::Reduction,
                Some(_) => Part::Other,
                None => Part::Unknown,
            }
        });
        match part {
            Part::Other => _ = self.math.other.get_or_insert(pc),
            Part::Reduction | Part::Unknown => self.math.reduces = true,
        }
    }

    fn pack(&mut self, names: &impl Names, stamp: Stamp, word: u32) -> Option<Violation> {
        match Opcode::from_word(word)? {
            Opcode::Semget if Semget::of(word).sem_sel & self.bit != 0 => {
                self.given.pop_front();
                None
            }
            Opcode::Pacr => {
                let place = self.set?;
                let section = self.given.front()?;
                let other = section.other.filter(|_| !section.reduces)?;
                let (math, pack) = (CoreId::Trisc1, CoreId::Trisc2);
                let frames = names.frames(pack, place);
                let (name, _) = operation(&frames)?;
                if !name.split('_').any(|word| word == "reduce") {
                    return None;
                }
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
