//! One NoC interface unit: request initiators, configuration, counters.
//!
//! Sources: `[isa-bh: NoC/MemoryMap.md]`, `[isa-bh: NoC/Counters.md]`, `[hdr: hw/inc/internal/
//! tt-1xx/blackhole/noc/noc_parameters.h]`. A tile has two of these, one per NoC.
//!
//! The unit never touches memory. Writing `NOC_CMD_CTRL` yields a [`NocPacket`]; the tile hands
//! it to the [`crate::Fabric`], which says when each [`Stage`] is reached, and the tile reports
//! that back through [`Niu::advance`].
//!
//! Not modelled: interrupts (the sticky bits that would raise them are), security fences, router
//! debug registers (these fault), the request FIFO. Translated coordinates are not written back
//! to `NOC_TARG_ADDR_HI`/`NOC_RET_ADDR_HI`: the page says they are, but firmware programs them
//! once and reuses them on NoC 1, where translating twice would name another tile
//! `[unknown: U-021]`.

mod atomic;
mod command;
mod counters;
mod identity;
mod packet;
mod place;
#[cfg(test)]
mod tests;

use memory_map::reg::noc_niu::{niu_cfg_0, noc_ctrl};
use sim_core::{Category, Cycle, StateHasher};

pub use atomic::AtomicOp;
pub use identity::Identity;
pub(crate) use packet::atomic_block;
pub use packet::{
    ATOMIC_BYTES, Coordinate, FLIT_BYTES, HEADER_BYTES, MAX_PACKET_BYTES, NocPacket, PacketKind,
    Target, WriteShape,
};

use crate::fault::{DeviceFault, ReadClass};
use command::{Registers, Surroundings};
use counters::Counters;
use place::{CONFIG_WORDS, Place, RTZ_NUM, config, place};

/// Request initiators per NIU.
pub const INITIATORS: usize = 4;
/// Coordinate translation, in `NIU_CFG_0`.
const TRANSLATE_ENABLE: u32 = niu_cfg_0::NOC_ID_TRANSLATE_EN.mask();
/// `NIU_TRANS_COUNT_RTZ_CFG` bit 28: reading the number keeps the source bit.
const RTZ_KEEP: u32 = 1 << 28;
/// Tensix tiles of a chip, all that can receive a broadcast `[spec: host-abi 2.6]`.
const MOST_RECIPIENTS: usize = 140;

/// Moments in the life of a request `[isa-bh: NoC/Counters.md]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Stage {
    /// A virtual channel is assigned; the initiator is free again.
    Accepted,
    /// The request has left the NIU, and a write's data has been read from memory.
    Sent,
    /// The target has carried the request out.
    Performed,
    /// The initiator has received the response; posted requests never get here.
    Responded,
}

impl Stage {
    /// The stage after this one in the life of a packet, if there is one.
    #[must_use]
    pub const fn next(self, packet: &NocPacket) -> Option<Self> {
        match self {
            Self::Accepted => Some(Self::Sent),
            Self::Sent => Some(Self::Performed),
            Self::Performed if packet.nonposted => Some(Self::Responded),
            Self::Performed | Self::Responded => None,
        }
    }
}

fn not_simulated(what: &str, offset: u32) -> DeviceFault {
    let text = format!("NIU register +{offset:#x} ({what}) is not simulated");
    DeviceFault::new(Category::Unsupported, "noc-register-unsupported", text)
}

fn read_only(offset: u32, value: u32) -> DeviceFault {
    let text = format!("writes {value:#x} to the read-only NIU register +{offset:#x}");
    DeviceFault::new(Category::NonContractual, "noc-register-read-only", text)
}

/// One NIU.
#[derive(Clone, Debug)]
pub struct Niu {
    identity: Identity,
    initiators: [Registers; INITIATORS],
    /// Low bits of the four `NOC_CMD_CTRL`.
    busy: [bool; INITIATORS],
    config: [u32; CONFIG_WORDS],
    counters: Counters,
    ecc_control: u32,
    /// Target of a request with `NOC_CMD_VC_LINKED` whose transaction is not over.
    linked_to: Option<Target>,
}

impl Niu {
    /// The unit of NoC `noc` in the Tensix tile at NoC 0 coordinates `(x, y)`, as chip firmware
    /// leaves it: coordinate translation on, broadcasts limited to Tensix tiles
    /// `[isa-bh: NoC/MemoryMap.md]`. On a chip without fused-off tiles the translated coordinates
    /// are the same.
    #[must_use]
    pub fn new(noc: u8, x: u8, y: u8) -> Self {
        let here = Coordinate { x, y };
        Self::with_identity(Identity { noc: noc & 1, physical: here, logical: here })
    }

    /// The unit at a place whose translated coordinates differ from its position.
    #[must_use]
    pub fn with_identity(identity: Identity) -> Self {
        let mut unit = Self {
            identity,
            initiators: [Registers::default(); INITIATORS],
            busy: [false; INITIATORS],
            config: [0; CONFIG_WORDS],
            counters: Counters::new(),
            ecc_control: 0,
            linked_to: None,
        };
        let (columns, rows) = identity.broadcast_opt_out();
        unit.config[config::NIU_CFG_0] = TRANSLATE_ENABLE;
        unit.config[config::ROUTER_CFG_1] = columns;
        unit.config[config::ROUTER_CFG_3] = rows;
        unit.config[config::ID_LOGICAL] = identity.logical.to_bits();
        unit
    }

    /// Where the unit sits.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Whether the initiator still waits for its request to be accepted.
    #[must_use]
    pub fn is_busy(&self, initiator: u8) -> bool {
        self.busy.get(usize::from(initiator)).copied().unwrap_or(false)
    }

    /// The initiator a write to `offset` would start or change, if it is one's register.
    #[must_use]
    pub fn initiator_of(offset: u32) -> Option<u8> {
        match place(offset) {
            Ok(Place::Initiator(initiator, _) | Place::Command(initiator)) => Some(initiator as u8),
            _ => None,
        }
    }

    /// Whether a write to the register at that byte offset is certain to be taken and begins nothing.
    #[must_use]
    pub fn takes_setting(&self, offset: u32) -> bool {
        match place(offset) {
            Ok(Place::Initiator(initiator, _)) => !self.busy[initiator],
            Ok(Place::Config(_)) => true,
            _ => false,
        }
    }

    /// How a polling core has to treat the register. Counters and busy bits are
    /// [`ReadClass::Pure`]: they change only when [`Niu::advance`] or a write happens.
    #[must_use]
    pub fn read_class(offset: u32) -> ReadClass {
        if offset == RTZ_NUM { ReadClass::SideEffect } else { ReadClass::Pure }
    }

    /// Whether a read of one register may change what others show: that of `NIU_TRANS_COUNT_RTZ_NUM` may, if a
    /// transaction counter is enabled to be told there when it has reached zero.
    #[must_use]
    pub fn reads_change_it(&self) -> bool {
        self.config[config::RTZ_CFG] & 0xFFFF != 0
    }

    /// Reads a register.
    ///
    /// # Errors
    /// `noc-register-unmapped`: no such register. `noc-register-unsupported`: documented, not
    /// simulated. `noc-register-write-only`: reads a register that has no value.
    pub fn read(&mut self, offset: u32) -> Result<u32, DeviceFault> {
        Ok(match place(offset)? {
            Place::Initiator(initiator, local) => {
                self.initiators[initiator].slot(local).map_or(0, |slot| *slot)
            }
            Place::Command(initiator) => u32::from(self.busy[initiator]),
            Place::NodeId => self.identity.node_id(),
            Place::EndpointId => self.endpoint_id(),
            Place::ErrorCount => 0,
            Place::EccControl => self.ecc_control,
            Place::ClearOutstanding => {
                let text = "NOC_CLEAR_OUTSTANDING_REQ_CNT is write-only";
                let category = Category::UnpredictableValue;
                return Err(DeviceFault::new(category, "noc-register-write-only", text));
            }
            Place::Config(config::RTZ_CLR | config::DEBUG_COUNTER_RESET) => 0,
            Place::Config(index) => self.config[index],
            Place::Counter(index) => self.counters.get(index).unwrap_or(0),
            Place::RtzNumber => self.read_rtz_number(),
            Place::RtzSource => u32::from(self.counters.reached_zero),
            Place::NotSimulated(what) => return Err(not_simulated(what, offset)),
        })
    }

    /// `NOC_ENDPOINT_ID`: NoC index, tile type Tensix, tile index counted row by row over the
    /// 14 by 10 Tensix grid `[unknown: U-022]`.
    fn endpoint_id(&self) -> u32 {
        let at = self.identity.physical;
        let column = if at.x > 9 { at.x - 3 } else { at.x.saturating_sub(1) };
        let index = u32::from(at.y.saturating_sub(2)) * 14 + u32::from(column);
        u32::from(self.identity.noc) << 24 | 0x0100 << 8 | index & 0xFF
    }

    /// Index of a transaction counter that has reached zero with its interrupt enabled; clears
    /// the sticky bit unless configured otherwise.
    fn read_rtz_number(&mut self) -> u32 {
        let enabled = (self.config[config::RTZ_CFG] & 0xFFFF) as u16;
        let pending = self.counters.reached_zero & enabled;
        if pending == 0 {
            return 0;
        }
        let index = pending.trailing_zeros();
        if self.config[config::RTZ_CFG] & RTZ_KEEP == 0 {
            self.counters.reached_zero &= !(1 << index);
        }
        index
    }

    /// Writes a register; a write that starts a request returns it.
    ///
    /// The tile must have advanced this unit's packets to `now` first, or it would see initiators
    /// busy that are not.
    ///
    /// # Errors
    /// `noc-register-*`: no such register, not simulated, or read-only. `noc-initiator-busy`:
    /// software must poll `NOC_CMD_CTRL` first. `noc-linked-target`: a linked transaction
    /// continues to another target. Others start with `noc-` and refuse the request itself, which
    /// then leaves no trace.
    pub fn write(
        &mut self,
        offset: u32,
        value: u32,
        now: Cycle,
    ) -> Result<Option<NocPacket>, DeviceFault> {
        let _ = now;
        match place(offset)? {
            Place::Initiator(initiator, local) => {
                self.check_free(initiator)?;
                if let Some(slot) = self.initiators[initiator].slot(local) {
                    *slot = if local == 0x18 { value & 0xFFFF } else { value };
                }
            }
            Place::Command(initiator) => return self.command(initiator, value),
            Place::EccControl => self.ecc_control = value,
            Place::ClearOutstanding => self.counters.clear_outstanding(value),
            Place::Config(config::RTZ_CLR) => {
                self.counters.reached_zero &= !((value & 0xFFFF) as u16);
            }
            Place::Config(config::DEBUG_COUNTER_RESET) => {}
            Place::Config(index) => self.config[index] = value,
            // "Writing to ... has no effect."
            Place::RtzNumber | Place::RtzSource => {}
            Place::NodeId | Place::EndpointId | Place::ErrorCount | Place::Counter(_) => {
                return Err(read_only(offset, value));
            }
            Place::NotSimulated(what) => return Err(not_simulated(what, offset)),
        }
        Ok(None)
    }

    fn check_free(&self, initiator: usize) -> Result<(), DeviceFault> {
        if !self.busy[initiator] {
            return Ok(());
        }
        let text = format!(
            "NoC {} initiator {initiator} is written while its request is not yet accepted",
            self.identity.noc
        );
        Err(DeviceFault::new(Category::UndefinedBehavior, "noc-initiator-busy", text))
    }

    fn command(&mut self, initiator: usize, value: u32) -> Result<Option<NocPacket>, DeviceFault> {
        if value & 1 == 0 {
            return Ok(None);
        }
        self.check_free(initiator)?;
        let surroundings = Surroundings {
            identity: self.identity,
            translate: self.config[config::NIU_CFG_0] & TRANSLATE_ENABLE != 0,
            opt_out: (self.config[config::ROUTER_CFG_1], self.config[config::ROUTER_CFG_3]),
            initiator: initiator as u8,
        };
        let packet = surroundings.decode(&self.initiators[initiator])?;
        // The vendor's kernels link a write that leaves their own tile out with one that does not, to the same
        // rectangle `[inferred: block-sharded matmul of ttnn 0.81.1]`.
        if let Some(linked) = self.linked_to.filter(|linked| !linked.goes_with(packet.target())) {
            let text = format!(
                "linked transaction to {linked} continues with a request to {}",
                packet.target()
            );
            let category = Category::UndefinedBehavior;
            return Err(DeviceFault::new(category, "noc-linked-target", text));
        }
        self.linked_to = noc_ctrl::VC_LINKED.is_set(packet.control).then(|| packet.target());
        self.busy[initiator] = true;
        self.counters.on_command(&packet);
        Ok(Some(packet))
    }

    /// Reports that one of this unit's packets (or a part of a split one) has reached a stage.
    pub fn advance(&mut self, packet: &NocPacket, stage: Stage) {
        match stage {
            Stage::Accepted => {
                self.counters.on_accepted(packet);
                let initiator = usize::from(packet.initiator) % INITIATORS;
                if packet.more {
                    self.initiators[initiator].advance_part();
                } else {
                    self.busy[initiator] = false;
                }
            }
            Stage::Sent => self.counters.on_sent(packet),
            Stage::Performed if packet.target().includes_own() => {
                self.counters.on_performed(packet);
            }
            Stage::Performed => {}
            Stage::Responded => self.counters.on_responded(packet),
        }
    }

    /// Reports that this unit's tile has carried out a request of another tile.
    pub fn receive(&mut self, packet: &NocPacket) {
        self.counters.on_performed(packet);
    }

    /// The other tiles that receive a request: as written for one tile, in NoC 0 coordinates for a
    /// broadcast.
    #[must_use]
    pub fn recipients(&self, target: Target) -> Vec<Coordinate> {
        match target {
            Target::Unicast { own: true, .. } => Vec::new(),
            Target::Unicast { tile, .. } => vec![tile],
            Target::Broadcast { start, end, .. } => {
                let translate = self.config[config::NIU_CFG_0] & TRANSLATE_ENABLE != 0;
                let raw = |at| self.identity.to_raw(at, translate);
                let opt_out =
                    (self.config[config::ROUTER_CFG_1], self.config[config::ROUTER_CFG_3]);
                let mut places = Vec::with_capacity(MOST_RECIPIENTS);
                places.extend(self.identity.recipients(raw(start), raw(end), opt_out));
                places
            }
        }
    }

    /// Whether coordinates as written are translated ones.
    #[must_use]
    pub fn translates(&self) -> bool {
        self.config[config::NIU_CFG_0] & TRANSLATE_ENABLE != 0
    }

    /// Whether a linked transaction is still open, which keeps other targets out.
    #[must_use]
    pub fn linked_to(&self) -> Option<Target> {
        self.linked_to
    }

    /// Back to how chip firmware leaves it.
    pub fn reset(&mut self) {
        *self = Self::with_identity(self.identity);
    }

    /// Adds the registers and counters to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        // What a unit is called never changes.
        let Self { identity: _, initiators, busy, config, counters, ecc_control, linked_to } = self;
        for (registers, &busy) in initiators.iter().zip(busy) {
            hasher.words(&registers.words());
            hasher.bool(busy);
        }
        hasher.words(config);
        hasher.u32(*ecc_control);
        counters.hash_state(hasher);
        match *linked_to {
            None => hasher.u8(0),
            Some(Target::Unicast { tile, .. }) => {
                hasher.u8(1);
                hasher.u32(tile.to_bits());
            }
            Some(Target::Broadcast { start, end, .. }) => {
                hasher.u8(2);
                hasher.u32(end.to_bits() | start.to_bits() << 12);
            }
        }
    }
}
