//! Memory instructions of the scalar unit: L1, tile registers, and SrcA or SrcB.
//!
//! The documents let an answer come "at some later point"; here L1 answers in the cycle of issue,
//! and tile registers after the cycle, which condition C0 and TTSync wait for.
//!
//! Sources: `[isa-wh: TensixCoprocessor/LOADIND.md]`, `STOREIND_L1.md`, `STOREIND_MMIO.md`,
//! `STOREIND_Src.md`, `LOADREG.md`, `STOREREG.md`, `ATINCGET.md`, `ATSWAP.md`.

use isa::config::field;
use isa::operands::{Atcas, Atincget, Atincgetptr, Atswap, Loadind, Storeind, TileRegister};
use sim_core::Width;
use sim_core::l1::L1_BYTES;

use super::ops;
use super::unit::{ScalarUnit, SrcStore};
use crate::checks::Check;
use crate::env::Env;
use crate::units::config::ConfigUnit;
use crate::units::unpacker::Unpackers;
use crate::units::{Fault, Issued};

/// First address that LOADREG and STOREREG may name; local RAMs are below.
const FIRST_REGISTER: u32 = 0xFFB1_1000;
/// What register addresses are relative to.
const REGISTER_BASE: u32 = 0xFFB0_0000;

/// Base register and offset of an indirect access.
struct Indirect {
    base: u32,
    offset: u32,
}

/// Operands of an indirect access: the GPR with the base, the half-register with the offset, and which
/// increment it gets.
#[derive(Clone, Copy)]
struct Indirection {
    base_gpr: u32,
    offset_half: u32,
    increment: u32,
}

impl Indirection {
    const fn of_load(operands: Loadind) -> Self {
        let Loadind { addr_reg_index, offset_index, auto_inc_spec, .. } = operands;
        Self { base_gpr: addr_reg_index, offset_half: offset_index, increment: auto_inc_spec }
    }

    const fn of_store(operands: Storeind) -> Self {
        let Storeind { addr_reg_index, offset_index, auto_inc_spec, .. } = operands;
        Self { base_gpr: addr_reg_index, offset_half: offset_index, increment: auto_inc_spec }
    }
}

/// Operands that say where an atomic instruction goes.
#[derive(Clone, Copy)]
pub(crate) struct AtomicAddress {
    /// Register with the address.
    pub(super) gpr: u32,
    pub(super) mem_hier_sel: bool,
    /// Which word of the 16 bytes.
    pub(super) word: u32,
}

impl AtomicAddress {
    const fn of_increment(operands: Atincget) -> Self {
        let Atincget { addr_reg_index: gpr, mem_hier_sel, sel_32b: word, .. } = operands;
        Self { gpr, mem_hier_sel, word }
    }

    pub(super) const fn of_swap(operands: Atcas) -> Self {
        let Atcas { addr_reg_index: gpr, mem_hier_sel, sel_32b: word, .. } = operands;
        Self { gpr, mem_hier_sel, word }
    }

    pub(super) const fn of_fifo(operands: Atincgetptr) -> Self {
        let Atincgetptr { addr_reg_index: gpr, mem_hier_sel, .. } = operands;
        Self { gpr, mem_hier_sel, word: 0 }
    }
}

impl ScalarUnit {
    /// Reads the operands of an indirect access and advances its offset.
    fn indirect(&mut self, issued: &Issued, at: Indirection) -> Indirect {
        let half = at.offset_half as usize;
        let increment = [0, 2, 4, 16][at.increment as usize & 3];
        let gprs = self.gprs_of(issued);
        let base = gprs[at.base_gpr as usize];
        let offset = ops::half(gprs, half);
        ops::set_half(gprs, half, offset.wrapping_add(increment));
        Indirect { base, offset: u32::from(offset) }
    }

    /// LOADIND: 8 to 128 bits of L1 to registers. Narrow loads leave the rest of the register.
    pub(super) fn load_indirect<E: Env>(
        &mut self,
        operands: Loadind,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        let Indirect { base, offset } = self.indirect(issued, Indirection::of_load(operands));
        let addr = l1_address(issued, base.wrapping_mul(16).wrapping_add(offset))?;
        let result = operands.data_reg_index as usize;
        let gprs = self.gprs_of(issued);
        let size = operands.size_sel;
        if size == 0 {
            for (word, gpr) in gprs[result & 0x3C..][..4].iter_mut().enumerate() {
                *gpr = env.l1_word((addr & !15) + 4 * word as u32);
            }
        } else {
            let width = ops::width(size);
            let shift = 8 * (addr & 3 & !(width.bytes() - 1));
            let value = env.l1_word(addr & !3) >> shift;
            gprs[result] = gprs[result] & !width.mask() | value & width.mask();
        }
        if env.wants_l1_reads() {
            let (addr, bytes) = match size {
                0 => (addr & !15, 16),
                _ => (addr, ops::width(size).bytes()),
            };
            env.l1_read(addr, bytes, issued.stamp());
        }
        Ok(())
    }

    /// STOREIND to L1.
    pub(super) fn storeind_l1<E: Env>(
        &mut self,
        operands: Storeind,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        let Indirect { base, offset } = self.indirect(issued, Indirection::of_store(operands));
        let addr = l1_address(issued, base.wrapping_mul(16).wrapping_add(offset))?;
        // The data is read after the offset was advanced.
        let data = operands.data_reg_index as usize;
        let at = issued.stamp();
        let gprs = self.gprs_of(issued);
        match operands.l1_size {
            0 => {
                for (word, &value) in gprs[data & 0x3C..][..4].iter().enumerate() {
                    env.l1_write((addr & !15) + 4 * word as u32, value, Width::Word, at);
                }
            }
            size => {
                let width = ops::width(size);
                env.l1_write(addr & !(width.bytes() - 1), gprs[data] & width.mask(), width, at);
            }
        }
        Ok(())
    }

    /// STOREIND to a tile register.
    pub(super) fn storeind_register<E: Env>(
        &mut self,
        operands: Storeind,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        // The data is read before the offset is advanced.
        let value = self.gprs_of(issued)[operands.data_reg_index as usize];
        let Indirect { base, offset } = self.indirect(issued, Indirection::of_store(operands));
        let addr = base.wrapping_add(offset >> 4) & 0x000F_FFFC;
        env.store_register(register_address(issued, addr)?, value, issued.stamp());
        Ok(())
    }

    /// STOREIND of four BF16 to SrcA or SrcB: what it will store, and where.
    pub(super) fn storeind_src(
        &mut self,
        operands: Storeind,
        issued: &Issued,
        config: &ConfigUnit,
        unpackers: &Unpackers,
    ) -> Result<SrcStore, Fault> {
        let data = operands.data_reg_index as usize & 0x3C;
        let gprs = self.gprs_of(issued);
        let cells = ops::bf16_cells([gprs[data], gprs[data + 1]]);
        let Indirect { base, offset } = self.indirect(issued, Indirection::of_store(operands));
        let addr = base.wrapping_add(offset >> 4) & 0xF_FFFF;
        let operand = usize::from(operands.reg_size_sel);
        let thread = issued.thread.index();
        let by_address =
            operand == 0 && config.thread_field(thread, &field::SRCA_SET_SetOvrdWithAddr) != 0;
        // The first four rows of SrcA's address space are nowhere.
        let row = if operand == 0 { (addr >> 2).checked_sub(4) } else { Some(addr >> 2) };
        let limit = if by_address { 64 } else { 16 };
        if addr > 0xFFFF || row.is_some_and(|row| row >= limit) {
            return Err(issued.error(
                Check::StoreindRow,
                format!("STOREIND to row address {:#x} of Src{}", addr >> 2, ["A", "B"][operand]),
            ));
        }
        let base_row = if by_address { 0 } else { u32::from(unpackers.src_row(operand, thread)) };
        Ok(SrcStore {
            operand: operand as u8,
            row: row.map(|row| (row + base_row) as u8 & 63),
            column: (addr & 3) as u8 * 4,
            cells,
        })
    }

    /// LOADREG: asks for a tile register.
    pub(super) fn load_register<E: Env>(
        &mut self,
        operands: TileRegister,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        let addr = register_address(issued, operands.reg_addr << 2)?;
        let pending = &mut self.outstanding[issued.thread.index()];
        *pending = pending.saturating_add(1);
        let gpr = operands.tdma_data_reg_index as u8;
        env.request_register(issued.thread, gpr, addr, issued.stamp());
        Ok(())
    }

    /// STOREREG: writes a tile register.
    pub(super) fn store_tile_register<E: Env>(
        &mut self,
        operands: TileRegister,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        let addr = register_address(issued, operands.reg_addr << 2)?;
        let value = self.gprs_of(issued)[operands.tdma_data_reg_index as usize];
        env.store_register(addr, value, issued.stamp());
        Ok(())
    }

    /// ATINCGET: adds a register to an integer of up to 32 bits, and returns what it was.
    pub(super) fn atomic_increment<E: Env>(
        &mut self,
        operands: Atincget,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        let place = AtomicAddress::of_increment(operands);
        let addr = self.atomic_address(issued, place)?;
        let gpr = &mut self.gprs_of(issued)[operands.data_reg_index as usize];
        let before = env.l1_word(addr);
        let mask = (2_u32 << operands.wrap_val).wrapping_sub(1);
        let after = ops::masked_add(before, *gpr, mask);
        *gpr = before;
        env.l1_write(addr, after, Width::Word, issued.stamp());
        Ok(())
    }

    /// ATSWAP: selected half-words of 128 bits. Nothing is swapped.
    pub(super) fn atomic_store<E: Env>(
        &mut self,
        operands: Atswap,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        let Atswap { addr_reg_index: gpr, mem_hier_sel, .. } = operands;
        let addr = self.atomic_address(issued, AtomicAddress { gpr, mem_hier_sel, word: 0 })?;
        let data = operands.data_reg_index as usize;
        let gprs = self.gprs_of(issued);
        let mut words = [0; 4];
        if operands.single_word {
            words[data & 3] = gprs[data];
        } else {
            words.copy_from_slice(&gprs[data & 0x3C..][..4]);
        }
        for half in (0..8_u32).filter(|half| operands.swap_mask >> half & 1 != 0) {
            let value = words[half as usize >> 1] >> (16 * (half & 1)) & 0xFFFF;
            env.l1_write(addr + 2 * half, value, Width::Half, issued.stamp());
        }
        Ok(())
    }

    /// Where an atomic instruction goes: its address register counts 16-byte units.
    pub(super) fn atomic_address(&self, issued: &Issued, at: AtomicAddress) -> Result<u32, Fault> {
        if at.mem_hier_sel {
            issued.refuse(
                Check::AtomicTarget,
                "an atomic with MemHierSel set: what it then works on is not public",
            )?;
        }
        let base = self.gprs[issued.thread.index()][at.gpr as usize];
        l1_address(issued, base.wrapping_mul(16).wrapping_add(4 * at.word))
    }
}

/// `addr` if it is in L1.
fn l1_address(issued: &Issued, addr: u32) -> Result<u32, Fault> {
    if addr < L1_BYTES {
        return Ok(addr);
    }
    Err(issued.error(
        Check::L1Address,
        format!("{} at {addr:#x}, beyond L1", isa::disasm::tensix(issued.word)),
    ))
}

/// The register at `offset` of the window, unless it is a core's local RAM.
fn register_address(issued: &Issued, offset: u32) -> Result<u32, Fault> {
    let addr = REGISTER_BASE + (offset & 0x000F_FFFC);
    if addr >= FIRST_REGISTER {
        return Ok(addr);
    }
    Err(issued.error(
        Check::RegisterAddress,
        format!("{} at {addr:#010x}, below all registers", isa::disasm::tensix(issued.word)),
    ))
}
