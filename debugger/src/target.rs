//! What gdb asks of the machine: registers, memory, breakpoints.

use gdbstub::common::{Signal, Tid};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadRangeStepping, MultiThreadRangeSteppingOps, MultiThreadResume,
    MultiThreadResumeOps, MultiThreadSchedulerLocking, MultiThreadSchedulerLockingOps,
    MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{
    ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::single_register_access::{
    SingleRegisterAccess, SingleRegisterAccessOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps,
    SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::riscv::reg::id::RiscvRegId;
use memory_map::layout::LOCAL_RAM_BASE;
use sim_core::CoreId;

use crate::frame::{Frame, TileArch};
use crate::moment::Turn;
use crate::monitor::Monitor;
use crate::party::{Party, Seat};
use crate::travel::Watch;

/// Number of the first control and status register in gdb's numbering.
const FIRST_CSR: usize = 65;
/// Bytes that a target description may ask for from local RAM on.
const LOCAL_BYTES: u32 = memory_map::layout::LOCAL_RAM_MAX_BYTES;

/// What the client wants to happen next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resume {
    Continue,
    Step(Seat),
    Range(Seat, u32, u32),
    Back,
    StepBack(Seat),
}

/// The machine with a debugger before it.
#[derive(Debug)]
pub(crate) struct Debugged {
    pub(crate) party: Party,
    pub(crate) monitor: Monitor,
    pub(crate) resume: Resume,
    /// Whom the client asked about last.
    pub(crate) asked: Seat,
    /// Whose turn it is if the client names nobody: who stopped last.
    pub(crate) first: Seat,
    /// Whose memory is meant by watchpoints that have been set.
    watched_of: Vec<(u32, Seat)>,
    xml: String,
}

/// Threads are numbered from 1: tile by tile, in a tile in the order of effects, cores before Tensix threads.
pub(crate) fn tid(seat: Seat) -> Tid {
    Tid::MIN.saturating_add(seat.tile * Turn::COUNT + seat.turn.index())
}

/// Whose thread that is. Clients may name threads that there are not: then it is one that there is.
pub(crate) fn seat(tid: Tid, party: &Party) -> Seat {
    let number = tid.get() - 1;
    let turn = Turn::from_index(number % Turn::COUNT).unwrap_or(Turn::FIRST);
    Seat { tile: (number / Turn::COUNT).min(party.tiles() - 1), turn }
}

/// A description of a core for gdb: integer registers and those CSRs that can be read.
fn description(party: &Party) -> String {
    let mut xml = String::from(concat!(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">",
        "<architecture>riscv:rv32</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
    ));
    let register = |name: &str, number: usize, kind: &str| {
        format!("<reg name=\"{name}\" bitsize=\"32\" regnum=\"{number}\" type=\"{kind}\"/>")
    };
    for (number, name) in ABI_NAMES.iter().enumerate() {
        let kind = match *name {
            "ra" => "code_ptr",
            "sp" | "gp" | "tp" => "data_ptr",
            _ => "int",
        };
        xml += &register(name, number, kind);
    }
    xml += &register("pc", 32, "code_ptr");
    xml += "</feature><feature name=\"org.gnu.gdb.riscv.csr\">";
    for csr in isa::csr::CSRS {
        let is_there = CoreId::ALL
            .iter()
            .any(|&id| party.here().machine().core(id).csr(csr.address).is_some());
        if is_there {
            xml += &register(csr.name, FIRST_CSR + usize::from(csr.address), "int");
        }
    }
    xml += "</feature></target>";
    xml
}

/// Names of the integer registers by number `[riscv: calling convention]`.
const ABI_NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

impl Debugged {
    pub(crate) fn new(party: Party, monitor: Monitor) -> Self {
        Self {
            xml: description(&party),
            asked: party.focus(),
            first: party.focus(),
            party,
            monitor,
            resume: Resume::Continue,
            watched_of: Vec::new(),
        }
    }

    fn seat(&self, tid: Tid) -> Seat {
        seat(tid, &self.party)
    }

    /// What a watchpoint is set on, and in which tile: that of the thread that the client looks at.
    fn watch(&mut self, addr: u32, bytes: u32, kind: WatchKind) -> (usize, Watch) {
        let is_local = addr.wrapping_sub(LOCAL_RAM_BASE) < LOCAL_BYTES;
        let known = self.watched_of.iter().find(|(at, _)| *at == addr).map(|(_, seat)| *seat);
        let of = known.unwrap_or(self.asked);
        if known.is_none() {
            self.watched_of.push((addr, of));
        }
        let reads = matches!(kind, WatchKind::Read | WatchKind::ReadWrite);
        let writes = matches!(kind, WatchKind::Write | WatchKind::ReadWrite);
        let watch = Watch { addr, bytes, reads, writes, of: is_local.then_some(of.turn.core()) };
        (of.tile, watch)
    }
}

impl Target for Debugged {
    type Arch = TileArch;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::MultiThread(self)
    }
    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }
    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }
    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Debugged {
    fn read_registers(&mut self, frame: &mut Frame, tid: Tid) -> TargetResult<(), Self> {
        self.asked = self.seat(tid);
        let Seat { tile, turn } = self.asked;
        let traveller = self.party.tile(tile);
        if let Turn::Core(core) = turn {
            let core = traveller.machine().core(core);
            frame.x = Some(std::array::from_fn(|number| core.register(number as u8)));
        }
        frame.pc = traveller.pc(turn);
        Ok(())
    }

    /// A recorded session cannot be changed.
    fn write_registers(&mut self, _: &Frame, _: Tid) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, addr: u32, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        self.asked = self.seat(tid);
        let Seat { tile, turn } = self.asked;
        match self.party.tile(tile).machine().tile().core_memory(turn.core(), addr, data) {
            0 if !data.is_empty() => Err(TargetError::NonFatal),
            count => Ok(count),
        }
    }

    fn write_addrs(&mut self, _: u32, _: &[u8], _: Tid) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn list_active_threads(&mut self, register: &mut dyn FnMut(Tid)) -> Result<(), Self::Error> {
        // The first is who is meant by "any thread": a step backwards names no other.
        let others = self.party.seats().filter(|&seat| seat != self.first);
        std::iter::once(self.first).chain(others).map(tid).for_each(register);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for Debugged {
    fn read_register(
        &mut self,
        tid: Tid,
        register: RiscvRegId<u32>,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let Seat { tile, turn } = self.seat(tid);
        let traveller = self.party.tile(tile);
        let core = traveller.machine().core(turn.core());
        let value = match register {
            RiscvRegId::Pc => Some(traveller.pc(turn)),
            _ if turn.is_gate() => None,
            RiscvRegId::Gpr(number) => Some(core.register(number)),
            RiscvRegId::Fpr(number) => Some(core.float_register(number)),
            RiscvRegId::Csr(number) => core.csr(number),
            _ => None,
        };
        let bytes = value.ok_or(TargetError::NonFatal)?.to_le_bytes();
        buf.get_mut(..4).ok_or(TargetError::NonFatal)?.copy_from_slice(&bytes);
        Ok(4)
    }

    fn write_register(&mut self, _: Tid, _: RiscvRegId<u32>, _: &[u8]) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }
}

impl MultiThreadResume for Debugged {
    fn resume(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    fn clear_resume_actions(&mut self) -> Result<(), Self::Error> {
        self.resume = Resume::Continue;
        Ok(())
    }
    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), Self::Error> {
        Ok(())
    }
    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
    fn support_range_step(&mut self) -> Option<MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }
    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }
    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }
}

/// The client may ask for others to stand still. In a recorded session nobody can: they move as they
/// moved, and whoever steps comes to where it came.
impl MultiThreadSchedulerLocking for Debugged {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl MultiThreadSingleStep for Debugged {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Self::Error> {
        self.resume = Resume::Step(self.seat(tid));
        Ok(())
    }
}

impl MultiThreadRangeStepping for Debugged {
    fn set_resume_action_range_step(
        &mut self,
        tid: Tid,
        start: u32,
        end: u32,
    ) -> Result<(), Self::Error> {
        self.resume = Resume::Range(self.seat(tid), start, end);
        Ok(())
    }
}

impl ReverseCont<Tid> for Debugged {
    fn reverse_cont(&mut self) -> Result<(), Self::Error> {
        self.resume = Resume::Back;
        Ok(())
    }
}

impl ReverseStep<Tid> for Debugged {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), Self::Error> {
        self.resume = Resume::StepBack(self.seat(tid));
        Ok(())
    }
}

impl Breakpoints for Debugged {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }
    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }
    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debugged {
    fn add_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        self.party.add_breakpoint(addr);
        Ok(true)
    }
    fn remove_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.party.remove_breakpoint(addr))
    }
}

impl HwBreakpoint for Debugged {
    fn add_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(addr, kind)
    }
    fn remove_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(addr, kind)
    }
}

impl HwWatchpoint for Debugged {
    fn add_hw_watchpoint(
        &mut self,
        addr: u32,
        len: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let (tile, watch) = self.watch(addr, len, kind);
        self.party.add_watch(tile, watch);
        Ok(true)
    }
    fn remove_hw_watchpoint(
        &mut self,
        addr: u32,
        len: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let (tile, watch) = self.watch(addr, len, kind);
        Ok(self.party.remove_watch(tile, watch))
    }
}

impl ThreadExtraInfo for Debugged {
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, Self::Error> {
        let text = self.monitor.thread_name(&self.party, self.seat(tid));
        let count = text.len().min(buf.len());
        buf[..count].copy_from_slice(&text.as_bytes()[..count]);
        Ok(count)
    }
}

impl MonitorCmd for Debugged {
    fn handle_monitor_cmd(
        &mut self,
        command: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Self::Error> {
        let text = String::from_utf8_lossy(command);
        let answer = self.monitor.answer(&mut self.party, self.asked, text.trim());
        out.write_raw(answer.as_bytes());
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Debugged {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let rest = usize::try_from(offset).ok().and_then(|at| self.xml.as_bytes().get(at..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(length).min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}
