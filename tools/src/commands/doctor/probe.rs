//! Other programs, asked with a time limit.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::supervise::{Ended, Program, Watch};

/// How long one that is told to end may take.
const GRACE: Duration = Duration::from_secs(1);

/// What a program has answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// It ended well; its standard output.
    Said(String),
    /// It ended otherwise: how, and its last word.
    Failed(String),
    /// It took too long.
    Late,
    /// There is no such program.
    Absent,
}

struct Limit(Instant);

impl Watch for Limit {
    fn tick(&mut self) -> ControlFlow<()> {
        if Instant::now() < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Runs a program to its end, or to the end of our patience.
pub(super) fn ask(command: &mut Command, patience: Duration) -> Answer {
    match try_ask(command, patience) {
        Ok(answer) => answer,
        Err(error) if error.kind() == ErrorKind::NotFound => Answer::Absent,
        Err(error) => Answer::Failed(error.to_string()),
    }
}

fn try_ask(command: &mut Command, patience: Duration) -> io::Result<Answer> {
    // Files, because a pipe that nobody empties would make it wait.
    let (out, errors) = (tempfile::NamedTempFile::new()?, tempfile::NamedTempFile::new()?);
    command.stdin(Stdio::null()).stdout(out.reopen()?).stderr(errors.reopen()?);
    let mut limit = Limit(Instant::now() + patience);
    let ended = Program::spawn(command, GRACE)?.wait(&mut limit)?;
    if Instant::now() >= limit.0 && ended != Ended::Code(0) {
        return Ok(Answer::Late);
    }
    let said = String::from_utf8_lossy(&fs::read(out.path())?).into_owned();
    if ended.success() {
        return Ok(Answer::Said(said));
    }
    let errors = String::from_utf8_lossy(&fs::read(errors.path())?).into_owned();
    let last = errors.lines().chain(said.lines()).rfind(|line| !line.trim().is_empty());
    Ok(Answer::Failed(match last {
        Some(last) => last.trim().to_owned(),
        None => ended.to_string(),
    }))
}
