use super::*;

const NOW: Cycle = Cycle(0x5_0000_0007);

// Expected values: [isa-bh: TensixTile/SoftReset.md] unless another page is named.

#[test]
fn soft_reset_at_power_on_holds_all_cores() {
    let block = TileControl::new();
    assert_eq!(block.soft_reset(), 0x47800);
    assert!(CoreId::ALL.into_iter().all(|core| block.in_reset(core)));
}

#[test]
fn soft_reset_release_of_brisc_reports_only_brisc() {
    let mut block = TileControl::new();
    let effect = block.write(0x1B0, 0x47000, NOW).unwrap();
    assert_eq!(
        effect,
        Some(TileControlEffect::Reset {
            entered: CoreSet::EMPTY,
            left: CoreSet::only(CoreId::Brisc),
            units_entered: 0,
            units_left: 0,
        })
    );
    assert!(!block.in_reset(CoreId::Brisc));
    assert_eq!(block.read(0x1B0, NOW), Ok(0x47000));
}

#[test]
fn soft_reset_rewriting_the_same_value_has_no_effect() {
    let mut block = TileControl::new();
    assert_eq!(block.write(0x1B0, 0x47800, NOW), Ok(None));
}

#[test]
fn soft_reset_bits_from_24_up_have_no_effect() {
    let mut block = TileControl::new();
    assert_eq!(block.write(0x1B0, 0x8004_7800, NOW), Ok(None));
}

#[test]
fn soft_reset_unit_bits_are_reported_apart_from_cores() {
    let mut block = TileControl::new();
    let effect = block.write(0x1B0, 0x47800 | 1 << 16 | 1 << 10, NOW).unwrap();
    let Some(TileControlEffect::Reset { entered, units_entered, .. }) = effect else {
        panic!("expected a reset, got {effect:?}");
    };
    assert_eq!(entered, CoreSet::EMPTY);
    assert_eq!(units_entered, 1 << 16 | 1 << 10);
}

#[test]
fn entry_pc_without_override_is_the_fixed_value() {
    let block = TileControl::new();
    let entries = CoreId::ALL.map(|core| block.entry_pc(core));
    assert_eq!(entries, [0, 0x6000, 0xA000, 0xE000, 0x12000]);
}

#[test]
fn entry_pc_with_override_is_the_register() {
    // The writes of the vendor's firmware [spec: boot-and-sync 3].
    let mut block = TileControl::new();
    for (offset, value) in
        [(0x238, 0x5CE0), (0x228, 0x66E0), (0x22C, 0x70E0), (0x230, 0x7AE0), (0x234, 7), (0x23C, 1)]
    {
        assert_eq!(block.write(offset, value, NOW), Ok(None));
    }
    let entries = CoreId::ALL.map(|core| block.entry_pc(core));
    assert_eq!(entries, [0, 0x66E0, 0x70E0, 0x7AE0, 0x5CE0]);
}

#[test]
fn disable_reset_even_bits_keep_local_ram() {
    let mut block = TileControl::new();
    block.write(0x224, 1 << 4 | 1 << 7, NOW).unwrap();
    assert!(!block.clears_local_ram(CoreId::Trisc2));
    assert!(block.clears_local_ram(CoreId::Brisc));
}

#[test]
fn wall_clock_low_read_latches_the_high_half() {
    // [isa-wh: TensixTile/DebugTimestamper.md]
    let mut block = TileControl::new();
    assert_eq!(block.read(0x1F8, NOW), Ok(0));
    assert_eq!(block.read(0x1F0, NOW), Ok(7));
    assert_eq!(block.read(0x1F8, Cycle(9 << 32)), Ok(5));
    assert_eq!(block.read(0x1F4, Cycle(9 << 32)), Ok(9));
}

#[test]
fn wall_clock_low_write_latches_the_high_half() {
    let mut block = TileControl::new();
    assert_eq!(block.write(0x1F0, 0, NOW), Ok(None));
    assert_eq!(block.read(0x1F8, Cycle(0)), Ok(5));
}

#[test]
fn debug_push_fires_on_the_rising_edge_only() {
    // [isa-wh: TensixTile/BabyRISCV/PushTensixInstruction.md] debug registers.
    let mut block = TileControl::new();
    block.write(0xA4, 0x0200_0000, NOW).unwrap();
    let control = block.write(0xA0, 0x02, NOW).unwrap();
    assert_eq!(control, Some(TileControlEffect::DebugBusControl { threads: 0b010 }));
    let push = block.write(0xA0, 0x22, NOW).unwrap();
    assert_eq!(push, Some(TileControlEffect::DebugPush { threads: 0b010, word: 0x0200_0000 }));
    assert_eq!(block.write(0xA0, 0x22, NOW), Ok(None));
}

#[test]
fn debug_bus_samples_on_the_rising_edge_where_the_mode_says() {
    // [isa-wh: TensixTile/DebugDaisychain.md] RISCV_DEBUG_REG_DBG_L1_MEM_REG2.
    let (place, end, mode) = (0x48, 0x4C, 0x50);
    let mut block = TileControl::new();
    let mut write = |offset, value| match block.write(offset, value, Cycle(0)) {
        Ok(Some(TileControlEffect::SampleBus { select, addr, more })) => {
            Ok(Some((select, addr, more)))
        }
        Ok(_) => Ok(None),
        Err(fault) => Err(fault.id),
    };
    write(0x54, 1 << 29 | 7 << 16 | 11).expect("stored");
    let select = 1 << 29 | 7 << 16 | 11;
    assert_eq!(write(mode, 0xF), Ok(None));
    assert_eq!(write(place, 0x1_0000 >> 4), Ok(None));
    // One after the other, each on an edge.
    for addr in [0x1_0000, 0x1_0010] {
        assert_eq!(write(mode, 1), Ok(None));
        assert_eq!(write(mode, 1 << 12 | 1), Ok(Some((select, addr, false))));
        assert_eq!(write(mode, 1 << 12 | 1), Ok(None));
    }
    // To the same place.
    write(mode, 0).expect("stored");
    assert_eq!(write(mode, 1 << 12), Ok(Some((select, 0x1_0020, false))));
    write(mode, 0).expect("stored");
    assert_eq!(write(mode, 1 << 12), Ok(Some((select, 0x1_0020, false))));
    // A series of two, and no third.
    write(mode, 0xF).expect("stored");
    write(place, 0x2000).expect("stored");
    write(end, 0x2002).expect("stored");
    assert_eq!(write(mode, 1 << 12 | 7 << 4 | 4), Ok(Some((select, 0x2_0000, true))));
    for expected in [Some((select, 0x2_0010, false)), None] {
        assert_eq!(write(mode, 7 << 4 | 4), Ok(None));
        assert_eq!(write(mode, 1 << 12 | 7 << 4 | 4), Ok(expected));
    }
    // The low 1 MiB only.
    write(mode, 0).expect("stored");
    write(place, 0x1_0000).expect("stored");
    assert_eq!(write(mode, 1 << 12), Err("debug-bus-sample"));
}

#[test]
fn debug_push_without_control_does_nothing() {
    let mut block = TileControl::new();
    block.write(0xA0, 9, Cycle(0)).expect("stored");
    assert_eq!((block.read(0xA0, Cycle(0)), block.debug_bus_threads()), (Ok(9), 1));
    let mut block = TileControl::new();
    assert_eq!(block.write(0xA0, 0x10, NOW), Ok(None));
}

#[test]
fn pc_buf_override_write_is_an_effect() {
    let mut block = TileControl::new();
    let effect = block.write(0x90, 0x3, NOW);
    assert_eq!(effect, Ok(Some(TileControlEffect::PcBufOverride(3))));
    assert_eq!(block.read(0x90, NOW), Ok(3));
}

#[test]
fn debug_interface_access_is_an_effect() {
    // [isa-wh: TensixTile/BabyRISCV/DebugInterface.md]
    let mut block = TileControl::new();
    assert_eq!(block.write(0x84, 0x8000_0001, NOW), Ok(None));
    assert_eq!(block.write(0x80, 0x0001_0001, NOW), Ok(None));
    let access = DebugAccess { core: CoreId::Brisc, register: 1, write: Some(0x8000_0001) };
    let effect = TileControlEffect::CoreDebug(access);
    assert_eq!(block.write(0x80, 0x8001_0001, NOW), Ok(Some(effect)));
    assert_eq!(block.read(0x88, NOW), Ok(1 << 31 | 1 << 13 | 1));
    assert_eq!(block.read(0x84, NOW), Ok(0x8000_0001));
}

#[test]
fn disable_reset_odd_bits_keep_debug_registers() {
    let mut block = TileControl::new();
    block.write(0x224, 1 << 5 | 1 << 6, NOW).unwrap();
    assert!(!block.clears_debug_registers(CoreId::Trisc2));
    assert!(block.clears_debug_registers(CoreId::Brisc));
}

#[test]
fn unknown_offset_names_the_nearest_register() {
    let fault = TileControl::new().read(0x1B4, NOW).unwrap_err();
    assert_eq!(fault.id, "tile-control-unmapped");
    assert!(fault.message.contains("SOFT_RESET_0"), "{}", fault.message);
}

#[test]
fn every_known_register_fits_the_storage() {
    let (block, _) = memory_map::block(Target::TileControl).expect("in the map");
    assert!(block.registers.iter().all(|r| (r.offset as usize) < 4 * reg::WORDS));
}

#[test]
fn debug_array_read_asks_the_coprocessor() {
    let mut block = TileControl::new();
    block.write(0x60, 1, NOW).unwrap();
    block.write(0x64, 0x0002_3005, NOW).unwrap();
    let expected = ExternalRead::Array { command: 0x0002_3005, enabled: true };
    assert_eq!(block.external_read(0x6C), Some(expected));
    assert_eq!(block.read(0x6C, NOW).unwrap_err().id, "tile-control-external");
}
