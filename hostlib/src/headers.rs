//! The headers of a recording, found in bytes as they come.
//!
//! Nothing is kept but one header: what is no recording is refused at its first wrong byte, however
//! long it goes on.

use crate::recording::{FormatError, HEADER_BYTES, MAGIC, MAX_PAYLOAD_BYTES, Op};

/// Where in a recording the bytes have come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers {
    /// Bytes of the magic and of whole headers and payloads.
    at: u64,
    /// Whole records.
    records: u64,
    /// What has come of the magic or of a header.
    part: [u8; HEADER_BYTES],
    have: usize,
    /// The record whose payload is under way.
    open: Option<Open>,
    magic: bool,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    op: Op,
    size: u64,
    left: u64,
}

impl Headers {
    /// Takes the next bytes; `found` gets the operation and the place of each record that is whole.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        found: &mut impl FnMut(Op, u64),
    ) -> Result<(), FormatError> {
        loop {
            if let Some(open) = &mut self.open {
                let taken = bytes.len().min(usize::try_from(open.left).unwrap_or(usize::MAX));
                open.left -= taken as u64;
                bytes = &bytes[taken..];
                if open.left > 0 {
                    return Ok(());
                }
                found(open.op, self.at);
                self.at += HEADER_BYTES as u64 + open.size;
                self.records += 1;
                self.open = None;
            }
            let wanted = if self.magic { HEADER_BYTES } else { MAGIC.len() };
            let taken = bytes.len().min(wanted - self.have);
            self.part[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            bytes = &bytes[taken..];
            if !self.magic && self.part[..self.have] != MAGIC[..self.have] {
                return Err(FormatError::Magic);
            }
            if self.have < wanted {
                return Ok(());
            }
            self.have = 0;
            if self.magic {
                self.open = Some(self.checked()?);
            } else {
                self.magic = true;
                self.at = MAGIC.len() as u64;
            }
        }
    }

    fn checked(&self) -> Result<Open, FormatError> {
        let (record, at) = (self.records, self.at);
        let [number, z1, z2, z3, s0, s1, s2, s3, ..] = self.part;
        let op = Op::from_number(number).ok_or(FormatError::Operation { record, at, number })?;
        if [z1, z2, z3] != [0; 3] {
            return Err(FormatError::Header { record, at });
        }
        let size = u64::from(u32::from_le_bytes([s0, s1, s2, s3]));
        let size = if op.has_payload() { size } else { 0 };
        if matches!(op, Op::ConfigRead | Op::ConfigWrite) && size != 4 {
            return Err(FormatError::ConfigSize { record, at, size });
        }
        if size > MAX_PAYLOAD_BYTES {
            return Err(FormatError::Payload { record, at, size });
        }
        Ok(Open { op, size, left: size })
    }

    /// The last bytes have come: whether they end with a record.
    ///
    /// # Errors
    /// There were fewer than the magic has.
    pub(crate) fn end(&self) -> Result<bool, FormatError> {
        if !self.magic {
            return Err(FormatError::Magic);
        }
        Ok(self.have == 0 && self.open.is_none())
    }
}
