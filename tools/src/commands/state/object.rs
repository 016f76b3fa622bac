//! The state as a JSON object; docs/state.md describes it.

use std::io::Write;

use anyhow::Result;
use serde_json::{Map, Value, json};
use tensix::{CellRow, Cells, Register, RegisterValue};

use super::args::StateArgs;
use super::select::Selection;
use super::values;
use crate::commands::run::Run;
use session::survey::TileSeen;

/// Name and version of the object's shape.
const SCHEMA: &str = "tilescope-state/1";

/// Writes the object.
pub(super) fn write(
    run: &Run,
    tree: &Register,
    selection: &Selection,
    out: &mut dyn Write,
) -> Result<()> {
    let state = state(tree, selection);
    let stages = run.stages.iter().map(
        |stage| json!({ "name": stage.name, "verdict": stage.end.verdict(), "ended": stage.ended }),
    );
    let value = json!({
        "schema": SCHEMA,
        "cycle": run.tile().now().0,
        "stages": stages.collect::<Vec<_>>(),
        "state": state,
    });
    writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
    Ok(())
}

/// What was selected, as groups in groups.
pub(super) fn state(tree: &Register, selection: &Selection) -> Map<String, Value> {
    let mut state = Map::new();
    for (group, leaf) in selection.leaves(tree) {
        let value = register(&group, leaf, selection);
        insert(&mut state, &group, &leaf.name, value);
    }
    state
}

/// Writes the object of several tiles.
pub(super) fn write_tiles(
    args: &StateArgs,
    cycle: u64,
    verdict: &str,
    tiles: &[(&TileSeen, Register)],
    out: &mut dyn Write,
) -> Result<()> {
    let mut list = Vec::new();
    for (tile, tree) in tiles {
        let selection = Selection::new(args, tree)?;
        let (worker, noc) = (tile.worker, tile.noc);
        list.push(json!({ "tile": worker, "noc": noc, "state": state(tree, &selection) }));
    }
    let value = json!({ "schema": SCHEMA, "cycle": cycle, "verdict": verdict, "tiles": list });
    writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
    Ok(())
}

/// Puts a leaf into the group at a path, which is made on the way.
fn insert(map: &mut Map<String, Value>, path: &str, name: &str, value: Value) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    if first.is_empty() {
        map.insert(name.to_owned(), value);
        return;
    }
    let inner = map.entry(first).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        insert(inner, rest, name, value);
    }
}

fn register(group: &str, leaf: &Register, selection: &Selection) -> Value {
    let format = selection.format.filter(|_| values::is_data(group, &leaf.name));
    match (&leaf.value, format) {
        (RegisterValue::Number(number), Some(format)) => json!({
            "raw": number,
            "value": values::object(values::of_word(*number as u32, format)),
        }),
        (RegisterValue::Words(words), Some(format)) => json!({
            "raw": words,
            "values": words.iter()
                .map(|&word| values::object(values::of_word(word, format)))
                .collect::<Vec<_>>(),
        }),
        (RegisterValue::Number(number), None) => json!(number),
        (RegisterValue::Words(words), None) => json!(words),
        (RegisterValue::Flag(flag), _) => json!(flag),
        (RegisterValue::Text(text), _) => json!(text),
        (RegisterValue::Cells(cells), _) => rows(cells, selection),
        (RegisterValue::Group(_), _) => Value::Null,
    }
}

fn rows(cells: &Cells, selection: &Selection) -> Value {
    let format = selection.format.unwrap_or(cells.format);
    let row = |row: &CellRow| {
        let columns = selection.columns(row);
        json!({
            "row": row.row,
            "valid": row.valid,
            "raw": columns,
            "values": columns.iter()
                .map(|&cell| values::object(format.value(cells.kind, cell)))
                .collect::<Vec<_>>(),
        })
    };
    json!({
        "kind": values::kind_name(cells.kind),
        "format": values::format_name(format),
        "in_force": cells.in_force,
        "first_column": selection.first_column(),
        "rows": selection.rows(cells).map(row).collect::<Vec<_>>(),
    })
}
