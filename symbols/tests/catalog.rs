//! Files found for what stands in L1. The directories are as ttnn 0.81.1 and its LLK tests leave
//! them `[spec: live-sessions]`; the programs are those of the repository.

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use common::{CORES, L1, image, programs, write};
use sim_core::CoreId;
use symbols::catalog::{Catalog, ItemKind, Places};
use symbols::launch::{Dispatch, Phase};
use symbols::module::Module;
use symbols::tile_names::TileNames;
use tempfile::TempDir;

/// The cache's directory below the scratch directory, as `TT_METAL_CACHE` makes it.
const CACHE: &str = "cache/tt-metal-cache123";

/// Where a kernel of the five-core program would have been built.
fn built(name: &str) -> String {
    match name {
        "brisc" => format!("{CACHE}/kernels/writer/11/brisc/brisc.elf"),
        "ncrisc" => format!("{CACHE}/kernels/reader/22/ncrisc/ncrisc.elf"),
        _ => format!("{CACHE}/kernels/compute/33/{name}/{name}.elf"),
    }
}

fn program(name: &str) -> Vec<u8> {
    fs::read(programs().join(name)).expect("a program of the repository")
}

/// A working directory after a session that ran the five-core kernels: `loaded` beside `linked`.
fn session() -> TempDir {
    let scratch = tempfile::tempdir().expect("may be made");
    let root = scratch.path().display();
    for (_, name) in CORES {
        let elf = program(&format!("kernels/five-core/{name}.elf"));
        write(&scratch.path().join(built(name)), &elf);
        write(&scratch.path().join(format!("{}.xip.elf", built(name))), &elf);
        let firmware = format!("{CACHE}/firmware/{name}/{name}.elf");
        write(&scratch.path().join(firmware), program(&format!("embedded/{name}.elf")));
    }
    // With the doubled separator that the host writes.
    let of = |name: &str| format!("{root}/{}", built(name)).replace("/brisc/", "//brisc/");
    let paths = format!(
        "0: blank\n5: {}\n3: {}\n4: {}:{}:{}\n",
        of("ncrisc"),
        of("brisc"),
        of("trisc0"),
        of("trisc1"),
        of("trisc2")
    );
    write(&scratch.path().join("generated/watcher/kernel_elf_paths.txt"), paths);
    let names = "0: blank\n3: ops/writer.cpp\n4: ttnn/cpp/ttnn/operations/pool/generic/device/k/mid.cpp\n5: ops/reader.cpp\n";
    write(&scratch.path().join("generated/watcher/kernel_names.txt"), names);
    let yaml = "- kernel:\n    watcher_kernel_id: 3\n    name: writer\n    path: x/\n    source: ops/writer.cpp\n    program_id: 6\n\
                - kernel:\n    watcher_kernel_id: 4\n    name: compute\n    source: ttnn/cpp/ttnn/operations/pool/generic/device/k/mid.cpp\n    program_id: 6\n";
    write(&scratch.path().join("generated/inspector/kernels.yaml"), yaml);
    scratch
}

fn places(directory: &Path) -> Places {
    // Nothing of the host that runs the test may be found.
    let none = |name: &str| (name.to_owned(), directory.join("none").display().to_string());
    Places {
        directory: directory.to_owned(),
        environment: ["HOME", "TMPDIR", "TT_METAL_CACHE"].map(none).into(),
        extra: Vec::new(),
    }
}

fn name(catalog: &Catalog, l1: &L1, core: CoreId) -> Option<String> {
    TileNames::read(&l1.memory(), catalog).kernel_name(core).map(str::to_owned)
}

#[test]
fn record_says_file_name_source_and_operation() {
    let scratch = session();
    let catalog = Catalog::gather(&places(scratch.path()));
    let kernel = catalog.kernel(4, CoreId::Trisc1).expect("the record is there");
    assert_eq!(kernel.elf, scratch.path().join(built("trisc1")));
    assert_eq!(kernel.name, "compute");
    assert_eq!((kernel.operation.as_deref(), kernel.program), (Some("pool/generic"), Some(6)));
    let reader = catalog.kernel(5, CoreId::Ncrisc).expect("the record is there");
    assert_eq!((reader.name.as_str(), reader.program), ("reader", None));
    assert_eq!(catalog.kernel(4, CoreId::Brisc), None);
    assert_eq!(catalog.kernel(0, CoreId::Brisc), None);
    assert_eq!(catalog.kernel(9, CoreId::Brisc), None);
}

#[test]
fn tile_of_a_session_has_names_for_all_cores() {
    let scratch = session();
    let catalog = Catalog::gather(&places(scratch.path()));
    let l1 = L1::five_core();
    let names = TileNames::read(&l1.memory(), &catalog);
    let kernels = CORES.map(|(core, _)| names.kernel_name(core));
    assert_eq!(
        kernels.map(Option::unwrap_or_default),
        ["writer", "reader", "compute", "compute", "compute"]
    );
    for (i, (core, name)) in (0..).zip(CORES) {
        let text = 0xA080 + 0x1000 * (i + 1);
        let range = names.kernel_range(core).expect("a kernel is there");
        let code: u32 = {
            let image = image(&programs().join(format!("kernels/five-core/{name}.elf")));
            image.loadable().filter(|s| s.executable).map(|s| s.memory_bytes).sum()
        };
        assert_eq!(range, text..text + code);
        assert!(names.is_kernel(core, text) && !names.is_kernel(core, text - 4));
        // `_start` is the first function of every kernel; firmware runs where it was linked.
        assert_eq!(names.locate(core, text).expect("code").frame.function, "_start");
        assert_eq!(names.arguments(core), Some(0xA080 + 0x10 * i));
        let firmware = names.core(core).firmware().expect("firmware is there");
        assert_eq!(firmware.title(), name);
        let main = firmware.image().address_of("main").expect("it has one");
        assert_eq!(names.locate(core, main).expect("code").frame.function, "main");
    }
    assert_eq!(names.operation(), Some("pool/generic"));
    assert!(names.is_current(&l1.memory()));
    let mut next = L1::five_core();
    next.watcher_id(0, 1, 6);
    assert!(!names.is_current(&next.memory()));
}

/// Names of a launch whose kernels were started before its go signal, when that has come.
#[test]
fn names_of_a_launch_are_kept_as_long_as_its_kernels_stand_there() {
    let scratch = session();
    let catalog = Catalog::gather(&places(scratch.path()));
    let mut l1 = L1::five_core();
    l1.signal(0);
    l1.byte(0x70 + 0x8F, 0x80);
    let phase = |names: &TileNames| names.launch().map(|launch| launch.phase);
    let early = TileNames::read(&l1.memory(), &catalog);
    assert_eq!(phase(&early), Some(Phase::Preloaded));
    l1.signal(0x80);
    let names = early.reread(&l1.memory()).expect("the same launch");
    assert_eq!(phase(&names), Some(Phase::Running));
    let named =
        |names: &TileNames| CORES.map(|(core, _)| names.kernel_name(core).map(str::to_owned));
    assert_eq!(named(&names), named(&TileNames::read(&l1.memory(), &catalog)));
    assert_eq!(names.operation(), early.operation());
    // Another launch; other code at the place of a kernel; a launch of which not all kernels were found.
    let mut next = L1::five_core();
    next.watcher_id(0, 1, 6);
    assert!(early.reread(&next.memory()).is_none());
    for at in 0..64 {
        l1.byte(0xA080 + 0x2000 + at, 0x55);
    }
    assert!(early.reread(&l1.memory()).is_none());
    let lost = TileNames::read(&l1.memory(), &catalog);
    assert_eq!(lost.kernel_name(CORES[1].0), None);
    assert!(lost.reread(&l1.memory()).is_none());
}

/// What a host with `TT_METAL_INSPECTOR_LOG_RUNTIME_ENTRIES` writes, with other words.
const WORKLOADS: &str = "- runtime_entry:\n    mesh_workload_id: 0\n    runtime_id: 7\n    name: PoolOperation\n    parameters: '[0]: Spec(shape=[64, 64])'\n    trace_id: 1\n\
                         - runtime_entry:\n    mesh_workload_id: 0\n    runtime_id: 8\n    name: OtherOperation\n";

#[test]
fn launch_is_the_operation_that_the_host_wrote_down() {
    let scratch = session();
    write(&scratch.path().join("generated/inspector/mesh_workloads_log.yaml"), WORKLOADS);
    let catalog = Catalog::gather(&places(scratch.path()));
    let mut l1 = L1::five_core();
    l1.word(0x70 + 0x6C, 7);
    let names = TileNames::read(&l1.memory(), &catalog);
    assert_eq!(names.operation(), Some("PoolOperation"));
    let parameters = names.recorded_operation().and_then(|found| found.parameters.as_deref());
    assert_eq!(parameters, Some("[0]: Spec(shape=[64, 64])"));
    // Without a kernel of these records the numbers mean nothing.
    for i in 0..5 {
        l1.watcher_id(0, i, 9);
    }
    assert_eq!(TileNames::read(&l1.memory(), &catalog).operation(), None);
}

#[test]
fn records_lie_where_the_environment_says() {
    let scratch = session();
    let moved = scratch.path().join("logs");
    fs::create_dir(&moved).expect("may be made");
    fs::rename(scratch.path().join("generated"), moved.join("generated")).expect("it was made");
    let mut places = places(scratch.path());
    assert_eq!(Catalog::gather(&places).kernel(5, CoreId::Ncrisc), None);
    places.environment.push(("TT_METAL_LOGS_PATH".to_owned(), "logs".to_owned()));
    assert!(Catalog::gather(&places).kernel(5, CoreId::Ncrisc).is_some());
}

#[test]
fn tiles_share_what_was_read() {
    let scratch = session();
    let catalog = Catalog::gather(&places(scratch.path()));
    let l1 = L1::five_core();
    let [one, two] = [(); 2].map(|()| TileNames::read(&l1.memory(), &catalog));
    assert_eq!(one.modules().len(), 10);
    for (one, two) in one.modules().iter().zip(two.modules()) {
        assert!(Arc::ptr_eq(one, &two));
    }
}

#[test]
fn record_that_means_another_file_gives_no_name() {
    let scratch = session();
    let mut l1 = L1::five_core();
    // NCRISC runs what the records call kernel 5; let the host have meant another by it.
    let other = program("kernels/mutex/trisc0.elf");
    write(&scratch.path().join(built("ncrisc")), &other);
    write(&scratch.path().join(format!("{}.xip.elf", built("ncrisc"))), &other);
    let catalog = Catalog::gather(&places(scratch.path()));
    assert_eq!(name(&catalog, &l1, CoreId::Ncrisc), None);
    // What L1 holds is not what the file says.
    l1.word(0xB080 + 0x40, 0xFFFF_FFFF);
    assert_eq!(name(&catalog, &l1, CoreId::Brisc), None);
    assert_eq!(name(&catalog, &l1, CoreId::Trisc0).as_deref(), Some("compute"));
}

#[test]
fn kernel_without_a_record_is_found_by_its_code() {
    let scratch = session();
    fs::remove_dir_all(scratch.path().join("generated")).expect("it was made");
    let mut places = places(scratch.path());
    let l1 = L1::five_core();
    let nothing = Catalog::gather(&places);
    assert_eq!(name(&nothing, &l1, CoreId::Brisc), None);
    assert!(nothing.notes().iter().any(|note| note.contains("kernel_elf_paths.txt")));
    // By the cache in the environment, then by a directory the user names.
    let cache = scratch.path().join("cache").display().to_string();
    places.environment = vec![("TT_METAL_CACHE".to_owned(), cache)];
    assert_eq!(name(&Catalog::gather(&places), &l1, CoreId::Brisc).as_deref(), Some("writer"));
    places.environment.clear();
    places.extra = vec![programs().join("kernels")];
    assert_eq!(name(&Catalog::gather(&places), &l1, CoreId::Ncrisc).as_deref(), Some("five-core"));
}

#[test]
fn of_many_files_the_first_of_those_alike_is_taken() {
    let scratch = tempfile::tempdir().expect("may be made");
    let other = program("kernels/mutex/trisc0.elf");
    for number in 0..200 {
        write(&scratch.path().join(format!("{number:03}/brisc.elf")), &other);
    }
    for number in [57, 160] {
        let elf = program("kernels/five-core/brisc.elf");
        write(&scratch.path().join(format!("{number:03}/brisc.elf")), elf);
    }
    let mut places = places(scratch.path());
    places.extra = vec![scratch.path().to_owned()];
    let catalog = Catalog::gather(&places);
    assert_eq!(name(&catalog, &L1::five_core(), CoreId::Brisc).as_deref(), Some("five-core"));
    let [note] =
        &catalog.notes().into_iter().filter(|note| note.contains("taken")).collect::<Vec<_>>()[..]
    else {
        panic!("one note of two files")
    };
    let (taken, other) = note.split_once("taken").expect("it says so");
    assert!(taken.contains("/057/brisc.elf") && other.contains("/160/brisc.elf"), "{note}");
}

#[test]
fn record_written_later_is_read() {
    let scratch = session();
    let path = scratch.path().join("generated/watcher/kernel_elf_paths.txt");
    let paths = fs::read_to_string(&path).expect("it was made");
    write(&path, "0: blank\n");
    fs::remove_file(scratch.path().join("generated/watcher/kernel_names.txt"))
        .expect("it was made");
    fs::remove_file(scratch.path().join("generated/inspector/kernels.yaml")).expect("it was made");
    let catalog = Catalog::gather(&places(scratch.path()));
    assert_eq!(catalog.kernel(5, CoreId::Ncrisc), None);
    write(&path, paths);
    let kernel = catalog.kernel(5, CoreId::Ncrisc).expect("the record is there now");
    assert_eq!(kernel.name, "reader");
}

#[test]
fn kernel_built_later_is_found_after_a_refresh() {
    let scratch = tempfile::tempdir().expect("may be made");
    let mut places = places(scratch.path());
    places.extra = vec![scratch.path().to_owned()];
    let catalog = Catalog::gather(&places);
    let l1 = L1::five_core();
    assert_eq!(name(&catalog, &l1, CoreId::Brisc), None);
    write(&scratch.path().join("a/brisc.elf"), program("kernels/five-core/brisc.elf"));
    catalog.refresh();
    assert_eq!(name(&catalog, &l1, CoreId::Brisc).as_deref(), Some("five-core"));
}

#[test]
fn llk_test_is_found_where_it_was_linked() {
    let scratch = tempfile::tempdir().expect("may be made");
    let build = scratch.path().join("tt-llk-build");
    let [brisc, trisc0] = ["bare/mailbox/brisc.elf", "bare/mailbox/trisc0.elf"].map(program);
    let variant = |hash: &str| build.join(format!("sources/matmul_test.cpp/{hash}/elf/unpack.elf"));
    write(&build.join("shared/elf/brisc.elf"), brisc);
    write(&variant("aa"), program("bare/mop/trisc0.elf"));
    write(&variant("bb"), trisc0);
    let mut places = places(scratch.path());
    places.environment = vec![("TMPDIR".to_owned(), scratch.path().display().to_string())];
    let catalog = Catalog::gather(&places);
    let mut l1 = L1(vec![0; 0x18_0000]);
    l1.load(&image(&programs().join("bare/mailbox/brisc.elf")));
    l1.load(&image(&programs().join("bare/mailbox/trisc0.elf")));
    let names = TileNames::read(&l1.memory(), &catalog);
    assert!(names.launched().is_none());
    assert_eq!(names.kernel_name(CoreId::Trisc0), Some("matmul_test"));
    let module = names.core(CoreId::Trisc0).kernel().expect("it is there");
    assert!(module.name().contains("/bb/"));
    assert!(names.core(CoreId::Brisc).firmware().is_some());
    assert_eq!(names.kernel_name(CoreId::Trisc1), None);
    assert!(names.is_kernel(CoreId::Trisc0, 0x6000) && !names.is_kernel(CoreId::Brisc, 0));
    assert!(names.is_current(&l1.memory()));
    l1.load(&image(&programs().join("bare/mop/trisc0.elf")));
    assert!(!names.is_current(&l1.memory()));
}

#[test]
fn kept_items_explain_without_the_file_system() {
    let scratch = session();
    let l1 = L1::five_core();
    let items = {
        let catalog = Catalog::gather(&places(scratch.path()));
        let names = TileNames::read(&l1.memory(), &catalog);
        catalog.collect(&names.modules())
    };
    let count = |kind| items.iter().filter(|item| item.kind == kind).count();
    assert_eq!((count(ItemKind::Elf), count(ItemKind::Names)), (10, 3));
    assert!(items.iter().any(|item| item.path.ends_with("brisc.elf.xip.elf")));
    drop(scratch);
    let kept = Catalog::from_items(items);
    let names = TileNames::read(&l1.memory(), &kept);
    assert_eq!(names.kernel_name(CoreId::Brisc), Some("writer"));
    assert_eq!(names.operation(), Some("pool/generic"));
    let firmware = names.core(CoreId::Ncrisc).firmware().expect("it was kept");
    assert_eq!(firmware.title(), "ncrisc");
    assert_eq!(names.locate(CoreId::Ncrisc, 0xC080).expect("code").frame.function, "_start");
}

/// The header counts as one of the library, and is kept all the same.
#[test]
fn formats_that_a_kernel_was_compiled_for_are_kept_with_it() {
    let path = "kernels/formats/chlkc_descriptors.h";
    let text = fs::read(programs().join(path)).expect("it is there");
    let header = |path: &str| symbols::catalog::Item {
        kind: ItemKind::Text,
        path: path.to_owned(),
        bytes: text.as_slice().into(),
    };
    let module = || Arc::new(Module::new(image(&programs().join("kernels/formats/trisc0.elf"))));
    let catalog = Catalog::from_items([header(path)]);
    let items = catalog.collect(&[module()]);
    assert!(items.iter().any(|item| item.path == path), "{items:?}");
    let kept = Catalog::from_items(items);
    let own = module();
    let formats = own.formats(&kept.sources()).expect("it is kept");
    assert_eq!(
        (&formats.unpack[..], &formats.pack[..]),
        (&[5, 0, 255, 5][..], &[5, 0, 255, 5][..])
    );
    assert_eq!(module().formats(&Catalog::from_items([]).sources()), None);
}

#[test]
fn kept_source_has_lines() {
    let item = |path: &str, text: &str| symbols::catalog::Item {
        kind: ItemKind::Text,
        path: path.to_owned(),
        bytes: text.as_bytes().into(),
    };
    let catalog = Catalog::from_items([item("/src/a/k.cpp", "one\n  two();\n")]);
    let sources = catalog.sources();
    assert_eq!(sources.line("/src/a/k.cpp", 2).as_deref(), Some("two();"));
    assert_eq!(sources.line("/src/b/../a//k.cpp", 1).as_deref(), Some("one"));
    assert_eq!(sources.line("/src/a/k.cpp", 0), None);
    assert_eq!(sources.line("/src/a/k.cpp", 3), None);
    assert_eq!(sources.line("/src/a/other.cpp", 1), None);
}

#[test]
fn names_may_go_to_other_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<symbols::code::Symbols>();
    shared::<Module>();
    shared::<Catalog>();
    shared::<TileNames>();
    shared::<symbols::files::SourceText>();
}

/// Other versions of the firmware have their fields elsewhere. The file of the one that stands in L1 says where.
#[test]
fn launch_of_another_versions_firmware_is_read_where_that_has_it() {
    let path = programs().join("versions/older.elf");
    let mut l1 = L1(vec![0; 0x18_0000]);
    // `jal x0, 0x38e0`, assembled by the GNU assembler.
    l1.word(0, 0x0E10_306F);
    l1.load(&image(&path));
    // Slot 2 with enables 5, mode 1 (host), text of TRISC0 0x300 on; go message 0 with GO; a worker's number.
    let slot = 0x70 + 2 * 112;
    l1.word(0x6C, 2);
    l1.word(slot, 0xA000);
    l1.byte(slot + 48, 1);
    l1.word(slot + 52 + 4 * 2, 0x300);
    l1.word(slot + 88, 5);
    l1.word(0x60 + 912, 0x8000_0000);
    l1.word(0x60 + 2952, 0x50EC_09A3);

    let item = symbols::catalog::Item {
        kind: ItemKind::Elf,
        path: "firmware/brisc/brisc.elf".to_owned(),
        bytes: fs::read(&path).expect("it is there").as_slice().into(),
    };
    let catalog = Catalog::from_items([item]);
    let names = TileNames::read(&l1.memory(), &catalog);
    let layout = names.mailbox().expect("its file says so").layout();
    assert_eq!(layout.address("go_messages[8].signal"), Some(0x60 + 912 + 8 * 4 + 3));
    assert_eq!(layout.address("subordinate_sync.trisc2"), Some(0x6B));
    assert_eq!(layout.place(0x60 + 915).expect("a field").name, "go_messages[0].signal");
    assert_eq!(layout.place(slot + 88).expect("a field").name, "launch[2].enables");
    assert_eq!(layout.address("launch[0].kernel_text_size[0]"), None, "it has none");
    let waypoint = layout.address("watcher.debug_waypoint[1]").expect("a value");
    let place = layout.place(waypoint + 2).expect("a field");
    assert_eq!((&*place.name, place.byte, place.bytes), ("watcher.debug_waypoint[1]", 2, 4));
    let launched = names.launched().expect("the block is there");
    assert_eq!((launched.read_pointer, launched.go.signal), (2, 0x80));
    let launch = launched.launch.as_ref().expect("it runs");
    assert_eq!((launch.phase, launch.dispatch), (Phase::Running, Dispatch::Host));
    assert_eq!((launch.enables, launch.config_base), (5, 0xA000));
    assert_eq!(launch.core(CoreId::Trisc0).text, 0xA300);
    assert!(names.is_current(&l1.memory()));

    // Without the file nobody knows of the block.
    let names = TileNames::read(&l1.memory(), &Catalog::from_items([]));
    assert!(names.mailbox().is_none() && names.launched().is_none());
    assert!(Catalog::from_items([]).mailbox(&L1::booted().memory()).is_some(), "the table says so");
}
