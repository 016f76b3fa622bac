//! What can be asked about the coprocessor: idleness, status words, waits, the state hash.

use sim_core::{CoreId, ThreadId};

use crate::coprocessor::Coprocessor;
use crate::frontend::replay::Mode;
use crate::frontend::{Frontend, MopState};
use crate::gate::ThreadWait;
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
            && !self.backend.vector.runs(thread)
            && !self.backend.occupancy.has_any_of(thread)
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
        let lanes = u32::from(self.backend.vector.file().enabled() != 0);
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
        let executing = self.backend.occupancy.in_flight().iter().filter(|entry| {
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
}
