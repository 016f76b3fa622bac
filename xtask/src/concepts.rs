//! A file may be as long as what it is about; what is measured is how much of it one has to hold in mind
//! at once: the longest function, the widest struct, the deepest `match`.
//!
//! Where more is needed today than the rule allows, the file is listed, and may only shrink.

use std::collections::BTreeMap;

use crate::Findings;
use crate::files::{TextFile, Tree};
use crate::ratchet::{Ratchet, Row, compare};

/// Lines of a function.
const LONGEST: usize = 70;
/// Fields of a struct.
const WIDEST: usize = 24;
/// `match` in `match`.
const DEEPEST: usize = 3;

/// A measure of a file, its rule, and where the exceptions are listed.
struct Measure {
    of: fn(&str) -> usize,
    most: usize,
    what: &'static str,
    listed: fn(&Ratchet) -> &BTreeMap<String, usize>,
}

const MEASURES: &[Measure] = &[
    Measure {
        of: longest_function,
        most: LONGEST,
        what: "lines in a function",
        listed: |all| &all.functions,
    },
    Measure {
        of: widest_struct,
        most: WIDEST,
        what: "fields in a struct",
        listed: |all| &all.fields,
    },
    Measure {
        of: deepest_match,
        most: DEEPEST,
        what: "matches in each other",
        listed: |all| &all.matches,
    },
];

/// Files whose longest function, widest struct or deepest `match` is more than listed, or less.
pub(crate) fn check(tree: &Tree) -> Findings {
    let ratchet = Ratchet::read(tree)?;
    let found = MEASURES.iter().flat_map(|measure| {
        let Measure { most, what, listed, .. } = measure;
        compare(&measured(tree, measure), listed(&ratchet), *most, what)
    });
    Ok(found.collect())
}

/// Per measure: the files beyond its rule.
pub(crate) fn rows(tree: &Tree) -> [Vec<Row>; 3] {
    [0, 1, 2].map(|index| measured(tree, &MEASURES[index]))
}

fn measured(tree: &Tree, measure: &Measure) -> Vec<Row> {
    let files = tree.rust().filter(|file: &&TextFile| !file.shipped_code().is_empty());
    let all = files.map(|file| (file.path.clone(), (measure.of)(file.shipped_code())));
    all.filter(|(_, size)| *size > measure.most).collect()
}

/// The block that begins with the first brace behind `from`: where it begins and ends.
fn block(code: &str, from: usize) -> Option<(usize, usize)> {
    let open = from + code[from..].find(['{', ';'])?;
    if code.as_bytes()[open] == b';' {
        return None;
    }
    let mut depth = 0;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((open, open + at));
        }
    }
    None
}

/// Places of a word that stands by itself.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !is_word(code[..at].chars().next_back()) && code[at + word.len()..].starts_with(' ')
    })
}

/// Lines from the name of a function to its last brace, of the longest.
fn longest_function(code: &str) -> usize {
    let lengths = words(code, "fn").filter_map(|at| {
        let (_, end) = block(code, at)?;
        Some(code[at..end].matches('\n').count() + 1)
    });
    lengths.max().unwrap_or(0)
}

/// Fields of the struct with the most.
fn widest_struct(code: &str) -> usize {
    let widths = words(code, "struct").filter_map(|at| {
        let (open, close) = block(code, at)?;
        // A tuple struct has none with names.
        let named = !code[at..open].contains('(');
        named.then(|| {
            let fields = code[open + 1..close].lines().map(str::trim);
            fields.filter(|line| line.contains(": ") && !line.starts_with('#')).count()
        })
    });
    widths.max().unwrap_or(0)
}

/// How many `match`es stand in each other, at most.
fn deepest_match(code: &str) -> usize {
    let blocks: Vec<(usize, usize)> =
        words(code, "match").filter_map(|at| Some((at, block(code, at)?.1))).collect();
    let depth = |&(at, end): &(usize, usize)| {
        blocks.iter().filter(|&&(other, close)| other <= at && end <= close).count()
    };
    blocks.iter().map(depth).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{deepest_match, longest_function, widest_struct};

    #[test]
    fn function_is_as_long_as_its_block() {
        assert_eq!(longest_function("fn a();\nfn b() {\n    if x {\n    }\n}\nfn c() {}\n"), 4);
    }

    #[test]
    fn struct_is_as_wide_as_it_has_fields() {
        assert_eq!(
            widest_struct("struct A {\n    a: u8,\n    #[x]\n    b: u8,\n}\nstruct B(u8);\n"),
            2
        );
    }

    #[test]
    fn match_within_an_arm_is_deeper_than_one_behind() {
        let code = "match a {\n    1 => match b {\n        _ => 2,\n    },\n}\nmatch c {\n}\n";
        assert_eq!(deepest_match(code), 2);
    }
}
