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

    /// A page of its own: the grid with who is in what state, and for each tile why.
    #[must_use]
    pub fn html(&self) -> String {
        let mut page = String::from(HEAD);
        let _ = write!(
            page,
            "<h1>{}</h1><p>found at cycle {}; {}</p>{}",
            self.verdict,
            self.found,
            escape(&self.host),
            self.map()
        );
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
            None if self.bystanders.contains(&at) => "<td class=busy></td>".to_owned(),
            None => "<td></td>".to_owned(),
        }
    }
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

const HEAD: &str = "<!doctype html><html lang=en><head><meta charset=utf-8>\
<title>tilescope: why the chip hangs</title><style>\
body{font:14px/1.4 system-ui,sans-serif;margin:2em;max-width:72em}\
pre{background:#f6f6f6;padding:1em;overflow-x:auto}\
.map td{width:2.2em;height:1.8em;text-align:center;border:1px solid #ccc;font-size:11px}\
.map th{font-weight:normal;color:#888;font-size:11px}\
.cause{background:#c62828}.cause a{color:#fff}.stuck{background:#ffcc80}.busy{background:#c8e6c9}\
summary{cursor:pointer;font-weight:600;margin-top:.6em}\
</style></head><body>\n";
