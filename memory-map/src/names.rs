//! Addresses to names and names to addresses.

use crate::layout::{
    CONFIG_DUAL_OFFSET, CONFIG_WORDS, CONFIG1_OFFSET, STREAM_COUNT, STREAM_STRIDE,
    THREAD_CONFIG_OFFSET, THREAD_CONFIG_WORDS,
};
use crate::region::{Hit, Target, View, lookup};
use crate::registers::{BLOCKS, Register, block, register_at};
use crate::{layout, mailbox};

/// Name of what `view` finds at `addr`, as precise as the tables allow; `None` where nothing is
/// mapped or nothing is known of the place.
///
/// Examples: `tile_control.SOFT_RESET_0`, `noc1.NOC_CTRL[2]`, `overlay[5].REMOTE_DEST_BUF_SIZE`,
/// `Config[0][3]`, `launch[0].preload`, `brisc_firmware+0x10`.
#[must_use]
pub fn register_name(view: View, addr: u32) -> Option<String> {
    let hit = lookup(view, addr)?;
    match hit.target {
        Target::L1 => l1_name(addr),
        Target::Overlay => overlay_name(hit.offset),
        Target::TensixCfg => config_name(hit.offset),
        Target::GprAll => Some(gpr_name(usize::try_from(hit.offset / 256).ok()?, hit.offset)),
        Target::GprOwn => Some(gpr_name(view.thread()?, hit.offset)),
        Target::Dst => Some(format!("dst+{:#x}", hit.offset)),
        Target::PushOwn => Some(format!("push_t{}", view.thread()?)),
        Target::PushT0AfterMop => Some("push_t0_after_mop".to_owned()),
        Target::PushT1AfterMop => Some("push_t1_after_mop".to_owned()),
        Target::PushT2AfterMop => Some("push_t2_after_mop".to_owned()),
        Target::LocalRam => Some(format!("local_ram+{:#x}", addr - layout::LOCAL_RAM_BASE)),
        Target::LocalRamB => Some(format!("brisc_local_ram+{:#x}", hit.offset)),
        Target::LocalRamNc => Some(format!("ncrisc_local_ram+{:#x}", hit.offset)),
        Target::LocalRamT0 => Some(format!("trisc0_local_ram+{:#x}", hit.offset)),
        Target::LocalRamT1 => Some(format!("trisc1_local_ram+{:#x}", hit.offset)),
        Target::LocalRamT2 => Some(format!("trisc2_local_ram+{:#x}", hit.offset)),
        Target::PcBufT0 => Some("pcbuf_t0.FIFO".to_owned()),
        Target::PcBufT1 => Some("pcbuf_t1.FIFO".to_owned()),
        Target::PcBufT2 => Some("pcbuf_t2.FIFO".to_owned()),
        Target::Mailbox => mailbox_name(addr),
        _ => block_name(hit, addr),
    }
}

fn l1_name(addr: u32) -> Option<String> {
    if let Some(name) = mailbox::name(addr) {
        return Some(name);
    }
    let area = layout::area(addr)?;
    let inside = addr - area.base;
    Some(if inside == 0 { area.name.to_owned() } else { format!("{}+{inside:#x}", area.name) })
}

fn gpr_name(thread: usize, offset: u32) -> String {
    format!("gpr[T{thread}][{}]", offset / 4 % layout::GPRS_PER_THREAD)
}

fn overlay_name(offset: u32) -> Option<String> {
    let stream = offset / STREAM_STRIDE;
    if stream >= STREAM_COUNT {
        return None;
    }
    let (register, index) = register_at(Target::Overlay, offset % STREAM_STRIDE)?;
    Some(format!("overlay[{stream}].{}", with_index(register, index)))
}

fn config_name(offset: u32) -> Option<String> {
    let word = |start: u32| (offset - start) / 4;
    if offset < CONFIG1_OFFSET {
        Some(format!("Config[0][{}]", word(0)))
    } else if offset < CONFIG_DUAL_OFFSET {
        Some(format!("Config[1][{}]", word(CONFIG1_OFFSET)))
    } else if offset < CONFIG_DUAL_OFFSET + CONFIG_WORDS * 4 {
        Some(format!("ConfigDualWrite[{}]", word(CONFIG_DUAL_OFFSET)))
    } else {
        let slot = offset.checked_sub(THREAD_CONFIG_OFFSET)? / 4;
        let thread = slot / THREAD_CONFIG_WORDS;
        (thread < 3).then(|| format!("ThreadConfig[{thread}][{}]", slot % THREAD_CONFIG_WORDS))
    }
}

fn mailbox_name(addr: u32) -> Option<String> {
    let (_, instance) = block(Target::Mailbox)?;
    let offset = addr.checked_sub(instance.base)?;
    let partner = ["B", "T0", "T1", "T2"].get(usize::try_from(offset >> 12).ok()?)?;
    let side = if offset & 4 == 0 { "DATA" } else { "STATUS" };
    Some(format!("mailbox[{partner}].{side}"))
}

fn block_name(hit: Hit, addr: u32) -> Option<String> {
    let (_, instance) = block(hit.target)?;
    let (register, index) = register_at(hit.target, addr.checked_sub(instance.base)?)?;
    Some(format!("{}.{}", instance.prefix, with_index(register, index)))
}

fn with_index(register: &Register, index: u32) -> String {
    if register.count > 1 {
        format!("{}[{index}]", register.name)
    } else {
        register.name.to_owned()
    }
}

/// Registers and mailbox fields whose name begins with `prefix`, without case, each with the address
/// of its first element. With or without the block prefix: `soft_reset` and `noc0.noc_ctrl` both do.
#[must_use]
pub fn find(prefix: &str) -> Vec<(String, u32)> {
    let wanted = prefix.to_ascii_lowercase();
    let mut found = Vec::new();
    for block in BLOCKS {
        for instance in block.instances {
            for register in block.registers {
                let full = format!("{}.{}", instance.prefix, register.name);
                if register.name.to_ascii_lowercase().starts_with(&wanted)
                    || full.to_ascii_lowercase().starts_with(&wanted)
                {
                    found.push((full, instance.base + register.offset));
                }
            }
        }
    }
    for field in mailbox::FIELDS {
        let name = field.name.replace("[]", "[0]");
        if name.to_ascii_lowercase().starts_with(&wanted) {
            found.push((name, mailbox::MAILBOX_BASE + field.offset));
        }
    }
    found
}
