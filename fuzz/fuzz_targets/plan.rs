//! `cargo fuzz run plan`.

#![no_main]

#[path = "../subjects/plan.rs"]
mod subject;

libfuzzer_sys::fuzz_target!(|input: &str| subject::feed(input));
