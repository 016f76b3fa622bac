//! Mistakes of the guest: who is stopped, and what is reported when.
//!
//! A mistake whose check is lowered to a warning is none ([`crate::TileConfig::warned`]). Any other
//! ends the run, but not the machine: running on is allowed, and means this. Whoever
//! made the mistake never moves again; everybody else does. That is
//!
//! * a core: it is [`riscv::Status::Faulted`] from the end of the epoch on, until it is reset;
//! * a Tensix thread: its frontend takes instructions until it is full and issues none, until
//!   its TRISC is reset;
//! * a NoC request: it is dropped, and whoever waits for its answer waits for ever;
//! * the host: its access has not happened.
//!
//! Of each core and each thread only the first mistake is reported, in `(cycle, agent)` order,
//! one by one.

use sim_core::{AgentId, GuestError, Observer};

use devices::DeviceFault;
use riscv::Status;
use tensix::DoorError;

use crate::route::Asker;
use crate::tile::Tile;

impl<O: Observer + ?Sized> Tile<O> {
    /// Notes a mistake and stops who made it.
    #[cold]
    pub(crate) fn report(&mut self, fault: Box<GuestError>) {
        let first = match fault.at.agent {
            AgentId::Core(id) => {
                let again = self.failed.contains(id);
                self.failed.insert(id);
                if !matches!(self.cores[id].status(), Status::Reset) {
                    // It went on to the end of the epoch, perhaps into a loop it was parked in.
                    self.wake_core(id, self.config.epoch.end_of_epoch(fault.at.cycle));
                    self.cores[id].stop_faulted();
                }
                !again
            }
            AgentId::Thread(thread) => self.tensix.stop_thread(thread),
            AgentId::Unit(_) | AgentId::Noc(_) | AgentId::Host => true,
        };
        if first {
            let key = |fault: &GuestError| (fault.at.cycle, fault.at.agent.code());
            let place = self.faults.partition_point(|other| key(other) <= key(&fault));
            self.faults.insert(place, *fault);
        }
    }

    /// The next mistake to be returned.
    #[inline]
    pub(crate) fn next_fault(&mut self) -> Option<Box<GuestError>> {
        if self.faults.is_empty() { None } else { self.take_fault() }
    }

    #[cold]
    fn take_fault(&mut self) -> Option<Box<GuestError>> {
        Some(Box::new(self.faults.remove(0)))
    }

    /// What the coprocessor's front door gave; if it refused and that check is lowered, nothing.
    pub(crate) fn through_door<T: Default>(
        &mut self,
        asker: Asker,
        passed: Result<T, DoorError>,
    ) -> Result<T, DeviceFault> {
        passed.or_else(|error| match self.tensix.door_refused(error, asker.stamp()) {
            Ok(()) => Ok(T::default()),
            Err(error) => {
                let row = error.check().row();
                Err(DeviceFault::new(row.category, row.id, error.to_string()))
            }
        })
    }
}
