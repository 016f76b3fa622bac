//! Loops as a core would execute them: the load first, then the branch back.

use super::*;
use crate::BuiltInNames;
use crate::testing::at;
use isa::asm::{addi, bne, lw, sw};
use sim_core::Cycle;

const CORE: CoreId = CoreId::Brisc;
const HEAD: u32 = 0x100;
/// Received pages of CB 8 `[spec: boot-and-sync 3]`.
const RECEIVED_8: u32 = 0xFFB4_8028;

/// Feeds a core's instructions, one cycle each.
struct Core {
    polls: Polls,
    cycle: u64,
}

impl Core {
    /// A core with an address in register 5.
    fn new(addr: u32) -> Self {
        let mut core = Self { polls: Polls::default(), cycle: 100 };
        core.step(HEAD - 4, addi(5, 0, 0), 5, addr);
        core
    }

    fn step(&mut self, pc: u32, word: u32, rd: u8, value: u32) {
        let cycle = Cycle(self.cycle);
        self.polls.retires(CORE, &[Retire { cycle, pc, word, rd, value }]);
        self.cycle += 1;
    }

    /// A round of a loop that loads by register 5 and goes back.
    fn round(&mut self, value: u32) {
        self.step(HEAD, lw(6, 5, 0), 6, value);
        self.step(HEAD + 4, bne(6, 7, -4), 0, 0);
    }

    fn leave(&mut self) -> Vec<Episode> {
        self.step(HEAD + 8, addi(0, 0, 0), 0, 0);
        self.polls.ended().collect()
    }
}

#[test]
fn loop_that_looks_until_a_push_is_one_episode_with_its_end() {
    let mut core = Core::new(RECEIVED_8);
    (0..5).for_each(|_| core.round(3));
    let push = Event::Stream { stream: 8, register: 10, before: 3, after: 4 };
    core.polls.event(at(108, AgentId::Core(CoreId::Ncrisc), 0x500), &push);
    core.round(4);
    let ended = core.leave();
    let [episode] = &ended[..] else { panic!("{ended:?}") };
    assert_eq!((episode.since, episode.until, episode.rounds), (101, 113, 5));
    assert_eq!(episode.waits_for, Some((Resource::Circular(8), Way::Give)));
    assert_eq!(episode.looks, [Look { pc: HEAD, addr: RECEIVED_8, value: 3 }]);
    assert_eq!(episode.last, [4]);
    let line = episode.line(&BuiltInNames).text;
    let expected = "polls for a push of CB 8: 5 rounds in 12 cycles, ended by NCRISC at cycle 108";
    assert_eq!(line, expected);
}

/// The same loop, of which a simulator executes only the first round.
#[test]
fn rounds_that_were_not_executed_are_counted_by_their_length() {
    let mut core = Core::new(0x9000);
    core.round(0);
    let span = crate::testing::parked(core.cycle, core.cycle + 200, HEAD, 0x9000);
    core.polls.parked(CORE, span);
    core.cycle += 200;
    core.round(1);
    let ended = core.leave();
    let [episode] = &ended[..] else { panic!("{ended:?}") };
    // 20 of ten cycles, the one before; the last one leaves.
    assert_eq!((episode.since, episode.rounds), (101, 21));
    assert_eq!(episode.text(&BuiltInNames), "polls L1 word 0x9000");
}

#[test]
fn poll_of_a_word_names_the_store_that_ended_it() {
    let mut core = Core::new(0x9000);
    (0..4).for_each(|_| core.round(0));
    let addr = lw(8, 0, 0);
    let store = sw(9, 8, 0);
    let other = |cycle, pc, word, rd, value| Retire { cycle: Cycle(cycle), pc, word, rd, value };
    let retires = [other(104, 0x500, addr, 8, 0x9000), other(106, 0x504, store, 0, 0)];
    core.polls.retires(CoreId::Trisc1, &retires);
    core.round(1);
    let ended = core.leave();
    let by = ended.first().and_then(|episode| episode.ended);
    assert_eq!(by, Some(at(106, AgentId::Core(CoreId::Trisc1), 0x504)));
}

#[test]
fn loops_that_compute_or_store_are_no_polls() {
    let mut sum = Core::new(0x9000);
    for round in 0..10 {
        sum.step(HEAD, lw(6, 5, 0), 6, round);
        sum.step(HEAD + 4, addi(5, 5, 4), 5, 0x9004 + 4 * round);
        sum.step(HEAD + 8, bne(5, 7, -8), 0, 0);
    }
    sum.step(HEAD + 12, addi(0, 0, 0), 0, 0);
    assert!(sum.polls.is_empty());
    let mut beat = Core::new(0x9000);
    for _ in 0..10 {
        beat.step(HEAD, lw(6, 5, 0), 6, 0);
        beat.step(HEAD + 4, sw(6, 5, 8), 0, 0);
        beat.step(HEAD + 8, bne(6, 7, -8), 0, 0);
    }
    beat.step(HEAD + 12, addi(0, 0, 0), 0, 0);
    assert!(beat.polls.is_empty());
}

#[test]
fn poll_that_has_not_ended_is_open() {
    let mut core = Core::new(0x6A);
    (0..4).for_each(|_| core.round(0));
    let open = core.polls.open(120, &[]);
    let [episode] = &open[..] else { panic!("{open:?}") };
    assert!(episode.open && episode.ended.is_none());
    let text = episode.line(&BuiltInNames).text;
    assert!(text.ends_with("cycles, still polls"), "{text}");
    // Who is put into reset polls no longer.
    let reset = Event::Reset { core: CORE, asserted: true, pc: 0 };
    core.polls.event(at(130, AgentId::Host, 0), &reset);
    assert_eq!(core.polls.ended().count(), 1);
    assert!(core.polls.open(140, &[]).is_empty());
}

/// Fields of firmware's handshake have the words that explanations have for them.
#[test]
fn polls_of_the_mailbox_are_named_by_what_they_wait_for() {
    let told =
        |core, addr, value| poll_text(&BuiltInNames, core, &[Look { pc: HEAD, addr, value }]);
    assert_eq!(told(CoreId::Trisc1, 0x6A, 0), "waits for GO in subordinate_sync.trisc1");
    let busy = told(CoreId::Brisc, 0x68, 0x8000_8000);
    assert_eq!(busy, "waits for TRISC0, TRISC2 to report done");
    let signal = memory_map::mailbox::address("go_messages[0].signal").expect("the table has it");
    assert_eq!(told(CoreId::Brisc, signal, 0), "waits for a run message");
}

/// An argument that says where the word is may be the last load of a round, and have a name: it is no signal.
#[test]
fn pointer_to_the_word_is_not_what_is_polled() {
    let (argument, word) = (0xA090, 0x3_0000);
    let look = |pc, addr, value| Look { pc, addr, value };
    let looks = [look(0x100, word, 0), look(0x104, argument, word)];
    assert_eq!(named::chosen(CORE, &looks, &[0, word]), Some(0));
    assert_eq!(named::chosen(CORE, &looks[1..], &[word]), Some(0), "there is no other");
    assert_eq!(poll_text(&BuiltInNames, CORE, &looks[..1]), "polls L1 word 0x30000");
}
