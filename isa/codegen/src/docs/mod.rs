//! Markdown from checked rows: `docs/generated/*.md`.

mod isa;
mod map;

use std::fmt::Write as _;
use std::path::Path;

use crate::error::TableError;
use crate::tables::fields::Field;
use crate::{files, tables};

const HEAD: &str = "<!-- Generated from the tables by `cargo run -p isa-codegen --bin gen-docs`; do not edit. -->\n\n";

/// All generated documents of a repository: file name and text.
///
/// # Errors
/// [`TableError`] when a table breaks a rule or cannot be read.
pub fn all(root: &Path) -> Result<Vec<(&'static str, String)>, TableError> {
    let isa_text = |name: &str| files::read(&root.join("isa/tables").join(name));
    let map_dir = root.join("memory-map/tables");
    let map_text = |name: &str| files::read(&map_dir.join(name));
    let table = tables::ops::parse("tensix_ops.toml", &isa_text("tensix_ops.toml")?)?;
    let config = tables::config::parse("backend_config.toml", &isa_text("backend_config.toml")?)?;
    let rv32 = tables::rv32::parse("rv32.toml", &isa_text("rv32.toml")?)?;
    let csrs = tables::csrs::parse("csrs.toml", &isa_text("csrs.toml")?)?;
    let mut names = Vec::new();
    for file in ["wait_conditions.toml", "semaphores.toml", "data_formats.toml"] {
        names.extend(tables::names::parse(file, &isa_text(file)?)?);
    }
    let regions = tables::regions::parse("regions.toml", &map_text("regions.toml")?)?;
    let layout = tables::l1::parse("l1_layout.toml", &map_text("l1_layout.toml")?)?;
    let mut blocks = Vec::new();
    for file in files::toml_files(&map_dir.join("registers"))? {
        blocks.push(tables::registers::parse(&file, &map_text(&format!("registers/{file}"))?)?);
    }
    Ok(vec![
        ("address-map.md", HEAD.to_owned() + &map::address_map(&regions, &layout)),
        ("registers.md", HEAD.to_owned() + &map::registers(&blocks)),
        ("tensix-isa.md", HEAD.to_owned() + &isa::tensix(&table.ops, &names)),
        ("backend-config.md", HEAD.to_owned() + &isa::config(&config)),
        ("rv32.md", HEAD.to_owned() + &isa::rv32(&rv32)),
        ("csrs.md", HEAD.to_owned() + &isa::csrs(&csrs)),
    ])
}

/// A section with the named bits of a word, below a heading.
fn fields(heading: &str, fields: &[Field]) -> String {
    let mut out = format!("\n{heading}\n\n| bits | field | meaning |\n|---|---|---|\n");
    for field in fields {
        let high = field.lo + field.width - 1;
        let bits = if field.width == 1 { high.to_string() } else { format!("{high}:{}", field.lo) };
        let _ = writeln!(out, "| {bits} | {} | {} |", field.name, cell(&field.doc));
    }
    out
}

/// A cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Source keys as one cell.
fn sources(keys: &[String]) -> String {
    keys.iter().map(|k| format!("`{}`", cell(k))).collect::<Vec<_>>().join("<br>")
}
