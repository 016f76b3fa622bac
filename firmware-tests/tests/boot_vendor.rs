//! The vendor's firmware, which is not part of this repository. The tests run when
//! `TILESCOPE_TEST_FIRMWARE` names a directory of firmware sets (such as the wheel's
//! `pre-compiled`) or tilescope's cache has one; otherwise each says that it was skipped.
//! Expected values: `[spec: boot-and-sync 1.1, 3, 4, headline]`, which an independent
//! interpreter of the RV32 instruction set observed.

mod common;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use common::{
    KERNELS_THAT_FAIL, assert_only_expected_failures, booted, config, kernel_plans, on, run_kernels,
};
use loader::firmware::{FirmwareSet, identify};
use sim_core::engine::EngineKind;
use sim_core::{AgentId, CoreId, Event, NullObserver, Observer, Stamp, ThreadId, Width};

/// Entry points of every Blackhole set `[spec: boot-and-sync 1.1]`.
const ENTRIES: [u32; 5] = [0x3AE0, 0x5CE0, 0x66E0, 0x70E0, 0x7AE0];

/// Directories that may hold firmware sets.
fn roots() -> Vec<PathBuf> {
    if let Some(dir) = std::env::var_os("TILESCOPE_TEST_FIRMWARE") {
        return vec![PathBuf::from(dir)];
    }
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = variable("TILESCOPE_CACHE")
        .map(PathBuf::from)
        .or_else(|| variable("XDG_CACHE_HOME").map(|dir| PathBuf::from(dir).join("tilescope")))
        .or_else(|| variable("HOME").map(|dir| PathBuf::from(dir).join(".cache/tilescope")));
    cache.map(|dir| subdirectories(&dir.join("firmware"))).unwrap_or_default()
}

fn subdirectories(dir: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    dirs.sort();
    dirs
}

/// One Blackhole set for each pair of DRAM and L1 banks; nothing, with a note, if there is none.
fn sets() -> BTreeMap<(u32, u32), FirmwareSet> {
    let mut sets = BTreeMap::new();
    for dir in roots().iter().flat_map(|root| subdirectories(root)) {
        let Ok(set) = FirmwareSet::read(&dir) else { continue };
        let Ok(info) = identify(&set) else { continue };
        if let (ENTRIES, Some(dram), Some(l1)) = (info.entries, info.dram_banks, info.l1_banks) {
            sets.entry((dram, l1)).or_insert(set);
        }
    }
    if sets.is_empty() {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr()
            .write_all(b"skipped: no vendor firmware; set TILESCOPE_TEST_FIRMWARE\n");
    }
    sets
}

/// The build whose addresses the fact sheet gives.
fn set_of_fact_sheet() -> Option<FirmwareSet> {
    sets().remove(&(7, 140))
}

#[test]
fn vendor_sets_of_all_sizes_boot_on_both_engines() {
    let sets = sets();
    if sets.is_empty() {
        return;
    }
    assert!(sets.len() >= 6, "only {:?}", sets.keys());
    for banks in [110, 120, 130, 140] {
        assert!(sets.keys().any(|key| key.1 == banks), "no set of {banks} L1 banks");
    }
    for banks in [7, 8] {
        assert!(sets.keys().any(|key| key.0 == banks), "no set of {banks} DRAM banks");
    }
    for set in sets.values() {
        let mut inline = booted(on(EngineKind::Inline), set, NullObserver);
        let mut threads = booted(on(EngineKind::Threads), set, NullObserver);
        assert_eq!(inline.tile.now(), threads.tile.now(), "{}", set.name);
        assert_eq!(inline.tile.state_hash(), threads.tile.state_hash(), "{}", set.name);
    }
}

#[test]
fn vendor_boot_retires_as_many_instructions_as_in_an_independent_interpreter() {
    let Some(set) = set_of_fact_sheet() else { return };
    let mut session = booted(config(EngineKind::Inline, true, 1), &set, NullObserver);
    let brisc = session.tile.instructions()[CoreId::Brisc.index()];
    // The interpreter has one instruction per core and step, as our lock-step has; it counts
    // 5809. How often BRISC polls depends on when the TRISCs see 600 ticks of the wall clock.
    assert!(brisc.abs_diff(5809) <= 40, "BRISC retired {brisc} instructions up to DONE");
}

/// What BRISC pushed and what it stored to devices, in order.
#[derive(Default)]
struct Recorder {
    pushes: Vec<(AgentId, ThreadId, u32, bool)>,
    stores: Vec<(u32, u32)>,
}

impl Observer for Recorder {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        match *event {
            Event::Push { thread, word, after_mop } => {
                self.pushes.push((stamp.agent, thread, word, after_mop));
            }
            Event::DeviceStore { addr, value, width }
                if stamp.agent == AgentId::Core(CoreId::Brisc) =>
            {
                assert_eq!(width, Width::Word, "store to {addr:#x}");
                self.stores.push((addr, value));
            }
            _ => {}
        }
    }
}

/// The nine words of a boot `[spec: boot-and-sync 4]`.
const BOOT_PUSHES: [u32; 9] = [
    0x1018_0000,
    0x8A00_300A,
    0x0200_0000,
    0x7100_BF80,
    0x9100_00B0,
    0xA310_0008,
    0xA310_0010,
    0xA310_0200,
    0xA310_0040,
];

#[test]
fn vendor_boot_pushes_the_nine_words_of_the_fact_sheet() {
    for (banks, set) in sets() {
        let mut session = booted(on(EngineKind::Inline), &set, Recorder::default());
        session.settle(100_000);
        let from_brisc = |word| (AgentId::Core(CoreId::Brisc), ThreadId::T0, word, true);
        let wanted: Vec<_> = BOOT_PUSHES.into_iter().map(from_brisc).collect();
        assert_eq!(session.tile.observer().pushes, wanted, "{banks:?}");
    }
}

/// The stores of `noc_init`, of one NoC; coordinates are x 1, y 2 `[spec: boot-and-sync 3, 8.12]`.
fn noc_init(noc: u32) -> Vec<(u32, u32)> {
    let base = 0xFFB2_0000 + 0x1_0000 * noc;
    let xy = 2 << 6 | 1;
    [
        (0x004, 0),
        (0x010, 0),
        (0x008, xy),
        (0x1004, 0),
        (0x1008, xy),
        (0x180C, 4),
        (0x1810, 0),
        (0x1814, xy),
        (0x081C, 0x2090),
        (0x0810, 0),
        (0x0804, 0),
        (0x0814, xy),
    ]
    .map(|(offset, value)| (base + offset, value))
    .to_vec()
}

/// BRISC's stores from reset to its idle loop, without the values of read-modify-writes.
fn stores_of_fact_sheet() -> Vec<(u32, Option<u32>)> {
    let mut stores = vec![(0xFFB1_2240, Some(0)), (0xFFB1_1024, Some(0x3F))];
    for address in [0xFFB2_0100, 0xFFB2_0104, 0xFFB3_0100, 0xFFB3_0104] {
        stores.push((address, None));
    }
    stores.extend([
        (0xFFB1_2238, Some(0x5CE0)),
        (0xFFB1_2228, Some(0x66E0)),
        (0xFFB1_222C, Some(0x70E0)),
        (0xFFB1_2230, Some(0x7AE0)),
        (0xFFB1_2234, Some(7)),
        (0xFFB1_223C, Some(1)),
        (0xFFEF_02E4, Some(0x1F)),
        (0xFFEF_000C, None),
        (0xFFEF_000C, None),
        (0xFFEF_000C, Some(0x803)),
        (0xFFB1_21B0, Some(0)),
    ]);
    stores.extend((0..2).flat_map(noc_init).map(|(address, value)| (address, Some(value))));
    for base in [0xFFB2_0000, 0xFFB3_0000] {
        stores.extend([0x18, 0x818, 0x1018, 0x1818].map(|offset| (base + offset, Some(0))));
    }
    stores
}

#[test]
fn vendor_boot_stores_to_devices_in_the_order_of_the_fact_sheet() {
    let Some(set) = set_of_fact_sheet() else { return };
    let mut session = booted(on(EngineKind::Inline), &set, Recorder::default());
    session.settle(100_000);
    let wanted = stores_of_fact_sheet();
    let stores = &session.tile.observer().stores;
    let got: Vec<(u32, Option<u32>)> = stores
        .iter()
        .enumerate()
        .map(|(index, &(address, value))| {
            let known = wanted.get(index).is_none_or(|(_, value)| value.is_some());
            (address, known.then_some(value))
        })
        .collect();
    assert_eq!(got, wanted, "{stores:#x?}");
    // The clock-gating bits are set, whatever else the registers hold.
    for (address, value) in stores.iter().filter(|(address, _)| address & 0xFFF8 == 0x100) {
        assert_eq!(value & 1, 1, "{address:#x}");
    }
}

#[test]
fn kernels_on_vendor_firmware_hold_their_expectations_for_every_epoch_length() {
    // After "done" firmware still reads the launch message: with short epochs a host that does
    // not keep its distance replaces it under the firmware.
    let Some(set) = set_of_fact_sheet() else { return };
    for epoch in [1, 2, 4, 64] {
        let tile = config(EngineKind::Inline, true, epoch);
        let (results, _) = run_kernels(&set, tile, &kernel_plans(), 2);
        assert_only_expected_failures(&results, KERNELS_THAT_FAIL);
    }
}

#[test]
fn kernels_on_vendor_firmware_hold_their_expectations() {
    let Some(set) = set_of_fact_sheet() else { return };
    let plans = kernel_plans();
    let (inline, hashes) = run_kernels(&set, on(EngineKind::Inline), &plans, 1);
    assert_only_expected_failures(&inline, KERNELS_THAT_FAIL);
    let (threads, threads_hashes) = run_kernels(&set, on(EngineKind::Threads), &plans, 1);
    assert_only_expected_failures(&threads, KERNELS_THAT_FAIL);
    assert_eq!(threads_hashes, hashes);
}
