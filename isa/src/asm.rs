//! RV32 instructions put together: the base formats and the few mnemonics that hand-made programs
//! of tests and benches are written in.
//!
//! Registers are numbers 0 to 31, immediates and offsets are in bytes and cut to their fields.
//! Not here: Tensix instructions ([`crate::encode`]) and a table of all instructions
//! ([`crate::rv32`]).
//!
//! Source: `[riscv: RV32I base instruction formats, immediate variants]`.

/// I-type: loads, immediate arithmetic, `jalr`.
#[must_use]
pub const fn i(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm.cast_unsigned() & 0xFFF) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

/// R-type of the major opcode OP: `funct7` 0x20 subtracts and shifts arithmetically, 1 multiplies.
#[must_use]
pub const fn r(funct7: u32, funct3: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33
}

/// S-type: stores.
#[must_use]
pub const fn s(opcode: u32, funct3: u32, rs2: u32, rs1: u32, imm: i32) -> u32 {
    let imm = imm.cast_unsigned();
    (imm >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | opcode
}

/// B-type: `beq`, `bne`, `blt`, `bge`, `bltu`, `bgeu` by `funct3` 0, 1, 4 to 7.
#[must_use]
pub const fn branch(funct3: u32, rs1: u32, rs2: u32, offset: i32) -> u32 {
    let offset = offset.cast_unsigned();
    (offset >> 12 & 1) << 31
        | (offset >> 5 & 0x3F) << 25
        | rs2 << 20
        | rs1 << 15
        | funct3 << 12
        | (offset >> 1 & 0xF) << 8
        | (offset >> 11 & 1) << 7
        | 0x63
}

/// `jal rd, offset`.
#[must_use]
pub const fn jal(rd: u32, offset: i32) -> u32 {
    let offset = offset.cast_unsigned();
    (offset >> 20 & 1) << 31
        | (offset >> 1 & 0x3FF) << 21
        | (offset >> 11 & 1) << 20
        | (offset >> 12 & 0xFF) << 12
        | rd << 7
        | 0x6F
}

/// `j offset`.
#[must_use]
pub const fn j(offset: i32) -> u32 {
    jal(0, offset)
}

/// `beq rs1, rs2, offset`.
#[must_use]
pub const fn beq(rs1: u32, rs2: u32, offset: i32) -> u32 {
    branch(0, rs1, rs2, offset)
}

/// `bne rs1, rs2, offset`.
#[must_use]
pub const fn bne(rs1: u32, rs2: u32, offset: i32) -> u32 {
    branch(1, rs1, rs2, offset)
}

/// `lui rd, value >> 12`.
#[must_use]
pub const fn lui(rd: u32, value: u32) -> u32 {
    value & 0xFFFF_F000 | rd << 7 | 0x37
}

/// `addi rd, rs1, imm`.
#[must_use]
pub const fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x13, 0, rd, rs1, imm)
}

/// `lui` and `addi` that load a constant.
#[must_use]
pub const fn li(rd: u32, value: u32) -> [u32; 2] {
    let low = (value << 20).cast_signed() >> 20;
    [lui(rd, value.wrapping_sub(low.cast_unsigned())), addi(rd, rd, low)]
}

/// `lw rd, imm(rs1)`.
#[must_use]
pub const fn lw(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x03, 2, rd, rs1, imm)
}

/// `sb`, `sh` or `sw` by `funct3` 0, 1 or 2.
#[must_use]
pub const fn store(funct3: u32, rs2: u32, rs1: u32, imm: i32) -> u32 {
    s(0x23, funct3, rs2, rs1, imm)
}

/// `sw rs2, imm(rs1)`.
#[must_use]
pub const fn sw(rs2: u32, rs1: u32, imm: i32) -> u32 {
    store(2, rs2, rs1, imm)
}

/// `flw fd, imm(rs1)`.
#[must_use]
pub const fn flw(fd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x07, 2, fd, rs1, imm)
}

/// `fsw fs, imm(rs1)`.
#[must_use]
pub const fn fsw(fs: u32, rs1: u32, imm: i32) -> u32 {
    s(0x27, 2, fs, rs1, imm)
}

/// `csrrw rd, csr, rs1`.
#[must_use]
pub const fn csrrw(rd: u32, csr: u32, rs1: u32) -> u32 {
    csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disasm::rv32;

    /// The disassembler is checked against GNU objdump (`tests/objdump.rs`).
    #[test]
    fn words_are_read_back_as_what_they_were_written_as() {
        for (word, text) in [
            (addi(5, 6, -3), "addi\tt0,t1,-3"),
            (lui(4, 0xFFB2_0000), "lui\ttp,0xffb20"),
            (lw(9, 4, 0x40), "lw\ts1,64(tp)"),
            (sw(7, 4, -32), "sw\tt2,-32(tp)"),
            (store(0, 7, 4, 2047), "sb\tt2,2047(tp)"),
            (r(0x20, 0, 9, 8, 6), "sub\ts1,s0,t1"),
            (r(1, 0, 10, 9, 5), "mul\ta0,s1,t0"),
            (jal(1, -4), "jal\t0xffc"),
            (j(0xF_F000), "j\t0x100000"),
            (beq(5, 7, 8), "beq\tt0,t2,0x1008"),
            (bne(5, 7, -4096), "bne\tt0,t2,0x0"),
            (flw(1, 2, 12), "flw\tft1,12(sp)"),
            (fsw(1, 2, 12), "fsw\tft1,12(sp)"),
            (csrrw(0, 0x7C0, 5), "csrw\tcfg0,t0"),
        ] {
            let words = |text: &str| text.replace(['\t', ' '], " ");
            assert_eq!(words(&rv32(word, 0x1000)), words(text));
        }
    }

    #[test]
    fn constant_is_what_both_instructions_add_up_to() {
        for value in [0, 0x7FF, 0x800, 0xFFFF_FFFF, 0x7FFF_F800, 0xFFB2_1234] {
            let [high, low] = li(5, value);
            let sum = (high & 0xFFFF_F000).wrapping_add((low.cast_signed() >> 20).cast_unsigned());
            assert_eq!((sum, low >> 15 & 31), (value, 5), "{value:#x}");
        }
    }
}
