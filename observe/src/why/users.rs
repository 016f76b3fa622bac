//! Who could do something, by the code that stands in L1: which kernels push or pop a circular buffer,
//! post or get a semaphore, push into a mailbox, whether or not they have come that far.
//!
//! Each kernel is read once from its first instruction to its last, with the constants that it computes
//! on the way. Compilers fold what a template or a constant says, so the counters of a buffer stand in
//! the code as addresses. A kernel that adds something unknown to an address of the counters may mean any
//! buffer; nothing is concluded from such a kernel's silence. Where mailboxes are stands in a table in local
//! memory `[llk: common/inc/ckernel.h]`, from which kernels load: a word that lies there and is a mailbox's address
//! counts as a constant.

use isa::op::Opcode;
use isa::operands::{Semget, Sempost, Semwait, Setdvalid, Storereg, Unpacr};
use isa::word;
use memory_map::layout::{LOCAL_RAM_BASE, STREAM_STRIDE};
use memory_map::{Target, lookup};
use sim_core::{AgentId, CoreId, Width};

use super::scene::Scene;
use crate::describe::{mailbox_peer, view_of};
use crate::resource::{ACKED, RECEIVED, Resource, Way};

/// Longest kernel that is read, in bytes.
const LONGEST: u32 = 1 << 17;
/// Minor opcodes of `add`, `addi` and of `slli` `[riscv: 2.4]`.
const ADD: u32 = 0;
const SHIFT_LEFT: u32 = 1;
/// Minor opcode of `or`.
const OR: u32 = 6;
/// The global pointer: the same from a program's first instruction on `[riscv: psabi]`.
const GLOBAL: u8 = 3;
/// What a call leaves as it was: `sp`, `gp`, `tp`, `s0` to `s11` `[riscv: calling convention]`.
const SAVED: u32 = 0x0FFC_031D;
/// The link register of calls.
const LINK: u32 = 1;

/// A place in the code of a kernel that does what is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Site {
    /// The core, or the Tensix thread that it pushes the instruction to.
    pub(super) agent: AgentId,
    /// Where.
    pub(super) pc: u32,
}

/// Who does something in the code of this launch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Users {
    /// In the order of cores and addresses.
    pub(super) sites: Vec<Site>,
    /// Who looks at the counters of the buffer, or waits at the semaphore.
    pub(super) lookers: Vec<Site>,
    /// Whether that is all: every kernel could be read, and none computes such an address.
    pub(super) complete: bool,
}

/// A constant, or how an address came about that is none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Known(u32),
    /// That constant and something unknown: a base with the number of a buffer.
    Partly(u32),
    Unknown,
}

/// Reads the code of all kernels of the launch for what does `way` to `resource`.
pub(super) fn users(scene: &Scene<'_>, resource: Resource, way: Way) -> Users {
    let mut found = Users { complete: true, ..Users::default() };
    let mut any = false;
    for core in CoreId::ALL {
        let Some(code) = scene.names.kernel_code(core) else { continue };
        if code.is_empty() || code.len() as u64 > u64::from(LONGEST) {
            found.complete = false;
            continue;
        }
        any = true;
        found.complete &= read(scene, core, code, &mut |agent, pc, done| match done {
            (other, Some(own)) if (other, own) == (resource, way) => {
                found.sites.push(Site { agent, pc });
            }
            (other, None) if other == resource => found.lookers.push(Site { agent, pc }),
            _ => {}
        });
    }
    found.complete &= any;
    found
}

/// What a kernel does to a resource; `None` is to look at it.
type Done = (Resource, Option<Way>);

/// Reads one kernel; `told` hears of each operation that it finds. Gives whether no counter's address
/// was computed from what is not known.
fn read(
    scene: &Scene<'_>,
    core: CoreId,
    code: std::ops::Range<u32>,
    told: &mut dyn FnMut(AgentId, u32, Done),
) -> bool {
    let mut known = [Value::Unknown; 32];
    known[usize::from(GLOBAL)] = Value::Known(scene.machine.register(core, GLOBAL));
    let mut closed = true;
    for pc in code.step_by(4) {
        known[0] = Value::Known(0);
        let text = scene.machine.l1(pc, Width::Word);
        if text & 3 != 3 {
            pushed(core, pc, text.rotate_right(2), told);
            continue;
        }
        let (left, right) = (word::rs1(text), word::rs2(text));
        let (a, b) = (known[left as usize], known[right as usize]);
        let result = match word::opcode(text) {
            word::LUI => Value::Known(word::imm_u(text)),
            word::AUIPC => Value::Known(pc.wrapping_add(word::imm_u(text))),
            word::OP_IMM if word::funct3(text) == ADD => {
                map(a, |a| a.wrapping_add_signed(word::imm_i(text)))
            }
            word::OP_IMM if word::funct3(text) == SHIFT_LEFT => map(a, |a| a << right),
            word::OP if text >> 25 == 0 && word::funct3(text) == ADD => {
                sum(a, b, u32::wrapping_add)
            }
            word::OP if text >> 25 == 0 && word::funct3(text) == OR => sum(a, b, |a, b| a | b),
            word::LOAD => match a {
                Value::Known(base) => {
                    let addr = base.wrapping_add_signed(word::imm_i(text));
                    if let Some(looked) = looked_at(core, addr) {
                        told(AgentId::Core(core), pc, (looked, None));
                    }
                    entry(scene, core, addr).map_or(Value::Unknown, Value::Known)
                }
                _ => Value::Unknown,
            },
            word::STORE => {
                if let Value::Known(base) = a {
                    let addr = base.wrapping_add_signed(word::imm_s(text));
                    if let Value::Partly(base) = b {
                        closed &= !counts(core, addr, base);
                    }
                    stored(core, pc, addr, b, told);
                }
                continue;
            }
            word::BRANCH => continue,
            _ => Value::Unknown,
        };
        let calls = matches!(word::opcode(text), word::JAL | word::JALR);
        if calls && word::rd(text) == LINK {
            let lost = (0..32).filter(|register| SAVED >> register & 1 == 0);
            lost.for_each(|register| known[register] = Value::Unknown);
        }
        if let Value::Partly(base) = result {
            closed &= !counters(core, base);
        }
        known[word::rd(text) as usize] = result;
    }
    closed
}

/// What a load from there looks at.
fn looked_at(core: CoreId, addr: u32) -> Option<Resource> {
    let hit = lookup(view_of(core), addr)?;
    match hit.target {
        Target::Overlay => credit(hit.offset).map(|(buffer, _)| buffer),
        Target::Mailbox => Some(Resource::Mailbox { from: mailbox_peer(addr), to: core }),
        _ => None,
    }
}

/// The entry of the table of mailboxes that lies there in local memory.
fn entry(scene: &Scene<'_>, core: CoreId, addr: u32) -> Option<u32> {
    let offset = addr.checked_sub(LOCAL_RAM_BASE)?;
    let word = scene.machine.local(core, offset, Width::Word)?;
    lookup(view_of(core), word).filter(|hit| hit.target == Target::Mailbox).map(|_| word)
}

fn map(value: Value, of: impl Fn(u32) -> u32) -> Value {
    match value {
        Value::Known(value) => Value::Known(of(value)),
        Value::Partly(base) => Value::Partly(of(base)),
        Value::Unknown => Value::Unknown,
    }
}

/// What two values come to.
fn sum(a: Value, b: Value, of: impl Fn(u32, u32) -> u32) -> Value {
    match (a, b) {
        (Value::Known(a), Value::Known(b)) => Value::Known(of(a, b)),
        (Value::Known(a) | Value::Partly(a), Value::Known(b) | Value::Partly(b)) => {
            Value::Partly(of(a, b))
        }
        (Value::Known(base) | Value::Partly(base), Value::Unknown)
        | (Value::Unknown, Value::Known(base) | Value::Partly(base)) => Value::Partly(base),
        (Value::Unknown, Value::Unknown) => Value::Unknown,
    }
}

/// Whether an instruction of which a part is unknown may store to any buffer's counters.
fn counts(core: CoreId, addr: u32, base: u32) -> bool {
    let hit = lookup(view_of(core), addr);
    hit.is_some_and(|hit| matches!(hit.target, Target::PushOwn | Target::MopCfgOwn))
        && Opcode::from_word(base) == Some(Opcode::Storereg)
}

/// Whether an address is among the counters of buffers.
fn counters(core: CoreId, addr: u32) -> bool {
    lookup(view_of(core), addr).is_some_and(|hit| hit.target == Target::Overlay)
}

/// A store of that core to a known address.
fn stored(
    core: CoreId,
    pc: u32,
    addr: u32,
    value: Value,
    told: &mut dyn FnMut(AgentId, u32, Done),
) {
    let Some(hit) = lookup(view_of(core), addr) else { return };
    let agent = AgentId::Core(core);
    match (hit.target, value) {
        (Target::Overlay, _) => {
            if let Some((buffer, way)) = credit(hit.offset) {
                told(agent, pc, (buffer, Some(way)));
            }
        }
        (Target::Semaphores, Value::Known(value)) => {
            // An even value posts, an odd one gets [isa-bh: TensixTile/BabyRISCV/PCBufs.md].
            let way = if value & 1 == 1 { Way::Take } else { Way::Give };
            told(agent, pc, (Resource::Semaphore(((hit.offset / 4) & 7) as u8), Some(way)));
        }
        (Target::Mailbox, _) => {
            told(
                agent,
                pc,
                (Resource::Mailbox { from: core, to: mailbox_peer(addr) }, Some(Way::Give)),
            );
        }
        (Target::PushOwn | Target::MopCfgOwn, Value::Known(text)) => pushed(core, pc, text, told),
        _ => {}
    }
}

/// What a store to a counter of a stream does.
fn credit(offset: u32) -> Option<(Resource, Way)> {
    let way = match u16::try_from(offset % STREAM_STRIDE / 4).ok()? {
        RECEIVED => Way::Give,
        ACKED => Way::Take,
        _ => return None,
    };
    Some((Resource::Circular(u8::try_from(offset / STREAM_STRIDE).ok()?), way))
}

/// A Tensix instruction that a core pushes.
fn pushed(core: CoreId, pc: u32, text: u32, told: &mut dyn FnMut(AgentId, u32, Done)) {
    let Some(thread) = core.thread().map(AgentId::Thread) else { return };
    let mut each = |selected: u32, way: Option<Way>| {
        let chosen = (0..8).filter(|index| selected >> index & 1 == 1);
        chosen.for_each(|index| told(thread, pc, (Resource::Semaphore(index), way)));
    };
    match Opcode::from_word(text) {
        Some(Opcode::Sempost) => each(Sempost::of(text).sem_sel, Some(Way::Give)),
        Some(Opcode::Semget) => each(Semget::of(text).sem_sel, Some(Way::Take)),
        Some(Opcode::Semwait) => each(Semwait::of(text).sem_sel, None),
        Some(Opcode::Unpacr) => {
            let operand = u8::from(Unpacr::of(text).unpack_block_selection);
            told(thread, pc, (Resource::Src(operand), Some(Way::Give)));
        }
        Some(Opcode::Setdvalid) => {
            let set = Setdvalid::of(text).setvalid;
            let chosen = (0..2).filter(|operand| set >> operand & 1 == 1);
            chosen.for_each(|operand| told(thread, pc, (Resource::Src(operand), Some(Way::Give))));
        }
        // What it holds was configured elsewhere; an unpacker's fills banks.
        Some(Opcode::Mop) if core == CoreId::Trisc0 => {
            (0..2).for_each(|operand| told(thread, pc, (Resource::Src(operand), Some(Way::Give))));
        }
        Some(Opcode::Storereg) => {
            let addr = LOCAL_RAM_BASE.wrapping_add(Storereg::of(text).reg_addr << 2);
            let hit = lookup(view_of(core), addr);
            let done = hit.filter(|hit| hit.target == Target::Overlay);
            if let Some((buffer, way)) = done.and_then(|hit| credit(hit.offset)) {
                told(thread, pc, (buffer, Some(way)));
            }
        }
        _ => {}
    }
}
