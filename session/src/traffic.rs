//! Who on which tile has written the word that another tile waits for, and who missed it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chip::{Chip, Hang, HungTile, Role};
use sim_core::{AgentId, CoreId, Observer, WaitReason, Width};
use symbols::tile_names::TileNames;

use crate::lens::Sent;
use crate::report::{Remote, Report, Sender};

/// Lines of each kind.
const TOLD: usize = 6;

/// A tile with what it has sent since its launch.
#[derive(Debug)]
struct Station {
    number: u16,
    worker: (u8, u8),
    noc: (u8, u8),
    is_resting: bool,
    /// It launches others' kernels and writes nothing that they wait for.
    is_dispatcher: bool,
    names: Arc<TileNames>,
    sent: Vec<Sent>,
}

/// What all tiles have sent.
#[derive(Debug, Default)]
pub(crate) struct Traffic(Vec<Station>);

impl Station {
    /// Kernels by core; equal on tiles that do the same.
    fn kernels(&self) -> Vec<Option<&str>> {
        CoreId::ALL.iter().map(|core| self.names.kernel_name(*core)).collect()
    }

    fn sender(&self, sent: &Sent) -> Sender {
        let code = self.names.locate(sent.core, sent.pc).map(|location| {
            let frame = location.own_frame();
            frame.to_string()
        });
        let target = if sent.is_multicast() {
            let ((a, b), (c, d)) = (sent.other_corner(), sent.corner());
            format!("multicast to NoC ({a}, {b})-({c}, {d})")
        } else {
            let (x, y) = sent.corner();
            let verb = if sent.is_atomic() { "atomic" } else { "write" };
            format!("{verb} to NoC ({x}, {y})")
        };
        Sender {
            tile: self.worker,
            core: sent.core.name().to_owned(),
            place: code.unwrap_or_else(|| format!("pc {:#x}", sent.pc)),
            what: target,
            count: 1,
            last: sent.cycle,
            finished: self.is_resting,
        }
    }
}

/// Adds to a list in which equal ones only count.
fn add(list: &mut Vec<Sender>, sender: Sender) {
    let same = |old: &&mut Sender| {
        (old.tile, &old.core, &old.place, &old.what)
            == (sender.tile, &sender.core, &sender.place, &sender.what)
    };
    match list.iter_mut().find(same) {
        Some(old) => {
            old.count += 1;
            old.last = sender.last;
        }
        None => list.push(sender),
    }
}

impl Traffic {
    pub(crate) fn add(&mut self, tile: &HungTile, names: &Arc<TileNames>, sent: Vec<Sent>) {
        self.0.push(Station {
            number: tile.number,
            worker: tile.place.worker(),
            noc: (tile.place.logical.x, tile.place.logical.y),
            is_resting: tile.role == Role::Resting,
            is_dispatcher: tile.role == Role::Dispatcher,
            names: Arc::clone(names),
            sent,
        });
    }

    fn station(&self, worker: (u8, u8)) -> Option<&Station> {
        self.0.iter().find(|station| station.worker == worker)
    }

    /// The word of another tile's doing that is the cause on a tile, if it is one.
    fn awaited(hung: &HungTile, root: Option<usize>) -> Option<(AgentId, u32)> {
        let wait = hung.waits.get(root?)?;
        let of_mailbox = |addr| memory_map::mailbox::place(addr).is_some();
        let load = wait.reads.iter().find(|load| !load.device && !of_mailbox(load.addr))?;
        (wait.reason == WaitReason::Spin).then_some((wait.agent, load.addr))
    }

    /// Completes a report: per tile that waits for others who has written the word and who has missed it,
    /// and which tile has the cause.
    pub(crate) fn tell<O: Observer + Send + 'static>(
        &self,
        chip: &mut Chip<O>,
        hang: &Hang,
        report: &mut Report,
    ) {
        let mut edges: BTreeMap<(u8, u8), Vec<(u8, u8)>> = BTreeMap::new();
        for tile in &mut report.tiles {
            let Some(hung) = hang.tiles.iter().find(|hung| hung.place.worker() == tile.tile) else {
                continue;
            };
            let root = tile.explanation.chain.last().copied();
            let Some((_, addr)) = Self::awaited(hung, root) else { continue };
            let Some(own) = self.station(tile.tile) else { continue };
            let remote = self.remote(chip, own, addr);
            let from = remote.arrived.iter().chain(&remote.elsewhere).map(|sender| sender.tile);
            let mut from: Vec<_> = from.chain(remote.silent.iter().copied()).collect();
            from.retain(|other| *other != tile.tile);
            from.dedup();
            edges.insert(tile.tile, from);
            tile.remote = Some(remote);
        }
        order(report, &edges);
    }

    /// Everything that was sent to that address, of this tile or of another.
    fn remote<O: Observer + Send + 'static>(
        &self,
        chip: &mut Chip<O>,
        own: &Station,
        addr: u32,
    ) -> Remote {
        let (mut arrived, mut elsewhere) = (Vec::new(), Vec::new());
        let mut senders = Vec::new();
        for station in self.0.iter().filter(|station| !station.is_dispatcher) {
            for sent in station.sent.iter().filter(|sent| sent.addr == u64::from(addr)) {
                if sent.reaches(own.noc) {
                    add(&mut arrived, station.sender(sent));
                    if !senders.contains(&station.number) {
                        senders.push(station.number);
                    }
                } else if self.is_astray(chip, own, sent, addr) {
                    add(&mut elsewhere, station.sender(sent));
                }
            }
        }
        // Tiles that do what the senders do, and have not sent.
        let models: Vec<_> = self
            .0
            .iter()
            .filter(|station| senders.contains(&station.number))
            .map(Station::kernels)
            .collect();
        let silent = self.0.iter().filter(|station| {
            station.number != own.number
                && !senders.contains(&station.number)
                && station.kernels().iter().any(Option::is_some)
                && models.contains(&station.kernels())
        });
        let mut remote = Remote {
            word: own.names.launch().and_then(|launch| launch.semaphore(addr)).map_or_else(
                || format!("L1 word {addr:#x}"),
                |index| format!("semaphore {index} ({addr:#x})"),
            ),
            silent: silent.map(|station| station.worker).take(TOLD).collect(),
            arrived,
            elsewhere,
        };
        remote.arrived.truncate(TOLD);
        remote.elsewhere.truncate(TOLD);
        remote
    }

    /// Whether something sent to the same address of other tiles was likely meant for this one: a
    /// multicast to tiles that run the same kernels, or a count that nobody there has taken.
    fn is_astray<O: Observer + Send + 'static>(
        &self,
        chip: &mut Chip<O>,
        own: &Station,
        sent: &Sent,
        addr: u32,
    ) -> bool {
        let receivers = self.0.iter().filter(|station| sent.reaches(station.noc));
        for receiver in receivers {
            if sent.is_multicast() {
                if receiver.kernels() == own.kernels() {
                    return true;
                }
                continue;
            }
            let left = chip.inspect(receiver.number, |tile| tile.l1_value(addr, Width::Word));
            if left != 0 && receiver.number != own.number {
                return true;
            }
        }
        false
    }
}

/// The tile with the cause first: one that waits for nobody else on the chip, or that something has missed;
/// of those that wait for others one whose others are not stuck.
fn order(report: &mut Report, edges: &BTreeMap<(u8, u8), Vec<(u8, u8)>>) {
    let stuck: Vec<(u8, u8)> = report
        .tiles
        .iter()
        .flat_map(|tile| tile.alike.iter().copied().chain([tile.tile]))
        .collect();
    let mut at = 0;
    report.tiles.sort_by_cached_key(|tile| {
        at += 1;
        let missed = tile.remote.as_ref().is_some_and(|remote| !remote.elsewhere.is_empty());
        let others = edges.get(&tile.tile);
        let waits = others.is_some_and(|others| others.iter().any(|other| stuck.contains(other)));
        (
            tile.role == "dispatcher",
            tile.awaits_others && waits && !missed,
            !missed,
            tile.awaits_others,
            at,
        )
    });
}
