//! Source keys: where a row is known from.
//!
//! A key is `kind:where`, for instance `isa-bh:TensixCoprocessor/STALLWAIT.md`. The kinds are the
//! ones `docs/sources.md` resolves to a public repository, licence and version.

use crate::error::Problems;

/// Kinds of source that a row may name, with the meaning shown in the documents.
pub const KINDS: &[(&str, &str)] = &[
    ("isa-bh", "public ISA documentation, Blackhole pages"),
    ("isa-wh", "public ISA documentation, Wormhole pages"),
    ("hdr", "vendor headers, relative to tt_metal"),
    ("llk", "vendor low-level kernels, relative to tt_llk_blackhole"),
    ("ttsim", "vendor reference simulator"),
    ("elf", "debug information of the vendor firmware"),
    ("riscv", "RISC-V specifications"),
    ("spec", "fact sheets of this project"),
    ("inferred", "our own conclusion from other rows"),
    ("unknown", "open question, docs/unknowns.md"),
];

/// Checks the source keys of a row: at least one, each of a known kind and with a place.
pub fn check(row: &str, keys: &[String], problems: &mut Problems) {
    if keys.is_empty() {
        problems.add(format!("{row}: missing source"));
    }
    for key in keys {
        match key.split_once(':') {
            Some((kind, place)) if !place.trim().is_empty() => {
                if !KINDS.iter().any(|(known, _)| *known == kind) {
                    problems.add(format!("{row}: unknown kind of source `{kind}`"));
                }
            }
            _ => problems.add(format!("{row}: source `{key}` is not `kind:place`")),
        }
    }
}

/// The row's own keys, or the table's default keys when the row names none.
#[must_use]
pub fn or_default(own: &[String], default: &[String]) -> Vec<String> {
    if own.is_empty() { default.to_vec() } else { own.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(keys: &[&str]) -> Vec<String> {
        let keys: Vec<String> = keys.iter().map(|k| (*k).to_owned()).collect();
        let mut problems = Problems::default();
        check("ROW", &keys, &mut problems);
        problems.sentences().to_vec()
    }

    #[test]
    fn source_list_empty_is_refused() {
        assert_eq!(sentences(&[]), ["ROW: missing source"]);
    }

    #[test]
    fn source_kind_unknown_is_refused() {
        assert_eq!(sentences(&["hearsay:x"]), ["ROW: unknown kind of source `hearsay`"]);
    }

    #[test]
    fn source_place_missing_is_refused() {
        assert_eq!(sentences(&["isa-bh:"]), ["ROW: source `isa-bh:` is not `kind:place`"]);
    }

    #[test]
    fn source_of_known_kind_passes() {
        assert!(sentences(&["isa-bh:README.md"]).is_empty());
    }
}
