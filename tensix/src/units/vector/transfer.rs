//! SFPLOADs and SFPSTOREs that follow each other, in a straight line.
//!
//! Nearly all that software issues move whole registers with nothing beside them. What the
//! configuration, the lanes and the counters say is looked up once for as many of them as there
//! are, and the loops over cells ([`super::cells`]) are a part of this one, so that the host's
//! vector registers are entered once. Everything else is in [`super::memory`].
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, `SFPSTORE.md`.

use isa::op::OPCODE;
use isa::operands::DstTransfer;

use super::RegisterFile;
use super::cells::{COLUMN, Place, alike, load_each, store_each};
use super::dst_format::{loads_word, mode, stores_word, with_half_mode};
use super::memory::{
    ADDRESS, DstAccess, Surroundings, Transfers, advance_counters, advance_other_counters,
};

/// An SFPLOAD, in the bits that tell it from others: opcode, and the high bit of its register, which
/// those that can be written do not have. An SFPSTORE differs in [`STORE_BIT`].
const LOAD: u32 = isa::encode::sfpload(0, 0, 0, 0);
const STORE_BIT: u32 = LOAD ^ isa::encode::sfpstore(0, 0, 0, 0);
const TRANSFER: u32 = (OPCODE.mask() | DstTransfer::LREG_CONSTANT.mask()) & !STORE_BIT;
const MODE_FIELD: u32 = DstTransfer::INSTR_MOD0.mask();

/// What the transfers that follow each other have in common.
struct Common {
    access: DstAccess,
    /// Lanes that execute an SFPLOAD and an SFPSTORE.
    loads: u32,
    stores: u32,
    /// If all lanes are alike: how far up in a pair of columns is the one they use.
    load_shift: Option<u32>,
    store_shift: Option<u32>,
}

impl Transfers {
    /// Executes the first of `words`, issued by `thread` in consecutive cycles, that are SFPLOAD or
    /// SFPSTORE as software nearly always means them: without a stack or a captured index, of
    /// registers 0 to 7. How many those are; 0 if the first is none of them. Nothing is scheduled.
    #[inline(never)]
    pub(super) fn run(
        &mut self,
        file: &mut RegisterFile,
        words: &[u32],
        thread: usize,
        at: &mut Surroundings<'_>,
    ) -> usize {
        let sets = *file.sets();
        if sets.capture_index != 0 {
            return 0;
        }
        let access = *self.access(thread, at.config);
        let enabled = file.predicate.enabled() & !sets.masked;
        let (loads, stores) = (enabled & !sets.load_blocked, enabled & !sets.store_blocked);
        let load_shift = alike(loads & !sets.fp16_infinity, sets.load_odd);
        let store_shift = alike(stores, sets.store_odd);
        let common = Common { access, loads, stores, load_shift, store_shift };
        vectorise::run(
            #[inline(always)]
            || self.transfer_here(file, words, &common, thread, at),
        )
    }

    /// Transfers as above, compiled into its caller.
    #[inline(always)]
    fn transfer_here(
        &mut self,
        file: &mut RegisterFile,
        words: &[u32],
        common: &Common,
        thread: usize,
        at: &mut Surroundings<'_>,
    ) -> usize {
        let mut done = 0;
        while let Some(&word) = words.get(done)
            && word & TRANSFER == LOAD
        {
            let rest = &words[done..];
            let alike = with_half_mode!(common.access.resolve(word),
                MODE => self.transfer_whole::<MODE>(file, rest, common, thread, at), else 0);
            if alike == 0 && !self.transfer_some(file, word, common, thread, at) {
                break;
            }
            done += alike.max(1);
        }
        done
    }

    /// Those of the mode of the first that come to the same for all lanes. The mode is a constant:
    /// nothing of the conversion is decided per instruction.
    #[inline(always)]
    fn transfer_whole<const MODE: u32>(
        &mut self,
        file: &mut RegisterFile,
        words: &[u32],
        common: &Common,
        thread: usize,
        at: &mut Surroundings<'_>,
    ) -> usize {
        let access = &common.access;
        let expected = words.first().map_or(0, |&word| word & (TRANSFER | MODE_FIELD));
        let mut origin = self.origin(thread, access, at);
        for (done, &word) in words.iter().enumerate() {
            if word & (TRANSFER | MODE_FIELD) != expected {
                return done;
            }
            let address = DstTransfer::DEST_REG_ADDR.get(word).wrapping_add(origin) & ADDRESS;
            let rows = access.map.row16(address & !3);
            // To the odd column of a pair.
            let up = (address & COLUMN) * (16 / COLUMN);
            let dst = &mut at.matrix.dst;
            let is_valid = dst.has_valid_group(rows);
            let lreg = &mut file.lregs[DstTransfer::LREG_WRITABLE.get(word) as usize];
            match (word & STORE_BIT == 0, common.load_shift, common.store_shift) {
                (true, Some(shift), _) if is_valid => {
                    load_each::<MODE>(dst.group(rows), shift | up, lreg);
                }
                (false, _, Some(shift)) if !stores_word(MODE) => {
                    store_each::<MODE>(dst.group_mut(rows), shift | up, lreg);
                    if !is_valid {
                        dst.validate_group(rows);
                    }
                }
                _ => return done,
            }
            if !access.keeps_counters(word) {
                advance_other_counters(word, thread, at);
                origin = self.origin(thread, access, at);
            }
        }
        words.len()
    }

    /// A transfer in which lanes differ, or of whole words; `false` if it needs the stack.
    #[inline(never)]
    fn transfer_some(
        &mut self,
        file: &mut RegisterFile,
        word: u32,
        common: &Common,
        thread: usize,
        at: &mut Surroundings<'_>,
    ) -> bool {
        let access = &common.access;
        let (mode, map, sets) = (access.resolve(word), access.map, *file.sets());
        if mode == mode::INT32_ALL {
            return false;
        }
        let origin = self.origin(thread, access, at);
        let address = DstTransfer::DEST_REG_ADDR.get(word).wrapping_add(origin) & ADDRESS;
        let lreg = &mut file.lregs[DstTransfer::LREG_WRITABLE.get(word) as usize];
        let dst = &mut at.matrix.dst;
        if word & STORE_BIT == 0 {
            let place = Place::new(map, loads_word(mode), address, sets.load_odd);
            place.load(dst, mode, common.loads, lreg, sets.fp16_infinity);
        } else {
            let place = Place::new(map, stores_word(mode), address, sets.store_odd);
            place.store(dst, mode, common.stores, lreg);
        }
        advance_counters(word, thread, access, at);
        true
    }
}

#[cfg(test)]
mod tests {
    use isa::config::field;
    use isa::op::Opcode;
    use sim_core::{CoreId, Cycle, ThreadId};

    use super::super::VectorUnit;
    use super::*;
    use crate::checks::Warned;
    use crate::decode::decode;
    use crate::queue::Origin;
    use crate::state::dst::DST_ROWS;
    use crate::units::Issued;
    use crate::units::config::ConfigUnit;
    use crate::units::matrix::MatrixUnit;
    use crate::units::vector::lanes::LANE_CONFIG_BITS;
    use crate::units::vector::operands::Operands;

    const THREAD: ThreadId = ThreadId::T1;

    fn numbers(mut state: u64) -> impl FnMut() -> u32 {
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 32) as u32
        }
    }

    /// A vector unit, Dst and configuration with something everywhere; in two of three rounds all
    /// lanes are alike.
    fn machine(round: u32, next: &mut impl FnMut() -> u32) -> (VectorUnit, MatrixUnit, ConfigUnit) {
        let (mut vector, mut matrix, mut config) =
            (VectorUnit::new(), MatrixUnit::new(), ConfigUnit::new());
        for lreg in &mut vector.file.lregs[..15] {
            *lreg = std::array::from_fn(|_| next());
        }
        if round.is_multiple_of(3) {
            vector.file.predicate.encc(next(), next() & 3, next() & 3);
            let lanes = std::array::from_fn(|_| next() & next() & LANE_CONFIG_BITS);
            vector.file.configuration.set_lanes(lanes);
        } else if round % 3 == 1 {
            // Column exchange of SFPLOAD and SFPSTORE [isa-bh: SFPCONFIG.md].
            vector.file.configuration.set_lanes([next() & 0xC0; 32]);
        }
        vector.transfers.set_stack_pointers([0, next() as u16 & 0x3FF, 0]);
        for row in 0..DST_ROWS {
            matrix.dst.cells[row] = std::array::from_fn(|_| next() as u16);
            if next().is_multiple_of(9) {
                matrix.dst.invalidate(row as u32);
            }
        }
        matrix.rwcs[THREAD.index()].dst = next() as u16 & 0x3FF;
        let words = &mut config.threads[THREAD.index()];
        for sec in 0..4 {
            words[field::ADDR_MOD_DST_SEC0_DestIncr.addr32 as usize + sec] = next() as u16;
        }
        words[field::SFPU_STACK_Incr.addr32 as usize] = next() as u16;
        words[field::DEST_TARGET_REG_CFG_MATH_Offset.addr32 as usize] = next() as u16;
        let access = field::DEST_ACCESS_CFG_remap_addrs.addr32 as usize;
        config.states[0][access] = if round.is_multiple_of(2) { 0 } else { next() };
        config.generation += 1;
        (vector, matrix, config)
    }

    /// Any SFPLOAD or SFPSTORE, and a few other words.
    fn word(next: &mut impl FnMut() -> u32) -> u32 {
        let opcode = match next() % 16 {
            0 => Opcode::Sfpnop,
            1..8 => Opcode::Sfpload,
            _ => Opcode::Sfpstore,
        };
        // Modifiers 4 to 7 change nothing, and most registers are 0 to 7.
        let fields = next() & if next().is_multiple_of(4) { 0xFF_FFFF } else { 0x7F_FFFF };
        (opcode as u32) << 24 | fields
    }

    #[test]
    fn transfers_in_one_go_equal_the_general_path_one_by_one() {
        // The general path is tested against the pages in `super::super::tests` and `cells`.
        let mut next = numbers(0x7469_6C65);
        let (mut together, mut longest) = (0, 0);
        for round in 0..600 {
            let (mut vector, mut matrix, config) = machine(round, &mut next);
            let (mut other_vector, mut other_matrix) = (vector.clone(), matrix.clone());
            let words: Vec<u32> = (0..24).map(|_| word(&mut next)).collect();
            let general = |vector: &mut VectorUnit, matrix: &mut MatrixUnit, word: u32| {
                let origin = Origin { core: CoreId::Trisc1, pc: 0 };
                let thread = THREAD;
                let issued = Issued { word, thread, origin, now: Cycle(0), allowed: Warned::NONE };
                let mut at = Surroundings { matrix, config: &config };
                let opcode = decode(word).expect("words have assigned opcodes").opcode;
                let operands = Operands::parse(opcode, word);
                match opcode {
                    Opcode::Sfpload => drop(vector.transfers.load_any(
                        &mut vector.file,
                        &operands,
                        &issued,
                        &mut at,
                    )),
                    Opcode::Sfpstore => {
                        vector.transfers.store_any(&mut vector.file, &operands, &issued, &mut at);
                    }
                    _ => {}
                }
            };
            for &word in &words {
                general(&mut other_vector, &mut other_matrix, word);
            }
            let mut rest = &words[..];
            while let Some(&first) = rest.first() {
                let mut at = Surroundings { matrix: &mut matrix, config: &config };
                let done = vector.transfer(rest, THREAD.index(), &mut at);
                if done == 0 {
                    general(&mut vector, &mut matrix, first);
                }
                (together, longest) = (together + done, longest.max(done));
                rest = &rest[done.max(1)..];
            }
            assert!(matrix.dst == other_matrix.dst, "Dst after {words:08x?} in round {round}");
            assert_eq!(vector.file.lregs, other_vector.file.lregs, "{words:08x?} in round {round}");
            assert_eq!(matrix.rwcs, other_matrix.rwcs, "{words:08x?} in round {round}");
            assert_eq!(vector.stack_pointers(), other_vector.stack_pointers());
        }
        assert!(together > 4_000 && longest > 8, "{together} of 14,400, at most {longest}");
    }
}
