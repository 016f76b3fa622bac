//! One slice of execution: how far it goes, and where its loads and stores go.

use sim_core::{Cycle, Shared, Store};

use crate::spin::WatchedLoad;

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

/// What loads and stores beyond the core's own RAM mean.
pub(crate) enum Memory<'a> {
    /// Stores are posted, and devices are asked in the commit phase.
    Posted,
    /// The core is alone: L1 stores that nothing notices take effect at once, and so do accesses to the registers
    /// that it was given.
    Direct(Option<&'a mut (dyn OwnRegisters + 'a)>),
    /// A round is tried out: loads show what they would, and are noted.
    Foreseen(Foreseen),
    /// A woken core catches up, with the loads of a round that it has been through, over and over.
    Replayed(std::iter::Cycle<std::slice::Iter<'a, WatchedLoad>>),
}

/// State of one slice that is not part of the core.
pub(crate) struct Slice<'a> {
    pub(crate) shared: &'a Shared,
    /// First cycle that must not be executed.
    pub(crate) until: u64,
    pub(crate) memory: Memory<'a>,
}

impl<'a> Slice<'a> {
    /// Ordinary execution, with stores that are posted.
    pub(crate) fn new(shared: &'a Shared, until: u64) -> Self {
        Self { shared, until, memory: Memory::Posted }
    }

    /// Whether what is executed happens now for the first time.
    #[inline]
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.memory, Memory::Posted | Memory::Direct(_))
    }

    /// Whether stores go straight to L1.
    #[inline]
    pub(crate) fn is_direct(&self) -> bool {
        matches!(self.memory, Memory::Direct(_))
    }

    /// Whether a round is only tried out.
    #[inline]
    pub(crate) fn is_foreseen(&self) -> bool {
        matches!(self.memory, Memory::Foreseen(_))
    }
}
