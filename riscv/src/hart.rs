//! The lower floor of a core: registers, local RAM, decoded pages, and the loops over them.
//!
//! It knows nothing of parking, debuggers and requests; what it loads and stores beside its own RAM is
//! handed to it.

use sim_core::{CoreId, Cycle, L1, Shared, StateHasher, Store, Width};
use zero_pages::ZeroPages;

use crate::ahead::{Undo, block_bit};
use crate::config::{CoreConfig, LOCAL_BASE};
use crate::csr::CsrFile;
use crate::exec::extend;
use crate::icache::Icache;
use crate::op::REGISTER_SLOTS;

/// What to do with the answer of an outstanding request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pending {
    /// Nothing: a store or a load to `x0`.
    Discard,
    /// Integer register, sign-extended from the width if asked.
    Integer { rd: u8, signed: bool },
    /// Floating-point register.
    Float { rd: u8, half: bool },
    /// CSR read: the old value goes to `rd`.
    Csr { rd: u8 },
    /// The debugger asked, not an instruction.
    Debugger,
}

/// Most adjacent `.ttinsn` that execute as one.
pub(crate) const MAX_FUSED: u32 = 4;

/// Registers, local RAM and decoded pages of one core.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Hart {
    /// `x0`..`x31`, then the sink for writes to `x0`; so long that a byte as index needs no bounds
    /// check.
    ///
    /// First, and the layout fixed, so that the fast loop reaches a register without adding an
    /// offset: one host instruction of about twenty.
    pub(crate) x: [u32; REGISTER_SLOTS],
    pub(crate) id: CoreId,
    pub(crate) config: CoreConfig,
    pub(crate) pc: u32,
    pub(crate) cycle: u64,
    pub(crate) instructions: u64,
    /// Union of [`Shared::watch_bit`]s of L1 words stored to in this epoch.
    pub(crate) stored_words: u64,
    /// Union of the [`block_bit`]s of the same words.
    pub(crate) stored_blocks: u64,
    pub(crate) local: ZeroPages<[u32]>,
    pub(crate) f: [u32; 32],
    pub(crate) csr: CsrFile,
    pub(crate) icache: Icache,
    /// Jumps are recorded.
    pub(crate) logs_jumps: bool,
    /// To take back what was done on trial.
    pub(crate) undo: Box<Undo>,
    /// Nothing has been stored to local RAM yet: it is zero.
    is_fresh: bool,
    reset_cycle: u64,
    reset_instructions: u64,
}

impl Hart {
    pub(crate) fn new(id: CoreId, config: CoreConfig) -> Self {
        Self {
            x: [0; REGISTER_SLOTS],
            id,
            config,
            pc: 0,
            cycle: 0,
            instructions: 0,
            stored_words: 0,
            stored_blocks: 0,
            local: ZeroPages::slice(id.local_ram_bytes() as usize / 4),
            f: [0; 32],
            csr: CsrFile::default(),
            icache: Icache::new(config.icache),
            logs_jumps: false,
            undo: Box::default(),
            is_fresh: true,
            reset_cycle: 0,
            reset_instructions: 0,
        }
    }

    /// Leaves soft reset at a cycle.
    pub(crate) fn release(&mut self, pc: u32, now: u64, keep_local_ram: bool) {
        self.x = [0; REGISTER_SLOTS];
        self.f = [0; 32];
        self.csr = CsrFile::default();
        if !keep_local_ram && !self.is_fresh {
            self.local.fill(0);
        }
        // From here on it executes.
        self.is_fresh = false;
        self.icache.invalidate_all();
        self.pc = pc;
        self.cycle = now;
        self.reset_cycle = now;
        self.reset_instructions = self.instructions;
    }

    /// Cycles, or instructions, since it left reset.
    pub(crate) fn count_since_reset(&self, instructions: bool) -> u64 {
        if instructions {
            self.instructions - self.reset_instructions
        } else {
            self.cycle - self.reset_cycle
        }
    }

    /// Goes to the last cycle of the epoch: a load from a device is answered at its end.
    pub(crate) fn wait_for_answer(&mut self) {
        self.cycle = self.config.epoch.end_of_epoch(Cycle(self.cycle)).0 - 1;
    }

    /// Reads local RAM by byte offset; `None` outside.
    pub(crate) fn read_local(&self, offset: u32, width: Width) -> Option<u32> {
        let word = *self.local.get((offset >> 2) as usize)?;
        Some(word >> ((offset & 3 & !(width.bytes() - 1)) * 8) & width.mask())
    }

    /// Writes local RAM by byte offset; `false` outside.
    pub(crate) fn write_local(&mut self, offset: u32, value: u32, width: Width) -> bool {
        let Some(word) = self.local.get_mut((offset >> 2) as usize) else { return false };
        self.is_fresh = false;
        *word = width.put(*word, offset, value);
        true
    }

    /// Notes an L1 store that is posted.
    #[inline]
    pub(crate) fn note_stored(&mut self, addr: u32) {
        self.stored_words |= Shared::watch_bit(addr);
        self.stored_blocks |= block_bit(addr);
    }

    /// The posted stores have taken effect.
    #[inline]
    pub(crate) fn forget_stored(&mut self) {
        (self.stored_words, self.stored_blocks) = (0, 0);
    }

    /// L1 as of the start of the epoch, plus its own `stores`.
    #[inline]
    pub(crate) fn read_l1(
        &self,
        stores: &[Store],
        shared: &Shared,
        addr: u32,
        width: Width,
    ) -> u32 {
        let word = shared.l1.word(addr);
        let word = if self.stored_words & Shared::watch_bit(addr) == 0 {
            word
        } else {
            forward(stores, addr & !3, word)
        };
        word >> ((addr & 3) * 8) & width.mask()
    }

    /// Puts a loaded value where it belongs.
    pub(crate) fn deliver(&mut self, pending: Pending, value: u32, width: Width) {
        match pending {
            Pending::Discard | Pending::Debugger => {}
            Pending::Integer { rd, signed } => {
                self.x[usize::from(rd & 63)] = if signed { extend(value, width) } else { value };
            }
            // Narrower values are boxed in ones [riscv: F, NaN boxing].
            Pending::Float { rd, half } => {
                self.f[usize::from(rd & 31)] = if half { 0xFFFF_0000 | value } else { value };
            }
            Pending::Csr { rd } => self.x[usize::from(rd & 63)] = value,
        }
    }

    /// Feeds the architectural state into a hash.
    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self {
            x,
            pc,
            instructions,
            local,
            f,
            csr,
            reset_cycle,
            reset_instructions,
            // What defines the machine.
            id: _,
            config: _,
            // Where the core's clock stands follows from the tile's.
            cycle: _,
            // What the core keeps of this epoch for the tile.
            stored_words: _,
            stored_blocks: _,
            // What follows from memory, and what is kept of a trial.
            icache: _,
            undo: _,
            is_fresh: _,
            // Who listens.
            logs_jumps: _,
        } = self;
        hasher.words(&x[..32]);
        hasher.words(f);
        hasher.u32(*pc);
        hasher.u64(*instructions);
        csr.hash_state(hasher);
        // The counters that software reads count from here.
        hasher.u64(*reset_cycle);
        hasher.u64(*reset_instructions);
        hasher.words(local);
    }
}

/// Whether an aligned value of so many bytes goes to local RAM, by the address that the core sees, and is there
/// already.
#[inline(always)]
pub(crate) fn local_holds(local: &[u32], addr: u32, value: u32, width: Width) -> bool {
    let offset = addr.wrapping_sub(LOCAL_BASE);
    let word = local.get(L1::word_index(offset, width));
    word.is_some_and(|word| word >> ((offset & 3) * 8) & width.mask() == value)
}

/// Applies posted stores to a word read from L1.
#[inline(never)]
pub(crate) fn forward(stores: &[Store], word_addr: u32, mut word: u32) -> u32 {
    for store in stores {
        if store.addr & !3 == word_addr {
            word = store.width.put(word, store.addr, store.value);
        }
    }
    word
}
