//! `docs/events.md` says what the declaration says: every kind with its number, its fields in
//! order, its target.

use sim_core::observer::{EventKind, SCHEMA_VERSION};

const PAGE: &str = include_str!("../../docs/events.md");
const DECLARATION: &str = include_str!("../../sim-core/src/observer/event.rs");
const ENCODING: &str = include_str!("../../sim-core/src/observer/encode.rs");
const REASONS: &str = include_str!("../../sim-core/src/wait.rs");

/// The rows of the table under a heading as cells. A bar inside a cell (`\|`) splits it; only the
/// column of prose has one, so the first three and the last cell are right.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, rest) = page.split_once(heading).expect("the page has the heading");
    let section = rest.split("\n## ").next().unwrap_or(rest);
    section
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| number"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// Variants of an enumeration in Rust source, each with the names of its fields.
fn variants(source: &str, name: &str) -> Vec<(String, Vec<String>)> {
    let start = source.find(&format!("pub enum {name} {{")).expect("the enumeration is there");
    let body = &source[start..];
    let body = &body[..body.find("\n}").expect("the enumeration ends")];
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in body.lines().skip(1) {
        let depth = line.len() - line.trim_start().len();
        let line = line.trim();
        if line.starts_with("//") || line.starts_with('}') || line.starts_with('#') {
            continue;
        }
        if depth == 4 {
            let end = line.find([' ', ',']).unwrap_or(line.len());
            found.push((line[..end].to_owned(), Vec::new()));
        } else if let (Some((field, _)), Some(last)) = (line.split_once(':'), found.last_mut()) {
            last.1.push(field.to_owned());
        }
    }
    found
}

/// First words of the entries of a cell, without what is in brackets.
fn fields(cell: &str) -> Vec<String> {
    let outside = cell.split('(').next().unwrap_or(cell);
    outside
        .split(',')
        .filter_map(|entry| entry.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn page_states_the_schema_version() {
    assert!(PAGE.contains(&format!("\nVersion {SCHEMA_VERSION}. ")));
}

#[test]
fn page_lists_every_event_with_number_and_fields() {
    let declared = variants(DECLARATION, "Event");
    let rows = rows(PAGE, "\n## Events\n");
    assert_eq!(rows.len(), EventKind::ALL.len());
    assert_eq!(declared.len(), EventKind::ALL.len());
    for ((row, (name, names)), kind) in rows.iter().zip(&declared).zip(EventKind::ALL) {
        assert_eq!(row[0], (*kind as u8).to_string());
        assert_eq!([row[1], name.as_str()], [kind.name(); 2]);
        assert_eq!(&fields(row[2]), names, "{name}");
    }
}

#[test]
fn page_names_only_targets_that_exist() {
    let known: Vec<_> = observe::Target::ALL.iter().map(|target| target.short_name()).collect();
    for row in rows(PAGE, "\n## Events\n") {
        let targets = row.last().expect("a row has cells");
        for target in targets.split(',') {
            assert!(known.contains(&target.trim()), "{target}");
        }
    }
}

/// The number that the encoding of a reason begins with, from the source of the encoding.
fn reason_number(name: &str) -> Option<&'static str> {
    let at = ENCODING.find(&format!("            W::{name} "))?;
    let (_, rest) = ENCODING[at..].split_once("self.u8(")?;
    rest.split(')').next()
}

#[test]
fn page_lists_every_wait_reason_with_number_and_fields() {
    let declared = variants(REASONS, "WaitReason");
    let rows = rows(PAGE, "\n## Wait reasons\n");
    assert_eq!(rows.len(), declared.len());
    for (name, names) in &declared {
        let row = rows.iter().find(|row| row[1] == name).expect("the reason has a row");
        assert_eq!(Some(row[0]), reason_number(name), "{name}");
        assert_eq!(&fields(row[2]), names, "{name}");
    }
}
