//! What `docs/unknowns.md` says of its sources is so: a page that an entry calls not used is cited
//! nowhere, no entry calls one missing without its key, and every number that is cited has an entry.

use crate::Findings;
use crate::files::Tree;

const PAGE: &str = "docs/unknowns.md";
/// How an entry names pages that nothing follows.
const NOT_USED: [&str; 2] = ["Page not used:", "Pages not used:"];
/// How it must not, because no key says which page is meant.
const MISSING: [&str; 3] = ["in hand", "not among the sources", "not public"];

pub(crate) fn check(tree: &Tree) -> Findings {
    let text = tree.text(PAGE)?;
    let unused: Vec<&str> = text.lines().filter_map(unused).flatten().collect();
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for words in MISSING.iter().filter(|words| line.contains(**words)) {
            findings.push(format!("{PAGE}:{}: \"{words}\" without the page's key", number + 1));
        }
    }
    for file in tree.files.iter().filter(|file| file.path != PAGE) {
        for (number, line) in file.text.lines().enumerate() {
            let place = format!("{}:{}", file.path, number + 1);
            for key in unused.iter().filter(|key| cites(line, key)) {
                findings.push(format!("{place}: cites {key}, which {PAGE} calls not used"));
            }
            let numbers = entries(line).filter(|entry| !text.contains(&format!("\n## {entry} ")));
            findings.extend(numbers.map(|entry| format!("{place}: {PAGE} has no {entry}")));
        }
    }
    Ok(findings)
}

/// The keys behind the words, up to the end of the sentence's list: what stands in backquotes before
/// a word that is none of them.
fn unused(line: &str) -> Option<impl Iterator<Item = &str>> {
    let rest = NOT_USED.iter().find_map(|words| line.strip_prefix(words))?;
    let list = rest.split(", which").next().unwrap_or_default();
    Some(list.split('`').skip(1).step_by(2))
}

/// Whether a line cites `kind:place`, with or without a space, its folders left out or not.
fn cites(line: &str, key: &str) -> bool {
    let Some((kind, place)) = key.split_once(':') else { return false };
    line.match_indices(kind).any(|(at, _)| {
        let rest = line[at + kind.len()..].strip_prefix(':').map(str::trim_start);
        let end =
            |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric() && !"/._-".contains(c));
        let cited = rest.map(|rest| &rest[..end(rest).unwrap_or(rest.len())]);
        let cited = cited.map(|cited| cited.trim_end_matches('.'));
        cited.is_some_and(|cited| {
            // Every folder has a README.
            let short = cited.ends_with(".md") && cited != "README.md";
            place == cited || short && place.ends_with(&format!("/{cited}"))
        })
    })
}

/// `U-020` wherever it stands by itself.
fn entries(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("U-").filter_map(|(at, _)| {
        let entry = line.get(at..at + 5)?;
        let before = line[..at].chars().next_back();
        let after = line[at + 5..].chars().next();
        let whole = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-');
        (entry[2..].bytes().all(|byte| byte.is_ascii_digit()) && whole(before) && whole(after))
            .then_some(entry)
    })
}

#[cfg(test)]
mod tests {
    use super::{cites, entries, unused};

    #[test]
    fn keys_are_those_of_the_list() {
        let line = "Pages not used: `a:B/C.md`, `a:D.md`, which `a:E.md` refers to.";
        assert_eq!(unused(line).map(Iterator::collect), Some(vec!["a:B/C.md", "a:D.md"]));
        assert!(unused("The page `a:B.md` is used.").is_none());
    }

    #[test]
    fn citations_are_found_however_they_are_written() {
        let key = "isa-bh:Tile/Core/Set.md";
        for line in
            ["[isa-bh: Tile/Core/Set.md]", "\"isa-bh:Tile/Core/Set.md\"", "`isa-bh:Set.md`."]
        {
            assert!(cites(line, key), "{line}");
        }
        for line in
            ["[isa-wh: Tile/Core/Set.md]", "isa-bh:Tile/Core/Sets.md", "isa-bh: OtherSet.md"]
        {
            assert!(!cites(line, key), "{line}");
        }
        assert!(!cites("isa-bh:README.md", "isa-bh:Tile/README.md"));
    }

    #[test]
    fn entries_stand_by_themselves() {
        let found: Vec<_> = entries("[unknown: U-005, U-006] XU-007 U-0081 U-9").collect();
        assert_eq!(found, ["U-005", "U-006"]);
    }
}
