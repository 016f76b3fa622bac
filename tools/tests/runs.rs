//! Boots and launches through the built `tilescope` binary: text, JSON, exit status, and one
//! clear line for each thing that can be wrong with what it is given.

#[path = "../../loader/tests/common/mod.rs"]
mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{CORES, Load, RET, elf, firmware_elf};
use serde_json::Value;

fn tilescope(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(args).env("TILESCOPE_CACHE", "no-such-cache").stdin(Stdio::null());
    command.output().expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard output of a run that must end with this status.
fn ends(args: &[&str], status: i32) -> String {
    let output = tilescope(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {errors}\n{}", stdout(&output));
    stdout(&output)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&ends(args, 0)).expect("one JSON object")
}

/// The single line on standard error of a run that failed with the host's exit status.
fn host_error(args: &[&str]) -> String {
    let output = tilescope(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert_eq!(text.lines().count(), 1, "{args:?}: {text}");
    assert!(text.starts_with("error: "), "{text}");
    text
}

fn kernels(folder: &str) -> PathBuf {
    firmware_tests::programs_dir().join("kernels").join(folder)
}

/// The plan of a kernel set with absolute paths, to be changed and put elsewhere.
fn plan_text(folder: &str) -> String {
    let dir = kernels(folder);
    let text = fs::read_to_string(dir.join("case.toml")).expect("a plan");
    text.replace("elf = \"", &format!("elf = \"{}/", dir.display()))
}

/// A directory with a file `KERNELS.toml`, and that file's path.
fn plan_file(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("KERNELS.toml");
    fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    (dir, path)
}

fn write_words(path: &Path, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(path, bytes).expect("written");
}

#[test]
fn boot_of_the_embedded_firmware_is_done() {
    let text = ends(&["boot", "--embedded"], 0);
    assert!(text.contains("boot         DONE at cycle"), "{text}");
    assert!(text.contains("event hash") && text.contains("state hash"), "{text}");
    // [spec: boot-and-sync 3]: after the boot four cores poll their byte of subordinate_sync.
    assert!(text.contains("NCRISC") && text.contains("subordinate_sync"), "{text}");
}

#[test]
fn boot_as_json_has_its_keys_and_the_same_hashes_on_threads() {
    let inline = json(&["boot", "--embedded", "--json", "--engine", "inline"]);
    for key in [
        "verdict",
        "cycles",
        "instructions",
        "go_signal",
        "event_hash",
        "state_hash",
        "events",
        "engine",
        "epoch",
        "firmware",
        "stages",
        "summary",
        "host_seconds",
    ] {
        assert!(!inline[key].is_null(), "no {key} in {inline}");
    }
    assert_eq!(inline["verdict"], "DONE");
    assert_eq!(inline["go_signal"], 0);
    assert_eq!(inline["firmware"]["dram_banks"], 7);
    assert_eq!(inline["firmware"]["l1_banks"], 140);
    assert_eq!(inline["instructions"].as_object().map(serde_json::Map::len), Some(5));
    let threads = json(&["boot", "--embedded", "--json", "--engine", "threads"]);
    let spinning = json(&["boot", "--embedded", "--json", "--no-parking"]);
    let plain = json(&["boot", "--embedded", "--json", "--shortcuts", "none"]);
    let fewer = json(&["boot", "--embedded", "--json", "--shortcuts", "-fast-loop,-alone"]);
    for key in ["cycles", "instructions", "event_hash", "state_hash", "events"] {
        assert_eq!(threads[key], inline[key], "{key} on threads");
        assert_eq!(spinning[key], inline[key], "{key} without parking");
        assert_eq!(plain[key], inline[key], "{key} without shortcuts");
        assert_eq!(fewer[key], inline[key], "{key} without two of them");
    }
    assert_eq!(threads["engine"], "threads");
}

#[test]
fn boot_that_reaches_its_limit_is_no_progress() {
    let text = ends(&["boot", "--embedded", "--max-cycles", "100"], 4);
    assert!(text.contains("boot         NO-PROGRESS at cycle"), "{text}");
    assert!(!text.contains("DEADLOCK"), "{text}");
}

#[test]
fn boot_logs_and_dumps_what_is_asked_for() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let log = dir.path().join("boot.log").display().to_string();
    let args = ["boot", "--embedded", "--instructions", &log, "--cores", "brisc", "--dump", "0:16"];
    let text = ends(&args, 0);
    // The boot word: jal x0, 0x3AE0 by the GNU assembler.
    assert!(text.contains("00000000  2e10306f"), "{text}");
    let log = fs::read_to_string(&log).expect("the log is there");
    assert!(log.lines().count() > 1000 && log.lines().all(|line| line.contains("BRISC")));
    let text = ends(&["boot", "--embedded", "--log", "semaphore"], 0);
    // [spec: boot-and-sync 4]: four semaphores are initialised at boot.
    assert_eq!(text.lines().filter(|line| line.contains("MATH_PACK")).count().min(1), 1, "{text}");
    let text = ends(&["boot", "--embedded", "--trace-handshakes"], 0);
    assert!(text.contains("RUN_MSG_DONE"), "{text}");
}

#[test]
fn launch_of_kernels_is_done_and_repeated() {
    let plan = kernels("five-core").join("case.toml").display().to_string();
    let text = ends(&["launch", &plan, "--embedded"], 0);
    assert!(text.contains("five-core-repeated #3 DONE"), "{text}");
    let text = ends(&["launch", &plan, "--embedded", "--only", "five-core"], 0);
    assert!(text.contains("five-core    DONE") && !text.contains("#1"), "{text}");
    let error = host_error(&["launch", &plan, "--embedded", "--only", "six-core"]);
    assert!(error.contains("--only six-core: the plan has five-core"), "{error}");
}

#[test]
fn launch_with_another_result_is_a_wrong_result() {
    // TRISC2's total is 600 by hand, see the plan.
    let text = plan_text("five-core").replace("600, 4]", "601, 4]");
    let (_dir, plan) = plan_file(&text);
    let text = ends(&["launch", &plan, "--embedded"], 5);
    assert!(text.contains("WRONG-RESULT"), "{text}");
    assert!(text.contains("L1 0x40084: expected 0x59, found 0x58"), "{text}");
    assert!(!text.contains("five-core-repeated"), "nothing is launched after a wrong result");
}

/// Three TRISC kernels; TRISC1's is given.
fn trisc_plan(trisc1: &[u32]) -> (tempfile::TempDir, String) {
    let mut text = "[[launch]]\nname = 'hang'\n".to_owned();
    for (core, address) in [("trisc0", 0xD000), ("trisc1", 0xE000), ("trisc2", 0xF000)] {
        text += &format!("[launch.kernel.{core}]\nimage = '{core}.bin'\naddress = {address}\n");
    }
    let (dir, plan) = plan_file(&text);
    for core in ["trisc0", "trisc1", "trisc2"] {
        let words = if core == "trisc1" { trisc1 } else { &[RET] };
        write_words(&dir.path().join(core).with_extension("bin"), words);
    }
    (dir, plan)
}

#[test]
fn launch_that_waits_for_a_semaphore_for_ever_is_a_deadlock() {
    // lui a0, 0xffe40; lui a1, 0xa6008; addi a1, a1, 0x21; sw a1, 0(a0); ret: pushes
    // SEMWAIT(block 1, semaphore 3, while zero) [hdr: ckernel_ops.h]. Firmware then waits for
    // the thread to drain [spec: boot-and-sync 7.2].
    let (_dir, plan) = trisc_plan(&[0xFFE4_0537, 0xA600_85B7, 0x0215_8593, 0x00B5_2023, RET]);
    let text = ends(&["launch", &plan, "--embedded"], 3);
    assert!(text.contains("hang         DEADLOCK at cycle"), "{text}");
    assert!(text.contains("* Tensix T1 ") && text.contains("SEMWAIT"), "{text}");
    assert!(text.contains("* TRISC1 ") && text.contains("can never move again"), "{text}");
    assert!(text.contains("waits for go_messages[0].signal (0x4f3) = 0x0"), "{text}");
    let output = tilescope(&["launch", &plan, "--embedded", "--json"]);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
    assert_eq!(value["verdict"], "DEADLOCK");
    assert!(value["stages"][1]["waits"].as_array().is_some_and(|waits| waits.len() >= 2));
}

#[test]
fn launch_that_reads_an_empty_mailbox_is_a_deadlock() {
    // lui a0, 0xffec0; lw a0, 0(a0); ret: the mailbox BRISC -> TRISC1.
    let (_dir, plan) = trisc_plan(&[0xFFEC_0537, 0x0005_2503, RET]);
    let text = ends(&["launch", &plan, "--embedded"], 3);
    assert!(text.contains("reads empty mailbox BRISC -> TRISC1"), "{text}");
}

#[test]
fn launch_that_stores_to_nowhere_is_a_guest_error() {
    // lui a0, 0x180; sw a0, 0(a0); ret: the first byte behind L1.
    let (_dir, plan) = trisc_plan(&[0x0018_0537, 0x00A5_2023, RET]);
    let text = ends(&["launch", &plan, "--embedded"], 1);
    assert!(text.contains("GUEST-ERROR") && text.contains("--> TRISC1, cycle"), "{text}");
}

/// A copy of the embedded set with one file replaced.
fn spoilt_firmware(core: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, image) in firmware_tests::embedded::ALL {
        fs::write(dir.path().join(name).with_extension("elf"), image).expect("written");
    }
    fs::write(dir.path().join(core).with_extension("elf"), bytes).expect("written");
    let path = dir.path().display().to_string();
    (dir, path)
}

fn firmware_error(core: &str, bytes: &[u8]) -> String {
    let (_dir, path) = spoilt_firmware(core, bytes);
    let error = host_error(&["boot", "--firmware", &path]);
    assert!(error.contains(core), "{error}");
    error
}

#[test]
fn unusable_firmware_is_one_line() {
    assert!(firmware_error("trisc1", b"not an ELF").contains("not an ELF"));
    let good = firmware_elf(0x5CE0, 7, 140);
    assert!(!firmware_error("ncrisc", &good[..good.len() / 3]).is_empty());
    let mut x86 = good.clone();
    x86[18] = 62;
    let error = firmware_error("ncrisc", &x86);
    assert!(error.contains("62") || error.contains("RISC-V"), "{error}");
    let loads = [Load::code(0x70E0, &[RET; 4]), Load::code(0x70E8, &[RET; 4])];
    let error = firmware_error("trisc1", &elf(0x70E0, &loads, &[]));
    assert!(error.contains("overlap"), "{error}");
    // No bytes for what its symbols say firmware copies from the scratch image.
    let symbols = [("__ldm_data_start", 0xFFB0_0000, 0, 0), ("__ldm_data_end", 0xFFB0_0004, 0, 0)];
    let error = firmware_error("trisc1", &elf(0x70E0, &[Load::code(0x70E0, &[RET])], &symbols));
    assert!(error.contains("no bytes for its initial data"), "{error}");
    let loads = [Load::code(0x17_FFFC, &[RET, RET])];
    assert!(!firmware_error("trisc1", &elf(0x17_FFFC, &loads, &[])).is_empty());
}

#[test]
fn firmware_directory_with_missing_files_is_one_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().display().to_string();
    assert!(host_error(&["boot", "--firmware", &path]).contains("brisc.elf"));
    for (core, entry) in &CORES[..4] {
        fs::write(dir.path().join(core).with_extension("elf"), firmware_elf(*entry, 7, 14))
            .expect("written");
    }
    assert!(host_error(&["boot", "--firmware", &path]).contains("trisc2.elf"));
    assert!(host_error(&["boot", "--firmware", "9/9"]).contains("9/9"));
}

/// The error of a plan with one BRISC kernel and this in place of the rest.
fn plan_error(kernel: &str, rest: &str) -> String {
    let (dir, plan) =
        plan_file(&format!("[[launch]]\nname = 'one'\n{rest}\n[launch.kernel.brisc]\n{kernel}\n"));
    write_words(&dir.path().join("k.bin"), &[RET]);
    let error = host_error(&["launch", &plan, "--embedded"]);
    assert!(error.contains("KERNELS.toml"), "{error}");
    error
}

#[test]
fn unusable_plan_is_one_line() {
    let kernel = "image = 'k.bin'\naddress = 0xB000";
    let outside = plan_error("image = 'k.bin'\naddress = 0x180000", "");
    assert!(outside.contains("0x180000") && outside.contains("brisc"), "{outside}");
    assert!(plan_error("image = 'none.bin'\naddress = 0xB000", "").contains("none.bin"));
    assert!(plan_error("image = 'k.bin'", "").contains("address"));
    assert!(plan_error(kernel, "colour = 3").contains("colour"));
    assert!(plan_error(kernel, "repeat = 'often'").contains("repeat"));
    assert!(plan_error(kernel, "mode = 'fast'").contains("fast"));
    assert!(plan_error(kernel, "kernel_config_base = 0x180000").contains("kernel_config_base"));
    assert!(plan_error(kernel, "a = [").contains("line"));
    assert!(host_error(&["launch", "no-such-plan.toml"]).contains("no-such-plan.toml"));
}

#[test]
fn unusable_option_is_one_line() {
    let filter = host_error(&["boot", "--embedded", "--log", "a=b=c=["]);
    assert!(filter.contains("--log"), "{filter}");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let log = dir.path().join("log").display().to_string();
    let cores = host_error(&["boot", "--embedded", "--instructions", &log, "--cores", "arm"]);
    assert!(cores.contains("--cores arm"), "{cores}");
    let nowhere = dir.path().join("no/such/dir/log").display().to_string();
    let file = host_error(&["boot", "--embedded", "--instructions", &nowhere]);
    assert!(file.contains("cannot write"), "{file}");
}

#[test]
fn log_into_a_pipe_that_is_closed_early_is_quiet() {
    for args in
        [&["boot", "--embedded", "--log", "tilescope=trace"][..], &["boot", "--embedded", "--json"]]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        assert!(!line.is_empty());
        let mut errors = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut errors).expect("text");
        assert_eq!(
            (child.wait().expect("ends").code(), errors.as_str()),
            (Some(0), ""),
            "{args:?}"
        );
    }
}
