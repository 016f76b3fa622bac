//! Reading: what is known of a tape without its calls.

use std::fmt;
use std::path::{Path, PathBuf};

use hostlib::Recording;
use hostlib::recording::{self, HEADER_BYTES, Op};

use crate::attach::{AttachmentKind, Entry};
use crate::blobs::LEAST_BYTES;
use crate::block::{Kind, MAGIC};
use crate::call::Header;
use crate::calls::Calls;
use crate::error::TapeError;
use crate::scan::{Blocks, Place, scan};
use crate::source::Source;
use crate::wire::{Cursor, Damage};

/// How a tape ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The host ended its session.
    Whole,
    /// The host was killed, or is still there. The tape is readable to the last whole block.
    Cut {
        /// Bytes after it.
        bytes: u64,
    },
    /// The tape reached its limit, and the session went on without it.
    Limit,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => write!(f, "whole"),
            Self::Cut { bytes: 0 } => write!(f, "cut: the session was not ended"),
            Self::Cut { bytes } => write!(f, "cut: {bytes} bytes after the last whole block"),
            Self::Limit => write!(f, "limit reached: what came then was not recorded"),
        }
    }
}

/// A tape that is read: of this format, or an old recording.
#[derive(Debug)]
pub struct Tape {
    pub(crate) path: PathBuf,
    pub(crate) kind: TapeKind,
}

#[derive(Debug)]
pub(crate) enum TapeKind {
    Blocks(Box<BlockTape>),
    Old { recording: Recording, ending: Ending },
}

#[derive(Debug)]
pub(crate) struct BlockTape {
    pub(crate) source: Source,
    pub(crate) calls: Vec<Place>,
    pub(crate) blobs: Vec<Place>,
    header: Header,
    forks: Vec<u32>,
    attachments: Vec<Entry>,
    is_explained: bool,
    dropped: u64,
    ending: Ending,
}

impl Tape {
    /// Opens a file: a tape or an old recording, plain or compressed with xz or gzip. What it is, its
    /// first bytes say.
    ///
    /// # Errors
    /// See [`TapeError`]. A file that ends within a block is a shorter tape, not an error.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        let source = Source::open(path)?;
        let read = |cause| TapeError::Read { path: path.to_owned(), cause };
        let mut magic = [0; MAGIC.len()];
        let known = (source.length() as usize).min(magic.len());
        source.read(0, &mut magic[..known]).map_err(read)?;
        let kind = if magic == MAGIC {
            let blocks = scan(&source).map_err(read)?;
            TapeKind::Blocks(Box::new(BlockTape::new(path, source, &blocks)?))
        } else if magic == recording::MAGIC {
            old(path, source.all().map_err(read)?)?
        } else {
            return Err(TapeError::Magic { path: path.to_owned() });
        };
        Ok(Self { path: path.to_owned(), kind })
    }

    /// Who wrote it; old recordings do not say.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        match &self.kind {
            TapeKind::Blocks(tape) => Some(&tape.header),
            TapeKind::Old { .. } => None,
        }
    }

    /// The processes that went on with it, each a child of the one before.
    #[must_use]
    pub fn forks(&self) -> &[u32] {
        match &self.kind {
            TapeKind::Blocks(tape) => &tape.forks,
            TapeKind::Old { .. } => &[],
        }
    }

    /// Sessions before the first one here, which were dropped because room was bounded.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        match &self.kind {
            TapeKind::Blocks(tape) => tape.dropped,
            TapeKind::Old { .. } => 0,
        }
    }

    /// The calls from the first one on.
    #[must_use]
    pub fn calls(&self) -> Calls<'_> {
        Calls::new(self)
    }

    /// How it ends.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match &self.kind {
            TapeKind::Blocks(tape) => tape.ending,
            TapeKind::Old { ending, .. } => *ending,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was attached to it, in order.
    #[must_use]
    pub fn attachments(&self) -> impl ExactSizeIterator<Item = Attached<'_>> {
        let entries = match &self.kind {
            TapeKind::Blocks(tape) => tape.attachments.as_slice(),
            TapeKind::Old { .. } => &[],
        };
        entries.iter().map(|entry| Attached { tape: self, entry })
    }

    /// Whether all that was to be attached to it is there, see [`attach`](crate::attach()). What is attached
    /// to a tape of which this is not so may lack anything.
    #[must_use]
    pub fn is_explained(&self) -> bool {
        matches!(&self.kind, TapeKind::Blocks(tape) if tape.is_explained)
    }

    /// Shows the payloads of 64 bytes and more that host and device have exchanged, each different one
    /// once and in pieces of at most 256 KiB, in no order that means anything.
    ///
    /// # Errors
    /// The tape cannot be read.
    pub fn payloads(&self, mut show: impl FnMut(&[u8])) -> Result<(), TapeError> {
        match &self.kind {
            TapeKind::Old { recording, .. } => {
                let all = recording.records().map(|record| record.bytes);
                all.filter(|bytes| bytes.len() >= LEAST_BYTES).for_each(show);
            }
            TapeKind::Blocks(tape) => {
                let mut raw = Vec::new();
                for place in &tape.blobs {
                    tape.load(&self.path, place, &mut raw)?;
                    let mut from = Cursor::new(&raw);
                    while !from.is_empty() {
                        let piece = from.bytes_with_length();
                        show(piece.map_err(|Damage(what)| TapeError::Damaged {
                            path: self.path.clone(),
                            what,
                        })?);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Something that was attached to a tape.
#[derive(Clone, Copy, Debug)]
pub struct Attached<'t> {
    tape: &'t Tape,
    entry: &'t Entry,
}

impl<'t> Attached<'t> {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> AttachmentKind {
        self.entry.kind
    }

    /// Where it was.
    #[must_use]
    pub fn name(&self) -> &'t Path {
        &self.entry.name
    }

    /// Its size.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.entry.length
    }

    /// Its content.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn bytes(&self) -> Result<Vec<u8>, TapeError> {
        let TapeKind::Blocks(tape) = &self.tape.kind else { return Ok(Vec::new()) };
        let mut content = Vec::new();
        let mut part = Vec::new();
        for place in &self.entry.parts {
            tape.load(&self.tape.path, place, &mut part)?;
            content.extend_from_slice(&part);
        }
        if content.len() as u64 != self.entry.length {
            let what = "an attachment has another size than it says";
            return Err(TapeError::Damaged { path: self.tape.path.clone(), what });
        }
        Ok(content)
    }
}

fn old(path: &Path, bytes: Vec<u8>) -> Result<TapeKind, TapeError> {
    let all = bytes.len();
    let recording = Recording::parse(bytes)
        .map_err(|cause| TapeError::Recording { path: path.to_owned(), cause })?;
    let records = recording.records().map(|record| HEADER_BYTES + record.bytes.len());
    let end = recording::MAGIC.len() + records.sum::<usize>();
    let closing = recording.records().rev().find(|record| matches!(record.op, Op::Init | Op::Exit));
    let is_whole = end == all && closing.is_some_and(|record| record.op == Op::Exit);
    let ending = if is_whole { Ending::Whole } else { Ending::Cut { bytes: (all - end) as u64 } };
    Ok(TapeKind::Old { recording, ending })
}

impl BlockTape {
    fn new(path: &Path, source: Source, blocks: &Blocks) -> Result<Self, TapeError> {
        let of = |kind| blocks.places.iter().copied().filter(move |place| place.head.kind == kind);
        let calls: Vec<Place> = of(Kind::Calls).collect();
        let bytes = source.length() - blocks.end;
        let ending = if of(Kind::Limit).next().is_some() {
            Ending::Limit
        } else if bytes == 0 && calls.last().is_some_and(|last| last.head.is_closed()) {
            Ending::Whole
        } else {
            Ending::Cut { bytes }
        };
        let mut tape = Self {
            source,
            calls,
            blobs: of(Kind::Blobs).collect(),
            header: Header::default(),
            forks: Vec::new(),
            attachments: Vec::new(),
            is_explained: of(Kind::Explained).next().is_some(),
            dropped: 0,
            ending,
        };
        let damaged = |Damage(what)| TapeError::Damaged { path: path.to_owned(), what };
        let (mut raw, mut parts) = (Vec::new(), Vec::new());
        for place in &blocks.places {
            match place.head.kind {
                Kind::Header => {
                    tape.load(path, place, &mut raw)?;
                    tape.header = Header::decode(&raw).map_err(damaged)?;
                }
                Kind::Fork => {
                    tape.load(path, place, &mut raw)?;
                    tape.forks.push(Cursor::new(&raw).small().map_err(damaged)?);
                }
                Kind::Dropped => {
                    tape.load(path, place, &mut raw)?;
                    tape.dropped = Cursor::new(&raw).get().map_err(damaged)?;
                }
                Kind::Part => parts.push(*place),
                Kind::Attachment => {
                    tape.load(path, place, &mut raw)?;
                    let new = std::mem::take(&mut parts);
                    tape.attachments
                        .push(Entry::decode(&raw, new, &tape.attachments).map_err(damaged)?);
                }
                Kind::Blobs | Kind::Calls | Kind::Limit | Kind::Explained => {}
            }
        }
        Ok(tape)
    }

    /// The payload of a block, in place of what `raw` had.
    pub(crate) fn load(
        &self,
        path: &Path,
        place: &Place,
        raw: &mut Vec<u8>,
    ) -> Result<(), TapeError> {
        let read = |cause| TapeError::Read { path: path.to_owned(), cause };
        let damaged = |Damage(what)| TapeError::Damaged { path: path.to_owned(), what };
        let mut stored = vec![0; place.head.stored as usize];
        self.source.read(place.at, &mut stored).map_err(read)?;
        if !place.head.holds(&stored) {
            return Err(damaged(Damage("it was changed while it was read")));
        }
        place.head.open(&stored, raw).map_err(damaged)
    }
}
