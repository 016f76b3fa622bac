//! Files of a crate that import each other in a circle cannot be read one after the other.
//!
//! An import is a path of a `use` that begins with `crate`, `super`, `self` or a child. That a module declares its
//! children is none. How many files the circles of a crate have today is listed, and may only shrink.

use std::collections::{BTreeMap, BTreeSet};

use crate::Findings;
use crate::files::Tree;
use crate::ratchet::{Ratchet, Row, compare};

/// Files that may form a circle.
const MOST: usize = 3;

/// Circles of more files than are listed, or fewer.
pub(crate) fn check(tree: &Tree) -> Findings {
    Ok(compare(&rows(tree), &Ratchet::read(tree)?.circles, MOST, "files that import in circles"))
}

/// Crates with circles of too many files, and how many files all of those have.
pub(crate) fn rows(tree: &Tree) -> Vec<Row> {
    let counted = large(tree).into_iter().map(|(name, circles)| {
        let files = circles.iter().map(Vec::len).sum();
        (name, files)
    });
    counted.collect()
}

/// Prints the circles of too many files, by crate.
pub(crate) fn print(tree: &Tree) {
    for (name, circles) in large(tree) {
        for circle in circles {
            println!("{name}: {}", circle.join(" "));
        }
    }
}

/// Crates with circles of too many files: their modules.
fn large(tree: &Tree) -> Vec<(String, Vec<Vec<String>>)> {
    let mut crates: BTreeMap<&str, BTreeMap<Vec<&str>, &str>> = BTreeMap::new();
    for file in tree.rust().filter(|file| !file.shipped_code().is_empty()) {
        if let Some(module) = module_of(&file.path, file.crate_dir()) {
            crates.entry(file.crate_dir()).or_default().insert(module, file.shipped_code());
        }
    }
    let mut found = Vec::new();
    for (name, modules) in crates {
        let paths: Vec<&Vec<&str>> = modules.keys().collect();
        let arrows: Vec<Vec<usize>> = modules
            .iter()
            .map(|(module, code)| {
                let found: BTreeSet<usize> = imports(code)
                    .iter()
                    .filter_map(|path| target(module, path, &modules))
                    .filter_map(|to| paths.iter().position(|path| path[..] == to[..]))
                    .filter(|&to| paths[to] != module)
                    .collect();
                found.into_iter().collect()
            })
            .collect();
        let circles = circles(&arrows).into_iter().filter(|circle| circle.len() > MOST);
        let named = |circle: Vec<usize>| -> Vec<String> {
            circle.into_iter().map(|file| format!("::{}", paths[file].join("::"))).collect()
        };
        let circles: Vec<Vec<String>> = circles.map(named).collect();
        if !circles.is_empty() {
            found.push((name.to_owned(), circles));
        }
    }
    found
}

/// The module that a file is: `[]` for the root, `["a", "b"]` for `src/a/b.rs`.
fn module_of<'a>(path: &'a str, crate_dir: &str) -> Option<Vec<&'a str>> {
    let inside = path.strip_prefix(crate_dir)?.strip_prefix("/src/")?.strip_suffix(".rs")?;
    let mut parts: Vec<&str> = inside.split('/').collect();
    match parts.last() {
        Some(&("lib" | "main")) if parts.len() == 1 => parts.clear(),
        Some(&"mod") => drop(parts.pop()),
        _ => {}
    }
    Some(parts)
}

/// The paths that a file's `use` declarations name, groups taken apart.
fn imports(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].rsplit('\n').next().unwrap_or_default().trim();
        let begins = before.is_empty() || before.starts_with("pub");
        if begins && let Some((tree, _)) = code[at + "use ".len()..].split_once(';') {
            expand(&[], tree, &mut found);
        }
    }
    found
}

fn expand(prefix: &[String], tree: &str, found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let mut prefix = prefix.to_vec();
        prefix.extend(
            head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned),
        );
        let group = group.rsplit_once('}').map_or(group, |(inside, _)| inside);
        let (mut depth, mut from) = (0, 0);
        for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&prefix, &group[from..at], found);
                    from = at + 1;
                }
                _ => {}
            }
        }
    } else if !tree.is_empty() {
        let path = tree.split_whitespace().next().unwrap_or_default();
        let parts = path.split("::").map(str::to_owned);
        found.push(prefix.iter().cloned().chain(parts).collect());
    }
}

/// The module of the crate that a path leads to: the deepest that is a file.
fn target<'a>(
    from: &[&'a str],
    path: &'a [String],
    modules: &BTreeMap<Vec<&str>, &str>,
) -> Option<Vec<&'a str>> {
    let mut at: Vec<&str> = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" => from.to_vec(),
        "super" => from[..from.len().checked_sub(1)?].to_vec(),
        // A child, as edition 2018 lets one say.
        child => {
            let mut module = from.to_vec();
            module.push(child);
            if !modules.contains_key(&module) {
                return None;
            }
            module
        }
    };
    for part in &path[1..] {
        if part == "super" {
            at.pop();
            continue;
        }
        at.push(part);
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
    }
    Some(at)
}

/// The circles: the greatest sets whose members reach each other.
fn circles(arrows: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..arrows.len())
        .map(|start| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(at) = open.pop() {
                open.extend(arrows[at].iter().copied().filter(|&to| seen.insert(to)));
            }
            seen
        })
        .collect();
    let mut done = BTreeSet::new();
    let mut found = Vec::new();
    for (start, reached) in reach.iter().enumerate() {
        if done.contains(&start) || !reached.contains(&start) {
            continue;
        }
        let circle: Vec<usize> =
            reached.iter().copied().filter(|&other| reach[other].contains(&start)).collect();
        done.extend(circle.iter().copied());
        found.push(circle);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{circles, imports, module_of, target};
    use std::collections::BTreeMap;

    #[test]
    fn groups_of_a_use_are_taken_apart() {
        let code = "use crate::a::{B, c::{D, E as F}};\npub(crate) use super::g;\nlet x = reuse ;";
        let found: Vec<String> = imports(code).iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["crate::a::B", "crate::a::c::D", "crate::a::c::E", "super::g"]);
    }

    #[test]
    fn path_leads_to_the_deepest_module() {
        let modules: BTreeMap<Vec<&str>, &str> =
            [vec![], vec!["a"], vec!["a", "b"]].into_iter().map(|module| (module, "")).collect();
        let path = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
        let long = path("crate::a::b::Thing");
        assert_eq!(target(&[], &long, &modules), Some(vec!["a", "b"]));
        let up = path("super::Thing");
        assert_eq!(target(&["a", "b"], &up, &modules), Some(vec!["a"]));
        let other = path("std::fmt");
        assert_eq!(target(&["a"], &other, &modules), None);
        assert_eq!(module_of("x/src/a/mod.rs", "x"), Some(vec!["a"]));
        assert_eq!(module_of("x/src/lib.rs", "x"), Some(vec![]));
    }

    #[test]
    fn circle_is_counted_once_and_a_chain_is_none() {
        assert_eq!(circles(&[vec![1], vec![2], vec![0], vec![0]]), [vec![0, 1, 2]]);
        assert!(circles(&[vec![1], vec![2], vec![]]).is_empty());
    }
}
