//! Attachments: what a tape needs to explain itself, added when the host is gone.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::blobs::PIECE_BYTES;
use crate::block::{HEAD_BYTES, Kind, MAGIC, Sealer};
use crate::lock;
use crate::scan::{Place, scan};
use crate::source::Source;
use crate::wire::{Cursor, Damage, put, put_bytes};

/// What an attachment is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum AttachmentKind {
    /// A program that ran on a core.
    Elf,
    /// Text of a source file.
    Text,
    /// Names of kernels and operations (YAML or text).
    Names,
}

impl AttachmentKind {
    const ALL: [Self; 3] = [Self::Elf, Self::Text, Self::Names];
}

/// Something to be attached.
#[derive(Clone, Copy, Debug)]
pub struct Attachment<'a> {
    /// What it is.
    pub kind: AttachmentKind,
    /// Where it was.
    pub path: &'a Path,
    /// Its content.
    pub bytes: &'a [u8],
}

/// An attachment in a tape.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) kind: AttachmentKind,
    pub(crate) name: PathBuf,
    pub(crate) length: u64,
    content: u128,
    pub(crate) parts: Vec<Place>,
}

impl Entry {
    fn encode(item: &Attachment<'_>, content: u128, is_new: bool) -> Vec<u8> {
        let mut out = vec![item.kind as u8, u8::from(is_new)];
        out.extend(content.to_le_bytes());
        put(&mut out, item.bytes.len() as u64);
        put_bytes(&mut out, item.path.as_os_str().as_bytes());
        out
    }

    /// An entry whose content is `new`, or that of an earlier one.
    pub(crate) fn decode(raw: &[u8], new: Vec<Place>, earlier: &[Self]) -> Result<Self, Damage> {
        let mut from = Cursor::new(raw);
        let kind = AttachmentKind::ALL.get(usize::from(from.byte()?)).copied();
        let kind = kind.ok_or(Damage("an attachment is of an unknown kind"))?;
        let is_new = from.byte()? != 0;
        let content = from.take(16)?.try_into().map(u128::from_le_bytes);
        let content = content.map_err(|_| Damage("an attachment without content"))?;
        let length = from.get()?;
        let name = OsString::from_vec(from.bytes_with_length()?.to_vec()).into();
        let same = earlier.iter().find(|entry| entry.content == content && !is_new);
        let parts = same.map_or(new, |same| same.parts.clone());
        Ok(Self { kind, name, length, content, parts })
    }
}

/// Appends to a tape whose host is gone, and marks it as explained. What is torn at its end is cut off
/// first; content that an earlier attachment has is stored once. If it cannot be written whole the tape
/// is left as it was.
///
/// # Errors
/// The file is no tape, is compressed, is still being written, or cannot be written.
pub fn attach(path: &Path, items: &[Attachment<'_>]) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(path)?;
    let _held = lock::for_attaching(&file)?;
    let length = file.metadata()?.len();
    let mut magic = [0; MAGIC.len()];
    if file.read_exact_at(&mut magic, 0).is_err() || magic != MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not an uncompressed tape"));
    }
    let source = Source::File(file.try_clone()?, length);
    let blocks = scan(&source)?;
    let mut known = Vec::new();
    for place in blocks.places.iter().filter(|place| place.head.kind == Kind::Attachment) {
        let (mut stored, mut raw) = (vec![0; place.head.stored as usize], Vec::new());
        source.read(place.at, &mut stored)?;
        let entry = place.head.open(&stored, &mut raw);
        let entry = entry.and_then(|()| Entry::decode(&raw, Vec::new(), &[]));
        known.extend(entry.map(|entry| entry.content));
    }
    // Content whose attachment was never written, by who was killed meanwhile, belongs to none.
    let orphans = blocks.places.iter().rev().take_while(|place| place.head.kind == Kind::Part);
    let end = orphans.last().map_or(blocks.end, |first| first.at - HEAD_BYTES as u64);
    file.set_len(end)?;
    let result = append(&file, end, items, &mut known);
    if result.is_err() {
        // Half of the names would be taken for all of them. Where this fails too the mark is missing.
        let _ = file.set_len(end);
    }
    result
}

/// Writes attachments and the mark behind them; `known` has the contents that are there already.
fn append(
    file: &File,
    mut at: u64,
    items: &[Attachment<'_>],
    known: &mut Vec<u128>,
) -> io::Result<()> {
    let mut sealer = Sealer::new();
    let mut write = |kind, raw: &[u8]| {
        let block = sealer.seal(kind, false, raw);
        file.write_all_at(block, at)?;
        at += block.len() as u64;
        io::Result::Ok(())
    };
    for item in items {
        let content = xxh3_128(item.bytes);
        let is_new = !known.contains(&content);
        if is_new {
            known.push(content);
            item.bytes.chunks(PIECE_BYTES).try_for_each(|part| write(Kind::Part, part))?;
        }
        write(Kind::Attachment, &Entry::encode(item, content, is_new))?;
    }
    write(Kind::Explained, &[])
}
