//! Runs the hazard corpus: exit status 0 only if every bug is named right and every clean twin is
//! silent.
//!
//! `--table FILE` writes the table of the documents, `--show NAME` prints the report of one kernel.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use firmware_tests::{embedded, hazards, hazards_dir};

/// Run the hazard corpus
#[derive(Parser, Debug)]
struct Args {
    /// Only folders whose name contains this
    filter: Option<String>,
    /// Print the reports of the buggy kernels
    #[arg(long)]
    show: bool,
    /// Write the table in Markdown
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Nothing may be said about the reference vectors in this folder
    #[arg(long, value_name = "DIR")]
    vectors: Option<PathBuf>,
    /// Nothing may be said about the recorded host sessions in this folder
    #[arg(long, value_name = "DIR")]
    recordings: Option<PathBuf>,
}

/// Prints what was said where nothing should be. Gives whether there was nothing.
fn is_silent(what: &str, (noise, count): &(Vec<String>, usize)) -> bool {
    for line in noise {
        println!("FAILED: {line}");
    }
    println!("{count} {what}, {} remarks", noise.len());
    noise.is_empty() && *count > 0
}

fn run(args: &Args) -> Result<bool, String> {
    let set = embedded::set().map_err(|error| error.to_string())?;
    let (setup, mut outcomes, mut bad) = (hazards::setup(), Vec::new(), 0);
    for folder in hazards::folders(&hazards_dir())? {
        let name = folder.display().to_string();
        if args.filter.as_ref().is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        let outcome = hazards::run(&folder, &set, &setup)?;
        let complaint = outcome.complaint();
        bad += usize::from(complaint.is_some());
        let verdict = complaint.map_or_else(|| "ok".to_owned(), |text| format!("FAILED: {text}"));
        let end = outcome.buggy.end;
        println!("{:<36} {end:<12} {verdict}", outcome.folder);
        if args.show {
            println!("{}", outcome.buggy.report);
        }
        outcomes.push(outcome);
    }
    println!("{} of {} classes and twins right", outcomes.len() - bad, outcomes.len());
    if let Some(path) = &args.table {
        std::fs::write(path, hazards::table(&outcomes)).map_err(|error| error.to_string())?;
    }
    let mut good = bad == 0 && !outcomes.is_empty();
    if let Some(dir) = &args.vectors {
        good &= is_silent("vectors", &hazards::noise_of_vectors(dir)?);
    }
    if let Some(dir) = &args.recordings {
        good &= is_silent("recordings", &hazards::noise_of_recordings(dir)?);
    }
    Ok(good)
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
