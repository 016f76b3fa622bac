//! Dispatch: one arm per opcode.

use sim_core::Category;

use super::config::{ConfigUnit, GLOBAL_BASE, SideEffects, THCON_BASE};
use super::{Fault, Issued};
use crate::backend::Backend;
use crate::env::Env;
use crate::gate::{Condition, Gate, Latch};
use isa::op::Opcode;

impl Backend {
    /// Executes an instruction that has passed `gate`, where a wait instruction is latched.
    ///
    /// # Errors
    /// `Unimplemented` for an opcode or mode that is not modelled; `UndefinedBehavior` for words
    /// that the documents give no meaning.
    #[inline]
    pub(crate) fn execute<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Result<(), Fault> {
        match opcode {
            // `FLUSHDMA` does its waiting at the gate; plain and unit-specific NOPs do nothing.
            Opcode::Nop | Opcode::Dmanop | Opcode::Sfpnop | Opcode::Flushdma => {}

            Opcode::Stallwait | Opcode::Semwait | Opcode::Streamwait => {
                gate.latch = Some(self.latch(opcode, issued)?);
            }
            Opcode::Seminit => self.sync.seminit(issued, env),
            Opcode::Sempost => self.sync.sempost(issued, env),
            Opcode::Semget => self.sync.semget(issued, env),
            Opcode::Atgetm => self.sync.atgetm(issued, env),
            Opcode::Atrelm => self.sync.atrelm(issued, env),

            Opcode::Setc16 => self.config.setc16(issued, env)?,
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

            Opcode::Setdmareg => self.scalar.setdmareg(issued)?,
            Opcode::Adddmareg
            | Opcode::Subdmareg
            | Opcode::Muldmareg
            | Opcode::Bitwopdmareg
            | Opcode::Shiftdmareg
            | Opcode::Cmpdmareg => self.scalar.binary(issued, opcode)?,
            Opcode::Reg2flop => self.reg2flop(issued, env)?,

            Opcode::Zeroacc => self.matrix.zeroacc(issued, &self.config)?,

            Opcode::Pacr => {
                self.packer.pacr(issued, &self.config, &mut self.adcs, &self.matrix.dst, env)?;
            }
            Opcode::Tbufcmd => super::packer::tbufcmd(),

            Opcode::Sfpencc => self.vector.sfpencc(issued),
            Opcode::Sfploadi => self.vector.sfploadi(issued)?,
            Opcode::Sfpconfig => self.vector.sfpconfig(issued)?,

            Opcode::Mop | Opcode::MopCfg => return Err(expander_word(opcode, issued)),
            Opcode::Replay => return Err(nested_replay(issued)),

            Opcode::Resourcedecl
            | Opcode::Movd2a
            | Opcode::Movdbga2d
            | Opcode::Movd2b
            | Opcode::Movb2a
            | Opcode::Movdbgb2d
            | Opcode::Zerosrc
            | Opcode::Mova2d
            | Opcode::Movb2d
            | Opcode::Trnspsrca
            | Opcode::Rareb
            | Opcode::Trnspsrcb
            | Opcode::Shiftxa
            | Opcode::Shiftxb
            | Opcode::Setashrmh0
            | Opcode::Setashrmh1
            | Opcode::Setashrmv
            | Opcode::Setpkedgof
            | Opcode::Setashrmh
            | Opcode::Clrexphist
            | Opcode::Conv3s1
            | Opcode::Conv3s2
            | Opcode::Mpool3s1
            | Opcode::Apool3s1
            | Opcode::Mvmul
            | Opcode::Elwmul
            | Opcode::Elwadd
            | Opcode::Dotpv
            | Opcode::Elwsub
            | Opcode::Mpool3s2
            | Opcode::Apool3s2
            | Opcode::Gmpool
            | Opcode::Gapool
            | Opcode::Gatesrcrst
            | Opcode::Cleardvalid
            | Opcode::Setrwc
            | Opcode::Incrwc
            | Opcode::Setibrwc
            | Opcode::Mfconv3s1
            | Opcode::Xmov
            | Opcode::Unpacr
            | Opcode::UnpacrNop
            | Opcode::Rstdma
            | Opcode::Loadind
            | Opcode::PacrSetreg
            | Opcode::Setadc
            | Opcode::Setadcxy
            | Opcode::Incadcxy
            | Opcode::Addrcrxy
            | Opcode::Setadczw
            | Opcode::Incadczw
            | Opcode::Addrcrzw
            | Opcode::Setdvalid
            | Opcode::Setadcxx
            | Opcode::Atincget
            | Opcode::Atincgetptr
            | Opcode::Atswap
            | Opcode::Atcas
            | Opcode::Storeind
            | Opcode::Storereg
            | Opcode::Loadreg
            | Opcode::Sfpload
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
            | Opcode::Sfparecip => return Err(unimplemented(opcode, issued)),
        }
        Ok(())
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
                    return Err(issued.error(
                        Category::UndefinedBehavior,
                        "tensix-semwait-condition",
                        "SEMWAIT with no condition selected",
                    ));
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

    /// Carries a configuration write's effects to the units they concern.
    pub(crate) fn apply(&mut self, effects: SideEffects) {
        if let Some(seed) = effects.seed {
            self.vector.seed(seed);
        }
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

    /// REG2FLOP into THCON configuration; the mode that writes ADCs is not modelled.
    fn reg2flop<E: Env>(&mut self, issued: &Issued, env: &mut E) -> Result<(), Fault> {
        // Target, byte offset and context select the other mode when not all zero.
        if issued.field(16, 6) != 0 {
            return Err(unimplemented(Opcode::Reg2flop, issued));
        }
        let index = issued.field(6, 10) as usize;
        if index >= GLOBAL_BASE - THCON_BASE {
            return Err(issued.error(
                Category::UndefinedBehavior,
                "tensix-config-index",
                format!("REG2FLOP of THCON word {index}; there are {}", GLOBAL_BASE - THCON_BASE),
            ));
        }
        let wide = issued.field(22, 2) == 0;
        self.move_to_config(issued, THCON_BASE + index, issued.field(0, 6), wide, env);
        Ok(())
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

#[cold]
fn unimplemented(opcode: Opcode, issued: &Issued) -> Fault {
    issued.error(
        Category::Unimplemented,
        "tensix-unimplemented",
        format!("{} is not modelled: {}", opcode.mnemonic(), isa::disasm::tensix(issued.word)),
    )
}

#[cold]
fn expander_word(opcode: Opcode, issued: &Issued) -> Fault {
    issued.error(
        Category::UndefinedBehavior,
        "tensix-mop-after-expander",
        format!(
            "{} behind the MOP expander, where BRISC pushes, is never expanded",
            opcode.mnemonic()
        ),
    )
}

#[cold]
fn nested_replay(issued: &Issued) -> Fault {
    issued.error(
        Category::UndefinedBehavior,
        "tensix-replay-nested",
        "REPLAY inside a recorded sequence is not expanded again",
    )
}
