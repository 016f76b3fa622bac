//! Vectors whose expected values were recorded on the reference simulator: programs of our own over
//! all units, from fixed seeds.
//!
//! The generator makes candidates. A file holds those that the reference accepts, with what it left
//! in L1; the tests compare the programs in the files with the candidates of the same name and run
//! them. Not here: what the slow model can say (`groups.rs`).

mod bench;
mod control;
mod matrix;
mod paths;
mod random;
mod vector;

use serde_json::{Value, json};

use crate::program;

fn group(name: &str, vectors: &[Value]) -> Value {
    let code: Vec<_> =
        program::code().into_iter().map(|(at, code)| (at, bench::words(&code))).collect();
    json!({ "format": 1, "group": name, "code": code, "vectors": vectors })
}

/// All groups. What they expect is zeroes, as many bytes as are compared.
pub(crate) fn candidates() -> Vec<Value> {
    vec![
        group("recorded_elementwise", &matrix::elementwise()),
        group("recorded_multiply", &matrix::multiply()),
        group("recorded_pool", &matrix::pool()),
        group("recorded_int8", &matrix::int8()),
        group("recorded_moves", &matrix::moves()),
        group("recorded_vector", &vector::operations()),
        group("recorded_lut", &vector::tables()),
        group("recorded_prng", &vector::generator()),
        group("recorded_vector_program", &vector::programs()),
        group("recorded_vector_memory", &vector::memory()),
        group("recorded_unpack", &paths::unpack()),
        group("recorded_pack", &paths::pack()),
        group("recorded_accumulate", &paths::accumulate()),
        group("recorded_frontend", &control::frontend()),
        group("recorded_config", &control::config()),
    ]
}

/// A vector without what it expects: name, input, compared addresses and lengths.
pub(crate) fn program_of(vector: &Value) -> Value {
    let compared: Vec<_> = vector["expect"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pair| (pair[0].clone(), pair[1].as_str().map_or(0, str::len)))
        .collect();
    json!({ "name": vector["name"], "l1_init": vector["l1_init"], "compared": compared })
}
