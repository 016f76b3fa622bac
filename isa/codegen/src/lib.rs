//! Reads, validates and expands the fact tables into Rust and Markdown.
//!
//! What it is: an ordinary library, used by the `build.rs` of `isa` and `memory-map` and by the two
//! small tools beside it (`gen-docs`, `compare`). A table is TOML text; [`tables`] parses and checks
//! it, [`emit`] turns checked rows into Rust source, [`docs`] into Markdown.
//!
//! What it is not: it knows no fact about the hardware. Every number comes from a row, and every row
//! names its source (`docs/sources.md` resolves the keys).

pub mod compare;
pub mod docs;
pub mod emit;
pub mod error;
pub mod files;
pub mod source;
pub mod tables;
pub mod text;

pub use error::TableError;
