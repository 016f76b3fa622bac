//! What kernels load too early, from an old copy, or have not loaded though they go by it.
//!
//! There are no events for loads: addresses are worked out from the log of executed instructions
//! ([`super::accesses`]).

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use isa::word::{FENCE, LOAD, funct3, opcode};
use memory_map::NocControl;
use sim_core::l1::L1_BYTES;
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Cycle, Event, Observer, Retire, Stamp};

use super::accesses::{Registers, likely_address, load_address};
use super::blank::Blank;
use super::buffer::CircularBuffer;
use super::configuration::Configuration;
use super::finding::Finding;
use super::hazards as h;
use super::niu::Niu;
use super::pages::Pages;
use super::report::{Report, coder};
use super::stale::{OldCopy, Stale};
use super::touched::Touched;
use super::under_way::UnderWay;
use super::waited::Waited;
use crate::names::{Names, is_go_signal};
use crate::resource::{ACKED, RECEIVED};
use crate::words;

/// What a kernel's NoC read writes to.
#[derive(Clone, Debug)]
struct Arriving {
    range: Range<u32>,
    core: CoreId,
    pc: u32,
}

/// Listens for such loads.
#[derive(Clone, Debug)]
pub struct Loads<N> {
    report: Report<N>,
    cores: [Registers; CoreId::COUNT],
    stale: Stale,
    waited: Waited,
    pages: Pages,
    /// This tile, as NoC commands name it.
    own: Vec<u32>,
    /// The same of the other tiles, if they are known.
    others: Arc<[u32]>,
    niu: Niu,
    reads: UnderWay<Arriving>,
    configuration: Configuration,
    /// Words in which anybody has written since the tile began.
    written: Touched,
    blank: Blank,
    /// Fences that were executed.
    fences: [BTreeSet<u32>; CoreId::COUNT],
}

/// Judges the steps of counters before `cycle`, up to where the log of a core is.
fn judge<N: Names>(waited: &mut Waited, report: &mut Report<N>, core: CoreId, cycle: Cycle) {
    while let Some(step) = waited.due(core, cycle) {
        if let Some((stamp, hazard, text)) = waited.judge(core, &step) {
            report.add(stamp, hazard, text);
        }
    }
}

/// Judges all that is left.
fn settle<N: Names>(waited: &mut Waited, report: &mut Report<N>) {
    CoreId::ALL.into_iter().for_each(|core| judge(waited, report, core, Cycle(u64::MAX)));
}

/// Among loads that of a word `[riscv: 2.6]`.
const LW: u32 = 2;

/// How far behind a load the fence is of a loop that looks again: `while (*flag == 0) invalidate_l1_cache();`.
const BODY_BYTES: u32 = 64;

impl<N: Names + Clone> Loads<N> {
    /// Looks with names; ids in `suppressed` are not reported. `own` are the coordinates of this tile as NoC commands
    /// name it, `y << 6 | x`.
    pub fn new(names: N, own: Vec<u32>, suppressed: Vec<String>) -> Self {
        Self {
            report: Report::new(names, suppressed),
            cores: std::array::from_fn(|_| Registers::reset()),
            stale: Stale::default(),
            waited: Waited::default(),
            pages: Pages::default(),
            own,
            others: Arc::new([]),
            niu: Niu::default(),
            reads: UnderWay::default(),
            configuration: Configuration::default(),
            written: Touched::new(4),
            blank: Blank::default(),
            fences: std::array::from_fn(|_| BTreeSet::new()),
        }
    }

    /// Knows the other tiles, as NoC commands name them.
    #[must_use]
    pub fn among(mut self, others: Arc<[u32]>) -> Self {
        self.others = others;
        self
    }

    /// A launch has begun, in which there are these buffers, and its configuration.
    pub fn launched(&mut self, circular: &[CircularBuffer], configuration: Configuration) {
        settle(&mut self.waited, &mut self.report);
        self.waited.launched(circular);
        self.pages.launched(circular);
        self.configuration = configuration;
    }

    /// What was found, in order. Not an old copy that a loop looks at first and then empties the cache: it looks once more
    /// than here.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let looks_again = |finding: &Finding| {
            let AgentId::Core(core) = finding.agent else { return false };
            let body = finding.pc..finding.pc.saturating_add(BODY_BYTES);
            self.fences[core.index()].range(body).next().is_some()
        };
        let (mut waited, mut report) = (self.waited.clone(), self.report.clone());
        settle(&mut waited, &mut report);
        let found = report.findings().iter();
        found.filter(|one| one.hazard != h::A16 || !looks_again(one)).cloned().collect()
    }

    /// Who reads pages of buffers, and whether anybody has, once the kernels are done.
    fn follow(&mut self, stamp: Stamp, event: &Event) {
        match *event {
            Event::L1Store { addr, value, width } => {
                let kernel = self.report.kernel(stamp);
                self.pages.wrote(kernel, (addr, width.bytes()));
                let by_firmware = matches!(stamp.agent, AgentId::Core(_))
                    && value & width.mask() == 0
                    && kernel.is_none();
                if by_firmware && self.is_end(addr, width.bytes()) {
                    let blank = self.blank.ended(&self.written);
                    for (stamp, hazard, text) in
                        self.pages.ended(&self.written).into_iter().chain(blank)
                    {
                        self.report.add(stamp, hazard, text);
                    }
                }
            }
            Event::L1Atomic { addr, .. } => {
                self.pages.wrote(self.report.kernel(stamp), (addr, 4));
                self.pages.read(stamp, (addr, 4));
            }
            Event::NocIssue { noc, initiator, control, addr, coordinate, bytes, .. } => {
                if !NocControl(control).is_read() {
                    let side = self.niu.own_side(noc, initiator, control);
                    self.pages.sent(stamp, side.map(|side| (side, bytes)));
                    if let Some(side) = side {
                        self.sent(stamp, (side, bytes), coordinate);
                    }
                } else {
                    self.pages.asked(stamp);
                    if self.own.contains(&coordinate)
                        && let Ok(addr) = u32::try_from(addr)
                    {
                        self.pages.read(stamp, (addr, bytes));
                    }
                }
            }
            Event::NocServe { control, addr, bytes, .. } if NocControl(control).is_read() => {
                if let Ok(addr) = u32::try_from(addr) {
                    self.pages.read(stamp, (addr, bytes));
                }
            }
            Event::Stream { stream, register: register @ (RECEIVED | ACKED), before, after }
                if self.report.kernel(stamp).is_some() =>
            {
                self.pages.step(stamp, (stream, register), (before, after));
            }
            _ => {}
        }
    }

    /// Whether a store of zeroes ends the program.
    fn is_end(&self, addr: u32, bytes: u32) -> bool {
        let parts = words::parts(addr, 0, bytes, &self.report.names);
        parts.iter().any(|part| is_go_signal(&part.name))
    }

    /// A kernel loaded what its own NoC read has yet to write.
    fn early(&mut self, stamp: Stamp, core: CoreId, addr: u32) {
        let is_this = |read: &Arriving| read.core == core && read.range.contains(&addr);
        let Some(read) = self.reads.find(is_this) else { return };
        if !self.report.is_kernel(core, stamp.pc) {
            return;
        }
        let site = self.report.names.site(core, read.pc);
        let place = site.map_or_else(|| format!("pc {:#x}", read.pc), |site| site.to_string());
        let text = format!(
            "{core} reads L1 word {:#x}, which a NoC read of {} bytes has yet to write: {place}",
            addr & !3,
            read.range.len(),
        );
        self.report.add(stamp, h::B10, text);
    }

    /// A kernel has sent so many bytes from an address. Tiles may send each other anything, to measure or to wait; what goes
    /// to memory is a result.
    fn sent(&mut self, stamp: Stamp, (addr, bytes): (u32, u32), coordinate: u32) {
        let is_tile = self.own.contains(&coordinate) || self.others.contains(&coordinate);
        let is_result = !is_tile && !self.others.is_empty();
        if is_result
            && self.configuration.begins_before(addr)
            && self.report.kernel(stamp).is_some()
        {
            self.blank.sent(stamp, (addr, bytes), &self.written);
        }
    }

    /// A kernel loaded a word that none of its own reads is about to write.
    fn blank(&mut self, stamp: Stamp, core: CoreId, addr: u32) {
        let word = addr & !3;
        let is_known = self.written.any(word, 4) || !self.configuration.begins_before(addr);
        let comes = |read: &Arriving| read.core == core && read.range.contains(&addr);
        if is_known || !self.report.is_kernel(core, stamp.pc) || self.reads.find(comes).is_some() {
            return;
        }
        self.blank.read(stamp, word, self.pages.place_of(word), &self.written);
    }

    /// A kernel loaded what it takes for an argument, which is a word.
    fn argument(&mut self, stamp: Stamp, core: CoreId, (word, addr): (u32, u32)) {
        let is_argument = funct3(word) == LW && self.configuration.concerns(addr);
        if !is_argument || !self.report.is_kernel(core, stamp.pc) {
            return;
        }
        let found = self.configuration.loaded(core, addr, |word| self.written.any(word, 4));
        if let Some((hazard, text)) = found {
            self.report.add(stamp, hazard, text);
        }
    }

    /// A kernel loaded what is another value in its core's data cache.
    fn old(&mut self, stamp: Stamp, old: OldCopy) {
        let OldCopy { addr, since, writer } = old;
        let site = coder(&self.report.names, writer.agent, writer.pc)
            .and_then(|writing| self.report.names.site(writing, writer.pc));
        let site = site.map_or_else(String::new, |site| format!(" in {site}"));
        let text = format!(
            "reads L1 word {:#x}, which its data cache holds as it was at cycle {}: {} has written it since{site}, and \
             nothing has emptied the cache",
            addr & !3,
            since.0,
            writer.agent,
        );
        self.report.add(stamp, h::A16, text);
    }
}

impl<N: Names + Clone + 'static> Observer for Loads<N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.stale.event(stamp, event);
        self.waited.event(stamp, event);
        self.follow(stamp, event);
        match *event {
            Event::Reset { core, asserted: false, .. } => {
                self.cores[core.index()] = Registers::reset();
            }
            Event::DeviceStore { addr, value, .. } => self.niu.stored(stamp, addr, value),
            Event::L1Store { addr, width, .. } => self.written.set(addr, width.bytes(), true),
            Event::L1Atomic { addr, .. } => self.written.set(addr, 4, true),
            Event::HostWrite { addr, bytes, .. } => self.written.set(addr, bytes, true),
            Event::NocIssue { noc, initiator, control, bytes, ticket, packets, .. }
                if NocControl(control).is_read() =>
            {
                let AgentId::Core(core) = stamp.agent else { return };
                let Some(own) = self.niu.own_side(noc, initiator, control) else { return };
                if self.report.is_kernel(core, stamp.pc) {
                    let range = own..own.saturating_add(bytes);
                    let read = Arriving { range, core, pc: stamp.pc };
                    self.reads.begin(noc, (ticket, packets), read);
                }
            }
            Event::NocDone { noc, ticket, .. } => self.reads.passed(noc, ticket),
            Event::Stream { stream, register: register @ (RECEIVED | ACKED), before, after } => {
                let kernel = self.report.kernel(stamp);
                self.waited.step((stamp, kernel), (stream, register), (before, after));
            }
            _ => {}
        }
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        judge(&mut self.waited, &mut self.report, core, retire.cycle);
        let registers = &self.cores[core.index()];
        let addr = load_address(retire.word, registers);
        let stamp = Stamp { cycle: retire.cycle, agent: AgentId::Core(core), pc: retire.pc };
        if opcode(retire.word) == LOAD {
            self.waited.loaded(core, retire, addr);
            let likely = likely_address(retire.word, registers);
            match addr {
                _ if likely >= L1_BYTES => {
                    if self.report.is_kernel(core, retire.pc) {
                        self.pages.looked(core, likely, (retire.cycle, retire.pc));
                    }
                }
                Some(addr) => self.pages.read(stamp, (addr, 4)),
                None => self.pages.read_near(stamp, likely),
            }
        }
        let addr = addr.filter(|addr| *addr < L1_BYTES);
        let old = self.stale.retire(core, retire, registers);
        if opcode(retire.word) == FENCE {
            self.fences[core.index()].insert(retire.pc);
        }
        self.cores[core.index()].retire(retire);
        if let Some(old) = old.filter(|_| self.report.is_kernel(core, retire.pc)) {
            self.old(stamp, old);
        }
        if let Some(addr) = addr {
            self.argument(stamp, core, (retire.word, addr));
            self.early(stamp, core, addr);
            self.blank(stamp, core, addr);
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        let registers = &mut self.cores[core.index()];
        self.stale.parked(core, &span, registers);
        self.waited.parked(core, &span);
        registers.forget_round(&span);
    }

    fn wants_l1_reads(&self) -> bool {
        true
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        self.pages.read(stamp, (addr, bytes));
        let AgentId::Thread(thread) = stamp.agent else { return };
        if self.report.is_kernel(thread.core(), stamp.pc) {
            self.waited.taken((stamp, thread.core()), (addr, bytes));
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(0, L1_BYTES)]
    }
}

#[cfg(test)]
mod tests {
    use isa::asm::lw;
    use sim_core::Width;

    use super::*;
    use crate::why::Part;

    const CORE: CoreId = CoreId::Ncrisc;
    const BASE: u32 = 0x2_0000;

    /// All code is a kernel's.
    #[derive(Clone, Copy)]
    struct Kernels;

    impl Names for Kernels {
        fn is_kernel(&self, _: CoreId, _: u32) -> bool {
            true
        }
    }

    fn stamp(cycle: u64, agent: AgentId) -> Stamp {
        Stamp { cycle: Cycle(cycle), agent, pc: 0xC000 }
    }

    /// A core with [`BASE`] in `x5`, where somebody has written.
    fn loads() -> Loads<Kernels> {
        let mut loads = unwritten();
        loads.written.set(BASE, 0x1000, true);
        loads
    }

    fn unwritten() -> Loads<Kernels> {
        let mut loads = Loads::new(Kernels, Vec::new(), Vec::new());
        let set = Retire { cycle: Cycle(0), pc: 0xC000, word: 0, rd: 5, value: BASE };
        loads.retire(CORE, &set);
        loads
    }

    fn load(loads: &mut Loads<Kernels>, cycle: u64, offset: i32, value: u32) {
        let retire =
            Retire { cycle: Cycle(cycle), pc: 0xC010, word: lw(6, 5, offset), rd: 6, value };
        loads.retire(CORE, &retire);
    }

    fn found(loads: &Loads<Kernels>) -> Vec<(&'static str, String)> {
        loads.findings().iter().map(|one| (one.hazard.id, one.text.clone())).collect()
    }

    #[test]
    fn load_of_what_an_own_read_has_yet_to_write_is_early() {
        let mut loads = loads();
        // Where the data come to: NOC_RET_ADDR_LO of initiator 0 [isa-bh: NoC/MemoryMap.md].
        let (addr, width) = (0xFFB2_000C, Width::Word);
        let core = AgentId::Core(CORE);
        loads.event(stamp(1, core), &Event::DeviceStore { addr, value: BASE, width });
        let (noc, initiator, ticket, packets) = (0, 0, 7, 1);
        let issue = Event::NocIssue {
            noc,
            initiator,
            control: 1 << 4,
            addr: 0x100,
            coordinate: 0x81,
            bytes: 64,
            packets,
            ticket,
        };
        loads.event(stamp(2, core), &issue);
        load(&mut loads, 3, 64, 0);
        assert_eq!(found(&loads), [], "behind what comes");
        load(&mut loads, 4, 60, 0);
        let text = "NCRISC reads L1 word 0x2003c, which a NoC read of 64 bytes has yet to write: pc 0xc000";
        assert_eq!(found(&loads), [("B10", text.to_owned())]);
        loads.event(stamp(5, AgentId::Noc(0)), &Event::NocDone { noc, initiator, ticket });
        load(&mut loads, 6, 0, 0);
        assert_eq!(loads.findings()[0].count, 1);
    }

    /// What lies behind firmware is a kernel's.
    #[derive(Clone, Copy)]
    struct Ends;

    impl Names for Ends {
        fn is_kernel(&self, _: CoreId, pc: u32) -> bool {
            pc >= 0xC000
        }
    }

    #[test]
    fn what_a_kernel_takes_from_where_nobody_has_written_is_named_at_its_end() {
        let (core, addr) = (AgentId::Core(CORE), BASE + 0x400);
        let said = |code: u32, act: &dyn Fn(&mut Loads<Ends>), event: Option<Event>| {
            let mut loads = Loads::new(Ends, vec![0x81], Vec::new()).among(Arc::new([0x82]));
            let set = Retire { cycle: Cycle(0), pc: 0xC000, word: 0, rd: 5, value: BASE };
            loads.retire(CORE, &set);
            let configuration = Configuration::new(vec![(code, Part::Code)], Vec::new());
            loads.launched(&[], configuration);
            act(&mut loads);
            if let Some(event) = event {
                loads.event(stamp(3, AgentId::Noc(0)), &event);
            }
            assert!(loads.findings().is_empty(), "somebody may write yet");
            let signal = memory_map::mailbox::address("go_messages[0].signal");
            let addr = signal.expect("it has an address");
            let end = Event::L1Store { addr, value: 0, width: Width::Byte };
            let firmware = Stamp { cycle: Cycle(4), agent: AgentId::Core(CoreId::Brisc), pc: 0x10 };
            loads.event(firmware, &end);
            let found = loads.findings();
            found.iter().map(|one| (one.hazard.id, one.text.clone())).collect::<Vec<_>>()
        };
        let reads = |loads: &mut Loads<Ends>| {
            let word = lw(6, 5, 0x400);
            loads.retire(CORE, &Retire { cycle: Cycle(2), pc: 0xC010, word, rd: 6, value: 0 });
        };
        let text = "reads L1 word 0x20400, which nobody has ever written";
        assert_eq!(said(0xA000, &reads, None), [("C5", text.to_owned())]);
        assert_eq!(said(addr + 4, &reads, None), [], "firmware's");
        let store = Event::L1Store { addr, value: 0, width: Width::Word };
        assert_eq!(said(0xA000, &reads, Some(store)), []);
        let sends = |coordinate: u32| {
            move |loads: &mut Loads<Ends>| {
                // Where the data come from: NOC_TARG_ADDR_LO of initiator 0 [isa-bh: NoC/MemoryMap.md].
                let from =
                    Event::DeviceStore { addr: 0xFFB2_0000, value: addr, width: Width::Word };
                loads.event(stamp(1, core), &from);
                let (noc, initiator, ticket, packets) = (0, 0, 7, 1);
                let (control, to, bytes) = (1 << 1, 0x100, 64);
                let issue = Event::NocIssue {
                    noc,
                    initiator,
                    control,
                    addr: to,
                    coordinate,
                    bytes,
                    packets,
                    ticket,
                };
                loads.event(stamp(2, core), &issue);
            }
        };
        let text = "sends 64 bytes from 0x20400, into which nobody has ever written";
        assert_eq!(said(0xA000, &sends(0x391), None), [("C5", text.to_owned())]);
        assert_eq!(said(0xA000, &sends(0x391), Some(store)), []);
        for tile in [0x81, 0x82] {
            assert_eq!(said(0xA000, &sends(tile), None), [], "a tile");
        }
    }

    #[test]
    fn argument_is_one_of_the_launch_in_force_and_given_once_somebody_writes_it() {
        let parts = [(BASE, Part::Arguments(CORE)), (BASE + 64, Part::Code)];
        let given = || Configuration::new(parts.to_vec(), Vec::new());
        let said = |configuration: Configuration, written: Option<Event>| {
            let mut loads = unwritten();
            loads.launched(&[], configuration);
            if let Some(event) = written {
                loads.event(stamp(1, AgentId::Host), &event);
            }
            load(&mut loads, 2, 8, 0);
            found(&loads)
        };
        let text = "reads argument 2, which nobody has ever written";
        assert_eq!(said(given(), None), [("C9", text.to_owned())]);
        assert_eq!(said(Configuration::default(), None), []);
        let host = |bytes| Event::HostWrite { addr: BASE, value: 0, bytes };
        assert_eq!(said(given(), Some(host(12))), []);
        assert_eq!(said(given(), Some(host(8))).len(), 1);
        let store = Event::L1Store { addr: BASE + 8, value: 0, width: Width::Word };
        assert_eq!(said(given(), Some(store)), [], "by a dispatcher");
        // A byte of its data, where firmware takes the arguments of a core to be that has none.
        let none = || Configuration::new(Vec::new(), vec![(BASE + 3, Part::Arguments(CORE))]);
        let read = |word: u32| {
            let mut loads = unwritten();
            loads.launched(&[], none());
            loads.retire(CORE, &Retire { cycle: Cycle(2), pc: 0xC010, word, rd: 6, value: 0 });
            found(&loads).len()
        };
        let (word, byte) = (lw(6, 5, 3), lw(6, 5, 3) & !(7 << 12));
        assert_eq!([word, byte].map(read), [1, 0]);
    }

    #[test]
    fn loop_that_empties_the_cache_and_looks_again_is_no_mistake() {
        let old = |fence: Option<u32>| {
            let mut loads = loads();
            load(&mut loads, 1, 0, 0);
            let other = stamp(2, AgentId::Core(CoreId::Brisc));
            loads.event(other, &Event::L1Store { addr: BASE, value: 1, width: Width::Word });
            load(&mut loads, 3, 0, 1);
            if let Some(pc) = fence {
                let word = 0x0FF0_000F;
                loads.retire(CORE, &Retire { cycle: Cycle(4), pc, word, rd: 0, value: 0 });
            }
            found(&loads).len()
        };
        assert_eq!(old(None), 1);
        assert_eq!(old(Some(0xC018)), 0);
        assert_eq!(old(Some(0xC00C)), 1, "in front of the load");
        assert_eq!(old(Some(0xC080)), 1, "of another loop");
    }
}
