//! Small helpers on text: identifiers and Rust literals.

/// `CamelCase` from any spelling: `SFP_STOCH_RND` -> `SfpStochRnd`, `fcvt.w.s` -> `FcvtWS`.
#[must_use]
pub fn camel(name: &str) -> String {
    let mut out = String::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut chars = part.chars();
        if let Some(first) = chars.next() {
            out.push(first.to_ascii_uppercase());
            out.extend(chars.map(|c| c.to_ascii_lowercase()));
        }
    }
    out
}

/// Lower case with underscores: `PACR_SETREG` -> `pacr_setreg`.
#[must_use]
pub fn snake(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect()
}

/// Only letters and digits, lower case: for comparing spellings of different sources.
#[must_use]
pub fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// True for a name that can be a Rust identifier in lower case.
#[must_use]
pub fn is_snake(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A Rust array literal of string literals.
#[must_use]
pub fn str_array(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|s| format!("{s:?}")).collect();
    format!("&[{}]", quoted.join(", "))
}

/// Mask of the low `width` bits of a word; all ones from 32 on.
#[must_use]
pub fn low_mask(width: u32) -> u32 {
    if width >= 32 { u32::MAX } else { (1 << width) - 1 }
}

/// Prose of a row as doc comment: brackets are no links.
#[must_use]
pub fn doc(prose: &str) -> String {
    prose.replace('[', "\\[").replace(']', "\\]")
}

/// First line of every generated Rust file.
pub const GENERATED: &str = "// Generated from the tables by isa-codegen; do not edit.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camel_of_mnemonics_reads_as_type_name() {
        assert_eq!(camel("SFP_STOCH_RND"), "SfpStochRnd");
        assert_eq!(camel("fcvt.w.s"), "FcvtWS");
        assert_eq!(camel("RMWCIB0"), "Rmwcib0");
    }

    #[test]
    fn bare_ignores_underscores_and_case() {
        assert_eq!(bare("OpBisConst"), bare("op_bis_const"));
    }
}
