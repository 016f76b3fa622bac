//! Tapes that explain themselves where nothing of their host is left.

use std::fs;
use std::path::{Path, PathBuf};

use tape::{AttachmentKind, Tape};

use super::{Installed, host, stderr, stdout};

/// A folder with what an LLK test leaves behind: its programs where their build has put them, and its
/// source. The program is the repository's; alone it waits for a mailbox that nobody fills.
struct Machine {
    installed: Installed,
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/programs/bare/mailbox")
}

impl Machine {
    fn new() -> Self {
        let machine = Self { installed: Installed::new() };
        let copy = |from: &str, to: &str| {
            let to = machine.installed.path(to);
            fs::create_dir_all(to.parent().expect("a folder")).expect("made");
            fs::copy(programs().join(from), to).expect("copied");
        };
        copy("brisc.elf", "tmp/tt-llk-build/shared/elf/brisc.elf");
        // Others that were not loaded.
        copy("trisc0.elf", "tmp/tt-llk-build/sources/a_test.cpp/11/elf/unpack.elf");
        copy("trisc1.elf", "tmp/tt-llk-build/sources/b_test.cpp/22/elf/math.elf");
        copy("mailbox.c", "bare/mailbox/mailbox.c");
        machine
    }

    /// Runs the program that hangs, with or without `tilescope run`.
    fn run(&self, options: &[&str]) -> String {
        let mut command = self.installed.host(options, "mailbox");
        command.env("TMPDIR", self.installed.path("tmp")).env("HOME", self.installed.path("home"));
        command.env(host::ELF, programs().join("brisc.elf"));
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        stderr(&output)
    }

    /// What `tilescope why` says of a tape, on another machine.
    fn why_elsewhere(&self, tape: &str) -> (String, String) {
        for gone in ["tmp", "bare", "home"] {
            // It may be gone already.
            let _ = fs::remove_dir_all(self.installed.path(gone));
        }
        let mut command = self.installed.command(&["why", tape]);
        command.env("HOME", "/nowhere").env("TMPDIR", "/nowhere");
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    }

    fn attached(&self, tape: &str) -> Vec<(AttachmentKind, String)> {
        let tape = Tape::open(&self.installed.path(tape)).expect("a tape");
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        tape.attachments().map(|item| (item.kind(), name(item.name()))).collect()
    }
}

/// The names that a live explanation has, the one from the tape has too.
fn names(text: &str) {
    for part in ["DEADLOCK", "mailbox.c:", "main", "BRISC"] {
        assert!(text.contains(part), "no {part}: {text}");
    }
}

#[test]
fn tape_of_a_run_has_its_names_with_it() {
    let machine = Machine::new();
    let said = machine.run(&["--on-hang", "exit", "-o", "a.tstape"]);
    names(&said);
    assert!(said.contains("with 1 program and 1 source"), "{said}");
    let expected = [
        (AttachmentKind::Elf, "brisc.elf".to_owned()),
        (AttachmentKind::Text, "mailbox.c".to_owned()),
    ];
    let mut attached = machine.attached("a.tstape");
    attached.sort_by(|one, other| one.1.cmp(&other.1));
    assert_eq!(attached, expected);
    let (text, notes) = machine.why_elsewhere("a.tstape");
    names(&text);
    assert_eq!(notes, "");
}

/// Without `tilescope run` the tape has no names until it is packed, and says so.
#[test]
fn tape_without_names_says_so_until_it_is_packed() {
    let machine = Machine::new();
    let said = machine.run(&["--on-hang", "exit", "-o", "a.tstape"]);
    names(&said);
    let bytes = fs::read(machine.installed.path("a.tstape")).expect("a tape");
    // What was attached was attached last: the tape without it is what the host left.
    let mut bare = None;
    for length in (8..bytes.len()).rev() {
        fs::write(machine.installed.path("bare.tstape"), &bytes[..length]).expect("written");
        let tape = Tape::open(&machine.installed.path("bare.tstape")).expect("a tape");
        if tape.attachments().len() == 0 && !tape.is_explained() {
            bare = Some(length);
            break;
        }
    }
    assert!(bare.is_some());
    let mut command = machine.installed.command(&["pack", "bare.tstape"]);
    let packed = machine.installed.path("packed.tstape");
    fs::copy(machine.installed.path("bare.tstape"), &packed).expect("copied");
    let output = command.arg("packed.tstape").output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.contains("packed.tstape: 1 program and 1 source added"), "{told}");
    fs::write(machine.installed.path("bare.tstape"), &bytes[..bare.expect("found")])
        .expect("there");
    let (text, notes) = machine.why_elsewhere("bare.tstape");
    assert!(text.contains("DEADLOCK") && !text.contains("mailbox.c"), "{text}");
    assert!(notes.contains("bare.tstape carries not all names") && notes.lines().count() == 1);
    names(&machine.why_elsewhere("packed.tstape").0);
}
