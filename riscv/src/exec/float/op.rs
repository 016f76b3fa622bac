//! The scalar floating-point instructions of the baby RISCV cores: one row each.
//!
//! Not in the table, because the cores do not have them: `fdiv` and `fsqrt` of either width
//! `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`, and everything of D and Q. Loads and
//! stores belong to the load/store unit.
//!
//! Sources: encodings `[riscv: F, Zfh]`; presence
//! `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]` `[spec: numerics 6]`.

/// `rd, rs1, rs2` with a rounding mode: funct7 and opcode are fixed.
const R_ROUNDED: u32 = 0xFE00_007F;
/// `rd, rs1, rs2`: funct7, funct3 and opcode are fixed.
const R_PLAIN: u32 = 0xFE00_707F;
/// `rd, rs1` with a rounding mode: funct7, the rs2 field and opcode are fixed.
const U_ROUNDED: u32 = 0xFFF0_007F;
/// `rd, rs1`: everything but the registers is fixed.
const U_PLAIN: u32 = 0xFFF0_707F;
/// `rd, rs1, rs2, rs3` with a rounding mode: format and opcode are fixed.
const R4: u32 = 0x0600_007F;
/// The rounding mode field, where an instruction has one.
const ROUNDING_MODE: u32 = 0x0000_7000;

macro_rules! float_ops {
    ($($name:ident $mnemonic:literal $pattern:literal $mask:ident;)*) => {
        /// A scalar floating-point instruction. `S` operates on binary32, `H` on binary16 or,
        /// while `cfg0.EnBFloat` is set, on BF16.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum FloatOp {
            $(#[doc = concat!("`", $mnemonic, "`")] $name,)*
        }

        impl FloatOp {
            /// Every instruction, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The assembler's name.
            #[must_use]
            pub const fn mnemonic(self) -> &'static str {
                match self { $(Self::$name => $mnemonic,)* }
            }
        }

        /// Instruction, fixed bits, which bits are fixed.
        const ROWS: &[(FloatOp, u32, u32)] = &[$((FloatOp::$name, $pattern, $mask),)*];
    };
}

float_ops! {
    FaddS "fadd.s" 0x0000_0053 R_ROUNDED;
    FsubS "fsub.s" 0x0800_0053 R_ROUNDED;
    FmulS "fmul.s" 0x1000_0053 R_ROUNDED;
    FmaddS "fmadd.s" 0x0000_0043 R4;
    FmsubS "fmsub.s" 0x0000_0047 R4;
    FnmsubS "fnmsub.s" 0x0000_004B R4;
    FnmaddS "fnmadd.s" 0x0000_004F R4;
    FsgnjS "fsgnj.s" 0x2000_0053 R_PLAIN;
    FsgnjnS "fsgnjn.s" 0x2000_1053 R_PLAIN;
    FsgnjxS "fsgnjx.s" 0x2000_2053 R_PLAIN;
    FminS "fmin.s" 0x2800_0053 R_PLAIN;
    FmaxS "fmax.s" 0x2800_1053 R_PLAIN;
    FleS "fle.s" 0xA000_0053 R_PLAIN;
    FltS "flt.s" 0xA000_1053 R_PLAIN;
    FeqS "feq.s" 0xA000_2053 R_PLAIN;
    FclassS "fclass.s" 0xE000_1053 U_PLAIN;
    FcvtWS "fcvt.w.s" 0xC000_0053 U_ROUNDED;
    FcvtWuS "fcvt.wu.s" 0xC010_0053 U_ROUNDED;
    FcvtSW "fcvt.s.w" 0xD000_0053 U_ROUNDED;
    FcvtSWu "fcvt.s.wu" 0xD010_0053 U_ROUNDED;
    FmvXW "fmv.x.w" 0xE000_0053 U_PLAIN;
    FmvWX "fmv.w.x" 0xF000_0053 U_PLAIN;
    FaddH "fadd.h" 0x0400_0053 R_ROUNDED;
    FsubH "fsub.h" 0x0C00_0053 R_ROUNDED;
    FmulH "fmul.h" 0x1400_0053 R_ROUNDED;
    FmaddH "fmadd.h" 0x0400_0043 R4;
    FmsubH "fmsub.h" 0x0400_0047 R4;
    FnmsubH "fnmsub.h" 0x0400_004B R4;
    FnmaddH "fnmadd.h" 0x0400_004F R4;
    FsgnjH "fsgnj.h" 0x2400_0053 R_PLAIN;
    FsgnjnH "fsgnjn.h" 0x2400_1053 R_PLAIN;
    FsgnjxH "fsgnjx.h" 0x2400_2053 R_PLAIN;
    FminH "fmin.h" 0x2C00_0053 R_PLAIN;
    FmaxH "fmax.h" 0x2C00_1053 R_PLAIN;
    FleH "fle.h" 0xA400_0053 R_PLAIN;
    FltH "flt.h" 0xA400_1053 R_PLAIN;
    FeqH "feq.h" 0xA400_2053 R_PLAIN;
    FclassH "fclass.h" 0xE400_1053 U_PLAIN;
    FcvtWH "fcvt.w.h" 0xC400_0053 U_ROUNDED;
    FcvtWuH "fcvt.wu.h" 0xC410_0053 U_ROUNDED;
    FcvtHW "fcvt.h.w" 0xD400_0053 U_ROUNDED;
    FcvtHWu "fcvt.h.wu" 0xD410_0053 U_ROUNDED;
    FmvXH "fmv.x.h" 0xE400_0053 U_PLAIN;
    FmvHX "fmv.h.x" 0xF400_0053 U_PLAIN;
    FcvtSH "fcvt.s.h" 0x4020_0053 U_ROUNDED;
    FcvtHS "fcvt.h.s" 0x4400_0053 U_ROUNDED;
}

impl FloatOp {
    /// Whether the destination is an integer register.
    #[must_use]
    pub const fn writes_integer(self) -> bool {
        use FloatOp::*;
        matches!(
            self,
            FleS | FltS
                | FeqS
                | FclassS
                | FcvtWS
                | FcvtWuS
                | FmvXW
                | FleH
                | FltH
                | FeqH
                | FclassH
                | FcvtWH
                | FcvtWuH
                | FmvXH
        )
    }

    /// Whether the only source, rs1, is an integer register.
    #[must_use]
    pub const fn reads_integer(self) -> bool {
        use FloatOp::*;
        matches!(self, FcvtSW | FcvtSWu | FmvWX | FcvtHW | FcvtHWu | FmvHX)
    }

    /// Whether it is an instruction of Zfh, which `cfg0.EnBFloat` affects.
    #[must_use]
    pub const fn is_half(self) -> bool {
        self as u8 >= Self::FaddH as u8
    }
}

/// The floating-point instruction that `word` encodes, or `None`.
///
/// The rounding modes 5 and 6 are reserved and decode to `None`; the others are accepted and
/// have no effect, because the hardware ignores them
/// `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`.
#[must_use]
pub fn decode(word: u32) -> Option<FloatOp> {
    let &(op, _, mask) = ROWS.iter().find(|&&(_, pattern, mask)| word & mask == pattern)?;
    let reserved = mask & ROUNDING_MODE == 0 && matches!(word >> 12 & 7, 5 | 6);
    (!reserved).then_some(op)
}
