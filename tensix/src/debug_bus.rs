//! The debug daisychain: internal signals that cores read through `DBG_RD_DATA`.
//!
//! Signals come in groups of 128 bits, selected by daisy and signal number.
//!
//! Not modelled: groups that show the cores or the L1 ports, reserved bits (read as zero), and the
//! five cycles by which data is stale.
//!
//! Source: `[isa-wh: TensixTile/DebugDaisychain.md]`; Blackhole has the same groups by reference
//! vectors for address counters, register window counters and source banks.

use sim_core::ThreadId;

use crate::coprocessor::Coprocessor;
use crate::state::adc::{Channel, Counter, PACKERS};
use crate::state::src::SrcBanks;

/// Fields of `DBG_BUS_CNTL`.
struct Select {
    signal: u32,
    daisy: u32,
    word: u32,
    enabled: bool,
}

impl Select {
    const fn of(word: u32) -> Self {
        Self {
            signal: word & 0xFFFF,
            daisy: word >> 16 & 0xFF,
            word: word >> 25 & 3,
            enabled: word >> 29 & 1 != 0,
        }
    }
}

/// Collects 128 bits.
#[derive(Default)]
struct Signals(u128);

impl Signals {
    /// Puts `value` at bit `lo`.
    fn put(&mut self, lo: u32, value: impl Into<u128>) {
        self.0 |= value.into() << lo;
    }
}

impl Coprocessor {
    /// The 32 bits that `DBG_RD_DATA` shows while `DBG_BUS_CNTL` is `select`; zero while the
    /// daisychain is not enabled. `None` for a group that is not documented or not modelled.
    #[must_use]
    pub fn debug_bus(&self, select: u32) -> Option<u32> {
        let Select { signal, daisy, word, enabled } = Select::of(select);
        if !enabled {
            return Some(0);
        }
        let group = match (daisy, signal) {
            (1, 12) => self.frontend_signals(ThreadId::T0),
            (1, 8) => self.frontend_signals(ThreadId::T1),
            (1, 4) => self.frontend_signals(ThreadId::T2),
            (3, 2) => self.rwc_signals_low(),
            (3, 3) => self.rwc_signals_high(),
            (3, 4) => self.fidelity_signals(),
            (6, 0..=3) => {
                channel_signals(&self.backend.adcs[0].0[signal as usize >> 1][signal as usize & 1])
            }
            (6, 4 | 5) => channel_signals(&self.backend.adcs[2].0[PACKERS][signal as usize & 1]),
            (6, 9) => self.source_signals(),
            (7, 28) => u128::from(transpose_lanes(self.backend.vector.enabled())),
            (_, 255) => 0xA5A5_A5A5_5A5A_5A5A_A5A5_A5A5_u128 << 32 | u128::from(daisy),
            _ => return None,
        };
        Some((group >> (32 * word)) as u32)
    }

    fn frontend_signals(&self, thread: ThreadId) -> u128 {
        let frontend = &self.threads[thread.index()];
        let mut signals = Signals::default();
        signals.put(55, frontend.third.front().map_or(0, |front| front.word()));
        signals.put(87, frontend.third.is_empty());
        signals.put(89, frontend.second.is_full());
        signals.put(90, frontend.second.is_empty());
        signals.0
    }

    /// SrcA and SrcB counters of all threads, Dst counters of thread 0.
    fn rwc_signals_low(&self) -> u128 {
        let rwcs = &self.backend.matrix.rwcs;
        let mut signals = Signals::default();
        for (lo, rwc) in (0..).step_by(16).zip(rwcs) {
            signals.put(lo, rwc.src_a);
            signals.put(lo + 8, rwc.src_a_cr);
            signals.put(lo + 48, rwc.src_b);
            signals.put(lo + 56, rwc.src_b_cr);
        }
        signals.put(96, rwcs[0].dst);
        signals.put(112, rwcs[0].dst_cr);
        signals.0
    }

    fn rwc_signals_high(&self) -> u128 {
        let rwcs = &self.backend.matrix.rwcs;
        let mut signals = Signals::default();
        for (lo, rwc) in [0, 32].into_iter().zip(&rwcs[1..]) {
            signals.put(lo, rwc.dst);
            signals.put(lo + 16, rwc.dst_cr);
        }
        signals.0
    }

    fn fidelity_signals(&self) -> u128 {
        let mut signals = Signals::default();
        for (lo, rwc) in [62, 64, 66].into_iter().zip(&self.backend.matrix.rwcs) {
            signals.put(lo, rwc.fidelity & 3);
        }
        signals.0
    }

    /// Who owns the source banks, and which bank each side uses.
    fn source_signals(&self) -> u128 {
        let [a, b] = &self.backend.src;
        bank_signals(a) << 84 | bank_signals(b) << 100
    }
}

/// The signals of one source operand, relative to their first bit.
fn bank_signals(banks: &SrcBanks) -> u128 {
    let mut signals = Signals::default();
    signals.put(0, !banks.unpacker_waits());
    signals.put(1, !banks.matrix_waits());
    signals.put(6, banks.owned_by_matrix[1]);
    signals.put(7, banks.owned_by_matrix[0]);
    signals.put(8, banks.matrix_bank);
    signals.put(10, banks.unpacker_bank);
    signals.0
}

/// One channel of address counters; only eight bits of Z and W are shown.
fn channel_signals(channel: &Channel) -> u128 {
    let mut signals = Signals::default();
    let places = [(channel.x, 0, 18, 18), (channel.y, 64, 80, 13), (channel.z, 96, 104, 8)];
    for (counter, lo, copy, bits) in places.into_iter().chain([(channel.w, 112, 120, 8)]) {
        let Counter { value, cr } = counter;
        let mask = (1_u32 << bits) - 1;
        signals.put(lo, value & mask);
        signals.put(copy, cr & mask);
    }
    signals.0
}

/// Lane flags as the bus orders them: bit *i* is lane `(i % 4) * 8 + i / 4`.
fn transpose_lanes(lanes: u32) -> u32 {
    (0..32).fold(0, |bits, i| bits | (lanes >> (i % 4 * 8 + i / 4) & 1) << i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::adc::Dimension;
    use crate::timing::TimingModel;

    #[test]
    fn disabled_bus_reads_zero_and_unknown_groups_are_refused() {
        let tensix = Coprocessor::new(TimingModel::Unit);
        assert_eq!(tensix.debug_bus(0x0006_00FF), Some(0));
        assert_eq!(tensix.debug_bus(0x2006_0063), None);
    }

    #[test]
    fn self_test_group_shows_the_daisy_and_the_pattern() {
        // [isa-wh: DebugDaisychain.md#self-test]
        let tensix = Coprocessor::new(TimingModel::Unit);
        let words = [0, 1, 2, 3].map(|word| tensix.debug_bus(0x2006_00FF | word << 25));
        assert_eq!(words, [6, 0xA5A5_A5A5, 0x5A5A_5A5A, 0xA5A5_A5A5].map(Some));
    }

    #[test]
    fn address_counters_are_packed_with_eight_bits_of_z_and_w() {
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        let channel = &mut tensix.backend.adcs[0].0[1][1];
        for (dimension, value) in Dimension::ALL.into_iter().zip([0x2_0001, 0x1FFF, 0x1F7E, 0x42]) {
            channel.set(dimension, value);
        }
        let words = [0, 1, 2, 3].map(|word| tensix.debug_bus(0x2006_0003 | word << 25));
        let x = 0x2_0001_u64 | 0x2_0001 << 18;
        let expected = [x as u32, (x >> 32) as u32, 0x1FFF_1FFF, 0x4242_7E7E];
        assert_eq!(words, expected.map(Some));
    }

    #[test]
    fn lanes_are_transposed_four_by_eight() {
        assert_eq!(transpose_lanes(1 << 8), 1 << 1);
        assert_eq!(transpose_lanes(1 << 1), 1 << 4);
        assert_eq!(transpose_lanes(u32::MAX), u32::MAX);
    }
}
