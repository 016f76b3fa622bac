//! The bytes that a host stages in L1 before it releases BRISC.
//!
//! The order of [`BootImage::writes`] does not matter: they do not overlap. Resetting the cores,
//! zeroing L1 and releasing BRISC are the caller's steps.
//!
//! Sources: `[spec: boot-and-sync 1.3, 1.4, 1.5, 1.6]`.

use sim_core::CoreId;

use super::info::bank_words;
use super::version::lowered;
use super::{FirmwareError, FirmwareInfo, FirmwareSet, identify};
use crate::layout::{
    BANK_TABLES, COLUMN_TABLE, JAL_REACH, LOCAL_RAM_BASE, MAILBOX_BASE, MAILBOX_BYTES, ROW_TABLE,
    data_image, in_l1,
};
use symbols::image::{Image, Segment};

/// Go signal "initialise" `[hdr: hw/inc/hostdev/dev_msgs.h]`.
const RUN_MSG_INIT: u8 = 0x40;
/// `core_info.core_magic` of a worker tile `[spec: boot-and-sync 1.4]`.
const WORKER_MAGIC: u32 = 0x50EC_09A3;
/// Offsets in `mailboxes_t` `[spec: boot-and-sync 1.4]`.
const GO_SIGNAL: usize = 0x493;
const CORE_INFO_LOGICAL_X: usize = 0xA70 + 0xEB;
const CORE_INFO_MAGIC: usize = 0xA70 + 0xF4;
/// Tables must end before the coordinate maps.
const BANK_TABLE_BYTES: usize = 0x800;

/// Bytes to put at an L1 address.
pub type Write = (u32, Vec<u8>);

/// The bank-to-NoC tables that kernels use to find DRAM and interleaved L1 buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BankTables {
    /// Per NoC, per DRAM bank: `y << 6 | x`.
    pub dram_xy: [Vec<u16>; 2],
    /// Per NoC, per L1 bank: `y << 6 | x`.
    pub l1_xy: [Vec<u16>; 2],
    /// Per DRAM bank: byte offset.
    pub dram_offset: Vec<i32>,
    /// Per L1 bank: byte offset.
    pub l1_offset: Vec<i32>,
    /// Virtual x of each logical column (at most 20).
    pub column_x: Vec<u8>,
    /// Virtual y of each logical row (at most 12).
    pub row_y: Vec<u8>,
}

impl BankTables {
    /// Tables of the right size for a firmware set, all zero: the single tile has no DRAM and no
    /// neighbours to name. Firmware boots with any content `[spec: boot-and-sync 1.3 step 6]`.
    #[must_use]
    pub fn zeroed(info: &FirmwareInfo) -> Self {
        let dram = info.dram_banks.unwrap_or(0) as usize;
        let l1 = info.l1_banks.unwrap_or(0) as usize;
        Self {
            dram_xy: [vec![0; dram], vec![0; dram]],
            l1_xy: [vec![0; l1], vec![0; l1]],
            dram_offset: vec![0; dram],
            l1_offset: vec![0; l1],
            column_x: vec![0; 20],
            row_y: vec![0; 12],
        }
    }

    /// The densely packed block at 0x13080 `[spec: boot-and-sync 1.6]`.
    fn encode(&self) -> Vec<u8> {
        let xy = self.dram_xy.iter().chain(&self.l1_xy).flatten();
        let offsets = self.dram_offset.iter().chain(&self.l1_offset);
        xy.flat_map(|word| word.to_le_bytes())
            .chain(offsets.flat_map(|word| word.to_le_bytes()))
            .collect()
    }
}

/// What the host may choose at boot.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BootOptions {
    /// Logical coordinates of the tile, x then y.
    pub logical: (u8, u8),
    /// Tables for kernels; `None` takes [`BankTables::zeroed`].
    pub tables: Option<BankTables>,
}

/// L1 below it is zero when firmware starts: the host clears it `[spec: boot-and-sync 1.3]`.
pub const ZERO_UNTIL: u32 = 0x1_4000;

/// Everything that must be in L1 before BRISC starts at address 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BootImage {
    /// L1 address and bytes; no two overlap.
    pub writes: Vec<Write>,
    /// Entry points in launch-message order: BRISC, NCRISC, TRISC0, TRISC1, TRISC2.
    pub entries: [u32; 5],
    /// What the set was built for.
    pub info: FirmwareInfo,
    /// L1 is zeroed from 0 up to here before [`BootImage::writes`] are applied.
    pub zero_until: u32,
}

impl BootImage {
    /// Stages a firmware set.
    ///
    /// # Errors
    /// [`FirmwareError::Boot`] when an image does not fit the boot protocol: code outside L1 or in
    /// the way of the mailbox, data that does not fit its staging slot, an entry point that a `jal`
    /// at address 0 cannot reach, two images on top of each other, no initial data where the
    /// image's own symbols say that there must be some, or firmware of a version or chip that is booted otherwise.
    pub fn stage(set: &FirmwareSet, options: &BootOptions) -> Result<Self, FirmwareError> {
        let info = identify(set)?;
        let brisc = set.image(CoreId::Brisc);
        let lowered = lowered(brisc).map_err(|reason| FirmwareError::boot(brisc, reason))?;
        let tables = options.tables.clone().unwrap_or_else(|| BankTables::zeroed(&info));
        check_tables(brisc, &tables, &info)?;
        let mut staged: Vec<Staged<'_>> = Vec::new();
        for (core, image) in set.images() {
            check_data_image(image)?;
            for segment in image.loadable() {
                let address = place(core, image, segment, lowered)?;
                staged.push(Staged {
                    image,
                    what: &image.name,
                    address,
                    bytes: segment.bytes.clone(),
                });
            }
        }
        let fixed = [
            ("the boot jump", 0, jal(brisc)?.to_le_bytes().to_vec()),
            ("the mailbox", MAILBOX_BASE, mailbox(options.logical)),
            ("the bank tables", BANK_TABLES - lowered, tables.encode()),
            ("the column table", COLUMN_TABLE - lowered, tables.column_x),
            ("the row table", ROW_TABLE - lowered, tables.row_y),
        ];
        for (what, address, bytes) in fixed {
            if !bytes.is_empty() {
                staged.push(Staged { image: brisc, what, address, bytes });
            }
        }
        check_disjoint(&mut staged)?;
        let writes = staged.into_iter().map(|write| (write.address, write.bytes)).collect();
        Ok(Self { writes, entries: info.entries, info, zero_until: ZERO_UNTIL })
    }
}

/// Where a segment goes: code to its own address, initial data to the core's staging slot, which lies so much lower.
fn place(
    core: CoreId,
    image: &Image,
    segment: &Segment,
    lowered: u32,
) -> Result<u32, FirmwareError> {
    let size = u32::try_from(segment.bytes.len()).unwrap_or(u32::MAX);
    if in_l1(segment.addr, size) {
        return Ok(segment.addr);
    }
    let end = u64::from(segment.addr) + u64::from(size);
    let offset = segment.addr - LOCAL_RAM_BASE;
    if u64::from(offset) + u64::from(size) > u64::from(core.local_ram_bytes()) {
        let reason = format!(
            "data {:#x}..{end:#x} does not fit the {} bytes of local RAM of {core}",
            segment.addr,
            core.local_ram_bytes()
        );
        return Err(FirmwareError::boot(image, reason));
    }
    Ok(data_image(core) - lowered + offset)
}

/// Firmware copies `__ldm_data_start..__ldm_data_end` from its staging slot; an image without
/// these bytes would start from a null `subordinate_sync` and never report done
/// `[spec: boot-and-sync 8.1]`.
fn check_data_image(image: &Image) -> Result<(), FirmwareError> {
    let (Some(start), Some(end)) =
        (image.address_of("__ldm_data_start"), image.address_of("__ldm_data_end"))
    else {
        return Ok(());
    };
    let covered = |address: u32| {
        image.loadable().any(|segment| {
            address.checked_sub(segment.addr).is_some_and(|at| (at as usize) < segment.bytes.len())
        })
    };
    if end > start && !(covered(start) && covered(end - 1)) {
        let reason = format!("no bytes for its initial data {start:#x}..{end:#x}");
        return Err(FirmwareError::boot(image, reason));
    }
    Ok(())
}

/// A write, and whose it is.
struct Staged<'a> {
    image: &'a Image,
    what: &'a str,
    address: u32,
    bytes: Vec<u8>,
}

/// Sorts by address; two writes must not claim the same byte.
fn check_disjoint(writes: &mut [Staged<'_>]) -> Result<(), FirmwareError> {
    writes.sort_by_key(|write| write.address);
    for pair in writes.windows(2) {
        let end = u64::from(pair[0].address) + pair[0].bytes.len() as u64;
        if u64::from(pair[1].address) < end {
            let reason = format!(
                "staging overlaps at {:#x}: {} reaches to {end:#x}, {} starts there",
                pair[1].address, pair[0].what, pair[1].what
            );
            return Err(FirmwareError::boot(pair[0].image, reason));
        }
    }
    Ok(())
}

/// `jal x0, entry` for address 0, where BRISC always starts.
fn jal(brisc: &Image) -> Result<u32, FirmwareError> {
    let entry = brisc.entry;
    if entry == 0 || !entry.is_multiple_of(4) || entry >= JAL_REACH {
        let reason = format!("entry point {entry:#x} cannot be the target of a jal at address 0");
        return Err(FirmwareError::boot(brisc, reason));
    }
    // imm[20|10:1|11|19:12] rd opcode [The RISC-V Instruction Set Manual, volume I, J-type]
    let (high, low) = ((entry >> 12) & 0xFF, (entry >> 1) & 0x3FF);
    Ok(low << 21 | ((entry >> 11) & 1) << 20 | high << 12 | 0x6F)
}

/// The mailbox block: all zero (so every `preload` byte and `go_message_index` are 0) but for the
/// go signal and the tile's identity.
fn mailbox(logical: (u8, u8)) -> Vec<u8> {
    let mut block = vec![0; MAILBOX_BYTES as usize];
    block[GO_SIGNAL] = RUN_MSG_INIT;
    block[CORE_INFO_LOGICAL_X] = logical.0;
    block[CORE_INFO_LOGICAL_X + 1] = logical.1;
    block[CORE_INFO_MAGIC..CORE_INFO_MAGIC + 4].copy_from_slice(&WORKER_MAGIC.to_le_bytes());
    block
}

fn check_tables(
    brisc: &Image,
    tables: &BankTables,
    info: &FirmwareInfo,
) -> Result<(), FirmwareError> {
    let fits = |wanted: Option<u32>, lengths: [usize; 3]| {
        lengths.iter().all(|&length| length == wanted.unwrap_or(0) as usize)
    };
    let dram = [tables.dram_xy[0].len(), tables.dram_xy[1].len(), tables.dram_offset.len()];
    let l1 = [tables.l1_xy[0].len(), tables.l1_xy[1].len(), tables.l1_offset.len()];
    if !fits(info.dram_banks, dram) || !fits(info.l1_banks, l1) {
        let reason = format!(
            "bank tables of {} DRAM and {} L1 entries given, built for {}",
            dram.map(|length| length.to_string()).join("/"),
            l1.map(|length| length.to_string()).join("/"),
            bank_words(info.dram_banks, info.l1_banks)
        );
        return Err(FirmwareError::boot(brisc, reason));
    }
    let banks = dram[0].saturating_add(l1[0]);
    if banks > BANK_TABLE_BYTES / 8 || tables.column_x.len() > 20 || tables.row_y.len() > 12 {
        return Err(FirmwareError::boot(brisc, "bank tables do not fit their 0x800 bytes"));
    }
    Ok(())
}
