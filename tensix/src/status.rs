//! What can be asked about the coprocessor: idleness, status words, waits, the state hash.

use sim_core::{CoreId, StateHasher, ThreadId};

use crate::coprocessor::Coprocessor;
use crate::frontend::replay::Mode;
use crate::frontend::{Frontend, MopState};
use crate::gate::{Latch, ThreadWait};
use crate::queue::Queued;
use isa::op::{Opcode, Unit};
use isa::operands::Replay;

/// Status bits by instruction class `[isa-bh: TensixTile/BabyRISCV/CSRs.md]`: 0 REPLAY, 1 MOP,
/// 2 ThCon, 3 mover, 4 unpacker, 5 packer, 6 config, 7 sync, 8 any of misc, mover, ThCon, packer
/// and unpacker, 9 SFPU, 10 FPU.
const fn class_bits(unit: Unit) -> u32 {
    match unit {
        Unit::Scalar => 1 << 2 | 1 << 8,
        Unit::Mover => 1 << 3 | 1 << 8,
        Unit::Unpacker => 1 << 4 | 1 << 8,
        Unit::Packer => 1 << 5 | 1 << 8,
        Unit::Config => 1 << 6,
        Unit::Sync => 1 << 7,
        Unit::Misc => 1 << 8,
        Unit::Vector => 1 << 9,
        Unit::Matrix => 1 << 10,
        Unit::Frontend => 0,
    }
}

fn queued_bits(word: u32) -> u32 {
    match Opcode::from_word(word) {
        Some(Opcode::Replay) => {
            // Recording without execution does not count.
            let operands = Replay::of(word);
            u32::from(!operands.load_mode || operands.execute_while_loading)
        }
        Some(Opcode::Mop) => 2,
        opcode => opcode.map_or(0, |opcode| class_bits(opcode.unit())),
    }
}

/// Classes with an instruction of the thread's own TRISC in the frontend.
fn queue_bits(frontend: &Frontend) -> u32 {
    let own = |entry: &&Queued| entry.core() != CoreId::Brisc;
    let queued = frontend.first.iter().chain(frontend.second.iter()).chain(frontend.third.iter());
    let mut bits = queued.filter(own).fold(0, |bits, entry| bits | queued_bits(entry.word()));
    if matches!(frontend.mop, MopState::Expanding { .. }) {
        bits |= 2;
    }
    if let Mode::Play { origin, .. } = frontend.replay.mode {
        bits |= u32::from(origin.core != CoreId::Brisc);
    }
    bits
}

impl Coprocessor {
    /// Whether nothing of `thread` is anywhere: expanders, FIFOs, wait gate, units. That is what
    /// TTSync waits for.
    #[must_use]
    pub fn thread_idle(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].is_idle()
            && !self.backend.vector.schedule.runs(thread)
            && !self.backend.in_flight.iter().any(|entry| entry.issued.thread == thread)
            && !self.scalar_works(thread)
    }

    /// Whether the scalar unit has something of `thread` to finish.
    fn scalar_works(&self, thread: ThreadId) -> bool {
        let scalar = &self.backend.scalar;
        scalar.outstanding[thread.index()] != 0
            || scalar.blocking.is_some_and(|blocking| blocking.issued.thread == thread)
    }

    /// Whether a `MOP` of `thread` is queued before its expander or being expanded.
    #[must_use]
    pub fn mop_busy(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].mop_busy()
    }

    /// Content of CSR `tt_cfg_qstatus` on the TRISC of `thread`, or on BRISC and NCRISC.
    #[must_use]
    pub fn queue_status(&self, thread: Option<ThreadId>) -> u32 {
        let all = self.threads.iter().fold(0, |bits, frontend| bits | queue_bits(frontend));
        let own = thread.map_or(all, |thread| queue_bits(&self.threads[thread.index()]));
        let lanes = u32::from(self.backend.vector.enabled() != 0);
        own | lanes << 11 | all << 13 | lanes << 24
    }

    /// Content of CSR `tt_cfg_bstatus` on the TRISC of `thread`, or on BRISC and NCRISC.
    #[must_use]
    pub fn busy_status(&self, thread: Option<ThreadId>) -> u32 {
        let all = ThreadId::ALL.into_iter().fold(0, |bits, thread| bits | self.busy_bits(thread));
        let own = thread.map_or(all, |thread| self.busy_bits(thread));
        own | all << 11
    }

    fn busy_bits(&self, thread: ThreadId) -> u32 {
        let executing = self.backend.in_flight.iter().filter(|entry| {
            entry.issued.thread == thread && entry.issued.origin.core != CoreId::Brisc
        });
        let scalar = if self.scalar_works(thread) { class_bits(Unit::Scalar) } else { 0 };
        executing.fold(scalar | queue_bits(&self.threads[thread.index()]), |bits, entry| {
            bits | class_bits(entry.unit)
        })
    }

    /// What `thread` waits for: the latched wait instruction that holds its front back, else its front
    /// instruction, or, if it has none, what is latched or occupies the scalar unit. `None` if it runs or has nothing to do.
    #[must_use]
    pub fn wait_state(&self, thread: ThreadId) -> Option<ThreadWait> {
        self.threads[thread.index()].gate.visible_wait().or_else(|| {
            let blocking = self.backend.scalar.blocking.as_ref()?;
            let issued = &blocking.issued;
            (issued.thread == thread).then(|| ThreadWait {
                reason: self.backend.blocking_reason(blocking),
                since: issued.now,
                word: issued.word,
                origin: issued.origin,
                held: None,
            })
        })
    }

    /// Adds everything that determines the future.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        for frontend in &self.threads {
            hash_frontend(frontend, hasher);
        }
        hasher.u8(self.stopped);
        self.hash_backend(hasher);
    }

    fn hash_backend(&self, hasher: &mut StateHasher) {
        let backend = &self.backend;
        for semaphore in backend.sync.semaphores {
            hasher.bytes(&[semaphore.value, semaphore.max]);
        }
        for mutex in backend.sync.mutexes {
            hasher.bytes(&[mutex.holder.map_or(3, |holder| holder as u8), mutex.last]);
        }
        for words in &backend.config.states {
            hasher.words(words);
        }
        for words in &backend.config.threads {
            words.iter().for_each(|&word| hasher.u32(u32::from(word)));
        }
        for gprs in &backend.scalar.gprs {
            hasher.words(gprs);
        }
        hasher.bytes(&backend.scalar.outstanding);
        if let Some(blocking) = &backend.scalar.blocking {
            hasher.u64(blocking.issued.now.0);
            hasher.words(&[blocking.issued.word, blocking.issued.thread as u32]);
            hasher.words(&blocking.store.cells);
        }
        backend.mover.hash_state(hasher);
        backend.matrix.dst.hash_state(hasher);
        for banks in &backend.src {
            banks.hash_state(hasher);
        }
        backend.unpackers.hash_state(hasher);
        for adcs in &backend.adcs {
            adcs.hash_state(hasher);
        }
        hasher.u8(backend.matrix.last_src_a_row);
        for rwc in &backend.matrix.rwcs {
            hasher.bytes(&rwc.dst.to_le_bytes());
            hasher.bytes(&rwc.dst_cr.to_le_bytes());
            hasher.bytes(&[rwc.src_a, rwc.src_a_cr, rwc.src_b, rwc.src_b_cr, rwc.fidelity]);
            hasher.bytes(&[rwc.bias, rwc.bias_cr]);
        }
        backend.packer.hash_state(hasher);
        backend.vector.hash_state(hasher);
        for class in backend.declarations.0.iter().flatten() {
            hasher.bytes(&class.to_le_bytes());
        }
        hasher.u32(backend.held);
        hasher.bytes(&backend.last_served);
        for entry in &backend.in_flight {
            hasher.u64(entry.done.0);
            hasher.u32(entry.issued.word);
            hasher.u8(entry.issued.thread as u8);
        }
        if backend.timed {
            for free in backend.unit_free.iter().chain(&backend.thread_free) {
                hasher.u64(free.0);
            }
            backend.pipelines.hash_state(hasher);
        }
    }
}

fn hash_frontend(frontend: &Frontend, hasher: &mut StateHasher) {
    hash_queue(frontend.first.iter(), hasher);
    hash_queue(frontend.second.iter(), hasher);
    hash_queue(frontend.third.iter(), hasher);
    hasher.words(&frontend.mop_config);
    hasher.words(&[frontend.mask_high, frontend.tracked]);
    hasher.words(&frontend.replay.buffer);
    hasher.words(&frontend.replay.mode_words());
    hasher.words(&frontend.mop.state_words());
    hash_latch(frontend.gate.latch.as_ref(), hasher);
}

fn hash_queue<'a>(entries: impl Iterator<Item = &'a Queued>, hasher: &mut StateHasher) {
    let mut count = 0;
    for entry in entries {
        hasher.words(&[entry.word(), entry.pc(), entry.mop()]);
        hasher.bytes(&[entry.core() as u8, entry.replay()]);
        count += 1;
    }
    hasher.u32(count);
}

fn hash_latch(latch: Option<&Latch>, hasher: &mut StateHasher) {
    hasher.bool(latch.is_some());
    if let Some(latch) = latch {
        hasher.words(&[latch.word, u32::from(latch.block)]);
        // A stream wait's target was fixed when it was latched.
        if let crate::gate::Condition::Stream { target, .. } = latch.condition {
            hasher.u32(target);
        }
    }
}
