//! What Ctrl-C and its like come to.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use super::{Installed, until};

/// A run whose standard error is read as it comes.
struct Running {
    child: Child,
    lines: Receiver<String>,
    said: String,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        let (sent, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if sent.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, said: String::new() }
    }

    fn wait_for(&mut self, text: &str) {
        until(&format!("no {text:?}"), || {
            for line in self.lines.try_iter() {
                self.said.push_str(&line);
                self.said.push('\n');
            }
            self.said.contains(text).then_some(())
        });
    }

    fn send(&self, signal: &str) {
        let script = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &script]).status().expect("a shell").success());
    }

    fn end(mut self) -> (i32, String) {
        let status = self.child.wait().expect("it ends").code().expect("a status");
        let rest: Vec<String> = self.lines.iter().collect();
        (status, std::mem::take(&mut self.said) + &rest.join("\n"))
    }
}

/// A test that fails leaves no program behind that runs for ever.
impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.send("TERM");
            let _ = self.child.wait();
        }
    }
}

/// Whether a process runs; one that has ended and that nobody has asked for does not.
fn runs(pid: &str) -> bool {
    let mut stat = String::new();
    let read =
        fs::File::open(format!("/proc/{pid}/stat")).map(|mut file| file.read_to_string(&mut stat));
    // The state stands behind the name in brackets [man: proc_pid_stat(5)].
    read.is_ok() && stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Whether whoever started the tests wants one of these signals to be ignored, as `nohup` does with SIGHUP and a
/// script with SIGINT and SIGQUIT of what it starts with `&`: then so do all that they start.
fn are_ignored(signals: &[&str]) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a number");
    let first = signals.iter().find(|signal| {
        let number = ["HUP", "INT", "QUIT"].iter().position(|known| known == *signal);
        number.is_some_and(|number| ignored >> number & 1 != 0)
    });
    if let Some(signal) = first {
        println!("skipped: SIG{signal} is ignored here");
    }
    first.is_some()
}

#[test]
fn first_control_c_shows_where_everybody_stands_and_the_second_ends() {
    if are_ignored(&["INT", "QUIT"]) {
        return;
    }
    for (act, status, shown) in [
        ("works", 130, &["1 tile at work", "BRISC     runs in pc 0x"][..]),
        ("hangs", 3, &["1 tile at work", "BRISC     polls L1 word 0x30000 = 0x0 since cycle"]),
    ] {
        for first in ["INT", "QUIT"] {
            let installed = Installed::new();
            let mut run = Running::start(installed.host(&["-o", "a.tstape"], act));
            if act == "hangs" {
                run.wait_for("the program waits on; Ctrl-C shows");
            } else {
                // Which is there once the chip is open.
                until("no tape", || installed.path("a.tstape").exists().then_some(()));
            }
            run.send(first);
            run.wait_for("Ctrl-C once more ends");
            assert!(run.child.try_wait().expect("asked").is_none(), "it lives on");
            let told = run.said.split_once("where everybody stands at cycle ").expect("told").1;
            assert!(told.contains("tile (0, 0) [NoC (1, 2)], no runtime firmware"), "{told}");
            for shown in shown {
                assert!(told.contains(shown), "no {shown}: {told}");
            }
            run.send("INT");
            let (code, said) = run.end();
            assert_eq!(code, status, "{said}");
            assert!(said.contains("was ended by Ctrl-C"), "{said}");
        }
    }
}

/// As a time limit does that ends the program.
#[test]
fn who_is_ended_by_a_signal_says_where_everybody_stood_and_so_does_the_tape() {
    for (signal, status) in [("TERM", 143), ("HUP", 129)] {
        if are_ignored(&[signal]) {
            continue;
        }
        let installed = Installed::new();
        let run = Running::start(installed.host(&["-o", "a.tstape"], "works"));
        until("no tape", || installed.path("a.tstape").exists().then_some(()));
        run.send(signal);
        let (code, said) = run.end();
        assert_eq!(code, status, "{said}");
        let told = said.split_once("where everybody stands at cycle ").expect("told").1;
        assert!(told.contains("BRISC     runs in pc 0x"), "{told}");
        assert!(told.contains(&format!("was ended by SIG{signal}; no hang was proved")), "{told}");
        assert!(!said.contains("Ctrl-C"), "{said}");
        let why = installed.command(&["why", "a.tstape"]).output().expect("it runs");
        let why = String::from_utf8_lossy(&why.stdout).into_owned();
        let (first, stood) = why.split_once("\n\n").expect("more than a line");
        assert!(first.starts_with("no hang: the tape ends within the session"), "{why}");
        assert!(stood.starts_with("where everybody stands at cycle "), "{why}");
        assert!(
            stood.contains("1 tile at work") && stood.contains("BRISC     runs in pc 0x"),
            "{why}"
        );
    }
}

#[test]
fn program_that_hangs_says_that_debuggers_can_attach() {
    let installed = Installed::new();
    let mut run = Running::start(installed.host(&["--attach", "--no-tape"], "hangs"));
    run.wait_for("the program waits on, and tt-exalens and tt-triage can attach to it; Ctrl-C");
    run.send("TERM");
    let (status, said) = run.end();
    assert_eq!(status, 3, "{said}");
}

#[test]
fn explained_hang_is_not_told_again_to_who_ends_the_program() {
    let installed = Installed::new();
    let mut run = Running::start(installed.host(&["-o", "a.tstape"], "hangs"));
    run.wait_for("the program waits on; Ctrl-C shows");
    run.send("TERM");
    let (code, said) = run.end();
    assert_eq!(code, 3, "{said}");
    assert!(!said.contains("where everybody stands at cycle"), "{said}");
}

/// A program that starts another one and waits; both are in `pids`.
const FAMILY: &str = "sleep 600 & echo $$ $! > pids.part; mv pids.part pids; wait";

#[test]
fn program_that_does_not_call_is_said_to_and_its_group_ends_with_it() {
    for (signals, status) in
        [(&["INT", "INT"][..], 130), (&["INT", "TERM"], 143), (&["TERM"], 143), (&["HUP"], 129)]
    {
        if are_ignored(signals) {
            continue;
        }
        let installed = Installed::new();
        let mut run = Running::start(installed.script(&[], FAMILY));
        let pids = until("no program", || fs::read_to_string(installed.path("pids")).ok());
        let (last, before) = signals.split_last().expect("one at least");
        for signal in before {
            run.send(signal);
            run.wait_for("the program has not opened the chip; Ctrl-C once more ends it");
        }
        run.send(last);
        let (code, said) = run.end();
        assert_eq!(code, status, "{said}");
        until("it lives on", || (!pids.split_whitespace().any(runs)).then_some(()));
    }
}
