//! The TOML side of a plan: which keys there are. No meaning.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use super::args::RawArg;

/// `[[launch]]`.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLaunch {
    pub(super) name: String,
    #[serde(default)]
    pub(super) mode: RawMode,
    #[serde(default = "one")]
    pub(super) repeat: u32,
    pub(super) enables: Option<Vec<RawEnable>>,
    #[serde(default)]
    pub(super) preload: bool,
    pub(super) kernel_config_base: Option<u32>,
    #[serde(default)]
    pub(super) noc: u8,
    pub(super) dispatch: Option<RawDispatch>,
    pub(super) tiles: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) cb: Vec<RawCb>,
    #[serde(default)]
    pub(super) semaphores: Vec<u32>,
    #[serde(default)]
    pub(super) kernel: BTreeMap<String, RawKernel>,
    #[serde(default)]
    pub(super) input: Vec<RawBlock>,
    #[serde(default)]
    pub(super) expect: Vec<RawBlock>,
    #[serde(default)]
    pub(super) on: Vec<RawOn>,
    #[serde(default)]
    pub(super) meanwhile: Vec<RawAction>,
    #[serde(default)]
    pub(super) after: Vec<RawAction>,
}

/// `[[launch.on]]`: what is different on some of the launch's tiles.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOn {
    pub(super) tiles: Vec<Value>,
    pub(super) enables: Option<Vec<RawEnable>>,
    pub(super) cb: Option<Vec<RawCb>>,
    pub(super) semaphores: Option<Vec<u32>>,
    #[serde(default)]
    pub(super) kernel: BTreeMap<String, RawKernel>,
    #[serde(default)]
    pub(super) input: Vec<RawBlock>,
    #[serde(default)]
    pub(super) expect: Vec<RawBlock>,
}

/// `[[launch.meanwhile]]` and `[[launch.after]]`: one of them.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAction {
    pub(super) write: Option<RawBlock>,
    pub(super) read: Option<RawSpan>,
    pub(super) wait: Option<RawBlock>,
    pub(super) cycles: Option<u64>,
}

/// A range to read.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSpan {
    pub(super) tile: Option<[u8; 2]>,
    pub(super) dram: Option<u8>,
    pub(super) address: u32,
    pub(super) bytes: u32,
}

#[derive(Deserialize, Debug, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawMode {
    Dev,
    #[default]
    Host,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawEnable {
    Brisc,
    Ncrisc,
    Trisc,
}

/// Where a DEV-mode launch reports to.
#[derive(Deserialize, Debug, Clone, Copy, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDispatch {
    pub(super) x: u8,
    pub(super) y: u8,
    #[serde(default)]
    pub(super) message_offset: u8,
}

#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCb {
    pub(super) index: u8,
    pub(super) address: u32,
    pub(super) size: u32,
    pub(super) num_pages: u32,
    pub(super) page_size: u32,
}

/// `[launch.kernel.CORE]`.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKernel {
    pub(super) elf: Option<String>,
    pub(super) image: Option<String>,
    pub(super) address: Option<u32>,
    pub(super) args: Option<Vec<RawArg>>,
    pub(super) common_args: Option<Vec<RawArg>>,
}

/// `[[launch.input]]` and `[[launch.expect]]`.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBlock {
    pub(super) tile: Option<[u8; 2]>,
    pub(super) dram: Option<u8>,
    pub(super) address: u32,
    pub(super) words: Option<Vec<i64>>,
    pub(super) bytes_hex: Option<String>,
    pub(super) file: Option<String>,
}

const fn one() -> u32 {
    1
}

/// The launches of a plan as untyped values, so that errors can name the launch.
pub(super) fn parse(text: &str) -> Result<Vec<Value>, String> {
    let mut table: toml::Table = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let literal = error.span().and_then(|span| text.get(span)).and_then(beyond_integers);
        match literal {
            Some(literal) => {
                let key = key_before(before).map_or_else(String::new, |key| format!("{key}: "));
                format!("line {line}: {key}{literal} is out of range; expected {WORD}")
            }
            None => format!("line {line}: {}", one_line(error.message())),
        }
    })?;
    let launches = table.remove("launch");
    if let Some(key) = table.keys().next() {
        return Err(format!("unknown key `{key}`; a plan is a list of [[launch]]"));
    }
    match launches {
        Some(Value::Array(launches)) if !launches.is_empty() => Ok(launches),
        None => Err("no [[launch]]".to_owned()),
        Some(_) => Err("`launch` must be a list: write [[launch]]".to_owned()),
    }
}

/// Numbers that are words of the guest, signed or not.
const WORD: &str = "a whole number from -2147483648 to 4294967295";

/// A whole number that TOML's integers, of 64 bits with a sign, cannot hold.
fn beyond_integers(literal: &str) -> Option<&str> {
    let plain = literal.trim().replace('_', "");
    let digits = plain.trim_start_matches(['-', '+']);
    let number = ["0x", "0o", "0b"].into_iter().find_map(|prefix| digits.strip_prefix(prefix));
    let digit = |digit: char| digit.is_ascii_hexdigit();
    let whole = match number {
        Some(number) => number.chars().all(digit),
        None => digits.chars().all(|digit| digit.is_ascii_digit()),
    };
    // Only one that is too long is refused where it stands.
    (whole && !digits.is_empty()).then_some(literal.trim())
}

/// The key that a value at the end of `before` belongs to.
fn key_before(before: &str) -> Option<&str> {
    let (left, _) = before.rsplit_once('=')?;
    let key = left.rsplit(['\n', '{', ',']).next()?.trim();
    (!key.is_empty()).then_some(key)
}

/// How errors call a launch.
pub(super) fn launch_name(value: &Value, index: usize) -> String {
    let name = value.get("name").and_then(Value::as_str);
    name.map_or_else(|| (index + 1).to_string(), |name| format!("{name:?}"))
}

/// The typed form of one launch.
pub(super) fn launch(value: Value) -> Result<RawLaunch, String> {
    value.try_into().map_err(|error: toml::de::Error| ranges(&one_line(&error.to_string())))
}

/// Says what a number may be instead of naming the type that holds it.
fn ranges(text: &str) -> String {
    let words = [
        ("expected u8", "expected a whole number from 0 to 255"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected i64", &format!("expected {WORD}")),
        ("expected struct RawKernel", "expected a table"),
        ("expected struct RawBlock", "expected a table"),
        ("expected struct RawCb", "expected a table"),
        ("expected struct RawDispatch", "expected a table"),
        ("expected struct RawOn", "expected a table"),
        ("expected struct RawAction", "expected a table"),
        ("expected struct RawSpan", "expected a table"),
    ];
    words.into_iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
