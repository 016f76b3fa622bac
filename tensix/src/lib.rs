//! The Tensix coprocessor of a tile: three frontends, wait gates and a shared back end.
//!
//! ```text
//! push -> FIFO -> MOP expander -> FIFO -> replay expander -> FIFO -> wait gate -> nine units
//! ```
//!
//! [`Coprocessor::step`] advances one cycle; [`Coprocessor::is_asleep`] says when stepping would
//! change nothing, so a waiting coprocessor costs nothing. Everything it needs of its tile is the
//! trait [`Env`]. Each queued instruction carries who pushed it and how the expanders made it.
//!
//! # Rooms
//!
//! `frontend` FIFOs and expanders; `gate` the latched wait instruction; `decode` what the gate has
//! to know about a word; `backend` the units together and what is in flight; `units` one folder per
//! execution unit, with `units/execute.rs` holding one arm per opcode; `timing` what instructions
//! cost; `checks` what is refused; `warnings` what was assumed; `doors` MMIO and reset lines; `ttsync` the order of a core's accesses and instructions; `status` questions and the state hash.
//!
//! # Limits of the model
//!
//! * An opcode or mode that exists without a public description does what is most plausible and
//!   leaves a warning ([`Coprocessor::warnings`]); what is declared undefined or reserved stops the
//!   run with its name, unless its check is lowered ([`Coprocessor::set_warned`]). Nothing is skipped silently; each unit's module says what it leaves out.
//! * Loads and stores of the scalar unit reach L1 in the cycle of issue, tile registers after it.
//! * Function is atomic: an instruction has its whole effect in the cycle in which it issues, except
//!   what SFPLOADMACRO schedules.
//!   [`TimingModel`] can delay what comes after it and what waits for it, nothing else. Hazards that
//!   need NOPs on silicon are therefore not visible.
//! * Unit-pipeline stages of the configuration unit are not modelled, nor the reordering of
//!   `STREAMWRCFG` that its page calls a bug; cores' stores to configuration and semaphores do not
//!   compete with instructions for the unit.
//! * A core's store is processed in the cycle that emits it, so STALLWAIT condition C10 never waits.
//! * An empty frontend has no latency of its own [unknown: U-042]; which of two threads
//!   wins a unit is round-robin per unit [unknown: U-043].
//! * MOP count overrides, the MOP outer-loop bug, REPLAY of more than 32 instructions, and a BRISC
//!   push that collides with a TRISC's are diagnosed instead of guessed.
//! * A latched wait instruction counts as in flight for TTSync `[spec: boot-and-sync 5.7]`.
//! * Bits that no instruction field uses are ignored.

mod arbiter;
mod backend;
mod cells;
pub mod checks;
mod config_bits;
mod coprocessor;
mod cycle;
mod debug;
mod decode;
mod doors;
mod env;
mod error;
mod feed;
mod flow;
mod frontend;
mod gate;
mod hash;
mod mistakes;
mod occupancy;
mod plan;
mod playback;
mod queue;
mod registers;
mod state;
mod status;
mod still;
pub mod timing;
mod ttsync;
mod unit;
mod units;
mod warnings;

pub use checks::{Check, UnknownCheck, Warned};
pub use coprocessor::Coprocessor;
pub use env::Env;
pub use error::DoorError;
pub use feed::Feed;
pub use gate::{AtGate, ThreadWait};
pub use playback::Attention;
pub use queue::Origin;
pub use registers::{CellFormat, CellKind, CellRow, CellValue, Cells, Register, RegisterValue};
pub use timing::TimingModel;
pub use ttsync::TrackedAccess;
pub use unit::unit_id;
pub use units::mover::TdmaCommand;
