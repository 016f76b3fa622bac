//! Debug interface of the cores: 14 debug registers (DR) of each core, reached one at a time
//! through `RISC_DBG_CNTL_0/1` and `RISC_DBG_STATUS_0/1`.
//!
//! A state machine of requests and answers. What a command means to a core is the tile's to carry
//! out: it comes back as [`DebugEffect`]s. Sources: [`facts`].
//!
//! Not modelled: the errata that a debugger has to work around by flushing after `ebreak`
//! `[exalens: hardware/blackhole/baby_risc_debug.py]`; the workaround works, and so does leaving
//! it out.

pub mod facts;

use sim_core::{Category, CoreId, StateHasher};

use crate::fault::DeviceFault;
use facts::{Access, COMMANDS, DEBUG_REGISTERS, FLUSH, SLOW_MODE, STEP, Words, control, echo};

/// Step commands that make a core execute one instruction. One would be expected; Blackhole needs
/// two `[exalens: hardware/blackhole/baby_risc_debug.py]`.
pub const STEPS_PER_INSTRUCTION: u32 = 2;

/// Most breakpoints and watchpoints of a core.
pub const WATCHPOINTS: usize = 8;

/// When a watchpoint stops its core.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WatchMode {
    /// Never.
    #[default]
    Off,
    /// Behind the instruction at the address.
    Execute,
    /// At a load from the address.
    Read,
    /// Behind a store to the address.
    Write,
    /// Both.
    Access,
}

impl WatchMode {
    /// From four bits of `DR(5)`.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        match bits & 0xF {
            8 => Self::Execute,
            9 => Self::Read,
            10 => Self::Write,
            11 => Self::Access,
            _ => Self::Off,
        }
    }
}

/// One access to a debug register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DebugAccess {
    /// Whose.
    pub core: CoreId,
    /// Its number.
    pub register: u16,
    /// The value of a write.
    pub write: Option<u32>,
}

/// What a core has to do for its debugger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DebugEffect {
    /// Pause before the next instruction.
    Halt,
    /// The second of [`STEPS_PER_INSTRUCTION`] executes one instruction.
    Step,
    /// Go on.
    Continue,
    /// `x0` to `x31`, or the pc (32), into [`RiscDebug::set_result`].
    ReadRegister {
        /// Which.
        index: u32,
    },
    /// `x1` to `x31`.
    WriteRegister {
        /// Which.
        index: u32,
        /// New value.
        value: u32,
    },
    /// Zero in `x1` to `x31`.
    ClearRegisters,
    /// As `lw` of the core, into [`RiscDebug::set_result`].
    ReadMemory {
        /// Byte address as the core sees it.
        addr: u32,
    },
    /// As `sw` of the core.
    WriteMemory {
        /// Byte address as the core sees it.
        addr: u32,
        /// New value.
        value: u32,
    },
    /// Forget what is in the pipeline and go to a pc: the one given, or that of a reset.
    Flush {
        /// New pc.
        pc: Option<u32>,
    },
    /// New breakpoints and watchpoints: [`RiscDebug::watchpoints`].
    Watch,
}

/// Debug registers of one core.
#[derive(Clone, Copy, Default, Debug)]
struct Registers {
    /// `DR(1)` to `DR(5)`.
    low: [u32; 5],
    /// `DR(10)` to `DR(17)`.
    watched: [u32; WATCHPOINTS],
}

/// The debug interface of a tile.
#[derive(Clone, Debug, Default)]
pub struct RiscDebug {
    /// `RISC_DBG_CNTL_0`.
    control: u32,
    /// `RISC_DBG_CNTL_1`.
    data: u32,
    /// `RISC_DBG_STATUS_1`.
    result: u32,
    /// Bit 30 of `RISC_DBG_STATUS_0`.
    valid: bool,
    cores: [Registers; CoreId::COUNT],
}

impl RiscDebug {
    /// Nothing asked, nothing watched.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `RISC_DBG_CNTL_0`.
    #[must_use]
    pub fn control(&self) -> u32 {
        self.control
    }

    /// `RISC_DBG_CNTL_1`.
    #[must_use]
    pub fn data(&self) -> u32 {
        self.data
    }

    /// `RISC_DBG_STATUS_0`: the control register as it arrived, and whether an answer is there.
    #[must_use]
    pub fn status(&self) -> u32 {
        let direction = (self.control >> control::IS_WRITE & 1)
            << (self.control >> control::CORE & control::CORE_MASK);
        self.control & control::REGISTER_MASK
            | direction << echo::IS_WRITE
            | u32::from(self.valid) << echo::VALID
            | (self.control >> control::TRIGGER) << echo::TRIGGER
    }

    /// `RISC_DBG_STATUS_1`: the last answer.
    #[must_use]
    pub fn result(&self) -> u32 {
        self.result
    }

    /// Writes `RISC_DBG_CNTL_1`.
    pub fn write_data(&mut self, value: u32) {
        self.data = value;
    }

    /// Writes `RISC_DBG_CNTL_0`. The rising edge of its top bit starts an access, to be handed to
    /// [`RiscDebug::perform`].
    ///
    /// # Errors
    /// `debug-interface-core`, `debug-interface-register`: there is no such core or register.
    pub fn write_control(&mut self, value: u32) -> Result<Option<DebugAccess>, DeviceFault> {
        let rises = value & !self.control & 1 << control::TRIGGER != 0;
        self.control = value;
        if !rises {
            return Ok(None);
        }
        self.valid = false;
        let index = value >> control::CORE & control::CORE_MASK;
        let Some(core) = CoreId::from_index(index as usize) else {
            let message =
                format!("debug access {value:#010x} names core {index}; there are 0 to 4");
            return Err(undefined("debug-interface-core", message));
        };
        let register = (value & control::REGISTER_MASK) as u16;
        if row(register).is_none() {
            let message = format!("debug access {value:#010x} names DR({register}) of {core}");
            return Err(undefined("debug-interface-register", message));
        }
        let write = (value >> control::IS_WRITE & 1 == 1).then_some(self.data);
        Ok(Some(DebugAccess { core, register, write }))
    }

    /// Carries out an access. `status` is `DR(0)` of that core as of now.
    pub fn perform(&mut self, access: DebugAccess, status: u32) -> Vec<DebugEffect> {
        let Some(row) = row(access.register) else { return Vec::new() };
        let Some(value) = access.write else {
            self.result = if access.register == 0 {
                status
            } else {
                self.register(access.core, access.register).map_or(0, |word| *word)
            };
            self.valid = true;
            return Vec::new();
        };
        if row.access == Access::ReadOnly {
            return Vec::new();
        }
        if let Some(word) = self.register(access.core, access.register) {
            *word = value;
        }
        match row.access {
            Access::Command => self.effects(access.core, value),
            _ if access.register >= 5 => vec![DebugEffect::Watch],
            _ => Vec::new(),
        }
    }

    fn effects(&self, core: CoreId, command: u32) -> Vec<DebugEffect> {
        let [_, argument_0, argument_1, ..] = self.cores[core.index()].low;
        let slow = command >> SLOW_MODE & 1 == 1;
        let words = Words { argument_0, argument_1, slow };
        // Together with a flush, the step bit is part of it.
        let command = if command & FLUSH != 0 { command & !STEP } else { command };
        COMMANDS
            .iter()
            .filter(|(bit, _)| command >> bit & 1 == 1)
            .map(|(_, effect)| effect(words))
            .collect()
    }

    fn register(&mut self, core: CoreId, number: u16) -> Option<&mut u32> {
        let registers = &mut self.cores[core.index()];
        match number {
            1..=5 => registers.low.get_mut(usize::from(number) - 1),
            10.. => registers.watched.get_mut(usize::from(number) - 10),
            _ => None,
        }
    }

    /// Breakpoints and watchpoints of a core, with their addresses.
    #[must_use]
    pub fn watchpoints(&self, core: CoreId) -> [(WatchMode, u32); WATCHPOINTS] {
        let Registers { low, watched } = self.cores[core.index()];
        std::array::from_fn(|i| (WatchMode::from_bits(low[4] >> (4 * i)), watched[i]))
    }

    /// What a core found for a command: `DR(4)`.
    pub fn set_result(&mut self, core: CoreId, value: u32) {
        self.cores[core.index()].low[3] = value;
    }

    /// A soft reset of the core that does not keep its debug registers.
    pub fn reset_core(&mut self, core: CoreId) {
        self.cores[core.index()] = Registers::default();
    }

    /// Adds the registers to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { control, data, result, valid, cores } = self;
        hasher.words(&[*control, *data, *result, u32::from(*valid)]);
        for Registers { low, watched } in cores {
            hasher.words(low);
            hasher.words(watched);
        }
    }
}

fn undefined(id: &'static str, message: String) -> DeviceFault {
    DeviceFault::new(Category::UndefinedBehavior, id, message)
}

fn row(number: u16) -> Option<&'static facts::DebugRegister> {
    DEBUG_REGISTERS.iter().find(|row| number >= row.number && number < row.number + row.count)
}

#[cfg(test)]
mod tests;
