//! What stands behind a wait: the code that a waiting core would run next.
//!
//! Read straight on from where the core stands, through known returns and unconditional jumps, with
//! the constants that it computes on the way. It finds the store that would have let the core's own
//! Tensix thread go on. Encodings `[riscv-unprivileged: 2.4-2.6]`.

use memory_map::{Target, lookup};
use sim_core::{AgentId, CoreId, ThreadId, Width};

use super::scene::Scene;
use crate::describe::view_of;
use crate::resource::Way;

/// Instructions looked at.
const FAR: usize = 96;

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
        let word = self.scene.machine.l1(self.pc, Width::Word);
        let (rd, left, right) = (word >> 7 & 31, word >> 15 & 31, word >> 20 & 31);
        let immediate = (word.cast_signed() >> 20).cast_unsigned();
        let known = |index: u32| self.known[index as usize];
        let plus = |value: Option<u32>, by: u32| value.map(|value| value.wrapping_add(by));
        let (mut next, mut store) = (self.pc.wrapping_add(4), None);
        let result = match word & 0x7F {
            0x37 => Some(word & 0xFFFF_F000),
            0x17 => Some(self.pc.wrapping_add(word & 0xFFFF_F000)),
            0x13 if word >> 12 & 7 == 0 => plus(known(left), immediate),
            0x33 if word >> 25 == 0 && word >> 12 & 7 == 0 => {
                known(left).zip(known(right)).map(|(left, right)| left.wrapping_add(right))
            }
            0x23 => {
                let offset = (word.cast_signed() >> 20 & !31).cast_unsigned() | word >> 7 & 31;
                store = plus(known(left), offset).map(|addr| (addr, known(right)));
                None
            }
            0x6F => {
                next = self.pc.wrapping_add(jump(word));
                Some(self.pc.wrapping_add(4))
            }
            0x67 => {
                next = plus(known(left), immediate)? & !1;
                Some(self.pc.wrapping_add(4))
            }
            // Only the way straight on is followed.
            _ => None,
        };
        let writes = !matches!(word & 0x7F, 0x23 | 0x63) && rd != 0;
        if writes {
            self.known[rd as usize] = result;
        }
        self.pc = next;
        Some(store)
    }
}

/// Offset of a `jal`.
const fn jump(word: u32) -> u32 {
    let sign = (word.cast_signed() >> 11).cast_unsigned() & 0xFFF0_0000;
    sign | word & 0xF_F000 | word >> 9 & 0x800 | word >> 20 & 0x7FE
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
        Target::PushOwn => value.is_some_and(|word| {
            word >> 24 == if gets { 0xA5 } else { 0xA4 } && word >> (2 + index) & 1 == 1
        }),
        _ => false,
    }
}
