//! Words that must not stand somewhere.

use crate::Findings;
use crate::files::{TextFile, Tree};
use crate::ratchet::Ratchet;

/// The crates in which simulated things happen: what they do may depend on nothing but their input.
const SIMULATED: &[&str] = &["sim-core", "riscv", "devices", "tensix", "tile", "chip"];
/// The file and the folder of the same name.
const SYNC: &str = "sim-core/src/sync";

/// Nothing left open, no test switched off, no path of somebody's machine.
pub(crate) fn unfinished(tree: &Tree) -> Findings {
    // Spelt in two halves, so that this file keeps its own rule.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
    // Literals are not code: the rule does not find its own words.
    let macros = ["todo!", "unimplemented!", "#[ignore", "dbg!"];
    let mut findings = Vec::new();
    for file in &tree.files {
        findings.extend(find(file, &file.text, &marks));
        findings.extend(find(file, &file.code, &macros));
        for (number, line) in file.text.lines().enumerate() {
            if let Some(path) = machine_path(line) {
                findings.push(format!("{}:{}: machine path {path}", file.path, number + 1));
            }
        }
    }
    Ok(findings)
}

/// The crates that are programs, whatever of them lies in a library.
const PROGRAMS: &[&str] = &["tools", "xtask"];

/// Only programs write to standard output and standard error.
pub(crate) fn printing(tree: &Tree) -> Findings {
    let macros = ["println!", "print!", "eprintln!", "eprint!"];
    let libraries =
        tree.rust().filter(|file| file.is_library() && !PROGRAMS.contains(&file.crate_dir()));
    Ok(libraries.flat_map(|file| find(file, file.shipped_code(), &macros)).collect())
}

/// One module names host threads; the others use what it offers.
pub(crate) fn threads(tree: &Tree) -> Findings {
    let words = ["std::thread", "crossbeam", "crossbeam_channel", "parking_lot"];
    let ratchet = Ratchet::read(tree)?;
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !file.path.starts_with(SYNC)) {
        if ratchet.threads.contains_key(&file.path) {
            continue;
        }
        findings.extend(find(file, file.shipped_code(), &words));
        for (number, line) in file.shipped_code().lines().enumerate() {
            if let Some(name) = sync_name(line) {
                findings.push(format!("{}:{}: std::sync::{name}", file.path, number + 1));
            }
        }
    }
    Ok(findings)
}

/// Nothing whose order or value differs from run to run or from host to host.
pub(crate) fn order(tree: &Tree) -> Findings {
    let words = ["HashMap", "HashSet", "RandomState", "Instant", "SystemTime", "f32", "f64"];
    let simulated = tree.rust().filter(|file| SIMULATED.contains(&file.crate_dir()));
    Ok(simulated.flat_map(|file| find(file, file.shipped_code(), &words)).collect())
}

/// `file:line: word` for each line of `text` in which one of the words stands by itself.
fn find(file: &TextFile, text: &str, words: &[&str]) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in words.iter().filter(|word| has_word(line, word)) {
            findings.push(format!("{}:{}: {word}", file.path, number + 1));
        }
    }
    findings
}

fn is_word(character: Option<char>) -> bool {
    character.is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let starts = is_word(word.chars().next());
        let ends = is_word(word.chars().next_back());
        !(starts && is_word(before) || ends && is_word(after))
    })
}

/// A path that only exists on the machine of whoever wrote it.
fn machine_path(line: &str) -> Option<&str> {
    ["/work/", "/tmp/", "/root/", "/home/", "/farm/"].iter().find_map(|root| {
        line.match_indices(root).find_map(|(at, _)| {
            let before = line[..at].chars().next_back();
            let named =
                line[at + root.len()..].starts_with(|next: char| next.is_ascii_alphabetic());
            let inner = is_word(before) || matches!(before, Some('.' | '-' | '}' | ')' | '/'));
            (named && !inner).then(|| line[at..].split_whitespace().next().unwrap_or(root))
        })
    })
}

/// The first thing of `std::sync` in a line that is neither shared ownership nor an atomic.
fn sync_name(line: &str) -> Option<&str> {
    const FINE: &[&str] = &["Arc", "Weak", "atomic", "OnceLock", "LazyLock"];
    let (_, rest) = line.split_once("std::sync::")?;
    let list = match rest.strip_prefix('{') {
        Some(group) => group.split('}').next().unwrap_or(group),
        None => rest.split([';', ' ', '(', '<', ')', '>', ',']).next().unwrap_or(rest),
    };
    list.split(',')
        .map(|item| item.trim().split("::").next().unwrap_or_default())
        .find(|name| !name.is_empty() && !FINE.contains(name))
}

#[cfg(test)]
mod tests {
    use super::{has_word, machine_path, sync_name};

    #[test]
    fn word_inside_another_is_none() {
        assert!(has_word("eprintln!(x)", "eprintln!"));
        assert!(!has_word("eprintln!(x)", "println!"));
        assert!(!has_word("MyHashMap", "HashMap"));
        assert!(has_word("use HashMap;", "HashMap"));
    }

    #[test]
    fn machine_path_is_told_from_a_relative_one() {
        assert_eq!(
            machine_path(concat!("see /ro", "ot/x.txt now")),
            Some(concat!("/ro", "ot/x.txt"))
        );
        assert_eq!(machine_path("see $dir/tmp/x and a/work/b"), None);
        assert_eq!(machine_path("the /tmp directory"), None);
    }

    #[test]
    fn lock_is_told_from_shared_ownership() {
        assert_eq!(sync_name("use std::sync::Arc;"), None);
        assert_eq!(sync_name("use std::sync::atomic::{AtomicU8, Ordering};"), None);
        assert_eq!(sync_name("use std::sync::{Arc, Mutex};"), Some("Mutex"));
        assert_eq!(sync_name("x: std::sync::RwLock<u8>"), Some("RwLock"));
    }
}
