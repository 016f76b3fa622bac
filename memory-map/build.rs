//! Expands the tables of this crate.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=tables");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets the crate's folder");
    let out = env::var("OUT_DIR").expect("cargo sets the output folder");
    if let Err(error) =
        isa_codegen::emit::memory_map(&Path::new(&root).join("tables"), Path::new(&out))
    {
        println!("cargo::error={}", error.to_string().replace('\n', " "));
    }
}
