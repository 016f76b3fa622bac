//! Input address generator: which datums an instruction reads, and what that does to channel 0
//! of the address counters.
//!
//! Source: `[isa-bh: TensixCoprocessor/PACR.md]`,
//! `[isa-wh: TensixCoprocessor/Packers/InputAddressGenerator.md]`.

use isa::config::field;

use super::formats;
use super::settings::Settings;
use crate::state::adc::{Adc, Channel, Dimension};
use crate::state::dst::{self, DST_COLUMNS, DST_ROWS, Dst};
use crate::units::config::ConfigUnit;

use super::early::Row;

/// First word of `ADDR_MOD_PACK_SEC`, four of them.
const ADDR_MODS: usize = field::ADDR_MOD_PACK_SEC0_YsrcIncr.addr32 as usize;

/// Byte address that the counters of channel 0 make.
#[inline]
pub(crate) const fn byte_address(words: &[u32], channel: &Channel) -> u32 {
    let x_stride = field::PCK0_ADDR_CTRL_XY_REG_0_Xstride.get(words) & 0xF;
    let y_stride = field::PCK0_ADDR_CTRL_XY_REG_0_Ystride.get(words);
    let z_stride = field::PCK0_ADDR_CTRL_ZW_REG_0_Zstride.get(words);
    let w_stride = field::PCK0_ADDR_CTRL_ZW_REG_0_Wstride.get(words);
    field::PCK0_ADDR_BASE_REG_0_Base
        .get(words)
        .wrapping_add(channel.x.value.wrapping_mul(x_stride))
        .wrapping_add(channel.y.value.wrapping_mul(y_stride))
        .wrapping_add(channel.z.value.wrapping_mul(z_stride))
        .wrapping_add(channel.w.value.wrapping_mul(w_stride))
}

/// First datum in Dst: row and column.
#[inline]
pub(crate) const fn dst_start(settings: &Settings<'_>, channel: &Channel) -> (u32, usize) {
    let shift = formats::input_shift(settings.in_format());
    let within = 15 >> shift;
    let address = byte_address(settings.words(), channel);
    let datum = ((address >> shift) & !within)
        .wrapping_add(channel.x.value & within)
        .wrapping_add(settings.dest_offset() << 4);
    ((datum & 0x3FFF) >> 4, (datum & 15) as usize)
}

/// First datum in L1: byte address, and bytes per datum.
pub(crate) const fn l1_start(settings: &Settings<'_>, channel: &Channel) -> (u32, u32) {
    let shift = formats::input_shift(settings.in_format());
    let bytes = 1 << shift;
    let low = byte_address(settings.words(), channel) & 0x3_FFFF;
    let address = (settings.l1_source() << 18 | low) & !15;
    ((address + bytes * (channel.x.value & (15 >> shift))) & 0x1F_FFFF, bytes)
}

/// Datums that the X counters select: channel 0 first, channel 1 last.
#[inline]
pub(crate) const fn datum_count(adc: &Adc) -> u32 {
    adc[1].x.value.wrapping_sub(adc[0].x.value).wrapping_add(1)
}

/// Rows of Dst that the enabled interfaces read, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interfaces {
    pub(crate) rows: [u16; 4],
    pub(crate) count: u8,
}

impl Interfaces {
    /// Rows for interfaces `mask` (not 0) from `start` on: adjacent ones, or in strided mode 16
    /// apart with `DEST_ACCESS_CFG_remap_addrs` and 8 apart without. Both mean physical rows 8
    /// apart, as `[llk: assembly.yaml]` draws them.
    ///
    /// Rows count from `start` on. The Blackhole page calls it undefined when adjacent rows then
    /// leave the aligned group of four; vectors show that they are read all the same.
    #[inline]
    pub(crate) const fn new(start: u32, mask: u32, strided: bool, remap: bool) -> Self {
        let step = match (strided, remap) {
            (false, _) => 1,
            (true, false) => 8,
            (true, true) => 16,
        };
        let (mut rows, mut count, mut interface) = ([0; 4], 0, 0);
        while interface < 4 {
            if mask >> interface & 1 != 0 {
                rows[count as usize] = ((start + step * interface) % DST_ROWS as u32) as u16;
                count += 1;
            }
            interface += 1;
        }
        Self { rows, count }
    }
}

/// How rows map to cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct View {
    pub(crate) wide: bool,
    pub(crate) remap: bool,
    pub(crate) swizzle: bool,
}

impl View {
    #[inline]
    pub(crate) const fn new(words: &[u32], wide: bool) -> Self {
        Self {
            wide,
            remap: field::DEST_ACCESS_CFG_remap_addrs.get(words) != 0,
            swizzle: field::DEST_ACCESS_CFG_swizzle_32b.get(words) != 0,
        }
    }

    /// Cells of a 16-bit row as stored; zero if not valid.
    #[inline]
    pub(crate) fn read16(self, dst: &Dst, row: u32) -> [u16; DST_COLUMNS] {
        let physical = dst::adj16(row % DST_ROWS as u32, self.remap);
        if dst.is_valid(physical) {
            dst.cells[physical as usize % DST_ROWS]
        } else {
            [0; DST_COLUMNS]
        }
    }

    /// Whether a row is valid.
    pub(crate) fn is_valid(self, dst: &Dst, row: u32) -> bool {
        dst.is_valid(self.physical(row % DST_ROWS as u32))
    }

    /// The physical row of a row, or of its high half.
    #[inline]
    fn physical(self, row: u32) -> u32 {
        if self.wide {
            dst::adj32(row, self.remap, self.swizzle)
        } else {
            dst::adj16(row, self.remap)
        }
    }

    /// Cells of a row as stored, 32-bit ones with their high half on top; zero if not valid.
    #[inline]
    pub(crate) fn read(self, dst: &Dst, row: u32) -> Row {
        let physical = self.physical(row % DST_ROWS as u32);
        let mut cells = [0; DST_COLUMNS];
        if !dst.is_valid(physical) {
            return cells;
        }
        let high = &dst.cells[physical as usize % DST_ROWS];
        if self.wide {
            let low = &dst.cells[(physical as usize + 8) % DST_ROWS];
            for ((cell, &high), &low) in cells.iter_mut().zip(high).zip(low) {
                *cell = u32::from(high) << 16 | u32::from(low);
            }
        } else {
            for (cell, &bits) in cells.iter_mut().zip(high) {
                *cell = u32::from(bits);
            }
        }
        cells
    }
}

/// Advances Y and Z of both channels as address modifier `index` of `thread` says.
#[inline]
pub(crate) fn advance(adc: &mut Adc, config: &ConfigUnit, thread: usize, index: u32) {
    let modifier = u32::from(config.threads[thread][ADDR_MODS + (index & 3) as usize]);
    let [source, dest] = adc;
    advance_channel(source, modifier & 0x3F, modifier >> 12 & 3);
    advance_channel(dest, modifier >> 6 & 0x3F, modifier >> 14 & 3);
}

/// `y`: increment 3:0, use carriage return 4, clear 5. `z`: increment 0, clear 1.
#[inline]
const fn advance_channel(channel: &mut Channel, y: u32, z: u32) {
    if y & 0x20 != 0 {
        channel.set(Dimension::Y, 0);
    } else if y & 0x10 != 0 {
        channel.add_cr(Dimension::Y, y & 0xF);
    } else {
        channel.add(Dimension::Y, y & 0xF);
    }
    if z & 2 != 0 {
        channel.set(Dimension::Z, 0);
    } else {
        channel.add(Dimension::Z, z & 1);
    }
}
