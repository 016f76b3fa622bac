//! What the manual shows is what the program prints, and what it tells to type can be typed.
//!
//! A block `console` has commands behind `$` and what they print: each is run, in one directory per page,
//! and the lines must come in that order; `...` stands for any number of others. A command of `tilescope`
//! in a block `sh` must be one that the command line takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{CommandFactory as _, Parser as _};
use tools::commands::Cli;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Pages with their text, of the manual and what stands before it.
fn pages() -> Vec<(PathBuf, String)> {
    let mut found = vec![root().join("README.md"), root().join("python/README.md")];
    let mut directories = vec![root().join("docs/manual/src")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("the manual is there") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("text"))).collect()
}

/// The fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// Words as a shell has them, without what is behind a comment or a pipe.
fn words(command: &str) -> Vec<String> {
    let plain = command.split(" #").next().unwrap_or_default();
    let plain = plain.split([';', '|', '>']).next().unwrap_or_default();
    plain.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
}

fn printed(words: &[String], directory: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(&words[1..])
        .current_dir(directory)
        .output()
        .expect("it runs");
    assert_ne!(output.status.code(), Some(2), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Whether lines come one behind the other, with gaps only where the page has them.
fn shows(page: &[&str], printed: &[&str]) -> bool {
    match page {
        [] => printed.is_empty(),
        ["..."] => true,
        ["...", rest @ ..] => (0..=printed.len()).any(|from| shows(rest, &printed[from..])),
        [line, rest @ ..] => printed
            .split_first()
            .is_some_and(|(first, others)| first == line && shows(rest, others)),
    }
}

#[test]
fn manual_shows_what_the_commands_print() {
    let mut count = 0;
    for (path, page) in pages() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for block in blocks(&page, "console") {
            for part in format!("\n{block}").split("\n$ ").skip(1) {
                let (command, told) = part.split_once('\n').unwrap_or((part, ""));
                let printed = printed(&words(command), directory.path());
                let told: Vec<&str> = told.lines().collect();
                let got: Vec<&str> = printed.lines().collect();
                assert!(shows(&told, &got), "{}: {command} prints\n{printed}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 10, "the manual has {count} commands with what they print");
}

#[test]
fn commands_of_the_manual_are_taken() {
    let mut count = 0;
    for (path, page) in pages() {
        for line in blocks(&page, "sh").join("\n").lines() {
            let words = words(line);
            if words.first().map(String::as_str) != Some("tilescope") {
                continue;
            }
            let parsed = Cli::try_parse_from(&words);
            assert!(parsed.is_ok(), "{}: {line}: {:?}", path.display(), parsed.err());
            count += 1;
        }
    }
    assert!(count >= 20, "the manual has {count} commands to type");
}

/// The page of all commands, from their own descriptions.
#[test]
fn reference_of_commands_is_fresh() {
    let mut page = String::from(
        "# Commands\n\nWritten by a test from the descriptions that `--help` prints.\n",
    );
    let mut cli = Cli::command().term_width(100);
    cli.build();
    let whole = cli.render_long_help().to_string();
    page += &format!("\n## tilescope\n\n```text\n{}\n```\n", tidy(&whole));
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        let help = command.clone().term_width(100).render_long_help().to_string();
        page += &format!("\n## {}\n\n```text\n{}\n```\n", command.get_name(), tidy(&help));
    }
    let path = root().join("docs/manual/src/reference/commands.md");
    if std::env::var_os("TILESCOPE_WRITE_MANUAL").is_some() {
        fs::write(&path, &page).expect("written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "commands.md is stale: TILESCOPE_WRITE_MANUAL=1 cargo test -p tools --test manual"
    );
}

fn tidy(help: &str) -> String {
    help.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// A key that does not exist is answered with those that do.
#[test]
fn page_of_plan_keys_has_every_key() {
    let page =
        fs::read_to_string(root().join("docs/manual/src/reference/plans.md")).expect("there");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let plan = directory.path().join("plan.toml");
    let tables = [
        "wrong = 1",
        "on = [{ wrong = 1 }]",
        "cb = [{ wrong = 1 }]",
        "dispatch = { wrong = 1 }",
        "kernel.brisc = { wrong = 1 }",
        "input = [{ wrong = 1 }]",
        "expect = [{ wrong = 1 }]",
        "meanwhile = [{ wrong = 1 }]",
        "meanwhile = [{ read = { wrong = 1 } }]",
        "meanwhile = [{ wait = { wrong = 1 } }]",
    ];
    for table in tables {
        fs::write(&plan, format!("[[launch]]\nname = \"a\"\n{table}\n")).expect("written");
        let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(["launch", "--check"])
            .arg(&plan)
            .output()
            .expect("it runs");
        let told = String::from_utf8(output.stderr).expect("text");
        let (_, keys) = told.split_once("expected one of ").expect("the keys that there are");
        let keys = keys.split(" in `").next().unwrap_or_default();
        let keys: Vec<&str> = keys.split('`').skip(1).step_by(2).collect();
        assert!(keys.len() > 2, "{told}");
        for key in keys {
            let there =
                page.contains(&format!("`{key}`")) || page.contains(&format!("[launch.{key}]"));
            assert!(there || key == "kernel", "{key} is not in plans.md: {told}");
        }
    }
}

#[test]
fn lines_of_the_readme_fit_a_screen() {
    let readme = include_str!("../../README.md");
    let outside: Vec<&str> = readme.split("```").step_by(2).collect();
    let long = outside.iter().flat_map(|text| text.lines()).find(|line| line.chars().count() > 120);
    assert_eq!(long, None);
}

/// Every page is in the summary, and every entry is a page.
#[test]
fn summary_has_every_page() {
    let source = root().join("docs/manual/src");
    let summary = fs::read_to_string(source.join("SUMMARY.md")).expect("there");
    for (path, _) in pages() {
        let Ok(name) = path.strip_prefix(&source) else { continue };
        let link = format!("({})", name.display());
        assert!(name == Path::new("SUMMARY.md") || summary.contains(&link), "{link} is missing");
    }
}

/// What can be asked of `why` can be asked of the commands that run the same plans.
#[test]
fn commands_with_a_plan_take_the_same_views() {
    let options = |name: &str| -> Vec<String> {
        let cli = Cli::command();
        let command = cli.find_subcommand(name).expect("a command");
        let all = command.get_arguments().filter_map(|one| one.get_long()).map(str::to_owned);
        all.collect()
    };
    let wanted = options("why");
    assert!(wanted.len() > 20, "{wanted:?}");
    for name in ["demo", "launch", "boot", "report", "state", "tui"] {
        let taken = options(name);
        let missing: Vec<_> = wanted.iter().filter(|one| !taken.contains(one)).collect();
        assert!(missing.is_empty(), "{name} does not take {missing:?}");
    }
}

/// A demo writes every view, and has the exit status of its end.
#[test]
fn demo_writes_what_is_asked_for() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (demo, status, end) in [("hang", 3, "DEADLOCK"), ("signal-before-data", 5, "WRONG-RESULT")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(["demo", demo, "--html", "a.html", "--perfetto", "a.pftrace", "--json"])
            .current_dir(directory.path())
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(told.to_string().contains(end), "{told}");
        let page = fs::read_to_string(directory.path().join("a.html")).expect("written");
        assert!(page.starts_with("<!doctype html>"), "{page}");
        assert!(fs::metadata(directory.path().join("a.pftrace")).expect("written").len() > 1_000);
    }
}
