//! NoC commands and overlay streams in words.
//!
//! Bits of NOC_CTRL: `[isa-bh: NoC/MemoryMap.md]`; names
//! `[hdr: hw/inc/internal/tt-1xx/blackhole/noc/noc_parameters.h]`.

use memory_map::layout::STREAM_STRIDE;
use memory_map::{Target, View, lookup, register_at};

use crate::resource::{ACKED, RECEIVED};
use crate::text::{Dec, Hex, put};

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
pub(super) fn served(out: &mut String, noc: u8, from: &str, control: u32, addr: u64, bytes: u32) {
    put!(out; "NoC ", Dec(noc), ": ", Request::of(control).name(), " of ", Dec(bytes));
    put!(out; " bytes at ", Hex(addr), " for ", from);
}

impl Command {
    pub(super) fn text(&self, out: &mut String) {
        let request = Request::of(self.control);
        let preposition = if request == Request::Read { " bytes from " } else { " bytes to " };
        put!(out; "NoC ", Dec(self.noc), " initiator ", Dec(self.initiator), ": ");
        put!(out; request.name(), " of ", Dec(self.bytes), preposition);
        self.tile(out);
        put!(out; " ", Hex(self.addr), ", ", self.answer(request));
    }

    /// `x-y`, or the two corners of a broadcast (NOC_CTRL bit 5).
    fn tile(&self, out: &mut String) {
        if self.control >> 5 & 1 == 1 {
            out.push_str("tiles ");
            coordinate(out, self.coordinate >> 12);
            out.push_str("..");
        } else {
            out.push_str("tile ");
        }
        coordinate(out, self.coordinate);
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

fn coordinate(out: &mut String, bits: u32) {
    put!(out; "(", Dec(bits & 63), ",", Dec(bits >> 6 & 63), ")");
}

/// Register 8 of stream n counts tiles acknowledged and register 10 tiles received of circular
/// buffer n, by a convention of the vendor firmware `[spec: boot-and-sync 3]`.
pub(super) fn stream_text(out: &mut String, stream: u8, register: u16, before: u32, after: u32) {
    let circular = stream < CIRCULAR_BUFFERS;
    let what = match register {
        8 if circular => " tiles acked ",
        10 if circular => " tiles received ",
        _ => {
            let name = match register_at(Target::Overlay, u32::from(register) * 4) {
                Some((row, index)) if row.count > 1 => format!("{}[{index}]", row.name),
                Some((row, _)) => row.name.to_owned(),
                None => format!("register {register}"),
            };
            put!(out; "stream ", Dec(stream), " ", &name, " ", Hex(before), " -> ", Hex(after));
            return;
        }
    };
    put!(out; "CB ", Dec(stream), what, Dec(before), " -> ", Dec(after));
}

/// `CB 5 tiles received`: the counter of a circular buffer that an address is.
pub(super) fn counter_name(view: View, addr: u32) -> Option<String> {
    let hit =
        lookup(view, addr).filter(|hit| hit.target == Target::Overlay && hit.offset % 4 == 0)?;
    let (stream, register) = (hit.offset / STREAM_STRIDE, hit.offset % STREAM_STRIDE / 4);
    let what = match u16::try_from(register).ok()? {
        ACKED => "acked",
        RECEIVED => "received",
        _ => return None,
    };
    (stream < u32::from(CIRCULAR_BUFFERS)).then(|| format!("CB {stream} tiles {what}"))
}

/// Circular buffers of a Blackhole tile.
const CIRCULAR_BUFFERS: u8 = 64;
