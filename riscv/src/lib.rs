//! The five baby RISCV cores.
