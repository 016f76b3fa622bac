//! The explanation as one self-contained page: text, sequence of the handshake, the last moments,
//! and the wait-for graph.

use std::cmp::Ordering;
use std::fmt::Write as _;

use sim_core::AgentId;

use super::{Cell, Explanation, Pair};

/// Everything that is not text is drawn in these.
const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--text:#1c2024;--pre:#f4f6f8;--line:#d5dae0;--life:#9aa3ad;--box:#eef2f7;
--edge:#5b6672;--dim:#3c4650;--bad:#b3261e;--root:#fdecea;--arrow:#2457a6}
@media(prefers-color-scheme:dark){:root{--back:#15181c;--text:#e4e6e8;--pre:#1f2429;--line:#4a5158;--life:#6d757d;--box:#252b32;
--edge:#8a949e;--dim:#b4bcc4;--bad:#ff8a80;--root:#43201e;--arrow:#82b1ff}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:var(--text);background:var(--back)}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin-top:2rem;border-bottom:1px solid var(--line)}h1,h2,p{overflow-wrap:anywhere}
pre{background:var(--pre);padding:1rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px;line-height:1.45}
.bad{color:var(--bad)}.id{background:#b3261e;color:#fff;border-radius:4px;padding:0 .4rem}
.wide{overflow-x:auto}svg{display:block;width:100%;min-width:44rem;height:auto;font:12px system-ui,sans-serif;fill:var(--text)}
.life{stroke:var(--life);stroke-dasharray:3 3}.arrow{stroke:var(--arrow);stroke-width:1.5;fill:none}
.lost{stroke:var(--bad);stroke-width:2;stroke-dasharray:6 4;fill:none}.box{fill:var(--box);stroke:var(--edge)}
.root{fill:var(--root);stroke:var(--bad);stroke-width:2}.small{font-size:11px;fill:var(--dim)}.red{fill:var(--bad)}
.blue{fill:var(--arrow)}.halo{paint-order:stroke;stroke:var(--back);stroke-width:4px}";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn short(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return escape(text);
    }
    let cut: String = text.chars().take(length - 1).collect();
    format!("{}\u{2026}", escape(&cut))
}

impl Explanation {
    /// The page.
    #[must_use]
    pub fn html(&self) -> String {
        let id = self.hazard.map_or_else(String::new, |hazard| {
            format!(" <span class=id>{}</span> {}", hazard.id, escape(hazard.name))
        });
        let mut page = format!(
            "<!doctype html>\n<html lang=en><meta charset=utf-8>\n\
             <meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>{end}: {title}</title>\n\
             <style>{STYLE}</style>\n<h1><span class=bad>{end}</span>{id}</h1>\n<p>{title}</p>\n",
            end = self.end.name(),
            title = escape(&self.headline),
        );
        if let Some(missing) = &self.missing {
            let _ = writeln!(page, "<p><b>Missing:</b> {}</p>", escape(missing));
        }
        self.sequence(&mut page);
        self.timeline(&mut page);
        self.graph(&mut page);
        let _ = write!(page, "<h2>In full</h2>\n<pre>{}</pre>\n", escape(&self.to_string()));
        page
    }

    /// Givers and takers as lifelines, pairs as arrows.
    fn sequence(&self, page: &mut String) {
        let Some(ledger) = &self.ledger else { return };
        let mut agents: Vec<AgentId> = Vec::new();
        let cells = ledger.pairs.iter().flat_map(|pair| pair.give.iter().chain(&pair.take));
        let cells = cells.chain(&ledger.ignored);
        for cell in cells {
            if !agents.contains(&cell.agent) {
                agents.push(cell.agent);
            }
        }
        if agents.is_empty() {
            return;
        }
        let (left, step, row) = (170, 330, 46);
        let width = left * 2 + step * (agents.len().max(2) - 1);
        let mut steps: Vec<Step<'_>> = ledger.pairs.iter().map(Step::Pair).collect();
        steps.extend(ledger.ignored.iter().map(Step::Lost));
        steps.sort_by_key(Step::cycle);
        let height = 60 + row * steps.len();
        let _ = write!(
            page,
            "<h2>The handshake: {}</h2>\n<div class=wide><svg viewBox=\"0 0 {width} {height}\" role=img>\n{MARKER}",
            escape(&ledger.resource.to_string())
        );
        let x = |agent: AgentId| {
            left + step * agents.iter().position(|other| *other == agent).unwrap_or(0)
        };
        for &agent in &agents {
            let at = x(agent);
            let _ = writeln!(
                page,
                "<rect class=box x={} y=8 width=130 height=26 rx=4 /><text x={at} y=26 \
                 text-anchor=middle>{agent}</text><line class=life x1={at} y1=34 x2={at} y2={height} />",
                at - 65
            );
        }
        for (at, step) in steps.iter().enumerate() {
            let y = 76 + row * at;
            match step {
                Step::Pair(pair) => {
                    let bad = ledger.divergent == Some(pair.number);
                    let (give, take) = (pair.give.as_ref(), pair.take.as_ref());
                    step_of(page, y, bad, give, take, &x, ledger.verbs);
                }
                Step::Lost(cell) => {
                    let at = x(cell.agent);
                    let text = format!("{} @{}: without effect", cell.place, cell.cycle);
                    let _ = writeln!(
                        page,
                        "<path class=lost d=\"M{} {}l12 12m0 -12l-12 12\" /><text class=\"small red halo\" \
                         x={at} y={} text-anchor=middle>{}</text>",
                        at - 6,
                        y - 6,
                        y - 20,
                        short(&text, 52)
                    );
                }
            }
        }
        page.push_str("</svg></div>\n");
        let _ = writeln!(page, "<p class=bad>{}</p>", escape(&ledger.why));
    }

    /// When each wait began, on one axis.
    fn timeline(&self, page: &mut String) {
        let end = self.found.max(1);
        let begin = self.waits.iter().filter_map(|link| link.since).min().unwrap_or(0);
        let span = (end - begin.min(end)).max(1);
        let (left, width, row) = (150, 1000, 26);
        let height = 40 + row * self.waits.len();
        let _ = write!(
            page,
            "<h2>Since when (cycles {begin} to {end})</h2>\n<div class=wide><svg viewBox=\"0 0 {} {height}\" role=img>\n",
            left + width + 20
        );
        for (at, link) in self.waits.iter().enumerate() {
            let y = 10 + row * at;
            let since = link.since.unwrap_or(begin).max(begin);
            let x = left as u64 + (since - begin) * (width as u64 * 3 / 5) / span;
            let class = if link.root { "root" } else { "box" };
            let _ = writeln!(
                page,
                "<text x=8 y={} >{}</text><rect class={class} x={x} y={y} width={} height=20 />\
                 <text class=small x={} y={}>{}</text>",
                y + 15,
                link.agent,
                (left + width) as u64 - x,
                x + 6,
                y + 14,
                short(&format!("{since}: {}", link.text), 78)
            );
        }
        if let Some(closed) = self.closed.filter(|closed| *closed >= begin) {
            let x = left as u64 + (closed.min(end) - begin) * (width as u64 * 3 / 5) / span;
            let _ = writeln!(
                page,
                "<line class=lost x1={x} y1=4 x2={x} y2={} /><text class=\"small red\" x={} y={}>closed at {closed}</text>",
                height - 16,
                x + 4,
                height - 4
            );
        }
        page.push_str("</svg></div>\n");
    }

    /// Who waits for whom.
    fn graph(&self, page: &mut String) {
        if self.waits.is_empty() {
            return;
        }
        let (node_width, row) = (330, 84);
        let columns = 3;
        let rows = self.waits.len().div_ceil(columns);
        let height = 30 + row * rows;
        let _ = write!(
            page,
            "<h2>Who waits for whom</h2>\n<div class=wide><svg viewBox=\"0 0 1100 {height}\" role=img>\n{MARKER}"
        );
        let place = |at: usize| (20 + (at % columns) * 365, 20 + (at / columns) * row);
        for (at, link) in self.waits.iter().enumerate() {
            let (x, y) = place(at);
            for &to in &link.to {
                let (tx, ty) = place(to);
                let red = link.root && self.waits[to].root;
                let class = if red { "lost" } else { "arrow" };
                let marker = if red { "url(#red)" } else { "url(#blue)" };
                let (x1, x2) = (x + node_width / 2, tx + node_width / 2);
                // From the lower edge to the upper one of a row below, and so on.
                let (y1, c1, c2, y2) = match (at / columns).cmp(&(to / columns)) {
                    Ordering::Less => (y + 40, y + 62, ty.saturating_sub(22), ty),
                    Ordering::Equal => (y + 40, y + 74, ty + 74, ty + 42),
                    Ordering::Greater => (y, y.saturating_sub(22), ty + 64, ty + 42),
                };
                let _ = writeln!(
                    page,
                    "<path class={class} marker-end=\"{marker}\" \
                     d=\"M{x1} {y1} C{x1} {c1} {x2} {c2} {x2} {y2}\" />"
                );
            }
        }
        for (at, link) in self.waits.iter().enumerate() {
            let (x, y) = place(at);
            let class = if link.root { "root" } else { "box" };
            let _ = writeln!(
                page,
                "<rect class={class} x={x} y={y} width={node_width} height=40 rx=5 />\
                 <text x={} y={}>{}</text><text class=small x={} y={}>{}</text>",
                x + 10,
                y + 16,
                link.agent,
                x + 10,
                y + 32,
                short(&link.text, 54)
            );
        }
        page.push_str("</svg></div>\n");
    }
}

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

/// Arrow heads.
const MARKER: &str = "<defs><marker id=blue viewBox=\"0 0 8 8\" refX=8 refY=4 markerWidth=8 markerHeight=8 \
orient=auto><path d=\"M0 0L8 4L0 8z\" class=blue /></marker><marker id=red viewBox=\"0 0 8 8\" refX=8 refY=4 \
markerWidth=7 markerHeight=7 orient=auto><path d=\"M0 0L8 4L0 8z\" class=red /></marker></defs>\n";

/// One pair of the sequence.
fn step_of(
    page: &mut String,
    y: usize,
    bad: bool,
    give: Option<&Cell>,
    take: Option<&Cell>,
    x: &dyn Fn(AgentId) -> usize,
    verbs: (&str, &str),
) {
    let note = |page: &mut String, cell: &Cell, verb: &str, above: usize| {
        let (mark, class) = if cell.waits { ("waits for ", "small red") } else { ("", "small") };
        let text = format!("{mark}{verb} {} @{}", cell.place, cell.cycle);
        let _ = writeln!(
            page,
            "<text class=\"{class} halo\" x={} y={} text-anchor=middle>{}</text>",
            x(cell.agent),
            y - above,
            short(&text, 52)
        );
    };
    let class = if bad { "lost" } else { "arrow" };
    let marker = if bad { "url(#red)" } else { "url(#blue)" };
    match (give, take) {
        (Some(give), Some(take)) if give.agent != take.agent => {
            let _ = writeln!(
                page,
                "<path class={class} marker-end=\"{marker}\" d=\"M{} {y} L{} {y}\" />",
                x(give.agent),
                x(take.agent)
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
