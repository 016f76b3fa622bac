//! The table of costs as a page of the documents. The figures are in `isa/tables/tensix_ops.toml`.

use std::fmt::Write as _;

use isa::op::{COSTS, Cost, ROWS};

/// The table as Markdown: a row per kind of cost, and one for all instructions that take one cycle.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "| instructions | unit takes the next after | thread goes on after | done after | notes | source |\n\
         |---|---|---|---|---|---|\n",
    );
    let mut rest = 0;
    for cost in &COSTS {
        let has_it = ROWS.iter().filter(|row| row.cost.name == cost.name);
        let Cost { unit, thread, latency, note, .. } = cost;
        if cost.name == "one" {
            rest = has_it.count();
            continue;
        }
        let names: Vec<_> = has_it.map(|row| row.name).collect();
        let sources: Vec<_> =
            cost.sources.iter().map(|key| format!("[{}]", key.replacen(':', ": ", 1))).collect();
        let (names, sources) = (names.join(", "), sources.join(" "));
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {names} | {unit} | {thread} | {latency} | {note} | {sources} |");
    }
    let _ = writeln!(page, "| the {rest} others | 1 | 1 | 1 | | pages of the units |");
    page
}
