//! Where a host leaves files, and what their paths say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sim_core::CoreId;

use super::records::{self, Records};
use super::store::Store;
use crate::files::normal;

/// Where to look.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// Working directory of the host program.
    pub directory: PathBuf,
    /// Its environment; of use are `HOME`, `TMPDIR`, `VIRTUAL_ENV`, and `TT_METAL_CACHE`,
    /// `TT_METAL_HOME`, `TT_METAL_LOGS_PATH`, `TT_METAL_RUNTIME_ROOT`. If the program has
    /// `TT_METAL_INSPECTOR_LOG_RUNTIME_ENTRIES` it says which operation each launch is.
    pub environment: Vec<(String, String)>,
    /// More directories with ELF files.
    pub extra: Vec<PathBuf>,
}

/// A kind of ELF files, searched one after another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Group {
    Extra,
    Firmware,
    Llk,
    Kernels,
}

impl Group {
    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Extra => "ELF files named by the user",
            Self::Firmware => "built firmware",
            Self::Llk => "LLK test builds",
            Self::Kernels => "built kernels",
        }
    }
}

/// Files with names of kernels and operations, below the working directory or where
/// `TT_METAL_LOGS_PATH` says. Later ones say more.
const RECORDS: [&str; 5] = [
    "generated/watcher/kernel_elf_paths.txt",
    "generated/watcher/kernel_names.txt",
    "generated/inspector/programs_log.yaml",
    "generated/inspector/kernels.yaml",
    "generated/inspector/mesh_workloads_log.yaml",
];
/// Other files that are worth keeping.
const MORE_RECORDS: [&str; 2] =
    ["generated/inspector/mesh_devices_log.yaml", "generated/inspector/startup.yaml"];

/// Name of a core in the paths of the host.
pub(super) const fn key(core: CoreId) -> &'static str {
    match core {
        CoreId::Brisc => "brisc",
        CoreId::Ncrisc => "ncrisc",
        CoreId::Trisc0 => "trisc0",
        CoreId::Trisc1 => "trisc1",
        CoreId::Trisc2 => "trisc2",
    }
}

/// The files with records, in order of reading.
pub(super) fn record_files(places: &Places, store: &Store) -> Vec<PathBuf> {
    listed(&RECORDS, places, store)
}

/// The files with records and those beside them.
pub(super) fn all_record_files(places: &Places, store: &Store) -> Vec<PathBuf> {
    let mut found = listed(&RECORDS, places, store);
    found.extend(listed(&MORE_RECORDS, places, store));
    found
}

fn listed(names: &[&str], places: &Places, store: &Store) -> Vec<PathBuf> {
    match store {
        Store::Disk => {
            let logs = variable(places, "TT_METAL_LOGS_PATH");
            // A relative path counts from the working directory.
            let root = logs.map_or(places.directory.clone(), |logs| places.directory.join(logs));
            names.iter().map(|name| root.join(name)).collect()
        }
        Store::Kept(files) => {
            let of = |name: &&str| {
                let kept = files.keys().filter(|path| Path::new(path).ends_with(name));
                kept.map(PathBuf::from).collect::<Vec<_>>()
            };
            names.iter().flat_map(of).collect()
        }
    }
}

/// Directories that may hold ELF files of a group.
pub(super) fn directories(
    group: Group,
    places: &Places,
    store: &Store,
    records: &Records,
) -> Vec<PathBuf> {
    if let Store::Kept(_) = store {
        return vec![PathBuf::from("/")];
    }
    let found: Vec<PathBuf> = match group {
        Group::Extra => places.extra.clone(),
        Group::Llk => {
            vec![variable(places, "TMPDIR").unwrap_or("/tmp".into()).join("tt-llk-build")]
        }
        Group::Kernels => caches(places, store, records, "kernels"),
        Group::Firmware => {
            let mut found = caches(places, store, records, "firmware");
            found.extend(precompiled(places, store));
            found
        }
    };
    let mut seen = BTreeSet::new();
    found.into_iter().filter(|path| path.is_dir() && seen.insert(path.clone())).collect()
}

fn variable(places: &Places, name: &str) -> Option<PathBuf> {
    let found = places.environment.iter().find(|(key, value)| key == name && !value.is_empty());
    found.map(|(_, value)| PathBuf::from(value))
}

/// `kernels` or `firmware` of each cache of built kernels: those in the records first.
fn caches(places: &Places, store: &Store, records: &Records, part: &str) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    let built = records.values().flat_map(|record| record.elfs.iter().chain(&record.directory));
    for path in built {
        if let Some((root, _)) = normal(path).rsplit_once("/kernels/") {
            roots.push(PathBuf::from(root));
        }
    }
    let named = variable(places, "TT_METAL_CACHE");
    let home = variable(places, "HOME").map(|home| home.join(".cache"));
    for parent in named.into_iter().chain(home).chain([PathBuf::from("/tmp")]) {
        let caches = store.entries(&parent).into_iter().filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("tt-metal-cache"))
        });
        // `tt-metal-cache/KEY` in the home directory, `tt-metal-cacheKEY` where the user says.
        for cache in caches {
            roots.extend(store.entries(&cache));
            roots.push(cache);
        }
    }
    roots.into_iter().map(|root| root.join(part)).collect()
}

/// Directories of the firmware that comes with the host software.
fn precompiled(places: &Places, store: &Store) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for name in ["TT_METAL_HOME", "TT_METAL_RUNTIME_ROOT"] {
        if let Some(root) = variable(places, name) {
            roots.push(root.join("ttnn"));
            roots.push(root);
        }
    }
    if let Some(environment) = variable(places, "VIRTUAL_ENV") {
        let pythons = store.entries(&environment.join("lib")).into_iter();
        roots.extend(pythons.map(|python| python.join("site-packages/ttnn")));
    }
    roots.into_iter().map(|root| root.join("tt_metal/pre-compiled")).collect()
}

/// Those of some files that may have been loaded: where what was loaded lies beside what was linked it is that.
pub(super) fn loadable(paths: &BTreeSet<PathBuf>) -> impl Iterator<Item = &PathBuf> {
    paths.iter().filter(|path| !paths.contains(&records::loaded(path)))
}

/// What people call the program in an ELF file, as far as its path tells: `kernels/NAME/HASH/...`
/// of a cache, `firmware/NAME/...`, `sources/TEST.cpp/HASH/elf/...` of the LLK tests.
pub(super) fn title(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let after = |part: &str, files: usize| {
        let at = parts.iter().rposition(|found| *found == part)?;
        parts.get(at + 1).filter(|_| parts.len() == at + files)
    };
    let name = after("kernels", 5).or_else(|| after("firmware", 3));
    let name = name.or_else(|| after("sources", 5))?;
    Some(name.strip_suffix(".cpp").unwrap_or(name).to_owned())
}

/// The operation that a source path belongs to: `eltwise/binary_ng` of
/// `ttnn/cpp/ttnn/operations/eltwise/binary_ng/device/...`.
pub(super) fn operation(source: &str) -> Option<String> {
    let (_, rest) = source.split_once("/operations/")?;
    let (name, _) = rest.split_once("/device/")?;
    Some(name.to_owned())
}
