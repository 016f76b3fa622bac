//! Several tiles of a session, travelled through as one.
//!
//! Tiles see nothing of each other but through messages, and those are part of what was recorded of
//! each. So each tile is a [`Traveller`] of its own, and all are put in one line: in one cycle tile by
//! tile, in the order of the session, and in a tile core by core. The party stands where the tile stands
//! that it looks at; the others are taken there when somebody asks for them.

use std::ops::Range;

use sim_core::Cycle;

use crate::gate::GateStop;
use crate::machine::Machine;
use crate::moment::{Moment, Turn};
use crate::travel::{Hit, Patience, Traveller, Watch};

/// Cycles of the first window that is searched, how much longer each next one is, and the longest.
const FIRST_WINDOW: u64 = 256;
const WINDOW_GROWTH: u64 = 8;
const LONGEST_WINDOW: u64 = 1 << 16;

/// A core or a Tensix thread of a tile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seat {
    /// The tile, by its place in the party.
    pub tile: usize,
    /// Which of it.
    pub turn: Turn,
}

/// A moment of a tile. In order of tiles only within a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    moment: Moment,
    tile: usize,
}

impl Place {
    /// In the order of the line.
    fn key(self) -> (Cycle, usize, Turn) {
        (self.moment.cycle, self.tile, self.moment.turn)
    }

    /// Where another tile stands when this one stands here.
    fn seen_by(self, tile: usize) -> Moment {
        match tile {
            _ if tile == self.tile => self.moment,
            // It has had its turn in this cycle.
            _ if tile < self.tile => Moment::at(self.moment.cycle + 1),
            _ => Moment::at(self.moment.cycle),
        }
    }
}

/// Somebody who travels through several tiles of a session.
#[derive(Debug)]
pub struct Party {
    tiles: Vec<Traveller>,
    place: Place,
    /// From when on nobody has looked for stops of other tiles than that of the place: a debugger takes
    /// its breakpoints out for the step that leaves one.
    unchecked: Option<Place>,
}

impl Party {
    /// At the first moment of a cycle. There is at least one tile.
    #[must_use]
    pub fn new(machines: Vec<Machine>, at: Cycle) -> Self {
        let tiles = machines.into_iter().map(Traveller::new).collect();
        let place = Place { moment: Moment::at(at), tile: 0 };
        let mut party = Self { tiles, place, unchecked: None };
        party.go_to(at);
        party
    }

    /// How many tiles there are.
    #[must_use]
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// All cores and Tensix threads of all tiles.
    pub fn seats(&self) -> impl Iterator<Item = Seat> + use<> {
        let tiles = 0..self.tiles.len();
        tiles.flat_map(|tile| Turn::all().map(move |turn| Seat { tile, turn }))
    }

    /// Whose instruction is looked at.
    #[must_use]
    pub fn focus(&self) -> Seat {
        let tile = self.place.tile;
        Seat { tile, turn: self.tiles[tile].focus() }
    }

    /// The tile that is looked at, where it stands.
    #[must_use]
    pub fn here(&self) -> &Traveller {
        &self.tiles[self.place.tile]
    }

    /// A tile, taken to where the party stands.
    pub fn tile(&mut self, tile: usize) -> &mut Traveller {
        let traveller = &mut self.tiles[tile];
        let moment = self.place.seen_by(tile).min(traveller.machine().end());
        if traveller.machine().moment() != moment {
            traveller.arrive(moment);
        }
        traveller
    }

    /// A tile, wherever it stands.
    #[must_use]
    pub fn recorded(&self, tile: usize) -> &Machine {
        self.tiles[tile].machine()
    }

    /// Whether this is the end of the session.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.here().is_at_end()
    }

    /// Goes to the first moment of a cycle.
    pub fn go_to(&mut self, cycle: Cycle) {
        let tile = self.place.tile;
        self.tiles[tile].go_to(cycle);
        self.stand(tile);
    }

    /// The party stands where that tile does.
    fn stand(&mut self, tile: usize) {
        self.place = Place { moment: self.tiles[tile].machine().moment(), tile };
        self.unchecked = None;
    }

    /// Stops at an address of code in all tiles.
    pub fn add_breakpoint(&mut self, addr: u32) {
        for tile in &mut self.tiles {
            tile.stops.breakpoints.insert(addr);
        }
    }

    /// Stops there no more. Gives whether it did.
    pub fn remove_breakpoint(&mut self, addr: u32) -> bool {
        let mut removed = false;
        for tile in &mut self.tiles {
            removed |= tile.stops.breakpoints.remove(&addr);
        }
        removed
    }

    /// Stops at accesses to memory of a tile.
    pub fn add_watch(&mut self, tile: usize, watch: Watch) {
        self.tiles[tile].stops.watches.insert(watch);
    }

    /// Stops at them no more. Gives whether it did.
    pub fn remove_watch(&mut self, tile: usize, watch: Watch) -> bool {
        self.tiles[tile].stops.watches.remove(&watch)
    }

    /// Stops at wait gates of a tile.
    pub(crate) fn add_gate_stop(&mut self, tile: usize, stop: GateStop) {
        self.tiles[tile].stops.gates.push(stop);
    }

    /// The stops at wait gates.
    pub(crate) fn gate_stops(&self) -> &[GateStop] {
        &self.tiles[self.place.tile].stops.gates
    }

    /// Keeps only some of the stops at wait gates, in all tiles.
    pub(crate) fn retain_gate_stops(&mut self, keep: impl Fn(&GateStop) -> bool) {
        self.tiles.iter_mut().for_each(|tile| tile.stops.gates.retain(&keep));
    }

    /// Stops nowhere.
    pub fn clear_stops(&mut self) {
        self.tiles.iter_mut().for_each(|tile| tile.stops = Default::default());
    }

    fn has_stops(&self) -> bool {
        self.tiles.iter().any(|tile| !tile.stops.is_empty())
    }

    /// Stands where nobody has looked further.
    fn interrupted(&mut self, place: Place) -> Hit {
        self.tiles[place.tile].arrive(place.moment);
        self.stand(place.tile);
        Hit::Interrupted
    }

    /// The tile that is looked at first, then the others.
    fn in_turn(&self) -> Vec<usize> {
        let first = self.place.tile;
        let others = (0..self.tiles.len()).filter(|&tile| tile != first);
        std::iter::once(first).chain(others).collect()
    }

    /// Goes on to the next stop.
    pub fn forward(&mut self, patience: Patience<'_>) -> Hit {
        let tile = self.place.tile;
        if self.tiles.len() == 1 || !self.has_stops() {
            self.tile(tile);
            let hit = self.tiles[tile].forward(patience);
            self.stand(tile);
            return hit;
        }
        let (here, from) = (self.place, self.unchecked.take().unwrap_or(self.place));
        let end = self.tiles[tile].machine().end();
        let (mut starts, mut length): (Vec<Moment>, _) =
            ((0..self.tiles.len()).map(|tile| from.seen_by(tile)).collect(), FIRST_WINDOW);
        // The tile that is looked at knows itself what it may have missed.
        starts[tile] = here.moment;
        let mut until = Moment::at(Cycle(from.moment.cycle.0 + length)).min(end);
        let mut is_first = true;
        loop {
            let mut best: Option<(Place, Hit)> = None;
            for tile in self.in_turn() {
                let bound = best.map_or(until, |(place, _)| place.seen_by(tile).min(until));
                let traveller = &mut self.tiles[tile];
                if traveller.stops.is_empty() || starts[tile] >= bound {
                    continue;
                }
                if traveller.machine().moment() != starts[tile] {
                    traveller.arrive(starts[tile]);
                }
                let keeps_focus = is_first && tile == here.tile;
                let hit = match traveller.forward_until(bound, keeps_focus, patience) {
                    Some(Hit::Interrupted) => {
                        let moment = starts[here.tile];
                        return self.interrupted(Place { moment, ..here });
                    }
                    None | Some(Hit::End) => {
                        // Where nothing moves it has come further than it was asked to.
                        starts[tile] = traveller.machine().moment();
                        continue;
                    }
                    Some(hit) => hit,
                };
                let place = Place { moment: traveller.machine().moment(), tile };
                if best.is_none_or(|(other, _)| place.key() < other.key()) {
                    best = Some((place, hit));
                }
            }
            if let Some((place, hit)) = best {
                self.place = place;
                return hit;
            }
            if until >= end {
                self.tiles[tile].arrive(end);
                self.stand(tile);
                return Hit::End;
            }
            if !patience() {
                return self.interrupted(Place { moment: until, ..here });
            }
            starts.iter_mut().for_each(|start| *start = until.max(*start));
            length = (length * WINDOW_GROWTH).min(LONGEST_WINDOW);
            (until, is_first) = (Moment::at(until.cycle + length).min(end), false);
        }
    }

    /// A core executes one instruction, or a Tensix thread comes to its next one, and everybody else does what comes in
    /// between.
    pub fn step(&mut self, seat: Seat, patience: Patience<'_>) -> Hit {
        self.step_out_of(seat, 0..0, patience)
    }

    /// As [`Party::step`]; a Tensix thread goes on while its instructions were pushed from that code.
    pub fn step_out_of(&mut self, seat: Seat, stays: Range<u32>, patience: Patience<'_>) -> Hit {
        let here = self.place;
        let unchecked = self.unchecked.unwrap_or(here);
        let traveller = self.tile(seat.tile);
        let hit = match seat.turn {
            Turn::Core(core) => traveller.step(core, patience),
            Turn::Gate(thread) => traveller.step_gate(thread, stays, patience),
        };
        self.stand(seat.tile);
        if self.tiles.len() == 1 || !matches!(hit, Hit::Step(_) | Hit::Passes(_, None)) {
            return hit;
        }
        self.unchecked = Some(unchecked);
        // Breakpoints that are in force while somebody steps: another tile may come to one before.
        let (reached, mut best) = (self.place, None::<(Place, Hit)>);
        for tile in (0..self.tiles.len()).filter(|&tile| tile != seat.tile) {
            if self.tiles[tile].stops.is_empty() {
                continue;
            }
            let (start, bound) = (here.seen_by(tile), reached.seen_by(tile));
            self.tiles[tile].arrive(start);
            match self.tiles[tile].forward_until(bound, false, patience) {
                None | Some(Hit::End | Hit::Interrupted) => {}
                Some(hit) => {
                    let place = Place { moment: self.tiles[tile].machine().moment(), tile };
                    if best.is_none_or(|(other, _)| place.key() < other.key()) {
                        best = Some((place, hit));
                    }
                }
            }
        }
        match best {
            Some((place, hit)) => {
                (self.place, self.unchecked) = (place, None);
                hit
            }
            None => hit,
        }
    }

    /// Back to where a core begins the instruction before.
    pub fn step_back(&mut self, seat: Seat, patience: Patience<'_>) -> Hit {
        let traveller = self.tile(seat.tile);
        let hit = match seat.turn {
            Turn::Core(core) => traveller.step_back(core, patience),
            Turn::Gate(thread) => traveller.step_gate_back(thread, patience),
        };
        self.stand(seat.tile);
        hit
    }

    /// Back to the stop before.
    pub fn backward(&mut self, patience: Patience<'_>) -> Hit {
        let tile = self.place.tile;
        if self.tiles.len() == 1 || !self.has_stops() {
            self.tile(tile);
            let hit = self.tiles[tile].backward(patience);
            self.stand(tile);
            return hit;
        }
        let here = self.place;
        self.tile(tile);
        if let Some(hit) = self.tiles[tile].back_in_bundle() {
            self.stand(tile);
            return hit;
        }
        let (mut until, mut length) = (here, FIRST_WINDOW);
        while until.moment > Moment::at(Cycle::ZERO) {
            let start = Moment::at(Cycle(until.moment.cycle.0.saturating_sub(length)));
            let mut best: Option<(Place, u32, Hit)> = None;
            for tile in self.in_turn() {
                let traveller = &mut self.tiles[tile];
                if traveller.stops.is_empty() {
                    continue;
                }
                traveller.machine_mut().seek_and_keep(start);
                if let Some((moment, word, hit)) = traveller.last_stop(until.seen_by(tile)) {
                    let place = Place { moment, tile };
                    if best.is_none_or(|(other, ..)| place.key() > other.key()) {
                        best = Some((place, word, hit));
                    }
                }
                if !patience() {
                    return self.interrupted(here);
                }
            }
            if let Some((place, word, hit)) = best {
                self.tiles[place.tile].stand_at(place.moment, word, hit);
                self.place = place;
                self.unchecked = None;
                return hit;
            }
            // Behind it in the line is everything of that cycle: all tiles have been searched from its beginning.
            until = Place { moment: start, tile: 0 };
            length = (length * WINDOW_GROWTH).min(LONGEST_WINDOW);
        }
        self.go_to(Cycle::ZERO);
        Hit::Begin
    }
}
