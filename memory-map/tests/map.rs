//! The address map and register names against the public pages.

use memory_map::layout::{LOCAL_RAM_BYTES_DM, area_base, local_ram_bytes};
use memory_map::{REGIONS, RegionId, Target, View, find, lookup, mailbox, reg, register_name};

fn target(view: View, addr: u32) -> Option<Target> {
    lookup(view, addr).map(|hit| hit.target)
}

/// Table "Memory map" of [isa-bh: TensixTile/BabyRISCV/README.md], row by row where askers differ.
#[test]
fn address_same_means_different_things_to_different_askers() {
    assert_eq!(target(View::B, 0xFFE4_0000), Some(Target::PushT0AfterMop));
    assert_eq!(target(View::T2, 0xFFE4_0000), Some(Target::PushOwn));
    assert_eq!(target(View::Nc, 0xFFE4_0000), None);
    assert_eq!(target(View::B, 0xFFE6_FFFC), Some(Target::PushT2AfterMop));
    assert_eq!(target(View::T1, 0xFFE6_0000), None);
    assert_eq!(target(View::B, 0xFFE8_0004), Some(Target::PcBufT0));
    assert_eq!(target(View::T0, 0xFFE8_0000), Some(Target::PcBufOwn));
    assert_eq!(target(View::T0, 0xFFE8_0004), Some(Target::TtSync));
    assert_eq!(target(View::T0, 0xFFE8_0020), Some(Target::Semaphores));
    assert_eq!(target(View::B, 0xFFEA_0000), Some(Target::PcBufT2));
    assert_eq!(target(View::B, 0xFFB8_0000), None);
    assert_eq!(target(View::T1, 0xFFB8_0020), Some(Target::MopCfgOwn));
    assert_eq!(target(View::T1, 0xFFBD_8000), Some(Target::Dst));
    assert_eq!(target(View::B, 0xFFE0_0000), Some(Target::GprAll));
    assert_eq!(target(View::T0, 0xFFE0_0000), Some(Target::GprOwn));
}

#[test]
fn address_limits_of_regions_are_inclusive() {
    assert_eq!(target(View::Noc, 0x0017_FFFF), Some(Target::L1));
    assert_eq!(target(View::Noc, 0x0018_0000), None);
    assert_eq!(target(View::T0, 0xFFB0_0FFC), Some(Target::LocalRam));
    assert_eq!(target(View::T0, 0xFFB0_1000), None);
    assert_eq!(target(View::Nc, 0xFFB0_1FFC), Some(Target::LocalRam));
    assert_eq!(target(View::Noc, 0xFFB0_0000), None);
    assert_eq!(target(View::T0, 0xFFB1_3137), Some(Target::Pic));
    assert_eq!(target(View::T0, 0xFFB1_3138), Some(Target::PcSnapshot));
    assert_eq!(target(View::T0, 0xFFB1_314C), None);
    assert_eq!(target(View::T0, 0xFFB8_0024), None);
    assert_eq!(target(View::Nc, 0xFFEF_0000), None);
    assert_eq!(target(View::Noc, 0xFFB7_FFFC), Some(Target::Overlay));
    assert_eq!(target(View::B, 0xFFFF_FFFF), None);
}

#[test]
fn lookup_gives_offset_in_its_row() {
    let hit = lookup(View::Noc, 0xFFB1_A010).expect("slow path of TRISC1");
    assert_eq!((hit.region, hit.offset), (RegionId::SlowLocalRamT1, 0x10));
    assert_eq!(hit.region.row().base, 0xFFB1_A000);
    for (i, row) in REGIONS.iter().enumerate() {
        assert_eq!(row.id as usize, i, "{}", row.name);
    }
}

#[test]
fn register_addresses_match_vendor_header() {
    // [hdr: hw/inc/internal/tt-1xx/blackhole/tensix.h], [spec: boot-and-sync 2]
    assert_eq!(reg::tile_control::SOFT_RESET_0, 0xFFB1_21B0);
    assert_eq!(reg::tile_control::SOFT_RESET_0_RESET, 0x47800);
    assert_eq!(reg::tile_control::TRISC_RESET_PC_OVERRIDE, 0xFFB1_2234);
    assert_eq!(reg::tile_control::WALL_CLOCK_L, 0xFFB1_21F0);
    assert_eq!(reg::tile_control::WALL_CLOCK_H, 0xFFB1_21F8);
    assert_eq!(reg::noc_niu::NOC_ID_LOGICAL, 0xFFB2_0148);
    assert_eq!(reg::noc_niu::NIU_MST_POSTED_WR_REQ_SENT, 0xFFB2_022C);
    assert_eq!(reg::overlay::REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE, 0xFFB4_0438);
}

/// Accesses of the vendor's firmware at boot, named as its source names them [spec: boot-and-sync 3].
#[test]
fn register_names_follow_boot_accesses() {
    let name = |view, addr| register_name(view, addr).unwrap_or_default();
    assert_eq!(name(View::B, 0xFFB1_21B0), "tile_control.SOFT_RESET_0");
    assert_eq!(name(View::B, 0xFFB3_181C), "noc1.NOC_CTRL[3]");
    assert_eq!(name(View::B, 0xFFB2_0208), "noc0.NIU_MST_RD_RESP_RECEIVED");
    assert_eq!(name(View::T0, 0xFFB4_5028), "overlay[5].REMOTE_DEST_BUF_SIZE");
    assert_eq!(name(View::B, 0xFFEF_000C), "Config[0][3]");
    assert_eq!(name(View::T0, 0xFFEF_0380), "Config[1][0]");
    assert_eq!(name(View::T1, 0xFFEF_0A80 + 4 * 69), "ThreadConfig[1][1]");
    assert_eq!(name(View::T1, 0xFFE0_00FC), "gpr[T1][63]");
    assert_eq!(name(View::B, 0xFFE0_0104), "gpr[T1][1]");
    assert_eq!(name(View::T2, 0xFFE8_0024), "semaphore.VALUE[1]");
    assert_eq!(name(View::T2, 0xFFE8_0008), "ttsync.MOP_EXPANDER_DONE");
    assert_eq!(name(View::B, 0xFFEC_2004), "mailbox[T1].STATUS");
    assert_eq!(name(View::B, 0xFFE4_0000), "push_t0_after_mop");
    assert_eq!(name(View::B, 0xFFB1_1024), "tdma_risc.CLK_GATE_EN");
    assert_eq!(register_name(View::Nc, 0xFFE4_0000), None);
}

/// Absolute addresses of [spec: boot-and-sync 1.3 to 1.4].
#[test]
fn mailbox_addresses_match_fact_sheet() {
    let name = |addr| register_name(View::B, addr).unwrap_or_default();
    assert_eq!(name(0x68), "subordinate_sync.dm1");
    assert_eq!(name(0x6A), "subordinate_sync.trisc1");
    assert_eq!(name(0x70), "launch[0].kernel_config_base[0]");
    assert_eq!(name(0x4F3), "go_messages[0].signal");
    assert_eq!(name(0xBBB), "core_info.absolute_logical_x");
    assert_eq!(name(0xBC4), "core_info.core_magic_number");
    assert_eq!(name(0x3AE4), "brisc_firmware+0x4");
    for slot in 0..8 {
        let preload = mailbox::address(&format!("launch[{slot}].preload"));
        assert_eq!(preload, Some(0x60 + 144 * (slot + 1) + 15));
    }
    assert_eq!(mailbox::address("go_message_index"), Some(0x520));
    assert_eq!(mailbox::address("launch[8].preload"), None);
    assert_eq!(mailbox::address("launch.preload"), None);
    assert_eq!(area_base("trisc2_firmware"), Some(0x7AE0));
}

#[test]
fn find_lists_registers_and_fields_by_prefix() {
    assert_eq!(find("soft_reset"), [("tile_control.SOFT_RESET_0".to_owned(), 0xFFB1_21B0)]);
    assert_eq!(find("noc1.noc_id_logical"), [("noc1.NOC_ID_LOGICAL".to_owned(), 0xFFB3_0148)]);
    assert_eq!(find("go_messages[0].sig"), [("go_messages[0].signal".to_owned(), 0x4F3)]);
}

#[test]
fn local_ram_sizes_differ_by_core() {
    assert_eq!(local_ram_bytes(View::Nc), LOCAL_RAM_BYTES_DM);
    assert_eq!(local_ram_bytes(View::T0), 4096);
    assert_eq!(local_ram_bytes(View::Noc), 0);
}

#[test]
fn a_word_is_of_the_mailbox_where_a_field_has_a_name_for_it() {
    let covered: Vec<u32> = (0..0x8000).filter(|&addr| mailbox::covers(addr)).collect();
    let named: Vec<u32> = (0..0x8000).filter(|&addr| mailbox::place(addr).is_some()).collect();
    assert!(!named.is_empty() && named.len() < 0x8000);
    assert_eq!(covered, named);
}

/// A layout may come out of a file that is damaged.
#[test]
fn fields_outside_the_structure_are_left_out() {
    use mailbox::{Dim, Field, Layout, MAILBOX_BASE};
    const PAIR: &[Dim] = &[Dim { count: 2, stride: 8 }];
    let field = |name: &'static str, offset, bytes, dims: &'static [Dim]| Field {
        name: name.into(),
        offset,
        bytes,
        dims: dims.into(),
        doc: "",
    };
    let fields = vec![
        field("first", 0, 4, &[]),
        field("pair[]", 4, 4, PAIR),
        field("beyond[]", 8, 4, PAIR),
        field("behind", 13, 4, &[]),
        field("far", u32::MAX - 1, 4, &[]),
        field("many[]", 0, 1, &[Dim { count: u32::MAX, stride: 1 << 31 }]),
        field("still[]", 0, 1, &[Dim { count: 2, stride: 0 }]),
        field("none[]", 0, 1, &[Dim { count: 0, stride: 1 }]),
    ];
    let layout = Layout::new(16, fields.clone()).expect("a size that can be");
    let found = |name| layout.address(name).map(|addr| addr - MAILBOX_BASE);
    assert_eq!((found("first"), found("pair[1]"), found("pair[2]")), (Some(0), Some(12), None));
    for name in ["beyond[0]", "behind", "far", "many[0]", "still[0]", "none[0]"] {
        assert_eq!(found(name), None, "{name}");
    }
    assert_eq!(layout.place(MAILBOX_BASE + 13).expect("a field").into_name(), "pair[1]+1");
    assert!(Layout::new(u32::MAX, fields).is_none());
}
