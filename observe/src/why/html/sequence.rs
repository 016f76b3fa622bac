//! A handshake as a drawing: a lane for each side, an arrow for what one gave and the other took, and below it the
//! lines of source that did so.

use std::fmt::Write as _;

use sim_core::AgentId;

use super::{MARKER, escape, short_place};
use crate::why::{Cell, Ledgered, Pair};

/// Pixels from the left edge to the first lane, from lane to lane, and from row to row.
const LEFT: usize = 190;
const STEP: usize = 330;
const ROW: usize = 46;
/// Characters of a place.
const PLACE: usize = 34;

/// A row of the sequence.
enum Step<'a> {
    Pair(&'a Pair),
    Lost(&'a Cell),
}

impl Step<'_> {
    fn cycle(&self) -> u64 {
        match self {
            Self::Pair(pair) => {
                let cycles = pair.give.iter().chain(&pair.take).map(|cell| cell.cycle);
                cycles.max().unwrap_or(0)
            }
            Self::Lost(cell) => cell.cycle,
        }
    }
}

/// The cells of a ledger: what was done, waited for, and without effect.
fn cells(ledger: &Ledgered) -> impl Iterator<Item = &Cell> {
    let pairs = ledger.pairs.iter().flat_map(|pair| pair.give.iter().chain(&pair.take));
    pairs.chain(&ledger.ignored)
}

/// The lanes: who has done or waits for anything, then who should have.
fn lanes(ledger: &Ledgered) -> Vec<(AgentId, bool)> {
    let mut lanes: Vec<(AgentId, bool)> = Vec::new();
    let done = cells(ledger).map(|cell| (cell.agent, true));
    for (agent, acts) in done.chain(ledger.missed.iter().map(|agent| (*agent, false))) {
        if lanes.iter().all(|(known, _)| *known != agent) {
            lanes.push((agent, acts));
        }
    }
    lanes
}

/// Draws a ledger; nothing if nobody has ever touched what it is about.
pub(super) fn draw(page: &mut String, ledger: &Ledgered) {
    let lanes = lanes(ledger);
    if lanes.is_empty() {
        return;
    }
    let width = LEFT * 2 + STEP * (lanes.len().max(2) - 1);
    let mut steps: Vec<Step<'_>> = ledger.pairs.iter().map(Step::Pair).collect();
    steps.extend(ledger.ignored.iter().map(Step::Lost));
    steps.sort_by_key(Step::cycle);
    let height = 60 + ROW * steps.len().max(1);
    let _ = write!(
        page,
        "<div class=wide><svg viewBox=\"0 0 {width} {height}\" role=img style=\"max-width:{width}px\">\n{MARKER}"
    );
    let x = |agent: AgentId| {
        LEFT + STEP * lanes.iter().position(|(other, _)| *other == agent).unwrap_or(0)
    };
    for &(agent, acts) in &lanes {
        let (at, class) = (x(agent), if acts { "box" } else { "guess" });
        let _ = writeln!(
            page,
            "<line class=life x1={at} y1=34 x2={at} y2={height} /><rect class={class} x={} y=8 width=130 height=26 \
             rx=4 /><text x={at} y=26 text-anchor=middle>{agent}</text>",
            at - 65
        );
        if !acts {
            let _ = writeln!(
                page,
                "<text class=\"small halo\" x={at} y=56 text-anchor=middle>never</text>"
            );
        }
    }
    for (at, step) in steps.iter().enumerate() {
        let y = 76 + ROW * at;
        match step {
            Step::Pair(pair) => {
                let bad = ledger.divergent == Some(pair.number);
                pair_of(page, y, bad, pair, &x, ledger.verbs);
            }
            Step::Lost(cell) => {
                let at = x(cell.agent);
                let place = short_place(&cell.place, PLACE);
                let text = format!("{place} @{}: without effect", cell.cycle);
                let _ = writeln!(
                    page,
                    "<g>{}<path class=lost d=\"M{} {}l12 12m0 -12l-12 12\" /><text class=\"small red halo\" \
                     x={at} y={} text-anchor=middle>{}</text></g>",
                    hint(cell),
                    at - 6,
                    y - 6,
                    y - 20,
                    text
                );
            }
        }
    }
    page.push_str("</svg></div>\n");
    if !ledger.why.is_empty() {
        let _ = writeln!(page, "<p class=bad>{}</p>", escape(&ledger.why));
    }
    lines(page, ledger);
}

/// What is told of a cell when somebody points at it.
fn hint(cell: &Cell) -> String {
    let source = cell.source.as_ref().map_or("", |source| source.text.trim());
    let text = format!("{} {}, cycle {}, pc {:#x}", cell.agent, cell.place, cell.cycle, cell.pc);
    format!("<title>{}\n{}</title>", escape(&text), escape(source))
}

/// One pair of the sequence.
fn pair_of(
    page: &mut String,
    y: usize,
    bad: bool,
    pair: &Pair,
    x: &dyn Fn(AgentId) -> usize,
    verbs: (&str, &str),
) {
    let note = |page: &mut String, cell: &Cell, verb: &str, above: usize| {
        let (mark, class) = if cell.waits { ("waits to ", "small red") } else { ("", "small") };
        let text = format!("{mark}{verb} {} @{}", short_place(&cell.place, PLACE), cell.cycle);
        let _ = writeln!(
            page,
            "<g>{}<text class=\"{class} halo\" x={} y={} text-anchor=middle>{}</text></g>",
            hint(cell),
            x(cell.agent),
            y - above,
            text
        );
    };
    let class = if bad { "lost" } else { "arrow" };
    let marker = if bad { "url(#red)" } else { "url(#blue)" };
    let (give, take) = (pair.give.as_ref(), pair.take.as_ref());
    match (give, take) {
        (Some(give), Some(take)) if give.agent != take.agent => {
            let _ = writeln!(
                page,
                "<path class={class} marker-end=\"{marker}\" d=\"M{} {y} L{} {y}\"><title>number {}</title></path>",
                x(give.agent),
                x(take.agent),
                pair.number
            );
        }
        _ => {
            for cell in give.iter().chain(&take) {
                let _ = writeln!(page, "<circle class={class} cx={} cy={y} r=5 />", x(cell.agent));
            }
        }
    }
    if let Some(give) = give {
        note(page, give, verbs.0, 20);
    }
    if let Some(take) = take {
        note(page, take, verbs.1, if give.is_some_and(|g| g.agent == take.agent) { 7 } else { 20 });
    }
}

/// The lines of source that did what the drawing shows, each once.
fn lines(page: &mut String, ledger: &Ledgered) {
    let mut told: Vec<(AgentId, &str, &str)> = Vec::new();
    for cell in cells(ledger) {
        let Some(source) = &cell.source else { continue };
        let line = (cell.agent, &cell.place[..], source.text.trim());
        if !told.contains(&line) {
            told.push(line);
        }
    }
    if told.is_empty() {
        return;
    }
    page.push_str("<div class=wide><table class=lines>");
    for (agent, place, text) in told {
        let _ = write!(
            page,
            "<tr><td>{agent}</td><td>{}</td><td><code>{}</code></td></tr>",
            escape(place),
            escape(text)
        );
    }
    page.push_str("</table></div>\n");
}
