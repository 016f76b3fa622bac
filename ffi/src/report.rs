//! What becomes of mistakes under the libttsim ABI, whose functions return nothing to say it with.
//!
//! A mistake is a line on standard error, once; `TILESCOPE_REPORT=FILE` appends it to a file as
//! well. `TILESCOPE_ON_ERROR` says what happens then: `continue` (the default: the host lives on),
//! `exit` (status 1) or `abort` (for a debugger or a core dump).

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use session::mistakes::Told;
use session::{Progress, Report};

use crate::bell::Bell;
use crate::taping::Taping;

/// Different lines that are remembered; a host that errs at a new address each time must not fill
/// the memory.
const REMEMBERED: usize = 1000;
/// Exit status of a guest's mistake, as that of the command line.
const GUEST_ERROR: i32 = 1;

/// Who made the mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Culprit {
    /// The program that calls us.
    Host,
    /// Firmware or a kernel.
    Guest,
    /// We.
    Simulator,
}

impl Culprit {
    fn name(self) -> &'static str {
        match self {
            Self::Host => "host error",
            Self::Guest => "guest error",
            Self::Simulator => "simulator error",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum OnError {
    #[default]
    Continue,
    Exit,
    Abort,
}

/// What happens when the chip hangs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum OnHang {
    /// The host lives on, and waits on.
    #[default]
    Continue,
    /// The process ends with status 3.
    Exit,
    /// The process stops, as by SIGSTOP, until somebody lets it go on.
    Wait,
}

/// Exit status of a proved deadlock, as that of the command line.
const DEADLOCK: i32 = 3;

/// Says each mistake once.
#[derive(Default, Debug)]
pub(crate) struct Reporter {
    on_error: OnError,
    on_hang: OnHang,
    file: Option<PathBuf>,
    seen: BTreeSet<String>,
    repeated: u64,
    hinted: bool,
    /// Mistakes of guests, oldest first.
    errors: Vec<String>,
    /// The last hang.
    report: Option<Box<Report>>,
    /// To the `tilescope run` that started this process.
    pub(crate) bell: Bell,
}

impl Reporter {
    /// A reporter that says everything and lets the host live on.
    pub(crate) const fn new() -> Self {
        Self {
            on_error: OnError::Continue,
            on_hang: OnHang::Continue,
            file: None,
            seen: BTreeSet::new(),
            repeated: 0,
            hinted: false,
            errors: Vec::new(),
            report: None,
            bell: Bell::none(),
        }
    }

    /// As the environment wishes; and what is wrong with the wish, if anything.
    pub(crate) fn from_env() -> (Self, Option<String>) {
        let mut complaint = None;
        let mut reporter = Self::new();
        reporter.file = std::env::var_os("TILESCOPE_REPORT").map(PathBuf::from);
        reporter.bell = Bell::from_env();
        match std::env::var("TILESCOPE_ON_ERROR").ok().as_deref() {
            None | Some("" | "continue") => {}
            Some("exit") => reporter.on_error = OnError::Exit,
            Some("abort") => reporter.on_error = OnError::Abort,
            Some(other) => {
                let known = "continue, exit or abort; it continues";
                complaint = Some(format!("TILESCOPE_ON_ERROR={other:?} is none of {known}"));
            }
        }
        match std::env::var("TILESCOPE_ON_HANG").ok().as_deref() {
            None | Some("" | "continue") => {}
            Some("exit") => reporter.on_hang = OnHang::Exit,
            Some("wait") => reporter.on_hang = OnHang::Wait,
            Some(other) => {
                let known = "continue, exit or wait; it continues";
                complaint = Some(format!("TILESCOPE_ON_HANG={other:?} is none of {known}"));
            }
        }
        (reporter, complaint)
    }

    /// Says that the chip hangs, and why, then does as `TILESCOPE_ON_HANG` wishes. `TILESCOPE_REPORT` gets
    /// it whole, in the form that its extension names.
    pub(crate) fn hang(&mut self, report: &Report, tape: Option<&Path>) {
        self.bell.hangs(report, tape);
        let mut text = format!("tilescope: {report}");
        if let Some(tape) = tape {
            text += &format!("the tape: {}", tape.display());
        }
        say_plainly(text.trim_end());
        self.report = Some(Box::new(report.clone()));
        if !self.write_whole()
            && let Some(path) = &self.file
            && let Err(error) = append(path, text.trim_end())
        {
            say_plainly(&format!("tilescope: cannot write {}: {error}", path.display()));
        }
        match self.on_hang {
            OnHang::Continue => self.hint_hang(),
            OnHang::Exit => end_process(DEADLOCK),
            OnHang::Wait => stop_process(),
        }
    }

    /// Writes a report that is no text, with all that is known until now; whether the file is one.
    fn write_whole(&self) -> bool {
        let Some(path) = &self.file else { return false };
        let told = Told { errors: &self.errors, report: self.report.as_deref() };
        let extension = path.extension().and_then(|extension| extension.to_str());
        let written = match extension {
            Some("json") => std::fs::write(path, told.json()),
            Some("sarif") => std::fs::write(path, told.sarif()),
            Some("html" | "htm") => std::fs::write(path, told.html()),
            _ => return false,
        };
        if let Err(error) = written {
            say_plainly(&format!("tilescope: cannot write {}: {error}", path.display()));
        }
        true
    }

    /// Says that cores go round in loops while the host waits; `TILESCOPE_REPORT` gets it if it is text.
    pub(crate) fn goes_round(&mut self, progress: &Progress) {
        self.line(format!("tilescope: {progress}").trim_end());
    }

    fn hint_hang(&mut self) {
        // Who started this process with a command has options instead of variables, and hears of them there.
        if !self.hinted && !self.bell.is_heard() {
            self.hinted = true;
            say_plainly(
                "tilescope: the host waits on; TILESCOPE_ON_HANG=exit ends it with status 3, \
                 TILESCOPE_REPORT=FILE.html keeps this as a page",
            );
        }
    }

    /// Says what is no mistake.
    pub(crate) fn note(&mut self, text: &str) {
        if self.seen.len() < REMEMBERED && self.seen.insert(text.to_owned()) {
            self.line(&format!("tilescope: note: {text}"));
        }
    }

    /// Says `text` unless it was said before, then does as `TILESCOPE_ON_ERROR` wishes. What ends the process is on the
    /// tape by then.
    pub(crate) fn say(&mut self, culprit: Culprit, text: &str, taping: &mut Taping) {
        if self.on_error != OnError::Continue
            && let Some(complaint) = taping.flush()
        {
            self.note(&complaint);
        }
        // What a host does wrong again is wrong at another cycle.
        let key = match culprit {
            Culprit::Host => text.split(" (cycle ").next().unwrap_or(text),
            Culprit::Guest | Culprit::Simulator => text,
        };
        if self.seen.contains(key) || self.seen.len() >= REMEMBERED {
            self.repeated += 1;
        } else {
            if culprit == Culprit::Guest {
                self.bell.errs(text);
                self.errors.push(text.to_owned());
                self.write_whole();
            }
            self.line(&format!("tilescope: {}: {text}", culprit.name()));
            if self.seen.len() + 1 == REMEMBERED {
                self.line("tilescope: further errors are only counted");
            }
            self.seen.insert(key.to_owned());
        }
        match self.on_error {
            OnError::Continue => self.hint(culprit),
            OnError::Exit => end_process(GUEST_ERROR),
            OnError::Abort => process::abort(),
        }
    }

    /// Says what was lowered to a warning.
    pub(crate) fn warn(&self, text: &str) {
        self.line(&format!("tilescope: warning: {text}"));
    }

    fn hint(&mut self, culprit: Culprit) {
        if culprit == Culprit::Guest && !self.hinted {
            self.hinted = true;
            self.line(
                "tilescope: a core that erred stays where it is (one whose request was refused goes \
                 on), and a host that waits for it waits for ever; TILESCOPE_ON_ERROR=exit ends \
                 the process instead",
            );
        }
    }

    /// What is left to say at the end of a session.
    pub(crate) fn finish(&mut self) {
        if self.repeated > 0 {
            let line = format!("tilescope: {} errors more, like those above", self.repeated);
            self.line(&line);
        }
        *self = Self::new();
    }

    fn line(&self, text: &str) {
        say_plainly(text);
        let Some(path) = &self.file else { return };
        // A report in another form than text is of hangs and of mistakes of guests, which are written as a whole.
        let whole = ["json", "sarif", "html", "htm"];
        let is_whole = |extension: &str| whole.contains(&extension);
        if path.extension().and_then(|extension| extension.to_str()).is_some_and(is_whole) {
            return;
        }
        if let Err(error) = append(path, text) {
            say_plainly(&format!("tilescope: cannot write {}: {error}", path.display()));
        }
    }
}

/// One line on standard error. When that is gone too there is nobody left to tell.
pub(crate) fn say_plainly(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Adds lines to a file.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{text}")
}

/// Ends the process at once. What a host runs at its exit calls this library again, which is within a call,
/// and waits for threads that wait for the chip: seen with the vendor's runtime, which never ended.
#[expect(unsafe_code, reason = "asked for by TILESCOPE_ON_ERROR=exit or TILESCOPE_ON_HANG=exit")]
fn end_process(status: i32) {
    // SAFETY: null means all streams of C; the host's buffered output is not lost.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // SAFETY: ends the process; nothing is called back.
    unsafe { libc::_exit(status) }
}

/// Stops the process until a debugger or SIGCONT lets it go on.
fn stop_process() {
    let pid = process::id();
    say_plainly(&format!("tilescope: process {pid} stops here; kill -CONT {pid} lets it go on"));
    let stopped = process::Command::new("kill").args(["-STOP", &pid.to_string()]).status();
    if stopped.is_err() {
        say_plainly("tilescope: it cannot be stopped: no program kill");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_said_twice_is_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report");
        let mut reporter = Reporter { file: Some(path.clone()), ..Reporter::new() };
        for _ in 0..3 {
            reporter.say(Culprit::Host, "an address nobody has", &mut Taping::none());
        }
        reporter.say(Culprit::Host, "another", &mut Taping::none());
        reporter.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "tilescope: host error: an address nobody has\n\
             tilescope: host error: another\n\
             tilescope: 2 errors more, like those above\n"
        );
    }
}
