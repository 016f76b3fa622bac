//! Encoders of the few RV32 instructions that generated test programs need.
//! `[riscv-unprivileged: RV32I base instruction formats, Zicsr, F]`.

/// I-type.
pub(crate) fn i(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm.cast_unsigned() & 0xFFF) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn s(opcode: u32, funct3: u32, rs2: u32, rs1: u32, imm: u32) -> u32 {
    (imm >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | opcode
}

/// `addi rd, rs1, imm`.
pub(crate) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x13, 0, rd, rs1, imm)
}

/// `lui` and `addi` that load a constant.
pub(crate) fn li(rd: u32, value: u32) -> [u32; 2] {
    let low = (value << 20).cast_signed() >> 20;
    let high = value.wrapping_sub(low.cast_unsigned());
    [high | rd << 7 | 0x37, addi(rd, rd, low)]
}

/// `lw rd, imm(rs1)`.
pub(crate) fn lw(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x03, 2, rd, rs1, imm)
}

/// `flw fd, imm(rs1)`.
pub(crate) fn flw(fd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x07, 2, fd, rs1, imm)
}

/// `sb`, `sh` or `sw` by funct3.
pub(crate) fn store(funct3: u32, rs2: u32, rs1: u32, imm: u32) -> u32 {
    s(0x23, funct3, rs2, rs1, imm)
}

/// `fsw fs, imm(rs1)`.
pub(crate) fn fsw(fs: u32, rs1: u32, imm: u32) -> u32 {
    s(0x27, 2, fs, rs1, imm)
}

/// `csrrw rd, csr, rs1`.
pub(crate) fn csrrw(rd: u32, csr: u32, rs1: u32) -> u32 {
    csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73
}

/// `jal rd, offset`.
pub(crate) fn jal(rd: u32, offset: i32) -> u32 {
    let offset = offset.cast_unsigned();
    (offset >> 20 & 1) << 31
        | (offset >> 1 & 0x3FF) << 21
        | (offset >> 11 & 1) << 20
        | (offset >> 12 & 0xFF) << 12
        | rd << 7
        | 0x6F
}

/// `bne rs1, rs2, offset`.
pub(crate) fn bne(rs1: u32, rs2: u32, offset: i32) -> u32 {
    let offset = offset.cast_unsigned();
    (offset >> 12 & 1) << 31
        | (offset >> 5 & 0x3F) << 25
        | rs2 << 20
        | rs1 << 15
        | 1 << 12
        | (offset >> 1 & 0xF) << 8
        | (offset >> 11 & 1) << 7
        | 0x63
}
