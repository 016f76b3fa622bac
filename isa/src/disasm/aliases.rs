//! The pseudo-instructions that GNU objdump prints in place of special operands.

use super::operands::{csr_name, freg, xreg};
use crate::rv32::Instr;
use crate::word::{branch_target, imm_i, jump_target, rd, rs1, rs2};

/// The alias of a word, if it has one.
pub(super) fn text(instr: Instr, word: u32, pc: u32) -> Option<String> {
    integer(instr, word)
        .or_else(|| control(instr, word, pc))
        .or_else(|| system(instr, word))
        .or_else(|| float(instr, word))
}

fn integer(instr: Instr, word: u32) -> Option<String> {
    let (d, a, b, imm) = (xreg(rd(word)), rs1(word), rs2(word), imm_i(word));
    let one = |name: &str, source: u32| Some(format!("{name} {d},{}", xreg(source)));
    match instr {
        Instr::Addi if word == 0x13 => Some("nop".to_owned()),
        Instr::Addi if a == 0 => Some(format!("li {d},{imm}")),
        Instr::Addi if imm == 0 => one("mv", a),
        Instr::Xori if imm == -1 => one("not", a),
        Instr::Andi if imm == 255 => one("zext.b", a),
        Instr::Sltiu if imm == 1 => one("seqz", a),
        Instr::Sub if a == 0 => one("neg", b),
        Instr::Sltu if a == 0 => one("snez", b),
        Instr::Slt if b == 0 => one("sltz", a),
        Instr::Slt if a == 0 => one("sgtz", b),
        _ => None,
    }
}

fn control(instr: Instr, word: u32, pc: u32) -> Option<String> {
    let (d, a, b, imm) = (rd(word), rs1(word), rs2(word), imm_i(word));
    let to = branch_target(word, pc);
    let left = |name: &str| Some(format!("{name} {},{to:#x}", xreg(a)));
    let right = |name: &str| Some(format!("{name} {},{to:#x}", xreg(b)));
    match instr {
        Instr::Beq if b == 0 => left("beqz"),
        Instr::Bne if b == 0 => left("bnez"),
        Instr::Bge if a == 0 => right("blez"),
        Instr::Bge if b == 0 => left("bgez"),
        Instr::Blt if b == 0 => left("bltz"),
        Instr::Blt if a == 0 => right("bgtz"),
        Instr::Jal if d == 0 => Some(format!("j {:#x}", jump_target(word, pc))),
        Instr::Jal if d == 1 => Some(format!("jal {:#x}", jump_target(word, pc))),
        Instr::Jalr if d == 0 && a == 1 && imm == 0 => Some("ret".to_owned()),
        Instr::Jalr if d < 2 => {
            let name = if d == 0 { "jr" } else { "jalr" };
            let register = xreg(a);
            Some(if imm == 0 {
                format!("{name} {register}")
            } else {
                format!("{name} {imm}({register})")
            })
        }
        Instr::Jalr if imm == 0 => Some(format!("jalr {},{}", xreg(d), xreg(a))),
        _ => None,
    }
}

fn system(instr: Instr, word: u32) -> Option<String> {
    let (d, a, csr) = (rd(word), rs1(word), word >> 20);
    match instr {
        Instr::Fence if word == 0x0FF0_000F => Some("fence".to_owned()),
        Instr::Csrrs if a == 0 => Some(match csr {
            0x003 => format!("frcsr {}", xreg(d)),
            0xC00 | 0xC02 | 0xC80 | 0xC82 => format!("rd{} {}", csr_name(csr), xreg(d)),
            _ => format!("csrr {},{}", xreg(d), csr_name(csr)),
        }),
        Instr::Csrrw if csr == 3 && d == 0 => Some(format!("fscsr {}", xreg(a))),
        Instr::Csrrw if csr == 3 => Some(format!("fscsr {},{}", xreg(d), xreg(a))),
        Instr::Csrrw if d == 0 => Some(format!("csrw {},{}", csr_name(csr), xreg(a))),
        Instr::Csrrs if d == 0 => Some(format!("csrs {},{}", csr_name(csr), xreg(a))),
        Instr::Csrrc if d == 0 => Some(format!("csrc {},{}", csr_name(csr), xreg(a))),
        Instr::Csrrwi if d == 0 => Some(format!("csrwi {},{a}", csr_name(csr))),
        Instr::Csrrsi if d == 0 => Some(format!("csrsi {},{a}", csr_name(csr))),
        Instr::Csrrci if d == 0 => Some(format!("csrci {},{a}", csr_name(csr))),
        _ => None,
    }
}

fn float(instr: Instr, word: u32) -> Option<String> {
    if rs1(word) != rs2(word) {
        return None;
    }
    let name = match instr {
        Instr::FsgnjS => "fmv.s",
        Instr::FsgnjnS => "fneg.s",
        Instr::FsgnjxS => "fabs.s",
        Instr::FsgnjH => "fmv.h",
        Instr::FsgnjnH => "fneg.h",
        Instr::FsgnjxH => "fabs.h",
        _ => return None,
    };
    Some(format!("{name} {},{}", freg(rd(word)), freg(rs1(word))))
}
