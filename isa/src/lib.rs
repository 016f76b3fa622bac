//! Facts about the instruction sets of a Blackhole Tensix tile, as tables.
//!
//! What it is: Tensix opcodes with operand fields ([`op`], [`fields`], [`encode`]), backend
//! configuration fields ([`config`]), names of wait conditions, semaphores and formats ([`names`]),
//! the RV32 subset of the baby cores ([`rv32`], [`csr`], [`asm`], [`word`]), and disassembly of both ([`disasm`]).
//! Everything comes from `tables/*.toml`; `build.rs` checks the rows and expands them.
//!
//! What it is not: it executes nothing and knows no time.
//!
//! Every row names its sources; `docs/sources.md` resolves the keys.

pub mod asm;
pub mod config;
pub mod csr;
pub mod disasm;
pub mod names;
pub mod op;
pub mod rv32;
pub mod word;

/// Readers of operand fields: one module per instruction, one function per field.
pub mod fields {
    include!(concat!(env!("OUT_DIR"), "/fields.rs"));
}

/// Encoders: one function per instruction, arguments lowest field first.
///
/// # Panics
/// With debug assertions, when a value is wider than its field; without, it is cut.
#[allow(clippy::too_many_arguments, reason = "one parameter per operand field of the hardware")]
pub mod encode {
    include!(concat!(env!("OUT_DIR"), "/encode.rs"));
}
