//! Registers of a vector instruction, and which sub-units it can be scheduled for.
//!
//! Where an instruction reads
//! its destination as a second operand, the pages say `VB = VD` (or `VC = VD`); that is resolved
//! here, because SFPLOADMACRO overrides the fields separately
//! `[isa-bh: TensixCoprocessor/SFPLOADMACRO.md]`.

use isa::op::{Bits, Lregs, OpRow, Opcode, ROWS, SubUnit};
use isa::operands::{Bitwise, Mad, Sfploadmacro};

/// Register that only instructions scheduled by SFPLOADMACRO can name.
pub(super) const BONUS_LREG: u8 = 16;

/// The four that SFPLOADMACRO schedules for, in the order of the sequence's bytes.
pub(super) const SCHEDULED: [SubUnit; 4] =
    [SubUnit::Simple, SubUnit::Mad, SubUnit::Round, SubUnit::Store];

/// Whether a scheduled instruction can run in a sub-unit; all but Store take SFPNOP.
pub(super) fn takes(sub_unit: SubUnit, opcode: Opcode) -> bool {
    match opcode {
        Opcode::Sfpnop => sub_unit != SubUnit::Store,
        _ => opcode.row().sub_unit == sub_unit,
    }
}

/// The bits of a register's number.
const REGISTER: u8 = 0b1111;

/// The lowest bit of each field that names a register, also of those that are read for want of one.
#[derive(Clone, Copy)]
struct Places {
    vd: u8,
    vb: u8,
    vc: u8,
}

/// By opcode byte. [`OpRow`] has what an instruction has no field for as nothing, which to look up took longer than
/// many an instruction itself.
static PLACES: [Places; 256] = places();

const fn places() -> [Places; 256] {
    let mut places = [Places { vd: 0, vb: 0, vc: 0 }; 256];
    let mut i = 0;
    while i < ROWS.len() {
        places[ROWS[i].opcode as usize] = places_of(&ROWS[i]);
        i += 1;
    }
    places
}

const fn places_of(row: &OpRow) -> Places {
    let Lregs { vd, vb, vc, .. } = row.lregs;
    let vd = place(or(vd, Mad::LREG_DEST));
    let of_mad = matches!(row.sub_unit, SubUnit::Mad);
    Places {
        vd,
        vb: match vb {
            Some(field) => place(field),
            None => vd,
        },
        vc: match vc {
            None if of_mad => vd,
            vc => place(or(vc, Mad::LREG_SRC_C)),
        },
    }
}

const fn or(field: Option<Bits>, other: Bits) -> Bits {
    match field {
        Some(field) => field,
        None => other,
    }
}

const fn place(field: Bits) -> u8 {
    let place = field.mask().trailing_zeros() as u8;
    assert!(field.mask() == (REGISTER as u32) << place, "a field of four bits");
    place
}

/// Registers of one instruction. Register numbers are 0 to 15; `vd` may also be [`BONUS_LREG`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operands {
    pub(super) word: u32,
    pub(super) vd: u8,
    pub(super) va: u8,
    pub(super) vb: u8,
    pub(super) vc: u8,
    /// Executed on behalf of SFPLOADMACRO: no template writes.
    pub(super) scheduled: bool,
}

impl Operands {
    /// Registers of an instruction as software issues it: those of its row's fields. Where there is
    /// no field for VB, the second source is VD, and likewise for VC of the MAD sub-unit. Any other
    /// register without a field is never read, but part of the state hash while it is scheduled: it
    /// is what lies where SFPMAD has the field.
    #[inline]
    pub(super) fn parse(opcode: Opcode, word: u32) -> Self {
        let Places { vd, vb, vc } = PLACES[opcode as usize];
        let read = |place: u8| (word >> place) as u8 & REGISTER;
        let va = read(const { place(Mad::LREG_SRC_A) });
        let mut operands =
            Self { word, vd: read(vd), va, vb: read(vb), vc: read(vc), scheduled: false };
        match opcode {
            Opcode::Sfpand | Opcode::Sfpor if !Bitwise::of(word).use_vb => {
                operands.vb = operands.vd;
            }
            Opcode::Sfploadmacro => {
                let Sfploadmacro { lreg_low, lreg_high, .. } = Sfploadmacro::of(word);
                operands.vd = lreg_low as u8 | u8::from(lreg_high) << 2;
                operands.vb = operands.vd;
            }
            _ => {}
        }
        operands
    }

    /// Fields of a template for Simple, Mad or Round: `loaded` is SFPLOADMACRO's register. It
    /// replaces one source, VB or VC, and the destination, unless that is [`BONUS_LREG`]; a source
    /// that is no field is what the template's VD was.
    pub(super) fn scheduled(opcode: Opcode, word: u32, sequence: u32, loaded: u8) -> Self {
        let mut operands = Self::parse(opcode, word);
        if sequence & 0x80 != 0 {
            operands.vb = loaded;
        } else {
            operands.vc = loaded;
        }
        operands.vd = if sequence & 0x40 != 0 { BONUS_LREG } else { loaded };
        operands.scheduled = true;
        operands
    }
}

#[cfg(test)]
mod tests {
    use isa::op::Unit;

    use super::*;

    #[test]
    fn destination_is_the_second_source_where_the_page_says_so() {
        // [isa-wh: SFPIADD.md] VB = VD; [isa-bh: SFPADDI.md] VC = VD; SFPAND only without USE_VB.
        let iadd = Operands::parse(Opcode::Sfpiadd, isa::encode::sfpiadd(0, 3, 5, 0xFFF));
        assert_eq!((iadd.vd, iadd.vb, iadd.vc), (3, 3, 5));
        let addi = Operands::parse(Opcode::Sfpaddi, isa::encode::sfpaddi(0, 3, 0x3F80));
        assert_eq!(addi.vc, 3);
        let and = |mod1| Operands::parse(Opcode::Sfpand, isa::encode::sfpand(mod1, 3, 5, 7));
        assert_eq!((and(0).vb, and(1).vb), (3, 7));
    }

    #[test]
    fn registers_are_those_of_the_row() {
        let of_unit = |row: &&OpRow| row.unit == Unit::Vector && row.opcode != Opcode::Sfploadmacro;
        for row in ROWS.iter().filter(of_unit) {
            for i in 0..64_u32 {
                let word = (i.wrapping_mul(0x9E37_79B9) ^ i << 11) & 0x00FF_FFFF;
                let parsed = Operands::parse(row.opcode, word);
                let beside = matches!(row.opcode, Opcode::Sfpand | Opcode::Sfpor)
                    && !Bitwise::of(word).use_vb;
                let own = |field: Option<Bits>| field.map(|field| field.get(word) as u8);
                let vb = own(row.lregs.vb).filter(|_| !beside).unwrap_or(parsed.vd);
                assert_eq!(parsed.vb, vb, "VB of {:?} {word:#x}", row.opcode);
                let named = [
                    (row.lregs.vd, parsed.vd),
                    (row.lregs.va, parsed.va),
                    (row.lregs.vc, parsed.vc),
                ];
                for (field, register) in named {
                    assert_eq!(
                        own(field).unwrap_or(register),
                        register,
                        "{:?} {word:#x}",
                        row.opcode
                    );
                }
                if row.sub_unit == SubUnit::Mad && row.lregs.vc.is_none() {
                    assert_eq!(parsed.vc, parsed.vd, "VC of {:?} {word:#x}", row.opcode);
                }
            }
        }
    }

    #[test]
    fn macro_overrides_one_source_and_the_destination() {
        // [isa-bh: SFPLOADMACRO.md]: bit 7 chooses VB, bit 6 the bonus register.
        let mad = isa::encode::sfpmad(0, 1, 2, 3, 4);
        let plain = Operands::scheduled(Opcode::Sfpmad, mad, 0, 6);
        assert_eq!((plain.vd, plain.va, plain.vb, plain.vc), (6, 4, 3, 6));
        let other = Operands::scheduled(Opcode::Sfpmad, mad, 0xC0, 6);
        assert_eq!((other.vd, other.vb, other.vc), (BONUS_LREG, 6, 2));
        // SFPMULI has no source field: the one not replaced is the template's VD.
        let muli = isa::encode::sfpmuli(0, 1, 0);
        assert_eq!(Operands::scheduled(Opcode::Sfpmuli, muli, 0x80, 6).vc, 1);
    }
}
