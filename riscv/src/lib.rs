//! The five baby RISC-V cores of a Tensix tile: an interpreter of predecoded instructions.
//!
//! RV32IM, Zicsr, Zaamo, Zba, Zbb, `pack` and `brev8` of Zbkb, F and Zfh, and `.ttinsn`
//! `[isa-bh: TensixTile/BabyRISCV/README.md]`.
//!
//! # Time
//!
//! One instruction per cycle. An access that only the commit phase can answer ends the core's
//! epoch; its answer arrives with the next one.
//!
//! # Parking
//!
//! See [`park`]: a core that spins costs nothing until something it reads changes.
//!
//! # Debugging
//!
//! See [`debug`]: pause, step, breakpoints, and what they cost (nothing, unless used).
//!
//! # Not modelled
//!
//! Pipeline bubbles, the L0 data cache, the store queue's reordering, interrupts, the vector
//! extension of TRISC2.

mod access;
pub mod ahead;
mod config;
pub mod core;
pub mod csr;
pub mod debug;
pub mod decode;
mod dispatch;
mod doors;
pub mod exec;
mod fast;
mod hart;
mod icache;
mod look;
mod mark;
pub mod op;
mod pages;
pub mod park;
mod poll;
mod rare;
mod rounds;
mod run;
mod slice;
mod spin;
mod stretch;

pub use crate::config::view;
pub use crate::core::{Core, CoreConfig, Glance, Status};
pub use crate::debug::{DebugAccess, Watchpoint};
pub use crate::icache::IcacheModel;
pub use crate::look::MemoryAccess;
pub use crate::rounds::rounds;
pub use crate::slice::OwnRegisters;
pub use crate::spin::{Spin, WatchedLoad};
