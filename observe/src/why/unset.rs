//! What a kernel goes by and has not set: formats, GPRs, recorded instructions, address modifiers.
//!
//! Each of them keeps what an earlier program has left there, so a kernel in which `hw_configure` or the `init` of an operation is
//! left out works with the settings of whoever came before, or with zeros. Firmware sets some of them once, which
//! counts for all kernels; that it clears all GPRs `[hdr: hw/firmware/src/tt-1xx/trisc.cc]` does not.

use std::sync::LazyLock;

use isa::config::{ConfigField, field};
use isa::op::{Arg, Opcode, Unit};
use isa::operands::{
    Cfgshiftmask, ConfigByte, Rdcfg, Replay, Setc16, Setdmareg, Streamwrcfg, Unpacr, Wrcfg,
};
use memory_map::layout::{CONFIG_WORDS, GPRS_PER_THREAD};
use memory_map::{Target, lookup};
use sim_core::{AgentId, CoreId, Event, Stamp, ThreadId};

use super::circular::Violation;
use super::hazards as h;
use super::latency::{gprs_loaded, gprs_read, gprs_written};
use super::sections::writes_dst;
use crate::describe::view_of;

/// The format of SrcA, which math sets in one word with that of SrcB.
const SOURCES: &ConfigField = &field::ALU_FORMAT_SPEC_REG0_SrcA;

/// What address modifiers do to the counter of Dst, in the configuration of a thread: the first of so many words.
const DST_MODIFIERS: u32 = field::ADDR_MOD_DST_SEC0_DestIncr.addr32;
const MODIFIERS: u32 = 8;
/// Words in a set of words of Config.
const CHUNKS: usize = (CONFIG_WORDS as usize).div_ceil(64);

/// What has been set.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Words of Config, of either bank.
    config: [u64; CHUNKS],
    /// Math has set the formats of SrcA and SrcB itself: unpack sets those of the same word that it needs.
    math: bool,
    /// By thread.
    gprs: [u64; ThreadId::COUNT],
    /// How many GPRs a core has cleared, from the first on: they are not set by that.
    cleared: [u32; ThreadId::COUNT],
    /// Slots of the replay buffers, by thread.
    slots: [u32; ThreadId::COUNT],
    /// Address modifiers, by thread.
    modifiers: [u8; ThreadId::COUNT],
}

/// What an instruction sets.
#[derive(Clone, Copy)]
enum Setting {
    /// So many words of Config.
    Words(u32, u32),
    /// GPRs, as a mask.
    Gprs(u64),
    /// What an address modifier does to Dst: with that it is set up.
    Modifier(u32),
}

impl Setting {
    fn of(opcode: Opcode, word: u32) -> Option<Self> {
        Some(match opcode {
            Opcode::Wrcfg => {
                let Wrcfg { cfg_reg, wr128b, .. } = Wrcfg::of(word);
                if wr128b { Self::Words(cfg_reg & !3, 4) } else { Self::Words(cfg_reg, 1) }
            }
            Opcode::Rmwcib0 | Opcode::Rmwcib1 | Opcode::Rmwcib2 | Opcode::Rmwcib3 => {
                Self::Words(ConfigByte::of(word).cfg_reg_addr, 1)
            }
            Opcode::Cfgshiftmask => Self::Words(Cfgshiftmask::of(word).cfg_reg, 1),
            Opcode::Streamwrcfg => Self::Words(Streamwrcfg::of(word).cfg_reg, 1),
            Opcode::Setc16 => {
                let modifier = Setc16::of(word).setc16_reg.checked_sub(DST_MODIFIERS)?;
                return (modifier < MODIFIERS).then_some(Self::Modifier(modifier));
            }
            Opcode::Setdmareg => Self::Gprs(1 << (Setdmareg::of(word).reg_index_16b / 2)),
            Opcode::Rdcfg => Self::Gprs(1 << Rdcfg::of(word).gpr_address),
            _ => match gprs_written(opcode, word) | gprs_loaded(opcode, word) {
                0 => return None,
                gprs => Self::Gprs(gprs),
            },
        })
    }
}

impl Known {
    fn has_word(&self, word: u32) -> bool {
        self.config.get(word as usize / 64).is_none_or(|chunk| chunk >> (word % 64) & 1 == 1)
    }

    fn add_words(&mut self, first: u32, count: u32) {
        for word in first..first + count {
            if let Some(chunk) = self.config.get_mut(word as usize / 64) {
                *chunk |= 1 << (word % 64);
            }
        }
    }

    fn set(&mut self, thread: ThreadId, setting: Setting) {
        match setting {
            Setting::Words(first, count) => {
                self.math |=
                    thread == ThreadId::T1 && (first..first + count).contains(&SOURCES.addr32);
                self.add_words(first, count);
            }
            Setting::Gprs(gprs) => self.gprs[thread.index()] |= gprs,
            Setting::Modifier(modifier) => self.modifiers[thread.index()] |= 1 << modifier,
        }
    }

    /// Takes what a core stores to a GPR.
    fn stored(&mut self, thread: ThreadId, gpr: u32, value: u32) {
        let cleared = &mut self.cleared[thread.index()];
        *cleared = match gpr {
            _ if value != 0 => 0,
            0 => 1,
            _ if gpr == *cleared => gpr + 1,
            _ => 0,
        };
        if *cleared <= 1 {
            self.gprs[thread.index()] |= 1 << gpr;
        }
    }
}

/// What kernels have set since they began, and what firmware has.
#[derive(Clone, Debug, Default)]
pub(super) struct Unset {
    kernel: Known,
    firmware: Known,
}

/// What an instruction goes by and nobody has set.
#[derive(Clone, Copy)]
enum Missing {
    Format(&'static ConfigField),
    /// As a mask.
    Gprs(u64),
    Slot(u32),
    Modifier(u32),
}

impl Unset {
    /// All kernels are done.
    pub(super) fn ended(&mut self) {
        self.kernel = Known::default();
    }

    /// Takes an event, of a kernel or of firmware. Which of them it is, is asked where it matters: that is a look at names.
    pub(super) fn event(
        &mut self,
        stamp: Stamp,
        event: &Event,
        is_kernel: impl Fn() -> bool,
    ) -> Option<Violation> {
        match *event {
            // A new program begins, of which nobody says so.
            Event::Reset { core, asserted: false, .. } => {
                let thread = core.thread()?.index();
                (self.kernel.gprs[thread], self.kernel.slots[thread]) = (0, 0);
                self.kernel.modifiers[thread] = 0;
                match thread {
                    0 => self.kernel.config = [0; CHUNKS],
                    1 => self.kernel.math = false,
                    _ => {}
                }
                None
            }
            Event::DeviceStore { addr, value, .. } => {
                let AgentId::Core(core) = stamp.agent else { return None };
                match stored(core, addr)? {
                    Stored::Config(word) => {
                        let thread = core.thread().unwrap_or(ThreadId::T0);
                        self.owner(is_kernel).set(thread, Setting::Words(word, 1));
                    }
                    Stored::Gpr(thread, gpr) => self.owner(is_kernel).stored(thread, gpr, value),
                }
                None
            }
            Event::Push { thread, word, .. } => {
                let slots = recorded(word)?;
                self.owner(is_kernel).slots[thread.index()] |= slots;
                None
            }
            Event::Issue { thread, word, slot } => {
                let opcode = Opcode::from_word(word)?;
                let missing = self.missing(thread, (opcode, word), slot.replay);
                let missing = missing.filter(|_| is_kernel());
                if let Some(setting) = Setting::of(opcode, word) {
                    self.owner(is_kernel).set(thread, setting);
                }
                let missing = missing?;
                self.pass(thread, missing);
                Some((stamp, h::C27, missing.text(opcode)))
            }
            _ => None,
        }
    }

    fn owner(&mut self, is_kernel: impl Fn() -> bool) -> &mut Known {
        if is_kernel() { &mut self.kernel } else { &mut self.firmware }
    }

    /// `replay` is one more than the slot that an instruction comes from, if it comes from one.
    fn missing(
        &self,
        thread: ThreadId,
        (opcode, word): (Opcode, u32),
        replay: u8,
    ) -> Option<Missing> {
        let Self { kernel, firmware } = self;
        let has_math = kernel.math || firmware.math;
        let is_set = |field: &ConfigField| {
            (kernel.has_word(field.addr32) || firmware.has_word(field.addr32))
                && (has_math || field.name != SOURCES.name)
        };
        if let Some(field) = formats(opcode, word).iter().find(|field| !is_set(field)) {
            return Some(Missing::Format(field));
        }
        let at = thread.index();
        let gprs = gprs_used(opcode, word) & !kernel.gprs[at] & !firmware.gprs[at];
        if gprs != 0 {
            return Some(Missing::Gprs(gprs));
        }
        if let Some(modifier) = modifier(thread, word) {
            let set = kernel.modifiers[at] | firmware.modifiers[at];
            if set >> modifier & 1 == 0 {
                return Some(Missing::Modifier(modifier));
            }
        }
        let slot = u32::from(replay).checked_sub(1)?;
        let is_recorded = (kernel.slots[at] | firmware.slots[at]) >> slot & 1 == 1;
        (!is_recorded).then_some(Missing::Slot(slot))
    }

    /// What is missing has been said, and is not said again.
    fn pass(&mut self, thread: ThreadId, missing: Missing) {
        match missing {
            Missing::Format(field) => {
                self.kernel.math |= field.name == SOURCES.name;
                self.kernel.add_words(field.addr32, 1);
            }
            Missing::Gprs(gprs) => self.kernel.gprs[thread.index()] |= gprs,
            Missing::Slot(_) => self.kernel.slots[thread.index()] = u32::MAX,
            Missing::Modifier(modifier) => self.kernel.modifiers[thread.index()] |= 1 << modifier,
        }
    }
}

impl Missing {
    fn text(self, opcode: Opcode) -> String {
        let name = opcode.row().name;
        match self {
            Self::Format(field) => {
                format!("{name} goes by {}, which the kernel has not set", field.name)
            }
            Self::Gprs(gprs) => {
                let gpr = gprs.trailing_zeros();
                format!("{name} reads GPR {gpr}, which the kernel has not set")
            }
            Self::Modifier(modifier) => {
                format!("{name} goes by ADDR_MOD_{modifier}, which the kernel has not set")
            }
            Self::Slot(slot) => format!(
                "{name} comes from slot {slot} of the replay buffer, where the kernel has recorded nothing"
            ),
        }
    }
}

/// What a core stores to, of what is followed here.
enum Stored {
    /// A word of Config, of either bank.
    Config(u32),
    Gpr(ThreadId, u32),
}

/// GPRs that an instruction reads and that matter. Of the four words from `PACK_SEC0_Offset` on the others are of packers
/// that there are not; up to ttnn 0.77 the vendor's library writes them nevertheless, from GPRs that nobody has set
/// `[llk: common/inc/cpack_common.h]`.
fn gprs_used(opcode: Opcode, word: u32) -> u64 {
    let gprs = gprs_read(opcode, word);
    let offset = field::DEST_TARGET_REG_CFG_PACK_SEC0_Offset.addr32;
    match Wrcfg::of(word) {
        Wrcfg { cfg_reg, wr128b: true, .. } if opcode == Opcode::Wrcfg && cfg_reg == offset => {
            gprs & gprs.wrapping_neg()
        }
        _ => gprs,
    }
}

fn stored(core: CoreId, addr: u32) -> Option<Stored> {
    let hit = lookup(view_of(core), addr)?;
    let word = hit.offset / 4;
    let gpr = word % GPRS_PER_THREAD;
    match hit.target {
        Target::TensixCfg if word < 2 * CONFIG_WORDS => Some(Stored::Config(word % CONFIG_WORDS)),
        Target::GprOwn => Some(Stored::Gpr(core.thread()?, gpr)),
        Target::GprAll => {
            Some(Stored::Gpr(ThreadId::from_index((word / GPRS_PER_THREAD) as usize)?, gpr))
        }
        _ => None,
    }
}

/// The slots that an instruction has the replay expander record: none of them is 32, and the buffer wraps
/// `[isa-wh: TensixCoprocessor/REPLAY.md]`.
fn recorded(word: u32) -> Option<u32> {
    Opcode::from_word(word).filter(|opcode| *opcode == Opcode::Replay)?;
    let Replay { load_mode: true, start_idx, len, .. } = Replay::of(word) else { return None };
    let slots = if len == 0 { u32::MAX } else { u32::MAX >> (u32::BITS - len.min(u32::BITS)) };
    Some(slots.rotate_left(start_idx))
}

/// The address modifier that an instruction of math applies to its counters. Pack clears Dst, and has no use for them.
fn modifier(thread: ThreadId, word: u32) -> Option<u32> {
    static FIELDS: LazyLock<[Option<&'static Arg>; 256]> = LazyLock::new(|| {
        std::array::from_fn(|byte| {
            let row = Opcode::from_word((byte as u32) << 24)?.row();
            let applies = matches!(row.unit, Unit::Matrix | Unit::Vector);
            row.args.iter().find(|arg| applies && arg.name.ends_with("addr_mode"))
        })
    });
    let field = FIELDS[(word >> 24) as usize].filter(|_| thread == ThreadId::T1)?;
    Some(field.get(word) % MODIFIERS)
}

/// The formats that an instruction goes by `[isa-wh: TensixCoprocessor/UNPACR_Regular.md, MVMUL.md, ELWADD.md]`,
/// `[isa-bh: TensixCoprocessor/PACR.md]`.
fn formats(opcode: Opcode, word: u32) -> &'static [&'static ConfigField] {
    const UNPACKERS: [[&ConfigField; 2]; 2] = [
        [&field::THCON_SEC0_REG0_TileDescriptor, &field::THCON_SEC0_REG2_Out_data_format],
        [&field::THCON_SEC1_REG0_TileDescriptor, &field::THCON_SEC1_REG2_Out_data_format],
    ];
    const PACKER: [&ConfigField; 1] = [&field::THCON_SEC0_REG1_Out_data_format];
    const MATRIX: [&ConfigField; 1] = [SOURCES];
    match opcode {
        Opcode::Unpacr => &UNPACKERS[usize::from(Unpacr::of(word).unpack_block_selection)],
        Opcode::Pacr => &PACKER,
        Opcode::Zeroacc => &[],
        _ if opcode.unit() == Unit::Matrix && writes_dst(opcode) => &MATRIX,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use isa::encode;
    use sim_core::observer::Slot;
    use sim_core::{Cycle, Width};

    use super::*;

    const T2: AgentId = AgentId::Thread(ThreadId::T2);

    fn stamp(agent: AgentId) -> Stamp {
        Stamp { cycle: Cycle(1), agent, pc: 0xD000 }
    }

    /// Executes a word on T2, played from a slot if `replay` is not 0.
    fn play(unset: &mut Unset, word: u32, replay: u8) -> Option<String> {
        let slot = Slot { mop: 0, replay };
        let event = Event::Issue { thread: ThreadId::T2, word, slot };
        unset.event(stamp(T2), &event, || true).map(|(.., text)| text)
    }

    fn issue(unset: &mut Unset, word: u32) -> Option<String> {
        play(unset, word, 0)
    }

    const PACR: u32 = (Opcode::Pacr as u32) << 24;

    #[test]
    fn format_is_missing_until_a_kernel_or_firmware_has_set_it() {
        let text = "PACR goes by THCON_SEC0_REG1_Out_data_format, which the kernel has not set";
        let index = field::THCON_SEC0_REG1_Out_data_format.addr32;
        let mut unset = Unset::default();
        assert_eq!(issue(&mut unset, PACR).as_deref(), Some(text));
        assert_eq!(issue(&mut unset, PACR), None, "said once");
        unset.ended();
        assert_eq!(issue(&mut unset, encode::rmwcib0(index, 1, 0xFF)), None);
        assert_eq!(issue(&mut unset, PACR), None);
        unset.ended();
        assert_eq!(issue(&mut unset, PACR).as_deref(), Some(text));
        // The second bank, by a store of the firmware of another core: for all kernels to come.
        let addr = 0xFFEF_0000 + 4 * (CONFIG_WORDS + index);
        let store = Event::DeviceStore { addr, value: 0, width: Width::Word };
        assert_eq!(unset.event(stamp(AgentId::Core(CoreId::Brisc)), &store, || false), None);
        unset.ended();
        assert_eq!(issue(&mut unset, PACR), None);
    }

    /// Unpack sets some of the same word.
    #[test]
    fn math_sets_the_formats_of_its_sources_itself() {
        let mvmul = (Opcode::Mvmul as u32) << 24;
        let rmwcib = encode::rmwcib0(SOURCES.addr32, 1, 0xFF);
        for (thread, is_missing) in [(ThreadId::T0, true), (ThreadId::T1, false)] {
            let mut unset = Unset::default();
            let own = Event::Issue { thread, word: rmwcib, slot: Slot::default() };
            assert_eq!(unset.event(stamp(AgentId::Thread(thread)), &own, || true), None);
            assert_eq!(issue(&mut unset, mvmul).is_some(), is_missing);
            assert_eq!(issue(&mut unset, mvmul), None, "said once");
        }
    }

    #[test]
    fn four_words_are_set_at_once() {
        let index = field::THCON_SEC0_REG1_Out_data_format.addr32;
        let mut unset = Unset::default();
        let own = encode::setdmareg(2 * 8, 0, 0, 0);
        assert_eq!(issue(&mut unset, own), None);
        let text = "WRCFG reads GPR 9, which the kernel has not set";
        assert_eq!(issue(&mut unset, encode::wrcfg(index, 1, 8)).as_deref(), Some(text));
        assert_eq!(issue(&mut unset, PACR), None);
    }

    #[test]
    fn offsets_of_packers_that_there_are_not_may_be_anything() {
        let offsets = field::DEST_TARGET_REG_CFG_PACK_SEC0_Offset.addr32;
        for (config, is_missing) in [(offsets, false), (offsets + 4, true)] {
            let mut unset = Unset::default();
            assert_eq!(issue(&mut unset, encode::setdmareg(2 * 4, 0, 0, 0)), None);
            assert_eq!(issue(&mut unset, encode::wrcfg(config, 1, 4)).is_some(), is_missing);
        }
        let none = issue(&mut Unset::default(), encode::wrcfg(offsets, 1, 4));
        assert_eq!(none.as_deref(), Some("WRCFG reads GPR 4, which the kernel has not set"));
    }

    #[test]
    fn gpr_of_a_thread_may_be_set_by_its_core_and_by_brisc() {
        let wrcfg = encode::wrcfg(9, 0, 17);
        for (core, addr, is_missing) in [
            (CoreId::Trisc2, 0xFFE0_0000 + 4 * 17, false),
            (CoreId::Brisc, 0xFFE0_0000 + 4 * (2 * GPRS_PER_THREAD + 17), false),
            (CoreId::Trisc1, 0xFFE0_0000 + 4 * 17, true),
        ] {
            let mut unset = Unset::default();
            let store = Event::DeviceStore { addr, value: 1, width: Width::Word };
            assert_eq!(unset.event(stamp(AgentId::Core(core)), &store, || true), None);
            assert_eq!(issue(&mut unset, wrcfg).is_some(), is_missing, "{core:?}");
        }
    }

    /// All but the first, which is the zero.
    #[test]
    fn gprs_that_a_core_has_cleared_are_not_set() {
        let mut unset = Unset::default();
        for (gpr, value) in [(0, 0), (1, 0), (2, 0), (9, 0), (3, 0), (4, 7)] {
            let store =
                Event::DeviceStore { addr: 0xFFE0_0000 + 4 * gpr, value, width: Width::Word };
            assert_eq!(unset.event(stamp(AgentId::Core(CoreId::Trisc2)), &store, || false), None);
        }
        let missing =
            [0, 1, 2, 9, 3, 4].map(|gpr| issue(&mut unset, encode::wrcfg(9, 0, gpr)).is_some());
        assert_eq!(missing, [false, true, true, false, false, false]);
    }

    #[test]
    fn slot_is_missing_until_something_was_recorded_there() {
        let nop = (Opcode::Nop as u32) << 24;
        let text =
            "NOP comes from slot 5 of the replay buffer, where the kernel has recorded nothing";
        let mut unset = Unset::default();
        let push = |unset: &mut Unset, word| {
            let event = Event::Push { thread: ThreadId::T2, word, after_mop: false };
            let pushed = unset.event(stamp(AgentId::Core(CoreId::Trisc2)), &event, || true);
            assert_eq!(pushed, None);
        };
        push(&mut unset, encode::replay(1, 0, 3, 3));
        push(&mut unset, encode::replay(0, 0, 6, 0));
        assert_eq!(play(&mut unset, nop, 1 + 5), None);
        assert!(play(&mut unset, nop, 1 + 2).is_some());
        unset.ended();
        assert_eq!(play(&mut unset, nop, 1 + 5).as_deref(), Some(text));
        push(&mut unset, encode::replay(1, 1, 32, 0));
        assert_eq!(play(&mut unset, nop, 32), None);
        let slots = |len, first| recorded(encode::replay(1, 0, len, first));
        let wrapped = [(0, 7), (4, 30)].map(|(len, first)| slots(len, first));
        assert_eq!(wrapped, [Some(u32::MAX), Some(3 << 30 | 3)]);
        assert_eq!(recorded(encode::replay(0, 0, 4, 0)), None);
    }

    /// Pack has no use for the counters.
    #[test]
    fn modifier_of_a_counter_is_missing_until_math_has_set_it() {
        let mut unset = Unset::default();
        let mut on = |thread: ThreadId, word: u32| {
            let event = Event::Issue { thread, word, slot: Slot::default() };
            let found = unset.event(stamp(AgentId::Thread(thread)), &event, || true);
            found.map(|(.., text)| text)
        };
        let store = |modifier| encode::sfpstore(0, modifier, 0, 0);
        let text = "SFPSTORE goes by ADDR_MOD_6, which the kernel has not set";
        assert_eq!(on(ThreadId::T1, encode::setc16(0, DST_MODIFIERS + 7)), None);
        assert_eq!(on(ThreadId::T1, store(7)), None);
        assert_eq!(on(ThreadId::T1, store(6)).as_deref(), Some(text));
        assert_eq!(on(ThreadId::T1, store(6)), None, "said once");
        assert_eq!(on(ThreadId::T2, store(5)), None);
        // Of another thread, and a word behind the last modifier.
        assert_eq!(on(ThreadId::T2, encode::setc16(0, DST_MODIFIERS + 5)), None);
        assert_eq!(on(ThreadId::T1, encode::setc16(0, DST_MODIFIERS + 8)), None);
        assert!(on(ThreadId::T1, store(5)).is_some());
    }
}
