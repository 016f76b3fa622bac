//! Who watches decides about no way: the constants that say whether anybody does are read where events are
//! emitted and where a way is chosen, nowhere else.

use crate::Findings;
use crate::files::Tree;
use crate::ratchet::{Ratchet, Row, compare};

/// `sim_core::Observer`'s constant and that of `tensix::Env`.
const CONSTANTS: &[&str] = &["ENABLED", "OBSERVED"];

/// Files that may: where they are said, where events are emitted, and where ways are chosen.
const READERS: &[&str] = &[
    "sim-core/src/observer/listener.rs",
    "tensix/src/env.rs",
    "tensix/src/plan.rs",
    "tile/src/env.rs",
    "tile/src/plan.rs",
];

/// Files that read them and may not more often than is listed, or less often.
pub(crate) fn check(tree: &Tree) -> Findings {
    Ok(compare(&rows(tree), &Ratchet::read(tree)?.observed, 0, "reads of who watches"))
}

/// Files that read them and may not, and how often.
pub(crate) fn rows(tree: &Tree) -> Vec<Row> {
    let files = tree
        .rust()
        .filter(|file| !READERS.contains(&file.path.as_str()) && !file.path.starts_with("xtask/"));
    let all = files.map(|file| (file.path.clone(), reads(file.shipped_code())));
    all.filter(|(_, reads)| *reads > 0).collect()
}

fn reads(code: &str) -> usize {
    let of = |name: &&str| {
        code.match_indices(*name)
            .filter(|(at, _)| {
                let rest = &code[at + name.len()..];
                code[..*at].ends_with("::")
                    && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
            .count()
    };
    CONSTANTS.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn use_is_told_from_definition_and_from_longer_names() {
        let code =
            "const OBSERVED: bool = O::ENABLED;\nif E::OBSERVED {}\nlet x = A::ENABLED_BITS;";
        assert_eq!(reads(code), 2);
    }
}
