//! The contract between everything that lives in a simulated Tensix tile.
//!
//! # Time
//!
//! Simulated time counts AI-clock cycles ([`Cycle`]) and advances in *epochs* of
//! [`EpochLength`] cycles, aligned to multiples of that length.
//!
//! * **Run phase**: every runnable core advances to the end of the epoch on its own. It sees
//!   L1 as it was when the epoch began plus its own stores; everything it does to the outside
//!   is queued with its cycle in a [`Batch`]. An access whose answer depends on another agent
//!   (an MMIO load, an atomic, a store into a full FIFO) ends the core's epoch early: it becomes
//!   a [`Request`].
//! * **Commit phase**: all queued effects are applied in `(cycle, agent)` order, interleaved with
//!   the coprocessor and the NoC; requests are answered; answers are visible from the first cycle
//!   of the next epoch. Events are emitted here and nowhere else.
//!
//! Nothing in that definition names a host thread, so every [`engine`] gives the same result.
//!
//! # Rooms
//!
//! [`ids`] who there is; [`batch`] what a core hands over; [`l1`] shared memory; [`wait`] why
//! an agent does not move; [`observer`] the only seam through which anything can be watched;
//! [`error`] guest mistakes; [`hash`] state and event hashes; [`engine`] who runs when;
//! [`shortcuts`] the ways to a result that can be switched off;
//! [`sync`] the only place that names a thread, a channel or a lock.
//!
//! # Not modelled
//!
//! Core-side memory reordering (store queue bypass, L0 data cache): each access is atomic and in
//! program order, which is the strongest legal implementation
//! `[isa-bh: TensixTile/BabyRISCV/MemoryOrdering.md]`.

pub mod agent;
pub mod batch;
pub mod engine;
pub mod error;
pub mod fifo;
pub mod hash;
pub mod ids;
pub mod image;
pub mod l1;
pub mod observer;
pub mod shortcuts;
pub mod sync;
pub mod time;
pub mod wait;

pub use agent::{Agent, Shared};
pub use batch::{AmoOp, Batch, Jump, JumpKind, Request, RequestKind, Retire, Store, Width};
pub use error::{Category, Context, GuestError};
pub use fifo::Fifo;
pub use hash::StateHasher;
pub use ids::{AgentId, CoreId, CoreSet, ThreadId, UnitId};
pub use image::L1Image;
pub use l1::L1;
pub use observer::{Event, EventKind, NullObserver, Observer, Stamp};
pub use shortcuts::{Shortcut, Shortcuts};
pub use time::{Cycle, EpochLength};
pub use wait::WaitReason;
