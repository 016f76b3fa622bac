use super::WatchMode::{Access, Execute, Off, Read, Write};
use super::*;

// Numbers: [isa-wh: TensixTile/BabyRISCV/DebugInterface.md], and the register traffic of
// [exalens: hardware/baby_risc_debug.py].

/// Writes `DR(number)` of the core with that index as tt-exalens does.
fn write(debug: &mut RiscDebug, core: u32, number: u32, value: u32) -> Vec<DebugEffect> {
    debug.write_data(value);
    let access = debug.write_control(0x8001_0000 + (core << 17) + number).unwrap();
    assert_eq!(debug.write_control(0), Ok(None));
    debug.perform(access.expect("the edge rises"), 0)
}

fn read(debug: &mut RiscDebug, core: u32, number: u32, status: u32) -> u32 {
    let access = debug.write_control(0x8000_0000 + (core << 17) + number).unwrap();
    assert_eq!(debug.status() >> 30, 0b10, "not valid before it is performed");
    let effects = debug.perform(access.expect("the edge rises"), status);
    assert!(effects.is_empty());
    assert_eq!(debug.status() >> 30, 0b11);
    assert_eq!(debug.write_control(0), Ok(None));
    assert_eq!(debug.status() >> 30, 0b01, "the answer stays valid");
    debug.result()
}

#[test]
fn registers_keep_what_is_written_per_core() {
    let mut debug = RiscDebug::new();
    for core in 0..5 {
        for number in [2, 3, 10, 17] {
            write(&mut debug, core, number, core << 8 | number);
        }
    }
    for core in 0..5 {
        for number in [2, 3, 10, 17] {
            assert_eq!(read(&mut debug, core, number, 0), core << 8 | number);
        }
    }
}

#[test]
fn status_and_result_discard_writes() {
    let mut debug = RiscDebug::new();
    write(&mut debug, 1, 0, u32::MAX);
    write(&mut debug, 1, 4, u32::MAX);
    assert_eq!(read(&mut debug, 1, 0, 0x201), 0x201);
    assert_eq!(read(&mut debug, 1, 4, 0), 0);
    debug.set_result(CoreId::Trisc0, 77);
    assert_eq!(read(&mut debug, 1, 4, 0), 77);
}

#[test]
fn commands_become_effects_with_their_arguments() {
    let mut debug = RiscDebug::new();
    write(&mut debug, 0, 2, 7);
    write(&mut debug, 0, 3, 0x1234);
    let mut effect = |command: u32| write(&mut debug, 0, 1, 0x8000_0000 | command);
    assert_eq!(effect(0x001), [DebugEffect::Halt]);
    assert_eq!(effect(0x002), [DebugEffect::Step]);
    assert_eq!(effect(0x004), [DebugEffect::Continue]);
    assert_eq!(effect(0x008), [DebugEffect::ReadRegister { index: 7 }]);
    assert_eq!(effect(0x010), [DebugEffect::WriteRegister { index: 7, value: 0x1234 }]);
    assert_eq!(effect(0x020), [DebugEffect::ReadMemory { addr: 7 }]);
    assert_eq!(effect(0x040), [DebugEffect::WriteMemory { addr: 7, value: 0x1234 }]);
    assert_eq!(effect(0x080), [DebugEffect::ClearRegisters]);
    assert_eq!(effect(0x100), [DebugEffect::Flush { pc: Some(0x1234) }]);
    assert_eq!(effect(0x102), [DebugEffect::Flush { pc: Some(0x1234) }]);
    assert_eq!(effect(0x106), [DebugEffect::Flush { pc: Some(0x1234) }, DebugEffect::Continue]);
    assert_eq!(effect(0), []);
    assert_eq!(write(&mut debug, 0, 1, 0x100), [DebugEffect::Flush { pc: None }]);
}

#[test]
fn watchpoint_modes_are_four_bits_each() {
    let mut debug = RiscDebug::new();
    for i in 0..8 {
        assert_eq!(write(&mut debug, 3, 10 + i, 0x100 * i), [DebugEffect::Watch]);
    }
    assert_eq!(write(&mut debug, 3, 5, 0xF7CB_A980), [DebugEffect::Watch]);
    let modes = debug.watchpoints(CoreId::Trisc2).map(|(mode, _)| mode);
    assert_eq!(modes, [Off, Execute, Read, Write, Access, Off, Off, Off]);
    assert_eq!(debug.watchpoints(CoreId::Trisc2)[7].1, 0x700);
    assert_eq!(debug.watchpoints(CoreId::Trisc1)[7].1, 0);
}

#[test]
fn access_starts_on_the_rising_edge_only() {
    let mut debug = RiscDebug::new();
    assert!(debug.write_control(0x8000_0000).unwrap().is_some());
    assert_eq!(debug.write_control(0x8000_0001), Ok(None));
    assert_eq!(debug.status() & 0x7FF, 1);
}

#[test]
fn status_echoes_index_direction_and_trigger() {
    let mut debug = RiscDebug::new();
    let _ = debug.write_control(0x8001_0000 | 2 << 17 | 5);
    assert_eq!(debug.status(), 1 << 31 | 1 << 2 << 13 | 5);
}

#[test]
fn nobody_is_asked_who_is_not_there() {
    let mut debug = RiscDebug::new();
    let fault = debug.write_control(0x8000_0000 | 5 << 17).unwrap_err();
    assert_eq!(fault.id, "debug-interface-core");
    let _ = debug.write_control(0);
    let fault = debug.write_control(0x8000_0006).unwrap_err();
    assert_eq!(fault.id, "debug-interface-register");
}
