//! Bit-exact reference vectors: loading them and running them on a tile.
//!
//! A file is one group, gzip-compressed JSON: `{group, code: [[addr, hex]...], vectors: [...]}`. A
//! vector puts bytes into L1, gives each core a script for the small interpreter in `code`, and
//! says what L1 holds afterwards, or that the reference refuses the program.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use memory_map::reg::tile_control as reg;
use serde::Deserialize;
use sim_core::{CoreId, Cycle, Observer, Width};
use tile::{Stop, Tile, TileConfig};

/// L1 layout of every vector.
const CONTROL: u32 = 0x400;
const CONTROL_STRIDE: u32 = 0x40;
const SCRIPTS: u32 = 0x1000;
const RESULTS: u32 = 0x2_0000;
const RESULT_STRIDE: u32 = 0x2000;
const STUB_STRIDE: u32 = 0x10;
const ALL_IN_RESET: u32 = 0x47800;
const CYCLE_LIMIT: u64 = 20_000_000;

/// One group of vectors.
#[derive(Debug, Deserialize)]
pub struct Group {
    /// Its name.
    pub group: String,
    /// Stubs and interpreter: L1 address, bytes in hexadecimal.
    pub code: Vec<(u32, String)>,
    /// The vectors.
    pub vectors: Vec<Vector>,
}

/// One vector.
#[derive(Debug, Deserialize)]
pub struct Vector {
    /// `group/number/what`.
    pub name: String,
    /// L1 address, bytes in hexadecimal.
    #[serde(default)]
    pub l1_init: Vec<(u32, String)>,
    /// Script per core: `b`, `t0`, `t1`, `t2`, `n`.
    pub scripts: BTreeMap<String, Vec<Vec<u32>>>,
    /// What L1 holds afterwards.
    #[serde(default)]
    pub expect: Vec<(u32, String)>,
    /// What the reference says instead of running it.
    pub expect_error: Option<ExpectedError>,
}

/// A refusal of the reference.
#[derive(Debug, Deserialize)]
pub struct ExpectedError {
    /// The glossary's word.
    pub category: String,
    /// Its message.
    pub text: String,
}

/// A file that cannot be used.
#[derive(Debug)]
pub struct GoldenError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl std::fmt::Display for GoldenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for GoldenError {}

/// A word that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// L1 address.
    pub address: u32,
    /// Reference.
    pub expected: u32,
    /// Ours.
    pub found: u32,
}

/// What became of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every expected byte is equal.
    Pass,
    /// The first difference, and how many words differ.
    Differs(Difference, usize),
    /// We refused the program.
    Refused(String),
    /// We refused a program that the reference refuses too: the two categories are given.
    BothRefuse {
        /// Ours.
        ours: String,
        /// The reference's.
        reference: String,
    },
    /// We ran a program that the reference refuses.
    RanAnyway {
        /// The reference's message.
        reference: String,
    },
    /// It did not end.
    Stuck(String),
}

/// Reads the groups in a folder, sorted by name.
///
/// # Errors
/// The folder or a file in it cannot be read or is not in the format.
pub fn load(folder: &Path) -> Result<Vec<Group>, GoldenError> {
    let fail = |path: &Path, reason: String| GoldenError { path: path.to_owned(), reason };
    let entries = std::fs::read_dir(folder).map_err(|error| fail(folder, error.to_string()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".json.gz"))
        .collect();
    paths.sort();
    if paths.is_empty() {
        return Err(fail(folder, "holds no .json.gz files".to_owned()));
    }
    let mut groups = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).map_err(|error| fail(&path, error.to_string()))?;
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .map_err(|error| fail(&path, error.to_string()))?;
        let group = serde_json::from_str(&text).map_err(|error| fail(&path, error.to_string()))?;
        groups.push(group);
    }
    Ok(groups)
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).unwrap_or(0) as u8;
    hex.as_bytes().chunks(2).map(|pair| pair.iter().fold(0, |n, &c| n << 4 | digit(c))).collect()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    })
}

/// Order of scripts in L1, control blocks and stubs, with the bit in `SOFT_RESET_0`.
const CORES: [(&str, u32, u32); 5] = [
    ("b", 0, 1 << 11),
    ("t0", 1, 1 << 12),
    ("t1", 2, 1 << 13),
    ("t2", 3, 1 << 14),
    ("n", 4, 1 << 18),
];

/// Puts a vector on a fresh tile and releases its cores.
fn stage<O: Observer>(
    group: &Group,
    vector: &Vector,
    config: TileConfig,
    observer: O,
) -> Result<Tile<O>, String> {
    let mut tile = Tile::new(config, observer).map_err(|error| error.to_string())?;
    let put = |tile: &mut Tile<O>, address: u32, bytes: &[u8]| {
        tile.host_write(address, bytes).map_err(|error| error.to_string())
    };
    for (address, hex) in group.code.iter().chain(&vector.l1_init) {
        put(&mut tile, *address, &bytes_of(hex))?;
    }
    let mut at = SCRIPTS;
    let mut reset = ALL_IN_RESET;
    for (name, index, bit) in CORES {
        let Some(script) = vector.scripts.get(name) else { continue };
        let mut bytes = Vec::new();
        for op in script.iter().map(Vec::as_slice).chain([[].as_slice()]) {
            for slot in 0..3 {
                bytes.extend(op.get(slot).copied().unwrap_or(0).to_le_bytes());
            }
        }
        put(&mut tile, at, &bytes)?;
        let control: Vec<u8> = [at, RESULTS + RESULT_STRIDE * index, 0, 0]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        put(&mut tile, CONTROL + CONTROL_STRIDE * index, &control)?;
        at = (at + bytes.len() as u32 + 15) & !15;
        reset &= !bit;
    }
    for (register, value) in [
        (reg::TRISC0_RESET_PC, STUB_STRIDE),
        (reg::TRISC1_RESET_PC, 2 * STUB_STRIDE),
        (reg::TRISC2_RESET_PC, 3 * STUB_STRIDE),
        (reg::TRISC_RESET_PC_OVERRIDE, 7),
        (reg::NCRISC_RESET_PC, 4 * STUB_STRIDE),
        (reg::NCRISC_RESET_PC_OVERRIDE, 1),
        (reg::SOFT_RESET_0, reset),
    ] {
        put(&mut tile, register, &value.to_le_bytes())?;
    }
    Ok(tile)
}

/// Runs one vector.
#[must_use]
pub fn run(group: &Group, vector: &Vector, config: TileConfig) -> Outcome {
    match stage(group, vector, config, sim_core::NullObserver) {
        Ok(mut tile) => {
            let stop = tile.run(Cycle(CYCLE_LIMIT), None);
            outcome(&tile, &stop, vector)
        }
        Err(reason) => Outcome::Stuck(reason),
    }
}

/// Runs one vector with somebody who watches. Gives how it stopped, and the tile.
///
/// # Errors
/// It cannot be put on a tile.
pub fn watch<O: Observer>(
    group: &Group,
    vector: &Vector,
    config: TileConfig,
    observer: O,
) -> Result<(Stop, Tile<O>), String> {
    let mut tile = stage(group, vector, config, observer)?;
    Ok((tile.run(Cycle(CYCLE_LIMIT), None), tile))
}

fn outcome(tile: &Tile, stop: &Stop, vector: &Vector) -> Outcome {
    if let Stop::Fault(fault) = stop {
        return match &vector.expect_error {
            Some(error) => Outcome::BothRefuse {
                ours: format!("{} [{}]", fault.category, fault.id),
                reference: error.category.clone(),
            },
            None => Outcome::Refused(fault.to_string()),
        };
    }
    if let Some(error) = &vector.expect_error {
        return Outcome::RanAnyway { reference: error.text.clone() };
    }
    for (name, index, _) in CORES {
        let flag = CONTROL + CONTROL_STRIDE * index + 8;
        if vector.scripts.contains_key(name) && tile.l1_value(flag, Width::Word) != 1 {
            let waits: Vec<String> = tile.waits().iter().map(ToString::to_string).collect();
            let core = CoreId::from_name(if name == "n" { "nc" } else { name });
            let pc = core.map_or(0, |core| tile.core(core).pc());
            return Outcome::Stuck(format!("core {name} at {pc:#x}; {}", waits.join("; ")));
        }
    }
    compare(tile, vector)
}

fn compare(tile: &Tile, vector: &Vector) -> Outcome {
    let mut first = None;
    let mut count = 0;
    for (address, hex) in &vector.expect {
        let bytes = bytes_of(hex);
        let mut found = vec![0; bytes.len()];
        tile.l1().read_bytes(*address, &mut found);
        for (at, (expected, found)) in (*address..).step_by(4).zip(words(&bytes).zip(words(&found)))
        {
            if expected != found {
                count += 1;
                first.get_or_insert(Difference { address: at, expected, found });
            }
        }
    }
    first.map_or(Outcome::Pass, |difference| Outcome::Differs(difference, count))
}
