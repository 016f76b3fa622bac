//! `backend_config.toml`: backend configuration fields.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::{source, text};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    section: Vec<Section>,
}

/// A block of configuration words.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Vendor's name of the block, e.g. `THCON`.
    pub name: String,
    /// First word of the block.
    pub base: u32,
    /// `thread` (ThreadConfig) or `config` (Config).
    pub scope: String,
    /// Source keys of all its fields.
    #[serde(default)]
    pub source: Vec<String>,
    /// The fields.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Vendor's spelling.
    pub name: String,
    /// Index of the 32-bit word.
    pub addr32: u32,
    /// Lowest bit.
    pub lo: u32,
    /// Bits; a multiple of 32 when the field spans whole words.
    pub width: u32,
    /// Where sources disagree.
    #[serde(default)]
    pub note: String,
}

/// Words per thread of ThreadConfig and words per bank of Config [hdr: cfg_defines.h].
const SCOPES: &[(&str, u32)] = &[("thread", 68), ("config", 224)];

/// Reads and checks the table.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Vec<Section>, TableError> {
    let file: File = super::read(table, toml)?;
    let mut problems = Problems::default();
    let mut names = BTreeMap::new();
    let mut bits = BTreeMap::new();
    for section in &file.section {
        source::check(&section.name, &section.source, &mut problems);
        let Some((_, words)) = SCOPES.iter().find(|(name, _)| *name == section.scope) else {
            problems.add(format!("{}: unknown scope `{}`", section.name, section.scope));
            continue;
        };
        for field in &section.fields {
            check_field(section, field, *words, &mut problems);
            if names.insert(field.name.to_ascii_lowercase(), ()).is_some() {
                problems.add(format!("{}: name is used twice", field.name));
            }
            for bit in field.lo..field.lo.saturating_add(field.width.min(4096)) {
                let place = (section.scope.clone(), field.addr32 + bit / 32, bit % 32);
                if let Some(other) = bits.insert(place, field.name.clone()) {
                    problems.add(format!("{}: overlaps {other}", field.name));
                    break;
                }
            }
        }
    }
    problems.finish(table)?;
    Ok(file.section)
}

fn check_field(section: &Section, field: &Field, words: u32, problems: &mut Problems) {
    let name = &field.name;
    if !text::is_snake(&name.to_ascii_lowercase()) {
        problems.add(format!("{name}: cannot be an identifier"));
    }
    let whole_words = field.lo == 0 && field.width != 0 && field.width % 32 == 0;
    let inside = field.width != 0 && field.lo.saturating_add(field.width) <= 32;
    if !whole_words && !inside {
        problems.add(format!("{name}: bits {}+{} leave the word", field.lo, field.width));
    }
    if field.addr32 < section.base {
        problems.add(format!("{name}: word {} precedes its section", field.addr32));
    }
    if field.addr32.saturating_add(field.width.div_ceil(32)) > words {
        problems.add(format!("{name}: word {} is past the end ({words})", field.addr32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(fields: &str) -> String {
        let toml = format!(
            "[[section]]\nname = \"S\"\nbase = 2\nscope = \"thread\"\n\
             source = [\"inferred:test\"]\nfields = [{fields}]\n"
        );
        parse("t.toml", &toml).expect_err("the rows are wrong").to_string()
    }

    #[test]
    fn config_field_crossing_a_word_is_refused() {
        let text = refusal("{name=\"A\",addr32=2,lo=30,width=3}");
        assert!(text.contains("A: bits 30+3 leave the word"), "{text}");
    }

    #[test]
    fn config_field_overlap_is_refused() {
        let text = refusal("{name=\"A\",addr32=2,lo=0,width=3},{name=\"B\",addr32=2,lo=2,width=1}");
        assert!(text.contains("B: overlaps A"), "{text}");
    }

    #[test]
    fn config_field_name_twice_is_refused() {
        let text = refusal("{name=\"A\",addr32=2,lo=0,width=1},{name=\"a\",addr32=3,lo=2,width=1}");
        assert!(text.contains("a: name is used twice"), "{text}");
    }

    #[test]
    fn config_field_outside_section_or_bank_is_refused() {
        let text =
            refusal("{name=\"A\",addr32=1,lo=0,width=1},{name=\"B\",addr32=68,lo=2,width=1}");
        assert!(text.contains("A: word 1 precedes its section"), "{text}");
        assert!(text.contains("B: word 68 is past the end (68)"), "{text}");
    }
}
