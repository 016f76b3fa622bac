//! A host's session on a chip, taped call by call, played back on another chip.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod host;

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use chip::{Chip, ChipConfig, ClockStep, LOOKAHEAD};
use host::{Host, OldRecorder, config};
use hostlib::abi::BAR0;
use hostlib::recording::write_magic;
use replay::exact::{Difference, Mismatch, Session};
use replay::{PlayError, Player, What, config_of, exact};
use sim_core::Shortcuts;
use tape::{Call, Header, Options, Tape, TapeWriter};

fn writer(path: &Path) -> TapeWriter {
    let settings = vec![("TILESCOPE_CYCLES_PER_CLOCK".into(), "64".into())];
    let header = Header { settings, ..Header::default() };
    TapeWriter::create(path, &header, &Options::default()).unwrap()
}

/// A tape of two sessions.
fn taped(folder: &Path) -> (PathBuf, Vec<Session>) {
    let path = folder.join("a.tape");
    let mut host = Host::new(writer(&path), true);
    let sessions = vec![host.session(), host.session()];
    (path, sessions)
}

fn play(path: &Path, config: ChipConfig) -> Result<Vec<Session>, PlayError> {
    exact(&Tape::open(path).unwrap(), config, |_, _| ControlFlow::Continue(()))
}

#[test]
fn session_played_back_is_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let (path, sessions) = taped(folder.path());
    let tape = Tape::open(&path).unwrap();
    let config = config_of(&tape).unwrap();
    assert_eq!(config.clock, ClockStep::Cycles(64));
    for (threads, shortcuts) in [(1, Shortcuts::ALL), (3, Shortcuts::ALL), (1, Shortcuts::NONE)] {
        let config = ChipConfig { threads, shortcuts, ..config };
        assert_eq!(play(&path, config).unwrap(), sessions, "{threads} {shortcuts:?}");
    }
    // The session was what it should be: the device has written, read, and moved a block.
    let (mut reads, mut writes, mut rests, mut calls) = (0, 0, Vec::new(), tape.calls());
    while let Some(call) = calls.next().unwrap() {
        match call {
            Call::DmaRead { .. } => reads += 1,
            Call::DmaWrite { .. } => writes += 1,
            Call::Rest { cycles } => rests.push(cycles / 64),
            _ => {}
        }
    }
    assert!(reads >= 4 && writes >= 12, "{reads} reads, {writes} writes");
    assert_eq!(rests, [703, 1, 703, 1]);
}

#[test]
fn player_may_be_left_at_any_call() {
    let folder = tempfile::tempdir().unwrap();
    let (path, sessions) = taped(folder.path());
    let tape = Tape::open(&path).unwrap();
    let mut player = Player::new(&tape);
    let mut chip = Chip::new(config());
    let (mut next, mut ends) = (0, Vec::new());
    while let Some(played) = player.step(&mut chip).unwrap() {
        assert!(played.index >= next && player.index() == played.index + 1);
        next = played.index + 1;
        assert_eq!(played.cycle, chip.now().0);
        match played.what {
            What::Init => chip = Chip::new(config()),
            What::Exit => ends.push(Session { cycle: played.cycle, hash: chip.state_hash() }),
            _ => {}
        }
    }
    assert_eq!(ends, sessions);
    let mut count = 0;
    let stopped = exact(&tape, config(), |_, _| {
        count += 1;
        if count == 40 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((stopped.unwrap().len(), count), (1, 40));
}

/// The difference that a tape has after `edit` has written each of its calls anew.
fn differs(edit: impl Fn(&Call<'_>, &mut TapeWriter)) -> Difference {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = taped(folder.path());
    let other = folder.path().join("b.tape");
    let mut writer = writer(&other);
    let tape = Tape::open(&path).unwrap();
    let mut calls = tape.calls();
    while let Some(call) = calls.next().unwrap() {
        edit(&call, &mut writer);
    }
    drop(writer);
    match play(&other, config()) {
        Err(PlayError::Differs(difference)) => *difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn read_that_differs_is_named_to_the_byte() {
    let difference = differs(|call, writer| match *call {
        Call::TileRead { x, y, addr, bytes } => {
            let mut bytes = bytes.to_vec();
            bytes[2990] ^= 0xFF;
            writer.call(&Call::TileRead { x, y, addr, bytes: &bytes });
        }
        _ => writer.call(call),
    });
    let what = What::TileRead { at: (1, 2), addr: 0x4_0100, size: 3000 };
    assert_eq!(difference.played.what, what);
    let Mismatch::Bytes { offset: 2990, expected, got } = &difference.mismatch else {
        panic!("{difference}");
    };
    assert_eq!((expected.len(), expected[0], &expected[1..]), (10, !got[0], &got[1..]));
    let text = difference.to_string();
    let place = "read of 3000 bytes at 0x40100 of tile (1, 2), at cycle";
    assert!(text.contains(place) && !text.contains('\n'), "{text}");
}

#[test]
fn state_that_differs_is_named() {
    let difference = differs(|call, writer| match *call {
        Call::State { cycle, hash } => writer.call(&Call::State { cycle, hash: hash ^ 1 }),
        _ => writer.call(call),
    });
    let Mismatch::State { expected, got } = difference.mismatch else { panic!("{difference}") };
    assert_eq!((expected.0, expected.1 ^ 1), got);
}

#[test]
fn device_that_does_more_or_less_or_something_else_is_noticed() {
    let more = differs(|call, writer| {
        if !matches!(call, Call::DmaWrite { paddr: 0x1200, .. }) {
            writer.call(call);
        }
    });
    assert!(
        matches!(&more.mismatch, Mismatch::Extra(access)
        if access.is_write && access.paddr == 0x1200 && access.bytes.len() == 64),
        "{more}"
    );
    assert!(matches!(more.played.what, What::Clock { .. }), "{more}");
    let less = differs(|call, writer| {
        if matches!(call, Call::TileRead { .. }) {
            writer.call(&Call::DmaRead { paddr: 0x77, bytes: &[1; 4] });
        }
        writer.call(call);
    });
    assert!(matches!(&less.mismatch, Mismatch::Missing(access) if access.paddr == 0x77), "{less}");
    let other = differs(|call, writer| match *call {
        Call::DmaWrite { paddr: 0x1200, bytes } => {
            let mut bytes = bytes.to_vec();
            bytes[9] ^= 1;
            writer.call(&Call::DmaWrite { paddr: 0x1200, bytes: &bytes });
        }
        _ => writer.call(call),
    });
    assert!(
        matches!(&other.mismatch, Mismatch::Extra(access) if access.paddr == 0x1200),
        "{other}"
    );
}

#[test]
fn host_memory_that_answers_otherwise_shows_in_what_is_read() {
    let difference = differs(|call, writer| match *call {
        Call::DmaRead { paddr: 0x2000, bytes } => {
            let bytes: Vec<u8> = bytes.iter().map(|byte| byte ^ 0x80).collect();
            writer.call(&Call::DmaRead { paddr: 0x2000, bytes: &bytes });
        }
        _ => writer.call(call),
    });
    let what = What::MemRead { paddr: BAR0 + (5 << 21) + 0x3_0000, size: 4 };
    assert_eq!(difference.played.what, what, "{difference}");
}

/// What a bus without a device answers.
#[test]
fn calls_outside_a_session_reach_no_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut tape = writer(&path);
    for call in [
        Call::MemRead { paddr: 0, bytes: &[0xFF; 4] },
        Call::Clock { clocks: 100 },
        Call::Init,
        Call::State { cycle: 0, hash: Chip::new(config()).state_hash() },
        Call::Exit,
        Call::ConfigRead { bdf: 0, offset: 0, value: u32::MAX },
        Call::TileRead { x: 1, y: 2, addr: 0, bytes: &[0] },
    ] {
        tape.call(&call);
    }
    drop(tape);
    match play(&path, config()) {
        Err(PlayError::Differs(difference)) => {
            let expected = Mismatch::Bytes { offset: 0, expected: vec![0], got: vec![0xFF] };
            assert_eq!((difference.played.index, difference.mismatch), (6, expected));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn old_recording_plays_exactly_plain_and_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let mut start = Vec::new();
    write_magic(&mut start).unwrap();
    let mut host = Host::new(OldRecorder(start), false);
    let sessions = vec![host.session(), host.session()];
    let bytes = host.recorder.0;
    let plain = folder.path().join("a.rec");
    std::fs::write(&plain, &bytes).unwrap();
    let zipped = folder.path().join("a.rec.gz");
    let file = std::fs::File::create(&zipped).unwrap();
    let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gz.write_all(&bytes).unwrap();
    gz.finish().unwrap();
    for path in [plain, zipped] {
        let tape = Tape::open(&path).unwrap();
        assert_eq!((tape.header(), tape.ending()), (None, tape::Ending::Whole));
        assert_eq!(play(&path, config()).unwrap(), sessions);
    }
}

/// Rests with nothing in between become one on the tape, but only where that is the same to a chip,
/// whatever its epochs are.
#[test]
fn rests_in_a_row_come_to_the_same_cycle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let rests = [4, 4, LOOKAHEAD, 8, 8, 3 * LOOKAHEAD, 2 * LOOKAHEAD, 1, LOOKAHEAD, 5];
    let mut tape = writer(&path);
    tape.call(&Call::Init);
    for cycles in rests {
        tape.call(&Call::Rest { cycles });
        tape.flush();
    }
    tape.call(&Call::Exit);
    drop(tape);
    for epoch in [1_u32, 2, 4, 8, 16] {
        let set = |name: &str| (name == "TILESCOPE_EPOCH").then(|| epoch.to_string());
        let config = ChipConfig { threads: 1, ..ChipConfig::from_variables(set).unwrap() };
        let mut chip = Chip::new(config);
        rests.iter().for_each(|&cycles| chip.rest(cycles));
        let session = Session { cycle: chip.now().0, hash: chip.state_hash() };
        assert_eq!(play(&path, config).unwrap(), [session], "{epoch:?}");
    }
    let (mut calls, tape) = (0, Tape::open(&path).unwrap());
    let mut all = tape.calls();
    while all.next().unwrap().is_some() {
        calls += 1;
    }
    // 4, 4, 16 + 8, 8, 48 + 32 + 1, 16 + 5, and the two ends.
    assert_eq!(calls, 6 + 2);
}
