//! Instructions that are not worth a place in the interpreter loop: CSRs, atomics, floating
//! point, traps.

use sim_core::{AmoOp, Category, RequestKind, Width};

use crate::csr::{Csr, CsrFile};
use crate::exec::float::{self, FloatMode};
use crate::hart::{Hart, Pending};
use crate::op::{Kind, Op, SINK};

/// The words of `ebreak` and `ecall`.
const EBREAK: u32 = 0x0010_0073;
const ECALL: u32 = 0x0000_0073;

/// A mistake of an instruction.
pub(crate) struct Refusal {
    pub(crate) category: Category,
    pub(crate) id: &'static str,
    pub(crate) message: String,
    pub(crate) word: u32,
}

/// What is left to do of an instruction.
pub(crate) enum Rare {
    /// Nothing.
    Done,
    /// A load.
    Load { addr: u32, width: Width, pending: Pending },
    /// A store.
    Store { addr: u32, value: u32, width: Width },
    /// A word that only the commit phase has.
    Request { addr: u32, kind: RequestKind, pending: Pending },
    /// `ebreak` and `ecall` pause the core behind themselves
    /// `[isa-wh: TensixTile/BabyRISCV/DebugInterface.md]`.
    Break,
    /// It is a mistake.
    Refused(Refusal),
}

fn refuse(category: Category, id: &'static str, message: impl Into<String>, word: u32) -> Rare {
    Rare::Refused(Refusal { category, id, message: message.into(), word })
}

/// Whether a loop with such an instruction is no poll.
pub(crate) const fn is_noticed(kind: Kind) -> bool {
    matches!(kind, Kind::Csr | Kind::Float | Kind::Flw | Kind::Flh)
}

/// The mistake that a pause is without a debugger that could end it.
pub(crate) fn without_debugger(op: Op) -> Refusal {
    let (name, word) = match op.kind {
        Kind::Trap => ("ecall", ECALL),
        _ => ("ebreak", EBREAK),
    };
    let message = format!("{name}, and no debugger is attached that could continue the core");
    Refusal { category: Category::NonContractual, id: "ebreak-without-debugger", message, word }
}

/// Executes an instruction of the kinds the loop does not know, as far as registers go. The pc is its
/// address.
pub(crate) fn execute(hart: &mut Hart, op: Op) -> Rare {
    let x = |index: u8| hart.x[usize::from(index)];
    match op.kind {
        Kind::Csr => csr_access(hart, op),
        Kind::Amo => atomic(x(op.rs1), x(op.rs2), op),
        Kind::Float => float_arithmetic(hart, op),
        Kind::Flw | Kind::Flh => {
            let half = op.kind == Kind::Flh;
            let width = if half { Width::Half } else { Width::Word };
            let addr = x(op.rs1).wrapping_add(op.imm);
            Rare::Load { addr, width, pending: Pending::Float { rd: op.rd, half } }
        }
        Kind::Fsw | Kind::Fsh => {
            let width = if op.kind == Kind::Fsh { Width::Half } else { Width::Word };
            let addr = x(op.rs1).wrapping_add(op.imm);
            let value = hart.f[usize::from(op.rs2 & 31)] & width.mask();
            Rare::Store { addr, value, width }
        }
        Kind::Ebreak => Rare::Break,
        Kind::Trap if op.imm == ECALL => Rare::Break,
        Kind::Trap => {
            let message = "mret and wfi: interrupts and traps are not simulated";
            refuse(Category::Unimplemented, "trap-instruction", message, op.imm)
        }
        _ => {
            let message = format!("{:#010x} is no instruction of these cores", op.imm);
            refuse(Category::UndefinedBehavior, "illegal-instruction", message, op.imm)
        }
    }
}

fn atomic(addr: u32, operand: u32, op: Op) -> Rare {
    let amo = match op.imm >> 27 {
        0x01 => AmoOp::Swap,
        0x00 => AmoOp::Add,
        0x04 => AmoOp::Xor,
        0x0C => AmoOp::And,
        0x08 => AmoOp::Or,
        0x10 => AmoOp::Min,
        0x14 => AmoOp::Max,
        0x18 => AmoOp::Minu,
        _ => AmoOp::Maxu,
    };
    if addr & 3 != 0 {
        let message = format!("atomic at {addr:#x}, not a multiple of four");
        return refuse(Category::UndefinedBehavior, "misaligned-access", message, op.imm);
    }
    let pending = Pending::Integer { rd: op.rd, signed: false };
    Rare::Request { addr, kind: RequestKind::Amo { op: amo, operand }, pending }
}

fn float_arithmetic(hart: &mut Hart, op: Op) -> Rare {
    let word = op.imm;
    let Some(float_op) = float::decode(word) else {
        return refuse(
            Category::UndefinedBehavior,
            "illegal-instruction",
            "not a floating-point instruction of these cores",
            word,
        );
    };
    let f = |index: u32| hart.f[(index & 31) as usize];
    let a =
        if float_op.reads_integer() { hart.x[(word >> 15 & 31) as usize] } else { f(word >> 15) };
    let cfg0 = hart.csr.cfg0();
    let mode = FloatMode {
        bfloat: cfg0 >> 30 & 1 == 1,
        bfloat_rne: cfg0 >> 31 == 1,
        rm: (word >> 12 & 7) as u8,
    };
    let result = float::execute(float_op, a, f(word >> 20), f(word >> 27), mode);
    hart.csr.accrue_float_flags(result.flags);
    if float_op.writes_integer() {
        hart.x[usize::from(op.rd & 63)] = result.value;
    } else {
        hart.f[(word >> 7 & 31) as usize] = result.value;
    }
    Rare::Done
}

fn csr_access(hart: &mut Hart, op: Op) -> Rare {
    let word = op.imm;
    let (number, funct3, rs1) = (word >> 20, word >> 12 & 7, word >> 15 & 31);
    let operand = if funct3 & 4 == 0 { hart.x[rs1 as usize] } else { rs1 };
    // csrrs/csrrc with x0 or a zero immediate do not write; csrrw always does.
    let writes = funct3 & 3 == 1 || rs1 != 0;
    let combine = |old: u32| match funct3 & 3 {
        1 => operand,
        2 => old | operand,
        _ => old & !operand,
    };
    let old = match CsrFile::classify(number, hart.id) {
        Csr::Stored(index) => {
            let old = hart.csr.read_stored(index);
            if writes {
                hart.csr.write_stored(index, combine(old));
            }
            old
        }
        Csr::Constant(value) => value,
        Csr::Counter { instructions, high } => {
            let count = hart.count_since_reset(instructions);
            let old = hart.csr.counter(instructions, high, count);
            if writes {
                hart.csr.write_counter(instructions, high, count, combine(old));
            }
            old
        }
        Csr::Status if writes => {
            let message = format!("writes CSR {number:#x}, which shows coprocessor state");
            return refuse(Category::Unimplemented, "status-csr-write", message, word);
        }
        Csr::Status => {
            let pending = Pending::Csr { rd: op.rd };
            return Rare::Request { addr: number, kind: RequestKind::StatusCsr, pending };
        }
        Csr::Unknown => {
            let message = format!("CSR {number:#x} does not exist on these cores");
            return refuse(Category::UndefinedBehavior, "unknown-csr", message, word);
        }
    };
    hart.x[usize::from(op.rd & 63)] = old;
    hart.x[usize::from(SINK)] = 0;
    Rare::Done
}
