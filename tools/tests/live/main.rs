//! `tilescope run`, `env` and `doctor` as a shell sees them, with host programs that load the library.

mod doctor;
mod elsewhere;
mod host;
mod mistakes;
mod signals;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder with the program and the library in it.
pub(crate) struct Installed {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) program: PathBuf,
}

impl Installed {
    /// The program without its library.
    pub(crate) fn bare() -> Self {
        let built = Path::new(env!("CARGO_BIN_EXE_tilescope"));
        // A hard link needs the same file system.
        let dir = tempfile::tempdir_in(built.parent().expect("a folder")).expect("a folder");
        let program = dir.path().join("tilescope");
        fs::hard_link(built, &program).expect("linked");
        Self { dir, program }
    }

    pub(crate) fn new() -> Self {
        let installed = Self::bare();
        let test = std::env::current_exe().expect("a test has a file");
        let library = test.with_file_name("libtilescope_bh.so");
        fs::hard_link(library, installed.library())
            .expect("cargo builds the library for this test");
        installed
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.dir.path().join("libtilescope_bh.so")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `tilescope` in that folder, in an environment that says nothing.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("TT_METAL_") || name.starts_with("TILESCOPE_") {
                command.env_remove(&*name);
            }
        }
        command
    }

    /// `tilescope run` with options and a shell script.
    pub(crate) fn script(&self, options: &[&str], script: &str) -> Command {
        self.command(&[&["run"], options, &["--", "sh", "-c", script]].concat())
    }

    /// `tilescope run` with options and one of the host programs of this file.
    pub(crate) fn host(&self, options: &[&str], act: &str) -> Command {
        let mut command = self.command(&[&["run"], options].concat());
        command.arg("--").arg(std::env::current_exe().expect("a test has a file"));
        command.args(["--exact", "host::acts", "--nocapture"]).env(host::ACT, act);
        command
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn good_program_ends_well_and_leaves_a_tape() {
    let installed = Installed::new();
    let mut command = installed.host(&["-o", "good.tstape"], "good");
    let output = command.output().expect("it runs");
    let (said, heard) = (stderr(&output), stdout(&output));
    assert_eq!(output.status.code(), Some(0), "{said}{heard}");
    assert!(heard.contains("the host is content"), "{heard}");
    assert!(!heard.contains("tilescope"), "{heard}");
    assert!(said.contains("exit status 0; no hang"), "{said}");
    assert!(said.contains("tilescope why good.tstape"), "{said}");
    assert!(fs::metadata(installed.path("good.tstape")).expect("a tape").len() > 0);
}

#[test]
fn deadlock_is_explained_and_its_status_is_3() {
    let installed = Installed::new();
    let options = ["--on-hang", "exit", "--report", "why.json"];
    let output = installed.host(&options, "hangs").output().expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("tilescope: DEADLOCK on 1 tile"), "{said}");
    assert!(said.contains("BRISC polls L1 word 0x30000"), "{said}");
    assert!(said.contains("exit status 3; DEADLOCK at cycle"), "{said}");
    let (_, from_tape) = said.split_once("from its tape:").expect("it is asked");
    assert!(from_tape.contains("DEADLOCK: BRISC polls L1 word 0x30000"), "{said}");
    assert!(!said.contains("carries not all names"), "{said}");
    let report = fs::read_to_string(installed.path("why.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["verdict"], "DEADLOCK");
    // Without -o it has the name of the program.
    let name = std::env::current_exe().expect("a test has a file");
    let tape = format!("{}.tstape", name.file_name().expect("a name").display());
    assert!(installed.path(&tape).is_file(), "{said}");
    assert!(said.contains(&format!("tilescope why {tape}")), "{said}");
}

/// The hang itself is proved without a tape; what a tape that is too short lacks is said by all who are asked.
#[test]
fn tape_that_does_not_reach_the_hang_is_said_to_be_full() {
    let installed = Installed::new();
    let options = ["-o", "full.tstape", "--tape-bytes", "5", "--on-hang", "exit"];
    let output = installed.host(&options, "hangs").output().expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in [
        "tilescope: DEADLOCK on 1 tile",
        "full.tstape has as many bytes as it may have",
        "its tape was full before that: it does not reach the hang",
        "full before the session ended, for more: tilescope why full.tstape",
    ] {
        assert_eq!(said.matches(part).count(), 1, "{part}: {said}");
    }
    let output = installed.command(&["why", "full.tstape"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("what came later is not on it"), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("no hang that the tape has: "), "{}", stdout(&output));
    let output = installed.command(&["why", "full.tstape", "--json"]).output().expect("it runs");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["ending"], "the tape was full before the session ended");
}

#[test]
fn core_that_the_host_forgets_is_a_host_wait_and_status_4() {
    let output = Installed::new().host(&["--on-hang", "exit", "--no-tape"], "forgets").output();
    let output = output.expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("HOST-WAIT") && said.contains("NCRISC polls L1 word 0x30000"), "{said}");
    assert!(!said.contains("tilescope why"), "there is no tape: {said}");
}

#[test]
fn guest_error_of_a_content_host_is_status_1() {
    let output = Installed::new().host(&["--no-tape"], "errs").output().expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("exit status 0; a guest error, named above"), "{said}");
}

#[test]
fn program_that_opens_no_chip_has_its_own_status() {
    let installed = Installed::new();
    for (script, status) in [("exit 7", 7), ("kill -KILL $$", 137), ("true", 0)] {
        let output = installed.script(&[], script).output().expect("it runs");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains("it did not open the chip"), "{said}");
        assert!(!installed.path("sh.tstape").exists());
    }
}

#[test]
fn program_finds_library_descriptor_and_dispatch_mode() {
    let installed = Installed::new();
    let script = "cmp $TT_METAL_SIMULATOR libtilescope_bh.so || exit 9; \
                  grep -q arch_name $(dirname $TT_METAL_SIMULATOR)/soc_descriptor.yaml || exit 8; \
                  echo mode ${TT_METAL_SLOW_DISPATCH_MODE-unset}";
    let mode = |options: &[&str], set: Option<&str>| {
        let mut command = installed.script(options, script);
        command.envs(set.map(|value| ("TT_METAL_SLOW_DISPATCH_MODE", value)));
        // What is there is not what runs.
        command.env("TT_METAL_SIMULATOR", "/nowhere/libother.so");
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(mode(&[], None), "mode 1\n");
    assert_eq!(mode(&[], Some("2")), "mode 2\n");
    assert_eq!(mode(&["--fast-dispatch"], None), "mode unset\n");
    assert_eq!(mode(&["--fast-dispatch"], Some("1")), "mode unset\n");
}

#[test]
fn chip_is_served_to_debuggers_if_asked() {
    let installed = Installed::new();
    let served = |options: &[&str]| {
        let script =
            "echo ${TT_METAL_SIMULATOR_SERVE_OVER_SOCKETS-no} ${TT_METAL_INSPECTOR_RPC-no}";
        stdout(&installed.script(options, script).output().expect("it runs"))
    };
    assert_eq!(served(&[]), "no no\n");
    assert_eq!(served(&["--attach"]), "1 1\n");
}

#[test]
fn options_win_over_the_environment_which_wins_over_defaults() {
    let installed = Installed::new();
    let shown = |options: &[&str], set: &[(&str, &str)]| {
        let script = "echo ${TILESCOPE_TAPE-none} ${TILESCOPE_TAPE_BYTES-none} \
                      ${TILESCOPE_ON_HANG-none} ${TILESCOPE_REPORT-none}";
        let mut command = installed.script(options, script);
        command.envs(set.iter().copied());
        let here = installed.dir.path().canonicalize().expect("there");
        stdout(&command.output().expect("it runs")).replace(&*here.to_string_lossy(), "HERE")
    };
    assert_eq!(shown(&[], &[]), "HERE/sh.tstape none none none\n");
    let set = [("TILESCOPE_TAPE", "/a"), ("TILESCOPE_ON_HANG", "wait"), ("TILESCOPE_REPORT", "/b")];
    assert_eq!(shown(&[], &set), "/a none wait /b\n");
    let options = ["-o", "t", "--tape-bytes", "5", "--on-hang", "exit", "--report", "r.html"];
    assert_eq!(shown(&options, &set), "HERE/t 5 exit HERE/r.html\n");
    assert_eq!(shown(&["--no-tape"], &set), "none none wait /b\n");
}

#[test]
fn two_processes_of_a_run_leave_two_tapes() {
    let installed = Installed::new();
    let mut command = installed.script(
        &["-o", "both.tstape"],
        "\"$HOST\" --exact host::acts & \
        \"$HOST\" --exact host::acts; wait $!",
    );
    command.env("HOST", std::env::current_exe().expect("a test has a file")).env(host::ACT, "good");
    let output = command.output().expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}{}", stdout(&output));
    let entries = fs::read_dir(installed.dir.path()).expect("there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let tapes: Vec<_> = names.filter(|name| name.starts_with("both.tstape")).collect();
    assert_eq!(tapes.len(), 2, "{tapes:?} {said}");
    for tape in tapes {
        assert!(
            said.lines().any(|line| line.ends_with(&format!("tilescope why {tape}"))),
            "{said}"
        );
    }
}

#[test]
fn missing_program_and_missing_library_are_host_errors() {
    let installed = Installed::new();
    let output = installed.command(&["run", "--", "./no-such-program"]).output();
    let output = output.expect("it runs");
    assert_eq!((output.status.code(), stderr(&output).lines().count()), (Some(2), 1));
    assert!(stderr(&output).contains("cannot run ./no-such-program: no such program"));
    for args in [&["run", "--", "true"][..], &["env", "--dir", "sim"]] {
        let output = Installed::bare().command(args).output().expect("it runs");
        let said = stderr(&output);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains("no libtilescope_bh.so") && said.contains("-p ffi"), "{said}");
    }
    let output = installed.command(&["run"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn env_prints_what_a_shell_takes() {
    let installed = Installed::new();
    let dir = "it's a folder";
    let mut command = installed.command(&["env", "--dir", dir]);
    let output = command.env("TT_METAL_SLOW_DISPATCH_MODE", "3").output().expect("it runs");
    fs::write(installed.path("env.sh"), &output.stdout).expect("written");
    let script = ". ./env.sh; cmp \"$TT_METAL_SIMULATOR\" libtilescope_bh.so && \
                  ls \"$(dirname \"$TT_METAL_SIMULATOR\")\" && echo $TT_METAL_SLOW_DISPATCH_MODE";
    let shell = Command::new("sh").args(["-c", script]).current_dir(installed.dir.path()).output();
    assert_eq!(
        stdout(&shell.expect("a shell")),
        "libtilescope_bh.so\nsoc_descriptor.yaml\n1\n",
        "{}",
        stdout(&output)
    );
    let mut command = installed.command(&["env", "--fast-dispatch"]);
    let output = command.env("TILESCOPE_CACHE", installed.path("cache")).output().expect("it runs");
    let text = stdout(&output);
    assert!(
        text.ends_with("cache/sim/libtilescope_bh.so\nunset TT_METAL_SLOW_DISPATCH_MODE\n"),
        "{text}"
    );
    assert!(installed.path("cache/sim/soc_descriptor.yaml").is_file());
}
