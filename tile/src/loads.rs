//! Loads from devices: by cores, some of which block, and by the NoC.

use devices::{DeviceFault, ExternalRead, PcBufRead, ReadClass};
use memory_map::reg::tile_control::dbg_bus_ctrl as bus;
use memory_map::{Hit, Target, lookup};
use riscv::view;
use sim_core::l1::L1_BYTES;
use sim_core::{
    Category, CoreId, Cycle, Event, Observer, Request, RequestKind, ThreadId, WaitReason, Width,
};

use crate::asker::{Asker, fault};
use crate::bus::Bus;
use crate::l1_access::check_l1;
use crate::route::{
    local_ram, mailbox_peer, overlay_register, pcbuf_thread, push_target, ttsync_reason, unmapped,
    unseen,
};
use crate::waiting::{Answer, Served};
use crate::{debug_bus, tdma};

impl<O: Observer + ?Sized> Bus<O> {
    /// A load by a core; some block.
    pub(crate) fn load_for_core(
        &mut self,
        asker: Asker,
        id: CoreId,
        addr: u32,
        width: Width,
    ) -> Result<Served, DeviceFault> {
        let hit =
            lookup(asker.view, addr).ok_or_else(|| unmapped(asker.view, "load from", addr))?;
        let (cycle, agent, pc) = (asker.cycle, asker.agent, asker.pc);
        let popped = |value| Ok(Served::Done(Answer { value, steady: false }));
        let held =
            tdma::waits_for_instructions(&self.tensix.unit, self.tensix.tracked, (id, hit, false));
        if let Some(reason) = held.or_else(|| tdma::waits_for_tile(&self.tensix.unit, hit)) {
            return Ok(Served::Wait(reason));
        }
        match (hit.target, id.thread()) {
            (Target::Mailbox, _) => self.load_mailbox(asker, id, addr),
            (Target::PcBufOwn, Some(thread)) => match self.devices.pcbufs.pop(thread) {
                PcBufRead::Value { value, depth } => {
                    self.emit(cycle, agent, pc, || Event::PcBufPop { thread, value, depth });
                    popped(value)
                }
                PcBufRead::Override(value) => popped(value),
                PcBufRead::Wait => Ok(Served::Wait(WaitReason::PcBufEmpty { thread })),
            },
            (Target::TtSync, Some(thread)) => {
                let done = self.devices.pcbufs.releases_ttsync(thread)
                    || if hit.offset == 0 {
                        self.tensix.unit.thread_idle(thread)
                    } else {
                        !self.tensix.unit.mop_busy(thread)
                    };
                let reason = ttsync_reason(hit.offset, thread);
                if !done {
                    return Ok(Served::Wait(reason));
                }
                self.emit(cycle, agent, pc, || Event::SyncDone { thread, reason });
                // The value is undefined [isa-bh: TensixTile/BabyRISCV/ManualTTSync.md].
                popped(0)
            }
            (Target::PcBufT0 | Target::PcBufT1 | Target::PcBufT2, _) => {
                let thread = pcbuf_thread(hit.target);
                let reader_blocked = self.reads_pcbuf(thread);
                let idle = self.tensix.unit.thread_idle(thread);
                let reason = WaitReason::PcBufDrain { thread };
                if !self.devices.pcbufs.drained(thread, reader_blocked, idle) {
                    return Ok(Served::Wait(reason));
                }
                self.emit(cycle, agent, pc, || Event::SyncDone { thread, reason });
                popped(0)
            }
            _ => self.load_as(asker, addr, width).map(Served::Done),
        }
    }

    /// The thread that TTSync waits for with a request of a core that was refused, if it is that load.
    pub(crate) fn syncs(id: CoreId, request: &Request, reason: WaitReason) -> Option<ThreadId> {
        let WaitReason::CoprocessorBusy { thread } = reason else { return None };
        let hit = lookup(view(id), request.addr)?;
        let is_sync = hit.target == Target::TtSync && hit.offset == 0;
        let is_own = request.kind == RequestKind::Load && id.thread() == Some(thread);
        (is_sync && is_own).then_some(thread)
    }

    /// Whether TTSync waits for a thread.
    #[inline]
    pub(crate) fn waits_in_ttsync(&self, thread: ThreadId) -> bool {
        // Auto TTSync may hold it back besides.
        self.tensix.tracked == 0
            && !self.tensix.unit.thread_idle(thread)
            && !self.devices.pcbufs.releases_ttsync(thread)
    }

    /// A load from a mailbox, or of how much is in it.
    fn load_mailbox(&mut self, asker: Asker, to: CoreId, addr: u32) -> Result<Served, DeviceFault> {
        let from = mailbox_peer(addr);
        if addr & 4 != 0 {
            let value = self.devices.mailboxes.status(from, to);
            return Ok(Served::Done(Answer { value, steady: true }));
        }
        let Some((value, depth)) = self.devices.mailboxes.pop(from, to)? else {
            return Ok(Served::Wait(WaitReason::MailboxEmpty { from, to }));
        };
        let Asker { cycle, agent, pc, .. } = asker;
        self.emit(cycle, agent, pc, || Event::MailboxPop { from, to, value, depth });
        Ok(Served::Done(Answer { value, steady: false }))
    }

    /// Whether the TRISC of `thread` is blocked in a read of its PCBuf.
    fn reads_pcbuf(&self, thread: ThreadId) -> bool {
        let core = thread.core();
        self.waits.answers[core.index()].is_none()
            && self.cores[core].batch.request.is_some_and(|request| {
                request.kind == RequestKind::Load
                    && lookup(view(core), request.addr)
                        .is_some_and(|hit| hit.target == Target::PcBufOwn)
            })
    }

    /// A load that never blocks, by any asker.
    pub(crate) fn load_as(
        &mut self,
        asker: Asker,
        addr: u32,
        width: Width,
    ) -> Result<Answer, DeviceFault> {
        let hit =
            lookup(asker.view, addr).ok_or_else(|| unmapped(asker.view, "load from", addr))?;
        if let Some((core, offset)) = local_ram(hit) {
            // A parked core does not write its RAM.
            return match self.cores[core].read_local(offset, width) {
                Some(value) => Ok(Answer { value, steady: false }),
                None => Err(unmapped(asker.view, "load from", addr)),
            };
        }
        if let (Target::Dst, Some(thread)) = (hit.target, asker.core.and_then(CoreId::thread)) {
            let loaded = self.tensix.unit.read_dst_window(thread, hit.offset, width);
            let value = self.through_door(asker, loaded)?;
            return Ok(Answer { value, steady: false });
        }
        // Narrow loads of word registers get their bytes of the word.
        let shift = (addr & 3) * 8;
        let answer = self.word_load(asker, hit, addr & !3)?;
        Ok(Answer { value: answer.value >> shift & width.mask(), steady: answer.steady })
    }

    fn word_load(&mut self, asker: Asker, hit: Hit, addr: u32) -> Result<Answer, DeviceFault> {
        let offset = hit.offset & !3;
        let own = asker.core.and_then(CoreId::thread);
        let steady = |value| Ok(Answer { value, steady: true });
        let classed = |value, class| Ok(Answer { value, steady: class == ReadClass::Pure });
        match (hit.target, own) {
            (Target::TileControl, _) => {
                let value = match self.devices.control.external_read(offset) {
                    Some(external) => self.debug_read(external, addr, asker.end)?,
                    None => self.devices.control.read(offset, asker.cycle)?,
                };
                classed(value, devices::TileControl::read_class(offset))
            }
            (Target::TdmaRisc, _) => classed(
                tdma::load(&mut self.tensix.unit, &self.devices.tdma, &asker, offset)?,
                devices::Tdma::read_class(offset),
            ),
            (Target::Noc0, _) => {
                classed(self.devices.nius[0].read(offset)?, devices::Niu::read_class(offset))
            }
            (Target::Noc1, _) => {
                classed(self.devices.nius[1].read(offset)?, devices::Niu::read_class(offset))
            }
            (Target::Overlay, _) => {
                let (stream, register) = overlay_register(offset);
                steady(self.devices.overlay.read(stream, register)?)
            }
            (Target::Pic, _) => {
                classed(self.devices.pic.read(offset)?, devices::Pic::read_class(offset))
            }
            (Target::PcSnapshot, _) => self.pc_snapshot(asker, offset, addr),
            (Target::GprOwn, Some(thread)) => steady(self.tensix.unit.read_gpr(thread, offset / 4)),
            (Target::GprAll, _) => match ThreadId::from_index((offset / 4 / 64) as usize) {
                Some(thread) => steady(self.tensix.unit.read_gpr(thread, offset / 4 % 64)),
                None => Err(unmapped(asker.view, "load from", addr)),
            },
            (Target::TensixCfg, _) => match self.tensix.unit.read_config(offset / 4) {
                Some(value) => steady(value),
                None => Err(unmapped(asker.view, "load from", addr)),
            },
            (Target::Semaphores, _) => steady(self.tensix.unit.read_semaphore(offset / 4)),
            _ if push_target(hit.target, asker.core).is_some()
                || hit.target == Target::MopCfgOwn =>
            {
                let message = format!("load from {addr:#010x}: this window is write-only");
                Err(fault(Category::UndefinedBehavior, "write-only-load", message))
            }
            _ => Err(unmapped(asker.view, "load from", addr)),
        }
    }

    fn pc_snapshot(&mut self, asker: Asker, offset: u32, addr: u32) -> Result<Answer, DeviceFault> {
        let Some(core) = devices::Pic::snapshot_core(offset) else {
            return Err(unmapped(asker.view, "load from", addr));
        };
        // Of a parked core the loop head would be shown; put it where it is.
        self.cores.wake(core, asker.end);
        Ok(Answer { value: self.cores[core].pc(), steady: false })
    }

    fn debug_read(
        &mut self,
        what: ExternalRead,
        addr: u32,
        end: Cycle,
    ) -> Result<u32, DeviceFault> {
        match what {
            ExternalRead::InstructionFifoStatus => Ok(self.tensix.unit.instrn_buf_status()),
            ExternalRead::ConfigWord { index } => {
                Ok(self.tensix.unit.read_config(index).unwrap_or(0))
            }
            ExternalRead::Array { command, enabled } => {
                let value = if enabled { self.tensix.unit.debug_array(command) } else { None };
                value.ok_or_else(|| unseen("debug array", command, addr))
            }
            ExternalRead::DebugBus { select } => {
                self.debug_bus(select, end).ok_or_else(|| unseen("debug bus", select, addr))
            }
        }
    }

    /// The word that `DBG_RD_DATA` shows for a value of `DBG_BUS_CTRL`; `None` if it is switched
    /// off or nothing of the group is modelled.
    pub(crate) fn debug_bus(&mut self, select: u32, now: Cycle) -> Option<u32> {
        let (enabled, word) = (bus::DAISY_ENABLE.is_set(select), bus::READ.of(select) >> 1 & 3);
        let (stop, signals) = (bus::DAISY.of(select), bus::SIGNAL.of(select));
        if !enabled || stop != debug_bus::CORES {
            return self.tensix.unit.debug_bus(select);
        }
        let (core, group) = debug_bus::group(signals)?;
        // Of a parked core the loop head would be shown; put it where it is.
        self.cores.wake(core, now);
        let Self { cores, tensix, devices, .. } = self;
        let signals = debug_bus::Signals {
            cores: &cores.slots,
            tensix: &tensix.unit,
            pcbufs: &devices.pcbufs,
        };
        Some((signals.of(core, group) >> (32 * word)) as u32)
    }

    /// Writes the 128 bits that the debug bus shows to L1: zeroes, and a mistake, if nothing of the group is modelled.
    pub(crate) fn sample_bus(
        &mut self,
        asker: Asker,
        select: u32,
        addr: u32,
    ) -> Result<(), DeviceFault> {
        let group = select & !(bus::READ.mask());
        let words =
            [0, 1, 2, 3].map(|word| self.debug_bus(group | bus::READ.put(word << 1), asker.end));
        let bytes: Vec<u8> =
            words.iter().flat_map(|word| word.unwrap_or(0).to_le_bytes()).collect();
        self.write_block(asker, addr, &bytes)?;
        if words.contains(&None) {
            let text = format!(
                "debug bus selection {select:#010x} shows nothing; L1 {addr:#x} gets zeroes"
            );
            return Err(fault(Category::Unsupported, "debug-bus", text));
        }
        Ok(())
    }

    /// Reads a block through the NoC's view: L1, or aligned words of registers.
    pub(crate) fn read_block(
        &mut self,
        asker: Asker,
        addr: u32,
        bytes: &mut [u8],
    ) -> Result<(), DeviceFault> {
        if addr < L1_BYTES {
            check_l1(addr, bytes.len())?;
            self.cores.read_l1_block(addr, bytes);
            return Ok(());
        }
        let (mut at, mut rest) = (addr, bytes);
        while !rest.is_empty() {
            // One device read per word, however many of its bytes are wanted.
            let word = self.load_as(asker, at & !3, Width::Word)?.value.to_le_bytes();
            let skip = (at & 3) as usize;
            let count = rest.len().min(4 - skip);
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(&word[skip..skip + count]);
            at = (at & !3).wrapping_add(4);
            rest = tail;
        }
        Ok(())
    }
}
