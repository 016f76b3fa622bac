//! `cargo fuzz run gdb`.

#![no_main]

#[path = "../subjects/gdb.rs"]
mod subject;

libfuzzer_sys::fuzz_target!(|input: &[u8]| subject::feed(input));
