//! Reader of the instruction-level suites. Format and meaning: `suites/rv/README.md`.

use serde::Deserialize;
use std::path::Path;

/// All instruction forms of one extension.
#[derive(Debug, Clone, Deserialize)]
pub struct Suite {
    /// Name of the suite, e.g. `zba`.
    pub suite: String,
    /// The 64 bytes of memory before each row, in hexadecimal.
    pub memory_init: String,
    /// Instruction forms.
    pub forms: Vec<Form>,
}

/// One instruction word and its executions.
#[derive(Debug, Clone, Deserialize)]
pub struct Form {
    /// Assembly text, for reports.
    pub asm: String,
    /// The word, eight hexadecimal digits.
    pub word: String,
    /// Names of the operands of each row.
    #[serde(rename = "in")]
    pub inputs: Vec<String>,
    /// Names of the results of each row.
    #[serde(rename = "out")]
    pub outputs: Vec<String>,
    /// Executions whose values a Tensix core gives exactly.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Executions with subnormal numbers; IEEE 754 values.
    #[serde(default)]
    pub subnormal: Vec<String>,
    /// Multiply-adds in which fusing may matter; values of a fused operation.
    #[serde(default)]
    pub partly_fused: Vec<String>,
}

/// The suites that exist, by file stem.
pub const RV: [&str; 10] =
    ["i", "i_memory", "m", "zicsr", "zaamo", "zba", "zbb", "zbkb", "f", "zfh"];

impl Form {
    /// The instruction word; `None` if the text is not hexadecimal.
    #[must_use]
    pub fn instruction(&self) -> Option<u32> {
        u32::from_str_radix(&self.word, 16).ok()
    }

    /// Splits a row into operand and result values; `None` if it does not have as many as the form names.
    #[must_use]
    pub fn split(&self, row: &str) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut values = row
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| u32::from_str_radix(word, 16))
            .collect::<Result<Vec<_>, _>>()
            .ok()?;
        if values.len() != self.inputs.len() + self.outputs.len() {
            return None;
        }
        let results = values.split_off(self.inputs.len());
        Some((values, results))
    }
}

/// Reads `suites/rv/<name>.json`.
///
/// # Errors
/// The input/output error, or one of kind `InvalidData` if the file is not a suite.
pub fn load(name: &str) -> std::io::Result<Suite> {
    load_file(&crate::suites_dir().join("rv").join(name).with_extension("json"))
}

fn load_file(path: &Path) -> std::io::Result<Suite> {
    let text = std::fs::read_to_string(path)?;
    serde_json::from_str(&text)
        .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}
