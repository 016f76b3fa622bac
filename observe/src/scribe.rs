//! Puts events into words like [`mod@crate::describe`], and remembers what it has said.
//!
//! A run does the same few things again and again: the same instructions, registers, waits, lines
//! of source. Each is put into words once.

use memory_map::View;
use sim_core::{AgentId, Cycle, Event, Stamp, WaitReason};

use crate::cache::Cache;
use crate::describe::{self, site_of, target_of, text_of};
use crate::names::{CodeName, Names};
use crate::target::Target;
use crate::words::{self, Part};

/// An event in words, but for what differs each time: see [`crate::labels::put_duration`].
#[derive(Debug, Default)]
pub(crate) struct Phrase {
    /// What it is about; `None` for an event of an unknown kind.
    pub(crate) target: Option<Target>,
    /// As a sentence says it; of a wait that ended, what was waited for.
    pub(crate) text: String,
    /// Whatever else the owner of the scribe makes of it.
    pub(crate) more: String,
}

/// What tells phrases apart: the names there are, who sees an address, what happened.
type Key = (u32, Option<View>, Event);

/// What it remembers. `S` is what its owner makes of a line of source.
#[derive(Debug)]
pub(crate) struct Scribe<N, S> {
    names: N,
    phrases: Cache<Key, Phrase>,
    finish: fn(&mut Phrase, &Event),
    sources: Cache<(u32, AgentId, u32), S>,
    source: fn(u32, Option<CodeName>) -> S,
}

impl<N: Names, S> Scribe<N, S> {
    /// One that knows these names. `source` says where in the source a pc is; `finish` fills
    /// [`Phrase::more`].
    pub(crate) fn new(
        names: N,
        source: fn(u32, Option<CodeName>) -> S,
        finish: fn(&mut Phrase, &Event),
    ) -> Self {
        let (phrases, sources) = (Cache::default(), Cache::default());
        Self { names, phrases, finish, sources, source }
    }

    pub(crate) fn names(&self) -> &N {
        &self.names
    }

    /// The target of an event. Only writes to L1 need to be put into words for it.
    pub(crate) fn target(&mut self, stamp: Stamp, event: &Event) -> Option<Target> {
        match event {
            Event::L1Store { .. } | Event::HostWrite { .. } | Event::L1Atomic { .. } => {
                self.phrase(stamp, event).target
            }
            _ => target_of(event, &self.names),
        }
    }

    /// What happened, and where in the source.
    pub(crate) fn say(&mut self, stamp: Stamp, event: &Event) -> (&Phrase, &S) {
        let Self { names, phrases, finish, sources, source } = self;
        (phrase(names, phrases, *finish, stamp, event), place(names, sources, *source, stamp))
    }

    /// What happened.
    fn phrase(&mut self, stamp: Stamp, event: &Event) -> &Phrase {
        phrase(&self.names, &mut self.phrases, self.finish, stamp, event)
    }

    /// Where in the source an event comes from.
    pub(crate) fn source(&mut self, stamp: Stamp) -> &S {
        place(&self.names, &mut self.sources, self.source, stamp)
    }

    /// What is waited for, and where in the source.
    pub(crate) fn reason(&mut self, stamp: Stamp, reason: WaitReason) -> (&str, &S) {
        let (phrase, source) = self.say(stamp, &Event::WaitEnd { reason, since: Cycle(0) });
        (&phrase.text, source)
    }
}

fn phrase<'a, N: Names>(
    names: &N,
    phrases: &'a mut Cache<Key, Phrase>,
    finish: fn(&mut Phrase, &Event),
    stamp: Stamp,
    event: &Event,
) -> &'a Phrase {
    let (mut view, mut event) = (None, *event);
    match &mut event {
        Event::DeviceStore { .. } => view = Some(describe::device_view(stamp.agent)),
        Event::WaitEnd { since, .. } => *since = Cycle(0),
        Event::NocIssue { ticket, .. }
        | Event::NocDone { ticket, .. }
        | Event::NocSent { ticket, .. }
        | Event::NocServe { ticket, .. } => *ticket = 0,
        _ => {}
    }
    phrases.get((names.generation(), view, event), || {
        let mut phrase = Phrase { target: target_of(&event, names), ..Phrase::default() };
        match event {
            Event::WaitEnd { reason, .. } => phrase.text = describe::reason_text(&reason),
            _ => _ = text_of(&mut phrase.text, stamp, &event, names),
        }
        finish(&mut phrase, &event);
        phrase
    })
}

fn place<'a, N: Names, S>(
    names: &N,
    sources: &'a mut Cache<(u32, AgentId, u32), S>,
    source: fn(u32, Option<CodeName>) -> S,
    stamp: Stamp,
) -> &'a S {
    let Stamp { agent, pc, .. } = stamp;
    sources.get((names.generation(), agent, pc), || {
        let site = if pc == 0 { None } else { site_of(agent, pc, names) };
        source(pc, site)
    })
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
        self.0.get(write, make)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BuiltInNames;
    use crate::describe::describe;
    use crate::labels::put_duration;
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
            let mut scribe = Scribe::new(BuiltInNames, |pc, _| pc, |_, _| {});
            for event in events.iter().chain(&events) {
                let line = describe(stamp, event, &BuiltInNames).expect("a known kind");
                let mut text = String::new();
                put_duration(&mut text, stamp, event);
                let (phrase, &pc) = scribe.say(stamp, event);
                text.push_str(&phrase.text);
                prop_assert_eq!((text, pc), (line.text, 0x7000));
                prop_assert_eq!(scribe.target(stamp, event), Some(line.target));
            }
        }
    }

    /// Names that come and go.
    struct Kernel(std::cell::Cell<u32>);

    impl Names for Kernel {
        fn code(&self, _: CoreId, _: u32) -> Option<CodeName> {
            let function = format!("kernel {}", self.0.get());
            Some(CodeName { function, file: None, line: None })
        }

        fn generation(&self) -> u32 {
            self.0.get()
        }
    }

    #[test]
    fn scribe_with_other_names_forgets_the_old_ones() {
        let names = Kernel(std::cell::Cell::new(0));
        let named = |_, code: Option<CodeName>| code.map(|code| code.function);
        let mut scribe = Scribe::new(&names, named, |_, _| {});
        let stamp = at(1, AgentId::Core(CoreId::Brisc), 0x7000);
        let reset = Event::Reset { core: CoreId::Brisc, asserted: false, pc: 0x7000 };
        for kernel in [0, 0, 1, 0] {
            names.0.set(kernel);
            let name = format!("kernel {kernel}");
            let (phrase, source) = scribe.say(stamp, &reset);
            assert_eq!(source.as_deref(), Some(&*name));
            assert!(phrase.text.ends_with(&format!("({name})")), "{}", phrase.text);
        }
    }
}
