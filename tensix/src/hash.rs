//! The state hash of the coprocessor: each part is taken apart, so that a field that nobody has thought of
//! does not compile.

use sim_core::StateHasher;

use crate::backend::Backend;
use crate::frontend::Frontend;
use crate::frontend::replay::Replay;
use crate::gate::{Condition, Gate, Latch};
use crate::queue::Queued;
use crate::state::rwc::Rwc;
use crate::ttsync::Declarations;
use crate::units::config::ConfigUnit;
use crate::units::matrix::MatrixUnit;
use crate::units::scalar::ScalarUnit;
use crate::units::scalar::{Blocking, SrcStore};
use crate::units::sync::{Mutex, SyncUnit};

pub(crate) fn hash_backend(backend: &Backend, hasher: &mut StateHasher) {
    // What is restricted follows from soft reset, timing and the scalar unit; shortcuts give the same
    // sooner; warnings are what was said.
    let Backend {
        sync: SyncUnit { semaphores, mutexes },
        config,
        scalar,
        matrix,
        packer,
        vector,
        unpackers,
        mover,
        src,
        adcs,
        held,
        occupancy,
        last_served,
        restricted: _,
        pipelines,
        declarations: Declarations(declarations),
        shortcuts: _,
        warnings: _,
    } = backend;
    for semaphore in semaphores.iter() {
        hasher.bytes(&[semaphore.value, semaphore.max]);
    }
    for Mutex { holder, last } in mutexes {
        hasher.bytes(&[holder.map_or(3, |holder| holder as u8), *last]);
    }
    // What soft reset holds is in `held`; the generation only names a moment.
    let ConfigUnit { states, threads, thcon_held: _, generation: _, forms: _ } = config;
    for words in states {
        hasher.words(words);
    }
    for words in threads {
        words.iter().for_each(|&word| hasher.u32(u32::from(word)));
    }
    hash_scalar(scalar, hasher);
    mover.hash_state(hasher);
    // What soft reset holds is in `held`.
    let MatrixUnit { dst, rwcs, last_src_a_row, zeroacc_held: _ } = matrix;
    dst.hash_state(hasher);
    for banks in src {
        banks.hash_state(hasher);
    }
    unpackers.hash_state(hasher);
    for adcs in adcs {
        adcs.hash_state(hasher);
    }
    hasher.u8(*last_src_a_row);
    rwcs.iter().for_each(|rwc| hash_rwc(rwc, hasher));
    packer.hash_state(hasher);
    vector.hash_state(hasher);
    for class in declarations.iter().flatten() {
        hasher.bytes(&class.to_le_bytes());
    }
    hasher.u32(*held);
    hasher.bytes(last_served);
    occupancy.hash_state(hasher);
    if occupancy.timed() {
        pipelines.hash_state(hasher);
    }
}

fn hash_scalar(unit: &ScalarUnit, hasher: &mut StateHasher) {
    let ScalarUnit { gprs, outstanding, blocking } = unit;
    for gprs in gprs {
        hasher.words(gprs);
    }
    hasher.bytes(outstanding);
    // The instruction follows from the word; when it tries again, from when it was issued.
    if let Some(Blocking { issued, opcode: _, store, tried: _ }) = blocking {
        let SrcStore { operand, row, column, cells } = store;
        hasher.u64(issued.now.0);
        hasher.words(&[issued.word, issued.thread as u32]);
        hasher.words(cells);
        hasher.bytes(&[*operand, row.unwrap_or(u8::MAX), *column]);
    }
}

fn hash_rwc(rwc: &Rwc, hasher: &mut StateHasher) {
    let Rwc { dst, dst_cr, src_a, src_a_cr, src_b, src_b_cr, fidelity, bias, bias_cr } = rwc;
    hasher.bytes(&dst.to_le_bytes());
    hasher.bytes(&dst_cr.to_le_bytes());
    hasher.bytes(&[*src_a, *src_a_cr, *src_b, *src_b_cr, *fidelity]);
    hasher.bytes(&[*bias, *bias_cr]);
}

pub(crate) fn hash_frontend(frontend: &Frontend, hasher: &mut StateHasher) {
    // A side of the mux that delivered in an earlier cycle has no say in a later one.
    let Frontend {
        first,
        mop,
        mop_config,
        mask_high,
        second,
        replay: replay @ Replay { buffer, mode: _ },
        third,
        gate,
        tracked,
        brisc_mux: _,
        trisc_mux: _,
    } = frontend;
    hash_queue(first.iter(), hasher);
    hash_queue(second.iter(), hasher);
    hash_queue(third.iter(), hasher);
    hasher.words(mop_config);
    hasher.words(&[*mask_high, *tracked]);
    hasher.words(buffer);
    hasher.words(&replay.mode_words());
    hasher.words(&mop.state_words());
    // What the front waits for is found again.
    let Gate { latch, wait: _, reason: _ } = gate;
    hash_latch(latch.as_ref(), hasher);
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
        let Latch { condition, block, word, origin: _, since: _, unmet: _ } = latch;
        hasher.words(&[*word, u32::from(*block)]);
        // Other conditions follow from the word. A stream wait's target was fixed when it was latched.
        if let Condition::Stream { select: _, target, messages: _ } = condition {
            hasher.u32(*target);
        }
    }
}
