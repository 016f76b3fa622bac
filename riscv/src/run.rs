//! The interpreter loop.
//!
//! Two instantiations of one text: the fast one executes, the slow one also feeds the instruction
//! log, probes for polling loops, checks for stale code, and replays the rest of a round when a
//! parked core is woken.

use memory_map::View;
use sim_core::l1::{L1_BYTES, PAGE_BYTES};
use sim_core::{Category, CoreId, Cycle, Request, RequestKind, Retire, Shared, Store, Width};

use crate::core::{Core, LOCAL_BASE, Pending, Status};
use crate::csr::CFG0_DIS_TRISC_CACHE;
use crate::decode::decode;
use crate::exec::{bits, muldiv};
use crate::icache::{CODE_PAGE_BYTES, IcacheModel, Page};
use crate::op::{Kind, Op, SINK};
use crate::park::{Spin, WatchedLoad};

/// First push window, of 64 KiB each
/// `[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]`.
const PUSH_BASE: u32 = 0xFFE4_0000;
const PUSH_WINDOWS: u32 = 3;
/// Flow-controlled stores: PCBufs, mailboxes, TDMA-RISC commands, NoC commands. Their answer
/// comes from the commit phase because the core may have to wait for room.
const FLOW_CONTROLLED: [(u32, u32); 3] =
    [(0xFFE8_0000, 0xFFEB_0000), (0xFFEC_0000, 0xFFED_0000), (0xFFB1_1000, 0xFFB1_2000)];
/// How long the slow loop runs before the fast one gets another chance.
const SLOW_CHUNK_CYCLES: u64 = 64;
/// Most adjacent `.ttinsn` that execute as one.
const MAX_FUSED: usize = 4;

/// How an instruction that left the straight path ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// Completed; go on behind it.
    Next,
    /// Handed to the commit phase, which completes it.
    Wait,
    /// Did not happen: the core faulted, halted, or must try it again.
    Hold,
}

/// State of one slice that is not part of the core.
pub(crate) struct Slice<'a> {
    pub(crate) shared: &'a Shared,
    /// First cycle that must not be executed.
    until: u64,
    /// Whether quiet L1 stores go straight to L1.
    direct: bool,
    /// Remembered loads while a woken core catches up.
    replay: Option<std::slice::Iter<'a, WatchedLoad>>,
    /// Cycles of this slice in which no instruction retired.
    idle_cycles: u64,
}

impl Core {
    /// Executes to `until`, or to the first access only the commit phase can answer.
    pub(crate) fn run_slice(&mut self, shared: &Shared, until: u64, direct: bool) {
        let mut slice = Slice { shared, until, direct, replay: None, idle_cycles: 0 };
        while self.cycle < slice.until && self.is_running() {
            if self.needs_slow_loop() || self.prober.is_due(self.cycle) {
                self.prober.begin(self.cycle);
                let chunk = slice.until.min(self.cycle + SLOW_CHUNK_CYCLES);
                self.interpret::<true>(&mut slice, chunk);
            } else {
                let chunk = slice.until.min(self.prober.next_probe());
                self.interpret::<false>(&mut slice, chunk);
            }
        }
    }

    /// Whether somebody looks at every instruction.
    #[inline]
    fn needs_slow_loop(&self) -> bool {
        self.trace || self.prober.is_active() || self.icache.model == IcacheModel::Stale
    }

    /// Executes the rest of a round of `spin` up to `until` with the loads it had.
    pub(crate) fn replay(&mut self, shared: &Shared, spin: &Spin, until: u64) {
        self.pc = spin.head;
        let mut slice =
            Slice { shared, until, direct: false, replay: Some(spin.loads.iter()), idle_cycles: 0 };
        self.interpret::<true>(&mut slice, until);
    }

    /// The loop itself: executes while `cycle < chunk`.
    #[allow(clippy::too_many_lines, reason = "one arm per instruction, each a line or two")]
    fn interpret<const SLOW: bool>(&mut self, slice: &mut Slice<'_>, chunk: u64) {
        let Some((mut page, mut base)) = self.open_page(slice.shared) else { return };
        // Position in the page; the pc is derived from it.
        let mut index = (self.pc.wrapping_sub(base) >> 2) as usize;
        let mut cycle = self.cycle;
        let first_cycle = cycle;
        let idle_before = slice.idle_cycles;
        // Shortened when a store makes somebody else look.
        let mut limit = chunk;

        macro_rules! pc {
            () => {
                base.wrapping_add((index as u32) << 2)
            };
        }
        macro_rules! x {
            ($index:expr) => {
                self.x[usize::from($index & 63)]
            };
        }
        macro_rules! leave {
            ($flow:expr) => {
                match $flow {
                    Flow::Next => {}
                    Flow::Wait => {
                        index += 1;
                        break;
                    }
                    Flow::Hold => break,
                }
            };
        }
        // Everything a helper may look at must be in the core.
        macro_rules! sync {
            () => {
                self.pc = pc!();
                self.cycle = cycle;
            };
        }
        macro_rules! load {
            ($op:expr, $width:expr, $signed:expr) => {{
                let addr = x!($op.rs1).wrapping_add($op.imm);
                let bytes = $width.bytes();
                if addr < L1_BYTES
                    && addr & (bytes - 1) == 0
                    && !SLOW
                    && self.stored_words & Shared::watch_bit(addr) == 0
                {
                    let value = slice.shared.l1.read(addr, $width);
                    x!($op.rd) = if $signed { extend(value, $width) } else { value };
                } else if addr.wrapping_sub(LOCAL_BASE) < self.id.local_ram_bytes()
                    && addr & (bytes - 1) == 0
                {
                    let word = self.local[(addr.wrapping_sub(LOCAL_BASE) >> 2) as usize];
                    let value = word >> ((addr & 3) * 8) & $width.mask();
                    x!($op.rd) = if $signed { extend(value, $width) } else { value };
                } else {
                    sync!();
                    let pending = Pending::Integer { rd: $op.rd, signed: $signed };
                    let flow = self.slow_load(slice, addr, $width, pending);
                    cycle = self.cycle;
                    leave!(flow);
                }
            }};
        }
        macro_rules! store {
            ($op:expr, $width:expr, $value:expr) => {{
                let addr = x!($op.rs1).wrapping_add($op.imm);
                let bytes = $width.bytes();
                let value = $value & $width.mask();
                if addr.wrapping_sub(LOCAL_BASE) < self.id.local_ram_bytes()
                    && addr & (bytes - 1) == 0
                {
                    let shift = (addr & 3) * 8;
                    let mask = $width.mask() << shift;
                    let word = &mut self.local[(addr.wrapping_sub(LOCAL_BASE) >> 2) as usize];
                    let new = *word & !mask | value << shift;
                    if SLOW && new != *word {
                        self.prober.side_effect(cycle);
                    }
                    *word = new;
                } else if !SLOW
                    && slice.direct
                    && addr < L1_BYTES
                    && addr & (bytes - 1) == 0
                    && slice.shared.is_quiet(addr)
                {
                    slice.shared.l1.write(addr, value, $width);
                } else {
                    sync!();
                    let flow = self.slow_store(slice, addr, value, $width);
                    limit = limit.min(slice.until);
                    leave!(flow);
                }
            }};
        }
        macro_rules! jump {
            ($target:expr, $rd:expr) => {{
                let target: u32 = $target;
                let from = pc!();
                cycle += 1;
                if SLOW {
                    self.log(slice, cycle, from, $rd);
                }
                let offset = target.wrapping_sub(base);
                if offset & !(CODE_PAGE_BYTES - 4) == 0 {
                    index = (offset >> 2) as usize;
                } else {
                    self.icache.put(base, page);
                    self.pc = target;
                    self.cycle = cycle;
                    match self.open_page(slice.shared) {
                        Some((next, next_base)) => {
                            (page, base) = (next, next_base);
                            index = (target.wrapping_sub(base) >> 2) as usize;
                        }
                        None => {
                            self.instructions +=
                                cycle - first_cycle - (slice.idle_cycles - idle_before);
                            return;
                        }
                    }
                }
                if SLOW && self.closes_round(slice, target, cycle, cycle - first_cycle) {
                    break;
                }
                continue;
            }};
        }
        macro_rules! branch {
            ($op:expr, $taken:expr) => {
                if $taken {
                    jump!($op.imm, SINK);
                }
            };
        }

        while cycle < limit {
            let op = page.op(index);
            if SLOW
                && self.icache.model == IcacheModel::Stale
                && !matches!(op.kind, Kind::Undecoded | Kind::PageEnd)
            {
                sync!();
                if !self.check_fresh(slice.shared) {
                    break;
                }
            }
            match op.kind {
                Kind::Undecoded => {
                    let pc = pc!();
                    page.set(index, self.decode_at(slice.shared, pc));
                    continue;
                }
                Kind::PageEnd => {
                    let pc = pc!();
                    self.icache.put(base, page);
                    self.pc = pc;
                    self.cycle = cycle;
                    let Some((next, next_base)) = self.open_page(slice.shared) else {
                        self.instructions +=
                            cycle - first_cycle - (slice.idle_cycles - idle_before);
                        return;
                    };
                    (page, base) = (next, next_base);
                    index = 0;
                    continue;
                }
                Kind::LoadImmediate => x!(op.rd) = op.imm,
                Kind::Jal => {
                    x!(op.rd) = pc!().wrapping_add(4);
                    jump!(op.imm, op.rd);
                }
                Kind::Jalr => {
                    let target = x!(op.rs1).wrapping_add(op.imm) & !1;
                    x!(op.rd) = pc!().wrapping_add(4);
                    jump!(target, op.rd);
                }
                Kind::Beq => branch!(op, x!(op.rs1) == x!(op.rs2)),
                Kind::Bne => branch!(op, x!(op.rs1) != x!(op.rs2)),
                Kind::Blt => branch!(op, x!(op.rs1).cast_signed() < x!(op.rs2).cast_signed()),
                Kind::Bge => branch!(op, x!(op.rs1).cast_signed() >= x!(op.rs2).cast_signed()),
                Kind::Bltu => branch!(op, x!(op.rs1) < x!(op.rs2)),
                Kind::Bgeu => branch!(op, x!(op.rs1) >= x!(op.rs2)),
                Kind::Lb => load!(op, Width::Byte, true),
                Kind::Lh => load!(op, Width::Half, true),
                Kind::Lw => load!(op, Width::Word, false),
                Kind::Lbu => load!(op, Width::Byte, false),
                Kind::Lhu => load!(op, Width::Half, false),
                Kind::Sb => store!(op, Width::Byte, x!(op.rs2)),
                Kind::Sh => store!(op, Width::Half, x!(op.rs2)),
                Kind::Sw => store!(op, Width::Word, x!(op.rs2)),
                Kind::Addi => x!(op.rd) = x!(op.rs1).wrapping_add(op.imm),
                Kind::Slti => {
                    x!(op.rd) = u32::from(x!(op.rs1).cast_signed() < op.imm.cast_signed());
                }
                Kind::Sltiu => x!(op.rd) = u32::from(x!(op.rs1) < op.imm),
                Kind::Xori => x!(op.rd) = x!(op.rs1) ^ op.imm,
                Kind::Ori => x!(op.rd) = x!(op.rs1) | op.imm,
                Kind::Andi => x!(op.rd) = x!(op.rs1) & op.imm,
                Kind::Slli => x!(op.rd) = x!(op.rs1) << (op.rs2 & 31),
                Kind::Srli => x!(op.rd) = x!(op.rs1) >> (op.rs2 & 31),
                Kind::Srai => {
                    x!(op.rd) = (x!(op.rs1).cast_signed() >> (op.rs2 & 31)).cast_unsigned();
                }
                Kind::Add => x!(op.rd) = x!(op.rs1).wrapping_add(x!(op.rs2)),
                Kind::Sub => x!(op.rd) = x!(op.rs1).wrapping_sub(x!(op.rs2)),
                Kind::Sll => x!(op.rd) = x!(op.rs1) << (x!(op.rs2) & 31),
                Kind::Slt => {
                    x!(op.rd) = u32::from(x!(op.rs1).cast_signed() < x!(op.rs2).cast_signed());
                }
                Kind::Sltu => x!(op.rd) = u32::from(x!(op.rs1) < x!(op.rs2)),
                Kind::Xor => x!(op.rd) = x!(op.rs1) ^ x!(op.rs2),
                Kind::Srl => x!(op.rd) = x!(op.rs1) >> (x!(op.rs2) & 31),
                Kind::Sra => {
                    x!(op.rd) = (x!(op.rs1).cast_signed() >> (x!(op.rs2) & 31)).cast_unsigned();
                }
                Kind::Or => x!(op.rd) = x!(op.rs1) | x!(op.rs2),
                Kind::And => x!(op.rd) = x!(op.rs1) & x!(op.rs2),
                Kind::Mul => x!(op.rd) = x!(op.rs1).wrapping_mul(x!(op.rs2)),
                Kind::Mulh => x!(op.rd) = muldiv::mulh(x!(op.rs1), x!(op.rs2)),
                Kind::Mulhsu => x!(op.rd) = muldiv::mulhsu(x!(op.rs1), x!(op.rs2)),
                Kind::Mulhu => x!(op.rd) = muldiv::mulhu(x!(op.rs1), x!(op.rs2)),
                Kind::Div => x!(op.rd) = muldiv::div(x!(op.rs1), x!(op.rs2)),
                Kind::Divu => x!(op.rd) = muldiv::divu(x!(op.rs1), x!(op.rs2)),
                Kind::Rem => x!(op.rd) = muldiv::rem(x!(op.rs1), x!(op.rs2)),
                Kind::Remu => x!(op.rd) = muldiv::remu(x!(op.rs1), x!(op.rs2)),
                Kind::Sh1add => x!(op.rd) = (x!(op.rs1) << 1).wrapping_add(x!(op.rs2)),
                Kind::Sh2add => x!(op.rd) = (x!(op.rs1) << 2).wrapping_add(x!(op.rs2)),
                Kind::Sh3add => x!(op.rd) = (x!(op.rs1) << 3).wrapping_add(x!(op.rs2)),
                Kind::Fence => {}
                Kind::Ttinsn => {
                    sync!();
                    let (flow, count) = self.push_inline(slice, &mut page, index);
                    leave!(flow);
                    // The last of a fused bundle is what completes now.
                    index += count - 1;
                    limit = limit.min(slice.until);
                }
                _ => {
                    sync!();
                    let flow = if let Some(value) =
                        bits::execute(op.kind, x!(op.rs1), x!(op.rs2), u32::from(op.rs2))
                    {
                        x!(op.rd) = value;
                        Flow::Next
                    } else {
                        self.execute_rare(slice, op)
                    };
                    cycle = self.cycle;
                    limit = limit.min(slice.until);
                    leave!(flow);
                }
            }
            if SLOW {
                self.log(slice, cycle + 1, pc!(), op.rd);
            }
            index += 1;
            cycle += 1;
            if SLOW && !self.needs_slow_loop() && slice.replay.is_none() {
                break;
            }
        }

        self.pc = pc!();
        self.icache.put(base, page);
        self.instructions += cycle - first_cycle - (slice.idle_cycles - idle_before);
        self.cycle = cycle;
    }

    /// Takes out the page of `self.pc`, with its base address; or faults.
    fn open_page(&mut self, shared: &Shared) -> Option<(Box<Page>, u32)> {
        let pc = self.pc;
        if pc & 3 != 0 {
            let message = format!("jump to {pc:#x}, which is not a multiple of four");
            self.fault(Category::UndefinedBehavior, "misaligned-fetch", message, pc, None);
            return None;
        }
        if pc >= L1_BYTES {
            let message = format!("jump to {pc:#x}: instructions can only be fetched from L1");
            self.fault(Category::UndefinedBehavior, "fetch-outside-l1", message, pc, None);
            return None;
        }
        let (page, fresh) = self.icache.take(pc);
        if fresh {
            shared.mark_code((pc / PAGE_BYTES) as u16, self.id);
        }
        Some((page, pc & !(CODE_PAGE_BYTES - 1)))
    }

    /// Decodes the word at `pc`.
    #[cold]
    fn decode_at(&mut self, shared: &Shared, pc: u32) -> Op {
        let word = self.read_l1(shared, pc, Width::Word);
        self.icache.note_word(pc, word);
        decode(word, pc)
    }

    /// In the stale model: whether the word at the pc is still the one that was decoded.
    fn check_fresh(&mut self, shared: &Shared) -> bool {
        let pc = self.pc;
        let now = shared.l1.word(pc);
        match self.icache.decoded_word(pc) {
            Some(then) if then != now => {
                let message = format!(
                    "executes a cached instruction ({then:#010x}) whose word in L1 has changed to \
                     {now:#010x}; no instruction cache invalidate was written in between"
                );
                let category = Category::NonContractual;
                self.fault(category, "stale-instruction-cache", message, pc, Some(then));
                false
            }
            _ => true,
        }
    }

    /// Instruction log. `cycle` is the one after the instruction.
    fn log(&mut self, slice: &Slice<'_>, cycle: u64, pc: u32, rd: u8) {
        if self.trace && slice.replay.is_none() {
            let word = self.read_l1(slice.shared, pc, Width::Word);
            self.batch.retired.push(Retire {
                cycle: Cycle(cycle - 1),
                pc,
                word,
                rd: if rd < 32 { rd } else { 0 },
                value: self.x[usize::from(rd & 63)],
            });
        }
    }

    /// A jump while probing: parks the core if a round closed that will repeat for ever.
    fn closes_round(&mut self, slice: &Slice<'_>, target: u32, cycle: u64, retired: u64) -> bool {
        if slice.replay.is_some() {
            return false;
        }
        let instructions = self.instructions + retired;
        let epoch = self.config.epoch.cycles();
        let Some(spin) = self.prober.jump(target, &self.x, cycle, instructions, epoch) else {
            return false;
        };
        self.prober.side_effect(cycle);
        let current = |load: &WatchedLoad| {
            load.device || slice.shared.l1.read(load.addr, load.width) == load.value
        };
        if !spin.loads.iter().all(current) {
            return false;
        }
        self.status = Status::Parked(Box::new(spin));
        true
    }

    /// L1 as this core sees it: as of the start of the epoch, plus its own stores.
    #[inline]
    pub(crate) fn read_l1(&self, shared: &Shared, addr: u32, width: Width) -> u32 {
        let word = shared.l1.word(addr);
        let word = if self.stored_words & Shared::watch_bit(addr) == 0 {
            word
        } else {
            self.forward(addr & !3, word)
        };
        word >> ((addr & 3) * 8) & width.mask()
    }

    /// Applies this epoch's own stores to a word read from L1.
    fn forward(&self, word_addr: u32, mut word: u32) -> u32 {
        for store in &self.batch.stores {
            if store.addr & !3 == word_addr {
                let shift = (store.addr & 3) * 8;
                let mask = store.width.mask() << shift;
                word = word & !mask | store.value << shift & mask;
            }
        }
        word
    }

    #[cold]
    fn misaligned(&mut self, what: &str, addr: u32, width: Width) -> Flow {
        let pc = self.pc;
        let message = format!("{what} of {} bytes at {addr:#x}, not aligned", width.bytes());
        self.fault(Category::UndefinedBehavior, "misaligned-access", message, pc, None);
        Flow::Hold
    }

    /// Puts a loaded value where it belongs.
    pub(crate) fn deliver(&mut self, pending: Pending, value: u32, width: Width) {
        match pending {
            Pending::Discard => {}
            Pending::Integer { rd, signed } => {
                self.x[usize::from(rd & 63)] = if signed { extend(value, width) } else { value };
            }
            // Narrower values are boxed in ones [riscv-unprivileged: F, NaN boxing].
            Pending::Float { rd, half } => {
                self.f[usize::from(rd & 31)] = if half { 0xFFFF_0000 | value } else { value };
            }
            Pending::Csr { rd } => self.x[usize::from(rd & 63)] = value,
        }
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
            return self.misaligned("load", addr, width);
        }
        let local = addr.wrapping_sub(LOCAL_BASE);
        if local < self.id.local_ram_bytes() {
            let value = self.local[(local >> 2) as usize] >> ((addr & 3) * 8) & width.mask();
            self.deliver(pending, value, width);
            return Flow::Next;
        }
        let device = addr >= L1_BYTES;
        if let Some(loads) = &mut slice.replay {
            let value = loads.next().map_or(0, |load| load.value);
            if device {
                // Answered at the end of the epoch, as it was when it was not parked.
                let end = self.config.epoch.end_of_epoch(Cycle(self.cycle)).0;
                slice.idle_cycles += end - 1 - self.cycle;
                self.cycle = end - 1;
            }
            self.deliver(pending, value, width);
            return Flow::Next;
        }
        if !device {
            let value = self.read_l1(slice.shared, addr, width);
            let pc = self.pc;
            self.prober.load(WatchedLoad { addr, value, width, pc, device: false }, self.cycle);
            self.deliver(pending, value, width);
            return Flow::Next;
        }
        self.pending = pending;
        self.request(addr, width, RequestKind::Load)
    }

    /// Hands an access to the commit phase.
    pub(crate) fn request(&mut self, addr: u32, width: Width, kind: RequestKind) -> Flow {
        let cycle = Cycle(self.cycle);
        self.batch.request = Some(Request { cycle, addr, pc: self.pc, width, kind });
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
        self.prober.side_effect(self.cycle);
        if addr < L1_BYTES {
            if slice.direct && slice.shared.is_quiet(addr) {
                slice.shared.l1.write(addr, value, width);
                return Flow::Next;
            }
            self.stored_words |= Shared::watch_bit(addr);
        } else {
            if let Some(flow) = self.flow_controlled(addr, value, width) {
                return flow;
            }
            self.batch.device_stores += 1;
        }
        self.post(addr, value, width);
        self.rejoin(slice);
        Flow::Next
    }

    fn post(&mut self, addr: u32, value: u32, width: Width) {
        let cycle = Cycle(self.cycle);
        self.batch.stores.push(Store { cycle, addr, value, pc: self.pc, width });
    }

    /// A lone runner did something that others may notice: its slice ends with this epoch.
    fn rejoin(&mut self, slice: &mut Slice<'_>) {
        if slice.direct {
            slice.direct = false;
            let end = self.config.epoch.end_of_epoch(Cycle(self.cycle));
            slice.until = slice.until.min(end.0);
        }
    }

    /// Stores that may find their FIFO full. `None`: not one of them.
    fn flow_controlled(&mut self, addr: u32, value: u32, width: Width) -> Option<Flow> {
        let window = addr.wrapping_sub(PUSH_BASE) >> 16;
        let own_window = match self.id {
            CoreId::Brisc => window < PUSH_WINDOWS,
            CoreId::Ncrisc => false,
            CoreId::Trisc0 | CoreId::Trisc1 | CoreId::Trisc2 => window == 0,
        };
        if own_window {
            let credit = &mut self.push_credit[window as usize];
            if *credit == 0 {
                self.status = Status::PushBlocked(window as u8);
                return Some(Flow::Hold);
            }
            *credit -= 1;
            return None;
        }
        // What nobody answers stops the core at the store itself, not some cycles later.
        if FLOW_CONTROLLED.iter().any(|&(from, to)| addr >= from && addr < to)
            || memory_map::lookup(view(self.id), addr).is_none()
        {
            self.pending = Pending::Discard;
            return Some(self.request(addr, width, RequestKind::Store { value }));
        }
        None
    }

    /// `.ttinsn` at that position of the page, alone or as the first of up to four that are
    /// fused. Returns how many words were consumed.
    fn push_inline(
        &mut self,
        slice: &mut Slice<'_>,
        page: &mut Page,
        index: usize,
    ) -> (Flow, usize) {
        let flow = self.slow_store(slice, PUSH_BASE, page.op(index).imm, Width::Word);
        let fuses = self.id.thread().is_some() && self.csr.cfg0() & CFG0_DIS_TRISC_CACHE == 0;
        if flow != Flow::Next || !fuses {
            return (flow, 1);
        }
        // A bundle is accepted as a whole whenever a single push is
        // [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md].
        let mut count = 1;
        while count < MAX_FUSED {
            let at = index + count;
            if page.op(at).kind == Kind::Undecoded {
                let pc = self.pc.wrapping_add(4 * count as u32);
                page.set(at, self.decode_at(slice.shared, pc));
            }
            let next = page.op(at);
            if next.kind != Kind::Ttinsn {
                break;
            }
            self.batch.device_stores += 1;
            self.post(PUSH_BASE, next.imm, Width::Word);
            count += 1;
        }
        let credit = &mut self.push_credit[0];
        *credit = credit.saturating_sub(count as u32 - 1);
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

/// Sign-extends a right-aligned value.
fn extend(value: u32, width: Width) -> u32 {
    let shift = 32 - 8 * width.bytes();
    (value.cast_signed() << shift >> shift).cast_unsigned()
}
