//! SFPLOAD and SFPSTORE, and SFPLOADMACRO with the same fields: which address, in which lanes, and what happens to the counters. The cells
//! themselves are in [`super::cells`], the straight line for nearly all of them in
//! [`super::transfer`].
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, `SFPSTORE.md`, `Dst.md`.

use isa::config::field;
use isa::operands::DstTransfer;
use sim_core::StateHasher;

use super::cells::Place;
use super::dst_format::{self, mode};
use super::{Issued, Operands, RegisterFile};
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
pub(super) const ADDRESS: u32 = 0x3FF;

/// What the configuration says about SFPLOAD and SFPSTORE of a thread. Kept until it changes; no
/// part of the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DstAccess {
    /// Generation of the configuration; [`DstAccess::UNKNOWN`] has one that never comes.
    generation: u64,
    /// The mode that `MOD0_FMT_SRCB` stands for.
    implied: u32,
    /// Added to addresses, to the window counter and to the stack pointer.
    base: u32,
    window_base: u32,
    stack_base: u32,
    pub(super) map: DstMap,
    /// Address modifiers that change no counter, bit *i* is modifier *i*.
    idle_modifiers: u8,
}

impl DstAccess {
    pub(super) const UNKNOWN: Self = Self {
        generation: u64::MAX,
        implied: mode::ZERO,
        base: 0,
        window_base: 0,
        stack_base: 0,
        map: DstMap { remap: false, swizzle: false },
        idle_modifiers: 0,
    };

    fn of(config: &ConfigUnit, thread: usize) -> Self {
        let is_idle = |index| MatrixUnit::addr_mod_is_idle(index, thread, config);
        Self {
            generation: config.generation,
            implied: implied(config, thread),
            base: config.thread_field(thread, &field::DEST_TARGET_REG_CFG_MATH_Offset),
            window_base: config.state_field(thread, &field::DEST_REGW_BASE_Base),
            stack_base: config.state_field(thread, &field::DEST_SP_BASE_Base),
            map: DstMap::of(&config.states[0]),
            idle_modifiers: (0..8).fold(0, |set, index| set | u8::from(is_idle(index)) << index),
        }
    }

    /// Concrete mode of an instruction.
    #[inline(always)]
    pub(super) const fn resolve(&self, word: u32) -> u32 {
        match DstTransfer::INSTR_MOD0.get(word) {
            mode::SRCB => self.implied,
            mode => mode,
        }
    }

    /// Whether the address modifier of an instruction changes no counter.
    #[inline(always)]
    pub(super) const fn keeps_counters(&self, word: u32) -> bool {
        self.idle_modifiers >> DstTransfer::SFPU_ADDR_MODE.get(word) & 1 != 0
    }
}

fn implied(config: &ConfigUnit, thread: usize) -> u32 {
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

/// What SFPLOAD and SFPSTORE keep: stack pointers, and what the configuration says of addresses.
#[derive(Clone, Debug)]
pub(super) struct Transfers {
    /// Per thread, ten bits, of mode `INT32_ALL`.
    stack_pointers: [u16; 3],
    accesses: [DstAccess; 3],
}

impl Transfers {
    pub(super) const fn new() -> Self {
        Self { stack_pointers: [0; 3], accesses: [DstAccess::UNKNOWN; 3] }
    }

    pub(super) const fn stack_pointers(&self) -> [u16; 3] {
        self.stack_pointers
    }

    #[cfg(test)]
    pub(super) const fn set_stack_pointers(&mut self, pointers: [u16; 3]) {
        self.stack_pointers = pointers;
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        // Accesses are looked up in the configuration.
        let Self { stack_pointers, accesses: _ } = self;
        stack_pointers.iter().for_each(|&pointer| hasher.u32(u32::from(pointer)));
    }

    /// What the configuration says now.
    #[inline]
    pub(super) fn access(&mut self, thread: usize, config: &ConfigUnit) -> &DstAccess {
        let known = &mut self.accesses[thread];
        if known.generation != config.generation {
            Self::look_up(known, thread, config);
        }
        &self.accesses[thread]
    }

    #[cold]
    fn look_up(known: &mut DstAccess, thread: usize, config: &ConfigUnit) {
        *known = DstAccess::of(config, thread);
    }

    /// The Dst address that an instruction of any mode but `INT32_ALL` means now.
    #[inline]
    fn address(&self, word: u32, thread: usize, access: &DstAccess, at: &Surroundings<'_>) -> u32 {
        DstTransfer::DEST_REG_ADDR.get(word).wrapping_add(self.origin(thread, access, at)) & ADDRESS
    }

    /// What is added to the addresses of such instructions now.
    #[inline(always)]
    pub(super) fn origin(&self, thread: usize, access: &DstAccess, at: &Surroundings<'_>) -> u32 {
        let window = u32::from(at.matrix.rwcs[thread].dst) + access.window_base;
        let stack = u32::from(self.stack_pointers[thread]) + access.stack_base;
        access.base + window + (stack & 3)
    }

    /// As [`Self::origin`], for mode `INT32_ALL`.
    fn stack_address(
        &self,
        word: u32,
        thread: usize,
        access: &DstAccess,
        at: &Surroundings<'_>,
    ) -> u32 {
        let window = u32::from(at.matrix.rwcs[thread].dst) + access.window_base;
        let stack = u32::from(self.stack_pointers[thread]) + access.stack_base;
        (DstTransfer::DEST_REG_ADDR.get(word) + access.base + stack + (window & 3)) & ADDRESS
    }

    /// The row of Dst that an SFPSTORE names.
    pub(super) fn store_row(&self, issued: &Issued, at: &Surroundings<'_>) -> u32 {
        let (word, thread) = (issued.word, issued.thread.index());
        let access = DstAccess::of(at.config, thread);
        match access.resolve(word) {
            mode::INT32_ALL => self.stack_address(word, thread, &access, at),
            _ => self.address(word, thread, &access, at),
        }
    }

    /// Whether an SFPLOAD reads cells of 32 bits.
    pub(super) fn loads_word(&self, issued: &Issued, at: &Surroundings<'_>) -> bool {
        let access = DstAccess::of(at.config, issued.thread.index());
        dst_format::loads_word(access.resolve(issued.word))
    }

    fn stack_increment(thread: usize, at: &Surroundings<'_>) -> u16 {
        at.config.thread_field(thread, &field::SFPU_STACK_Incr) as u16
    }

    /// Any SFPLOAD, or that of an SFPLOADMACRO; the address it used.
    pub(super) fn load_any(
        &mut self,
        file: &mut RegisterFile,
        operands: &Operands,
        issued: &Issued,
        at: &mut Surroundings<'_>,
    ) -> u32 {
        let (word, thread) = (operands.word, issued.thread.index());
        let access = *self.access(thread, at.config);
        let mode = access.resolve(word);
        let (address, enabled) = if mode == mode::INT32_ALL {
            let pointer = &mut self.stack_pointers[thread];
            if *pointer != 0 {
                *pointer = pointer.wrapping_sub(Self::stack_increment(thread, at)) & 0x3FF;
            }
            (self.stack_address(word, thread, &access, at), u32::MAX)
        } else {
            (self.address(word, thread, &access, at), file.enabled())
        };
        let set = file.active(operands) & enabled & !file.sets().load_blocked;
        if operands.vd < 8 {
            let odd = file.sets().load_odd;
            let place = Place::new(access.map, dst_format::loads_word(mode), address, odd);
            // Others of the cycle may have written the register already: not what this one reads.
            let mut value = *file.operand(operands.vd);
            place.load(&at.matrix.dst, mode, u32::MAX, &mut value, file.sets().fp16_infinity);
            file.write(operands.vd, set, &value);
            let captured = set & file.sets().capture_index;
            if captured != 0 && operands.vd < 4 {
                file.write(operands.vd + 4, captured, &place.indices());
            }
        }
        advance_counters(word, thread, &access, at);
        address
    }

    /// Any SFPSTORE that software issues.
    pub(super) fn store_any(
        &mut self,
        file: &mut RegisterFile,
        operands: &Operands,
        issued: &Issued,
        at: &mut Surroundings<'_>,
    ) {
        let (word, thread) = (issued.word, issued.thread.index());
        let access = *self.access(thread, at.config);
        let address = match access.resolve(word) {
            mode::INT32_ALL => self.stack_address(word, thread, &access, at),
            _ => self.address(word, thread, &access, at),
        };
        let active = file.active(operands);
        self.store(file, operands, active, address, thread, at);
        advance_counters(word, thread, &access, at);
    }

    /// SFPSTORE of the lanes of `active`, to the address given and without touching the window
    /// counters: as SFPLOADMACRO schedules it, to the address that the load used.
    pub(super) fn store(
        &mut self,
        file: &RegisterFile,
        operands: &Operands,
        active: u32,
        address: u32,
        thread: usize,
        at: &mut Surroundings<'_>,
    ) {
        let access = *self.access(thread, at.config);
        let mode = access.resolve(operands.word);
        let mut enabled = file.enabled();
        if mode == mode::INT32_ALL {
            let pointer = &mut self.stack_pointers[thread];
            *pointer = pointer.wrapping_add(Self::stack_increment(thread, at)) & 0x3FF;
            enabled = u32::MAX;
        }
        let set = active & enabled & !file.sets().store_blocked;
        let (wide, odd) = (dst_format::stores_word(mode), file.sets().store_odd);
        let place = Place::new(access.map, wide, address, odd);
        place.store(&mut at.matrix.dst, mode, set, file.operand(operands.vd));
    }
}

/// Applies the address modifier to all counters but the fidelity phase.
#[inline]
pub(super) fn advance_counters(
    word: u32,
    thread: usize,
    access: &DstAccess,
    at: &mut Surroundings<'_>,
) {
    if !access.keeps_counters(word) {
        advance_other_counters(word, thread, at);
    }
}

/// Applies an address modifier that does change a counter.
#[inline(never)]
pub(super) fn advance_other_counters(word: u32, thread: usize, at: &mut Surroundings<'_>) {
    let fidelity = at.matrix.rwcs[thread].fidelity;
    at.matrix.apply_addr_mod(DstTransfer::SFPU_ADDR_MODE.get(word), thread, at.config);
    at.matrix.rwcs[thread].fidelity = fidelity;
}
