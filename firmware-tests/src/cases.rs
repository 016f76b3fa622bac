//! Case files: what to load, what to feed, what must come out.
//!
//! Two shapes: `[[launch]]` for kernels started through the mailbox protocol (`programs/kernels/*/case.toml`) and `[[case]]` for
//! bare programs (`programs/bare/*/case.toml`). The keys are explained in `programs/README.md`. Unknown keys are errors.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Words to find in L1 after a run.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// L1 byte address, a multiple of four.
    pub address: u32,
    /// Consecutive 32-bit words.
    pub words: Vec<u32>,
}

/// What to find in L1 after a launch: words, or the bytes of a file beside the case.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// L1 byte address, a multiple of four.
    pub address: u32,
    /// Consecutive 32-bit words.
    pub words: Option<Vec<u32>>,
    /// Name of a file with the bytes.
    pub file: Option<String>,
}

/// Bytes to write before a run, in one of three spellings.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// L1 byte address.
    pub address: u32,
    /// Consecutive 32-bit words.
    pub words: Option<Vec<u32>>,
    /// Bytes as hexadecimal digits.
    pub bytes_hex: Option<String>,
    /// A file beside the case file.
    pub file: Option<String>,
}

impl Input {
    /// The bytes to write; `folder` is the case file's.
    ///
    /// # Errors
    /// [`CaseError`] if not exactly one spelling is used, the digits are bad, or the file cannot be read.
    pub fn bytes(&self, folder: &Path) -> Result<Vec<u8>, CaseError> {
        match (&self.words, &self.bytes_hex, &self.file) {
            (Some(words), None, None) => Ok(words.iter().flat_map(|w| w.to_le_bytes()).collect()),
            (None, Some(text), None) => decode_hex(text),
            (None, None, Some(name)) => std::fs::read(folder.join(name)).map_err(CaseError::Read),
            _ => Err(CaseError::Parse(format!(
                "input at {:#x}: give one of words, bytes_hex, file",
                self.address
            ))),
        }
    }
}

fn decode_hex(text: &str) -> Result<Vec<u8>, CaseError> {
    let bad = || CaseError::Parse("bytes_hex: an even number of hexadecimal digits".to_owned());
    let digits = text
        .chars()
        .map(|digit| digit.to_digit(16))
        .collect::<Option<Vec<u32>>>()
        .ok_or_else(bad)?;
    if digits.len() % 2 != 0 {
        return Err(bad());
    }
    Ok(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

/// One circular buffer of a launch, in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CircularBuffer {
    /// Index, 0 to 63.
    pub index: u32,
    /// L1 byte address.
    pub address: u32,
    /// Size in bytes.
    pub size: u32,
    /// Pages in the buffer.
    pub num_pages: u32,
    /// Bytes in a page.
    pub page_size: u32,
}

/// The kernel of one core.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// ELF beside the case file.
    pub elf: String,
    /// Unique runtime arguments.
    #[serde(default)]
    pub args: Vec<u32>,
    /// Common runtime arguments.
    #[serde(default)]
    pub common_args: Vec<u32>,
}

/// One launch, perhaps repeated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Name for reports.
    pub name: String,
    /// `host` or `dev`.
    pub mode: String,
    /// Cores to enable (`brisc`, `ncrisc`, `trisc`); without it those that have a kernel.
    pub enables: Option<Vec<String>>,
    /// Start the kernels before GO.
    #[serde(default)]
    pub preload: bool,
    /// L1 address of the kernel-config block.
    #[serde(default = "default_config_base")]
    pub kernel_config_base: u32,
    /// How many times in a row.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Circular buffers.
    #[serde(default)]
    pub cb: Vec<CircularBuffer>,
    /// Initial values of L1 semaphores.
    #[serde(default)]
    pub semaphores: Vec<u32>,
    /// Kernels by core name.
    pub kernel: BTreeMap<String, Kernel>,
    /// L1 contents to write before the first launch.
    #[serde(default)]
    pub input: Vec<Input>,
    /// What to find in L1 after the last.
    #[serde(default)]
    pub expect: Vec<Expected>,
}

fn default_config_base() -> u32 {
    0xA080 // first free byte after init [spec: boot-and-sync 1.2]
}

fn once() -> u32 {
    1
}

/// One core of a bare case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BareCore {
    /// Core name.
    pub core: String,
    /// ELF beside the case file.
    pub elf: String,
    /// Load address and reset PC.
    pub address: u32,
    /// Whether the loader takes it out of reset.
    #[serde(default = "yes")]
    pub released: bool,
}

fn yes() -> bool {
    true
}

/// How a bare case must end.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// Every core ran to its final spin.
    Done,
    /// Agents wait for what nobody can bring: a proof is required.
    Deadlock,
    /// A guest mistake, diagnosed at its instruction.
    Fault,
    /// A core halted for a debugger.
    Halt,
    /// Only the host could continue it.
    HostWait,
}

/// The expected verdict.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Kind of ending.
    pub kind: VerdictKind,
    /// Id in the hazard catalogue, if it has one.
    pub hazard: Option<String>,
    /// Cores (`trisc0`) and Tensix threads (`thread0`) that are stuck or at fault.
    #[serde(default)]
    pub blocked: Vec<String>,
    /// Why.
    pub reason: Option<String>,
}

/// One bare-metal case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BareCase {
    /// Name for reports.
    pub name: String,
    /// Cycles that are plenty.
    pub limit: u64,
    /// Cores and their programs.
    pub core: Vec<BareCore>,
    /// L1 contents to write before.
    #[serde(default)]
    pub input: Vec<Input>,
    /// L1 words to find after.
    #[serde(default)]
    pub expect: Vec<Words>,
    /// How it ends.
    pub verdict: Verdict,
}

/// A case file of either shape.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// Kernel launches, run in order on one booted tile.
    #[serde(default)]
    pub launch: Vec<Launch>,
    /// Bare cases, each on a fresh tile.
    #[serde(default)]
    pub case: Vec<BareCase>,
}

/// Why a case file could not be used.
#[derive(Debug)]
pub enum CaseError {
    /// The file could not be read.
    Read(std::io::Error),
    /// The file is not a case file; the text says where.
    Parse(String),
}

impl std::fmt::Display for CaseError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(error) => write!(out, "cannot read the case file: {error}"),
            Self::Parse(text) => write!(out, "not a case file: {text}"),
        }
    }
}

impl std::error::Error for CaseError {}

/// Reads one `case.toml`.
///
/// # Errors
/// [`CaseError`] if the file is missing, not TOML, or has unknown or missing keys.
pub fn load(path: &Path) -> Result<CaseFile, CaseError> {
    let text = std::fs::read_to_string(path).map_err(CaseError::Read)?;
    toml::from_str(&text).map_err(|error| CaseError::Parse(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_bytes_are_the_same_in_words_and_hex() {
        let input = |words, hex: Option<&str>| Input {
            address: 0,
            words,
            bytes_hex: hex.map(str::to_owned),
            file: None,
        };
        let folder = Path::new(".");
        let words = input(Some(vec![0x0403_0201]), None).bytes(folder).unwrap();
        assert_eq!(words, [1, 2, 3, 4]);
        assert_eq!(input(None, Some("01020304")).bytes(folder).unwrap(), [1, 2, 3, 4]);
    }

    #[test]
    fn input_with_bad_or_ambiguous_spelling_is_an_error() {
        let input = |words, hex: Option<&str>| Input {
            address: 0,
            words,
            bytes_hex: hex.map(str::to_owned),
            file: None,
        };
        let folder = Path::new(".");
        assert!(input(None, None).bytes(folder).is_err());
        assert!(input(None, Some("123")).bytes(folder).is_err());
        assert!(input(None, Some("zz")).bytes(folder).is_err());
        assert!(input(Some(vec![1]), Some("00")).bytes(folder).is_err());
    }
}
