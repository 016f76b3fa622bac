//! `cargo xtask ratchet`: what has shrunk may not grow again.

use std::fmt::Write as _;
use std::fs;

use crate::files::Tree;
use crate::ratchet::{FILE, Row};
use crate::{circles, concepts, observed, structs};

/// Writes smaller numbers where something shrank. What grew keeps its number; what is new is not added.
pub(crate) fn lower(tree: &Tree) -> Result<(), String> {
    let [functions, fields, matches] = concepts::rows(tree);
    let tables = [
        ("structs", structs::rows(tree)),
        ("circles", circles::rows(tree)),
        ("observed", observed::rows(tree)),
        ("functions", functions),
        ("fields", fields),
        ("matches", matches),
    ];
    let mut out = String::new();
    let mut rows: Option<&[Row]> = None;
    for line in tree.text(FILE)?.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            rows = tables.iter().find(|(table, _)| *table == name).map(|(_, rows)| &rows[..]);
        }
        let entry = line.strip_prefix('"').and_then(|rest| rest.split_once("\" = "));
        let (Some((name, listed)), Some(rows)) = (entry, rows) else {
            out.extend([line, "\n"]);
            continue;
        };
        if let Some((_, count)) = rows.iter().find(|(other, _)| other == name) {
            let listed = listed.parse().map_err(|_| format!("{FILE}: {line}"))?;
            // Writing to a string cannot fail.
            let _ = writeln!(out, "\"{name}\" = {}", usize::min(*count, listed));
        }
    }
    fs::write(tree.root.join(FILE), out).map_err(|error| format!("{FILE}: {error}"))
}
