//! The handshake about Dst: math takes a section and gives it to pack, pack takes it and gives it back
//! `[llk: llk_lib/llk_math_common.h, llk_lib/llk_pack_common.h]`.
//!
//! Both sides wait for, post and get the semaphore MATH_PACK. Who leaves out a wait works on what the other side may be
//! at; that nothing hangs, and that the result is right, is a matter of time. Sections are the halves of Dst where
//! the semaphore's maximum is two, and math stays within its own. What it has not written there since it took the
//! section is what somebody has left behind, or zero. What pack gives back without having packed any of it, or does not
//! give back, is lost.

use std::collections::VecDeque;

use isa::config::{self as fields, ConfigField};
use isa::op::{DstUse, Opcode};
use isa::operands::{Semget, Sempost, Semwait, Setadc, Setc16, Zeroacc};
use sim_core::observer::SemaphoreOp;
use sim_core::{AgentId, CoreId, Event, Stamp, ThreadId};

use super::circular::Violation;
use super::copies::Copies;
use super::hazards as h;
use super::tile_reads::{TILE_ROWS, TileReads};
use crate::describe::core_of;

/// The semaphore that counts the sections which math has given to pack `[llk: common/inc/ckernel_structs.h]`.
pub(super) const MATH_PACK: u8 = 1;
/// Its bit in the masks of instructions.
pub(super) const MATH_PACK_BIT: u32 = 1 << MATH_PACK;
/// The semaphore by which unpack says that it has written to Dst itself `[llk: common/inc/ckernel_structs.h]`.
const UNPACK_TO_DEST: u8 = 2;
/// What is said of pack that keeps a section: math has one less from then on.
pub(super) const KEPT: &str =
    "waits for the next section of Dst and has not given back the one that it has packed";
/// Rows of Dst of 16 bits, of which an address is a remainder `[hdr: tensix_types.h]`.
const ROWS: u32 = 1024;
const HALF_TILES: u32 = ROWS / 2 / TILE_ROWS;
/// SEMWAIT waits while a semaphore is zero, or at its maximum `[isa-bh: TensixCoprocessor/SEMWAIT.md]`.
pub(super) const WHILE_ZERO: u32 = 1;
const WHILE_MAX: u32 = 2;
/// ZEROACC clears all of Dst `[isa-bh: TensixCoprocessor/ZEROACC.md]`.
const CLEAR_ALL: u32 = 3;
/// The packer in the mask of counters of SETADC, and the dimension W `[isa-bh: TensixCoprocessor/SETADC.md]`.
const PACKER: u32 = 1 << 2;
const W: u32 = 3;

/// What one side has done with the section that it works on.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    waited: bool,
    /// Its first access without a wait.
    early: Option<Stamp>,
}

impl Side {
    /// It works on the section now.
    fn works(&mut self, stamp: Stamp) {
        if !self.waited {
            self.early.get_or_insert(stamp);
        }
    }

    /// It gives the section away; gives its first access without a wait.
    fn gives(&mut self) -> Option<Stamp> {
        std::mem::take(self).early
    }
}

/// What math has done in a section.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    /// Something was written there.
    has_data: bool,
    /// Math has cleared rows itself.
    is_cleared: bool,
}

/// Sections of Dst since the launch.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    math: Side,
    pack: Side,
    /// Sections that math has given to pack.
    given: u64,
    /// The section that math works on, and those that pack has yet to give back.
    own: Section,
    unreturned: VecDeque<Section>,
    /// The semaphore's maximum, which is the number of sections; none before anybody has set it.
    max: Option<u8>,
    /// Math or pack has told somebody something by another way.
    has_told: bool,
    /// First row of math's section, and the row that its kernel has set and not used yet.
    base: u32,
    row: Option<u32>,
    /// The tile that pack has set and not packed yet.
    tile: Option<u32>,
    /// Pack has packed something of its section, and where last of any.
    packed: bool,
    last: Option<Stamp>,
    /// Sections that pack has yet to give back, as the semaphore says.
    held: u8,
    /// Dst has words of 32 bits.
    is_wide: bool,
    /// Tiles that each side has read of its section; none once that is known to be empty.
    math_reads: Option<TileReads>,
    pack_reads: Option<TileReads>,
    copies: Copies,
}

impl Default for Sections {
    fn default() -> Self {
        Self {
            math: Side::default(),
            pack: Side::default(),
            given: 0,
            own: Section::default(),
            unreturned: VecDeque::new(),
            max: None,
            has_told: false,
            base: 0,
            row: None,
            tile: None,
            packed: false,
            last: None,
            held: 0,
            is_wide: false,
            math_reads: Some(TileReads::default()),
            pack_reads: Some(TileReads::default()),
            copies: Copies::default(),
        }
    }
}

impl Sections {
    /// Takes an event.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) -> Option<Violation> {
        match *event {
            Event::Issue { thread: ThreadId::T1, word, .. } => self.math(stamp, word),
            Event::Issue { thread: ThreadId::T2, word, .. } => self.pack(stamp, word),
            Event::Semaphore { index, op: SemaphoreOp::Init, max, .. } if index == MATH_PACK => {
                self.max = Some(max);
                (self.base, self.held) = (0, 0);
                None
            }
            Event::Semaphore { index, op: SemaphoreOp::Post | SemaphoreOp::Get, after, .. } => {
                if index == MATH_PACK {
                    self.held = after;
                }
                self.own.has_data |= index == UNPACK_TO_DEST;
                self.has_told |= core_of(stamp.agent).is_some_and(is_side);
                None
            }
            Event::MailboxPush { from, .. } => {
                self.has_told |= is_side(from);
                None
            }
            // A new program begins, of which nobody says so.
            Event::Reset { core: CoreId::Trisc1, asserted: false, .. } => {
                (self.math, self.row) = (Side::default(), None);
                (self.math_reads, self.copies) = (Some(TileReads::default()), Copies::default());
                None
            }
            Event::Reset { core: CoreId::Trisc2, asserted: false, .. } => {
                (self.pack, self.tile, self.packed) = (Side::default(), None, false);
                self.pack_reads = Some(TileReads::default());
                None
            }
            Event::Config { state: 0 | 1, index, after, .. } => {
                let wide = &fields::field::ALU_ACC_CTRL_Fp32_enabled;
                if u32::from(index) == wide.addr32 {
                    self.is_wide = wide.of_word(after) != 0;
                }
                None
            }
            _ => None,
        }
    }

    /// An instruction is about to read rows of Dst, of which some are valid or none.
    pub(super) fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        let (side, reads) = match stamp.agent {
            AgentId::Thread(ThreadId::T1) => {
                rows.iter().for_each(|row| self.copies.math_reads((*row).into()));
                (self.math, &mut self.math_reads)
            }
            AgentId::Thread(ThreadId::T2) => {
                rows.iter().for_each(|row| self.copies.pack_reads((*row).into()));
                (self.pack, &mut self.pack_reads)
            }
            _ => return,
        };
        if let (true, Some(reads), Some(row)) = (side.waited, reads, rows.first()) {
            reads.read(stamp, *row, held);
        }
    }

    /// A side is done with its section: says of the tiles that it has read.
    fn unwritten(reads: &mut Option<TileReads>, is_halved: bool, what: &str) -> Option<Violation> {
        let (row, stamp) = reads.replace(TileReads::default())?.take()?;
        let rows = if is_halved { ROWS / 2 } else { ROWS };
        let tile = row % rows / TILE_ROWS;
        let text = format!(
            "{what} tile {tile} of Dst, and nothing was written there since it was cleared"
        );
        Some((stamp, h::C5, text))
    }

    fn math(&mut self, stamp: Stamp, word: u32) -> Option<Violation> {
        const ROW: &ConfigField = &fields::field::DEST_TARGET_REG_CFG_MATH_Offset;
        let opcode = Opcode::from_word(word)?;
        self.copies.math(stamp, opcode, self.row);
        if opcode == Opcode::Zeroacc && self.puts_zeroes(word) {
            (self.own.is_cleared, self.math_reads) = (true, None);
        }
        match opcode {
            Opcode::Semwait => {
                let wait = Semwait::of(word);
                self.math.waited |=
                    wait.sem_sel & MATH_PACK_BIT != 0 && wait.wait_sem_cond & WHILE_MAX != 0;
                None
            }
            Opcode::Sempost if Sempost::of(word).sem_sel & MATH_PACK_BIT != 0 => {
                self.given += 1;
                self.copies.gives();
                self.unreturned.push_back(std::mem::take(&mut self.own));
                let is_halved = self.is_halved();
                if is_halved {
                    self.base ^= ROWS / 2;
                }
                let what = "the vector unit loads from";
                let unwritten = Self::unwritten(&mut self.math_reads, is_halved, what);
                let Some(early) = self.math.gives() else { return unwritten };
                let text =
                    "math writes to Dst without having waited until pack is done with that section";
                Some((early, h::B8, text.to_owned()))
            }
            Opcode::Setc16 if Setc16::of(word).setc16_reg == ROW.addr32 => {
                self.row = Some(ROW.of_word(Setc16::of(word).setc16_value));
                None
            }
            Opcode::Sfpload | Opcode::Sfploadmacro => {
                let is_empty = self.math.waited && !std::mem::replace(&mut self.own.has_data, true);
                let text = "the vector unit loads from Dst, and nothing was written there since math took that section";
                if is_empty {
                    self.math_reads = None;
                }
                is_empty.then(|| (stamp, h::C5, text.to_owned()))
            }
            opcode if writes_dst(opcode) => {
                self.own.has_data = true;
                self.math.works(stamp);
                let ahead = self.row.take()?.wrapping_sub(self.base) % ROWS;
                self.beyond(ahead / TILE_ROWS, "math works on").map(|text| (stamp, h::C19, text))
            }
            _ => None,
        }
    }

    /// Whether zeroes of a ZEROACC are results of math: not where it sets Dst up for what comes, as `hw_configure` does all of
    /// it in front of the first section, or makes rows valid that unpack has written
    /// `[llk: llk_lib/llk_math_eltwise_unary_datacopy.h]`.
    fn puts_zeroes(&self, word: u32) -> bool {
        let Zeroacc { clear_mode, clear_zero_flags, .. } = Zeroacc::of(word);
        let sets_up = clear_mode == CLEAR_ALL && !self.math.waited && self.math.early.is_none();
        !sets_up && !clear_zero_flags
    }

    fn is_halved(&self) -> bool {
        self.max == Some(2)
    }

    /// Says of a tile's index that it is none of a half.
    fn beyond(&self, tile: u32, what: &str) -> Option<String> {
        let (tiles, bits) = if self.is_wide { (HALF_TILES / 2, 32) } else { (HALF_TILES, 16) };
        let is_beyond = self.is_halved() && tile >= tiles;
        is_beyond.then(|| {
            let last = tiles - 1;
            format!("{what} tile {tile} of Dst, and a half has tiles 0 to {last}, of {bits} bits")
        })
    }

    fn pack(&mut self, stamp: Stamp, word: u32) -> Option<Violation> {
        let opcode = Opcode::from_word(word)?;
        self.copies.pack(opcode);
        match opcode {
            // For whichever semaphore: some kernels tell pack by another one.
            Opcode::Semwait => {
                let wait = Semwait::of(word);
                let waits = wait.wait_sem_cond & WHILE_ZERO != 0;
                let is_next = waits && wait.sem_sel & MATH_PACK_BIT != 0 && self.pack.waited;
                self.pack.waited |= waits;
                (is_next && self.packed).then(|| (stamp, h::C26, KEPT.to_owned()))
            }
            Opcode::Semget if Semget::of(word).sem_sel & MATH_PACK_BIT != 0 => {
                self.gives_back(stamp)
            }
            Opcode::Setadc => {
                let set = Setadc::of(word);
                let is_own = set.cnt_set_mask & PACKER != 0 && set.thread_override == 0;
                if is_own && set.dimension_index == W && !set.channel_index {
                    self.tile = Some(set.count);
                }
                None
            }
            // Counted on from what was set, as packs of rows do.
            Opcode::Incadczw | Opcode::Setadczw | Opcode::Addrcrzw => {
                self.tile = None;
                None
            }
            // The vector unit works for pack, which packs its results.
            Opcode::Sfpload | Opcode::Sfploadmacro | Opcode::Sfpstore => {
                self.pack_reads = None;
                None
            }
            Opcode::Pacr => {
                (self.packed, self.last) = (true, Some(stamp));
                self.pack.works(stamp);
                let section = self.unreturned.front_mut().filter(|_| self.pack.waited);
                if let Some(section) = section.filter(|section| !section.has_data) {
                    section.has_data = true;
                    self.pack_reads = None;
                    let text = "packs from a section of Dst into which math has written nothing since it took it";
                    return Some((stamp, h::C5, text.to_owned()));
                }
                let tile = self.tile.take()?;
                self.beyond(tile, "packs").map(|text| (stamp, h::C19, text))
            }
            _ => None,
        }
    }

    /// Pack is done with its section.
    fn gives_back(&mut self, stamp: Stamp) -> Option<Violation> {
        let section = self.unreturned.pop_front().unwrap_or_default();
        let is_lost = section.has_data && self.pack.waited && !self.packed;
        self.packed = false;
        let text =
            "gives back a section of Dst into which math has written, and has packed nothing of it";
        let lost = is_lost.then(|| (stamp, h::C26, text.to_owned()));
        let is_halved = self.is_halved();
        if section.is_cleared {
            self.pack_reads = None;
        }
        let unwritten = Self::unwritten(&mut self.pack_reads, is_halved, "packs");
        let untaken = self.copies.gives_back().filter(|_| self.pack.waited);
        let untaken = untaken.map(|(row, copied)| {
            let rows = if is_halved { ROWS / 2 } else { ROWS };
            let tile = row % rows / TILE_ROWS;
            let text = format!(
                "copies to tile {tile} of Dst, and nobody takes anything of it before pack gives that section back"
            );
            (copied, h::C26, text)
        });
        self.pack.gives().map(packed_early).or(lost).or(unwritten).or(untaken)
    }

    /// The program is over.
    pub(super) fn take(&mut self) -> Option<Violation> {
        let fresh = Self { is_wide: self.is_wide, max: self.max, ..Self::default() };
        let old = std::mem::replace(self, fresh);
        match (old.pack.early, old.math.early) {
            (Some(packed), _) if old.given > 0 => Some(packed_early(packed)),
            (Some(packed), Some(_)) if old.max.is_some() && !old.has_told => {
                let text = "packs from Dst what math has written, and neither waits for the other";
                Some((packed, h::B8, text.to_owned()))
            }
            _ => old.left(),
        }
    }

    /// Sections that pack has packed and not given back, when all kernels are done.
    fn left(&self) -> Option<Violation> {
        let Self { held, given, last, .. } = *self;
        let last = last.filter(|_| held > 0 && given >= u64::from(held))?;
        let text = format!(
            "has given back {} of the {given} sections of Dst that math gave to pack",
            given - u64::from(held)
        );
        Some((last, h::C26, text))
    }
}

/// Whether a core's thread is math or pack.
fn is_side(core: CoreId) -> bool {
    matches!(core, CoreId::Trisc1 | CoreId::Trisc2)
}

fn packed_early(stamp: Stamp) -> Violation {
    let text = "packs from Dst without having waited until math is done with that section";
    (stamp, h::B8, text.to_owned())
}

/// Whether a thread's instruction puts results into Dst.
pub(super) fn writes_dst(opcode: Opcode) -> bool {
    match opcode.row().dst {
        DstUse::Writes | DstUse::Accumulates | DstUse::MayAccumulate => true,
        DstUse::Reads | DstUse::None => opcode == Opcode::Sfpstore,
    }
}

#[cfg(test)]
mod tests {
    use isa::encode;
    use sim_core::AgentId;
    use sim_core::observer::Slot;

    use super::*;
    use crate::testing::at;

    /// Numbers of semaphores are those of the table.
    #[test]
    fn semaphores_have_the_names_of_the_table() {
        let name = |index: u8| isa::names::semaphore(index.into());
        assert_eq!(name(MATH_PACK), Some("MATH_PACK"));
        assert_eq!(name(UNPACK_TO_DEST), Some("UNPACK_TO_DEST"));
    }

    /// What a side does, as instructions.
    fn wait_math() -> u32 {
        encode::semwait(WHILE_MAX, MATH_PACK_BIT, 0)
    }

    fn wait_pack() -> u32 {
        encode::semwait(WHILE_ZERO, MATH_PACK_BIT, 0)
    }

    fn tile(row: u32) -> u32 {
        encode::setc16(row, fields::field::DEST_TARGET_REG_CFG_MATH_Offset.addr32)
    }

    fn packed(tile: u32) -> u32 {
        u32::from(Opcode::Setadc as u8) << 24
            | Setadc::CNT_SET_MASK.set(0, PACKER)
            | Setadc::DIMENSION_INDEX.set(0, W)
            | tile
    }

    fn word(opcode: Opcode) -> u32 {
        u32::from(opcode as u8) << 24
    }

    const STORE: Opcode = Opcode::Sfpstore;
    const PACR: Opcode = Opcode::Pacr;

    fn post() -> u32 {
        encode::sempost(MATH_PACK_BIT)
    }

    fn get() -> u32 {
        encode::semget(MATH_PACK_BIT)
    }

    /// Sections that begin as those of a kernel that has set the semaphore to that maximum.
    fn of(max: u8) -> Sections {
        let mut sections = Sections::default();
        let (op, before, after) = (SemaphoreOp::Init, 0, 0);
        let init = Event::Semaphore { index: MATH_PACK, op, before, after, max };
        sections.event(at(0, AgentId::Thread(ThreadId::T1), 0), &init);
        sections
    }

    /// Executes words of a thread, each from the pc that is its place; gives what is said, with those pcs.
    fn run(sections: &mut Sections, thread: ThreadId, words: &[u32]) -> Vec<(&'static str, u32)> {
        let told = |(pc, word): (u32, &u32)| {
            let issue = Event::Issue { thread, word: *word, slot: Slot::default() };
            let said = sections.event(at(9, AgentId::Thread(thread), pc), &issue);
            said.map(|(stamp, hazard, _)| (hazard.id, stamp.pc))
        };
        (0..).zip(words).filter_map(told).collect()
    }

    #[test]
    fn math_that_writes_without_a_wait_is_told_when_it_gives_the_section() {
        let mut sections = of(2);
        let own = [wait_math(), word(STORE), post(), word(STORE), word(STORE), post()];
        assert_eq!(run(&mut sections, ThreadId::T1, &own), [("B8", 3)]);
        let wrong_way = [wait_pack(), word(STORE), post()];
        assert_eq!(run(&mut sections, ThreadId::T1, &wrong_way), [("B8", 1)]);
    }

    #[test]
    fn pack_that_reads_without_a_wait_is_told_when_it_gives_the_section_back() {
        let mut sections = of(2);
        let own = [wait_pack(), word(PACR), get(), word(PACR), get()];
        assert_eq!(run(&mut sections, ThreadId::T2, &own), [("B8", 3)]);
    }

    /// Rows that a thread reads, each with whether it is valid.
    fn reads(sections: &mut Sections, thread: ThreadId, rows: &[(u16, bool)]) {
        for (pc, (row, held)) in (100..).zip(rows) {
            sections.dst_read(at(9, AgentId::Thread(thread), pc), &[*row], *held);
        }
    }

    #[test]
    fn tile_that_a_side_reads_and_nobody_has_written_is_told_when_it_gives_the_section_away() {
        let (zeroacc, math, pack) = (word(Opcode::Zeroacc), ThreadId::T1, ThreadId::T2);
        let all = zeroacc | Zeroacc::CLEAR_MODE.set(0, CLEAR_ALL);
        let valid = zeroacc | Zeroacc::CLEAR_ZERO_FLAGS.set(0, 1);
        // What math does in its section, and whether its own reads, and those of pack, are told.
        for (words, of_math, of_pack) in [
            (vec![wait_math(), word(STORE)], true, true),
            (vec![word(STORE)], false, true),
            (vec![wait_math(), word(STORE), zeroacc], false, false),
            (vec![all, wait_math(), word(STORE)], true, true),
            (vec![wait_math(), word(STORE), all], false, false),
            (vec![word(STORE), all, wait_math()], false, false),
            (vec![wait_math(), word(STORE), valid], true, true),
        ] {
            let mut sections = of(2);
            run(&mut sections, math, &words);
            reads(&mut sections, math, &[(512, true), (576, false)]);
            let said = run(&mut sections, math, &[post()]);
            assert_eq!(said.contains(&("C5", 101)), of_math, "{said:?}");
            run(&mut sections, pack, &[wait_pack(), word(PACR)]);
            reads(&mut sections, pack, &[(0, false)]);
            let said = run(&mut sections, pack, &[get()]);
            assert_eq!(said, [("C5", 100)][..usize::from(of_pack)], "{said:?}");
        }
        // The vector unit works for pack.
        let mut sections = of(2);
        run(&mut sections, math, &[wait_math(), word(STORE), post()]);
        run(&mut sections, pack, &[wait_pack(), word(STORE), word(PACR)]);
        reads(&mut sections, pack, &[(0, false)]);
        assert_eq!(run(&mut sections, pack, &[get()]), []);
    }

    #[test]
    fn pack_that_never_gives_back_is_told_at_the_end_if_math_has_given() {
        for (by_math, is_told) in [(vec![wait_math(), word(STORE), post()], true), (vec![], false)]
        {
            let mut sections = of(2);
            run(&mut sections, ThreadId::T1, &by_math);
            assert_eq!(run(&mut sections, ThreadId::T2, &[word(PACR)]), []);
            assert_eq!(sections.take().map(|(_, hazard, _)| hazard.id).is_some(), is_told);
            assert_eq!(sections.take().map(|(_, hazard, _)| hazard.id), None, "once");
        }
    }

    #[test]
    fn what_a_program_left_undone_is_not_told_of_the_next_one() {
        let mut sections = of(2);
        assert_eq!(run(&mut sections, ThreadId::T2, &[word(PACR)]), []);
        let (core, asserted, pc) = (CoreId::Trisc2, false, 0);
        let reset = Event::Reset { core, asserted, pc };
        sections.event(at(5, AgentId::Host, 0), &reset);
        assert_eq!(run(&mut sections, ThreadId::T2, &[wait_pack(), word(PACR), get()]), []);
    }

    #[test]
    fn section_of_which_nothing_is_packed_is_told_where_pack_gives_it_back() {
        let by_math = [wait_math(), word(STORE), post()];
        for (by_pack, told) in [
            (vec![wait_pack(), word(PACR), get(), wait_pack(), get()], vec![("C26", 4)]),
            (vec![wait_pack(), word(PACR), get(), wait_pack(), word(PACR), get()], vec![]),
            (vec![wait_pack(), get(), wait_pack(), word(PACR), get()], vec![("C26", 1)]),
        ] {
            let mut sections = of(2);
            let twice = [by_math, by_math].concat();
            assert_eq!(run(&mut sections, ThreadId::T1, &twice), []);
            assert_eq!(run(&mut sections, ThreadId::T2, &by_pack), told);
        }
        // Math has written nothing either.
        let mut sections = of(2);
        run(&mut sections, ThreadId::T1, &[wait_math(), post()]);
        assert_eq!(run(&mut sections, ThreadId::T2, &[wait_pack(), get()]), []);
    }

    #[test]
    fn section_that_pack_has_not_given_back_is_told_at_the_end() {
        for (after, told) in [(1, Some("C26")), (0, None)] {
            let mut sections = of(2);
            run(&mut sections, ThreadId::T1, &[wait_math(), word(STORE), post()]);
            run(&mut sections, ThreadId::T2, &[wait_pack(), word(PACR)]);
            let event = Event::Semaphore {
                index: MATH_PACK,
                op: SemaphoreOp::Post,
                before: 0,
                after,
                max: 2,
            };
            sections.event(at(5, AgentId::Thread(ThreadId::T1), 0), &event);
            let left = sections.take();
            assert_eq!(
                left.map(|(stamp, hazard, _)| (hazard.id, stamp.pc)),
                told.map(|id| (id, 1))
            );
        }
    }

    #[test]
    fn section_that_pack_keeps_is_told_where_it_waits_for_the_next_one() {
        let mut sections = of(2);
        let by_math = [wait_math(), word(STORE), post()];
        run(&mut sections, ThreadId::T1, &[by_math, by_math].concat());
        let own = [wait_pack(), wait_pack(), word(PACR), wait_pack(), word(PACR), get()];
        assert_eq!(run(&mut sections, ThreadId::T2, &own), [("C26", 3)]);
    }

    /// Unless the one tells the other by another semaphore or a mailbox.
    #[test]
    fn two_that_never_wait_for_each_other_are_told_at_the_end() {
        let (op, before, after, max) = (SemaphoreOp::Post, 0, 1, 2);
        let post = Event::Semaphore { index: 5, op, before, after, max };
        let push =
            Event::MailboxPush { from: CoreId::Trisc1, to: CoreId::Trisc2, value: 1, depth: 1 };
        for (other, is_told) in [(None, true), (Some(post), false), (Some(push), false)] {
            let mut sections = of(2);
            run(&mut sections, ThreadId::T1, &[word(STORE)]);
            if let Some(event) = other {
                sections.event(at(5, AgentId::Core(CoreId::Trisc1), 0), &event);
            }
            run(&mut sections, ThreadId::T2, &[word(PACR)]);
            assert_eq!(sections.take().map(|(_, hazard, _)| hazard.id).is_some(), is_told);
        }
    }

    /// Sections take turns; the first row of the second is 512.
    #[test]
    fn tile_beyond_a_half_is_told_of_each_half_and_not_of_the_whole() {
        let section = |row: u32| [wait_math(), tile(row), word(STORE), word(STORE), post()];
        for (max, row, told) in
            [(2, 448, None), (2, 512, Some(2)), (1, 960, None), (2, 1023, Some(2))]
        {
            let mut sections = of(max);
            let said = run(&mut sections, ThreadId::T1, &section(row));
            assert_eq!(said.first().map(|(_, pc)| *pc), told, "{max} {row}");
        }
        let mut sections = of(2);
        assert_eq!(run(&mut sections, ThreadId::T1, &section(0)), []);
        assert_eq!(run(&mut sections, ThreadId::T1, &section(512 + 448)), []);
        assert_eq!(run(&mut sections, ThreadId::T1, &section(512)), [("C19", 2)]);
    }

    #[test]
    fn what_math_has_not_written_is_told_where_it_is_loaded_or_packed() {
        let load = word(Opcode::Sfpload);
        let mut sections = of(2);
        let own = [wait_math(), load, load, word(STORE), post()];
        assert_eq!(run(&mut sections, ThreadId::T1, &own), [("C5", 1)]);
        let own = [wait_math(), word(Opcode::Mvmul), load, post(), wait_math(), post()];
        assert_eq!(run(&mut sections, ThreadId::T1, &own), []);
        // The third section is empty.
        let own = [wait_pack(), word(PACR), get()];
        let said = [0; 3].map(|_| run(&mut sections, ThreadId::T2, &own));
        assert_eq!(said, [vec![], vec![], vec![("C5", 1)]]);
        // Unpack has written to Dst itself.
        let (op, before, after, max) = (SemaphoreOp::Post, 0, 1, 1);
        let unpacked = Event::Semaphore { index: 2, op, before, after, max };
        run(&mut sections, ThreadId::T1, &[wait_math()]);
        sections.event(at(5, AgentId::Thread(ThreadId::T0), 0), &unpacked);
        assert_eq!(run(&mut sections, ThreadId::T1, &[load, post()]), []);
        assert_eq!(run(&mut sections, ThreadId::T2, &own), []);
    }

    #[test]
    fn words_of_32_bits_halve_the_tiles() {
        let wide = &fields::field::ALU_ACC_CTRL_Fp32_enabled;
        let (state, index) = (1, u16::try_from(wide.addr32).expect("a small index"));
        let config = Event::Config { state, index, before: 0, after: wide.insert(0, 1) };
        let mut sections = of(2);
        let own = |row| [tile(row), word(STORE)];
        sections.math.waited = true;
        assert_eq!(run(&mut sections, ThreadId::T1, &own(256)), []);
        sections.event(at(1, AgentId::Core(CoreId::Trisc1), 0), &config);
        assert_eq!(run(&mut sections, ThreadId::T1, &own(192)), []);
        assert_eq!(run(&mut sections, ThreadId::T1, &own(256)), [("C19", 1)]);
    }

    #[test]
    fn packed_tile_beyond_a_half_is_told_unless_it_is_counted_on() {
        let mut sections = of(2);
        let pack = |tile| [wait_pack(), packed(tile), word(PACR), word(PACR), get()];
        assert_eq!(run(&mut sections, ThreadId::T2, &pack(7)), []);
        assert_eq!(run(&mut sections, ThreadId::T2, &pack(8)), [("C19", 2)]);
        let counted = [wait_pack(), packed(15), word(Opcode::Incadczw), word(PACR), get()];
        assert_eq!(run(&mut sections, ThreadId::T2, &counted), []);
    }
}
