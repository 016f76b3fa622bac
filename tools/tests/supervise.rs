//! Programs that do not outlive their supervisor: the module as commands use it, and
//! `tilescope record` as a shell and a terminal see it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use tools::supervise::{Answer, Ended, Program, Unwatched, Watch};

/// A program that starts another one, writes both process ids to a file and waits.
const FAMILY: &str = "sleep 600 & echo $$ $! > pids.part; mv pids.part pids; wait";
/// The same, deaf to what asks it to end.
const DEAF: &str = "trap '' TERM INT; sleep 600 & echo $$ $! > pids.part; mv pids.part pids; \
                    while :; do sleep 1; done";

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The process ids that a family has written down.
fn family(dir: &Path) -> Vec<u32> {
    until("the program does not start", || {
        let text = fs::read_to_string(dir.join("pids")).ok()?;
        Some(text.split_whitespace().map(|pid| pid.parse().expect("a number")).collect())
    })
}

/// Whether a process runs; one that has ended and that nobody has asked for does not.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state stands behind the name in brackets [man: proc_pid_stat(5)].
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn assert_gone(pids: &[u32]) {
    until("the program lives on", || (!pids.iter().any(|&pid| runs(pid))).then_some(()));
}

fn shell(script: &str, dir: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(dir).stdin(Stdio::null());
    command
}

#[test]
fn status_of_the_program_is_passed_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let ended = |script: &str| {
        let mut program = Program::spawn(&mut shell(script, dir.path()), Duration::from_secs(5));
        program.as_mut().expect("it starts").wait(&mut Unwatched).expect("it ends")
    };
    assert_eq!(ended("exit 0"), Ended::Code(0));
    assert_eq!(ended("exit 77"), Ended::Code(77));
    let killed = ended("kill -KILL $$");
    // POSIX: greater than 128; all shells add the number, and 9 is SIGKILL's.
    assert_eq!((killed.shell_status(), killed.success()), (137, false));
    assert_eq!(killed.to_string(), "ended by SIGKILL");
}

#[test]
fn what_the_program_leaves_behind_is_ended() {
    let dir = tempfile::tempdir().expect("a folder");
    let script = "sleep 600 & echo $! > pids; exit 3";
    let program = Program::spawn(&mut shell(script, dir.path()), Duration::from_secs(5));
    let ended = program.expect("it starts").wait(&mut Unwatched).expect("it ends");
    assert_eq!(ended, Ended::Code(3));
    assert_gone(&family(dir.path()));
}

#[test]
fn dropped_supervisor_ends_the_whole_group() {
    for (script, grace) in [(FAMILY, 30_000), (DEAF, 100)] {
        let dir = tempfile::tempdir().expect("a folder");
        let grace = Duration::from_millis(grace);
        let program = Program::spawn(&mut shell(script, dir.path()), grace).expect("it starts");
        let pids = family(dir.path());
        assert!(pids.len() == 2 && pids.iter().all(|&pid| runs(pid)));
        drop(program);
        assert_gone(&pids);
    }
}

/// Ends the program at its third tick.
struct Impatient(u32);

impl Watch for Impatient {
    fn tick(&mut self) -> ControlFlow<()> {
        self.0 += 1;
        if self.0 < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

#[test]
fn watcher_sees_ticks_and_may_end_the_group() {
    let dir = tempfile::tempdir().expect("a folder");
    let program = Program::spawn(&mut shell(FAMILY, dir.path()), Duration::from_secs(30));
    let mut watch = Impatient(0);
    // The shell may not have come far by then.
    let ended = program.expect("it starts").wait(&mut watch).expect("it ends");
    assert_eq!((ended.to_string().as_str(), watch.0), ("ended by SIGTERM", 3));
}

/// A report at the first signal, the end at the second.
struct Reporter {
    said: Vec<(String, u32)>,
    heard: mpsc::Sender<u32>,
}

impl Watch for Reporter {
    fn signal(&mut self, signal: nix::sys::signal::Signal, time: u32) -> Answer {
        self.said.push((signal.to_string(), time));
        self.heard.send(time).expect("the test listens");
        if time == 1 { Answer::Keep } else { Answer::End }
    }
}

/// SIGQUIT comes to all programs that are supervised in this process; those of the other tests of
/// this file leave it to their programs, so this one runs by itself.
#[test]
fn first_signal_is_kept_and_the_second_ends() {
    const NAME: &str = "first_signal_is_kept_and_the_second_ends";
    if std::env::var_os("TILESCOPE_TEST_ALONE").is_none() {
        let status = Command::new(std::env::current_exe().expect("a test has a file"))
            .args(["--exact", NAME])
            .env("TILESCOPE_TEST_ALONE", "1")
            .status();
        assert!(status.expect("it runs").success());
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let mut program =
        Program::spawn(&mut shell(FAMILY, dir.path()), Duration::from_secs(30)).expect("it starts");
    let pids = family(dir.path());
    let (heard, hears) = mpsc::channel();
    let mut watch = Reporter { said: Vec::new(), heard };
    let own = std::process::id();
    let (first, second) = (signal_command(own, "QUIT"), signal_command(own, "INT"));
    let family = pids.clone();
    let both = std::thread::spawn(move || {
        send(first);
        assert_eq!(hears.recv(), Ok(1));
        let lived = family.iter().all(|&pid| runs(pid));
        send(second);
        // The reporter tells of the second one too, and finds nobody if this thread has gone.
        assert_eq!(hears.recv(), Ok(2));
        lived
    });
    let ended = program.wait(&mut watch).expect("it ends");
    assert!(both.join().expect("no panic"), "it ended with the first signal");
    assert_eq!(ended.to_string(), "ended by SIGTERM");
    assert_eq!(watch.said, [("SIGQUIT".to_owned(), 1), ("SIGINT".to_owned(), 2)]);
    assert_gone(&pids);
}

fn signal_command(pid: u32, name: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("kill -{name} {pid}")]);
    command
}

fn send(mut command: Command) {
    assert!(command.status().expect("a shell is there").success());
}

/// A folder with the program in it, and with what `record` looks for beside it; nobody loads them.
struct Installed {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl Installed {
    fn new(libraries: &[&str]) -> Self {
        let built = Path::new(env!("CARGO_BIN_EXE_tilescope"));
        // A hard link needs the same file system.
        let dir = tempfile::tempdir_in(built.parent().expect("a folder")).expect("a folder");
        let program = dir.path().join("tilescope");
        fs::hard_link(built, &program).expect("linked");
        for library in libraries {
            fs::write(dir.path().join(library), b"not loaded here").expect("written");
        }
        Self { dir, program }
    }

    fn ready() -> Self {
        Self::new(&["libtilescope_record.so", "libtilescope_bh.so"])
    }

    fn record(&self, script: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["record", "-o", "session.rec", "--", "sh", "-c", script]);
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }
}

/// Writes a recording of one clock, as the recorder would.
const RECORDS: &str = r#"printf 'TTREC01\n\007\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' \
    > "$TILESCOPE_RECORD_FILE"; "#;

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(both).expect("text")
}

#[test]
fn record_that_is_ended_by_a_signal_ends_its_program() {
    for (name, status) in [("TERM", 143), ("INT", 130), ("HUP", 129), ("QUIT", 131)] {
        let installed = Installed::ready();
        let mut command = installed.record(&format!("{RECORDS}{FAMILY}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child: Child = command.spawn().expect("it starts");
        let pids = family(installed.dir.path());
        send(signal_command(child.id(), name));
        let output = child.wait_with_output().expect("it ends");
        assert_gone(&pids);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains("session.rec: 1 record,"), "{said}");
        assert!(said.contains(&format!("ended by SIG{name}")), "{said}");
    }
}

#[test]
fn record_passes_the_status_of_its_program_on() {
    let installed = Installed::ready();
    for status in [0, 1, 77] {
        let script = format!("{RECORDS}exit {status}");
        let output = installed.record(&script).output().expect("it runs");
        assert_eq!(output.status.code(), Some(status), "{}", text(&output));
        assert!(text(&output).contains("session.rec: 1 record,"), "{}", text(&output));
    }
    fs::remove_file(installed.dir.path().join("session.rec")).expect("recorded");
    let output = installed.record("exit 0").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("nothing was recorded"), "{}", text(&output));
    let output = Command::new(&installed.program)
        .args(["record", "--", "./no-such-program"])
        .current_dir(installed.dir.path())
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("cannot run ./no-such-program"), "{}", text(&output));
}

/// `--lib` names the library that is recorded, not the recorder.
#[test]
fn missing_recorder_is_not_blamed_on_an_option_for_something_else() {
    let output = Installed::new(&["libtilescope_bh.so"]).record("true").output().expect("it runs");
    let said = text(&output);
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("no libtilescope_record.so") && said.contains("-p recorder"), "{said}");
    assert!(!said.contains("--lib"), "{said}");
    let output = Installed::new(&["libtilescope_record.so"]).record("true").output();
    let said = text(&output.expect("it runs"));
    assert!(said.contains("no libtilescope_bh.so") && said.contains("--lib"), "{said}");
}

/// A terminal with `record` on it.
fn on_terminal(
    installed: &Installed,
    script: &str,
    drive: impl FnOnce(&mut dyn FnMut(&str), &mut dyn FnMut(&str) -> String),
) -> u32 {
    let size = PtySize { rows: 24, cols: 200, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size).expect("a pseudo-terminal");
    let mut command = CommandBuilder::new(&installed.program);
    command.args(["record", "-o", "session.rec", "--", "sh", "-c", script]);
    command.cwd(installed.dir.path());
    let mut child = pty.slave.spawn_command(command).expect("it starts");
    drop(pty.slave);
    let mut reader = pty.master.try_clone_reader().expect("a reader");
    let mut keys = pty.master.take_writer().expect("a writer");
    let (shown, screen) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            if shown.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut press = |text: &str| {
        keys.write_all(text.as_bytes()).expect("it listens");
        keys.flush().expect("it listens");
    };
    let mut seen = String::new();
    let mut wait_for = |wanted: &str| {
        until(&format!("no {wanted}"), || {
            while let Ok(bytes) = screen.try_recv() {
                seen.push_str(&String::from_utf8_lossy(&bytes));
            }
            seen.contains(wanted).then(|| seen.clone())
        })
    };
    drive(&mut press, &mut wait_for);
    child.wait().expect("it ends").exit_code()
}

#[test]
fn recorded_program_may_read_from_the_terminal() {
    let installed = Installed::ready();
    let script = format!("{RECORDS}echo ready; read word; echo \"got $word\"; exit 5");
    let status = on_terminal(&installed, &script, |press, wait_for| {
        wait_for("ready");
        press("something\r");
        wait_for("got something");
        wait_for("1 record,");
    });
    assert_eq!(status, 5);
}

#[test]
fn control_c_on_the_terminal_reaches_the_recorded_program() {
    // One that reads, and so has the terminal itself, and one that does not.
    for wait in ["read word", "wait"] {
        let installed = Installed::ready();
        let script = format!(
            "{RECORDS}trap 'echo heard; exit 9' INT; sleep 600 & echo $! > pids; echo ready; {wait}"
        );
        let status = on_terminal(&installed, &script, |press, wait_for| {
            wait_for("ready");
            if wait == "read word" {
                // Which has been let at the terminal once a line has come.
                std::thread::sleep(Duration::from_millis(200));
            }
            press("\u{3}");
            wait_for("heard");
            wait_for("1 record,");
        });
        assert_eq!(status, 9, "{wait}");
        assert_gone(&family(installed.dir.path()));
    }
}

#[test]
fn output_of_the_recorded_program_comes_through() {
    let installed = Installed::ready();
    let mut command = installed.record(&format!("{RECORDS}echo one; echo two >&2"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    assert_eq!(line, "one\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
