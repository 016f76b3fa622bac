//! Blocks whose checksums are right and whose contents make no sense.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use crate::block::{HEAD_BYTES, Head, Kind, MAGIC, Sealer};
use crate::{Call, Ending, Header, Options, Tape, TapeWriter};

/// Calls that are read of what may go on forever.
const MOST: usize = 20_000;

/// The payloads of the blocks of a file.
fn blocks(bytes: &[u8]) -> Vec<(Kind, Vec<u8>)> {
    let (mut all, mut left) = (Vec::new(), &bytes[MAGIC.len()..]);
    while let Some((first, rest)) = left.split_first_chunk::<HEAD_BYTES>() {
        let head = Head::parse(*first).unwrap();
        let (stored, rest) = rest.split_at(head.stored as usize);
        let mut raw = Vec::new();
        head.open(stored, &mut raw).unwrap();
        all.push((head.kind, raw));
        left = rest;
    }
    all
}

fn write(path: &Path, blocks: &[(Kind, Vec<u8>)]) {
    let (mut bytes, mut sealer) = (MAGIC.to_vec(), Sealer::new());
    for (kind, raw) in blocks {
        bytes.extend_from_slice(sealer.seal(*kind, false, raw));
    }
    fs::write(path, bytes).unwrap();
}

/// A tape with everything in it.
fn full(path: &Path) {
    let header = Header { program: vec!["host".into()], ..Header::default() };
    let mut writer = TapeWriter::create(path, &header, &Options::default()).unwrap();
    for round in 0..30_u64 {
        writer.call(&Call::Init);
        for tile in 0..5_u64 {
            let addr = tile << 20;
            writer.call(&Call::TileWrite { x: 1, y: 2, addr, bytes: &[tile as u8; 300] });
            writer.call(&Call::MemWrite { paddr: addr, bytes: &tile.to_le_bytes() });
            writer.call(&Call::DmaRead { paddr: addr, bytes: &[round as u8; 20] });
            writer.call(&Call::Clock { clocks: 1 });
            writer.call(&Call::Rest { cycles: tile * round * 16 });
        }
        writer.call(&Call::State { cycle: round * 100, hash: round << 40 });
        if round % 10 == 9 {
            writer.flush();
        }
    }
    drop(writer);
    let text = |path| crate::Attachment {
        kind: crate::AttachmentKind::Text,
        path: Path::new(path),
        bytes: b"text",
    };
    crate::attach(path, &[text("a"), text("b")]).unwrap();
}

/// Reads everything, and gives up on what goes on for too long.
fn read(path: &Path) -> Result<usize, String> {
    let tape = Tape::open(path).map_err(|error| error.to_string())?;
    for attached in tape.attachments() {
        drop(attached.bytes());
    }
    let mut calls = tape.calls();
    for count in 0..MOST {
        match calls.next() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(count),
            Err(error) => {
                assert!(calls.next().is_err(), "it cannot be read on after an error");
                return Err(error.to_string());
            }
        }
    }
    Ok(MOST)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn contents_that_make_no_sense_are_an_error_and_no_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
        gone in prop::option::of(any::<prop::sample::Index>()),
        swapped in prop::option::of(any::<(prop::sample::Index, prop::sample::Index)>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        full(&path);
        let mut all = blocks(&fs::read(&path).unwrap());
        for (block, at, value) in changes {
            let raw = &mut all[block.index(8)].1;
            let at = at.index(raw.len());
            raw[at] = value;
        }
        if let Some(gone) = gone {
            all.remove(gone.index(all.len()));
        }
        if let Some((one, other)) = swapped {
            let (one, other) = (one.index(all.len()), other.index(all.len()));
            all.swap(one, other);
        }
        write(&path, &all);
        if let Err(text) = read(&path) {
            prop_assert!(!text.contains('\n'), "{}", text);
        }
    }

    #[test]
    fn any_payload_of_any_block_is_an_error_or_calls(
        payloads in prop::collection::vec(
            (prop::sample::select(vec![Kind::Header, Kind::Blobs, Kind::Calls, Kind::Calls, Kind::Fork, Kind::Dropped, Kind::Part, Kind::Attachment]),
             prop::collection::vec(prop_oneof![any::<u8>(), 0_u8..32], 0..60)), 1..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        write(&path, &payloads);
        if let Err(text) = read(&path) {
            prop_assert!(!text.contains('\n'), "{}", text);
        }
    }
}

#[test]
fn blocks_that_were_taken_apart_and_put_together_are_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    full(&path);
    let before = read(&path).unwrap();
    assert_eq!(before, 30 * (2 + 5 * 5));
    let all = blocks(&fs::read(&path).unwrap());
    write(&path, &all);
    assert_eq!(read(&path), Ok(before));
    assert_eq!(Tape::open(&path).unwrap().ending(), Ending::Cut { bytes: 0 });
}

/// The tape of another process is not written to, even by a writer that came with a fork.
#[test]
fn writer_of_another_process_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut writer = TapeWriter::create(&path, &Header::default(), &Options::default()).unwrap();
    writer.pretend_other_process();
    let before = fs::read(&path).unwrap();
    writer.call(&Call::Init);
    writer.flush();
    assert!(writer.error().unwrap().to_string().contains("process"));
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), before);
}
