//! When units are busy: issues and completions joined to spans.
//!
//! Instructions of one thread that follow each other without a gap and have the same mnemonic are
//! one span. A span is handed out when the next one of its unit begins, or at the end.

use isa::op::Opcode;
use sim_core::{Event, Stamp, ThreadId, UnitId};

const UNITS: usize = 9;

/// A unit at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) unit: UnitId,
    pub(crate) thread: ThreadId,
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) name: &'static str,
    pub(crate) count: u64,
}

/// Open spans by unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units([Option<Span>; UNITS]);

/// The unit that executes `word`; frontend instructions never get to one.
pub(crate) fn unit_of(word: u32) -> Option<(UnitId, &'static str)> {
    let opcode = Opcode::from_word(word)?;
    let unit = tile::unit_id(opcode.unit())?;
    Some((unit, opcode.mnemonic()))
}

impl Units {
    /// Takes an event in; gives out a span that is over.
    pub(crate) fn event(&mut self, stamp: Stamp, event: &Event) -> Option<Span> {
        let cycle = stamp.cycle.0;
        match *event {
            Event::Issue { thread, word, .. } => {
                let (unit, name) = unit_of(word)?;
                let slot = &mut self.0[unit as usize];
                if let Some(span) = slot
                    && span.thread == thread
                    && span.name == name
                    && cycle <= span.until
                {
                    span.until = span.until.max(cycle + 1);
                    span.count += 1;
                    return None;
                }
                let span = Span { unit, thread, from: cycle, until: cycle + 1, name, count: 1 };
                slot.replace(span).map(|mut old| {
                    // Pipelined units start the next before the last is done.
                    old.until = old.until.min(cycle).max(old.from);
                    old
                })
            }
            Event::UnitDone { thread, word } => {
                let (unit, _) = unit_of(word)?;
                if let Some(span) = &mut self.0[unit as usize]
                    && span.thread == thread
                {
                    span.until = span.until.max(cycle);
                }
                None
            }
            _ => None,
        }
    }

    /// Everything that is still open.
    pub(crate) fn flush(&mut self) -> Vec<Span> {
        self.0.iter_mut().filter_map(Option::take).collect()
    }
}
