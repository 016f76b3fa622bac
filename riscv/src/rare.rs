//! Instructions that are not worth a place in the interpreter loop: CSRs, atomics, floating
//! point, traps.

use sim_core::{AmoOp, Category, RequestKind, Width};

use crate::core::{Core, Pending};
use crate::csr::{Csr, CsrFile};
use crate::exec::float::{self, FloatMode};
use crate::op::{Kind, Op, SINK};
use crate::run::{Flow, Slice};

/// The word of `ecall`.
const ECALL: u32 = 0x0000_0073;

impl Core {
    /// Executes an instruction of the kinds the loop does not know. `self.pc` is its address.
    #[inline(never)]
    pub(crate) fn execute_rare(&mut self, slice: &mut Slice<'_>, op: Op) -> Flow {
        let x = |index: u8| self.x[usize::from(index)];
        match op.kind {
            Kind::Csr => self.csr_access(op),
            Kind::Amo => {
                let (addr, operand) = (x(op.rs1), x(op.rs2));
                self.atomic(addr, operand, op)
            }
            Kind::Float => self.float_arithmetic(op),
            Kind::Flw | Kind::Flh => {
                let half = op.kind == Kind::Flh;
                let width = if half { Width::Half } else { Width::Word };
                let addr = x(op.rs1).wrapping_add(op.imm);
                self.prober.side_effect(self.cycle);
                self.slow_load(slice, addr, width, Pending::Float { rd: op.rd, half })
            }
            Kind::Fsw | Kind::Fsh => {
                let width = if op.kind == Kind::Fsh { Width::Half } else { Width::Word };
                let addr = x(op.rs1).wrapping_add(op.imm);
                let value = self.f[usize::from(op.rs2 & 31)] & width.mask();
                self.float_store(slice, addr, value, width)
            }
            Kind::Ebreak => self.ebreak("ebreak", 0x0010_0073),
            Kind::Trap if op.imm == ECALL => self.ebreak("ecall", ECALL),
            Kind::Trap => {
                let message = "mret and wfi: interrupts and traps are not simulated";
                self.refuse(Category::Unimplemented, "trap-instruction", message, op.imm)
            }
            _ => {
                let message = format!("{:#010x} is no instruction of these cores", op.imm);
                self.refuse(Category::UndefinedBehavior, "illegal-instruction", &message, op.imm)
            }
        }
    }

    fn refuse(&mut self, category: Category, id: &'static str, message: &str, word: u32) -> Flow {
        self.fault(category, id, message.to_owned(), self.pc, Some(word));
        Flow::Hold
    }

    /// `ebreak` and `ecall` pause the core behind themselves
    /// `[isa-wh: TensixTile/BabyRISCV/DebugInterface.md]`.
    fn ebreak(&mut self, name: &str, word: u32) -> Flow {
        if self.config.debugger {
            self.pause_for_ebreak();
            return Flow::Next;
        }
        let message = format!("{name}, and no debugger is attached that could continue the core");
        self.refuse(Category::NonContractual, "ebreak-without-debugger", &message, word)
    }

    fn float_store(&mut self, slice: &mut Slice<'_>, addr: u32, value: u32, width: Width) -> Flow {
        let local = addr.wrapping_sub(crate::core::LOCAL_BASE);
        if local < self.id.local_ram_bytes() && addr & (width.bytes() - 1) == 0 {
            self.write_local(local, value, width);
            return Flow::Next;
        }
        self.slow_store(slice, addr, value, width)
    }

    fn atomic(&mut self, addr: u32, operand: u32, op: Op) -> Flow {
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
            return self.refuse(Category::UndefinedBehavior, "misaligned-access", &message, op.imm);
        }
        self.pending = Pending::Integer { rd: op.rd, signed: false };
        self.request(addr, Width::Word, RequestKind::Amo { op: amo, operand })
    }

    fn float_arithmetic(&mut self, op: Op) -> Flow {
        self.prober.side_effect(self.cycle);
        let word = op.imm;
        let Some(float_op) = float::decode(word) else {
            return self.refuse(
                Category::UndefinedBehavior,
                "illegal-instruction",
                "not a floating-point instruction of these cores",
                word,
            );
        };
        let f = |index: u32| self.f[(index & 31) as usize];
        let a = if float_op.reads_integer() {
            self.x[(word >> 15 & 31) as usize]
        } else {
            f(word >> 15)
        };
        let cfg0 = self.csr.cfg0();
        let mode = FloatMode {
            bfloat: cfg0 >> 30 & 1 == 1,
            bfloat_rne: cfg0 >> 31 == 1,
            rm: (word >> 12 & 7) as u8,
        };
        let result = float::execute(float_op, a, f(word >> 20), f(word >> 27), mode);
        self.csr.accrue_float_flags(result.flags);
        if float_op.writes_integer() {
            self.x[usize::from(op.rd & 63)] = result.value;
        } else {
            self.f[(word >> 7 & 31) as usize] = result.value;
        }
        Flow::Next
    }

    fn csr_access(&mut self, op: Op) -> Flow {
        let word = op.imm;
        let (number, funct3, rs1) = (word >> 20, word >> 12 & 7, word >> 15 & 31);
        self.prober.side_effect(self.cycle);
        let operand = if funct3 & 4 == 0 { self.x[rs1 as usize] } else { rs1 };
        // csrrs/csrrc with x0 or a zero immediate do not write; csrrw always does.
        let writes = funct3 & 3 == 1 || rs1 != 0;
        let combine = |old: u32| match funct3 & 3 {
            1 => operand,
            2 => old | operand,
            _ => old & !operand,
        };
        let since = |core: &Self, instructions: bool| {
            if instructions { core.instructions_since_reset() } else { core.cycles_since_reset() }
        };
        let old = match CsrFile::classify(number, self.id) {
            Csr::Stored(index) => {
                let old = self.csr.read_stored(index);
                if writes {
                    self.csr.write_stored(index, combine(old));
                }
                old
            }
            Csr::Constant(value) => value,
            Csr::Counter { instructions, high } => {
                let count = since(self, instructions);
                let old = self.csr.counter(instructions, high, count);
                if writes {
                    self.csr.write_counter(instructions, high, count, combine(old));
                }
                old
            }
            Csr::Status if writes => {
                let message = format!("writes CSR {number:#x}, which shows coprocessor state");
                return self.refuse(Category::Unimplemented, "status-csr-write", &message, word);
            }
            Csr::Status => {
                self.pending = Pending::Csr { rd: op.rd };
                return self.request(number, Width::Word, RequestKind::StatusCsr);
            }
            Csr::Unknown => {
                let message = format!("CSR {number:#x} does not exist on these cores");
                return self.refuse(Category::UndefinedBehavior, "unknown-csr", &message, word);
            }
        };
        self.x[usize::from(op.rd & 63)] = old;
        self.x[usize::from(SINK)] = 0;
        Flow::Next
    }
}
