//! Writing: calls go into memory, and in whole blocks to the file.

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process;

use crate::blobs::{Blobs, LEAST_BYTES, PIECE_BYTES};
use crate::block::{FULL_BYTES, HEAD_BYTES, Kind, MAGIC, Sealer};
use crate::call::{Call, Header, Op, Parts};
use crate::dictionary::Key;
use crate::fold::Folder;
use crate::lock;
use crate::rest;
use crate::wire::put;

/// Bytes of a file that are copied at a time.
const COPIED_BYTES: usize = 1 << 20;

/// How to write.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Size beyond which the tape does not grow; of the session that is under way then, calls that come after
    /// are not recorded. [`TapeWriter::make_room`] drops sessions that are over for it.
    pub limit_bytes: Option<u64>,
}

/// A tape that is being written. What was not flushed is flushed when it is dropped, in the process
/// that made it.
pub struct TapeWriter {
    file: File,
    path: PathBuf,
    /// The process whose tape it is.
    pid: u32,
    /// The header ends here.
    headed: u64,
    /// Whole blocks end here.
    written: u64,
    limit: u64,
    /// Nothing more is written.
    ended: bool,
    /// Because the limit was reached.
    full: bool,
    error: Option<io::Error>,
    folder: Folder,
    blobs: Blobs,
    /// Cycles at rest that may become more.
    held: Option<u64>,
    /// A session is open.
    open: bool,
    /// Sessions that were begun since the tape, or what is left of it, began; and those that were dropped.
    sessions: u64,
    dropped: u64,
    /// The process that made the header is another one.
    forked: bool,
    /// Numbers of the pieces of a payload.
    pieces: Vec<u8>,
    block: Vec<u8>,
    sealer: Sealer,
}

impl fmt::Debug for TapeWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapeWriter")
            .field("path", &self.path)
            .field("written", &self.written)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

/// An empty file that is this writer's alone.
fn create(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    lock::for_writing(&file)?;
    if lock::is_anothers(&file) {
        let text = "the tape of another process that is still there";
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
    }
    // What is no regular file has no length.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

impl TapeWriter {
    /// A new tape, in place of a file that may be there.
    ///
    /// # Errors
    /// The file cannot be written; it is the tape of somebody who may still write
    /// ([`io::ErrorKind::ResourceBusy`]).
    pub fn create(path: &Path, header: &Header, options: &Options) -> io::Result<Self> {
        let file = create(path)?;
        file.write_all_at(&MAGIC, 0)?;
        let mut writer = Self {
            file,
            path: path.to_owned(),
            pid: process::id(),
            headed: 0,
            written: MAGIC.len() as u64,
            limit: u64::MAX,
            ended: false,
            full: false,
            error: None,
            folder: Folder::new(),
            blobs: Blobs::new(),
            held: None,
            open: false,
            sessions: 0,
            dropped: 0,
            forked: false,
            pieces: Vec::new(),
            block: Vec::new(),
            sealer: Sealer::new(),
        };
        writer.write(Kind::Header, &header.encode())?;
        writer.headed = writer.written;
        writer.limit = options.limit_bytes.unwrap_or(u64::MAX);
        Ok(writer)
    }

    /// Takes a call that has ended. An error is kept for [`TapeWriter::error`], and nothing more is
    /// written: a gap would make all that follows wrong.
    ///
    /// `Rest` with nothing in between becomes one, as long as the sum until then is a whole number of
    /// epochs of any length: `Chip::rest` rounds up to an epoch, so that the sum of others would not
    /// be what they came to one after the other.
    #[inline]
    pub fn call(&mut self, call: &Call<'_>) {
        if self.ended {
            return;
        }
        if let Call::Rest { cycles } = *call {
            let sum = self.held.and_then(|held| rest::sum(held, cycles));
            if sum.is_none() {
                self.release();
            }
            self.held = Some(sum.unwrap_or(cycles));
        } else {
            self.release();
            self.push(call);
        }
        if self.folder.bytes() >= FULL_BYTES {
            self.write_calls();
        }
    }

    #[inline]
    fn push(&mut self, call: &Call<'_>) {
        match *call {
            Call::Init => {
                self.open = true;
                self.sessions += 1;
            }
            Call::Exit => self.open = false,
            _ => {}
        }
        let parts = Parts::of(call);
        if parts.bytes.len() >= LEAST_BYTES {
            self.push_long(&parts);
            return;
        }
        let numbers = match *call {
            Call::State { cycle, hash } => (cycle, hash),
            _ => (0, 0),
        };
        self.folder.push(&Key::short(&parts), numbers);
    }

    /// The cycles at rest do not become more.
    #[inline]
    fn release(&mut self) {
        if let Some(cycles) = self.held.take() {
            let key = Key { op: Op::Rest, a0: 0, a1: 0, length: 0, identity: &[] };
            self.folder.push(&key, (cycles, 0));
        }
    }

    /// A call whose payload is kept by content.
    fn push_long(&mut self, parts: &Parts<'_>) {
        let Ok(length) = u32::try_from(parts.bytes.len()) else {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "a call with 4 GiB or more");
            self.fail(error);
            return;
        };
        self.pieces.clear();
        for piece in parts.bytes.chunks(PIECE_BYTES) {
            self.pieces.extend(self.blobs.store(piece).to_le_bytes());
            match self.blobs.is_full() {
                // Payloads are of no use without their calls, should the limit come between them.
                true if self.limit < u64::MAX => self.write_calls(),
                true => self.write_blobs(),
                false => {}
            }
        }
        let &Parts { op, a0, a1, .. } = parts;
        self.folder.push(&Key { op, a0, a1, length, identity: &self.pieces }, (0, 0));
    }

    fn write_blobs(&mut self) {
        let blobs = std::mem::replace(&mut self.blobs, Blobs::new());
        self.write_or_end(Kind::Blobs, blobs.pending());
        self.blobs = blobs;
        self.blobs.written();
    }

    fn write_calls(&mut self) {
        if !self.blobs.pending().is_empty() {
            self.write_blobs();
        }
        let mut block = std::mem::take(&mut self.block);
        self.folder.take(&mut block);
        self.write_or_end(Kind::Calls, &block);
        self.block = block;
    }

    fn write_or_end(&mut self, kind: Kind, raw: &[u8]) {
        if !self.ended
            && let Err(error) = self.write(kind, raw)
        {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.ended = true;
        self.error = Some(error);
    }

    /// Writes a block, or that the limit is reached.
    fn write(&mut self, kind: Kind, raw: &[u8]) -> io::Result<()> {
        if process::id() != self.pid {
            return Err(io::Error::other(format!("the tape is process {}'s", self.pid)));
        }
        let closed = kind == Kind::Calls && !self.open;
        let mut block = self.sealer.seal(kind, closed, raw);
        if self.written + (block.len() + HEAD_BYTES) as u64 > self.limit {
            block = self.sealer.seal(Kind::Limit, false, &[]);
            (self.ended, self.full) = (true, true);
        }
        if let Err(error) = self.file.write_all_at(block, self.written) {
            // A torn block is as good as none; better if it can be taken away.
            let _ = self.file.set_len(self.written);
            return Err(error);
        }
        self.written += block.len() as u64;
        Ok(())
    }

    /// Makes what is pending a whole block in the file, which is not forced to the disk.
    pub fn flush(&mut self) {
        if self.ended {
            return;
        }
        self.release();
        if self.folder.is_pending() {
            self.write_calls();
        }
    }

    /// Whether [`TapeWriter::flush`] would write something.
    #[must_use]
    pub fn pending(&self) -> bool {
        !self.ended && (self.held.is_some() || self.folder.is_pending())
    }

    /// What went wrong, once.
    pub fn error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Whether calls are not recorded any more: the limit is reached, or something went wrong.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Whether the limit is reached: what comes now is not on the tape, until [`TapeWriter::make_room`] finds room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Between two sessions: others may attach to the tape.
    pub fn let_go(&mut self) {
        self.flush();
        lock::release(&self.file);
    }

    /// Goes on after [`TapeWriter::let_go`].
    ///
    /// # Errors
    /// Somebody else writes the file, or has changed it since.
    pub fn take_up(&mut self) -> io::Result<()> {
        lock::for_writing(&self.file)?;
        let file = self.file.metadata()?;
        if file.is_file() && file.len() != self.written {
            let text = "the tape was changed between two sessions";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
        Ok(())
    }

    /// Before a new session: if more than half of the room is used, or none is left, drops all sessions before,
    /// so that what is newest is on the tape. A session begins with a fresh chip: without those before it is
    /// played to the same state.
    ///
    /// A session alone is never cut at its beginning. Whoever is killed here leaves a whole tape.
    ///
    /// # Errors
    /// The file cannot be written; nothing more is.
    pub fn make_room(&mut self) -> io::Result<()> {
        let is_used = self.ended || self.written - self.headed > (self.limit - self.headed) / 2;
        if self.limit == u64::MAX || self.open || self.sessions == 0 || !is_used {
            return Ok(());
        }
        let made = self.drop_sessions();
        if made.is_err() {
            self.ended = true;
        }
        made
    }

    fn drop_sessions(&mut self) -> io::Result<()> {
        self.folder = Folder::new();
        self.blobs = Blobs::new();
        self.held = None;
        (self.ended, self.full, self.error) = (false, false, None);
        self.file.set_len(self.headed)?;
        self.written = self.headed;
        self.dropped += std::mem::take(&mut self.sessions);
        let mut number = Vec::new();
        put(&mut number, self.dropped);
        self.write(Kind::Dropped, &number)?;
        if self.forked {
            self.write_pid()?;
        }
        Ok(())
    }

    fn write_pid(&mut self) -> io::Result<()> {
        let mut pid = Vec::new();
        put(&mut pid, self.pid.into());
        self.write(Kind::Fork, &pid)
    }

    #[cfg(test)]
    pub(crate) fn pretend_other_process(&mut self) {
        self.pid ^= 1;
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// In a forked child: a tape of its own, which begins with everything that this one has.
    ///
    /// # Errors
    /// The file cannot be written, or is the one of this tape.
    pub fn fork(&self, path: &Path) -> io::Result<Self> {
        if std::fs::metadata(path).is_ok_and(|there| self.is_file(&there)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a fork on the tape it is of"));
        }
        let file = create(path)?;
        let mut piece = vec![0; COPIED_BYTES];
        let mut at = 0;
        while at < self.written {
            let count =
                usize::try_from(self.written - at).map_or(COPIED_BYTES, |n| n.min(COPIED_BYTES));
            self.file.read_exact_at(&mut piece[..count], at)?;
            file.write_all_at(&piece[..count], at)?;
            at += count as u64;
        }
        let mut child = Self {
            file,
            path: path.to_owned(),
            pid: process::id(),
            headed: self.headed,
            written: self.written,
            limit: self.limit,
            ended: self.ended,
            full: self.full,
            error: None,
            folder: self.folder.clone(),
            blobs: self.blobs.clone(),
            held: self.held,
            open: self.open,
            sessions: self.sessions,
            dropped: self.dropped,
            forked: true,
            pieces: Vec::new(),
            block: Vec::new(),
            sealer: Sealer::new(),
        };
        if !child.ended {
            child.write_pid()?;
        }
        Ok(child)
    }

    fn is_file(&self, there: &Metadata) -> bool {
        self.file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()))
    }
}

impl Drop for TapeWriter {
    fn drop(&mut self) {
        // A forked child's copy must not give away what its parent still writes.
        if process::id() == self.pid {
            self.let_go();
        }
    }
}
