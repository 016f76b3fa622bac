//! Which register an offset means.
//!
//! Sources: `[isa-bh: NoC/MemoryMap.md]`; offsets from [`memory_map::reg::noc_niu`].

use memory_map::{Target, reg::noc_niu as reg};
use sim_core::Category;

use super::INITIATORS;
use super::counters::COUNT;
use crate::fault::{DeviceFault, nearest};

/// Bytes between two initiators.
const INITIATOR_STRIDE: u32 = reg::NOC_CMD_CTRL_STRIDE;

const CMD_CTRL: u32 = reg::NOC_CMD_CTRL_OFFSET;
const NODE_ID: u32 = reg::NOC_NODE_ID_OFFSET;
const ENDPOINT_ID: u32 = reg::NOC_ENDPOINT_ID_OFFSET;
const ERROR_COUNTS: std::ops::RangeInclusive<u32> =
    reg::NUM_MEM_PARITY_ERR_OFFSET..=reg::NUM_HEADER_2B_ERR_OFFSET;
const ECC_CTRL: u32 = reg::ECC_CTRL_OFFSET;
const CLEAR_OUTSTANDING: u32 = reg::NOC_CLEAR_OUTSTANDING_REQ_CNT_OFFSET;
const CONFIG: u32 = reg::NIU_CFG_0_OFFSET;
pub(super) const CONFIG_WORDS: usize = 32;
const COUNTERS: u32 = reg::NIU_MST_ATOMIC_RESP_RECEIVED_OFFSET;
pub(super) const RTZ_NUM: u32 = reg::NIU_TRANS_COUNT_RTZ_NUM_OFFSET;
const RTZ_SOURCE: u32 = reg::NIU_TRANS_COUNT_RTZ_SOURCE_OFFSET;

/// Words of the configuration block that behave in some way of their own, by position.
pub(super) mod config {
    use memory_map::reg::noc_niu as reg;

    const fn at(offset: u32) -> usize {
        ((offset - reg::NIU_CFG_0_OFFSET) / 4) as usize
    }

    pub(in crate::niu) const NIU_CFG_0: usize = at(reg::NIU_CFG_0_OFFSET);
    pub(in crate::niu) const ROUTER_CFG_1: usize = at(reg::ROUTER_CFG_1_OFFSET);
    pub(in crate::niu) const ROUTER_CFG_3: usize = at(reg::ROUTER_CFG_3_OFFSET);
    pub(in crate::niu) const ID_LOGICAL: usize = at(reg::NOC_ID_LOGICAL_OFFSET);
    pub(in crate::niu) const DEBUG_COUNTER_RESET: usize = at(reg::DEBUG_COUNTER_RESET_OFFSET);
    pub(in crate::niu) const RTZ_CFG: usize = at(reg::NIU_TRANS_COUNT_RTZ_CFG_OFFSET);
    pub(in crate::niu) const RTZ_CLR: usize = at(reg::NIU_TRANS_COUNT_RTZ_CLR_OFFSET);
}

/// What a register access means, after the initiator's share of the offset is taken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Initiator(usize, u32),
    Command(usize),
    NodeId,
    EndpointId,
    ErrorCount,
    EccControl,
    ClearOutstanding,
    Config(usize),
    Counter(usize),
    RtzNumber,
    RtzSource,
    NotSimulated(&'static str),
}

/// The register at a byte offset.
pub(super) fn place(offset: u32) -> Result<Place, DeviceFault> {
    let initiator = (offset / INITIATOR_STRIDE) as usize;
    let local = offset % INITIATOR_STRIDE;
    if offset & 3 == 0 && initiator < INITIATORS {
        match local {
            0x00..=0x34 => return Ok(Place::Initiator(initiator, local)),
            CMD_CTRL => return Ok(Place::Command(initiator)),
            NODE_ID => return Ok(Place::NodeId),
            ENDPOINT_ID => return Ok(Place::EndpointId),
            0x64 | 0x68 => return Ok(Place::NotSimulated("request FIFO status")),
            _ => {}
        }
    }
    let counters_end = COUNTERS + 4 * COUNT as u32;
    let found = match offset {
        _ if offset & 3 != 0 => None,
        ECC_CTRL => Some(Place::EccControl),
        CLEAR_OUTSTANDING => Some(Place::ClearOutstanding),
        RTZ_NUM => Some(Place::RtzNumber),
        RTZ_SOURCE => Some(Place::RtzSource),
        _ if ERROR_COUNTS.contains(&offset) => Some(Place::ErrorCount),
        CONFIG..0x180 => Some(Place::Config(((offset - CONFIG) / 4) as usize)),
        _ if (COUNTERS..counters_end).contains(&offset) => {
            Some(Place::Counter(((offset - COUNTERS) / 4) as usize))
        }
        0x300..0x400 => Some(Place::NotSimulated("router and NIU debug information")),
        0x400..0x500 => Some(Place::NotSimulated("security fence")),
        0x500..0x600 => Some(Place::NotSimulated("router packet counter")),
        _ => None,
    };
    found.ok_or_else(|| {
        let text = format!("no NIU register at +{offset:#x}; {}", nearest(Target::Noc0, offset));
        DeviceFault::new(Category::UndefinedBehavior, "noc-register-unmapped", text)
    })
}
