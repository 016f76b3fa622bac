//! Loads and stores that need more than the fast loop: forwarding, devices, watched words,
//! faults.

use memory_map::View;
use memory_map::reg::tile_control;
use sim_core::l1::L1_BYTES;
use sim_core::{Batch, Category, CoreId, Cycle, Request, RequestKind, Store, Width};

use crate::config::LOCAL_BASE;
use crate::core::{Core, Status};
use crate::csr::CFG0_DIS_TRISC_CACHE;
use crate::hart::{MAX_FUSED, Pending};
use crate::icache::same_page;
use crate::op::{Kind, Op};
use crate::park::{MAX_LOADS, WatchedLoad};
use crate::poll::{clock_word, era};
use crate::slice::{Flow, Slice};

/// First push window, of 64 KiB each
/// `[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]`.
const PUSH_BASE: u32 = 0xFFE4_0000;
const PUSH_WINDOWS: u32 = 3;
/// Flow-controlled stores: PCBufs, mailboxes, TDMA-RISC commands, NoC commands. Their answer
/// comes from the commit phase because the core may have to wait for room.
const FLOW_CONTROLLED: [(u32, u32); 3] =
    [(0xFFE8_0000, 0xFFEB_0000), (0xFFEC_0000, 0xFFED_0000), (0xFFB1_1000, 0xFFB1_2000)];
/// What Auto TTSync orders besides TDMA-RISC: GPRs and backend configuration
/// `[isa-bh: TensixTile/BabyRISCV/AutoTTSync.md]`.
const ORDERED: [(u32, u32); 2] = [(0xFFE0_0000, 0xFFE0_1000), (0xFFEF_0000, 0xFFF0_0000)];

impl Core {
    #[cold]
    fn misaligned(&mut self, what: &str, addr: u32, width: Width) -> Flow {
        let pc = self.hart.pc;
        let message = format!("{what} of {} bytes at {addr:#x}, not aligned", width.bytes());
        self.fault(Category::UndefinedBehavior, "misaligned-access", message, pc, None);
        Flow::Hold
    }

    /// A load that is not a plain hit, from anywhere.
    pub(crate) fn slow_load(
        &mut self,
        slice: &mut Slice<'_>,
        addr: u32,
        width: Width,
        pending: Pending,
    ) -> Flow {
        if addr & (width.bytes() - 1) != 0 {
            if slice.foreseen.is_some() {
                return Flow::Hold;
            }
            return self.misaligned("load", addr, width);
        }
        let local = addr.wrapping_sub(LOCAL_BASE);
        if local < self.hart.id.local_ram_bytes() {
            let value = self.hart.local[(local >> 2) as usize] >> ((addr & 3) * 8) & width.mask();
            self.hart.deliver(pending, value, width);
            return Flow::Next;
        }
        let device = addr >= L1_BYTES;
        // In a round that does not happen now, what the clock shows follows from the cycle.
        let clock = if device && !slice.is_real() { self.clock(addr, width) } else { None };
        if let Some(value) = clock {
            if let Some(foreseen) = &mut slice.foreseen {
                foreseen.clock = true;
            }
            self.hart.wait_for_answer();
            self.hart.deliver(pending, value, width);
            return Flow::Next;
        }
        if let Some(foreseen) = &mut slice.foreseen {
            foreseen.devices |= device;
            let known = if device {
                self.prober.last_shown(self.hart.pc, addr, width)
            } else {
                Some((self.hart.cycle, slice.shared.l1.read(addr, width)))
            };
            let Some((cycle, value)) = known.filter(|_| foreseen.loads.len() < MAX_LOADS) else {
                return Flow::Hold;
            };
            if device {
                self.hart.wait_for_answer();
            }
            foreseen.oldest = foreseen.oldest.min(cycle);
            foreseen.loads.push(WatchedLoad { addr, value, width, pc: self.hart.pc, device });
            self.hart.deliver(pending, value, width);
            return Flow::Next;
        }
        if let Some(loads) = &mut slice.replay {
            let value = loads.next().map_or(0, |load| load.value);
            if device {
                // Answered at the end of the epoch, as it was when it was not parked.
                self.hart.wait_for_answer();
            }
            self.hart.deliver(pending, value, width);
            return Flow::Next;
        }
        if !device {
            let value = self.read_l1(slice.shared, addr, width);
            let pc = self.hart.pc;
            self.prober
                .load(WatchedLoad { addr, value, width, pc, device: false }, self.hart.cycle);
            self.hart.deliver(pending, value, width);
            return Flow::Next;
        }
        if let Some(value) = self.load_in_place(slice, addr, width) {
            self.hart.deliver(pending, value, width);
            return Flow::Next;
        }
        self.pending = pending;
        self.request(addr, width, RequestKind::Load)
    }

    /// What a word of the wall clock shows now, if that follows from the cycle: what is latched does
    /// since the core itself latched it in this era.
    fn clock(&self, addr: u32, width: Width) -> Option<u32> {
        let value = clock_word(addr, width, self.hart.cycle)?;
        (self.clock_era == Some(era(self.hart.cycle))).then_some(value)
    }

    /// The core reads a device register at `cycle`.
    #[inline]
    pub(crate) fn note_clock(&mut self, addr: u32, cycle: u64) {
        if addr == tile_control::WALL_CLOCK_L {
            self.clock_era = Some(era(cycle));
        }
    }

    /// Hands an access to the commit phase.
    pub(crate) fn request(&mut self, addr: u32, width: Width, kind: RequestKind) -> Flow {
        let cycle = Cycle(self.hart.cycle);
        self.batch.request = Some(Request { cycle, addr, pc: self.hart.pc, width, kind });
        self.status = Status::Waiting;
        Flow::Wait
    }

    /// A store that is not a plain hit, to anywhere but local RAM.
    pub(crate) fn slow_store(
        &mut self,
        slice: &mut Slice<'_>,
        addr: u32,
        value: u32,
        width: Width,
    ) -> Flow {
        if addr & (width.bytes() - 1) != 0 {
            return self.misaligned("store", addr, width);
        }
        self.prober.side_effect(self.hart.cycle);
        if addr < L1_BYTES {
            if slice.direct && slice.shared.is_quiet(addr) {
                slice.shared.l1.write(addr, value, width);
                return Flow::Next;
            }
            self.hart.note_stored(addr);
        } else {
            if let Some(flow) = self.flow_controlled(addr, value, width) {
                return flow;
            }
            if self.store_in_place(slice, addr, value, width) {
                return Flow::Next;
            }
            self.batch.device_stores += 1;
        }
        self.post(addr, value, width);
        self.rejoin(slice);
        Flow::Next
    }

    fn post(&mut self, addr: u32, value: u32, width: Width) {
        let cycle = Cycle(self.hart.cycle);
        self.batch.stores.push(Store { cycle, addr, value, pc: self.hart.pc, width });
    }

    /// A lone runner did something that others may notice: its slice ends with this epoch.
    fn rejoin(&mut self, slice: &mut Slice<'_>) {
        if slice.direct {
            slice.direct = false;
            let end = self.hart.config.epoch.end_of_epoch(Cycle(self.hart.cycle));
            slice.until = slice.until.min(end.0);
        }
    }

    /// Whether it executes or waits for room, and all that it did to others since the last commit was
    /// to push instructions.
    #[must_use]
    pub fn only_pushed(&self) -> bool {
        let Batch { stores, device_stores, request, fault, .. } = &self.batch;
        let is_push =
            |store: &Store| store.width == Width::Word && self.push_window(store.addr).is_some();
        matches!(self.status, Status::Running | Status::PushBlocked(_))
            && request.is_none()
            && fault.is_none()
            && stores.len() == *device_stores as usize
            && stores.iter().all(is_push)
    }

    /// The window through which a store to `addr` pushes an instruction: of a TRISC its own, 0; of
    /// BRISC that of the thread.
    #[inline]
    #[must_use]
    pub fn push_window(&self, addr: u32) -> Option<u32> {
        let window = addr.wrapping_sub(PUSH_BASE) >> 16;
        let windows = match self.hart.id {
            CoreId::Brisc => PUSH_WINDOWS,
            CoreId::Ncrisc => 0,
            CoreId::Trisc0 | CoreId::Trisc1 | CoreId::Trisc2 => 1,
        };
        (window < windows).then_some(window)
    }

    /// Stores that may find their FIFO full. `None`: not one of them.
    fn flow_controlled(&mut self, addr: u32, value: u32, width: Width) -> Option<Flow> {
        if let Some(window) = self.push_window(addr) {
            let credit = &mut self.push_credit[window as usize];
            if *credit == 0 {
                self.status = Status::PushBlocked(window as u8);
                return Some(Flow::Hold);
            }
            *credit -= 1;
            return None;
        }
        let ordered =
            self.orders_stores && ORDERED.iter().any(|&(from, to)| addr >= from && addr < to);
        // What nobody answers stops the core at the store itself, not some cycles later.
        if ordered
            || FLOW_CONTROLLED.iter().any(|&(from, to)| addr >= from && addr < to)
            || memory_map::lookup(view(self.hart.id), addr).is_none()
        {
            self.pending = Pending::Discard;
            return Some(self.request(addr, width, RequestKind::Store { value }));
        }
        None
    }

    /// `.ttinsn` at the pc, alone or as the first of up to four of its page that are fused.
    /// Returns how many words were consumed.
    pub(crate) fn push_inline(&mut self, slice: &mut Slice<'_>, op: Op) -> (Flow, u32) {
        let flow = self.slow_store(slice, PUSH_BASE, op.imm, Width::Word);
        let fuses =
            self.hart.id.thread().is_some() && self.hart.csr.cfg0() & CFG0_DIS_TRISC_CACHE == 0;
        if flow != Flow::Next || !fuses {
            return (flow, 1);
        }
        // A bundle is accepted as a whole whenever a single push is
        // [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md].
        let mut count = 1;
        while count < MAX_FUSED {
            let pc = self.hart.pc.wrapping_add(4 * count);
            if !same_page(self.hart.pc, pc) {
                break;
            }
            let next = self.hart.decoded(&self.batch.stores, slice.shared, pc);
            if next.kind != Kind::Ttinsn {
                break;
            }
            self.batch.device_stores += 1;
            self.post(PUSH_BASE, next.imm, Width::Word);
            count += 1;
        }
        let credit = &mut self.push_credit[0];
        *credit = credit.saturating_sub(count - 1);
        (Flow::Next, count)
    }
}

/// How a core sees addresses.
const fn view(core: CoreId) -> View {
    match core {
        CoreId::Brisc => View::B,
        CoreId::Trisc0 => View::T0,
        CoreId::Trisc1 => View::T1,
        CoreId::Trisc2 => View::T2,
        CoreId::Ncrisc => View::Nc,
    }
}
