//! What goes between this library and who started the process, `tilescope run` or a test runner: files in the directory
//! that `TILESCOPE_RUN_DIR` names. Without it nothing here does anything.
//!
//! * `session-PID`: a session has begun; one line, the path of its tape if one is kept.
//! * `ended-PID`: a session has ended; one line.
//! * `hang-PID`: a hang was proved; a line of JSON for each: `verdict`, `cycle`, `tape`, `text`.
//! * `errors-PID`: a line for each mistake of the guest.
//! * `ask`, by `tilescope run`: somebody wants to know where everybody stands.
//! * `told-PID`: the answer, as text. It appears whole.
//! * `tape`: the process that has the tape's name; others append their id to it.
//!
//! A directory that is gone, or full, hurts nobody: who listens there does without.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use serde_json::json;
use session::Report;

/// It is looked for a question at most so often: a host may call a million times a second.
const LOOKED: Duration = Duration::from_millis(50);

/// The way to `tilescope run`, if there is one.
#[derive(Default, Debug)]
pub(crate) struct Bell(Option<Box<Rope>>);

#[derive(Debug)]
struct Rope {
    dir: PathBuf,
    looked: Instant,
    answered: bool,
}

fn dir() -> Option<PathBuf> {
    std::env::var_os("TILESCOPE_RUN_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from)
}

/// Whether another process of the same run has the name of the tape already.
pub(crate) fn tape_is_taken() -> bool {
    let Some(dir) = dir() else { return false };
    let path = dir.join("tape");
    let own = process::id().to_string();
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(own.as_bytes()).is_err(),
        // Who loads the library again goes on with its own.
        Err(_) => fs::read_to_string(&path).is_ok_and(|owner| owner != own),
    }
}

impl Bell {
    /// To nobody.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// To whom the environment names.
    pub(crate) fn from_env() -> Self {
        let rope = |dir| Box::new(Rope { dir, looked: Instant::now(), answered: false });
        Self(dir().map(rope))
    }

    /// Whether somebody listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    fn append(&self, what: &str, line: &str) {
        if let Some(rope) = &self.0 {
            let path = rope.dir.join(format!("{what}-{}", process::id()));
            let file = OpenOptions::new().create(true).append(true).open(path);
            // As above: nobody listens any more.
            let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        }
    }

    /// A session begins.
    pub(crate) fn begins(&self, tape: Option<&Path>) {
        let tape = tape.map(|tape| tape.display().to_string());
        self.append("session", &tape.unwrap_or_default());
    }

    /// A session ends, and its tape is on the disk.
    pub(crate) fn ends(&self) {
        self.append("ended", "");
    }

    /// A hang was proved, and the tape is on the disk up to here.
    pub(crate) fn hangs(&self, report: &Report, tape: Option<&Path>) {
        let text = report.to_string();
        let line = json!({
            "verdict": report.verdict,
            "cycle": report.found,
            "headline": report.cause.headline,
            "tape": tape,
            "text": text,
        });
        self.append("hang", &line.to_string());
    }

    /// The guest has made a mistake.
    pub(crate) fn errs(&self, text: &str) {
        self.append("errors", text);
    }

    /// Whether somebody wants to know where everybody stands, and has not been told.
    #[inline]
    pub(crate) fn is_asked(&mut self) -> bool {
        let Some(rope) = &mut self.0 else { return false };
        if rope.answered || rope.looked.elapsed() < LOOKED {
            return false;
        }
        rope.looked = Instant::now();
        rope.dir.join("ask").exists()
    }

    /// The answer.
    pub(crate) fn tell(&mut self, text: &str) {
        let Some(rope) = &mut self.0 else { return };
        rope.answered = true;
        let path = rope.dir.join(format!("told-{}", process::id()));
        let part = path.with_extension("part");
        // As above.
        let _ = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
    }
}
