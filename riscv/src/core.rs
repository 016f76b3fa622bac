//! One core: its state and what the tile may do to it between run phases.

use sim_core::{
    Agent, Batch, Category, Context, CoreId, Cycle, EpochLength, GuestError, Retire, Shared,
    Shortcut, Shortcuts, WaitReason, Width,
};

use crate::ahead::{Undo, block_bit};
use crate::csr::CsrFile;
use crate::debug::Debug as Debugger;
use crate::fast::{Exit, Posted};
use crate::icache::{Icache, IcacheModel};
use crate::op::{REGISTER_SLOTS, SINK};
use crate::park::{Prober, Spin};
use crate::run::Slice;

/// Where a core sees its own local data RAM `[isa-bh: TensixTile/BabyRISCV/README.md]`.
pub const LOCAL_BASE: u32 = 0xFFB0_0000;

/// What of a core can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct CoreConfig {
    /// Cycles per epoch.
    pub epoch: EpochLength,
    /// Which ways to the same result are taken.
    pub shortcuts: Shortcuts,
    /// How instruction fetch sees stores to code.
    pub icache: IcacheModel,
    /// Whether `ebreak` halts for a debugger (else it is a diagnosed mistake).
    pub debugger: bool,
}

impl Default for CoreConfig {
    fn default() -> Self {
        Self {
            epoch: EpochLength::default(),
            shortcuts: Shortcuts::ALL,
            icache: IcacheModel::Coherent,
            debugger: false,
        }
    }
}

impl CoreConfig {
    /// Whether each instruction is executed with care, whatever it is.
    pub(crate) fn is_careful(&self) -> bool {
        self.icache == IcacheModel::Stale || !self.shortcuts.has(Shortcut::FastLoop)
    }
}

/// What a core is doing.
#[derive(Clone, Debug)]
pub enum Status {
    /// Held in soft reset.
    Reset,
    /// Executing.
    Running,
    /// Its [`Batch::request`] is not answered yet.
    Waiting,
    /// The next instruction pushes into a full FIFO, reached through that window (0 to 2).
    PushBlocked(u8),
    /// Spinning on words that do not change.
    Parked(Box<Spin>),
    /// Stopped by `ebreak` or a debugger.
    Halted,
    /// Made a mistake; see the diagnosis the tile reported.
    Faulted,
}

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

/// One baby RISC-V core.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Core {
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
    pub(crate) status: Status,
    pub(crate) pending: Pending,
    /// Union of [`Shared::watch_bit`]s of L1 words stored to in this epoch.
    pub(crate) stored_words: u64,
    /// Union of the [`block_bit`]s of the same words.
    pub(crate) stored_blocks: u64,
    /// How many instructions may still be pushed through each of the three windows.
    pub(crate) push_credit: [u32; 3],
    /// Stores to GPRs and configuration may have to wait, see [`Core::order_stores`].
    pub(crate) orders_stores: bool,
    pub(crate) local: Box<[u32]>,
    pub(crate) f: [u32; 32],
    pub(crate) csr: CsrFile,
    pub(crate) icache: Icache,
    pub(crate) prober: Prober,
    /// The high half of the wall clock when the core last read the low one.
    pub(crate) clock_era: Option<u32>,
    pub(crate) trace: bool,
    /// Jumps are recorded.
    pub(crate) logs_jumps: bool,
    /// Instructions are logged or checked one by one.
    pub(crate) always_careful: bool,
    pub(crate) debug: Debugger,
    /// To take back what was done on trial.
    pub(crate) undo: Box<Undo>,
    pub(crate) reset_cycle: u64,
    pub(crate) reset_instructions: u64,
    /// What the core hands over at the end of its run phase.
    pub batch: Batch,
}

impl Core {
    /// A core in reset at cycle 0.
    #[must_use]
    pub fn new(id: CoreId, config: CoreConfig) -> Self {
        Self {
            id,
            config,
            x: [0; REGISTER_SLOTS],
            pc: 0,
            cycle: 0,
            instructions: 0,
            status: Status::Reset,
            pending: Pending::Discard,
            stored_words: 0,
            stored_blocks: 0,
            push_credit: [0; 3],
            orders_stores: false,
            local: vec![0; id.local_ram_bytes() as usize / 4].into_boxed_slice(),
            f: [0; 32],
            csr: CsrFile::default(),
            icache: Icache::new(config.icache),
            prober: Prober::new(config.shortcuts),
            clock_era: None,
            trace: false,
            logs_jumps: false,
            always_careful: config.is_careful(),
            debug: Debugger::default(),
            undo: Box::default(),
            reset_cycle: 0,
            reset_instructions: 0,
            batch: Batch::default(),
        }
    }

    /// Which core this is.
    #[must_use]
    pub fn id(&self) -> CoreId {
        self.id
    }

    /// What it is doing.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Whether it can use a run phase.
    #[inline]
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.status, Status::Running)
    }

    /// Address of the next instruction; of the head of the loop while parked.
    #[must_use]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// The cycle up to which it has executed. Lags behind while it is not running.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        Cycle(self.cycle)
    }

    /// Instructions retired since power-on. Rounds skipped while parked are counted when it is
    /// woken.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Integer register `x0`..`x31`.
    #[must_use]
    pub fn register(&self, index: u8) -> u32 {
        self.x[usize::from(index & 31)]
    }

    /// Replaces an integer register; `x0` stays zero.
    pub fn set_register(&mut self, index: u8, value: u32) {
        if index & 31 != 0 {
            self.x[usize::from(index & 31)] = value;
        }
    }

    /// Floating-point register `f0`..`f31`.
    #[must_use]
    pub fn float_register(&self, index: u8) -> u32 {
        self.f[usize::from(index & 31)]
    }

    /// The loop it is parked in.
    #[must_use]
    pub fn spin(&self) -> Option<&Spin> {
        match &self.status {
            Status::Parked(spin) => Some(spin),
            _ => None,
        }
    }

    /// Why it does not execute, as far as the core itself knows.
    #[must_use]
    pub fn own_wait(&self) -> Option<WaitReason> {
        match self.status {
            Status::Reset => Some(WaitReason::Reset),
            Status::Halted => Some(WaitReason::Halted),
            Status::Parked(_) => Some(WaitReason::Spin),
            _ => None,
        }
    }

    /// Leaves soft reset: registers, CSRs and local RAM are cleared, execution starts at `pc`.
    ///
    /// `keep_local_ram` is the DISABLE_RESET bit of this core
    /// `[isa-bh: TensixTile/SoftReset.md]`. The up to 2,048 cycles during which the hardware
    /// clears the RAM are not modelled.
    pub fn release(&mut self, pc: u32, now: Cycle, keep_local_ram: bool) {
        self.x = [0; REGISTER_SLOTS];
        self.f = [0; 32];
        self.csr = CsrFile::default();
        if !keep_local_ram {
            self.local.fill(0);
        }
        self.icache.invalidate_all();
        self.pc = pc;
        self.cycle = now.0;
        self.reset_cycle = now.0;
        self.reset_instructions = self.instructions;
        self.status = Status::Running;
        self.batch.request = None;
        self.prober.restart(now.0, false);
    }

    /// Enters soft reset at once. Posted effects that are still in the batch are dropped.
    pub fn hold(&mut self) {
        self.status = Status::Reset;
        self.batch.request = None;
        self.forget_debugger();
        self.clear_posted();
    }

    /// Whether the core waits for an answer to its stores to GPRs and backend configuration: with
    /// Auto TTSync they may have to wait for instructions that it pushed before.
    pub fn order_stores(&mut self, ordered: bool) {
        self.orders_stores = ordered;
    }

    /// Sets how many instructions may be pushed through `window` (0 = own or T0, 1, 2) and lets a
    /// push that found the FIFO full be tried again.
    #[inline]
    pub fn grant_push(&mut self, window: u8, credit: u32, now: Cycle) {
        self.push_credit[usize::from(window % 3)] = credit;
        if let Status::PushBlocked(blocked) = self.status
            && blocked == window
            && credit > 0
        {
            self.status = Status::Running;
            self.cycle = now.0;
        }
    }

    /// Answers the outstanding request. `steady` says that the value is a pure function of device
    /// state, so that a loop around it may be parked.
    pub fn complete(&mut self, shared: &Shared, value: u32, steady: bool, now: Cycle) {
        let Some(request) = self.batch.request.take() else { return };
        let value = value & request.width.mask();
        if self.pending == Pending::Debugger {
            self.answer_debugger(request.kind, value);
            return;
        }
        self.deliver(self.pending, value, request.width);
        self.note_clock(request.addr, request.cycle.0);
        if steady {
            let load = crate::park::WatchedLoad {
                addr: request.addr,
                value,
                width: request.width,
                pc: request.pc,
                device: true,
            };
            self.prober.showed(load, request.cycle.0);
            self.prober.load(load, now.0);
        } else {
            self.prober.side_effect(now.0);
        }
        if self.trace {
            let rd = match self.pending {
                Pending::Integer { rd, .. } | Pending::Csr { rd } if rd < SINK => rd,
                _ => 0,
            };
            self.batch.retired.push(Retire {
                cycle: request.cycle,
                pc: request.pc,
                word: shared.l1.word(request.pc),
                rd,
                value,
            });
        }
        self.instructions += 1;
        self.cycle = now.0;
        self.status = Status::Running;
        self.pause_if_due();
    }

    /// Reads local RAM through the slow path, by byte offset; `None` outside.
    #[must_use]
    pub fn read_local(&self, offset: u32, width: Width) -> Option<u32> {
        let word = *self.local.get((offset >> 2) as usize)?;
        Some(word >> ((offset & 3 & !(width.bytes() - 1)) * 8) & width.mask())
    }

    /// Writes local RAM through the slow path; `false` outside. The core must not be parked.
    pub fn write_local(&mut self, offset: u32, value: u32, width: Width) -> bool {
        let Some(word) = self.local.get_mut((offset >> 2) as usize) else { return false };
        let shift = (offset & 3 & !(width.bytes() - 1)) * 8;
        let mask = width.mask() << shift;
        *word = *word & !mask | value << shift & mask;
        self.prober.side_effect(self.cycle);
        true
    }

    /// Whether the core has decoded one of the words that hold `bytes` bytes from `addr` on, since it
    /// last changed.
    #[inline]
    #[must_use]
    pub fn holds_code(&self, addr: u32, bytes: u32) -> bool {
        self.icache.holds(addr, bytes)
    }

    /// Those words change.
    pub fn invalidate_code(&mut self, addr: u32, bytes: u32) {
        self.icache.invalidate(addr, bytes);
    }

    /// The instruction-cache-invalidate register was written for this core.
    pub fn invalidate_icache(&mut self) {
        self.icache.invalidate_all();
    }

    /// Switches the instruction log on or off. Rounds of a polling loop that are skipped while
    /// parked are not in the log: whether a core parks must not depend on who watches.
    pub fn set_trace(&mut self, on: bool) {
        self.trace = on;
        self.update_care();
    }

    /// Has jumps recorded, or no longer. As with [`Core::set_trace`], not those of rounds that are
    /// skipped while parked.
    pub fn set_jump_log(&mut self, on: bool) {
        self.logs_jumps = on;
    }

    /// A mistake of this core was found elsewhere: it never executes again.
    pub fn stop_faulted(&mut self) {
        if !matches!(self.status, Status::Reset) {
            self.status = Status::Faulted;
            self.batch.request = None;
        }
    }

    /// Whether it is running and its last run phase did nothing to the outside but, perhaps, store
    /// to L1: then it neither waits for an answer nor has it made a mistake.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let plain = self.is_running() && self.batch.device_stores == 0;
        debug_assert!(!plain || self.batch.request.is_none() && self.batch.fault.is_none());
        plain
    }

    /// Two summaries of the L1 words stored to in this epoch, by their number and by their block of
    /// 1 KiB: cores without a common bit in either of them have stored to different words.
    #[inline]
    #[must_use]
    pub fn stored_summary(&self) -> (u64, u64) {
        (self.stored_words, self.stored_blocks)
    }

    /// Notes an L1 store that is posted.
    #[inline]
    pub(crate) fn note_stored(&mut self, addr: u32) {
        self.stored_words |= Shared::watch_bit(addr);
        self.stored_blocks |= block_bit(addr);
    }

    /// Forgets the posted effects after the commit phase applied them.
    pub fn clear_posted(&mut self) {
        self.batch.clear_posted();
        (self.stored_words, self.stored_blocks) = (0, 0);
    }

    /// Ends the run phase with a diagnosis of the instruction at `pc`.
    #[cold]
    pub(crate) fn fault(
        &mut self,
        category: Category,
        id: &'static str,
        message: String,
        pc: u32,
        word: Option<u32>,
    ) {
        let at = Context {
            cycle: Cycle(self.cycle),
            agent: sim_core::AgentId::Core(self.id),
            pc: Some(pc),
            word,
        };
        self.batch.fault = Some(Box::new(GuestError::new(category, id, message, at)));
        self.pc = pc;
        self.status = Status::Faulted;
    }

    pub(crate) fn cycles_since_reset(&self) -> u64 {
        self.cycle - self.reset_cycle
    }

    pub(crate) fn instructions_since_reset(&self) -> u64 {
        self.instructions - self.reset_instructions
    }
}

impl Agent for Core {
    #[inline]
    fn run(&mut self, shared: &Shared, until: Cycle) {
        if !self.is_running() || self.cycle >= until.0 {
            return;
        }
        // Nearly always the whole of an epoch is plain.
        if until.0 <= self.prober.gate() && !self.always_careful {
            match self.fast_slice::<Posted>(shared, until.0) {
                Exit::Done => return,
                Exit::Careful => return self.run_slice_carefully(Slice::new(shared, until.0)),
                Exit::NoPage => {}
            }
        }
        self.run_slice(Slice::new(shared, until.0));
    }

    fn run_alone(&mut self, shared: &Shared, until: Cycle, epoch: EpochLength) {
        debug_assert_eq!(epoch, self.config.epoch);
        if self.is_running() {
            self.run_slice(Slice { direct: true, ..Slice::new(shared, until.0) });
        }
    }
}
