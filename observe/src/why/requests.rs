//! NoC requests of kernels that are under way: what ends too early, overtakes, or takes what has changed.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use memory_map::reg::noc_niu::noc_ctrl;
use memory_map::{NocControl, NocCoordinate, NocRequest};
use sim_core::{CoreId, Event, Stamp};

use super::circular::Violation;
use super::hazards as h;
use super::niu::Niu;
use super::regions::Regions;
use super::report::{Report, coder};
use super::under_way::UnderWay;
use crate::names::Names;

/// A jump to BRISC's firmware `[spec: boot-and-sync 1.2]`.
const BOOT_WORD: Range<u32> = 0..4;
/// What is no larger may be a flag or a count.
const FLAG_BYTES: u32 = 4;

/// Whose a NoC request is, if its end matters: core and pc.
type Request = Option<(CoreId, u32)>;

/// What a kernel's write takes its data from.
#[derive(Clone, Debug)]
struct Source {
    range: Range<u32>,
    core: CoreId,
    pc: u32,
}

/// A write of a kernel to a tile.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) noc: u8,
    pub(super) control: u32,
    pub(super) coordinate: u32,
    pub(super) bytes: u32,
    pub(super) core: CoreId,
    pub(super) pc: u32,
}

impl Write {
    /// Whether what is sent later, with that control word over that NoC, stays behind it: on a channel that both were
    /// given `[hdr: noc_parameters.h]`.
    fn stays_ahead(&self, noc: u8, control: u32) -> bool {
        let channel = NocControl(control).channel();
        self.noc == noc && channel.is_some() && channel == NocControl(self.control).channel()
    }
}

/// The requests of a tile's cores.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    /// Those of kernels that want an answer and have none, by initiator, oldest first.
    in_flight: BTreeMap<(u8, u8), VecDeque<Request>>,
    niu: Niu,
    /// Writes of kernels whose data have not left.
    sources: UnderWay<Source>,
    /// Writes of kernels to tiles that have not come there, as far as is known.
    writes: UnderWay<Write>,
    /// By circular buffer: pages were popped whose data had not left, and nothing was pushed there since.
    popped: BTreeMap<u8, Violation>,
}

/// Function, file and line, or the pc.
fn place<N: Names>(report: &Report<N>, core: CoreId, pc: u32) -> String {
    let code = report.names.site(core, pc);
    code.map_or_else(|| format!("pc {pc:#x}"), |code| code.to_string())
}

impl Requests {
    /// A store to a device.
    pub(super) fn stored(&mut self, stamp: Stamp, addr: u32, value: u32) {
        self.niu.stored(stamp, addr, value);
    }

    /// A request was issued, of a kernel or of firmware. Gives where on the core's own tile it begins, or ends, if
    /// that is known.
    pub(super) fn issued(
        &mut self,
        core: Option<CoreId>,
        stamp: Stamp,
        (noc, initiator, control): (u8, u8, u32),
    ) -> Option<u32> {
        let answered = NocControl(control).is_answered();
        let entry = core.filter(|_| answered).map(|core| (core, stamp.pc));
        self.in_flight.entry((noc, initiator)).or_default().push_back(entry);
        self.niu.own_side(noc, initiator, control)
    }

    /// A kernel's write takes its data from these bytes, until the packets of that ticket have left.
    pub(super) fn takes(
        &mut self,
        noc: u8,
        ticket: (u32, u32),
        (core, pc): (CoreId, u32),
        range: Range<u32>,
    ) {
        self.sources.begin(noc, ticket, Source { range, core, pc });
    }

    /// Data have left, or a request was answered.
    pub(super) fn passed(&mut self, event: &Event) {
        match *event {
            Event::NocSent { noc, ticket, .. } => self.sources.passed(noc, ticket),
            Event::NocDone { noc, initiator, ticket } => {
                self.writes.passed(noc, ticket);
                if let Some(queue) = self.in_flight.get_mut(&(noc, initiator)) {
                    queue.pop_front();
                }
            }
            _ => {}
        }
    }

    /// A write that takes its data from some of these bytes.
    fn source_within(&self, bytes: &Range<u32>) -> Option<&Source> {
        self.sources.find(|Source { range, .. }| range.start < bytes.end && bytes.start < range.end)
    }

    /// Whether a core has sent some of these bytes itself, and they have not left.
    pub(super) fn sends_within(&self, core: CoreId, bytes: &Range<u32>) -> bool {
        self.source_within(bytes).is_some_and(|source| source.core == core)
    }

    /// A kernel gives bytes away, or changes them, that a NoC write may still have to take.
    pub(super) fn reused<N: Names>(
        &self,
        report: &Report<N>,
        stamp: Stamp,
        bytes: &Range<u32>,
        what: &str,
    ) -> Option<Violation> {
        let source = self.source_within(bytes)?;
        let core = coder(&report.names, stamp.agent, stamp.pc)?;
        let place = place(report, source.core, source.pc);
        let text = format!(
            "{core} {what} {:#x}, from where a NoC write of {} bytes is still to be sent: {} in {place}",
            bytes.start.max(source.range.start),
            source.range.len(),
            source.core,
        );
        Some((stamp, h::B11, text))
    }

    /// A kernel pops pages of a buffer that it may still have to send. That matters if others are pushed into the buffer
    /// later: what is popped last stays where it is, and kernels rely on that.
    pub(super) fn popped<N: Names>(
        &mut self,
        report: &Report<N>,
        stamp: Stamp,
        (stream, bytes): (u8, &Range<u32>),
        what: &str,
    ) {
        if let Some(violation) = self.reused(report, stamp, bytes, what) {
            self.popped.entry(stream).or_insert(violation);
        }
    }

    /// Pages are pushed into a buffer.
    pub(super) fn pushed(&mut self, stream: u8) -> Option<Violation> {
        self.popped.remove(&stream)
    }

    /// Firmware empties a buffer for a launch.
    pub(super) fn reset(&mut self, stream: u8) {
        self.popped.remove(&stream);
    }

    /// A kernel reports done.
    pub(super) fn ended(&self, stamp: Stamp, core: CoreId) -> Option<Violation> {
        let open: Vec<_> = self
            .in_flight
            .iter()
            .flat_map(|(key, queue)| queue.iter().map(move |entry| (*key, *entry)))
            .filter_map(|(key, entry)| entry.map(|(issuer, pc)| (key, issuer, pc)))
            .filter(|(_, issuer, _)| *issuer == core)
            .collect();
        let &((noc, initiator), _, pc) = open.first()?;
        let text = format!(
            "{core} reports done while {} of its kernel's NoC requests are under way (NoC {noc}, \
             initiator {initiator})",
            open.len()
        );
        Some((Stamp { pc, ..stamp }, h::A14, text))
    }

    /// A kernel writes to a tile, data or a flag. A flag that does not stay behind the data may be seen first.
    pub(super) fn sent<N: Names>(
        &mut self,
        (report, regions): (&Report<N>, &Regions),
        stamp: Stamp,
        addr: u64,
        (write, packets): (Write, (u32, u32)),
    ) -> Option<Violation> {
        let Write { noc, control, coordinate, bytes, core, .. } = write;
        let is_one = regions.own.contains(&coordinate) || regions.others.contains(&coordinate);
        let is_multicast = NocControl(control).is_multicast();
        if !is_multicast && !is_one {
            return None;
        }
        let is_flag = NocControl(control).request() != NocRequest::Write || bytes <= FLAG_BYTES;
        if !is_flag {
            self.writes.begin(noc, packets, write);
            return None;
        }
        let overtaken = self.writes.find(|data| {
            data.core == core
                && data.coordinate == coordinate
                && NocControl(data.control).is_multicast() == is_multicast
                && !data.stays_ahead(noc, control)
        });
        let data = overtaken?;
        let place = place(report, data.core, data.pc);
        let (x, y) = NocCoordinate(coordinate).end();
        let text = format!(
            "{core} sends a flag to {addr:#x} of NoC ({x}, {y}) over NoC {noc}, channel {}, which may overtake the {} \
             bytes under way there over NoC {}, channel {}, of {place}",
            noc_ctrl::STATIC_VC.of(control),
            data.bytes,
            data.noc,
            noc_ctrl::STATIC_VC.of(data.control),
        );
        Some((stamp, h::B12, text))
    }
}

/// A kernel writes to other tiles: where their firmware stands, or their boot word, as a pointer that is null
/// does.
pub(super) fn written_elsewhere<N: Names>(
    (report, regions, firmware): (&Report<N>, &Regions, &Range<u32>),
    stamp: Stamp,
    addr: u64,
    bytes: u32,
    (control, coordinate): (u32, u32),
) -> Option<Violation> {
    let is_multicast = NocControl(control).is_multicast();
    let is_tile = is_multicast || regions.others.contains(&coordinate);
    let addr = u32::try_from(addr).ok().filter(|_| is_tile)?;
    let end = addr.saturating_add(bytes);
    let is_over = |range: &Range<u32>| addr < range.end && end > range.start;
    if !is_over(firmware) && !is_over(&BOOT_WORD) {
        return None;
    }
    let place = report.names.l1(addr).map_or_else(String::new, |p| format!(" ({})", p.name));
    let (x, y) = NocCoordinate(coordinate).end();
    let to = match is_multicast {
        false => format!("of NoC ({x}, {y})"),
        true => "of several tiles".to_owned(),
    };
    let text = format!("kernel writes {bytes} bytes to {addr:#x}{place} {to}");
    Some((stamp, h::C8, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_stays_behind_data_on_the_same_given_channel_of_the_same_noc() {
        let on = |channel: u32| 2 | noc_ctrl::VC_STATIC.mask() | noc_ctrl::STATIC_VC.put(channel);
        let data = |control| Write {
            noc: 0,
            control,
            coordinate: 0x81,
            bytes: 64,
            core: CoreId::Brisc,
            pc: 0x80,
        };
        assert!(data(on(1)).stays_ahead(0, on(1)));
        assert!(!data(on(1)).stays_ahead(1, on(1)), "the other NoC");
        assert!(!data(on(4)).stays_ahead(0, on(1)), "another channel");
        assert!(!data(2).stays_ahead(0, 2), "a channel that nobody gave");
    }
}
