//! The coprocessor's MMIO front doors and reset lines.

use isa::op::Unit;
use sim_core::observer::Stamp;
use sim_core::{AgentId, Cycle, GuestError, ThreadId, Width};

use crate::backend::{Backend, soft_reset};
use crate::checks::Warned;
use crate::coprocessor::Coprocessor;
use crate::env::Env;
use crate::error::DoorError;
use crate::frontend::mop::CONFIG_WORDS;
use crate::gate::{AtGate, ThreadWait};
use crate::registers::{self, Register};
use crate::state::gprs::GPRS;
use crate::ttsync::{self, TrackedAccess};
use crate::units::matrix::window::Window;
use crate::units::mover::TdmaCommand;
use crate::units::packer::dither::Dither;
use crate::units::sync::Semaphore;
use crate::{debug, status};

impl Coprocessor {
    /// Writes a word of the MOP expander configuration of `thread`; gives what was there.
    ///
    /// # Errors
    /// [`DoorError::NoMopWord`] for an index above 8.
    pub fn write_mop_config(
        &mut self,
        thread: ThreadId,
        index: u32,
        value: u32,
    ) -> Result<u32, DoorError> {
        let words = &mut self.threads[thread.index()].mop_config;
        let word = words.get_mut(index as usize).ok_or(DoorError::NoMopWord(index))?;
        let before = std::mem::replace(word, value);
        self.wake();
        Ok(before)
    }

    /// Whether a thread's MOP expander has a configuration word of that number.
    #[must_use]
    pub const fn has_mop_word(index: u32) -> bool {
        (index as usize) < CONFIG_WORDS
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
        u32::from(self.backend.sync.semaphores.get(index as u8).value)
    }

    /// A core's store to semaphore `index` (modulo 8): an even value posts, an odd one gets.
    pub fn write_semaphore<E: Env>(&mut self, index: u32, value: u32, at: Stamp, env: &mut E) {
        self.backend.sync.write(index, value, at, env);
        self.asleep = false;
    }

    /// Sets semaphore `index` (modulo 8) to a value, which no instruction can: for who asks what would
    /// happen if.
    pub fn set_semaphore(&mut self, index: u32, value: u8) {
        let semaphores = &mut self.backend.sync.semaphores;
        let Semaphore { max, .. } = semaphores.get(index as u8);
        semaphores.set(index as u8, Semaphore { value: value & 15, max });
        self.asleep = false;
    }

    /// Largest value of semaphore `index` (modulo 8).
    #[must_use]
    pub fn semaphore_max(&self, index: u32) -> u8 {
        self.backend.sync.semaphores.get(index as u8).max
    }

    /// Hands over the bank of SrcA (0) or SrcB (1) that a unit waits for: to the matrix unit if
    /// `filled`, else to the unpackers. For who asks what would happen if.
    pub fn hand_over(&mut self, operand: u8, filled: bool) {
        let banks = &mut self.backend.src[usize::from(operand & 1)];
        let bank = if filled { banks.matrix_bank() } else { banks.unpacker_bank() };
        banks.give(bank, filled);
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
        self.still.stir(thread);
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

    /// Whether stepping would change nothing until an agent pushes, writes, or changes a stream
    /// register or the word of [`Coprocessor::watched_l1`].
    #[must_use]
    #[inline]
    pub const fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// Whether it is asleep and stays so whatever registers others write: it has no instruction that could
    /// wait for one.
    #[must_use]
    #[inline]
    pub fn sleeps_on(&self) -> bool {
        self.asleep && self.active == 0 && !self.backend.acts_by_itself()
    }

    /// Something outside changed that the coprocessor may look at. Without anything to do it does not.
    #[inline]
    pub fn wake(&mut self) {
        self.asleep &= self.active == 0 && !self.backend.acts_by_itself();
    }

    /// Lowers checks to warnings from now on, and no others.
    pub fn set_warned(&mut self, checks: Warned) {
        self.backend.warnings.lowered = checks;
    }

    /// Assumptions that programs have relied on so far and mistakes whose checks are lowered, at
    /// most one per check and thread: what came of them is the model's choice.
    #[must_use]
    pub fn warnings(&self) -> &[GuestError] {
        self.backend.warnings.list()
    }

    /// Whether `thread` has relied on the assumption `id`.
    #[must_use]
    pub fn has_warned(&self, thread: ThreadId, id: &str) -> bool {
        self.warnings()
            .iter()
            .any(|warning| warning.id == id && warning.at.agent == AgentId::Thread(thread))
    }

    /// A core's access that a front door refused, made `at` there and then.
    ///
    /// # Errors
    /// The refusal, unless its check is lowered: then a store has no effect, and a load gives 0.
    pub fn door_refused(&mut self, error: DoorError, at: Stamp) -> Result<(), DoorError> {
        self.backend.warnings.door_refused(error, at)
    }

    /// Size of the last tile of packer `packer` in 16-byte units, if `thread` packed it; else 0.
    #[must_use]
    pub fn packed_size(&self, packer: u32, thread: ThreadId) -> u32 {
        if packer == 0 { u32::from(self.backend.packer.packed_size(thread)) } else { 0 }
    }

    /// Low half: sizes of the tiles that `thread` packed on packer `packer`, added up. High half: the
    /// low half of what `UNPACR_NOP` accumulated on unpacker `packer & 1`.
    #[must_use]
    pub fn accumulated_sizes(&self, packer: u32, thread: ThreadId) -> u32 {
        let size = self.backend.packer.accumulated_size(thread);
        let messages = self.backend.unpackers.register_accumulator((packer & 1) as usize);
        messages << 16 | if packer == 0 { u32::from(size) } else { 0 }
    }

    /// A store to one of the accumulated sizes: bit 16 + *i* resets those of packer *i* and sets
    /// its address offset to the low half.
    pub fn reset_packed_sizes(&mut self, value: u32) {
        self.backend.packer.reset_sizes(value);
    }

    /// Zero flags of the latest tile of packer `packer`, one bit per compression row.
    #[must_use]
    pub fn zero_flags(&self, packer: u32) -> u32 {
        if packer == 0 { self.backend.packer.tile.all_zero } else { 0 }
    }

    /// Size of the oldest tile in the metadata FIFO of packer `packer`; `None` if it is empty, which
    /// the register waits for.
    #[must_use]
    pub fn peek_metadata(&self, packer: u32) -> Option<u32> {
        if packer == 0 { self.backend.packer.peek_metadata() } else { None }
    }

    /// Takes the oldest tile out of the metadata FIFO of packer `packer`: its zero flags. Of an empty
    /// FIFO they are undefined; here they are zero.
    pub fn pop_metadata(&mut self, packer: u32) -> u32 {
        if packer == 0 { self.backend.packer.pop_metadata() } else { 0 }
    }

    /// State of the four metadata FIFOs: bit 2 *i* is empty, bit 2 *i* + 1 is full.
    #[must_use]
    pub fn metadata_status(&self) -> u32 {
        self.backend.packer.metadata_status()
    }

    /// Bits 30:27: packer *i* works for thread T2; bit 31: bit 16 of what `UNPACR_NOP` accumulated
    /// on unpacker `unpacker`.
    #[must_use]
    pub fn packer_status(&self, unpacker: usize) -> u32 {
        let busy = self.backend.occupancy.runs(Unit::Packer, Some(ThreadId::T2));
        let messages = self.backend.unpackers.register_accumulator(unpacker & 1);
        u32::from(busy) << 27 | (messages >> 16 & 1) << 31
    }

    /// A TRISC's load from its window onto Dst, `offset` bytes from the window's start.
    ///
    /// # Errors
    /// [`DoorError::DstFormat`] for a width that the configured format does not have,
    /// [`DoorError::NoDstDatum`] beyond the last row.
    pub fn read_dst_window(
        &self,
        thread: ThreadId,
        offset: u32,
        width: Width,
    ) -> Result<u32, DoorError> {
        let Backend { config, matrix, .. } = &self.backend;
        Window::of(config, thread).read(&matrix.dst, thread, offset, width)
    }

    /// A TRISC's store to its window onto Dst, `offset` bytes from the window's start.
    ///
    /// # Errors
    /// As [`Coprocessor::read_dst_window`].
    pub fn write_dst_window(
        &mut self,
        thread: ThreadId,
        offset: u32,
        value: u32,
        width: Width,
    ) -> Result<(), DoorError> {
        let Backend { config, matrix, .. } = &mut self.backend;
        Window::of(config, thread).write(&mut matrix.dst, (thread, offset), value, width)
    }

    /// The whole state as a tree, contents of SrcA, SrcB and Dst included.
    #[must_use]
    pub fn registers(&self) -> Register {
        registers::tree(&self.threads, &self.backend, |thread| self.wait_state(thread))
    }

    /// Changes whenever backend configuration may have changed.
    #[must_use]
    #[inline]
    pub const fn config_generation(&self) -> u64 {
        self.backend.config.generation
    }

    /// Threads for which Auto TTSync tracks anything, bit *i* is thread *i*. Only accesses of
    /// their TRISCs can be [held](Coprocessor::holds_access).
    #[must_use]
    pub fn tracked_threads(&self) -> u8 {
        ttsync::tracked_threads(&self.backend.config)
    }

    /// Whether an access of the TRISC of `thread` has to wait until instructions that it pushed
    /// before have passed the wait gate: a store for those that read or write what it stores to, a
    /// load for those that write what it loads.
    #[must_use]
    pub fn holds_access(&self, thread: ThreadId, access: TrackedAccess, store: bool) -> bool {
        let Backend { declarations, config, .. } = &self.backend;
        declarations.hold((access, store), thread, &self.threads[thread.index()], config)
    }

    /// The word that `DBG_RD_DATA` shows for a value of `DBG_BUS_CTRL`: bit 29 enable, bits 26:25
    /// the word, 23:16 the daisychain stop, 15:0 the signals. `None` if it is switched off or the
    /// signals are not modelled.
    #[must_use]
    pub fn debug_bus(&self, control: u32) -> Option<u32> {
        debug::bus(&self.threads, &self.backend, control)
    }

    /// The word that `DBG_ARRAY_RD_DATA` shows for a value of `DBG_ARRAY_RD_CMD`: bits 31:16 the
    /// array, 15:12 a pair of columns, 11:0 the row. `None` for anything but Dst (array 2). Shows
    /// what is stored whether the row is valid or not.
    #[must_use]
    pub fn debug_array(&self, command: u32) -> Option<u32> {
        debug::array(&self.backend.matrix.dst, command)
    }

    /// Whether the FIFO before the MOP expander of `thread` is empty.
    #[must_use]
    pub fn input_is_empty(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].first.is_empty()
    }

    /// Whether nothing of `thread` is anywhere: expanders, FIFOs, wait gate, units. That is what
    /// TTSync waits for.
    #[must_use]
    pub fn thread_idle(&self, thread: ThreadId) -> bool {
        status::is_idle(thread, &self.threads[thread.index()], &self.backend)
    }

    /// Whether a `MOP` of `thread` is queued before its expander or being expanded.
    #[must_use]
    pub fn mop_busy(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].mop_busy()
    }

    /// Content of CSR `tt_cfg_qstatus` on the TRISC of `thread`, or on BRISC and NCRISC.
    #[must_use]
    pub fn queue_status(&self, thread: Option<ThreadId>) -> u32 {
        status::queues(&self.threads, thread, self.backend.vector.file().enabled() != 0)
    }

    /// Content of CSR `tt_cfg_bstatus` on the TRISC of `thread`, or on BRISC and NCRISC.
    #[must_use]
    pub fn busy_status(&self, thread: Option<ThreadId>) -> u32 {
        let Backend { occupancy, scalar, .. } = &self.backend;
        status::busy(&self.threads, (occupancy, scalar), thread)
    }

    /// What `thread` waits for: the latched wait instruction that holds its front back, else its front
    /// instruction, or, if it has none, what is latched or occupies the scalar unit. `None` if it runs or has nothing to do.
    #[must_use]
    pub fn wait_state(&self, thread: ThreadId) -> Option<ThreadWait> {
        status::wait(thread, &self.threads[thread.index()], &self.backend)
    }

    /// The instruction at the wait gate of `thread`, if there is one.
    #[must_use]
    pub fn at_gate(&self, thread: ThreadId) -> Option<AtGate> {
        let front = self.threads[thread.index()].third.front()?;
        Some(AtGate { word: front.word(), origin: front.origin(), slot: front.slot() })
    }
}
