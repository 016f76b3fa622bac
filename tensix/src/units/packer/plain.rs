//! The common `PACR`: whole rows of Dst, neither compressed nor padded, in one go.
//!
//! What the configuration asks for is worked out once per equal instruction and write of
//! configuration ([`Plan`]); then each row is read, converted and written in arrays of fixed length,
//! for the formats that kernels use most by a loop that does nothing else. Everything that is not
//! of this kind goes through [`super::pipeline`], which does the same with more questions; a test
//! compares the two.

use isa::config::field;
use isa::operands::Pacr;
use sim_core::ThreadId;

use super::accumulate::Accumulate;
use super::early::{Early, Row, to_fp16};
use super::formats;
use super::input::{self, Interfaces, View};
use super::late::{self, Late};
use super::output::Port;
use super::pipeline::Stages;
use super::position::{self, TilePosition};
use super::settings::Settings;
use super::stages::{ExponentOf, Relu};
use super::{Packer, outside};
use crate::env::Env;
use crate::state::adc::{PACKERS, ThreadAdcs};
use crate::state::dst::Dst;
use crate::units::config::ConfigUnit;
use crate::units::{Fault, Issued};

/// What one instruction does, as far as word and configuration decide it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    early: Early,
    late: Late,
    stages: Stages,
    view: View,
    /// Read interfaces, as a mask.
    interfaces: u32,
    /// No column of any row is masked.
    open: bool,
    out_format: u8,
    /// Blocks with five exponent bits.
    five_bits: bool,
    /// Datums of a block keep their own alignment.
    own_exponents: bool,
    /// What L1 adds them as.
    accumulate: Option<Accumulate>,
}

/// Word, thread and the generation of configuration that a plan is for.
pub(crate) type PlanKey = (u32, ThreadId, u64);

impl Plan {
    /// The plan for an instruction of the common kind; `None` for all others and for those that
    /// would be diagnosed.
    fn new(issued: &Issued, config: &ConfigUnit) -> Option<Self> {
        let fields = Pacr::of(issued.word);
        let settings = Settings::new(config, issued.thread.index(), fields.cfg_context);
        let words = settings.words();
        let is_plain = fields.ctxt_ctrl == 0
            && !fields.flush
            && !fields.zero_write
            && fields.row_pad_zero & 3 == 0
            && !settings.compresses()
            && !settings.reads_l1()
            && !settings.selects_last_interfaces()
            && settings.start_interface() == 0
            && !settings.dithers_cells()
            && !settings.dithers_blocks()
            && settings.downsample_mask() == 0xFFFF;
        if !is_plain {
            return None;
        }
        let early = Early::choose(&settings, 0)?;
        // Their shift may depend on the depth in the tile.
        if matches!(early, Early::Int8(_) | Early::Uint8(_)) {
            return None;
        }
        let stages = Stages::choose(&settings, early, config, issued).ok()?;
        let out_format = settings.out_format();
        let accumulate =
            if settings.accumulates() { Some(Accumulate::choose(out_format)?) } else { None };
        (stages.threshold.is_none() && !stages.bins).then_some(())?;
        Some(Self {
            early,
            late: Late::choose(&settings)?,
            stages,
            view: View::new(words, early.is_wide()),
            interfaces: if fields.read_intf_sel == 0 { 0xF } else { fields.read_intf_sel },
            open: settings.masks_nothing(),
            out_format,
            five_bits: formats::per_datum(out_format) == formats::BFP8A,
            own_exponents: settings.keeps_own_exponents(),
            accumulate,
        })
    }

    /// Whether datums only change their format, to one of `bytes` bytes per row: no mask, no ReLU,
    /// no blocks.
    fn only_converts(&self, bytes: usize) -> bool {
        self.open
            && self.stages.relu == Relu::Off
            && !formats::is_block(self.out_format)
            && formats::bytes_per_16(self.out_format) == bytes
    }
}

impl Packer {
    /// The plan for `issued`, if it is of the common kind.
    #[inline]
    pub(crate) fn plan(&mut self, issued: &Issued, config: &ConfigUnit) -> Option<Plan> {
        let key = (issued.word, issued.thread, config.forms);
        if let Some((known, plan)) = &self.plan
            && *known == key
        {
            debug_assert_eq!(Plan::new(issued, config), *plan);
            return *plan;
        }
        let plan = Plan::new(issued, config);
        self.plan = Some((key, plan));
        plan
    }

    /// Packs as planned. False if the counters or what is buffered make it another kind; nothing
    /// has happened then.
    ///
    /// # Errors
    /// `tensix-pack-address`: output beyond L1.
    pub(crate) fn pacr_planned<E: Env>(
        &mut self,
        plan: &Plan,
        issued: &Issued,
        config: &ConfigUnit,
        adcs: &mut [ThreadAdcs; 3],
        dst: &Dst,
        env: &mut E,
    ) -> Result<bool, Fault> {
        let fields = Pacr::of(issued.word);
        let thread = issued.thread.index();
        let settings = Settings::new(config, thread, fields.cfg_context);
        let adc = &mut adcs[counters_of(fields, thread)].0[PACKERS];
        let (start, column) = input::dst_start(&settings, &adc[0]);
        if input::datum_count(adc) != 16 || column != 0 || !self.is_aligned() {
            return Ok(false);
        }
        self.streams.begin(&settings, &adc[1], self.tile.dest_offset);
        let mut port = Port { env, at: issued.stamp(), blocks: 0, outside: None };
        let rows = Interfaces::new(start, plan.interfaces, fields.dst_access_mode, plan.view.remap);
        self.rows(plan, &settings, &rows, dst, &mut port);
        self.datums = self.datums.wrapping_add(16 * u32::from(rows.count));
        self.position.advance(rows.count, &settings);
        self.end(plan, fields, &settings, thread, &mut port);
        let beyond = port.outside;
        input::advance(adc, config, thread, fields.addr_mode);
        outside(issued, beyond)?;
        Ok(true)
    }

    /// Whether the next datum begins a block of 16 bytes and of 16 datums.
    fn is_aligned(&self) -> bool {
        self.streams.data.buffered == 0 && self.blocked == 0 && self.compressor.is_new_tile()
    }

    fn rows<E: Env>(
        &mut self,
        plan: &Plan,
        settings: &Settings<'_>,
        rows: &Interfaces,
        dst: &Dst,
        port: &mut Port<'_, E>,
    ) {
        let rows = &rows.rows[..usize::from(rows.count)];
        match (plan.early, plan.late, plan.stages.exponent) {
            (Early::Bf16Flush, Late::Top16, ExponentOf::Eight) if plan.only_converts(32) => {
                for &row in rows {
                    self.bf16_row(&plan.view.read16(dst, u32::from(row)), plan.accumulate, port);
                }
            }
            (Early::Word, Late::Top32, ExponentOf::Eight) if plan.only_converts(64) => {
                for &row in rows {
                    self.fp32_row(plan.view.read(dst, u32::from(row)), plan.accumulate, port);
                }
            }
            _ => {
                for (ahead, &row) in (0..).zip(rows) {
                    let edge =
                        if plan.open { 0xFFFF } else { self.position.edge_mask(ahead, settings) };
                    self.any_row(plan, edge, plan.view.read(dst, u32::from(row)), port);
                }
            }
        }
    }

    /// One row of any formats.
    fn any_row<E: Env>(&mut self, plan: &Plan, edge: u16, mut row: Row, port: &mut Port<'_, E>) {
        plan.early.convert(&mut row);
        if edge != 0xFFFF {
            position::apply(&mut row, edge, plan.stages.masked);
        }
        plan.stages.relu.apply(&mut row);
        if plan.early == Early::Tf32ThenFp16 {
            row = row.map(|datum| to_fp16(datum) << 16);
        }
        self.histogram.raise(row.map(|datum| plan.stages.exponent.of(datum)));
        plan.late.convert(&mut row);
        if formats::is_block(plan.out_format) {
            let exponent = late::assemble(&mut row, plan.five_bits, plan.own_exponents);
            self.streams.exponents.append(&[exponent], None, port);
        }
        let mut bytes = [0; 64];
        let count = late::bytes(&row, plan.out_format, &mut bytes);
        self.streams.data.append(&bytes[..count], plan.accumulate, port);
    }

    /// One row of BF16 in 16-bit cells, flushed, to BF16.
    #[inline(always)]
    fn bf16_row<E: Env>(
        &mut self,
        cells: &[u16; 16],
        accumulate: Option<Accumulate>,
        port: &mut Port<'_, E>,
    ) {
        let mut values = *cells;
        let mut greatest = 0;
        for value in &mut values {
            let bits = *value & 0x8000 | (*value & 0xFF) << 7 | *value >> 8 & 0x7F;
            let magnitude = bits & 0x7FFF;
            let bounded = if magnitude > 0x7F80 { bits & 0x8000 | 0x7F80 } else { bits };
            *value = if magnitude < 0x80 { 0 } else { bounded };
            greatest = greatest.max(*value & 0x7F80);
        }
        self.histogram.max = self.histogram.max.max((greatest >> 7) as u8);
        let mut words = [0; 8];
        for (word, pair) in words.iter_mut().zip(values.as_chunks::<2>().0) {
            *word = u32::from(pair[0]) | u32::from(pair[1]) << 16;
        }
        self.streams.data.row(&words, accumulate, port);
    }

    /// One row of FP32, identity.
    #[inline(always)]
    fn fp32_row<E: Env>(
        &mut self,
        mut row: Row,
        accumulate: Option<Accumulate>,
        port: &mut Port<'_, E>,
    ) {
        Early::Word.convert(&mut row);
        let greatest = row.iter().fold(0, |max: u32, value| max.max(value & 0x7F80_0000));
        self.histogram.max = self.histogram.max.max((greatest >> 23) as u8);
        self.streams.data.row(&row, accumulate, port);
    }

    /// What follows the datums.
    #[inline]
    fn end<E: Env>(
        &mut self,
        plan: &Plan,
        fields: Pacr,
        settings: &Settings<'_>,
        thread: usize,
        port: &mut Port<'_, E>,
    ) {
        if fields.last {
            self.streams.row_starts.flush(None, port);
            self.streams.exponents.flush(None, port);
            self.streams.data.flush(plan.accumulate, port);
            self.datums = 0;
        }
        self.written_blocks = port.blocks;
        self.tile.size = self.tile.size.wrapping_add(port.blocks);
        if fields.last {
            self.position = TilePosition::default();
            self.report_tile(settings, thread);
        }
    }
}

impl Settings<'_> {
    /// Whether every tile row that a mask could apply to has all its columns.
    fn masks_nothing(&self) -> bool {
        let words = self.words();
        let masks: [u32; 4] = [
            field::PCK_EDGE_OFFSET_SEC0_mask.get(words),
            field::PCK_EDGE_OFFSET_SEC1_mask.get(words),
            field::PCK_EDGE_OFFSET_SEC2_mask.get(words),
            field::PCK_EDGE_OFFSET_SEC3_mask.get(words),
        ];
        let first = field::TILE_ROW_SET_MAPPING_0_row_set_mapping_0.addr32 as usize;
        let uses_first_only = words[first..first + 4].iter().all(|&sections| sections == 0);
        masks[0] == 0xFFFF && (uses_first_only || masks == [0xFFFF; 4])
    }
}

/// The thread whose counters an instruction of `thread` uses.
pub(super) const fn counters_of(fields: Pacr, thread: usize) -> usize {
    match (fields.ovrd_thread_id, fields.addr_cnt_context as usize) {
        (false, _) => thread,
        (true, 3) => 0,
        (true, counters) => counters,
    }
}
