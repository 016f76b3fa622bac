//! The explanation for other programs: SARIF 2.1.0 and Graphviz.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Explanation, Link, hazards};

impl Explanation {
    /// A SARIF 2.1.0 log with one result for the cause and one per finding.
    #[must_use]
    pub fn sarif(&self) -> Value {
        let rules: Vec<_> = hazards::ALL
            .iter()
            .map(|hazard| {
                json!({
                    "id": hazard.id,
                    "name": hazard.name,
                    "shortDescription": { "text": hazard.doc },
                    "help": { "text": hazard.next },
                })
            })
            .collect();
        let mut results = Vec::new();
        if !matches!(self.end, super::End::Done) {
            let root = self.chain.last().map(|at| &self.waits[*at]);
            let related: Vec<_> =
                self.chain.iter().rev().skip(1).map(|at| location(&self.waits[*at])).collect();
            results.push(json!({
                "ruleId": self.hazard.map_or("unclassified", |hazard| hazard.id),
                "level": "error",
                "message": { "text": format!("{}: {}", self.end.name(), self.headline) },
                "locations": root.map(location).into_iter().collect::<Vec<_>>(),
                "relatedLocations": related,
            }));
        }
        for finding in &self.findings {
            results.push(json!({
                "ruleId": finding.hazard.id,
                "level": "warning",
                "message": { "text": finding.text },
                "locations": [place(finding.code.as_ref(), &finding.agent.to_string())],
            }));
        }
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "tilescope",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "results": results,
            }],
        })
    }

    /// The wait-for graph as a Graphviz `digraph`; what the cause is made of is red.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut text = String::from("digraph waits {\n  rankdir=LR;\n  node [shape=box];\n");
        for (at, link) in self.waits.iter().enumerate() {
            let colour = if link.root { ", color=red, fontcolor=red" } else { "" };
            let label = format!("{}\\n{}", link.agent, link.text).replace('"', "'");
            let _ = writeln!(text, "  n{at} [label=\"{label}\"{colour}];");
            for to in &link.to {
                let both = link.root && self.waits[*to].root && self.circle;
                let colour = if both { " [color=red]" } else { "" };
                let _ = writeln!(text, "  n{at} -> n{to}{colour};");
            }
        }
        text.push_str("}\n");
        text
    }
}

fn location(link: &Link) -> Value {
    let mut value = place(link.code.as_ref(), &link.agent.to_string());
    value["message"] = json!({ "text": format!("{} {}", link.agent, link.text) });
    value
}

fn place(code: Option<&crate::CodeName>, agent: &str) -> Value {
    let mut value = json!({ "logicalLocations": [{ "name": agent, "kind": "module" }] });
    if let Some(code) = code {
        value["logicalLocations"][0]["fullyQualifiedName"] =
            json!(format!("{agent}::{}", code.function));
        if let Some(file) = &code.file {
            value["physicalLocation"] = json!({
                "artifactLocation": { "uri": file },
                "region": { "startLine": code.line.unwrap_or(1) },
            });
        }
    }
    value
}
