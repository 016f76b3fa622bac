//! Tensix opcodes, configuration fields and RV32 instructions, as tables.
