//! Words of a kernel's code that convert a floating-point number to an integer and ask for another
//! rounding than the cores have.
//!
//! The baby cores ignore the rounding mode and round to nearest, ties to even
//! `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`. A cast in C is `fcvt` with `rtz` and so gives 3
//! for 2.7. The code is looked at, not what is executed.

use sim_core::{AgentId, CoreId};

use super::finding::Finding;
use super::hazards as h;
use crate::names::Names;

/// Operation, format and the upper bits of `rs2`; bit 20 tells signed from unsigned
/// `[riscv: F]` `[riscv: Zfh]`.
const MASK: u32 = 0xFFE0_007F;
const FROM_SINGLE: u32 = 0xC000_0053;
const FROM_HALF: u32 = 0xC400_0053;

/// Whether a word is a conversion to an integer with `rtz`, `rdn`, `rup` or `rmm`.
fn is_directed(word: u32) -> bool {
    let rounding = word >> 12 & 7;
    matches!(word & MASK, FROM_SINGLE | FROM_HALF) && (1..=4).contains(&rounding)
}

/// The finding for the code of a kernel that begins at `start`: its first such word, and how many
/// there are.
#[must_use]
pub fn casts(core: CoreId, start: u32, code: &[u8], names: &dyn Names) -> Option<Finding> {
    let words =
        code.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let mut found = (start..).step_by(4).zip(words).filter(|(_, word)| is_directed(*word));
    let (pc, word) = found.next()?;
    let site = names.site(core, pc);
    let place = site.as_ref().map_or_else(|| format!("pc {pc:#x}"), ToString::to_string);
    let text = format!(
        "`{}` rounds to nearest: the cores ignore the rounding mode of a word, and a cast of 2.7 gives 3",
        isa::disasm::rv32(word, pc)
    );
    let count = 1 + found.count() as u64;
    let agent = AgentId::Core(core);
    let source = names.excerpt(core, pc);
    Some(Finding {
        hazard: h::C13,
        cycle: 0,
        agent,
        pc,
        place,
        code: site,
        source,
        callers: Vec::new(),
        text,
        count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BuiltInNames;

    /// Words of the GNU assembler 2.40 for these lines.
    #[test]
    fn conversions_with_a_rounding_of_their_own_are_found() {
        for (word, text) in [
            (0xC005_1553, "fcvt.w.s a0,fa0,rtz"),
            (0xC015_1553, "fcvt.wu.s a0,fa0,rtz"),
            (0xC005_2553, "fcvt.w.s a0,fa0,rdn"),
            (0xC405_1553, "fcvt.w.h a0,fa0,rtz"),
        ] {
            assert!(is_directed(word), "{text}");
        }
        for (word, text) in [
            (0xC005_7553, "fcvt.w.s a0,fa0,dyn"),
            (0xC005_0553, "fcvt.w.s a0,fa0,rne"),
            (0xD005_1553, "fcvt.s.w fa0,a0,rtz"),
            (0xE005_1553, "fclass.s a0,fa0"),
            (0x0000_8067, "ret"),
        ] {
            assert!(!is_directed(word), "{text}");
        }
    }

    #[test]
    fn finding_is_the_first_word_with_the_number_of_all() {
        let words = [0x0000_0013_u32, 0xC005_1553, 0xC005_1553, 0x0000_8067];
        let code: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let found = casts(CoreId::Ncrisc, 0xC000, &code, &BuiltInNames).expect("two");
        assert_eq!((found.pc, found.count, found.hazard.id), (0xC004, 2, "C13"));
        assert!(casts(CoreId::Ncrisc, 0xC000, &code[..4], &BuiltInNames).is_none());
    }
}
