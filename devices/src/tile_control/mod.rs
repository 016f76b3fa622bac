//! Tile control, debug and status registers: soft reset, reset PCs, wall clock, debug selectors.
//!
//! Sources: `[isa-bh: TensixTile/SoftReset.md]`, `[isa-wh: TensixTile/DebugTimestamper.md]`
//! (identical on Blackhole), `[isa-bh: TensixTile/BabyRISCV/PCBufs.md]`,
//! `[isa-wh: TensixTile/BabyRISCV/PushTensixInstruction.md]` (debug registers),
//! `[spec: boot-and-sync 2]`; the register list is that of [`memory_map`].
//!
//! The debug interface of the cores has a room of its own, [`crate::risc_debug`]. Not modelled:
//! performance counters (their control registers are storage, their outputs fault), the watchdog,
//! timestamp event streams.
//! What a debug read of the coprocessor shows is the tile's to answer: see [`ExternalRead`].

mod registers;

use memory_map::Target;
use memory_map::reg::tile_control::{dbg_l1_mem_reg2 as sampling, soft_reset_0};
use sim_core::{Category, CoreId, CoreSet, Cycle, StateHasher, ThreadId};

use crate::fault::{DeviceFault, ReadClass, nearest};
use crate::risc_debug::{DebugAccess, RiscDebug};
use registers as reg;

/// `SOFT_RESET_0` at power-on: all five cores held `[spec: boot-and-sync 1.3]`.
pub const SOFT_RESET_AT_POWER_ON: u32 = memory_map::reg::tile_control::SOFT_RESET_0_RESET;

/// `TIMESTAMP_DUMP_CNTL` at power-on: both buffers valid.
const TIMESTAMP_CNTL_AT_POWER_ON: u32 = 3;

/// Bit of each core in `SOFT_RESET_0`, by [`CoreId::index`].
const CORE_RESET_BITS: [u32; CoreId::COUNT] = [
    soft_reset_0::BRISC.mask(),
    soft_reset_0::TRISC0.mask(),
    soft_reset_0::TRISC1.mask(),
    soft_reset_0::TRISC2.mask(),
    soft_reset_0::NCRISC.mask(),
];

/// Bits of `SOFT_RESET_0` that reset something other than a core.
const UNIT_RESET_BITS: u32 = soft_reset_0::NAMED_BITS & !all(CORE_RESET_BITS);

/// `WRITE_MODE` of a series of samples of the debug bus `[isa-wh: TensixTile/DebugDaisychain.md]`.
pub const SERIES: u32 = 4;
/// Samples lie in the low 1 MiB of L1, 16 bytes each `[isa-wh: TensixTile/DebugDaisychain.md]`.
const SAMPLES_END: u32 = (1 << 20) >> 4;

/// Bits together.
const fn all(bits: [u32; CoreId::COUNT]) -> u32 {
    bits[0] | bits[1] | bits[2] | bits[3] | bits[4]
}

/// What the tile has to do after a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TileControlEffect {
    /// Reset bits changed. Cores that enter lose their outgoing mailboxes and (TRISCs) their
    /// MOP expander with its input FIFO; cores that leave start at [`TileControl::entry_pc`].
    Reset {
        /// Cores that are now held in reset and were not before.
        entered: CoreSet,
        /// Cores that are released now.
        left: CoreSet,
        /// Other reset bits that went from 0 to 1, at their place in the register.
        units_entered: u32,
        /// Other reset bits that went from 1 to 0.
        units_left: u32,
    },
    /// New value of the PCBuf override register, for [`crate::PcBufs::set_override`].
    PcBufOverride(u32),
    /// The debug bus pushes instructions behind the MOP expanders of these threads.
    DebugPush {
        /// Bit *i* set: thread *i*.
        threads: u8,
        /// The instruction.
        word: u32,
    },
    /// Which instruction FIFOs the debug bus has taken from the cores.
    DebugBusControl {
        /// Bit *i* set: thread *i*'s.
        threads: u8,
    },
    /// A debugger asks for a debug register of a core: for [`RiscDebug::perform`].
    CoreDebug(DebugAccess),
    /// The debug bus writes the 128 bits that it shows to L1.
    SampleBus {
        /// `DBG_BUS_CTRL`.
        select: u32,
        /// Byte address in L1.
        addr: u32,
        /// More of a series are to follow, each of which a rising edge of the trigger begins.
        more: bool,
    },
}

/// A read whose value lives in the coprocessor; ask [`TileControl::external_read`] first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExternalRead {
    /// Bits 0-2: FIFO before the replay expander of T0..T2 not full; bits 4-6: empty.
    InstructionFifoStatus,
    /// Backend configuration word selected by `TENSIX_CREG_READ`.
    ConfigWord {
        /// The selector as written.
        index: u32,
    },
    /// A row of Dst (or another array) selected by `DBG_ARRAY_RD_CMD`.
    Array {
        /// The selector as written.
        command: u32,
        /// `DBG_ARRAY_RD_EN`.
        enabled: bool,
    },
    /// Debug daisychain signals selected by `DBG_BUS_CTRL`.
    DebugBus {
        /// The selector as written.
        select: u32,
    },
}

/// The tile control block.
#[derive(Clone, Debug)]
pub struct TileControl {
    /// Plain storage of every register that has any, by word offset.
    words: Box<[u32; reg::WORDS]>,
    /// High half of the wall clock as of the last access to its low half.
    clock_high: u32,
    /// The cores' debug interface.
    pub debug: RiscDebug,
}

impl Default for TileControl {
    fn default() -> Self {
        Self::new()
    }
}

fn fault(category: Category, id: &'static str, text: impl Into<String>) -> DeviceFault {
    DeviceFault::new(category, id, text)
}

/// Bit of the core's local RAM in `DISABLE_RESET`; its debug registers have the next.
const fn disable_reset_bit(core: CoreId) -> u32 {
    match core {
        CoreId::Trisc0 => 0,
        CoreId::Trisc1 => 2,
        CoreId::Trisc2 => 4,
        CoreId::Brisc => 6,
        CoreId::Ncrisc => 8,
    }
}

impl TileControl {
    /// The block at power-on.
    #[must_use]
    pub fn new() -> Self {
        let words = Box::new([0; reg::WORDS]);
        let mut block = Self { words, clock_high: 0, debug: RiscDebug::new() };
        block.set(reg::SOFT_RESET_0, SOFT_RESET_AT_POWER_ON);
        block.set(reg::TIMESTAMP_CNTL, TIMESTAMP_CNTL_AT_POWER_ON);
        block
    }

    fn get(&self, offset: u32) -> u32 {
        self.words.get((offset / 4) as usize).copied().unwrap_or(0)
    }

    fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.words.get_mut((offset / 4) as usize) {
            *word = value;
        }
    }

    /// `SOFT_RESET_0` as it reads.
    #[must_use]
    pub fn soft_reset(&self) -> u32 {
        self.get(reg::SOFT_RESET_0)
    }

    /// Whether the core is held in reset.
    #[must_use]
    pub fn in_reset(&self, core: CoreId) -> bool {
        self.soft_reset() & CORE_RESET_BITS[core.index()] != 0
    }

    /// Where the core starts when it leaves reset.
    #[must_use]
    pub fn entry_pc(&self, core: CoreId) -> u32 {
        self.chosen_pc(core).unwrap_or(match core {
            CoreId::Brisc => 0,
            CoreId::Trisc0 => 0x6000,
            CoreId::Trisc1 => 0xA000,
            CoreId::Trisc2 => 0xE000,
            CoreId::Ncrisc => 0x12000,
        })
    }

    /// Where software has said that the core starts; `None` if it has not, and of BRISC, which starts at 0
    /// `[spec: boot-and-sync 1.3]`.
    #[must_use]
    pub fn chosen_pc(&self, core: CoreId) -> Option<u32> {
        let ncrisc = self.get(reg::NCRISC_RESET_PC_OVERRIDE);
        let (is_chosen, pc) = match core.thread() {
            Some(thread) => {
                let number = thread as u32;
                let chosen = self.get(reg::TRISC_RESET_PC_OVERRIDE) >> number;
                (chosen & 1 != 0, reg::TRISC0_RESET_PC + 4 * number)
            }
            None => (core == CoreId::Ncrisc && ncrisc & 1 != 0, reg::NCRISC_RESET_PC),
        };
        is_chosen.then(|| self.get(pc))
    }

    /// Whether a soft reset of the core zeroes its local RAM.
    #[must_use]
    pub fn clears_local_ram(&self, core: CoreId) -> bool {
        self.get(reg::DISABLE_RESET) >> disable_reset_bit(core) & 1 == 0
    }

    /// Whether a soft reset of the core zeroes its debug registers.
    #[must_use]
    pub fn clears_debug_registers(&self, core: CoreId) -> bool {
        self.get(reg::DISABLE_RESET) >> (disable_reset_bit(core) + 1) & 1 == 0
    }

    /// How a polling core has to treat the register. The wall clock's low half also latches its
    /// high half, which a later access at the same time would latch again: it counts as
    /// [`ReadClass::Timed`]. So does the latched half, since only polling the low half moves it.
    #[must_use]
    pub fn read_class(offset: u32) -> ReadClass {
        match offset {
            reg::WALL_CLOCK_L | reg::WALL_CLOCK_1 | reg::WALL_CLOCK_H => ReadClass::Timed,
            reg::DBG_RD_DATA
            | reg::DBG_ARRAY_RD_DATA
            | reg::TENSIX_CREG_RDDATA
            | reg::INSTRN_BUF_STATUS => ReadClass::Timed,
            _ => ReadClass::Pure,
        }
    }

    /// What the coprocessor must be asked for if this offset is read, if it is such a register.
    #[must_use]
    pub fn external_read(&self, offset: u32) -> Option<ExternalRead> {
        Some(match offset {
            reg::INSTRN_BUF_STATUS => ExternalRead::InstructionFifoStatus,
            reg::TENSIX_CREG_RDDATA => {
                ExternalRead::ConfigWord { index: self.get(reg::TENSIX_CREG_READ) }
            }
            reg::DBG_ARRAY_RD_DATA => ExternalRead::Array {
                command: self.get(reg::DBG_ARRAY_RD_CMD),
                enabled: self.get(reg::DBG_ARRAY_RD_EN) & 1 != 0,
            },
            reg::DBG_RD_DATA => ExternalRead::DebugBus { select: self.get(reg::DBG_BUS_CTRL) },
            _ => return None,
        })
    }

    fn check_known(offset: u32) -> Result<(), DeviceFault> {
        if offset & 3 == 0 && memory_map::register_at(Target::TileControl, offset).is_some() {
            return Ok(());
        }
        let known = nearest(Target::TileControl, offset);
        let text = format!("no tile control register at +{offset:#x}; {known}");
        Err(fault(Category::UndefinedBehavior, "tile-control-unmapped", text))
    }

    /// Reads a register of the wall clock, if it is one. What it shows follows from the cycles of the
    /// reads alone.
    #[inline]
    pub fn read_clock(&mut self, offset: u32, now: Cycle) -> Option<u32> {
        let high = (now.0 >> 32) as u32;
        match offset {
            reg::WALL_CLOCK_L => {
                self.clock_high = high;
                Some((now.0 & 0xFFFF_FFFF) as u32)
            }
            reg::WALL_CLOCK_1 => Some(high),
            reg::WALL_CLOCK_H => Some(self.clock_high),
            _ => None,
        }
    }

    /// Reads a register.
    ///
    /// # Errors
    /// `tile-control-unmapped`: no such register. `tile-control-external`: the value lives in the
    /// coprocessor, see [`TileControl::external_read`]. `perf-counter`, `timestamp-stream`: not
    /// simulated.
    pub fn read(&mut self, offset: u32, now: Cycle) -> Result<u32, DeviceFault> {
        // Firmware waits by reading these over and over.
        if let Some(value) = self.read_clock(offset, now) {
            return Ok(value);
        }
        Self::check_known(offset)?;
        match offset {
            reg::TIMESTAMP_CMD => Ok(0),
            reg::TIMESTAMP_STATUS => Err(fault(
                Category::Unimplemented,
                "timestamp-stream",
                "timestamp event streams are not simulated",
            )),
            reg::PERF_CNT_OUT_FIRST..=reg::PERF_CNT_OUT_LAST => Err(fault(
                Category::Unsupported,
                "perf-counter",
                "reads a hardware performance counter, which is not simulated",
            )),
            reg::RISC_DBG_CNTL_0 => Ok(self.debug.control()),
            reg::RISC_DBG_CNTL_1 => Ok(self.debug.data()),
            reg::RISC_DBG_STATUS_0 => Ok(self.debug.status()),
            reg::RISC_DBG_STATUS_1 => Ok(self.debug.result()),
            _ if self.external_read(offset).is_some() => Err(fault(
                Category::Unimplemented,
                "tile-control-external",
                format!("debug read +{offset:#x} shows coprocessor state"),
            )),
            _ => Ok(self.get(offset)),
        }
    }

    /// Writes a register.
    ///
    /// # Errors
    /// `tile-control-unmapped`: no such register. `tile-control-read-only`: the register is
    /// documented as read-only without saying that writes are ignored. `watchdog`,
    /// `timestamp-stream`: starts something that is not simulated. Those of
    /// [`RiscDebug::write_control`].
    pub fn write(
        &mut self,
        offset: u32,
        value: u32,
        now: Cycle,
    ) -> Result<Option<TileControlEffect>, DeviceFault> {
        Self::check_known(offset)?;
        match offset {
            reg::SOFT_RESET_0 => return Ok(self.write_soft_reset(value)),
            reg::INSTRN_BUF_CTRL0 => return Ok(self.write_debug_push(value)),
            reg::PC_BUF_OVERRIDE => {
                self.set(offset, value);
                return Ok(Some(TileControlEffect::PcBufOverride(value)));
            }
            reg::WALL_CLOCK_L => {
                self.clock_high = (now.0 >> 32) as u32;
                return Ok(None);
            }
            reg::RISC_DBG_CNTL_0 => {
                return Ok(self.debug.write_control(value)?.map(TileControlEffect::CoreDebug));
            }
            reg::RISC_DBG_CNTL_1 => {
                self.debug.write_data(value);
                return Ok(None);
            }
            reg::DBG_L1_MEM_REG2 => return self.write_sampling(value),
            // "No effect" and "writes discarded" in the respective pages.
            reg::WALL_CLOCK_1
            | reg::WALL_CLOCK_H
            | reg::RISC_DBG_STATUS_0
            | reg::RISC_DBG_STATUS_1 => return Ok(None),
            _ => self.refuse(offset, value)?,
        }
        self.set(offset, value);
        Ok(None)
    }

    /// Faults for writes that would start something that is not simulated, or that cannot work.
    fn refuse(&self, offset: u32, value: u32) -> Result<(), DeviceFault> {
        let (category, id, text) = match offset {
            reg::WDT_CNTL if value != 0 => (
                Category::Unsupported,
                "watchdog",
                format!("starts the watchdog ({value:#x}), which is not simulated"),
            ),
            reg::TIMESTAMP_CMD | reg::TIMESTAMP_STATUS => (
                Category::Unimplemented,
                "timestamp-stream",
                "timestamp event streams are not simulated".to_owned(),
            ),
            reg::DBG_ARRAY_RD_DATA
            | reg::TENSIX_CREG_RDDATA
            | reg::INSTRN_BUF_STATUS
            | reg::ECC_STATUS
            | reg::WDT_STATUS
            | reg::PERF_CNT_OUT_FIRST..=reg::PERF_CNT_OUT_LAST => (
                Category::NonContractual,
                "tile-control-read-only",
                format!("writes {value:#x} to the read-only register at +{offset:#x}"),
            ),
            _ => return Ok(()),
        };
        Err(fault(category, id, text))
    }

    fn write_soft_reset(&mut self, value: u32) -> Option<TileControlEffect> {
        let before = self.soft_reset();
        self.set(reg::SOFT_RESET_0, value);
        let (raised, lowered) = (value & !before, before & !value);
        let cores = |bits: u32| {
            let mut set = CoreSet::EMPTY;
            for core in CoreId::ALL {
                if bits & CORE_RESET_BITS[core.index()] != 0 {
                    set.insert(core);
                }
            }
            set
        };
        let effect = TileControlEffect::Reset {
            entered: cores(raised),
            left: cores(lowered),
            units_entered: raised & UNIT_RESET_BITS,
            units_left: lowered & UNIT_RESET_BITS,
        };
        ((raised | lowered) & 0x00FF_FFFF != 0).then_some(effect)
    }

    /// Bits 0-2 give the debug bus control, bits 4-6 push on their rising edge; the others keep what is written
    /// `[exalens: test/ttexalens/unit_tests/test_lib.py]`.
    fn write_debug_push(&mut self, value: u32) -> Option<TileControlEffect> {
        let before = self.get(reg::INSTRN_BUF_CTRL0);
        self.set(reg::INSTRN_BUF_CTRL0, value);
        let threads = |bits: u32| {
            ThreadId::ALL
                .into_iter()
                .filter(|thread| bits >> thread.index() & 1 != 0)
                .fold(0_u8, |set, thread| set | 1 << thread.index())
        };
        let pushed = threads((value & !before) >> 4 & value);
        if pushed != 0 {
            let word = self.get(reg::INSTRN_BUF_CTRL1);
            return Some(TileControlEffect::DebugPush { threads: pushed, word });
        }
        ((value ^ before) & 7 != 0)
            .then(|| TileControlEffect::DebugBusControl { threads: threads(value) })
    }

    /// The rising edge of the trigger has a sample taken, and the next one goes behind it where the mode says so. That
    /// the place of the next one stands in `DBG_L1_MEM_REG0` is our choice `[unknown: U-070]`.
    fn write_sampling(&mut self, value: u32) -> Result<Option<TileControlEffect>, DeviceFault> {
        let rises = sampling::WRITE_TRIGGER.is_set(value)
            && !sampling::WRITE_TRIGGER.is_set(self.get(reg::DBG_L1_MEM_REG2));
        self.set(reg::DBG_L1_MEM_REG2, value);
        let (place, end) = (self.get(reg::DBG_L1_MEM_REG0), self.get(reg::DBG_L1_MEM_REG1));
        let mode = sampling::WRITE_MODE.of(value);
        if !rises || !(mode <= 1 || mode == SERIES && place < end) {
            return Ok(None);
        }
        if place >= SAMPLES_END {
            let text = format!(
                "the debug bus is to write to L1 {:#x}, beyond the low 1 MiB",
                u64::from(place) << 4
            );
            return Err(fault(Category::NonContractual, "debug-bus-sample", text));
        }
        let next = place + u32::from(mode != 0);
        self.set(reg::DBG_L1_MEM_REG0, next);
        let (select, more) = (self.get(reg::DBG_BUS_CTRL), mode == SERIES && next < end);
        Ok(Some(TileControlEffect::SampleBus { select, addr: place << 4, more }))
    }

    /// Instruction FIFOs the debug bus has taken, bit *i* for thread *i*.
    #[must_use]
    pub fn debug_bus_threads(&self) -> u8 {
        (self.get(reg::INSTRN_BUF_CTRL0) & 7) as u8
    }

    /// Back to power-on.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Adds the registers to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { words, clock_high, debug } = self;
        hasher.words(&words[..]);
        hasher.u32(*clock_high);
        debug.hash_state(hasher);
    }
}

#[cfg(test)]
mod tests;
