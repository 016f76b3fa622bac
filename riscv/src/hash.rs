//! The state hash of a core, taken apart: a field that nobody has thought of does not compile.

use sim_core::StateHasher;

use crate::core::{Core, Status};

impl Core {
    /// Feeds the architectural state into a hash. The core must not be parked, or the hash
    /// depends on parking.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self {
            x,
            pc,
            instructions,
            status,
            local,
            f,
            csr,
            reset_cycle,
            reset_instructions,
            debug: _,
            // What defines the machine.
            id: _,
            config: _,
            // Where the core's clock stands follows from the tile's; a request under way follows from the
            // instruction at the pc.
            cycle: _,
            pending: _,
            batch: _,
            // What the tile tells the core, or the core keeps of this epoch for the tile.
            stored_words: _,
            stored_blocks: _,
            push_credit: _,
            orders_stores: _,
            // What follows from memory, and memories of shortcuts.
            icache: _,
            prober: _,
            undo: _,
            clock_era: _,
            // Who listens.
            trace: _,
            logs_jumps: _,
            always_careful: _,
        } = self;
        hasher.u8(match status {
            Status::Reset => 0,
            Status::Running | Status::Parked(_) => 1,
            Status::Waiting => 2,
            Status::PushBlocked(_) => 3,
            Status::Halted => 4,
            Status::Faulted => 5,
        });
        hasher.words(&x[..32]);
        hasher.words(f);
        hasher.u32(*pc);
        hasher.u64(*instructions);
        csr.hash_state(hasher);
        // The counters that software reads count from here.
        hasher.u64(*reset_cycle);
        hasher.u64(*reset_instructions);
        hasher.words(local);
        self.hash_debugger(hasher);
    }
}
