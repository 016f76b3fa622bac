//! What the debug registers of a core are and what their bits mean, as rows.
//!
//! `[isa-wh: TensixTile/BabyRISCV/DebugInterface.md]`; the Blackhole tree has no page of its own,
//! and `[exalens: hardware/baby_risc_debug.py]`, which drives both chips, uses the same numbers.

use super::DebugEffect;

/// Who may do what with a debug register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Written by the core only; a debugger's write is discarded.
    ReadOnly,
    /// Written by a debugger only.
    ReadWrite,
    /// As `ReadWrite`; the write makes the core do something.
    Command,
}

/// A debug register of a core.
#[derive(Clone, Copy, Debug)]
pub struct DebugRegister {
    /// Number of the first: `DR(number)`.
    pub number: u16,
    /// How many there are of it, with consecutive numbers.
    pub count: u16,
    /// Its name.
    pub name: &'static str,
    /// Who may do what.
    pub access: Access,
}

const fn row(number: u16, count: u16, name: &'static str, access: Access) -> DebugRegister {
    DebugRegister { number, count, name, access }
}

/// The debug registers of every core.
pub const DEBUG_REGISTERS: [DebugRegister; 7] = [
    row(0, 1, "STATUS", Access::ReadOnly),
    row(1, 1, "COMMAND", Access::Command),
    row(2, 1, "COMMAND_ARG_0", Access::ReadWrite),
    row(3, 1, "COMMAND_ARG_1", Access::ReadWrite),
    row(4, 1, "COMMAND_RETURN_VALUE", Access::ReadOnly),
    row(5, 1, "HW_WATCHPOINT_SETTINGS", Access::ReadWrite),
    row(10, 8, "HW_WATCHPOINT", Access::ReadWrite),
];

/// Bits of `DR(0)`, the reason why a core is paused.
pub mod status {
    /// Paused.
    pub const HALTED: u32 = 1 << 0;
    /// A breakpoint was hit.
    pub const BREAKPOINT: u32 = 1 << 1;
    /// A memory watchpoint was hit.
    pub const WATCHPOINT: u32 = 1 << 2;
    /// `ebreak` or `ecall` was executed.
    pub const EBREAK: u32 = 1 << 3;
    /// Breakpoint or watchpoint 0 was hit; the others follow.
    pub const FIRST_HIT: u32 = 1 << 8;
}

/// Bits of `DR(1)`, in the order in which several in one word are carried out: a page that says
/// which may be combined does not say in which order, so changes come before readings and
/// resuming comes last `[inferred: "bit 8 always in combination with bit 1" and "cannot be
/// combined" leave no other conflict]`.
pub(super) const COMMANDS: [(u32, Command); 9] = [
    (0, |_| DebugEffect::Halt),
    (7, |_| DebugEffect::ClearRegisters),
    (4, |words| DebugEffect::WriteRegister { index: words.argument_0, value: words.argument_1 }),
    (6, |words| DebugEffect::WriteMemory { addr: words.argument_0, value: words.argument_1 }),
    (3, |words| DebugEffect::ReadRegister { index: words.argument_0 }),
    (5, |words| DebugEffect::ReadMemory { addr: words.argument_0 }),
    (8, |words| DebugEffect::Flush { pc: words.slow.then_some(words.argument_1) }),
    (1, |_| DebugEffect::Step),
    (2, |_| DebugEffect::Continue),
];

/// Turns the words of a command into what is to be done.
pub(super) type Command = fn(Words) -> DebugEffect;

/// What a command can depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) argument_0: u32,
    /// Also the new pc of a flush: the page says `DR(4)`, which is read-only;
    /// `[exalens: hardware/baby_risc_debug.py]` writes `DR(3)`, and resumes at the right place.
    pub(super) argument_1: u32,
    /// Slow execution mode, bit 31 of the command.
    pub(super) slow: bool,
}

/// Bit of the slow execution mode in `DR(1)`. Only [`DebugEffect::Flush`] depends on it here: the
/// cores execute one instruction at a time anyway.
pub(super) const SLOW_MODE: u32 = 31;
/// Bits of `DR(1)` that choose a command.
pub(super) const FLUSH: u32 = 1 << 8;
pub(super) const STEP: u32 = 1 << 1;

/// Fields of `RISC_DBG_CNTL_0`: first bit and width.
pub(super) mod control {
    pub(in super::super) const REGISTER_MASK: u32 = 0x7FF;
    pub(in super::super) const IS_WRITE: u32 = 16;
    /// The page has two bits, for B and T0 to T2. `[exalens:
    /// hardware/blackhole/functional_worker_block.py]` gives NCRISC the number 4, which needs a
    /// third `[unknown: U-070]`.
    pub(in super::super) const CORE: u32 = 17;
    pub(in super::super) const CORE_MASK: u32 = 7;
    pub(in super::super) const TRIGGER: u32 = 31;
}

/// Fields of `RISC_DBG_STATUS_0`.
pub(super) mod echo {
    pub(in super::super) const IS_WRITE: u32 = 13;
    pub(in super::super) const VALID: u32 = 30;
    pub(in super::super) const TRIGGER: u32 = 31;
}
