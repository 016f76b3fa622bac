//! Dispatch: one arm per opcode.

use sim_core::{Cycle, ThreadId};

use super::config::{ConfigUnit, GLOBAL_BASE, SideEffects, THCON_BASE};
use super::scalar::blocking::SrcStore;
use super::scalar::ops::counter_part;
use super::scalar::special::{PackerView, Special};
use super::vector::Surroundings;
use super::{Fault, Issued, misc};
use crate::backend::Backend;
use crate::checks::{self, Check};
use crate::decode::Decoded;
use crate::env::Env;
use crate::gate::{Condition, Gate, Latch};
use crate::state::adc::Dimension;
use isa::config::field;
use isa::op::Opcode;

/// Thread configuration word that controls the unpackers' context counters.
const UNPACK_MISC_CFG: u32 = field::UNPACK_MISC_CFG_CfgContextOffset_0.addr32;

impl Backend {
    /// Executes an instruction that has passed `gate`, where a wait instruction is latched.
    ///
    /// # Errors
    /// `UndefinedBehavior` for words that the documents give no meaning; `MissingSpecification` for
    /// modes of which there is nothing that could be done.
    #[inline]
    pub(crate) fn execute<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Result<(), Fault> {
        match opcode {
            Opcode::Nop | Opcode::Dmanop => {}
            Opcode::Resourcedecl => self.declarations.declare(issued),

            Opcode::Setadc => misc::setadc(&mut self.adcs, issued)?,
            Opcode::Setadcxx => misc::setadcxx(&mut self.adcs, issued),
            Opcode::Setadcxy => misc::set_pair(&mut self.adcs, issued, misc::XY)?,
            Opcode::Setadczw => misc::set_pair(&mut self.adcs, issued, misc::ZW)?,
            Opcode::Incadcxy => misc::increment_pair(&mut self.adcs, issued, misc::XY)?,
            Opcode::Incadczw => misc::increment_pair(&mut self.adcs, issued, misc::ZW)?,
            Opcode::Addrcrxy => misc::carriage_return_pair(&mut self.adcs, issued, misc::XY)?,
            Opcode::Addrcrzw => misc::carriage_return_pair(&mut self.adcs, issued, misc::ZW)?,

            Opcode::Stallwait | Opcode::Semwait | Opcode::Streamwait => {
                gate.latch = Some(self.latch(opcode, issued)?);
            }
            Opcode::Seminit => self.sync.seminit(issued, env),
            Opcode::Sempost => self.sync.sempost(issued, env),
            Opcode::Semget => self.sync.semget(issued, env),
            Opcode::Atgetm => self.sync.atgetm(issued, env),
            Opcode::Atrelm => self.sync.atrelm(issued, env),

            Opcode::Setc16 => {
                self.config.setc16(issued, env)?;
                if issued.field(16, 8) == UNPACK_MISC_CFG {
                    self.unpack_misc_written(issued);
                }
            }
            Opcode::Wrcfg => self.wrcfg(issued, env)?,
            Opcode::Rdcfg => self.rdcfg(issued)?,
            Opcode::Rmwcib0 => self.rmwcib(issued, 0, env)?,
            Opcode::Rmwcib1 => self.rmwcib(issued, 1, env)?,
            Opcode::Rmwcib2 => self.rmwcib(issued, 2, env)?,
            Opcode::Rmwcib3 => self.rmwcib(issued, 3, env)?,
            Opcode::Cfgshiftmask => {
                let effects = self.config.cfgshiftmask(issued, env)?;
                self.apply(effects);
            }
            Opcode::Streamwrcfg => {
                let effects = self.config.streamwrcfg(issued, env)?;
                self.apply(effects);
            }

            Opcode::Setdmareg => self.setdmareg(issued),
            Opcode::Adddmareg
            | Opcode::Subdmareg
            | Opcode::Muldmareg
            | Opcode::Bitwopdmareg
            | Opcode::Shiftdmareg
            | Opcode::Cmpdmareg => self.scalar.binary(issued, opcode)?,
            Opcode::Reg2flop => self.reg2flop(issued, env)?,
            Opcode::Loadind => self.loadind(issued, env)?,
            Opcode::Storeind => self.storeind(issued, env)?,
            Opcode::Loadreg => self.loadreg(issued, env)?,
            Opcode::Storereg => self.storereg(issued, env)?,
            Opcode::Atincget => self.atincget(issued, env)?,
            Opcode::Atswap => self.atswap(issued, env)?,
            Opcode::Atcas | Opcode::Atincgetptr | Opcode::Flushdma => {
                self.begin_blocking(opcode, issued, SrcStore::default(), env)?;
            }
            Opcode::Rstdma => self.rstdma(issued),
            Opcode::Tbufcmd => return Err(reserved(opcode, issued)),
            Opcode::Xmov => self.xmov(issued, env)?,

            Opcode::Zeroacc
            | Opcode::Zerosrc
            | Opcode::Mvmul
            | Opcode::Dotpv
            | Opcode::Gapool
            | Opcode::Gmpool
            | Opcode::Elwadd
            | Opcode::Elwsub
            | Opcode::Elwmul
            | Opcode::Mova2d
            | Opcode::Movdbga2d
            | Opcode::Movb2d
            | Opcode::Movdbgb2d
            | Opcode::Movd2a
            | Opcode::Movd2b
            | Opcode::Movb2a
            | Opcode::Shiftxa
            | Opcode::Shiftxb
            | Opcode::Trnspsrca
            | Opcode::Trnspsrcb
            | Opcode::Rareb
            | Opcode::Setashrmh
            | Opcode::Setashrmh0
            | Opcode::Setashrmh1
            | Opcode::Setashrmv
            | Opcode::Setpkedgof
            | Opcode::Clrexphist
            | Opcode::Gatesrcrst
            | Opcode::Cleardvalid
            | Opcode::Setrwc
            | Opcode::Incrwc
            | Opcode::Setibrwc
            | Opcode::Conv3s1
            | Opcode::Conv3s2
            | Opcode::Mfconv3s1
            | Opcode::Apool3s1
            | Opcode::Apool3s2
            | Opcode::Mpool3s1
            | Opcode::Mpool3s2 => self.matrix_op(opcode, issued)?,

            Opcode::Pacr => {
                self.note_stochastic(opcode, issued);
                let accumulates = self.timed && self.packer.accumulates(issued, &self.config);
                self.packer.pacr(issued, &self.config, &mut self.adcs, &self.matrix.dst, env)?;
                if self.timed {
                    self.book_pack(self.packer.written_blocks, accumulates);
                }
            }
            Opcode::PacrSetreg => self.packer.pacr_setreg(issued, &self.config, env)?,

            Opcode::Sfpload
            | Opcode::Sfploadi
            | Opcode::Sfpstore
            | Opcode::Sfplut
            | Opcode::Sfpmuli
            | Opcode::Sfpaddi
            | Opcode::Sfpdivp2
            | Opcode::Sfpexexp
            | Opcode::Sfpexman
            | Opcode::Sfpiadd
            | Opcode::Sfpshft
            | Opcode::Sfpsetcc
            | Opcode::Sfpmov
            | Opcode::Sfpabs
            | Opcode::Sfpand
            | Opcode::Sfpor
            | Opcode::Sfpnot
            | Opcode::Sfplz
            | Opcode::Sfpsetexp
            | Opcode::Sfpsetman
            | Opcode::Sfpmad
            | Opcode::Sfpadd
            | Opcode::Sfpmul
            | Opcode::Sfppushc
            | Opcode::Sfppopc
            | Opcode::Sfpsetsgn
            | Opcode::Sfpcompc
            | Opcode::Sfptransp
            | Opcode::Sfpxor
            | Opcode::SfpStochRnd
            | Opcode::Sfpcast
            | Opcode::Sfpswap
            | Opcode::Sfploadmacro
            | Opcode::Sfpshft2
            | Opcode::Sfplutfp32
            | Opcode::Sfple
            | Opcode::Sfpgt
            | Opcode::Sfpmul24
            | Opcode::Sfparecip
            | Opcode::Sfpencc
            | Opcode::Sfpconfig
            | Opcode::Sfpnop => {
                self.vector_issue(opcode, issued)?;
            }

            Opcode::Unpacr => self.unpacr(issued, env)?,
            Opcode::UnpacrNop => self.unpacr_nop(issued, env),
            Opcode::Setdvalid => self.setdvalid(issued),

            Opcode::Mop | Opcode::MopCfg => return Err(expander_word(opcode, issued)),
            Opcode::Replay => return Err(nested_replay(issued)),
        }
        Ok(())
    }

    /// Executes the first of `words`, issued by `thread` in consecutive cycles, of which each does
    /// what its opcode nearly always does ([`Decoded::in_stretches`]), nobody hears of it and nothing
    /// can hold it: how many those are. `decoded` is what the first of them is.
    #[inline]
    pub(crate) fn execute_stretch(
        &mut self,
        decoded: &Decoded,
        words: &[u32],
        thread: ThreadId,
    ) -> usize {
        let is_alike = |word: u32| word >> 24 == decoded.opcode as u32;
        let done = match decoded.opcode {
            Opcode::Sfpload | Opcode::Sfpstore => {
                let mut at = Surroundings { matrix: &mut self.matrix, config: &self.config };
                self.vector.transfer(words, thread.index(), &mut at)
            }
            Opcode::Sfpmad | Opcode::Sfpadd | Opcode::Sfpmul => words
                .iter()
                .take_while(|&&word| is_alike(word) && self.vector.mad_plainly(word))
                .count(),
            Opcode::Sempost | Opcode::Semget => self.sync.adjust(words),
            Opcode::Nop | Opcode::Dmanop => {
                words.iter().take_while(|&&word| is_alike(word)).count()
            }
            _ => 0,
        };
        if done != 0 {
            self.last_served[decoded.unit as usize] = thread as u8;
        }
        done
    }

    #[inline]
    fn vector_issue(&mut self, opcode: Opcode, issued: &Issued) -> Result<(), Fault> {
        let mut at = Surroundings { matrix: &mut self.matrix, config: &self.config };
        self.vector.issue(opcode, issued, &mut at)
    }

    /// The row of Dst that an SFPSTORE names.
    pub(crate) fn vector_store_row(&mut self, issued: &Issued) -> u32 {
        let at = Surroundings { matrix: &mut self.matrix, config: &self.config };
        self.vector.store_row(issued, &at)
    }

    /// The end of a cycle in which SFPLOADMACRO has something scheduled; whether anything changed.
    pub(crate) fn finish_vector_cycle(&mut self, now: Cycle) -> Result<bool, Fault> {
        let mut at = Surroundings { matrix: &mut self.matrix, config: &self.config };
        let warnings = &mut self.warnings;
        self.vector.finish_cycle(now, &mut at, &mut |fault| warnings.lower(fault).map(drop))
    }

    /// What a wait instruction latches. A block mask of 0 means B6.
    fn latch(&self, opcode: Opcode, issued: &Issued) -> Result<Latch, Fault> {
        let condition = match opcode {
            Opcode::Stallwait => match issued.field(0, 13) as u16 {
                0 => Condition::Stall { mask: 0x0F },
                mask => Condition::Stall { mask },
            },
            Opcode::Semwait => {
                let condition = issued.field(0, 2) as u8;
                if condition == 0 {
                    issued.refuse(Check::SemwaitCondition, "SEMWAIT with no condition selected")?;
                }
                Condition::Semaphores { mask: issued.field(2, 8) as u8, condition }
            }
            _ => {
                let messages = issued.field(3, 1) != 0;
                let target =
                    self.config.stream_target(issued.thread.index(), messages, issued.field(4, 10));
                Condition::Stream { select: issued.field(0, 2) as u8, target, messages }
            }
        };
        let block = match issued.field(15, 9) as u16 {
            0 => 1 << 6,
            block => block,
        };
        let (word, origin, since) = (issued.word, issued.origin, issued.now);
        Ok(Latch { condition, block, word, origin, since, unmet: None })
    }

    /// Notes arithmetic and packing that software wants rounded stochastically: of which numbers is
    /// not public.
    #[inline]
    pub(crate) fn note_stochastic(&mut self, opcode: Opcode, issued: &Issued) {
        let words = &self.config.states[self.config.state_id(issued.thread.index())];
        let modes = words[field::ALU_ROUNDING_MODE_Fpu_srnd_en.addr32 as usize] & 7;
        if modes != 0 {
            self.note_rounding(opcode, modes, issued);
        }
    }

    #[cold]
    fn note_rounding(&mut self, opcode: Opcode, modes: u32, issued: &Issued) {
        let arithmetic = opcode != Opcode::Pacr;
        if arithmetic && modes & 1 != 0 {
            self.warnings.note(issued, checks::FPU_STOCHASTIC);
        }
        if !arithmetic && modes & 6 != 0 {
            self.warnings.note(issued, checks::PACK_STOCHASTIC);
        }
    }

    /// Carries a configuration write's effects to the units they concern.
    pub(crate) fn apply(&mut self, effects: SideEffects) {
        if let Some(seed) = effects.seed {
            self.vector.seed(seed);
            self.packer.dither.seed(seed);
        }
    }

    /// RSTDMA: "Soft reset of TDMA engine" `[hdr: hw/inc/internal/tt-1xx/blackhole/tensix.h]`. Taken
    /// to be what the packers' reset line does; that of the unpackers resets nothing either
    /// `[isa-bh: TensixTile/SoftReset.md]` [unknown: U-076].
    #[cold]
    fn rstdma(&mut self, issued: &Issued) {
        self.packer.enter_reset();
        self.packer.leave_reset();
        self.warnings.note(issued, checks::RSTDMA);
    }

    fn rmwcib<E: Env>(&mut self, issued: &Issued, byte: u32, env: &mut E) -> Result<(), Fault> {
        let effects = self.config.rmwcib(issued, byte, env)?;
        self.apply(effects);
        Ok(())
    }

    /// WRCFG: one register to one word, or an aligned group of four to four words.
    fn wrcfg<E: Env>(&mut self, issued: &Issued, env: &mut E) -> Result<(), Fault> {
        let word = ConfigUnit::checked(issued, "WRCFG", issued.field(0, 11))?;
        self.move_to_config(issued, word, issued.field(16, 6), issued.field(15, 1) != 0, env);
        Ok(())
    }

    /// REG2FLOP: to THCON configuration, or with bit 21 to an address counter.
    fn reg2flop<E: Env>(&mut self, issued: &Issued, env: &mut E) -> Result<(), Fault> {
        if issued.field(21, 1) != 0 {
            self.reg2flop_counter(issued);
            return Ok(());
        }
        if issued.field(16, 6) != 0 {
            issued.refuse(
                Check::Reg2flopTarget,
                format!("REG2FLOP with target, byte offset and context {:#x}", issued.field(16, 6)),
            )?;
        }
        let index = issued.field(6, 10) as usize;
        if index >= GLOBAL_BASE - THCON_BASE {
            return Err(issued.error(
                Check::ConfigIndex,
                format!("REG2FLOP of THCON word {index}; there are {}", GLOBAL_BASE - THCON_BASE),
            ));
        }
        let wide = issued.field(22, 2) == 0;
        self.move_to_config(issued, THCON_BASE + index, issued.field(0, 6), wide, env);
        Ok(())
    }

    /// REG2FLOP to a counter or its copy, of any thread. Nobody is known to use it, so its page
    /// calls it unsupported; the model is the one it gives
    /// `[isa-wh: TensixCoprocessor/REG2FLOP_ADC.md]`.
    fn reg2flop_counter(&mut self, issued: &Issued) {
        let register = self.scalar.gprs[issued.thread.index()][issued.field(0, 6) as usize];
        let value = counter_part(register, issued.field(22, 2), issued.field(18, 2));
        let thread = match issued.field(20, 1) {
            0 => issued.thread.index(),
            _ => issued.field(16, 2) as usize,
        };
        let set = issued.field(9, 2) as usize;
        let channel = issued.field(11, 1) as usize;
        let dimension = Dimension::from_bits(issued.field(6, 2));
        // Thread 3 and set 3 do not exist: nothing happens.
        let Some(adc) = self.adcs.get_mut(thread).and_then(|adcs| adcs.0.get_mut(set)) else {
            return;
        };
        let counter = adc[channel].counter(dimension);
        let target = if issued.field(8, 1) != 0 { &mut counter.cr } else { &mut counter.value };
        *target = value & dimension.mask();
    }

    /// SETDMAREG: 16 bits from the instruction, or packer state.
    fn setdmareg(&mut self, issued: &Issued) {
        if issued.field(7, 1) == 0 {
            self.scalar.set_immediate(issued);
            return;
        }
        let special = Special::of(issued.word);
        let values = special.values(&self.packer_view(issued.thread.index()));
        if special.resets_size() {
            self.packer.tile.accumulated = [0; 3];
        }
        special.deliver(values, &mut self.scalar.gprs[issued.thread.index()]);
    }

    /// What the packer shows to `thread`.
    fn packer_view(&self, thread: usize) -> PackerView {
        let get = |field| self.config.state_field(thread, field);
        let report = &self.packer.tile;
        let own = usize::from(report.last_thread) == thread;
        // With one packer there is no mask for all of them that the override bit could select.
        PackerView {
            accumulated_size: report.accumulated[thread],
            last_size: if own { report.last_size } else { 0 },
            all_zero_flags: report.all_zero,
            histogram: self.packer.histogram.bins,
            max_exponent: self.packer.histogram.max,
            format: get(&field::THCON_SEC0_REG1_Out_data_format) as u8,
            uncompressed: get(&field::THCON_SEC0_REG1_Disable_zero_compress) != 0,
        }
    }

    fn move_to_config<E: Env>(
        &mut self,
        issued: &Issued,
        word: usize,
        gpr: u32,
        wide: bool,
        env: &mut E,
    ) {
        let thread = issued.thread.index();
        let (first, gpr, count) =
            if wide { (word & !3, gpr as usize & !3, 4) } else { (word, gpr as usize, 1) };
        for offset in 0..count {
            let value = self.scalar.gprs[thread][gpr + offset];
            let state = self.config.state_id(thread);
            let effects = self.config.write(state, first + offset, value, issued.stamp(), env);
            self.apply(effects);
        }
    }

    fn rdcfg(&mut self, issued: &Issued) -> Result<(), Fault> {
        let word = ConfigUnit::checked(issued, "RDCFG", issued.field(0, 11))?;
        let thread = issued.thread.index();
        let value = self.config.states[self.config.state_id(thread)][word];
        self.scalar.gprs[thread][issued.field(16, 6) as usize] = value;
        Ok(())
    }
}

/// An opcode that is "reserved for future use" `[llk: instructions/assembly.yaml]`.
#[cold]
fn reserved(opcode: Opcode, issued: &Issued) -> Fault {
    let text = format!("{} is reserved", opcode.mnemonic());
    issued.error(Check::Reserved, text)
}

#[cold]
fn expander_word(opcode: Opcode, issued: &Issued) -> Fault {
    issued.error(
        Check::MopAfterExpander,
        format!(
            "{} behind the MOP expander, where BRISC pushes, is never expanded",
            opcode.mnemonic()
        ),
    )
}

#[cold]
fn nested_replay(issued: &Issued) -> Fault {
    issued.error(Check::ReplayNested, "REPLAY inside a recorded sequence is not expanded again")
}
