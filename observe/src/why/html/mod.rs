//! The explanation as one self-contained page: text, sequences of the handshakes, the last moments,
//! and the wait-for graph.

mod graph;
mod sequence;

use std::fmt::Write as _;

use super::Explanation;

/// What pages are made of besides drawings.
const STYLE: &str = "\
:root{--pre:#f4f6f8}@media(prefers-color-scheme:dark){:root{--pre:#1f2429}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:var(--text);background:var(--back)}
h1{font-size:1.4rem}h1,p{overflow-wrap:anywhere}
pre{background:var(--pre);padding:1rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px;line-height:1.45}
.id{background:#b3261e;color:#fff;border-radius:4px;padding:0 .4rem}";

/// The style of the drawings of [`Explanation::drawings`].
pub const DRAWINGS: &str = "\
:root{color-scheme:light dark;--back:#fff;--text:#1c2024;--line:#d5dae0;--life:#9aa3ad;--box:#eef2f7;
--edge:#5b6672;--dim:#3c4650;--bad:#b3261e;--root:#fdecea;--arrow:#2457a6}
@media(prefers-color-scheme:dark){:root{--back:#15181c;--text:#e4e6e8;--line:#4a5158;--life:#6d757d;--box:#252b32;
--edge:#8a949e;--dim:#b4bcc4;--bad:#ff8a80;--root:#43201e;--arrow:#82b1ff}}
h2{font-size:1.05rem;margin-top:2rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.bad{color:var(--bad)}.wide{overflow-x:auto}
svg{display:block;width:100%;min-width:44rem;height:auto;font:12px system-ui,sans-serif;fill:var(--text)}
.life{stroke:var(--life);stroke-dasharray:3 3}.arrow{stroke:var(--arrow);stroke-width:1.5;fill:none}
.lost{stroke:var(--bad);stroke-width:2;stroke-dasharray:6 4;fill:none}.box{fill:var(--box);stroke:var(--edge)}
.maybe{stroke:var(--life);stroke-width:1.5;stroke-dasharray:2 4;fill:none}
.guess{fill:var(--back);stroke:var(--life);stroke-dasharray:3 3}.grey{fill:var(--life)}
.root{fill:var(--root);stroke:var(--bad);stroke-width:2}.small{font-size:11px;fill:var(--dim)}.red{fill:var(--bad)}
.blue{fill:var(--arrow)}.halo{paint-order:stroke;stroke:var(--back);stroke-width:4px}
.node:hover rect{stroke-width:3}svg path:hover{stroke-width:4}svg g:hover>.small{fill:var(--arrow)}
.lines{border-spacing:.8em .1em;font-size:13px}.lines code{white-space:pre}
details{margin:.6em 0}summary{cursor:pointer}";

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

/// As [`short`], without the beginning: of a place the line stands at its end.
fn short_place(text: &str, length: usize) -> String {
    let count = text.chars().count();
    if count <= length {
        return escape(text);
    }
    let end: String = text.chars().skip(count - (length - 1)).collect();
    format!("\u{2026}{}", escape(&end))
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
             <style>{DRAWINGS}{STYLE}</style>\n<h1><span class=bad>{end}</span>{id}</h1>\n<p>{title}</p>\n",
            end = self.end.name(),
            title = escape(&self.headline),
        );
        if let Some(missing) = &self.missing {
            let _ = writeln!(page, "<p><b>Missing:</b> {}</p>", escape(missing));
        }
        for supposed in &self.supposed {
            let _ = writeln!(page, "<p><b>What if:</b> {}</p>", escape(&supposed.text));
        }
        page.push_str(&self.drawings());
        let _ = write!(page, "<h2>In full</h2>\n<pre>{}</pre>\n", escape(&self.to_string()));
        page
    }

    /// The drawings of the page, for another page that has [`DRAWINGS`]: handshakes, since when who waits, who
    /// waits for whom.
    #[must_use]
    pub fn drawings(&self) -> String {
        let mut page = String::new();
        if let Some(ledger) = &self.ledger {
            let _ = writeln!(page, "<h2>The handshake: {}</h2>", escape(&ledger.name));
            sequence::draw(&mut page, ledger);
        }
        for ledger in &self.books {
            let name = escape(&ledger.name);
            let (give, take) = ledger.verbs;
            let (given, taken) = ledger.totals;
            let _ = writeln!(
                page,
                "<details><summary>{name}, which waits too: {given} x {give}, {taken} x {take}</summary>"
            );
            sequence::draw(&mut page, ledger);
            page.push_str("</details>\n");
        }
        self.timeline(&mut page);
        graph::draw(&mut page, self);
        page
    }

    /// When each wait began, on one axis.
    fn timeline(&self, page: &mut String) {
        if self.waits.is_empty() {
            return;
        }
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
                "<g class=node><title>{}</title><text x=8 y={} >{}</text><rect class={class} x={x} y={y} width={} \
                 height=20 /><text class=small x={} y={}>{}</text></g>",
                escape(&format!("{} {} since cycle {since}", link.agent, link.text)),
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
}

/// Arrow heads.
const MARKER: &str = "<defs><marker id=blue viewBox=\"0 0 8 8\" refX=8 refY=4 markerWidth=8 markerHeight=8 \
orient=auto><path d=\"M0 0L8 4L0 8z\" class=blue /></marker><marker id=grey viewBox=\"0 0 8 8\" refX=8 refY=4 \
markerWidth=8 markerHeight=8 orient=auto><path d=\"M0 0L8 4L0 8z\" class=grey /></marker><marker id=red viewBox=\"0 0 8 8\" refX=8 refY=4 \
markerWidth=7 markerHeight=7 orient=auto><path d=\"M0 0L8 4L0 8z\" class=red /></marker></defs>\n";
