//! Host-side library of the `tilescope` command line: images, firmware sets and their cache,
//! symbols, kernel plans, and the command definitions.
//!
//! Nothing here simulates: it prepares the bytes that a tile starts from and puts names on what a
//! tile did. Host files are read here and nowhere else.

pub mod commands;
pub mod exit;
pub mod fetch;
pub mod firmware;
pub mod image;
pub mod layout;
pub mod mailbox_names;
pub mod plan;
pub mod symbols;
