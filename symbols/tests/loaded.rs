//! Which of the files in a cache were loaded, told by what was sent to the chip.

mod common;

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use common::{image, programs, write};
use symbols::catalog::{Catalog, ItemKind, Places};

/// A cache with kernels of all days, of which the records name one. Both readers have the same
/// code.
fn cache(root: &Path) {
    let kernels = root.join("cache/tt-metal-cache1/kernels");
    let copy = |name: &str, to: &str| {
        let elf = fs::read(programs().join(name)).expect("a program of the repository");
        write(&kernels.join(to), &elf);
        write(&kernels.join(format!("{to}.xip.elf")), elf);
    };
    copy("kernels/five-core/brisc.elf", "writer/11/brisc/brisc.elf");
    copy("bare/mailbox/brisc.elf", "writer/12/brisc/brisc.elf");
    copy("kernels/five-core/ncrisc.elf", "reader/21/ncrisc/ncrisc.elf");
    copy("kernels/five-core/ncrisc.elf", "reader/22/ncrisc/ncrisc.elf");
    copy("kernels/five-core/trisc0.elf", "compute/33/trisc0/trisc0.elf");
    copy("kernels/five-core/trisc1.elf", "other/44/trisc1/trisc1.elf");
    let firmware = root.join("cache/tt-metal-cache1/firmware/brisc/brisc.elf");
    write(&firmware, fs::read(programs().join("embedded/brisc.elf")).expect("there"));
    let reader = kernels.join("reader/22/ncrisc/ncrisc.elf");
    let paths = format!("7: {}\n", reader.display());
    write(&root.join("generated/watcher/kernel_elf_paths.txt"), paths);
}

fn catalog(root: &Path) -> Catalog {
    let of = |name: &str, path: &str| (name.to_owned(), root.join(path).display().to_string());
    Catalog::gather(&Places {
        directory: root.to_owned(),
        environment: vec![of("TT_METAL_CACHE", "cache"), of("HOME", "none"), of("TMPDIR", "none")],
        extra: Vec::new(),
    })
}

/// The code of a program as it is sent.
fn code(name: &str) -> Vec<u8> {
    let image = image(&programs().join(name));
    let code = image.loadable().find(|segment| segment.executable);
    code.expect("it has code").bytes.clone()
}

/// The files that were loaded, by what was sent.
fn loaded(root: &Path, sent: &[&[u8]]) -> Vec<String> {
    let send = |look: &mut dyn FnMut(&[u8])| {
        sent.iter().for_each(|bytes| look(bytes));
        Ok::<(), Infallible>(())
    };
    let Ok(modules) = catalog(root).loaded(send);
    let cache = root.join("cache/tt-metal-cache1").display().to_string();
    let short = |name: &str| name.strip_prefix(&cache).unwrap_or(name).to_owned();
    modules.iter().map(|module| short(module.name())).collect()
}

#[test]
fn code_that_was_sent_tells_its_file_and_no_other() {
    let scratch = tempfile::tempdir().expect("may be made");
    cache(scratch.path());
    let root = scratch.path();
    assert_eq!(loaded(root, &[&[0; 4096], b"short"]), [""; 0]);
    let writer = code("kernels/five-core/brisc.elf");
    // Behind something else, as a dispatcher's buffer has it.
    let behind = [&[0x5A; 52][..], &writer, &[0; 64]].concat();
    assert_eq!(loaded(root, &[&behind]), ["/kernels/writer/11/brisc/brisc.elf.xip.elf"]);
    // Where not even half of it is in one piece: firmware that is sent in pages of 512 bytes.
    let firmware = code("embedded/brisc.elf");
    let pages: Vec<&[u8]> = firmware[100..].chunks(512).collect();
    assert_eq!(loaded(root, &pages), ["/firmware/brisc/brisc.elf"]);
    // A word that is another one is another program, however much of it is the same.
    let length = firmware.len();
    assert!(length > 1800, "{length}");
    for at in [40, 300, 520, 1030, length - 4] {
        let mut other = firmware.clone();
        other[at] ^= 1;
        let behind = [&[0x5A; 52][..], &other, &[0; 64]].concat();
        for sent in [&other, &behind] {
            assert_eq!(loaded(root, &[sent]), [""; 0], "{at}");
        }
    }
    // Of a function that others have too not enough is the same.
    assert_eq!(loaded(root, &[&firmware[256..456], &firmware[1000..1200]]), [""; 0]);
}

#[test]
fn of_two_with_the_same_code_the_recorded_one_counts() {
    let scratch = tempfile::tempdir().expect("may be made");
    cache(scratch.path());
    let reader = code("kernels/five-core/ncrisc.elf");
    let found = loaded(scratch.path(), &[&reader]);
    assert_eq!(found, ["/kernels/reader/22/ncrisc/ncrisc.elf.xip.elf"]);
    fs::remove_dir_all(scratch.path().join("generated")).expect("there");
    let found = loaded(scratch.path(), &[&reader]);
    assert_eq!(found, ["/kernels/reader/21/ncrisc/ncrisc.elf.xip.elf"]);
}

#[test]
fn what_was_loaded_is_kept_with_the_records() {
    let scratch = tempfile::tempdir().expect("may be made");
    cache(scratch.path());
    let catalog = catalog(scratch.path());
    let sent = code("kernels/five-core/trisc0.elf");
    let Ok(used) = catalog.loaded(|look| {
        look(&sent);
        Ok::<(), Infallible>(())
    });
    let items = catalog.collect(&used);
    let kinds = items.iter().map(|item| item.kind);
    let kinds: Vec<_> = kinds.filter(|kind| *kind != ItemKind::Text).collect();
    assert_eq!(kinds, [ItemKind::Elf, ItemKind::Names]);
}
