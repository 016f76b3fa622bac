//! Recordings as files: `.rec`, or `.rec.xz` decompressed on the way in.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use hostlib::{FormatError, Recording};

/// First bytes of an xz file.
const XZ_MAGIC: [u8; 6] = [0xFD, b'7', b'z', b'X', b'Z', 0];

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

/// Reads a recording; what the file is, its first bytes say, not its name.
///
/// # Errors
/// See [`FileError`].
pub fn read(path: &Path) -> Result<Recording, FileError> {
    let owned = || path.to_owned();
    let mut bytes = fs::read(path).map_err(|cause| FileError::Read { path: owned(), cause })?;
    if bytes.starts_with(&XZ_MAGIC) {
        let mut plain = Vec::new();
        lzma_rust2::XzReader::new(&bytes[..], true)
            .read_to_end(&mut plain)
            .map_err(|cause| FileError::Xz { path: owned(), cause })?;
        bytes = plain;
    }
    Recording::parse(bytes).map_err(|cause| FileError::Format { path: owned(), cause })
}
