//! Every crate keeps the workspace's lints, and those forbid unsafe code.
//!
//! The crates at the C boundary, and the one that calls functions compiled for more than the least
//! host, cannot forbid it: they copy the lints and deny it instead, so that a module that needs it
//! says so with a reason.

use toml::{Table, Value};

use crate::Findings;
use crate::files::Tree;

/// The crates at the C boundary, `vectorise` and `zero-pages`.
const BOUNDARY: &[&str] = &["hostlib", "ffi", "recorder", "vectorise", "zero-pages"];

pub(crate) fn check(tree: &Tree) -> Findings {
    let parse =
        |path: &str, text: &str| text.parse::<Table>().map_err(|error| format!("{path}: {error}"));
    let root = parse("Cargo.toml", tree.text("Cargo.toml")?)?;
    let mut findings = Vec::new();
    let level = find(&root, &["workspace", "lints", "rust", "unsafe_code"]);
    if level.and_then(Value::as_str) != Some("forbid") {
        findings.push("Cargo.toml: workspace.lints.rust.unsafe_code must be \"forbid\"".to_owned());
    }
    let boundary = find(&root, &["workspace", "lints"]).cloned().map(denied);
    let members = find(&root, &["workspace", "members"]).and_then(Value::as_array);
    for member in members.into_iter().flatten().filter_map(Value::as_str) {
        let path = format!("{member}/Cargo.toml");
        let manifest = parse(&path, tree.text(&path)?)?;
        if BOUNDARY.contains(&member) {
            if find(&manifest, &["lints"]) != boundary.as_ref() {
                let rule = "must be the workspace's with unsafe_code = \"deny\"";
                findings.push(format!("{path}: [lints] {rule}"));
            }
            continue;
        }
        let inherits = find(&manifest, &["lints", "workspace"]).and_then(Value::as_bool);
        if inherits != Some(true) {
            findings.push(format!("{path}: needs `[lints] workspace = true`"));
        }
    }
    Ok(findings)
}

/// The workspace's lints as those crates have them.
fn denied(mut lints: Value) -> Value {
    let level = lints.get_mut("rust").and_then(|rust| rust.get_mut("unsafe_code"));
    if let Some(level) = level {
        *level = Value::String("deny".to_owned());
    }
    lints
}

fn find<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { find(value.as_table()?, rest) }
}
