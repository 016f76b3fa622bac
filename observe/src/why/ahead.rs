//! What stands behind a wait: the code that a waiting core would run next.
//!
//! Read straight on from where the core stands, through known returns and unconditional jumps, with
//! the constants that it computes on the way. It finds the store that would have let the core's own
//! Tensix thread go on.

use isa::fields::{semget, sempost};
use isa::op::Opcode;
use isa::word;
use memory_map::{Target, lookup};
use sim_core::{AgentId, CoreId, ThreadId, Width};

use super::scene::Scene;
use crate::describe::view_of;
use crate::resource::Way;

/// Instructions looked at.
const FAR: usize = 96;
/// Minor opcode of `add` and `addi`.
const ADD: u32 = 0;

/// Registers as far as they are known.
struct Reader<'a, 'b> {
    scene: &'a Scene<'b>,
    pc: u32,
    known: [Option<u32>; 32],
}

impl<'a, 'b> Reader<'a, 'b> {
    fn new(scene: &'a Scene<'b>, core: CoreId, pc: u32) -> Self {
        let register = |index| Some(scene.machine.register(core, index as u8));
        let mut known: [Option<u32>; 32] = std::array::from_fn(register);
        known[0] = Some(0);
        Self { scene, pc, known }
    }

    /// One instruction: the address and value of a store; `None` where the way on is not known.
    fn step(&mut self) -> Option<Option<(u32, Option<u32>)>> {
        let text = self.scene.machine.l1(self.pc, Width::Word);
        let (left, right) = (word::rs1(text), word::rs2(text));
        let known = |index: u32| self.known[index as usize];
        let plus = |value: Option<u32>, by: i32| value.map(|value| value.wrapping_add_signed(by));
        let (mut next, mut store) = (self.pc.wrapping_add(4), None);
        let result = match word::opcode(text) {
            word::LUI => Some(word::imm_u(text)),
            word::AUIPC => Some(self.pc.wrapping_add(word::imm_u(text))),
            word::OP_IMM if word::funct3(text) == ADD => plus(known(left), word::imm_i(text)),
            word::OP if text >> 25 == 0 && word::funct3(text) == ADD => {
                known(left).zip(known(right)).map(|(left, right)| left.wrapping_add(right))
            }
            word::STORE => {
                store = plus(known(left), word::imm_s(text)).map(|addr| (addr, known(right)));
                None
            }
            word::JAL => {
                next = word::jump_target(text, self.pc);
                Some(self.pc.wrapping_add(4))
            }
            word::JALR => {
                next = plus(known(left), word::imm_i(text))? & !1;
                Some(self.pc.wrapping_add(4))
            }
            // Only the way straight on is followed.
            _ => None,
        };
        let writes = !matches!(word::opcode(text), word::STORE | word::BRANCH);
        if let (true, rd @ 1..) = (writes, word::rd(text)) {
            self.known[rd as usize] = result;
        }
        self.pc = next;
        Some(store)
    }
}

/// Where the core of a thread would post or get a semaphore, itself or by an instruction that it
/// pushes, once its own wait is over.
pub(super) fn operation(scene: &Scene<'_>, thread: ThreadId, index: u8, way: Way) -> Option<u32> {
    let core = thread.core();
    let wait = scene.waits.iter().find(|wait| wait.agent == AgentId::Core(core))?;
    let mut reader = Reader::new(scene, core, wait.pc?);
    for _ in 0..FAR {
        let pc = reader.pc;
        if let Some((addr, value)) = reader.step()?
            && acts(core, addr, value, index, way)
        {
            return Some(pc);
        }
    }
    None
}

/// Whether a store of that core is that operation: an even value at a semaphore posts, an odd one
/// gets `[isa-bh: TensixTile/BabyRISCV/PCBufs.md]`; SEMPOST and SEMGET may be pushed.
fn acts(core: CoreId, addr: u32, value: Option<u32>, index: u8, way: Way) -> bool {
    let Some(hit) = lookup(view_of(core), addr) else { return false };
    let gets = way == Way::Take;
    match hit.target {
        Target::Semaphores => {
            ((hit.offset / 4) & 7) as u8 == index
                && value.is_some_and(|value| value & 1 == 1) == gets
        }
        Target::PushOwn => value.is_some_and(|word| operates(word, index, way)),
        _ => false,
    }
}

/// Whether a Tensix instruction posts or gets that semaphore.
pub(super) fn operates(word: u32, index: u8, way: Way) -> bool {
    let selected = match (Opcode::from_word(word), way) {
        (Some(Opcode::Sempost), Way::Give) => sempost::sem_sel(word),
        (Some(Opcode::Semget), Way::Take) => semget::sem_sel(word),
        _ => 0,
    };
    selected >> index & 1 == 1
}
