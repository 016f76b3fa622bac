//! `cargo fuzz run tape`.

#![no_main]

#[path = "../subjects/tape.rs"]
mod subject;

libfuzzer_sys::fuzz_target!(|input: &[u8]| subject::feed(input));
