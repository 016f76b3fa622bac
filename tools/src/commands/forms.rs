//! The explanation in files.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::allow::hazards;
use crate::output::write_whole;

/// Forms of the explanation.
#[derive(Args, Clone, Debug, Default)]
pub struct WhyOutput {
    /// Print the answer as one JSON object
    #[arg(long, help_heading = "Views")]
    pub json: bool,
    /// Write a SARIF 2.1.0 log; `-`, here and below, is standard output in place of the report
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub sarif: Option<PathBuf>,
    /// Write the wait-for graph for Graphviz, the cause in red
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub dot: Option<PathBuf>,
    /// Write why it hangs as a self-contained page: of a tile the handshake, a timeline and the graph, of a chip a
    /// map of its tiles
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub html: Option<PathBuf>,
    /// Checks to suppress: a TOML file of `[[allow]]` with `id` and `reason`
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub allow: Option<PathBuf>,
}

impl WhyOutput {
    /// Whether standard output is one of the files.
    pub(super) fn takes_stdout(&self) -> bool {
        let files = [&self.sarif, &self.dot, &self.html];
        files.into_iter().flatten().any(|path| path.as_os_str() == "-")
    }
}

/// Writes one of the files, if it is asked for.
pub(super) fn write_form(
    path: &Option<PathBuf>,
    text: &dyn Fn() -> String,
    out: &mut dyn Write,
) -> Result<()> {
    match path {
        Some(path) if path.as_os_str() == "-" => Ok(out.write_all(text().as_bytes())?),
        Some(path) => write_whole(path, text().as_bytes()),
        None => Ok(()),
    }
}

/// Ids of the checks that are not reported.
pub(super) fn suppressed(output: &WhyOutput) -> Result<Vec<String>> {
    output.allow.as_deref().map_or_else(|| Ok(Vec::new()), hazards)
}
