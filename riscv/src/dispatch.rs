//! The one text of what an instruction does to the registers.
//!
//! The fast loop and the careful one differ in how they reach memory and how they leave; they
//! share these arms, so that they cannot differ in anything else.

/// Expands to a `match` on the kind of `$op` with an arm for every instruction that only
/// computes, and the given arms for the others. `$x!(n)` names a register, `$branch!(taken)` ends
/// a conditional branch.
macro_rules! dispatch {
    ($op:ident, $x:ident, $branch:ident, { $($others:tt)* }) => {
        match $op.kind {
            Kind::LoadImmediate => $x!($op.rd) = $op.imm,
            Kind::Beq => $branch!(is_taken(Kind::Beq, $x!($op.rs1), $x!($op.rs2))),
            Kind::Bne => $branch!(is_taken(Kind::Bne, $x!($op.rs1), $x!($op.rs2))),
            Kind::Blt => $branch!(is_taken(Kind::Blt, $x!($op.rs1), $x!($op.rs2))),
            Kind::Bge => $branch!(is_taken(Kind::Bge, $x!($op.rs1), $x!($op.rs2))),
            Kind::Bltu => $branch!(is_taken(Kind::Bltu, $x!($op.rs1), $x!($op.rs2))),
            Kind::Bgeu => $branch!(is_taken(Kind::Bgeu, $x!($op.rs1), $x!($op.rs2))),
            Kind::Addi => $x!($op.rd) = $x!($op.rs1).wrapping_add($op.imm),
            Kind::Slti => {
                $x!($op.rd) = u32::from($x!($op.rs1).cast_signed() < $op.imm.cast_signed());
            }
            Kind::Sltiu => $x!($op.rd) = u32::from($x!($op.rs1) < $op.imm),
            Kind::Xori => $x!($op.rd) = $x!($op.rs1) ^ $op.imm,
            Kind::Ori => $x!($op.rd) = $x!($op.rs1) | $op.imm,
            Kind::Andi => $x!($op.rd) = $x!($op.rs1) & $op.imm,
            Kind::Slli => $x!($op.rd) = $x!($op.rs1) << ($op.rs2 & 31),
            Kind::Srli => $x!($op.rd) = $x!($op.rs1) >> ($op.rs2 & 31),
            Kind::Srai => {
                $x!($op.rd) = ($x!($op.rs1).cast_signed() >> ($op.rs2 & 31)).cast_unsigned();
            }
            Kind::Add => $x!($op.rd) = $x!($op.rs1).wrapping_add($x!($op.rs2)),
            Kind::Sub => $x!($op.rd) = $x!($op.rs1).wrapping_sub($x!($op.rs2)),
            Kind::Sll => $x!($op.rd) = $x!($op.rs1) << ($x!($op.rs2) & 31),
            Kind::Slt => {
                $x!($op.rd) =
                    u32::from($x!($op.rs1).cast_signed() < $x!($op.rs2).cast_signed());
            }
            Kind::Sltu => $x!($op.rd) = u32::from($x!($op.rs1) < $x!($op.rs2)),
            Kind::Xor => $x!($op.rd) = $x!($op.rs1) ^ $x!($op.rs2),
            Kind::Srl => $x!($op.rd) = $x!($op.rs1) >> ($x!($op.rs2) & 31),
            Kind::Sra => {
                $x!($op.rd) =
                    ($x!($op.rs1).cast_signed() >> ($x!($op.rs2) & 31)).cast_unsigned();
            }
            Kind::Or => $x!($op.rd) = $x!($op.rs1) | $x!($op.rs2),
            Kind::And => $x!($op.rd) = $x!($op.rs1) & $x!($op.rs2),
            Kind::Mul => $x!($op.rd) = $x!($op.rs1).wrapping_mul($x!($op.rs2)),
            Kind::Mulh => $x!($op.rd) = muldiv::mulh($x!($op.rs1), $x!($op.rs2)),
            Kind::Mulhsu => $x!($op.rd) = muldiv::mulhsu($x!($op.rs1), $x!($op.rs2)),
            Kind::Mulhu => $x!($op.rd) = muldiv::mulhu($x!($op.rs1), $x!($op.rs2)),
            Kind::Div => $x!($op.rd) = muldiv::div($x!($op.rs1), $x!($op.rs2)),
            Kind::Divu => $x!($op.rd) = muldiv::divu($x!($op.rs1), $x!($op.rs2)),
            Kind::Rem => $x!($op.rd) = muldiv::rem($x!($op.rs1), $x!($op.rs2)),
            Kind::Remu => $x!($op.rd) = muldiv::remu($x!($op.rs1), $x!($op.rs2)),
            Kind::Sh1add => $x!($op.rd) = ($x!($op.rs1) << 1).wrapping_add($x!($op.rs2)),
            Kind::Sh2add => $x!($op.rd) = ($x!($op.rs1) << 2).wrapping_add($x!($op.rs2)),
            Kind::Sh3add => $x!($op.rd) = ($x!($op.rs1) << 3).wrapping_add($x!($op.rs2)),
            Kind::Fence => {}
            Kind::Andn
            | Kind::Orn
            | Kind::Xnor
            | Kind::Clz
            | Kind::Ctz
            | Kind::Cpop
            | Kind::Max
            | Kind::Maxu
            | Kind::Min
            | Kind::Minu
            | Kind::SextB
            | Kind::SextH
            | Kind::ZextH
            | Kind::Rol
            | Kind::Ror
            | Kind::Rori
            | Kind::OrcB
            | Kind::Rev8
            | Kind::Pack
            | Kind::Brev8
            | Kind::Grevi => {
                let (a, b) = ($x!($op.rs1), $x!($op.rs2));
                if let Some(value) = bits::execute($op.kind, a, b, u32::from($op.rs2)) {
                    $x!($op.rd) = value;
                }
            }
            $($others)*
        }
    };
}

pub(crate) use dispatch;
