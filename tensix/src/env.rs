//! What the coprocessor sees of its tile.

use sim_core::observer::{Event, Stamp};

/// What the coprocessor sees of its tile. Implemented by the tile; calls happen in the commit
/// phase only.
pub trait Env {
    /// Whether events are wanted. With `false` no event is even built.
    const OBSERVED: bool;

    /// Takes one event; called in `(cycle, agent)` order within a step.
    fn event(&mut self, stamp: Stamp, event: Event);

    /// Value of register `register` of overlay stream `stream` (0 to 63).
    fn stream_register(&self, stream: u8, register: u16) -> u32;

    /// Acts on a write to `RISCV_IC_INVALIDATE`: bit 0 B, 1 T0, 2 T1, 3 T2, 4 NC. The coprocessor
    /// has already emitted [`Event::IcacheInvalidate`].
    fn invalidate_icache(&mut self, mask: u8, at: Stamp);

    /// Whether the mover has memory requests outstanding.
    fn mover_busy(&self) -> bool;
}
