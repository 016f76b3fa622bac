//! The built `tilescope` binary: exit status, one-line errors, help, closed pipes, colours, and
//! the firmware cache with wheels made here.

#[path = "../../loader/tests/common/mod.rs"]
mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{CORES, RET, firmware_elf};

fn tilescope(cache: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(args).env("TILESCOPE_CACHE", cache).stdin(Stdio::null());
    command.output().expect("the binary runs")
}

fn run(args: &[&str]) -> Output {
    tilescope(Path::new("no-such-cache"), args)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The single line on standard error of a run that failed with the host's exit status.
fn host_error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("error: "), "{text}");
    text
}

/// Writes a wheel with one set per id; `spoil` may change each member's bytes.
fn wheel(path: &Path, ids: &[(&str, u32, u32)], spoil: impl Fn(&str, Vec<u8>) -> Vec<u8>) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).expect("created"));
    let options = zip::write::SimpleFileOptions::default();
    let mut put = |name: &str, bytes: &[u8]| {
        zip.start_file(name, options).expect("started");
        zip.write_all(bytes).expect("written");
    };
    put("ttnn-9.8.7.dist-info/METADATA", b"Name: ttnn\n");
    for &(id, dram, l1) in ids {
        let root = format!("ttnn/tt_metal/pre-compiled/{id}");
        put(&format!("{root}/drisc/drisc.elf"), b"not ours");
        for (core, entry) in CORES {
            let bytes = spoil(core, firmware_elf(entry, dram, l1));
            put(&format!("{root}/{core}/{core}.elf"), &bytes);
            put(&format!("{root}/{core}/{core}_weakened.elf"), b"not ours");
        }
    }
    put("ttnn/tt_metal/pre-compiled/555/brisc/brisc.elf", b"another chip's");
    zip.finish().expect("finished");
}

fn same(_: &str, bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

#[test]
fn help_shows_examples_and_exit_status() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(text.contains("Examples:") && text.contains("3  deadlock"), "{text}");
    for command in ["boot", "launch", "firmware", "disasm", "regs", "replay", "record", "sim"] {
        let output = run(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("Examples:"), "{command}");
    }
}

#[test]
fn usage_mistake_gives_the_host_exit_status() {
    for args in
        [&["nonsense"][..], &["launch"], &["boot", "--epoch", "0"], &["boot", "--logical", "1"]]
    {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn disasm_of_a_word_and_of_a_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("brisc.elf");
    fs::write(&path, firmware_elf(0x3AE0, 1, 1)).expect("written");
    let text = stdout(&run(&["disasm", &path.display().to_string(), "--function", "_start"]));
    assert!(text.contains("<_start>:") && text.contains("3ae4:  00008067  ret"), "{text}");
    let word = format!("{RET:#x}");
    assert!(stdout(&run(&["disasm", &word])).contains("ret"));
    assert!(host_error(&run(&["disasm", "no-such-file"])).contains("no-such-file: cannot read"));
}

#[test]
fn regs_explains_names_and_addresses() {
    let text = stdout(&run(&["regs", "soft_reset_0"]));
    assert!(text.contains("ffb121b0  tile_control.SOFT_RESET_0"), "{text}");
    assert!(stdout(&run(&["regs", "0x4F3"])).contains("go_messages[0].signal"));
    assert!(stdout(&run(&["regs", "STALLWAIT"])).contains("0xa2"));
    assert!(stdout(&run(&["regs"])).contains("00000000..0017ffff  L1"));
    assert!(host_error(&run(&["regs", "no_such_thing"])).contains("no_such_thing: no register"));
}

#[test]
fn regs_takes_a_value_apart_by_name_and_by_address() {
    let lines = |what: &str| {
        let text = stdout(&run(&["regs", what]));
        let words = |line: &str| line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        text.lines().map(words).collect::<Vec<_>>()
    };
    let write = ["CMD 0x2", "RESP_MARKED 0x1", "VC_STATIC 0x1", "STATIC_VC 0x1"];
    let named: Vec<_> = lines("noc_ctrl=0x2092").into_iter().skip(1).collect();
    assert!(named.iter().zip(write).all(|(line, end)| line.ends_with(end)), "{named:?}");
    assert_eq!(named.len(), write.len(), "{named:?}");
    // Initiator 1 of NoC 1.
    assert_eq!(lines("0xFFB3081C=0x2092")[0], "noc1.NOC_CTRL = 0x2092");
    assert_eq!(lines("cfg0=0x2")[1], "1 DisBp 0x1");
    let rest = stdout(&run(&["regs", "NOC_CTRL=0x1C00"]));
    assert!(rest.contains("no name has what else is set: 0x1c00"), "{rest}");
    assert!(stdout(&run(&["regs", "SOFT_RESET_0=0"])).contains("all of its bits are 0"));
    // A word of the backend configuration by each of its names: of bank 1, of any, by the address of cores.
    for word in ["Config[1][1]", "config[1]", "ConfigDualWrite[1]", "0xFFEF0004"] {
        let text = stdout(&run(&["regs", &format!("{word}=0x20880000")]));
        assert!(text.starts_with("Config[1] = 0x20880000\n"), "{text}");
        assert!(
            text.contains("20:17  ALU_FORMAT_SPEC_REG0_SrcA 0x4  read by matrix unit"),
            "{text}"
        );
    }
    for word in ["ThreadConfig[2]", "threadconfig[1][2]"] {
        assert!(stdout(&run(&["regs", word])).contains("DISABLE_IMPLIED_SRCA_FMT_Base"));
    }
    assert!(host_error(&run(&["regs", "Config[999]=1"])).contains("Config[999]: no register"));
    assert!(host_error(&run(&["regs", "STALLWAIT=1"])).contains("STALLWAIT: no register"));
    assert!(host_error(&run(&["regs", "cfg0=zwei"])).contains("is not a 32-bit number"));
}

#[test]
fn output_to_a_closed_pipe_is_quiet() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .arg("regs")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut errors).expect("text");
    assert_eq!((child.wait().expect("ends").code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn number_that_does_not_fit_is_a_mistake_and_not_a_name() {
    let number = |args: &[&str]| host_error(&run(args)).contains("is not a 32-bit number");
    assert!(number(&["disasm", "0x1ffffffff"]));
    assert!(number(&["regs", "0x1ffffffff"]));
    assert!(number(&["regs", "12ab"]));
    let error = host_error(&run(&["disasm", "--flat", "--address", "1", "Cargo.toml"]));
    assert!(error.contains("multiples of 4"), "{error}");
}

#[test]
fn log_topic_that_does_not_exist_is_a_mistake() {
    for filter in ["nonsense", "go,nonsense=debug", "tilescope::nonsense", "go;mailbox"] {
        let error = host_error(&run(&["boot", "--embedded", "--log", filter]));
        assert!(error.contains("no topic") && error.contains("semaphore"), "{error}");
    }
    for filter in ["go", "go,mailbox=debug", "tilescope::noc", "tilescope=info", "off"] {
        let output = run(&["boot", "--embedded", "--log", filter]);
        assert_eq!(output.status.code(), Some(0), "{filter}");
    }
}

#[test]
fn errors_to_a_pipe_have_no_colours() {
    let output = run(&["regs", "no_such_thing"]);
    assert!(!output.stderr.contains(&0x1B));
}

#[test]
fn wheel_fetch_fills_the_cache_and_list_checks_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (cache, file) = (dir.path().join("cache"), dir.path().join("ttnn.whl"));
    wheel(&file, &[("111", 8, 14), ("222", 7, 12)], same);
    let output = tilescope(&cache, &["firmware", "fetch", "--wheel", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = stdout(&tilescope(&cache, &["firmware", "list"]));
    assert!(text.contains("8 DRAM /  14 L1 banks  reports to stream 48"), "{text}");
    assert!(text.contains("ttnn-9.8.7") && !text.contains("555"), "{text}");

    let elf = cache.join("firmware/ttnn-9.8.7/222/trisc0/trisc0.elf");
    let before = fs::read(&elf).expect("cached");
    fs::write(&elf, &before[1..]).expect("damaged");
    let output = tilescope(&cache, &["firmware", "list", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("222/trisc0/trisc0.elf: changed since it was fetched"));
    let error = host_error(&tilescope(&cache, &["boot", "--firmware", "222"]));
    assert!(error.contains("222/trisc0/trisc0.elf: changed since it was fetched"), "{error}");
    // A damaged version is not "there": fetching again repairs it.
    tilescope(&cache, &["firmware", "fetch", "--wheel", &file.display().to_string()]);
    assert_eq!(tilescope(&cache, &["firmware", "list"]).status.code(), Some(0));
    let left: Vec<_> = fs::read_dir(cache.join("firmware")).expect("there").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn cached_set_is_found_by_banks_and_by_id() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("ttnn.whl");
    wheel(&file, &[("111", 7, 14), ("122", 8, 12), ("133", 8, 14)], same);
    tilescope(dir.path(), &["firmware", "fetch", "--wheel", &file.display().to_string()]);
    let cache = tools::fetch::Cache::at(dir.path());
    let id = |selector: Option<&str>| {
        let found = cache.resolve(selector).map_err(|error| error.to_string())?;
        Ok::<_, String>(found.file_name().expect("an id").to_string_lossy().into_owned())
    };
    assert_eq!(id(None).as_deref(), Ok("133"));
    assert_eq!(id(Some("7/14")).as_deref(), Ok("111"));
    assert_eq!(id(Some("8x12")).as_deref(), Ok("122"));
    assert_eq!(id(Some("12")).as_deref(), Ok("122"));
    assert!(id(Some("1")).is_err_and(|e| e == "\"1\" matches 3 firmware sets: 111, 122, 133"));
    assert!(id(Some("9/9")).is_err_and(|error| error.contains("no such firmware set")));
    let empty = tools::fetch::Cache::at(&dir.path().join("empty"));
    assert!(empty.resolve(None).is_err_and(|error| error.to_string().contains("firmware fetch")));
}

#[test]
fn unusable_wheel_is_one_line_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let cache = dir.path().join("cache");
    let file = dir.path().join("ttnn.whl");
    let fetch = || {
        let output =
            tilescope(&cache, &["firmware", "fetch", "--wheel", &file.display().to_string()]);
        let error = host_error(&output);
        assert_eq!(fs::read_dir(cache.join("firmware")).expect("there").count(), 0);
        assert!(error.contains("ttnn.whl: "), "{error}");
        error
    };
    fs::write(&file, b"PK\x03\x04 not really").expect("written");
    assert!(fetch().contains("not a complete wheel"));
    wheel(&file, &[("111", 8, 14)], same);
    let whole = fs::read(&file).expect("read");
    fs::write(&file, &whole[..whole.len() / 2]).expect("cut");
    assert!(fetch().contains("not a complete wheel"));
    wheel(&file, &[], same);
    assert!(fetch().contains("no Blackhole firmware"));
    wheel(
        &file,
        &[("111", 8, 14)],
        |core, bytes| if core == "trisc1" { b"?".to_vec() } else { bytes },
    );
    assert!(fetch().contains("set 111: 111/trisc1/trisc1.elf: not an ELF file"));
}

#[test]
fn plan_check_reports_a_mistake_in_one_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let plan = dir.path().join("KERNELS.toml");
    fs::write(&plan, "[[launch]]\nname = 'a'\nnoc = 7\n").expect("written");
    let error = host_error(&run(&["launch", &plan.display().to_string(), "--check"]));
    assert!(error.contains("KERNELS.toml: launch \"a\": noc: must be 0 or 1"), "{error}");
    fs::write(&plan, "[[launch]]\nname = 'a'\n").expect("written");
    let output = run(&["launch", &plan.display().to_string(), "--check"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains(": 1 launch, no mistake"), "{}", stdout(&output));
}

/// A file name is bytes on Linux; this is `caf\u{e9}` in Latin-1.
#[test]
fn paths_need_not_be_text() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let odd = dir.path().join(OsStr::from_bytes(b"caf\xE9"));
    fs::create_dir(&odd).expect("made");
    for (name, image) in firmware_tests::embedded::ALL {
        fs::write(odd.join(name).with_extension("elf"), image).expect("written");
    }
    fs::write(odd.join("warn.toml"), "").expect("written");
    fs::write(odd.join("K.toml"), "[[launch]]\nname = 'a'\n").expect("written");
    let ends = |args: &[&OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
        let output = command.args(args).env("TILESCOPE_CACHE", "no-such-cache").output();
        let output = output.expect("the binary runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {error}");
        output.stdout
    };
    let [boot, firmware, warn, disasm, record, out, in_dir, lib, check, launch] = [
        "boot",
        "--firmware",
        "--warn-file",
        "disasm",
        "record",
        "-o",
        "--dir",
        "--lib",
        "--check",
        "launch",
    ]
    .map(OsStr::new);
    ends(&[boot, firmware, odd.as_os_str(), warn, odd.join("warn.toml").as_os_str()]);
    ends(&[disasm, odd.join("brisc.elf").as_os_str()]);
    ends(&[launch, odd.join("K.toml").as_os_str(), check]);
    // The settings can be read by a shell.
    let program = dir.path().join("tilescope");
    // By another process: a program that this one had open for writing could be in a child of another test's thread,
    // and would be busy.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_tilescope")).arg(&program).status();
    assert!(copied.expect("cp is there").success());
    for library in ["libtilescope_record.so", "libany.so"] {
        fs::write(dir.path().join(library), "not loaded here").expect("written");
    }
    let (target, kept) = (dir.path().join("libany.so"), odd.join("kept"));
    let output = Command::new(&program)
        .args([record, out, odd.join("s.rec").as_os_str(), in_dir, kept.as_os_str()])
        .args([lib, target.as_os_str()])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut script = output.stdout;
    script.extend(b"printf %s \"$TILESCOPE_RECORD_FILE\"");
    let output = Command::new("sh").arg("-c").arg(OsStr::from_bytes(&script)).output();
    assert_eq!(output.expect("a shell is there").stdout, odd.join("s.rec").as_os_str().as_bytes());
}
