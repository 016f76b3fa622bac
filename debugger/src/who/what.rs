//! What can be asked about, and what an event does to it.

use std::fmt;
use std::str::FromStr;

use isa::config::{ConfigField, Scope};
use memory_map::layout::{L1_BYTES, LOCAL_RAM_BASE};
use sim_core::observer::Cell;
use sim_core::{CoreId, Event, ThreadId};

/// Rows and columns of what has cells.
const DST_ROWS: u16 = 1024;
const SRC_ROWS: u8 = 64;
const COLUMNS: u8 = 16;
const LREGS: u8 = 17;
const LANES: u8 = 32;
const GPRS: u8 = 64;
/// Where registers of devices begin.
const DEVICES: u32 = 0xFFB1_0000;

/// What can be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A word of L1, by the address of a byte in it.
    L1(u32),
    /// A semaphore of the coprocessor.
    Semaphore(u8),
    /// The counters of a circular buffer: the NoC stream of its number.
    Circular(u8),
    /// A word of the coprocessor's configuration.
    Config(u16),
    /// A field of it, in all states and threads or in that one.
    Field(&'static ConfigField, Option<u8>),
    /// A register of a device, by the address at which it is stored to.
    Device(u32),
    /// Cells of the coprocessor.
    Cells(Cells),
    /// A word of a core's local RAM.
    Local(CoreId, u32),
    /// An integer register of a core.
    Register(CoreId, u8),
}

/// Cells of the coprocessor that are asked about together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cells {
    /// A row of Dst, or a cell of it.
    Dst {
        /// Of 32-bit cells.
        wide: bool,
        /// Row.
        row: u16,
        /// Column.
        column: Option<u8>,
    },
    /// A row of a bank of SrcA or SrcB or a cell of it; without a row the whole bank.
    Src {
        /// 0 for SrcA, 1 for SrcB.
        operand: u8,
        /// Bank.
        bank: u8,
        /// Row.
        row: Option<u8>,
        /// Column.
        column: Option<u8>,
    },
    /// An LReg, or a lane of it.
    LReg {
        /// LReg.
        register: u8,
        /// Lane.
        lane: Option<u8>,
    },
    /// A general purpose register of a Tensix thread.
    Gpr(ThreadId, u8),
}

fn one_or_all(one: Option<u8>, count: u8) -> std::ops::Range<u8> {
    one.map_or(0..count, |one| one..one + 1)
}

impl Cells {
    /// The cells one by one.
    pub(crate) fn each(self) -> Vec<Cell> {
        match self {
            Self::Dst { wide, row, column } => {
                one_or_all(column, COLUMNS).map(|column| Cell::Dst { wide, row, column }).collect()
            }
            Self::Src { operand, bank, row, column } => one_or_all(row, SRC_ROWS)
                .flat_map(|row| {
                    let columns = one_or_all(column, COLUMNS);
                    columns.map(move |column| Cell::Src { operand, bank, row, column })
                })
                .collect(),
            Self::LReg { register, lane } => {
                one_or_all(lane, LANES).map(|lane| Cell::LReg { register, lane }).collect()
            }
            Self::Gpr(thread, index) => vec![Cell::Gpr { thread, index }],
        }
    }
}

/// What was meant cannot be told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not an address of L1 (0x1a000), a device register by address or name (noc0.NOC_CTRL), semaphoreN, cbN, configN, a configuration \
     field by name (with @0, @1 or @T1), dst:ROW[.COLUMN], dst32:ROW[.COLUMN], srca0:ROW[.COLUMN] (or srca1, srcb0, \
     srcb1), lregN[.LANE], T1:r12 (a GPR), or of a core: CORE:0xffb00010 (local RAM) or CORE:a0 (a register)"
)]
pub struct NotUnderstood(String);

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(&digits.replace('_', ""), 16).ok(),
        None => text.parse().ok(),
    }
}

fn below<T: TryFrom<u32> + PartialOrd + Copy>(text: &str, end: T) -> Option<T> {
    T::try_from(number(text)?).ok().filter(|value| *value < end)
}

/// `ROW` or `ROW.COLUMN`.
fn place<T: TryFrom<u32> + PartialOrd + Copy>(
    text: &str,
    rows: T,
    columns: u8,
) -> Option<(T, Option<u8>)> {
    match text.split_once('.') {
        None => Some((below(text, rows)?, None)),
        Some((row, column)) => Some((below(row, rows)?, Some(below(column, columns)?))),
    }
}

/// What belongs to the coprocessor and has a name in front of a colon, or is an LReg.
fn cells(text: &str) -> Option<Cells> {
    if let Some(lreg) = text.strip_prefix("lreg") {
        let (register, lane) = place(lreg, LREGS, LANES)?;
        return Some(Cells::LReg { register, lane });
    }
    let (name, rest) = text.split_once(':')?;
    let src = |operand, bank| {
        let (row, column) = place(rest, SRC_ROWS, COLUMNS)?;
        Some(Cells::Src { operand, bank, row: Some(row), column })
    };
    let dst = |wide, rows| {
        let (row, column) = place(rest, rows, COLUMNS)?;
        Some(Cells::Dst { wide, row, column })
    };
    match name {
        "dst" => dst(false, DST_ROWS),
        "dst32" => dst(true, DST_ROWS / 2),
        "srca0" => src(0, 0),
        "srca1" => src(0, 1),
        "srcb0" => src(1, 0),
        "srcb1" => src(1, 1),
        "t0" | "t1" | "t2" => {
            let thread = ThreadId::from_index(usize::from(name.as_bytes()[1] - b'0'))?;
            Some(Cells::Gpr(thread, below(rest.strip_prefix('r')?, GPRS)?))
        }
        _ => None,
    }
}

/// A field of the configuration by its name, `NAME@0`, `NAME@1` or `NAME@T2`.
fn field(text: &str) -> Option<What> {
    let (name, of) = text.split_once('@').map_or((text, None), |(name, of)| (name, Some(of)));
    let field = isa::config::by_name(name)?;
    let Some(of) = of else { return Some(What::Field(field, None)) };
    let state = match (field.scope, of.to_lowercase().as_str()) {
        (Scope::Config, "0") => 0,
        (Scope::Config, "1") => 1,
        (Scope::Thread, "t0") => 2,
        (Scope::Thread, "t1") => 3,
        (Scope::Thread, "t2") => 4,
        _ => return None,
    };
    Some(What::Field(field, Some(state)))
}

/// A register of a device by its name, such as `noc0.NOC_CTRL[1]`.
fn register(text: &str) -> Option<What> {
    let found =
        memory_map::find(text).into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, addr)| {
        // Fields of the firmware's mailbox have names too.
        if addr < L1_BYTES { What::L1(addr & !3) } else { What::Device(addr & !3) }
    })
}

impl FromStr for What {
    type Err = NotUnderstood;

    fn from_str(text: &str) -> Result<Self, NotUnderstood> {
        let fail = || NotUnderstood(text.to_owned());
        let lower = text.to_lowercase();
        if let Some(cells) = cells(&lower) {
            return Ok(Self::Cells(cells));
        }
        if let Some((name, what)) = lower.split_once(':') {
            let core = CoreId::ALL.into_iter().find(|id| id.name().eq_ignore_ascii_case(name));
            let core = core.ok_or_else(fail)?;
            let register = (0..32_u8).find(|&index| isa::disasm::xreg(u32::from(index)) == what);
            if let Some(register) = register {
                return Ok(Self::Register(core, register));
            }
            let local = |addr: &u32| addr.wrapping_sub(LOCAL_RAM_BASE) < core.local_ram_bytes();
            return match number(what) {
                Some(addr) if addr < L1_BYTES => Ok(Self::L1(addr & !3)),
                Some(addr) if local(&addr) => Ok(Self::Local(core, addr & !3)),
                _ => Err(fail()),
            };
        }
        let indexed = |prefix: &str| lower.strip_prefix(prefix).and_then(number);
        let small = |value: u32| u8::try_from(value).ok();
        if let Some(index) = indexed("semaphore").and_then(small) {
            return Ok(Self::Semaphore(index));
        }
        if let Some(index) = indexed("cb").and_then(small) {
            return Ok(Self::Circular(index));
        }
        if let Some(index) = indexed("config").and_then(|value| u16::try_from(value).ok()) {
            return Ok(Self::Config(index));
        }
        match number(&lower) {
            Some(addr) if addr < L1_BYTES => Ok(Self::L1(addr & !3)),
            Some(addr) if addr >= DEVICES => Ok(Self::Device(addr & !3)),
            Some(_) => Err(fail()),
            None => field(text).or_else(|| register(text)).ok_or_else(fail),
        }
    }
}

impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, row, column) = match *self {
            Self::Dst { wide, row, column } => {
                (if wide { "dst32" } else { "dst" }.to_owned(), Some(row), column)
            }
            Self::Src { operand, bank, row, column } => {
                let operand = if operand == 0 { 'a' } else { 'b' };
                (format!("src{operand}{bank}"), row.map(u16::from), column)
            }
            Self::LReg { register, lane } => (format!("lreg{register}"), None, lane),
            Self::Gpr(thread, index) => (format!("{thread}:r{index}"), None, None),
        };
        f.write_str(&name)?;
        if let Some(row) = row {
            write!(f, ":{row}")?;
        }
        match column {
            Some(column) => write!(f, ".{column}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::L1(addr) | Self::Device(addr) => write!(f, "{addr:#x}"),
            Self::Semaphore(index) => write!(f, "semaphore{index}"),
            Self::Circular(index) => write!(f, "cb{index}"),
            Self::Config(index) => write!(f, "config{index}"),
            Self::Field(field, None) => f.write_str(field.name),
            Self::Field(field, Some(state @ 0..=1)) => write!(f, "{}@{state}", field.name),
            Self::Field(field, Some(state)) => write!(f, "{}@T{}", field.name, state - 2),
            Self::Cells(cells) => cells.fmt(f),
            Self::Local(core, addr) => write!(f, "{core}:{addr:#x}"),
            Self::Register(core, register) => {
                write!(f, "{core}:{}", isa::disasm::xreg(u32::from(register)))
            }
        }
    }
}

impl What {
    /// What an event does to it, in words.
    pub(crate) fn told(self, event: &Event) -> Option<String> {
        let covers = |word: u32, addr: u32, bytes: u32| {
            addr.wrapping_sub(word) < 4 || word.wrapping_sub(addr) < bytes
        };
        match (self, *event) {
            (Self::L1(word), Event::L1Store { addr, value, width })
                if covers(word, addr, width.bytes()) =>
            {
                Some(format!("stores {value:#x} ({} bytes) to {addr:#x}", width.bytes()))
            }
            (Self::L1(word) | Self::Device(word), Event::HostWrite { addr, bytes, .. })
                if covers(word, addr, bytes) =>
            {
                Some(format!("writes {bytes} bytes from {addr:#x} on"))
            }
            (Self::L1(word), Event::L1Atomic { addr, before, after }) if addr == word => {
                Some(format!("atomic on {addr:#x}: {before:#x} becomes {after:#x}"))
            }
            (Self::Device(word), Event::DeviceStore { addr, value, .. }) if addr & !3 == word => {
                Some(format!("stores {value:#x} to {addr:#x}"))
            }
            (Self::Semaphore(wanted), Event::Semaphore { index, op, before, after, .. })
                if index == wanted =>
            {
                Some(format!("{op:?} on semaphore {index}: {before} becomes {after}"))
            }
            (Self::Circular(wanted), Event::Stream { stream, register, before, after })
                if stream == wanted =>
            {
                Some(format!("stream {stream} register {register}: {before:#x} becomes {after:#x}"))
            }
            (Self::Config(wanted), Event::Config { state, index, before, after })
                if index == wanted =>
            {
                Some(format!("config {index} of state {state}: {before:#x} becomes {after:#x}"))
            }
            (Self::Field(field, of), Event::Config { state, index, before, after }) => {
                let words = field.addr32..=field.last_word();
                let is_scope = (field.scope == Scope::Thread) == (state >= 2);
                let is_own = is_scope
                    && of.is_none_or(|of| of == state)
                    && words.contains(&u32::from(index));
                let (old, new) = if field.width > 32 {
                    (before, after)
                } else {
                    (field.of_word(before), field.of_word(after))
                };
                let of = match state {
                    0 | 1 => format!("state {state}"),
                    thread => format!("T{}", thread - 2),
                };
                (is_own && old != new)
                    .then(|| format!("{} of {of}: {old:#x} becomes {new:#x}", field.name))
            }
            _ => None,
        }
    }
}
