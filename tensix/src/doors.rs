//! The coprocessor's MMIO front doors and reset lines.

use sim_core::observer::Stamp;
use sim_core::{Cycle, GuestError, ThreadId};

use crate::backend::{Backend, soft_reset};
use crate::coprocessor::Coprocessor;
use crate::env::Env;
use crate::error::DoorError;
use crate::units::mover::TdmaCommand;
use crate::units::packer::dither::Dither;
use crate::units::scalar::GPRS;

impl Coprocessor {
    /// Writes a word of the MOP expander configuration of `thread`.
    ///
    /// # Errors
    /// [`DoorError::NoMopWord`] for an index above 8.
    pub fn write_mop_config(
        &mut self,
        thread: ThreadId,
        index: u32,
        value: u32,
    ) -> Result<(), DoorError> {
        let words = &mut self.threads[thread.index()].mop_config;
        *words.get_mut(index as usize).ok_or(DoorError::NoMopWord(index))? = value;
        self.wake();
        Ok(())
    }

    /// General purpose register `index` (modulo 64) of `thread`. BRISC's window of 192 words is
    /// `thread * 64 + index`.
    #[must_use]
    pub fn read_gpr(&self, thread: ThreadId, index: u32) -> u32 {
        self.backend.scalar.gprs[thread.index()][index as usize % GPRS]
    }

    /// Writes general purpose register `index` (modulo 64) of `thread`.
    pub fn write_gpr(&mut self, thread: ThreadId, index: u32, value: u32) {
        self.backend.scalar.gprs[thread.index()][index as usize % GPRS] = value;
        self.wake();
    }

    /// Word `word` (byte offset / 4) of the configuration window; `None` beyond its end.
    ///
    /// The dual-write part reads as state 0, as silicon does; the documents do not support it.
    #[must_use]
    pub fn read_config(&self, word: u32) -> Option<u32> {
        self.backend.config.read_window(word)
    }

    /// Writes word `word` (byte offset / 4) of the configuration window.
    ///
    /// # Errors
    /// Beyond the end of the window, or in `ThreadConfig`, which cores cannot write.
    pub fn write_config<E: Env>(
        &mut self,
        word: u32,
        value: u32,
        at: Stamp,
        env: &mut E,
    ) -> Result<(), DoorError> {
        let effects = self.backend.config.write_window(word, value, at, env)?;
        self.backend.apply(effects);
        self.asleep = false;
        Ok(())
    }

    /// Value of semaphore `index` (modulo 8).
    #[must_use]
    pub fn read_semaphore(&self, index: u32) -> u32 {
        u32::from(self.backend.sync.semaphores[index as usize & 7].value)
    }

    /// A core's store to semaphore `index` (modulo 8): an even value posts, an odd one gets.
    pub fn write_semaphore<E: Env>(&mut self, index: u32, value: u32, at: Stamp, env: &mut E) {
        self.backend.sync.write(index, value, at, env);
        self.asleep = false;
    }

    /// Sets semaphore `index` (modulo 8) to a value, which no instruction can: for who asks what would
    /// happen if.
    pub fn set_semaphore(&mut self, index: u32, value: u8) {
        self.backend.sync.semaphores[index as usize & 7].value = value & 15;
        self.asleep = false;
    }

    /// Largest value of semaphore `index` (modulo 8).
    #[must_use]
    pub fn semaphore_max(&self, index: u32) -> u8 {
        self.backend.sync.semaphores[index as usize & 7].max
    }

    /// Hands over the bank of SrcA (0) or SrcB (1) that somebody waits for: to the matrix unit if
    /// `filled`, else to the unpackers. For who asks what would happen if.
    pub fn hand_over(&mut self, operand: u8, filled: bool) {
        let banks = &mut self.backend.src[usize::from(operand & 1)];
        let bank = usize::from(if filled { banks.matrix_bank } else { banks.unpacker_bank });
        banks.owned_by_matrix[bank] = filled;
        self.asleep = false;
    }

    /// The answer to [`Env::request_register`].
    pub fn deliver_register(&mut self, thread: ThreadId, gpr: u8, value: u32) {
        let pending = &mut self.backend.scalar.outstanding[thread.index()];
        *pending = pending.saturating_sub(1);
        self.write_gpr(thread, u32::from(gpr), value);
    }

    /// The TRISC of `thread` enters reset: its MOP expander and the FIFO before it are discarded.
    pub fn reset_thread_frontend(&mut self, thread: ThreadId) {
        self.threads[thread.index()].discard_input();
        self.restart_thread(thread);
        self.asleep = false;
    }

    /// SOFT_RESET_0 changes from `old` to `new`: acts on the bits of back-end units
    /// `[isa-bh: TensixTile/SoftReset.md]`. Reset lines of cores are the tile's business.
    pub fn apply_soft_reset(&mut self, old: u32, new: u32) {
        use soft_reset::{MATH, PACKERS, SRC_A_CLIENT, SRC_B_CLIENT, THCON, ZEROACC};
        let entered = new & !old;
        let left = old & !new;
        let backend = &mut self.backend;
        backend.held = new;
        backend.update_restricted();
        if entered & THCON != 0 {
            backend.config.reset_thcon();
        }
        backend.config.thcon_held = new & THCON != 0;
        for (bit, banks) in [SRC_A_CLIENT, SRC_B_CLIENT].into_iter().zip(&mut backend.src) {
            if entered & bit != 0 {
                banks.reset_ownership();
            }
        }
        if entered & ZEROACC != 0 {
            backend.matrix.revert_all();
            backend.packer.clear_histogram();
        }
        // One packer in place of four: any of their bits resets it.
        if entered & PACKERS != 0 {
            backend.packer.enter_reset();
        }
        if left & PACKERS != 0 {
            backend.packer.leave_reset();
        }
        // The same bit resets the packer's connection to Dst.
        if left & ZEROACC != 0 {
            backend.packer.dither = Dither::default();
        }
        backend.matrix.zeroacc_held = new & ZEROACC != 0;
        if left & MATH != 0 {
            backend.vector.leave_reset();
        }
        self.asleep = false;
    }

    /// INSTRN_BUF_STATUS (0xFFB120A8): bits 2:0 the FIFO before the replay expander is not full,
    /// bits 6:4 it is empty, one bit per thread.
    #[must_use]
    pub fn instrn_buf_status(&self) -> u32 {
        self.threads.iter().enumerate().fold(0, |status, (thread, frontend)| {
            let fifo = &frontend.second;
            status
                | u32::from(!fifo.is_full()) << thread
                | u32::from(fifo.is_empty()) << (4 + thread)
        })
    }

    /// The L1 word whose change an instruction in the scalar unit waits for, if there is one. A
    /// change of it or of the three words behind it has to [`Coprocessor::wake`].
    #[must_use]
    pub fn watched_l1(&self) -> Option<u32> {
        let scalar = &self.backend.scalar;
        scalar.blocking.as_ref().and_then(|blocking| blocking.watched(scalar))
    }

    /// Whether a core's write to the command register of TDMA-RISC has to wait.
    #[must_use]
    pub fn tdma_queue_is_full(&self) -> bool {
        self.backend.mover.queue_is_full()
    }

    /// Appends a command of TDMA-RISC; the caller respects [`Coprocessor::tdma_queue_is_full`].
    ///
    /// # Errors
    /// `tdma-parameters`: a third command with parameters would wait, which hardware loses;
    /// `tdma-queue-overflow`: the queue is full.
    pub fn push_tdma(&mut self, command: TdmaCommand, at: Stamp) -> Result<(), GuestError> {
        let Backend { mover, warnings, .. } = &mut self.backend;
        mover.push(command, at, warnings).map_err(|fault| *fault)?;
        self.asleep = false;
        Ok(())
    }

    /// The status register of TDMA-RISC at `now`: mover busy (bit 0), queue full (2), empty (3),
    /// parameter queue full (4), empty (5), room for commands (15:8).
    #[must_use]
    pub fn tdma_status(&self, now: Cycle) -> u32 {
        self.backend.mover.status(now)
    }

    /// Whether stepping would change nothing until somebody pushes, writes, or changes a stream
    /// register or the word of [`Coprocessor::watched_l1`].
    #[must_use]
    #[inline]
    pub const fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// Something outside changed that the coprocessor may look at. Without anything to do it does not.
    #[inline]
    pub fn wake(&mut self) {
        self.asleep &= self.active == 0 && !self.backend.acts_by_itself();
    }
}
