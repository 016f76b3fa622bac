//! The vectors of `firmware-tests/vectors`: generated here, run on the tile. Expected values are
//! those of a slow model, or recorded on the reference simulator. With `TILESCOPE_WRITE_VECTORS`
//! set, the files are written instead of compared; recorded ones lose what they expect then.
//!
//! `cargo run -p firmware-tests --bin golden -- firmware-tests/vectors` runs them too.

mod groups;
mod model;
mod program;
mod recorded;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use firmware_tests::golden::{self, Group, Outcome, Vector};
use serde_json::Value;
use sim_core::{Shortcut, Shortcuts};
use tile::TileConfig;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

fn file(group: &Value) -> PathBuf {
    folder().join(format!("{}.json.gz", group["group"].as_str().expect("a name")))
}

fn read(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    let decoded = flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text);
    decoded.expect("a gzip file");
    serde_json::from_str(&text).expect("JSON")
}

fn write(path: &Path, group: &Value) {
    let file = std::fs::File::create(path).expect("the folder exists");
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    encoder.write_all(group.to_string().as_bytes()).expect("written");
    encoder.finish().expect("written");
}

/// What is wrong with a vector, in the common way or in the plainest. Cores that are done go round for ever, so that
/// only parking ends a run.
fn mistake(group: &Group, vector: &Vector) -> Option<String> {
    [Shortcuts::ALL, Shortcuts::NONE.with(Shortcut::Parking)].into_iter().find_map(|shortcuts| {
        let config = TileConfig { shortcuts, ..TileConfig::default() };
        match golden::run(group, vector, config) {
            Outcome::Pass => None,
            outcome => Some(format!("{} with {shortcuts}: {outcome:?}", vector.name)),
        }
    })
}

#[test]
fn vectors_in_the_repository_are_those_of_the_generator() {
    let write_them = std::env::var_os("TILESCOPE_WRITE_VECTORS").is_some();
    for group in groups::all() {
        let path = file(&group);
        if write_them {
            write(&path, &group);
        }
        assert_eq!(read(&path), group, "{}", path.display());
    }
}

#[test]
fn every_vector_gives_what_the_model_says() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for value in groups::all() {
        let group: Group = serde_json::from_value(value).expect("a group");
        for vector in &group.vectors {
            count += 1;
            wrong.extend(mistake(&group, vector));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 200, "{count} vectors");
}

#[test]
fn recorded_programs_are_those_of_the_generator() {
    let write_them = std::env::var_os("TILESCOPE_WRITE_VECTORS").is_some();
    for group in recorded::candidates() {
        let path = file(&group);
        if write_them {
            write(&path, &group);
        }
        let candidates: Vec<Value> =
            group["vectors"].as_array().expect("a list").iter().map(recorded::program_of).collect();
        let stored = read(&path);
        assert_eq!(stored["code"], group["code"], "{}", path.display());
        for vector in stored["vectors"].as_array().expect("a list") {
            let program = recorded::program_of(vector);
            assert!(candidates.contains(&program), "{}", vector["name"]);
        }
    }
}

#[test]
fn recorded_programs_give_what_the_reference_gave() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for group in golden::load(&folder()).expect("the folder") {
        for vector in group.vectors.iter().filter(|_| group.group.starts_with("recorded_")) {
            count += 1;
            wrong.extend(mistake(&group, vector));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 500, "{count} vectors");
}
