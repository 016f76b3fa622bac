//! Checks against the vendor's firmware, which is not part of this repository. They run when
//! `TILESCOPE_TEST_FIRMWARE` names a directory of firmware sets (such as the wheel's
//! `pre-compiled`); otherwise each says that it was skipped.
//! Expected values: `[spec: boot-and-sync 1.1, 1.3, 1.4, 7.4]`.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use loader::firmware::{BootImage, BootOptions, FirmwareSet, identify};
use memory_map::mailbox::{Layout, Place};
use sim_core::CoreId;
use symbols::code::Symbols;
use symbols::mailbox_layout;

fn set(id: &str) -> Option<FirmwareSet> {
    let Some(root) = std::env::var_os("TILESCOPE_TEST_FIRMWARE") else {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr()
            .write_all(b"skipped: TILESCOPE_TEST_FIRMWARE names no directory of firmware sets\n");
        return None;
    };
    Some(FirmwareSet::read(&PathBuf::from(root).join(id)).expect("a vendor set is readable"))
}

#[test]
fn vendor_set_identification_matches_fact_sheet() {
    let Some(small) = set("10231668919762417454") else { return };
    let Some(full) = set("18372378255250710900") else { return };
    let small = identify(&small).expect("bank tables agree");
    let full = identify(&full).expect("bank tables agree");
    assert_eq!((small.dram_banks, small.l1_banks), (Some(7), Some(140)));
    assert_eq!((full.dram_banks, full.l1_banks), (Some(8), Some(140)));
    assert_eq!(small.entries, [0x3AE0, 0x5CE0, 0x66E0, 0x70E0, 0x7AE0]);
    assert!(matches!(full.dispatch_stream, Some(16 | 48)));
}

#[test]
fn vendor_set_staging_matches_fact_sheet() {
    let Some(set) = set("10231668919762417454") else { return };
    let boot = BootImage::stage(&set, &BootOptions::default()).expect("a vendor set stages");
    let at = |address: u32| boot.writes.iter().find(|write| write.0 == address).map(|w| &w.1[..]);
    // jal x0, 0x3AE0, assembled with the GNU assembler.
    assert_eq!(at(0), Some(&0x2E10_306F_u32.to_le_bytes()[..]));
    assert_eq!(at(0xA080), Some(&[0x68, 0, 0, 0][..]));
    assert_eq!(at(0xC080), Some(&[0x68, 0, 0, 0][..]));
    assert_eq!(at(0x3AE0).map(<[u8]>::len), Some(0x1330));
    assert_eq!(at(0x13080).map(<[u8]>::len), Some(1176));
    let mailbox = at(0x60).expect("the mailbox is staged");
    assert_eq!(mailbox[0x4F3 - 0x60], 0x40);
}

#[test]
fn vendor_brisc_mailbox_names_from_debug_information() {
    let Some(set) = set("10231668919762417454") else { return };
    let image = set.image(CoreId::Brisc);
    let names = mailbox_layout::as_compiled(image).expect("vendor ELFs have DWARF");
    assert_eq!(names.bytes(), 13440);
    let name = |address| names.place(address).map(Place::into_name);
    assert_eq!(name(0x4F3).as_deref(), Some("go_messages[0].signal"));
    assert_eq!(name(0x69).as_deref(), Some("subordinate_sync.trisc0"));
    assert_eq!(names.address("go_messages[0].signal"), Some(0x4F3));
    let table = Layout::built_in();
    assert_eq!(mailbox_layout::of_firmware(image).as_ref(), Some(table), "it knows better names");
    // The table leaves padding out; what it names must be what the compiler says. Outside the
    // handshake area and the tile's identity it is coarser: there the first name must agree.
    let first = |place: Option<Place>| {
        place.map(|place| place.name.split(['.', '[']).next().map(str::to_owned))
    };
    let coarse: Vec<u32> = (0x60..0x34E0)
        .filter(|&address| table.covers(address))
        .filter(|&address| first(names.place(address)) != first(table.place(address)))
        .collect();
    assert_eq!(coarse, Vec::<u32>::new());
    let differ: Vec<_> = (0x60..0x530)
        .chain(0xBB7..0xBC8)
        .filter(|&address| table.covers(address) && names.place(address) != table.place(address))
        .map(|address| (address, names.place(address), table.place(address)))
        .collect();
    assert_eq!(differ, []);
    let named = (0x60..0x530).filter(|&address| table.covers(address)).count();
    assert!(named > 1000, "the table names only {named} bytes");
}

#[test]
fn vendor_brisc_symbols_name_code_and_data() {
    let Some(set) = set("10231668919762417454") else { return };
    let symbols = Symbols::for_core(Some(Arc::new(set.image(CoreId::Brisc).clone())));
    assert_eq!(symbols.address_of("rta_l1_base"), Some(0xFFB0_0014));
    assert_eq!(symbols.address_of("cb_interface"), Some(0xFFB0_051C));
    assert_eq!(symbols.address_of("subordinate_sync"), Some(0xFFB0_0000));
    let data = symbols.data_symbol(0xFFB0_0520).expect("inside cb_interface");
    assert_eq!((data.name.as_str(), data.offset), ("cb_interface", 4));
    // `_start` is at the entry point; the other line was read with GNU addr2line -f -i.
    assert_eq!(symbols.locate(0x3AE0).expect("entry").frame.function, "_start");
    let inlined = symbols.locate(0x3B60).expect("in main");
    assert_eq!(
        inlined.to_string(),
        "configure_gathering firmware_common.h:305 < configure_csr firmware_common.h:348 \
         < main brisc.cc:360"
    );
    assert!((0x3AE0..0x4E10).step_by(4).all(|pc| symbols.locate(pc).is_some()));
    assert!(symbols.locate(0x5CE0).is_none());
}
