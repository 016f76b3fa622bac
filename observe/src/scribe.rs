//! Puts events into words like [`mod@crate::describe`], and remembers what it has said.
//!
//! A run does the same few things again and again: the same instructions, registers, waits, lines
//! of source. Each is put into words once.

use memory_map::View;
use sim_core::{AgentId, Event, Stamp, WaitReason};

use crate::cache::Cache;
use crate::describe::{self, core_of, target_of, text_of};
use crate::names::{CodeName, Names};
use crate::target::Target;
use crate::text::{Hex, put};
use crate::words::{self, Part};

/// Wait reasons that are remembered.
const REASONS: usize = 128;

/// A short write to L1 in words.
#[derive(Debug)]
struct Written {
    target: Option<Target>,
    text: String,
}

/// A wait reason in words.
#[derive(Debug)]
pub(crate) struct Reason {
    /// As a sentence says it.
    pub(crate) text: String,
    /// Whatever else the owner of the scribe makes of it.
    pub(crate) more: String,
}

/// What it remembers. `S` is what its owner makes of a line of source.
#[derive(Debug)]
pub(crate) struct Scribe<N, S> {
    names: N,
    instructions: Cache<u32, String>,
    devices: Cache<(View, u32), String>,
    written: Cache<(u32, u32, u32), Written>,
    reasons: Vec<(WaitReason, Reason)>,
    more: fn(&WaitReason) -> String,
    sources: Cache<(u32, AgentId, u32), S>,
    /// Counts the changes of what lies in memory.
    kernels: u32,
}

impl<N: Names, S> Scribe<N, S> {
    /// One that knows these names. `more` fills [`Reason::more`].
    pub(crate) fn new(names: N, more: fn(&WaitReason) -> String) -> Self {
        Self {
            names,
            instructions: Cache::default(),
            devices: Cache::default(),
            written: Cache::default(),
            reasons: Vec::new(),
            more,
            sources: Cache::default(),
            kernels: 0,
        }
    }

    pub(crate) fn names(&self) -> &N {
        &self.names
    }

    /// What has to be noticed about an event before anything is asked about it.
    pub(crate) fn notice(&mut self, event: &Event) {
        // A new launch: other kernels lie at the same addresses.
        if matches!(event, Event::HostWrite { bytes: 5.., .. }) {
            self.kernels += 1;
        }
    }

    /// The target of an event.
    pub(crate) fn target(&mut self, stamp: Stamp, event: &Event) -> Option<Target> {
        match short_write(event) {
            Some(write) => self.written(stamp, event, write).target,
            None => target_of(event, &self.names),
        }
    }

    /// Puts what happened at the end of `out`; `false` for an event of an unknown kind.
    pub(crate) fn text(&mut self, out: &mut String, stamp: Stamp, event: &Event) -> bool {
        if let Some(write) = short_write(event) {
            out.push_str(&self.written(stamp, event, write).text);
            return true;
        }
        match *event {
            Event::Push { word, .. } | Event::Issue { word, .. } | Event::UnitDone { word, .. } => {
                let text = self.instructions.get(word, word, || isa::disasm::tensix(word));
                describe::instruction_text(out, event, text);
            }
            Event::WaitBegin { reason } | Event::WaitEnd { reason, .. } => {
                describe::wait_text(out, stamp, event, &self.reason(&reason).text);
            }
            Event::DeviceStore { addr, value, .. } => {
                let view = describe::device_view(stamp.agent);
                let make = || describe::device_name(view, addr);
                put!(out; self.devices.get(addr, (view, addr), make), " = ", Hex(value));
            }
            _ => return text_of(out, stamp, event, &self.names),
        }
        true
    }

    /// A wait reason in words.
    pub(crate) fn reason(&mut self, reason: &WaitReason) -> &Reason {
        let at = match self.reasons.iter().position(|(known, _)| known == reason) {
            Some(at) => at,
            None => {
                if self.reasons.len() == REASONS {
                    self.reasons.clear();
                }
                let text = describe::reason_text(reason);
                self.reasons.push((*reason, Reason { text, more: (self.more)(reason) }));
                self.reasons.len() - 1
            }
        };
        &self.reasons[at].1
    }

    /// What `make` made of the line of source that an event comes from.
    pub(crate) fn source(
        &mut self,
        stamp: Stamp,
        make: impl FnOnce(u32, Option<CodeName>) -> S,
    ) -> &S {
        let Stamp { agent, pc, .. } = stamp;
        let names = &self.names;
        let number = pc ^ u32::from(agent.code()) << 24 ^ self.kernels << 16;
        self.sources.get(number, (self.kernels, agent, pc), || {
            let known = (pc != 0).then(|| core_of(agent)).flatten();
            make(pc, known.and_then(|core| names.code(core, pc)))
        })
    }

    fn written(&mut self, stamp: Stamp, event: &Event, write: (u32, u32, u32)) -> &Written {
        let (addr, value, bytes) = write;
        let names = &self.names;
        // The host's words begin with `host writes`, so its writes are told apart by a length
        // that is none.
        let by_host = matches!(event, Event::HostWrite { .. });
        let key = (addr, value, bytes + if by_host { 0x100 } else { 0 });
        self.written.get(addr ^ value << 8, key, || {
            let mut text = String::new();
            text_of(&mut text, stamp, event, names);
            Written { target: target_of(event, names), text }
        })
    }
}

/// Address, value and bytes of a write to L1 of at most a word.
fn short_write(event: &Event) -> Option<(u32, u32, u32)> {
    match *event {
        Event::L1Store { addr, value, width } => Some((addr, value, width.bytes())),
        Event::HostWrite { addr, value, bytes: bytes @ 1..=4 } if addr < sim_core::l1::L1_BYTES => {
            Some((addr, value, bytes))
        }
        _ => None,
    }
}

/// The named fields that short writes to L1 cover, by the built-in names.
#[derive(Debug, Default)]
pub(crate) struct Fields(Cache<(u32, u32, u32), Vec<Part>>);

impl Fields {
    /// The fields that an event writes; none for what is no short write.
    pub(crate) fn written(&mut self, event: &Event) -> &[Part] {
        let Some(write) = short_write(event) else { return &[] };
        let (addr, value, bytes) = write;
        let make = || words::parts(addr, value, bytes, &crate::BuiltInNames);
        self.0.get(addr ^ value << 8, write, make)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BuiltInNames;
    use crate::describe::describe;
    use crate::testing::{at, event_of};
    use proptest::prelude::*;
    use sim_core::{CoreId, EventKind};

    proptest! {
        /// Asked twice, so that the second answer is a remembered one.
        #[test]
        fn scribe_says_what_describe_says(
            events in proptest::collection::vec(
                proptest::sample::select(EventKind::ALL.to_vec()).prop_flat_map(event_of), 1..20)
        ) {
            let stamp = at(u64::MAX, AgentId::Core(CoreId::Trisc1), 0x7000);
            let mut scribe = Scribe::<_, ()>::new(BuiltInNames, |_| String::new());
            for event in events.iter().chain(&events) {
                let line = describe(stamp, event, &BuiltInNames).expect("a known kind");
                let mut text = String::new();
                prop_assert!(scribe.text(&mut text, stamp, event));
                prop_assert_eq!(text, line.text);
                prop_assert_eq!(scribe.target(stamp, event), Some(line.target));
            }
        }
    }
}
