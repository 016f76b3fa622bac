//! A predecoded instruction: eight bytes, ready to execute.

/// What an [`Op`] does. Targets and upper immediates are absolute: an op belongs to an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the mnemonics")]
pub enum Kind {
    /// The word at this address has not been decoded since it last changed.
    Undecoded,
    /// No instruction of these cores; `imm` is the word.
    Illegal,
    /// A backward jump that closes a polling loop: `rd` says which jump it is.
    Poll,
    /// `lui` and `auipc`: the result is in `imm`.
    LoadImmediate,
    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Lbu,
    Lhu,
    Sb,
    Sh,
    Sw,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    Sh1add,
    Sh2add,
    Sh3add,
    /// `fence` and `fence.i`: nothing to do in a strongly ordered model.
    Fence,
    /// `.ttinsn`: pushes `imm`.
    Ttinsn,
    Andn,
    Orn,
    Xnor,
    Clz,
    Ctz,
    Cpop,
    Max,
    Maxu,
    Min,
    Minu,
    SextB,
    SextH,
    ZextH,
    Rol,
    Ror,
    Rori,
    OrcB,
    Rev8,
    Pack,
    Brev8,
    /// Generalised reverse, of Bitmanip 0.94-draft.
    Grevi,
    /// Zicsr; `imm` is the word.
    Csr,
    /// Zaamo; `imm` is the word.
    Amo,
    /// F and Zfh arithmetic; `imm` is the word.
    Float,
    Flw,
    Flh,
    Fsw,
    Fsh,
    Ebreak,
    /// `ecall`, `mret`, `wfi`: documented instructions of a trap machinery that is not modelled.
    Trap,
}

/// A predecoded instruction. Register number [`SINK`] is where writes to `x0` go.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Op {
    /// What to do.
    pub kind: Kind,
    /// Destination register, [`SINK`] for `x0`.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register, or the shift amount.
    pub rs2: u8,
    /// Immediate, absolute target, or the whole word.
    pub imm: u32,
}

/// Index into the register array that swallows writes to `x0`.
pub const SINK: u8 = 32;
/// Length of a register array that is kept and restored.
pub(crate) const REGISTERS: usize = SINK as usize + 1;
/// Length of a register array that any register number of an [`Op`] can index.
pub const REGISTER_SLOTS: usize = 256;

impl PartialEq for Op {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Op {}

impl Op {
    /// All of it in a word: two are compared in one go.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        let Self { kind, rd, rs1, rs2, imm } = self;
        u64::from(u32::from_le_bytes([kind as u8, rd, rs1, rs2])) | u64::from(imm) << 32
    }

    /// See [`Kind::Undecoded`].
    pub const UNDECODED: Self = Self { kind: Kind::Undecoded, rd: SINK, rs1: 0, rs2: 0, imm: 0 };
}
