//! The exit status and the words of runs that come to a bad end, or whose output does: wrong results,
//! readers that leave, full disks.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(args).env("TILESCOPE_CACHE", "no-such-cache").stdin(Stdio::null());
    command
}

fn tilescope(args: &[&str]) -> Output {
    command(args).output().expect("it runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn plan(folder: &str, file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests");
    root.join(folder).join(file).display().to_string()
}

fn hazard(name: &str) -> String {
    plan(&format!("hazards/{name}"), "case.toml")
}

/// The exit status of a run whose standard output is read for so many bytes and then closed.
fn status_when_closed_after(bytes: usize, args: &[&str]) -> (Option<i32>, String) {
    let mut child =
        command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut some = vec![0; bytes];
    child.stdout.take().expect("piped").read_exact(&mut some).expect("it writes");
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

/// A plan whose launch does what it should, but not what it says it does.
fn wrong_plan() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("ret.bin"), 0x0000_8067_u32.to_le_bytes()).expect("written");
    let text = "[[launch]]\nname = 'wrong'\n[launch.kernel.brisc]\nimage = 'ret.bin'\n\
                address = 0xC000\n[[launch.input]]\naddress = 0x30000\nwords = [5]\n\
                [[launch.expect]]\naddress = 0x30000\nwords = [6]\n";
    let plan = dir.path().join("KERNELS.toml");
    fs::write(&plan, text).expect("written");
    let plan = plan.display().to_string();
    (dir, plan)
}

/// `README.md`: 5 is a wrong result, 3 a deadlock. Who reads the output changes neither.
#[test]
fn exit_status_is_that_of_the_run_when_the_reader_leaves() {
    let (_dir, wrong) = wrong_plan();
    let hang = hazard("A4-semaphore-decrement-lost");
    for (args, status) in [
        (&["launch", &wrong, "--embedded"][..], 5),
        (&["launch", &wrong, "--embedded", "--json"], 5),
        (&["launch", &wrong, "--embedded", "--jsonl", "-"], 5),
        (&["launch", &wrong, "--embedded", "--perfetto", "-"], 5),
        (&["launch", &wrong, "--embedded", "--log", "trace"], 5),
        (&["why", &wrong, "--embedded"], 5),
        (&["launch", &hang, "--embedded", "--jsonl", "-"], 3),
        (&["why", &hang, "--embedded", "--json"], 3),
    ] {
        for bytes in [0, 1] {
            let found = status_when_closed_after(bytes, args);
            assert_eq!(found.0, Some(status), "{args:?} after {bytes}");
            // Beside a trace the report goes to standard error.
            let quiet = found.1.is_empty() || args.contains(&"--perfetto");
            assert!(quiet && !found.1.contains("error"), "{args:?} after {bytes}: {}", found.1);
        }
    }
}

/// `/dev/full` is a disk without room: what was found stays, and what could not be written is said.
#[test]
fn exit_status_is_that_of_the_run_when_the_disk_is_full() {
    let (_dir, wrong) = wrong_plan();
    let full = || fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = command(&["launch", &wrong, "--embedded"]).stdout(full()).output();
    let output = output.expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{error}");
    assert!(error.starts_with("error: cannot write standard output: No space left"), "{error}");
    // Nothing else was asked of this one.
    for args in [&["regs"][..], &["boot", "--embedded", "--jsonl", "-"]] {
        let output = command(args).stdout(full()).output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(error.starts_with("error: cannot write standard output: No space left"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

/// The byte is given, and what is found there; four bytes of 5 and 6 differ in one.
#[test]
fn why_says_what_is_wrong_with_a_result() {
    let (_dir, plan) = wrong_plan();
    let output = tilescope(&["why", &plan, "--embedded"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(
        said.starts_with("WRONG-RESULT: wrong: L1 0x30000: expected 0x06, found 0x05\n"),
        "{said}"
    );
    assert!(!said.contains("did what it should"), "{said}");
    let output = tilescope(&["why", &plan, "--embedded", "--json"]);
    let value: Value = serde_json::from_str(&text(&output)).expect("one object");
    assert_eq!(value["end"], "WRONG-RESULT");
    assert_eq!(value["wrong"]["address"], 0x30000);
    assert_eq!((&value["wrong"]["expected"], &value["wrong"]["found"]), (&6.into(), &5.into()));
    let output = tilescope(&["why", &plan, "--embedded", "--sarif", "-"]);
    let log: Value = serde_json::from_str(&text(&output)).expect("one object");
    let message = &log["runs"][0]["results"][0]["message"]["text"];
    assert_eq!(*message, "WRONG-RESULT: wrong: L1 0x30000: expected 0x06, found 0x05");
}

/// Files of 512 bytes are the longest here, as if the disk were full behind them.
#[test]
fn full_disk_leaves_the_old_page_and_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let page = dir.path().join("why.html");
    let plan = hazard("A4-semaphore-decrement-lost");
    for old in [None, Some("the old one")] {
        if let Some(old) = old {
            fs::write(&page, old).expect("written");
        }
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
        let output = Command::new("sh")
            .args(["-c", script, "sh", env!("CARGO_BIN_EXE_tilescope"), "why", &plan, "--embedded"])
            .arg("--html")
            .arg(&page)
            .output()
            .expect("it runs");
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(3), "the deadlock stays: {error}");
        assert!(error.starts_with(&format!("error: cannot write {}: ", page.display())), "{error}");
        assert_eq!(fs::read_to_string(&page).ok().as_deref(), old);
        let files = fs::read_dir(dir.path()).expect("there").count();
        assert_eq!(files, usize::from(old.is_some()), "nothing is left beside it");
    }
}

#[test]
fn full_disk_is_named_with_the_file_that_did_not_fit() {
    let plan = plan("programs/kernels/five-core", "case.toml");
    let dir = tempfile::tempdir().expect("a folder");
    for option in ["--jsonl", "--perfetto", "--waves", "--instructions"] {
        let link = dir.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &link).expect("linked");
        let path = link.display().to_string();
        let output = tilescope(&["launch", &plan, "--embedded", option, &path]);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains(&format!("cannot write {path}: ")), "{option}: {error}");
        fs::remove_file(link).expect("removed");
    }
}
