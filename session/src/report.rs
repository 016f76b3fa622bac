//! One explanation over many tiles.

use std::ops::Range;

use chip::{Chip, Hang, HostPoll, HungTile, Role, Stance};
use memory_map::layout::L1_BYTES;
use observe::why::hazards::{self, Hazard};
use observe::why::{CircularBuffer, End, Explanation, Judgement, Scene, casts, explain, pending};
use observe::{BuiltInNames, Names};
use serde::Serialize;
use sim_core::{AgentId, CoreId, Observer, WaitReason, Width};
use tile::{AgentWait, Tile, Verdict};

use crate::books::{Blank, Kept};
use crate::calls::{RETURN_ADDRESS, caller};
use crate::cause::{self, Cause, Evidence, Standpoint, Would};

/// Byte of a go message in which its signal is `[spec: boot-and-sync 1.5]`.
const GO_SIGNAL: u32 = 3;

/// What is known of a tile besides its state: names and buffers of the launch in force.
pub struct TileView {
    /// Names of its code.
    pub names: Box<dyn Names>,
    /// Circular buffers.
    pub circular: Vec<CircularBuffer>,
    /// Kernels by core, as their authors call them: `reader`, `compute.cpp`.
    pub kernels: Vec<(String, String)>,
    /// The operation that launched them.
    pub operation: Option<String>,
    /// Where the code of kernels lies in L1.
    pub code: Vec<(CoreId, Range<u32>)>,
}

impl Default for TileView {
    fn default() -> Self {
        Self {
            names: Box::new(BuiltInNames),
            circular: Vec::new(),
            kernels: Vec::new(),
            operation: None,
            code: Vec::new(),
        }
    }
}

impl std::fmt::Debug for TileView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TileView")
            .field("kernels", &self.kernels)
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}

/// Why something did not come where it was likely meant to; what is surest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Astray {
    /// A multicast leaves out the tile that sends it.
    Loopback,
    /// The corners of a multicast are the wrong way round for its NoC.
    Corners,
    /// The rectangle of a multicast leaves out the tile.
    Rectangle,
    /// It went to others that do the same as the tile.
    Peers,
    /// It went to another tile.
    Tile,
    /// It went to another word of the tile.
    Word,
}

impl Astray {
    /// Whether that is more than a suspicion: nothing of the kind is meant to be so.
    #[must_use]
    pub const fn is_sure(self) -> bool {
        matches!(self, Self::Loopback | Self::Corners | Self::Rectangle)
    }

    /// Whether the tile is among those the command is written for, whoever else may write the word.
    pub(crate) const fn names_the_tile(self) -> bool {
        matches!(self, Self::Loopback | Self::Corners)
    }

    /// The class of hang that comes of it.
    pub(crate) const fn hazard(self) -> Hazard {
        match self {
            Self::Peers | Self::Tile | Self::Word | Self::Corners => hazards::D1,
            Self::Rectangle => hazards::D2,
            Self::Loopback => hazards::D3,
        }
    }
}

impl std::fmt::Display for Astray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a multicast leaves out the tile that sends it unless it is told to",
            Self::Corners => "the corners are the wrong way round for that NoC, it went elsewhere",
            Self::Rectangle => "the rectangle leaves out this tile",
            Self::Peers => "to tiles that do the same as this one, and not to this one",
            Self::Tile => "to another tile, perhaps meant for this one",
            Self::Word => "to another word of this tile, perhaps meant for this one",
        })
    }
}

/// Something that was sent to an address on another tile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sender {
    /// The tile that sent, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// Its core.
    pub core: String,
    /// Function, file and line, or the pc.
    pub place: String,
    /// What and to where.
    pub what: String,
    /// Why it did not come where it was likely meant to, if it did not.
    pub astray: Option<Astray>,
    /// How often.
    pub count: u64,
    /// Cycle of the last one.
    pub last: u64,
    /// The tile has finished its launch.
    pub finished: bool,
    /// It went to a rectangle of tiles.
    #[serde(skip)]
    pub(crate) is_multicast: bool,
}

/// A tile that has written a word less often than others that run the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Behind {
    /// The tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// How often it has.
    pub count: u64,
    /// How often the others have.
    pub others: u64,
    /// The core, and where one of them writes.
    pub core: String,
    /// Function, file and line, or the pc.
    pub place: String,
    /// It has finished its launch.
    pub finished: bool,
}

/// A tile that waits for an answer to what it has not sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unasked {
    /// The tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// How often it has sent.
    pub count: u64,
    /// How often it was answered, the last time after the last of those.
    pub answers: u64,
    /// The core, and where it sends.
    pub core: String,
    /// Function, file and line, or the pc.
    pub place: String,
}

/// A tile that took what had ended one wait for the end of the next one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Stale {
    /// The tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// The core.
    pub core: String,
    /// The word that it waited for, by name.
    pub word: String,
    /// What it was waited for to be, and was.
    pub value: u32,
    /// Where the first wait ended: function, file and line, or the pc.
    pub first: String,
    /// Where the second one was over at once.
    pub again: String,
    /// When.
    pub cycle: u64,
}

/// A core that has set a word back after it waited for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SetBack {
    /// The core.
    pub core: String,
    /// What it had waited for the word to be.
    pub value: u32,
    /// The load of that wait.
    #[serde(skip)]
    pub(crate) pc: u32,
    /// Where it set the word back: function, file and line, or the pc.
    pub place: String,
}

/// The word that a tile waits for and that others write.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Remote {
    /// Its name.
    pub word: String,
    /// Its address.
    #[serde(skip)]
    pub(crate) addr: u32,
    /// Who has written it since the launch.
    pub arrived: Vec<Sender>,
    /// What went to the same address of other tiles and was likely meant for this one.
    pub elsewhere: Vec<Sender>,
    /// Tiles that run what the senders run, and have sent nothing.
    pub silent: Vec<(u8, u8)>,
    /// Tiles that run what other senders run, and have sent less often.
    pub behind: Vec<Behind>,
    /// Tiles that have finished and written no such word of any tile, while others that run the same have, if
    /// nobody has written this one.
    pub quit: Vec<Behind>,
    /// Tiles that have written it, were answered by this one, and wait for another answer.
    pub unasked: Vec<Unasked>,
    /// Of those who have written it: who went on with an old count.
    pub stale: Vec<Stale>,
    /// Cores of this tile that have set it back after their last wait for it.
    pub set_back: Vec<SetBack>,
    /// What this tile has sent itself to tiles on which no core runs.
    pub unheard: Vec<Sender>,
    /// How many have written it, if all of them as often as each other.
    #[serde(skip)]
    pub(crate) even: Option<u64>,
}

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

/// Why a chip, or some of its tiles, will not move again.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `DEADLOCK` or `HOST-WAIT`.
    pub verdict: &'static str,
    /// Cycle at which it was found.
    pub found: u64,
    /// Cycle at which it became unavoidable.
    pub closed: u64,
    /// What the host does meanwhile.
    pub host: String,
    /// The cause over all tiles.
    pub cause: Cause,
    /// Tiles that are stuck, the one with the cause first; alike ones once.
    pub tiles: Vec<TileReport>,
    /// Tiles that are within a kernel and not stuck, or serve others.
    pub bystanders: Vec<(u8, u8)>,
    /// Every tile on which somebody is stuck, in the order of their numbers.
    #[serde(skip)]
    pub(crate) standpoints: Vec<Standpoint>,
    /// The wait that is the root: indices of its tile among those, and of the wait there.
    #[serde(skip)]
    pub(crate) root: Option<(usize, usize)>,
}

/// How a tile is used, in a word.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Resting => "resting",
        Role::HostLaunched => "launched by the host",
        Role::DeviceLaunched => "launched by a dispatcher",
        Role::Dispatcher => "dispatcher",
        Role::Bare => "no runtime firmware",
    }
}

impl Report {
    /// What a trace says of it.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        let first = self.tiles.first();
        let own = first.and_then(|tile| tile.explanation.judgement());
        Judgement {
            verdict: self.verdict.to_owned(),
            hazard: self.cause.hazard,
            text: self.cause.headline.clone(),
            closed: self.closed,
            found: self.found,
            agent: own.as_ref().and_then(|own| own.agent),
            pc: own.and_then(|own| own.pc),
            tile: first.map(|tile| tile.tile),
        }
    }

    /// Whether somebody who waits stands at a place without a name.
    #[must_use]
    pub fn lacks_names(&self) -> bool {
        let waits = self.tiles.iter().flat_map(|tile| &tile.explanation.waits);
        waits.into_iter().any(|wait| wait.pc.is_some() && wait.code.is_none())
    }
}

/// What a host does that the chip waits for, or the other way round.
fn host<O: Observer + Send + 'static>(chip: &mut Chip<O>, hang: &Hang) -> String {
    if hang.polls.is_empty() {
        return match hang.stance {
            Stance::Free => "the host could do anything and end none of it".to_owned(),
            _ => "the host only lets time pass".to_owned(),
        };
    }
    let (goes, others): (Vec<_>, Vec<_>) = hang.polls.iter().partition(|poll| is_go(poll));
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

/// Whether a word is a go message.
fn is_go(poll: &HostPoll) -> bool {
    memory_map::mailbox::name(poll.addr).is_some_and(|name| name.starts_with("go_messages["))
}

/// A word that the host reads over and over, and of a go message what it waits to see there.
fn polled<O: Observer + Send + 'static>(chip: &mut Chip<O>, poll: &HostPoll) -> String {
    let place = chip.grid().tile(poll.tile);
    if !is_go(poll) {
        let name = memory_map::mailbox::name(poll.addr).unwrap_or_default();
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

/// A tile with the cores that have made a mistake among those who wait: they stay where they are.
fn with_erred<O: Observer>(tile: &Tile<O>, seen: &HungTile) -> HungTile {
    let mut hung = seen.clone();
    let erred = CoreId::ALL.into_iter().filter(|core| tile.has_erred(*core));
    hung.waits.extend(erred.map(|core| AgentWait {
        agent: AgentId::Core(core),
        reason: WaitReason::Halted,
        since: None,
        pc: Some(tile.erred_at(core)),
        word: None,
        held: None,
        reads: Vec::new(),
        enders: Vec::new(),
        stuck: true,
    }));
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
    for (link, wait) in report.explanation.waits.iter_mut().zip(&hung.waits) {
        let AgentId::Core(core) = wait.agent else { continue };
        if wait.reason == WaitReason::Halted && tile.has_erred(core) {
            let mut text = "has made a mistake and stays where it is".to_owned();
            if let Some(mistake) = tile.mistake(core) {
                text = format!("{text}: {}", mistake.message);
            }
            if let (None, Some(caller)) = (&link.code, &callers[core.index()]) {
                text = format!("{text} (called from {caller})");
            }
            let old = std::mem::replace(&mut link.text, text);
            let headline = &mut report.explanation.headline;
            *headline =
                headline.replace(&format!("{core} {old}"), &format!("{core} {}", link.text));
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
