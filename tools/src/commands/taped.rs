//! Tapes and recordings of host programs, asked for an explanation.

use std::fs::File;
use std::io::{Read as _, Write};
use std::path::Path;

use anyhow::{Result, bail};
use session::Report;
use session::second::{Answer, Question};
use tape::{Ending, Tape};

use super::why::{WhyOutput, write_form};
use crate::exit::Exit;
use crate::output::note;

/// What files begin with that hold a host's calls: a tape, a recording, and packed ones.
const BEGINNINGS: [&[u8]; 4] = [b"TSTAPE01", b"TTREC01\n", b"\xFD7zXZ\0", b"\x1F\x8B"];

/// Whether a file is a tape or a recording rather than a plan.
#[must_use]
pub fn is_tape(path: &Path) -> bool {
    let mut head = [0; 8];
    let mut length = 0;
    // Opening a pipe would wait for somebody at its other end.
    if path.is_file()
        && let Ok(mut file) = File::open(path)
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
    if output.dot.is_some() {
        bail!("--dot is for plans; --html and --json show a session of many tiles");
    }
    let tape = Tape::open(path)?;
    let answer = session::second::why(&tape, question)?;
    for difference in &answer.differences {
        note(&format!("the machine did something else than the tape has: {difference}"));
    }
    let Some(report) = &answer.report else {
        return nothing(&tape, &answer, output, out);
    };
    let exit = match report.verdict {
        "DEADLOCK" => Exit::Deadlock,
        _ => Exit::NoProgress,
    };
    exit.whatever_became_of(show(report, &answer, output, out))
}

fn show(report: &Report, answer: &Answer, output: &WhyOutput, out: &mut dyn Write) -> Result<()> {
    write_form(&output.sarif, &|| report.sarif(), out)?;
    write_form(&output.html, &|| report.html(), out)?;
    if output.takes_stdout() {
        return Ok(());
    }
    if output.json {
        writeln!(out, "{}", report.json())?;
        return Ok(());
    }
    write!(out, "{report}")?;
    // What was not found matters where something has no name.
    if report.lacks_names() {
        for note in &answer.notes {
            writeln!(out, "note: {note}")?;
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
