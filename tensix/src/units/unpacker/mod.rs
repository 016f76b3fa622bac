//! The two unpackers: L1 to SrcA or Dst (unpacker 0), L1 to SrcB (unpacker 1).
//!
//! Instructions: `UNPACR` in its three forms (move datums, step the context counter, flush the
//! cache of row starts), `UNPACR_NOP`, and `SETDVALID`, which acts on the same state from the
//! miscellaneous unit.
//!
//! Rooms: `settings` what the configuration asks for; `addr` where to read and to write; `format`
//! conversions; `run` the data path,
//! `block` its common case; `sink` register files; `nop` the `UNPACR_NOP` family.
//!
//! # Limits
//!
//! * An instruction has its whole effect when it passes the wait gate, and waits there for its
//!   bank. Hardware would take it and wait later, so that other instructions of the thread pass.
//! * The cache of row starts is not modelled: flushing it does nothing, stale entries do not exist.
//! * Throttle modes change speed only, and are ignored.
//! * Metadata unpacking (`Metadata_*` fields) is not documented and does not happen.
//! * Of SrcB row broadcast there is one line, "Will broadcast starting row into adjacent 8 rows on
//!   SrcB" `[llk: instructions/assembly.yaml]`: each row that would be written is written to eight,
//!   the next one to the eight behind them [unknown: U-077]. Unpacker 0 ignores the bit.
//!
//! Sources: `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]` and its sister pages,
//! `[llk: instructions/assembly.yaml]` for the Blackhole encodings, `[spec: numerics 1.2, 2]`.

mod addr;
mod block;
mod format;
mod nop;
mod reads;
mod run;
mod settings;
mod sink;
#[cfg(test)]
mod tests;

use isa::config::field;
use sim_core::{StateHasher, ThreadId, WaitReason};

use self::run::Run;
use self::settings::{Section, Settings, increments, select_context};
use self::sink::{Sink, SrcAShape};
use crate::backend::soft_reset;
use crate::checks::{self, Check};
use crate::env::Env;
use crate::state::adc::{Dimension, ThreadAdcs};
use crate::state::dst::{Dst, DstMap};
use crate::state::src::SrcBanks;
use crate::timing::hazards::Pipelines;
use crate::units::config::ConfigUnit;
use crate::units::{At, Fault, Issued, Outcome};
use crate::warnings::Warnings;
use isa::execute::UnpackerOps;
use isa::op::Opcode;
use isa::operands::{Setdvalid, Unpacr, UnpacrNop};

/// State of one unpacker apart from its Src bank, which lives with the bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Unpacker {
    /// Context counter per thread, 0 to 7.
    context_counter: [u8; 3],
    /// First row of Src per thread, 0 to 63.
    src_row: [u8; 3],
    /// Accumulated value of register writes, 17 bits.
    register_accumulator: u32,
    /// Output format of the bank handed over last.
    held_format: u8,
}

/// The unpackers' own state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unpackers {
    units: [Unpacker; 2],
    /// All data go datum by datum ([`sim_core::Shortcut::WholeRows`]).
    pub(crate) piecemeal: bool,
    /// Settings of the latest instructions in contexts of even and odd numbers, which kernels change between, and what
    /// they depend on; no part of the state.
    plans: [[Option<(PlanKey, Settings)>; 2]; 2],
}

/// Word, thread, context and counters of an instruction, and [`ConfigUnit::forms`].
type PlanKey = (u32, ThreadId, (u32, usize), u64);

impl Unpackers {
    /// First row of Src that an unpacker uses for a thread, 0 to 63.
    pub(crate) fn src_row(&self, unpacker: usize, thread: usize) -> u8 {
        self.units[unpacker & 1].src_row[thread]
    }

    /// Context counter of an unpacker for a thread, 0 to 7.
    pub(crate) fn context_counter(&self, unpacker: usize, thread: usize) -> u8 {
        self.units[unpacker & 1].context_counter[thread]
    }

    /// Accumulated value of an unpacker's register writes, 17 bits.
    pub(crate) fn register_accumulator(&self, unpacker: usize) -> u32 {
        self.units[unpacker & 1].register_accumulator
    }

    /// Output format of the bank an unpacker handed over last.
    pub(crate) fn held_format(&self, unpacker: usize) -> u8 {
        self.units[unpacker & 1].held_format
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // A switch and a memory of what follows from the configuration.
        let Self { units, piecemeal: _, plans: _ } = self;
        for unpacker in units {
            let Unpacker { context_counter, src_row, register_accumulator, held_format } = unpacker;
            hasher.bytes(context_counter);
            hasher.bytes(src_row);
            hasher.u32(*register_accumulator);
            hasher.u8(*held_format);
        }
    }

    /// Acts on a write of `UNPACK_MISC_CFG`: its reset and increment bits
    /// `[llk: llk_lib/hal/cfg/thread.h]`.
    fn write_misc(&mut self, thread: ThreadId, value: u32, sections: [Section<'_>; 2]) {
        let controls = [
            (
                &field::UNPACK_MISC_CFG_CfgContextCntReset_0,
                &field::UNPACK_MISC_CFG_CfgContextCntInc_0,
            ),
            (
                &field::UNPACK_MISC_CFG_CfgContextCntReset_1,
                &field::UNPACK_MISC_CFG_CfgContextCntInc_1,
            ),
        ];
        for ((unpacker, section), (reset, increment)) in
            self.units.iter_mut().zip(sections).zip(controls)
        {
            let counter = &mut unpacker.context_counter[thread.index()];
            if increment.of_word(value) != 0 {
                *counter = section.next_context(u32::from(*counter));
            }
            if reset.of_word(value) != 0 {
                *counter = 0;
            }
        }
    }

    /// What the configuration asks for. Read once for equal instructions while nothing but addresses is written.
    #[inline(always)]
    fn plan(
        &mut self,
        issued: &Issued,
        at: (u32, usize),
        config: &ConfigUnit,
    ) -> Result<Settings, Fault> {
        let key = (issued.word, issued.thread, at, config.forms);
        let plan = &mut self.plans[unpacker_of(issued.word)][at.0 as usize & 1];
        if let Some((known, settings)) = plan
            && *known == key
        {
            settings.renew_base(issued, config);
            debug_assert_eq!(Settings::read(issued, config, at).ok(), Some(*settings));
            return Ok(*settings);
        }
        let settings = Settings::read(issued, config, at)?;
        if issued.allowed.is_empty() {
            *plan = Some((key, settings));
        }
        Ok(settings)
    }

    /// First row that the thread's set register names.
    fn src_row_base(config: &ConfigUnit, thread: usize, unpacker: usize) -> u8 {
        let base = [&field::SRCA_SET_Base, &field::SRCB_SET_Base][unpacker];
        (config.thread_field(thread, base) << 4) as u8 & 0x3F
    }

    /// Gives the unpacker's bank to the matrix unit and turns to the other one. While the bank's
    /// ownership is held in soft reset, it cannot change `[isa-bh: TensixTile/SoftReset.md]`.
    fn hand_over(&mut self, thread: ThreadId, unpacker: usize, format: u32, banks: &mut Banks<'_>) {
        let row = Self::src_row_base(banks.config, thread.index(), unpacker);
        let state = &mut self.units[unpacker];
        state.src_row[thread.index()] = row;
        state.held_format = format as u8;
        let frozen = [soft_reset::SRC_A_CLIENT, soft_reset::SRC_B_CLIENT][unpacker];
        if banks.held & frozen == 0 {
            banks.src[unpacker].unpacker_release(format as u8);
        }
    }

    /// `SETDVALID`. Its page calls the format that the bank then implies ill-specified, and says
    /// that in practice it is the output format of an earlier unpack: we take the last one handed
    /// over `[isa-wh: TensixCoprocessor/SETDVALID.md]` [unknown: U-055].
    pub(crate) fn set_valid(
        &mut self,
        operands: Setdvalid,
        thread: ThreadId,
        banks: &mut Banks<'_>,
    ) {
        for unpacker in 0..2 {
            if operands.setvalid >> unpacker & 1 != 0 {
                let format = self.units[unpacker].held_format;
                self.hand_over(thread, unpacker, u32::from(format), banks);
            }
        }
    }

    /// Hands a bank over as `UNPACR_NOP` does: the implied format is the unpacker's configured
    /// output format `[isa-wh: TensixCoprocessor/UNPACR_NOP_SETDVALID.md]`.
    fn set_dvalid(&mut self, thread: ThreadId, unpacker: usize, banks: &mut Banks<'_>) {
        let section = Section::new(banks.config, thread.index(), unpacker);
        let format = section.thcon(&field::THCON_SEC0_REG2_Out_data_format);
        self.hand_over(thread, unpacker, format, banks);
    }

    /// Acts on a `SETC16` of `UNPACK_MISC_CFG`.
    pub(crate) fn misc_written(&mut self, thread: ThreadId, value: u32, config: &ConfigUnit) {
        let sections = [0, 1].map(|unpacker| Section::new(config, thread.index(), unpacker));
        self.write_misc(thread, value, sections);
    }
}

/// The unpacker that an `UNPACR` or `UNPACR_NOP` is for: they have the bit in the same place.
#[inline(always)]
pub(crate) const fn unpacker_of(word: u32) -> usize {
    Unpacr::of(word).unpack_block_selection as usize
}

const _: () = assert!(Unpacr::UNPACK_BLOCK_SELECTION.mask() == UnpacrNop::UNPACKER_SELECT.mask());

/// The bank for which `UNPACR` or `UNPACR_NOP` would have to wait.
pub(crate) fn refuses(src: &[SrcBanks; 2], opcode: Opcode, word: u32) -> Option<WaitReason> {
    let unpacker = unpacker_of(word);
    let banks = &src[unpacker];
    let bank = if opcode == Opcode::UnpacrNop {
        nop::Nop::decode(UnpacrNop::of(word)).waits_for(banks)?
    } else if Unpacr::of(word).cfg_context_cnt_inc || Unpacr::of(word).search_cache_flush {
        return None;
    } else {
        banks.unpacker_bank()
    };
    let operand = unpacker as u8;
    banks.owned_by_matrix(bank).then_some(WaitReason::SrcBank {
        operand,
        bank: u8::from(bank),
        for_matrix: false,
    })
}

/// The banks that unpackers hand over, and what the configuration says of them.
pub(crate) struct Banks<'a> {
    pub(crate) config: &'a ConfigUnit,
    pub(crate) src: &'a mut [SrcBanks; 2],
    /// SOFT_RESET_0.
    pub(crate) held: u32,
}

/// What the instructions of this unit reach.
pub(crate) struct Reach<'a> {
    pub(crate) unpackers: &'a mut Unpackers,
    pub(crate) banks: Banks<'a>,
    pub(crate) adcs: &'a mut [ThreadAdcs; 3],
    pub(crate) dst: &'a mut Dst,
    pub(crate) warnings: &'a mut Warnings,
    /// Where the cost is booked, if there are any.
    pub(crate) pipelines: Option<&'a mut Pipelines>,
}

impl Reach<'_> {
    /// `UNPACR`: moves datums, or only steps the context counter, or only flushes the cache.
    ///
    /// # Errors
    /// See [`Settings::read`], [`Settings::input`], [`Settings::output`] and [`Run::go`].
    #[inline(never)]
    fn unpack<E: Env>(&mut self, issued: &Issued, env: &mut E) -> Result<(), Fault> {
        let word = Unpacr::of(issued.word);
        let (thread, unpacker) = (issued.thread.index(), unpacker_of(issued.word));
        let counter = self.unpackers.units[unpacker].context_counter[thread];
        if word.search_cache_flush {
            return Ok(());
        }
        if word.cfg_context_cnt_inc {
            let section = Section::new(self.banks.config, thread, unpacker);
            self.unpackers.units[unpacker].context_counter[thread] =
                section.next_context(u32::from(counter));
            return Ok(());
        }
        if word.srcb_bcast && unpacker == 1 {
            self.warnings.note(issued, checks::UNPACK_BROADCAST);
        }
        let (context, adc) = select_context(issued, self.banks.config, counter)?;
        let settings = self.unpackers.plan(issued, (context, adc), self.banks.config)?;
        let input = settings.input(issued, word.row_search, self.adcs, env)?;
        let position = settings.output(issued, self.adcs)?;
        let piecemeal = self.unpackers.piecemeal;
        let mut sink = self.sink(issued, &settings)?;
        Run { issued, settings: &settings, env: &*env, all_zero: word.zero_write2, piecemeal }
            .go(input, position, &mut sink)?;
        if env.wants_l1_reads() && !word.zero_write2 {
            reads::tell(&settings, &input, issued.stamp(), env);
        }
        if let Some(pipelines) = &mut self.pipelines {
            let bytes =
                if word.zero_write2 { 0 } else { settings.bytes_of(input.count.min(input.keep)) };
            let section = Section::new(self.banks.config, thread, unpacker);
            let mode = section.thcon(&field::THCON_SEC0_REG2_Throttle_mode);
            let bank = word.set_dat_valid.then_some(self.banks.src[unpacker].unpacker_bank());
            let to_src = if settings.to_dst { None } else { bank };
            pipelines.book_unpack(unpacker, bytes, settings.speed(mode), to_src, issued.now);
        }
        self.finish(issued, &settings);
        Ok(())
    }

    /// Where the datums of `settings` go.
    fn sink(&mut self, issued: &Issued, settings: &Settings) -> Result<Sink<'_>, Fault> {
        let thread = issued.thread.index();
        let by_address =
            self.banks.config.thread_field(thread, &field::SRCA_SET_SetOvrdWithAddr) != 0;
        if settings.to_dst {
            if by_address {
                issued.refuse(
                    Check::UnpackOverride,
                    "unpacking to Dst with SRCA_SET_SetOvrdWithAddr set",
                )?;
            }
            let map = DstMap::of(&self.banks.config.states[0]);
            let wide = format::is_wide(settings.output_format);
            return Ok(Sink::Dst { dst: self.dst, map, wide });
        }
        let row = u32::from(self.unpackers.units[settings.unpacker].src_row[thread]);
        let cells = self.banks.src[settings.unpacker].unpacker_side_mut();
        if settings.unpacker == 1 {
            let copies = if Unpacr::of(issued.word).srcb_bcast { 8 } else { 1 };
            return Ok(Sink::SrcB { cells, row, copies });
        }
        let shape = SrcAShape {
            set_row: (!by_address).then_some(row),
            column_shift: settings.column_shift,
            transpose: settings.transpose,
        };
        Ok(Sink::SrcA { cells, shape })
    }

    /// Steps counters and hands the bank over.
    fn finish(&mut self, issued: &Issued, settings: &Settings) {
        let word = Unpacr::of(issued.word);
        let (thread, unpacker) = (issued.thread.index(), settings.unpacker);
        let section = Section::new(self.banks.config, thread, unpacker);
        if word.ovrd_thread_id && word.auto_inc_context_id {
            self.unpackers.units[unpacker].context_counter[thread] =
                section.next_context(settings.context);
        }
        let advances_rows = section.thcon(&field::THCON_SEC0_REG2_Unpack_Src_Reg_Set_Upd) != 0;
        let increments = increments(word);
        for (index, adcs) in self.adcs.iter_mut().enumerate() {
            if index == thread || index == settings.adc {
                for (channel, (z, y)) in adcs.0[unpacker].iter_mut().zip(increments) {
                    channel.add(Dimension::Y, y);
                    channel.add(Dimension::Z, z);
                }
            }
        }
        if word.set_dat_valid {
            let (thread, format) = (issued.thread, settings.output_format);
            self.unpackers.hand_over(thread, unpacker, format, &mut self.banks);
        } else if advances_rows {
            let base = Unpackers::src_row_base(self.banks.config, thread, unpacker);
            let row = &mut self.unpackers.units[unpacker].src_row[thread];
            *row = row.wrapping_add(16).wrapping_add(base) & 0x3F;
        }
    }
}

impl<E: Env> UnpackerOps<At<'_, E>> for Reach<'_> {
    type Outcome = Outcome;

    /// What its word says is read where it is needed: plans are kept by word.
    #[inline(always)]
    fn unpacr(&mut self, _: Unpacr, at: At<'_, E>) -> Outcome {
        self.unpack(at.issued, at.env)
    }

    #[inline(always)]
    fn unpacr_nop(&mut self, operands: UnpacrNop, at: At<'_, E>) -> Outcome {
        self.nop(operands, at.issued, at.env);
        Ok(())
    }
}
