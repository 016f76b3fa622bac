//! Interrupt controller and `pc` snapshots.
//!
//! The Blackhole page on the controller is not public, so registers are storage and enabling an
//! interrupt is refused `[unknown: U-004]`. Layout: `[hdr: hw/inc/internal/tt-1xx/blackhole/
//! tensix.h]`; snapshots: `[isa-bh: TensixTile/BabyRISCV/README.md]`. The values of the snapshots
//! belong to the cores: ask [`Pic::snapshot_core`] before [`Pic::read`].

use memory_map::reg::pic::{
    BRISC_HW_INT_EN_OFFSET as BRISC_HW_INT_EN, BRISC_INT_NO_OFFSET as BRISC_INT_NO,
    BRISC_SW_INT_EN_OFFSET as BRISC_SW_INT_EN, NCRISC_HW_INT_EN_OFFSET as NCRISC_HW_INT_EN,
    NCRISC_INT_NO_OFFSET as NCRISC_INT_NO, NCRISC_SW_INT_EN_OFFSET as NCRISC_SW_INT_EN,
};
use sim_core::{Category, CoreId, StateHasher};

use crate::fault::{DeviceFault, ReadClass};

/// First byte after the controller's registers; the snapshots follow.
const REGISTER_BYTES: u32 = memory_map::reg::pc_snapshot::BASE - memory_map::reg::pic::BASE;
const WORDS: usize = (REGISTER_BYTES / 4) as usize;

/// Order of the snapshot words.
const SNAPSHOT_ORDER: [CoreId; CoreId::COUNT] =
    [CoreId::Brisc, CoreId::Ncrisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

/// The interrupt controller.
#[derive(Clone, Debug)]
pub struct Pic {
    words: [u32; WORDS],
}

impl Default for Pic {
    fn default() -> Self {
        Self::new()
    }
}

fn unmapped(offset: u32) -> DeviceFault {
    DeviceFault::new(
        Category::UndefinedBehavior,
        "pic-unmapped",
        format!("no interrupt controller register at +{offset:#x}"),
    )
}

impl Pic {
    /// All registers zero.
    #[must_use]
    pub fn new() -> Self {
        Self { words: [0; WORDS] }
    }

    /// Whose `pc` the word at `offset` shows, if it is a snapshot word.
    #[must_use]
    pub fn snapshot_core(offset: u32) -> Option<CoreId> {
        let index = offset.checked_sub(REGISTER_BYTES)? / 4;
        SNAPSHOT_ORDER.get(index as usize).copied()
    }

    /// How a polling core has to treat the register.
    #[must_use]
    pub fn read_class(offset: u32) -> ReadClass {
        if Self::snapshot_core(offset).is_some() { ReadClass::Timed } else { ReadClass::Pure }
    }

    fn index(offset: u32) -> Result<usize, DeviceFault> {
        let index = (offset / 4) as usize;
        if index < WORDS && offset & 3 == 0 { Ok(index) } else { Err(unmapped(offset)) }
    }

    /// Reads a register.
    ///
    /// # Errors
    /// `pic-unmapped`: no such register, or a snapshot word, which the cores must answer.
    pub fn read(&self, offset: u32) -> Result<u32, DeviceFault> {
        Ok(self.words[Self::index(offset)?])
    }

    /// Writes a register.
    ///
    /// # Errors
    /// `pic-unmapped`: no such register. `pic-interrupt`: enables an interrupt, which is not
    /// simulated. `pic-read-only`: writes an interrupt number.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), DeviceFault> {
        let index = Self::index(offset)?;
        let enable = [BRISC_SW_INT_EN, BRISC_HW_INT_EN, NCRISC_SW_INT_EN, NCRISC_HW_INT_EN];
        if enable.contains(&offset) && value != 0 {
            let text = format!("enables interrupts {value:#x}: interrupts are not simulated");
            return Err(DeviceFault::new(Category::Unsupported, "pic-interrupt", text));
        }
        if offset == BRISC_INT_NO || offset == NCRISC_INT_NO {
            let text = "the interrupt number register is read-only";
            return Err(DeviceFault::new(Category::NonContractual, "pic-read-only", text));
        }
        self.words[index] = value;
        Ok(())
    }

    /// All registers zero.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Adds the registers to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { words } = self;
        hasher.words(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pic_vector_register_keeps_its_value() {
        let mut pic = Pic::new();
        pic.write(0xA8, 0x1234).unwrap();
        assert_eq!(pic.read(0xA8), Ok(0x1234));
    }

    #[test]
    fn pic_enabling_an_interrupt_is_unsupported() {
        let fault = Pic::new().write(NCRISC_HW_INT_EN, 2).unwrap_err();
        assert_eq!((fault.category, fault.id), (Category::Unsupported, "pic-interrupt"));
        assert_eq!(Pic::new().write(NCRISC_HW_INT_EN, 0), Ok(()));
    }

    #[test]
    fn pic_snapshot_words_belong_to_cores() {
        // [isa-bh: TensixTile/BabyRISCV/README.md] pc snapshot table.
        assert_eq!(Pic::snapshot_core(0x138), Some(CoreId::Brisc));
        assert_eq!(Pic::snapshot_core(0x148), Some(CoreId::Trisc2));
        assert_eq!(Pic::snapshot_core(0x14C), None);
        assert_eq!(Pic::new().read(0x138).unwrap_err().id, "pic-unmapped");
    }
}
