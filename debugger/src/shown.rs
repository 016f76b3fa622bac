//! Contents of the coprocessor for `monitor`: Dst, SrcA, SrcB and LRegs with their formats, fields of the
//! configuration.

use std::fmt::Write as _;

use isa::config::{ConfigField, Scope};
use tensix::{CellRow, CellValue, Cells, Register, RegisterValue};

/// Rows that are shown if nobody asks for one.
const ROWS: usize = 16;

fn value(cells: &Cells, cell: u32) -> String {
    match cells.format.value(cells.kind, cell) {
        CellValue::Float(bits) => f32::from_bits(bits).to_string(),
        CellValue::Integer(number) => number.to_string(),
        _ => format!("{cell:#x}"),
    }
}

fn row(cells: &Cells, row: &CellRow, text: &mut String) {
    let values: Vec<String> = row.cells.iter().map(|&cell| value(cells, cell)).collect();
    let valid = if row.valid { "" } else { " (not valid)" };
    let _ = writeln!(text, "{:>4}{valid}: {}", row.row, values.join(" "));
}

/// Rows of what has cells: that one, or the first ones.
fn rows(cells: &Cells, which: &str) -> String {
    let mut text = format!("{:?}\n", cells.format);
    let chosen: Vec<&CellRow> = match which {
        "" => cells.rows.iter().take(ROWS).collect(),
        number => match number.parse::<u32>() {
            Ok(number) => cells.rows.iter().filter(|row| row.row == number).collect(),
            Err(_) => return format!("{number:?} is no row\n"),
        },
    };
    if chosen.is_empty() {
        return format!("there is no row {which}\n");
    }
    chosen.into_iter().for_each(|one| row(cells, one, &mut text));
    text
}

fn cells<'t>(tree: &'t Register, path: &str) -> Option<&'t Cells> {
    match &tree.find(path)?.value {
        RegisterValue::Cells(cells) => Some(cells),
        _ => None,
    }
}

/// Rows of Dst in the width that is in force.
pub(crate) fn dst(tree: &Register, which: &str) -> String {
    let both = ["tensix.dst.rows16", "tensix.dst.rows32"];
    let in_force = both.into_iter().filter_map(|path| cells(tree, path)).find(|one| one.in_force);
    in_force.map_or_else(String::new, |cells| rows(cells, which))
}

/// Rows of the bank of SrcA (`a`) or SrcB (`b`) that the matrix unit uses.
pub(crate) fn src(tree: &Register, operand: char, which: &str) -> String {
    let bank = tree.find(&format!("tensix.src.{operand}.matrix_bank"));
    let bank = match bank.map(|register| &register.value) {
        Some(RegisterValue::Number(bank)) => *bank,
        _ => 0,
    };
    let found = cells(tree, &format!("tensix.src.{operand}.bank{bank}"));
    found.map_or_else(String::new, |cells| format!("bank {bank}, {}", rows(cells, which)))
}

/// An LReg as words and as floats, or all of them.
pub(crate) fn lreg(tree: &Register, which: &str) -> String {
    let mut text = String::new();
    let Some(vector) = tree.find("tensix.vector") else { return text };
    let RegisterValue::Group(members) = &vector.value else { return text };
    for member in members {
        let Some(number) = member.name.strip_prefix("lreg") else { continue };
        let RegisterValue::Words(lanes) = &member.value else { continue };
        if !which.is_empty() && which != number {
            continue;
        }
        let _ = write!(text, "lreg{number}");
        for lane in lanes {
            let _ = write!(text, " {lane:#x} ({})", f32::from_bits(*lane));
        }
        text.push('\n');
    }
    if text.is_empty() { format!("there is no LReg {which:?}\n") } else { text }
}

/// A field of the configuration in every state or thread.
fn field(tree: &Register, field: &ConfigField) -> String {
    let mut text = String::new();
    let groups: &[&str] = match field.scope {
        Scope::Config => &["config.state0", "config.state1"],
        Scope::Thread => &["thread_config.T0", "thread_config.T1", "thread_config.T2"],
    };
    for group in groups {
        let found = tree.find(&format!("tensix.{group}.{}", field.name));
        let value = match found.map(|register| &register.value) {
            Some(RegisterValue::Number(value)) => format!("{value:#x}"),
            Some(RegisterValue::Words(words)) => format!("{words:x?}"),
            _ => continue,
        };
        let _ = writeln!(text, "{group}.{} {value}", field.name);
    }
    text
}

/// Fields of the configuration whose names begin like that.
pub(crate) fn config(tree: &Register, name: &str) -> String {
    if let Some(one) = isa::config::by_name(name) {
        return field(tree, one);
    }
    let wanted = name.to_lowercase();
    let alike = isa::config::ALL.iter().filter(|one| one.name.to_lowercase().starts_with(&wanted));
    let text: String = alike.map(|one| field(tree, one)).collect();
    match (name, text.as_str()) {
        ("", _) => "config NAME: a field of the configuration, or how some begin\n".to_owned(),
        (_, "") => format!("there is no field {name:?}\n"),
        _ => text,
    }
}

/// What a cell holds, in a form that programs read: `f 1.5`, `i -3`, `x 0xff`.
fn plain(cells: &Cells, row: &CellRow) -> String {
    let mut text = String::new();
    for &cell in &row.cells {
        let _ = match cells.format.value(cells.kind, cell) {
            CellValue::Float(bits) => write!(text, "f{bits:#010x} "),
            CellValue::Integer(number) => write!(text, "i{number} "),
            _ => write!(text, "x{cell:#x} "),
        };
    }
    text.trim_end().to_owned() + "\n"
}

fn plain_row(cells: Option<&Cells>, number: &str) -> Option<String> {
    let (cells, number) = (cells?, number.parse::<u32>().ok()?);
    Some(plain(cells, cells.rows.iter().find(|row| row.row == number)?))
}

fn number(tree: &Register, path: &str) -> Option<u64> {
    match tree.find(path)?.value {
        RegisterValue::Number(value) => Some(value),
        RegisterValue::Flag(value) => Some(u64::from(value)),
        _ => None,
    }
}

/// A value for programs that ask: `dst ROW`, `srca ROW`, `srcb ROW`, `lreg N`, `config NAME [STATE]`, `gpr THREAD N`, or a
/// path as `state` has them.
pub(crate) fn told(tree: &Register, asked: &str) -> String {
    let words: Vec<&str> = asked.split_whitespace().collect();
    let src = |operand: char, row: &str| {
        let bank = number(tree, &format!("tensix.src.{operand}.matrix_bank")).unwrap_or(0);
        plain_row(cells(tree, &format!("tensix.src.{operand}.bank{bank}")), row)
    };
    let one = |value: u64| format!("i{value}\n");
    let words_of = |path: &str| match &tree.find(path)?.value {
        RegisterValue::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("x{word:#x}")).collect();
            Some(words.join(" ") + "\n")
        }
        _ => None,
    };
    let field = |name: &str, state: &str| {
        let field = isa::config::by_name(name)?;
        let group = match field.scope {
            Scope::Config => format!("config.state{state}"),
            Scope::Thread => format!("thread_config.T{state}"),
        };
        let path = format!("tensix.{group}.{name}");
        number(tree, &path).map(one).or_else(|| words_of(&path))
    };
    let found = match *words.as_slice() {
        ["dst", row] => ["tensix.dst.rows16", "tensix.dst.rows32"]
            .into_iter()
            .filter_map(|path| cells(tree, path))
            .find(|one| one.in_force)
            .and_then(|cells| plain_row(Some(cells), row)),
        ["srca", row] => src('a', row),
        ["srcb", row] => src('b', row),
        ["lreg", register] => words_of(&format!("tensix.vector.lreg{register}")),
        ["config", name] => field(name, "0"),
        ["config", name, state] => field(name, state),
        [path] => number(tree, path).map(one).or_else(|| words_of(path)),
        _ => None,
    };
    found.unwrap_or_else(|| format!("error: there is no {asked}\n"))
}
