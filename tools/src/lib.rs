//! Library of the `tilescope` command line: the firmware cache and the commands.
//!
//! Nothing here simulates: it prepares the bytes that a tile starts from and puts names on what a
//! tile did. Host files are read here and nowhere else.

pub mod commands;
pub mod exit;
pub mod fetch;
pub mod interrupt;
pub mod output;
pub mod supervise;
