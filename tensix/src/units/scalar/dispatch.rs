//! The scalar unit's door: one method per instruction.

use isa::config::field;
use isa::execute::ScalarOps;
use isa::op::Opcode;
use isa::operands;

use super::ops::{self, counter_part};
use super::special::{PackerView, Special};
use super::unit::{Attempts, Reach, ScalarUnit, SrcStore};
use crate::checks::Check;
use crate::env::Env;
use crate::state::adc::{Dimension, ThreadAdcs};
use crate::state::gprs::GPRS;
use crate::units::config::{ConfigUnit, GLOBAL_BASE, THCON_BASE};
use crate::units::packer::Packer;
use crate::units::{At, Fault, Issued, Outcome};

impl ScalarUnit {
    /// A two-operand instruction without a mode.
    #[inline(always)]
    fn arithmetic(
        &mut self,
        issued: &Issued,
        operands: operands::ScalarArithmetic,
        function: impl Fn(u32, u32) -> u32,
    ) {
        let gprs = self.gprs_of(issued);
        let left = gprs[operands.op_a_reg_index as usize];
        let right = match operands.op_b_is_const {
            true => operands.op_b_reg_index,
            false => gprs[operands.op_b_reg_index as usize],
        };
        gprs[operands.result_reg_index as usize] = function(left, right);
    }

    /// A two-operand instruction with a mode, of which `function` knows some.
    #[inline(always)]
    fn operation(
        &mut self,
        issued: &Issued,
        operands: operands::ScalarOperation,
        function: impl Fn(u32, u32, u32) -> Option<u32>,
    ) -> Outcome {
        let gprs = self.gprs_of(issued);
        let left = gprs[operands.op_a_reg_index as usize];
        let right = match operands.op_b_is_const {
            true => operands.op_b_reg_index,
            false => gprs[operands.op_b_reg_index as usize],
        };
        let Some(value) = function(operands.op_sel, left, right) else {
            return Err(unknown_mode(issued, operands.op_sel));
        };
        gprs[operands.result_reg_index as usize] = value;
        Ok(())
    }
}

impl Reach<'_> {
    #[inline(always)]
    fn attempts(&mut self) -> Attempts<'_> {
        let Self { scalar, src, occupancy, .. } = self;
        Attempts { scalar, src, occupancy }
    }
}

/// REG2FLOP to a counter or its copy, of any thread. No software is known to use it, so its page
/// calls it unsupported; the model is the one it gives
/// `[isa-wh: TensixCoprocessor/REG2FLOP_ADC.md]`.
fn reg2flop_counter(
    operands: operands::Reg2flop,
    (gprs, own): (&[u32; GPRS], usize),
    adcs: &mut [ThreadAdcs; 3],
) {
    let register = gprs[operands.reg_index as usize];
    let value = counter_part(register, operands.size_sel, operands.byte_offset);
    let thread = match operands.other_thread {
        false => own,
        true => operands.context_id_2 as usize,
    };
    let set = operands.counter_set as usize;
    let dimension = Dimension::from_bits(operands.dimension);
    // Thread 3 and set 3 do not exist: nothing happens.
    let Some(adc) = adcs.get_mut(thread).and_then(|adcs| adcs.0.get_mut(set)) else {
        return;
    };
    let counter = adc[usize::from(operands.channel)].counter(dimension);
    let target = if operands.to_copy { &mut counter.cr } else { &mut counter.value };
    *target = value & dimension.mask();
}

/// What the packer shows to `thread`.
fn packer_view(packer: &Packer, config: &ConfigUnit, thread: usize) -> PackerView {
    let get = |field| config.state_field(thread, field);
    let report = &packer.tile;
    let own = usize::from(report.last_thread) == thread;
    // With one packer there is no mask for all of them that the override bit could select.
    PackerView {
        accumulated_size: report.accumulated[thread],
        last_size: if own { report.last_size } else { 0 },
        all_zero_flags: report.all_zero,
        histogram: packer.histogram.bins,
        max_exponent: packer.histogram.max,
        format: get(&field::THCON_SEC0_REG1_Out_data_format) as u8,
        uncompressed: get(&field::THCON_SEC0_REG1_Disable_zero_compress) != 0,
    }
}

#[cold]
fn unknown_mode(issued: &Issued, mode: u32) -> Fault {
    let name = Opcode::from_word(issued.word).map_or("", Opcode::mnemonic);
    issued.error(Check::ScalarMode, format!("{name} with mode {mode}"))
}

impl<E: Env> ScalarOps<At<'_, E>> for Reach<'_> {
    type Outcome = Outcome;

    #[inline(always)]
    fn adddmareg(&mut self, operands: operands::Adddmareg, at: At<'_, E>) -> Outcome {
        self.scalar.arithmetic(at.issued, operands, u32::wrapping_add);
        Ok(())
    }

    #[inline(always)]
    fn subdmareg(&mut self, operands: operands::Subdmareg, at: At<'_, E>) -> Outcome {
        self.scalar.arithmetic(at.issued, operands, u32::wrapping_sub);
        Ok(())
    }

    #[inline(always)]
    fn muldmareg(&mut self, operands: operands::Muldmareg, at: At<'_, E>) -> Outcome {
        self.scalar.arithmetic(at.issued, operands, ops::multiply);
        Ok(())
    }

    #[inline(always)]
    fn bitwopdmareg(&mut self, operands: operands::Bitwopdmareg, at: At<'_, E>) -> Outcome {
        self.scalar.operation(at.issued, operands, ops::bitwise)
    }

    #[inline(always)]
    fn shiftdmareg(&mut self, operands: operands::Shiftdmareg, at: At<'_, E>) -> Outcome {
        self.scalar.operation(at.issued, operands, ops::shift)
    }

    #[inline(always)]
    fn cmpdmareg(&mut self, operands: operands::Cmpdmareg, at: At<'_, E>) -> Outcome {
        self.scalar.operation(at.issued, operands, ops::compare)
    }

    /// 16 bits from the instruction, or packer state.
    #[inline(always)]
    fn setdmareg(&mut self, operands: operands::Setdmareg, at: At<'_, E>) -> Outcome {
        let thread = at.issued.thread.index();
        if !operands.set_signals_mode {
            let half = operands.reg_index_16b as usize;
            ops::set_half(&mut self.scalar.gprs[thread], half, operands.value as u16);
            return Ok(());
        }
        let special = Special::of(operands);
        let values = special.values(&packer_view(self.packer, self.config, thread));
        if special.resets_size() {
            self.packer.tile.accumulated = [0; 3];
        }
        special.deliver(values, &mut self.scalar.gprs[thread]);
        Ok(())
    }

    /// To THCON configuration, or to an address counter.
    #[inline(always)]
    fn reg2flop(&mut self, operands: operands::Reg2flop, at: At<'_, E>) -> Outcome {
        let At { issued, env, .. } = at;
        if operands.to_counter {
            let thread = issued.thread.index();
            let gprs = &self.scalar.gprs[thread];
            reg2flop_counter(operands, (gprs, thread), self.adcs);
            return Ok(());
        }
        if operands.not_supported != 0 {
            let extra = operands.not_supported;
            issued.refuse(
                Check::Reg2flopTarget,
                format!("REG2FLOP with target, byte offset and context {extra:#x}"),
            )?;
        }
        let index = operands.config_index as usize;
        if index >= GLOBAL_BASE - THCON_BASE {
            return Err(issued.error(
                Check::ConfigIndex,
                format!("REG2FLOP of THCON word {index}; there are {}", GLOBAL_BASE - THCON_BASE),
            ));
        }
        let gprs = &self.scalar.gprs[issued.thread.index()];
        let source = (gprs, operands.reg_index, operands.size_sel == 0);
        self.effects = self.config.move_gprs(issued, THCON_BASE + index, source, env);
        Ok(())
    }

    #[inline(always)]
    fn loadind(&mut self, operands: operands::Loadind, at: At<'_, E>) -> Outcome {
        self.scalar.load_indirect(operands, at.issued, at.env)
    }

    /// To L1, to a tile register, or four BF16 to SrcA or SrcB.
    #[inline(always)]
    fn storeind(&mut self, operands: operands::Storeind, at: At<'_, E>) -> Outcome {
        let At { issued, env, .. } = at;
        match operands.target {
            0b00 => {
                let (config, unpackers) = (&*self.config, self.unpackers);
                let store = self.scalar.storeind_src(operands, issued, config, unpackers)?;
                self.attempts().begin(Opcode::Storeind, issued, store, env)
            }
            0b01 => self.scalar.storeind_register(operands, issued, env),
            _ => self.scalar.storeind_l1(operands, issued, env),
        }
    }

    #[inline(always)]
    fn loadreg(&mut self, operands: operands::Loadreg, at: At<'_, E>) -> Outcome {
        self.scalar.load_register(operands, at.issued, at.env)
    }

    #[inline(always)]
    fn storereg(&mut self, operands: operands::Storereg, at: At<'_, E>) -> Outcome {
        self.scalar.store_tile_register(operands, at.issued, at.env)
    }

    #[inline(always)]
    fn atincget(&mut self, operands: operands::Atincget, at: At<'_, E>) -> Outcome {
        self.scalar.atomic_increment(operands, at.issued, at.env)
    }

    #[inline(always)]
    fn atswap(&mut self, operands: operands::Atswap, at: At<'_, E>) -> Outcome {
        self.scalar.atomic_store(operands, at.issued, at.env)
    }

    #[inline(always)]
    fn atcas(&mut self, _: operands::Atcas, at: At<'_, E>) -> Outcome {
        self.attempts().begin(Opcode::Atcas, at.issued, SrcStore::default(), at.env)
    }

    #[inline(always)]
    fn atincgetptr(&mut self, _: operands::Atincgetptr, at: At<'_, E>) -> Outcome {
        self.attempts().begin(Opcode::Atincgetptr, at.issued, SrcStore::default(), at.env)
    }

    #[inline(always)]
    fn flushdma(&mut self, _: operands::Flushdma, at: At<'_, E>) -> Outcome {
        self.attempts().begin(Opcode::Flushdma, at.issued, SrcStore::default(), at.env)
    }

    #[inline(always)]
    fn dmanop(&mut self, _: At<'_, E>) -> Outcome {
        Ok(())
    }
}
