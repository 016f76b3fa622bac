//! Which shortcut is to blame if a session does not end as it does without any.
//!
//! A session is replayed with all shortcuts and with none ([`sim_core::Shortcuts`]). What the host reads, at
//! which cycle, and the state at the end of each session must be the same. If they are not, the
//! smallest set of shortcuts is found without which they are ([`sim_core::shortcuts::blame`]), and the
//! first read before which the states differ.
//!
//! To take a state hash takes cores out of their loops, so no run takes more than one hash per session
//! besides those at its end; the read is found by halving, in a run each.

use std::sync::Arc;

use hostlib::Recording;
use hostlib::abi::HostMemory;
use sim_core::Shortcuts;
use sim_core::shortcuts::blame;

use crate::engine::{Options, replay};
use crate::library::Library;
use crate::plan::Plan;

/// A read of the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// Number of its record; a read that is repeated has the same.
    pub record: usize,
    /// What is called, and with which address.
    pub call: String,
    /// Cycles since power-on, if the library says so.
    pub cycle: Option<u64>,
    /// What it showed.
    pub bytes: Vec<u8>,
}

/// What a replay showed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Trace {
    reads: Vec<Read>,
    /// State hashes at the ends of sessions.
    ends: Vec<u64>,
    /// The state before the read that was asked for.
    before: Option<u64>,
}

/// How sessions with all shortcuts and with none differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Without these they do not, and none of them can be put back.
    pub blamed: Shortcuts,
    /// The first read before which the states differ, or that shows something else or at another
    /// cycle: with all shortcuts, and with none. `None`: the states differ at the end only.
    pub first: Option<(Read, Read)>,
    /// Whether that read shows other bytes.
    pub shows: bool,
    /// Replays that it took.
    pub replays: u32,
}

/// A library that is looked at while it is used.
#[derive(Debug)]
struct Witness {
    library: Box<dyn Library>,
    trace: Trace,
    record: usize,
    /// Before which read the state is asked for.
    asked: Option<usize>,
}

impl Witness {
    /// A read is about to be made.
    fn look(&mut self) {
        if self.asked == Some(self.trace.reads.len()) {
            self.trace.before = self.library.state_hash();
        }
    }

    /// A read has been made.
    fn note(&mut self, call: String, bytes: &[u8]) {
        let (record, cycle, bytes) = (self.record, self.library.now(), bytes.to_vec());
        self.trace.reads.push(Read { record, call, cycle, bytes });
    }
}

impl Library for Witness {
    fn init(&mut self) -> Result<(), String> {
        self.library.init()
    }

    fn exit(&mut self) {
        self.library.exit();
    }

    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>) {
        self.library.set_host_memory(memory);
    }

    fn config_read(&mut self, bdf: u32, offset: u32) -> u32 {
        self.look();
        let word = self.library.config_read(bdf, offset);
        self.note(format!("config_read of {bdf:#x} {offset:#x}"), &word.to_le_bytes());
        word
    }

    fn config_write(&mut self, bdf: u32, offset: u32, value: u32) {
        self.library.config_write(bdf, offset, value);
    }

    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) {
        self.look();
        self.library.mem_read(paddr, bytes);
        self.note(format!("mem_read of {} bytes at {paddr:#x}", bytes.len()), bytes);
    }

    fn mem_write(&mut self, paddr: u64, bytes: &[u8]) {
        self.library.mem_write(paddr, bytes);
    }

    fn tile_read(&mut self, x: u32, y: u32, address: u64, bytes: &mut [u8]) {
        self.look();
        self.library.tile_read(x, y, address, bytes);
        let call = format!("tile_read of {} bytes at ({x}, {y}) {address:#x}", bytes.len());
        self.note(call, bytes);
    }

    fn tile_write(&mut self, x: u32, y: u32, address: u64, bytes: &[u8]) {
        self.library.tile_write(x, y, address, bytes);
    }

    fn clock(&mut self, clocks: u32) {
        self.library.clock(clocks);
    }

    fn state_hash(&mut self) -> Option<u64> {
        self.library.state_hash()
    }

    fn now(&self) -> Option<u64> {
        self.library.now()
    }

    fn begin_record(&mut self, number: usize) {
        self.record = number;
    }
}

/// Replays a session on libraries that `open` makes, with all shortcuts and with none. `None`: there is
/// no difference.
///
/// # Errors
/// A library cannot begin a session.
pub fn bisect(
    mut open: impl FnMut(Shortcuts) -> Box<dyn Library>,
    recording: &Arc<Recording>,
    options: &Options,
) -> Result<Option<Difference>, String> {
    let plan = Plan::of(recording);
    let mut replays = 0;
    let mut run = |shortcuts: Shortcuts, asked: Option<usize>| -> Result<Trace, String> {
        replays += 1;
        let library = open(shortcuts);
        let mut witness = Witness { library, trace: Trace::default(), record: 0, asked };
        let outcome = replay(&mut witness, recording, &plan, options)?;
        Ok(Trace { ends: outcome.state_hashes, ..witness.trace })
    };
    let (plain, full) = (run(Shortcuts::NONE, None)?, run(Shortcuts::ALL, None)?);
    if plain == full {
        return Ok(None);
    }
    let mut failed = None;
    let blamed = blame(|shortcuts| match shortcuts {
        Shortcuts::ALL => true,
        Shortcuts::NONE => false,
        _ => match run(shortcuts, None) {
            Ok(trace) => trace != plain,
            Err(error) => {
                failed.get_or_insert(error);
                true
            }
        },
    });
    if let Some(error) = failed {
        return Err(error);
    }
    // Reads up to that one are alike, so its number means the same to both.
    let alike = plain.reads.iter().zip(&full.reads).take_while(|(one, other)| one == other).count();
    let common = plain.reads.len().min(full.reads.len());
    let mut state_differs = |read: usize| -> Result<bool, String> {
        let (one, other) = (run(Shortcuts::NONE, Some(read))?, run(Shortcuts::ALL, Some(read))?);
        Ok(one.before != other.before)
    };
    let (mut same, mut differs) = (0, alike.min(common));
    while same < differs {
        let middle = same.midpoint(differs);
        if state_differs(middle)? {
            differs = middle;
        } else {
            same = middle + 1;
        }
    }
    let pair = full.reads.get(differs).zip(plain.reads.get(differs));
    Ok(Some(Difference {
        blamed: blamed.unwrap_or(Shortcuts::ALL),
        shows: pair.is_some_and(|(one, other)| one.bytes != other.bytes),
        first: pair.map(|(one, other)| (one.clone(), other.clone())),
        replays,
    }))
}
