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
//! A record that runs past the end of the file ends the recording: its host was killed. The format
//! is that of the vendor-independent recordings this project is tested with
//! `[spec: host recordings 1]`.

use std::io::{self, Write};

/// The first eight bytes of a file.
pub const MAGIC: [u8; 8] = *b"TTREC01\n";
/// Bytes of a record before its payload.
pub const HEADER_BYTES: usize = 24;

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
        record: usize,
        /// Byte of the file.
        at: usize,
        /// What stands there.
        number: u8,
    },
    /// A configuration access that is not one word.
    #[error(
        "damaged recording: record {record} at byte {at} is a configuration access of {size} bytes instead of 4"
    )]
    ConfigSize {
        /// Number of the record.
        record: usize,
        /// Byte of the file.
        at: usize,
        /// Its payload in bytes.
        size: usize,
    },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    op: Op,
    at: usize,
    size: usize,
}

/// A whole recording in memory.
#[derive(Clone, Debug)]
pub struct Recording {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    complete: bool,
}

impl Recording {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// See [`FormatError`]. A file that ends within a record is a shorter recording, not an error.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, FormatError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(FormatError::Magic);
        }
        let mut entries = Vec::new();
        let mut at = MAGIC.len();
        while let Some(header) = bytes.get(at..at + HEADER_BYTES) {
            let record = entries.len();
            let op = Op::from_number(header[0]).ok_or(FormatError::Operation {
                record,
                at,
                number: header[0],
            })?;
            let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
            let size = if op.has_payload() { size } else { 0 };
            if bytes.len() - at - HEADER_BYTES < size {
                break;
            }
            if matches!(op, Op::ConfigRead | Op::ConfigWrite) && size != 4 {
                return Err(FormatError::ConfigSize { record, at, size });
            }
            entries.push(Entry { op, at, size });
            at += HEADER_BYTES + size;
        }
        let complete = at == bytes.len();
        Ok(Self { bytes, entries, complete })
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
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
        let entry = self.entries[index];
        let word = |from: usize| {
            let bytes = &self.bytes[entry.at + from..entry.at + from + 8];
            u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
        };
        let start = entry.at + HEADER_BYTES;
        Record {
            op: entry.op,
            a0: word(8),
            a1: word(16),
            bytes: &self.bytes[start..start + entry.size],
        }
    }

    /// All records in order.
    #[must_use]
    pub fn records(&self) -> impl DoubleEndedIterator<Item = Record<'_>> + ExactSizeIterator {
        (0..self.len()).map(|index| self.record(index))
    }
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
/// The output cannot be written, or the payload does not fit 32 bits of size.
pub fn write_record(out: &mut dyn Write, record: &Record<'_>) -> io::Result<()> {
    let bytes: &[u8] = if record.op.has_payload() { record.bytes } else { &[] };
    let size = u32::try_from(bytes.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "payload of 4 GiB or more"))?;
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
}
