//! Mistakes of kernels and firmware, told in the names of their sources.

use chip::{Chip, Mistake};
use serde_json::{Value, json};
use sim_core::{CoreId, Observer};
use symbols::catalog::Catalog;

use crate::calls::{RETURN_ADDRESS, call, caller};
use crate::forms::{escape, head};
use crate::names::read_names;
use crate::report::Report;
use crate::view::TileView;

/// Takes the mistakes since last asked, each in a line: what it was, the function with file and line, the kernel.
/// Names are those of the launch in force; `catalog` is asked for only if there is anything to name.
pub fn take<O: Observer + Send + 'static, C: AsRef<Catalog>>(
    chip: &mut Chip<O>,
    catalog: impl FnOnce() -> C,
) -> Vec<String> {
    let mistakes = chip.take_mistakes();
    all_told(chip, mistakes, catalog)
}

/// As [`take`], what is worth saying and no mistake.
pub fn notes<O: Observer + Send + 'static, C: AsRef<Catalog>>(
    chip: &mut Chip<O>,
    catalog: impl FnOnce() -> C,
) -> Vec<String> {
    let notes = chip.take_notes();
    all_told(chip, notes, catalog)
}

fn all_told<O: Observer + Send + 'static, C: AsRef<Catalog>>(
    chip: &mut Chip<O>,
    mistakes: Vec<Mistake>,
    catalog: impl FnOnce() -> C,
) -> Vec<String> {
    if mistakes.iter().all(|mistake| mistake.at.is_none()) {
        return mistakes.iter().map(ToString::to_string).collect();
    }
    let catalog = catalog();
    mistakes.into_iter().map(|mistake| told(chip, mistake, catalog.as_ref())).collect()
}

fn told<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    mistake: Mistake,
    catalog: &Catalog,
) -> String {
    let text = match mistake.at {
        Some(at) => format!("{}{}", mistake.text, placed(chip, mistake.tile, at, catalog)),
        None => mistake.text,
    };
    Mistake { text, ..mistake }.to_string()
}

/// Where a core of a tile is, or was in the launch in force, as the end of a sentence.
pub(crate) fn placed<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    tile: u16,
    (core, pc): (CoreId, u32),
    catalog: &Catalog,
) -> String {
    let place = chip.inspect(tile, |tile| {
        let view = TileView::new(&read_names(tile, catalog));
        let Some(code) = view.names.code(core, pc) else {
            let caller = caller(&*view.names, core, tile.core(core).register(RETURN_ADDRESS))?;
            return Some(format!(" in no code that is known, called from {caller}"));
        };
        // The author's own line comes first, however deep in a library it happened.
        let own = view.names.site(core, pc).filter(|own| *own != code);
        let call = call(&*view.names, core, pc, tile.core(core).register(RETURN_ADDRESS));
        let places = call.into_iter().chain(own).chain([code]).map(|place| place.to_string());
        let place = places.collect::<Vec<_>>().join(", within ");
        let kernel = view.kernels.iter().find(|(of, _)| of == core.name());
        let kernel = kernel.map(|(_, kernel)| format!(" [{kernel}]")).unwrap_or_default();
        Some(format!(" in {place}{kernel}"))
    });
    place.unwrap_or_default()
}

/// Mistakes in the forms that programs and browsers read, with the hang that was found besides.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Each in a line.
    pub errors: &'a [String],
    /// The hang.
    pub report: Option<&'a Report>,
}

impl Told<'_> {
    /// One JSON object: that of the report, if there is one, with `errors`.
    #[must_use]
    pub fn json(&self) -> String {
        let report = self.report.and_then(|report| serde_json::from_str(&report.json()).ok());
        let mut value: Value = report.unwrap_or_else(|| json!({ "verdict": VERDICT }));
        value["errors"] = json!(self.errors);
        format!("{value:#}")
    }

    /// A SARIF 2.1.0 log with a result for each mistake, and those of the report.
    #[must_use]
    pub fn sarif(&self) -> String {
        let report = self.report.and_then(|report| serde_json::from_str(&report.sarif()).ok());
        let mut log: Value = report.unwrap_or_else(|| {
            json!({
                "version": "2.1.0",
                "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
                "runs": [{ "tool": { "driver": { "name": "tilescope" } }, "results": [] }],
            })
        });
        if let Some(results) = log["runs"][0]["results"].as_array_mut() {
            let result = |error: &String| {
                json!({
                    "ruleId": "guest-error",
                    "level": "error",
                    "message": { "text": error },
                })
            };
            results.extend(self.errors.iter().map(result));
        }
        format!("{log:#}\n")
    }

    /// A page of its own: the mistakes, then the report.
    #[must_use]
    pub fn html(&self) -> String {
        let errors: Vec<String> =
            self.errors.iter().map(|error| format!("<li>{}</li>", escape(error))).collect();
        let list = format!("<ul class=errors>{}</ul>", errors.concat());
        match self.report {
            Some(_) if self.errors.is_empty() => self.report.map(Report::html).unwrap_or_default(),
            Some(report) => {
                let with = format!("<h2>Guest errors</h2>{list}</body>");
                report.html().replacen("</body>", &with, 1)
            }
            None => {
                let head = head("tilescope: guest errors");
                format!("{head}<h1>{VERDICT}</h1>{list}</body></html>\n")
            }
        }
    }
}

/// How a session is called in which kernels have erred and nothing else is known.
const VERDICT: &str = "GUEST-ERROR";
