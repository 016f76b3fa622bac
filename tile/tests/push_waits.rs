//! Events of a core that waits for room in an instruction FIFO.

mod bare;

use isa::asm::{addi, j};
use isa::encode;
use isa::rv32::ttinsn_code;
use sim_core::{AgentId, CoreId, Cycle, Event, Observer, Shortcut, Shortcuts, Stamp, WaitReason};
use tile::{Tile, TileConfig};

/// Where TRISC0 begins and ends to wait.
#[derive(Default)]
struct Waits(Vec<(bool, u32)>);

impl Observer for Waits {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if stamp.agent == AgentId::Core(CoreId::Trisc0) {
            match event {
                Event::WaitBegin { reason: WaitReason::InstructionFifoFull { .. } } => {
                    self.0.push((true, stamp.pc));
                }
                Event::WaitEnd { reason: WaitReason::InstructionFifoFull { .. }, .. } => {
                    self.0.push((false, stamp.pc));
                }
                _ => {}
            }
        }
    }
}

/// A wait ends at the push that waited, whatever the core has done in the rest of the epoch: it may go
/// round a loop, or be parked in it.
#[test]
fn wait_for_room_ends_at_the_push_that_waited() {
    let nop = ttinsn_code(encode::nop()).expect("it has a code");
    // Pushes are fused by four and issue one by one: the FIFO gets full. Then a loop of three words,
    // which is no divisor of the epoch.
    for pushes in 160..184 {
        let mut program = vec![nop; pushes];
        program.extend([addi(0, 0, 0), addi(0, 0, 0), j(-8)]);
        for parking in [true, false] {
            let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
            let config = TileConfig { shortcuts, ..TileConfig::default() };
            let mut tile = Tile::new(config, Waits::default()).expect("the host can start threads");
            bare::start(&mut tile, &[vec![], program.clone()]);
            tile.run(Cycle(400), None);
            let waits = &tile.observer().0;
            assert!(!waits.is_empty(), "{pushes} pushes");
            for pair in waits.chunks(2) {
                let &[(true, began), (false, ended)] = pair else { panic!("{waits:x?}") };
                assert_eq!(ended, began, "{pushes} pushes, parking {parking}: {waits:x?}");
            }
        }
    }
}
