//! The committed programs are what the case files and the protocol say. Addresses: `[spec: boot-and-sync 1.1, 2]`.

use firmware_tests::{cases, embedded, programs_dir};
use std::path::{Path, PathBuf};

/// Entry point and loadable segments (virtual address, physical address, file size, memory size) of a 32-bit ELF.
fn read_elf(bytes: &[u8]) -> (u32, Vec<[u32; 4]>) {
    assert_eq!(&bytes[..6], b"\x7fELF\x01\x01", "32-bit little-endian ELF");
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(half(18), 243, "machine RISC-V");
    let segments = (0..half(44) as usize)
        .map(|i| word(28) as usize + 32 * i)
        .filter(|&at| word(at) == 1 && word(at + 16) > 0)
        .map(|at| [word(at + 8), word(at + 12), word(at + 16), word(at + 20)])
        .collect();
    (word(24), segments)
}

fn case_files(kind: &str) -> Vec<(PathBuf, cases::CaseFile)> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(programs_dir().join(kind))
        .expect("a folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    folders
        .into_iter()
        .map(|folder| {
            let file = cases::load(&folder.join("case.toml"))
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            (folder, file)
        })
        .collect()
}

fn elf_of(folder: &Path, name: &str) -> (u32, Vec<[u32; 4]>) {
    let path = folder.join(name);
    read_elf(&std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

#[test]
fn embedded_firmware_is_linked_at_the_vendors_addresses() {
    let entries = [0x3AE0, 0x5CE0, 0x66E0, 0x70E0, 0x7AE0];
    let slots = [0x2200, 0xA00, 0xA00, 0xA00, 0xA00];
    for (index, (name, bytes)) in embedded::ALL.into_iter().enumerate() {
        let (entry, segments) = read_elf(bytes);
        assert_eq!(entry, entries[index], "{name}");
        assert_eq!(segments[0][1], entry, "{name}: text begins at its entry");
        assert!(segments[0][2] <= slots[index], "{name}: text fits");
        for segment in &segments[1..] {
            assert_eq!(segment[0], 0xFFB0_0000, "{name}: data in local RAM");
            assert_eq!(segment[1], segment[0], "{name}: staged by the loader");
        }
    }
}

#[test]
fn kernels_lie_in_l1_where_the_readme_says() {
    for (folder, file) in case_files("kernels") {
        assert!(!file.launch.is_empty() && file.case.is_empty(), "{}", folder.display());
        for launch in &file.launch {
            assert!(!launch.expect.is_empty(), "{}", launch.name);
            for (core, kernel) in &launch.kernel {
                let base = match core.as_str() {
                    "brisc" => 0xB000,
                    "ncrisc" => 0xC000,
                    "trisc0" => 0xD000,
                    "trisc1" => 0xE000,
                    "trisc2" => 0xF000,
                    other => panic!("{}: no core {other}", launch.name),
                };
                let (entry, segments) = elf_of(&folder, &kernel.elf);
                assert_eq!(entry, base, "{} {core}", launch.name);
                for segment in segments {
                    assert!((base..base + 0x1000).contains(&segment[1]), "{}", launch.name);
                    assert_eq!(
                        segment[2], segment[3],
                        "{}: nothing to clear by the loader",
                        launch.name
                    );
                }
            }
        }
    }
}

#[test]
fn bare_programs_begin_at_their_cores_reset_pc() {
    for (folder, file) in case_files("bare") {
        assert!(file.launch.is_empty() && !file.case.is_empty(), "{}", folder.display());
        for case in &file.case {
            for core in &case.core {
                let default = match core.core.as_str() {
                    "brisc" => 0,
                    "trisc0" => 0x6000,
                    "trisc1" => 0xA000,
                    "trisc2" => 0xE000,
                    "ncrisc" => 0x12000,
                    other => panic!("{}: no core {other}", case.name),
                };
                let (entry, segments) = elf_of(&folder, &core.elf);
                assert_eq!(
                    (entry, core.address),
                    (default, default),
                    "{} {}",
                    case.name,
                    core.core
                );
                assert_eq!(segments.len(), 1, "{}: one image", case.name);
                assert_eq!(segments[0][..2], [default, default], "{}", case.name);
            }
        }
    }
}

#[test]
fn case_names_are_unique() {
    let mut names: Vec<String> = case_files("kernels")
        .into_iter()
        .flat_map(|(_, file)| file.launch)
        .map(|launch| launch.name)
        .chain(case_files("bare").into_iter().flat_map(|(_, file)| file.case).map(|case| case.name))
        .collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn committed_elfs_carry_no_absolute_paths() {
    for line in std::fs::read_to_string(programs_dir().join("programs.list")).unwrap().lines() {
        let Some(elf) = line.split_whitespace().nth(2).filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let bytes = std::fs::read(programs_dir().join(elf)).unwrap();
        let path_like = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte);
        for text in bytes.split(|&byte| byte == 0) {
            assert!(
                text.len() < 6 || text[0] != b'/' || !text.iter().all(path_like),
                "{elf}: {}",
                String::from_utf8_lossy(text)
            );
        }
    }
}
