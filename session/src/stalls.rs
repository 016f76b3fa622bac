//! Where the cycles of tiles went, launch by launch in the names of that launch.

use std::collections::BTreeMap;
use std::sync::Arc;

use observe::{Attribution, Stalls, poll_text};
use sim_core::observer::{Look, ParkedSpan};
use sim_core::{AgentId, CoreId, Cycle, Event, Observer, Retire, Stamp, WaitReason};
use symbols::tile_names::TileNames;

use crate::eye::Sink;
use crate::host::{Host, SessionError};
use crate::names::LiveNames;
use crate::survey::TileSeen;
use crate::watch::{Course, play};

/// Adds up the cycles of one tile.
#[derive(Clone, Debug)]
pub struct TileStalls {
    names: LiveNames,
    stalls: Stalls<LiveNames>,
}

impl Observer for TileStalls {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.stalls.event(stamp, event);
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.stalls.wants_retires(core)
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.stalls.retire(core, retire);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.stalls.parked(core, span);
    }
}

impl Sink for TileStalls {
    fn launched(&mut self, _: Cycle, names: &Arc<TileNames>, _: bool) {
        self.stalls.settle();
        self.names.set(names);
    }

    fn announced(&mut self, names: &Arc<TileNames>) {
        self.stalls.settle();
        self.names.announce(names);
    }
}

/// The cycles of one tile.
#[derive(Clone, Debug)]
pub struct TileCycles {
    /// The tile.
    pub tile: TileSeen,
    /// Its cores and Tensix threads, with all their shares.
    pub rows: Vec<Attribution>,
}

/// Where the cycles of the chosen tiles went, from a cycle on.
///
/// # Errors
/// What the host does cannot be read.
pub fn stalls<H: Host>(
    host: &H,
    course: &Course<'_>,
    from: Option<Cycle>,
) -> Result<(Cycle, Vec<TileCycles>), SessionError> {
    let workers = Arc::clone(&course.survey.workers);
    let sink = move |_: &TileSeen| {
        let names = LiveNames::new(Arc::clone(&workers));
        let stalls = Stalls::new(names.clone()).since(from.unwrap_or(Cycle::ZERO));
        TileStalls { names, stalls }
    };
    let mut chip = play(host, course, sink, |_| Ok(true))?;
    let now = chip.now();
    let mut all = Vec::new();
    for tile in course.tiles {
        let rows = chip.inspect(tile.number, |machine| {
            let sink = machine.observer().as_ref()?.sink().clone();
            let mut open = Vec::new();
            for wait in machine.waits() {
                if let (AgentId::Core(core), Some(since), WaitReason::Spin | WaitReason::Ended) =
                    (wait.agent, wait.since, wait.reason)
                {
                    let looks = wait.reads.iter();
                    let looks = looks
                        .map(|load| Look { pc: load.pc, addr: load.addr, value: load.value })
                        .collect::<Vec<_>>();
                    let text = match wait.reason {
                        WaitReason::Ended => "ended".to_owned(),
                        _ => poll_text(&sink.names, core, &looks),
                    };
                    open.push((core, since, wait.pc.unwrap_or(0), text));
                }
            }
            Some(sink.stalls.finish(now, usize::MAX, &open))
        });
        all.push(TileCycles { tile: tile.clone(), rows: rows.unwrap_or_default() });
    }
    Ok((now, all))
}

/// The cycles of all tiles together, agent by agent.
#[must_use]
pub fn sum(tiles: &[TileCycles]) -> Vec<Attribution> {
    let mut rows: BTreeMap<AgentId, Attribution> = BTreeMap::new();
    for row in tiles.iter().flat_map(|tile| &tile.rows) {
        match rows.get_mut(&row.agent) {
            Some(sum) => sum.add(row),
            None => _ = rows.insert(row.agent, row.clone()),
        }
    }
    rows.into_values().collect()
}
