//! The embedded firmware set: five ELFs of our own that speak the vendor's mailbox protocol.
//!
//! They are not the vendor's firmware and contain none of it. Sources: `programs/embedded/`; protocol:
//! `[spec: boot-and-sync 1, 3, 7]`.

use loader::firmware::FirmwareSet;
use symbols::image::{Image, ImageError};

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

/// The set, ready to be staged.
///
/// # Errors
/// Never for a build whose images are intact.
pub fn set() -> Result<FirmwareSet, ImageError> {
    let image = |(name, bytes): (&str, &[u8])| {
        Image::parse_elf(&format!("embedded {name}.elf"), bytes.into())
    };
    let [brisc, ncrisc, trisc0, trisc1, trisc2] = ALL.map(image);
    let images = [brisc?, ncrisc?, trisc0?, trisc1?, trisc2?];
    Ok(FirmwareSet::from_images("embedded", images))
}
