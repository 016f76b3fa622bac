//! Shares of cycles as text.

use std::io::Write;

use anyhow::Result;
use observe::Attribution;

fn percent(part: u64, whole: u64) -> String {
    let share = (part * 100 + whole / 2).checked_div(whole);
    share.map_or_else(|| "-".to_owned(), |share| format!("{share} %"))
}

/// Agents and what they did, biggest shares first.
///
/// # Errors
/// The output cannot be written.
pub(super) fn text(rows: &[Attribution], out: &mut dyn Write) -> Result<()> {
    for row in rows {
        let share = |cycles| format!("{cycles} ({})", percent(cycles, row.cycles));
        writeln!(
            out,
            "\n{}: {} cycles; works {}, waits {}, polls {}",
            row.agent,
            row.cycles,
            share(row.works),
            share(row.waits),
            share(row.polls)
        )?;
        for item in &row.shares {
            let culprit = item.culprit.as_ref().map(|name| format!(", let go by {name}"));
            writeln!(
                out,
                "  {:>10} {:>6}  {}  [{}]{}",
                item.cycles,
                percent(item.cycles, row.cycles),
                item.reason,
                item.place,
                culprit.unwrap_or_default()
            )?;
        }
    }
    Ok(())
}
