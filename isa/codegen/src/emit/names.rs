//! Named numbers as static tables.

use std::fmt::Write as _;

use crate::tables::names::List;
use crate::text::{GENERATED, doc};

/// One static table per list.
#[must_use]
pub fn emit(lists: &[List]) -> String {
    let mut out = String::from(GENERATED);
    for list in lists {
        let _ = writeln!(
            out,
            "/// {}\npub static {}: &[Named] = &[",
            doc(&list.doc),
            list.name.to_ascii_uppercase()
        );
        for row in &list.rows {
            let _ = writeln!(
                out,
                "    Named {{ number: {}, name: {:?}, bits: {}, doc: {:?} }},",
                row.number, row.name, row.bits, row.doc
            );
        }
        out += "];\n";
    }
    out
}
