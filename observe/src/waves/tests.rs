//! Files are read back with an independent reader.

use super::*;
use crate::testing::at;
use fst_reader::{FstFilter, FstHierarchyEntry, FstReader, FstSignalValue};
use sim_core::observer::SemaphoreOp;
use std::io::Cursor;

/// Changes of one signal as an independent reader finds them.
fn changes(file: &[u8], path: &str) -> Vec<(u64, String)> {
    let mut reader = FstReader::open(Cursor::new(file)).expect("a valid FST file");
    let (mut scopes, mut wanted) = (Vec::<String>::new(), None);
    reader
        .read_hierarchy(|entry| match entry {
            FstHierarchyEntry::Scope { name, .. } => scopes.push(name),
            FstHierarchyEntry::UpScope => {
                scopes.pop();
            }
            FstHierarchyEntry::Var { name, handle, .. }
                if format!("{}.{name}", scopes.join(".")) == path =>
            {
                wanted = Some(handle);
            }
            _ => {}
        })
        .expect("a hierarchy");
    let handle = wanted.expect("the signal is declared");
    let filter = FstFilter::filter_signals(vec![handle]);
    let mut found = Vec::new();
    reader
        .read_signals(&filter, |time, _, value| -> std::io::Result<()> {
            if let FstSignalValue::String(digits) = value {
                found.push((time, String::from_utf8_lossy(digits).into_owned()));
            }
            Ok(())
        })
        .expect("values");
    found
}

/// Two tiles in one file: each has its scope and its own values, and units drop where they were busy.
#[test]
fn several_tiles_have_a_scope_each() {
    let file = tempfile();
    let names = ["tile_0_0".to_owned(), "tile_3_1".to_owned()];
    let handle = file.try_clone().expect("a handle");
    let mut waves = Waves::of_tiles(handle, &names).expect("a header");
    let agent = AgentId::Thread(ThreadId::T1);
    let post = |before, after| {
        let op = SemaphoreOp::Post;
        Event::Semaphore { index: 1, op, before, after, max: 2 }
    };
    for (tile, cycle, event) in [(0, 10, post(0, 1)), (1, 12, post(0, 2)), (0, 12, post(1, 2))] {
        waves.turn_to(tile);
        waves.event(at(cycle, agent, 0), &event);
    }
    waves.finish(Cycle(100)).expect("an end");
    let file = read_all(file);
    let owned = |list: &[(u64, &str)]| -> Vec<(u64, String)> {
        list.iter().map(|(time, text)| (*time, (*text).to_owned())).collect()
    };
    let first = changes(&file, "tile_0_0.semaphores.MATH_PACK");
    assert_eq!(first, owned(&[(0, "0000"), (10, "0001"), (12, "0010")]));
    let second = changes(&file, "tile_3_1.semaphores.MATH_PACK");
    assert_eq!(second, owned(&[(0, "0000"), (12, "0010")]));
}

fn file_of(events: &[(Stamp, Event)]) -> Vec<u8> {
    file_in_blocks(BLOCK_BYTES, events)
}

fn file_in_blocks(bytes: usize, events: &[(Stamp, Event)]) -> Vec<u8> {
    let file = tempfile();
    let mut waves = Waves::new(file.try_clone().expect("a handle")).expect("a header");
    waves.block_bytes = bytes;
    events.iter().for_each(|(stamp, event)| waves.event(*stamp, event));
    waves.finish(Cycle(100_000)).expect("an end");
    read_all(file)
}

fn tempfile() -> std::fs::File {
    let name = format!("tilescope-waves-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name.replace(['(', ')'], ""));
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.expect("a temporary file");
    let _ = std::fs::remove_file(path);
    file
}

fn read_all(mut file: std::fs::File) -> Vec<u8> {
    use std::io::{Read as _, SeekFrom};
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)).expect("it reads");
    bytes
}

#[test]
fn semaphore_signal_follows_its_operations() {
    let agent = AgentId::Thread(ThreadId::T1);
    let op = |op, before, after| Event::Semaphore { index: 1, op, before, after, max: 2 };
    let file = file_of(&[
        (at(10, agent, 0), op(SemaphoreOp::Post, 0, 1)),
        (at(12, agent, 0), op(SemaphoreOp::Post, 1, 2)),
        (at(30, agent, 0), op(SemaphoreOp::Get, 2, 1)),
    ]);
    let expected = [(0, "0000"), (10, "0001"), (12, "0010"), (30, "0001")];
    let expected: Vec<_> = expected.map(|(time, text)| (time, text.to_owned())).into();
    assert_eq!(changes(&file, "tile.semaphores.MATH_PACK"), expected);
}

#[test]
fn long_run_is_written_in_blocks_and_read_back_whole() {
    let agent = AgentId::Thread(ThreadId::T1);
    let events: Vec<_> = (1..1000_u16)
        .map(|n| {
            let (before, after) = ((n - 1) as u8 & 1, n as u8 & 1);
            let op = if after == 1 { SemaphoreOp::Post } else { SemaphoreOp::Get };
            let event = Event::Semaphore { index: 1, op, before, after, max: 2 };
            (at(u64::from(n) * 7, agent, 0), event)
        })
        .collect();
    let seen = |file: &[u8]| changes(file, "tile.semaphores.MATH_PACK");
    let whole = seen(&file_of(&events));
    assert_eq!(whole.len(), 1000);
    assert!(seen(&file_in_blocks(64, &events)) == whole, "blocks show something else");
}

#[test]
fn there_are_about_two_hundred_signals() {
    let count = declared().len();
    assert!((170..=250).contains(&count), "{count}");
}

/// The letters of a signal that shows a text.
fn letters_of(digits: &str) -> String {
    let bytes = digits.as_bytes().chunks(8);
    let letter = |bits: &[u8]| bits.iter().fold(0, |all, bit| all << 1 | (bit - b'0'));
    bytes.map(letter).filter(|letter| *letter != 0).map(char::from).collect()
}

struct ByHundred;

impl Names for ByHundred {
    fn function(&self, _: CoreId, pc: u32) -> Option<String> {
        Some(format!("f{}", pc >> 8))
    }
}

/// Jumps are told of before the events of their epoch, and stand in their own cycle.
#[test]
fn pc_and_function_follow_jumps_and_waits_have_words() {
    let file = tempfile();
    let mut waves = Waves::new(file.try_clone().expect("a handle")).expect("a header");
    let core = AgentId::Core(CoreId::Trisc0);
    let jump = |cycle, to| Jump { cycle: Cycle(cycle), pc: 0, to, kind: sim_core::JumpKind::Plain };
    waves.jumps(CoreId::Trisc0, &[jump(10, 0x100), jump(14, 0x200)], &ByHundred);
    let reason = WaitReason::MailboxEmpty { from: CoreId::Brisc, to: CoreId::Trisc0 };
    waves.event(at(12, core, 0x104), &Event::WaitBegin { reason });
    waves.event(at(13, core, 0x104), &Event::WaitEnd { reason, since: Cycle(12) });
    waves.finish(Cycle(100)).expect("an end");
    let file = read_all(file);
    let pcs = changes(&file, "tile.trisc0.pc").into_iter();
    let pcs: Vec<_> = pcs.map(|(time, pc)| (time, u32::from_str_radix(&pc, 2).ok())).collect();
    assert_eq!(pcs, [(0, Some(0)), (11, Some(0x100)), (12, Some(0x104)), (15, Some(0x200))]);
    let texts = |path| -> Vec<_> {
        let changes = changes(&file, path).into_iter();
        changes.map(|(time, digits)| (time, letters_of(&digits))).collect()
    };
    let named = |list: &[(u64, &str)]| -> Vec<_> {
        list.iter().map(|(time, text)| (*time, (*text).to_owned())).collect()
    };
    assert_eq!(texts("tile.trisc0.function"), named(&[(0, ""), (11, "f1"), (15, "f2")]));
    let words = reason_text(&reason);
    assert_eq!(texts("tile.trisc0.waits_for"), named(&[(0, ""), (12, &words), (13, "")]));
}
