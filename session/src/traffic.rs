//! Who on which tile has written the word that another tile waits for, and who missed it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chip::{Chip, Grid, Hang, HungTile, Role};
use observe::why::CountWaits;
use sim_core::{AgentId, CoreId, Observer, WaitReason, Width};
use symbols::catalog::Catalog;
use symbols::launch::Launch;
use symbols::tile_names::TileNames;
use tile::Tile;

use crate::cause;
use crate::eye::Eye;
use crate::lens::{Lens, NEAR, Sent, Served};
use crate::names::read_names;
use crate::remote::{Astray, Behind, Evidence, Remote, Sender, SetBack, Stale, Unasked};
use crate::report::Report;

/// Lines of each kind.
const TOLD: usize = 6;
/// So many tiles get the same from one that another of them should get it too.
const SEVERAL: usize = 2;

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
    /// Equal commands once, with the cycle of the last one, and how many there were.
    sent: Vec<(Sent, u64)>,
    /// What has come from others, if that is known.
    served: Option<BTreeSet<Served>>,
    last: Vec<Sent>,
    /// Words that cores of the tile write themselves, about those that they wait for.
    used: BTreeSet<u32>,
    /// Its waits for words that others raise, if they were watched.
    counts: Option<CountWaits>,
}

/// What all tiles have sent.
#[derive(Debug, Default)]
pub(crate) struct Traffic(Vec<Station>);

/// The tiles of a rectangle as written, by the names of its corners.
fn rectangle(grid: &Grid, sent: &Sent) -> String {
    format!("{} to {}", grid.name(sent.other_corner()), grid.name(sent.corner()))
}

/// A word of L1 as people call it.
fn word_name(launch: Option<&Launch>, addr: u32) -> String {
    launch.and_then(|launch| launch.semaphore(addr)).map_or_else(
        || format!("L1 word {addr:#x}"),
        |index| format!("semaphore {index} ({addr:#x})"),
    )
}

/// What was sent, and to where.
pub(crate) fn what(grid: &Grid, sent: &Sent) -> String {
    let receiver = grid.name(sent.corner());
    match (sent.is_multicast(), sent.is_read(), sent.is_atomic()) {
        (true, ..) => format!("multicast on NoC {} to {}", sent.noc, rectangle(grid, sent)),
        (_, true, _) => format!("read of {receiver}"),
        (.., true) => format!("atomic to {receiver}"),
        _ => format!("write to {receiver}"),
    }
}

impl Station {
    /// Kernels by core; equal on tiles that do the same.
    fn kernels(&self) -> Vec<Option<&str>> {
        CoreId::ALL.iter().map(|core| self.names.kernel_identity(*core)).collect()
    }

    /// Whether a tile does what another one does, as far as that can be told.
    fn is_like(&self, other: &Self) -> bool {
        match self.kernels().iter().any(Option::is_some) {
            true => self.kernels() == other.kernels(),
            false => !self.sent.is_empty() && !other.sent.is_empty(),
        }
    }

    fn place(&self, sent: &Sent) -> String {
        self.line(sent.core, sent.pc)
    }

    fn line(&self, core: CoreId, pc: u32) -> String {
        let code = self.names.locate(core, pc);
        code.map_or_else(|| format!("pc {pc:#x}"), |code| code.own_frame().to_string())
    }

    fn sender(&self, grid: &Grid, (sent, count): (&Sent, u64), astray: Option<Astray>) -> Sender {
        Sender {
            tile: self.worker,
            noc: self.noc,
            core: sent.core.name().to_owned(),
            place: self.place(sent),
            what: what(grid, sent),
            astray,
            count,
            last: sent.cycle,
            finished: self.is_resting,
            is_multicast: sent.is_multicast(),
        }
    }

    /// One request with where and how much.
    fn request(&self, grid: &Grid, sent: &Sent) -> Sender {
        let mut sender = self.sender(grid, (sent, 1), None);
        let tiles = match sent.is_multicast().then(|| self.recipients(grid, sent)) {
            None => String::new(),
            Some(1) => " of one tile".to_owned(),
            Some(tiles) => format!(" of {tiles} tiles"),
        };
        sender.what = format!("{}, {} bytes at {:#x}{tiles}", sender.what, sent.bytes, sent.addr);
        sender
    }

    /// How many tiles a multicast of this one goes to.
    fn recipients(&self, grid: &Grid, sent: &Sent) -> usize {
        let gets = |noc: (u8, u8)| sent.reaches(noc) && (noc != self.noc || sent.loops_back());
        grid.tensix().filter(|tile| gets((tile.logical.x, tile.logical.y))).count()
    }

    /// Whether a core here has looked at a word that others raise, as far as that is known.
    fn looks_at(&self, word: u32) -> bool {
        self.counts.as_ref().and_then(|counts| counts.looks_at(word)).unwrap_or(false)
    }

    /// What ended the waits of this tile for a word before, if who waited has set it back then.
    fn set_back(&self, word: u32) -> Vec<SetBack> {
        let counts = self.counts.as_ref();
        let of = |core: CoreId| {
            let last = counts?.last(core, word)?;
            let (value, place) = (last.value, self.line(core, last.set_back?));
            Some(SetBack { core: core.name().to_owned(), value, pc: last.pc, place })
        };
        CoreId::ALL.into_iter().filter_map(of).collect()
    }

    /// Whether something was carried out here; as far as that is not known, whether its coordinates say so.
    fn has_got(&self, from: &Self, sent: &Sent) -> bool {
        if self.number == from.number {
            return sent.reaches(self.noc) && (!sent.is_multicast() || sent.loops_back());
        }
        match &self.served {
            Some(served) => served.contains(&Served {
                source: from.number,
                noc: sent.noc,
                control: sent.control,
                addr: sent.addr,
            }),
            None => sent.reaches(self.noc),
        }
    }
}

/// Equal commands once, the last of each, with their number.
fn counted<'a>(sent: impl Iterator<Item = &'a Sent>) -> Vec<(Sent, u64)> {
    let mut list: Vec<(Sent, u64)> = Vec::new();
    for sent in sent {
        match list.iter_mut().find(|(old, _)| Sent { cycle: sent.cycle, ..*old } == *sent) {
            Some((old, count)) => (*old, *count) = (*sent, *count + 1),
            None => list.push((*sent, 1)),
        }
    }
    list
}

/// How many tiles have sent, if all of them as often.
fn even(arrived: &[Sender]) -> Option<u64> {
    let mut tiles: BTreeMap<(u8, u8), u64> = BTreeMap::new();
    for sender in arrived {
        *tiles.entry(sender.tile).or_default() += sender.count;
    }
    let first = *tiles.values().next()?;
    tiles.values().all(|count| *count == first).then_some(tiles.len() as u64)
}

/// Adds to a list in which equal ones only count.
fn add(list: &mut Vec<Sender>, sender: Sender) {
    let same = |old: &&mut Sender| {
        (old.tile, &old.core, &old.place, &old.what)
            == (sender.tile, &sender.core, &sender.place, &sender.what)
    };
    match list.iter_mut().find(same) {
        Some(old) => {
            old.count += sender.count;
            old.last = old.last.max(sender.last);
        }
        None => list.push(sender),
    }
}

/// Names of tiles by their numbers.
pub(crate) type NamesOf = BTreeMap<u16, Arc<TileNames>>;

impl Traffic {
    /// What those tiles have sent, and their names.
    pub(crate) fn gather<'t>(
        chip: &mut Chip<Eye<Lens>>,
        tiles: impl IntoIterator<Item = &'t HungTile>,
        catalog: &Catalog,
    ) -> (Self, NamesOf) {
        let (mut traffic, mut names) = (Self::default(), NamesOf::new());
        for tile in tiles {
            let own = chip.inspect(tile.number, |machine| {
                let own = read_names(machine, catalog);
                traffic.add(tile, &own, machine.observer().sink());
                own
            });
            names.insert(tile.number, own);
        }
        (traffic, names)
    }

    pub(crate) fn add(&mut self, tile: &HungTile, names: &Arc<TileNames>, lens: &Lens) {
        self.0.push(Station {
            number: tile.number,
            worker: tile.place.worker(),
            noc: (tile.place.logical.x, tile.place.logical.y),
            is_resting: tile.role == Role::Resting,
            is_dispatcher: tile.role == Role::Dispatcher,
            names: Arc::clone(names),
            sent: counted(lens.sent()),
            served: lens.served().map(BTreeSet::from_iter),
            last: lens.last().copied().collect(),
            used: lens.used().collect(),
            counts: lens.counts().cloned(),
        });
    }

    fn station(&self, worker: (u8, u8)) -> Option<&Station> {
        self.0.iter().find(|station| station.worker == worker)
    }

    /// Completes a report: for each word that a tile waits for and others write who has written it and who
    /// has missed it; then which tile has the cause.
    pub(crate) fn tell<O: Observer + Send + 'static>(
        &self,
        chip: &mut Chip<O>,
        hang: &Hang,
        report: &mut Report,
    ) {
        let grid = chip.grid().clone();
        let mut evidence = Evidence::default();
        for hung in &hang.tiles {
            let Some(own) = self.station(hung.place.worker()) else { continue };
            for addr in report.awaited(own.worker) {
                let mut remote = self.remote(chip, &grid, own, addr);
                remote.unasked = self.unasked(own, addr, |tile| report.awaited(tile));
                evidence.remotes.insert((own.worker, addr), remote);
            }
            let requests = self.requests(&grid, own, hung);
            if !requests.is_empty() {
                evidence.requests.insert(own.worker, requests);
            }
        }
        cause::find(report, &evidence);
    }

    /// The last requests of each tile, equal ones once, those of the latest first.
    pub(crate) fn latest(&self, grid: &Grid) -> Vec<Sender> {
        let mut list = Vec::new();
        for own in &self.0 {
            for sent in &own.last {
                add(&mut list, own.request(grid, sent));
            }
        }
        list.sort_by_key(|sender| std::cmp::Reverse(sender.last));
        list
    }

    /// The last requests of the cores that wait for a counter of a NoC interface, on that NoC.
    fn requests(&self, grid: &Grid, own: &Station, hung: &HungTile) -> Vec<Sender> {
        let mut list = Vec::new();
        for wait in hung.waits.iter().filter(|wait| wait.stuck) {
            let counts = |noc: u8| {
                let busy = matches!(
                    wait.reason,
                    WaitReason::NocInitiatorBusy { noc: busy, .. } if busy == noc
                );
                busy || wait.reads.iter().any(|load| load.device)
                    && wait.enders.contains(&AgentId::Noc(noc))
                    && !wait.enders.contains(&AgentId::Host)
            };
            let AgentId::Core(core) = wait.agent else { continue };
            let sent = own.last.iter().filter(|sent| sent.core == core && counts(sent.noc));
            for sent in sent {
                add(&mut list, own.request(grid, sent));
            }
        }
        let surplus = list.len().saturating_sub(TOLD);
        list.drain(..surplus);
        list
    }

    /// Everything that was sent to that address, of this tile or of another.
    fn remote<O: Observer + Send + 'static>(
        &self,
        chip: &mut Chip<O>,
        grid: &Grid,
        own: &Station,
        addr: u32,
    ) -> Remote {
        let (mut arrived, mut elsewhere) = (Vec::new(), Vec::new());
        let mut senders = Vec::new();
        for station in self.0.iter().filter(|station| !station.is_dispatcher) {
            let mut astray = Vec::new();
            for (sent, count) in &station.sent {
                if sent.addr == u64::from(addr) && own.has_got(station, sent) {
                    add(&mut arrived, station.sender(grid, (sent, *count), None));
                    if !senders.contains(&station.number) {
                        senders.push(station.number);
                    }
                } else if let Some(why) = self.astray(chip, (own, addr), station, sent) {
                    add(&mut astray, station.sender(grid, (sent, *count), Some(why)));
                }
            }
            // Who has written here before knows where to.
            if !senders.contains(&station.number) {
                elsewhere.extend(astray);
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
            word: word_name(own.names.launch(), addr),
            addr,
            silent: silent.map(|station| station.worker).take(TOLD).collect(),
            behind: self.behind(own, &arrived),
            quit: if arrived.is_empty() { self.quit(own, addr) } else { Vec::new() },
            unasked: Vec::new(),
            stale: self.stale(&senders),
            set_back: own.set_back(addr),
            unheard: self.unheard(chip, grid, own),
            even: even(&arrived),
            arrived,
            elsewhere,
        };
        // Whom this tile has sent something itself is likely to owe it an answer. Of several that write a word beside this
        // one he has answered so: it is the other one who is wrong.
        let is_asked = |sender: &Sender| own.sent.iter().any(|(sent, _)| sent.reaches(sender.noc));
        let beside = remote.elsewhere.iter().filter(|sender| sender.astray == Some(Astray::Word));
        let beside: BTreeSet<_> = beside.map(|sender| sender.tile).collect();
        remote.elsewhere.sort_by_key(|sender| {
            let is_odd = sender.astray == Some(Astray::Word) && beside.len() > 1;
            (sender.astray, is_asked(sender) == is_odd)
        });
        remote.arrived.truncate(TOLD);
        remote.elsewhere.truncate(TOLD);
        remote
    }

    /// Who of those that run the same has written less often than the others. Where only one has written,
    /// the rest may have no business with the word.
    fn behind(&self, own: &Station, arrived: &[Sender]) -> Vec<Behind> {
        let times = |station: &Station| {
            let of = arrived.iter().filter(|sender| sender.tile == station.worker);
            of.map(|sender| sender.count).sum::<u64>()
        };
        let mut behind = Vec::new();
        for station in self.0.iter().filter(|station| station.number != own.number) {
            if !station.kernels().iter().any(Option::is_some) {
                continue;
            }
            let count = times(station);
            let like: Vec<&Station> = self
                .0
                .iter()
                .filter(|other| other.number != station.number && other.is_like(station))
                .filter(|other| times(other) > count)
                .collect();
            let Some(most) = like.iter().map(|other| times(other)).max() else { continue };
            if count == 0 && like.len() < SEVERAL {
                continue;
            }
            let tile = if count > 0 { station.worker } else { like[0].worker };
            let Some(sender) = arrived.iter().find(|sender| sender.tile == tile) else { continue };
            behind.push(Behind {
                tile: station.worker,
                noc: station.noc,
                count,
                others: most,
                core: sender.core.clone(),
                place: sender.place.clone(),
                finished: station.is_resting,
            });
        }
        behind
    }

    /// Who has finished without a write to that address of any tile, where several that run the same have made one:
    /// each of them to its neighbour, perhaps.
    fn quit(&self, own: &Station, addr: u32) -> Vec<Behind> {
        let sent = |station: &Station| {
            let to_it = station.sent.iter().filter(|(sent, _)| sent.addr == u64::from(addr));
            to_it.max_by_key(|(sent, _)| sent.cycle).copied()
        };
        let is_silent = |station: &&Station| {
            let runs = station.kernels().iter().any(Option::is_some);
            station.number != own.number && station.is_resting && runs && sent(station).is_none()
        };
        let quit = self.0.iter().filter(is_silent).filter_map(|station| {
            let like = self.0.iter().filter(|other| other.kernels() == station.kernels());
            let like: Vec<_> = like.filter_map(|other| Some((other, sent(other)?))).collect();
            let (model, (last, others)) = *like.first().filter(|_| like.len() >= SEVERAL)?;
            Some(Behind {
                tile: station.worker,
                noc: station.noc,
                count: 0,
                others,
                core: last.core.name().to_owned(),
                place: model.place(&last),
                finished: true,
            })
        });
        quit.take(TOLD).collect()
    }

    /// Who has written a word of this tile, was answered by it each time, and waits for another answer without having
    /// written again: the last thing between the two was the answer. Who answers, the other way round, has
    /// sent the last thing itself, and who asks several times in advance has asked more often than it was answered.
    fn unasked(
        &self,
        own: &Station,
        addr: u32,
        awaited: impl Fn((u8, u8)) -> Vec<u32>,
    ) -> Vec<Unasked> {
        let between = |from: &'_ Station, to: &Station, addr: u32| {
            let sent = from.sent.iter().filter(|(sent, _)| sent.addr == u64::from(addr));
            let sent: Vec<_> = sent.filter(|(sent, _)| to.has_got(from, sent)).copied().collect();
            let count: u64 = sent.iter().map(|(_, count)| count).sum();
            let last = sent.into_iter().map(|(sent, _)| sent).max_by_key(|sent| sent.cycle);
            last.map(|last| (count, last))
        };
        let others = self.0.iter().filter(|other| other.number != own.number);
        let unasked = others.filter(|other| !other.is_dispatcher).filter_map(|other| {
            let (count, last) = between(other, own, addr)?;
            let mut answers =
                awaited(other.worker).into_iter().filter_map(|word| between(own, other, word));
            let (answers, _) =
                answers.find(|(answers, answer)| *answers >= count && answer.cycle > last.cycle)?;
            Some(Unasked {
                tile: other.worker,
                noc: other.noc,
                count,
                answers,
                core: last.core.name().to_owned(),
                place: other.place(&last),
            })
        });
        unasked.collect()
    }

    /// Which of some tiles went on with a count that had ended a wait of theirs before.
    fn stale(&self, senders: &[u16]) -> Vec<Stale> {
        let senders = self.0.iter().filter(|station| senders.contains(&station.number));
        let stale = senders.flat_map(|station| {
            let launch = station.names.launch();
            let found = station.counts.as_ref().map(CountWaits::found).unwrap_or_default();
            found.into_iter().map(move |stale| Stale {
                tile: station.worker,
                noc: station.noc,
                core: stale.core.name().to_owned(),
                word: word_name(launch, stale.word),
                value: stale.value,
                first: station.line(stale.core, stale.first),
                again: station.line(stale.core, stale.again.0),
                cycle: stale.again.1,
            })
        });
        stale.take(TOLD).collect()
    }

    /// What a tile has sent to others on which no core runs: nobody there answers.
    fn unheard<O: Observer + Send + 'static>(
        &self,
        chip: &mut Chip<O>,
        grid: &Grid,
        own: &Station,
    ) -> Vec<Sender> {
        let mut is_off = |other: &Station| {
            let off = |tile: &Tile<O>| CoreId::ALL.into_iter().all(|core| tile.is_dead(core));
            other.number != own.number && chip.inspect(other.number, off)
        };
        let mut list = Vec::new();
        for (sent, count) in own.sent.iter().filter(|(sent, _)| !sent.is_multicast()) {
            let receiver = self.0.iter().find(|other| sent.reaches(other.noc));
            if receiver.is_some_and(&mut is_off) {
                add(&mut list, own.sender(grid, (sent, *count), None));
            }
        }
        list.truncate(TOLD);
        list
    }

    /// Whether some other tile that does the same as one gets something for both addresses.
    fn gets_both(&self, own: &Station, addr: u32, other: u64) -> bool {
        let mut like = self.0.iter().filter(|like| like.number != own.number && like.is_like(own));
        like.any(|like| {
            let gets = |addr: u64| {
                self.0.iter().any(|from| {
                    let mut sent = from.sent.iter().filter(|(sent, _)| sent.addr == addr);
                    sent.any(|(sent, _)| like.has_got(from, sent))
                })
            };
            gets(addr.into()) && gets(other)
        })
    }

    /// To how many other tiles that do the same as one a tile has sent something for that address.
    fn peers(&self, from: &Station, own: &Station, addr: u32) -> usize {
        let like = |other: &&Station| other.number != own.number && other.is_like(own);
        let has_got = |other: &&Station| {
            let mut sent = from.sent.iter().filter(|(sent, _)| sent.addr == u64::from(addr));
            sent.any(|(sent, _)| other.has_got(from, sent))
        };
        self.0.iter().filter(like).filter(has_got).count()
    }

    /// Why something that did not reach a word was likely meant for it; `None`: it was not.
    fn astray<O: Observer + Send + 'static>(
        &self,
        chip: &mut Chip<O>,
        (own, addr): (&Station, u32),
        from: &Station,
        sent: &Sent,
    ) -> Option<Astray> {
        let mut left = |station: &Station, addr: u64| {
            let addr = u32::try_from(addr).unwrap_or(u32::MAX);
            chip.inspect(station.number, |tile| tile.l1_value(addr, Width::Word))
        };
        if sent.addr != u64::from(addr) {
            let is_near =
                sent.addr.abs_diff(addr.into()) <= NEAR.into() && sent.addr.is_multiple_of(4);
            // A flag that the tile clears itself is meant as it is.
            let is_own = u32::try_from(sent.addr).is_ok_and(|addr| own.used.contains(&addr));
            let missed = is_near && !is_own && own.has_got(from, sent) && left(own, sent.addr) != 0;
            let is_usual = || self.gets_both(own, addr, sent.addr);
            return (missed && !is_usual()).then_some(Astray::Word);
        }
        if sent.is_multicast() {
            if from.number == own.number && sent.reaches(own.noc) {
                return Some(Astray::Loopback);
            }
            if sent.reaches(own.noc) {
                return Some(Astray::Corners);
            }
            let mut receivers = self.0.iter().filter(|other| other.has_got(from, sent));
            let is_meant = receivers.any(|other| other.is_like(own) && other.number != own.number);
            return is_meant.then_some(Astray::Rectangle);
        }
        let Some(receiver) = self.0.iter().find(|other| sent.reaches(other.noc)) else {
            // No worker is there, or none that ever ran.
            return sent.is_atomic().then_some(Astray::Tile);
        };
        let others = |station: &&Station| {
            let mut sent = station.sent.iter().filter(|(sent, _)| sent.addr == u64::from(addr));
            sent.any(|(sent, _)| receiver.has_got(station, sent))
        };
        // A tile that does the same as this one has a use for one of those that came, and who looks at the word has
        // one for all of them.
        let looks = || u32::try_from(sent.addr).is_ok_and(|addr| receiver.looks_at(addr));
        let is_one_too_many = match receiver.is_like(own) {
            true => self.0.iter().filter(others).count() > 1,
            false => !looks(),
        };
        let is_other = receiver.number != own.number;
        if is_other && !is_one_too_many && self.peers(from, own, addr) >= SEVERAL {
            return Some(Astray::Peers);
        }
        (is_other && is_one_too_many && left(receiver, sent.addr) != 0).then_some(Astray::Tile)
    }
}
