//! Rust source from checked rows. The types that the text names are written by hand in the crates
//! that include it.

pub mod config;
pub mod csrs;
pub mod map;
pub mod names;
pub mod operands;
pub mod ops;
pub mod rv32;

use std::path::Path;

use crate::error::TableError;
use crate::{files, tables};

/// Expands the tables of crate `isa` into `out`.
///
/// # Errors
/// [`TableError`] when a table breaks a rule or a file cannot be used.
pub fn isa(tables_dir: &Path, out: &Path) -> Result<(), TableError> {
    let text = |name: &str| files::read(&tables_dir.join(name));
    let table = tables::ops::parse("tensix_ops.toml", &text("tensix_ops.toml")?)?;
    files::write(&out.join("ops.rs"), &ops::opcodes(&table))?;
    files::write(&out.join("operands.rs"), &operands::structs(&table.ops))?;
    files::write(&out.join("execute.rs"), &operands::executors(&table.ops))?;
    files::write(&out.join("encode.rs"), &ops::encoders(&table.ops))?;
    let config = tables::config::parse("backend_config.toml", &text("backend_config.toml")?)?;
    files::write(&out.join("config.rs"), &config::emit(&config))?;
    for name in ["wait_conditions", "semaphores", "data_formats"] {
        let file = format!("{name}.toml");
        let lists = tables::names::parse(&file, &text(&file)?)?;
        files::write(&out.join(format!("{name}.rs")), &names::emit(&lists))?;
    }
    let instructions = tables::rv32::parse("rv32.toml", &text("rv32.toml")?)?;
    files::write(&out.join("rv32.rs"), &rv32::emit(&instructions))?;
    let csrs = tables::csrs::parse("csrs.toml", &text("csrs.toml")?)?;
    files::write(&out.join("csrs.rs"), &csrs::emit(&csrs))
}

/// Expands the tables of crate `memory-map` into `out`.
///
/// # Errors
/// [`TableError`] when a table breaks a rule or a file cannot be used.
pub fn memory_map(tables_dir: &Path, out: &Path) -> Result<(), TableError> {
    let text = |name: &str| files::read(&tables_dir.join(name));
    let regions = tables::regions::parse("regions.toml", &text("regions.toml")?)?;
    files::write(&out.join("regions.rs"), &map::regions(&regions))?;
    let mut blocks = Vec::new();
    for file in files::toml_files(&tables_dir.join("registers"))? {
        blocks.push(tables::registers::parse(&file, &text(&format!("registers/{file}"))?)?);
    }
    files::write(&out.join("registers.rs"), &map::registers(&blocks))?;
    let layout = tables::l1::parse("l1_layout.toml", &text("l1_layout.toml")?)?;
    files::write(&out.join("l1_layout.rs"), &map::l1(&layout))
}
