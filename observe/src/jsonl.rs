//! The event stream as JSON lines: one object per event, a head and a tail.
//!
//! The first line is `{"schema":"tilescope-events","version":N,...}`, the last one
//! `{"end":...,"events":N}`; a file that ends early is valid up to its last line. Keys are described
//! in `docs/events.md`.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use sim_core::observer::{SCHEMA_VERSION, SemaphoreOp, Slot};
use sim_core::{Event, Observer, Stamp, WaitReason};

use crate::DEFAULT_L1;
use crate::describe::{describe, mutex_name, semaphore_name};
use crate::ledger::{Entry, Ledger};
use crate::names::Names;

/// Writes every event as one line.
#[derive(Debug)]
pub struct JsonLines<W: Write, N> {
    out: W,
    names: N,
    ledger: Ledger,
    /// The last instruction a thread issued, which is what its next events come from.
    issued: Option<(Stamp, Slot)>,
    count: u64,
    error: Option<io::Error>,
}

impl<W: Write, N: Names> JsonLines<W, N> {
    /// Starts the stream: writes the head.
    pub fn new(out: W, names: N) -> Self {
        let mut lines =
            Self { out, names, ledger: Ledger::default(), issued: None, count: 0, error: None };
        lines.put(&json!({
            "schema": "tilescope-events",
            "version": SCHEMA_VERSION,
            "unit": "AI-clock cycles",
        }));
        lines
    }

    fn put(&mut self, value: &Value) {
        if self.error.is_none()
            && let Err(error) = writeln!(self.out, "{value}")
        {
            // A reader that went away is told once, at the end.
            self.error = Some(error);
        }
    }

    /// Ends the stream with how the run ended (`DONE`, `DEADLOCK`...).
    ///
    /// # Errors
    /// The first error of the writer, whenever it happened.
    pub fn finish(mut self, end: &str) -> io::Result<()> {
        let count = self.count;
        self.put(&json!({ "end": end, "events": count }));
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn slot(&mut self, stamp: Stamp, event: &Event) -> Option<Slot> {
        if let Event::Issue { slot, .. } = event {
            self.issued = Some((stamp, *slot));
            return None;
        }
        let (at, slot) = self.issued?;
        (at == stamp && slot != Slot::default()).then_some(slot)
    }
}

impl<W: Write, N: Names> Observer for JsonLines<W, N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, width, .. } = *event
            && !crate::hash::touches(&[DEFAULT_L1], addr, width.bytes())
        {
            return;
        }
        let slot = self.slot(stamp, event);
        let culprit = match event {
            Event::WaitEnd { reason, .. } => self.ledger.culprit(reason).copied(),
            _ => None,
        };
        self.ledger.event(stamp, event);
        let mut object = Map::new();
        object.insert("seq".to_owned(), self.count.into());
        object.insert("cycle".to_owned(), stamp.cycle.0.into());
        object.insert("agent".to_owned(), stamp.agent.to_string().into());
        object.insert("event".to_owned(), event.kind().name().into());
        fields(event, &mut object);
        if let Some(slot) = slot {
            object.insert("slot".to_owned(), slot_value(slot));
        }
        if let Some(culprit) = culprit {
            object.insert("culprit".to_owned(), culprit_value(&culprit));
        }
        if let Some(line) = describe(stamp, event, &self.names) {
            object.insert("text".to_owned(), line.text.into());
            object.insert("pc".to_owned(), line.pc.into());
            if let Some(code) = line.code {
                object.insert("function".to_owned(), code.function.into());
                object.insert("file".to_owned(), code.file.into());
                object.insert("line".to_owned(), code.line.into());
            }
        }
        self.count += 1;
        self.put(&Value::Object(object));
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

fn slot_value(slot: Slot) -> Value {
    let replay = (slot.replay != 0).then(|| slot.replay - 1);
    json!({ "mop": (slot.mop != 0).then_some(slot.mop), "replay": replay })
}

fn culprit_value(culprit: &Entry) -> Value {
    json!({ "cycle": culprit.cycle, "agent": culprit.agent.to_string(), "pc": culprit.pc })
}

fn reason_value(reason: &WaitReason) -> Value {
    let text = format!("{reason:?}");
    let name = text.split([' ', '{']).next().unwrap_or_default().to_owned();
    let parts: Vec<_> = crate::resource::awaited(reason)
        .into_iter()
        .map(|(resource, way)| json!({ "resource": resource, "way": way }))
        .collect();
    json!({ "name": name, "text": crate::describe::reason_text(reason), "for": parts })
}

/// The event's own fields under the names of the declaration.
fn fields(event: &Event, to: &mut Map<String, Value>) {
    let value = match *event {
        Event::L1Store { addr, value, width } | Event::DeviceStore { addr, value, width } => {
            json!({ "addr": addr, "value": value, "width": width.bytes() })
        }
        Event::HostWrite { addr, value, bytes } => {
            json!({ "addr": addr, "value": value, "bytes": bytes })
        }
        Event::L1Atomic { addr, before, after } => {
            json!({ "addr": addr, "before": before, "after": after })
        }
        Event::Push { thread, word, after_mop } => {
            json!({ "thread": thread.index(), "word": word, "after_mop": after_mop })
        }
        Event::Issue { thread, word, slot } => {
            json!({ "thread": thread.index(), "word": word, "slot": slot_value(slot) })
        }
        Event::UnitDone { thread, word } => json!({ "thread": thread.index(), "word": word }),
        Event::WaitBegin { reason } => json!({ "reason": reason_value(&reason) }),
        Event::WaitEnd { reason, since } => {
            json!({ "reason": reason_value(&reason), "since": since.0 })
        }
        Event::SyncDone { thread, reason } => {
            json!({ "thread": thread.index(), "reason": reason_value(&reason) })
        }
        Event::Semaphore { index, op, before, after, max } => {
            let op = match op {
                SemaphoreOp::Init => "init",
                SemaphoreOp::Post => "post",
                SemaphoreOp::Get => "get",
            };
            json!({ "index": index, "name": semaphore_name(index), "op": op,
                    "before": before, "after": after, "max": max })
        }
        Event::Mutex { index, acquired } => {
            json!({ "index": index, "name": mutex_name(index), "acquired": acquired })
        }
        Event::MutexIgnored { index } => json!({ "index": index, "name": mutex_name(index) }),
        Event::MailboxPush { from, to, value, depth }
        | Event::MailboxPop { from, to, value, depth } => {
            json!({ "from": from.name(), "to": to.name(), "value": value, "depth": depth })
        }
        Event::PcBufPush { thread, value, depth } | Event::PcBufPop { thread, value, depth } => {
            json!({ "thread": thread.index(), "value": value, "depth": depth })
        }
        _ => machine_fields(event),
    };
    if let Value::Object(fields) = value {
        to.extend(fields);
    }
}

fn machine_fields(event: &Event) -> Value {
    match *event {
        Event::Config { state, index, before, after } => {
            json!({ "state": state, "index": index, "before": before, "after": after })
        }
        Event::Reset { core, asserted, pc } => {
            json!({ "core": core.name(), "asserted": asserted, "start": pc })
        }
        Event::IcacheInvalidate { mask } => json!({ "mask": mask }),
        Event::NocIssue { noc, initiator, control, addr, coordinate, bytes } => {
            json!({ "noc": noc, "initiator": initiator, "control": control, "addr": addr,
                    "coordinate": coordinate, "bytes": bytes })
        }
        Event::NocDone { noc, initiator } => json!({ "noc": noc, "initiator": initiator }),
        Event::Stream { stream, register, before, after } => {
            let circular = crate::resource::operation(event, &|_, _| None).is_some();
            json!({ "stream": stream, "register": register, "before": before, "after": after,
                    "cb": circular.then_some(stream) })
        }
        Event::Halt { core } => json!({ "core": core.name() }),
        Event::SrcBanks { operand, before, after } => {
            json!({ "operand": if operand == 0 { "SrcA" } else { "SrcB" },
                    "before": before, "after": after })
        }
        _ => Value::Null,
    }
}
