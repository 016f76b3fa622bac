//! The state as text.

use std::io::Write;

use anyhow::Result;
use session::survey::TileSeen;
use tensix::{CellFormat, Cells, Register, RegisterValue};

use super::args::StateArgs;
use super::select::Selection;
use super::{object, values};
use crate::commands::run::Run;

/// Words per line of a list.
const PER_LINE: usize = 8;

/// Writes what was selected, group by group.
pub(super) fn write(
    run: &Run,
    tree: &Register,
    selection: &Selection,
    out: &mut dyn Write,
) -> Result<()> {
    for stage in &run.stages {
        let verdict = stage.end.verdict();
        writeln!(out, "{:<12} {verdict} at cycle {}", stage.name, stage.ended)?;
    }
    writeln!(out, "state at cycle {}", run.tile().now())?;
    write_tree(tree, selection, out)?;
    if !selection.zeros {
        writeln!(out, "\nWhat is zero is not shown (--all shows it).")?;
    }
    Ok(())
}

/// Writes the state of tiles of a chip: place, name and registers of each.
///
/// # Errors
/// A pattern matches nothing; the output cannot be written.
pub(in crate::commands) fn show_tiles(
    args: &StateArgs,
    cycle: u64,
    verdict: &str,
    tiles: &[(&TileSeen, Register)],
    out: &mut dyn Write,
) -> Result<()> {
    if args.output.json() {
        return object::write_tiles(args, cycle, verdict, tiles, out);
    }
    writeln!(out, "{verdict} at cycle {cycle}")?;
    for (tile, tree) in tiles {
        let selection = Selection::new(args, tree)?;
        writeln!(out, "\n{}", tile.name())?;
        write_tree(tree, &selection, out)?;
    }
    if !args.all && args.show.is_empty() {
        writeln!(out, "\nWhat is zero is not shown (--all shows it).")?;
    }
    Ok(())
}

/// Writes the registers that were selected.
pub(super) fn write_tree(
    tree: &Register,
    selection: &Selection,
    out: &mut dyn Write,
) -> Result<()> {
    let mut heading = None;
    let leaves = selection.leaves(tree);
    for (group, leaf) in &leaves {
        if heading != Some(group) {
            writeln!(out, "\n{group}")?;
            heading = Some(group);
        }
        register(group, leaf, selection, out)?;
    }
    Ok(())
}

fn register(
    group: &str,
    leaf: &Register,
    selection: &Selection,
    out: &mut dyn Write,
) -> Result<()> {
    let name = &leaf.name;
    let format = selection.format.filter(|_| values::is_data(group, name));
    match &leaf.value {
        RegisterValue::Number(number) => {
            let text = match format {
                Some(format) => values::text(values::of_word(*number as u32, format), 8),
                None if *number < 10 => number.to_string(),
                None => format!("{number:#x} ({number})"),
            };
            writeln!(out, "  {name:<28} {text}")?;
        }
        RegisterValue::Flag(flag) => writeln!(out, "  {name:<28} {flag}")?,
        RegisterValue::Text(text) => writeln!(out, "  {name:<28} {text}")?,
        RegisterValue::Words(words) if words.is_empty() => writeln!(out, "  {name:<28} empty")?,
        RegisterValue::Words(list) => words(name, list, format, out)?,
        RegisterValue::Cells(cells) => rows(name, cells, selection, out)?,
        RegisterValue::Group(_) => {}
    }
    Ok(())
}

fn words(name: &str, list: &[u32], format: Option<CellFormat>, out: &mut dyn Write) -> Result<()> {
    for (line, chunk) in list.chunks(PER_LINE).enumerate() {
        let label = match line {
            0 => name.to_owned(),
            _ => format!("  +{}", line * PER_LINE),
        };
        write!(out, "  {label:<28}")?;
        for &word in chunk {
            let value = values::of_word(word, format.unwrap_or(CellFormat::Raw));
            write!(out, " {:>10}", values::text(value, 8))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn rows(name: &str, cells: &Cells, selection: &Selection, out: &mut dyn Write) -> Result<()> {
    let format = selection.format.unwrap_or(cells.format);
    writeln!(out, "  {name}, {}", values::format_name(format))?;
    let mut shown = 0;
    for row in selection.rows(cells) {
        let columns = selection.columns(row);
        if shown == 0 {
            write!(out, "    {:>5} ", "row")?;
            for column in selection.first_column()..selection.first_column() + columns.len() {
                write!(out, " {column:>10}")?;
            }
            writeln!(out)?;
        }
        let mark = if row.valid { ' ' } else { '-' };
        write!(out, "    {:>5}{mark}", row.row)?;
        for &cell in columns {
            let value = format.value(cells.kind, cell);
            write!(out, " {:>10}", values::text(value, values::digits(cells.kind)))?;
        }
        writeln!(out)?;
        shown += 1;
    }
    let invalid = cells.rows.iter().filter(|row| !row.valid).count();
    if invalid > 0 {
        writeln!(out, "    {invalid} rows are not valid (-): they read as zero")?;
    }
    if shown == 0 {
        writeln!(out, "    no row of those asked for holds anything but zero")?;
    }
    Ok(())
}
