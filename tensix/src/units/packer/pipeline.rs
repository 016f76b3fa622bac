//! One `PACR` through the stages.
//!
//! Source: `[isa-bh: TensixCoprocessor/PACR.md]`, `[isa-wh: TensixCoprocessor/Packers/README.md]`;
//! zero writes and zero padding, `[llk: assembly.yaml]`.

use super::Packer;
use super::accumulate::Accumulate;
use super::compress::Group;
use super::early::{Early, Row, to_fp16};
use super::formats::{self, Class};
use super::input::{self, Interfaces, View};
use super::late::{self, Late};
use super::output::Port;
use super::position::{self, TilePosition};
use super::settings::Settings;
use super::stages::{ExponentOf, Relu, Threshold};
use crate::checks::Check;
use crate::env::Env;
use crate::state::adc::Adc;
use crate::state::dst::Dst;
use crate::units::config::ConfigUnit;
use crate::units::{Fault, Issued};
use isa::config::field;
use isa::operands::Pacr;

/// An instruction on its way through the packer.
pub(crate) struct Pass<'a, 'c, E> {
    packer: &'a mut Packer,
    issued: &'a Issued,
    fields: Pacr,
    settings: Settings<'c>,
    config: &'c ConfigUnit,
    port: Port<'a, E>,
    late: Late,
    accumulate: Option<Accumulate>,
    /// Planes that this instruction completed.
    planes: u8,
}

impl<'a, 'c, E: Env> Pass<'a, 'c, E> {
    /// Prepares the way from the late conversion on.
    pub(crate) fn new(
        packer: &'a mut Packer,
        issued: &'a Issued,
        fields: Pacr,
        settings: Settings<'c>,
        config: &'c ConfigUnit,
        env: &'a mut E,
    ) -> Result<Self, Fault> {
        let late = Late::choose(&settings).ok_or_else(|| no_conversion(issued, &settings))?;
        let accumulate = if settings.accumulates() {
            let format = settings.out_format();
            let accumulate = Accumulate::choose(format);
            if accumulate.is_none() {
                let text = format!("PACR accumulates onto L1 in output format {format}");
                issued.refuse(Check::PackAccumulate, text)?;
            }
            accumulate
        } else {
            None
        };
        if settings.start_interface() != 0 {
            issued.refuse(Check::PackStart, "PACR with pack_start_intf_pos set")?;
        }
        let port = Port { env, at: issued.stamp(), blocks: 0, outside: None };
        Ok(Self { packer, issued, fields, settings, config, port, late, accumulate, planes: 0 })
    }

    /// Reads and packs the instruction's datums.
    pub(crate) fn datums(&mut self, adc: &Adc, dst: &Dst) -> Result<(), Fault> {
        let count = input::datum_count(adc);
        if self.fields.zero_write {
            return self.zeroes(count);
        }
        if self.settings.reads_l1() {
            return self.read_l1(adc, count);
        }
        let (start, column) = input::dst_start(&self.settings, &adc[0]);
        if count == 0 || count as usize + column > 16 {
            let text = format!("PACR of {count} datums per row from column {column} on");
            self.issued.refuse(Check::PackRow, text)?;
        }
        self.read_dst(start, column, (count as usize).min(16 - column), dst)
    }

    /// Enabled interfaces: none means all; the last instruction of a plane enables only as many
    /// as there are rows left, if configured.
    fn interface_mask(&self) -> u32 {
        if self.settings.selects_last_interfaces() {
            let rows = self.settings.rows_per_plane();
            let left = rows.wrapping_sub(u32::from(self.packer.position.inner));
            if (1..4).contains(&left) {
                return (1 << left) - 1;
            }
        }
        match self.fields.read_intf_sel {
            0 => 0xF,
            mask => mask,
        }
    }

    fn read_dst(
        &mut self,
        start: u32,
        column: usize,
        count: usize,
        dst: &Dst,
    ) -> Result<(), Fault> {
        let settings = self.settings;
        let words = settings.words();
        let (_, z) = self.packer.position.yz(0, &settings);
        let early = Early::choose(&settings, settings.z_offset() + z)
            .ok_or_else(|| no_conversion(self.issued, &settings))?;
        let stages = Stages::choose(&settings, early, self.config, self.issued)?;
        let mask = self.interface_mask();
        let strided = self.fields.dst_access_mode;
        let view = View::new(words, early.is_wide());
        let interfaces = Interfaces::new(start, mask, strided, view.remap);
        for ahead in 0..interfaces.count {
            let mut row = view.read(dst, u32::from(interfaces.rows[usize::from(ahead)]));
            if settings.dithers_cells() {
                self.packer.dither.cells(early, &mut row);
            }
            early.convert(&mut row);
            let edge = self.packer.position.edge_mask(ahead, &settings);
            if edge != 0xFFFF {
                position::apply(&mut row, edge, stages.masked);
            }
            stages.relu.apply(&mut row);
            if early == Early::Tf32ThenFp16 {
                row.iter_mut().for_each(|datum| *datum = to_fp16(*datum) << 16);
            }
            let selected = &row[column..column + count];
            self.packer.histogram.update(selected, stages.exponent, stages.bins);
            if let Some(threshold) = stages.threshold {
                threshold.apply(&mut row);
            }
            self.select(&row[column..column + count]);
        }
        self.planes += u8::from(self.packer.position.advance(interfaces.count, &settings));
        Ok(())
    }

    /// Zeroes instead of datums: a row per interface, or with no interface named as many as the
    /// X counters say.
    fn zeroes(&mut self, count: u32) -> Result<(), Fault> {
        let interfaces = self.fields.read_intf_sel;
        if interfaces != 0 {
            if count > 16 {
                let text = format!("PACR writes {count} zeroes per interface");
                self.issued.refuse(Check::PackRow, text)?;
            }
            for _ in 0..interfaces.count_ones() {
                self.select(&[0; 16][..count.min(16) as usize]);
            }
            return Ok(());
        }
        // X counts 18 bits.
        let mut left = count & 0x7_FFFF;
        while left != 0 {
            let some = left.min(16);
            self.select(&[0; 16][..some as usize]);
            left -= some;
        }
        Ok(())
    }

    /// Datums from L1, which skip everything before downsampling. Interfaces are those of Dst;
    /// the datums are one contiguous run [unknown: U-047].
    fn read_l1(&mut self, adc: &Adc, count: u32) -> Result<(), Fault> {
        let (mut address, bytes) = input::l1_start(&self.settings, &adc[0]);
        let format = formats::per_datum(self.settings.in_format());
        let mut left = count & 0x7_FFFF;
        while left != 0 {
            let some = left.min(16);
            let mut row = [0; 16];
            for datum in &mut row[..some as usize] {
                let bits = self.port.env.l1_word(address) >> (8 * (address & 3));
                *datum = widen(bits << (32 - 8 * bytes), format);
                address = (address + bytes) & 0x1F_FFFF;
            }
            self.select(&row[..some as usize]);
            left -= some;
        }
        Ok(())
    }

    /// Downsampling and zero padding of one row.
    #[inline]
    fn select(&mut self, row: &[u32]) {
        let mask = self.settings.downsample_mask();
        let padding = self.padding();
        if mask == 0xFFFF && (padding != Padding::Rows || row.len() == 16) {
            self.pack(row);
            return;
        }
        let (mut kept, mut count) = ([0; 16], 0);
        for (index, &datum) in row.iter().enumerate() {
            if mask >> (index & 15) & 1 != 0 {
                kept[count & 15] = datum;
                count += 1;
            }
        }
        if padding == Padding::Rows {
            count = 16;
        }
        self.pack(&kept[..count.min(16)]);
    }

    fn padding(&self) -> Padding {
        let applies = match self.fields.row_pad_zero & 3 {
            0 => false,
            1 => true,
            2 => !self.fields.concat,
            _ => self.fields.last,
        };
        match (applies, self.fields.row_pad_zero >> 2) {
            (false, _) => Padding::None,
            (true, 0) => Padding::Rows,
            (true, _) => Padding::Total,
        }
    }

    /// Compression or not.
    #[inline]
    fn pack(&mut self, datums: &[u32]) {
        self.packer.datums = self.packer.datums.wrapping_add(datums.len() as u32);
        if !self.settings.compresses() {
            self.convert(datums);
            return;
        }
        if self.packer.compressor.is_new_tile() && !datums.is_empty() {
            self.packer.tile.all_zero = 0;
            self.packer.streams.row_starts.append(&[0, 0], None, &mut self.port);
        }
        for &datum in datums {
            if let Some(group) = self.packer.compressor.push(datum) {
                self.group(&group);
            }
        }
    }

    /// Writes a compressed group: all 32 datums, then their counts. Only blocks of 16 in use get
    /// an exponent.
    fn group(&mut self, group: &Group) {
        for (half, row) in group.datums.iter().enumerate() {
            let used = usize::from(group.count) > half * 16;
            let mut row = *row;
            self.late.convert(&mut row);
            let exponent = self.assemble(&mut row);
            if let (Some(exponent), true) = (exponent, used) {
                self.packer.streams.exponents.append(&[exponent], None, &mut self.port);
            }
            self.store(&row, 16);
        }
        let counts = group.counts();
        self.packer.streams.data.append(&counts, self.accumulate, &mut self.port);
    }

    /// Late conversion; block formats wait until they have 16 datums.
    #[inline]
    fn convert(&mut self, datums: &[u32]) {
        if !formats::is_block(self.settings.out_format()) {
            let mut row = [0; 16];
            row[..datums.len()].copy_from_slice(datums);
            self.late.convert(&mut row);
            self.store(&row, datums.len());
            return;
        }
        for &datum in datums {
            self.packer.block[usize::from(self.packer.blocked) & 15] = datum;
            self.packer.blocked += 1;
            if self.packer.blocked == 16 {
                self.block();
            }
        }
    }

    /// Writes a block with its exponent.
    fn block(&mut self) {
        let mut row = std::mem::take(&mut self.packer.block);
        self.packer.blocked = 0;
        self.late.convert(&mut row);
        if let Some(exponent) = self.assemble(&mut row) {
            self.packer.streams.exponents.append(&[exponent], None, &mut self.port);
        }
        self.store(&row, 16);
    }

    fn assemble(&mut self, row: &mut Row) -> Option<u8> {
        let format = self.settings.out_format();
        if !formats::is_block(format) {
            return None;
        }
        let five_bits = formats::per_datum(format) == formats::BFP8A;
        let own = self.settings.keeps_own_exponents();
        if self.settings.dithers_blocks() {
            self.packer.dither.block(row, five_bits, own);
        }
        Some(late::assemble(row, five_bits, own))
    }

    #[inline]
    fn store(&mut self, row: &Row, count: usize) {
        let mut bytes = [0; 64];
        let all = late::bytes(row, self.settings.out_format(), &mut bytes);
        let some = &bytes[..all * count / 16];
        self.packer.streams.data.append(some, self.accumulate, &mut self.port);
    }

    /// What follows the datums: padding, the end of a compression row, flushing. The planes that
    /// the instruction completed, and where it wanted to write beyond L1.
    pub(crate) fn finish(mut self) -> (u8, Option<u32>) {
        let short = self.packer.datums & 15;
        if !self.fields.flush && short != 0 && self.padding() == Padding::Total {
            self.pack(&[0; 16][short as usize..]);
        }
        let ends = self.fields.last || self.fields.flush;
        if ends || !self.fields.concat {
            self.end_row();
        }
        if ends {
            self.end_tile();
        }
        self.packer.written_blocks = self.port.blocks;
        self.packer.tile.size = self.packer.tile.size.wrapping_add(self.port.blocks);
        if self.fields.last {
            self.packer.position = TilePosition::default();
            self.packer.report_tile(&self.settings, self.issued.thread.index());
        } else if ends {
            self.packer.tile.size = 0;
        }
        (self.planes, self.port.outside)
    }

    fn end_row(&mut self) {
        let Some((end, group)) = self.packer.compressor.end_row() else { return };
        if let Some(group) = group {
            self.group(&group);
        }
        if end.all_zero && end.row < 32 && !self.settings.disables_zero_flags() {
            self.packer.tile.all_zero |= 1 << end.row;
        }
        let index = end.index.to_le_bytes();
        self.packer.streams.row_starts.append(&index, None, &mut self.port);
    }

    fn end_tile(&mut self) {
        if let Some(group) = self.packer.compressor.finish() {
            self.group(&group);
        }
        if self.packer.blocked != 0 {
            self.block();
        }
        let streams = &mut self.packer.streams;
        streams.row_starts.flush(None, &mut self.port);
        streams.exponents.flush(None, &mut self.port);
        streams.data.flush(self.accumulate, &mut self.port);
        self.packer.datums = 0;
    }
}

/// `RowPadZero`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Padding {
    None,
    /// Every row to 16 datums.
    Rows,
    /// What has been packed so far to a multiple of 16 datums.
    Total,
}

/// The stages between early conversion and downsampling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stages {
    /// What masked datums become.
    pub(crate) masked: u32,
    pub(crate) relu: Relu,
    pub(crate) exponent: ExponentOf,
    /// Whether the histogram's bins count.
    pub(crate) bins: bool,
    pub(crate) threshold: Option<Threshold>,
}

impl Stages {
    pub(crate) fn choose(
        settings: &Settings<'_>,
        early: Early,
        config: &ConfigUnit,
        issued: &Issued,
    ) -> Result<Self, Fault> {
        let words = settings.words();
        let intermediate = settings.intermediate();
        let class = early.class(intermediate);
        let relu = match Relu::choose(words) {
            Some(relu) => relu,
            None => {
                issued.refuse(Check::PackRelu, "PACR with a negative ReLU threshold")?;
                Relu::Zero
            }
        };
        let relu = match (class, relu) {
            (Class::Integer, Relu::Above(_) | Relu::Clamp(_)) => {
                issued.refuse(Check::PackRelu, "PACR applies a ReLU threshold to integers")?;
                Relu::Zero
            }
            // Unsigned bytes are never negative.
            _ if matches!(early, Early::Uint8(_) | Early::Low8) => Relu::Off,
            _ => relu,
        };
        let threshold = match Threshold::choose(settings) {
            Ok(threshold) => threshold,
            Err(()) => {
                let text = "PACR with an exponent threshold on BFP2a input";
                issued.refuse(Check::PackThreshold, text)?;
                None
            }
        };
        let mode = field::PCK_EDGE_MODE_mode.get(words) != 0;
        let masked = if mode { position::negative_infinity(class) } else { 0 };
        let exponent = if early == Early::Tf32ThenFp16 {
            ExponentOf::Five
        } else {
            ExponentOf::choose(class, intermediate)
        };
        let bins =
            (0..3).any(|thread| config.thread_field(thread, &field::ENABLE_ACC_STATS_Enable) != 0);
        Ok(Self { masked, relu, exponent, bins, threshold })
    }
}

/// A datum from L1, left-aligned, as intermediate datum: block formats give sign and magnitude,
/// their exponent is zero.
const fn widen(bits: u32, format: u8) -> u32 {
    match format {
        formats::BFP8 => bits & 0x8000_0000 | bits >> 8 & 0x7F_0000,
        formats::BFP8A => bits & 0x8000_0000 | bits >> 5 & 0x3F8_0000,
        _ => bits,
    }
}

#[cold]
fn no_conversion(issued: &Issued, settings: &Settings<'_>) -> Fault {
    let text = format!(
        "PACR has no conversion from Dst through format {} (In_data_format {}) to {}, destination \
         read control {:#x}",
        settings.intermediate(),
        settings.in_format(),
        settings.out_format(),
        settings.words()[field::PCK_DEST_RD_CTRL_Read_32b_data.addr32 as usize],
    );
    issued.error(Check::PackConversion, text)
}
