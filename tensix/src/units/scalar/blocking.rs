//! Instructions that occupy the scalar unit until something comes true.
//!
//! They leave the wait gate, and then no other thread gets a scalar instruction through, nor their
//! own thread any instruction, until an attempt succeeds. That is how two threads can lock each
//! other out through L1, as on silicon.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ATCAS.md]`, `ATINCGETPTR.md`, `FLUSHDMA.md`,
//! `STOREIND_Src.md`, `ScalarUnit.md`.

use isa::op::{Opcode, Unit};
use isa::operands::{Atcas, Atincgetptr, Flushdma};
use sim_core::{Cycle, WaitReason, Width};

use super::memory::AtomicAddress;
use super::ops;
use super::unit::{Attempts, Blocking, ScalarUnit, SrcStore};
use crate::env::Env;
use crate::occupancy::Occupancy;
use crate::state::src::SrcBanks;
use crate::units::{Fault, Issued};

/// Cycles from one attempt on L1 to the next, where timing is modelled.
const ATTEMPT_CYCLES: u64 = 15;

impl Attempts<'_> {
    /// First attempt of a blocking instruction.
    pub(crate) fn begin<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        store: SrcStore,
        env: &mut E,
    ) -> Result<(), Fault> {
        let blocking = Blocking { issued: *issued, opcode, store, tried: issued.now };
        if !self.attempt(&blocking, env)? {
            self.scalar.blocking = Some(blocking);
        }
        Ok(())
    }

    /// Another attempt of what occupies the unit; whether it succeeded.
    #[cold]
    pub(crate) fn retry<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<bool, Fault> {
        let Some(mut blocking) = self.scalar.blocking else { return Ok(false) };
        let atomic = matches!(blocking.opcode, Opcode::Atcas | Opcode::Atincgetptr);
        let elapsed = now.0.saturating_sub(blocking.issued.now.0);
        if self.occupancy.timed() && atomic && !elapsed.is_multiple_of(ATTEMPT_CYCLES) {
            return Ok(false);
        }
        if self.attempt(&blocking, env)? {
            self.scalar.blocking = None;
            if self.occupancy.timed() && atomic {
                let thread = blocking.issued.thread;
                self.occupancy.hold(Unit::Scalar, thread, now + ATTEMPT_CYCLES);
            }
            return Ok(true);
        }
        blocking.tried = now;
        self.scalar.blocking = Some(blocking);
        Ok(false)
    }

    fn attempt<E: Env>(&mut self, blocking: &Blocking, env: &mut E) -> Result<bool, Fault> {
        let issued = &blocking.issued;
        match blocking.opcode {
            Opcode::Atcas => self.atcas(issued, env),
            Opcode::Atincgetptr => self.atincgetptr(issued, env),
            Opcode::Storeind => Ok(self.store_to_src(&blocking.store)),
            _ => Ok(blocking.unflushed(self.scalar, self.occupancy) == 0),
        }
    }

    /// ATCAS: replaces a 32-bit value that equals a four-bit one.
    fn atcas<E: Env>(&self, issued: &Issued, env: &mut E) -> Result<bool, Fault> {
        let operands = Atcas::of(issued.word);
        let addr = self.scalar.atomic_address(issued, AtomicAddress::of_swap(operands))?;
        if env.l1_word(addr) != operands.cmp_val {
            return Ok(false);
        }
        env.l1_write(addr, operands.swap_val, Width::Word, issued.stamp());
        Ok(true)
    }

    /// ATINCGETPTR: pushes to or pops from a FIFO given by its counters.
    fn atincgetptr<E: Env>(&mut self, issued: &Issued, env: &mut E) -> Result<bool, Fault> {
        let operands = Atincgetptr::of(issued.word);
        let addr = self.scalar.atomic_address(issued, AtomicAddress::of_fifo(operands))?;
        let counter = operands.sel_32b;
        let width = operands.wrap_val;
        let (read, write) = (env.l1_word(addr), env.l1_word(addr + 4));
        if !ops::fifo_is_ready(read, write, counter & 1 != 0, width) {
            return Ok(false);
        }
        let increment = u32::from(!operands.no_incr) << operands.incr_val;
        let before = env.l1_word(addr + 4 * counter);
        let after = ops::masked_add(before, increment, (1 << width) - 1);
        env.l1_write(addr + 4 * counter, after, Width::Word, issued.stamp());
        self.scalar.gprs[issued.thread.index()][operands.data_reg_index as usize] = before;
        Ok(true)
    }

    /// STOREIND to a source: `false` while the unpacker's bank is not the unpackers'.
    fn store_to_src(&mut self, store: &SrcStore) -> bool {
        let banks = &mut self.src[usize::from(store.operand & 1)];
        if banks.unpacker_waits() {
            return false;
        }
        if let Some(row) = store.row {
            let bank = usize::from(banks.unpacker_bank());
            let columns = usize::from(store.column & 12);
            banks.cells[bank][usize::from(row & 63)][columns..columns + 4]
                .copy_from_slice(&store.cells);
        }
        true
    }
}

impl Blocking {
    /// What it waits for.
    pub(crate) fn reason(
        &self,
        scalar: &ScalarUnit,
        src: &[SrcBanks; 2],
        occupancy: &Occupancy,
    ) -> WaitReason {
        match self.opcode {
            Opcode::Atcas | Opcode::Atincgetptr => {
                WaitReason::L1Word { addr: self.address(scalar) }
            }
            Opcode::Storeind => {
                let operand = self.store.operand;
                let bank = u8::from(src[usize::from(operand & 1)].unpacker_bank());
                WaitReason::SrcBank { operand, bank, for_matrix: false }
            }
            _ => WaitReason::Stall { conditions: self.unflushed(scalar, occupancy) },
        }
    }

    /// FLUSHDMA: the selected ones of conditions C0 to C3 that are not met.
    fn unflushed(&self, scalar: &ScalarUnit, occupancy: &Occupancy) -> u16 {
        let mask = match Flushdma::of(self.issued.word).flush_spec {
            0 => 0xF,
            mask => mask as u16,
        };
        mask & scalar.flushing(self.issued.thread, occupancy)
    }

    /// The L1 word whose change may end the wait.
    pub(crate) fn watched(&self, scalar: &ScalarUnit) -> Option<u32> {
        matches!(self.opcode, Opcode::Atcas | Opcode::Atincgetptr).then(|| self.address(scalar))
    }

    fn address(&self, scalar: &ScalarUnit) -> u32 {
        let issued = &self.issued;
        let at = match self.opcode {
            Opcode::Atcas => AtomicAddress::of_swap(Atcas::of(issued.word)),
            _ => AtomicAddress::of_fifo(Atincgetptr::of(issued.word)),
        };
        scalar.atomic_address(issued, at).unwrap_or(0)
    }
}
