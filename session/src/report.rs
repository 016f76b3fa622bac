//! One explanation over many tiles.

use std::collections::BTreeMap;

use chip::{Chip, Hang, HungTile, Role, Stance};
use observe::why::{CircularBuffer, End, Explanation, Scene, explain};
use observe::{BuiltInNames, Names};
use serde::Serialize;
use sim_core::{AgentId, WaitReason};
use tile::{AgentWait, Tile, Verdict};

use crate::books::{Blank, Kept};

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
}

impl Default for TileView {
    fn default() -> Self {
        Self {
            names: Box::new(BuiltInNames),
            circular: Vec::new(),
            kernels: Vec::new(),
            operation: None,
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

/// Something that was sent to an address on another tile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sender {
    /// The tile that sent.
    pub tile: (u8, u8),
    /// Its core.
    pub core: String,
    /// Function, file and line, or the pc.
    pub place: String,
    /// What and to where.
    pub what: String,
    /// How often.
    pub count: u64,
    /// Cycle of the last one.
    pub last: u64,
    /// The tile has finished its launch.
    pub finished: bool,
}

/// The word that a tile waits for and that others write.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Remote {
    /// Its name.
    pub word: String,
    /// Who has written it since the launch.
    pub arrived: Vec<Sender>,
    /// What went to the same address of other tiles and was likely meant for this one.
    pub elsewhere: Vec<Sender>,
    /// Tiles that run what the senders run, and have sent nothing.
    pub silent: Vec<(u8, u8)>,
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
    /// Tiles that are stuck, the one with the cause first; alike ones once.
    pub tiles: Vec<TileReport>,
    /// Tiles that are within a kernel and not stuck, or serve others.
    pub bystanders: Vec<(u8, u8)>,
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
    /// Whether somebody who waits stands at a place without a name.
    #[must_use]
    pub fn lacks_names(&self) -> bool {
        let waits = self.tiles.iter().flat_map(|tile| &tile.explanation.waits);
        waits.into_iter().any(|wait| wait.pc.is_some() && wait.code.is_none())
    }
}

/// What a host does that the chip waits for, or the other way round.
fn host(hang: &Hang, places: &BTreeMap<u16, (u8, u8)>) -> String {
    if hang.polls.is_empty() {
        return match hang.stance {
            Stance::Free => "the host could do anything and end none of it".to_owned(),
            _ => "the host only lets time pass".to_owned(),
        };
    }
    let word = |poll: &chip::HostPoll| {
        let (x, y) = places.get(&poll.tile).copied().unwrap_or_default();
        let name = memory_map::mailbox::name(poll.addr);
        let name = name.unwrap_or_else(|| format!("the word at {:#x}", poll.addr));
        format!("{name} of tile ({x}, {y})")
    };
    let mut words: Vec<_> = hang.polls.iter().take(3).map(word).collect();
    if hang.polls.len() > words.len() {
        words.push(format!("{} words more", hang.polls.len() - words.len()));
    }
    format!("the host polls {}", words.join(", "))
}

/// Whether the wait that is the cause on a tile could be ended from another one.
fn awaits_others(explanation: &Explanation, waits: &[AgentWait]) -> bool {
    let Some(root) = explanation.chain.last() else { return false };
    let Some(wait) = waits.get(*root) else { return false };
    let of_mailbox = |addr| memory_map::mailbox::place(addr).is_some();
    wait.reason == WaitReason::Spin
        && wait.reads.iter().any(|load| !load.device && !of_mailbox(load.addr))
}

/// What two tiles have in common that stand in the same way: per agent, the pc and whether it is stuck.
type Posture = Vec<(AgentId, Option<u32>, bool)>;

fn posture(tile: &HungTile) -> Posture {
    tile.waits.iter().map(|wait| (wait.agent, wait.pc, wait.stuck)).collect()
}

/// Explains a hang. `view` says what is known of a tile; tiles are asked for in the order of their
/// numbers, each once per posture.
pub fn report<O: Kept + Send + 'static>(
    chip: &mut Chip<O>,
    hang: &Hang,
    mut view: impl FnMut(&Tile<O>, &HungTile) -> TileView,
) -> Report {
    let places = hang.tiles.iter().map(|tile| (tile.number, tile.place.worker())).collect();
    let mut tiles: Vec<(u64, TileReport)> = Vec::new();
    let mut known: Vec<(Posture, usize)> = Vec::new();
    for hung in hang.stuck() {
        let posture = posture(hung);
        if let Some((_, at)) = known.iter().find(|(other, _)| *other == posture) {
            tiles[*at].1.alike.push(hung.place.worker());
            continue;
        }
        known.push((posture, tiles.len()));
        let one = chip.inspect(hung.number, |tile| {
            let view = view(tile, hung);
            explain_tile(tile, hung, hang, view)
        });
        let since = hung.waits.iter().filter(|wait| wait.stuck).filter_map(|wait| wait.since);
        tiles.push((since.min().map_or(u64::MAX, |since| since.0), one));
    }
    // A tile that waits for nobody else has the cause; of several the one that stopped first.
    tiles.sort_by_key(|(since, tile)| (tile.role == "dispatcher", tile.awaits_others, *since));
    let busy = hang.tiles.iter().filter(|tile| tile.role != Role::Resting && !tile.is_stuck());
    Report {
        verdict: hang.verdict.name(),
        found: hang.found.0,
        closed: hang.closed.0,
        host: host(hang, &places),
        tiles: tiles.into_iter().map(|(_, tile)| tile).collect(),
        bystanders: busy.map(|tile| tile.place.worker()).collect(),
    }
}

fn explain_tile<O: Kept>(
    tile: &Tile<O>,
    hung: &HungTile,
    hang: &Hang,
    view: TileView,
) -> TileReport {
    let blank = Blank::new();
    let books = tile.observer().books().unwrap_or_else(|| blank.books());
    let findings = tile.observer().findings();
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
    }
}
