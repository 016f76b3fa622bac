//! What can be wrong with a tape.

use std::io;
use std::path::PathBuf;

use hostlib::FormatError;

/// Why there is no tape, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// The file cannot be read.
    #[error("cannot read {path}: {cause}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It is a directory, a pipe or a device.
    #[error("{path} is not a regular file", path = path.display())]
    NoFile {
        /// What is there.
        path: PathBuf,
    },
    /// It cannot be decompressed.
    #[error("cannot decompress {path}: {cause}", path = path.display())]
    Decompress {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It holds something else.
    #[error(
        "{path} is neither a tape nor a recording: it begins with neither TSTAPE01 nor TTREC01",
        path = path.display()
    )]
    Magic {
        /// The file.
        path: PathBuf,
    },
    /// It is a recording that is damaged.
    #[error("{path}: {cause}", path = path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: FormatError,
    },
    /// It is a tape whose blocks are whole and whose contents make no sense.
    #[error("{path}: damaged tape: {what}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
}
