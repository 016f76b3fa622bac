//! What stands behind a wait: the store that would have let the core's own Tensix thread go on.

use isa::op::Opcode;
use isa::operands::{Semget, Sempost};
use memory_map::{Target, lookup};
use sim_core::{AgentId, CoreId, ThreadId};

use super::scene::Scene;
use super::walk::Walk;
use crate::describe::view_of;
use crate::resource::Way;

/// Instructions looked at.
const FAR: usize = 96;

/// Where the core of a thread would post or get a semaphore, itself or by an instruction that it
/// pushes, once its own wait is over.
pub(super) fn operation(scene: &Scene<'_>, thread: ThreadId, index: u8, way: Way) -> Option<u32> {
    let core = thread.core();
    let wait = scene.waits.iter().find(|wait| wait.agent == AgentId::Core(core))?;
    let changed = wait.reads.iter().filter(|load| !load.device).map(|load| load.addr);
    let mut stores = Walk::new(scene.machine, core, wait.pc?, changed, FAR);
    stores.find(|store| acts(core, store.addr, store.value, index, way)).map(|store| store.pc)
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
        (Some(Opcode::Sempost), Way::Give) => Sempost::of(word).sem_sel,
        (Some(Opcode::Semget), Way::Take) => Semget::of(word).sem_sel,
        _ => 0,
    };
    selected >> index & 1 == 1
}
