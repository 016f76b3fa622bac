//! The code map, `docs/generated/code-map.md`: one line per module, taken from the module's own first
//! sentence, so that it cannot be about something else.

use std::fmt::Write as _;
use std::fs;

use toml::Table;

use crate::Findings;
use crate::files::{TextFile, Tree};

const FILE: &str = "docs/generated/code-map.md";
const BEGIN: &str = "<!-- code map, written by `cargo xtask map` -->\n";
const END: &str = "<!-- end of the code map -->\n";

pub(crate) fn check(tree: &Tree) -> Findings {
    let mut findings: Vec<String> = modules(tree)
        .filter(|file| first_sentence(&file.text).is_empty())
        .map(|file| format!("{} does not begin with a sentence about itself (//!)", file.path))
        .collect();
    if replaced(tree)? != tree.text(FILE)? {
        findings.push(format!("{FILE} is stale; run `cargo xtask map`"));
    }
    Ok(findings)
}

pub(crate) fn write(tree: &Tree) -> Result<(), String> {
    fs::write(tree.root.join(FILE), replaced(tree)?).map_err(|error| format!("{FILE}: {error}"))
}

/// The document with today's map.
fn replaced(tree: &Tree) -> Result<String, String> {
    let text = tree.text(FILE)?;
    let begin = text.find(BEGIN).ok_or_else(|| format!("{FILE} has lost its line {BEGIN}"))?;
    let end = text.find(END).ok_or_else(|| format!("{FILE} has lost its line {END}"))?;
    Ok(format!("{}{BEGIN}{}{}", &text[..begin], map(tree)?, &text[end..]))
}

fn map(tree: &Tree) -> Result<String, String> {
    let manifest: Table =
        tree.text("Cargo.toml")?.parse().map_err(|error| format!("Cargo.toml: {error}"))?;
    let members = manifest["workspace"]["members"].as_array();
    let mut out = String::new();
    for member in members.into_iter().flatten().filter_map(toml::Value::as_str) {
        let src = format!("{member}/src/");
        let own: Vec<&TextFile> =
            modules(tree).filter(|file| file.path.starts_with(&src)).collect();
        let (roots, inner): (Vec<&TextFile>, Vec<&TextFile>) = own
            .into_iter()
            .partition(|file| ["lib.rs", "main.rs"].contains(&&file.path[src.len()..]));
        let about = roots.first().map(|file| first_sentence(&file.text)).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n### `{member}`\n\n{about}\n");
        let mut lines: Vec<(&str, String)> = inner
            .into_iter()
            .map(|file| (module_name(&file.path[src.len()..]), first_sentence(&file.text)))
            .collect();
        lines.sort_unstable();
        for (name, sentence) in lines {
            let _ = writeln!(out, "* `{name}`: {sentence}");
        }
    }
    out.push('\n');
    Ok(out)
}

/// `units/sync` for `units/sync/mod.rs`.
fn module_name(path: &str) -> &str {
    path.trim_end_matches(".rs").trim_end_matches("/mod")
}

/// Modules a reader looks for: all but tests.
fn modules(tree: &Tree) -> impl Iterator<Item = &TextFile> {
    tree.rust().filter(|file| {
        file.path.contains("/src/")
            && !file.path.ends_with("/tests.rs")
            && !file.path.contains("/tests/")
    })
}

/// The first sentence of a module's documentation, without links.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.find(". ").map_or(paragraph.as_str(), |end| &paragraph[..=end]);
    sentence.replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn sentence_ends_at_its_full_stop_or_paragraph() {
        assert_eq!(first_sentence("//! One [`Thing`],\n//! here. Two.\n"), "One `Thing`, here.");
        assert_eq!(first_sentence("//! One: x\n//!\n//! Two.\n"), "One: x");
        assert_eq!(first_sentence("use x;\n"), "");
    }
}
