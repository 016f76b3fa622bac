//! The debugger's side of the cores: carries out what the debug registers ask for.
//!
//! A command of the host takes effect at once, between two epochs, and takes no time: a single
//! step happens at the cycle at which the core was paused, its stores reach memory before the
//! host goes on. A command of a core or of the NoC takes effect at the end of its epoch, as a
//! reset does. Either way nothing depends on engine or parking.

use devices::{DebugAccess, DebugEffect, DeviceFault, WatchMode, risc_debug};
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, Category, Context, CoreId, Event, Observer, RequestKind, Width};

use riscv::{Status, Watchpoint};

use crate::asker::{Asker, fault, view};
use crate::tile::Tile;
use crate::waiting::Served;

/// The register whose top bit starts an access to a debug register.
pub const DEBUG_CONTROL: u32 = memory_map::reg::tile_control::RISC_DBG_CNTL_0;

/// Number of the pc among the registers.
const PC: u32 = 32;

impl<O: Observer + ?Sized> Tile<O> {
    /// Somebody accesses a debug register of a core.
    pub(crate) fn debug_access(
        &mut self,
        asker: Asker,
        access: DebugAccess,
    ) -> Result<(), DeviceFault> {
        if asker.end == self.now {
            self.perform_debug(asker, access)
        } else {
            self.debug_queue.push((asker, access));
            Ok(())
        }
    }

    /// Carries out what was asked for in the epoch that has just ended.
    #[cold]
    pub(crate) fn run_debug_queue(&mut self) {
        self.refresh_watches();
        for (asker, access) in std::mem::take(&mut self.debug_queue) {
            let asker = Asker { cycle: self.now, end: self.now, ..asker };
            if let Err(fault) = self.perform_debug(asker, access) {
                let at =
                    Context { cycle: self.now, agent: asker.agent, pc: Some(asker.pc), word: None };
                self.report(Box::new(fault.at(at)));
            }
        }
        self.settle_between_epochs();
    }

    /// Registers or words may have changed between two epochs, under parked pollers and blocked
    /// requests.
    pub(crate) fn settle_between_epochs(&mut self) {
        self.credits_stale = true;
        self.retry_requests = true;
        self.devices_steady_since = self.now;
        self.watch_hit = false;
        for id in CoreId::ALL {
            let core = &self.cores[id];
            if core.spin().is_some_and(riscv::Spin::watches_devices)
                || !core.spin_holds(&self.shared.l1)
            {
                self.wake_core(id, self.now);
            }
        }
    }

    fn perform_debug(&mut self, asker: Asker, access: DebugAccess) -> Result<(), DeviceFault> {
        let status = self.debug_status(access.core);
        for effect in self.control.debug.perform(access, status) {
            self.act_for_debugger(asker, access.core, effect)?;
        }
        Ok(())
    }

    /// `DR(0)`.
    fn debug_status(&self, id: CoreId) -> u32 {
        let core = &self.cores[id];
        match core.status() {
            Status::Halted => risc_debug::facts::status::HALTED | core.pause_reasons(),
            _ => 0,
        }
    }

    fn act_for_debugger(
        &mut self,
        asker: Asker,
        id: CoreId,
        effect: DebugEffect,
    ) -> Result<(), DeviceFault> {
        let now = self.now;
        let paused = matches!(self.cores[id].status(), Status::Halted);
        match effect {
            DebugEffect::Halt => {
                self.wake_core(id, now);
                self.cores[id].halt(&self.shared, now);
                self.note_pause(id);
            }
            DebugEffect::Continue => self.resume(id),
            DebugEffect::Step => self.step_core(id),
            DebugEffect::Watch => {
                let points = self.control.debug.watchpoints(id).map(watchpoint);
                self.wake_core(id, now);
                self.cores[id].set_watchpoints(&self.shared, points, now);
            }
            // Everything else needs a core that stands still.
            _ if !paused => return Err(not_paused(id, effect)),
            DebugEffect::ReadRegister { index } => {
                let core = &self.cores[id];
                let value = match index {
                    0..PC => core.register(index as u8),
                    PC => core.pc(),
                    _ => return Err(no_register(index)),
                };
                self.control.debug.set_result(id, value);
            }
            DebugEffect::WriteRegister { index, value } => match index {
                0..PC => self.cores[id].set_register(index as u8, value),
                _ => return Err(no_register(index)),
            },
            DebugEffect::ClearRegisters => {
                for index in 1..32 {
                    self.cores[id].set_register(index, 0);
                }
            }
            DebugEffect::Flush { pc } => {
                let pc = pc.unwrap_or_else(|| self.control.entry_pc(id));
                self.cores[id].set_pc(pc);
            }
            DebugEffect::ReadMemory { addr } => self.access_for_debugger(asker, id, addr, None)?,
            DebugEffect::WriteMemory { addr, value } => {
                self.access_for_debugger(asker, id, addr, Some(value))?;
            }
        }
        Ok(())
    }

    /// A core is paused because a debugger wanted it: that is no news for whoever drives the tile.
    fn note_pause(&mut self, id: CoreId) {
        if matches!(self.cores[id].status(), Status::Halted) {
            let known = self.known_halts.contains(id);
            self.known_halts.insert(id);
            if !known {
                let pc = self.cores[id].pc();
                self.emit(self.now, AgentId::Core(id), pc, || Event::Halt { core: id });
            }
        }
    }

    /// A step command for a core: at the right one, an instruction with all it does.
    fn step_core(&mut self, id: CoreId) {
        self.grant_pushes();
        let needed = risc_debug::STEPS_PER_INSTRUCTION;
        if !self.cores[id].step_once(&self.shared, needed, self.now) {
            return;
        }
        let now = self.now;
        let stores = std::mem::take(&mut self.cores[id].batch.stores);
        for store in &stores {
            self.apply_store(id, store, now);
        }
        if let Some(fault) = self.cores[id].batch.fault.take() {
            self.report(fault);
        }
        self.try_request(id, now, now);
        self.finish_access(id);
        self.hand_over_logs(id);
        self.cores[id].clear_posted();
        // It may do the same instruction again when there is room.
        self.credits_stale = true;
        self.note_pause(id);
    }

    /// Gives a core the answer that was found between two epochs.
    fn finish_access(&mut self, id: CoreId) {
        if let Some(answer) = self.answers[id.index()].take() {
            self.cores[id].complete(&self.shared, answer.value, answer.steady, self.now);
        }
        self.collect_debug_result(id);
    }

    /// The answer to a memory read of the debugger goes into the debug registers.
    pub(crate) fn collect_debug_result(&mut self, id: CoreId) {
        if let Some(value) = self.cores[id].take_debug_result() {
            self.control.debug.set_result(id, value);
        }
    }

    /// A memory access as the core would do it.
    fn access_for_debugger(
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
                None => self.control.debug.set_result(id, self.shared.l1.word(addr)),
                Some(value) => {
                    if self.write_l1(addr, value, Width::Word, self.now) {
                        let width = Width::Word;
                        let (agent, pc) = (AgentId::Core(id), asker.pc);
                        let event = || Event::L1Store { addr, value, width };
                        self.emit(self.now, agent, pc, event);
                    }
                }
            }
            return Ok(());
        }
        match self.cores[id].debug_access(addr, value, self.now) {
            riscv::DebugAccess::Done(word) => {
                if value.is_none() {
                    self.control.debug.set_result(id, word);
                }
                Ok(())
            }
            riscv::DebugAccess::Requested => self.request_for_debugger(id),
        }
    }

    /// Tries the access a paused core was asked to do. If it has to wait, it is tried again with
    /// every epoch, and the core is not paused meanwhile.
    fn request_for_debugger(&mut self, id: CoreId) -> Result<(), DeviceFault> {
        let Some(request) = self.cores[id].batch.request else { return Ok(()) };
        let pushes = matches!(request.kind, RequestKind::Store { .. })
            && crate::route::pushes_into(view(id), id, request.addr)
                .is_some_and(|(thread, behind)| self.tensix.push_credit(thread, behind) == 0);
        if pushes {
            self.cores[id].refuse_request();
            let message = format!("debugger pushes into a full FIFO at {:#010x}", request.addr);
            return Err(fault(Category::NonContractual, "debug-push", message));
        }
        match self.serve(id, &request, self.now, self.now) {
            Ok(served) => {
                match served {
                    Served::Done(answer) => self.answers[id.index()] = Some(answer),
                    Served::Wait(reason) => self.note_wait(id, request.pc, reason, self.now),
                }
                self.finish_access(id);
                Ok(())
            }
            Err(fault) => {
                self.cores[id].refuse_request();
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
