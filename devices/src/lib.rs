//! Memory-mapped devices of the tile outside the coprocessor.
//!
//! Each device is a plain deterministic state machine: it gets offsets (never addresses) and
//! simulated cycles (never host time), and answers with values. What only the whole tile can do
//! (reset a core, move a packet, push an instruction) comes back as a typed effect. A guest
//! mistake is a [`DeviceFault`] value; nothing a guest writes can make a device panic.
//!
//! # Rooms
//!
//! [`mailbox`] and [`pcbuf`]: FIFOs between cores. [`tile_control`]: soft reset, reset PCs, wall
//! clock, debug selectors. [`risc_debug`]: the cores' debug interface. [`tdma`]: TDMA-RISC. [`niu`]: the two NoC interfaces (registers,
//! counters, command decode). [`fabric`]: packets in flight and what they do to memory.
//! [`overlay`]: stream registers. [`pic`]: interrupt controller.
//!
//! # Not modelled
//!
//! Interrupts, the overlay's stream engine, and packer metadata: these stop with an explicit
//! fault.
//! Devices do not know which core may reach which register; the tile's memory map does.

pub mod fabric;
pub mod fault;
pub mod mailbox;
pub mod niu;
pub mod overlay;
pub mod pcbuf;
pub mod pic;
pub mod risc_debug;
pub mod tdma;
pub mod tile_control;

pub use fabric::{Fabric, ForeignAccess, HostSink, InFlight, MemoryPort, NocTiming};
pub use fault::{DeviceFault, ReadClass};
pub use mailbox::Mailboxes;
pub use niu::{Niu, NocPacket, PacketKind, Stage};
pub use overlay::{Overlay, RegisterChange};
pub use pcbuf::{PcBufRead, PcBufs};
pub use pic::Pic;
pub use risc_debug::{DebugAccess, DebugEffect, RiscDebug, WatchMode};
pub use tdma::{MoverCommand, Tdma};
pub use tile_control::{ExternalRead, TileControl, TileControlEffect};
