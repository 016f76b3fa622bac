//! Where a core's stores beyond L1 and its own RAM go: which of them are posted, and which it has to wait for.

use sim_core::{Batch, CoreId, Store, Width};

use crate::config::view;
use crate::csr::CFG0_DIS_TRISC_CACHE;
use crate::hart::{Hart, MAX_FUSED};
use crate::op::{Kind, Op};
use crate::pages::{PAGE_OPS, Page};
use crate::slice::OwnRegisters;

/// First push window, of 64 KiB each
/// `[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]`.
pub(crate) const PUSH_BASE: u32 = 0xFFE4_0000;
/// How many there are: of BRISC one for each thread.
pub(crate) const PUSH_WINDOWS: u32 = 3;

/// Flow-controlled stores: PCBufs, mailboxes, TDMA-RISC commands, NoC commands. Their answer
/// comes from the commit phase because the core may have to wait for room.
const FLOW_CONTROLLED: [(u32, u32); 3] =
    [(0xFFE8_0000, 0xFFEB_0000), (0xFFEC_0000, 0xFFED_0000), (0xFFB1_1000, 0xFFB1_2000)];
/// What Auto TTSync orders besides TDMA-RISC: GPRs and backend configuration
/// `[isa-bh: TensixTile/BabyRISCV/AutoTTSync.md]`.
const ORDERED: [(u32, u32); 2] = [(0xFFE0_0000, 0xFFE0_1000), (0xFFEF_0000, 0xFFF0_0000)];

/// What becomes of a store beyond L1 and the core's own RAM.
pub(crate) enum Admission {
    /// It takes effect in the commit.
    Posted,
    /// It pushes an instruction through that window, behind which there is no room.
    Full(u8),
    /// The commit phase has to answer it.
    Asked,
}

/// What has become of adjacent `.ttinsn`.
pub(crate) enum Pushed {
    /// So many are pushed, fused: in one cycle.
    Fused(usize),
    /// So many are pushed, each in a cycle.
    Each(usize),
    /// There is no room behind that window, and nothing has happened.
    Full(u8),
    /// What follows has not been decoded: that is not for the fast loop, and nothing has happened.
    Unknown,
}

/// What decides about a core's stores beyond L1 and its own RAM.
pub(crate) struct Doors<'a> {
    id: CoreId,
    /// How many instructions may still be pushed through each window.
    credit: &'a mut [u32; PUSH_WINDOWS as usize],
    /// Whether Auto TTSync orders them.
    ordered: bool,
    /// Whether adjacent `.ttinsn` are fused.
    fuses: bool,
}

impl<'a> Doors<'a> {
    /// Those of a core, with how many instructions it may still push through each window, and whether Auto TTSync
    /// orders its stores.
    #[inline]
    pub(crate) fn new(
        hart: &Hart,
        credit: &'a mut [u32; PUSH_WINDOWS as usize],
        ordered: bool,
    ) -> Self {
        Self { id: hart.id, credit, ordered, fuses: fuses(hart) }
    }

    /// What becomes of a store to an aligned address. One that is posted through a push window has taken the room
    /// for it.
    #[inline]
    pub(crate) fn admit(&mut self, addr: u32) -> Admission {
        if let Some(window) = push_window(self.id, addr) {
            let credit = &mut self.credit[window as usize];
            if *credit == 0 {
                return Admission::Full(window as u8);
            }
            *credit -= 1;
            return Admission::Posted;
        }
        let lies_in =
            |ranges: &[(u32, u32)]| ranges.iter().any(|&(from, to)| addr >= from && addr < to);
        // What nothing answers stops the core at the store itself, not some cycles later.
        let asks = self.ordered && lies_in(&ORDERED)
            || lies_in(&FLOW_CONTROLLED)
            || memory_map::lookup(view(self.id), addr).is_none();
        if asks { Admission::Asked } else { Admission::Posted }
    }

    /// Posts a store; unless it is one that is posted, nothing has happened. `None`: it is not aligned.
    #[inline(never)]
    pub(crate) fn post(&mut self, batch: &mut Batch, store: Store) -> Option<Admission> {
        if store.addr & (store.width.bytes() - 1) != 0 {
            return None;
        }
        let admission = self.admit(store.addr);
        if matches!(admission, Admission::Posted) {
            batch.device_stores += 1;
            batch.stores.push(store);
        }
        Some(admission)
    }

    /// Pushes the `.ttinsn` at a place of a page, which `first` stores the word of, and those behind it: those that are
    /// fused with it, or so many that they take no more than `cycles`.
    #[inline(never)]
    pub(crate) fn push(
        &mut self,
        batch: &mut Batch,
        (page, place): (&Page, usize),
        first: Store,
        cycles: usize,
    ) -> Pushed {
        if !self.fuses {
            return self.push_each(batch, page.ops(place, cycles), first);
        }
        let next =
            if place + 1 < PAGE_OPS { page.ops(place + 1, MAX_FUSED as usize - 1) } else { &[] };
        let fused = next.iter().take_while(|op| op.kind == Kind::Ttinsn).count();
        if next.get(fused).is_some_and(|op| op.kind == Kind::Undecoded) {
            return Pushed::Unknown;
        }
        match self.post(batch, first) {
            Some(Admission::Posted) => {}
            Some(Admission::Full(window)) => return Pushed::Full(window),
            Some(Admission::Asked) | None => return Pushed::Unknown,
        }
        // A bundle is accepted as a whole whenever a single push is
        // [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md].
        for op in &next[..fused] {
            batch.device_stores += 1;
            batch.stores.push(Store { value: op.imm, ..first });
        }
        self.credit[0] = self.credit[0].saturating_sub(fused as u32);
        Pushed::Fused(1 + fused)
    }

    /// Pushes the `.ttinsn` that `ops` begin with, one in each cycle, as long as there is room for them.
    fn push_each(&mut self, batch: &mut Batch, ops: &[Op], first: Store) -> Pushed {
        let room = match self.admit(first.addr) {
            // It has taken the room for the first.
            Admission::Posted if push_windows(self.id) != 0 => 1 + self.credit[0] as usize,
            Admission::Posted => 1,
            Admission::Full(window) => return Pushed::Full(window),
            Admission::Asked => return Pushed::Unknown,
        };
        let (mut count, mut store) = (0_u32, first);
        for op in ops.iter().take_while(|op| op.kind == Kind::Ttinsn).take(room) {
            batch.stores.push(Store { value: op.imm, ..store });
            (store.cycle, store.pc) = (store.cycle + 1, store.pc.wrapping_add(4));
            count += 1;
        }
        batch.device_stores += count;
        self.credit[0] -= count.saturating_sub(1);
        Pushed::Each(count as usize)
    }
}

/// What of the devices a lone core may set up itself, at once.
pub(crate) struct OwnDoors<'a> {
    pub(crate) doors: Doors<'a>,
    pub(crate) registers: &'a mut dyn OwnRegisters,
}

impl OwnDoors<'_> {
    /// Stores a word that needs no answer. `false`: it is not such a store, and nothing has happened.
    #[inline(never)]
    pub(crate) fn store(&mut self, batch: &Batch, store: Store) -> bool {
        // A push takes room, which is not to be taken twice.
        store.width == Width::Word
            && store.addr & 3 == 0
            && batch.stores.is_empty()
            && push_window(self.doors.id, store.addr).is_none()
            && matches!(self.doors.admit(store.addr), Admission::Posted)
            && self.registers.store(&store)
    }
}

/// Whether a core fuses adjacent `.ttinsn`.
pub(crate) fn fuses(hart: &Hart) -> bool {
    hart.id.thread().is_some() && hart.csr.cfg0() & CFG0_DIS_TRISC_CACHE == 0
}

/// The window through which a store of a core to `addr` pushes an instruction: of a TRISC its own, 0; of BRISC that
/// of the thread.
#[inline]
pub(crate) fn push_window(id: CoreId, addr: u32) -> Option<u32> {
    let window = window_of(addr);
    (window < push_windows(id)).then_some(window)
}

/// The number that the window at an address has, or would have.
#[inline]
pub(crate) const fn window_of(addr: u32) -> u32 {
    addr.wrapping_sub(PUSH_BASE) >> 16
}

/// How many windows a core has.
#[inline]
pub(crate) const fn push_windows(id: CoreId) -> u32 {
    match id {
        CoreId::Brisc => PUSH_WINDOWS,
        CoreId::Ncrisc => 0,
        CoreId::Trisc0 | CoreId::Trisc1 | CoreId::Trisc2 => 1,
    }
}
