//! Time: rounds in which all active tiles advance on their own, and between them the messages.

use devices::fabric::keep_buffer;
use devices::niu::Coordinate;
use sim_core::{AgentId, Cycle, Observer, Shortcut};
use tile::{Arrival, Departure, Message, Receivers, Refused};

use crate::asked::Asked;
use crate::chip::{Chip, LOOKAHEAD};
use crate::endpoint::Deed;
use crate::grid::Place;
use crate::post::{EndpointPort, Letter, travel};
use crate::report::Read;

/// Cycles between two accesses of a debugger. A read over PCI Express takes a microsecond or two,
/// which at 1.35 GHz are so many; debuggers rely on a core having gone somewhere by then
/// `[inferred: tt-exalens' own tests continue a core and look at once where it has come to]`.
const DEBUGGER_CYCLES: u64 = 2048;

/// Numbers of endpoints as senders start here; below are tiles.
const FIRST_ENDPOINT: u16 = 0x8000;

impl<O: Observer + Send + 'static> Chip<O> {
    /// Advances to `target`, an epoch boundary.
    pub(crate) fn advance(&mut self, target: Cycle) {
        self.field.begin_call();
        while self.now < target {
            self.serve();
            self.field.ring(self.now);
            let target = self.field.alarm().map_or(target, |alarm| alarm.min(target));
            self.now = match *self.field.active() {
                // Nothing moves: time passes over the tiles at no cost.
                [] if self.config.shortcuts.has(Shortcut::IdleEpochs) => self.idle_until(target),
                [number]
                    if self.post.is_empty() && self.config.shortcuts.has(Shortcut::LoneTile) =>
                {
                    // It may be ahead, from when another one was not waiting for an alarm yet.
                    let reached = self.field.advance_alone(number, target).min(target);
                    self.collect(reached);
                    reached
                }
                _ => {
                    let limit = target.min(self.now + LOOKAHEAD);
                    let slowest = self.field.advance_all(limit, target);
                    // A message that is on its way may bring a tile back.
                    let anything_sent = self.collect(limit) || !self.post.is_empty();
                    if anything_sent { limit } else { slowest.clamp(limit, target) }
                }
            };
        }
        self.serve();
        self.field.settle(self.now);
    }

    /// A debugger writes a command and, with nothing in between, looks at what came of it: memory,
    /// or another core. Hardware has gone on meanwhile, and so does time here.
    pub(crate) fn let_debugger_see(&mut self) {
        match std::mem::take(&mut self.asked) {
            Asked::Nothing => {}
            Asked::Command => {
                self.attended = true;
                self.pass(DEBUGGER_CYCLES);
            }
            Asked::Samples(number, series) => {
                let mut left = self.field.with(number, self.now, |tile| series.left(tile));
                while left > 0 {
                    self.pass(series.interval());
                    let before = left;
                    left = self.field.with(number, self.now, |tile| series.take(tile));
                    if left == before {
                        break;
                    }
                }
            }
        }
    }

    /// At least so many cycles, in whole epochs.
    fn pass(&mut self, cycles: u64) {
        self.advance(self.config.epoch.round_up(self.now + cycles));
    }

    /// With all tiles at rest: to the next letter's arrival, or to the end.
    fn idle_until(&self, target: Cycle) -> Cycle {
        match self.post.next_due() {
            Some(due) => self.config.epoch.end_of_epoch(due).min(target).max(self.now),
            None => target,
        }
    }

    /// Moves the messages and mistakes of tiles that have just advanced, to `reached` at least. Gives
    /// whether there were messages.
    fn collect(&mut self, reached: Cycle) -> bool {
        let mut departures = std::mem::take(&mut self.departures);
        let (reports, grid, attended) = (&mut self.reports, &self.grid, &self.attended);
        self.field.collect(|number, tile, errors| {
            departures.extend(tile.take_departures().map(|departure| (number, departure)));
            for error in errors.drain(..) {
                let strays = match (error.at.agent, error.at.pc) {
                    (AgentId::Core(core), Some(pc)) => tile.strays(core, pc),
                    _ => false,
                };
                let at = (number, grid.tile(number));
                if let Some(Refused { source, issuer, .. }) = tile.take_refused(&error) {
                    reports.refused((source, grid.tile(source), issuer), at.1, &error);
                } else if !strays {
                    let issuer = error.at.pc.and_then(|pc| tile.issuer(pc));
                    reports.guest(at, &error, issuer);
                }
            }
            for ebreak in tile.take_ebreaks() {
                reports.ebreak((number, grid.tile(number)), ebreak, *attended);
            }
        });
        let anything_sent = !departures.is_empty();
        for (number, departure) in departures.drain(..) {
            self.route(number, departure, reached);
        }
        self.departures = departures;
        anything_sent
    }

    /// Sends a message of a tile on its way.
    fn route(&mut self, source: u16, departure: Departure, reached: Cycle) {
        let Departure { cycle, sequence, to, message } = departure;
        match (to, message) {
            (Receivers::Sender(to), message) => {
                self.field.deliver(
                    to,
                    self.now,
                    reached,
                    Arrival { cycle, source, sequence, message },
                );
            }
            (Receivers::One(at, translated), Message::Request { packet, data, issuer }) => {
                let arrives = cycle + self.timing.travel(packet.hops.0);
                match self.grid.locate(packet.noc, at, translated) {
                    Some(Place::Tensix(to)) => {
                        let message = Message::Request { packet, data, issuer };
                        let arrival = Arrival { cycle: arrives, source, sequence, message };
                        self.field.deliver(to, self.now, reached, arrival);
                    }
                    Some(Place::Endpoint(endpoint)) => {
                        let data = data.into_own();
                        let letter =
                            Letter { source, ticket: sequence, endpoint, packet, data, issuer };
                        self.post.send(arrives, letter);
                    }
                    None => {
                        let tile = (source, self.grid.tile(source));
                        self.reports.nowhere(tile, cycle, &packet, at, issuer);
                    }
                }
            }
            (Receivers::Many(places), Message::Request { packet, data, issuer }) => {
                let from = self.grid.position(source);
                for (index, &place) in places.iter().enumerate() {
                    let Some(Place::Tensix(to)) = self.grid.at_noc0(place) else { continue };
                    let cycle = cycle + travel(&self.timing, packet.noc, from, place);
                    let mut packet = packet;
                    // Only one of them answers an atomic with data.
                    packet.nonposted &= index + 1 == places.len();
                    let message = Message::Request { packet, data: data.clone(), issuer };
                    self.field.deliver(
                        to,
                        self.now,
                        reached,
                        Arrival { cycle, source, sequence, message },
                    );
                }
                data.give_back();
            }
            (Receivers::One(..) | Receivers::Many(_), Message::Response { .. }) => {}
        }
    }

    /// Endpoints carry out what has arrived.
    fn serve(&mut self) {
        while let Some((cycle, letter)) = self.post.pop_before(self.now) {
            let Letter { source, ticket, endpoint, packet, mut data, issuer } = letter;
            self.endpoints.comes(
                endpoint,
                &packet,
                &data,
                Deed { tile: source, by: issuer, cycle },
            );
            let memory = self.endpoints.get_mut(endpoint);
            if let Some(to) = packet.read_to() {
                let (addr, bytes) = (packet.address(), packet.bytes());
                let at = Coordinate::from_bits(packet.coordinate());
                let read = Read { cycle, endpoint, at, addr, bytes };
                let tile = (source, self.grid.tile(source));
                if !memory.holds(addr, bytes) {
                    self.reports.unwritten(Some(tile), issuer, &read);
                }
                let unit = memory.read_unit(addr);
                if addr % unit != to % unit {
                    self.reports.askew(tile, issuer, &read, (to, unit));
                }
            }
            let mut port = EndpointPort(memory);
            if let Err(fault) = devices::fabric::carry_out(&packet, &mut data, &mut port) {
                let tile = (source, self.grid.tile(source));
                self.reports.endpoint(tile, cycle, endpoint, (&packet, issuer), &fault);
                if packet.needs_foreign_data() && data.is_empty() {
                    // The core that waits for it must not wait for ever.
                    data = vec![0xFF; packet.bytes() as usize];
                }
            }
            if packet.needs_foreign_data() {
                let cycle = cycle + tile::response_cycles(&self.timing, &packet);
                let message = Message::Response { ticket, data };
                let source_number = FIRST_ENDPOINT + endpoint.number();
                let arrival = Arrival { cycle, source: source_number, sequence: ticket, message };
                self.field.deliver(source, self.now, self.now, arrival);
            } else {
                keep_buffer(data);
            }
        }
    }
}
