//! A struct is written where it lives: its inherent methods stand in few files.
//!
//! A struct that many files write has no inside: each of them may touch each field. How many files that are
//! today is listed where it is too many, and may only shrink.

use std::collections::BTreeMap;

use crate::Findings;
use crate::files::{TextFile, Tree};
use crate::ratchet::{Ratchet, Row, compare};

/// Files that may have inherent methods of one struct.
const MOST: usize = 3;

/// Files with inherent methods, by the path of the struct's file and its name.
type Written<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a str>>;

/// Structs that more files write than are listed, or fewer.
pub(crate) fn check(tree: &Tree) -> Findings {
    Ok(compare(&rows(tree), &Ratchet::read(tree)?.structs, MOST, "files with inherent methods"))
}

/// Structs that too many files write, and how many those are.
pub(crate) fn rows(tree: &Tree) -> Vec<Row> {
    let all = written(tree);
    let many = all.into_iter().filter(|(_, files)| files.len() > MOST);
    many.map(|((home, name), files)| (format!("{home}: {name}"), files.len())).collect()
}

fn written(tree: &Tree) -> Written<'_> {
    let files: Vec<&TextFile> =
        tree.rust().filter(|file| !file.shipped_code().is_empty()).collect();
    let mut homes: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for file in &files {
        for name in definitions(file.shipped_code()) {
            homes.entry((file.crate_dir(), name)).or_default().push(&file.path);
        }
    }
    let mut all = Written::new();
    for file in &files {
        for name in inherent(file.shipped_code()) {
            let Some(places) = homes.get(&(file.crate_dir(), name)) else { continue };
            let nearest = places.iter().max_by_key(|place| nearness(place, &file.path));
            let writers = all.entry((nearest.copied().unwrap_or_default(), name)).or_default();
            if !writers.contains(&file.path.as_str()) {
                writers.push(&file.path);
            }
        }
    }
    all
}

/// How much of their paths two files share: several structs of a crate may have one name.
fn nearness(a: &str, b: &str) -> (bool, usize) {
    let shared = a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count();
    (a == b, shared)
}

/// The identifier at the beginning of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// Names of the structs and enums of a file.
fn definitions(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => {
                rest.split_once(") ").map_or("", |(_, rest)| rest)
            }
            Some(rest) => rest.trim_start(),
            None => line,
        };
        let rest = line.strip_prefix("struct ").or_else(|| line.strip_prefix("enum "))?;
        Some(identifier(rest)).filter(|name| !name.is_empty())
    })
}

/// Names of the types that a file has inherent methods of.
fn inherent(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("\nimpl") {
        let rest = &code[at + "\nimpl".len()..];
        let Some(head) = rest.split('{').next() else { continue };
        let Some(head) = without_generics(head) else { continue };
        let is_of_trait = head.split_whitespace().any(|word| word == "for");
        if !is_of_trait {
            names.push(identifier(head.trim_start()));
        }
    }
    names
}

/// The rest of an `impl` line behind its generic parameters; `None` if it is no such line.
fn without_generics(head: &str) -> Option<&str> {
    if !head.starts_with('<') {
        return head.starts_with(' ').then_some(head);
    }
    let mut depth = 0;
    for (at, c) in head.char_indices() {
        match c {
            '<' => depth += 1,
            // The arrow of a function's type.
            '>' if !head[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&head[at + 1..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{definitions, inherent, nearness};

    #[test]
    fn inherent_methods_are_told_from_those_of_traits() {
        let code = "\nimpl A {\n}\nimpl<O: Observer> B<O> {\n}\nimpl<F: Fn(u32) -> u32> C<F>\nwhere\n{\n}\nimpl \
                    Clone for D {\n}\nimpl<'a> From<&'a E> for F {\n}\n";
        assert_eq!(inherent(code), ["A", "B", "C"]);
    }

    #[test]
    fn struct_is_found_however_visible() {
        let code = "pub(crate) struct A {\npub struct B;\nenum C {\n    struct D(u8);\n";
        assert_eq!(definitions(code).collect::<Vec<_>>(), ["A", "B", "C", "D"]);
    }

    #[test]
    fn same_file_is_nearer_than_same_folder() {
        let here = "a/src/x/b.rs";
        assert!(nearness(here, here) > nearness("a/src/x/mod.rs", here));
        assert!(nearness("a/src/x/mod.rs", here) > nearness("a/src/y/mod.rs", here));
    }
}
