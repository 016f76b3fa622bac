//! From an address to the device behind it.

use devices::overlay::index;
use devices::{DeviceFault, TileControlEffect};
use memory_map::reg::tile_control::dbg_l1_mem_reg2;
use memory_map::{Hit, Target, View, lookup};
use riscv::view;
use sim_core::l1::L1_BYTES;
use sim_core::{
    AgentId, AmoOp, Category, Context, CoreId, Cycle, Event, Observer, Request, RequestKind, Store,
    ThreadId, WaitReason, Width,
};
use tensix::Origin;

use crate::asker::{Asker, fault};
use crate::bus::Bus;
use crate::debug::Debugger;
use crate::l1_access::check_l1;
use crate::tdma;
use crate::waiting::{Answer, Served};

/// CSR numbers the commit phase answers `[isa-bh: TensixTile/BabyRISCV/CSRs.md]`.
const TT_CFG_QSTATUS: u32 = 0xBC0;
const TT_CFG_BSTATUS: u32 = 0xBC1;

pub(crate) fn unmapped(view: View, what: &str, addr: u32) -> DeviceFault {
    let row = memory_map::REGIONS.iter().find(|row| addr >= row.base && addr <= row.limit);
    let message = match row {
        Some(row) => format!(
            "{what} {addr:#010x} ({}): {} cannot reach it, only {}",
            row.name,
            view.name(),
            View::ALL
                .iter()
                .filter(|other| row.views[other.index()].is_some())
                .map(|other| other.name())
                .collect::<Vec<_>>()
                .join(", ")
        ),
        None => format!("{what} {addr:#010x}: nothing is mapped there"),
    };
    fault(Category::UndefinedBehavior, "unmapped-access", message)
}

pub(crate) fn unseen(what: &str, select: u32, addr: u32) -> DeviceFault {
    let message = format!("load from {addr:#010x}: {what} selection {select:#010x} shows nothing");
    fault(Category::Unsupported, "debug-bus", message)
}

fn narrow(what: &str, addr: u32, width: Width) -> DeviceFault {
    let message =
        format!("{}-byte {what} {addr:#010x}: this device takes aligned words only", width.bytes());
    fault(Category::UndefinedBehavior, "narrow-device-access", message)
}

impl<O: Observer + ?Sized> Bus<O> {
    /// A posted store of a core takes effect.
    #[inline(always)]
    pub(crate) fn apply_store(&mut self, id: CoreId, store: &Store, end: Cycle) {
        if store.addr < L1_BYTES {
            self.cores.apply_l1_store(id, store, end);
            return;
        }
        self.changes.this_cycle = true;
        let hit = lookup(view(id), store.addr);
        // Most are pushes.
        if store.width == Width::Word
            && let Some(to) = hit.and_then(|hit| push_target(hit.target, Some(id)))
        {
            return self.push_or_report(to, store.value, (id, store.pc), store.cycle);
        }
        if let Err(fault) = self.device_store(id, store, hit, end) {
            let at = Context {
                cycle: store.cycle,
                agent: AgentId::Core(id),
                pc: Some(store.pc),
                word: None,
            };
            self.report(Box::new(fault.at(at)));
        }
    }

    /// A store of a core at a pc pushes an instruction; a mistake stops what made it.
    #[inline]
    fn push_or_report(
        &mut self,
        to: (ThreadId, bool),
        word: u32,
        (core, pc): (CoreId, u32),
        cycle: Cycle,
    ) {
        if let Err(error) = self.push(to, word, Origin { core, pc }, cycle) {
            self.report(error);
        }
    }

    /// Writes a block through the NoC's view: L1, or aligned words of registers.
    pub(crate) fn write_block(
        &mut self,
        asker: Asker,
        addr: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceFault> {
        if addr < L1_BYTES {
            check_l1(addr, bytes.len())?;
            self.cores.write_l1_block(asker, addr, bytes);
            return Ok(());
        }
        let mut at = addr;
        for chunk in bytes.chunks(4) {
            if at & 3 != 0 || chunk.len() != 4 {
                let message = format!(
                    "write of {} bytes to {addr:#010x}: registers take aligned words only",
                    bytes.len()
                );
                return Err(fault(Category::UndefinedBehavior, "narrow-device-access", message));
            }
            let word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
            self.store_as(asker, at, word, Width::Word)?;
            at += 4;
        }
        Ok(())
    }

    /// A posted store of a core to anything but L1.
    #[inline(never)]
    fn device_store(
        &mut self,
        id: CoreId,
        store: &Store,
        hit: Option<Hit>,
        end: Cycle,
    ) -> Result<(), DeviceFault> {
        let asker = Asker {
            view: view(id),
            agent: AgentId::Core(id),
            core: Some(id),
            pc: store.pc,
            cycle: store.cycle,
            end,
        };
        self.store_to(asker, hit, store.addr, store.value, store.width)
    }

    /// A store to a device by any asker.
    pub(crate) fn store_as(
        &mut self,
        asker: Asker,
        addr: u32,
        value: u32,
        width: Width,
    ) -> Result<(), DeviceFault> {
        self.store_to(asker, lookup(asker.view, addr), addr, value, width)
    }

    /// The same, `hit` being what is mapped there.
    #[inline]
    fn store_to(
        &mut self,
        asker: Asker,
        hit: Option<Hit>,
        addr: u32,
        value: u32,
        width: Width,
    ) -> Result<(), DeviceFault> {
        let hit = hit.ok_or_else(|| unmapped(asker.view, "store to", addr))?;
        if let Some(to) = push_target(hit.target, asker.core) {
            if width != Width::Word {
                return Err(narrow("store to", addr, width));
            }
            let core = asker.core.unwrap_or(CoreId::Brisc);
            self.push_or_report(to, value, (core, asker.pc), asker.cycle);
            return Ok(());
        }
        self.cores.observer.tell(asker.stamp(), || Event::DeviceStore { addr, value, width });
        if let Some((core, offset)) = local_ram(hit) {
            self.cores.wake(core, asker.end);
            return if self.cores[core].write_local(offset, value, width) {
                Ok(())
            } else {
                Err(unmapped(asker.view, "store to", addr))
            };
        }
        if let (Target::Dst, Some(thread)) = (hit.target, asker.core.and_then(CoreId::thread)) {
            let stored = self.tensix.unit.write_dst_window(thread, hit.offset, value, width);
            self.show_cells(asker.stamp());
            return self.through_door(asker, stored);
        }
        if width != Width::Word {
            return Err(narrow("store to", addr, width));
        }
        let stored = self.word_store(asker, hit, addr, value);
        self.show_cells(asker.stamp());
        stored
    }

    /// An aligned word to a device register.
    fn word_store(
        &mut self,
        asker: Asker,
        hit: Hit,
        addr: u32,
        value: u32,
    ) -> Result<(), DeviceFault> {
        let offset = hit.offset;
        let own = asker.core.and_then(CoreId::thread);
        let at = asker.stamp();
        match (hit.target, own) {
            (Target::TileControl, _) => self.control_store(asker, offset, value),
            (Target::TdmaRisc, _) => {
                let Self { tensix, devices, .. } = self;
                let stored =
                    tdma::store(&mut tensix.unit, &mut devices.tdma, &asker, (offset, value))?;
                if let Err(error) = stored {
                    self.report(Box::new(error));
                }
                Ok(())
            }
            (Target::Noc0, _) => self.noc_store(asker, 0, offset, value),
            (Target::Noc1, _) => self.noc_store(asker, 1, offset, value),
            (Target::Overlay, _) => self.overlay_store(asker, offset, value),
            (Target::Pic, _) => self.devices.pic.write(offset, value),
            (Target::MopCfgOwn, Some(thread)) => {
                let index = offset / 4;
                let stored = self.tensix.unit.write_mop_config(thread, index, value);
                if let Ok(before) = stored
                    && before != value
                    && self.tensix.unit.mop_busy(thread)
                {
                    let (index, after) = (index as u8, value);
                    let event = Event::MopOverwritten { thread, index, before, after };
                    self.emit(at.cycle, at.agent, at.pc, || event);
                }
                self.through_door(asker, stored.map(|_| ()))
            }
            (Target::GprOwn, Some(thread)) => {
                self.tensix.unit.write_gpr(thread, offset / 4, value);
                Ok(())
            }
            (Target::GprAll, _) => match ThreadId::from_index((offset / 4 / 64) as usize) {
                Some(thread) => {
                    self.tensix.unit.write_gpr(thread, offset / 4 % 64, value);
                    Ok(())
                }
                None => Err(unmapped(asker.view, "store to", addr)),
            },
            (Target::TensixCfg, _) => {
                let stored =
                    self.with_tensix(|tensix, env| tensix.write_config(offset / 4, value, at, env));
                self.act_on_icache(asker.end);
                self.through_door(asker, stored)
            }
            (Target::Semaphores, _) => {
                self.with_tensix(|tensix, env| {
                    tensix.write_semaphore(offset / 4, value, at, env);
                });
                Ok(())
            }
            // Only the ordering counts, and accesses are ordered anyway
            // [isa-bh: TensixTile/BabyRISCV/ManualTTSync.md].
            (Target::TtSync | Target::PcBufOwn, _) => Ok(()),
            _ => Err(unmapped(asker.view, "store to", addr)),
        }
    }

    /// A store to an NIU register; may start a request.
    fn noc_store(
        &mut self,
        asker: Asker,
        noc: u8,
        offset: u32,
        value: u32,
    ) -> Result<(), DeviceFault> {
        let niu = &mut self.devices.nius[usize::from(noc & 1)];
        let Some(packet) = niu.write(offset, value, asker.cycle)? else { return Ok(()) };
        let ticket = self.fabric.launch(&packet, asker)? as u32;
        self.emit(asker.cycle, asker.agent, asker.pc, || Event::NocIssue {
            noc,
            initiator: packet.initiator,
            control: packet.control,
            addr: packet.address(),
            coordinate: packet.coordinate(),
            bytes: packet.bytes(),
            ticket,
            packets: packet.parts(),
        });
        Ok(())
    }

    fn overlay_store(&mut self, asker: Asker, offset: u32, value: u32) -> Result<(), DeviceFault> {
        let (stream, register) = overlay_register(offset);
        // The counters that follow a buffer size, up to 32 for each page of a circular buffer, say what the
        // size says.
        let follows = |other: u16| {
            register == index::REMOTE_DEST_BUF_SIZE
                && other >= index::REMOTE_DEST_BUF_SPACE_AVAILABLE
        };
        let Self { devices, cores, .. } = self;
        devices.overlay.write(stream, register, value, |change| {
            if !follows(change.register) {
                cores.observer.tell(asker.stamp(), || Event::Stream {
                    stream,
                    register: change.register,
                    before: change.before,
                    after: change.after,
                });
            }
        })?;
        self.tensix.unit.wake();
        Ok(())
    }

    fn control_store(&mut self, asker: Asker, offset: u32, value: u32) -> Result<(), DeviceFault> {
        let before = self.devices.control.soft_reset();
        let effect = self.devices.control.write(offset, value, asker.cycle)?;
        match effect {
            None => {}
            Some(TileControlEffect::Reset { entered, left, .. }) => {
                for core in entered.iter() {
                    self.enter_reset(core, asker);
                }
                self.tensix.unit.apply_soft_reset(before, self.devices.control.soft_reset());
                for core in left.iter() {
                    self.leave_reset(core, asker);
                }
            }
            Some(TileControlEffect::PcBufOverride(value)) => {
                self.devices.pcbufs.set_override(value);
            }
            Some(TileControlEffect::DebugPush { threads, word }) => {
                let core = asker.core.unwrap_or(CoreId::Brisc);
                let origin = Origin { core, pc: asker.pc };
                for thread in ThreadId::ALL {
                    if threads >> thread as u8 & 1 == 1
                        && let Err(error) = self.push((thread, true), word, origin, asker.cycle)
                    {
                        self.report(error);
                    }
                }
            }
            Some(TileControlEffect::DebugBusControl { .. }) => {}
            Some(TileControlEffect::CoreDebug(access)) => {
                Debugger { bus: self }.access(asker, access)?;
            }
            Some(TileControlEffect::SampleBus { select, addr, more }) => {
                self.sample_bus(asker, select, addr)?;
                // Between those that a host asks for it lets time pass; others get a series of one moment.
                if more && asker.agent != AgentId::Host {
                    self.sample_on(asker, offset, value)?;
                }
            }
        }
        Ok(())
    }

    /// The other samples of a series of the debug bus, at once.
    fn sample_on(&mut self, asker: Asker, offset: u32, value: u32) -> Result<(), DeviceFault> {
        let lowered = value & !dbg_l1_mem_reg2::WRITE_TRIGGER.mask();
        let control = |bus: &mut Self, value| bus.devices.control.write(offset, value, asker.cycle);
        loop {
            control(self, lowered)?;
            let Some(TileControlEffect::SampleBus { select, addr, .. }) = control(self, value)?
            else {
                return Ok(());
            };
            self.sample_bus(asker, select, addr)?;
        }
    }

    fn enter_reset(&mut self, core: CoreId, asker: Asker) {
        self.cores.wake(core, asker.end);
        self.cores[core].hold();
        if self.devices.control.clears_debug_registers(core) {
            self.devices.control.debug.reset_core(core);
            self.cores.set_watchpoints(core, Default::default(), asker.end);
        }
        self.waits.forget(core);
        self.stops.forget(core);
        if core != CoreId::Ncrisc {
            self.devices.mailboxes.clear_writer(core);
        }
        if let Some(thread) = core.thread() {
            self.tensix.unit.reset_thread_frontend(thread);
        }
        self.emit(asker.cycle, asker.agent, asker.pc, || Event::Reset {
            core,
            asserted: true,
            pc: 0,
        });
    }

    fn leave_reset(&mut self, core: CoreId, asker: Asker) {
        let pc = self.devices.control.entry_pc(core);
        if let Some(thread) = core.thread() {
            self.devices.pcbufs.clear(thread);
        }
        let keep = !self.devices.control.clears_local_ram(core);
        self.cores[core].release(pc, asker.end, keep);
        self.emit(asker.cycle, asker.agent, asker.pc, || Event::Reset {
            core,
            asserted: false,
            pc,
        });
    }

    /// Tries to answer a request of a core.
    pub(crate) fn serve(
        &mut self,
        id: CoreId,
        request: &Request,
        cycle: Cycle,
        end: Cycle,
    ) -> Result<Served, DeviceFault> {
        let asker = Asker {
            view: view(id),
            agent: AgentId::Core(id),
            core: Some(id),
            pc: request.pc,
            cycle,
            end,
        };
        match request.kind {
            RequestKind::StatusCsr => self.status_csr(id, request.addr).map(Served::Done),
            RequestKind::Amo { op, operand } => {
                self.atomic(asker, request.addr, op, operand).map(Served::Done)
            }
            RequestKind::Load => self.load_for_core(asker, id, request.addr, request.width),
            RequestKind::Store { value } => {
                self.controlled_store(asker, id, request.addr, value, request.width)
            }
        }
    }

    fn status_csr(&self, id: CoreId, number: u32) -> Result<Answer, DeviceFault> {
        let value = match number {
            TT_CFG_QSTATUS => self.tensix.unit.queue_status(id.thread()),
            TT_CFG_BSTATUS => self.tensix.unit.busy_status(id.thread()),
            _ => {
                let message = format!(
                    "CSR {number:#x} shows an overlay stream; which one is not publicly documented"
                );
                return Err(fault(Category::MissingSpecification, "stream-status-csr", message));
            }
        };
        Ok(Answer { value, steady: false })
    }

    fn atomic(
        &mut self,
        asker: Asker,
        addr: u32,
        op: AmoOp,
        operand: u32,
    ) -> Result<Answer, DeviceFault> {
        if addr >= L1_BYTES {
            let message = format!("atomic at {addr:#010x}: atomics work on L1 only");
            return Err(fault(Category::UndefinedBehavior, "atomic-outside-l1", message));
        }
        let before = self.cores.l1().word(addr);
        let after = op.apply(before, operand);
        self.cores.write_l1(addr, after, Width::Word, asker.end);
        self.emit(asker.cycle, asker.agent, asker.pc, || Event::L1Atomic { addr, before, after });
        Ok(Answer { value: before, steady: false })
    }

    /// Stores that wait for room: mailboxes, PCBufs; TDMA registers share the path.
    fn controlled_store(
        &mut self,
        asker: Asker,
        id: CoreId,
        addr: u32,
        value: u32,
        width: Width,
    ) -> Result<Served, DeviceFault> {
        const DONE: Served = Served::Done(Answer { value: 0, steady: false });
        let hit = lookup(asker.view, addr).ok_or_else(|| unmapped(asker.view, "store to", addr))?;
        let (cycle, agent, pc) = (asker.cycle, asker.agent, asker.pc);
        if width != Width::Word {
            return Err(narrow("store to", addr, width));
        }
        if let Some(reason) =
            tdma::waits_for_instructions(&self.tensix.unit, self.tensix.tracked, (id, hit, true))
        {
            return Ok(Served::Wait(reason));
        }
        match hit.target {
            Target::Mailbox => {
                let to = mailbox_peer(addr);
                if !self.devices.mailboxes.can_push(id, to)? {
                    // All mailboxes that a core writes share their room.
                    let to = self.devices.mailboxes.holder(id, to);
                    return Ok(Served::Wait(WaitReason::MailboxFull { from: id, to }));
                }
                let depth = self.devices.mailboxes.push(id, to, value)?;
                self.emit(cycle, agent, pc, || Event::MailboxPush { from: id, to, value, depth });
            }
            Target::PcBufT0 | Target::PcBufT1 | Target::PcBufT2 => {
                let thread = pcbuf_thread(hit.target);
                if !self.devices.pcbufs.can_push(thread) {
                    return Ok(Served::Wait(WaitReason::PcBufFull { thread }));
                }
                let depth = self.devices.pcbufs.push(thread, value)?;
                self.emit(cycle, agent, pc, || Event::PcBufPush { thread, value, depth });
            }
            Target::TdmaRisc
                if devices::Tdma::is_command(hit.offset)
                    && self.tensix.unit.tdma_queue_is_full() =>
            {
                return Ok(Served::Wait(WaitReason::TdmaQueueFull));
            }
            _ => self.store_as(asker, addr, value, width)?,
        }
        Ok(DONE)
    }
}

/// The stream, and its register, at a byte offset.
pub(crate) const fn overlay_register(offset: u32) -> (u8, u16) {
    ((offset >> 12) as u8, (offset >> 2 & 0x3FF) as u16)
}

pub(crate) fn ttsync_reason(offset: u32, thread: ThreadId) -> WaitReason {
    if offset == 0 {
        WaitReason::CoprocessorBusy { thread }
    } else {
        WaitReason::MopBusy { thread }
    }
}

/// The core at the other end of a mailbox window: 0 B, 1 to 3 T0 to T2, 4 KiB each
/// `[isa-wh: TensixTile/BabyRISCV/Mailboxes.md]`.
#[must_use]
pub fn mailbox_peer(addr: u32) -> CoreId {
    match addr >> 12 & 3 {
        0 => CoreId::Brisc,
        1 => CoreId::Trisc0,
        2 => CoreId::Trisc1,
        _ => CoreId::Trisc2,
    }
}

pub(crate) fn pcbuf_thread(target: Target) -> ThreadId {
    match target {
        Target::PcBufT1 => ThreadId::T1,
        Target::PcBufT2 => ThreadId::T2,
        _ => ThreadId::T0,
    }
}

pub(crate) fn push_target(target: Target, core: Option<CoreId>) -> Option<(ThreadId, bool)> {
    match target {
        Target::PushOwn => core.and_then(CoreId::thread).map(|thread| (thread, false)),
        Target::PushT0AfterMop => Some((ThreadId::T0, true)),
        Target::PushT1AfterMop => Some((ThreadId::T1, true)),
        Target::PushT2AfterMop => Some((ThreadId::T2, true)),
        _ => None,
    }
}

/// The FIFO into which a store of that core would push.
pub(crate) fn pushes_into(view: View, core: CoreId, addr: u32) -> Option<(ThreadId, bool)> {
    push_target(lookup(view, addr)?.target, Some(core))
}

/// The slow path into a core's local RAM.
pub(crate) fn local_ram(hit: Hit) -> Option<(CoreId, u32)> {
    let core = match hit.target {
        Target::LocalRamB => CoreId::Brisc,
        Target::LocalRamNc => CoreId::Ncrisc,
        Target::LocalRamT0 => CoreId::Trisc0,
        Target::LocalRamT1 => CoreId::Trisc1,
        Target::LocalRamT2 => CoreId::Trisc2,
        _ => return None,
    };
    Some((core, hit.offset))
}
