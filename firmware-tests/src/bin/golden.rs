//! Runs reference vectors on a tile and counts, per group, how many agree bit for bit.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use firmware_tests::golden::{Group, Outcome, load, run};
use serde_json::json;
use sim_core::Shortcuts;
use tile::TileConfig;

/// Run bit-exact reference vectors on a tile
///
/// Exit status 0 if every vector agrees, 1 if one does not, 2 if the folder cannot be used. A
/// program that the reference refuses counts as agreeing when we refuse it as well, and is listed
/// apart when the documents define what we do with it.
#[derive(Parser)]
struct Args {
    /// Folder with one .json.gz file per group
    folder: PathBuf,
    /// Only these groups, separated by commas
    #[arg(long, value_delimiter = ',')]
    groups: Vec<String>,
    /// Only vectors whose name contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// Show this many failing vectors per group
    #[arg(long, default_value_t = 3)]
    show: usize,
    /// Ways to the same result that are taken: all, none, names, or -name for all but that one
    #[arg(long, value_name = "LIST", default_value = "all", allow_hyphen_values = true,
          value_parser = Shortcuts::parse)]
    shortcuts: Shortcuts,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

struct Tally {
    group: String,
    total: usize,
    passed: usize,
    ran_anyway: usize,
    failures: Vec<(String, String)>,
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Pass => "pass".to_owned(),
        Outcome::Differs(first, count) => format!(
            "{count} words differ, first at {:#x}: expected {:08x}, found {:08x}",
            first.address, first.expected, first.found
        ),
        Outcome::Refused(text) => format!("refused: {text}"),
        Outcome::BothRefuse { ours, reference } => {
            format!("refused: {ours}, reference {reference}")
        }
        Outcome::RanAnyway { reference } => format!("ran; the reference refuses: {reference}"),
        Outcome::Stuck(text) => format!("did not end: {text}"),
    }
}

fn tally(group: &Group, filter: &str, shortcuts: Shortcuts) -> Tally {
    let mut tally = Tally {
        group: group.group.clone(),
        total: 0,
        passed: 0,
        ran_anyway: 0,
        failures: Vec::new(),
    };
    for vector in group.vectors.iter().filter(|vector| vector.name.contains(filter)) {
        tally.total += 1;
        match run(group, vector, TileConfig { shortcuts, ..TileConfig::default() }) {
            Outcome::Pass | Outcome::BothRefuse { .. } => tally.passed += 1,
            outcome @ Outcome::RanAnyway { .. } => {
                tally.ran_anyway += 1;
                tally.failures.push((vector.name.clone(), describe(&outcome)));
            }
            outcome => tally.failures.push((vector.name.clone(), describe(&outcome))),
        }
    }
    tally
}

fn main() -> ExitCode {
    let args = Args::parse();
    let groups = match load(&args.folder) {
        Ok(groups) => groups,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let chosen =
        groups.iter().filter(|group| args.groups.is_empty() || args.groups.contains(&group.group));
    let tallies: Vec<Tally> =
        chosen.map(|group| tally(group, &args.filter, args.shortcuts)).collect();
    let (mut total, mut agreed, mut anyway) = (0, 0, 0);
    for tally in &tallies {
        total += tally.total;
        agreed += tally.passed;
        anyway += tally.ran_anyway;
        if !args.json {
            println!("{:<20} {:>5} / {:<5}", tally.group, tally.passed, tally.total);
            for (name, text) in tally.failures.iter().take(args.show) {
                println!("    {name}: {text}");
            }
        }
    }
    if args.json {
        let groups: Vec<_> = tallies
            .iter()
            .map(|tally| {
                json!({ "group": tally.group, "total": tally.total, "passed": tally.passed,
                        "ran_anyway": tally.ran_anyway, "failures": tally.failures })
            })
            .collect();
        println!("{}", json!({ "total": total, "passed": agreed, "groups": groups }));
    } else {
        println!("{agreed} of {total} vectors agree; {anyway} run where the reference refuses");
    }
    if agreed + anyway == total { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
