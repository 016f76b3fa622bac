//! `cargo xtask check`: what this repository promises about itself and no ordinary tool checks.
//!
//! One line per step; a step that finds something prints each finding below its line, and the exit
//! status is 1. Formatting, clippy, rustdoc and tests are not here: `.ci/run` calls those tools.
//!
//! What is allowed is written down in `docs/arrows.toml`, `docs/ratchet.toml` and `deny.toml`.

mod arrows;
mod book;
mod circles;
mod concepts;
mod deny;
mod files;
mod generated;
mod links;
mod lower;
mod map;
mod metadata;
mod observed;
mod places;
mod ratchet;
mod rules;
mod strip;
mod structs;
mod unknowns;
mod unobserved;
mod variables;
mod words;
mod workspace;

use std::process::ExitCode;

use crate::files::Tree;

/// Sentences, one per finding; empty when all is well.
type Findings = Result<Vec<String>, String>;

/// A check and the name it is reported under.
struct Step {
    name: &'static str,
    run: fn(&Tree) -> Findings,
}

const STEPS: &[Step] = &[
    Step { name: "crate arrows as in docs/arrows.toml", run: arrows::check },
    Step { name: "dependencies as in deny.toml", run: deny::check },
    Step { name: "unsafe code forbidden but where it is listed", run: workspace::check },
    Step { name: "a struct is written in few files", run: structs::check },
    Step { name: "files import in no large circles", run: circles::check },
    Step { name: "functions, structs and matches of a size to hold in mind", run: concepts::check },
    Step { name: "who watches decides about no way", run: observed::check },
    Step { name: "nothing unfinished, switched off or machine-bound", run: rules::unfinished },
    Step { name: "libraries do not print", run: rules::printing },
    Step { name: "threads, channels and locks only in sim-core::sync", run: rules::threads },
    Step { name: "no hash order, host clock or float in simulated crates", run: rules::order },
    Step { name: "instruction words are taken apart by the table", run: words::check },
    Step { name: "links between documents lead somewhere", run: links::check },
    Step { name: "places that the architecture names are there", run: places::check },
    Step { name: "open questions and citations agree", run: unknowns::check },
    Step { name: "variables of the environment are documented", run: variables::check },
    Step { name: "code map as the modules say", run: map::check },
    Step { name: "generated documents are fresh", run: generated::check },
];

const USAGE: &str = "\
usage: cargo xtask check      run every check
       cargo xtask book DIR   follow the links within the manual that was built there
       cargo xtask circles    print the large circles in which files of a crate import each other
       cargo xtask map        write the code map, docs/generated/code-map.md
       cargo xtask unobserved DIR
                              look into the release builds in that folder: the library that hosts
                              load has nothing of what watches
       cargo xtask ratchet    lower the numbers in docs/ratchet.toml to what is there now";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => Tree::read().map(|tree| check(&tree)),
        ["map"] => Tree::read().and_then(|tree| map::write(&tree)).map(|()| true),
        ["book", dir] => {
            let found = book::check(dir.as_ref());
            Ok(report("links within the manual lead somewhere", found))
        }
        ["unobserved", dir] => {
            let (name, found) =
                ("nothing that watches in the library", unobserved::check(dir.as_ref()));
            Ok(report(name, found))
        }
        ["circles"] => Tree::read().map(|tree| circles::print(&tree)).map(|()| true),
        ["ratchet"] => Tree::read().and_then(|tree| lower::lower(&tree)).map(|()| true),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Runs every step, also after one that found something.
fn check(tree: &Tree) -> bool {
    let found = STEPS.iter().filter(|step| !report(step.name, (step.run)(tree)));
    found.count() == 0
}

/// Prints what a step found; whether that is nothing.
fn report(name: &str, findings: Findings) -> bool {
    let findings = findings.unwrap_or_else(|error| vec![error]);
    println!("{:<7} {name}", if findings.is_empty() { "ok" } else { "FAILED" });
    for finding in &findings {
        println!("        {finding}");
    }
    findings.is_empty()
}
