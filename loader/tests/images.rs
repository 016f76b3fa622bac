//! ELF and flat images: what is accepted, the error for each kind of damage, and that no bytes
//! make the loader panic. Layouts are from the ELF specification.

mod common;

use common::{CORES, Load, RET, elf, firmware_elf};
use loader::firmware::{FirmwareSet, identify};
use proptest::prelude::*;
use symbols::code::Symbols;
use symbols::image::{Image, SymbolKind};

fn parse(bytes: &[u8]) -> Result<Image, String> {
    Image::parse_elf("x.elf", bytes.into()).map_err(|error| error.to_string())
}

fn error(bytes: &[u8]) -> String {
    let text = parse(bytes).expect_err("must be refused");
    assert!(text.starts_with("x.elf: ") && !text.contains('\n'), "{text}");
    text
}

fn plain() -> Vec<u8> {
    let loads = [
        Load::code(0xB000, &[0x0000_0013, RET]),
        Load::data(0xFFB0_1000, 0xB008, &[1, 2, 3, 4], 0x40),
    ];
    elf(0xB000, &loads, &[("_start", 0xB000, 8, 2), ("_ZN2ns3varE", 0xFFB0_1000, 4, 1)])
}

#[test]
fn executable_with_code_and_data_is_read() {
    let image = parse(&plain()).expect("a good file");
    assert_eq!(image.entry, 0xB000);
    assert_eq!(image.segments.len(), 2);
    let (code, data) = (&image.segments[0], &image.segments[1]);
    assert_eq!((code.addr, code.run_addr, code.bytes.len()), (0xB000, 0xB000, 8));
    assert!(code.executable && !code.writable);
    assert_eq!((data.addr, data.run_addr, data.memory_bytes), (0xB008, 0xFFB0_1000, 0x40));
    assert_eq!(data.bytes, [1, 2, 3, 4]);
    let symbol = image.symbol("var").expect("found by its last part");
    assert_eq!((symbol.value, symbol.kind), (0xFFB0_1000, SymbolKind::Object));
}

#[test]
fn file_that_is_not_an_elf_is_refused() {
    assert_eq!(error(b""), "x.elf: not an ELF file");
    assert_eq!(error(b"#!/bin/sh\n"), "x.elf: not an ELF file");
}

#[test]
fn elf_for_another_machine_is_refused_with_the_difference() {
    let changed = |at: usize, value: u8| {
        let mut bytes = plain();
        bytes[at] = value;
        error(&bytes)
    };
    assert!(changed(4, 2).ends_with("class is 64-bit"));
    assert!(changed(5, 2).ends_with("data is big-endian"));
    assert!(changed(18, 62).contains("machine is X86_64"));
    assert!(changed(16, 1).contains("type is REL"));
}

#[test]
fn compressed_code_is_refused() {
    let mut bytes = plain();
    bytes[36] |= 1;
    assert!(error(&bytes).contains("compressed (RVC)"));
}

#[test]
fn overlapping_segments_are_refused() {
    let loads = [Load::code(0xB000, &[RET; 4]), Load::code(0xB00C, &[RET])];
    assert_eq!(
        error(&elf(0xB000, &loads, &[])),
        "x.elf: segments overlap: 0xb000..0xb010 and 0xb00c..0xb010"
    );
}

#[test]
fn segment_outside_l1_and_local_ram_is_refused() {
    for address in [0x17_FFFC, 0x18_0000, 0xFFAF_FFFC, 0xFFB0_2000, 0xFFFF_FFF8] {
        let loads = [Load::code(address, &[RET; 2])];
        assert!(error(&elf(address, &loads, &[])).contains("is outside L1"), "{address:#x}");
    }
    let large = [Load::data(0xFFB0_0000, 0xB000, &[0], 0x2001)];
    assert!(error(&elf(0, &large, &[])).contains("0xffb00000..0xffb02001 is outside"));
}

#[test]
fn file_cut_anywhere_is_refused() {
    let bytes = plain();
    for length in 0..bytes.len() {
        let text = error(&bytes[..length]);
        assert!(length < 4 || text.contains("truncated"), "{length}: {text}");
    }
}

#[test]
fn file_without_loadable_segments_is_refused() {
    assert_eq!(error(&elf(0, &[], &[])), "x.elf: no loadable segments");
    let empty = [Load::data(0xB000, 0xB000, &[], 0)];
    assert_eq!(error(&elf(0, &empty, &[])), "x.elf: no loadable segments");
}

#[test]
fn flat_image_is_checked_against_the_address_map() {
    let fits = Image::from_flat("x.bin", vec![0; 16], 0xB000).expect("it fits");
    assert_eq!((fits.entry, fits.segments[0].bytes.len()), (0xB000, 16));
    assert!(Image::from_flat("x.bin", vec![0; 16], 0x17_FFF8).is_err());
    assert!(Image::from_flat("x.bin", vec![], 0xB000).is_err());
}

#[test]
fn kernel_that_runs_elsewhere_than_linked_is_located() {
    let image = std::sync::Arc::new(parse(&plain()).expect("a good file"));
    let mut symbols = Symbols::for_core(None);
    assert!(symbols.locate(0xC004).is_none());
    symbols.set_kernels([(image, 0xC000)]);
    assert_eq!(symbols.locate(0xC004).expect("in the kernel").frame.function, "_start");
    assert!(symbols.locate(0xB004).is_none());
    assert_eq!(symbols.address_of("_start"), Some(0xC000));
    assert_eq!(symbols.data_symbol(0xFFB0_1002).expect("in var").to_string(), "ns::var+0x2");
    symbols.set_kernels([]);
    assert!(symbols.locate(0xC004).is_none());
}

/// Real files to mutate: the firmware of the test programs, and the vendor's when
/// `TILESCOPE_TEST_FIRMWARE` names a directory of firmware sets. They carry DWARF.
fn real_elfs() -> Vec<Vec<u8>> {
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware-tests/programs/embedded/");
    let ours = ["brisc", "ncrisc", "trisc1"].map(|core| format!("{programs}{core}.elf"));
    let vendor = std::env::var("TILESCOPE_TEST_FIRMWARE").into_iter().flat_map(|root| {
        let set = "18372378255250710900";
        ["brisc", "trisc1"].map(|core| format!("{root}/{set}/{core}/{core}.elf"))
    });
    let files = ours.into_iter().chain(vendor);
    let mut found: Vec<_> = files.filter_map(|path| std::fs::read(path).ok()).collect();
    found.push(plain());
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_elf_never_panics(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        header in any::<bool>(),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        static FILES: std::sync::LazyLock<Vec<Vec<u8>>> = std::sync::LazyLock::new(real_elfs);
        let files = &*FILES;
        let mut bytes = which.get(files).clone();
        let range = if header { bytes.len().min(148) } else { bytes.len() };
        for (at, value) in &changes {
            bytes[at.index(range)] = *value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(image) = parse(&bytes) {
            let entry = image.entry;
            if let Some(names) = symbols::mailbox_layout::as_compiled(&image) {
                for address in (0x60..0x600).step_by(3) {
                    let _ = names.place(address);
                }
            }
            let symbols = Symbols::for_core(Some(std::sync::Arc::new(image)));
            for pc in (0..64).map(|step| entry.wrapping_add(step * 4)) {
                let _ = symbols.locate(pc);
                let _ = symbols.data_symbol(pc);
            }
        }
    }

    #[test]
    fn random_bytes_after_a_good_header_never_panic(tail in prop::collection::vec(any::<u8>(), 0..512)) {
        let mut bytes = plain()[..52].to_vec();
        bytes.extend(tail);
        let _ = parse(&bytes);
    }
}

/// A set of these five files.
fn identified(file: impl Fn(&str, u32) -> Vec<u8>) -> String {
    let image = |(core, entry): (&str, u32)| {
        Image::parse_elf(&format!("{core}.elf"), file(core, entry).into()).expect("a good file")
    };
    let set = FirmwareSet::from_images("set", CORES.map(image));
    identify(&set).map_or_else(|error| error.to_string(), |info| format!("{info:?}"))
}

#[test]
fn bank_tables_that_disagree_are_told_in_words() {
    let error =
        identified(|core, entry| firmware_elf(entry, if core == "ncrisc" { 7 } else { 8 }, 140));
    let expected =
        "ncrisc.elf: built for 7 DRAM and 140 L1 banks, BRISC for 8 DRAM and 140 L1 banks";
    assert_eq!(error, expected);
    let error = identified(|core, entry| match core {
        "ncrisc" => {
            let symbols =
                [("dram_bank_to_noc_xy", 0x10, 32, 1), ("bank_to_dram_offset", 0x40, 32, 1)];
            elf(entry, &[Load::code(entry, &[RET])], &symbols)
        }
        _ => firmware_elf(entry, 8, 140),
    });
    assert!(
        error.contains("built for 8 DRAM and no L1 banks, BRISC for 8 DRAM and 140"),
        "{error}"
    );
    let one = [("dram_bank_to_noc_xy", 0x10, 32, 1)];
    let error = identified(|_, entry| elf(entry, &[Load::code(entry, &[RET])], &one));
    let expected = "brisc.elf: dram_bank_to_noc_xy has 32 bytes, bank_to_dram_offset has none; \
                    both must have 4 bytes per bank";
    assert_eq!(error, expected);
}
