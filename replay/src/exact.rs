//! Plays a tape on a machine, call by call, with no tolerance.
//!
//! A machine is a pure function of the calls, so that each read gives the bytes that the tape has,
//! the device asks the host's memory for the same things, and ends in the same state. Whatever
//! differs is a mistake: of the tape, of the settings, or of the simulator. `engine` is for tapes
//! of other machines.

use std::fmt;
use std::ops::ControlFlow;

use chip::{Chip, ChipConfig, HostError};
use tape::{Call, Calls, Tape, TapeError};

use crate::machine::Machine;
use crate::tape_memory::{Access, Script, Strictness};

/// Bytes of a difference that are kept.
const SHOWN_BYTES: usize = 16;

/// What a call was, without its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// A session began: the next step expects a fresh machine.
    Init,
    /// It ended. The machine is as it was left.
    Exit,
    /// A word of configuration space was read.
    ConfigRead {
        /// Device number times eight.
        bdf: u32,
        /// Byte of its configuration space.
        offset: u32,
    },
    /// A word of configuration space was written.
    ConfigWrite {
        /// Device number times eight.
        bdf: u32,
        /// Byte of its configuration space.
        offset: u32,
    },
    /// A BAR was read.
    MemRead {
        /// Physical address.
        paddr: u64,
        /// Bytes.
        size: usize,
    },
    /// A BAR was written.
    MemWrite {
        /// Physical address.
        paddr: u64,
        /// Bytes.
        size: usize,
    },
    /// A tile was read past the windows.
    TileRead {
        /// Translated coordinate.
        at: (u32, u32),
        /// Address in the tile.
        addr: u64,
        /// Bytes.
        size: usize,
    },
    /// A tile was written past the windows.
    TileWrite {
        /// Translated coordinate.
        at: (u32, u32),
        /// Address in the tile.
        addr: u64,
        /// Bytes.
        size: usize,
    },
    /// Host clocks passed.
    Clock {
        /// How many.
        clocks: u32,
    },
    /// The chip was at rest while the host polled.
    Rest {
        /// Cycles.
        cycles: u64,
    },
    /// The host said which of its memory functions there are.
    SetMemory,
    /// The state was compared with the tape's witness.
    State,
    /// The tape ends with what the device did within a call that is not there any more.
    End,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Init => write!(f, "init"),
            Self::Exit => write!(f, "exit"),
            Self::ConfigRead { bdf, offset } => write!(f, "config read of {bdf:#x}+{offset:#x}"),
            Self::ConfigWrite { bdf, offset } => write!(f, "config write of {bdf:#x}+{offset:#x}"),
            Self::MemRead { paddr, size } => write!(f, "read of {size} bytes at {paddr:#x}"),
            Self::MemWrite { paddr, size } => write!(f, "write of {size} bytes at {paddr:#x}"),
            Self::TileRead { at: (x, y), addr, size } => {
                write!(f, "read of {size} bytes at {addr:#x} of tile ({x}, {y})")
            }
            Self::TileWrite { at: (x, y), addr, size } => {
                write!(f, "write of {size} bytes at {addr:#x} of tile ({x}, {y})")
            }
            Self::Clock { clocks } => write!(f, "clock of {clocks}"),
            Self::Rest { cycles } => write!(f, "rest of {cycles} cycles"),
            Self::SetMemory => write!(f, "host memory"),
            Self::State => write!(f, "state"),
            Self::End => write!(f, "end of the tape"),
        }
    }
}

/// A call that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// Its number in the tape, from 0. What the device did within it has the numbers before.
    pub index: u64,
    /// Cycle of the machine after it.
    pub cycle: u64,
    /// What it was.
    pub what: What,
}

/// How a machine differs from the tape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// A read gave other bytes.
    Bytes {
        /// The first one.
        offset: usize,
        /// Those of the tape from there on, up to sixteen.
        expected: Vec<u8>,
        /// Those of the machine.
        got: Vec<u8>,
    },
    /// Cycle and hash are others.
    State {
        /// Those of the tape.
        expected: (u64, u64),
        /// Those of the machine.
        got: (u64, u64),
    },
    /// The device asked for something of the host's memory that the tape does not have there.
    Extra(Access),
    /// The device did not do what the tape has.
    Missing(Access),
}

/// The first difference of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Where.
    pub played: Played,
    /// How.
    pub mismatch: Mismatch,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Played { index, cycle, what } = self.played;
        write!(f, "call {index}, {what}, at cycle {cycle}: ")?;
        match &self.mismatch {
            Mismatch::Bytes { offset, expected, got } => {
                write!(f, "byte {offset:#x}: expected")?;
                expected.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
                write!(f, ", got")?;
                got.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
            }
            Mismatch::State { expected: (cycle, hash), got: (now, other) } => {
                write!(f, "expected {hash:#018x} at cycle {cycle}, got {other:#018x} at {now}")
            }
            Mismatch::Extra(access) => write!(f, "the tape has no {access} here"),
            Mismatch::Missing(access) => write!(f, "the device made no {access}"),
        }
    }
}

/// Why a tape is not played further.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// It cannot be read.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// The machine did something else. It may be played on.
    #[error("{0}")]
    Differs(Box<Difference>),
    /// The tape names a machine that there is not.
    #[error("the tape's settings: {0}")]
    Settings(#[from] HostError),
}

/// Makes the calls of a tape, one at a time.
#[derive(Debug)]
pub struct Player<'t> {
    calls: Calls<'t>,
    index: u64,
    /// A session is open.
    open: bool,
    script: Script,
    /// The host has memory functions.
    has_memory: bool,
    /// The machine is a fresh one.
    is_fresh: bool,
    scratch: Vec<u8>,
}

impl<'t> Player<'t> {
    /// A player at the beginning of a tape.
    #[must_use]
    pub fn new(tape: &'t Tape) -> Self {
        let strictness =
            if tape.header().is_some() { Strictness::PerCall } else { Strictness::PerSession };
        Self {
            calls: tape.calls(),
            index: 0,
            open: false,
            script: Script::new(strictness),
            has_memory: false,
            is_fresh: false,
            scratch: Vec::new(),
        }
    }

    /// Number of the next call.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Whether a session is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Makes the next call; `None` at the end of the tape. Calls outside a session get the answers of a
    /// bus without a device. After [`What::Init`] the caller gives a fresh machine.
    ///
    /// # Errors
    /// The tape cannot be read, or the machine differs from it.
    pub fn step(&mut self, machine: &mut impl Machine) -> Result<Option<Played>, PlayError> {
        if std::mem::take(&mut self.is_fresh) && self.has_memory {
            machine.set_host_memory(self.script.memory());
        }
        let mut mismatch = None;
        let what = loop {
            let Some(call) = self.calls.next()? else { break What::End };
            self.index += 1;
            match call {
                Call::DmaRead { paddr, bytes } => self.script.expect(false, paddr, bytes),
                Call::DmaWrite { paddr, bytes } => self.script.expect(true, paddr, bytes),
                Call::Init => {
                    (self.open, self.is_fresh) = (true, true);
                    break What::Init;
                }
                Call::Exit => {
                    self.open = false;
                    mismatch = self.script.finish();
                    break What::Exit;
                }
                Call::SetMemory { read, write } => {
                    self.script.set_functions(read, write);
                    self.has_memory = read || write;
                    if self.open {
                        machine.set_host_memory(self.script.memory());
                    }
                    break What::SetMemory;
                }
                Call::State { cycle, hash } => {
                    let (expected, got) = ((cycle, hash), (machine.now(), machine.state_hash()));
                    mismatch = (expected != got).then_some(Mismatch::State { expected, got });
                    break What::State;
                }
                _ => {
                    let bus = self.open.then_some(&mut *machine);
                    let (what, difference) = make(bus, &call, &mut self.scratch);
                    mismatch = difference;
                    break what;
                }
            }
        };
        if what == What::End {
            let Some(missing) = self.script.finish() else { return Ok(None) };
            mismatch = Some(missing);
        }
        let mismatch = self.script.check().or(mismatch);
        let index = self.index.saturating_sub(1);
        let played = Played { index, cycle: machine.now(), what };
        match mismatch {
            Some(mismatch) => Err(PlayError::Differs(Box::new(Difference { played, mismatch }))),
            None => Ok(Some(played)),
        }
    }
}

/// Makes an access, or lets time pass.
fn make(
    machine: Option<&mut impl Machine>,
    call: &Call<'_>,
    scratch: &mut Vec<u8>,
) -> (What, Option<Mismatch>) {
    scratch.clear();
    let mut compare = |expected: &[u8], read: &mut dyn FnMut(&mut [u8])| {
        // Neither zeros nor ones: a machine that leaves the buffer alone shall not pass by luck.
        scratch.resize(expected.len(), 0xA5);
        read(scratch);
        difference(expected, scratch)
    };
    let Some(machine) = machine else {
        let mut absent = |expected: &[u8]| compare(expected, &mut |bytes| bytes.fill(0xFF));
        return match *call {
            Call::ConfigRead { value, .. } => (what(call), absent(&value.to_le_bytes())),
            Call::MemRead { bytes, .. } | Call::TileRead { bytes, .. } => {
                (what(call), absent(bytes))
            }
            _ => (what(call), None),
        };
    };
    let mut mismatch = None;
    match *call {
        Call::ConfigRead { bdf, offset, value } => {
            let got = machine.config_read(bdf, offset).to_le_bytes();
            mismatch = difference(&value.to_le_bytes(), &got);
        }
        Call::ConfigWrite { bdf, offset, value } => machine.config_write(bdf, offset, value),
        Call::MemRead { paddr, bytes } => {
            mismatch = compare(bytes, &mut |bytes| machine.mem_read(paddr, bytes));
        }
        Call::MemWrite { paddr, bytes } => machine.mem_write(paddr, bytes),
        Call::TileRead { x, y, addr, bytes } => {
            mismatch = compare(bytes, &mut |bytes| machine.tile_read(x, y, addr, bytes));
        }
        Call::TileWrite { x, y, addr, bytes } => machine.tile_write(x, y, addr, bytes),
        Call::Clock { clocks } => machine.clock(clocks),
        Call::Rest { cycles } => machine.rest(cycles),
        _ => {}
    }
    (what(call), mismatch)
}

fn what(call: &Call<'_>) -> What {
    match *call {
        Call::Init => What::Init,
        Call::Exit => What::Exit,
        Call::ConfigRead { bdf, offset, .. } => What::ConfigRead { bdf, offset },
        Call::ConfigWrite { bdf, offset, .. } => What::ConfigWrite { bdf, offset },
        Call::MemRead { paddr, bytes } => What::MemRead { paddr, size: bytes.len() },
        Call::MemWrite { paddr, bytes } => What::MemWrite { paddr, size: bytes.len() },
        Call::TileRead { x, y, addr, bytes } => {
            What::TileRead { at: (x, y), addr, size: bytes.len() }
        }
        Call::TileWrite { x, y, addr, bytes } => {
            What::TileWrite { at: (x, y), addr, size: bytes.len() }
        }
        Call::Clock { clocks } => What::Clock { clocks },
        Call::Rest { cycles } => What::Rest { cycles },
        Call::SetMemory { .. } => What::SetMemory,
        Call::State { .. } => What::State,
        Call::DmaRead { .. } | Call::DmaWrite { .. } => What::End,
    }
}

fn difference(expected: &[u8], got: &[u8]) -> Option<Mismatch> {
    let offset = expected.iter().zip(got).position(|(expected, got)| expected != got)?;
    let part = |bytes: &[u8]| bytes[offset..].iter().copied().take(SHOWN_BYTES).collect();
    Some(Mismatch::Bytes { offset, expected: part(expected), got: part(got) })
}

/// A session that was played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Session {
    /// Its last cycle.
    pub cycle: u64,
    /// Its state then.
    pub hash: u64,
}

/// The machine that a tape was written on, with `threads` of the host's.
///
/// # Errors
/// A setting has a value that means nothing.
pub fn config_of(tape: &Tape) -> Result<ChipConfig, PlayError> {
    let settings = tape.header().map_or(&[][..], |header| header.settings.as_slice());
    let value = |name: &str| {
        let setting = settings.iter().rev().find(|(known, _)| known == name);
        setting.map(|(_, value)| value.clone())
    };
    Ok(ChipConfig::from_variables(value)?)
}

/// Plays a whole tape on chips of that configuration. `after` sees the chip after each call, and may
/// end it there.
///
/// # Errors
/// The tape cannot be read, or a chip differs from it.
pub fn exact(
    tape: &Tape,
    config: ChipConfig,
    mut after: impl FnMut(&mut Chip, &Played) -> ControlFlow<()>,
) -> Result<Vec<Session>, PlayError> {
    let mut player = Player::new(tape);
    let mut chip = Chip::new(config);
    let mut sessions = Vec::new();
    let session = |chip: &mut Chip| Session { cycle: chip.now().0, hash: chip.state_hash() };
    while let Some(played) = player.step(&mut chip)? {
        match played.what {
            What::Init => chip = Chip::new(config),
            What::Exit => sessions.push(session(&mut chip)),
            _ => {}
        }
        if after(&mut chip, &played).is_break() {
            break;
        }
    }
    if player.is_open() {
        sessions.push(session(&mut chip));
    }
    Ok(sessions)
}
