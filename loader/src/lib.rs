//! From files to a running tile.
//!
//! [`firmware`] stages a firmware set, [`plan`] turns a `KERNELS.toml` into L1 writes and
//! launch messages, and [`session`] is the host: it boots a tile and launches kernels through the
//! mailbox protocol of unmodified firmware. [`names`] joins the symbols of a run, [`diagnose`] runs a
//! plan twice and explains how it ends.
//!
//! Host files are read here and nowhere else in the simulator.

pub mod diagnose;
pub mod firmware;
pub mod layout;
pub mod names;
pub mod plan;
pub mod session;
