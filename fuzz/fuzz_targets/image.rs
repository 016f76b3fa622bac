//! `cargo fuzz run image`.

#![no_main]

#[path = "../subjects/image.rs"]
mod subject;

libfuzzer_sys::fuzz_target!(|input: &[u8]| subject::feed(input));
