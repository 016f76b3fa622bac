//! Address generation: where in L1 the datums are, and where in the register files they go.
//!
//! Positions in L1 are kept in bits, because datums can be smaller than a byte; positions in an
//! exponent section in sixteenths of a byte, because 16 datums share one.
//!
//! Sources: `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`, `[spec: numerics 2]`.

use sim_core::l1::L1_BYTES;

use super::format::{self, code};
use super::settings::{Fifo, Settings};
use crate::checks::Check;
use crate::env::Env;
use crate::state::adc::{Adc, ThreadAdcs};
use crate::units::{Fault, Issued};

/// Datums between two RLE blocks of compressed data, and the bits of such a block.
const RLE_DATUMS: u64 = 32;
const RLE_BLOCK_BITS: u64 = RLE_DATUMS * 4;

/// Where an `UNPACR` reads, and how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Input {
    /// First datum, in bits.
    pub(crate) datums: u64,
    /// First exponent, in sixteenths of a byte; `None` if the register gives it.
    pub(crate) exponents: Option<u64>,
    /// First RLE value in bits, for compressed data.
    pub(crate) deltas: Option<u64>,
    /// Datums to read; for part of a compressed row no limit.
    pub(crate) count: u32,
    /// Outputs to drop at the start.
    pub(crate) drop: u32,
    /// Outputs to produce at most.
    pub(crate) keep: u32,
}

impl Fifo {
    /// An address after wrapping, in units of `1 / per_byte` byte.
    #[inline]
    pub(crate) const fn wrap(self, address: u64, per_byte: u64) -> u64 {
        if address > self.limit * per_byte {
            address.wrapping_sub(self.size * per_byte)
        } else {
            address
        }
    }
}

/// Reads a byte of L1.
///
/// # Errors
/// `UndefinedBehavior` beyond the end of L1.
pub(crate) fn read_byte<E: Env>(issued: &Issued, env: &E, address: u64) -> Result<u8, Fault> {
    if address >= u64::from(L1_BYTES) {
        return outside(issued, address).map(|()| 0);
    }
    let address = address as u32;
    Ok((env.l1_word(address) >> (8 * (address & 3))) as u8)
}

/// A read at `address`, which is beyond the end of L1.
#[cold]
pub(crate) fn outside(issued: &Issued, address: u64) -> Result<(), Fault> {
    issued.refuse(
        Check::UnpackAddress,
        format!("unpacker reads address {address:#x}, beyond the end of L1"),
    )
}

const fn round_up_16(bytes: u64) -> u64 {
    bytes.next_multiple_of(16)
}

impl Settings {
    /// Where to read.
    ///
    /// # Errors
    /// `UndefinedBehavior` for counts below zero, blobs that do not exist, and row starts outside
    /// L1.
    pub(crate) fn input<E: Env>(
        &self,
        issued: &Issued,
        row_search: bool,
        adcs: &[ThreadAdcs; 3],
        env: &E,
    ) -> Result<Input, Fault> {
        let xy = &adcs[self.adc].0[self.unpacker];
        let zw = &adcs[issued.thread.index()].0[self.unpacker];
        let descriptor = &self.descriptor;
        let (z_dim, w_dim) = (u64::from(descriptor.z_dim()), u64::from(descriptor.w_dim()));
        let header = self.base.wrapping_add(1).wrapping_add(descriptor.digest_size());
        let mut at = u64::from(header.wrapping_mul(16));
        let row_starts = at;
        if !self.uncompressed {
            let blobs = descriptor.blobs_per_plane();
            let rows = if blobs == 0 { descriptor.y_dim() } else { blobs };
            at += round_up_16((u64::from(rows) * z_dim * w_dim + 1) * 2);
        }
        let exponent_section = at;
        let reads_exponents = self.is_bfp && self.forced_exponent.is_none();
        if reads_exponents && self.has_exponent_section {
            let planes = u64::from(descriptor.y_dim()) * z_dim * w_dim;
            at += round_up_16((u64::from(self.x_dim) * planes).div_ceil(16));
        }
        // Of these two counters only eight bits arrive here [isa-wh: ADCs.md].
        let plane = u64::from(zw[0].w.value & 0xFF) * z_dim + u64::from(zw[0].z.value & 0xFF);
        let (first, count, drop, keep) = if self.uncompressed {
            let (x, y, end) = self.extent(issued, row_search, xy)?;
            let first = (plane * u64::from(descriptor.y_dim()) + y) * u64::from(self.x_dim) + x;
            (first, self.count(issued, end, x)?, 0, u32::MAX)
        } else {
            self.compressed_extent(issued, row_search, xy, (row_starts, plane), env)?
        };
        Ok(self.positions(
            at,
            first,
            reads_exponents.then_some(exponent_section),
            (count, drop, keep),
        ))
    }

    /// The positions of datum `first` of a section that starts at byte `at`.
    fn positions(
        &self,
        at: u64,
        first: u64,
        exponents: Option<u64>,
        (count, drop, keep): (u32, u32, u32),
    ) -> Input {
        let bits = u64::from(self.datum_bits);
        let (datums, deltas) = if self.uncompressed {
            (at * 8 + first * bits, None)
        } else {
            let block = at * 8 + first / RLE_DATUMS * (RLE_DATUMS * bits + RLE_BLOCK_BITS);
            let inside = first % RLE_DATUMS;
            (block + inside * bits, Some(block + RLE_DATUMS * bits + inside * 4))
        };
        Input {
            datums: self.fifo.wrap(datums, 8),
            exponents: exponents.map(|at| self.fifo.wrap(at * 16 + first, 16)),
            deltas: deltas.map(|at| self.fifo.wrap(at, 8)),
            count,
            drop,
            keep,
        }
    }

    /// First X, Y and end of X of uncompressed data.
    fn extent(
        &self,
        issued: &Issued,
        row_search: bool,
        adc: &Adc,
    ) -> Result<(u64, u64, u64), Fault> {
        let (x, y, end) = (adc[0].x.value, adc[0].y.value, adc[1].x.value);
        if !row_search {
            return Ok((u64::from(x), u64::from(y), u64::from(end) + 1));
        }
        let blobs = self.descriptor.blobs_per_plane();
        if blobs == 0 {
            return Ok((0, u64::from(y), u64::from(end)));
        }
        let start = |blob: u32| u64::from(self.blobs_y_start >> (4 * blob) & 0xF) << 4;
        let next = (x & 7) + 1;
        let end = if next == blobs {
            u64::from(self.x_dim & 0x1F0)
        } else if next < 8 {
            start(next)
        } else {
            issued.refuse(Check::UnpackBlob, "blob 8; there are eight")?;
            start(0)
        };
        Ok((start(y & 7), 0, end))
    }

    fn count(&self, issued: &Issued, end: u64, x: u64) -> Result<u32, Fault> {
        match end.checked_sub(x) {
            Some(count) => Ok(count as u32),
            None => {
                let text = format!("the row ends at datum {end}, before it begins at {x}");
                issued.refuse(Check::UnpackCount, text).map(|()| 0)
            }
        }
    }

    /// First datum, datums to read, outputs to drop and outputs to keep of a compressed row.
    fn compressed_extent<E: Env>(
        &self,
        issued: &Issued,
        row_search: bool,
        adc: &Adc,
        (row_starts, plane): (u64, u64),
        env: &E,
    ) -> Result<(u64, u32, u32, u32), Fault> {
        let (x, y, end) = (adc[0].x.value, adc[0].y.value, adc[1].x.value);
        let blobs = self.descriptor.blobs_per_plane();
        let rows = if row_search && blobs != 0 { blobs } else { self.descriptor.y_dim() };
        let first_row = row_starts + plane * u64::from(rows) * 2;
        let start = |row: u32| -> Result<u64, Fault> {
            let at = first_row + u64::from(row) * 2;
            let low = read_byte(issued, env, at)?;
            let high = read_byte(issued, env, at + 1)?;
            Ok(u64::from(u16::from_le_bytes([low, high])))
        };
        let first = start(y & 0xFF)?;
        let whole_rows = |last: u32| -> Result<(u64, u32, u32, u32), Fault> {
            Ok((first, self.count(issued, start(last + 1)?, first)?, 0, u32::MAX))
        };
        if row_search {
            whole_rows(x & 0xFF)
        } else if x == 0 && u64::from(end) + 1 == u64::from(self.x_dim) {
            whole_rows(y & 0xFF)
        } else {
            let keep = self.count(issued, u64::from(end) + 1, u64::from(x))?;
            Ok((first, u32::MAX, x, keep))
        }
    }

    /// Where to write: index of the first datum, 16 to a row.
    ///
    /// # Errors
    /// `UndefinedBehavior` for an address that is not aligned to the output format.
    pub(crate) fn output(&self, issued: &Issued, adcs: &[ThreadAdcs; 3]) -> Result<u32, Fault> {
        let counters = &adcs[issued.thread.index()].0[self.unpacker][1];
        let [y, z, w] = self.output_strides;
        let address = self
            .output_base
            .wrapping_add(counters.y.value.wrapping_mul(y))
            .wrapping_add(counters.z.value.wrapping_mul(z))
            .wrapping_add(counters.w.value.wrapping_mul(w));
        let shift = match self.output_format {
            format if format::is_wide(format) => 2,
            code::FP16 | code::BF16 | code::INT16 => 1,
            _ => 0,
        };
        let own = || {
            if address & ((1 << shift) - 1) == 0 {
                return Ok(address >> shift);
            }
            let bytes = 1 << shift;
            let text = format!("output address {address:#x} is not a multiple of {bytes} bytes");
            issued.refuse(Check::UnpackAlignment, text).map(|()| address >> shift)
        };
        match self.context_output {
            Some((context, false)) => Ok(context),
            Some((context, true)) => Ok(own()?.wrapping_add(context)),
            None => own(),
        }
    }
}
