//! A tile on which somebody is stuck: how everybody stands there, and what is said of it.

use std::fmt;

use chip::{HungTile, Role};
use memory_map::NocControl;
use observe::CodeName;
use observe::why::{Explanation, Link, Pending, Standing};
use serde::Serialize;
use sim_core::AgentId;

use crate::lens::Sent;
use crate::remote::{Remote, Sender};
use crate::tiles::tile_name;
use crate::web::Rank;

/// A tile of the report.
#[derive(Clone, Debug, Serialize)]
pub struct TileReport {
    /// Coordinates as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// How it is used, in a word.
    pub role: &'static str,
    /// Kernels by core.
    pub kernels: Vec<(String, String)>,
    /// The operation that launched them.
    pub operation: Option<String>,
    /// Why it does not move.
    pub explanation: Explanation,
    /// Other tiles that stand in the same way, at the same places of the same kernels.
    pub alike: Vec<(u8, u8)>,
    /// Whether what holds it may lie on another tile: it waits for a word that others write.
    pub awaits_others: bool,
    /// Who has written what it waits for, if somebody has watched.
    pub remote: Option<Remote>,
    /// The last NoC requests of cores that wait for a counter of a NoC interface.
    pub requests: Vec<Sender>,
}

/// A step of the story across tiles: an agent that waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// Its tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// Who.
    pub agent: String,
    /// What it waits for, in words.
    pub text: String,
    /// Since when.
    pub since: Option<u64>,
    /// The waiting instruction.
    pub pc: Option<u32>,
    /// Where that is in the source.
    pub code: Option<CodeName>,
    /// Where that was called from, if that is in another file.
    pub caller: Option<CodeName>,
    /// What the agent of the next step would have to do for it.
    pub needs: Option<String>,
}

/// A command that stands behind a wait.
#[derive(Clone, Debug)]
pub(crate) struct Would {
    /// Index of the wait.
    pub(crate) wait: usize,
    pub(crate) pending: Pending,
    /// Where it is, in words.
    pub(crate) place: String,
}

/// A tile where somebody is stuck.
#[derive(Clone, Debug)]
pub(crate) struct Standpoint {
    pub(crate) hung: HungTile,
    pub(crate) tile: TileReport,
    pub(crate) would: Vec<Would>,
}

impl Would {
    /// Whether the command writes a word of a tile.
    pub(crate) fn writes(&self, noc: (u8, u8), addr: u32) -> bool {
        let Pending { core, pc, noc: via, control, coordinate, .. } = self.pending;
        let addr_too = u64::from(self.pending.addr);
        let sent =
            Sent { cycle: 0, core, pc, noc: via, control, addr: addr_too, coordinate, bytes: 0 };
        self.pending.addr == addr && sent.reaches(noc)
    }

    pub(crate) fn what(&self, name: &str) -> String {
        let Pending { core, control, .. } = self.pending;
        let kind = if NocControl(control).is_atomic() { "an atomic" } else { "a write" };
        format!("{kind} by {core} of {name}, behind its own wait, in {}", self.place)
    }
}

impl Standpoint {
    pub(crate) fn name(&self) -> String {
        tile_name(self.tile.tile, self.tile.noc)
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.tile.explanation.waits
    }

    /// The word of this tile that a wait is for, if other tiles may write it.
    pub(crate) fn remote(&self, wait: usize) -> Option<u32> {
        let link = self.links().get(wait).filter(|link| link.stuck)?;
        let is_local = matches!(link.standing, Standing::Held | Standing::Circle);
        let is_mailbox = |addr| memory_map::mailbox::place(addr).is_some();
        link.word.filter(|addr| !is_local && (self.hung.role == Role::Bare || !is_mailbox(*addr)))
    }

    pub(crate) fn root(&self) -> Option<usize> {
        self.tile.explanation.chain.last().copied()
    }

    /// The waits that are nodes: the cause, and words that other tiles write.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        let own = self.root();
        (0..self.links().len()).filter(move |at| own == Some(*at) || self.remote(*at).is_some())
    }

    pub(crate) fn rank(&self, wait: usize) -> Rank {
        let link = &self.links()[wait];
        match link.standing {
            _ if self.hung.role == Role::Dispatcher => Rank::Serves,
            _ if self.hung.waits[wait].reason.has_stopped() => Rank::Stopped,
            Standing::Halted => Rank::Stopped,
            Standing::Lost => Rank::Lost,
            Standing::Beyond => Rank::Beyond,
            _ if self.remote(wait).is_some() => Rank::Unknown,
            Standing::DeadEnd => Rank::DeadEnd,
            Standing::Circle => Rank::Circle,
            _ => Rank::Other,
        }
    }

    pub(crate) fn step(&self, wait: usize) -> Step {
        let link = &self.links()[wait];
        Step {
            tile: self.tile.tile,
            noc: self.tile.noc,
            agent: link.agent.to_string(),
            text: link.text.clone(),
            since: link.since,
            pc: link.pc,
            code: link.code.clone(),
            caller: caller(link.code.as_ref(), &link.callers).cloned(),
            needs: None,
        }
    }
}

/// The first caller in another file. A function of a library that was really called has no line of the author's own;
/// its call has.
fn caller<'a>(code: Option<&CodeName>, callers: &'a [CodeName]) -> Option<&'a CodeName> {
    let file = &code?.file;
    callers.iter().find(|caller| caller.file != *file)
}

impl Step {
    /// The place in the source and the call from another file that led there, or the pc.
    pub(crate) fn place(&self) -> Option<String> {
        match (&self.code, self.pc) {
            (Some(code), _) => match &self.caller {
                Some(caller) => Some(format!("{code}, called in {caller}")),
                None => Some(code.to_string()),
            },
            (None, pc) => pc.map(|pc| format!("pc {pc:#x}")),
        }
    }

    /// Tile and agent.
    pub(crate) fn who(&self) -> String {
        format!("{} {}", tile_name(self.tile, self.noc), self.agent)
    }

    pub(crate) fn sentence(&self) -> String {
        let place = self.place().map_or_else(String::new, |place| format!(" in {place}"));
        format!("{} {}{place}", self.who(), self.text)
    }
}

/// What two tiles have in common that stand in the same way: their kernels, and per agent the place and whether
/// it is stuck. Kernels of two programs may have waits at the same pc.
#[derive(PartialEq)]
pub(crate) struct Posture<'a> {
    kernels: &'a [(String, String)],
    places: Vec<Place<'a>>,
}

/// An agent, its pc, what that is in the source, and whether it is stuck.
type Place<'a> = (AgentId, Option<u32>, Option<&'a CodeName>, bool);

pub(crate) fn posture(own: &Standpoint) -> Posture<'_> {
    let links = own.links().iter();
    let places = links.map(|link| (link.agent, link.pc, link.code.as_ref(), link.stuck));
    Posture { kernels: &own.tile.kernels, places: places.collect() }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", tile_name(self.tile, self.noc), self.agent, self.text)?;
        if let Some(since) = self.since {
            write!(f, " since cycle {since}")?;
        }
        if let Some(place) = self.place() {
            write!(f, "\n      in {place}")?;
        }
        match &self.needs {
            Some(needs) => writeln!(f, "\n      needs {needs}"),
            None => writeln!(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CodeName, Step, caller};

    fn code(function: &str, file: &str, line: u32) -> CodeName {
        CodeName { function: function.to_owned(), file: Some(file.to_owned()), line: Some(line) }
    }

    #[test]
    fn place_in_a_function_of_another_file_has_the_call() {
        let step = |own: &CodeName, callers: &[CodeName]| Step {
            tile: (0, 0),
            noc: (1, 2),
            agent: "BRISC".to_owned(),
            text: "waits".to_owned(),
            since: None,
            pc: None,
            code: Some(own.clone()),
            caller: caller(Some(own), callers).cloned(),
            needs: None,
        };
        let (read, helper) = (code("read", "noc.h", 269), code("helper", "kernel.cpp", 7));
        let main = code("kernel_main", "kernel.cpp", 15);
        let within = step(&read, &[code("read_all", "noc.h", 300), helper.clone(), main.clone()]);
        assert_eq!(within.place().unwrap(), "read noc.h:269, called in helper kernel.cpp:7");
        assert_eq!(step(&helper, &[main]).place().unwrap(), "helper kernel.cpp:7");
    }
}
