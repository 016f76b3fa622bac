//! The embedded firmware set: five ELFs of our own that speak the vendor's mailbox protocol.
//!
//! They are not the vendor's firmware and contain none of it. Sources: `programs/embedded/`; protocol:
//! `[spec: boot-and-sync 1, 3, 7]`.

/// BRISC, entry 0x3AE0.
pub const BRISC: &[u8] = include_bytes!("../programs/embedded/brisc.elf");
/// NCRISC, entry 0x5CE0.
pub const NCRISC: &[u8] = include_bytes!("../programs/embedded/ncrisc.elf");
/// TRISC0, entry 0x66E0.
pub const TRISC0: &[u8] = include_bytes!("../programs/embedded/trisc0.elf");
/// TRISC1, entry 0x70E0.
pub const TRISC1: &[u8] = include_bytes!("../programs/embedded/trisc1.elf");
/// TRISC2, entry 0x7AE0.
pub const TRISC2: &[u8] = include_bytes!("../programs/embedded/trisc2.elf");

/// All five with the names case files use, in the order of the launch message.
pub const ALL: [(&str, &[u8]); 5] = [
    ("brisc", BRISC),
    ("ncrisc", NCRISC),
    ("trisc0", TRISC0),
    ("trisc1", TRISC1),
    ("trisc2", TRISC2),
];
