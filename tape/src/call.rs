//! One call of a host, as callers see it and as the tape keeps it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use crate::wire::{Cursor, Damage, put, put_bytes};

/// One call of a host (or, `Rest`, what calls answered without the chip came to).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Call<'a> {
    /// A session begins.
    Init,
    /// It ends.
    Exit,
    /// A word of configuration space was read.
    ConfigRead {
        /// Device number times eight.
        bdf: u32,
        /// Byte of its configuration space.
        offset: u32,
        /// What came back.
        value: u32,
    },
    /// A word of configuration space was written.
    ConfigWrite {
        /// Device number times eight.
        bdf: u32,
        /// Byte of its configuration space.
        offset: u32,
        /// The word.
        value: u32,
    },
    /// A BAR was read.
    MemRead {
        /// Physical address.
        paddr: u64,
        /// What came back.
        bytes: &'a [u8],
    },
    /// A BAR was written.
    MemWrite {
        /// Physical address.
        paddr: u64,
        /// What was written.
        bytes: &'a [u8],
    },
    /// A tile was read past the windows.
    TileRead {
        /// Column of the translated coordinate.
        x: u32,
        /// Its row.
        y: u32,
        /// Address in the tile.
        addr: u64,
        /// What came back.
        bytes: &'a [u8],
    },
    /// A tile was written past the windows.
    TileWrite {
        /// Column of the translated coordinate.
        x: u32,
        /// Its row.
        y: u32,
        /// Address in the tile.
        addr: u64,
        /// What was written.
        bytes: &'a [u8],
    },
    /// Host clocks passed.
    Clock {
        /// How many.
        clocks: u32,
    },
    /// The chip was at rest while the host polled: so many cycles passed in one go.
    ///
    /// What was written as several of these with nothing in between comes back as one, see
    /// [`TapeWriter::call`](crate::TapeWriter::call).
    Rest {
        /// Cycles of the chip.
        cycles: u64,
    },
    /// The host said which of its memory functions there are.
    SetMemory {
        /// The device may read.
        read: bool,
        /// The device may write.
        write: bool,
    },
    /// The device read host memory within the call that follows: calls are written when they end.
    DmaRead {
        /// Address in the host's memory.
        paddr: u64,
        /// What the host supplied.
        bytes: &'a [u8],
    },
    /// The device wrote host memory within the call that follows.
    DmaWrite {
        /// Address in the host's memory.
        paddr: u64,
        /// What the device wrote.
        bytes: &'a [u8],
    },
    /// A witness of the machine's state after the previous call.
    State {
        /// When.
        cycle: u64,
        /// Hash of everything that determines the future.
        hash: u64,
    },
}

/// What a call is, in the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub(crate) enum Op {
    Rest,
    State,
    Init,
    Exit,
    ConfigRead,
    ConfigWrite,
    MemRead,
    MemWrite,
    TileRead,
    TileWrite,
    Clock,
    SetMemory,
    DmaRead,
    DmaWrite,
}

impl Op {
    pub(crate) const ALL: [Self; 14] = [
        Self::Rest,
        Self::State,
        Self::Init,
        Self::Exit,
        Self::ConfigRead,
        Self::ConfigWrite,
        Self::MemRead,
        Self::MemWrite,
        Self::TileRead,
        Self::TileWrite,
        Self::Clock,
        Self::SetMemory,
        Self::DmaRead,
        Self::DmaWrite,
    ];

    pub(crate) fn has_bytes(self) -> bool {
        matches!(
            self,
            Self::MemRead
                | Self::MemWrite
                | Self::TileRead
                | Self::TileWrite
                | Self::DmaRead
                | Self::DmaWrite
        )
    }
}

/// A call as an operation, two numbers and bytes. `Rest` and `State` have their numbers elsewhere:
/// they differ each time, and what is around them does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) op: Op,
    pub(crate) a0: u64,
    pub(crate) a1: u64,
    pub(crate) bytes: &'a [u8],
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn halves(both: u64) -> (u32, u32) {
    (both as u32, (both >> 32) as u32)
}

impl<'a> Parts<'a> {
    #[inline]
    pub(crate) fn of(call: &Call<'a>) -> Self {
        let parts = |op, a0, a1, bytes| Self { op, a0, a1, bytes };
        match *call {
            Call::Init => parts(Op::Init, 0, 0, &[]),
            Call::Exit => parts(Op::Exit, 0, 0, &[]),
            Call::ConfigRead { bdf, offset, value } => {
                parts(Op::ConfigRead, pair(offset, bdf), value.into(), &[])
            }
            Call::ConfigWrite { bdf, offset, value } => {
                parts(Op::ConfigWrite, pair(offset, bdf), value.into(), &[])
            }
            Call::MemRead { paddr, bytes } => parts(Op::MemRead, paddr, 0, bytes),
            Call::MemWrite { paddr, bytes } => parts(Op::MemWrite, paddr, 0, bytes),
            Call::TileRead { x, y, addr, bytes } => parts(Op::TileRead, addr, pair(x, y), bytes),
            Call::TileWrite { x, y, addr, bytes } => parts(Op::TileWrite, addr, pair(x, y), bytes),
            Call::Clock { clocks } => parts(Op::Clock, clocks.into(), 0, &[]),
            Call::SetMemory { read, write } => {
                parts(Op::SetMemory, u64::from(read) | u64::from(write) << 1, 0, &[])
            }
            Call::DmaRead { paddr, bytes } => parts(Op::DmaRead, paddr, 0, bytes),
            Call::DmaWrite { paddr, bytes } => parts(Op::DmaWrite, paddr, 0, bytes),
            Call::Rest { .. } => parts(Op::Rest, 0, 0, &[]),
            Call::State { .. } => parts(Op::State, 0, 0, &[]),
        }
    }

    /// The call; `numbers` are those of `Rest` and `State`.
    pub(crate) fn call(self, numbers: (u64, u64)) -> Call<'a> {
        let Self { op, a0, a1, bytes } = self;
        match op {
            Op::Rest => Call::Rest { cycles: numbers.0 },
            Op::State => Call::State { cycle: numbers.0, hash: numbers.1 },
            Op::Init => Call::Init,
            Op::Exit => Call::Exit,
            Op::ConfigRead | Op::ConfigWrite => {
                let ((offset, bdf), (value, _)) = (halves(a0), halves(a1));
                if op == Op::ConfigRead {
                    Call::ConfigRead { bdf, offset, value }
                } else {
                    Call::ConfigWrite { bdf, offset, value }
                }
            }
            Op::MemRead => Call::MemRead { paddr: a0, bytes },
            Op::MemWrite => Call::MemWrite { paddr: a0, bytes },
            Op::TileRead => {
                let (x, y) = halves(a1);
                Call::TileRead { x, y, addr: a0, bytes }
            }
            Op::TileWrite => {
                let (x, y) = halves(a1);
                Call::TileWrite { x, y, addr: a0, bytes }
            }
            Op::Clock => Call::Clock { clocks: halves(a0).0 },
            Op::SetMemory => Call::SetMemory { read: a0 & 1 != 0, write: a0 & 2 != 0 },
            Op::DmaRead => Call::DmaRead { paddr: a0, bytes },
            Op::DmaWrite => Call::DmaWrite { paddr: a0, bytes },
        }
    }
}

/// Who wrote a tape, and what defines the machine.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// The `TILESCOPE_*` variables that define the machine.
    pub settings: Vec<(String, String)>,
    /// Program and arguments of the host.
    pub program: Vec<String>,
    /// Where it ran.
    pub directory: PathBuf,
    /// Its process.
    pub pid: u32,
    /// Version of the library that wrote.
    pub version: String,
    /// Other variables that say where things are.
    pub environment: Vec<(String, String)>,
}

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.pid.into());
        put_bytes(&mut out, self.version.as_bytes());
        put_bytes(&mut out, self.directory.as_os_str().as_bytes());
        put(&mut out, self.program.len() as u64);
        for word in &self.program {
            put_bytes(&mut out, word.as_bytes());
        }
        for variables in [&self.settings, &self.environment] {
            put(&mut out, variables.len() as u64);
            for (name, value) in variables {
                put_bytes(&mut out, name.as_bytes());
                put_bytes(&mut out, value.as_bytes());
            }
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damage> {
        let mut from = Cursor::new(bytes);
        let pid = from.small()?;
        let version = from.text()?;
        let directory = OsString::from_vec(from.bytes_with_length()?.to_vec());
        let words = from.get()?;
        let program = (0..words).map(|_| from.text()).collect::<Result<_, _>>()?;
        let mut variables = || {
            let count = from.get()?;
            (0..count).map(|_| Ok((from.text()?, from.text()?))).collect::<Result<Vec<_>, Damage>>()
        };
        let (settings, environment) = (variables()?, variables()?);
        Ok(Self { settings, program, directory: directory.into(), pid, version, environment })
    }
}
