//! `backend_config.toml`: backend configuration fields.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::{source, text};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Source keys of all users.
    #[serde(default)]
    user_source: Vec<String>,
    section: Vec<Section>,
    #[serde(default)]
    user: Vec<User>,
}

/// Units whose instructions go by fields of Config.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct User {
    /// How the names of the fields begin; of several beginnings the longest counts.
    begins: String,
    /// Names of [`READERS`].
    units: Vec<String>,
}

/// Units that go by Config when an instruction of theirs begins, by the bit that stands for each.
pub const READERS: [&str; 5] = ["unpacker0", "unpacker1", "packer", "matrix", "vector"];

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
    /// The units that go by it, as bits in the order of [`READERS`].
    #[serde(skip)]
    pub users: u8,
}

/// Words per thread of ThreadConfig and words per bank of Config [hdr: cfg_defines.h].
const SCOPES: &[(&str, u32)] = &[("thread", 68), ("config", 224)];

/// Reads and checks the table.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Vec<Section>, TableError> {
    let mut file: File = super::read(table, toml)?;
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
    if !file.user.is_empty() {
        source::check("user", &file.user_source, &mut problems);
    }
    assign(&mut file.section, &file.user, &mut problems);
    problems.finish(table)?;
    Ok(file.section)
}

/// Says of each field of Config which units go by it.
fn assign(sections: &mut [Section], users: &[User], problems: &mut Problems) {
    let mut rows: Vec<(&str, u8, bool)> = Vec::new();
    for user in users {
        let mut bits = 0;
        for unit in &user.units {
            match READERS.iter().position(|known| known == unit) {
                Some(at) => bits |= 1 << at,
                None => problems.add(format!("{}: unknown unit `{unit}`", user.begins)),
            }
        }
        if rows.iter().any(|(begins, ..)| *begins == user.begins) {
            problems.add(format!("{}: is there twice", user.begins));
        }
        rows.push((&user.begins, bits, false));
    }
    let config = sections.iter_mut().filter(|section| section.scope == "config");
    for field in config.flat_map(|section| &mut section.fields) {
        let own = rows.iter_mut().filter(|(begins, ..)| field.name.starts_with(begins));
        if let Some((_, bits, is_used)) = own.max_by_key(|(begins, ..)| begins.len()) {
            field.users = *bits;
            *is_used = true;
        }
    }
    for (begins, ..) in rows.iter().filter(|(.., is_used)| !is_used) {
        problems.add(format!("{begins}: no field of Config begins so"));
    }
}

fn check_field(section: &Section, field: &Field, words: u32, problems: &mut Problems) {
    let name = &field.name;
    if !text::is_snake(&name.to_ascii_lowercase()) {
        problems.add(format!("{name}: cannot be an identifier"));
    }
    let whole_words = field.lo == 0 && field.width != 0 && field.width.is_multiple_of(32);
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
    fn users_are_known_units_of_fields_that_there_are_and_the_longest_beginning_counts() {
        let table = |users: &str| {
            let toml = format!(
                "user_source = [\"inferred:test\"]\n[[section]]\nname = \"S\"\nbase = 2\n\
                 scope = \"config\"\nsource = [\"inferred:test\"]\n\
                 fields = [{{name=\"AB_C\",addr32=2,lo=0,width=1}},\
                 {{name=\"AB_D\",addr32=2,lo=1,width=1}}]\n{users}"
            );
            parse("t.toml", &toml)
        };
        let user = |begins: &str, unit: &str| {
            format!("[[user]]\nbegins = \"{begins}\"\nunits = [\"{unit}\"]\n")
        };
        let sections = table(&(user("AB_D", "vector") + &user("AB_", "packer"))).expect("a table");
        let users: Vec<u8> = sections[0].fields.iter().map(|field| field.users).collect();
        assert_eq!(users, [1 << 2, 1 << 4]);
        for (users, wrong) in [
            (user("AB_", "mover"), "AB_: unknown unit `mover`"),
            (user("AC_", "packer"), "AC_: no field of Config begins so"),
            (user("AB_", "packer") + &user("AB_", "matrix"), "AB_: is there twice"),
        ] {
            let text = table(&users).expect_err("the rows are wrong").to_string();
            assert!(text.contains(wrong), "{text}");
        }
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
