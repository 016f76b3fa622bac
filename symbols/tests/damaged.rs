//! The host's records may be cut, overwritten or anything else.

mod common;

use common::{CORES, L1, write};
use proptest::prelude::*;
use symbols::catalog::{Catalog, Places};
use symbols::tile_names::TileNames;

const ELF_PATHS: &str = "0: blank\n1: /c/kernels/in/77//ncrisc/ncrisc.elf\n2: /c/kernels/mid/5//trisc0/trisc0.elf:/c/kernels/mid/5//trisc1/trisc1.elf\n";
const KERNELS: &str = "- kernel:\n    watcher_kernel_id: 1\n    name: in\n    path: /c/kernels/in/77/\n    source: '/p/it''s.cpp'\n    program_id: 0\n";
const WORKLOADS: &str =
    "- runtime_entry:\n    runtime_id: 2\n    name: Op\n    parameters: '[0]: x'\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_records_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..10),
        cut in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..200),
        id in 0_u16..4,
    ) {
        let scratch = tempfile::tempdir().expect("may be made");
        let damage = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            for (at, value) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            bytes.truncate(cut.index(text.len()) + 1);
            bytes.extend(&noise);
            bytes
        };
        let at = |name: &str| scratch.path().join("generated").join(name);
        write(&at("watcher/kernel_elf_paths.txt"), damage(ELF_PATHS));
        write(&at("watcher/kernel_names.txt"), damage(ELF_PATHS));
        write(&at("inspector/kernels.yaml"), damage(KERNELS));
        write(&at("inspector/programs_log.yaml"), damage(KERNELS));
        write(&at("inspector/mesh_workloads_log.yaml"), damage(WORKLOADS));
        let environment = vec![("TMPDIR".to_owned(), "none".to_owned())];
        let places = Places { directory: scratch.path().into(), environment, ..Places::default() };
        let catalog = Catalog::gather(&places);
        let _ = catalog.operation(2);
        for (core, _) in CORES {
            let _ = catalog.kernel(id, core);
        }
        let mut l1 = L1::booted();
        l1.launch(0, true, 7);
        l1.watcher_id(0, 1, id);
        let memory = l1.memory();
        let names = TileNames::read(&memory, &catalog);
        let items = catalog.collect(&names.modules());
        let _ = TileNames::read(&memory, &Catalog::from_items(items));
    }
}
