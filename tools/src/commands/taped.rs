//! Tapes and recordings of host programs, asked for an explanation.

use std::fs::File;
use std::io::{Read as _, Write};
use std::path::Path;

use anyhow::{Result, bail};
use session::Report;
use session::second::{Answer, Question};
use tape::{Ending, Tape};

use super::why::WhyOutput;
use crate::exit::Exit;

/// What files begin with that hold a host's calls: a tape, a recording, and packed ones.
const BEGINNINGS: [&[u8]; 4] = [b"TSTAPE01", b"TTREC01\n", b"\xFD7zXZ\0", b"\x1F\x8B"];

/// Whether a file is a tape or a recording rather than a plan.
#[must_use]
pub fn is_tape(path: &Path) -> bool {
    let mut head = [0; 8];
    let mut length = 0;
    if let Ok(mut file) = File::open(path)
        && path.is_file()
    {
        while let Ok(more @ 1..) = file.read(&mut head[length..]) {
            length += more;
        }
    }
    BEGINNINGS.iter().any(|beginning| head[..length].starts_with(beginning))
}

/// Says why the session of a tape hangs, if it does.
///
/// # Errors
/// The tape cannot be read or something cannot be written.
pub fn why(
    path: &Path,
    question: &Question,
    output: &WhyOutput,
    out: &mut dyn Write,
) -> Result<Exit> {
    let tape = Tape::open(path)?;
    let answer = session::second::why(&tape, question)?;
    for difference in &answer.differences {
        eprintln!("note: the machine did something else than the tape has: {difference}");
    }
    let Some(report) = &answer.report else {
        return nothing(&tape, &answer, output, out);
    };
    write_forms(report, output)?;
    if output.json {
        writeln!(out, "{}", report.json())?;
    } else {
        write!(out, "{report}")?;
        // What was not found matters where something has no name.
        if report.lacks_names() {
            for note in &answer.notes {
                writeln!(out, "note: {note}")?;
            }
        }
    }
    Ok(match report.verdict {
        "DEADLOCK" => Exit::Deadlock,
        _ => Exit::NoProgress,
    })
}

fn write_forms(report: &Report, output: &WhyOutput) -> Result<()> {
    if output.dot.is_some() {
        bail!("--dot is for plans; --html and --json show a session of many tiles");
    }
    for (path, text) in
        [(&output.sarif, Report::sarif as fn(&Report) -> String), (&output.html, Report::html)]
    {
        if let Some(path) = path {
            super::sim::replace(path, text(report).as_bytes())?;
        }
    }
    Ok(())
}

fn nothing(tape: &Tape, answer: &Answer, output: &WhyOutput, out: &mut dyn Write) -> Result<Exit> {
    let ending = match tape.ending() {
        Ending::Whole => "the host closed the device".to_owned(),
        Ending::Cut { .. } => "the tape ends within the session".to_owned(),
        Ending::Limit => "the tape was full before the session ended".to_owned(),
    };
    let (calls, cycle) = (answer.calls, answer.cycle);
    if output.json {
        let value = serde_json::json!({ "verdict": "DONE", "calls": calls, "cycle": cycle });
        writeln!(out, "{value:#}")?;
    } else {
        writeln!(out, "no hang: {ending} ({calls} calls, cycle {cycle})")?;
    }
    Ok(Exit::Ok)
}
