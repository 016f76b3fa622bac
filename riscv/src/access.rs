//! Loads and stores that need more than the fast loop: forwarding, devices, watched words,
//! faults.
//!
//! What becomes of one is up to the slice's [`Memory`]: it happens, or is tried out, or is repeated.
//!
//! A load from a device waits for the end of its epoch, and a store takes effect in its commit. Where
//! nothing else can tell, a core that is alone does either at once and goes on without leaving its slice:
//! software that reads the wall clock over and over, or sets up a device, word after word. What it finds
//! and when is the same.

use sim_core::l1::L1_BYTES;
use sim_core::{Category, Cycle, RequestKind, Store, Width};

use crate::config::LOCAL_BASE;
use crate::core::{Core, Status};
use crate::doors::{Admission, PUSH_BASE, fuses};
use crate::hart::{MAX_FUSED, Pending};
use crate::icache::same_page;
use crate::op::{Kind, Op};
use crate::park::MAX_LOADS;
use crate::poll::{clock_word, era};
use crate::slice::{Flow, Memory, Slice};
use crate::spin::WatchedLoad;

/// A core that accesses memory in a slice.
pub(crate) struct Access<'a, 's> {
    pub(crate) core: &'a mut Core,
    pub(crate) slice: &'a mut Slice<'s>,
}

impl Access<'_, '_> {
    #[cold]
    fn misaligned(&mut self, what: &str, addr: u32, width: Width) -> Flow {
        // What is only tried out makes no mistakes.
        if !self.slice.is_foreseen() {
            let pc = self.core.hart.pc;
            let message = format!("{what} of {} bytes at {addr:#x}, not aligned", width.bytes());
            let category = Category::UndefinedBehavior;
            self.core.fault(category, "misaligned-access", message, pc, None);
        }
        Flow::Hold
    }

    /// A load that is not a plain hit, from anywhere.
    #[inline]
    pub(crate) fn load(&mut self, addr: u32, width: Width, pending: Pending) -> Flow {
        if addr & (width.bytes() - 1) != 0 {
            return self.misaligned("load", addr, width);
        }
        let local = addr.wrapping_sub(LOCAL_BASE);
        let value = if local < self.core.hart.id.local_ram_bytes() {
            let word = self.core.hart.local[(local >> 2) as usize];
            Some(word >> ((addr & 3) * 8) & width.mask())
        } else {
            match self.slice.memory {
                Memory::Posted | Memory::Direct(_) => self.load_now(addr, width),
                Memory::Foreseen(_) => {
                    let foreseen = self.load_ahead(addr, width);
                    if foreseen.is_none() {
                        return Flow::Hold;
                    }
                    foreseen
                }
                Memory::Replayed(_) => Some(self.load_again(addr, width)),
            }
        };
        let Some(value) = value else {
            self.core.pending = pending;
            return self.core.request(addr, width, RequestKind::Load);
        };
        self.core.hart.deliver(pending, value, width);
        Flow::Next
    }

    /// A load that happens now; `None` if the commit phase is to answer it.
    fn load_now(&mut self, addr: u32, width: Width) -> Option<u32> {
        if addr >= L1_BYTES {
            return self.load_in_place(addr, width);
        }
        let (cycle, pc) = (self.core.hart.cycle, self.core.hart.pc);
        let value = self.core.read_l1(self.slice.shared, addr, width);
        let load = WatchedLoad { addr, value, width, pc, device: false };
        self.core.prober.load(load, cycle);
        Some(value)
    }

    /// A load of a round that is only tried out; `None` if what it would show is not known.
    fn load_ahead(&mut self, addr: u32, width: Width) -> Option<u32> {
        let clock = self.clock(addr, width);
        let Self { core, slice } = self;
        let Memory::Foreseen(foreseen) = &mut slice.memory else { return None };
        if let Some(value) = clock {
            foreseen.clock = true;
            core.hart.wait_for_answer();
            return Some(value);
        }
        let (device, pc) = (addr >= L1_BYTES, core.hart.pc);
        foreseen.devices |= device;
        let (cycle, value) = if device {
            core.prober.last_shown(pc, addr, width)?
        } else {
            (core.hart.cycle, slice.shared.l1.read(addr, width))
        };
        if foreseen.loads.len() == MAX_LOADS {
            return None;
        }
        if device {
            core.hart.wait_for_answer();
        }
        foreseen.oldest = foreseen.oldest.min(cycle);
        foreseen.loads.push(WatchedLoad { addr, value, width, pc, device });
        Some(value)
    }

    /// A load of a round that the core has been through while it was parked.
    fn load_again(&mut self, addr: u32, width: Width) -> u32 {
        let clock = self.clock(addr, width);
        if addr >= L1_BYTES {
            // Answered at the end of the epoch, as it was when it was not parked.
            self.core.hart.wait_for_answer();
        }
        clock.unwrap_or_else(|| match &mut self.slice.memory {
            Memory::Replayed(loads) => loads.next().map_or(0, |load| load.value),
            _ => 0,
        })
    }

    /// What a word of the wall clock shows now, if that follows from the cycle: what is latched does
    /// since the core itself latched it in this era.
    fn clock(&self, addr: u32, width: Width) -> Option<u32> {
        let cycle = self.core.hart.cycle;
        let value = clock_word(addr, width, cycle)?;
        (self.core.clock_era == Some(era(cycle))).then_some(value)
    }

    /// Whether what the core does to a register now comes behind all that it has done before: what it posted
    /// takes effect in a commit, and a debugger sees every step.
    fn is_up_to_date(&self) -> bool {
        self.core.batch.stores.is_empty() && !self.core.is_debugged()
    }

    /// A load from a device that is answered on the spot; it completes at the end of its epoch.
    fn load_in_place(&mut self, addr: u32, width: Width) -> Option<u32> {
        let cycle = Cycle(self.core.hart.cycle);
        let end = self.core.hart.config.epoch.end_of_epoch(cycle);
        if width != Width::Word || end.0 > self.slice.until || !self.is_up_to_date() {
            return None;
        }
        let Memory::Direct(Some(registers)) = &mut self.slice.memory else { return None };
        let value = registers.load(addr, cycle, end)?;
        self.core.note_clock(addr, cycle.0);
        self.core.prober.side_effect(end.0);
        self.core.hart.cycle = end.0 - 1;
        Some(value)
    }

    /// A store that is not a plain hit, to anywhere but local RAM.
    #[inline]
    pub(crate) fn store(&mut self, addr: u32, value: u32, width: Width) -> Flow {
        if addr & (width.bytes() - 1) != 0 {
            return self.misaligned("store", addr, width);
        }
        self.core.prober.side_effect(self.core.hart.cycle);
        if addr < L1_BYTES {
            if self.slice.is_direct() && self.slice.shared.is_quiet(addr) {
                self.slice.shared.l1.write(addr, value, width);
                return Flow::Next;
            }
            self.core.hart.note_stored(addr);
        } else {
            if let Some(flow) = self.flow_controlled(addr, value, width) {
                return flow;
            }
            if self.store_in_place(addr, value, width) {
                return Flow::Next;
            }
            self.core.batch.device_stores += 1;
        }
        self.post(addr, value, width);
        self.rejoin();
        Flow::Next
    }

    /// A store to a device that takes effect on the spot. `false`: it is for the commit phase.
    fn store_in_place(&mut self, addr: u32, value: u32, width: Width) -> bool {
        if width != Width::Word || !self.is_up_to_date() {
            return false;
        }
        let Memory::Direct(Some(registers)) = &mut self.slice.memory else { return false };
        let (cycle, pc) = (Cycle(self.core.hart.cycle), self.core.hart.pc);
        registers.store(&Store { cycle, addr, value, pc, width })
    }

    fn post(&mut self, addr: u32, value: u32, width: Width) {
        let (cycle, pc) = (Cycle(self.core.hart.cycle), self.core.hart.pc);
        self.core.batch.stores.push(Store { cycle, addr, value, pc, width });
    }

    /// A lone core did something that others may notice: its slice ends with this epoch.
    fn rejoin(&mut self) {
        if self.slice.is_direct() {
            self.slice.memory = Memory::Posted;
            let cycle = Cycle(self.core.hart.cycle);
            let end = self.core.hart.config.epoch.end_of_epoch(cycle);
            self.slice.until = self.slice.until.min(end.0);
        }
    }

    /// Stores that may find their FIFO full. `None`: not one of them.
    fn flow_controlled(&mut self, addr: u32, value: u32, width: Width) -> Option<Flow> {
        match self.core.doors().admit(addr) {
            Admission::Posted => None,
            Admission::Full(window) => {
                self.core.status = Status::PushBlocked(window);
                Some(Flow::Hold)
            }
            Admission::Asked => {
                self.core.pending = Pending::Discard;
                Some(self.core.request(addr, width, RequestKind::Store { value }))
            }
        }
    }

    /// `.ttinsn` at the pc, alone or as the first of up to four of its page that are fused.
    /// Returns how many words were consumed.
    pub(crate) fn push_inline(&mut self, op: Op) -> (Flow, u32) {
        let flow = self.store(PUSH_BASE, op.imm, Width::Word);
        let fuses = fuses(&self.core.hart);
        if flow != Flow::Next || !fuses {
            return (flow, 1);
        }
        // A bundle is accepted as a whole whenever a single push is
        // [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md].
        let mut count = 1;
        while count < MAX_FUSED {
            let pc = self.core.hart.pc.wrapping_add(4 * count);
            if !same_page(self.core.hart.pc, pc) {
                break;
            }
            let Core { hart, batch, .. } = &mut *self.core;
            let next = hart.decoded(&batch.stores, self.slice.shared, pc);
            if next.kind != Kind::Ttinsn {
                break;
            }
            self.core.batch.device_stores += 1;
            self.post(PUSH_BASE, next.imm, Width::Word);
            count += 1;
        }
        let credit = &mut self.core.push_credit[0];
        *credit = credit.saturating_sub(count - 1);
        (Flow::Next, count)
    }
}
