//! Bytes that are no tape, or were one.

mod common;

use std::fs;

use common::{assert_same, calls, create, read_all};
use proptest::prelude::*;
use tape::{Call, Tape, TapeError};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Everything before the block that was damaged comes back, and nothing else.
    #[test]
    fn damaged_byte_ends_the_tape_there(
        calls in calls(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        let mut writer = create(&path);
        for (at, call) in calls.iter().enumerate() {
            writer.call(&call.call());
            if at % 50 == 0 {
                writer.flush();
            }
        }
        drop(writer);
        let (before, _) = read_all(&Tape::open(&path).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        for (at, change) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= change;
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok(tape) = Tape::open(&path) {
            let (after, error) = read_all(&tape);
            prop_assert_eq!(error, None);
            // The last call may be a rest that went on.
            let same = after.len().saturating_sub(1);
            assert_same(&after[..same], &before[..same])?;
        }
    }

    #[test]
    fn any_bytes_are_an_error_or_a_tape(
        magic in prop::sample::select(vec![&b"TSTAPE01"[..], b"TTREC01\n", b"\xFD7zXZ\0", b"\x1F\x8B", b""]),
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        fs::write(&path, [magic, &bytes].concat()).unwrap();
        match Tape::open(&path) {
            Ok(tape) => drop(read_all(&tape)),
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in [folder.path(), &pipe] {
        assert!(matches!(Tape::open(path), Err(TapeError::NoFile { .. })));
    }
    let absent = folder.path().join("absent");
    assert!(matches!(Tape::open(&absent), Err(TapeError::Read { .. })));
    fs::write(&absent, "x").unwrap();
    let text = Tape::open(&absent).unwrap_err().to_string();
    assert!(text.ends_with("it begins with neither TSTAPE01 nor TTREC01"), "{text}");
}

/// A disk that is full, as far as a test can have one.
#[test]
fn write_error_is_said_once_and_ends_the_tape() {
    let full = std::path::Path::new("/dev/full");
    let mut writer =
        match tape::TapeWriter::create(full, &common::header(), &tape::Options::default()) {
            // Already the first block fails there.
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
                return;
            }
            Ok(writer) => writer,
        };
    writer.call(&Call::Init);
    writer.flush();
    assert!(writer.error().is_some() && writer.error().is_none() && !writer.pending());
}
