//! Auto TTSync: a core's accesses to configuration, GPRs and TDMA-RISC wait for the instructions
//! that it pushed before and that use the same resource.
//!
//! Only that direction needs anything done: an access is processed in the cycle that emits it, so an
//! instruction pushed behind it always finds it done. The hardware bug that lets a load overtake a
//! push still in the core's store queue does not exist here: a push leaves in its own cycle.
//!
//! Sources: `[isa-bh: TensixTile/BabyRISCV/AutoTTSync.md]`; the classes' default declarations and
//! the fields of `RESOURCEDECL`, `[llk: instructions/assembly.yaml]`.
//!
//! Not modelled: linger time, which delays instructions that waited. When a `RESOURCEDECL` takes
//! effect is not stated; here it does when it issues, for all that is queued then
//! [unknown: U-079].

use isa::config::field;
use isa::op::{Opcode, ROWS};
use isa::operands;
use sim_core::{CoreId, ThreadId};

use crate::frontend::{Frontend, MopState};
use crate::queue::Queued;
use crate::units::Issued;
use crate::units::config::ops::{Window, window};
use crate::units::config::{ConfigUnit, GLOBAL_BASE};
use crate::units::unpacker::unpacker_of;

/// A set of the eight tracked resources. Bits 2:0 and 5:3: the parts of `Config[0]` and `Config[1]`
/// for unpacker 0, for unpacker 1, and the rest; bit 6 GPRs; bit 7 TDMA-RISC.
type Resources = u8;

const UNPACKER_0: Resources = 1;
const UNPACKER_1: Resources = 2;
const REST: Resources = 4;
const PARTS: Resources = 7;
/// Both states.
const ALL_CONFIG: Resources = 0x3F;
const GPRS: Resources = 1 << 6;
const TDMA: Resources = 1 << 7;

/// `TENSIX_TRISC_SYNC` and its bits `[isa-bh: AutoTTSync.md]`.
const TRISC_SYNC: usize = field::TENSIX_TRISC_SYNC_TrackGlobalCfg.addr32 as usize;
const TRACK_CONFIG: u16 = 1;
const SUBDIVIDED: u16 = 2;
const TRACK_GPRS: u16 = 4;
const TRACK_TDMA: u16 = 8;
const TRACK_INSTRUCTIONS: u16 = 16;

const MOP_CLASS: usize = class(Opcode::Mop);
const REPLAY_CLASS: usize = class(Opcode::Replay);
const UNPACK_CLASS: usize = class(Opcode::Unpacr);

/// The class of an opcode that has one, as a constant.
const fn class(opcode: Opcode) -> usize {
    let mut i = 0;
    while i < ROWS.len() {
        if ROWS[i].opcode as u8 == opcode as u8
            && let Some(class) = ROWS[i].sync_class
        {
            return class as usize;
        }
        i += 1;
    }
    panic!("the opcode has a class");
}

/// A declaration, nine bits: 0 reads and 1 writes configuration, 4:2 which part of it, 5 reads and 6
/// writes GPRs, 7 reads and 8 writes TDMA-RISC.
type Declaration = u16;

/// What each thread declares of its 16 classes of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Declarations(pub(crate) [[Declaration; 16]; 3]);

impl Default for Declarations {
    #[allow(clippy::unusual_byte_groupings, reason = "grouped as the fields of a declaration")]
    fn default() -> Self {
        Self(
            [[
                0b00_11_000_00, // arithmetic on GPRs
                0b00_11_000_00, // atomics
                0b11_11_000_00, // REG2FLOP
                0b00_11_000_00, // LOADIND, STOREIND
                0b00_00_111_11, // STREAMWRCFG, CFGSHIFTMASK
                0b00_01_000_00, // STOREREG
                0b00_10_000_00, // LOADREG
                0b10_00_000_00, // FLUSHDMA
                0b00_01_111_10, // WRCFG
                0b00_10_111_01, // RDCFG
                0b00_11_111_11, // XMOV
                0b11_00_111_01, // UNPACR, UNPACR_NOP
                0b11_00_100_01, // PACR
                0b11_11_111_11, // MOP
                0b11_11_111_11, // REPLAY
                0b00_00_100_01, // everything else
            ]; 3],
        )
    }
}

impl Declarations {
    /// RESOURCEDECL.
    pub(crate) fn declare(&mut self, operands: operands::Resourcedecl, issued: &Issued) {
        let class = &mut self.0[issued.thread.index()][operands.op_class as usize];
        *class = operands.resources as Declaration;
    }

    /// Whether an access of the TRISC of `thread` has to wait until instructions that it pushed
    /// before have passed the wait gate: a store for those that read or write what it stores to, a
    /// load for those that write what it loads.
    pub(crate) fn hold(
        &self,
        (access, store): (TrackedAccess, bool),
        thread: ThreadId,
        frontend: &Frontend,
        config: &ConfigUnit,
    ) -> bool {
        let wanted = accessed(sync(config, thread.index()), access);
        if wanted == 0 {
            return false;
        }
        let in_use = self.used(thread, frontend, config);
        wanted & (in_use.writes | if store { in_use.reads } else { 0 }) != 0
    }

    /// What the instructions between the TRISC of `thread` and its wait gate use.
    fn used(&self, thread: ThreadId, frontend: &Frontend, config: &ConfigUnit) -> Use {
        let declared = &self.0[thread.index()];
        let subdivided = sync(config, thread.index()) & SUBDIVIDED != 0;
        let states = used_states(frontend, config.state_id(thread.index()));
        let mut all = Use::default();
        let mut add = |declaration: Declaration, parts: Resources| {
            let config = (if states & 1 != 0 { parts } else { 0 })
                | if states & 2 != 0 { parts << 3 } else { 0 };
            let part = |bit: u32, resources: Resources| {
                if declaration >> bit & 1 != 0 { resources } else { 0 }
            };
            all.reads |= part(0, config) | part(5, GPRS) | part(7, TDMA);
            all.writes |= part(1, config) | part(6, GPRS) | part(8, TDMA);
        };
        let declared_parts = |class: usize| (declared[class] >> 2) as Resources & PARTS;
        for entry in own_entries(frontend) {
            let Some(class) = class_of(entry) else { continue };
            let parts = match class {
                UNPACK_CLASS if subdivided => [UNPACKER_0, UNPACKER_1][unpacker_of(entry.word())],
                class => declared_parts(class),
            };
            add(declared[class], parts);
        }
        if matches!(frontend.mop, MopState::Expanding { .. }) {
            add(declared[MOP_CLASS], declared_parts(MOP_CLASS));
        }
        if frontend.replay.plays_for_trisc() {
            add(declared[REPLAY_CLASS], declared_parts(REPLAY_CLASS));
        }
        all
    }
}

/// An access of a TRISC that Auto TTSync may have to order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrackedAccess {
    /// Its thread's GPRs.
    Gprs,
    /// A register of TDMA-RISC.
    TdmaRisc,
    /// A word of the configuration window, by byte offset divided by 4.
    Config(u32),
}

/// What may be in an instruction's way, and what of it is written.
#[derive(Clone, Copy, Default)]
struct Use {
    reads: Resources,
    writes: Resources,
}

/// Threads for which Auto TTSync tracks anything, bit *i* is thread *i*.
pub(crate) fn tracked_threads(config: &ConfigUnit) -> u8 {
    (0..3).fold(0, |mask, thread| {
        let tracks = sync(config, thread) & !SUBDIVIDED;
        mask | u8::from(tracks & TRACK_INSTRUCTIONS != 0 && tracks != TRACK_INSTRUCTIONS) << thread
    })
}

/// Configuration states that queued instructions may use, bit *i* is state *i*: the current
/// one, and both while a change may be queued.
fn used_states(frontend: &Frontend, current: usize) -> u8 {
    let sets_state = |word: u32| {
        Opcode::from_word(word) == Some(Opcode::Setc16)
            && operands::Setc16::of(word).setc16_reg == field::CFG_STATE_ID_StateID.addr32
    };
    let changes = own_entries(frontend)
        .any(|entry| sets_state(entry.word()) || class_of(entry) == Some(MOP_CLASS));
    let expands = matches!(frontend.mop, MopState::Expanding { .. });
    if changes || expands { 3 } else { 1 << current }
}

fn sync(config: &ConfigUnit, thread: usize) -> u16 {
    config.threads[thread][TRISC_SYNC]
}

/// What the TRISC has pushed and the wait gate has not passed, expansions included.
fn own_entries(frontend: &Frontend) -> impl Iterator<Item = &Queued> {
    let queued = frontend.first.iter().chain(frontend.second.iter()).chain(frontend.third.iter());
    queued.filter(|entry| entry.core() != CoreId::Brisc)
}

/// The class whose declaration counts for an entry: that of the MOP or REPLAY it came from.
fn class_of(entry: &Queued) -> Option<usize> {
    if entry.mop() != 0 {
        return Some(MOP_CLASS);
    }
    if entry.replay() != 0 {
        return Some(REPLAY_CLASS);
    }
    Opcode::from_word(entry.word())?.row().sync_class.map(usize::from)
}

/// The resources that an access counts as, under the given `TENSIX_TRISC_SYNC`.
fn accessed(sync: u16, access: TrackedAccess) -> Resources {
    let (bit, resources) = match access {
        TrackedAccess::Gprs => (TRACK_GPRS, GPRS),
        TrackedAccess::TdmaRisc => (TRACK_TDMA, TDMA),
        TrackedAccess::Config(word) => (TRACK_CONFIG, config_resources(word, sync)),
    };
    if sync & TRACK_INSTRUCTIONS != 0 && sync & bit != 0 { resources } else { 0 }
}

/// The parts of configuration that a word of the window counts as.
fn config_resources(word: u32, sync: u16) -> Resources {
    let subdivided = sync & SUBDIVIDED != 0;
    let rest = REST | REST << 3;
    match window(word) {
        Some(Window::State { state, word }) if word < GLOBAL_BASE => {
            (if subdivided { parts(word as u32) } else { PARTS }) << (3 * state)
        }
        Some(Window::Thread { thread: 0, word })
            if subdivided && word == field::DEST_TARGET_REG_CFG_MATH_Offset.addr32 as usize =>
        {
            ALL_CONFIG & !rest
        }
        _ if subdivided => rest,
        _ => ALL_CONFIG,
    }
}

/// The page's table of fields, by word of a state. No word has fields of different parts.
const fn parts(word: u32) -> Resources {
    const SEC0: u32 = field::THCON_SEC0_REG0_TileDescriptor.addr32;
    const SEC1: u32 = field::THCON_SEC1_REG0_TileDescriptor.addr32;
    match word {
        // UNP0_ADDR_CTRL_XY_REG_0, UNP0_ADDR_CTRL_ZW_REG_0, UNP1_ADDR_CTRL_*_REG_0.
        44 => UNPACKER_0,
        45 => UNPACKER_0 | UNPACKER_1,
        46 | 47 => UNPACKER_1,
        // UNP0_ADDR_BASE_REG_*, UNP0_FORCED_SHARED_EXP with UNP0_ADD_DEST_ADDR_CNTR.
        48..=50 => PARTS,
        // UNP0_BLOBS_Y_START_*, UNP0_NOP_REG_CLR_VAL.
        51..=53 => UNPACKER_0,
        // UNP1_ADDR_CTRL_*_REG_1 up to UNP1_NOP_REG_CLR_VAL; UNP0's channel 1 counts as rest.
        58..=63 => UNPACKER_1,
        // Of the tile descriptors the first word only, a hardware bug.
        SEC0 => UNPACKER_0,
        SEC1 => UNPACKER_1,
        // REG2 to REG5, REG7, and the FIFO in REG10, of unpacker 0.
        72..=87 | 92..=95 | 104 | 105 => UNPACKER_0,
        // REG2 without the FIFO, and two contexts of REG3 and REG7, of unpacker 1.
        120 | 121 | 124 | 125 | 140 | 141 => UNPACKER_1,
        _ => REST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_rows_have_their_words() {
        // [isa-bh: AutoTTSync.md], the table of fields; addresses [hdr: cfg_defines.h].
        for (addr, expected) in [
            (field::THCON_SEC0_REG2_Out_data_format.addr32, UNPACKER_0),
            (field::THCON_SEC0_REG3_Base_address.addr32, UNPACKER_0),
            (field::THCON_SEC0_REG5_Tile_x_dim_cntx0.addr32, UNPACKER_0),
            (field::THCON_SEC0_REG7_Offset_address.addr32, UNPACKER_0),
            (field::THCON_SEC0_REG10_Unpack_limit_address.addr32, UNPACKER_0),
            (field::THCON_SEC1_REG2_Out_data_format.addr32, UNPACKER_1),
            (field::THCON_SEC1_REG2_Unpack_limit_address.addr32, REST),
            (field::THCON_SEC1_REG2_Unpack_fifo_size.addr32, REST),
            (field::THCON_SEC1_REG3_Base_cntx1_address.addr32, UNPACKER_1),
            (field::THCON_SEC1_REG3_Base_cntx2_address.addr32, REST),
            (field::THCON_SEC1_REG7_Unpack_data_format_cntx0.addr32, UNPACKER_1),
            (field::THCON_SEC1_REG7_Unpack_data_format_cntx2.addr32, REST),
            (field::THCON_SEC1_REG10_Unpack_fifo_size.addr32, REST),
            (field::UNP0_ADDR_BASE_REG_1_Base.addr32, PARTS),
            (field::UNP0_ADDR_CTRL_XY_REG_0_Xstride.addr32, UNPACKER_0),
            (field::UNP0_ADDR_CTRL_ZW_REG_0_Zstride.addr32, UNPACKER_0 | UNPACKER_1),
            (field::UNP0_ADDR_CTRL_XY_REG_1_Ystride.addr32, REST),
            (field::UNP0_FORCED_SHARED_EXP_shared_exp.addr32, PARTS),
            (field::UNP0_NOP_REG_CLR_VAL_nop_reg_clr_val.addr32, UNPACKER_0),
            (field::UNP1_ADDR_CTRL_XY_REG_1_Xstride.addr32, UNPACKER_1),
            (field::UNP1_FORCED_SHARED_EXP_shared_exp.addr32, UNPACKER_1),
            (field::THCON_SEC0_REG1_Out_data_format.addr32, REST),
            (field::ALU_FORMAT_SPEC_REG2_Dstacc.addr32, REST),
        ] {
            assert_eq!(parts(addr), expected, "word {addr}");
        }
        let descriptor = field::THCON_SEC0_REG0_TileDescriptor.addr32;
        assert_eq!([0, 1, 3].map(|word| parts(descriptor + word)), [UNPACKER_0, REST, REST]);
    }

    #[test]
    fn window_parts_follow_the_subdivision() {
        // [isa-bh: AutoTTSync.md]: state 1 begins at byte 0x380, dual writes at 0x700, thread
        // configuration at 0xA80; word 180 is the first global one.
        let both = ALL_CONFIG;
        for (word, plain, subdivided) in [
            (72, 0x07, 0x01),
            (0x380 / 4 + 72, 0x38, 0x08),
            (180, both, 0x24),
            (0x700 / 4 + 72, both, 0x24),
            (0xA80 / 4, both, 0x24),
            (0xA80 / 4 + field::DEST_TARGET_REG_CFG_MATH_Offset.addr32, both, 0x1B),
        ] {
            assert_eq!(config_resources(word, 0), plain, "word {word}");
            assert_eq!(config_resources(word, SUBDIVIDED), subdivided, "word {word}");
        }
    }
}
