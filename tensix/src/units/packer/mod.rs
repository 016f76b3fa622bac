//! The packer: datums of Dst, through two format conversions, to L1.
//!
//! ```text
//! Dst -> early -> edge mask -> ReLU -> statistics -> threshold -+
//! L1 (own formats) ---------------------------------------------+-> downsample -> compress
//! nothing (zeroes) ---------------------------------------------+     -> late -> buffers -> L1
//! ```
//!
//! One room per step: [`settings`] the configuration, [`input`] what is read, [`early`] and
//! [`late`] the conversions, [`dither`] stochastic rounding, [`position`] edge masking, [`stages`] what lies between, [`compress`],
//! [`accumulate`] and [`output`] the way out; [`metadata`] what TDMA-RISC shows. [`pipeline`] puts them together, [`plain`] for the common case; this file takes the
//! instructions.
//!
//! Instructions: `PACR`, `PACR_SETREG`. `TBUFCMD` is reserved and diagnosed.
//!
//! Not modelled: the hazards of reading Dst right after it was written, `pack_start_intf_pos`,
//! `ovrd_default_throttle_mode`.
//!
//! Source: `[isa-bh: TensixCoprocessor/PACR.md]`, `[isa-wh: TensixCoprocessor/Packers/]`,
//! `[spec: numerics 4]`, `[llk: assembly.yaml]` for the instruction fields.

pub(crate) mod accumulate;
pub(crate) mod compress;
#[cfg(test)]
#[path = "tests/conversion.rs"]
mod conversion_tests;
mod dispatch;
pub(crate) mod dither;
pub(crate) mod early;
#[cfg(test)]
#[path = "tests/exhaustive.rs"]
mod exhaustive_tests;
pub(crate) mod formats;
pub(crate) mod input;
pub(crate) mod late;
pub(crate) mod metadata;
pub(crate) mod output;
pub(crate) mod pipeline;
pub(crate) mod plain;
#[cfg(test)]
#[path = "tests/plain.rs"]
mod plain_tests;
pub(crate) mod position;
pub(crate) mod settings;
pub(crate) mod stages;
#[cfg(test)]
mod tests;

pub(crate) use dispatch::Reach;
use isa::config::field;
use isa::operands::{Pacr, PacrSetreg};
use sim_core::StateHasher;

use super::config::ConfigUnit;
use super::{Fault, Issued};
use crate::checks::Check;
use crate::env::Env;
use crate::state::adc::{PACKERS, ThreadAdcs};
use crate::state::dst::Dst;

use compress::Compressor;
use dither::Dither;
use early::{Early, Row};
use input::{Interfaces, View};
use metadata::MetadataFifo;
use output::{Stream, Streams};
use pipeline::Pass;
use plain::{Plan, PlanKey, counters_of};
use position::TilePosition;
use settings::Settings;
use stages::Histogram;

/// The packer's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packer {
    pub(crate) streams: Streams,
    pub(crate) position: TilePosition,
    pub(crate) histogram: Histogram,
    pub(crate) compressor: Compressor,
    /// Datums of an incomplete block of 16, and how many.
    pub(crate) block: Row,
    pub(crate) blocked: u8,
    /// Datums packed since the last `Last` or `Flush`.
    pub(crate) datums: u32,
    /// Context that `CtxtCtrl` keeps, and planes packed in it.
    pub(crate) context: u8,
    pub(crate) planes: u8,
    /// Value that `PACR_SETREG` writes.
    pub(crate) register_value: u32,
    /// What software can ask about finished tiles.
    pub(crate) tile: TileReport,
    pub(crate) metadata: MetadataFifo,
    /// Generators of stochastic rounding.
    pub(crate) dither: Dither,
    /// No instruction is of the common kind ([`sim_core::Shortcut::WholeRows`]).
    pub(crate) piecemeal: bool,
    /// The plan of the latest instruction, if it has one; no part of the state.
    pub(crate) plan: Option<(PlanKey, Option<Plan>)>,
    /// Blocks of 16 bytes that the latest instruction wrote; no part of the state.
    pub(crate) written_blocks: u32,
}

/// What the packer remembers about tiles, for `SETDMAREG` and TDMA-RISC
/// `[isa-wh: TensixTile/TDMA-RISC.md]`. Sizes in 16-byte units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TileReport {
    /// Blocks written for the tile in progress.
    pub(crate) size: u32,
    /// Size of the latest finished tile and the thread that packed it.
    pub(crate) last_size: u16,
    pub(crate) last_thread: u8,
    /// Sizes accumulated per thread.
    pub(crate) accumulated: [u16; 3],
    /// One bit per compression row of the tile: all zero.
    pub(crate) all_zero: u32,
    /// Added to output addresses if `Add_l1_dest_addr_offset` is set; a store to TDMA-RISC sets it.
    pub(crate) dest_offset: u16,
}

impl Packer {
    /// `PACR`: packs datums, and flushes buffers if it is the last of a tile.
    ///
    /// # Errors
    /// Conversions and combinations that the documents leave undefined (`tensix-pack-...`).
    pub(crate) fn pacr<E: Env>(
        &mut self,
        issued: &Issued,
        config: &ConfigUnit,
        adcs: &mut [ThreadAdcs; 3],
        dst: &Dst,
        env: &mut E,
    ) -> Result<(), Fault> {
        // A plan is for instructions that nothing is wrong with.
        if issued.allowed.is_empty()
            && !self.piecemeal
            && let Some(plan) = self.plan(issued, config)
            && self.pacr_planned(&plan, issued, config, adcs, dst, env)?
        {
            return Ok(());
        }
        self.pacr_general(issued, config, adcs, dst, env)
    }

    /// `PACR` of any kind.
    fn pacr_general<E: Env>(
        &mut self,
        issued: &Issued,
        config: &ConfigUnit,
        adcs: &mut [ThreadAdcs; 3],
        dst: &Dst,
        env: &mut E,
    ) -> Result<(), Fault> {
        let fields = Pacr::of(issued.word);
        let thread = issued.thread.index();
        let context = match fields.ctxt_ctrl {
            0 => fields.cfg_context,
            2 => {
                // Resets the kept context and does nothing else.
                (self.context, self.planes) = (0, 0);
                return Ok(());
            }
            _ => u32::from(self.context),
        };
        let settings = Settings::new(config, thread, context);
        let adc = &mut adcs[counters_of(fields, thread)].0[PACKERS];
        self.streams.begin(&settings, &adc[1], self.tile.dest_offset);
        let mut beyond = None;
        let planes = if fields.flush && !fields.last && self.is_drained() {
            self.streams.forget_addresses();
            0
        } else {
            let mut pass = Pass::new(self, issued, fields, settings, config, env)?;
            if !fields.flush {
                pass.datums(adc, dst)?;
            }
            let (planes, outside) = pass.finish();
            beyond = outside;
            planes
        };
        input::advance(adc, config, thread, fields.addr_mode);
        if fields.ctxt_ctrl & 1 != 0 {
            self.advance_context(&settings, planes, fields.last);
        }
        outside(issued, beyond)
    }

    /// `PACR_SETREG`: with `ModeSel`, sets half of the value to write; else flushes the buffers as
    /// `PACR` does and writes that value to a register. The address is made of six bits of the
    /// instruction and one of four sets of twelve bits in configuration
    /// `[hdr: hal/cfg/thcon.h, Packer_Reg_Wr_Addr]`; selector 0 and 1 name those of section 0
    /// [inferred: their order]. Wormhole's value is in the instruction instead.
    ///
    /// # Errors
    /// `tensix-pack-register` for an address below TDMA-RISC's
    /// `[isa-wh: TensixCoprocessor/PACR_SETREG.md]`.
    pub(crate) fn pacr_setreg<E: Env>(
        &mut self,
        operands: PacrSetreg,
        issued: &Issued,
        config: &ConfigUnit,
        env: &mut E,
    ) -> Result<(), Fault> {
        if operands.mode_sel {
            let shift = 16 * u32::from(operands.high_half);
            let kept = self.register_value & !(0xFFFF << shift);
            self.register_value = kept | operands.half_value << shift;
            return Ok(());
        }
        // Both are needed to trigger the write; nothing else is described.
        if !operands.push || !operands.flush {
            return Ok(());
        }
        let thread = issued.thread.index();
        let settings = Settings::new(config, thread, 0);
        if self.is_drained() {
            self.streams.forget_addresses();
        } else {
            let flush = Pacr { flush: true, ..Pacr::of(0) };
            let (_, beyond) = Pass::new(self, issued, flush, settings, config, env)?.finish();
            outside(issued, beyond)?;
        }
        let select = operands.addr_sel;
        let sets = if select & 2 == 0 {
            field::THCON_SEC0_REG10_Packer_Reg_Wr_Addr
        } else {
            field::THCON_SEC1_REG10_Packer_Reg_Wr_Addr
        };
        let set = sets.get(settings.words()) >> (12 * (select & 1)) & 0xFFF;
        let middle = operands.stream_id << 12;
        let address = 0xFFB0_0000 | (set >> 10) << 18 | middle | (set & 0x3FF) << 2;
        match address {
            ..0xFFB1_1000 => {
                let text = format!("PACR_SETREG writes to {address:#x}");
                return Err(issued.error(Check::PackRegister, text));
            }
            0xFFB1_1000..0xFFB8_0000 => {
                env.store_register(address, self.register_value, issued.stamp());
            }
            _ => {}
        }
        Ok(())
    }

    /// Moves the kept context on: after so many planes, or if none are given after every tile.
    fn advance_context(&mut self, settings: &Settings<'_>, planes: u8, last: bool) {
        let limit = settings.planes_per_context();
        let next = if limit == 0 {
            last
        } else {
            self.planes = self.planes.wrapping_add(planes);
            u32::from(self.planes) >= limit
        };
        if next {
            self.context = (self.context + 1) & 3;
            self.planes = 0;
        }
    }

    /// Remembers the size of a finished tile.
    fn report_tile(&mut self, settings: &Settings<'_>, thread: usize) {
        let tile = &mut self.tile;
        tile.last_size = std::mem::take(&mut tile.size) as u16;
        tile.last_thread = thread as u8;
        let header = u16::from(settings.counts_header());
        tile.accumulated[thread] =
            tile.accumulated[thread].wrapping_add(tile.last_size).wrapping_add(header);
        if settings.reports_tiles() {
            self.metadata.push(tile.last_size, tile.all_zero);
        }
    }

    /// Whether what an instruction writes is added to L1.
    pub(crate) fn accumulates(&self, fields: Pacr, thread: usize, config: &ConfigUnit) -> bool {
        Settings::new(config, thread, self.context_of(fields)).accumulates()
    }

    /// Rows of Dst that a `PACR` of `thread` would read.
    pub(crate) fn rows_read(
        &self,
        word: u32,
        thread: usize,
        config: &ConfigUnit,
        adcs: &[ThreadAdcs; 3],
    ) -> [Option<u16>; 4] {
        let fields = Pacr::of(word);
        let settings = Settings::new(config, thread, self.context_of(fields));
        if fields.flush || fields.zero_write || settings.reads_l1() {
            return [None; 4];
        }
        let adc = &adcs[counters_of(fields, thread)].0[PACKERS];
        let (start, _) = input::dst_start(&settings, &adc[0]);
        let mask = if fields.read_intf_sel == 0 { 0xF } else { fields.read_intf_sel };
        let remap = field::DEST_ACCESS_CFG_remap_addrs.get(settings.words()) != 0;
        let Interfaces { rows, count } =
            Interfaces::new(start, mask, fields.dst_access_mode, remap);
        std::array::from_fn(|index| (index < usize::from(count)).then(|| rows[index]))
    }

    /// How the rows that a `PACR` of `thread` would read map to cells.
    pub(crate) fn view(&self, word: u32, thread: usize, config: &ConfigUnit) -> View {
        let settings = Settings::new(config, thread, self.context_of(Pacr::of(word)));
        let early = Early::choose(&settings, settings.z_offset());
        View::new(settings.words(), early.is_some_and(Early::is_wide))
    }

    /// The context of an instruction that does not reset it.
    fn context_of(&self, fields: Pacr) -> u32 {
        if fields.ctxt_ctrl == 0 { fields.cfg_context } else { u32::from(self.context) }
    }

    /// Whether no buffer holds anything.
    fn is_drained(&self) -> bool {
        let Streams { row_starts, exponents, data } = &self.streams;
        row_starts.buffered | exponents.buffered | data.buffered == 0
            && self.blocked == 0
            && self.compressor.is_new_tile()
    }

    /// `CLREXPHIST`.
    pub(crate) fn clear_histogram(&mut self) {
        self.histogram = Histogram::default();
    }

    /// Enters soft reset: what is buffered is lost `[isa-bh: TensixTile/SoftReset.md]`. Tile
    /// position and kept context go back to the start too [inferred: nothing else could].
    pub(crate) fn enter_reset(&mut self) {
        *self = Self {
            histogram: self.histogram,
            tile: TileReport { dest_offset: self.tile.dest_offset, ..TileReport::default() },
            dither: self.dither,
            piecemeal: self.piecemeal,
            ..Self::default()
        };
    }

    /// Leaves soft reset.
    pub(crate) fn leave_reset(&mut self) {
        self.tile.dest_offset = 0;
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // A switch, a memory of what follows from the configuration, and a count for who asks at once.
        let Self {
            streams: Streams { row_starts, exponents, data },
            position: TilePosition { inner, outer },
            histogram: Histogram { bins, max },
            compressor,
            block,
            blocked,
            datums,
            context,
            planes,
            register_value,
            tile: TileReport { size, last_size, last_thread, accumulated, all_zero, dest_offset },
            metadata,
            dither: Dither(generators),
            piecemeal: _,
            plan: _,
            written_blocks: _,
        } = self;
        for Stream { address, buffer, buffered, needs_address } in [row_starts, exponents, data] {
            hasher.u32(*address);
            // What lies behind the bytes that wait is of earlier tiles.
            hasher.bytes(&buffer[..usize::from(*buffered) & 15]);
            hasher.bytes(&[*buffered, u8::from(*needs_address)]);
        }
        hasher.bytes(&[*inner, *outer]);
        hasher.bytes(bins);
        hasher.bytes(&[*max, *blocked, *context, *planes]);
        compressor.state_words(|word| hasher.u32(word));
        hasher.words(block);
        hasher.words(&[*datums, *register_value]);
        hasher.words(generators);
        hasher.words(&[*size, *all_zero]);
        for size in accumulated.iter().chain([last_size, dest_offset]) {
            hasher.bytes(&size.to_le_bytes());
        }
        hasher.u8(*last_thread);
        metadata.hash_state(hasher);
    }
}

/// A diagnosis if output went beyond L1.
fn outside(issued: &Issued, address: Option<u32>) -> Result<(), Fault> {
    let Some(address) = address else { return Ok(()) };
    let text = format!("PACR writes to {address:#x}, beyond L1");
    Err(issued.error(Check::PackAddress, text))
}
