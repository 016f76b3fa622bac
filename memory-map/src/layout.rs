//! Sizes and the vendor firmware's use of L1.

use crate::region::View;

/// Bytes of L1 [isa-bh: TensixTile/BabyRISCV/README.md].
pub const L1_BYTES: u32 = 1536 * 1024;
/// First address of the own local data RAM.
pub const LOCAL_RAM_BASE: u32 = 0xFFB0_0000;
/// Bytes of local data RAM of BRISC and NCRISC [isa-bh: TensixTile/BabyRISCV/README.md].
pub const LOCAL_RAM_BYTES_DM: u32 = 8 * 1024;
/// Bytes of local data RAM of each TRISC [isa-bh: TensixTile/BabyRISCV/README.md].
pub const LOCAL_RAM_BYTES_TRISC: u32 = 4 * 1024;
/// Number of Tensix GPRs per thread, 32 bits each.
pub const GPRS_PER_THREAD: u32 = 64;
/// 32-bit words per bank of Config [hdr: hw/inc/internal/tt-1xx/blackhole/cfg_defines.h].
pub const CONFIG_WORDS: u32 = 224;
/// Slots per thread of ThreadConfig [hdr: hw/inc/internal/tt-1xx/blackhole/cfg_defines.h].
pub const THREAD_CONFIG_WORDS: u32 = 68;
/// Byte offset of `Config[0]` in the configuration window [isa-bh: TensixCoprocessor/BackendConfiguration.md].
pub const CONFIG0_OFFSET: u32 = 0x000;
/// Byte offset of `Config[1]`.
pub const CONFIG1_OFFSET: u32 = 0x380;
/// Byte offset of ConfigDualWrite, which writes both banks.
pub const CONFIG_DUAL_OFFSET: u32 = 0x700;
/// Byte offset of ThreadConfig.
pub const THREAD_CONFIG_OFFSET: u32 = 0xA80;
/// Streams of the NoC overlay.
pub const STREAM_COUNT: u32 = 64;
/// Bytes from one overlay stream to the next.
pub const STREAM_STRIDE: u32 = 0x1000;

/// Bytes of local data RAM of a core; 0 for the NoC, which has none of its own.
#[must_use]
pub const fn local_ram_bytes(view: View) -> u32 {
    match view {
        View::B | View::Nc => LOCAL_RAM_BYTES_DM,
        View::T0 | View::T1 | View::T2 => LOCAL_RAM_BYTES_TRISC,
        View::Noc => 0,
    }
}

/// Bytes of the largest local data RAM (BRISC and NCRISC; the TRISCs have half).
pub const LOCAL_RAM_MAX_BYTES: u32 = LOCAL_RAM_BYTES_DM;

/// Whether `[address, address + size)` lies wholly in L1.
#[must_use]
pub const fn in_l1(address: u32, size: u32) -> bool {
    address <= L1_BYTES && size <= L1_BYTES - address
}

/// Whether `[address, address + size)` lies wholly in the largest local RAM.
#[must_use]
pub const fn in_local_ram(address: u32, size: u32) -> bool {
    address >= LOCAL_RAM_BASE
        && address - LOCAL_RAM_BASE <= LOCAL_RAM_MAX_BYTES
        && size <= LOCAL_RAM_MAX_BYTES - (address - LOCAL_RAM_BASE)
}

/// An area of L1 as the vendor firmware uses it.
#[derive(Debug)]
pub struct Area {
    /// Name.
    pub name: &'static str,
    /// First byte.
    pub base: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// One line of explanation.
    pub doc: &'static str,
}

pub use crate::mailbox::AREAS;

/// The area that covers `addr`.
#[must_use]
pub fn area(addr: u32) -> Option<&'static Area> {
    let i = AREAS.partition_point(|a| a.base <= addr).checked_sub(1)?;
    (addr - AREAS[i].base < AREAS[i].bytes).then_some(&AREAS[i])
}

/// First byte of the named area.
#[must_use]
pub fn area_base(name: &str) -> Option<u32> {
    AREAS.iter().find(|a| a.name == name).map(|a| a.base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_check_at_the_end_of_l1_does_not_wrap() {
        assert!(in_l1(L1_BYTES, 0));
        assert!(in_l1(L1_BYTES - 1, 1));
        assert!(!in_l1(L1_BYTES - 1, 2));
        assert!(!in_l1(0xFFFF_FFFF, 2));
        assert!(!in_l1(4, u32::MAX));
    }

    #[test]
    fn range_check_at_the_end_of_local_ram_does_not_wrap() {
        assert!(in_local_ram(0xFFB0_0000, 0x2000));
        assert!(!in_local_ram(0xFFB0_0001, 0x2000));
        assert!(!in_local_ram(0xFFAF_FFFF, 1));
        assert!(!in_local_ram(0xFFFF_FFFF, u32::MAX));
    }
}
