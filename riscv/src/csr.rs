//! Control and status registers `[isa-bh: TensixTile/BabyRISCV/CSRs.md]`.
//!
//! Not modelled: HPM counters never count (they are plain storage), the vector CSRs are plain
//! storage, and of the chicken bits in `cfg0` only `DisTriscCache` and the BF16 bits matter.

use sim_core::{CoreId, StateHasher};

/// `cfg0`.
pub const CFG0: u32 = 0x7C0;
/// Bit 18 of `cfg0`: no fusion of adjacent `.ttinsn`.
pub const CFG0_DIS_TRISC_CACHE: u32 = 1 << 18;
/// Reset value of `cfg0`: only `StMergeTimer` = 16.
pub const CFG0_RESET: u32 = 16 << 13;

/// First and last of the CSRs that show the coprocessor's or the overlay's state.
const TT_CFG_QSTATUS: u32 = 0xBC0;
const TT_CFG_SSTATUS7: u32 = 0xBC9;

/// Where the value of a CSR comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Csr {
    /// Storage in this file.
    Stored(usize),
    /// Fixed value.
    Constant(u32),
    /// Moves with time: low or high half of the cycle or instruction counter.
    Counter { instructions: bool, high: bool },
    /// Only the commit phase knows.
    Status,
    /// Not recognised by the hardware.
    Unknown,
}

/// The stored CSRs by number; the index into this list is the storage index.
const STORED: [u32; 28] = [
    0x003, 0x009, 0x00A, 0x320, 0x323, 0x324, 0x7C0, 0x7C1, 0x7C2, 0x7C3, 0x7C4, 0x7C5, 0x7C6,
    0xB03, 0xB04, 0xB83, 0xB84, 0xBC2, 0xBC3, 0xBC4, 0xBC5, 0xBC6, 0xBC7, 0xBC8, 0xBC9, 0xBCA,
    0xC20, 0xC21,
];
const FCSR_INDEX: usize = 0;
const CFG0_INDEX: usize = 6;

/// CSR storage of one core.
#[derive(Clone, Debug)]
pub(crate) struct CsrFile {
    stored: [u32; STORED.len()],
    vlenb: u32,
    /// Written into `mcycle`: added to the cycles since reset.
    cycle_offset: u64,
    /// Written into `minstret`: added to the instructions since reset.
    instret_offset: u64,
}

impl Default for CsrFile {
    fn default() -> Self {
        let mut stored = [0; STORED.len()];
        stored[CFG0_INDEX] = CFG0_RESET;
        Self { stored, vlenb: 16, cycle_offset: 0, instret_offset: 0 }
    }
}

impl CsrFile {
    pub(crate) fn cfg0(&self) -> u32 {
        self.stored[CFG0_INDEX]
    }

    pub(crate) fn accrue_float_flags(&mut self, flags: u8) {
        self.stored[FCSR_INDEX] |= u32::from(flags & 0x1F);
    }

    /// What kind of CSR that number is on that core.
    pub(crate) fn classify(number: u32, core: CoreId) -> Csr {
        let scratch_status = matches!(core, CoreId::Brisc | CoreId::Ncrisc) && number > 0xBC1;
        match number {
            0x008 | 0xF14 => Csr::Constant(0),
            0x300 => Csr::Constant(0x8000_6600),
            0x301 => Csr::Constant(0x4020_1123),
            0xC22 => Csr::Stored(STORED.len()),
            0xB00 | 0xC00 => Csr::Counter { instructions: false, high: false },
            0xB80 | 0xC80 => Csr::Counter { instructions: false, high: true },
            0xB02 | 0xC02 => Csr::Counter { instructions: true, high: false },
            0xB82 | 0xC82 => Csr::Counter { instructions: true, high: true },
            TT_CFG_QSTATUS..=TT_CFG_SSTATUS7 if !scratch_status => Csr::Status,
            _ => STORED.iter().position(|&known| known == number).map_or(Csr::Unknown, Csr::Stored),
        }
    }

    pub(crate) fn read_stored(&self, index: usize) -> u32 {
        self.stored.get(index).copied().unwrap_or(self.vlenb)
    }

    pub(crate) fn write_stored(&mut self, index: usize, value: u32) {
        match self.stored.get_mut(index) {
            // Eight bits exist; the rounding mode bits are stored but ignored.
            Some(slot) if index == FCSR_INDEX => *slot = value & 0xFF,
            Some(slot) => *slot = value,
            None => self.vlenb = value,
        }
    }

    /// Value of a counter, given the cycles or instructions since reset.
    pub(crate) fn counter(&self, instructions: bool, high: bool, since_reset: u64) -> u32 {
        let offset = if instructions { self.instret_offset } else { self.cycle_offset };
        let value = since_reset.wrapping_add(offset);
        if high { (value >> 32) as u32 } else { value as u32 }
    }

    pub(crate) fn write_counter(
        &mut self,
        instructions: bool,
        high: bool,
        since_reset: u64,
        value: u32,
    ) {
        let offset = if instructions { &mut self.instret_offset } else { &mut self.cycle_offset };
        let old = since_reset.wrapping_add(*offset);
        let new = if high {
            old & 0xFFFF_FFFF | u64::from(value) << 32
        } else {
            old & !0xFFFF_FFFF | u64::from(value)
        };
        *offset = new.wrapping_sub(since_reset);
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { stored, vlenb, cycle_offset, instret_offset } = self;
        hasher.words(stored);
        hasher.u32(*vlenb);
        hasher.u64(*cycle_offset);
        hasher.u64(*instret_offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cfg0_resets_to_store_merge_timer_16() {
        assert_eq!(CsrFile::default().cfg0(), 0x20000);
    }

    #[test]
    fn status_csrs_are_scratch_only_on_data_movement_cores() {
        assert_eq!(CsrFile::classify(0xBC0, CoreId::Brisc), Csr::Status);
        assert!(matches!(CsrFile::classify(0xBC2, CoreId::Brisc), Csr::Stored(_)));
        assert_eq!(CsrFile::classify(0xBC2, CoreId::Trisc0), Csr::Status);
        assert_eq!(CsrFile::classify(0x001, CoreId::Trisc0), Csr::Unknown);
    }

    #[test]
    fn counter_halves_can_be_written() {
        let mut file = CsrFile::default();
        file.write_counter(false, true, 100, 7);
        file.write_counter(false, false, 110, 5);
        assert_eq!(file.counter(false, false, 111), 6);
        assert_eq!(file.counter(false, true, 111), 7);
    }
}
