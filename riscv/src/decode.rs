//! From an instruction word to an [`Op`].
//!
//! Order matters: `.ttinsn` first, because its words lie where a general decoder sees compressed
//! instructions; then `riscv-decode` for the base; then our own rows for what it does not know.
//! RV64-only words that `riscv-decode` accepts are rejected.

use riscv_decode::Instruction as I;
use riscv_decode::types::{BType, IType, RType, SType, ShiftType};

use crate::exec::float;
use crate::op::{Kind, Op, SINK};

/// Decodes the word at byte address `pc`.
#[must_use]
pub fn decode(word: u32, pc: u32) -> Op {
    if word & 3 != 3 {
        // Rotated left by two so that it falls outside the 32-bit RISC-V encoding space
        // [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md].
        return Op { kind: Kind::Ttinsn, rd: SINK, rs1: 0, rs2: 0, imm: word.rotate_right(2) };
    }
    if let Ok(instruction) = riscv_decode::decode(word)
        && let Some(op) = base(instruction, word, pc)
    {
        return op;
    }
    extension(word).unwrap_or(illegal(word))
}

const fn illegal(word: u32) -> Op {
    Op { kind: Kind::Illegal, rd: SINK, rs1: 0, rs2: 0, imm: word }
}

const fn destination(register: u32) -> u8 {
    if register == 0 { SINK } else { register as u8 }
}

fn r(kind: Kind, t: RType) -> Op {
    Op { kind, rd: destination(t.rd()), rs1: t.rs1() as u8, rs2: t.rs2() as u8, imm: 0 }
}

fn i(kind: Kind, t: IType) -> Op {
    let imm = (t.0.cast_signed() >> 20).cast_unsigned();
    Op { kind, rd: destination(t.rd()), rs1: t.rs1() as u8, rs2: 0, imm }
}

fn s(kind: Kind, t: SType) -> Op {
    let word = t.0;
    let imm = ((word.cast_signed() >> 25).cast_unsigned() << 5) | (word >> 7 & 0x1F);
    Op { kind, rd: SINK, rs1: t.rs1() as u8, rs2: t.rs2() as u8, imm }
}

fn b(kind: Kind, t: BType, pc: u32) -> Op {
    let word = t.0;
    let sign = (word.cast_signed() >> 31).cast_unsigned();
    let offset =
        sign << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 0x3F) << 5 | (word >> 8 & 0xF) << 1;
    Op { kind, rd: SINK, rs1: t.rs1() as u8, rs2: t.rs2() as u8, imm: pc.wrapping_add(offset) }
}

/// Shift by immediate; amounts of 32 and more exist on RV64 only.
fn shift(kind: Kind, t: ShiftType, word: u32) -> Op {
    let amount = word >> 20 & 0x3F;
    if amount >= 32 {
        return illegal(word);
    }
    Op { kind, rd: destination(t.rd()), rs1: t.rs1() as u8, rs2: amount as u8, imm: 0 }
}

fn whole(kind: Kind, word: u32) -> Op {
    Op {
        kind,
        rd: destination(word >> 7 & 0x1F),
        rs1: (word >> 15 & 0x1F) as u8,
        rs2: (word >> 20 & 0x1F) as u8,
        imm: word,
    }
}

fn jump(word: u32, pc: u32) -> Op {
    let sign = (word.cast_signed() >> 31).cast_unsigned();
    let offset =
        sign << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1;
    Op {
        kind: Kind::Jal,
        rd: destination(word >> 7 & 0x1F),
        rs1: 0,
        rs2: 0,
        imm: pc.wrapping_add(offset),
    }
}

fn upper(word: u32, base: u32) -> Op {
    Op {
        kind: Kind::LoadImmediate,
        rd: destination(word >> 7 & 0x1F),
        rs1: 0,
        rs2: 0,
        imm: base.wrapping_add(word & 0xFFFF_F000),
    }
}

/// What `riscv-decode` knows and these cores have; `None` sends the word on to our own rows.
fn base(instruction: I, word: u32, pc: u32) -> Option<Op> {
    Some(match instruction {
        I::Lui(_) => upper(word, 0),
        I::Auipc(_) => upper(word, pc),
        I::Jal(_) => jump(word, pc),
        // riscv-decode does not look at funct3 of jalr.
        I::Jalr(t) if word >> 12 & 7 == 0 => i(Kind::Jalr, t),
        I::Beq(t) => b(Kind::Beq, t, pc),
        I::Bne(t) => b(Kind::Bne, t, pc),
        I::Blt(t) => b(Kind::Blt, t, pc),
        I::Bge(t) => b(Kind::Bge, t, pc),
        I::Bltu(t) => b(Kind::Bltu, t, pc),
        I::Bgeu(t) => b(Kind::Bgeu, t, pc),
        I::Lb(t) => i(Kind::Lb, t),
        I::Lh(t) => i(Kind::Lh, t),
        I::Lw(t) => i(Kind::Lw, t),
        I::Lbu(t) => i(Kind::Lbu, t),
        I::Lhu(t) => i(Kind::Lhu, t),
        I::Sb(t) => s(Kind::Sb, t),
        I::Sh(t) => s(Kind::Sh, t),
        I::Sw(t) => s(Kind::Sw, t),
        I::Addi(t) => i(Kind::Addi, t),
        I::Slti(t) => i(Kind::Slti, t),
        I::Sltiu(t) => i(Kind::Sltiu, t),
        I::Xori(t) => i(Kind::Xori, t),
        I::Ori(t) => i(Kind::Ori, t),
        I::Andi(t) => i(Kind::Andi, t),
        I::Slli(t) => shift(Kind::Slli, t, word),
        I::Srli(t) => shift(Kind::Srli, t, word),
        I::Srai(t) => shift(Kind::Srai, t, word),
        I::Add(t) => r(Kind::Add, t),
        I::Sub(t) => r(Kind::Sub, t),
        I::Sll(t) => r(Kind::Sll, t),
        I::Slt(t) => r(Kind::Slt, t),
        I::Sltu(t) => r(Kind::Sltu, t),
        I::Xor(t) => r(Kind::Xor, t),
        I::Srl(t) => r(Kind::Srl, t),
        I::Sra(t) => r(Kind::Sra, t),
        I::Or(t) => r(Kind::Or, t),
        I::And(t) => r(Kind::And, t),
        I::Mul(t) => r(Kind::Mul, t),
        I::Mulh(t) => r(Kind::Mulh, t),
        I::Mulhsu(t) => r(Kind::Mulhsu, t),
        I::Mulhu(t) => r(Kind::Mulhu, t),
        I::Div(t) => r(Kind::Div, t),
        I::Divu(t) => r(Kind::Divu, t),
        I::Rem(t) => r(Kind::Rem, t),
        I::Remu(t) => r(Kind::Remu, t),
        I::Fence(_) | I::FenceI => whole(Kind::Fence, word),
        I::Ebreak => whole(Kind::Ebreak, word),
        I::Ecall | I::Mret | I::Wfi => whole(Kind::Trap, word),
        I::Csrrw(_) | I::Csrrs(_) | I::Csrrc(_) | I::Csrrwi(_) | I::Csrrsi(_) | I::Csrrci(_) => {
            whole(Kind::Csr, word)
        }
        // Zaamo only: there is no lr/sc [isa-bh: TensixTile/BabyRISCV/README.md].
        I::AmoswapW(_)
        | I::AmoaddW(_)
        | I::AmoxorW(_)
        | I::AmoandW(_)
        | I::AmoorW(_)
        | I::AmominW(_)
        | I::AmomaxW(_)
        | I::AmominuW(_)
        | I::AmomaxuW(_) => whole(Kind::Amo, word),
        I::Flw(t) => Op { rd: t.rd() as u8, ..i(Kind::Flw, t) },
        I::Fsw(t) => s(Kind::Fsw, t),
        _ => return None,
    })
}

/// Register-register rows `(funct7, funct3)` of Zba, Zbb and the Zbkb subset
/// `[riscv-bitmanip 1.0.0]`.
fn op_row(funct7: u32, funct3: u32, rs2: u32) -> Option<Kind> {
    Some(match (funct7, funct3) {
        (0x10, 2) => Kind::Sh1add,
        (0x10, 4) => Kind::Sh2add,
        (0x10, 6) => Kind::Sh3add,
        (0x20, 7) => Kind::Andn,
        (0x20, 6) => Kind::Orn,
        (0x20, 4) => Kind::Xnor,
        (0x05, 4) => Kind::Min,
        (0x05, 5) => Kind::Minu,
        (0x05, 6) => Kind::Max,
        (0x05, 7) => Kind::Maxu,
        (0x30, 1) => Kind::Rol,
        (0x30, 5) => Kind::Ror,
        // pack with rs2 = x0 is zext.h; both names, one effect.
        (0x04, 4) if rs2 == 0 => Kind::ZextH,
        (0x04, 4) => Kind::Pack,
        _ => return None,
    })
}

/// Register-immediate rows `(word[31:20], funct3)` of Zbb and the Zbkb subset.
fn op_imm_row(imm: u32, funct3: u32) -> Option<Kind> {
    Some(match (imm, funct3) {
        (0x600, 1) => Kind::Clz,
        (0x601, 1) => Kind::Ctz,
        (0x602, 1) => Kind::Cpop,
        (0x604, 1) => Kind::SextB,
        (0x605, 1) => Kind::SextH,
        (0x287, 5) => Kind::OrcB,
        (0x698, 5) => Kind::Rev8,
        (0x687, 5) => Kind::Brev8,
        (0x600..=0x61F, 5) => Kind::Rori,
        // Of the draft that Zbb came from, only this one is implemented; rev8 and brev8 above are
        // two of its amounts [isa-bh: TensixTile/BabyRISCV/InstructionSet.md].
        (0x680..=0x69F, 5) => Kind::Grevi,
        _ => return None,
    })
}

fn extension(word: u32) -> Option<Op> {
    let funct3 = word >> 12 & 7;
    match word & 0x7F {
        0x33 => op_row(word >> 25, funct3, word >> 20 & 0x1F).map(|kind| whole(kind, word)),
        0x13 => op_imm_row(word >> 20, funct3).map(|kind| whole(kind, word)),
        0x07 if funct3 == 1 => {
            Some(Op { rd: (word >> 7 & 0x1F) as u8, ..i(Kind::Flh, IType(word)) })
        }
        0x27 if funct3 == 1 => Some(s(Kind::Fsh, SType(word))),
        _ => float::decode(word).map(|_| whole(Kind::Float, word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ttinsn_is_tested_before_compressed() {
        // 0xA3100008 (SEMINIT) rotated left by two.
        let word = 0xA310_0008_u32.rotate_left(2);
        let op = decode(word, 0);
        assert_eq!((op.kind, op.imm), (Kind::Ttinsn, 0xA310_0008));
    }

    #[test]
    fn rv64_only_words_are_illegal() {
        // ld, lwu, sd, addiw, addw, slli by 32, lr.w, amoadd.d as GNU as encodes them.
        for word in [
            0x0000_3503_u32,
            0x0000_6503,
            0x00A5_3023,
            0x0015_051B,
            0x00B5_053B,
            0x0205_1513,
            0x1005_252F,
            0x00B5_352F,
        ] {
            assert_eq!(decode(word, 0).kind, Kind::Illegal, "{word:#010x}");
        }
    }

    #[test]
    fn vendor_zext_h_decodes() {
        // The encoding found in the firmware [spec: boot-and-sync 3.2].
        let op = decode(0x0807_C7B3, 0);
        assert_eq!((op.kind, op.rd, op.rs1), (Kind::ZextH, 15, 15));
    }

    #[test]
    fn grevi_covers_rev8_and_brev8() {
        // riscv-bitmanip 0.94-draft: grevi x10, x11, 24 is rev8, 7 is brev8.
        let word = |amount: u32| (0x680 | amount) << 20 | 11 << 15 | 5 << 12 | 10 << 7 | 0x13;
        assert_eq!(decode(word(24), 0).kind, Kind::Rev8);
        assert_eq!(decode(word(7), 0).kind, Kind::Brev8);
        let op = decode(word(31), 0);
        assert_eq!((op.kind, op.rs2), (Kind::Grevi, 31));
        let value = crate::exec::bits::execute(op.kind, 0x0000_0001, 0, u32::from(op.rs2));
        assert_eq!(value, Some(0x8000_0000));
    }

    #[test]
    fn branch_and_jump_targets_are_absolute() {
        // beq x0,x0,-4 ; jal x0,-8 ; jal x0,0x3ae0 (the boot word).
        assert_eq!(decode(0xFE00_0EE3, 0x100).imm, 0xFC);
        assert_eq!(decode(0xFF9F_F06F, 0x100).imm, 0xF8);
        assert_eq!(decode(0x2E10_306F, 0).imm, 0x3AE0);
    }

    #[test]
    fn store_immediate_is_sign_extended() {
        // sw x1,-4(x2)
        let op = decode(0xFE11_2E23, 0);
        assert_eq!((op.kind, op.rs1, op.rs2, op.imm), (Kind::Sw, 2, 1, 0xFFFF_FFFC));
    }
}
