//! A tile around the coprocessor that records every event.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, CoreId, Cycle, GuestError, L1, ThreadId, Width};
use tensix::{Coprocessor, Env, Origin, TimingModel};

/// Records events and register accesses; streams read as `stream`.
#[derive(Default)]
pub struct Recorder {
    pub events: Vec<(Stamp, Event)>,
    pub stream: u32,
    pub invalidated: Vec<u8>,
    pub l1: L1,
    pub register_stores: Vec<(u32, u32)>,
    pub register_loads: Vec<(ThreadId, u8, u32)>,
    /// A register was accessed; whoever runs the coprocessor resets it.
    pub wants_control: bool,
}

impl Env for Recorder {
    const OBSERVED: bool = true;
    fn event(&mut self, stamp: Stamp, event: Event) {
        self.events.push((stamp, event));
    }
    fn stream_register(&self, _: u8, _: u16) -> u32 {
        self.stream
    }
    fn invalidate_icache(&mut self, mask: u8, _: Stamp) {
        self.invalidated.push(mask);
    }
    fn l1_word(&self, addr: u32) -> u32 {
        self.l1.word(addr)
    }
    fn l1_write(&mut self, addr: u32, value: u32, width: Width, _: Stamp) {
        self.l1.write(addr, value, width);
    }
    fn store_register(&mut self, addr: u32, value: u32, _: Stamp) {
        self.register_stores.push((addr, value));
        self.wants_control = true;
    }
    fn request_register(&mut self, thread: ThreadId, gpr: u8, addr: u32, _: Stamp) {
        self.register_loads.push((thread, gpr, addr));
        self.wants_control = true;
    }
    fn wants_control(&self) -> bool {
        self.wants_control
    }
}

/// The same for a coprocessor that nobody listens to.
#[derive(Default)]
pub struct Unheard(Recorder);

impl Env for Unheard {
    const OBSERVED: bool = false;
    fn event(&mut self, _: Stamp, _: Event) {
        panic!("an event that nobody wants");
    }
    fn stream_register(&self, stream: u8, register: u16) -> u32 {
        self.0.stream_register(stream, register)
    }
    fn invalidate_icache(&mut self, mask: u8, at: Stamp) {
        self.0.invalidate_icache(mask, at);
    }
    fn l1_word(&self, addr: u32) -> u32 {
        self.0.l1_word(addr)
    }
    fn l1_write(&mut self, addr: u32, value: u32, width: Width, at: Stamp) {
        self.0.l1_write(addr, value, width, at);
    }
    fn store_register(&mut self, addr: u32, value: u32, at: Stamp) {
        self.0.store_register(addr, value, at);
    }
    fn request_register(&mut self, thread: ThreadId, gpr: u8, addr: u32, at: Stamp) {
        self.0.request_register(thread, gpr, addr, at);
    }
    fn wants_control(&self) -> bool {
        self.0.wants_control
    }
}

/// Surroundings of either kind.
pub trait Surrounding: Env + Default {
    /// What they recorded.
    fn recorder(&mut self) -> &mut Recorder;
}

impl Surrounding for Recorder {
    fn recorder(&mut self) -> &mut Recorder {
        self
    }
}

impl Surrounding for Unheard {
    fn recorder(&mut self) -> &mut Recorder {
        &mut self.0
    }
}

/// A coprocessor with its surroundings and a clock.
pub struct Bench<E = Recorder> {
    pub tensix: Coprocessor,
    pub env: E,
    pub now: u64,
}

impl Bench {
    pub fn new(timing: TimingModel) -> Self {
        Self::within(timing)
    }

    /// Issued words with their cycles.
    pub fn issued(&self) -> Vec<(u64, u32)> {
        let issue = |(stamp, event): &(Stamp, Event)| match event {
            Event::Issue { word, .. } => Some((stamp.cycle.0, *word)),
            _ => None,
        };
        self.env.events.iter().filter_map(issue).collect()
    }
}

impl<E: Surrounding> Bench<E> {
    /// One within surroundings of that kind.
    pub fn within(timing: TimingModel) -> Self {
        Self { tensix: Coprocessor::new(timing), env: E::default(), now: 0 }
    }

    /// Pushes from the thread's own TRISC, stepping while there is no room.
    pub fn push(&mut self, thread: ThreadId, word: u32) -> Result<(), GuestError> {
        let mut patience = 10_000;
        while self.tensix.push_credit(thread, false) == 0 && patience > 0 {
            self.step()?;
            patience -= 1;
        }
        let origin = Origin { core: thread.core(), pc: 0x6000 };
        self.tensix.push(thread, false, word, origin, Cycle(self.now), &mut self.env)
    }

    /// Pushes from BRISC.
    pub fn push_brisc(&mut self, thread: ThreadId, word: u32) -> Result<(), GuestError> {
        let origin = Origin { core: CoreId::Brisc, pc: 0x100 };
        self.tensix.push(thread, true, word, origin, Cycle(self.now), &mut self.env)
    }

    pub fn step(&mut self) -> Result<(), GuestError> {
        self.tensix.step(Cycle(self.now), &mut self.env)?;
        self.now += 1;
        Ok(())
    }

    /// Steps until asleep, at most `limit` cycles.
    pub fn settle(&mut self, limit: u64) -> Result<(), GuestError> {
        for _ in 0..limit {
            if self.tensix.is_asleep() {
                break;
            }
            self.step()?;
        }
        Ok(())
    }

    /// Pushes words to thread 0 one per cycle and settles.
    pub fn run(&mut self, words: &[u32]) -> Result<(), GuestError> {
        for &word in words {
            self.push(ThreadId::T0, word)?;
            self.step()?;
        }
        self.settle(10_000)
    }

    pub fn stamp(&self) -> Stamp {
        Stamp { cycle: Cycle(self.now), agent: AgentId::Host, pc: 0 }
    }
}
