//! An epoch by hand: its cores are taken through it cycle by cycle, for who looks at them between two
//! instructions.
//!
//! A run phase may be cut anywhere, because a core sees nothing of the others in it. So a debugger
//! can stop a tile at any cycle and core without a trace: what comes of an epoch is the same however
//! its run phase was cut (`docs/decisions/0012-time-travel.md`).

use riscv::Core;
use sim_core::{Agent as _, CoreId, Cycle, L1, Observer, Width};

use crate::tile::Tile;

impl<O: Observer + ?Sized> Tile<O> {
    /// [`Tile::begin_epoch`]
    pub(crate) fn begin_epoch_here(&mut self) -> bool {
        self.grant_pushes();
        let schedule = self.schedule_now();
        let is_quiet = self.tensix.is_asleep()
            && !self.retry_requests
            && schedule.running.is_empty()
            && schedule.alarm.is_none()
            && self.fabric.next_due().is_none();
        if is_quiet {
            self.quiet_since.get_or_insert(self.now);
        } else {
            self.quiet_since = None;
        }
        !is_quiet
    }

    /// The first cycle behind the epoch that begins now.
    #[must_use]
    pub fn epoch_end(&self) -> Cycle {
        self.now + self.config.epoch.cycles()
    }

    /// Has a core execute what it begins before `until` in the epoch that has begun. What it does to
    /// others takes effect with [`Tile::end_epoch`].
    pub fn run_core(&mut self, id: CoreId, until: Cycle) {
        let until = until.min(self.epoch_end());
        self.cores[id].run(&self.shared, until);
    }

    /// [`Tile::end_epoch`]
    pub(crate) fn end_epoch_here(&mut self) {
        let (start, end) = (self.now, self.epoch_end());
        for id in CoreId::ALL {
            self.cores[id].run(&self.shared, end);
        }
        self.commit(start, end);
    }

    /// The oldest mistake that nobody has been told of, if there is one.
    pub fn take_mistake(&mut self) -> Option<Box<sim_core::GuestError>> {
        self.next_fault()
    }

    /// [`Tile::set_shortcuts`]
    pub(crate) fn set_shortcuts_here(&mut self, shortcuts: sim_core::Shortcuts) {
        self.config.shortcuts = shortcuts;
        self.tensix.set_shortcuts(shortcuts);
        self.wake_all();
        for id in CoreId::ALL {
            self.cores[id].set_shortcuts(shortcuts);
        }
    }

    /// The word that a core would execute next, with all it has stored itself.
    #[must_use]
    pub fn next_word(&self, id: CoreId) -> Option<u32> {
        self.cores[id].next_word(&self.shared)
    }

    /// How many words from its pc on a core executes as one.
    #[must_use]
    pub fn bundle_words(&self, id: CoreId) -> u32 {
        self.cores[id].bundle_words(&self.shared)
    }

    /// Bytes as that core would load them now: L1 with all it has stored itself, its own local RAM.
    /// Gives how many of them are memory; devices are not asked.
    #[must_use]
    pub fn core_memory(&self, id: CoreId, addr: u32, bytes: &mut [u8]) -> usize {
        let core = &self.cores[id];
        for (number, byte) in bytes.iter_mut().enumerate() {
            let at = addr.wrapping_add(number as u32);
            let local = core.read_local(at.wrapping_sub(riscv::core::LOCAL_BASE), Width::Byte);
            *byte = match local {
                Some(value) => value as u8,
                None if L1::contains(at, 1) => self.l1_byte_of(core, at),
                None => return number,
            };
        }
        bytes.len()
    }

    /// A byte of L1 behind the stores that the core has not handed over yet.
    fn l1_byte_of(&self, core: &Core, addr: u32) -> u8 {
        let mut value = self.shared.l1.read(addr, Width::Byte);
        for store in &core.batch.stores {
            let inside = addr.wrapping_sub(store.addr);
            if inside < store.width.bytes() {
                value = store.value >> (8 * inside) & 0xFF;
            }
        }
        value as u8
    }
}
