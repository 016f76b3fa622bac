//! Contract violations that one event shows, whether or not anything hangs.
//!
//! Each has an id of the catalogue, is reported once per call site with a count, and can be
//! suppressed by id. What needs the machine's memory or the end of the run is in [`super::explain`].

use std::ops::Range;

use memory_map::mailbox::MAILBOX_BASE;
use memory_map::{NocControl, layout};
use sim_core::observer::SemaphoreOp;
use sim_core::{AgentId, CoreId, Event, Observer, Stamp, ThreadId};

use super::banks::Banks;
use super::buffer::{CircularBuffer, pages};
use super::circular::{Buffers, Violation};
use super::constants::Constants;
use super::finding::Finding;
use super::formats::{At, Units};
use super::hazards as h;
use super::latency::Latency;
use super::leftovers::Leftovers;
use super::masks::Masks;
use super::operations::Operations;
use super::overlap::Overlap;
use super::regions::{Regions, firmware_code};
use super::report::{Report, coder};
use super::requests::{Requests, Write, written_elsewhere};
use super::sections::Sections;
use super::unpacked::Unpacked;
use super::unset::Unset;
use crate::describe::semaphore_name;
use crate::names::{Names, is_go_signal, subordinate};
use crate::resource::{ACKED, CREDIT_MASK, RECEIVED};
use crate::words;

/// Words that NoC commands of every kernel write: the old values of atomics, and the target of a
/// barrier `[spec: boot-and-sync 1.2]`.
const NOC_WORDS: Range<u32> = 4..16;

/// Areas that the library of kernels uses: where an inline write to L1 is staged that the hardware does not carry out
/// `[hdr: hw/inc/internal/tt-1xx/blackhole/noc_nonblocking_api.h]`, and what the compute library tells debuggers.
const KERNEL_AREAS: [&str; 2] = ["inline_write_staging", "llk_debug"];

/// A MOP that was pushed before goes by what is stored for the next one.
fn overwritten(stamp: Stamp, event: &Event) -> Option<Violation> {
    let Event::MopOverwritten { index, before, after, .. } = *event else { return None };
    let text = format!(
        "changes word {index} of the MOP expander's configuration, {before:#x} to {after:#x}, while a MOP goes by it"
    );
    Some((stamp, h::B15, text))
}

/// Listens for contract violations.
#[derive(Clone, Debug)]
pub struct Checks<N> {
    report: Report<N>,
    regions: Regions,
    requests: Requests,
    /// Where firmware has its code as the table says.
    firmware: Range<u32>,
    leftovers: Leftovers,
    buffers: Buffers,
    sections: Sections,
    latency: Latency,
    unpacked: Unpacked,
    banks: Banks,
    overlap: Overlap,
    operations: Operations,
    constants: Constants,
    masks: Masks,
    unset: Unset,
    units: Units,
    /// Who turned the matrix unit away from a bank that was not filled, per source operand, until a bank changes
    /// hands: turned once more, it is back where it was.
    turned: [Option<(AgentId, u32)>; 2],
    /// A program has been done and the next one has not begun.
    done: bool,
    /// Regions come with each launch, see [`Checks::launched`].
    live: bool,
}

impl<N: Names> Checks<N> {
    /// Checks with names and regions; ids in `suppressed` are not reported.
    pub fn new(names: N, regions: Regions, suppressed: Vec<String>) -> Self {
        Self {
            report: Report::new(names, suppressed),
            regions,
            requests: Requests::default(),
            firmware: firmware_code(),
            leftovers: Leftovers::default(),
            buffers: Buffers::default(),
            sections: Sections::default(),
            latency: Latency::default(),
            unpacked: Unpacked::default(),
            banks: Banks::default(),
            overlap: Overlap::default(),
            operations: Operations::default(),
            constants: Constants::default(),
            masks: Masks::default(),
            unset: Unset::default(),
            units: Units::default(),
            turned: [None; 2],
            done: false,
            live: false,
        }
    }

    /// Checks of a tile that is launched again and again: what lies where comes with each launch.
    pub fn of_launches(names: N, suppressed: Vec<String>) -> Self {
        Self { live: true, ..Self::new(names, Regions::default(), suppressed) }
    }

    /// A launch has begun, in which this lies there. Its code is watched until the tile is done.
    pub fn launched(&mut self, regions: Regions) {
        self.settle();
        self.overlap.launched();
        self.operations.launched();
        self.masks.launched();
        self.regions = regions;
    }

    /// What was found, in order.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.report.findings()
    }

    /// Everything that the program pushed has been executed: if it is done, looks at what it has left
    /// behind.
    pub fn settle(&mut self) {
        if !std::mem::take(&mut self.done) {
            return;
        }
        for (stamp, hazard, text) in self.leftovers.take().into_iter().chain(self.sections.take()) {
            self.report.add(stamp, hazard, text);
        }
    }

    fn semaphore(&mut self, stamp: Stamp, index: u8, op: SemaphoreOp, value: u8) {
        let name = semaphore_name(index);
        match op {
            SemaphoreOp::Get => {
                let text = format!("a get of semaphore {name} found it at 0 and was lost");
                self.report.add(stamp, h::A4, text);
            }
            SemaphoreOp::Post => {
                let text = format!("a post of semaphore {name} found it at {value} and was lost");
                self.report.add(stamp, h::A5, text);
            }
            SemaphoreOp::Init => {}
        }
    }

    /// The banks of a source operand changed. Two turns of the matrix unit with nothing between leave all as it was:
    /// the vendor's debugging helpers look at the other bank so.
    fn turned(&mut self, stamp: Stamp, operand: u8, before: u8, after: u8) {
        let is_filled = before >> (before >> 3 & 1) & 1 == 1;
        let turned = &mut self.turned[usize::from(operand == 1)];
        let earlier = turned.take();
        if (before ^ after) & 8 == 0 || is_filled {
            return;
        }
        if let Some((agent, pc)) = earlier {
            self.report.withdraw(h::A9, agent, pc);
            return;
        }
        *turned = Some((stamp.agent, stamp.pc));
        let name = if operand == 0 { "SrcA" } else { "SrcB" };
        let text = format!(
            "a clear of {name} turned the matrix unit away from a bank that was not filled"
        );
        self.report.add(stamp, h::A9, text);
    }

    /// What instructions of the coprocessor, and what is set there, shows by itself.
    fn coprocessor(&mut self, stamp: Stamp, event: &Event) {
        self.units.event(event);
        let early = self.latency.event(stamp, event);
        let found = [
            self.sections.event(stamp, event),
            self.unpacked.event(event, early),
            self.banks.event(stamp, event),
            self.overlap.event(stamp, event),
            overwritten(stamp, event),
            self.operations.event(&self.report.names, stamp, event),
            self.constants.event(&self.report.names, stamp, event),
            self.masks.event(&self.report.names, stamp, event),
            self.unset.event(stamp, event, || self.report.kernel(stamp).is_some()),
        ];
        for (stamp, hazard, text) in found.into_iter().flatten() {
            if self.report.kernel(stamp).is_some() {
                self.report.add(stamp, hazard, text);
            }
        }
    }

    fn stored(&mut self, stamp: Stamp, addr: u32, value: u32, bytes: u32) {
        let hit = |range: &&Range<u32>| addr < range.end && addr + bytes > range.start;
        if let Some(range) = self.regions.code.iter().find(hit) {
            let text = format!(
                "store of {value:#x} to {addr:#x}, the code of a kernel ({:#x}..{:#x})",
                range.start, range.end
            );
            self.report.add(stamp, h::C7, text);
            return;
        }
        let coder = coder(&self.report.names, stamp.agent, stamp.pc);
        let circular = &self.regions.circular;
        let stored = self.buffers.stored(circular, (stamp, coder), (addr, bytes));
        let Some(core) = coder else {
            self.add(stored);
            return;
        };
        let kernel = self.report.names.is_kernel(core, stamp.pc);
        let answer = matches!(stamp.agent, AgentId::Noc(_)) && NOC_WORDS.contains(&addr);
        if kernel && addr < self.firmware().end && !answer && !self.kernel_may_write(addr) {
            let place =
                self.report.names.l1(addr).map_or_else(String::new, |p| format!(" ({})", p.name));
            let text = format!("kernel stores {value:#x} to {addr:#x}{place}");
            self.report.add(stamp, h::C8, text);
        }
        if let Some((stamp, hazard, text)) = stored.filter(|_| kernel) {
            self.report.add(stamp, hazard, text);
        }
        if kernel && stamp.agent == AgentId::Thread(ThreadId::T2) {
            self.packed(stamp, addr);
        }
        if kernel {
            let bytes = addr..addr.saturating_add(bytes);
            self.add(self.requests.reused(&self.report, stamp, &bytes, "writes over"));
        }
        for part in words::parts(addr, value, bytes, &self.report.names) {
            let done = part.value == 0
                && (is_go_signal(&part.name) || subordinate(&part.name) == Some(core));
            if done && !kernel {
                if is_go_signal(&part.name) {
                    self.ended();
                    self.done = true;
                }
                if self.live && is_go_signal(&part.name) {
                    self.regions.code.clear();
                }
                self.add(self.requests.ended(stamp, core));
            }
        }
    }

    /// All kernels are done.
    fn ended(&mut self) {
        self.constants.ended();
        self.masks.ended();
        self.unset.ended();
        self.operations.ended();
    }

    /// A kernel takes data from its tile's L1, itself or by its Tensix thread.
    fn taken(&mut self, stamp: Stamp, core: CoreId, bytes: (u32, u32)) {
        let taken = self.buffers.taken(&self.regions.circular, (stamp, core), bytes);
        if let Some((stamp, hazard, text)) = taken {
            self.report.add(stamp, hazard, text);
        }
        if stamp.agent != AgentId::Thread(ThreadId::T0) {
            return;
        }
        let own = At { of: &self.regions.circular, addr: bytes.0 };
        if own.all().next().is_none() && !self.regions.circular.is_empty() {
            let text = format!("unpacks from {:#x}, in no buffer", bytes.0);
            self.report.add(stamp, h::C2, text);
        }
        let Some(formats) = &self.regions.formats else { return };
        if let Some(text) = self.units.unpacked(&formats.unpack, own) {
            self.report.add(stamp, h::C20, text);
        }
    }

    /// Where firmware has its code.
    fn firmware(&self) -> Range<u32> {
        let (table, offset) = (&self.firmware, self.report.names.firmware_offset());
        table.start.saturating_add_signed(offset)..table.end.saturating_add_signed(offset)
    }

    /// Debug structures in the mailbox belong to kernels too, as does what their library keeps in front of firmware.
    fn kernel_may_write(&self, addr: u32) -> bool {
        let offset = if addr < MAILBOX_BASE { 0 } else { self.report.names.firmware_offset() };
        let of_table = addr.saturating_add_signed(-offset);
        if layout::area(of_table).is_some_and(|area| KERNEL_AREAS.contains(&area.name)) {
            return true;
        }
        let Some(place) = self.report.names.l1(addr) else { return false };
        ["watcher.", "dprint", "profiler", "core_info"]
            .iter()
            .any(|own| place.name.starts_with(own))
    }

    /// Says what was found, if anything was.
    fn add(&mut self, found: Option<Violation>) {
        if let Some((stamp, hazard, text)) = found {
            self.report.add(stamp, hazard, text);
        }
    }

    /// A core sends a NoC request.
    fn issued(&mut self, stamp: Stamp, event: &Event) {
        let Event::NocIssue { noc, initiator, control, addr, coordinate, bytes, ticket, packets } =
            *event
        else {
            return;
        };
        let AgentId::Core(core) = stamp.agent else { return };
        let kernel = self.report.names.is_kernel(core, stamp.pc);
        let writes = kernel && !NocControl(control).is_read();
        let own = self.requests.issued(kernel.then_some(core), stamp, (noc, initiator, control));
        if self.regions.own.contains(&coordinate) {
            self.transfer(stamp, addr, bytes);
        } else if writes {
            let firmware = self.firmware();
            let all = (&self.report, &self.regions, &firmware);
            self.add(written_elsewhere(all, stamp, addr, bytes, (control, coordinate)));
        }
        if let Some(own) = own {
            self.transfer(stamp, own.into(), bytes);
            if writes {
                self.taken(stamp, core, (own, bytes));
                let range = own..own.saturating_add(bytes);
                self.requests.takes(noc, (ticket, packets), (core, stamp.pc), range);
            }
        }
        if writes {
            let write = Write { noc, control, coordinate, bytes, core, pc: stamp.pc };
            let all = (&self.report, &self.regions);
            let found = self.requests.sent(all, stamp, addr, (write, (ticket, packets)));
            self.add(found);
        }
    }

    fn transfer(&mut self, stamp: Stamp, addr: u64, bytes: u32) {
        self.add(self.regions.left_by(addr, bytes).map(|text| (stamp, h::C2, text)));
    }

    /// Pack writes where it is told to, behind the end of a buffer too.
    fn packed(&mut self, stamp: Stamp, addr: u32) {
        let circular = &self.regions.circular;
        let own = At { of: circular, addr };
        if own.all().next().is_some() {
            let formats = self.regions.formats.as_ref();
            let said = formats.and_then(|formats| self.units.packed(&formats.pack, own));
            if let Some(text) = said {
                self.report.add(stamp, h::C20, text);
            }
            return;
        }
        let is_ahead = |buffer: &&CircularBuffer| {
            (buffer.end()..buffer.end().saturating_add(buffer.size)).contains(&addr)
        };
        let Some(buffer) = circular.iter().filter(is_ahead).max_by_key(|buffer| buffer.end())
        else {
            return;
        };
        let text = format!(
            "packs to {addr:#x}, in no buffer, behind CB {} ({:#x}..{:#x})",
            buffer.index,
            buffer.address,
            buffer.end()
        );
        self.report.add(stamp, h::C2, text);
    }

    fn credit(&mut self, stamp: Stamp, stream: u8, register: u16, (before, after): (u32, u32)) {
        // Firmware sets the counters back before a launch.
        let Some(core) = self.report.kernel(stamp) else {
            self.buffers.reset(stream);
            self.requests.reset(stream);
            return;
        };
        let Some(buffer) = self.regions.buffer(stream) else { return };
        let step = self.buffers.step(&buffer, (stamp, core), register, (before, after));
        if let Some((stamp, hazard, text)) = step {
            self.report.add(stamp, hazard, text);
        }
        let amount = after.wrapping_sub(before) & CREDIT_MASK;
        if after == 0 || buffer.pages == 0 || amount == 0 {
            return;
        }
        let at = before % buffer.pages;
        if register == ACKED {
            // What the launch says may be anything.
            let of = |pages: u32| pages.saturating_mul(buffer.page_bytes);
            let first = buffer.address.saturating_add(of(at));
            let what = format!("pops {} of CB {stream} at", pages(amount.into()));
            let bytes = first..buffer.end().min(first.saturating_add(of(amount)));
            // What a producer passes on to others it keeps until it fills the page again.
            if self.requests.sends_within(core, &bytes) {
                self.requests.popped(&self.report, stamp, (stream, &bytes), &what);
            }
        } else {
            let popped = self.requests.pushed(stream);
            self.add(popped);
        }
        if at + amount > buffer.pages {
            let text = format!(
                "{amount} pages at page {at} of the {} of CB {stream} wrap in the middle",
                buffer.pages
            );
            self.report.add(stamp, h::C3, text);
        }
    }
}

impl<N: Names> Checks<N> {
    /// The host may fill pages, and raises the go signal: the launch before has had its time.
    fn host_wrote(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        self.buffers.stored(&self.regions.circular, (stamp, None), (addr, bytes));
        let signal = self.report.names.mailbox_address("go_messages[0].signal");
        if signal.is_some_and(|signal| (addr..addr.saturating_add(bytes)).contains(&signal)) {
            self.settle();
            self.overlap.launched();
        }
    }
}

impl<N: Names + 'static> Observer for Checks<N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.leftovers.event(stamp, event);
        self.coprocessor(stamp, event);
        match *event {
            Event::Semaphore { index, op, before, after, .. } if before == after => {
                self.semaphore(stamp, index, op, before);
            }
            Event::MutexIgnored { index } => {
                let name = crate::describe::mutex_name(index);
                let text =
                    format!("a release of mutex {name} came from a thread that does not hold it");
                self.report.add(stamp, h::A10, text);
            }
            Event::SrcBanks { operand, before, after } => {
                self.turned(stamp, operand, before, after);
            }
            Event::L1Store { addr, value, width } => {
                self.stored(stamp, addr, value, width.bytes());
            }
            Event::L1Atomic { addr, after, .. } => self.stored(stamp, addr, after, 4),
            Event::DeviceStore { addr, value, .. } => self.requests.stored(stamp, addr, value),
            Event::HostWrite { addr, bytes, .. } => self.host_wrote(stamp, addr, bytes),
            Event::NocIssue { .. } => self.issued(stamp, event),
            Event::NocSent { .. } | Event::NocDone { .. } => self.requests.passed(event),
            Event::Stream { stream, register: register @ (RECEIVED | ACKED), before, after } => {
                self.credit(stamp, stream, register, (before, after));
            }
            _ => {}
        }
    }

    fn wants_l1_reads(&self) -> bool {
        true
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        let Some(core) = self.report.kernel(stamp) else { return };
        if stamp.agent != AgentId::Thread(ThreadId::T0) {
            self.taken(stamp, core, (addr, bytes));
            return;
        }
        let (rows, early) = self.unpacked.read((stamp, (addr, bytes)));
        self.add(early);
        for (stamp, bytes) in rows.into_iter().flatten() {
            self.taken(stamp, core, bytes);
        }
    }

    fn wants_dst_reads(&self) -> bool {
        true
    }

    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        self.sections.dst_read(stamp, rows, held);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        if self.live {
            return vec![(0, sim_core::l1::L1_BYTES)];
        }
        let code = self.regions.code.iter().map(|range| (range.start, range.end));
        let pages = self.regions.circular.iter().map(|buffer| (buffer.address, buffer.end()));
        std::iter::once((0, self.firmware.end)).chain(code).chain(pages).collect()
    }
}

#[cfg(test)]
mod tests {
    use memory_map::reg::noc_niu::noc_ctrl::BRCST_PACKET as MULTICAST;
    use sim_core::Cycle;

    use super::*;
    use crate::names::BuiltInNames;

    /// Owned by the matrix unit: bit 0 and 1; bank of the unpacker: bit 2; bank of the matrix unit: bit 3.
    fn remarks(changes: &[(u8, u8, u8)]) -> Vec<(u32, u64)> {
        let mut checks = Checks::new(BuiltInNames, Regions::default(), Vec::new());
        for (at, (operand, before, after)) in (0_u32..).zip(changes) {
            let agent = AgentId::Thread(ThreadId::T1);
            let stamp = Stamp { cycle: Cycle(u64::from(at)), agent, pc: at };
            let event = Event::SrcBanks { operand: *operand, before: *before, after: *after };
            checks.event(stamp, &event);
        }
        let found = checks.findings().iter();
        found
            .inspect(|one| assert_eq!(one.hazard.id, "A9"))
            .map(|one| (one.pc, one.count))
            .collect()
    }

    #[test]
    fn a_turn_away_from_an_empty_bank_and_back_is_no_drift() {
        let (away, back) = ((0, 0b0000, 0b1000), (0, 0b1000, 0b0000));
        assert_eq!(remarks(&[away]), [(0, 1)]);
        assert_eq!(remarks(&[away, back]), []);
        assert_eq!(remarks(&[away, back, away]), [(2, 1)]);
        // The other operand is another pair of banks.
        assert_eq!(remarks(&[away, (1, 0b0000, 0b1000)]), [(0, 1), (1, 1)]);
        // The unpacker has filled the bank that the matrix unit was turned away from.
        assert_eq!(remarks(&[away, (0, 0b1000, 0b1101), (0, 0b1101, 0b0101)]), [(0, 1), (2, 1)]);
        // A bank that was filled is given back.
        assert_eq!(remarks(&[(0, 0b0001, 0b1000)]), []);
    }

    /// All code is a kernel's.
    #[derive(Clone, Copy)]
    struct Kernels;

    impl Names for Kernels {
        fn is_kernel(&self, _: CoreId, _: u32) -> bool {
            true
        }
    }

    /// The same of a version whose firmware lies 0x200 bytes lower.
    #[derive(Clone, Copy)]
    struct Lower;

    impl Names for Lower {
        fn is_kernel(&self, _: CoreId, _: u32) -> bool {
            true
        }

        fn firmware_offset(&self) -> i32 {
            -0x200
        }
    }

    /// What is said of a kernel that stores to that address.
    fn stores(names: impl Names + 'static, addr: u32) -> Vec<&'static str> {
        let mut checks = Checks::new(names, Regions::default(), Vec::new());
        let agent = AgentId::Core(CoreId::Brisc);
        let store = Event::L1Store { addr, value: 7, width: sim_core::Width::Word };
        checks.event(Stamp { cycle: Cycle(1), agent, pc: 0xA000 }, &store);
        checks.findings().iter().map(|one| one.hazard.id).collect()
    }

    #[test]
    fn firmware_of_another_version_lies_elsewhere() {
        let (end, debug) =
            (firmware_code().end, layout::area_base("llk_debug").expect("it is there"));
        assert_eq!((stores(Kernels, end - 4), stores(Kernels, end)), (vec!["C8"], vec![]));
        assert_eq!((stores(Lower, end - 0x204), stores(Lower, end - 0x200)), (vec!["C8"], vec![]));
        assert_eq!(stores(Lower, debug - 0x200), [""; 0]);
        assert_eq!(
            stores(Lower, layout::area_base("inline_write_staging").expect("so is it")),
            [""; 0]
        );
    }

    #[test]
    fn library_of_kernels_has_areas_in_front_of_firmware() {
        let found = |addr: u32| stores(Kernels, addr);
        for name in KERNEL_AREAS {
            let base = layout::area_base(name).expect("the layout has it");
            assert_eq!(found(base), [""; 0], "{name}");
            assert_eq!(found(base - 4), ["C8"], "in front of {name}");
        }
        assert_eq!(found(0), ["C8"]);
    }

    #[test]
    fn what_a_kernel_sends_is_looked_at_where_it_goes_over_the_firmware_of_another_tile() {
        const READ: u32 = 1 << 4;
        const WRITE: u32 = 2;
        let (own, other, dram) = (2 << 6 | 1, 2 << 6 | 2, 12 << 6 | 17);
        let found = |control: u32, coordinate: u32, addr: u64, bytes: u32| {
            let regions = Regions { own: vec![own], others: [other].into(), ..Regions::default() };
            let mut checks = Checks::new(Kernels, regions, Vec::new());
            let (noc, initiator, packets, ticket) = (0, 0, 1, 0);
            let issue = Event::NocIssue {
                noc,
                initiator,
                control,
                addr,
                coordinate,
                bytes,
                packets,
                ticket,
            };
            let agent = AgentId::Core(CoreId::Ncrisc);
            checks.event(Stamp { cycle: Cycle(1), agent, pc: 0xA000 }, &issue);
            checks.findings().iter().map(|one| one.text.clone()).collect::<Vec<_>>()
        };
        let over = "kernel writes 64 bytes to 0x5c00 of NoC (2, 2)";
        assert_eq!(found(WRITE, other, 0x5C00, 64), [over]);
        assert_eq!(found(READ, other, 0x5C00, 64), [""; 0]);
        assert_eq!(found(WRITE, dram, 0x5C00, 64), [""; 0]);
        assert_eq!(found(WRITE, other, 0xA000, 64), [""; 0]);
        assert_eq!(
            found(WRITE | MULTICAST.mask(), dram, 0x5C00, 4),
            ["kernel writes 4 bytes to 0x5c00 of several tiles"]
        );
        // Through a pointer that is null, and up to where the firmware begins and ends.
        let (start, end) = (u64::from(firmware_code().start), u64::from(firmware_code().end));
        for (addr, is_over) in [
            (0, true),
            (4, false),
            (start - 4, false),
            (start - 3, true),
            (end - 1, true),
            (end, false),
        ] {
            assert_eq!(!found(1, other, addr, 4).is_empty(), is_over, "{addr:#x}");
        }
    }

    #[test]
    fn configuration_of_another_launch_is_nobodys() {
        let found = |is_launched: bool| {
            let mut checks = Checks::new(Kernels, Regions::default(), Vec::new());
            let stamp = |agent| Stamp { cycle: Cycle(1), agent, pc: 0xE000 };
            let config = |before, after| Event::Config { state: 0, index: 2, before, after };
            let math = stamp(AgentId::Thread(ThreadId::T1));
            let (thread, word, slot) = (ThreadId::T1, 0xB300_0000, Default::default());
            checks.event(math, &Event::Issue { thread, word, slot });
            checks.event(math, &config(0, 3));
            if is_launched {
                let addr = memory_map::mailbox::address("go_messages[0].signal");
                let addr = addr.expect("the table has it");
                checks
                    .event(stamp(AgentId::Host), &Event::HostWrite { addr, value: 0x80, bytes: 1 });
            }
            checks.event(stamp(AgentId::Core(CoreId::Trisc2)), &config(3, 4));
            checks.findings().iter().map(|one| one.hazard.id).collect::<Vec<_>>()
        };
        assert_eq!(found(false), ["B1"]);
        assert_eq!(found(true), [""; 0]);
    }
}
