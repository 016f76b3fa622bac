//! What the tile's debug registers show of the coprocessor: counters and bank ownership on the
//! debug daisychain, Dst through the debug array port.
//!
//! Sources: `[isa-wh: TensixTile/DebugDaisychain.md]`; where Blackhole's signals lie
//! `[ttsim: debug bus]`, confirmed by the reference vectors.

use crate::backend::Backend;
use crate::frontend::Frontend;
use crate::state::adc::{Channel, PACKERS, ThreadAdcs};
use crate::state::dst::{DST_ROWS, Dst};
use crate::state::rwc::Rwc;
use crate::state::src::SrcBanks;

/// Signals of one or two selections, 128 bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Signals([u32; 8]);

impl Signals {
    /// Places `value` at `bit`; a value may cross words, and is cut off at the end.
    fn put(&mut self, bit: usize, value: u32) {
        let wide = u64::from(value) << (bit % 32);
        for (offset, part) in [wide as u32, (wide >> 32) as u32].into_iter().enumerate() {
            if let Some(word) = self.0.get_mut(bit / 32 + offset) {
                *word |= part;
            }
        }
    }

    /// What is about to go through the wait gate, and the FIFO before the replay expander. What
    /// they are is described for Wormhole; where Blackhole has them, by name only
    /// `[exalens: hardware/blackhole/functional_worker_debug_bus_signals.py]`: `thread_inst`,
    /// `ibuffer_empty`, `req_iramd_buffer_full` and `_empty`.
    fn of_frontend(frontend: &Frontend) -> Self {
        let mut signals = Self::default();
        signals.put(40, frontend.third.front().map_or(0, |entry| entry.word()));
        for (bit, flag) in [
            (73, frontend.third.is_empty()),
            (75, frontend.second.is_full()),
            (76, frontend.second.is_empty()),
        ] {
            signals.put(bit, u32::from(flag));
        }
        signals
    }

    /// Unpackers of thread 0 and the packers of thread 2, by channel.
    fn of_adcs(adcs: &[ThreadAdcs; 3], select: usize) -> Self {
        let (which, channel) = (select / 2, select % 2);
        let thread = if which == PACKERS { 2 } else { 0 };
        let Channel { x, y, z, w } = adcs[thread].0[which][channel];
        let mut signals = Self::default();
        for (bit, value) in [
            (0, x.value),
            (18, x.cr),
            (64, y.value),
            (80, y.cr),
            // Eight bits of Z and W are shown, whatever they have.
            (96, z.value & 0xFF),
            (104, z.cr & 0xFF),
            (112, w.value & 0xFF),
            (120, w.cr & 0xFF),
        ] {
            signals.put(bit, value);
        }
        signals
    }

    fn of_ownership([a, b]: &[SrcBanks; 2]) -> Self {
        let mut signals = Self::default();
        for (bit, flag) in [
            (84, !a.unpacker_waits()),
            (85, !a.matrix_waits()),
            (90, a.owned_by_matrix(true)),
            (91, a.owned_by_matrix(false)),
            (92, a.matrix_bank()),
            (93, a.matrix_bank()),
            (94, a.unpacker_bank()),
            (100, b.matrix_bank()),
            (101, b.matrix_bank()),
            (102, b.unpacker_bank()),
            (105, b.owned_by_matrix(false)),
            (106, b.owned_by_matrix(true)),
        ] {
            signals.put(bit, u32::from(flag));
        }
        signals
    }

    fn of_rwcs(rwcs: &[Rwc; 3]) -> Self {
        let mut signals = Self::default();
        for (thread, rwc) in rwcs.iter().enumerate() {
            signals.put(16 * thread, u32::from(rwc.src_a));
            signals.put(16 * thread + 8, u32::from(rwc.src_a_cr));
            signals.put(16 * thread + 60, u32::from(rwc.src_b));
            signals.put(16 * thread + 68, u32::from(rwc.src_b_cr));
            signals.put(20 * thread + 120, u32::from(rwc.dst));
            signals.put(20 * thread + 130, u32::from(rwc.dst_cr));
        }
        signals
    }

    fn of_fidelity(rwcs: &[Rwc; 3]) -> Self {
        let mut signals = Self::default();
        for (thread, rwc) in rwcs.iter().enumerate() {
            signals.put(60 + 2 * thread, u32::from(rwc.fidelity));
        }
        signals
    }
}

/// The word that `DBG_RD_DATA` shows for a value of `DBG_BUS_CTRL`; `None` if it is switched off or
/// the signals are not modelled.
pub(crate) fn bus(threads: &[Frontend; 3], backend: &Backend, control: u32) -> Option<u32> {
    if control >> 29 & 1 == 0 {
        return None;
    }
    let Backend { adcs, src, matrix, .. } = backend;
    let rwcs = &matrix.rwcs;
    let word = (control >> 25 & 3) as usize;
    let (stop, select) = (control >> 16 & 0xFF, control & 0xFFFF);
    let (signals, first) = match (stop, select) {
        (6, 0..=5) => (Signals::of_adcs(adcs, select as usize), 0),
        (6, 9) => (Signals::of_ownership(src), 0),
        (3, 2) => (Signals::of_rwcs(rwcs), 0),
        (3, 3) => (Signals::of_rwcs(rwcs), 4),
        (3, 4) => (Signals::of_fidelity(rwcs), 0),
        (1, 12) => (Signals::of_frontend(&threads[0]), 0),
        (1, 8) => (Signals::of_frontend(&threads[1]), 0),
        (1, 4) => (Signals::of_frontend(&threads[2]), 0),
        _ => return None,
    };
    Some(signals.0[first + word])
}

/// The word that `DBG_ARRAY_RD_DATA` shows of Dst for a value of `DBG_ARRAY_RD_CMD`; `None` for
/// anything else.
pub(crate) fn array(dst: &Dst, command: u32) -> Option<u32> {
    let (row, pair) = ((command & 0xFFF) as usize, (command >> 12 & 0xF) as usize);
    if command >> 16 != 2 || row >= DST_ROWS || pair >= 8 {
        return None;
    }
    let cells = &dst.cells[row];
    Some(u32::from(cells[2 * pair]) | u32::from(cells[2 * pair + 1]) << 16)
}
