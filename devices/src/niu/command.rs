//! Decodes the registers of one request initiator into a request, and refuses what hardware
//! would not do.
//!
//! Sources: `[isa-bh: NoC/MemoryMap.md]`, `[isa-wh: NoC/Atomics.md]`; alignment:
//! `[ttsim: src/tile.cpp]` and `NOC_L1_*_ALIGNMENT_BYTES` of `[hdr: hw/inc/internal/tt-1xx/
//! blackhole/noc/noc_parameters.h]` (the page on alignment is not used) `[unknown: U-020]`.

use memory_map::reg::noc_niu::{noc_ctrl, noc_packet_tag};
use memory_map::{NocControl, NocCoordinate, NocRequest};
use sim_core::Category;

use super::atomic::AtomicOp;
use super::identity::Identity;
use super::packet::{Coordinate, MAX_PACKET_BYTES, NocPacket, PacketKind, Target, WriteShape};
use crate::fault::DeviceFault;

/// Bytes of L1 `[isa-bh: TensixTile/L1.md]`.
const L1_BYTES: u64 = memory_map::layout::L1_BYTES as u64;

/// First address of the register space `[hdr: .../noc_parameters.h NOC_REG_SPACE_START_ADDR]`.
const REGISTER_SPACE: u64 = 0xFF00_0000;

/// The registers of one initiator, in the order of their offsets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Registers {
    pub(super) target: [u32; 3],
    pub(super) ret: [u32; 3],
    pub(super) tag: u32,
    pub(super) control: u32,
    pub(super) length: [u32; 2],
    pub(super) data: u32,
    pub(super) exclude: u32,
    /// `NOC_L1_ACC_AT_INSTRN` and `NOC_SEC_CTRL`: storage.
    pub(super) rest: [u32; 2],
}

impl Registers {
    /// The register at that byte offset within the initiator.
    pub(super) fn slot(&mut self, offset: u32) -> Option<&mut u32> {
        Some(match offset {
            0x00 | 0x04 | 0x08 => &mut self.target[(offset / 4) as usize],
            0x0C | 0x10 | 0x14 => &mut self.ret[(offset / 4 - 3) as usize],
            0x18 => &mut self.tag,
            0x1C => &mut self.control,
            0x20 | 0x24 => &mut self.length[(offset / 4 - 8) as usize],
            0x28 => &mut self.data,
            0x2C => &mut self.exclude,
            0x30 | 0x34 => &mut self.rest[(offset / 4 - 12) as usize],
            _ => return None,
        })
    }

    pub(super) fn words(&self) -> [u32; 14] {
        let ([a, b, c], [d, e, f], [g, h], [i, j]) =
            (self.target, self.ret, self.length, self.rest);
        [a, b, c, d, e, f, self.tag, self.control, g, h, self.data, self.exclude, i, j]
    }

    /// Hardware moves on to the next part of a split request.
    pub(super) fn advance_part(&mut self) {
        self.length[0] = self.length[0].saturating_sub(MAX_PACKET_BYTES);
        for address in [&mut self.target, &mut self.ret] {
            let moved = join(*address).wrapping_add(u64::from(MAX_PACKET_BYTES));
            address[0] = (moved & 0xFFFF_FFFF) as u32;
            address[1] = (moved >> 32) as u32;
        }
    }
}

fn join(address: [u32; 3]) -> u64 {
    u64::from(address[0]) | u64::from(address[1]) << 32
}

/// What decoding needs besides the initiator's registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    pub(super) identity: Identity,
    pub(super) translate: bool,
    pub(super) opt_out: (u32, u32),
    pub(super) initiator: u8,
}

fn undefined(id: &'static str, text: impl Into<String>) -> DeviceFault {
    DeviceFault::new(Category::UndefinedBehavior, id, text)
}

fn unsupported(id: &'static str, text: impl Into<String>) -> DeviceFault {
    DeviceFault::new(Category::Unsupported, id, text)
}

/// Whether a byte range is L1 (`true`) or a register (`false`) of this tile.
fn own_space(address: u64, bytes: u32, what: &str) -> Result<bool, DeviceFault> {
    if address.saturating_add(u64::from(bytes)) <= L1_BYTES {
        return Ok(true);
    }
    if !(REGISTER_SPACE..1 << 32).contains(&address) {
        let text = format!("{what} {address:#x} (+{bytes}) is neither L1 nor a register");
        return Err(undefined("noc-unmapped", text));
    }
    if bytes != 4 {
        let text = format!("{what} {address:#x} is a register: 4 bytes at a time, not {bytes}");
        return Err(undefined("noc-length", text));
    }
    if address & 3 != 0 {
        let text = format!("{what} {address:#x} is a register and not 4-byte aligned");
        return Err(undefined("noc-alignment", text));
    }
    Ok(false)
}

impl Surroundings {
    fn unicast(&self, written: u32) -> (Target, (u8, u8)) {
        let tile = Coordinate::from_bits(written);
        let raw = self.identity.to_raw(tile, self.translate);
        let own = raw == self.identity.raw();
        (Target::Unicast { tile, own }, self.identity.hops(raw))
    }

    fn broadcast(&self, written: u32, include_source: bool) -> (Target, (u8, u8)) {
        let corner = |(x, y)| Coordinate { x, y };
        let written = NocCoordinate(written);
        let (start, end) = (corner(written.start()), corner(written.end()));
        let raw = |at| self.identity.to_raw(at, self.translate);
        let (own, others) =
            self.identity.broadcast(raw(start), raw(end), include_source, self.opt_out);
        let hops = if others == 0 { (0, 0) } else { self.identity.hops(raw(end)) };
        (Target::Broadcast { start, end, own, others }, hops)
    }

    /// Decodes a request that software has just triggered.
    pub(super) fn decode(&self, regs: &Registers) -> Result<NocPacket, DeviceFault> {
        check_flags(regs)?;
        let control = NocControl(regs.control);
        let broadcast = control.is_multicast();
        let request = control.request();
        // Writes with data from memory go to the "return" address, all else to "target".
        let from_memory = request == NocRequest::Write;
        let [lo_mid_hi, other] =
            if from_memory { [regs.ret, regs.target] } else { [regs.target, regs.ret] };
        let (target, hops) = if broadcast {
            self.broadcast(lo_mid_hi[2], control.includes_sender())
        } else {
            self.unicast(lo_mid_hi[2])
        };
        let (address, local) = (join(lo_mid_hi), join(other));
        let marked = noc_ctrl::RESP_MARKED.is_set(regs.control);
        let kind = match request {
            NocRequest::Read => read(target, address, local, regs.length)?,
            NocRequest::Atomic => atomic(target, address, local, marked, regs)?,
            NocRequest::InlineWrite => inline_write(target, address, regs.data)?,
            NocRequest::Write => write(target, address, local, regs)?,
        };
        let nonposted = control.is_answered();
        let uses_other = nonposted && request != NocRequest::InlineWrite;
        if uses_other && !self.unicast(other[2]).0.includes_own() {
            let text = format!(
                "response goes to tile {:?} instead of the initiating one",
                Coordinate::from_bits(other[2])
            );
            return Err(unsupported("noc-foreign-return", text));
        }
        Ok(NocPacket {
            noc: self.identity.noc,
            initiator: self.initiator,
            transaction: noc_packet_tag::TRANSACTION_ID.of(regs.tag) as u8,
            nonposted,
            control: regs.control,
            hops,
            kind,
            more: false,
        })
    }
}

/// Request type, flags and tag.
fn check_flags(regs: &Registers) -> Result<(), DeviceFault> {
    let control = regs.control;
    let broadcast = NocControl(control).is_multicast();
    let request = noc_ctrl::CMD.of(control);
    if request == NocControl::RESERVED {
        return Err(undefined("noc-reserved-request", "request type 3 is reserved"));
    }
    if control & !noc_ctrl::NAMED_BITS != 0 {
        let text = format!("NOC_CTRL {control:#x} sets reserved bits");
        return Err(DeviceFault::new(Category::NonContractual, "noc-reserved-control", text));
    }
    if noc_ctrl::L1_ACC_AT_EN.is_set(control) {
        let text = "NOC_CMD_L1_ACC_AT_EN cannot be used safely because of a hardware bug";
        return Err(undefined("noc-l1-accumulate", text));
    }
    if broadcast && NocControl(control).is_read() {
        return Err(undefined("noc-broadcast-read", "a read cannot be broadcast"));
    }
    if broadcast && regs.exclude != 0 {
        let text = format!("NOC_BRCST_EXCLUDE {:#x} is not simulated", regs.exclude);
        return Err(unsupported("noc-broadcast-exclude", text));
    }
    if let Some(channel) = NocControl(control).channel() {
        // The buddy bit is below.
        let class = channel >> 1;
        if broadcast != (class == 2) || class == 3 {
            let kind = if broadcast { "a broadcast" } else { "a unicast request" };
            let text = format!("static virtual channel class {class} is not for {kind}");
            return Err(undefined("noc-static-vc", text));
        }
    }
    if noc_packet_tag::TO_OVERLAY.is_set(regs.tag) {
        let text = "delivery to the receiver's overlay is not simulated";
        return Err(unsupported("noc-overlay-delivery", text));
    }
    Ok(())
}

/// Span length of a read or a write, checked against splitting rules.
fn span(length: [u32; 2], addresses: [u64; 2]) -> Result<u32, DeviceFault> {
    let bytes = length[0];
    if bytes == 0 || length[1] != 0 {
        let text = format!("length {:#x}_{:08x} is out of range", length[1], bytes);
        return Err(undefined("noc-length", text));
    }
    if bytes > MAX_PACKET_BYTES && addresses.iter().any(|address| address & 63 != 0) {
        let text = format!(
            "{bytes} bytes need splitting, so {:#x} and {:#x} must be 64-byte aligned",
            addresses[0], addresses[1]
        );
        return Err(undefined("noc-alignment", text));
    }
    Ok(bytes)
}

/// Data is not shifted on its way: both addresses must agree modulo `unit`.
fn check_congruent(a: u64, b: u64, unit: u64) -> Result<(), DeviceFault> {
    if a % unit == b % unit {
        return Ok(());
    }
    let text = format!("addresses {a:#x} and {b:#x} differ modulo {unit}");
    Err(undefined("noc-alignment", text))
}

fn read(
    target: Target,
    address: u64,
    destination: u64,
    length: [u32; 2],
) -> Result<PacketKind, DeviceFault> {
    let bytes = span(length, [address, destination])?;
    let to_l1 = own_space(destination, bytes, "read destination")?;
    let from_l1 = if target.includes_own() {
        own_space(address, bytes, "read source")?
    } else {
        // What another tile has there is unknown; only short reads can be of its registers.
        bytes > 4 || !(REGISTER_SPACE..1 << 32).contains(&address)
    };
    let unit = if to_l1 && from_l1 { 16 } else { 4 };
    check_congruent(address, destination, unit)?;
    Ok(PacketKind::Read { target, address, destination, bytes })
}

fn write(
    target: Target,
    address: u64,
    source: u64,
    regs: &Registers,
) -> Result<PacketKind, DeviceFault> {
    let header_copy = (noc_packet_tag::HEADER_STORE.is_set(regs.tag)
        && !noc_ctrl::RESP_MARKED.is_set(regs.control))
    .then(|| u64::from(regs.data) << 4);
    let to_register = (REGISTER_SPACE..1 << 32).contains(&address);
    let (shape, bytes, from, to) = if !noc_ctrl::WR_BE.is_set(regs.control) {
        let bytes = span(regs.length, [address, source])?;
        (WriteShape::Span(bytes), bytes, source, address)
    } else if to_register {
        (WriteShape::Span(4), 4, source, address)
    } else {
        let mask = u64::from(regs.length[0]) | u64::from(regs.length[1]) << 32;
        let extent = 64 - mask.leading_zeros();
        if extent == 0 {
            return Err(undefined("noc-length", "the byte-enable mask is empty"));
        }
        (WriteShape::Masked(mask), extent, source & !15, address & !15)
    };
    own_space(from, bytes, "write source")?;
    if target.includes_own() {
        own_space(to, bytes, "write destination")?;
    }
    check_congruent(from, to, 16)?;
    if let Some(copy) = header_copy {
        own_space(copy, 16, "header copy")?;
    }
    Ok(PacketKind::Write { target, address: to, source: from, shape, header_copy })
}

fn inline_write(target: Target, address: u64, value: u32) -> Result<PacketKind, DeviceFault> {
    if address < L1_BYTES {
        let text = format!("inline write to L1 {address:#x} is not safe (hardware bug)");
        return Err(undefined("noc-inline-to-l1", text));
    }
    if address & 3 != 0 {
        let text = format!("inline write to {address:#x} is not 4-byte aligned");
        return Err(undefined("noc-alignment", text));
    }
    if target.includes_own() {
        own_space(address, 4, "inline write to")?;
    }
    Ok(PacketKind::InlineWrite { target, address, value })
}

fn atomic(
    target: Target,
    address: u64,
    result: u64,
    marked: bool,
    regs: &Registers,
) -> Result<PacketKind, DeviceFault> {
    for (at, what, used) in [(address, "target", true), (result, "result", marked)] {
        if !used {
            continue;
        }
        if at >= L1_BYTES {
            let text = format!("atomic {what} {at:#x} is not in L1");
            return Err(undefined("noc-atomic-not-l1", text));
        }
        if at & 3 != 0 {
            let text = format!("atomic {what} {at:#x} is not 4-byte aligned");
            return Err(undefined("noc-alignment", text));
        }
    }
    let (bits, value) = (regs.length[0], regs.data);
    let field = |lo: u32, mask: u32| (bits >> lo & mask) as u8;
    let op = match bits >> 12 & 15 {
        1 => AtomicOp::Increment { word: field(0, 3), width: field(2, 31), value },
        3 => AtomicOp::SwapMask { mask: field(2, 0xFF), value },
        4 => {
            let (compare, set) = (field(2, 15), field(6, 15));
            AtomicOp::CompareSwap { word: field(0, 3), compare, set }
        }
        6 => AtomicOp::SwapIndex { word: field(0, 3), value },
        7 => AtomicOp::SwapIndex { word: field(2, 3), value },
        opcode => {
            let text = format!("atomic opcode {opcode} is not documented");
            let category = Category::MissingSpecification;
            return Err(DeviceFault::new(category, "noc-atomic-opcode", text));
        }
    };
    Ok(PacketKind::Atomic { target, address, op, result })
}
