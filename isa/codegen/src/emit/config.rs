//! Backend configuration fields as constants.

use std::fmt::Write as _;

use crate::tables::config::{Field, Section};
use crate::text::{GENERATED, camel};

/// Constants, the list of all, and the index by word.
#[must_use]
pub fn emit(sections: &[Section]) -> String {
    let mut out = String::from(GENERATED);
    let mut all: Vec<(&Section, &Field)> = Vec::new();
    for section in sections {
        for field in &section.fields {
            let _ = writeln!(
                out,
                "/// `{}` word {}, {} bit(s) from bit {}.\npub const {}: ConfigField = {};",
                section.name,
                field.addr32,
                field.width,
                field.lo,
                field.name,
                literal(section, field)
            );
            all.push((section, field));
        }
    }
    all.sort_by_key(|(s, f)| (s.scope != "thread", f.addr32, f.lo));
    out += "/// All fields: thread scope first, then by word and bit.\n\
            pub static ALL: &[ConfigField] = &[\n";
    for (_, field) in &all {
        let _ = writeln!(out, "    {},", field.name);
    }
    out += "];\n";
    let mut by_name: Vec<usize> = (0..all.len()).collect();
    by_name.sort_by_key(|i| all[*i].1.name.to_ascii_lowercase());
    let _ = writeln!(
        out,
        "/// Positions in `ALL`, sorted by name without case.\npub(super) static BY_NAME: &[u16] = \
         &{by_name:?};"
    );
    out
}

fn literal(section: &Section, field: &Field) -> String {
    format!(
        "ConfigField {{ name: {:?}, section: {:?}, scope: Scope::{}, addr32: {}, lo: {}, width: {}, \
         users: Users({}) }}",
        field.name,
        section.name,
        camel(&section.scope),
        field.addr32,
        field.lo,
        field.width,
        field.users
    )
}
