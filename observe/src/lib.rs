//! Consumers of the event stream: what happened in a tile, hashed, in words, in numbers.
//!
//! * [`EventHash`]: one number for a whole run; equal runs give equal numbers.
//! * [`HandshakeLog`]: handshake-level events as `tracing` events, one target per kind, so that
//!   a filter such as `tilescope::semaphore=info` chooses what is shown; [`TextLog`]: the same as
//!   lines of text, without `tracing` in between.
//! * [`describe()`]: the same text as plain data, for other listings.
//! * [`Summary`]: who did what, when, of a run; bounded in size; prints a table, serialises.
//! * [`JsonLines`], [`Perfetto`], [`Waves`]: the run as JSON lines, as a timeline, as waves.
//! * [`Polls`]: loops that poll, each as one thing that happened.
//! * [`why`]: why nothing moves, explained; contract violations.
//! * [`Stalls`]: where the cycles went.
//! * [`Ledger`]: who did what to which semaphore, mutex, FIFO, bank or word.
//! * [`InstructionLog`]: every executed instruction of chosen cores, disassembled, to a writer.
//!
//! All are [`sim_core::Observer`]s and compose as tuples and options. None of them changes what
//! is simulated, and none sees another.
//!
//! Not here: debug information (names come in through [`Names`]), the event schema itself
//! (`docs/events.md`, [`sim_core::observer`]), files and command lines.

mod cache;
mod culprit;
mod describe;
mod handshake;
mod hash;
mod instruction_log;
mod jsonl;
mod labels;
mod ledger;
mod names;
mod perfetto;
mod polls;
mod resource;
mod scribe;
mod stalls;
mod summary;
mod target;
mod text;
mod text_log;
mod waves;
pub mod why;
mod words;

#[cfg(test)]
mod testing;

pub use describe::{Line, core_of, describe};
pub use handshake::HandshakeLog;
pub use hash::EventHash;
pub use instruction_log::InstructionLog;
pub use jsonl::JsonLines;
pub use ledger::{Entry, History, Ledger, Site, SiteUse};
pub use names::{BuiltInNames, CodeName, Excerpt, FrameName, Held, Names, signal_name};
pub use perfetto::{ChipMap, Perfetto, Place};
pub use polls::{Episode, Polls, poll_text};
pub use resource::{Operation, Resource, Way, awaited, operation};
pub use stalls::{Attribution, Share, Stalls};
pub use summary::{
    AgentWaits, Counters, KernelRun, Milestone, NocTraffic, SemaphoreUse, Summary, SummaryReport,
    Wait,
};
pub use target::{Target, Targets};
pub use text_log::TextLog;
pub use waves::Waves;

/// L1 that is watched unless something else is asked for: `[0, 0x3AE0)`, from the boot word over
/// the mailbox block up to the first firmware text `[spec: boot-and-sync 1.2]`.
pub const DEFAULT_L1: (u32, u32) = (0, 0x3AE0);
