//! The report in the forms that programs and browsers read.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::report::{Report, TileReport};
use crate::show::place;

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
                let _ = writeln!(text, "  {from} -> {to} [style=dashed, label=\"{word}\"];");
            }
        }
        outside.sort_unstable();
        outside.dedup();
        for (x, y) in outside {
            let _ = writeln!(text, "  t{x}_{y} [label=\"tile ({x}, {y}), not stuck\"];");
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
        let mut page = String::from(HEAD);
        let _ = write!(
            page,
            "<h1>{}: {}</h1><p>found at cycle {}; {}</p>{LEGEND}{}",
            self.verdict,
            escape(&self.cause.headline),
            self.found,
            escape(&self.host),
            self.map()
        );
        page.push_str(SCRIPT);
        let story = self.cause.to_string();
        if !story.is_empty() {
            let _ = write!(page, "<pre>{}</pre>", escape(story.trim()));
        }
        for (index, tile) in self.tiles.iter().enumerate() {
            let open = if index == 0 { " open" } else { "" };
            let _ = write!(
                page,
                "<details id=\"t{}-{}\"{open}><summary>{}: {}</summary>{}<pre>{}</pre></details>",
                tile.tile.0,
                tile.tile.1,
                place(tile),
                escape(&tile.explanation.headline),
                facts(tile),
                escape(&tile.explanation.to_string())
            );
        }
        page.push_str("</body></html>\n");
        page
    }

    /// The grid of workers, as large as the tiles that are spoken of need it.
    fn map(&self) -> String {
        let all = self.tiles.iter().flat_map(|tile| tile.alike.iter().chain([&tile.tile]));
        let all = all.chain(&self.bystanders).copied();
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

    fn cell(&self, at: (u8, u8)) -> String {
        let own = |tile: &&TileReport| tile.tile == at || tile.alike.contains(&at);
        match self.tiles.iter().enumerate().find(|(_, tile)| own(tile)) {
            Some((index, tile)) => {
                let class = if index == 0 { "cause" } else { "stuck" };
                let title = escape(&tile.explanation.headline);
                let (x, y) = tile.tile;
                format!(
                    "<td class={class} title=\"{title}\"><a href=\"#t{x}-{y}\">{}</a></td>",
                    tile.explanation.hazard.map_or("!", |hazard| hazard.id)
                )
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What the colours of the map say.
const LEGEND: &str = "<p class=legend>workers as the runtime counts them, columns and rows: \
<span class=cause>the cause</span> <span class=stuck>stuck</span> <span class=busy>not stuck</span> \
at rest; click a tile for why</p>";

/// A link to a tile opens what is said of it.
const SCRIPT: &str = "<script>addEventListener('hashchange',()=>{\
const t=document.getElementById(location.hash.slice(1));if(t)t.open=true})</script>";

const HEAD: &str = "<!doctype html><html lang=en><head><meta charset=utf-8>\
<title>tilescope: why the chip hangs</title><style>\
body{font:14px/1.4 system-ui,sans-serif;margin:2em;max-width:72em}\
pre{background:#f6f6f6;padding:1em;overflow-x:auto}\
.map td{width:2.2em;height:1.8em;text-align:center;border:1px solid #ccc;font-size:11px}\
.map th{font-weight:normal;color:#888;font-size:11px}\
.cause{background:#c62828}.cause a{color:#fff}.stuck{background:#ffcc80}.busy{background:#c8e6c9}\
.legend span{padding:0 .5em;border:1px solid #ccc}.legend .cause{color:#fff}.map a{display:block;color:inherit;text-decoration:none}\
summary{cursor:pointer;font-weight:600;margin-top:.6em}\
</style></head><body>\n";
