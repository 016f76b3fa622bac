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

use sim_core::GuestError;

/// Where a mistake belongs among those that have not been returned yet, in `(cycle, agent)` order.
pub(crate) fn place(faults: &[GuestError], fault: &GuestError) -> usize {
    let key = |fault: &GuestError| (fault.at.cycle, fault.at.agent.code());
    faults.partition_point(|other| key(other) <= key(fault))
}
