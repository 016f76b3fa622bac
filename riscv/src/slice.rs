//! One slice of execution: how far it goes, and where its loads and stores go.

use sim_core::{Cycle, Shared, Store};

use crate::park::WatchedLoad;

/// Registers of devices, for a core that is alone.
pub trait OwnRegisters {
    /// What the word at an address shows in a cycle to a load that is answered at the end of its epoch,
    /// `end`. `None`: that is for the commit phase.
    fn load(&mut self, addr: u32, cycle: Cycle, end: Cycle) -> Option<u32>;

    /// Stores an aligned word. `false`: that is for the commit phase, and nothing has happened.
    fn store(&mut self, store: &Store) -> bool;
}

/// Loads of a round that is carried out on the side.
#[derive(Default, Debug)]
pub(crate) struct Foreseen {
    /// All but those of the wall clock.
    pub(crate) loads: Vec<WatchedLoad>,
    /// Cycle of the oldest value used.
    pub(crate) oldest: u64,
    /// Whether there are loads from other devices.
    pub(crate) devices: bool,
    /// Whether there are loads of the wall clock.
    pub(crate) clock: bool,
}

/// How an instruction that left the straight path ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// Completed; go on behind it.
    Next,
    /// Handed to the commit phase, which completes it.
    Wait,
    /// Did not happen: the core faulted, halted, or must try it again.
    Hold,
}

/// State of one slice that is not part of the core.
pub(crate) struct Slice<'a> {
    pub(crate) shared: &'a Shared,
    /// First cycle that must not be executed.
    pub(crate) until: u64,
    /// Whether quiet L1 stores go straight to L1.
    pub(crate) direct: bool,
    /// Remembered loads while a woken core catches up.
    pub(crate) replay: Option<std::iter::Cycle<std::slice::Iter<'a, WatchedLoad>>>,
    /// Loads of a round that is only tried out.
    pub(crate) foreseen: Option<Foreseen>,
    /// Registers that it may use itself.
    pub(crate) registers: Option<&'a mut (dyn OwnRegisters + 'a)>,
}

impl<'a> Slice<'a> {
    /// Ordinary execution, with stores that are posted.
    pub(crate) fn new(shared: &'a Shared, until: u64) -> Self {
        Self { shared, until, direct: false, replay: None, foreseen: None, registers: None }
    }

    /// Whether what is executed happens now for the first time.
    pub(crate) fn is_real(&self) -> bool {
        self.replay.is_none() && self.foreseen.is_none()
    }
}
