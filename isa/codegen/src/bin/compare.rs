//! Compares the tables with the vendor's files: `compare [--root DIR] --macros ckernel_ops.h
//! --list assembly.yaml --config cfg_defines.h --registers tensix.h`; each file is optional.
//!
//! Prints every disagreement; ends with failure when there is one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use isa_codegen::{TableError, compare, files, tables};

fn main() -> ExitCode {
    let mut options = BTreeMap::new();
    let mut arguments = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (arguments.next(), arguments.next()) {
        options.insert(name, PathBuf::from(value));
    }
    match run(&options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &BTreeMap<String, PathBuf>) -> Result<usize, TableError> {
    let root = options.get("--root").map_or(Path::new("."), PathBuf::as_path);
    let isa = root.join("isa/tables");
    let ops = files::read(&isa.join("tensix_ops.toml"))?;
    let ops = tables::ops::parse("tensix_ops.toml", &ops)?.ops;
    let mut count = 0;
    if let Some(path) = options.get("--macros") {
        count += print("macros", &compare::ops_macros(&files::read(path)?, &ops));
    }
    if let Some(path) = options.get("--list") {
        count += print("list", &compare::assembly_list(&files::read(path)?, &ops));
    }
    if let Some(path) = options.get("--config") {
        let config = files::read(&isa.join("backend_config.toml"))?;
        let config = tables::config::parse("backend_config.toml", &config)?;
        count += print("config", &compare::config_header(&files::read(path)?, &config));
    }
    if let Some(path) = options.get("--registers") {
        let block = files::read(&root.join("memory-map/tables/registers/tile_control.toml"))?;
        let block = tables::registers::parse("tile_control.toml", &block)?;
        count += print("registers", &compare::debug_registers(&files::read(path)?, &block));
    }
    Ok(count)
}

fn print(what: &str, differences: &[String]) -> usize {
    println!("{what}: {} disagreement(s)", differences.len());
    for sentence in differences {
        println!("  {sentence}");
    }
    differences.len()
}
