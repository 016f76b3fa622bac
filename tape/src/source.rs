//! Files: plain ones stay where they are, compressed ones are read into memory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::error::TapeError;

const XZ_MAGIC: [u8; 6] = [0xFD, b'7', b'z', b'X', b'Z', 0];
const GZ_MAGIC: [u8; 2] = [0x1F, 0x8B];
/// More than any recording comes to; a file that claims to is not one.
const MOST_PLAIN_BYTES: u64 = 16 << 30;

/// The bytes of a tape, decompressed.
#[derive(Debug)]
pub(crate) enum Source {
    File(File, u64),
    Memory(Vec<u8>),
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, TapeError> {
        let read = |cause| TapeError::Read { path: path.to_owned(), cause };
        // Before it is opened, which a pipe would wait in, and after.
        if !fs::metadata(path).map_err(read)?.is_file() {
            return Err(TapeError::NoFile { path: path.to_owned() });
        }
        let file = File::open(path).map_err(read)?;
        let metadata = file.metadata().map_err(read)?;
        if !metadata.is_file() {
            return Err(TapeError::NoFile { path: path.to_owned() });
        }
        let mut first = [0; XZ_MAGIC.len()];
        let known = (metadata.len() as usize).min(first.len());
        file.read_exact_at(&mut first[..known], 0).map_err(read)?;
        let plain: Box<dyn Read> = if first == XZ_MAGIC {
            Box::new(lzma_rust2::XzReader::new(io::BufReader::new(file), true))
        } else if first.starts_with(&GZ_MAGIC) {
            Box::new(flate2::read::MultiGzDecoder::new(file))
        } else {
            return Ok(Self::File(file, metadata.len()));
        };
        let decompress = |cause| TapeError::Decompress { path: path.to_owned(), cause };
        let mut bytes = Vec::new();
        plain.take(MOST_PLAIN_BYTES + 1).read_to_end(&mut bytes).map_err(decompress)?;
        if bytes.len() as u64 > MOST_PLAIN_BYTES {
            return Err(decompress(io::Error::other("more than 16 GiB")));
        }
        Ok(Self::Memory(bytes))
    }

    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::File(_, length) => *length,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// All bytes.
    pub(crate) fn all(self) -> io::Result<Vec<u8>> {
        match self {
            Self::File(file, length) => {
                let mut bytes = vec![0; length as usize];
                file.read_exact_at(&mut bytes, 0)?;
                Ok(bytes)
            }
            Self::Memory(bytes) => Ok(bytes),
        }
    }

    /// The bytes from `at` on; less only where the file ends.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(file, _) => file.read_exact_at(bytes, at),
            Self::Memory(all) => {
                let from = usize::try_from(at).ok().and_then(|at| all.get(at..)).unwrap_or(&[]);
                let from = from.get(..bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
                bytes.copy_from_slice(from);
                Ok(())
            }
        }
    }
}
