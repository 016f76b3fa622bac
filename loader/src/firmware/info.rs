//! What a firmware set was built for, read from its BRISC image: how many DRAM and L1 banks (from
//! the sizes of its bank tables) and which overlay stream it reports to (from its code).
//!
//! Sources: `[spec: boot-and-sync 1.1, 1.6]`.

use serde::{Deserialize, Serialize};
use sim_core::CoreId;

use super::{FirmwareError, FirmwareSet};
use symbols::image::Image;

/// First register of overlay stream 0; streams are 0x1000 apart
/// `[hdr: hw/inc/internal/tt-1xx/blackhole/noc/noc_overlay_parameters.h]`.
const STREAM_BASE: u32 = 0xFFB4_0000;
/// No table can be larger than the 0x800 bytes reserved for all of them.
const MAX_TABLE_BYTES: u32 = 0x800;
/// How many overlay streams there are.
const STREAM_COUNT: u32 = 64;

/// What a firmware set was built for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FirmwareInfo {
    /// DRAM banks of the bank tables (7 or 8 in the vendor's sets); `None` without such tables.
    pub dram_banks: Option<u32>,
    /// L1 banks of the bank tables (108 to 140 in the vendor's sets); `None` without such tables.
    pub l1_banks: Option<u32>,
    /// Overlay stream that DEV-mode launches report to: 48 for Tensix dispatch, 16 for Ethernet
    /// dispatch `[inferred: boot-and-sync 1.1]`; `None` when the code names none or several.
    pub dispatch_stream: Option<u32>,
    /// Entry points in launch-message order: BRISC, NCRISC, TRISC0, TRISC1, TRISC2.
    pub entries: [u32; 5],
}

/// Reads what a set was built for.
///
/// # Errors
/// [`FirmwareError::Boot`] when the bank tables contradict each other.
pub fn identify(set: &FirmwareSet) -> Result<FirmwareInfo, FirmwareError> {
    let brisc = set.image(CoreId::Brisc);
    let dram_banks = banks(brisc, "dram_bank_to_noc_xy", "bank_to_dram_offset")?;
    let l1_banks = banks(brisc, "l1_bank_to_noc_xy", "bank_to_l1_offset")?;
    let ncrisc = set.image(CoreId::Ncrisc);
    let of_ncrisc = (
        banks(ncrisc, "dram_bank_to_noc_xy", "bank_to_dram_offset")?,
        banks(ncrisc, "l1_bank_to_noc_xy", "bank_to_l1_offset")?,
    );
    if of_ncrisc != (None, None) && of_ncrisc != (dram_banks, l1_banks) {
        return Err(FirmwareError::boot(
            ncrisc,
            format!(
                "built for {}, BRISC for {}",
                bank_words(of_ncrisc.0, of_ncrisc.1),
                bank_words(dram_banks, l1_banks)
            ),
        ));
    }
    let mut entries = [0; 5];
    for (slot, (_, image)) in entries.iter_mut().zip(set.images()) {
        *slot = image.entry;
    }
    Ok(FirmwareInfo { dram_banks, l1_banks, dispatch_stream: dispatch_stream(brisc), entries })
}

/// `8 DRAM and 140 L1 banks`.
pub(super) fn bank_words(dram: Option<u32>, l1: Option<u32>) -> String {
    let number =
        |count: Option<u32>| count.map_or_else(|| "no".to_owned(), |count| count.to_string());
    format!("{} DRAM and {} L1 banks", number(dram), number(l1))
}

/// Number of banks from `coordinates: u16[2 NoCs][N]` and `offsets: i32[N]`: both are `4 N` bytes.
fn banks(image: &Image, coordinates: &str, offsets: &str) -> Result<Option<u32>, FirmwareError> {
    let size = |name: &str| image.symbol(name).map(|symbol| symbol.size).filter(|&size| size > 0);
    match (size(coordinates), size(offsets)) {
        (None, None) => Ok(None),
        (Some(xy), Some(offset))
            if xy == offset && xy.is_multiple_of(4) && xy <= MAX_TABLE_BYTES =>
        {
            Ok(Some(xy / 4))
        }
        (xy, offset) => {
            let bytes = |size: Option<u32>| {
                size.map_or_else(|| "none".to_owned(), |size| format!("{size} bytes"))
            };
            let reason = format!(
                "{coordinates} has {}, {offsets} has {}; both must have 4 bytes per bank",
                bytes(xy),
                bytes(offset)
            );
            Err(FirmwareError::boot(image, reason))
        }
    }
}

/// The stream whose register page the code loads with `lui`: a page of the overlay window other
/// than stream 0, the same one everywhere.
fn dispatch_stream(brisc: &Image) -> Option<u32> {
    let mut found = None;
    for segment in brisc.segments.iter().filter(|segment| segment.executable) {
        for word in segment.bytes.chunks_exact(4) {
            let word = u32::from_le_bytes(word.try_into().ok()?);
            let page = word & 0xFFFF_F000;
            let stream = page.wrapping_sub(STREAM_BASE) >> 12;
            if word & 0x7F != 0x37 || stream == 0 || stream >= STREAM_COUNT {
                continue;
            }
            match found {
                Some(other) if other != stream => return None,
                _ => found = Some(stream),
            }
        }
    }
    found
}
