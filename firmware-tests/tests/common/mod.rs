//! What the whole-tile tests share: firmware sets, choices of a tile, case files, launches, and
//! the comparison with a list of expected failures.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use firmware_tests::{embedded, programs_dir};
use loader::firmware::{BootOptions, FirmwareSet};
use loader::plan::{Launch, LaunchPlan};
use loader::session::{Outcome, Session};
use sim_core::engine::EngineKind;
use sim_core::{EpochLength, NullObserver, Observer, Shortcut, Shortcuts};
use symbols::image::Image;
use tile::TileConfig;

/// SOFT_RESET_0 `[isa-bh: TensixTile/SoftReset.md]`.
pub(crate) const SOFT_RESET_0: u32 = 0xFFB1_21B0;
/// Its value with all five cores held; bits by [`sim_core::CoreId::ALL`] are [`RESET_BITS`].
pub(crate) const ALL_HELD: u32 = 0x4_7800;
/// Bit of each core in [`SOFT_RESET_0`], in the order of [`sim_core::CoreId::ALL`].
pub(crate) const RESET_BITS: [u32; 5] = [1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 18];
/// Where each core starts when no reset PC is overridden `[spec: boot-and-sync 2]`.
pub(crate) const RESET_PCS: [u32; 5] = [0, 0x6000, 0xA000, 0xE000, 0x1_2000];
/// Launches that cannot work yet, and words of their diagnosis. One that passes fails its test.
pub(crate) const KERNELS_THAT_FAIL: &[(&str, &str)] = &[];
/// More cycles than any boot or launch here takes.
pub(crate) const PLENTY: u64 = 2_000_000;

/// The embedded firmware.
pub(crate) fn embedded_set() -> FirmwareSet {
    let images = embedded::ALL
        .map(|(name, bytes)| Image::parse_elf(name, bytes.into()).expect("the images are intact"));
    FirmwareSet::from_images("embedded", images)
}

/// A tile with these choices.
pub(crate) fn config(engine: EngineKind, parking: bool, epoch: u32) -> TileConfig {
    let epoch = EpochLength::new(epoch).expect("the tests use valid lengths");
    let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
    TileConfig { engine, shortcuts, epoch, ..TileConfig::default() }
}

/// The usual tile on that engine.
pub(crate) fn on(engine: EngineKind) -> TileConfig {
    TileConfig { engine, ..TileConfig::default() }
}

/// A tile on which the set has reported done.
pub(crate) fn booted<O: Observer>(
    config: TileConfig,
    set: &FirmwareSet,
    observer: O,
) -> Session<O> {
    let mut session = Session::stage(config, set, &BootOptions::default(), observer)
        .expect("the set fits the boot protocol");
    match session.run_to_done(PLENTY) {
        Outcome::Done => session,
        Outcome::Stopped(stop) => panic!("{} does not boot: {stop:?}", set.name),
    }
}

/// All `case.toml` in the folders below `programs/KIND`, sorted.
pub(crate) fn case_paths(kind: &str) -> Vec<PathBuf> {
    toml_files(&programs_dir().join(kind), |path| path.ends_with("case.toml"))
}

/// All plans below `programs/kernels`, sorted.
pub(crate) fn kernel_plans() -> Vec<PathBuf> {
    toml_files(&programs_dir().join("kernels"), |path| {
        path.extension().is_some_and(|extension| extension == "toml")
    })
}

fn toml_files(root: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = |dir: &Path| -> Vec<PathBuf> {
        let read = std::fs::read_dir(dir).expect("a folder of programs");
        read.map(|entry| entry.expect("an entry").path()).collect()
    };
    let folders = entries(root).into_iter().filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders.flat_map(|dir| entries(&dir)).collect();
    files.retain(|path| wanted(path));
    files.sort();
    assert!(!files.is_empty(), "no cases below {}", root.display());
    files
}

/// A plan that is known to be good.
pub(crate) fn plan(path: &Path) -> LaunchPlan {
    LaunchPlan::read(path).unwrap_or_else(|error| panic!("{error}"))
}

/// Clears what the launch must write, launches once; what is wrong with the result in words.
pub(crate) fn launch<O: Observer>(session: &mut Session<O>, launch: &Launch) -> Result<(), String> {
    for expect in &launch.expects {
        let zeros = vec![0; expect.bytes.len()];
        session.tile.host_write(expect.address, &zeros).map_err(|error| error.to_string())?;
    }
    match session.launch(launch, PLENTY) {
        Ok(Outcome::Done) => {}
        Ok(Outcome::Stopped(stop)) => return Err(format!("stopped: {stop:?}")),
        Err(error) => return Err(error.to_string()),
    }
    let wrong = session.mismatches(&launch.expects);
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong bytes: {wrong:x?}")) }
}

/// What became of named cases.
pub(crate) type Results = BTreeMap<String, Result<(), String>>;

/// Notes a result; a case that failed once stays failed.
pub(crate) fn record(results: &mut Results, name: &str, result: Result<(), String>) {
    let slot = results.entry(name.to_owned()).or_insert(Ok(()));
    if slot.is_ok() {
        *slot = result;
    }
}

/// Boots the set, then runs each plan `rounds` times in a row on a tile of its own. Gives what
/// became of each launch, and per plan the state hash at its end.
pub(crate) fn run_kernels(
    set: &FirmwareSet,
    config: TileConfig,
    plans: &[PathBuf],
    rounds: u32,
) -> (Results, Vec<u64>) {
    let mut results = Results::new();
    let mut hashes = Vec::new();
    for path in plans {
        let plan = plan(path);
        let mut session = booted(config, set, NullObserver);
        let mut usable = true;
        for launch_plan in (0..rounds).flat_map(|_| &plan.launches) {
            for round in 0..launch_plan.repeat {
                if usable {
                    let result = launch(&mut session, launch_plan)
                        .map_err(|error| format!("round {round}: {error}"));
                    usable = result.is_ok();
                    record(&mut results, &launch_plan.name, result);
                }
            }
        }
        hashes.push(session.tile.state_hash());
    }
    (results, hashes)
}

/// Fails unless exactly the expected cases failed, each with the expected words in its report.
pub(crate) fn assert_only_expected_failures(results: &Results, expected: &[(&str, &str)]) {
    let mut problems = Vec::new();
    for (name, result) in results {
        let known = expected.iter().find(|(listed, _)| listed == name);
        match (result, known) {
            (Ok(()), None) => {}
            (Ok(()), Some(_)) => {
                problems.push(format!("{name}: passes now; take it off the list"));
            }
            (Err(error), Some((_, words))) if error.contains(words) => {}
            (Err(error), _) => problems.push(format!("{name}: {error}")),
        }
    }
    for (listed, _) in expected.iter().filter(|(listed, _)| !results.contains_key(*listed)) {
        problems.push(format!("{listed}: on the list, but there is no such case"));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
