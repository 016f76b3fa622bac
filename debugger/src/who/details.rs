//! What an instruction of the coprocessor read, and which command moved a word over the NoC: looked up by
//! carrying out the part of the session again that it happened in.

use std::io;

use memory_map::reg::noc_niu as niu;
use memory_map::{NocControl, NocCoordinate, NocRequest};
use sim_core::observer::{Cell, Doing, Glimpse, ShowsCells};
use sim_core::{AgentId, Cycle, Event, Observer, Stamp, ThreadId};
use tensix::RegisterValue;
use tile::Tile;

use super::Written;
use crate::machine::Machine;

/// Cycles of the first window before a cycle, and how much longer each next one is.
const FIRST_WINDOW: u64 = 1 << 12;
const WINDOW_GROWTH: u64 = 8;
/// From the registers of one initiator to those of the next, and how many there are.
const INITIATOR: u32 = niu::NOC_CMD_CTRL_STRIDE;
const INITIATORS: usize = niu::NOC_CMD_CTRL_COUNT as usize;
/// From NoC 0 to NoC 1, as cores see them.
const NOC: u32 = 0x1_0000;

/// What an instruction of the coprocessor was about to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Details {
    /// Rows of Dst.
    pub(super) rows: Vec<u16>,
    /// Bytes of L1.
    pub(super) reads: Vec<(u32, u32)>,
    /// Banks of SrcA and SrcB.
    pub(super) banks: [u8; 2],
    /// Dst has 32-bit cells.
    pub(super) wide: bool,
}

/// Listens to what one thread's instruction of a cycle reads.
struct Reader {
    cycle: Cycle,
    agent: AgentId,
    details: Details,
}

impl Reader {
    fn is_meant(&self, at: Stamp) -> bool {
        at.cycle == self.cycle && at.agent == self.agent
    }
}

impl Observer for Reader {
    fn wants_cells(&self) -> bool {
        true
    }

    fn cells(&mut self, Glimpse { at, doing }: Glimpse, shown: &dyn ShowsCells) {
        if self.is_meant(at) && matches!(doing, Doing::Before { .. }) {
            let bank = |operand| shown.cell(Cell::MatrixBank { operand }) as u8;
            self.details.banks = [bank(0), bank(1)];
        }
    }

    fn wants_dst_reads(&self) -> bool {
        true
    }

    fn dst_read(&mut self, at: Stamp, rows: &[u16], _: bool) {
        if self.is_meant(at) {
            self.details.rows = rows.to_vec();
        }
    }

    fn wants_l1_reads(&self) -> bool {
        true
    }

    fn l1_read(&mut self, at: Stamp, addr: u32, bytes: u32) {
        if self.is_meant(at) {
            self.details.reads.push((addr, bytes));
        }
    }
}

/// Carries out the session from the nearest snapshot before one cycle to another with somebody who listens.
fn replay<O: Observer>(
    machine: &Machine,
    from: Cycle,
    until: Cycle,
    listener: impl FnOnce(&mut Tile<sim_core::NullObserver>) -> O,
) -> io::Result<Tile<O>> {
    let recording = machine.recording();
    let (snapshot, mut given) = machine.nearest(from);
    let mut plain = Tile::new(recording.config, sim_core::NullObserver)?;
    plain.restore(snapshot);
    let mut tile = Tile::new(recording.config, listener(&mut plain))?;
    tile.restore(snapshot);
    recording.run(&mut tile, &mut given, until);
    Ok(tile)
}

/// What the instruction that a thread issued in a cycle read.
pub(super) fn details(machine: &Machine, cycle: Cycle, thread: ThreadId) -> io::Result<Details> {
    let agent = AgentId::Thread(thread);
    let reader = Reader { cycle, agent, details: Details::default() };
    let mut tile = replay(machine, cycle, cycle + 1, |_| reader)?;
    let registers = tile.registers();
    let rows32 = registers.find("tensix.dst.rows32").map(|register| &register.value);
    let wide = matches!(rows32, Some(RegisterValue::Cells(cells)) if cells.in_force);
    Ok(Details { wide, ..std::mem::take(&mut tile.observer_mut().details) })
}

/// A NoC command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// When and by whom it was given.
    pub(super) at: Stamp,
    noc: u8,
    control: u32,
    /// Address at the other end.
    pub(super) addr: u64,
    coordinate: u32,
    bytes: u32,
    ticket: u32,
    packets: u32,
    /// Address in the tile that gave it.
    pub(super) local: u32,
    /// What an inline write writes.
    pub(super) data: u32,
}

impl Sent {
    pub(super) const fn is_read(&self) -> bool {
        NocControl(self.control).is_read()
    }
    pub(super) const fn is_atomic(&self) -> bool {
        NocControl(self.control).is_atomic()
    }
    pub(super) const fn is_inline(&self) -> bool {
        matches!(NocControl(self.control).request(), NocRequest::InlineWrite)
    }
    /// The other end, or a corner of a rectangle.
    pub(super) const fn corner(&self) -> (u8, u8) {
        NocCoordinate(self.coordinate).end()
    }
}

/// Keeps the last command that is meant.
struct Commands<F> {
    until: Cycle,
    /// `[noc][initiator]`: target address, return address, data, all low words.
    registers: [[[u32; 3]; INITIATORS]; 2],
    is_meant: F,
    found: Option<Sent>,
}

const FIELDS: [(&str, u32); 3] = [
    ("NOC_TARG_ADDR_LO", niu::NOC_TARG_ADDR_LO_OFFSET),
    ("NOC_RET_ADDR_LO", niu::NOC_RET_ADDR_LO_OFFSET),
    ("NOC_AT_DATA", niu::NOC_AT_DATA_OFFSET),
];

impl<F: Fn(&Sent) -> bool + 'static> Observer for Commands<F> {
    fn event(&mut self, at: Stamp, event: &Event) {
        if at.cycle >= self.until {
            return;
        }
        match *event {
            Event::DeviceStore { addr, value, .. } => {
                let first = niu::NOC_TARG_ADDR_LO - niu::NOC_TARG_ADDR_LO_OFFSET;
                let inside = addr.wrapping_sub(first);
                if inside >= 2 * NOC {
                    return;
                }
                let (noc, inside) = ((inside / NOC) as usize, inside % NOC);
                let (initiator, offset) = ((inside / INITIATOR) as usize, inside % INITIATOR);
                let field = FIELDS.iter().position(|(_, known)| *known == offset);
                if let (Some(field), true) = (field, initiator < INITIATORS) {
                    self.registers[noc][initiator][field] = value;
                }
            }
            Event::NocIssue {
                noc,
                initiator,
                control,
                addr,
                coordinate,
                bytes,
                ticket,
                packets,
            } => {
                let registers = self.registers[usize::from(noc & 1)][usize::from(initiator & 3)];
                let [target, ret, data] = registers;
                let local = if NocControl(control).is_read() { ret } else { target };
                let sent = Sent {
                    at,
                    noc,
                    control,
                    addr,
                    coordinate,
                    bytes,
                    ticket,
                    packets,
                    local,
                    data,
                };
                if (self.is_meant)(&sent) {
                    self.found = Some(sent);
                }
            }
            _ => {}
        }
    }
}

fn registers<O: Observer>(tile: &mut Tile<O>) -> [[[u32; 3]; INITIATORS]; 2] {
    let tree = tile.registers();
    let word = |noc: usize, initiator: usize, name: &str| {
        let found = tree.find(&format!("noc{noc}.{name}")).map(|register| &register.value);
        match found {
            Some(RegisterValue::Words(words)) => words.get(initiator).copied().unwrap_or(0),
            _ => 0,
        }
    };
    std::array::from_fn(|noc| {
        std::array::from_fn(|initiator| FIELDS.map(|(name, _)| word(noc, initiator, name)))
    })
}

/// The last command before a cycle that is meant.
fn last_command(
    machine: &Machine,
    until: Cycle,
    is_meant: impl Fn(&Sent) -> bool + Copy + 'static,
) -> io::Result<Option<Sent>> {
    let mut length = FIRST_WINDOW;
    loop {
        let from = Cycle(until.0.saturating_sub(length));
        let tile = replay(machine, from, until, |tile| Commands {
            until,
            registers: registers(tile),
            is_meant,
            found: None,
        })?;
        let found = tile.observer().found;
        if found.is_some() || from == Cycle::ZERO {
            return Ok(found);
        }
        length *= WINDOW_GROWTH;
    }
}

/// The command of a tile's own that brought a word.
pub(super) fn own_read(
    machine: &Machine,
    noc: u8,
    word: u32,
    written: &Written,
) -> io::Result<Option<Sent>> {
    let pc = written.pc.unwrap_or(0);
    last_command(machine, written.cycle + 1, move |sent| {
        let here = if sent.is_read() { sent.local } else { sent.addr as u32 };
        // A word may begin in front of what was moved.
        sent.noc == noc
            && sent.at.pc == pc
            && word.wrapping_add(3).wrapping_sub(here) < sent.bytes + 3
    })
}

/// The command that sent a packet.
pub(super) fn sent(
    machine: &Machine,
    noc: u8,
    ticket: u32,
    until: Cycle,
) -> io::Result<Option<Sent>> {
    last_command(machine, until, move |sent| {
        sent.noc == noc && ticket.wrapping_sub(sent.ticket) < sent.packets.max(1)
    })
}

/// Listens to the request of another endpoint that covers a word in a cycle.
struct Served {
    cycle: Cycle,
    noc: u8,
    word: u32,
    found: Option<(u16, u32)>,
}

impl Observer for Served {
    fn event(&mut self, at: Stamp, event: &Event) {
        if let Event::NocServe { noc, source, ticket, addr, bytes, .. } = *event
            && at.cycle == self.cycle
            && noc == self.noc
            && (self.word + 3).wrapping_sub(addr as u32) < bytes + 3
        {
            self.found = Some((source, ticket));
        }
    }
}

/// Which endpoint sent the packet that wrote a word, and its number.
pub(super) fn received(
    machine: &Machine,
    noc: u8,
    word: u32,
    written: &Written,
) -> io::Result<Option<(u16, u32)>> {
    let cycle = written.cycle;
    let listener = Served { cycle, noc, word, found: None };
    let tile = replay(machine, cycle, cycle + 1, |_| listener)?;
    Ok(tile.observer().found)
}
