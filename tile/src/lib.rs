//! One whole Tensix tile: five cores, L1, devices and the coprocessor, and the epochs in which
//! they advance together.
//!
//! This is the composition root: the only crate that knows all machines. Cores know nothing of
//! devices, devices nothing of the coprocessor; everything that crosses goes through here.
//!
//! * [`Tile`] is the machine and what a host may do to it.
//! * `epoch` advances time; `commit` applies what the cores did, in `(cycle, agent)` order;
//!   `route` finds the device behind an address; `fabric` carries out NoC transfers, `late` says which of them may be
//!   taken late; `debug` does what a debugger asks of the cores; `tdma` knows TDMA-RISC and Auto TTSync; `faults` says
//!   what a mistake stops.
//! * [`Quiescence`] says who waits for what once nothing moves any more.

mod ahead;
mod alone;
mod asker;
mod bus;
mod commit;
mod config;
mod cores;
mod debug;
mod debug_bus;
mod devices;
mod doors;
mod env;
mod epoch;
mod fabric;
mod faults;
mod host;
mod host_wait;
mod inputs;
mod l1_access;
mod late;
mod loads;
mod message;
mod plan;
mod posted;
mod quiesce;
mod registers;
mod route;
mod schedule;
mod snapshot;
mod suppose;
mod tdma;
mod tensix_env;
mod tile;
mod trials;
mod unattended;
mod waiting;
mod watchers;

pub use config::TileConfig;
pub use debug::{DEBUG_CONTROL, is_debug_hardware};
pub use epoch::{Outlook, Stop};
pub use fabric::{Unanswered, response_cycles};
pub use host_wait::HostWait;
pub use inputs::Inputs;
pub use message::{Arrival, Data, Departure, Input, InputKind, Message, Receivers, Refused};
pub use quiesce::{AgentWait, HeldBack, Quiescence, Verdict};
pub use riscv::{WatchedLoad, view};
pub use route::mailbox_peer;
pub use snapshot::TileSnapshot;
pub use suppose::Supposition;
pub use tensix::unit_id;
pub use tile::Tile;
pub use waiting::Ebreak;
