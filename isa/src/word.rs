//! RV32 words taken apart: the fields of the base formats, where [`crate::asm`] puts them.
//!
//! Register numbers are 0 to 31, immediates are sign-extended and in bytes. A field is whatever
//! stands in its bits: whether the instruction has it, its opcode says.
//!
//! Source: `[riscv: RV32I base instruction formats, immediate variants]`.

/// Major opcode of `lb` to `lhu`.
pub const LOAD: u32 = 0x03;
/// Of `addi` and the other operations with an immediate.
pub const OP_IMM: u32 = 0x13;
/// Of `auipc`.
pub const AUIPC: u32 = 0x17;
/// Of `sb`, `sh` and `sw`.
pub const STORE: u32 = 0x23;
/// Of operations on two registers.
pub const OP: u32 = 0x33;
/// Of `lui`.
pub const LUI: u32 = 0x37;
/// Of conditional branches.
pub const BRANCH: u32 = 0x63;
/// Of `jalr`.
pub const JALR: u32 = 0x67;
/// Of `jal`.
pub const JAL: u32 = 0x6F;
/// Of `fence`.
pub const FENCE: u32 = 0x0F;
/// Of atomics.
pub const AMO: u32 = 0x2F;
/// Of accesses to CSRs, `ecall` and `ebreak`.
pub const SYSTEM: u32 = 0x73;

/// The CSR that an access names.
#[inline]
#[must_use]
pub const fn csr(word: u32) -> u32 {
    word >> 20
}

/// The major opcode, seven bits.
#[inline]
#[must_use]
pub const fn opcode(word: u32) -> u32 {
    word & 0x7F
}

/// The minor opcode.
#[inline]
#[must_use]
pub const fn funct3(word: u32) -> u32 {
    word >> 12 & 7
}

/// Destination register.
#[inline]
#[must_use]
pub const fn rd(word: u32) -> u32 {
    word >> 7 & 31
}

/// First source register.
#[inline]
#[must_use]
pub const fn rs1(word: u32) -> u32 {
    word >> 15 & 31
}

/// Second source register.
#[inline]
#[must_use]
pub const fn rs2(word: u32) -> u32 {
    word >> 20 & 31
}

/// Immediate of the I-type.
#[inline]
#[must_use]
pub const fn imm_i(word: u32) -> i32 {
    word.cast_signed() >> 20
}

/// Immediate of the S-type.
#[inline]
#[must_use]
pub const fn imm_s(word: u32) -> i32 {
    word.cast_signed() >> 25 << 5 | rd(word).cast_signed()
}

/// Immediate of the U-type: what `lui` loads.
#[inline]
#[must_use]
pub const fn imm_u(word: u32) -> u32 {
    word & 0xFFFF_F000
}

/// Target of a branch at `pc`.
#[must_use]
pub const fn branch_target(word: u32, pc: u32) -> u32 {
    let offset = (word.cast_signed() >> 31 << 12).cast_unsigned()
        | (word >> 7 & 1) << 11
        | (word >> 25 & 0x3F) << 5
        | (word >> 8 & 0xF) << 1;
    pc.wrapping_add(offset)
}

/// Target of a `jal` at `pc`.
#[must_use]
pub const fn jump_target(word: u32, pc: u32) -> u32 {
    let offset = (word.cast_signed() >> 31 << 20).cast_unsigned()
        | (word >> 12 & 0xFF) << 12
        | (word >> 20 & 1) << 11
        | (word >> 21 & 0x3FF) << 1;
    pc.wrapping_add(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm;

    #[test]
    fn fields_are_what_was_put_in() {
        for value in [-2048, -1, 0, 1, 2047] {
            let load = asm::lw(31, 17, value);
            assert_eq!((opcode(load), funct3(load)), (LOAD, 2));
            assert_eq!((rd(load), rs1(load), imm_i(load)), (31, 17, value));
            let store = asm::sw(30, 16, value);
            assert_eq!((opcode(store), rs1(store), rs2(store)), (STORE, 16, 30));
            assert_eq!(imm_s(store), value);
        }
        assert_eq!(imm_u(asm::lui(1, 0xFFB0_0000)), 0xFFB0_0000);
    }

    #[test]
    fn targets_are_where_the_offsets_lead() {
        for offset in [-4096, -2, 0, 2, 2048, 4094] {
            let target = branch_target(asm::bne(1, 2, offset), 0x8000);
            assert_eq!(target, 0x8000_u32.wrapping_add_signed(offset));
        }
        for offset in [-0x10_0000, -2, 0, 0x800, 0xF_FFFE] {
            let target = jump_target(asm::jal(1, offset), 0x20_0000);
            assert_eq!(target, 0x20_0000_u32.wrapping_add_signed(offset));
        }
    }
}
