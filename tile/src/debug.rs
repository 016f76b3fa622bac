//! The debugger's side of the cores: carries out what the debug registers ask for.
//!
//! A command of the host takes effect at once, between two epochs, and takes no time: a single
//! step happens at the cycle at which the core was paused, its stores reach memory before the
//! host goes on. A command of a core or of the NoC takes effect at the end of its epoch, as a
//! reset does. Either way nothing depends on engine or parking.

use devices::{DebugAccess, DebugEffect, DeviceFault, WatchMode, risc_debug};
use memory_map::reg::tile_control;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, Category, Context, CoreId, Event, Observer, RequestKind, Width};

use riscv::{Status, Watchpoint, view};

use crate::asker::{Asker, fault};
use crate::bus::Bus;
use crate::waiting::Served;

/// The register whose top bit starts an access to a debug register.
pub const DEBUG_CONTROL: u32 = tile_control::RISC_DBG_CNTL_0;

/// The registers by which a host looks at cores and controls them without a program's help.
const DEBUG_HARDWARE: [u32; 9] = [
    tile_control::DBG_BUS_CTRL,
    tile_control::DBG_RD_DATA,
    tile_control::DBG_L1_MEM_REG0,
    tile_control::DBG_L1_MEM_REG1,
    tile_control::DBG_L1_MEM_REG2,
    DEBUG_CONTROL,
    tile_control::RISC_DBG_CNTL_1,
    tile_control::RISC_DBG_STATUS_0,
    tile_control::RISC_DBG_STATUS_1,
];

/// Whether an address of a tile is a register of the debug bus or of the debug interface of the cores.
#[must_use]
pub fn is_debug_hardware(addr: u32) -> bool {
    DEBUG_HARDWARE.contains(&addr)
}

/// Number of the pc among the registers.
const PC: u32 = 32;

/// A debugger at the cores of a tile.
pub(crate) struct Debugger<'a, O: Observer + ?Sized> {
    pub(crate) bus: &'a mut Bus<O>,
}

impl<O: Observer + ?Sized> Debugger<'_, O> {
    /// Accesses a debug register of a core.
    pub(crate) fn access(&mut self, asker: Asker, access: DebugAccess) -> Result<(), DeviceFault> {
        if asker.end == self.bus.now {
            self.perform(asker, access)
        } else {
            self.bus.debug_queue.push((asker, access));
            Ok(())
        }
    }

    /// Carries out what was asked for in the epoch that has just ended.
    #[cold]
    pub(crate) fn run_queue(&mut self) {
        self.bus.refresh_watches();
        for (asker, access) in std::mem::take(&mut self.bus.debug_queue) {
            let asker = Asker { cycle: self.bus.now, end: self.bus.now, ..asker };
            if let Err(fault) = self.perform(asker, access) {
                let at = Context {
                    cycle: self.bus.now,
                    agent: asker.agent,
                    pc: Some(asker.pc),
                    word: None,
                };
                self.bus.report(Box::new(fault.at(at)));
            }
        }
        self.bus.recheck_waits();
    }

    fn perform(&mut self, asker: Asker, access: DebugAccess) -> Result<(), DeviceFault> {
        let status = self.status(access.core);
        for effect in self.bus.devices.control.debug.perform(access, status) {
            self.act(asker, access.core, effect)?;
        }
        Ok(())
    }

    /// `DR(0)`.
    fn status(&self, id: CoreId) -> u32 {
        let core = &self.bus.cores[id];
        match core.status() {
            Status::Halted => risc_debug::facts::status::HALTED | core.pause_reasons(),
            _ => 0,
        }
    }

    fn act(&mut self, asker: Asker, id: CoreId, effect: DebugEffect) -> Result<(), DeviceFault> {
        let now = self.bus.now;
        let paused = matches!(self.bus.cores[id].status(), Status::Halted);
        match effect {
            DebugEffect::Halt => {
                self.bus.cores.wake(id, now);
                self.bus.cores.halt(id, now);
                self.note_pause(id);
            }
            DebugEffect::Continue => self.resume(id),
            DebugEffect::Step => self.step_core(id),
            DebugEffect::Watch => {
                let points = self.bus.devices.control.debug.watchpoints(id).map(watchpoint);
                self.bus.cores.wake(id, now);
                self.bus.cores.set_watchpoints(id, points, now);
            }
            // Everything else needs a core that stands still.
            _ if !paused => return Err(not_paused(id, effect)),
            DebugEffect::ReadRegister { index } => {
                let core = &self.bus.cores[id];
                let value = match index {
                    0..PC => core.register(index as u8),
                    PC => core.pc(),
                    _ => return Err(no_register(index)),
                };
                self.bus.devices.control.debug.set_result(id, value);
            }
            DebugEffect::WriteRegister { index, value } => match index {
                0..PC => self.bus.cores[id].set_register(index as u8, value),
                _ => return Err(no_register(index)),
            },
            DebugEffect::ClearRegisters => {
                for index in 1..32 {
                    self.bus.cores[id].set_register(index, 0);
                }
            }
            DebugEffect::Flush { pc } => {
                let pc = pc.unwrap_or_else(|| self.bus.devices.control.entry_pc(id));
                self.bus.cores[id].set_pc(pc);
            }
            DebugEffect::ReadMemory { addr } => self.access_memory(asker, id, addr, None)?,
            DebugEffect::WriteMemory { addr, value } => {
                self.access_memory(asker, id, addr, Some(value))?;
            }
        }
        Ok(())
    }

    /// A core is paused because a debugger wanted it: that is no news for what drives the tile.
    fn note_pause(&mut self, id: CoreId) {
        let halted = matches!(self.bus.cores[id].status(), Status::Halted);
        if halted && self.bus.stops.has_halted(id) {
            let pc = self.bus.cores[id].pc();
            self.bus.emit(self.bus.now, AgentId::Core(id), pc, || Event::Halt { core: id });
        }
    }

    /// Lets a core that has halted go on.
    pub(crate) fn resume(&mut self, id: CoreId) {
        self.bus.stops.goes_on(id);
        self.bus.cores[id].resume(self.bus.now);
    }

    /// A step command for a core: at the right one, an instruction with all it does.
    fn step_core(&mut self, id: CoreId) {
        self.bus.grant_pushes();
        let needed = risc_debug::STEPS_PER_INSTRUCTION;
        if !self.bus.cores.step_once(id, needed, self.bus.now) {
            return;
        }
        let now = self.bus.now;
        let stores = std::mem::take(&mut self.bus.cores[id].batch.stores);
        for store in &stores {
            self.bus.apply_store(id, store, now);
        }
        if let Some(fault) = self.bus.cores[id].batch.fault.take() {
            self.bus.report(fault);
        }
        self.bus.try_request(id, now, now);
        self.finish_access(id);
        self.bus.cores.hand_over_logs(id);
        self.bus.cores[id].clear_posted();
        // It may do the same instruction again when there is room.
        self.bus.tensix.credits_stale = true;
        self.note_pause(id);
    }

    /// Gives a core the answer that was found between two epochs.
    fn finish_access(&mut self, id: CoreId) {
        if let Some(answer) = self.bus.waits.answers[id.index()].take() {
            self.bus.cores.complete(id, answer, self.bus.now);
        }
        self.bus.collect_debug_result(id);
    }

    /// A memory access as the core would do it.
    fn access_memory(
        &mut self,
        asker: Asker,
        id: CoreId,
        addr: u32,
        value: Option<u32>,
    ) -> Result<(), DeviceFault> {
        if addr & 3 != 0 {
            let message = format!("debugger accesses the word at {addr:#x}, not aligned");
            return Err(fault(Category::UndefinedBehavior, "misaligned-access", message));
        }
        if addr < L1_BYTES {
            match value {
                None => {
                    self.bus.devices.control.debug.set_result(id, self.bus.cores.l1().word(addr));
                }
                Some(value) => {
                    if self.bus.cores.write_l1(addr, value, Width::Word, self.bus.now) {
                        let width = Width::Word;
                        let (agent, pc) = (AgentId::Core(id), asker.pc);
                        let event = || Event::L1Store { addr, value, width };
                        self.bus.emit(self.bus.now, agent, pc, event);
                    }
                }
            }
            return Ok(());
        }
        match self.bus.cores[id].debug_access(addr, value, self.bus.now) {
            riscv::DebugAccess::Done(word) => {
                if value.is_none() {
                    self.bus.devices.control.debug.set_result(id, word);
                }
                Ok(())
            }
            riscv::DebugAccess::Requested => self.request(id),
        }
    }

    /// Tries the access a paused core was asked to do. If it has to wait, it is tried again with
    /// every epoch, and the core is not paused meanwhile.
    fn request(&mut self, id: CoreId) -> Result<(), DeviceFault> {
        let Some(request) = self.bus.cores[id].batch.request else { return Ok(()) };
        let pushes = matches!(request.kind, RequestKind::Store { .. })
            && crate::route::pushes_into(view(id), id, request.addr).is_some_and(
                |(thread, behind)| self.bus.tensix.unit.push_credit(thread, behind) == 0,
            );
        if pushes {
            self.bus.cores[id].refuse_request();
            let message = format!("debugger pushes into a full FIFO at {:#010x}", request.addr);
            return Err(fault(Category::NonContractual, "debug-push", message));
        }
        match self.bus.serve(id, &request, self.bus.now, self.bus.now) {
            Ok(served) => {
                match served {
                    Served::Done(answer) => self.bus.waits.answers[id.index()] = Some(answer),
                    Served::Wait(reason) => {
                        self.bus.note_wait(id, &request, reason, self.bus.now);
                    }
                }
                self.finish_access(id);
                Ok(())
            }
            Err(fault) => {
                self.bus.cores[id].refuse_request();
                Err(fault)
            }
        }
    }
}

fn watchpoint((mode, addr): (WatchMode, u32)) -> Watchpoint {
    use WatchMode::{Access, Execute, Read, Write};
    Watchpoint {
        addr,
        execute: mode == Execute,
        read: matches!(mode, Read | Access),
        write: matches!(mode, Write | Access),
    }
}

fn not_paused(id: CoreId, effect: DebugEffect) -> DeviceFault {
    let message = format!("debug command {effect:?} for {id}, which is not paused");
    fault(Category::UndefinedBehavior, "debug-not-paused", message)
}

fn no_register(index: u32) -> DeviceFault {
    let message = format!("debug command names register {index}");
    fault(Category::UndefinedBehavior, "debug-register", message)
}
