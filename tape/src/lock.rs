//! Whose file it is: a tape has one writer at a time, and nobody attaches to it meanwhile.
//!
//! The lock goes with the open file and not with the process: a library that a host loads twice is two
//! writers. A file system without locks is no reason to have no tape, and what is no regular file keeps
//! nothing that two writers could mix up.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{process, thread};

use crate::block::{HEAD_BYTES, Head, Kind, MAGIC};
use crate::call::Header;

/// Largest header that is looked at.
const MOST_HEADER: usize = 1 << 20;

/// How long a copy of a file that is being given up may keep it.
const FREED_WITHIN: Duration = Duration::from_secs(1);

fn locked(file: &File, why: &'static str) -> io::Result<()> {
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    match file.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(ErrorKind::ResourceBusy, why)),
    }
}

/// For who appends when the writer is gone; others may have it again when this is dropped.
pub(crate) struct Attaching<'a>(&'a File);

/// Waits a moment: a child of the writer that has just begun, or was just killed, may still hold a copy of
/// the open file.
pub(crate) fn for_attaching(file: &File) -> io::Result<Attaching<'_>> {
    let end = Instant::now() + FREED_WITHIN;
    loop {
        match locked(file, "it is still being written") {
            Err(error) if error.kind() == ErrorKind::ResourceBusy && Instant::now() < end => {
                thread::sleep(Duration::from_millis(5));
            }
            result => return result.map(|()| Attaching(file)),
        }
    }
}

/// Not by closing: a child between its fork and its exec has a copy of the file, and the lock with it.
impl Drop for Attaching<'_> {
    fn drop(&mut self) {
        release(self.0);
    }
}

/// For a writer that begins anew or goes on.
pub(crate) fn for_writing(file: &File) -> io::Result<()> {
    locked(file, "somebody else writes it")
}

/// Leaves it to others.
pub(crate) fn release(file: &File) {
    // Where there are no locks there is none to give back.
    let _ = file.unlock();
}

/// Whether the file is the tape of another process that still has it and may go on with it.
pub(crate) fn is_anothers(file: &File) -> bool {
    let (Some(pid), Ok(own)) = (pid_of(file), file.metadata()) else { return false };
    let same = |path: &Path| {
        std::fs::metadata(path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()))
    };
    // A number alone is soon another process's.
    let open = std::fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd"));
    pid != process::id() && open.is_ok_and(|open| open.flatten().any(|entry| same(&entry.path())))
}

/// The process that the header names.
fn pid_of(file: &File) -> Option<u32> {
    let mut first = [0; MAGIC.len() + HEAD_BYTES];
    file.read_exact_at(&mut first, 0).ok()?;
    let (magic, head) = first.split_first_chunk::<{ MAGIC.len() }>()?;
    let head = Head::parse(*head.first_chunk()?)?;
    if *magic != MAGIC || head.kind != Kind::Header || head.stored as usize > MOST_HEADER {
        return None;
    }
    let (mut stored, mut raw) = (vec![0; head.stored as usize], Vec::new());
    file.read_exact_at(&mut stored, first.len() as u64).ok()?;
    head.open(&stored, &mut raw).ok()?;
    Some(Header::decode(&raw).ok()?.pid)
}
