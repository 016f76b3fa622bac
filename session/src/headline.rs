//! The cause of a hang over all tiles in one sentence, with its class.

use observe::why::hazards::{self, Hazard};
use observe::why::{Cell, Pair, Standing};
use sim_core::AgentId;

use crate::lacks::{behind, few, missed, set_back, unasked};
use crate::remote::{Astray, Behind, Evidence, Remote, Sender, SetBack, Stale, Unasked};
use crate::standpoint::{Standpoint, Step};
use crate::tiles::tile_name;
use crate::web::{Rank, Root, Web};

/// A tile that is behind the others, how many more there are, and the word.
type Late<'a> = (&'a Behind, usize, &'a str);
/// Waits of a circle that its headline names.
const RING_TOLD: usize = 3;

/// The class of the root: its tile's own, else what has become of what others sent.
pub(super) fn hazard(
    all: &[Standpoint],
    web: &Web,
    root: &Root,
    evidence: &Evidence,
) -> Option<Hazard> {
    let node = &web.0[root.node];
    let (own, wait) = (&all[node.at.0], node.at.1);
    let local = own.tile.explanation.hazard;
    let is_unfinished = |behind: &Behind| !behind.finished;
    if local.is_none() && !root.circle.is_empty() {
        return match late(all, web, root, evidence) {
            Some((one, ..)) => is_unfinished(one).then_some(hazards::D6),
            None if gone_back(all, web, root, evidence).is_some() => Some(hazards::A15),
            None => left_out(all, web, root, evidence).map(|_| hazards::D7),
        };
    }
    let remote = own.remote(wait).filter(|_| local.is_none());
    let remote = remote.and_then(|addr| evidence.remotes.get(&(own.tile.tile, addr)));
    let Some(remote) = remote else { return local };
    match node.rank {
        Rank::Stopped => None,
        Rank::Suspect if few(all, node.at, remote.addr, remote).is_some() => Some(hazards::D6),
        Rank::Lost | Rank::Suspect => missed(remote)?.astray.map(Astray::hazard),
        _ if behind(all, node.at, remote.addr, remote).into_iter().any(is_unfinished) => {
            Some(hazards::D6)
        }
        _ if set_back(all, node.at, remote.addr, remote).is_some() => Some(hazards::A15),
        _ if !unasked(all, node.at, remote.addr, remote).is_empty() => Some(hazards::D7),
        _ if !remote.stale.is_empty() => Some(hazards::A15),
        _ if remote.arrived.iter().any(|sender| sender.finished) => Some(hazards::D4),
        _ if !remote.unheard.is_empty() => Some(hazards::D5),
        _ => (!remote.quit.is_empty()).then_some(hazards::D4),
    }
}

/// The cause in one sentence.
pub(super) fn headline(
    all: &[Standpoint],
    web: &Web,
    root: &Root,
    evidence: &Evidence,
    ring: &[Step],
) -> String {
    let node = &web.0[root.node];
    let (own, wait) = (&all[node.at.0], node.at.1);
    let step = own.step(wait);
    let tiles: Vec<String> = ring.iter().map(|step| tile_name(step.tile, step.noc)).collect();
    match &tiles[..] {
        [] => {}
        [first, rest @ ..] if rest.iter().any(|tile| tile != first) => {
            let waits = ring.iter().take(RING_TOLD.min(ring.len() - 1)).map(Step::sentence);
            let waits = waits.collect::<Vec<_>>().join("; ");
            let late = late(all, web, root, evidence).map(lagging);
            let late = late.or_else(|| gone_back(all, web, root, evidence));
            let late = late.or_else(|| left_out(all, web, root, evidence).map(not_given));
            let late = late.map_or_else(String::new, |late| late + "; ");
            return format!("{late}a circle: {}: {waits}", tiles.join(" waits for "));
        }
        _ => return format!("a circle within {}: {}", tiles[0], step.sentence()),
    }
    let Some(addr) = own.remote(wait) else {
        return within_tile(own, &step, evidence);
    };
    let remote = evidence.remotes.get(&(own.tile.tile, addr));
    if node.rank == Rank::Stopped {
        return step.sentence();
    }
    if let Some(remote) = remote {
        let told = match node.rank {
            Rank::Lost if own.links()[wait].standing == Standing::Lost => {
                overwritten(own).or_else(|| stale(remote)).or_else(|| overshot(remote))
            }
            Rank::Suspect if let Some(few) = few(all, node.at, addr, remote) => {
                Some(all_did(few, remote))
            }
            Rank::Lost | Rank::Suspect => missed(remote).map(astray),
            _ => late(all, web, root, evidence)
                .map(lagging)
                .or_else(|| gone_back(all, web, root, evidence))
                .or_else(|| left_out(all, web, root, evidence).map(not_given))
                .or_else(|| stale(remote))
                .or_else(|| returned(remote))
                .or_else(|| remote.unheard.last().map(unheard))
                .or_else(|| remote.quit.first().map(|quit| has_quit(quit, remote))),
        };
        if let Some(told) = told {
            return format!("{told}; {}", step.sentence());
        }
        if remote.arrived.is_empty() {
            return format!(
                "{}: nothing has been sent to {} since the launch{}",
                step.sentence(),
                remote.word,
                held_back(all, web, root)
            );
        }
    }
    step.sentence()
}

/// A wait for what its own tile does or should be sent, with the last multicast if that may have been a mistake.
fn within_tile(own: &Standpoint, step: &Step, evidence: &Evidence) -> String {
    let sent = evidence.requests.get(&own.tile.tile).filter(|_| local_is(own, &hazards::A13));
    let multicast = sent.and_then(|sent| sent.iter().rfind(|sent| sent.is_multicast));
    let sent = multicast.map_or_else(String::new, |sent| {
        format!("; the last multicast, in {}: {}", sent.place, sent.what)
    });
    let explanation = &own.tile.explanation;
    // A mistake from before it is told with a place of its own.
    let is_wait = explanation.headline.starts_with(&format!("{} {}", step.agent, step.text));
    let told =
        if is_wait { step.sentence() } else { format!("{} {}", own.name(), explanation.headline) };
    told + &sent
}

/// Others that wait for what stands behind the root on another tile: of two that take turns the other one.
fn held_back(all: &[Standpoint], web: &Web, root: &Root) -> String {
    let own = web.0[root.node].at.0;
    let waits = web
        .0
        .iter()
        .filter(|node| node.at.0 != own && node.to.iter().any(|edge| edge.to == root.node));
    let waits: Vec<(usize, usize)> = waits.map(|node| node.at).collect();
    let Some(&(tile, wait)) = waits.first() else { return String::new() };
    let more = match waits.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    format!(
        "; {}{more}, who wait{} for what comes behind that, ha{} not either",
        all[tile].step(wait).sentence(),
        if waits.len() == 1 { "s" } else { "" },
        if waits.len() == 1 { "s" } else { "ve" },
    )
}

/// Whether the class of a tile's own explanation is that one.
pub(super) fn local_is(own: &Standpoint, hazard: &Hazard) -> bool {
    own.tile.explanation.hazard.is_some_and(|own| own.id == hazard.id)
}

/// Everybody has raised a word, and more is waited for.
fn all_did((value, wanted): (u32, u32), remote: &Remote) -> String {
    let from = remote.arrived.first().map_or_else(String::new, |sender| {
        format!(", {} in {}", tile_name(sender.tile, sender.noc), sender.place)
    });
    format!(
        "{wanted} is waited for, and all {value} who raise {} have done so{from} and others",
        remote.word
    )
}

/// Who of those that the root waits for, or that somebody in its circle does, is behind the others.
/// With how many more there are, and the word.
fn late<'a>(
    all: &[Standpoint],
    web: &Web,
    root: &Root,
    evidence: &'a Evidence,
) -> Option<Late<'a>> {
    [root.node].iter().chain(&root.circle).find_map(|node| {
        let at = web.0[*node].at;
        let own = &all[at.0];
        let addr = own.remote(at.1)?;
        let remote = evidence.remotes.get(&(own.tile.tile, addr))?;
        let behind = behind(all, at, addr, remote);
        let first = behind.first()?;
        Some((*first, behind.len() - 1, &remote.word[..]))
    })
}

/// Of those that the root waits for, or that somebody in its circle does, who has not given the credit for the answer
/// that it waits for. With how many more there are, and the word.
fn left_out<'a>(
    all: &[Standpoint],
    web: &Web,
    root: &Root,
    evidence: &'a Evidence,
) -> Option<(&'a Unasked, usize, &'a str)> {
    [root.node].iter().chain(&root.circle).find_map(|node| {
        let at = web.0[*node].at;
        let own = &all[at.0];
        let addr = own.remote(at.1)?;
        let remote = evidence.remotes.get(&(own.tile.tile, addr))?;
        let unasked = unasked(all, at, addr, remote);
        Some((unasked.first()?, unasked.len() - 1, &remote.word[..]))
    })
}

/// Of the root, and of those in its circle, who has set the word back that it waits for, and waits for more than it did
/// before.
fn gone_back(all: &[Standpoint], web: &Web, root: &Root, evidence: &Evidence) -> Option<String> {
    [root.node].iter().chain(&root.circle).find_map(|node| {
        let at = web.0[*node].at;
        let own = &all[at.0];
        let addr = own.remote(at.1)?;
        let remote = evidence.remotes.get(&(own.tile.tile, addr))?;
        let (back, wanted) = set_back(all, at, addr, remote)?;
        let SetBack { value, place, .. } = back;
        Some(format!(
            "{} sets {} back in {place}, and waits for {wanted} where it waited for {value} before",
            own.step(at.1).who(),
            remote.word
        ))
    })
}

fn not_given((unasked, more, word): (&Unasked, usize, &str)) -> String {
    let Unasked { tile, noc, count, answers, core, place } = unasked;
    let so_do = match more {
        0 => String::new(),
        more => format!(" (so {} {more} more)", if more == 1 { "does" } else { "do" }),
    };
    format!(
        "{} {core} waits for another answer and has not raised {word} for it{so_do}: {count} x in {place}, \
         {answers} answered",
        tile_name(*tile, *noc)
    )
}

fn lagging((behind, more, word): Late<'_>) -> String {
    let Behind { tile, noc, count, others, core, place, finished } = behind;
    let tile = tile_name(*tile, *noc);
    let so_do = match more {
        0 => String::new(),
        more => format!(" (so {} {more} more)", if more == 1 { "does" } else { "do" }),
    };
    match (finished, count) {
        (true, 0) => format!(
            "the kernel of {tile} has returned and never raised {word}{so_do}, others that run the same have, \
             {others} x, {core} in {place}"
        ),
        (false, 0) => format!(
            "{tile} has never raised {word}{so_do}, others that run the same have, {others} x, {core} in {place}"
        ),
        (true, _) => format!(
            "the kernel of {tile} has returned after {core} has raised {word} {count} x in {place}{so_do}, \
             others that run the same have {others} x"
        ),
        (false, _) => format!(
            "{tile} {core} has raised {word} {count} x in {place}{so_do}, others that run the same \
             {others} x"
        ),
    }
}

fn place(sender: &Sender) -> String {
    format!("{} {} in {}", tile_name(sender.tile, sender.noc), sender.core, sender.place)
}

/// What was sent and did not come.
fn astray(sender: &Sender) -> String {
    let why = sender.astray.map_or_else(String::new, |why| format!(": {why}"));
    format!("{}: {} x {}{why}", place(sender), sender.count, sender.what)
}

/// A core of the tile itself that has written over what came, if it wrote last.
fn overwritten(own: &Standpoint) -> Option<String> {
    let ledger = own.tile.explanation.ledger.as_ref()?;
    let [.., came, Pair { give: Some(last), .. }] = &ledger.pairs[..] else { return None };
    let is_own = |cell: &Cell| matches!(cell.agent, AgentId::Core(_)) && !cell.waits;
    let lost = came.give.as_ref().filter(|cell| !is_own(cell))?;
    is_own(last).then(|| {
        format!(
            "{} {} in {} at cycle {} has written over what had come at cycle {}",
            own.name(),
            last.agent,
            last.place,
            last.cycle,
            lost.cycle
        )
    })
}

/// Who has returned and sent nothing of the kind.
fn has_quit(quit: &Behind, remote: &Remote) -> String {
    let so_do = match remote.quit.len() - 1 {
        0 => String::new(),
        1 => " (so has 1 more)".to_owned(),
        more => format!(" (so have {more} more)"),
    };
    format!(
        "the kernel of {} has returned and never raised {} of any tile{so_do}, others that run the same have, {} in {}",
        tile_name(quit.tile, quit.noc),
        remote.word,
        quit.core,
        quit.place
    )
}

/// What was sent to a tile on which nothing runs.
fn unheard(sender: &Sender) -> String {
    format!("{}: {} x {}, on which no core runs", place(sender), sender.count, sender.what)
}

/// Who has raised a word beyond what somebody waits for.
fn overshot(remote: &Remote) -> Option<String> {
    let senders: Vec<_> = remote
        .arrived
        .iter()
        .map(|sender| format!("{} ({} x)", place(sender), sender.count))
        .collect();
    (!senders.is_empty()).then(|| format!("{} was raised by {}", remote.word, senders.join(", ")))
}

/// Who has written, and went on with an old count before.
fn stale(remote: &Remote) -> Option<String> {
    let Stale { tile, noc, core, word, value, first, again, .. } = remote.stale.last()?;
    let place = if first == again { String::new() } else { format!(" in {first}") };
    Some(format!(
        "{} {core} did not wait in {again}: {word} was {value} as at the end of its wait before{place}, and nobody has \
         set it back",
        tile_name(*tile, *noc)
    ))
}

/// Who has written, and has finished.
fn returned(remote: &Remote) -> Option<String> {
    let mut finished = remote.arrived.iter().filter(|sender| sender.finished);
    let sender = finished.next()?;
    Some(format!(
        "the kernel of {} has returned after {} x {}, the last at cycle {}",
        place(sender),
        sender.count,
        sender.what,
        sender.last
    ))
}
