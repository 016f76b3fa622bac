//! What the library says while the program runs, and what it is asked: files in a directory, as
//! `ffi/src/bell.rs` lists them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use nix::sys::signal::Signal;
use serde::Deserialize;
use tape::{Ending, Tape};

use crate::exit::Exit;
use crate::output::{print_plainly, say};
use crate::supervise::{Answer, Watch};

/// How long the library may take to answer; it looks for questions twenty times a second.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What happens once a hang is explained.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnHang {
    /// The program waits on
    Continue,
    /// The process that hangs ends with status 3
    Exit,
    /// The process stops, for a debugger
    Wait,
}

impl OnHang {
    /// The value of the variable.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Exit => "exit",
            Self::Wait => "wait",
        }
    }
}

/// A hang as the library tells of it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Hang {
    pub(super) verdict: String,
    pub(super) cycle: u64,
    tape: Option<PathBuf>,
    /// The explanation that the library has printed.
    text: String,
}

/// What became of the program, as far as the library has seen it.
#[derive(Clone, Default, Debug)]
pub(super) struct News {
    /// Times that the chip was opened.
    pub(super) sessions: usize,
    hangs: Vec<Hang>,
    /// Different mistakes of kernels and firmware.
    pub(super) errors: usize,
    pub(super) tapes: BTreeSet<PathBuf>,
    /// The signal by which the user ended it.
    pub(super) ended_by: Option<Signal>,
}

impl News {
    /// A deadlock if there was one, else the first.
    pub(super) fn worst_hang(&self) -> Option<&Hang> {
        let deadlock = self.hangs.iter().find(|hang| hang.verdict == "DEADLOCK");
        deadlock.or(self.hangs.first())
    }

    fn read(dir: &Path) -> Self {
        let mut news = Self::default();
        for line in lines(dir, "session-") {
            news.sessions += 1;
            if !line.is_empty() {
                news.tapes.insert(PathBuf::from(line));
            }
        }
        news.hangs = hangs(dir);
        news.tapes.extend(news.hangs.iter().filter_map(|hang| hang.tape.clone()));
        news.errors = lines(dir, "errors-").len();
        news
    }
}

/// Files of that name and any process, in order.
fn files(dir: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(name))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_none())
        .collect();
    files.sort();
    files
}

fn lines(dir: &Path, name: &str) -> Vec<String> {
    let texts = files(dir, name).into_iter().filter_map(|path| fs::read_to_string(path).ok());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn hangs(dir: &Path) -> Vec<Hang> {
    // The last line of one that is being written is read the next time.
    lines(dir, "hang-").iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// An explanation without the cycle in which it was found, which depends on when somebody looked.
fn essence(text: &str) -> String {
    let mut parts = text.trim_end().split("found at cycle ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + part.trim_start_matches(|digit: char| digit.is_ascii_digit())
    })
}

/// Says what a tape, played again, has said: nothing twice.
fn told(ended: io::Result<ExitStatus>, tape: &Path, answer: &Path, known: &str) {
    let answers =
        [Exit::Deadlock, Exit::NoProgress, Exit::Guest].map(|exit| i32::from(exit.status()));
    let status = ended.ok().and_then(|ended| ended.code());
    let text = fs::read_to_string(answer).unwrap_or_default();
    if !status.is_some_and(|status| answers.contains(&status)) {
        if Tape::open(tape).is_ok_and(|tape| tape.ending() == Ending::Limit) {
            return say("its tape was full before that: it does not reach the hang");
        }
        say("its tape says nothing yet; ask it when the program has ended");
    } else if essence(&text) == essence(known) {
        say("its tape, played again, says the same");
    } else {
        say("from its tape:");
        print_plainly(text.trim_end());
    }
}

/// Starts `tilescope why` on a tape, with a file for its answer. Keys of the terminal are not for it, and what it
/// would say of a tape from elsewhere is of no interest here.
fn ask(tape: &Path, answer: &Path) -> io::Result<Child> {
    let said = fs::File::create(answer)?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("why")
        .arg(tape)
        .stdin(Stdio::null())
        .stdout(said)
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// Watches a program that has the library.
#[derive(Debug)]
pub(super) struct Watcher {
    dir: PathBuf,
    on_hang: OnHang,
    /// The vendor's debuggers can attach to the program.
    attach: bool,
    hinted: bool,
    asked: Option<Instant>,
    /// It was said that nobody answers.
    given_up: bool,
    /// The program is to end, once it has been said where everybody stands.
    ending: bool,
    shown: BTreeSet<PathBuf>,
    ended_by: Option<Signal>,
    /// Who plays the tape of the first hang, which knows more than the library could: who did what before.
    player: Option<Child>,
    /// That tape.
    first: PathBuf,
    /// What the library has said of that hang.
    known: String,
    /// A tape was asked.
    played: bool,
}

impl Watcher {
    pub(super) fn new(dir: &Path, on_hang: OnHang, attach: bool) -> Self {
        Self {
            dir: dir.to_owned(),
            on_hang,
            attach,
            hinted: false,
            asked: None,
            given_up: false,
            ending: false,
            shown: BTreeSet::new(),
            ended_by: None,
            player: None,
            first: PathBuf::new(),
            known: String::new(),
            played: false,
        }
    }

    /// Once the program has ended.
    pub(super) fn finish(mut self) -> News {
        self.show_answers();
        self.play();
        if let Some(mut player) = self.player.take() {
            if self.ended_by.is_some() {
                // Who ends the program wants no more of it. It may have ended meanwhile.
                let _ = player.kill();
                let _ = player.wait();
            } else {
                told(player.wait(), &self.first, &self.answer(), &self.known);
            }
        }
        News { ended_by: self.ended_by, ..News::read(&self.dir) }
    }

    fn show_answers(&mut self) {
        for path in files(&self.dir, "told-") {
            if let Ok(text) = fs::read_to_string(&path)
                && self.shown.insert(path)
            {
                print_plainly(text.trim_end());
                if !self.ending {
                    say("Ctrl-C once more ends the program");
                }
            }
        }
    }

    /// Whether somebody has the chip open.
    fn is_open(&self) -> bool {
        lines(&self.dir, "session-").len() > lines(&self.dir, "ended-").len()
    }

    /// Where the player writes.
    fn answer(&self) -> PathBuf {
        self.dir.join("played.txt")
    }

    /// Has the tape of the first hang explained, by a process of its own: the program and its signals do not
    /// wait for that.
    fn play(&mut self) {
        if self.played {
            return;
        }
        let first = hangs(&self.dir).into_iter().find_map(|hang| Some((hang.tape?, hang.text)));
        let Some((tape, known)) = first else { return };
        self.played = true;
        self.known = known;
        match ask(&tape, &self.answer()) {
            Ok(player) => (self.player, self.first) = (Some(player), tape),
            Err(error) => say(&format!("{}: {error}", tape.display())),
        }
    }

    /// Whether the tape is still being played.
    fn plays(&mut self) -> bool {
        let Some(player) = &mut self.player else { return false };
        let Some(ended) = player.try_wait().transpose() else { return true };
        self.player = None;
        told(ended, &self.first, &self.answer(), &self.known);
        false
    }

    fn hint(&mut self) {
        if self.hinted || self.on_hang != OnHang::Continue || hangs(&self.dir).is_empty() {
            return;
        }
        self.hinted = true;
        say(match self.asked {
            None if self.attach => {
                "the program waits on, and tt-exalens and tt-triage can attach to it; Ctrl-C shows \
                 where everybody stands, a second one ends it"
            }
            None => {
                "the program waits on; Ctrl-C shows where everybody stands, a second one ends it \
                 (--on-hang exit does so by itself, --report FILE.html keeps this as a page)"
            }
            Some(_) => "the program waits on; Ctrl-C ends it",
        });
    }
}

impl Watch for Watcher {
    fn tick(&mut self) -> ControlFlow<()> {
        self.play();
        if !self.plays() {
            self.hint();
        }
        let Some(asked) = self.asked else { return ControlFlow::Continue(()) };
        self.show_answers();
        if self.ending && (!self.shown.is_empty() || asked.elapsed() > PATIENCE) {
            return ControlFlow::Break(());
        }
        if self.shown.is_empty() && !self.given_up && asked.elapsed() > PATIENCE {
            self.given_up = true;
            say(match files(&self.dir, "session-").is_empty() {
                true => "the program has not opened the chip; Ctrl-C once more ends it",
                false => {
                    "the program makes no calls that reach the chip right now; \
                     Ctrl-C once more ends it"
                }
            });
        }
        ControlFlow::Continue(())
    }

    /// Who presses Ctrl-C is asked for a second one. Who ends the program by another signal, as a time limit
    /// does, learns where everybody stood, unless a hang has been explained or the chip is not open.
    fn signal(&mut self, signal: Signal, _time: u32) -> Answer {
        let by_key = matches!(signal, Signal::SIGINT | Signal::SIGQUIT);
        let asks =
            self.asked.is_none() && (by_key || (self.is_open() && hangs(&self.dir).is_empty()));
        if !by_key {
            self.ended_by.get_or_insert(signal);
        }
        if asks && fs::write(self.dir.join("ask"), "").is_ok() {
            self.asked = Some(Instant::now());
            self.ending = !by_key;
            return Answer::Keep;
        }
        self.ended_by.get_or_insert(signal);
        Answer::End
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_differ_by_more_than_when_they_were_found() {
        let at = |cycle: u64| {
            format!("cb-starved\n  --> closed at cycle 5, found at cycle {cycle}\n  = why\n\n")
        };
        assert_eq!(essence(&at(100)), essence(&at(452_816)));
        assert_ne!(essence(&at(100)), essence(&at(100).replace("cycle 5", "cycle 6")));
        assert_ne!(essence(&at(100)), essence("cb-starved, found at cycle 100"));
    }
}
