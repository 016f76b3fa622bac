//! Mistakes of a program on the chip, named by its source like a verdict.

use std::fs;
use std::path::{Path, PathBuf};

use symbols::image::Image;

use super::{Installed, host, stderr, stdout};

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/programs/bare/mailbox/brisc.elf")
}

/// The program with another instruction at an address; its lines are still those of the source.
fn broken(address: u32, word: u32) -> Vec<u8> {
    let mut file = fs::read(program()).expect("in the repository");
    let image = Image::read_elf(&program()).expect("a good file");
    let code = image.loadable().find(|segment| segment.executable).expect("code");
    let begin = file.windows(code.bytes.len()).position(|bytes| bytes == &*code.bytes);
    let at = begin.expect("code is in the file") + (address - code.addr) as usize;
    file[at..at + 4].copy_from_slice(&word.to_le_bytes());
    file
}

/// What `tilescope run` says of a host that loads the program and ends with its mistake.
fn run(installed: &Installed, options: &[&str], (address, word): (u32, u32)) -> String {
    // Where a build of the LLK tests leaves it.
    let elf = installed.path("tmp/tt-llk-build/shared/elf/brisc.elf");
    fs::create_dir_all(elf.parent().expect("a folder")).expect("made");
    fs::write(&elf, broken(address, word)).expect("written");
    let mut command = installed.host(options, "mailbox");
    command.env("TMPDIR", installed.path("tmp")).env("HOME", installed.path("home"));
    command.env(host::ELF, &elf).env("TILESCOPE_ON_ERROR", "exit");
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    stderr(&output)
}

/// What it says, and the report it writes.
fn said(address: u32, word: u32, report: &str) -> (String, String) {
    let installed = Installed::new();
    let said = run(&installed, &["--no-tape", "--report", report], (address, word));
    (said, fs::read_to_string(installed.path(report)).expect("written"))
}

/// No instruction `[riscv: all ones are illegal]`; an address where nothing is; a store that is not aligned.
#[test]
fn mistake_names_tile_core_function_and_line() {
    const LUI_A3_0X70000: u32 = 0x7000_06B7;
    const SW_A5_2_A3: u32 = 0x00F6_A123;
    for (address, word, pc) in [
        (0x1C, u32::MAX, "pc 0x1c"),
        (0x24, LUI_A3_0X70000, "pc 0x2c"),
        (0x2C, SW_A5_2_A3, "pc 0x2c"),
    ] {
        let (said, report) = said(address, word, "r.txt");
        for text in [&said, &report] {
            let line = text.lines().find(|line| line.contains("guest error: "));
            let line = line.unwrap_or_else(|| panic!("no mistake: {text}"));
            for part in ["tile (0, 0) [NoC (1, 2)]", "BRISC", pc, "cycle ", " in main mailbox.c:"] {
                assert!(line.contains(part), "no {part}: {line}");
            }
        }
    }
}

/// Other forms are complete files with nothing but what was found.
#[test]
fn report_of_a_mistake_has_the_form_that_its_extension_names() {
    let error = " in main mailbox.c:";
    let (_, json) = said(0x1C, u32::MAX, "r.json");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["verdict"], "GUEST-ERROR");
    assert!(value["errors"][0].as_str().is_some_and(|text| text.contains(error)), "{json}");
    let (_, sarif) = said(0x1C, u32::MAX, "r.sarif");
    let value: serde_json::Value = serde_json::from_str(&sarif).expect("JSON");
    let text = &value["runs"][0]["results"][0]["message"]["text"];
    assert!(text.as_str().is_some_and(|text| text.contains(error)), "{sarif}");
    let (_, html) = said(0x1C, u32::MAX, "r.html");
    assert!(html.starts_with("<!doctype html>") && html.contains(error), "{html}");
    assert!(html.trim_end().ends_with("</html>"));
}

/// A host that the library ends loses nothing of its tape.
#[test]
fn tape_of_a_host_that_a_mistake_ends_holds_the_mistake() {
    let installed = Installed::new();
    run(&installed, &["-o", "t.tstape"], (0x1C, u32::MAX));
    let output = installed.command(&["why", "t.tstape"]).output().expect("it runs");
    let told = stdout(&output);
    let error = told.lines().find(|line| line.contains("illegal-instruction"));
    assert!(error.is_some_and(|line| line.contains("BRISC")), "{told}{}", stderr(&output));
}
