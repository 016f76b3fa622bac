//! `cargo fuzz run kernel`.

#![no_main]

#[path = "../../firmware-tests/tests/common/legal.rs"]
mod legal;
#[path = "../subjects/kernel.rs"]
mod subject;

libfuzzer_sys::fuzz_target!(|input: &[u8]| subject::feed(input));
