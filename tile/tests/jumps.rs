//! The log of jumps (`Observer::jumps`) has the jumps that the log of instructions has, whether a
//! core is alone or not, and asking for either changes nothing in the machine.

mod bare;

use std::cell::RefCell;
use std::rc::Rc;

use isa::asm::{addi, bne, i, j, jal, lui, lw, sw};
use isa::word::{JAL, JALR, opcode};
use sim_core::engine::EngineKind;
use sim_core::{
    CoreId, Cycle, Event, Jump, JumpKind, Observer, Retire, Shortcut, Shortcuts, Stamp,
};
use tile::{Stop, Tile, TileConfig};

/// `(core, cycle, pc)`, and where it leads.
type Seen = (CoreId, u64, u32, u32);

/// What the two kinds of watchers have seen.
#[derive(Clone, Default)]
struct Watcher {
    by_instruction: bool,
    jumps: Rc<RefCell<Vec<Seen>>>,
    kinds: Rc<RefCell<Vec<JumpKind>>>,
    events: Rc<RefCell<Vec<(Stamp, Event)>>>,
    /// Per core, the jump whose next instruction has not been seen.
    last: [Option<(u64, u32)>; CoreId::COUNT],
}

impl Observer for Watcher {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.events.borrow_mut().push((stamp, *event));
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        self.by_instruction
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let last = &mut self.last[core.index()];
        if let Some((cycle, pc)) = last.take() {
            self.jumps.borrow_mut().push((core, cycle, pc, retire.pc));
        }
        if matches!(opcode(retire.word), JAL | JALR) {
            *last = Some((retire.cycle.0, retire.pc));
        }
    }

    fn wants_jumps(&self, _: CoreId) -> bool {
        !self.by_instruction
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        let seen = jumps.iter().map(|jump| (core, jump.cycle.0, jump.pc, jump.to));
        self.jumps.borrow_mut().extend(seen);
        self.kinds.borrow_mut().extend(jumps.iter().map(|jump| jump.kind));
    }
}

/// Rounds of a loop that calls a function, which stores and reads the wall clock
/// `[isa-bh: TensixTile/TileControlDebugStatus.md]`, a device; then an endless loop.
fn program(rounds: i32) -> Vec<u32> {
    let (data, clock, count, value) = (4, 5, 8, 9);
    vec![
        lui(data, 0x2_0000),
        lui(clock, 0xFFB1_2000),
        addi(count, 0, rounds),
        jal(1, 16),
        addi(count, count, -1),
        bne(count, 0, -8),
        j(0),
        addi(value, value, 3),
        sw(value, data, 8),
        lw(value, clock, 0x1F0),
        // ret
        i(JALR, 0, 0, 1, 0),
    ]
}

/// The events, and the state at the end: what must not depend on the watcher.
type Machine = (Vec<(Stamp, Event)>, u64);

/// Jumps in the order of cores and cycles, their kinds, and what happened besides.
fn run(cores: &[CoreId], by_instruction: bool) -> (Vec<Seen>, Vec<JumpKind>, Machine) {
    let watcher = Watcher { by_instruction, ..Watcher::default() };
    let shortcuts = Shortcuts::ALL.without(Shortcut::Parking);
    let config = TileConfig { engine: EngineKind::Inline, shortcuts, ..TileConfig::default() };
    let mut tile = Tile::new(config, watcher.clone()).expect("no threads to start");
    let programs = CoreId::ALL.map(|core| match cores.contains(&core) {
        true => program(700 + 3 * core as i32),
        false => Vec::new(),
    });
    bare::start(&mut tile, &programs);
    assert!(matches!(tile.run(Cycle(40_000), None), Stop::Limit));
    // The last one's target is not executed any more.
    let mut jumps = watcher.jumps.take();
    jumps.retain(|jump| jump.1 < 39_000);
    jumps.sort();
    (jumps, watcher.kinds.take(), (watcher.events.take(), tile.state_hash()))
}

#[test]
fn jumps_of_cores_are_those_of_their_instructions() {
    for cores in [&[CoreId::Trisc1][..], &[CoreId::Brisc, CoreId::Ncrisc], &CoreId::ALL] {
        let (expected, _, expected_machine) = run(cores, true);
        let (jumps, kinds, machine) = run(cores, false);
        assert!(expected.len() > 1400 * cores.len(), "{} jumps", expected.len());
        assert_eq!(jumps, expected, "{cores:?}");
        assert_eq!(machine, expected_machine, "{cores:?}");
        let count = |kind| kinds.iter().filter(|&&one| one == kind).count();
        let rounds: usize = cores.iter().map(|&core| 700 + 3 * core as usize).sum();
        assert_eq!((count(JumpKind::Call), count(JumpKind::Return)), (rounds, rounds));
        assert!(count(JumpKind::Plain) > 0, "the endless loops");
    }
}
