//! What is written comes back, whatever becomes of the writer.

mod common;

use std::fs;
use std::io::Write as _;

use common::{Owned, assert_same, calls, canonical, create, header, read, read_all};
use proptest::prelude::*;
use tape::{Attachment, AttachmentKind, Call, Ending, Options, Tape, TapeWriter, attach};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn calls_come_back_wherever_they_are_flushed(
        calls in calls(),
        flushes in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        let flushes: Vec<usize> = flushes.iter().map(|at| at.index(calls.len())).collect();
        let mut writer = create(&path);
        for (at, call) in calls.iter().enumerate() {
            writer.call(&call.call());
            if flushes.contains(&at) {
                writer.flush();
                prop_assert!(!writer.pending());
            }
        }
        prop_assert!(writer.error().is_none());
        drop(writer);
        assert_same(&read(&path), &canonical(&calls))?;
        let tape = Tape::open(&path).unwrap();
        prop_assert_eq!(tape.header(), Some(&header()));
    }

    /// A tape cut at any byte has all calls up to the last flush before that.
    #[test]
    fn cut_tape_ends_with_its_last_whole_block(
        parts in prop::collection::vec(calls(), 1..4),
        cut in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        let mut writer = create(&path);
        let mut ends = vec![(writer.written(), Vec::new())];
        for part in &parts {
            part.iter().for_each(|call| writer.call(&call.call()));
            writer.flush();
            let mut all = ends.last().unwrap().1.clone();
            all.extend_from_slice(part);
            ends.push((writer.written(), all));
        }
        drop(writer);
        let whole = fs::read(&path).unwrap();
        let first = ends[0].0 as usize;
        let cut = first + cut.index(whole.len() - first + 1);
        let mut bytes = whole[..cut].to_vec();
        if cut < whole.len() {
            bytes.extend(garbage);
        }
        fs::write(&path, &bytes).unwrap();
        // Payloads have blocks of their own before the calls: what is whole may end there.
        let tape = Tape::open(&path).unwrap();
        let (calls, error) = read_all(&tape);
        prop_assert_eq!(error, None);
        let last = ends.iter().rev().find(|(end, _)| *end <= cut as u64).unwrap();
        assert_same(&calls, &canonical(&last.1))?;
        // Whoever attaches later cuts the tail off, and the calls stay.
        let item = Attachment { kind: AttachmentKind::Text, path: "a.c".as_ref(), bytes: b"text" };
        attach(&path, &[item]).unwrap();
        assert_same(&read(&path), &canonical(&last.1))?;
    }

    #[test]
    fn fork_has_what_was_before_and_goes_its_own_way(
        before in calls(), parent in calls(), child in calls(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.tape"), folder.path().join("b.tape"));
        let mut writer = create(&path);
        before.iter().for_each(|call| writer.call(&call.call()));
        let mut forked = writer.fork(&other).unwrap();
        parent.iter().for_each(|call| writer.call(&call.call()));
        child.iter().for_each(|call| forked.call(&call.call()));
        drop((writer, forked));
        assert_same(&read(&path), &canonical(&[before.clone(), parent].concat()))?;
        assert_same(&read(&other), &canonical(&[before, child].concat()))?;
        let tape = Tape::open(&other).unwrap();
        prop_assert_eq!(tape.forks(), &[std::process::id()]);
    }
}

/// Bytes that nothing makes smaller.
fn noise(mut seed: u64, size: usize) -> Vec<u8> {
    let step = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    (0..size).map(step).collect()
}

fn clock(writer: &mut TapeWriter, count: u32) {
    (0..count).for_each(|clocks| writer.call(&Call::Clock { clocks }));
}

#[test]
fn ending_says_how_the_session_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut writer = create(&path);
    let ending = || Tape::open(&path).unwrap().ending();
    assert_eq!(ending(), Ending::Cut { bytes: 0 });
    writer.call(&Call::Init);
    clock(&mut writer, 5);
    writer.flush();
    assert_eq!(ending(), Ending::Cut { bytes: 0 });
    writer.call(&Call::Exit);
    writer.flush();
    assert_eq!(ending(), Ending::Whole);
    let whole = fs::read(&path).unwrap();
    writer.call(&Call::Init);
    drop(writer);
    assert_eq!(ending(), Ending::Cut { bytes: 0 });
    fs::write(&path, [&whole[..], &[3, 0, 0]].concat()).unwrap();
    assert_eq!(ending(), Ending::Cut { bytes: 3 });
}

#[test]
fn limit_is_kept_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    for limit in [0, 200, 5_000, 100_000] {
        let options = Options { limit_bytes: Some(limit) };
        let mut writer = TapeWriter::create(&path, &header(), &options).unwrap();
        let first = writer.written();
        for round in 0..100_u32 {
            clock(&mut writer, 300);
            let bytes = noise(u64::from(round), 1500);
            writer.call(&Call::MemWrite { paddr: 0, bytes: &bytes });
            writer.flush();
        }
        assert!(writer.is_ended() && writer.error().is_none(), "limit {limit}");
        drop(writer);
        let size = fs::metadata(&path).unwrap().len();
        assert!(size <= limit.max(first + 20), "limit {limit}: {size}");
        let tape = Tape::open(&path).unwrap();
        assert_eq!(tape.ending(), Ending::Limit);
        let (calls, error) = read_all(&tape);
        assert_eq!((calls.len() % 301, error), (0, None), "limit {limit}");
    }
}

#[test]
fn long_payloads_come_back_and_are_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let sizes = [64, 5_000, (256 << 10) + 1, 3 << 20];
    let payloads = sizes.map(|size| noise(size as u64, size));
    let mut writer = create(&path);
    let mut expected = Vec::new();
    for tile in 0..140 {
        for bytes in &payloads {
            let call = Call::TileWrite { x: tile % 14, y: tile / 14, addr: 0x1000, bytes };
            writer.call(&call);
            expected.push(Owned::of(&call));
        }
    }
    drop(writer);
    let total: usize = payloads.iter().map(Vec::len).sum();
    let size = fs::metadata(&path).unwrap().len() as usize;
    assert!(size < total + 20_000, "{size} for {total}");
    assert_same(&read(&path), &expected).unwrap();
}

#[test]
fn attachments_come_back_and_the_same_content_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut writer = create(&path);
    writer.call(&Call::Init);
    writer.call(&Call::Exit);
    drop(writer);
    let elf: Vec<u8> = (0..700_000_u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
    let item = |kind, path: &'static str, bytes| Attachment { kind, path: path.as_ref(), bytes };
    let first = [
        item(AttachmentKind::Elf, "/cache/brisc.elf", elf.as_slice()),
        item(AttachmentKind::Text, "/src/kernel.cpp", b"int main();"),
        item(AttachmentKind::Elf, "/cache/again.elf", &elf),
    ];
    attach(&path, &first).unwrap();
    let size = fs::metadata(&path).unwrap().len();
    let second = [
        item(AttachmentKind::Names, "names.yaml", b""),
        item(AttachmentKind::Elf, "/cache/once_more.elf", &elf),
    ];
    attach(&path, &second).unwrap();
    assert!(fs::metadata(&path).unwrap().len() < size + 300);
    let tape = Tape::open(&path).unwrap();
    assert_eq!(tape.ending(), Ending::Whole);
    let found: Vec<_> = tape.attachments().collect();
    assert_eq!(found.len(), 5);
    for (found, item) in found.iter().zip(first.iter().chain(&second)) {
        assert_eq!((found.kind(), found.name()), (item.kind, item.path));
        assert_eq!(found.bytes().unwrap(), item.bytes);
        assert_eq!(found.length(), item.bytes.len() as u64);
    }
}

/// Children that were begun meanwhile hold copies of every open file until they run their own program.
#[test]
fn who_is_done_gives_the_tape_up_whatever_children_begin_meanwhile() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(relaxed) {
                assert!(std::process::Command::new("true").status().unwrap().success());
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        let item = Attachment { kind: AttachmentKind::Text, path: "a".as_ref(), bytes: b"b" };
        let rounds = (0..100).try_for_each(|_| {
            drop(create(&path));
            attach(&path, &[item])?;
            attach(&path, &[item])
        });
        stop.store(true, relaxed);
        rounds.unwrap();
    });
}

/// An init and a clock of 7 as an old recording, made by hand and compressed with `xz -9 -C crc32`.
const OLD_XZ: &str = "fd377a585a0000016922de36020021011c00000010cf58cce0003700145d002a61448a436df4f4a\
    f868d9a2a6e74588f8c000000ca2ec48b00012c381b66b5319042990d010000000001595a";

#[test]
fn compressed_tapes_are_read_as_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let digits = OLD_XZ.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let bytes: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    fs::write(&path, &bytes).unwrap();
    let clock = Call::Clock { clocks: 7 };
    assert_eq!(read(&path), [Owned::of(&Call::Init), Owned::of(&clock)]);
    assert_eq!(Tape::open(&path).unwrap().ending(), Ending::Cut { bytes: 0 });
    fs::write(&path, &bytes[..40]).unwrap();
    let text = Tape::open(&path).unwrap_err().to_string();
    assert!(text.starts_with("cannot decompress") && !text.contains('\n'), "{text}");

    let mut writer = create(&path);
    [Call::Init, clock, Call::Exit].iter().for_each(|call| writer.call(call));
    drop(writer);
    let (calls, plain) = (read(&path), fs::read(&path).unwrap());
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&plain).unwrap();
    fs::write(&path, gz.finish().unwrap()).unwrap();
    assert_eq!(read(&path), calls);
    assert_eq!(Tape::open(&path).unwrap().ending(), Ending::Whole);
    let item = Attachment { kind: AttachmentKind::Text, path: "a".as_ref(), bytes: b"b" };
    assert!(attach(&path, &[item]).is_err());
}

#[test]
fn what_keeps_nothing_has_any_number_of_writers() {
    let mut writers = [(); 3].map(|()| create(std::path::Path::new("/dev/null")));
    for writer in &mut writers {
        [Call::Init, Call::Exit].iter().for_each(|call| writer.call(call));
        writer.let_go();
    }
}

#[test]
fn tape_that_is_written_is_nobody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let busy = |result: std::io::Result<()>| {
        let error = result.expect_err("somebody has it");
        assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy, "{error}");
    };
    let again = || TapeWriter::create(&path, &header(), &Options::default()).map(drop);
    let mut writer = create(&path);
    busy(again());
    busy(attach(&path, &[]));
    writer.call(&Call::Init);
    writer.call(&Call::Exit);
    writer.let_go();
    let before = read(&path);
    assert!(!Tape::open(&path).unwrap().is_explained());
    attach(&path, &[]).unwrap();
    assert!(Tape::open(&path).unwrap().is_explained());
    // It is not as it was left: who would go on would write over what was attached.
    busy(writer.take_up());
    drop(writer);
    assert_eq!(read(&path), before);
    again().unwrap();
}

#[test]
fn session_after_session_goes_on_with_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut writer = create(&path);
    let mut expected = Vec::new();
    for clocks in 1..4 {
        for call in [Call::Init, Call::Clock { clocks }, Call::Exit] {
            writer.call(&call);
            expected.push(Owned::of(&call));
        }
        writer.let_go();
        assert_eq!(read(&path), expected);
        writer.take_up().unwrap();
    }
}

/// A file that cannot grow: what was begun is taken back.
#[test]
fn attachment_that_does_not_fit_leaves_the_tape_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    drop(create(&path));
    let before = fs::read(&path).unwrap();
    let noise = noise(1, 2 << 20);
    fs::write(folder.path().join("noise"), &noise).unwrap();
    let program = std::env::current_exe().unwrap();
    // The shell lets the write fail instead of ending the program [man: setrlimit(2)].
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" --exact attaches --nocapture";
    let status = std::process::Command::new("sh")
        .args(["-c", script])
        .arg(program)
        .env("TILESCOPE_TEST_ATTACH", folder.path())
        .status();
    assert!(status.unwrap().success());
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Not a test of its own: attaches more than there is room for.
#[test]
fn attaches() {
    let Some(folder) = std::env::var_os("TILESCOPE_TEST_ATTACH").map(std::path::PathBuf::from)
    else {
        return;
    };
    let noise = fs::read(folder.join("noise")).unwrap();
    let item = |path: &'static str, bytes| Attachment {
        kind: AttachmentKind::Elf,
        path: path.as_ref(),
        bytes,
    };
    let error = attach(&folder.join("a.tape"), &[item("a", &noise[..1000]), item("b", &noise)]);
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::FileTooLarge);
}
