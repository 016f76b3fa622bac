//! The cause of a hang over all tiles: which wait on which tile is the root, and how it holds the others.

use chip::Role;
use observe::why::Link;
use sim_core::AgentId;

use crate::headline::{hazard, headline};
use crate::lacks::{behind, few, missed};
use crate::remote::{Astray, Behind, Evidence, Remote, Sender};
use crate::report::{Cause, Report};
use crate::standpoint::{Standpoint, Step, TileReport, posture};
use crate::web::{Edge, Node, Rank, Root, Web};

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
    let missing = link.target.zip(value).and_then(|(target, load)| target.checked_sub(load.value));
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
