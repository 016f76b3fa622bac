//! What went wrong first: a broken contract from before the hang is its headline, the wait is what
//! follows from it.
//!
//! Only classes that by themselves make somebody wait, or make memory say something else than was
//! written, explain a hang; a wrong number does not. A wait that carries its own proof needs no other
//! explanation.

use sim_core::AgentId;

use super::finding::Finding;
use super::graph::{Graph, Standing};
use super::hazards as h;
use super::needs::Need;
use super::scene::Scene;
use super::sections::{KEPT, MATH_PACK};
use super::{Explanation, Kind};
use crate::resource::{Resource, Way};

/// Classes that a hang may follow from whatever it waits for: code, counters, arguments, data or what the units do are
/// not what their owner left.
const CORRUPTS: [&str; 12] =
    ["C1", "C7", "C8", "C9", "C14", "C15", "C16", "C17", "C23", "C24", "C27", "C4"];

/// Whether a finding may be why the root waits.
fn explains(finding: &Finding, resource: Option<Resource>, hazard: Option<&str>) -> bool {
    let id = finding.hazard.id;
    let same = hazard == Some(id);
    match resource {
        // What an earlier program left behind in the same kind of resource.
        Some(Resource::Mailbox { .. } | Resource::Mutex(_) | Resource::Src(_)) if same => true,
        _ => CORRUPTS.contains(&id),
    }
}

/// Whether a finding is about a word that an earlier launch left behind, and that something was decided by.
fn is_stale(finding: &Finding, explanation: &Explanation) -> bool {
    let mut decisions = explanation.decisions.iter();
    finding.hazard.id == h::A11.id
        && decisions
            .any(|one| one.launch.is_some() && (one.agent, one.pc) == (finding.agent, finding.pc))
}

/// Whether the circle of the root goes through a wait of math for a section of Dst: had pack given back one that it has
/// kept, math would have gone on.
fn lacks_section(graph: &Graph<'_>, root: usize) -> bool {
    let waits = |&index: &usize| {
        let Need { resource, way, .. } = graph.nodes[index].need;
        (resource, way) == (Some(Resource::Semaphore(MATH_PACK)), Way::Take)
    };
    graph.circle(root).is_some_and(|circle| circle.iter().any(waits))
}

/// Puts the first mistake that explains the hang in front of it.
pub(super) fn lead(
    scene: &Scene<'_>,
    graph: &Graph<'_>,
    root: usize,
    explanation: &mut Explanation,
) {
    // What a thread cannot execute may follow from how it was set up.
    let is_told = match graph.standing(root) {
        Standing::Halted => !matches!(graph.nodes[root].wait.agent, AgentId::Thread(_)),
        Standing::Lost | Standing::Beyond => true,
        _ => false,
    };
    if is_told {
        return;
    }
    let need = &graph.nodes[root].need;
    if need.kind == Kind::Idle {
        return;
    }
    let hazard = graph.nodes[root].hazard.map(|hazard| hazard.id);
    let lacks_section = lacks_section(graph, root);
    let before = |finding: &&Finding| {
        scene.closed.is_none_or(|closed| finding.cycle <= closed)
            && finding.hazard.id != h::C13.id
            && (explains(finding, need.resource, hazard)
                || is_stale(finding, explanation)
                || lacks_section && finding.text == KEPT)
    };
    let findings = || scene.findings.iter().enumerate().filter(|(_, finding)| before(finding));
    let Some(earliest) = findings().min_by_key(|(_, found)| found.cycle) else { return };
    // Who has not set up formats has set up no MOP either: it is one call that is left out.
    let unset = findings().find(|(_, found)| found.hazard.id == h::C27.id);
    let (at, first) = match earliest.1.hazard.id {
        id if id == h::C23.id => unset.unwrap_or(earliest),
        _ => earliest,
    };
    explanation.led_by = Some(at);
    let symptom = std::mem::take(&mut explanation.headline);
    explanation.symptom = Some(symptom);
    explanation.headline = format!("{} ({} in {})", first.text, first.agent, first.place);
    // A run message that was overwritten is a class of its own.
    if hazard != Some(h::A12.id) {
        explanation.hazard = Some(first.hazard);
    }
}
