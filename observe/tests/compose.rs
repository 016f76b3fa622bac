//! Consumers side by side: none changes what another sees.

use observe::{BuiltInNames, EventHash, HandshakeLog, InstructionLog, Summary};
use sim_core::{
    AgentId, CoreId, CoreSet, Cycle, Event, NullObserver, Observer, Retire, Stamp, Width,
};

/// Plays a stream as a tile would: stores to pages that nobody asked for are not delivered, and
/// instructions only to whom they are wanted.
fn play<O: Observer>(observer: &mut O) {
    let asked = observer.observed_l1();
    for cycle in 0..1000_u32 {
        let agent = AgentId::Core(CoreId::ALL[cycle as usize % 5]);
        let stamp = Stamp { cycle: Cycle(cycle.into()), agent, pc: 0x3AE0 + 4 * cycle };
        let addr = (cycle * 0x35C) & !3;
        let page = addr & !0xFFF;
        let store = Event::L1Store { addr, value: cycle, width: Width::Word };
        if asked.iter().any(|&(start, end)| page < end && page + 0x1000 > start) {
            observer.event(stamp, &store);
        }
        let event = Event::Config { state: 0, index: 5, before: cycle, after: cycle + 1 };
        observer.event(stamp, &event);
        if observer.wants_retires(CoreId::Brisc) {
            let retire =
                Retire { cycle: stamp.cycle, pc: stamp.pc, word: 0x13, rd: 0, value: cycle };
            observer.retire(CoreId::Brisc, &retire);
        }
    }
}

fn result(hash: &EventHash) -> (u64, u64) {
    (hash.hash(), hash.count())
}

#[test]
fn event_hash_does_not_depend_on_company() {
    let mut alone = EventHash::new();
    play(&mut alone);
    assert!(alone.count() > 1000, "some stores are inside the range: {}", alone.count());

    let everything = EventHash::with_l1(vec![(0, 0x18_0000)]);
    let mut observed = (
        (EventHash::new(), everything),
        (
            Some(Summary::default()),
            (HandshakeLog::default(), InstructionLog::new(Vec::new(), CoreSet::ALL, BuiltInNames)),
        ),
    );
    play(&mut observed);
    assert_eq!(result(&observed.0.0), result(&alone));
    assert!(observed.0.1.count() > alone.count());
    assert_eq!(observed.1.1.1.lines(), 1000);

    let mut nobody = ((EventHash::new(), NullObserver), None::<Summary>);
    play(&mut nobody);
    assert_eq!(result(&nobody.0.0), result(&alone));
}
