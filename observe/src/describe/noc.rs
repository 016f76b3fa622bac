//! NoC commands and overlay streams in words.
//!
//! Names: `[hdr: hw/inc/internal/tt-1xx/blackhole/noc/noc_parameters.h]`.

use memory_map::layout::STREAM_STRIDE;
use memory_map::{NocControl, NocCoordinate, NocRequest, Target, View, lookup, register_at};

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

/// What a request does, in a word or two.
pub(crate) const fn request_name(request: NocRequest) -> &'static str {
    match request {
        NocRequest::Read => "read",
        NocRequest::Atomic => "atomic",
        NocRequest::Write => "write",
        NocRequest::InlineWrite => "inline write",
    }
}

/// The words of [`sim_core::Event::NocServe`].
pub(super) fn served(out: &mut String, noc: u8, from: &str, control: u32, addr: u64, bytes: u32) {
    put!(out; "NoC ", Dec(noc), ": ", request_name(NocControl(control).request()), " of ", Dec(bytes));
    put!(out; " bytes at ", Hex(addr), " for ", from);
}

impl Command {
    pub(super) fn text(&self, out: &mut String) {
        let request = NocControl(self.control).request();
        let preposition = if request == NocRequest::Read { " bytes from " } else { " bytes to " };
        put!(out; "NoC ", Dec(self.noc), " initiator ", Dec(self.initiator), ": ");
        put!(out; request_name(request), " of ", Dec(self.bytes), preposition);
        self.tile(out);
        put!(out; " ", Hex(self.addr), ", ", self.answer(request));
    }

    /// `(x,y)`, or the two corners of a rectangle.
    fn tile(&self, out: &mut String) {
        let place = NocCoordinate(self.coordinate);
        if NocControl(self.control).is_multicast() {
            out.push_str("tiles ");
            corner(out, place.start());
            out.push_str("..");
        } else {
            out.push_str("tile ");
        }
        corner(out, place.end());
    }

    /// Which counter of the NIU shows that it is done; posted requests have none
    /// `[isa-wh: NoC/Counters.md]`.
    fn answer(&self, request: NocRequest) -> &'static str {
        match (request, NocControl(self.control).is_answered()) {
            (NocRequest::Read, _) => "counted in NIU_MST_RD_RESP_RECEIVED",
            (_, false) => "posted",
            (NocRequest::Atomic, true) => "counted in NIU_MST_ATOMIC_RESP_RECEIVED",
            (NocRequest::Write | NocRequest::InlineWrite, true) => {
                "counted in NIU_MST_WR_ACK_RECEIVED"
            }
        }
    }
}

fn corner(out: &mut String, (x, y): (u8, u8)) {
    put!(out; "(", Dec(x), ",", Dec(y), ")");
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
