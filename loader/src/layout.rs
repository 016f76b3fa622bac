//! The few addresses that loading needs: where L1 and local RAM lie and where firmware expects
//! what a host stages. It is not the address map; that is the `memory-map` crate.
//!
//! Sources: `[hdr: hw/inc/internal/tt-1xx/blackhole/dev_mem_map.h]`,
//! `[spec: boot-and-sync 1.2, 1.3, 1.4]`.

use sim_core::CoreId;

pub use memory_map::layout::{L1_BYTES, LOCAL_RAM_BASE, LOCAL_RAM_MAX_BYTES, in_l1, in_local_ram};
pub use memory_map::mailbox::{MAILBOX_BASE, MAILBOX_BYTES};
pub use symbols::launch::message_index;

/// First byte of L1 that firmware leaves alone once it is up; the usual kernel-config base.
pub const MAP_END: u32 = 0xA080;
/// Bank-to-NoC tables, 0x800 bytes.
pub const BANK_TABLES: u32 = 0x13080;
/// Logical-to-virtual column table, 20 bytes.
pub const COLUMN_TABLE: u32 = 0x13880;
/// Logical-to-virtual row table, 12 bytes.
pub const ROW_TABLE: u32 = 0x13894;
/// Where the entry point of BRISC firmware must be for `jal` at address 0 to reach it.
pub const JAL_REACH: u32 = 1 << 20;

/// L1 address of the staged local-memory image of a core.
#[must_use]
pub const fn data_image(core: CoreId) -> u32 {
    match core {
        CoreId::Brisc => 0xA080,
        CoreId::Ncrisc => 0xC080,
        CoreId::Trisc0 => 0xE080,
        CoreId::Trisc1 => 0xF080,
        CoreId::Trisc2 => 0x1_0080,
    }
}

/// The cores in the order of the launch message's arrays.
pub const MESSAGE_ORDER: [CoreId; 5] =
    [CoreId::Brisc, CoreId::Ncrisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

/// Lower-case name of a core, as in file names and TOML keys: `brisc`, `trisc0`...
#[must_use]
pub const fn key(core: CoreId) -> &'static str {
    match core {
        CoreId::Brisc => "brisc",
        CoreId::Ncrisc => "ncrisc",
        CoreId::Trisc0 => "trisc0",
        CoreId::Trisc1 => "trisc1",
        CoreId::Trisc2 => "trisc2",
    }
}
