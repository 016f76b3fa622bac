//! Where a value came from: from its writer back to what that read, and so on.
//!
//! Followed are loads, stores and arithmetic of cores, NoC transfers between the tiles that were
//! recorded, and unpacking, arithmetic and packing of the coprocessor. Where an instruction reads several
//! things each is followed; of many cells that are read together the first stands for all, and the text says
//! which were read.

use std::io;

use isa::op::{Opcode, Unit};
use isa::word;
use memory_map::layout::{L1_BYTES, LOCAL_RAM_BASE};
use observe::Names;
use riscv::view;
use sim_core::{AgentId, CoreId, Stamp, ThreadId};

use super::details::{Details, Sent, details, own_read, received, sent};
use super::{Cells, What, Written, last_before, last_seen};
use crate::machine::Machine;
use crate::moment::Moment;
use crate::naming::Naming;

/// Atomics of a core `[riscv-unprivileged: A extension]`.
const AMO: u32 = 0x2F;

/// What is asked: who wrote that before that moment.
#[derive(Clone, Copy, Debug)]
struct Question {
    tile: usize,
    what: What,
    at: Moment,
    /// It was read by the core of the moment, which sees no others' stores of its epoch.
    by_core: bool,
}

/// A step back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// How many steps it is away from the first one.
    pub depth: usize,
    /// The tile, by its place among the machines.
    pub tile: usize,
    /// What was asked about.
    pub what: What,
    /// Who wrote it; nobody if it holds what it held at the beginning.
    pub written: Option<Written>,
    /// What the writer took its value from, in words.
    pub source: String,
    /// The NoC command that moved it: the tile that gave it, by its place among the machines, and who and
    /// when.
    pub command: Option<(usize, Stamp)>,
}

impl Link {
    /// The step in lines, indented by how far it is away, with the names that held on each tile.
    #[must_use]
    pub fn text(&self, machines: &[&Machine], naming: &Naming) -> String {
        let indent = "  ".repeat(self.depth);
        let names = |tile: usize, cycle| naming.at(machines[tile].recording().stage_at(cycle));
        let place = match machines {
            [_] => String::new(),
            _ => format!("{} ", place(machines[self.tile])),
        };
        let written = match &self.written {
            Some(written) => written.with_names(&*names(self.tile, written.cycle)).to_string(),
            None => "nobody".to_owned(),
        };
        let mut text = format!("{indent}{place}{}: {written}\n", self.what);
        let command = match self.command {
            Some((tile, at)) => given(&*names(tile, at.cycle), at),
            None => String::new(),
        };
        if !self.source.is_empty() {
            text += &format!("{indent}  {}{command}\n", self.source);
        }
        text
    }
}

/// Who gave a command, and where.
fn given(names: &dyn Names, at: Stamp) -> String {
    let core = observe::core_of(at.agent);
    let code = core.and_then(|core| names.site(core, at.pc));
    let code = code.map_or_else(String::new, |code| format!(" at {code}"));
    format!(", by {}{code} (pc {:#x})", at.agent, at.pc)
}

/// What a writer took its value from.
struct Sources {
    told: String,
    /// The NoC command that moved it.
    command: Option<(usize, Stamp)>,
    next: Vec<Question>,
}

impl Sources {
    fn none(told: impl Into<String>) -> Self {
        Self::read(told, Vec::new())
    }

    fn read(told: impl Into<String>, next: Vec<Question>) -> Self {
        Self { told: told.into(), command: None, next }
    }

    fn moved_by(self, tile: usize, sent: &Sent) -> Self {
        Self { command: Some((tile, sent.at)), ..self }
    }
}

/// Follows a value back at most that many steps; the first link is its writer.
///
/// # Errors
/// The host gives no memory for another tile.
pub fn follow(
    machines: &[&Machine],
    tile: usize,
    what: What,
    at: Moment,
    depth: usize,
) -> io::Result<Vec<Link>> {
    let mut links = Vec::new();
    let first = Question { tile, what, at, by_core: false };
    walk(machines, first, (0, depth), &mut links)?;
    Ok(links)
}

fn walk(
    machines: &[&Machine],
    question: Question,
    (depth, most): (usize, usize),
    links: &mut Vec<Link>,
) -> io::Result<()> {
    let Question { tile, what, at, by_core } = question;
    let machine = machines[tile];
    let written =
        if by_core { last_seen(machine, what, at)? } else { last_before(machine, what, at)? };
    let sources = match &written {
        None => Sources::none("what it held when the tile was first touched"),
        Some(written) => sources(machines, tile, what, written)?,
    };
    let Sources { told: source, command, next } = sources;
    links.push(Link { depth, tile, what, written, source, command });
    if depth < most {
        for next in next {
            walk(machines, next, (depth + 1, most), links)?;
        }
    }
    Ok(())
}

fn sources(
    machines: &[&Machine],
    tile: usize,
    what: What,
    written: &Written,
) -> io::Result<Sources> {
    match written.agent {
        AgentId::Core(core) => of_core(machines[tile], tile, core, written),
        AgentId::Thread(thread) => of_thread(machines[tile], (tile, what), thread, written),
        AgentId::Noc(noc) => of_noc(machines, (tile, what), noc, written),
        AgentId::Host => Ok(Sources::none("from the host")),
        AgentId::Unit(_) => Ok(Sources::none("")),
    }
}

/// Registers that are asked about next; what is always zero has no writer.
fn registers(tile: usize, core: CoreId, at: Moment, numbers: &[u32], told: String) -> Sources {
    let mut numbers: Vec<u8> =
        numbers.iter().filter(|number| **number != 0).map(|&number| number as u8).collect();
    numbers.dedup();
    let ask =
        |&number: &u8| Question { tile, what: What::Register(core, number), at, by_core: true };
    let next: Vec<Question> = numbers.iter().map(ask).collect();
    Sources::read(told, next)
}

fn of_core(machine: &Machine, tile: usize, core: CoreId, written: &Written) -> io::Result<Sources> {
    let at = Moment { cycle: written.cycle, turn: core.into() };
    let mut there = machine.fork()?;
    there.seek(at);
    let attempt = there.attempt().filter(|attempt| Some(attempt.pc) == written.pc);
    let word = there.tile().next_word(core).filter(|_| attempt.is_some());
    let (Some(attempt), Some(word)) = (attempt, word) else {
        return Ok(Sources::none(""));
    };
    let told = isa::disasm::rv32(word, attempt.pc);
    let ask = |what| Question { tile, what, at, by_core: true };
    let memory = attempt.access.map(|access| (access.addr, access.addr & !3));
    Ok(match word::opcode(word) {
        word::STORE => registers(tile, core, at, &[word::rs2(word)], told),
        word::LOAD | AMO => match memory {
            Some((_, word)) if word < L1_BYTES => Sources::read(told, vec![ask(What::L1(word))]),
            Some((_, word)) if word.wrapping_sub(LOCAL_RAM_BASE) < core.local_ram_bytes() => {
                Sources::read(told, vec![ask(What::Local(core, word))])
            }
            Some((addr, _)) => {
                let name = memory_map::register_name(view(core), addr);
                let name = name.unwrap_or_else(|| format!("{addr:#x}"));
                Sources::none(format!("{told}: what the register {name} answered"))
            }
            None => Sources::none(told),
        },
        word::OP => registers(tile, core, at, &[word::rs1(word), word::rs2(word)], told),
        word::OP_IMM => registers(tile, core, at, &[word::rs1(word)], told),
        _ => Sources::none(told),
    })
}

fn of_thread(
    machine: &Machine,
    (tile, what): (usize, What),
    thread: ThreadId,
    written: &Written,
) -> io::Result<Sources> {
    let Some((word, opcode)) = written.word.and_then(|word| Some((word, Opcode::from_word(word)?)))
    else {
        return Ok(Sources::none(""));
    };
    let at = Moment::at(written.cycle);
    let Details { rows, reads, banks, wide } = details(machine, written.cycle, thread)?;
    let ask = |cells| Question { tile, what: What::Cells(cells), at, by_core: false };
    let row = opcode.row();
    let lregs = |fields: &[Option<isa::columns::Bits>]| {
        let mut named: Vec<u8> = fields.iter().flatten().map(|bits| bits.get(word) as u8).collect();
        named.sort_unstable();
        named.dedup();
        let each = named.into_iter().map(|register| ask(Cells::LReg { register, lane: None }));
        each.collect::<Vec<_>>()
    };
    let of_dst = |told: &str| match rows.first() {
        Some(&row) => {
            let told = format!("{told} rows {rows:?} of Dst");
            Sources::read(told, vec![ask(Cells::Dst { wide, row, column: None })])
        }
        None => Sources::none("a constant"),
    };
    Ok(match (row.unit, opcode) {
        (Unit::Unpacker, _) => match reads.first() {
            Some(&(addr, _)) => {
                let bytes: u32 = reads.iter().map(|(_, bytes)| bytes).sum();
                let told = format!("unpacks {bytes} bytes from {addr:#x} on");
                let next = Question { tile, what: What::L1(addr & !3), at, by_core: false };
                Sources::read(told, vec![next])
            }
            None => Sources::none("a constant"),
        },
        (Unit::Packer, _) => of_dst("packs"),
        (Unit::Vector, Opcode::Sfpload) => of_dst("loads"),
        (Unit::Vector, _) => {
            let stores = matches!(what, What::Cells(Cells::Dst { .. }));
            let fields = if stores {
                [row.lregs.vd, None, None]
            } else {
                [row.lregs.va, row.lregs.vb, row.lregs.vc]
            };
            let next = lregs(&fields);
            let told = if next.is_empty() { "a constant" } else { "LRegs" };
            Sources::read(told, next)
        }
        (Unit::Matrix, _) => {
            let used = (0..2_u8).filter(|operand| row.needs >> operand & 1 != 0);
            let src = |operand: u8| {
                let bank = banks[usize::from(operand)];
                ask(Cells::Src { operand, bank, row: None, column: None })
            };
            let next: Vec<Question> = used.map(src).collect();
            let told = if next.is_empty() { "no operand of SrcA or SrcB" } else { "SrcA, SrcB" };
            Sources::read(told, next)
        }
        _ => Sources::none(""),
    })
}

fn of_noc(
    machines: &[&Machine],
    (tile, what): (usize, What),
    noc: u8,
    written: &Written,
) -> io::Result<Sources> {
    let What::L1(word) = what else { return Ok(Sources::none("")) };
    // A command of its own that reads, or that writes to itself too.
    if written.pc.is_some() {
        let Some(sent) = own_read(machines[tile], noc, word, written)? else {
            return Ok(Sources::none("a NoC transfer of its own"));
        };
        return Ok(from_afar(machines, tile, word, &sent));
    }
    let Some((source, ticket)) = received(machines[tile], noc, word, written)? else {
        return Ok(Sources::none("another NoC endpoint"));
    };
    let sender = machines.iter().position(|machine| machine.recording().number == source);
    let Some(sender) = sender else {
        return Ok(Sources::none(format!("sent by NoC endpoint {source}, which was not recorded")));
    };
    let Some(sent) = sent(machines[sender], noc, ticket, written.cycle)? else {
        return Ok(Sources::none("sent by a command that was not found"));
    };
    Ok(from_sender(machines, sender, word, &sent))
}

fn place(machine: &Machine) -> String {
    let (x, y) = machine.recording().place;
    format!("tile {x},{y}")
}

/// What a write of a tile took from its L1.
fn from_sender(machines: &[&Machine], sender: usize, word: u32, sent: &Sent) -> Sources {
    let told = format!("{} sent it in cycle {}", place(machines[sender]), sent.at.cycle);
    let sources = if sent.is_inline() {
        Sources::none(format!("{told}, an inline write of {:#x}", sent.data))
    } else if sent.is_atomic() {
        Sources::none(format!("{told}, an atomic"))
    } else {
        let from = sent.local.wrapping_add(word.wrapping_sub(sent.addr as u32)) & !3;
        let at = Moment::at(sent.at.cycle);
        let next = Question { tile: sender, what: What::L1(from), at, by_core: false };
        Sources::read(format!("{told} from {from:#x}"), vec![next])
    };
    sources.moved_by(sender, sent)
}

/// What a read of a tile brought.
fn from_afar(machines: &[&Machine], tile: usize, word: u32, sent: &Sent) -> Sources {
    if !sent.is_read() {
        return from_sender(machines, tile, word, sent);
    }
    let addr = sent.addr.wrapping_add(u64::from(word.wrapping_sub(sent.local)));
    let (x, y) = sent.corner();
    let told = format!("read from {addr:#x} at NoC {x}-{y}, asked for in cycle {}", sent.at.cycle);
    let other =
        machines.iter().position(|machine| machine.recording().config.coordinates == (x, y));
    let next = match (other, u32::try_from(addr)) {
        (Some(other), Ok(addr)) if addr < L1_BYTES => {
            let at = Moment::at(sent.at.cycle);
            vec![Question { tile: other, what: What::L1(addr & !3), at, by_core: false }]
        }
        _ => Vec::new(),
    };
    Sources::read(told, next).moved_by(tile, sent)
}
