//! The nearest missing action, in words, and why it cannot come.

use sim_core::{AgentId, CoreId};
use tile::AgentWait;

use super::graph::Graph;
use super::polled::LostUpdate;
use super::scene::Scene;
use super::{buffer, classify, flow, graph, hazards, needs, users};
use crate::resource::{Resource, Way};

/// The nearest missing action and why it cannot come.
pub(super) fn missing(scene: &Scene<'_>, graph: &Graph<'_>, root: usize) -> Option<String> {
    let node = &graph.nodes[root];
    let resource = node.need.resource?;
    if let Resource::Word(addr) = resource
        && let Some(lost) = scene.polled.lost(addr)
        && node.hazard == Some(hazards::A15)
    {
        return Some(overwritten(scene, &lost));
    }
    if let (Resource::Word(_), Some(target)) = (resource, node.need.target)
        && node.hazard == Some(hazards::A15)
        && let Some(there) =
            scene.ledger.history(resource).and_then(|history| classify::gone_on(history, target))
    {
        return Some(format!(
            "a store that sets {resource} back: it was {target:#x} at cycle {}, and others have counted on \
             from there",
            there.cycle
        ));
    }
    if let Some(room) = room(scene, &node.need) {
        return Some(room);
    }
    let action = needs::action(resource, node.need.way);
    let mut reasons = Vec::new();
    if let Some(pc) = node.need.own {
        let agent = node.need.who.first().copied().unwrap_or(node.wait.agent);
        let place = scene.place(agent, pc);
        reasons.push(format!("{agent} would do it itself, behind this wait, in {place}"));
    }
    if let Some(behind) = sites(scene, &node.need.sites) {
        reasons.push(behind);
    } else if node.need.known && node.need.who.is_empty() && node.need.own.is_none() {
        reasons.push(nowhere(scene, node, resource));
    }
    reasons.extend(answers(scene, resource));
    reasons.extend(unread(scene, resource, node.need.way));
    let done = graph::finished(graph, &node.need);
    if !done.is_empty() {
        let names: Vec<_> = done.iter().map(|core| core.name()).collect();
        let verb = if names.len() == 1 { "has" } else { "have" };
        reasons.push(format!("{} {verb} finished", names.join(", ")));
    }
    for &at in &node.to {
        let other = &graph.nodes[at];
        reasons.push(format!("{} {}", other.wait.agent, other.need.text));
        reasons.extend(behind(scene, other.wait, resource, node.need.way));
    }
    let last = scene.ledger.history(resource).and_then(|history| history.last(node.need.way));
    let last = match last {
        // Who sent what came over a NoC stands in the books of another tile.
        Some(entry) if matches!(entry.agent, AgentId::Noc(_)) => {
            format!("; the last one came over {} at cycle {}", entry.agent, entry.cycle)
        }
        Some(entry) => format!(
            "; the last one came from {} in {} at cycle {}",
            entry.agent,
            scene.place(entry.agent, entry.pc),
            entry.cycle
        ),
        None if scene.ledger.is_blank() => String::new(),
        None => "; there never was one".to_owned(),
    };
    let because =
        if reasons.is_empty() { "nobody is left to do it".to_owned() } else { reasons.join("; ") };
    Some(format!("{action}: {because}{last}"))
}

/// Of who asks for more pages than a buffer has.
fn room(scene: &Scene<'_>, need: &needs::Need) -> Option<String> {
    let (Some(Resource::Circular(index)), Some(wanted)) = (need.resource, need.beyond) else {
        return None;
    };
    let (has, wanted) = (scene.buffer(index)?.pages, buffer::pages(wanted.into()));
    Some(format!(
        "room for {wanted} in CB {index}: num_pages is {has} in this launch, so that no push and no pop ends this wait"
    ))
}

/// Where somebody who waits would do it behind that wait, by the code of the kernel.
fn behind(scene: &Scene<'_>, wait: &AgentWait, resource: Resource, way: Way) -> Option<String> {
    let core = needs::core_behind(wait.agent)?;
    let users = users::users(scene, resource, way);
    let own = users.sites.iter().filter(|site| needs::core_behind(site.agent) == Some(core));
    let pcs: Vec<u32> = own.map(|site| site.pc).collect();
    let next = flow::Flow::of(scene, core)?.ahead(wait.pc?, &pcs).first().copied()?;
    Some(format!("behind that it would do it in {}", scene.place(AgentId::Core(core), next)))
}

/// Nobody has the code for it: who at least looks at the buffer is likely to lack it.
fn nowhere(scene: &Scene<'_>, node: &graph::Node<'_>, resource: Resource) -> String {
    let users = users::users(scene, resource, node.need.way);
    let other =
        |site: &&users::Site| needs::core_behind(site.agent) != needs::core_behind(node.wait.agent);
    let none = "no kernel of this launch has the code for it";
    match users.lookers.iter().find(other) {
        Some(site) => {
            let place = scene.place(site.agent, site.pc);
            format!("{none}, though {} looks at {resource} in {place}", site.agent)
        }
        None => none.to_owned(),
    }
}

/// Of a mailbox from which somebody wants a word: one from another core that he has not read.
fn unread(scene: &Scene<'_>, resource: Resource, way: Way) -> Option<String> {
    let Resource::Mailbox { from, to } = resource else { return None };
    if way != Way::Give {
        return None;
    }
    CoreId::ALL.into_iter().filter(|other| *other != from).find_map(|other| {
        let mailbox = Resource::Mailbox { from: other, to };
        let history = scene.ledger.history(mailbox).filter(|own| own.given > own.taken)?;
        let entry = history.last(Way::Give)?;
        let place = scene.place(entry.agent, entry.pc);
        Some(format!("{to} has not read what stands in {mailbox}, pushed in {place}"))
    })
}

/// Of a mailbox that nobody has ever read or written: what its other side does with the one the other way.
fn answers(scene: &Scene<'_>, resource: Resource) -> Option<String> {
    let Resource::Mailbox { from, to } = resource else { return None };
    let history = scene.ledger.history(resource);
    let is_used = |way: Way| history.is_some_and(|history| history.last(way).is_some());
    let (lacks, way) = match (is_used(Way::Give), is_used(Way::Take)) {
        (true, false) => (to, Way::Take),
        (false, _) => (from, Way::Give),
        _ => return None,
    };
    let verb = if way == Way::Take { "reads" } else { "writes" };
    let other = Resource::Mailbox { from: to, to: from };
    let history = scene.ledger.history(other)?;
    let site = history.sites.keys().find(|site| needs::core_behind(site.agent) == Some(lacks))?;
    let place = scene.place(site.agent, site.pc);
    Some(format!("{lacks} never {verb} it, though it uses {other} in {place}"))
}

/// Where in the code of the launch it would be done, by nobody so far.
fn sites(scene: &Scene<'_>, sites: &[users::Site]) -> Option<String> {
    let mut places: Vec<String> = Vec::new();
    for site in sites {
        let place = format!("{} would do it in {}", site.agent, scene.place(site.agent, site.pc));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    (!places.is_empty()).then(|| places.join("; "))
}

/// An update that a store has wiped out.
fn overwritten(scene: &Scene<'_>, lost: &LostUpdate) -> String {
    let told = |(agent, pc, cycle): (AgentId, u32, u64)| {
        format!("{agent} in {} at cycle {cycle}", scene.place(agent, pc))
    };
    format!(
        "an update by {} was overwritten by {}, who had not looked since",
        told(lost.lost),
        told(lost.by)
    )
}

/// A NoC barrier: what the interface counts and what software expects.
pub(super) fn counter(scene: &Scene<'_>, noc: u8, value: u32, target: Option<u32>) -> String {
    let mut issued = (0, 0);
    for (resource, history) in scene.ledger.iter() {
        if matches!(resource, Resource::Noc { noc: own, .. } if own == noc) {
            issued.0 += history.given;
            issued.1 += history.taken;
        }
    }
    let target = target.map_or_else(String::new, |target| format!(", software expects {target}"));
    let lost = scene.machine.unanswered(noc);
    if scene.ledger.is_blank() {
        let why = lost.map_or_else(
            || ", and no request is under way".to_owned(),
            |lost| format!(", and nobody answers {lost}"),
        );
        return format!("the counter shows {value}{target}{why}");
    }
    let lost = lost.map_or_else(String::new, |lost| format!(": nobody answers {lost}"));
    format!(
        "the counter shows {value}{target}; NoC {noc} has carried out {} of {} requests, so it \
         will never move again{lost}",
        issued.1, issued.0
    )
}
