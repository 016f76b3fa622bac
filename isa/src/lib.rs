//! Facts about the instruction sets of a Blackhole Tensix tile, as tables.
//!
//! What it is: Tensix opcodes with operand fields ([`op`], [`operands`], [`encode`]), backend
//! configuration fields ([`config`]), late results of the vector unit ([`lregs`]), names of wait
//! conditions, semaphores and formats ([`names`]), the RV32 subset of the baby cores ([`rv32`],
//! [`csr`], [`asm`], [`word`]), and disassembly of both ([`disasm`]).
//! Everything comes from `tables/*.toml`; `build.rs` checks the rows and expands them.
//!
//! What it is not: it executes nothing and knows no time; [`execute`] only says what there is to
//! execute.
//!
//! Every row names its sources; `docs/sources.md` resolves the keys.

pub mod asm;
pub mod columns;
pub mod config;
pub mod csr;
pub mod disasm;
pub mod lregs;
pub mod names;
pub mod op;
pub mod rv32;
pub mod word;

/// Operands of instructions: one struct per set of fields, and the name of each instruction for it.
pub mod operands {
    use crate::columns::Bits;

    include!(concat!(env!("OUT_DIR"), "/operands.rs"));
}

/// Traits of who executes: one per unit, with a method per instruction, so that forgetting one does
/// not compile.
pub mod execute {
    use crate::op::Opcode;
    use crate::operands;

    include!(concat!(env!("OUT_DIR"), "/execute.rs"));
}

/// Encoders: one function per instruction, arguments lowest field first.
///
/// # Panics
/// With debug assertions, when a value is wider than its field; without, it is cut.
#[allow(clippy::too_many_arguments, reason = "one parameter per operand field of the hardware")]
pub mod encode {
    include!(concat!(env!("OUT_DIR"), "/encode.rs"));
}
