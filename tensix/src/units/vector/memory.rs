//! SFPLOAD and SFPSTORE: which cells of Dst, in which lanes, and what happens to the counters.
//!
//! A vector is the even or the odd columns of four consecutive rows: lane *l* is row *l*/8, column
//! 2 * (*l* mod 8) or the one after it.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, `SFPSTORE.md`, `Dst.md`.

use isa::config::field;

use super::dst_format::{self, mode};
use super::{Issued, LANES, LReg, Operands, VectorUnit};
use crate::state::dst::{Dst, DstMap, decode_fp32};
use crate::units::config::ConfigUnit;
use crate::units::matrix::MatrixUnit;

/// What SFPLOAD and SFPSTORE need of other units.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) matrix: &'a mut MatrixUnit,
    pub(crate) config: &'a ConfigUnit,
}

/// Ten-bit Dst address: bits 9:2 a group of four rows, bit 1 odd columns.
const ADDRESS: u32 = 0x3FF;
const COLUMN: u32 = 2;

/// Where the cells of a vector are.
struct Place {
    rows: [usize; 4],
    /// Column of each lane of a row.
    columns: [usize; 8],
}

impl Place {
    fn new(config: &ConfigUnit, wide: bool, address: u32, odd: u32) -> Self {
        let map = DstMap::of(&config.states[0]);
        let first = address & ADDRESS & !3;
        // The low half of a wide row is eight rows further.
        let rows = [0, 1, 2, 3].map(|offset| {
            let row = first + offset;
            if wide { map.row32(row) } else { map.row16(row) }
        });
        let odd = if address & COLUMN != 0 { u32::MAX } else { odd };
        Self {
            rows: rows.map(|row| row as usize),
            columns: std::array::from_fn(|lane| lane * 2 + (odd >> lane & 1) as usize),
        }
    }
}

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
        let wide = dst_format::loads_word(mode);
        let place = Place::new(at.config, wide, address, self.sets.load_odd);
        let dst = &at.matrix.dst;
        let value = if wide {
            load_words(dst, &place)
        } else {
            self.load_halves(dst, &place, mode, self.operand(vd))
        };
        self.write(vd, set, &value);
        let captured = set & self.sets.capture_index;
        if captured != 0 && vd < 4 {
            let rows = address & ADDRESS & !3;
            let index = std::array::from_fn(|lane| {
                ((rows + lane as u32 / 8) << 4) | place.columns[lane & 7] as u32
            });
            self.write(vd + 4, captured, &index);
        }
    }

    fn load_halves(&self, dst: &Dst, place: &Place, mode: u32, old: &LReg) -> LReg {
        let mut value = [0; LANES];
        for (row, &physical) in place.rows.iter().enumerate() {
            let cells = if dst.is_valid(physical as u32) { &dst.cells[physical] } else { &[0; 16] };
            for column in 0..8 {
                let lane = row * 8 + column;
                let infinity = self.sets.fp16_infinity >> lane & 1 != 0;
                let cell = cells[place.columns[column] & 15];
                value[lane] = dst_format::load_half(mode, cell, old[lane], infinity);
            }
        }
        value
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
        let wide = dst_format::stores_word(mode);
        let place = Place::new(at.config, wide, address, self.sets.store_odd);
        let value = self.operand(operands.vd);
        if wide {
            store_words(&mut at.matrix.dst, &place, set, mode, value);
        } else {
            store_halves(&mut at.matrix.dst, &place, set, mode, value);
        }
    }
}

/// Applies the address modifier to all counters but the fidelity phase.
fn advance_counters(word: u32, thread: usize, at: &mut Surroundings<'_>) {
    let fidelity = at.matrix.rwcs[thread].fidelity;
    at.matrix.apply_addr_mod(word >> 13 & 7, thread, at.config);
    at.matrix.rwcs[thread].fidelity = fidelity;
}

fn load_words(dst: &Dst, place: &Place) -> LReg {
    let mut value = [0; LANES];
    for (row, &physical) in place.rows.iter().enumerate() {
        if !dst.is_valid(physical as u32) {
            continue;
        }
        let (high, low) = (&dst.cells[physical], &dst.cells[physical + 8]);
        for column in 0..8 {
            let cell = place.columns[column] & 15;
            let word = u32::from(high[cell]) << 16 | u32::from(low[cell]);
            value[row * 8 + column] = decode_fp32(word);
        }
    }
    value
}

fn store_words(dst: &mut Dst, place: &Place, set: u32, mode: u32, value: &LReg) {
    for (row, &physical) in place.rows.iter().enumerate() {
        let lanes = set >> (row * 8) & 0xFF;
        if lanes == 0 {
            continue;
        }
        dst.validate(physical as u32);
        for column in 0..8 {
            if lanes >> column & 1 != 0 {
                let cell = place.columns[column] & 15;
                let word = dst_format::store_word(mode, value[row * 8 + column]);
                dst.cells[physical][cell] = (word >> 16) as u16;
                dst.cells[physical + 8][cell] = word as u16;
            }
        }
    }
}

fn store_halves(dst: &mut Dst, place: &Place, set: u32, mode: u32, value: &LReg) {
    for (row, &physical) in place.rows.iter().enumerate() {
        let lanes = set >> (row * 8) & 0xFF;
        if lanes == 0 {
            continue;
        }
        dst.validate(physical as u32);
        for column in 0..8 {
            if lanes >> column & 1 != 0 {
                let cell = place.columns[column] & 15;
                dst.cells[physical][cell] = dst_format::store_half(mode, value[row * 8 + column]);
            }
        }
    }
}
