//! What the analysis looks at: the waits, the books, the memory, the names.

use memory_map::layout::LOCAL_RAM_BASE;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, CoreId, Observer, Width};
use tile::{AgentWait, Tile, Unanswered};

use super::buffer::CircularBuffer;
use super::finding::Finding;
use super::loops::Loops;
use super::polled::Polled;
use super::variable::Variable;
use super::wrong::WrongResult;
use crate::ledger::Ledger;
use crate::names::{CodeName, Excerpt, Held, Names};
use crate::resource::Resource;

/// The parts of a machine that the analysis reads.
pub trait Machine {
    /// A value in L1.
    fn l1(&self, addr: u32, width: Width) -> u32;
    /// A register of a core.
    fn register(&self, core: CoreId, index: u8) -> u32;
    /// A value in the local memory of a core, by offset; `None` outside, or if that is not known.
    fn local(&self, core: CoreId, offset: u32, width: Width) -> Option<u32> {
        let _ = (core, offset, width);
        None
    }
    /// The oldest request over a NoC that another tile has not answered.
    fn unanswered(&self, noc: u8) -> Option<Unanswered> {
        let _ = noc;
        None
    }
}

impl<O: Observer> Machine for Tile<O> {
    fn l1(&self, addr: u32, width: Width) -> u32 {
        self.l1_value(addr, width)
    }

    fn register(&self, core: CoreId, index: u8) -> u32 {
        self.core(core).register(index)
    }

    fn local(&self, core: CoreId, offset: u32, width: Width) -> Option<u32> {
        self.core(core).read_local(offset, width)
    }

    fn unanswered(&self, noc: u8) -> Option<Unanswered> {
        Tile::unanswered(self, noc)
    }
}

/// How a run ended, as far as the analysis cares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub enum End {
    /// It did what it should.
    #[serde(rename = "DONE")]
    Done,
    /// It ended, but memory does not hold what was expected.
    #[serde(rename = "WRONG-RESULT")]
    WrongResult,
    /// Nothing can ever move again: proved.
    #[serde(rename = "DEADLOCK")]
    Deadlock,
    /// Only the host can continue it.
    #[serde(rename = "HOST-WAIT")]
    HostWait,
    /// A limit was reached first; nothing is proved.
    #[serde(rename = "NO-PROGRESS")]
    NoProgress,
    /// A guest mistake stopped it.
    #[serde(rename = "GUEST-ERROR")]
    GuestError,
    /// A core halted at `ebreak`.
    #[serde(rename = "HALTED")]
    Halted,
}

impl End {
    /// The word that reports print.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::WrongResult => "WRONG-RESULT",
            Self::Deadlock => "DEADLOCK",
            Self::HostWait => "HOST-WAIT",
            Self::NoProgress => "NO-PROGRESS",
            Self::GuestError => "GUEST-ERROR",
            Self::Halted => "HALTED",
        }
    }
}

/// Arguments and locals that are told, at most.
const VALUES: usize = 8;
/// Calls that are told, at most.
const CALLS: usize = 8;

/// Everything the analysis looks at.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// How the run ended.
    pub end: End,
    /// What is wrong with the result of a run that came to its end.
    pub wrong: Option<&'a WrongResult>,
    /// When that was found.
    pub found: u64,
    /// When it became unavoidable, if that is known.
    pub closed: Option<u64>,
    /// Who waits for what.
    pub waits: &'a [AgentWait],
    /// The books.
    pub ledger: &'a Ledger,
    /// Contract violations that were seen on the way.
    pub findings: &'a [Finding],
    /// The machine.
    pub machine: &'a dyn Machine,
    /// What the cores did last.
    pub loops: &'a Loops,
    /// Who read and wrote the polled words.
    pub polled: &'a Polled,
    /// Names.
    pub names: &'a dyn Names,
    /// Circular buffers of the launch.
    pub circular: &'a [CircularBuffer],
    /// When each launch began and what it is called, if anybody knows.
    pub launches: &'a [(u64, String)],
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene")
            .field("end", &self.end)
            .field("waits", &self.waits)
            .finish_non_exhaustive()
    }
}

impl Scene<'_> {
    /// The launch in force at a cycle.
    pub(super) fn launch(&self, cycle: u64) -> Option<&str> {
        let begun = self.launches.iter().rev().find(|(since, _)| *since <= cycle);
        begun.map(|(_, name)| name.as_str())
    }

    /// Where a pc of an agent is.
    pub(super) fn code(&self, agent: AgentId, pc: u32) -> Option<CodeName> {
        super::report::coder(self.names, agent, pc).and_then(|core| self.names.site(core, pc))
    }

    /// The text of the line that a pc of an agent is in.
    pub(super) fn excerpt(&self, agent: AgentId, pc: u32) -> Option<Excerpt> {
        super::report::coder(self.names, agent, pc).and_then(|core| self.names.excerpt(core, pc))
    }

    /// Where the function of that line was called from at that cycle, the innermost call first: what it
    /// was inlined into, and the callers of the functions that were really called.
    pub(super) fn callers(&self, agent: AgentId, pc: u32, cycle: u64) -> Vec<CodeName> {
        let Some(core) = super::report::coder(self.names, agent, pc) else { return Vec::new() };
        if !self.names.is_kernel(core, pc) {
            return Vec::new();
        }
        let mut callers = self.names.callers(core, pc);
        for call in self.calls(agent, core, pc, cycle) {
            callers.extend(self.names.site(core, call));
            callers.extend(self.names.callers(core, call));
        }
        callers.dedup();
        callers.retain(|caller| caller.function != "_start");
        callers
    }

    /// Arguments and locals of the function in which a core waits. A thread's core has gone on since it pushed.
    pub(super) fn values(&self, wait: &AgentWait) -> Vec<Variable> {
        wait.pc.map_or_else(Vec::new, |pc| self.values_at(wait.agent, pc))
    }

    /// The same of a core that stands at that pc.
    pub(super) fn values_at(&self, agent: AgentId, pc: u32) -> Vec<Variable> {
        let AgentId::Core(core) = agent else { return Vec::new() };
        if !self.names.is_kernel(core, pc) {
            return Vec::new();
        }
        let register = |index| self.machine.register(core, index);
        let word = |addr: u32| match addr {
            ..L1_BYTES => Some(self.machine.l1(addr, Width::Word)),
            _ => {
                let offset = addr.checked_sub(LOCAL_RAM_BASE)?;
                self.machine.local(core, offset, Width::Word)
            }
        };
        let found =
            self.names.variables(core, pc, Held { register: &register, word: &word }).into_iter();
        found.take(VALUES).map(|(name, value)| Variable { name, value }).collect()
    }

    /// The calls that led to `pc`, the innermost first: from the log of calls, or, without one, from the
    /// return address.
    fn calls(&self, agent: AgentId, core: CoreId, pc: u32, cycle: u64) -> Vec<u32> {
        let (mut calls, mut inner) = (Vec::new(), pc);
        let mut functions = Vec::new();
        while let Some(function) = self.names.function(core, inner)
            && !functions.contains(&function)
            && calls.len() < CALLS
        {
            let is_own = |entry: u32| self.names.function(core, entry).as_ref() == Some(&function);
            let call = self.loops.call(core, cycle, is_own);
            functions.push(function.clone());
            let Some(call) = call.filter(|call| self.names.is_kernel(core, *call)) else { break };
            calls.push(call);
            inner = call;
        }
        if calls.is_empty() && agent == AgentId::Core(core) {
            calls.extend(self.call(core, pc));
        }
        calls
    }

    /// The call that led into the function at `pc`. `ra` says it as long as it points into another
    /// function: one that has called others itself has been left a return address of its own.
    fn call(&self, core: CoreId, pc: u32) -> Option<u32> {
        const RETURN_ADDRESS: u8 = 1;
        let call = self.machine.register(core, RETURN_ADDRESS).checked_sub(4)?;
        let (own, other) = (self.names.function(core, pc)?, self.names.function(core, call)?);
        // Start-up code calls the kernel itself.
        (own != other && other != "_start" && self.names.is_kernel(core, call)).then_some(call)
    }

    /// The lines from which the function at `pc` was called, if there are several.
    pub(super) fn call_lines(&self, agent: AgentId, pc: u32) -> Vec<CodeName> {
        let Some(core) = super::report::coder(self.names, agent, pc) else { return Vec::new() };
        let Some(function) =
            self.names.function(core, pc).filter(|_| self.names.is_kernel(core, pc))
        else {
            return Vec::new();
        };
        let is_own = |entry: u32| self.names.function(core, entry).as_ref() == Some(&function);
        let mut lines: Vec<CodeName> = Vec::new();
        for call in self.loops.callers(core, is_own) {
            let line = self.names.site(core, call).filter(|line| !lines.contains(line));
            lines.extend(line.filter(|line| line.function != "_start"));
        }
        lines.truncate(CALLS);
        if lines.len() > 1 { lines } else { Vec::new() }
    }

    /// ` at function file:line`, or the bare pc.
    pub(super) fn place(&self, agent: AgentId, pc: u32) -> String {
        match self.code(agent, pc) {
            Some(code) => code.to_string(),
            // Which one, and where in its code, stands in its own books.
            None if matches!(agent, AgentId::Noc(_)) => "for a tile".to_owned(),
            None => format!("pc {pc:#x}"),
        }
    }

    /// Name of a word of L1.
    pub(super) fn word_name(&self, addr: u32) -> String {
        let named = self.names.l1(addr).map(|place| place.name);
        let page = named.or_else(|| self.names.page(addr));
        page.unwrap_or_else(|| Resource::Word(addr).to_string())
    }

    pub(super) fn buffer(&self, index: u8) -> Option<&CircularBuffer> {
        self.circular.iter().find(|buffer| buffer.index == index)
    }

    /// Circular buffers that the launch has set up.
    pub(super) fn set_up(&self) -> impl Iterator<Item = &CircularBuffer> {
        self.circular.iter().filter(|buffer| buffer.pages > 0)
    }

    /// Whether the launch has not set up a circular buffer, and has others.
    pub(super) fn lacks(&self, index: u8) -> bool {
        self.set_up().next().is_some() && self.set_up().all(|buffer| buffer.index != index)
    }
}
