//! A recorded host session: every call a host made to a device library, and what it got back.
//!
//! Little endian, not aligned, no trailer: the magic bytes `TTREC01\n`, then records.
//!
//! ```text
//! offset  size  field
//!      0     1  operation (1-12, see `Op`)
//!      1     3  zero
//!      4     4  size in bytes
//!      8     8  a0      the meaning of a0 and a1 depends on the operation
//!     16     8  a1
//!     24  size  payload, for the operations that carry bytes
//! ```
//!
//! A record that runs past the end of the file ends the recording: its host was killed. A payload has
//! at most [`MAX_PAYLOAD_BYTES`], so that damage shows before it is waited for. The format
//! is that of the vendor-independent recordings this project is tested with
//! `[spec: host recordings 1]`.

use std::io::{self, Read, Write};

use crate::headers::Headers;

/// The first eight bytes of a file.
pub const MAGIC: [u8; 8] = *b"TTREC01\n";
/// Bytes of a record before its payload.
pub const HEADER_BYTES: usize = 24;
/// The largest payload: 1 GiB. The longest call of the recordings this project is tested with moves
/// 14 kB.
pub const MAX_PAYLOAD_BYTES: u64 = 1 << 30;
/// Bytes that are looked at together while a recording is read.
const CHUNK_BYTES: usize = 1 << 16;

/// What was called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Op {
    /// `libttsim_init`.
    Init = 1,
    /// `libttsim_exit`.
    Exit = 2,
    /// Configuration read: a0 = bdf, a1 = offset, payload the word that came back.
    ConfigRead = 3,
    /// Configuration write: a0 = bdf, a1 = offset, payload the word.
    ConfigWrite = 4,
    /// BAR read: a0 = paddr, payload the bytes that came back.
    MemRead = 5,
    /// BAR write: a0 = paddr, payload the bytes.
    MemWrite = 6,
    /// a0 host clocks.
    Clock = 7,
    /// The host announced its memory callbacks.
    SetCallbacks = 8,
    /// The device read host memory: a0 = paddr, payload what the host supplied.
    DmaRead = 9,
    /// The device wrote host memory: a0 = paddr, payload the bytes.
    DmaWrite = 10,
    /// Tile read: a0 = address, a1 = x | y << 32, payload the bytes that came back.
    TileRead = 11,
    /// Tile write: a0 = address, a1 = x | y << 32, payload the bytes.
    TileWrite = 12,
}

impl Op {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Init,
        Self::Exit,
        Self::ConfigRead,
        Self::ConfigWrite,
        Self::MemRead,
        Self::MemWrite,
        Self::Clock,
        Self::SetCallbacks,
        Self::DmaRead,
        Self::DmaWrite,
        Self::TileRead,
        Self::TileWrite,
    ];

    /// The operation of a number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).wrapping_sub(1)).copied()
    }

    /// Whether the size in the header is that of a payload.
    #[must_use]
    pub fn has_payload(self) -> bool {
        !matches!(self, Self::Init | Self::Exit | Self::Clock | Self::SetCallbacks)
    }

    /// Short name for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::Exit => "EXIT",
            Self::ConfigRead => "CFG_RD",
            Self::ConfigWrite => "CFG_WR",
            Self::MemRead => "MEM_RD",
            Self::MemWrite => "MEM_WR",
            Self::Clock => "CLOCK",
            Self::SetCallbacks => "SET_CB",
            Self::DmaRead => "DMA_RD",
            Self::DmaWrite => "DMA_WR",
            Self::TileRead => "TILE_RD",
            Self::TileWrite => "TILE_WR",
        }
    }
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What was called.
    pub op: Op,
    /// First argument, see [`Op`].
    pub a0: u64,
    /// Second argument, see [`Op`].
    pub a1: u64,
    /// The bytes that went over.
    pub bytes: &'a [u8],
}

impl Record<'_> {
    /// NoC coordinate of a tile access.
    #[must_use]
    pub fn tile(&self) -> (u32, u32) {
        #[expect(clippy::cast_possible_truncation, reason = "two 32-bit halves")]
        (self.a1 as u32, (self.a1 >> 32) as u32)
    }

    /// The payload as a word; short payloads read as zero above their end.
    #[must_use]
    pub fn word(&self) -> u32 {
        let mut word = [0; 4];
        let known = self.bytes.len().min(4);
        word[..known].copy_from_slice(&self.bytes[..known]);
        u32::from_le_bytes(word)
    }
}

/// Why bytes are no recording.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Wrong first bytes.
    #[error("not a recording: it does not begin with TTREC01")]
    Magic,
    /// An operation nobody knows.
    #[error(
        "damaged recording: record {record} at byte {at} has operation {number}, known are 1 to 12"
    )]
    Operation {
        /// Number of the record.
        record: u64,
        /// Byte of the file.
        at: u64,
        /// What stands there.
        number: u8,
    },
    /// The bytes behind the operation are not zero.
    #[error("damaged recording: record {record} at byte {at} has no zeros behind its operation")]
    Header {
        /// Number of the record.
        record: u64,
        /// Byte of the file.
        at: u64,
    },
    /// A configuration access that is not one word.
    #[error(
        "damaged recording: record {record} at byte {at} is a configuration access of {size} bytes instead of 4"
    )]
    ConfigSize {
        /// Number of the record.
        record: u64,
        /// Byte of the file.
        at: u64,
        /// Its payload in bytes.
        size: u64,
    },
    /// A payload that no call has.
    #[error(
        "damaged recording: record {record} at byte {at} claims {size} bytes, the limit is {MAX_PAYLOAD_BYTES}"
    )]
    Payload {
        /// Number of the record.
        record: u64,
        /// Byte of the file.
        at: u64,
        /// The payload in bytes that its header claims.
        size: u64,
    },
}

/// Why a stream gives no recording.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read on.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no recording.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// It is longer than the reader was ready to keep.
    #[error("a recording of more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
}

/// A whole recording in memory.
#[derive(Clone, Debug)]
pub struct Recording {
    bytes: Vec<u8>,
    /// Where each record begins; not more, because records of 24 bytes are the rule.
    starts: Vec<usize>,
    complete: bool,
}

impl Recording {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// See [`FormatError`]. A file that ends within a record is a shorter recording, not an error.
    ///
    /// # Panics
    /// Never: what is in memory has an address.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, FormatError> {
        let (mut headers, mut starts) = (Headers::default(), Vec::new());
        headers.feed(&bytes, &mut |_, at| starts.push(place(at)))?;
        let complete = headers.end()?;
        Ok(Self { bytes, starts, complete })
    }

    /// Reads a stream to its end, at most `limit` bytes of it. Each record is looked at when it
    /// comes: what is no recording is not read on.
    ///
    /// # Errors
    /// See [`ReadError`].
    ///
    /// # Panics
    /// Never: what is in memory has an address.
    pub fn read(from: impl Read, limit: u64) -> Result<Self, ReadError> {
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        let complete = chunks(from, &mut |op_at, chunk| {
            starts.extend(op_at.iter().map(|&(_, at)| place(at)));
            if bytes.len() as u64 + chunk.len() as u64 > limit {
                return Err(ReadError::TooLarge { limit });
            }
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(Self { bytes, starts, complete })
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether the last record ends where the file ends.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Record `index`.
    ///
    /// # Panics
    /// There is no such record.
    #[must_use]
    pub fn record(&self, index: usize) -> Record<'_> {
        let (header, rest) = self.bytes[self.starts[index]..].split_at(HEADER_BYTES);
        let word = |from: usize| {
            u64::from_le_bytes(header[from..from + 8].try_into().expect("eight bytes"))
        };
        let op = Op::from_number(header[0]).expect("checked when it was read");
        let size = if op.has_payload() { place(word(0) >> 32) } else { 0 };
        Record { op, a0: word(8), a1: word(16), bytes: &rest[..size] }
    }

    /// All records in order.
    #[must_use]
    pub fn records(&self) -> impl DoubleEndedIterator<Item = Record<'_>> + ExactSizeIterator {
        (0..self.len()).map(|index| self.record(index))
    }
}

/// An offset into what is in memory.
fn place(at: u64) -> usize {
    usize::try_from(at).expect("what is in memory has an address")
}

/// Reads a stream to its end, piece by piece, with the operation and place of each record that ends
/// in the piece. Whether the stream ends with a record.
fn chunks(
    mut from: impl Read,
    take: &mut impl FnMut(&[(Op, u64)], &[u8]) -> Result<(), ReadError>,
) -> Result<bool, ReadError> {
    let (mut headers, mut found) = (Headers::default(), Vec::new());
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => return Ok(headers.end()?),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        found.clear();
        headers.feed(&chunk[..count], &mut |op, at| found.push((op, at)))?;
        take(&found, &chunk[..count])?;
    }
}

/// Reads a stream to its end and keeps nothing of it: how many records there are of each operation,
/// in the order of [`Op::ALL`].
///
/// # Errors
/// See [`ReadError`].
pub fn count(from: impl Read) -> Result<[u64; Op::ALL.len()], ReadError> {
    let mut counts = [0; Op::ALL.len()];
    chunks(from, &mut |found, _| {
        found.iter().for_each(|&(op, _)| counts[op as usize - 1] += 1);
        Ok(())
    })?;
    Ok(counts)
}

/// Writes the start of a file.
///
/// # Errors
/// The output cannot be written.
pub fn write_magic(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&MAGIC)
}

/// Writes one record.
///
/// # Errors
/// The output cannot be written, or the payload has more than [`MAX_PAYLOAD_BYTES`].
pub fn write_record(out: &mut dyn Write, record: &Record<'_>) -> io::Result<()> {
    let bytes: &[u8] = if record.op.has_payload() { record.bytes } else { &[] };
    let size = u32::try_from(bytes.len()).ok().filter(|&size| u64::from(size) <= MAX_PAYLOAD_BYTES);
    let size = size.ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "a call with more than 1 GiB of payload")
    })?;
    let mut header = [0; HEADER_BYTES];
    header[0] = record.op as u8;
    header[4..8].copy_from_slice(&size.to_le_bytes());
    header[8..16].copy_from_slice(&record.a0.to_le_bytes());
    header[16..].copy_from_slice(&record.a1.to_le_bytes());
    out.write_all(&header)?;
    out.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of 7 and a read of three bytes, laid out by hand from the format's table.
    fn by_hand() -> Vec<u8> {
        let mut file = b"TTREC01\n".to_vec();
        file.extend([7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        file.extend([5, 0, 0, 0, 3, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        file.extend([0xAA, 0xBB, 0xCC]);
        file
    }

    #[test]
    fn bytes_laid_out_by_hand_are_read() {
        let recording = Recording::parse(by_hand()).unwrap();
        assert_eq!(recording.len(), 2);
        assert!(recording.is_complete());
        let clock = recording.record(0);
        assert_eq!((clock.op, clock.a0, clock.bytes), (Op::Clock, 7, &[][..]));
        let read = recording.record(1);
        assert_eq!((read.op, read.a0), (Op::MemRead, 0x1_0000_0010));
        assert_eq!(read.bytes, [0xAA, 0xBB, 0xCC]);
    }

    #[test]
    fn what_is_written_is_the_layout_by_hand() {
        let mut file = Vec::new();
        write_magic(&mut file).unwrap();
        let clock = Record { op: Op::Clock, a0: 7, a1: 0, bytes: &[] };
        write_record(&mut file, &clock).unwrap();
        let bytes = [0xAA, 0xBB, 0xCC];
        let read = Record { op: Op::MemRead, a0: 0x1_0000_0010, a1: 0, bytes: &bytes };
        write_record(&mut file, &read).unwrap();
        assert_eq!(file, by_hand());
    }

    #[test]
    fn every_cut_is_a_shorter_recording() {
        let whole = by_hand();
        for end in MAGIC.len()..whole.len() {
            let cut = Recording::parse(whole[..end].to_vec()).unwrap();
            assert_eq!(cut.len(), usize::from(end >= 32), "cut at {end}");
            assert_eq!(cut.is_complete(), end == 8 || end == 32, "cut at {end}");
        }
    }

    #[test]
    fn other_bytes_are_refused_by_name() {
        assert_eq!(Recording::parse(b"ELF".to_vec()).unwrap_err(), FormatError::Magic);
        let mut wrong = by_hand();
        wrong[8] = 77;
        let error = Recording::parse(wrong).unwrap_err();
        assert_eq!(error, FormatError::Operation { record: 0, at: 8, number: 77 });
    }

    /// An endless stream that says how much of it was asked for.
    struct Endless<'a>(&'a [u8], u8, u64);

    impl Read for Endless<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                to.fill(self.1);
                self.2 += to.len() as u64;
                return Ok(to.len());
            }
            self.0.read(to)
        }
    }

    #[test]
    fn endless_stream_is_refused_at_its_first_wrong_record() {
        let mut zeros = Endless(b"", 0, 0);
        let error = Recording::read(&mut zeros, u64::MAX).unwrap_err();
        assert!(matches!(error, ReadError::Format(FormatError::Magic)), "{error}");
        assert!(zeros.2 <= 1 << 16, "{} bytes were read", zeros.2);
        let whole = by_hand();
        let wrong = [
            (0, FormatError::Operation { record: 2, at: 59, number: 0 }),
            (1, FormatError::Header { record: 2, at: 59 }),
        ];
        for (fill, expected) in wrong {
            let mut stream = Endless(&whole, fill, 0);
            let error = Recording::read(&mut stream, u64::MAX).unwrap_err();
            assert!(matches!(&error, ReadError::Format(error) if *error == expected), "{error}");
            assert!(stream.2 <= 1 << 16, "{} bytes were read", stream.2);
        }
    }

    #[test]
    fn payload_beyond_the_limit_is_refused_before_it_comes() {
        let mut file = b"TTREC01\n".to_vec();
        file.extend([6, 0, 0, 0, 1, 0, 0, 0x40]);
        file.extend([0; 16]);
        let expected = FormatError::Payload { record: 0, at: 8, size: (1 << 30) + 1 };
        assert_eq!(Recording::parse(file.clone()).unwrap_err(), expected);
        // The limit itself is a host that was killed while it wrote.
        file[12] = 0;
        let cut = Recording::parse(file).unwrap();
        assert_eq!((cut.len(), cut.is_complete()), (0, false));
    }

    #[test]
    fn stream_in_pieces_of_any_size_is_the_same_recording() {
        struct Pieces<'a>(&'a [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                let size = self.1.min(to.len());
                self.0.read(&mut to[..size])
            }
        }
        let whole = by_hand();
        for size in 1..whole.len() {
            let read = Recording::read(Pieces(&whole, size), 59).unwrap();
            assert!(read.is_complete() && read.len() == 2, "pieces of {size}");
            assert_eq!(read.record(1).bytes, [0xAA, 0xBB, 0xCC], "pieces of {size}");
            let counts = count(Pieces(&whole, size)).unwrap();
            let expected = Op::ALL.map(|op| u64::from(matches!(op, Op::Clock | Op::MemRead)));
            assert_eq!(counts, expected, "pieces of {size}");
            let error = Recording::read(Pieces(&whole, size), 58).unwrap_err();
            assert!(matches!(error, ReadError::TooLarge { limit: 58 }), "{error}");
        }
    }
}
