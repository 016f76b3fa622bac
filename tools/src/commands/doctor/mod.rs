//! `tilescope doctor`: looks at what host programs need, and says what is wrong and how to mend it.
//!
//! Nothing is changed. What might crash or never return is tried in a process of its own.

mod host;
mod library;
mod probe;
mod python;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::exit::Exit;

const EXAMPLES: &str = "\
One line per finding: what is well, what may be worth a look (hint), and what keeps host programs
from running (wrong), with how to mend it. The exit status is 0 if nothing is wrong, else 2.

Examples:
  tilescope doctor
  tilescope doctor --python ~/venv/bin/python3
";

/// Look whether all is there that host programs need, and say how to mend it
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct DoctorArgs {
    /// The Python that your programs run with
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    pub python: PathBuf,
    /// Seconds that Python may take to import ttnn
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub patience: u64,
    /// Load this library, print its version and end
    #[arg(long, value_name = "LIB.so", hide = true)]
    pub load: Option<PathBuf>,
}

/// How grave a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Grade {
    Ok,
    Hint,
    Wrong,
}

/// What was found, in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Finding {
    grade: Grade,
    topic: &'static str,
    text: String,
}

impl Finding {
    fn ok(topic: &'static str, text: impl Into<String>) -> Self {
        Self { grade: Grade::Ok, topic, text: text.into() }
    }

    fn hint(topic: &'static str, text: impl Into<String>) -> Self {
        Self { grade: Grade::Hint, topic, text: text.into() }
    }

    fn wrong(topic: &'static str, text: impl Into<String>) -> Self {
        Self { grade: Grade::Wrong, topic, text: text.into() }
    }
}

/// Runs the command.
///
/// # Errors
/// The output cannot be written.
pub fn run(args: &DoctorArgs, out: &mut dyn Write) -> Result<Exit> {
    if let Some(path) = &args.load {
        return library::load(path, out);
    }
    let mut findings = Vec::new();
    library::look(&mut findings);
    let python = python::look(&args.python, Duration::from_secs(args.patience), &mut findings);
    host::look(python.as_ref(), &mut findings);
    for finding in &findings {
        let grade = match finding.grade {
            Grade::Ok => "ok",
            Grade::Hint => "hint",
            Grade::Wrong => "wrong",
        };
        let text = finding.text.lines().collect::<Vec<_>>().join(" ");
        writeln!(out, "{grade:<6} {:<10} {text}", finding.topic)?;
    }
    let wrong = findings.iter().filter(|finding| finding.grade == Grade::Wrong).count();
    if wrong == 0 {
        writeln!(out, "\nall is there: tilescope run -- PROGRAM")?;
        return Ok(Exit::Ok);
    }
    let things = if wrong == 1 { "one thing is" } else { "several things are" };
    writeln!(out, "\n{things} wrong: host programs will not run as they are")?;
    Ok(Exit::Host)
}
