//! Recordings as files: `.rec`, or `.rec.xz` decompressed on the way in.
//!
//! A recording is looked at while it is read. What is none is refused at its first wrong record, and
//! what is kept of one has a limit: the replayer looks ahead, and needs all of it in memory.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use hostlib::recording::{Op, ReadError, count};
use hostlib::{FormatError, Recording};

/// First bytes of an xz file.
const XZ_MAGIC: [u8; 6] = [0xFD, b'7', b'z', b'X', b'Z', 0];

/// Bytes that the decompressor may need: xz itself needs 65 MiB for what `xz -9` makes.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// Bytes of a recording, decompressed, that [`read`] keeps: 1 GiB. The largest of the recordings this
/// project is tested with has 14 MiB. A replay needs up to twice as much.
pub const MAX_BYTES: u64 = 1 << 30;

/// Why a file gives no recording.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {path}: {cause}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A directory, a pipe or a device.
    #[error("{path}: not a regular file", path = path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// It holds more than may be kept.
    #[error(
        "{path}: a recording of more than {limit} MiB; --max-size allows more",
        path = path.display(), limit = limit >> 20
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// It cannot be decompressed.
    #[error("cannot decompress {path}: {cause}", path = path.display())]
    Xz {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It holds something else.
    #[error("{path}: {cause}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: FormatError,
    },
}

/// Reads a recording of at most [`MAX_BYTES`]; what the file is, its first bytes say, not its name.
///
/// # Errors
/// See [`FileError`].
pub fn read(path: &Path) -> Result<Recording, FileError> {
    read_up_to(path, MAX_BYTES)
}

/// As [`read`], with another limit in bytes.
///
/// # Errors
/// See [`FileError`].
pub fn read_up_to(path: &Path, limit: u64) -> Result<Recording, FileError> {
    let (stream, xz) = open(path)?;
    Recording::read(stream, limit).map_err(|error| named(path, xz, error))
}

/// How many records of each operation a recording has, in the order of [`Op::ALL`]; nothing of it
/// is kept.
///
/// # Errors
/// See [`FileError`].
pub fn counts(path: &Path) -> Result<[u64; Op::ALL.len()], FileError> {
    let (stream, xz) = open(path)?;
    count(stream).map_err(|error| named(path, xz, error))
}

/// The bytes of a recording, and whether they are decompressed on the way.
fn open(path: &Path) -> Result<(Box<dyn Read>, bool), FileError> {
    let fail = |cause| FileError::Read { path: path.to_owned(), cause };
    // Opening a pipe would wait for somebody at its other end.
    if !fs::metadata(path).map_err(fail)?.is_file() {
        return Err(FileError::NotAFile { path: path.to_owned() });
    }
    let mut file = BufReader::new(File::open(path).map_err(fail)?);
    if file.fill_buf().map_err(fail)?.starts_with(&XZ_MAGIC) {
        let plain = lzma_rust2::XzReader::new_mem_limit(file, true, XZ_MEMORY_KIB);
        return Ok((Box::new(plain), true));
    }
    Ok((Box::new(file), false))
}

fn named(path: &Path, xz: bool, error: ReadError) -> FileError {
    let path = path.to_owned();
    match error {
        ReadError::Io(cause) if xz => FileError::Xz { path, cause },
        ReadError::Io(cause) => FileError::Read { path, cause },
        ReadError::Format(cause) => FileError::Format { path, cause },
        ReadError::TooLarge { limit } => FileError::TooLarge { path, limit },
    }
}
