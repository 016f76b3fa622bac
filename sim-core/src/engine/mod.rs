//! Who runs when, on which host thread. Never what anything means.
//!
//! * [`EngineKind::Inline`]: the cores one after another on the calling thread.
//! * [`EngineKind::Threads`]: one host thread per core; crossbeam channels carry each core with
//!   its epoch's batch to its thread and home again, a [`crate::sync::CycleBarrier`] ends the
//!   epoch.
//! * [`EngineKind::Auto`]: `Threads` on a host with at least [`AUTO_THREADS_CPUS`] CPUs.

mod threads;

use std::sync::Arc;

use zero_pages::PageBox;

use crate::agent::{Agent, Shared};
use crate::ids::{CoreId, CoreSet};
use crate::time::Cycle;

/// Host CPUs from which on `auto` means `threads`: one per core and one for the commit phase.
pub const AUTO_THREADS_CPUS: usize = 6;

/// Which engine a tile uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum EngineKind {
    /// Whatever suits the host.
    #[default]
    Auto,
    /// All cores on the calling thread.
    Inline,
    /// One host thread per core.
    Threads,
}

impl EngineKind {
    /// Resolves `Auto` for this host.
    #[must_use]
    pub fn resolve(self) -> Self {
        match self {
            Self::Auto if crate::sync::host_cpus() >= AUTO_THREADS_CPUS => Self::Threads,
            Self::Auto => Self::Inline,
            Self::Inline | Self::Threads => self,
        }
    }

    /// The name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Inline => "inline",
            Self::Threads => "threads",
        }
    }
}

/// The five cores of a tile. All are home except during a run phase.
#[derive(Clone, Debug)]
pub struct Slots<A>([Option<PageBox<A>>; CoreId::COUNT]);

impl<A> Slots<A> {
    /// Fills the slots.
    pub fn new(mut make: impl FnMut(CoreId) -> A) -> Self {
        Self(CoreId::ALL.map(|core| Some(PageBox::new(make(core)))))
    }

    /// Runs a phase of a single core, which is not home meanwhile: `run` gets it and what it is a part of.
    pub fn lend<T: ?Sized, R>(
        owner: &mut T,
        slots: impl Fn(&mut T) -> &mut Self,
        core: CoreId,
        run: impl FnOnce(&mut A, &mut T) -> R,
    ) -> R {
        let mut lent = slots(owner).0[core.index()].take();
        let agent = lent.as_deref_mut().expect("cores are home outside run phases");
        let result = run(agent, owner);
        slots(owner).0[core.index()] = lent;
        result
    }

    /// Cores with their ids, in effect order.
    pub fn iter(&self) -> impl Iterator<Item = (CoreId, &A)> {
        CoreId::ALL.into_iter().map(|core| (core, &self[core]))
    }
}

impl<A> std::ops::Index<CoreId> for Slots<A> {
    type Output = A;
    #[inline]
    fn index(&self, core: CoreId) -> &A {
        self.0[core.index()].as_deref().expect("cores are home outside run phases")
    }
}

impl<A> std::ops::IndexMut<CoreId> for Slots<A> {
    #[inline]
    fn index_mut(&mut self, core: CoreId) -> &mut A {
        self.0[core.index()].as_deref_mut().expect("cores are home outside run phases")
    }
}

/// A ready engine.
#[derive(Debug)]
pub enum Engine<A: Agent> {
    /// See [`EngineKind::Inline`].
    Inline,
    /// See [`EngineKind::Threads`].
    Threads(threads::Pool<A>),
}

impl<A: Agent> Engine<A> {
    /// Starts an engine over `shared`.
    ///
    /// # Errors
    /// The host cannot start the threads.
    pub fn start(kind: EngineKind, shared: &Arc<Shared>) -> std::io::Result<Self> {
        match kind.resolve() {
            EngineKind::Threads => Ok(Self::Threads(threads::Pool::start(shared)?)),
            EngineKind::Inline | EngineKind::Auto => Ok(Self::Inline),
        }
    }

    /// Runs the cores in `set` to `until`. A single core runs on the calling thread in either
    /// engine: there is nothing to overlap with.
    #[inline]
    pub fn run_phase(&mut self, cores: &mut Slots<A>, set: CoreSet, shared: &Shared, until: Cycle) {
        match self {
            Self::Threads(pool) if set.len() > 1 => pool.run_phase(&mut cores.0, set, until),
            Self::Threads(_) | Self::Inline => {
                for core in CoreId::ALL {
                    if set.contains(core) {
                        cores[core].run(shared, until);
                    }
                }
            }
        }
    }
}
