//! From files to a running tile.
//!
//! [`image`] reads ELF and flat images, [`firmware`] stages a firmware set, [`symbols`] and
//! [`mailbox_names`] put names on addresses, [`plan`] turns a `KERNELS.toml` into L1 writes and
//! launch messages, and [`session`] is the host: it boots a tile and launches kernels through the
//! mailbox protocol of unmodified firmware. [`names`] joins the symbols of a run, [`diagnose`] runs a
//! plan twice and explains how it ends.
//!
//! Host files are read here and nowhere else in the simulator.

pub mod diagnose;
pub mod firmware;
pub mod image;
pub mod layout;
pub mod mailbox_names;
pub mod names;
pub mod plan;
pub mod session;
pub mod symbols;
