//! Address map and registers of a Blackhole Tensix tile, as tables.
//!
//! What it is: who sees what at an address ([`lookup`]), how an address is called
//! ([`register_name`]), where a register lies and what its bits are ([`reg`], [`find`]), what a NoC command asks for
//! ([`NocControl`]), and what the vendor firmware keeps
//! in L1 ([`mailbox`], [`layout`]). Everything comes from `tables/*.toml`; `build.rs` checks the rows
//! and expands them.
//!
//! What it is not: it models no behaviour and holds no state.
//!
//! Sources: `[isa-bh: TensixTile/BabyRISCV/README.md]` for the address map; every row names its own.

mod names;
mod noc;
mod region;
mod registers;

pub mod layout;
pub mod mailbox;

pub use names::{find, register_name};
pub use noc::{NocControl, NocCoordinate, NocRequest};
pub use region::{Hit, REGIONS, RegionId, RegionRow, Target, View, lookup};
pub use registers::{
    Access, BLOCKS, Block, Instance, Register, RegisterField, block, reg, register_at,
};
