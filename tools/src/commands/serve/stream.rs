//! What a served tile does, as lines of JSON, with the polls that are read off the executed instructions.

use observe::{JsonLines, Names, Polls};
use sim_core::observer::ParkedSpan;
use sim_core::{CoreId, Cycle, Event, Observer, Retire, Stamp};

/// Writes lines, and keeps them until somebody asks for them.
pub(super) struct Stream<N> {
    lines: JsonLines<Vec<u8>, N>,
    polls: Polls,
    is_closed: bool,
}

impl<N: Names + 'static> Stream<N> {
    pub(super) fn new(names: N) -> Self {
        let lines = JsonLines::new(Vec::new(), names);
        Self { lines, polls: Polls::default(), is_closed: false }
    }

    /// The lines since they were last asked for.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(self.lines.out_mut())
    }

    /// Nothing more will come: tells, once, of the polls that go on, at that cycle, at which cores are parked so.
    pub(super) fn close(&mut self, now: Cycle, parked: &[(CoreId, ParkedSpan)]) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.polls.open(now.0, parked).iter().for_each(|episode| self.lines.poll(episode));
        }
    }

    /// Tells of the polls that have ended.
    fn ended(&mut self) {
        let Self { lines, polls, .. } = self;
        polls.ended().for_each(|episode| lines.poll(&episode));
    }
}

impl<N: Names + 'static> Observer for Stream<N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.polls.event(stamp, event);
        self.ended();
        self.lines.event(stamp, event);
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.polls.retire(core, retire);
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        self.polls.retires(core, retires);
        self.ended();
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.polls.parked(core, span);
        self.ended();
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.lines.observed_l1()
    }
}
