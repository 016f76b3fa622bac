//! What would happen if, on a chip: the chip is copied as it stands in the hang, one awaited value made true on one
//! of its tiles, and the copy runs on with a host that does nothing. That says who would have acted, on whichever
//! tile, without a guess from anybody's code.
//!
//! The copy has no memory of a host behind it and runs for a bounded time. The session is only read, and what is
//! said here changes neither verdict nor cause. Of one tile that is no chip: `observe/src/why/suppose.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use chip::{Chip, ChipSnapshot, Grid, Hang, HungTile, Role};
use observe::why::{Hope, Link, Supposed};
use observe::{Names as _, Operation, Resource, core_of, operation};
use sim_core::sync::Mutex;
use sim_core::{AgentId, Event, Observer, Stamp, WaitReason};
use symbols::tile_names::TileNames;
use tile::{AgentWait, Supposition, Verdict};

use crate::books::{Books, Kept};
use crate::explain::explain_tile;
use crate::lens::Sent;
use crate::names::CodeNames;
use crate::report::Report;
use crate::standpoint::{Standpoint, posture};
use crate::traffic::what;
use crate::view::TileView;

/// Cycles that a copy runs on if few tiles are stuck, and at least; many tiles share what time a copy may take.
const FAR: u64 = 20_000;
const NEAR: u64 = 2_000;
/// So many tiles are few.
const FEW: u64 = 16;
/// Cycles between two looks at it.
const SLICE: u64 = 500;
/// Copies at most, beside that of the root.
const TRIALS: usize = 8;
/// What a tile of a copy does that is remembered.
const REMEMBERED: usize = 512;

/// What a tile did.
#[derive(Clone, Copy, Debug)]
enum Done {
    Operation(Operation),
    Sent(Sent),
}

/// Something that a tile of a copy did.
#[derive(Clone, Copy, Debug)]
struct Deed {
    tile: u16,
    stamp: Stamp,
    done: Done,
}

/// By tile, each in its order.
type Tray = Arc<Mutex<BTreeMap<u16, Vec<Deed>>>>;

/// Remembers what a tile does.
#[derive(Debug)]
struct Deeds {
    tile: u16,
    words: Vec<u32>,
    tray: Tray,
}

impl Observer for Deeds {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let words = |addr: u32, bytes: u32| {
            let hit = |word: &&u32| addr < **word + 4 && addr + bytes > **word;
            self.words.iter().find(hit).copied()
        };
        let sent = match (*event, stamp.agent) {
            (
                Event::NocIssue { noc, control, addr, coordinate, bytes, .. },
                AgentId::Core(core),
            ) => {
                let (cycle, pc) = (stamp.cycle.0, stamp.pc);
                Some(Sent { cycle, core, pc, noc, control, addr, coordinate, bytes })
            }
            _ => None,
        };
        let done = sent.map(Done::Sent);
        if let Some(done) = done.or_else(|| operation(event, &words).map(Done::Operation)) {
            let mut tray = self.tray.lock();
            let own = tray.entry(self.tile).or_default();
            if own.len() < REMEMBERED {
                own.push(Deed { tile: self.tile, stamp, done });
            }
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.words.iter().map(|word| (*word, word + 4)).collect()
    }
}

impl Kept for Deeds {
    fn books(&self) -> Option<Books<'_>> {
        None
    }
}

const fn is_word(resource: Option<Resource>) -> bool {
    matches!(resource, Some(Resource::Word(_)))
}

/// What came of a copy.
struct Course {
    /// In the order of cycles.
    deeds: Vec<Deed>,
    /// Nothing moves any more.
    is_quiet: bool,
    /// Who waits where in the end.
    stands: Vec<HungTile>,
}

impl Course {
    /// Where an agent waits in the end, if it does.
    fn wait(&self, tile: u16, agent: AgentId) -> Option<&AgentWait> {
        let own = self.stands.iter().find(|own| own.number == tile)?;
        own.waits.iter().find(|wait| wait.agent == agent)
    }

    /// Whether who waited has gone on.
    fn has_moved(&self, tile: u16, wait: &AgentWait) -> bool {
        let acts =
            |deed: &Deed| deed.tile == tile && core_of(deed.stamp.agent) == core_of(wait.agent);
        let stays = self.wait(tile, wait.agent).is_some_and(|now| now.pc == wait.pc);
        !stays || self.deeds.iter().any(acts)
    }
}

/// A chip to make copies of, and what is known of it.
struct Fork<'a> {
    copy: Chip<Deeds>,
    snapshot: ChipSnapshot,
    tray: Tray,
    hang: &'a Hang,
    names: &'a BTreeMap<u16, Arc<TileNames>>,
    all: &'a [Standpoint],
    /// The wait that is the root.
    root: (usize, usize),
}

impl<'a> Fork<'a> {
    fn new<O: Observer + Send + 'static>(
        chip: &Chip<O>,
        hang: &'a Hang,
        names: &'a BTreeMap<u16, Arc<TileNames>>,
        report: &'a Report,
    ) -> Option<Self> {
        let all = &report.standpoints;
        let mut words: BTreeMap<(u8, u8), (u16, Vec<u32>)> = BTreeMap::new();
        for tile in &hang.tiles {
            words.insert(tile.place.worker(), (tile.number, Vec::new()));
        }
        for own in all {
            let polled = own.links().iter().filter_map(|link| Some(link.word? & !3));
            words.entry(own.tile.tile).or_default().1.extend(polled);
        }
        let tray = Tray::default();
        let shared = Arc::clone(&tray);
        let copy = Chip::watched(*chip.config(), move |tile| {
            let (tile, words) =
                words.get(&tile.worker()).cloned().unwrap_or((u16::MAX, Vec::new()));
            Deeds { tile, words, tray: Arc::clone(&shared) }
        });
        let snapshot = chip.snapshot(None);
        Some(Self { copy, snapshot, tray, hang, names, all, root: report.root? })
    }

    /// How far a copy runs on.
    fn far(&self) -> u64 {
        let tiles = self.all.len() as u64;
        NEAR.max(FAR * FEW / FEW.max(tiles))
    }

    /// Runs a copy on in which that is true, until nothing moves, or for so long, or until it has done `enough`.
    fn run(
        &mut self,
        tile: u16,
        what: Supposition,
        enough: impl Fn(&BTreeMap<u16, Vec<Deed>>) -> bool,
    ) -> Option<Course> {
        self.copy.restore(&self.snapshot);
        self.tray.lock().clear();
        if !self.copy.examine(tile, |tile| tile.suppose(what)) {
            return None;
        }
        let end = self.snapshot.now().0 + self.far();
        loop {
            self.copy.rest(SLICE);
            let is_over = self.copy.now().0 >= end || self.copy.is_quiet();
            if is_over || enough(&self.tray.lock()) {
                break;
            }
        }
        let mut deeds: Vec<Deed> =
            std::mem::take(&mut *self.tray.lock()).into_values().flatten().collect();
        deeds.sort_by_key(|deed| deed.stamp.cycle);
        let (is_quiet, stands) = (self.copy.is_quiet(), self.copy.standing().tiles);
        Some(Course { deeds, is_quiet, stands })
    }

    /// As much of what a wait is for as lets the agent go on, and in words what that is.
    fn enough(
        &mut self,
        (at, wait): (usize, usize),
        enough: impl Fn(&BTreeMap<u16, Vec<Deed>>) -> bool,
    ) -> Option<(Course, String)> {
        let all = self.all;
        let (own, there) = (&all[at], self.of(at));
        let (waits, number) = (&own.hung.waits[wait], own.hung.number);
        let hope = own.links().get(wait)?.hope.as_ref()?;
        for many in [1, 2, 4, 8] {
            let (what, words) = hope.supposition(waits, many, &there)?;
            let course = self.run(number, what, &enough)?;
            if course.has_moved(number, waits) {
                return Some((course, words));
            }
            if !hope.has_amounts() {
                break;
            }
        }
        None
    }

    /// ` of tile (1, 0)`, where there are several.
    fn of(&self, at: usize) -> String {
        if self.all.len() < 2 {
            return String::new();
        }
        let (x, y) = self.all[at].tile.tile;
        format!(" of tile ({x}, {y})")
    }

    /// Whether a core is in a kernel there. Without the runtime's firmware and without a file all is one.
    fn is_kernel(&self, tile: u16, agent: AgentId, pc: Option<u32>) -> bool {
        let Some((core, pc)) = core_of(agent).zip(pc) else { return false };
        let hung = self.hang.tiles.iter().find(|own| own.number == tile);
        let is_bare = hung.is_some_and(|own| own.role == Role::Bare);
        self.names.get(&tile).is_some_and(|names| match names.kernel_range(core) {
            Some(range) => range.contains(&pc),
            None => is_bare,
        })
    }

    fn place(&self, deed: &Deed) -> String {
        let core = core_of(deed.stamp.agent);
        let code = core.zip(self.names.get(&deed.tile));
        let code = code.and_then(|(core, names)| names.locate(core, deed.stamp.pc));
        code.map_or_else(|| format!("pc {:#x}", deed.stamp.pc), |code| code.own_frame().to_string())
    }

    /// What was done, in words.
    fn done(&self, grid: &Grid, deed: &Deed) -> String {
        match &deed.done {
            Done::Sent(sent) => {
                let what = what(grid, sent);
                let article = if what.starts_with('a') { "an" } else { "a" };
                format!("send {article} {what}")
            }
            Done::Operation(operation) => {
                let name = match operation.resource {
                    Resource::Word(addr) => {
                        let names =
                            self.names.get(&deed.tile).map(|own| CodeNames::new(own.clone()));
                        names.and_then(|names| names.l1(addr)).map(|place| place.name)
                    }
                    _ => None,
                };
                let name = name.unwrap_or_else(|| operation.resource.to_string());
                format!("{} {name}", operation.verb())
            }
        }
    }

    fn told(&self, text: String, deed: Option<&Deed>) -> Supposed {
        let at = |tile: u16| self.hang.tiles.iter().find(|own| own.number == tile);
        let (agent, pc) = (deed.map(|deed| deed.stamp.agent), deed.map(|deed| deed.stamp.pc));
        let names = deed.and_then(|deed| self.names.get(&deed.tile));
        let names = names.map(|names| CodeNames::new(Arc::clone(names)));
        let known = names.zip(agent.and_then(core_of)).zip(pc);
        let (code, source) = known
            .map(|((names, core), pc)| (names.site(core, pc), names.excerpt(core, pc)))
            .unwrap_or_default();
        let tile = deed.and_then(|deed| at(deed.tile)).map(|own| own.place.worker());
        Supposed { text, tile, agent, pc, code, source }
    }

    /// What follows if the root has what it waits for.
    fn of_root(&mut self, grid: &Grid) -> Option<Supposed> {
        let (at, wait) = self.root;
        let (course, words) = self.enough(self.root, |_| false)?;
        let own = &self.all[at];
        let waits = &own.hung.waits[wait];
        let number = own.hung.number;
        let awaited = own.links()[wait].hope.as_ref().map(|hope| hope.resource);
        let is_mine = |deed: &&Deed| {
            deed.tile == number
                && core_of(deed.stamp.agent) == core_of(waits.agent)
                && self.is_kernel(number, deed.stamp.agent, Some(deed.stamp.pc))
        };
        // What others wait for says most, and to set a word back that was waited for is a part of the wait.
        let is_inner = |resource: Resource| {
            matches!(resource, Resource::Semaphore(_) | Resource::Src(_) | Resource::Mutex(_))
        };
        let is_new = |deed: &&Deed| match deed.done {
            Done::Operation(operation) if is_inner(operation.resource) => {
                awaited.is_some_and(is_inner)
            }
            Done::Operation(operation) => awaited != Some(operation.resource) || !is_word(awaited),
            Done::Sent(_) => true,
        };
        let mine = || course.deeds.iter().filter(is_mine);
        let deed = mine().find(is_new).or_else(|| mine().next());
        let there = if self.all.len() < 2 { "" } else { " there" };
        let acts = match deed {
            Some(deed) => {
                let (done, place) = (self.done(grid, deed), self.place(deed));
                format!("{}{there} would {done} in {place}", deed.stamp.agent)
            }
            None => format!("{}{there} would go on", waits.agent),
        };
        let (others, end) = (self.others(&course), self.end(&course));
        let deed = deed.copied();
        Some(self.told(format!("if {words}, {acts}{others}{end}"), deed.as_ref()))
    }

    /// How many of those who are stuck in kernels besides go on too.
    fn others(&self, course: &Course) -> String {
        let (at, root) = self.root;
        let own = core_of(self.all[at].hung.waits[root].agent);
        let (mut all, mut moved) = (0, 0);
        for (index, one) in self.all.iter().enumerate() {
            let number = one.hung.number;
            let stuck = one.hung.waits.iter().filter(|wait| wait.stuck);
            for wait in stuck.filter(|wait| self.is_kernel(number, wait.agent, wait.pc)) {
                let is_own = index == at && core_of(wait.agent) == own;
                if !is_own && one.hung.role != Role::Dispatcher {
                    all += 1;
                    moved += usize::from(course.has_moved(number, wait));
                }
            }
        }
        match (moved, all) {
            (_, 0) => String::new(),
            (0, _) => "; nobody else would go on".to_owned(),
            _ if moved == all => "; all others that are stuck would go on too".to_owned(),
            (1, _) => format!("; of {all} others that are stuck one would go on"),
            _ => format!("; of {all} others that are stuck {moved} would go on"),
        }
    }

    /// Where the root's core is in the end.
    fn end(&mut self, course: &Course) -> String {
        let (at, wait) = self.root;
        let own = &self.all[at];
        let (number, agent) = (own.hung.number, own.hung.waits[wait].agent);
        let in_kernel = |hung: &HungTile| {
            hung.waits.iter().any(|wait| {
                matches!(wait.agent, AgentId::Core(_))
                    && wait.reason != WaitReason::Ended
                    && self.is_kernel(hung.number, wait.agent, wait.pc)
            })
        };
        let told = |own: &Standpoint| own.hung.number;
        let stuck: Vec<u16> = self.all.iter().map(told).collect();
        let mut left = course.stands.iter().filter(|hung| stuck.contains(&hung.number));
        if course.is_quiet && !left.any(in_kernel) {
            return ", and the program would come to its end".to_owned();
        }
        // A thread with nothing to do waits for nothing; its core does.
        let core = core_of(agent).map_or(agent, AgentId::Core);
        let again = [agent, core].into_iter().find_map(|agent| {
            let again = course.wait(number, agent)?;
            let is_over = again.reason == WaitReason::Ended;
            (!is_over && self.is_kernel(number, agent, again.pc)).then_some(again)
        });
        let Some(again) = again else {
            let is_at_work = !course.is_quiet && course.wait(number, core).is_none();
            let text = format!("; {core} would still be at work {} cycles later", self.far());
            return if is_at_work { text } else { String::new() };
        };
        let Some(hung) = course.stands.iter().find(|own| own.number == number) else {
            return String::new();
        };
        let view = self.names.get(&number).map(TileView::new).unwrap_or_default();
        let hang = Hang { found: self.copy.now(), ..self.hang.clone() };
        let told = self.copy.inspect(number, |tile| explain_tile(tile, hung, &hang, view));
        let is_same = |link: &&Link| (link.agent, link.pc) == (again.agent, again.pc);
        let Some(link) = told.explanation.waits.iter().find(is_same) else { return String::new() };
        let place = link.code.as_ref().map_or_else(String::new, |code| format!(" in {code}"));
        format!("; then {} {}{place}", link.agent, link.text)
    }

    /// Waits whose end might lead to what the root waits for: who has such a command behind its own wait first,
    /// then the others of its tile; of tiles that stand alike one. With whether those are all there are.
    fn candidates(&self, hope: &Hope) -> (Vec<(usize, usize)>, bool) {
        let (at, root) = self.root;
        let own = &self.all[at];
        let writes = |one: &Standpoint, wait: usize| match hope.resource {
            Resource::Word(addr) => {
                one.would.iter().any(|would| would.wait == wait && would.writes(own.tile.noc, addr))
            }
            _ => false,
        };
        let is_word = is_word(Some(hope.resource));
        let (mut found, mut seen, mut is_all) = (Vec::new(), Vec::new(), true);
        for (index, one) in self.all.iter().enumerate() {
            // Only cores of a tile have what is within it.
            let is_here = index == at;
            if one.hung.role == Role::Dispatcher || !is_here && !is_word {
                continue;
            }
            let is_seen = seen.contains(&posture(one));
            seen.push(posture(one));
            for (wait, link) in one.links().iter().enumerate() {
                if (index, wait) == (at, root) || !link.stuck || link.hope.is_none() {
                    continue;
                }
                let writes = writes(one, wait);
                if is_seen && !is_here && !writes {
                    is_all = false;
                } else {
                    found.push((!writes, !is_here, index, wait));
                }
            }
        }
        found.sort_unstable();
        is_all &= found.len() <= TRIALS;
        found.truncate(TRIALS);
        (found.into_iter().map(|(_, _, index, wait)| (index, wait)).collect(), is_all)
    }

    /// Who would do what the root waits for, if others had what they wait for.
    fn of_others(&mut self, grid: &Grid, hope: &Hope) -> Vec<Supposed> {
        let (at, root) = self.root;
        let own = &self.all[at];
        let (number, noc, agent) = (own.hung.number, own.tile.noc, own.hung.waits[root].agent);
        let gives = |deed: &Deed| {
            let Done::Operation(operation) = &deed.done else { return false };
            deed.tile == number
                && (operation.resource, operation.way) == (hope.resource, hope.way)
                && operation.amount > 0
                && core_of(deed.stamp.agent) != core_of(agent)
        };
        let (candidates, is_all) = self.candidates(hope);
        let (mut told, mut tried) = (Vec::new(), 0);
        for &candidate in &candidates {
            let is_given = |tray: &BTreeMap<u16, Vec<Deed>>| {
                tray.get(&number).is_some_and(|deeds| deeds.iter().any(gives))
            };
            let Some((course, words)) = self.enough(candidate, is_given) else { continue };
            tried += 1;
            let Some(given) = course.deeds.iter().find(|deed| gives(deed)) else { continue };
            // What came from elsewhere was sent there.
            let is_sent = |deed: &&Deed| {
                let Done::Sent(sent) = &deed.done else { return false };
                let Resource::Word(addr) = hope.resource else { return false };
                sent.addr == u64::from(addr)
                    && sent.reaches(noc)
                    && deed.stamp.cycle <= given.stamp.cycle
            };
            let from_outside = matches!(given.stamp.agent, AgentId::Noc(_) | AgentId::Host);
            let sent = course.deeds.iter().rev().find(is_sent).filter(|_| from_outside);
            let deed = sent.unwrap_or(given);
            let worker = self.hang.tiles.iter().find(|own| own.number == deed.tile);
            let there = match worker.map(|own| own.place.worker()) {
                Some((x, y)) if self.all.len() > 1 => format!(" of tile ({x}, {y})"),
                _ => String::new(),
            };
            let (done, place) = (self.done(grid, deed), self.place(deed));
            let text = format!("if {words}, {}{there} would {done} in {place}", deed.stamp.agent);
            let deed = *deed;
            told.push(self.told(text, Some(&deed)));
        }
        let is_mailbox = |addr| memory_map::mailbox::place(addr).is_some();
        let of_firmware = matches!(hope.resource, Resource::Word(addr) if is_mailbox(addr));
        if told.is_empty() && is_all && tried == candidates.len() && !of_firmware {
            let whatever = if tried == 0 { "" } else { ", whatever else came" };
            let (verb, name, of) = (hope.verb(), &hope.name, self.of(at));
            told.push(
                self.told(format!("nobody would {verb} {name}{of} any more{whatever}"), None),
            );
        }
        told
    }
}

/// Tries what the root waits for, and then what others wait for, and says it of the tile with the cause.
pub(crate) fn what_if<O: Observer + Send + 'static>(
    chip: &Chip<O>,
    hang: &Hang,
    names: &BTreeMap<u16, Arc<TileNames>>,
    report: &mut Report,
) {
    let Some((at, wait)) = report.root.filter(|_| hang.verdict == Verdict::Deadlock) else {
        return;
    };
    let own = &report.standpoints[at];
    let worker = own.tile.tile;
    let Some(hope) = own.links().get(wait).and_then(|link| link.hope.clone()) else { return };
    let Some(mut fork) = Fork::new(chip, hang, names, report) else { return };
    let mut supposed: Vec<Supposed> = fork.of_root(chip.grid()).into_iter().collect();
    supposed.extend(fork.of_others(chip.grid(), &hope));
    if let Some(first) = report.tiles.first_mut().filter(|first| first.tile == worker) {
        first.explanation.supposed = supposed;
    }
}
