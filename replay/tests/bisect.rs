//! [`replay::bisect`] on a device of a few lines that goes wrong where it is told to.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::sync::Arc;

use hostlib::abi::{BAR0, HostMemory};
use hostlib::recording::{Op, Record, Recording, write_magic, write_record};
use replay::{Difference, Library, Options, bisect};
use sim_core::{Shortcut, Shortcuts};

/// Time, a word that the host reads, and one that it reads later.
#[derive(Debug, Default)]
struct Device {
    now: u64,
    seen: u32,
    hidden: u32,
    /// From that cycle on the hidden word is wrong.
    wrong_from: Option<u64>,
}

impl Library for Device {
    fn init(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn exit(&mut self) {}

    fn set_host_memory(&mut self, _memory: Box<dyn HostMemory>) {}

    fn config_read(&mut self, _bdf: u32, _offset: u32) -> u32 {
        0
    }

    fn config_write(&mut self, _bdf: u32, _offset: u32, _value: u32) {}

    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) {
        let word = if paddr == BAR0 { self.seen } else { self.hidden };
        bytes.copy_from_slice(&word.to_le_bytes());
    }

    fn mem_write(&mut self, _paddr: u64, _bytes: &[u8]) {}

    fn tile_read(&mut self, _x: u32, _y: u32, _address: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn tile_write(&mut self, _x: u32, _y: u32, _address: u64, _bytes: &[u8]) {}

    fn clock(&mut self, clocks: u32) {
        self.now += u64::from(clocks);
        self.seen += clocks;
        self.hidden = u32::from(self.wrong_from.is_some_and(|from| self.now >= from));
    }

    fn state_hash(&mut self) -> Option<u64> {
        Some(self.now << 32 | u64::from(self.hidden))
    }

    fn now(&self) -> Option<u64> {
        Some(self.now)
    }
}

/// 40 clocks with a read of the visible word after each, and a look at the hidden word as the last
/// record, number 81, if asked for.
fn session(looks: bool) -> Arc<Recording> {
    let mut file = Vec::new();
    write_magic(&mut file).unwrap();
    let mut write = |op, a0, bytes: &[u8]| {
        write_record(&mut file, &Record { op, a0, a1: 0, bytes }).unwrap();
    };
    write(Op::Init, 0, &[]);
    for clock in 1..=40_u32 {
        write(Op::Clock, 1, &[]);
        write(Op::MemRead, BAR0, &clock.to_le_bytes());
    }
    if looks {
        write(Op::MemRead, BAR0 + 4, &[0; 4]);
    }
    Arc::new(Recording::parse(file).unwrap())
}

/// What is found of a device that is wrong from that cycle on with some shortcuts.
fn found(
    wrong: impl Fn(Shortcuts) -> bool,
    from: u64,
    recording: &Arc<Recording>,
) -> Option<Difference> {
    let options = Options { max_clocks: 0, ..Options::default() };
    let open = |shortcuts| -> Box<dyn Library> {
        let wrong_from = wrong(shortcuts).then_some(from);
        Box::new(Device { wrong_from, ..Device::default() })
    };
    bisect(open, recording, &options).unwrap()
}

#[test]
fn sessions_that_do_not_differ_have_nobody_to_blame() {
    for looks in [false, true] {
        assert_eq!(found(|_| false, 1, &session(looks)), None);
        // Whatever differs with any shortcuts is no matter of shortcuts.
        assert_eq!(found(|_| true, 1, &session(looks)), None);
    }
}

#[test]
fn shortcut_to_blame_and_first_read_of_a_wrong_state_are_found() {
    for shortcut in Shortcuts::ALL.iter() {
        for from in [1, 2, 17, 39, 40] {
            for looks in [false, true] {
                let found = found(|set| set.has(shortcut), from, &session(looks));
                let found = found.expect("the states differ");
                assert_eq!(found.blamed, Shortcuts::NONE.with(shortcut));
                // Clock n is record 2 n - 1, and the read behind it is 2 n.
                let (with, without) = found.first.expect("there is a read behind it");
                assert_eq!((with.record as u64, with.cycle), (2 * from, Some(from)));
                assert_eq!(with, without, "it shows nothing of it");
                assert!(!found.shows);
            }
        }
    }
}

#[test]
fn two_shortcuts_that_go_wrong_each_are_both_to_blame() {
    let both = Shortcuts::NONE.with(Shortcut::Trials).with(Shortcut::Playback);
    let wrong = |set: Shortcuts| both.iter().any(|one| set.has(one));
    let found = found(wrong, 10, &session(true)).expect("the states differ");
    assert_eq!(found.blamed, both);
}

#[test]
fn difference_that_no_read_follows_has_no_first_read() {
    let mut file = Vec::new();
    write_magic(&mut file).unwrap();
    for (op, a0) in [(Op::Init, 0), (Op::Clock, 3)] {
        write_record(&mut file, &Record { op, a0, a1: 0, bytes: &[] }).unwrap();
    }
    let recording = Arc::new(Recording::parse(file).unwrap());
    let found = found(|set| set.has(Shortcut::Alone), 2, &recording).expect("the states differ");
    assert_eq!((found.blamed, found.first), (Shortcuts::NONE.with(Shortcut::Alone), None));
}

#[test]
fn read_that_shows_something_else_is_said_to() {
    let mut file = Vec::new();
    write_magic(&mut file).unwrap();
    for (op, a0, bytes) in
        [(Op::Init, 0, &[][..]), (Op::Clock, 3, &[]), (Op::MemRead, BAR0 + 4, &[0; 4])]
    {
        write_record(&mut file, &Record { op, a0, a1: 0, bytes }).unwrap();
    }
    let recording = Arc::new(Recording::parse(file).unwrap());
    let found = found(|set| set.has(Shortcut::Alone), 2, &recording).expect("it shows");
    let (with, _) = found.first.expect("a read");
    assert_eq!((with.record, with.cycle, found.shows), (2, Some(3), true));
}
