//! NoC commands and overlay streams in words.
//!
//! Bits of NOC_CTRL: `[isa-bh: NoC/MemoryMap.md]`; names
//! `[hdr: hw/inc/internal/tt-1xx/blackhole/noc/noc_parameters.h]`.

use memory_map::{Target, register_at};

/// What [`sim_core::Event::NocIssue`] carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    pub(crate) noc: u8,
    pub(crate) initiator: u8,
    pub(crate) control: u32,
    pub(crate) addr: u64,
    pub(crate) coordinate: u32,
    pub(crate) bytes: u32,
}

/// Request types, with inline writes apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Read,
    Atomic,
    Write,
    InlineWrite,
}

impl Request {
    /// NOC_CTRL bits 1:0 are the type (0 read, 1 atomic, 2 write), bit 3 inline.
    pub(crate) const fn of(control: u32) -> Self {
        match (control & 3, control >> 3 & 1) {
            (0, _) => Self::Read,
            (1, _) => Self::Atomic,
            (_, 0) => Self::Write,
            _ => Self::InlineWrite,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Atomic => "atomic",
            Self::Write => "write",
            Self::InlineWrite => "inline write",
        }
    }
}

/// The words of [`sim_core::Event::NocServe`].
pub(crate) fn served(noc: u8, source: u16, control: u32, addr: u64, bytes: u32) -> String {
    let request = Request::of(control).name();
    format!("NoC {noc}: {request} of {bytes} bytes at {addr:#x} for endpoint {source}")
}

impl Command {
    pub(crate) fn text(&self) -> String {
        let request = Request::of(self.control);
        let preposition = if request == Request::Read { "from" } else { "to" };
        format!(
            "NoC {} initiator {}: {} of {} bytes {preposition} {} {:#x}, {}",
            self.noc,
            self.initiator,
            request.name(),
            self.bytes,
            self.tile(),
            self.addr,
            self.answer(request)
        )
    }

    /// `x-y`, or the two corners of a broadcast (NOC_CTRL bit 5).
    fn tile(&self) -> String {
        let tile = |bits: u32| format!("({},{})", bits & 63, bits >> 6 & 63);
        if self.control >> 5 & 1 == 1 {
            format!("tiles {}..{}", tile(self.coordinate >> 12), tile(self.coordinate))
        } else {
            format!("tile {}", tile(self.coordinate))
        }
    }

    /// Which counter of the NIU shows that it is done; posted requests have none
    /// `[isa-wh: NoC/Counters.md]`. NOC_CTRL bit 4 asks for a response.
    fn answer(&self, request: Request) -> &'static str {
        match (request, self.control >> 4 & 1 == 1) {
            (Request::Read, _) => "counted in NIU_MST_RD_RESP_RECEIVED",
            (_, false) => "posted",
            (Request::Atomic, true) => "counted in NIU_MST_ATOMIC_RESP_RECEIVED",
            (Request::Write | Request::InlineWrite, true) => "counted in NIU_MST_WR_ACK_RECEIVED",
        }
    }
}

/// Register 8 of stream n counts tiles acknowledged and register 10 tiles received of circular
/// buffer n, by a convention of the vendor firmware `[spec: boot-and-sync 3]`.
pub(super) fn stream_text(stream: u8, register: u16, before: u32, after: u32) -> String {
    let circular = stream < CIRCULAR_BUFFERS;
    match register {
        8 if circular => format!("CB {stream} tiles acked {before} -> {after}"),
        10 if circular => format!("CB {stream} tiles received {before} -> {after}"),
        _ => {
            let name = match register_at(Target::Overlay, u32::from(register) * 4) {
                Some((row, index)) if row.count > 1 => format!("{}[{index}]", row.name),
                Some((row, _)) => row.name.to_owned(),
                None => format!("register {register}"),
            };
            format!("stream {stream} {name} {before:#x} -> {after:#x}")
        }
    }
}

/// Circular buffers of a Blackhole tile.
const CIRCULAR_BUFFERS: u8 = 64;
