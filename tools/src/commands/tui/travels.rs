//! A session on the screen: where it stands, and how it goes elsewhere.
//!
//! The session was carried out once; every moment of it can be reached again. Going somewhere is the business of
//! [`debugger::Party`], as in `tilescope debug`, so breakpoints and watchpoints mean the same here.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use anyhow::Result;
use debugger::recording::Stage;
use debugger::{Hit, Naming, Party, Recording, Seat, Watch};
use observe::Names;
use riscv::Status;
use sim_core::{CoreId, Cycle};

use super::places::{Places, number};
use super::seen::Seen;
use super::view::{View, source_line, view};
use crate::commands::recorded::{Explainer, Recorded};

/// Cycles in which the next handshake is looked for, and those in which the one before is at first.
const EVENT_CYCLES: u64 = 1_000_000;
const FIRST_WINDOW: u64 = 4096;

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    On,
    Back,
}

/// A line of source on the screen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SourceLine {
    pub(super) number: u32,
    pub(super) text: String,
    /// The core is here.
    pub(super) is_here: bool,
    /// Has a breakpoint.
    pub(super) breaks: bool,
}

/// What there is to see.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) view: View,
    /// Which tile of how many, which part of the session, and what happened last.
    pub(super) status: String,
    /// The last handshakes, the newest last.
    pub(super) events: Vec<String>,
    /// Whose source is shown.
    pub(super) core: CoreId,
    /// What its core does, in a line, and the lines around it.
    pub(super) place: String,
    pub(super) source: Vec<SourceLine>,
    /// How far it is, and where launches began: parts of the whole session.
    pub(super) position: f64,
    pub(super) marks: Vec<f64>,
}

/// A session, and where one stands in it.
pub(super) struct Travels {
    party: Party,
    recordings: Vec<Arc<Recording>>,
    titles: Vec<String>,
    naming: Naming,
    places: Places,
    explain: Explainer,
    explained: Option<String>,
    /// The tile that was looked at last, by its number in the party.
    seen: Option<(usize, Seen)>,
    /// The tile on the screen, and the core whose source is.
    tile: usize,
    core: CoreId,
    /// Where breakpoints are, with their lines.
    breaks: BTreeMap<u32, Option<(String, u32)>>,
    watches: BTreeSet<(usize, Watch)>,
    /// What happened last.
    said: String,
}

impl Travels {
    /// At the beginning of a session.
    ///
    /// # Errors
    /// The host gives no memory.
    pub(super) fn new(recorded: Recorded) -> Result<Self> {
        let machines = recorded.machines()?;
        let Recorded { recordings, titles, naming, programs, explain } = recorded;
        Ok(Self {
            party: Party::new(machines, Cycle::ZERO),
            recordings,
            titles,
            naming,
            places: Places::of(&programs),
            explain,
            explained: None,
            seen: None,
            tile: 0,
            core: CoreId::Brisc,
            breaks: BTreeMap::new(),
            watches: BTreeSet::new(),
            said: String::new(),
        })
    }

    fn now(&self) -> Cycle {
        self.party.here().machine().moment().cycle
    }

    fn until(&self) -> Cycle {
        self.recordings[self.tile].until
    }

    fn epoch(&self) -> u64 {
        self.recordings[self.tile].config.epoch.cycles()
    }

    /// The epoch boundary at or before the moment.
    fn boundary(&self) -> Cycle {
        self.recordings[self.tile].config.epoch.round_down(self.now()).min(self.until())
    }

    fn stage(&self) -> &Stage {
        self.recordings[self.tile].stage_at(self.now())
    }

    /// Goes to a cycle, or the epoch boundary before it.
    pub(super) fn go_to(&mut self, cycle: u64) {
        let cycle = Cycle(cycle).min(self.until());
        let cycle = match cycle == self.until() {
            true => cycle,
            false => self.recordings[self.tile].config.epoch.round_down(cycle),
        };
        self.party.go_to(cycle);
        self.said.clear();
    }

    /// A moment by its part of the whole session.
    pub(super) fn go_to_part(&mut self, part: f64) {
        // A cycle more or less is less than a column of the screen.
        self.go_to((self.until().0 as f64 * part.clamp(0.0, 1.0)) as u64);
    }

    /// Goes to where the last of all agents came to what it still waits for at the end.
    ///
    /// # Errors
    /// The host gives no memory for a tile.
    pub(super) fn go_to_closing(&mut self) -> io::Result<()> {
        let mut last = None;
        for (at, recording) in self.recordings.iter().enumerate() {
            let seen = Seen::at(self.party.recorded(at), recording, recording.until)?;
            last = last.max(seen.tile().waits().iter().filter_map(|wait| wait.since).max());
        }
        match last {
            Some(cycle) => self.go_to(cycle.0),
            None => "nobody waits at the end".clone_into(&mut self.said),
        }
        Ok(())
    }

    /// What somebody typed: a cycle.
    pub(super) fn go_to_typed(&mut self, text: &str) {
        match text.trim().replace('_', "").parse() {
            Ok(cycle) => self.go_to(cycle),
            Err(_) => self.said = format!("{text:?} is not a cycle"),
        }
    }

    /// The end of the session, or its beginning.
    pub(super) fn go_to_end(&mut self, way: Way) {
        match way {
            Way::On => self.go_to(u64::MAX),
            Way::Back => self.go_to(0),
        }
    }

    /// Passes that many cycles and the rest of their last epoch. Gives whether there are more.
    pub(super) fn pass(&mut self, cycles: u64, way: Way) -> bool {
        let (now, boundary, epoch) = (self.now(), self.boundary(), self.epoch());
        match way {
            Way::On => self.go_to((now.0 + cycles).next_multiple_of(epoch)),
            // Within an epoch its beginning is behind one.
            Way::Back if now > boundary && cycles <= epoch => self.go_to(boundary.0),
            Way::Back => self.go_to(boundary.0.saturating_sub(cycles)),
        }
        self.now() < self.until()
    }

    /// Passes an epoch.
    pub(super) fn pass_epoch(&mut self, way: Way) {
        self.pass(self.epoch(), way);
    }

    /// The chosen core executes an instruction, or takes its last one back.
    pub(super) fn pass_instruction(&mut self, way: Way) {
        let seat = Seat { tile: self.tile, turn: self.core.into() };
        let hit = match way {
            Way::On => self.party.step(seat, &mut || true),
            Way::Back => self.party.step_back(seat, &mut || true),
        };
        self.stands_by(hit);
    }

    /// Runs to the next breakpoint or watchpoint, or to the end, while there is patience.
    pub(super) fn run(&mut self, way: Way, patience: &mut dyn FnMut() -> bool) {
        let hit = match way {
            Way::On => self.party.forward(patience),
            Way::Back => self.party.backward(patience),
        };
        self.stands_by(hit);
    }

    fn stands_by(&mut self, hit: Hit) {
        let focus = self.party.focus();
        self.said = match hit {
            Hit::Break(core) => format!("breakpoint: {core}"),
            Hit::Watch(core, watch) => format!("{core} accesses {:#x}", watch.addr),
            Hit::Changed(watch) => format!("{:#x} has changed, by no core", watch.addr),
            Hit::Step(_) | Hit::Passes(..) | Hit::Begin | Hit::End => String::new(),
            Hit::Interrupted => "stopped".to_owned(),
        };
        if let Hit::Break(core) | Hit::Watch(core, _) | Hit::Step(core) = hit {
            (self.tile, self.core) = (focus.tile, core);
        }
    }

    /// Goes behind the next handshake of this tile, or before the last one.
    pub(super) fn pass_event(&mut self, way: Way) -> io::Result<()> {
        let here = self.boundary();
        match way {
            Way::On => {
                let until = Cycle(here.0 + EVENT_CYCLES).min(self.until());
                let seen = self.see(here)?;
                let found = seen.go_to_next(until);
                let at = seen.tile().now();
                self.go_to(at.0);
                if !found {
                    self.said = "no handshake".to_owned();
                }
            }
            Way::Back => {
                let mut length = FIRST_WINDOW;
                loop {
                    let from = Cycle(here.0.saturating_sub(length));
                    let seen = self.look(from)?;
                    seen.go_on(here);
                    // It begins at a snapshot, which may be earlier than asked for.
                    if let Some(at) = seen.last() {
                        self.go_to(at.0.min(here.0.saturating_sub(1)));
                        break;
                    }
                    if seen.since() == Cycle::ZERO {
                        self.go_to(0);
                        break;
                    }
                    length *= 4;
                }
            }
        }
        Ok(())
    }

    /// The tile on the screen, made anew at a cycle.
    fn look(&mut self, cycle: Cycle) -> io::Result<&mut Seen> {
        let (machine, recording) = (self.party.recorded(self.tile), &self.recordings[self.tile]);
        let seen = Seen::at(machine, recording, cycle)?;
        Ok(&mut self.seen.insert((self.tile, seen)).1)
    }

    /// The tile on the screen at a cycle.
    fn see(&mut self, cycle: Cycle) -> io::Result<&mut Seen> {
        let (tile, known) = (self.tile, self.seen.take());
        if let Some((of, mut seen)) = known.filter(|(of, seen)| *of == tile && seen.leads_to(cycle))
        {
            seen.go_on(cycle);
            return Ok(&mut self.seen.insert((of, seen)).1);
        }
        self.look(cycle)
    }

    /// Turns to another tile, that many further in the list.
    pub(super) fn turn(&mut self, by: isize) {
        let count = self.recordings.len() as isize;
        self.tile = (self.tile as isize + by).rem_euclid(count) as usize;
    }

    /// Whose source is shown from now on.
    pub(super) fn choose(&mut self, core: CoreId) {
        self.core = core;
    }

    /// Sets breakpoints at what somebody typed, or takes those away that are there; nothing means where the core is.
    pub(super) fn toggle(&mut self, text: &str) {
        let (text, here) = (text.trim(), self.party.tile(self.tile).pc(self.core));
        let found = match text {
            "" => Ok([here].into()),
            text => self.places.find(text),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.said = error;
                return;
            }
        };
        let shown = |address: &u32| format!("{address:#x}");
        let at = found.iter().map(shown).collect::<Vec<_>>().join(", ");
        if found.iter().all(|address| self.breaks.contains_key(address)) {
            for address in &found {
                self.breaks.remove(address);
                self.party.remove_breakpoint(*address);
            }
            self.said = format!("no breakpoint at {at}");
        } else {
            for address in &found {
                let line = self.line_of(*address);
                self.breaks.insert(*address, line);
                self.party.add_breakpoint(*address);
            }
            self.said = format!("breakpoint at {at}");
        }
    }

    fn line_of(&self, address: u32) -> Option<(String, u32)> {
        let stages = self.recordings[self.tile].stages.iter().rev();
        let sites = stages.flat_map(|stage| {
            let names = self.naming.at(stage);
            CoreId::ALL.map(|core| names.site(core, address))
        });
        sites.flatten().find_map(|site| site.file.zip(site.line))
    }

    /// Watches the word of L1 that somebody typed, or no longer.
    pub(super) fn watch(&mut self, text: &str) {
        let Some(addr) = number(text.trim()) else {
            self.said = format!("{text:?} is no address of L1");
            return;
        };
        let watch = Watch { addr, bytes: 4, reads: false, writes: true, of: None };
        if self.watches.remove(&(self.tile, watch)) {
            self.party.remove_watch(self.tile, watch);
            self.said = format!("{addr:#x} is not watched any more");
        } else {
            self.watches.insert((self.tile, watch));
            self.party.add_watch(self.tile, watch);
            self.said = format!("stops where {addr:#x} is written");
        }
    }

    /// Stops nowhere any more.
    pub(super) fn clear(&mut self) {
        self.breaks.clear();
        self.watches.clear();
        self.party.clear_stops();
        self.said = "no breakpoints, no watchpoints".to_owned();
    }

    /// Why the session ends as it does.
    pub(super) fn why(&mut self) -> &str {
        self.explained.get_or_insert_with(&mut self.explain)
    }

    /// What there is to see now, with that many lines of source and handshakes.
    ///
    /// # Errors
    /// The host gives no memory for a tile.
    pub(super) fn picture(&mut self, lines: usize) -> io::Result<Picture> {
        let (boundary, now) = (self.boundary(), self.now());
        self.see(boundary)?;
        let mut shown = {
            let names = self.naming.at(self.stage());
            let (_, seen) = self.seen.as_ref().expect("it was looked at just now");
            view(seen.tile(), &*names, &self.stage().circular())
        };
        shown.cycle = now.0;
        if now > boundary {
            self.within_epoch(&mut shown);
        }
        let names = self.naming.at(self.stage());
        let (_, seen) = self.seen.as_ref().expect("it was looked at just now");
        let newest = seen.handshakes().rev().take(lines);
        let mut events: Vec<String> = newest
            .filter_map(|handshake| {
                let stage = self.recordings[self.tile].stage_at(handshake.cycle());
                handshake.text(&*self.naming.at(stage))
            })
            .collect();
        events.reverse();
        let core = &shown.cores[self.core.index()];
        let (place, source) = self.source(&*names, core.pc, lines);
        let until = self.until().0.max(1) as f64;
        let stages = self.recordings[self.tile].stages.iter().skip(1);
        Ok(Picture {
            status: self.status(),
            events,
            core: self.core,
            place,
            source,
            position: now.0 as f64 / until,
            marks: stages.map(|stage| stage.began.0 as f64 / until).collect(),
            view: shown,
        })
    }

    /// Cores are further than their tile.
    fn within_epoch(&mut self, shown: &mut View) {
        let traveller = self.party.tile(self.tile);
        let pcs = CoreId::ALL.map(|core| {
            let runs = matches!(traveller.machine().core(core).status(), Status::Running);
            runs.then(|| traveller.pc(core))
        });
        let names = self.naming.at(self.recordings[self.tile].stage_at(Cycle(shown.cycle)));
        for (core, pc) in shown.cores.iter_mut().zip(pcs) {
            let Some(pc) = pc.filter(|pc| core.state == "running" && *pc != core.pc) else {
                continue;
            };
            let site = names.site(core.core, pc);
            core.pc = pc;
            core.function = site.as_ref().map_or_else(String::new, |site| site.function.clone());
            core.line = site.as_ref().map_or_else(String::new, source_line);
        }
    }

    fn status(&self) -> String {
        let count = self.recordings.len();
        let recording = &self.recordings[self.tile];
        let mut text = self.titles[self.tile].clone();
        if count > 1 {
            text += &format!(" ({} of {count})", self.tile + 1);
        }
        text += &format!("  {}", self.stage().name);
        if self.now() >= self.until() {
            let end = recording.end.to_string();
            text += &format!("  {}", end.lines().next().unwrap_or_default());
        }
        if !self.said.is_empty() {
            text += &format!("  {}", self.said);
        }
        text
    }

    /// Where a core is, and the lines of source around it.
    fn source(&self, names: &dyn Names, pc: u32, count: usize) -> (String, Vec<SourceLine>) {
        let Some(site) = names.site(self.core, pc) else {
            return (format!("pc {pc:#x}"), Vec::new());
        };
        let mut place = format!("{site}, pc {pc:#x}");
        for caller in names.callers(self.core, pc) {
            place += &format!("  < {caller}");
        }
        let (Some(file), Some(line)) = (site.file, site.line) else { return (place, Vec::new()) };
        let broken: BTreeSet<u32> = self
            .breaks
            .values()
            .flatten()
            .filter(|(of, _)| *of == file)
            .map(|(_, line)| *line)
            .collect();
        let first = line.saturating_sub(count as u32 / 2).max(1);
        let lines = (first..first + count as u32).filter_map(|number| {
            let text = names.line_text(self.core, pc, number)?.text;
            Some(SourceLine {
                number,
                text,
                is_here: number == line,
                breaks: broken.contains(&number),
            })
        });
        let lines: Vec<SourceLine> = lines.collect();
        if lines.is_empty() {
            place += "  (its text is not here)";
        }
        (place, lines)
    }
}
