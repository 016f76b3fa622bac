//! What can be asked about the coprocessor: idleness, status words, waits.

use sim_core::{CoreId, ThreadId};

use crate::backend::Backend;
use crate::frontend::replay::Mode;
use crate::frontend::{Frontend, MopState};
use crate::gate::ThreadWait;
use crate::occupancy::Occupancy;
use crate::queue::Queued;
use crate::units::scalar::ScalarUnit;
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

/// Whether the scalar unit has something of `thread` to finish.
fn scalar_works(scalar: &ScalarUnit, thread: ThreadId) -> bool {
    scalar.outstanding[thread.index()] != 0
        || scalar.blocking.is_some_and(|blocking| blocking.issued.thread == thread)
}

/// Whether nothing of `thread`, whose frontend is given, is anywhere.
pub(crate) fn is_idle(thread: ThreadId, frontend: &Frontend, backend: &Backend) -> bool {
    frontend.is_idle()
        && !backend.vector.runs(thread)
        && !backend.occupancy.has_any_of(thread)
        && !scalar_works(&backend.scalar, thread)
}

/// Content of CSR `tt_cfg_qstatus`; `lanes` says whether any lane of the vector unit executes.
pub(crate) fn queues(threads: &[Frontend; 3], thread: Option<ThreadId>, lanes: bool) -> u32 {
    let all = threads.iter().fold(0, |bits, frontend| bits | queue_bits(frontend));
    let own = thread.map_or(all, |thread| queue_bits(&threads[thread.index()]));
    let lanes = u32::from(lanes);
    own | lanes << 11 | all << 13 | lanes << 24
}

/// Content of CSR `tt_cfg_bstatus`.
pub(crate) fn busy(
    threads: &[Frontend; 3],
    (occupancy, scalar): (&Occupancy, &ScalarUnit),
    thread: Option<ThreadId>,
) -> u32 {
    let bits = |thread: ThreadId| {
        let executing = occupancy.in_flight().iter().filter(|entry| {
            entry.issued.thread == thread && entry.issued.origin.core != CoreId::Brisc
        });
        let works = if scalar_works(scalar, thread) { class_bits(Unit::Scalar) } else { 0 };
        executing.fold(works | queue_bits(&threads[thread.index()]), |bits, entry| {
            bits | class_bits(entry.unit)
        })
    };
    let all = ThreadId::ALL.into_iter().fold(0, |all, thread| all | bits(thread));
    thread.map_or(all, bits) | all << 11
}

/// What `thread`, whose frontend is given, waits for.
pub(crate) fn wait(thread: ThreadId, frontend: &Frontend, backend: &Backend) -> Option<ThreadWait> {
    frontend.gate.visible_wait().or_else(|| {
        let blocking = backend.scalar.blocking.as_ref()?;
        let issued = &blocking.issued;
        (issued.thread == thread).then(|| ThreadWait {
            reason: backend.blocking_reason(blocking),
            since: issued.now,
            word: issued.word,
            origin: issued.origin,
            held: None,
        })
    })
}
