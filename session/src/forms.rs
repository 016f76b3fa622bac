//! The report in the forms that programs and browsers read.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use observe::why::{DRAWINGS, hazards};
use serde_json::{Value, json};

use crate::remote::Sender;
use crate::report::Report;
use crate::show::place;
use crate::standpoint::TileReport;

impl Report {
    /// One JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// A SARIF 2.1.0 log: the results of all tiles in one run, each with its tile.
    #[must_use]
    pub fn sarif(&self) -> String {
        let mut logs = self.tiles.iter().map(|tile| (place(tile), tile.explanation.sarif()));
        let Some((name, mut log)) = logs.next() else { return String::new() };
        mark(&mut log, &name);
        for (name, mut other) in logs {
            mark(&mut other, &name);
            let results = other["runs"][0]["results"].take();
            if let (Some(all), Value::Array(more)) =
                (log["runs"][0]["results"].as_array_mut(), results)
            {
                all.extend(more);
            }
        }
        format!("{log:#}\n")
    }

    /// The wait-for graph over tiles for Graphviz: a box per tile with who waits there, edges to whom they wait
    /// for, across tiles too; what the cause is made of is red.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut text =
            String::from("digraph waits {\n  rankdir=LR;\n  compound=true;\n  node [shape=box];\n");
        for tile in &self.tiles {
            self.dot_tile(&mut text, tile);
        }
        let mut outside = Vec::new();
        for tile in &self.tiles {
            let Some(remote) = &tile.remote else { continue };
            let Some(root) = tile.explanation.chain.last() else { continue };
            let from = node(tile.tile, *root);
            let senders = remote.arrived.iter().chain(&remote.elsewhere);
            let mut others: Vec<(u8, u8)> = senders.map(|sender| sender.tile).collect();
            others.extend(&remote.silent);
            others.sort_unstable();
            others.dedup();
            // Tiles that are alike are one box, and one arrow to itself says what holds among them.
            let mut drawn = BTreeSet::new();
            for other in others.into_iter().filter(|other| *other != tile.tile) {
                let own = |one: &&TileReport| one.tile == other || one.alike.contains(&other);
                let to = match self.tiles.iter().find(own) {
                    Some(one) => node(one.tile, one.explanation.chain.last().copied().unwrap_or(0)),
                    None => {
                        outside.push(other);
                        format!("t{}_{}", other.0, other.1)
                    }
                };
                let word = dot_text(&remote.word);
                if drawn.insert(to.clone()) {
                    let _ = writeln!(text, "  {from} -> {to} [style=dashed, label=\"{word}\"];");
                }
            }
        }
        outside.sort_unstable();
        outside.dedup();
        for (x, y) in outside {
            let (what, colour) = match self.sent_astray((x, y)) {
                Some(_) => ("has sent it elsewhere", ", color=red, fontcolor=red"),
                None => ("not stuck", ""),
            };
            let _ = writeln!(text, "  t{x}_{y} [label=\"tile ({x}, {y}), {what}\"{colour}];");
        }
        text.push_str("}\n");
        text
    }

    fn dot_tile(&self, text: &mut String, tile: &TileReport) {
        let (x, y) = tile.tile;
        let mut label = place(tile);
        if !tile.alike.is_empty() {
            let _ = write!(label, " and {} alike", tile.alike.len());
        }
        let _ =
            writeln!(text, "  subgraph cluster_{x}_{y} {{\n    label=\"{}\";", dot_text(&label));
        for (at, link) in tile.explanation.waits.iter().enumerate() {
            let is_cause = link.root && self.tiles.first().is_some_and(|one| one.tile == tile.tile);
            let colour = if is_cause { ", color=red, fontcolor=red" } else { "" };
            let label = format!("{}\\n{}", link.agent, dot_text(&link.text));
            let _ = writeln!(text, "    {} [label=\"{label}\"{colour}];", node(tile.tile, at));
            for to in &link.to {
                let _ = writeln!(text, "    {} -> {};", node(tile.tile, at), node(tile.tile, *to));
            }
        }
        text.push_str("  }\n");
    }

    /// A page of its own: the grid with who is in what state, and for each tile why.
    #[must_use]
    pub fn html(&self) -> String {
        let class = self.cause.hazard;
        let class = class.map(|hazard| format!("[{}]: {}", hazard.id, hazard.name));
        let mut page = head("tilescope: why the chip hangs");
        let _ = write!(
            page,
            "<h1>{}{}</h1><p class=lead>{}</p><p>found at cycle {}; {}</p>{}{}",
            self.verdict,
            escape(&class.unwrap_or_default()),
            escape(&self.cause.headline),
            self.found,
            escape(&self.host),
            self.legend(),
            self.map()
        );
        page.push_str(SCRIPT);
        self.picture(&mut page);
        let story = self.cause.to_string();
        if !story.is_empty() {
            let _ = write!(
                page,
                "<details><summary>the same as text</summary><pre>{}</pre></details>",
                escape(story.trim())
            );
        }
        for (index, tile) in self.tiles.iter().enumerate() {
            let open = if index == 0 { " open" } else { "" };
            let _ = write!(
                page,
                "<details id=\"t{}-{}\"{open}><summary>{}: {}</summary>{}{}<pre>{}</pre></details>",
                tile.tile.0,
                tile.tile.1,
                place(tile),
                escape(&tile.explanation.headline),
                facts(tile),
                tile.explanation.drawings(),
                escape(told(tile).trim())
            );
        }
        // The first tile says it of what it has found by itself.
        let own = self.tiles.first().and_then(|tile| tile.explanation.hazard);
        if let Some(hazard) = self.cause.hazard.filter(|_| own.is_none()) {
            let _ = write!(page, "<p class=help>help: {}</p>", escape(hazard.next));
        }
        page.push_str("</body></html>\n");
        page
    }

    /// The waits of the cause across tiles as a row of boxes, each with what it needs of the next; of a circle the
    /// first once more.
    fn picture(&self, page: &mut String) {
        let cause = &self.cause;
        let steps = if cause.circle { &cause.ring } else { &cause.chain };
        if steps.len() < 2 {
            return;
        }
        page.push_str("<h2>Who waits for whom, over the chip</h2>\n<ol class=story>");
        for (at, step) in steps.iter().enumerate() {
            let ((x, y), is_root) = (step.tile, cause.circle || at + 1 == steps.len());
            let place = step.place().unwrap_or_default();
            let since =
                step.since.map_or_else(String::new, |since| format!("since cycle {since} "));
            let _ = write!(
                page,
                "<li><div{}><a href=\"#t{x}-{y}\"><b>tile ({x}, {y}) {}</b></a> {}<br><small>{since}in {}</small></div>",
                if is_root { " class=first" } else { "" },
                escape(&step.agent),
                escape(&step.text),
                escape(&place)
            );
            if let Some(needs) = &step.needs {
                let _ = write!(page, "<p>&#8595; {}</p>", escape(needs));
            }
            page.push_str("</li>");
        }
        page.push_str("</ol>\n");
    }

    /// The grid of workers, as large as the tiles that are spoken of need it.
    fn map(&self) -> String {
        let all = self.tiles.iter().flat_map(|tile| tile.alike.iter().chain([&tile.tile]));
        let all = all.chain(&self.bystanders).copied();
        let all = all.chain(self.astray().map(|(sender, _)| sender.tile));
        let all = all.chain(self.returned().map(|sender| sender.tile));
        let (columns, rows) = all.fold((0, 0), |(x, y), at| (x.max(at.0), y.max(at.1)));
        let mut text = String::from("<table class=map><tr><th></th>");
        for x in 0..=columns {
            let _ = write!(text, "<th>{x}</th>");
        }
        for y in 0..=rows {
            let _ = write!(text, "</tr><tr><th>{y}</th>");
            for x in 0..=columns {
                text.push_str(&self.cell((x, y)));
            }
        }
        text.push_str("</tr></table>");
        text
    }

    /// Who has sent elsewhere what the tile with the cause waits for, and that tile, if that is what went wrong.
    fn astray(&self) -> impl Iterator<Item = (&Sender, (u8, u8))> {
        let astray = [hazards::D1, hazards::D2, hazards::D3];
        let is_told =
            self.cause.hazard.is_some_and(|cause| astray.iter().any(|one| one.id == cause.id));
        self.tiles.iter().take(usize::from(is_told)).flat_map(|tile| {
            let senders = tile.remote.iter().flat_map(|remote| &remote.elsewhere);
            senders.map(|sender| (sender, tile.tile))
        })
    }

    fn sent_astray(&self, at: (u8, u8)) -> Option<(&Sender, (u8, u8))> {
        self.astray().find(|(sender, _)| sender.tile == at)
    }

    /// Tiles that have written what others wait for more of, and whose kernel has returned.
    fn returned(&self) -> impl Iterator<Item = &Sender> {
        let remotes = self.tiles.iter().filter_map(|tile| tile.remote.as_ref());
        remotes.flat_map(|remote| &remote.arrived).filter(|sender| sender.finished)
    }

    /// What the colours of the map say, of those that are in it.
    fn legend(&self) -> String {
        let mut text = String::from(
            "<p class=legend>workers as the runtime counts them, columns and rows: \
             <span class=cause>waits first</span> ",
        );
        let sent = self.astray().next().is_some();
        for (class, name, is_there) in [
            ("sent", "has sent it elsewhere", sent),
            ("done", "has returned", self.returned().next().is_some()),
            (
                "stuck",
                "stuck",
                self.tiles.len() > 1 || !self.tiles.iter().all(|tile| tile.alike.is_empty()),
            ),
            ("busy", "not stuck", !self.bystanders.is_empty()),
        ] {
            if is_there {
                let _ = write!(text, "<span class={class}>{name}</span> ");
            }
        }
        text.push_str("<span>at rest</span>; click a tile for why</p>");
        text
    }

    fn cell(&self, at: (u8, u8)) -> String {
        let own = |tile: &&TileReport| tile.tile == at || tile.alike.contains(&at);
        match self.tiles.iter().enumerate().find(|(_, tile)| own(tile)) {
            Some((index, tile)) => {
                let class = if index == 0 && tile.tile == at { "cause" } else { "stuck" };
                let title = escape(&tile.explanation.headline);
                let (x, y) = tile.tile;
                let is_sent = class != "cause" && self.sent_astray(at).is_some();
                let class = if is_sent { "sent" } else { class };
                format!(
                    "<td class={class} title=\"{title}\"><a href=\"#t{x}-{y}\">{}</a></td>",
                    tile.explanation.hazard.map_or("!", |hazard| hazard.id)
                )
            }
            None if let Some((sender, (x, y))) = self.sent_astray(at) => {
                let title = escape(&sender.to_string());
                format!("<td class=sent title=\"{title}\"><a href=\"#t{x}-{y}\">&#8599;</a></td>")
            }
            None if let Some(sender) = self.returned().find(|sender| sender.tile == at) => {
                format!("<td class=done title=\"{}\"></td>", escape(&sender.to_string()))
            }
            None if self.bystanders.contains(&at) => {
                "<td class=busy title=\"within a kernel or serving others, not stuck\"></td>"
                    .to_owned()
            }
            None => "<td title=\"at rest\"></td>".to_owned(),
        }
    }
}

/// The node of a wait of a tile.
fn node((x, y): (u8, u8), at: usize) -> String {
    format!("t{x}_{y}_n{at}")
}

fn dot_text(text: &str) -> String {
    text.replace('\\', "/").replace('"', "'")
}

/// What is said of a tile: who wrote what it waits for, why it does not move, its last requests.
fn told(tile: &TileReport) -> String {
    let remote = tile.remote.as_ref().map(|remote| format!("{remote}\n")).unwrap_or_default();
    let mut text = format!("{remote}{}", tile.explanation);
    if !tile.requests.is_empty() {
        text.push_str("its last requests on that NoC:\n");
    }
    for request in &tile.requests {
        let _ = writeln!(text, "  {request}");
    }
    text
}

fn facts(tile: &TileReport) -> String {
    let mut text = format!("<p>{}", tile.role);
    if let Some(operation) = &tile.operation {
        let _ = write!(text, "; operation {}", escape(operation));
    }
    for (core, kernel) in &tile.kernels {
        let _ = write!(text, "; {core} runs {}", escape(kernel));
    }
    if !tile.alike.is_empty() {
        let alike: Vec<_> = tile.alike.iter().map(|(x, y)| format!("({x}, {y})")).collect();
        let _ = write!(text, "; alike: {}", alike.join(" "));
    }
    text.push_str("</p>");
    text
}

/// Every result says on which tile it is.
fn mark(log: &mut Value, tile: &str) {
    for result in log["runs"][0]["results"].as_array_mut().into_iter().flatten() {
        let text = format!("{tile}: {}", result["message"]["text"].as_str().unwrap_or_default());
        result["message"]["text"] = json!(text);
    }
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A link to a tile opens what is said of it.
const SCRIPT: &str = "<script>addEventListener('hashchange',()=>{\
const t=document.getElementById(location.hash.slice(1));if(t)t.open=true})</script>";

/// How a page begins.
pub(crate) fn head(title: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width,initial-scale=1\"><title>{}</title>\
         <style>{DRAWINGS}{STYLE}</style></head><body>\n",
        escape(title)
    )
}

/// What pages of a chip are made of besides drawings of its tiles.
const STYLE: &str = "\
:root{--pre:#f6f6f6;--stuck:#ffcc80;--busy:#c8e6c9;--sent:#d1b3e6;--done:#dcdcdc}\
@media(prefers-color-scheme:dark){:root{--pre:#1f2429;\
--stuck:#7a4b00;--busy:#1e4d2b;--sent:#553371;--done:#3c4248}}\
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;padding:0 1.2em;max-width:76em;\
background:var(--back);color:var(--text)}\
h1{font-size:1.5em;margin:0 0 .4em}.lead{font-size:1.15em}h1,p,li{overflow-wrap:anywhere}\
pre{background:var(--pre);padding:1em;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px}\
.map{display:block;overflow-x:auto;border-spacing:2px;margin:1em 0}\
.map td{min-width:2.4em;height:2em;text-align:center;border:1px solid var(--line);font-size:11px;padding:0}\
.map th{font-weight:normal;color:var(--dim);font-size:11px}\
.map a{display:block;line-height:2.4em;color:inherit;text-decoration:none}\
.stuck{background:var(--stuck)}.busy{background:var(--busy)}.sent{background:var(--sent)}.done{background:var(--done)}\
.cause{background:#c62828;color:#fff}\
.legend span{padding:0 .5em;border:1px solid var(--line);white-space:nowrap}\
.story{list-style:none;padding:0;max-width:60em}.story div{border:1px solid var(--edge);background:var(--box);\
border-radius:5px;padding:.4em .8em}\
.story .first{background:var(--root);border-color:var(--bad)}.story a{color:inherit}\
.story p{margin:.3em .8em;font-size:.9em;color:var(--dim)}\
.legend{line-height:1.9}body>details>summary{font-weight:600;margin-top:.6em;overflow-wrap:anywhere}\
@media(max-width:40em){body{margin:1em 0}pre{font-size:12px;padding:.7em}}";
