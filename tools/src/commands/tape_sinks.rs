//! What the tiles of a tape are recorded into: the log, JSON lines, a Perfetto trace, waves; all of it or the
//! end of it. Each tile has its own names, which change with its launches.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;
use observe::why::Judgement;
use observe::{ChipMap, InstructionLog, JsonLines, Perfetto, Place, TextLog};
use session::names::{LiveNames, title};
use session::survey::{Survey, TileSeen};
use session::watch::{Call, Listener, Map};
use sim_core::{Cycle, Observer as _};

use super::files::{Open, Out, WaveFile, create, listing, screen};
use super::views::Records;
use super::{log, views::ViewArgs};
use crate::interrupt::interrupted;

/// A writer of several tiles.
#[derive(Clone)]
struct Shared(Rc<RefCell<Out>>);

impl Shared {
    fn new(out: Out) -> Self {
        Self(Rc::new(RefCell::new(out)))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// The recorders of one tile.
struct TileSinks {
    /// The tile, as the vendor's runtime counts workers.
    worker: (u8, u8),
    names: LiveNames,
    log: Option<TextLog<Shared, LiveNames>>,
    jsonl: Option<JsonLines<Shared, LiveNames>>,
    perfetto: Option<Perfetto<Shared, LiveNames>>,
    instructions: Option<InstructionLog<Shared, LiveNames>>,
}

/// The recorders of all tiles.
pub(super) struct TapeSinks {
    tiles: Vec<TileSinks>,
    /// The stream that all lines of JSON are of.
    jsonl: Option<JsonLines<Shared, LiveNames>>,
    waves: Option<WaveFile>,
    ring: Option<(usize, VecDeque<(usize, Call)>)>,
}

impl TapeSinks {
    /// The recorders that are asked for.
    ///
    /// # Errors
    /// A file cannot be created; the log is to show what does not exist.
    pub(super) fn open(views: &ViewArgs, survey: &Survey, chosen: &[TileSeen]) -> Result<Self> {
        let records = &views.records;
        let Records { perfetto, jsonl, waves, last, no_functions, .. } = records;
        let names = || LiveNames::new(Arc::clone(&survey.workers));
        let text =
            log::wanted(records)?.map(|wanted| (Shared::new(screen(views.forms.json)), wanted));
        let trace = perfetto.as_deref().map(create).transpose()?.map(Shared::new);
        let lines = jsonl.as_deref().map(create).transpose()?.map(Shared::new);
        let listed = records.instructions()?;
        let listed = listed
            .map(|(path, cores)| listing(path).map(|out| (Shared::new(out), cores)))
            .transpose()?;
        let head = lines.as_ref().map(|out| JsonLines::new(out.clone(), names()));
        let map: Rc<dyn ChipMap> = Rc::new(Map::new(survey, chosen));
        let sinks = |tile: &TileSeen| {
            let names = names();
            let place = || Place { number: tile.number, name: tile.name(), chip: Rc::clone(&map) };
            let (x, y) = tile.worker;
            let prefix = || format!("{:<6}", format!("{x},{y}"));
            TileSinks {
                worker: tile.worker,
                log: text.as_ref().map(|(out, wanted)| {
                    let log = TextLog::new(out.clone(), names.clone(), *wanted);
                    log.with_prefix(prefix())
                }),
                jsonl: head
                    .as_ref()
                    .zip(lines.as_ref())
                    .map(|(head, out)| head.of_tile(out.clone(), names.clone(), tile.worker)),
                perfetto: trace.as_ref().map(|out| {
                    Perfetto::of_tile(out.clone(), names.clone(), !no_functions, place())
                }),
                instructions: listed.as_ref().map(|(out, cores)| {
                    let log = InstructionLog::new(out.clone(), *cores, names.clone());
                    log.with_prefix(prefix())
                }),
                names,
            }
        };
        let scope = |tile: &TileSeen| format!("tile_{}_{}", tile.worker.0, tile.worker.1);
        let scopes: Vec<String> = chosen.iter().map(scope).collect();
        Ok(Self {
            tiles: chosen.iter().map(sinks).collect(),
            jsonl: head,
            waves: waves.as_deref().map(|path| WaveFile::create(path, &scopes)).transpose()?,
            ring: last.map(|room| (room.max(1), VecDeque::new())),
        })
    }

    fn give(&mut self, at: usize, call: &Call) {
        let Some(tile) = self.tiles.get_mut(at) else { return };
        match call {
            Call::Event(stamp, event) => {
                if let Some(sink) = &mut tile.log {
                    sink.event(*stamp, event);
                }
                if let Some(sink) = &mut tile.jsonl {
                    sink.event(*stamp, event);
                }
                if let Some(sink) = &mut tile.perfetto {
                    sink.event(*stamp, event);
                }
                if let Some(sink) = &mut self.waves {
                    sink.waves.turn_to(at);
                    sink.waves.event(*stamp, event);
                }
            }
            Call::Jump(core, jump) => {
                if let Some(sink) = tile.perfetto.as_mut().filter(|sink| sink.wants_jumps(*core)) {
                    sink.jumps(*core, &[*jump]);
                }
                if let Some(sink) = &mut self.waves {
                    sink.waves.turn_to(at);
                    sink.waves.jumps(*core, &[*jump], &tile.names);
                }
            }
            Call::Retire(core, retire) => {
                if let Some(sink) = &mut tile.instructions {
                    sink.retire(*core, retire);
                }
            }
            Call::Poll(episode) => {
                if let Some(sink) = &mut tile.log {
                    sink.poll(episode);
                }
                if let Some(sink) = &mut tile.jsonl {
                    sink.poll(episode);
                }
                if let Some(sink) = &mut tile.perfetto {
                    sink.poll(episode);
                }
            }
            Call::Launched(cycle, names, is_launch) => {
                tile.names.set(names);
                if let Some(sink) = tile.perfetto.as_mut().filter(|_| *is_launch) {
                    sink.launched(*cycle, title(names).as_deref().unwrap_or("launch"));
                }
            }
            Call::Announced(names) => tile.names.announce(names),
        }
    }

    /// Whether anybody is told of loops that poll.
    pub(super) fn tells_polls(&self) -> bool {
        let tells = |tile: &TileSinks| {
            let has_log = tile.log.as_ref().is_some_and(TextLog::tells_polls);
            has_log || tile.jsonl.is_some() || tile.perfetto.is_some()
        };
        self.tiles.iter().any(tells)
    }

    /// Names of a tile as they stand.
    pub(super) fn names(&self, at: usize) -> Option<&LiveNames> {
        Some(&self.tiles.get(at)?.names)
    }

    /// Hands on what was kept back for the end: whoever asks for names afterwards has those of the end.
    pub(super) fn settle(&mut self) {
        if let Some((_, calls)) = self.ring.take() {
            calls.into_iter().for_each(|(tile, call)| self.give(tile, &call));
        }
    }

    /// Tells what became of the session, where its cause is.
    fn judge(&mut self, judgement: &Judgement) {
        let is_it = |tile: &&mut TileSinks| Some(tile.worker) == judgement.tile;
        let Some(tile) = self.tiles.iter_mut().find(is_it) else { return };
        tile.jsonl.iter_mut().for_each(|jsonl| jsonl.judge(judgement));
        tile.perfetto.iter_mut().for_each(|perfetto| perfetto.judge(judgement));
    }

    /// Completes the files; `open` says what each agent of each tile still does at `now`.
    ///
    /// # Errors
    /// Something could not be written.
    pub(super) fn finish(
        mut self,
        now: Cycle,
        open: &[Vec<Open>],
        end: &str,
        judgement: Option<&Judgement>,
    ) -> Result<()> {
        self.settle();
        if let Some(judgement) = judgement {
            self.judge(judgement);
        }
        for (tile, open) in self.tiles.into_iter().zip(open) {
            if let Some(log) = tile.log {
                log.finish()?;
            }
            if let Some(perfetto) = tile.perfetto {
                perfetto.finish(now, open, end)?;
            }
            if let Some(log) = tile.instructions {
                log.finish()?;
            }
            // The lines of a tile end with the stream.
            drop(tile.jsonl);
        }
        if let Some(jsonl) = self.jsonl {
            jsonl.finish(end)?;
        }
        if let Some(waves) = self.waves {
            waves.finish(now)?;
        }
        Ok(())
    }
}

impl Listener for TapeSinks {
    fn call(&mut self, tile: usize, call: &Call) -> Result<(), String> {
        let Some((room, calls)) = &mut self.ring else {
            self.give(tile, call);
            return Ok(());
        };
        calls.push_back((tile, call.clone()));
        // Names are not events: they hold until there are others.
        let first = if calls.len() > *room { calls.pop_front() } else { None };
        let Some((tile, call)) = first else { return Ok(()) };
        let Some(names) = self.names(tile) else { return Ok(()) };
        match &call {
            Call::Launched(_, launched, _) => names.set(launched),
            Call::Announced(coming) => names.announce(coming),
            _ => {}
        }
        Ok(())
    }

    fn goes_on(&self) -> bool {
        !interrupted()
    }
}
