//! An event's own fields as members of an object, under the names of the declaration.

use sim_core::observer::Slot;
use sim_core::{CoreId, Event, Stamp, WaitReason};

use crate::culprit::Culprit;
use crate::describe::{agent_name, mutex_name, reason_text, semaphore_name, semaphore_op};
use crate::polls::Episode;
use crate::resource::{awaited, operation};
use crate::scribe::Phrase;
use crate::text::{self, Dec, Escaped, Json, Piece, put};

/// Puts members: `members!(out; "index": Dec(index), "op": Json("post"))`.
macro_rules! members {
    ($out:expr; $($key:literal: $value:expr),+ $(,)?) => {{
        $(put!($out; concat!(",\"", $key, "\":"), $value);)+
    }};
}

struct Flag(bool);

impl Piece for Flag {
    fn put(self, out: &mut String) {
        out.push_str(if self.0 { "true" } else { "false" });
    }
}

/// A number, or null.
struct Maybe<T>(Option<T>);

impl<T: Into<u64>> Piece for Maybe<T> {
    fn put(self, out: &mut String) {
        match self.0 {
            Some(value) => put!(out; Dec(value)),
            None => out.push_str("null"),
        }
    }
}

/// A core's name.
struct Core(CoreId);

impl Piece for Core {
    fn put(self, out: &mut String) {
        put!(out; "\"", self.0.name(), "\"");
    }
}

/// A thread's number.
fn thread(thread: sim_core::ThreadId) -> Dec<u8> {
    Dec(thread as u8)
}

/// A wait reason as an object; what it waits for is in `for`.
struct Reason(WaitReason);

impl Piece for Reason {
    fn put(self, out: &mut String) {
        let debug = format!("{:?}", self.0);
        let name = debug.split([' ', '{']).next().unwrap_or_default();
        put!(out; r#"{"name":"#, Json(name), r#","text":"#, Json(&reason_text(&self.0)));
        out.push_str(r#","for":["#);
        for (i, (resource, way)) in awaited(&self.0).into_iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            put!(out; separator, r#"{"resource":"#, Json(&resource.to_string()));
            put!(out; r#","way":""#, way.name(), "\"}");
        }
        out.push_str("]}");
    }
}

/// Makes JSON of a phrase: the event's own members are put beside it, its text is escaped.
pub(super) fn finish(phrase: &mut Phrase, event: &Event) {
    put_fields(&mut phrase.more, event);
    if !text::is_plain(&phrase.text) {
        let raw = std::mem::take(&mut phrase.text);
        put!(&mut phrase.text; Escaped(&raw));
    }
}

/// When a wait began that ended.
pub(super) fn put_since(out: &mut String, event: &Event) {
    if let Event::WaitEnd { since, .. } = *event {
        members!(out; "since": Dec(since.0));
    }
}

pub(super) fn put_slot(out: &mut String, slot: Slot) {
    let mop = (slot.mop != 0).then_some(slot.mop);
    let replay = (slot.replay != 0).then(|| slot.replay - 1);
    put!(out; r#","slot":{"mop":"#, Maybe(mop), r#","replay":"#, Maybe(replay), "}");
}

pub(super) fn put_culprit(out: &mut String, culprit: Culprit) {
    let Culprit { cycle, agent, pc } = culprit;
    put!(out; r#","culprit":{"cycle":"#, Dec(cycle), r#","agent":""#, &*agent_name(agent));
    put!(out; r#"","pc":"#, Dec(pc), "}");
}

/// What a polling loop was, but for its end's cycle.
pub(super) fn put_poll(out: &mut String, episode: &Episode) {
    members!(out; "since": Dec(episode.since), "rounds": Dec(episode.rounds));
    members!(out; "open": Flag(episode.open));
    out.push_str(r#","for":["#);
    if let Some((resource, way)) = episode.waits_for {
        put!(out; r#"{"resource":"#, Json(&resource.to_string()));
        put!(out; r#","way":""#, way.name(), "\"}");
    }
    out.push_str(r#"],"loads":["#);
    for (at, (look, last)) in episode.looks.iter().zip(&episode.last).enumerate() {
        let separator = if at == 0 { "" } else { "," };
        put!(out; separator, r#"{"pc":"#, Dec(look.pc), r#","addr":"#, Dec(look.addr));
        put!(out; r#","first":"#, Dec(look.value), r#","last":"#, Dec(*last), "}");
    }
    out.push(']');
    if let Some(Stamp { cycle, agent, pc }) = episode.ended {
        put_culprit(out, Culprit { cycle: cycle.0, agent, pc });
    }
}

/// The fields of what cores and threads do with each other, but for [`put_since`].
fn put_fields(out: &mut String, event: &Event) {
    match *event {
        Event::L1Store { addr, value, width } | Event::DeviceStore { addr, value, width } => {
            members!(out; "addr": Dec(addr), "value": Dec(value), "width": Dec(width.bytes()));
        }
        Event::HostWrite { addr, value, bytes } => {
            members!(out; "addr": Dec(addr), "value": Dec(value), "bytes": Dec(bytes));
        }
        Event::L1Atomic { addr, before, after } => {
            members!(out; "addr": Dec(addr), "before": Dec(before), "after": Dec(after));
        }
        Event::Push { thread: to, word, after_mop } => {
            members!(out; "thread": thread(to), "word": Dec(word), "after_mop": Flag(after_mop));
        }
        Event::Issue { thread: of, word, slot } => {
            members!(out; "thread": thread(of), "word": Dec(word));
            put_slot(out, slot);
        }
        Event::UnitDone { thread: of, word } => {
            members!(out; "thread": thread(of), "word": Dec(word));
        }
        Event::WaitBegin { reason } | Event::WaitEnd { reason, .. } => {
            members!(out; "reason": Reason(reason));
        }
        Event::SyncDone { thread: with, reason } => {
            members!(out; "thread": thread(with), "reason": Reason(reason));
        }
        Event::Semaphore { index, op, before, after, max } => {
            members!(out; "index": Dec(index), "name": Json(&semaphore_name(index)));
            members!(out; "op": Json(semaphore_op(op)), "before": Dec(before));
            members!(out; "after": Dec(after), "max": Dec(max));
        }
        Event::Mutex { index, acquired } => {
            members!(out; "index": Dec(index), "name": Json(&mutex_name(index)));
            members!(out; "acquired": Flag(acquired));
        }
        Event::MutexIgnored { index } => {
            members!(out; "index": Dec(index), "name": Json(&mutex_name(index)));
        }
        Event::MopOverwritten { thread: of, index, before, after } => {
            members!(out; "thread": thread(of), "index": Dec(index));
            members!(out; "before": Dec(before), "after": Dec(after));
        }
        Event::MailboxPush { from, to, value, depth }
        | Event::MailboxPop { from, to, value, depth } => {
            members!(out; "from": Core(from), "to": Core(to));
            members!(out; "value": Dec(value), "depth": Dec(depth));
        }
        Event::PcBufPush { thread: of, value, depth }
        | Event::PcBufPop { thread: of, value, depth } => {
            members!(out; "thread": thread(of), "value": Dec(value), "depth": Dec(depth));
        }
        _ => put_machine_fields(out, event),
    }
}

/// The number of a NoC packet, which is another one each time.
pub(super) fn put_ticket(out: &mut String, event: &Event) {
    if let Event::NocIssue { ticket, .. }
    | Event::NocDone { ticket, .. }
    | Event::NocSent { ticket, .. }
    | Event::NocServe { ticket, .. } = *event
    {
        members!(out; "ticket": Dec(ticket));
    }
}

/// The fields of the rest.
fn put_machine_fields(out: &mut String, event: &Event) {
    match *event {
        Event::Config { state, index, before, after } => {
            members!(out; "state": Dec(state), "index": Dec(index));
            members!(out; "before": Dec(before), "after": Dec(after));
        }
        Event::Reset { core, asserted, pc } => {
            members!(out; "core": Core(core), "asserted": Flag(asserted), "start": Dec(pc));
        }
        Event::IcacheInvalidate { mask } => members!(out; "mask": Dec(mask)),
        // Tickets differ each time and are put behind: the rest is remembered.
        Event::NocIssue { noc, initiator, control, addr, coordinate, bytes, packets, .. } => {
            members!(out; "noc": Dec(noc), "initiator": Dec(initiator), "control": Dec(control));
            members!(out; "addr": Dec(addr), "coordinate": Dec(coordinate), "bytes": Dec(bytes));
            members!(out; "packets": Dec(packets));
        }
        Event::NocDone { noc, initiator, .. } | Event::NocSent { noc, initiator, .. } => {
            members!(out; "noc": Dec(noc), "initiator": Dec(initiator));
        }
        Event::NocServe { noc, source, control, addr, bytes, .. } => {
            members!(out; "noc": Dec(noc), "source": Dec(source), "control": Dec(control));
            members!(out; "addr": Dec(addr), "bytes": Dec(bytes));
        }
        Event::Stream { stream, register, before, after } => {
            let circular = operation(event, &|_, _| None).is_some();
            members!(out; "stream": Dec(stream), "register": Dec(register));
            members!(out; "before": Dec(before), "after": Dec(after));
            members!(out; "cb": Maybe(circular.then_some(stream)));
        }
        Event::Halt { core } => members!(out; "core": Core(core)),
        Event::SrcBanks { operand, before, after } => {
            members!(out; "operand": Json(if operand == 0 { "SrcA" } else { "SrcB" }));
            members!(out; "before": Dec(before), "after": Dec(after));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::event_of;
    use proptest::prelude::*;
    use serde_json::Value;
    use sim_core::EventKind;

    fn object(event: &Event) -> Value {
        let mut out = String::from(r#"{"event":0"#);
        put_fields(&mut out, event);
        put_since(&mut out, event);
        put_ticket(&mut out, event);
        serde_json::from_str(&format!("{out}}}")).expect("an object")
    }

    proptest! {
        /// The declaration's field names as `Debug` prints them, but for those that
        /// docs/events.md renames.
        #[test]
        fn members_are_the_fields_of_the_declaration(
            event in proptest::sample::select(EventKind::ALL.to_vec()).prop_flat_map(event_of)
        ) {
            let object = object(&event);
            let debug = format!("{event:#?}");
            let fields = debug.lines().filter_map(|line| {
                let field = line.strip_prefix("    ")?.split_once(": ")?.0;
                (!field.starts_with(' ')).then_some(field)
            });
            for field in fields {
                let key = match (&event, field) {
                    (Event::Reset { .. }, "pc") => "start",
                    _ => field,
                };
                prop_assert!(object.get(key).is_some(), "{} in {}", key, object);
            }
        }
    }

    #[test]
    fn numbers_are_decimal_and_names_are_names() {
        let from = CoreId::Brisc;
        let push = Event::MailboxPush { from, to: CoreId::Trisc1, value: 0xFFFF_FFFF, depth: 2 };
        let value = object(&push);
        assert_eq!((&value["from"], &value["to"]), (&"BRISC".into(), &"TRISC1".into()));
        assert_eq!((&value["value"], &value["depth"]), (&4_294_967_295_u32.into(), &2.into()));
        let wait = Event::WaitBegin { reason: WaitReason::Mutex { index: 0 } };
        let value = object(&wait);
        assert_eq!(value["reason"]["name"], "Mutex");
        assert_eq!(value["reason"]["for"][0]["way"], "give");
    }
}
