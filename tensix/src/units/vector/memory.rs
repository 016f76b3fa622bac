//! SFPLOAD and SFPSTORE: which address, in which lanes, and what happens to the counters. The cells
//! themselves are in [`super::cells`].
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, `SFPSTORE.md`, `Dst.md`.

use isa::config::field;
use isa::op::Opcode;

use super::cells::Place;
use super::dst_format::{self, mode};
use super::{Issued, Operands, VectorUnit};
use crate::state::dst::DstMap;
use crate::units::config::ConfigUnit;
use crate::units::matrix::MatrixUnit;

/// What SFPLOAD and SFPSTORE need of other units.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) matrix: &'a mut MatrixUnit,
    pub(crate) config: &'a ConfigUnit,
}

/// A Dst address has ten bits.
const ADDRESS: u32 = 0x3FF;

/// Concrete mode of an instruction.
fn resolve(mode: u32, thread: usize, config: &ConfigUnit) -> u32 {
    if mode != mode::SRCB {
        return mode;
    }
    if config.state_field(thread, &field::ALU_ACC_CTRL_SFPU_Fp32_enabled) != 0 {
        return mode::FP32;
    }
    let format = if config.thread_field(thread, &field::SFPU_DEST_FMT_Enable) != 0 {
        config.thread_field(thread, &field::SFPU_DEST_FMT_Base)
    } else if config.state_field(thread, &field::ALU_FORMAT_SPEC_REG_SrcB_override) != 0 {
        config.state_field(thread, &field::ALU_FORMAT_SPEC_REG_SrcB_val)
    } else {
        config.state_field(thread, &field::ALU_FORMAT_SPEC_REG1_SrcB)
    };
    dst_format::implied(format)
}

impl VectorUnit {
    /// The Dst address that an instruction's immediate means now.
    fn address(&self, operands: &Operands, mode: u32, thread: usize, at: &Surroundings<'_>) -> u32 {
        let config = at.config;
        let base = (operands.word & ADDRESS)
            + config.thread_field(thread, &field::DEST_TARGET_REG_CFG_MATH_Offset);
        let window = u32::from(at.matrix.rwcs[thread].dst)
            + config.state_field(thread, &field::DEST_REGW_BASE_Base);
        let stack = u32::from(self.stack_pointers[thread])
            + config.state_field(thread, &field::DEST_SP_BASE_Base);
        let offset = match mode {
            mode::INT32_ALL => stack + (window & 3),
            _ => window + (stack & 3),
        };
        (base + offset) & ADDRESS
    }

    /// The row of Dst that an SFPSTORE names.
    pub(crate) fn store_row(&self, issued: &Issued, at: &Surroundings<'_>) -> u32 {
        let operands = Operands::parse(Opcode::Sfpstore, issued.word);
        let thread = issued.thread.index();
        let mode = resolve(operands.mod0(), thread, at.config);
        self.address(&operands, mode, thread, at)
    }

    fn stack_increment(thread: usize, at: &Surroundings<'_>) -> u16 {
        at.config.thread_field(thread, &field::SFPU_STACK_Incr) as u16
    }

    /// SFPLOAD; the address it used.
    pub(super) fn sfpload(
        &mut self,
        operands: &Operands,
        issued: &Issued,
        at: &mut Surroundings<'_>,
    ) -> u32 {
        let thread = issued.thread.index();
        let mode = resolve(operands.mod0(), thread, at.config);
        if mode == mode::INT32_ALL {
            let pointer = &mut self.stack_pointers[thread];
            if *pointer != 0 {
                *pointer = pointer.wrapping_sub(Self::stack_increment(thread, at)) & 0x3FF;
            }
        }
        let address = self.address(operands, mode, thread, at);
        let enabled = if mode == mode::INT32_ALL { u32::MAX } else { self.enabled() };
        let set = self.active(operands) & enabled & !self.sets.load_blocked;
        if operands.vd < 8 {
            self.load(operands.vd, mode, set, address, at);
        }
        advance_counters(operands.word, thread, at);
        address
    }

    fn load(&mut self, vd: u8, mode: u32, set: u32, address: u32, at: &Surroundings<'_>) {
        let map = DstMap::of(&at.config.states[0]);
        let place = Place::new(map, dst_format::loads_word(mode), address, self.sets.load_odd);
        let (dst, infinities) = (&at.matrix.dst, self.sets.fp16_infinity);
        if self.schedule.before.is_some() {
            // Others of the cycle may have written the register already: not what this one reads.
            let mut value = *self.operand(vd);
            place.load(dst, mode, u32::MAX, &mut value, infinities);
            self.write(vd, set, &value);
        } else {
            place.load(dst, mode, set, &mut self.lregs[usize::from(vd & 7)], infinities);
        }
        let captured = set & self.sets.capture_index;
        if captured != 0 && vd < 4 {
            self.write(vd + 4, captured, &place.indices());
        }
    }

    /// SFPSTORE as software issues it.
    pub(super) fn sfpstore(
        &mut self,
        operands: &Operands,
        issued: &Issued,
        at: &mut Surroundings<'_>,
    ) {
        let thread = issued.thread.index();
        let mode = resolve(operands.mod0(), thread, at.config);
        let address = self.address(operands, mode, thread, at);
        let active = self.active(operands);
        self.store(operands, mode, active, address, thread, at);
        advance_counters(operands.word, thread, at);
    }

    /// SFPSTORE as SFPLOADMACRO schedules it: to the address that the load used, and without
    /// touching the window counters.
    pub(super) fn scheduled_store(
        &mut self,
        operands: &Operands,
        lanes: u32,
        address: u32,
        thread: usize,
        at: &mut Surroundings<'_>,
    ) {
        let mode = resolve(operands.mod0(), thread, at.config);
        self.store(operands, mode, lanes, address, thread, at);
    }

    fn store(
        &mut self,
        operands: &Operands,
        mode: u32,
        active: u32,
        address: u32,
        thread: usize,
        at: &mut Surroundings<'_>,
    ) {
        let mut enabled = self.enabled();
        if mode == mode::INT32_ALL {
            let pointer = &mut self.stack_pointers[thread];
            *pointer = pointer.wrapping_add(Self::stack_increment(thread, at)) & 0x3FF;
            enabled = u32::MAX;
        }
        let set = active & enabled & !self.sets.store_blocked;
        let map = DstMap::of(&at.config.states[0]);
        let place = Place::new(map, dst_format::stores_word(mode), address, self.sets.store_odd);
        place.store(&mut at.matrix.dst, mode, set, self.operand(operands.vd));
    }
}

/// Applies the address modifier to all counters but the fidelity phase.
fn advance_counters(word: u32, thread: usize, at: &mut Surroundings<'_>) {
    if MatrixUnit::addr_mod_is_idle(word >> 13 & 7, thread, at.config) {
        return;
    }
    let fidelity = at.matrix.rwcs[thread].fidelity;
    at.matrix.apply_addr_mod(word >> 13 & 7, thread, at.config);
    at.matrix.rwcs[thread].fidelity = fidelity;
}
