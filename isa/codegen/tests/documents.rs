//! The committed documents are those the tables give.

use std::path::Path;

use isa_codegen::{docs, files};

#[test]
fn generated_documents_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in docs::all(&root).expect("the tables are right") {
        let committed = files::read(&root.join("docs/generated").join(name)).unwrap_or_default();
        assert!(committed == text, "{name} is stale: cargo run -p isa-codegen --bin gen-docs");
    }
}

#[test]
fn every_source_kind_is_resolved_in_sources_md() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = files::read(&root.join("docs/sources.md")).expect("docs/sources.md exists");
    for (kind, _) in isa_codegen::source::KINDS {
        assert!(text.contains(&format!("| `{kind}` |")), "{kind} is not in docs/sources.md");
    }
}

#[test]
fn every_open_question_of_the_tables_is_in_unknowns_md() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let unknowns = files::read(&root.join("docs/unknowns.md")).expect("docs/unknowns.md exists");
    for (name, text) in docs::all(&root).expect("the tables are right") {
        for part in text.split("U-").skip(1) {
            let number: String = part.chars().take_while(char::is_ascii_digit).collect();
            let heading = format!("## U-{number}");
            assert!(
                number.len() != 3 || unknowns.contains(&heading),
                "{name} names U-{number}, docs/unknowns.md does not"
            );
        }
    }
}
