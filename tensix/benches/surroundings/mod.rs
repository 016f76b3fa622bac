//! The least that a coprocessor needs around it, shared by the benchmarks.

#![allow(dead_code, reason = "each benchmark uses its own part")]

use sim_core::observer::{Event, Stamp};
use sim_core::{L1, ThreadId, Width};
use tensix::Env;

/// A tile of which only L1 matters.
#[derive(Default)]
pub(crate) struct Memory(pub(crate) L1);

impl Env for Memory {
    const OBSERVED: bool = false;
    fn event(&mut self, _: Stamp, _: Event) {}
    fn stream_register(&self, _: u8, _: u16) -> u32 {
        0
    }
    fn invalidate_icache(&mut self, _: u8, _: Stamp) {}
    fn l1_word(&self, addr: u32) -> u32 {
        self.0.word(addr)
    }
    fn l1_visit<const N: usize>(&self, addr: u32, visit: impl FnMut(usize, u32)) {
        self.0.visit_words::<N>(addr, visit);
    }
    fn l1_write_words<const N: usize>(&mut self, addr: u32, words: &[u32; N], _: Stamp) {
        self.0.write_words(addr, words);
    }
    fn l1_write(&mut self, addr: u32, value: u32, width: Width, _: Stamp) {
        self.0.write(addr, value, width);
    }
    fn store_register(&mut self, _: u32, _: u32, _: Stamp) {}
    fn request_register(&mut self, _: ThreadId, _: u8, _: u32, _: Stamp) {}
}

/// A tile in which nothing else happens and nobody listens.
pub(crate) struct Quiet;

impl Env for Quiet {
    const OBSERVED: bool = false;
    fn event(&mut self, _: Stamp, _: Event) {}
    fn stream_register(&self, _: u8, _: u16) -> u32 {
        0
    }
    fn invalidate_icache(&mut self, _: u8, _: Stamp) {}
    fn l1_word(&self, _: u32) -> u32 {
        0
    }
    fn l1_write(&mut self, _: u32, _: u32, _: Width, _: Stamp) {}
    fn store_register(&mut self, _: u32, _: u32, _: Stamp) {}
    fn request_register(&mut self, _: ThreadId, _: u8, _: u32, _: Stamp) {}
}
