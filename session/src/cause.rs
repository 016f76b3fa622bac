//! The cause of a hang over all tiles: which wait on which tile is the root, and how it holds the others.

use std::collections::BTreeMap;

use chip::{HungTile, Role};
use observe::CodeName;
use observe::why::hazards::Hazard;
use observe::why::{Link, Pending, Standing};
use serde::Serialize;
use sim_core::{AgentId, WaitReason};

use crate::headline::{hazard, headline, missed};
use crate::lens::Sent;
use crate::report::{Astray, Behind, Remote, Report, Sender, SetBack, TileReport, Unasked};
use crate::show::tile_name;
use crate::web::{Edge, Node, Rank, Root, Web};

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

/// Why the chip does not move, over all tiles.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Cause {
    /// In one sentence, with the line to look at.
    pub headline: String,
    /// The class of hang, if it is known.
    pub hazard: Option<Hazard>,
    /// Whether it is a circle of tiles.
    pub circle: bool,
    /// From what is seen to the cause; of a circle its members, the first once more at the end.
    pub chain: Vec<Step>,
    /// The members of the circle, the first once more at the end.
    pub ring: Vec<Step>,
}

/// What a watched run has seen besides the state.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// By tile and address of the word.
    pub(crate) remotes: BTreeMap<((u8, u8), u32), Remote>,
    /// The last requests of tiles that wait for a NoC.
    pub(crate) requests: BTreeMap<(u8, u8), Vec<Sender>>,
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

    fn what(&self, name: &str) -> String {
        let Pending { core, control, .. } = self.pending;
        let kind = if control & 3 == 1 { "an atomic" } else { "a write" };
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

    fn root(&self) -> Option<usize> {
        self.tile.explanation.chain.last().copied()
    }

    /// The waits that are nodes: the cause, and words that other tiles write.
    fn nodes(&self) -> impl Iterator<Item = usize> {
        let own = self.root();
        (0..self.links().len()).filter(move |at| own == Some(*at) || self.remote(*at).is_some())
    }

    fn rank(&self, wait: usize) -> Rank {
        let link = &self.links()[wait];
        match link.standing {
            _ if self.hung.role == Role::Dispatcher => Rank::Serves,
            _ if self.hung.waits[wait].reason == WaitReason::Halted => Rank::Stopped,
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

impl Report {
    /// The words that a tile waits for and others write.
    pub(crate) fn awaited(&self, tile: (u8, u8)) -> Vec<u32> {
        let own = self.standpoints.iter().filter(|own| own.tile.tile == tile);
        own.flat_map(|own| own.nodes().filter_map(|wait| own.remote(wait))).collect()
    }
}

/// Everybody's waits across tiles.
fn weave(all: &[Standpoint], evidence: &Evidence) -> Web {
    let mut web = Web::default();
    for (at, own) in all.iter().enumerate() {
        web.0.extend(own.nodes().map(|wait| Node {
            at: (at, wait),
            rank: own.rank(wait),
            since: own.links()[wait].since.unwrap_or(u64::MAX),
            to: Vec::new(),
        }));
    }
    let node_of = |tile: usize, wait: usize| {
        let node = |wait| web.0.iter().position(|node| node.at == (tile, wait));
        let own = all[tile].remote(wait).and_then(|_| node(wait));
        own.or_else(|| all[tile].root().and_then(node))
    };
    let mut ends = Vec::new();
    for node in &web.0 {
        let (at, wait) = node.at;
        let own = &all[at];
        let is_lost = matches!(node.rank, Rank::Lost | Rank::Stopped | Rank::Beyond);
        let Some(addr) = own.remote(wait).filter(|_| !is_lost) else {
            ends.push((node.rank, Vec::new()));
            continue;
        };
        let remote = evidence.remotes.get(&(own.tile.tile, addr));
        let mut edges = suppliers(all, node.at, addr, &node_of);
        let behind = remote.map(|remote| behind(all, node.at, addr, remote)).unwrap_or_default();
        if !behind.is_empty() {
            edges = laggards(edges, &behind, |edge| all[web.0[edge.to].at.0].tile.tile);
        } else if edges.is_empty() {
            edges =
                remote.map_or_else(Vec::new, |remote| owed(all, node.at, (addr, remote), &node_of));
        }
        let missed = remote.and_then(missed);
        let is_sure = missed.and_then(|sender| sender.astray).is_some_and(Astray::is_sure);
        if !is_sure && remote.is_some_and(|remote| few(all, node.at, addr, remote).is_some()) {
            ends.push((Rank::Suspect, Vec::new()));
            continue;
        }
        if let Some(sender) = missed.filter(|_| node.rank != Rank::Serves)
            && let Some(astray) = sender.astray
            && (edges.is_empty() || astray.names_the_tile() || counts_answers(all, sender))
        {
            let rank = if astray.is_sure() { Rank::Lost } else { Rank::Suspect };
            ends.push((rank, Vec::new()));
            continue;
        }
        if edges.is_empty() && !behind.iter().any(|behind| behind.finished) {
            edges = remote.map_or_else(Vec::new, |remote| writers(all, remote, &node_of));
        }
        let is_gone = remote.is_some_and(|remote| {
            remote.arrived.iter().any(|sender| sender.finished) || !remote.unheard.is_empty()
        }) || behind.iter().any(|behind| behind.finished);
        let rank = match (edges.is_empty(), is_gone) {
            _ if node.rank == Rank::Serves => node.rank,
            (true, true) => node.rank.min(Rank::DeadEnd),
            (false, _) => node.rank.max(Rank::Other),
            _ => node.rank,
        };
        ends.push((rank, edges));
    }
    for (node, (rank, to)) in web.0.iter_mut().zip(ends) {
        (node.rank, node.to) = (rank, to);
    }
    web
}

/// Of those who would raise a word the ones who are behind: who is as far as the others has done his part for now.
fn laggards(
    mut edges: Vec<Edge>,
    behind: &[&Behind],
    tile: impl Fn(&Edge) -> (u8, u8),
) -> Vec<Edge> {
    edges.retain(|edge| behind.iter().any(|behind| behind.tile == tile(edge)));
    edges.iter_mut().for_each(|edge| edge.known = true);
    edges
}

/// Whether who sent something waits for the answers to it: what stands behind that wait is another round.
fn counts_answers(all: &[Standpoint], sender: &Sender) -> bool {
    let own = all.iter().filter(|own| own.tile.tile == sender.tile);
    own.flat_map(|own| &own.hung.waits).any(|wait| {
        let by_counter = wait.reads.iter().any(|load| load.device)
            && wait.enders.iter().any(|ender| matches!(ender, AgentId::Noc(_)));
        wait.stuck && wait.agent.to_string() == sender.core && by_counter
    })
}

/// What a word is and what is waited for, if all who raise it have, as often as each other, and that is too
/// few: who would do it behind a wait has done his part.
pub(crate) fn few(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &Remote,
) -> Option<(u32, u32)> {
    let wanted = all[at].links()[wait].target?;
    let value = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr)?.value;
    let is_all = remote.even == Some(u64::from(value)) && remote.silent.is_empty();
    // One alone goes round less often than it should.
    if value < 2 || value >= wanted || !is_all {
        return None;
    }
    let has_sent = |tile: (u8, u8)| remote.arrived.iter().any(|sender| sender.tile == tile);
    let writes =
        |other: &Standpoint| other.would.iter().any(|would| would.writes(all[at].tile.noc, addr));
    // The list of those who have sent may have been cut.
    let is_cut = remote.arrived.len() < value as usize;
    let done = all.iter().filter(|other| writes(other)).all(|other| has_sent(other.tile.tile));
    (is_cut || done).then_some((value, wanted))
}

/// Who has raised a word less often than others that run the same, if that is all that is missing.
pub(crate) fn behind<'a>(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &'a Remote,
) -> Vec<&'a Behind> {
    let load = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr);
    let Some((wanted, load)) = all[at].links()[wait].target.zip(load) else { return Vec::new() };
    let lacks: u64 = remote.behind.iter().map(|behind| behind.others - behind.count).sum();
    let is_all = wanted > load.value && u64::from(wanted - load.value) <= lacks;
    if is_all { remote.behind.iter().collect() } else { Vec::new() }
}

/// Who waits for an answer that it has not asked for, if that is all that a wait lacks.
pub(crate) fn unasked<'a>(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &'a Remote,
) -> &'a [Unasked] {
    let load = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr);
    let Some((wanted, load)) = all[at].links()[wait].target.zip(load) else { return &[] };
    let lacks = wanted.saturating_sub(load.value);
    if (1..=remote.unasked.len()).contains(&(lacks as usize)) { &remote.unasked } else { &[] }
}

/// Who has set a word back after its last wait in the same place, which was for less than what it waits for now.
pub(crate) fn set_back<'a>(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &'a Remote,
) -> Option<(&'a SetBack, u32)> {
    let own = &all[at].hung.waits[wait];
    let wanted = all[at].links()[wait].target?;
    let load = own.reads.iter().find(|load| load.addr == addr)?;
    let is_it = |back: &&SetBack| {
        (&*back.core, back.pc) == (&*own.agent.to_string(), load.pc)
            && back.value < wanted
            && load.value < wanted
    };
    remote.set_back.iter().find(is_it).map(|back| (back, wanted))
}

/// Who would write a word behind a wait of its own.
fn suppliers(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    node_of: &impl Fn(usize, usize) -> Option<usize>,
) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for (index, other) in all.iter().enumerate() {
        for would in &other.would {
            if (index, would.wait) == (at, wait) || !would.writes(all[at].tile.noc, addr) {
                continue;
            }
            if let Some(to) = node_of(index, would.wait)
                && !edges.iter().any(|edge| edge.to == to)
            {
                edges.push(Edge { to, known: true, what: would.what(&other.name()) });
            }
        }
    }
    // One of several may be enough; all of them are needed if so many are missing.
    let link = &all[at].links()[wait];
    let value = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr);
    let missing = link.target.zip(value).map(|(target, load)| target.wrapping_sub(load.value));
    let needs_all = missing.is_some_and(|missing| missing as usize >= edges.len());
    if edges.len() > 1 && !needs_all {
        edges.iter_mut().for_each(|edge| edge.known = false);
    }
    edges
}

/// Who runs what the writers of a word run, has not written it, and waits: what others have done is still before him.
/// Only if no more than that is missing: in a chain each has a word of its own.
fn owed(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    (addr, remote): (u32, &Remote),
    node_of: &impl Fn(usize, usize) -> Option<usize>,
) -> Vec<Edge> {
    let load = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr);
    let Some((wanted, load)) = all[at].links()[wait].target.zip(load) else { return Vec::new() };
    let mut edges: Vec<Edge> = Vec::new();
    for silent in &remote.silent {
        let Some(tile) = all.iter().position(|other| other.tile.tile == *silent) else { continue };
        if let Some(to) = all[tile].root().and_then(|root| node_of(tile, root)) {
            let what =
                format!("what {} has not come to: others that run the same have", all[tile].name());
            edges.push(Edge { to, known: true, what });
        }
    }
    let each = remote.even.map_or(0, |tiles| u64::from(load.value) / tiles.max(1));
    let in_all = u64::from(load.value) + each * edges.len() as u64;
    if in_all <= u64::from(wanted) { edges } else { Vec::new() }
}

/// Who has written a word before, and waits now.
fn writers(
    all: &[Standpoint],
    remote: &Remote,
    node_of: &impl Fn(usize, usize) -> Option<usize>,
) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for sender in &remote.arrived {
        let Some(tile) = all.iter().position(|other| other.tile.tile == sender.tile) else {
            continue;
        };
        let is_core = |link: &Link| link.stuck && link.agent.to_string() == sender.core;
        let Some(wait) = all[tile].links().iter().position(is_core) else { continue };
        if let Some(to) = node_of(tile, wait)
            && !edges.iter().any(|edge| edge.to == to)
        {
            let what = format!("what {} of {} sent before", sender.core, all[tile].name());
            edges.push(Edge { to, known: false, what });
        }
    }
    edges
}

/// Finds the cause and puts the tiles in the order of the story.
pub(crate) fn find(report: &mut Report, evidence: &Evidence) {
    let web = weave(&report.standpoints, evidence);
    let root = web.root();
    report.root = root.as_ref().map(|root| web.0[root.node].at);
    if let Some(root) = &root {
        report.cause = tell(&report.standpoints, &web, root, evidence);
    }
    let order: Vec<usize> = root.iter().flat_map(|root| story(&web, root)).collect();
    arrange(report, &order, evidence);
}

/// The nodes of the story, the root first.
fn story(web: &Web, root: &Root) -> Vec<usize> {
    let nodes = [root.node].into_iter().chain(root.circle.iter().copied());
    nodes.chain(root.chain.iter().rev().copied()).map(|node| web.0[node].at.0).collect()
}

fn tell(all: &[Standpoint], web: &Web, root: &Root, evidence: &Evidence) -> Cause {
    let steps = |nodes: &[usize]| {
        let mut steps: Vec<Step> = Vec::new();
        for (index, &node) in nodes.iter().enumerate() {
            let (tile, wait) = web.0[node].at;
            let mut step = all[tile].step(wait);
            let next = nodes.get(index + 1).and_then(|next| web.what(node, *next));
            step.needs = next.map(|edge| edge.what.clone());
            steps.push(step);
        }
        steps
    };
    let mut ring = root.circle.clone();
    ring.extend(root.circle.first());
    let mut cause = Cause {
        circle: !ring.is_empty(),
        chain: steps(&root.chain),
        ring: steps(&ring),
        headline: String::new(),
        hazard: hazard(all, web, root, evidence),
    };
    cause.headline = headline(all, web, root, evidence, &cause.ring);
    cause
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

/// The tiles in the order of the story, then who waits for nobody else, then who stopped first; tiles that
/// stand in the same way once.
fn arrange(report: &mut Report, story: &[usize], evidence: &Evidence) {
    let mut order: Vec<usize> = (0..report.standpoints.len()).collect();
    order.sort_by_key(|at| {
        let own = &report.standpoints[*at];
        let told = story.iter().position(|other| other == at).unwrap_or(usize::MAX);
        let stuck = own.hung.waits.iter().filter(|wait| wait.stuck);
        let since = stuck.filter_map(|wait| wait.since).min().map_or(u64::MAX, |since| since.0);
        (told, own.hung.role == Role::Dispatcher, own.tile.awaits_others, since, *at)
    });
    let mut tiles: Vec<TileReport> = Vec::new();
    let mut known: Vec<(_, usize)> = Vec::new();
    for at in order {
        let own = &report.standpoints[at];
        let own_posture = posture(own);
        if let Some((_, at)) = known.iter().find(|(other, _)| *other == own_posture) {
            tiles[*at].alike.push(own.tile.tile);
            continue;
        }
        known.push((own_posture, tiles.len()));
        let mut tile = own.tile.clone();
        tile.remote = own
            .root()
            .and_then(|root| own.remote(root))
            .and_then(|addr| evidence.remotes.get(&(tile.tile, addr)).cloned());
        tile.requests = evidence.requests.get(&tile.tile).cloned().unwrap_or_default();
        tiles.push(tile);
    }
    for tile in &mut tiles {
        tile.alike.sort_by_key(|(x, y)| (*y, *x));
    }
    report.tiles = tiles;
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
