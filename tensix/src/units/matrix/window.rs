//! The TRISCs' window onto Dst, with its conversions.
//!
//! Source: `[isa-bh: TensixCoprocessor/Dst.md]`. Rows that are not valid read as zero there too
//! [unknown: U-060]; storing makes a row valid.

use isa::config::{ConfigField, field};
use sim_core::{ThreadId, Width};

use crate::error::DoorError;
use crate::state::dst::{
    DST_COLUMNS, DST_ROWS, Dst, DstMap, decode_bf16, decode_fp16, decode_fp32, encode_bf16,
    encode_fp16, encode_fp32,
};
use crate::units::config::ConfigUnit;

/// `no_swizzle`, `unsigned_int` and `fmt` of each thread.
const CONTROLS: [[ConfigField; 3]; 3] = [
    [
        field::RISC_DEST_ACCESS_CTRL_SEC0_no_swizzle,
        field::RISC_DEST_ACCESS_CTRL_SEC0_unsigned_int,
        field::RISC_DEST_ACCESS_CTRL_SEC0_fmt,
    ],
    [
        field::RISC_DEST_ACCESS_CTRL_SEC1_no_swizzle,
        field::RISC_DEST_ACCESS_CTRL_SEC1_unsigned_int,
        field::RISC_DEST_ACCESS_CTRL_SEC1_fmt,
    ],
    [
        field::RISC_DEST_ACCESS_CTRL_SEC2_no_swizzle,
        field::RISC_DEST_ACCESS_CTRL_SEC2_unsigned_int,
        field::RISC_DEST_ACCESS_CTRL_SEC2_fmt,
    ],
];

/// Shapes and conversions, by `fmt`.
const FP32: u32 = 0;
const INT32: u32 = 1;
const FP16: u32 = 2;
const BF16: u32 = 3;
const INT16: u32 = 4;
const INT8: u32 = 5;

/// How one thread sees Dst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub(crate) raw: bool,
    pub(crate) unsigned: bool,
    pub(crate) format: u32,
    pub(crate) map: DstMap,
}

impl Window {
    /// Bytes of a datum; `None` for a reserved format.
    const fn datum_bytes(self) -> Option<u32> {
        match self.format {
            FP32 | INT32 => Some(4),
            FP16 | BF16 | INT16 => Some(2),
            INT8 => Some(1),
            _ => None,
        }
    }

    /// Datum `index`, counted in row-major order; `None` beyond the end of Dst.
    pub(crate) fn load(self, dst: &Dst, index: u32) -> Option<u32> {
        let (row, column) = (index / 16, index as usize % DST_COLUMNS);
        if row as usize >= DST_ROWS {
            return None;
        }
        if self.datum_bytes() == Some(4) {
            let stored = dst.read32(self.map, row)[column];
            return Some(self.word_of(stored));
        }
        let stored = dst.read16(self.map, row)[column];
        Some(if self.format == INT8 {
            u32::from(self.byte_of(stored))
        } else {
            self.half_of(stored)
        })
    }

    /// Stores datum `index`; whether it exists.
    pub(crate) fn store(self, dst: &mut Dst, index: u32, value: u32) -> bool {
        let (row, column) = (index / 16, index as usize % DST_COLUMNS);
        if row as usize >= DST_ROWS {
            return false;
        }
        match self.format {
            FP32 | INT32 => dst.set32(self.map, row, column, self.stored_word(value)),
            INT8 => dst.set16(self.map, row, column, self.stored_byte(value as u8)),
            _ => dst.set16(self.map, row, column, self.stored_half(value as u16)),
        }
        true
    }

    /// How `thread` sees Dst now.
    pub(crate) fn of(config: &ConfigUnit, thread: ThreadId) -> Self {
        let state = &config.states[config.state_id(thread.index())];
        let [raw, unsigned, format] = &CONTROLS[thread.index()];
        Self {
            raw: raw.get(state) != 0,
            unsigned: unsigned.get(state) != 0,
            format: format.get(state),
            map: DstMap::of(state),
        }
    }

    /// Datums of an access: index of the first, bytes each, how many. Only T2 can access several.
    fn span(
        self,
        thread: ThreadId,
        offset: u32,
        width: Width,
    ) -> Result<(u32, u32, u32), DoorError> {
        let format = self.format as u8;
        let bytes = self.datum_bytes().ok_or(DoorError::DstFormat { format, width })?;
        let count = width.bytes() / bytes;
        if count == 0 || (count > 1 && thread != ThreadId::T2) {
            return Err(DoorError::DstFormat { format, width });
        }
        Ok((offset / bytes, bytes, count))
    }

    /// A load of `thread`, `offset` bytes from the window's start.
    pub(crate) fn read(
        self,
        dst: &Dst,
        thread: ThreadId,
        offset: u32,
        width: Width,
    ) -> Result<u32, DoorError> {
        let (first, bytes, count) = self.span(thread, offset, width)?;
        let mut value = 0;
        for i in 0..count {
            let datum = self.load(dst, first + i);
            value |= datum.ok_or(DoorError::NoDstDatum(offset))? << (8 * bytes * i);
        }
        Ok(value)
    }

    /// A store of `thread`, `offset` bytes from the window's start.
    pub(crate) fn write(
        self,
        dst: &mut Dst,
        (thread, offset): (ThreadId, u32),
        value: u32,
        width: Width,
    ) -> Result<(), DoorError> {
        let (first, bytes, count) = self.span(thread, offset, width)?;
        for i in 0..count {
            if !self.store(dst, first + i, value >> (8 * bytes * i)) {
                return Err(DoorError::NoDstDatum(offset));
            }
        }
        Ok(())
    }

    fn word_of(self, stored: u32) -> u32 {
        let value = if self.raw { stored } else { decode_fp32(stored) };
        if self.format == INT32 && !self.raw && value >> 31 != 0 {
            (value & 0x7FFF_FFFF).wrapping_neg()
        } else {
            value
        }
    }

    fn stored_word(self, value: u32) -> u32 {
        let value = if self.format == INT32 && !self.raw && value >> 31 != 0 {
            // The most negative number is clamped.
            0x8000_0000 | value.max(0x8000_0001).wrapping_neg()
        } else {
            value
        };
        if self.raw { value } else { encode_fp32(value) }
    }

    fn half_of(self, stored: u16) -> u32 {
        u32::from(match self.format {
            _ if self.raw => stored,
            FP16 => decode_fp16(stored),
            BF16 => decode_bf16(stored),
            _ if !self.unsigned && stored >> 15 != 0 => (stored & 0x7FFF).wrapping_neg(),
            _ => stored,
        })
    }

    fn stored_half(self, value: u16) -> u16 {
        match self.format {
            _ if self.raw => value,
            FP16 => encode_fp16(value),
            BF16 => encode_bf16(value),
            _ if !self.unsigned && value >> 15 != 0 => 0x8000 | value.max(0x8001).wrapping_neg(),
            _ => value,
        }
    }

    fn byte_of(self, stored: u16) -> u8 {
        let magnitude = (stored >> 5) as u8;
        if self.raw || self.unsigned {
            magnitude
        } else if stored >> 15 != 0 {
            (magnitude & 0x7F).wrapping_neg()
        } else {
            magnitude & 0x7F
        }
    }

    /// Negative bytes are converted as hardware does, which is not two's complement to
    /// sign-magnitude.
    fn stored_byte(self, value: u8) -> u16 {
        let field = |magnitude: u8, exponent| u16::from(magnitude) << 5 | exponent;
        if self.raw || self.unsigned || value < 0x80 {
            return field(value, if value == 0 { 0 } else { 16 });
        }
        let magnitude = 0x80u8.wrapping_sub(value).wrapping_sub(u8::from(value == 0x80));
        0x8000 | field(magnitude, 16)
    }
}
