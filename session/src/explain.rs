//! Explains a hang over many tiles, from their state and from what was kept of them.

use chip::{Chip, Hang, HostPoll, HungTile, Role, Stance};
use memory_map::layout::L1_BYTES;
use memory_map::mailbox::{Layout, Place};
use observe::why::{End, Explanation, Scene, casts, explain, pending};
use sim_core::{AgentId, CoreId, Observer, ThreadId, WaitReason, Width};
use tile::{AgentWait, Tile, Verdict};

use crate::books::{Blank, Kept};
use crate::calls::{RETURN_ADDRESS, caller};
use crate::cause;
use crate::remote::Evidence;
use crate::report::{Cause, Report};
use crate::standpoint::{Standpoint, TileReport, Would};
use crate::tiles::role;
use crate::view::TileView;

/// Byte of a go message in which its signal is `[spec: boot-and-sync 1.5]`.
const GO_SIGNAL: u32 = 3;

/// What a host does that the chip waits for, or the other way round.
fn host<O: Observer + Send + 'static>(chip: &mut Chip<O>, hang: &Hang) -> String {
    if hang.polls.is_empty() {
        return match hang.stance {
            Stance::Free => "the host could do anything and end none of it".to_owned(),
            _ => "the host only lets time pass".to_owned(),
        };
    }
    let (goes, others): (Vec<_>, Vec<_>) =
        hang.polls.iter().partition(|poll| is_go(chip.mailbox_layout(), poll));
    // What it waits for first. A server of prints reads the same word of every tile.
    let mut groups: Vec<(&HostPoll, usize)> = goes.into_iter().map(|poll| (poll, 1)).collect();
    let single = groups.len();
    for poll in others {
        match groups[single..].iter_mut().find(|(first, _)| first.addr == poll.addr) {
            Some((_, count)) => *count += 1,
            None => groups.push((poll, 1)),
        }
    }
    let shown = groups.len().min(3);
    let mut words: Vec<String> = Vec::new();
    for &(poll, count) in &groups[..shown] {
        let more = match count - 1 {
            0 => String::new(),
            1 => " and of another tile".to_owned(),
            more => format!(" and of {more} more tiles"),
        };
        words.push(polled(chip, poll) + &more);
    }
    let more: usize = groups[shown..].iter().map(|(_, count)| count).sum();
    if more > 0 {
        words.push(format!("{more} {} more", if more == 1 { "word" } else { "words" }));
    }
    format!("the host polls {}", words.join(", "))
}

/// The name of a word of the mailbox block.
fn name(layout: &Layout, poll: &HostPoll) -> Option<String> {
    layout.place(poll.addr).map(Place::into_name)
}

/// Whether a word is a go message.
fn is_go(layout: &Layout, poll: &HostPoll) -> bool {
    name(layout, poll).is_some_and(|name| name.starts_with("go_messages["))
}

/// A word that the host reads over and over, and of a go message what it waits to see there.
fn polled<O: Observer + Send + 'static>(chip: &mut Chip<O>, poll: &HostPoll) -> String {
    let place = chip.grid().tile(poll.tile);
    let layout = chip.mailbox_layout();
    if !is_go(layout, poll) {
        let name = name(layout, poll).unwrap_or_default();
        let name = if name.is_empty() { format!("the word at {:#x}", poll.addr) } else { name };
        return format!("{name} of {place}");
    }
    let signal = (poll.addr & !3) + GO_SIGNAL;
    let value = chip.inspect(poll.tile, |tile| tile.l1_value(signal, Width::Byte));
    let known = observe::signal_name("go_messages[0].signal", value);
    let known = known.map_or_else(|| format!("{value:#x}"), |name| name.replace("RUN_MSG_", ""));
    format!("the go message of {place} for DONE (it is {known})")
}

/// Whether the wait that is the cause on a tile could be ended from another one.
fn awaits_others(explanation: &Explanation, waits: &[AgentWait]) -> bool {
    let Some(root) = explanation.chain.last() else { return false };
    let Some(wait) = waits.get(*root) else { return false };
    let of_mailbox = |addr| memory_map::mailbox::place(addr).is_some();
    wait.reason == WaitReason::Spin
        && wait.reads.iter().any(|load| !load.device && !of_mailbox(load.addr))
}

/// Explains a hang. `view` says what is known of a tile; tiles are asked for in the order of their numbers.
pub fn report<O: Kept + Send + 'static>(
    chip: &mut Chip<O>,
    hang: &Hang,
    mut view: impl FnMut(&Tile<O>, &HungTile) -> TileView,
) -> Report {
    let mut standpoints = Vec::new();
    let mut bystanders = Vec::new();
    for seen in &hang.tiles {
        let hung = chip.inspect(seen.number, |tile| with_erred(tile, seen));
        if hung.is_stuck() {
            standpoints.push(chip.inspect(hung.number, |tile| {
                let view = view(tile, &hung);
                standpoint(tile, hung, hang, view)
            }));
        } else if hung.role != Role::Resting {
            bystanders.push(hung.place.worker());
        }
    }
    let mut report = Report {
        verdict: hang.verdict.name(),
        found: hang.found.0,
        closed: hang.closed.0,
        host: host(chip, hang),
        cause: Cause::default(),
        tiles: Vec::new(),
        bystanders,
        standpoints,
        root: None,
    };
    cause::find(&mut report, &Evidence::default());
    report
}

/// A tile with the cores and threads that have made a mistake among those who wait: they stay where they are.
fn with_erred<O: Observer>(tile: &Tile<O>, seen: &HungTile) -> HungTile {
    let mut hung = seen.clone();
    let stays = |agent, pc, word| AgentWait {
        agent,
        reason: WaitReason::Halted,
        since: None,
        pc,
        word,
        held: None,
        reads: Vec::new(),
        enders: Vec::new(),
        stuck: true,
    };
    let erred = CoreId::ALL.into_iter().filter(|core| tile.has_erred(*core));
    let erred = erred.map(|core| stays(AgentId::Core(core), Some(tile.erred_at(core)), None));
    hung.waits.extend(erred);
    for thread in ThreadId::ALL {
        let agent = AgentId::Thread(thread);
        let Some(mistake) = tile.mistake(agent) else { continue };
        // What stands behind it waits for nothing else.
        hung.waits.retain(|wait| wait.agent != agent);
        hung.waits.push(stays(agent, mistake.at.pc, mistake.at.word));
    }
    hung
}

/// A tile, explained, with what its cores would send.
fn standpoint<O: Kept>(tile: &Tile<O>, hung: HungTile, hang: &Hang, view: TileView) -> Standpoint {
    let mut would = Vec::new();
    for (wait, waits) in hung.waits.iter().enumerate().filter(|(_, waits)| waits.stuck) {
        would.extend(pending(tile, waits).into_iter().map(|pending| {
            let code = view.names.site(pending.core, pending.pc);
            let place = code.map_or_else(|| format!("pc {:#x}", pending.pc), |c| c.to_string());
            Would { wait, pending, place }
        }));
    }
    // Who jumped to nowhere has at least been called from somewhere.
    let callers = CoreId::ALL.map(|core| {
        let link = tile.has_erred(core).then(|| tile.core(core).register(RETURN_ADDRESS))?;
        caller(&*view.names, core, link)
    });
    let mut report = explain_tile(tile, &hung, hang, view);
    let Explanation { headline, symptom, waits, .. } = &mut report.explanation;
    for (link, wait) in waits.iter_mut().zip(&hung.waits) {
        let Some(mistake) = tile.mistake(wait.agent) else { continue };
        let mut text = format!("has made a mistake and stays where it is: {}", mistake.message);
        if let AgentId::Core(core) = wait.agent
            && let (None, Some(caller)) = (&link.code, &callers[core.index()])
        {
            text = format!("{text} (called from {caller})");
        }
        let old = std::mem::replace(&mut link.text, text);
        let told = [old, link.text.clone()].map(|text| format!("{} {text}", wait.agent));
        for text in symptom.iter_mut().chain([&mut *headline]) {
            *text = text.replace(&told[0], &told[1]);
        }
    }
    Standpoint { hung, tile: report, would }
}

pub(crate) fn explain_tile<O: Kept>(
    tile: &Tile<O>,
    hung: &HungTile,
    hang: &Hang,
    view: TileView,
) -> TileReport {
    let blank = Blank::of(tile);
    let books = tile.observer().books().unwrap_or_else(|| blank.books());
    let mut findings = tile.observer().findings();
    findings.extend(view.code.iter().filter_map(|(core, range)| {
        let byte = |addr| tile.l1_value(addr, Width::Byte) as u8;
        let code: Vec<u8> = range.clone().take_while(|addr| *addr < L1_BYTES).map(byte).collect();
        casts(*core, range.start, &code, &*view.names)
    }));
    let since = hung.waits.iter().filter(|wait| wait.stuck).filter_map(|wait| wait.since).max();
    let scene = Scene {
        end: match hang.verdict {
            Verdict::Deadlock => End::Deadlock,
            Verdict::HostWait => End::HostWait,
        },
        wrong: None,
        found: hang.found.0,
        closed: since.map(|since| since.0),
        waits: &hung.waits,
        ledger: books.ledger,
        findings: &findings,
        machine: tile,
        loops: books.loops,
        polled: books.polled,
        names: &*view.names,
        circular: &view.circular,
        launches: &[],
    };
    let explanation = explain(&scene, None);
    TileReport {
        tile: hung.place.worker(),
        noc: (hung.place.logical.x, hung.place.logical.y),
        role: role(hung.role),
        kernels: view.kernels,
        operation: view.operation,
        awaits_others: awaits_others(&explanation, &hung.waits),
        explanation,
        alike: Vec::new(),
        remote: None,
        requests: Vec::new(),
    }
}
