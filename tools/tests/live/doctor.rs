//! Environments that are broken in one way each.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::{Installed, stderr, stdout};

/// A Python that has ttnn, as far as the questions go, beside a compiler that answers.
struct Ward {
    installed: Installed,
}

/// Answers as Python does: the first script asks where things are, the second imports ttnn.
const PYTHON: &str = "#!/bin/sh
case \"$2\" in
  *tilescope*) printf 'tilescope\\tpython\\t%s\\t3.12.1\\n' \"$0\"
    printf 'tilescope\\tttnn\\t%s/ttnn/__init__.py\\t0.81.1\\n' \"$(dirname \"$0\")\" ;;
  *) true ;;
esac
";

impl Ward {
    /// All is well.
    fn new() -> Self {
        let ward = Self { installed: Installed::new() };
        ward.program("python3", PYTHON);
        ward.program("ttnn/runtime/sfpi/compiler/bin/riscv-tt-elf-g++", "#!/bin/sh\necho g++ 15\n");
        ward
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.installed.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("allowed");
    }

    fn doctor(&self) -> Command {
        let mut command = self.installed.command(&["doctor", "--python", "./python3"]);
        command.env("TILESCOPE_CACHE", self.installed.path("cache"));
        command.env("TT_METAL_CACHE", self.installed.path("kernels"));
        command
    }

    /// The lines of a grade.
    fn findings(command: &mut Command, grade: &str, status: i32) -> Vec<String> {
        let output = command.output().expect("it runs");
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(status), "{text}{}", stderr(&output));
        let lines = text.lines().filter(|line| line.starts_with(grade));
        lines.map(str::to_owned).collect()
    }

    /// The one thing that is wrong.
    fn complaint(command: &mut Command) -> String {
        let wrong = Self::findings(command, "wrong ", 2);
        assert_eq!(wrong.len(), 1, "{wrong:#?}");
        wrong.concat()
    }
}

#[test]
fn healthy_environment_has_nothing_wrong() {
    let ward = Ward::new();
    let fine = Ward::findings(&mut ward.doctor(), "ok", 0);
    let named = |lines: &[String], topic: &str| {
        lines.iter().any(|line| line.split_whitespace().nth(1) == Some(topic))
    };
    for topic in ["library", "python", "ttnn", "compiler"] {
        assert!(named(&fine, topic), "no {topic}: {fine:#?}");
    }
    // How much room is left is not up to the environment: a nearly full disk is worth a hint.
    let hints = Ward::findings(&mut ward.doctor(), "hint", 0);
    let narrow: Vec<_> = hints.into_iter().filter(|hint| hint.contains(" MB left; ")).collect();
    for topic in ["kernels", "cache", "temporary"] {
        assert!(named(&fine, topic) || named(&narrow, topic), "no {topic}: {fine:#?} {narrow:#?}");
    }
}

#[test]
fn broken_libraries_are_found() {
    let ward = Ward::new();
    let library = ward.installed.library();
    fs::remove_file(&library).expect("there");
    let missing = Ward::complaint(&mut ward.doctor());
    assert!(missing.contains("no libtilescope_bh.so") && missing.contains("-p ffi"), "{missing}");
    fs::write(&library, b"\x7fELF and nothing more").expect("written");
    let broken = Ward::complaint(&mut ward.doctor());
    assert!(broken.contains("cannot be used"), "{broken}");
}

/// A library of another build, in which this function gives another version.
#[test]
fn library_of_another_version_is_found() {
    let ward = Ward::new();
    let library = ward.installed.library();
    fs::remove_file(&library).expect("there");
    let names = hostlib::abi::SYMBOLS.iter().filter(|name| !name.ends_with("config_rd32"));
    let mut source: String = names.map(|name| format!("void {name}(void) {{}}\n")).collect();
    source += "unsigned libttsim_pci_config_rd32(unsigned b, unsigned o) \
               { return b + o == 0 ? 0xB1401E52u : ~0u; }\n\
               const char *tilescope_version(void) { return \"0.0.1\"; }\n";
    fs::write(ward.installed.path("old.c"), source).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "old.c", "-o"])
        .arg(&library)
        .current_dir(ward.installed.dir.path());
    assert!(cc.status().expect("a compiler").success());
    let old = Ward::complaint(&mut ward.doctor());
    assert!(old.contains("has version 0.0.1, this program"), "{old}");
}

#[test]
fn wrong_pythons_are_found() {
    let ward = Ward::new();
    let complaint = |script: &str, expected: &str| {
        ward.program("python3", script);
        let text = Ward::complaint(&mut ward.doctor());
        assert!(text.contains(expected), "{text}");
    };
    complaint(
        "#!/bin/sh\nprintf 'tilescope\\tpython\\t/usr/bin/python3\\t3.9\\n'\n",
        "pip install ttnn==0.81.1",
    );
    complaint("#!/bin/sh\necho hello\n", "is no Python");
    complaint("#!/bin/sh\necho 'bad interpreter' >&2; exit 1\n", "does not run: bad interpreter");
    let importing = PYTHON.replace("*) true", "*) echo 'ImportError: no libnuma' >&2; exit 1");
    complaint(&importing, "cannot be imported: ImportError: no libnuma");
    ward.program("python3", &PYTHON.replace("*) true", "*) sleep 600"));
    let late = Ward::complaint(ward.doctor().args(["--patience", "1"]));
    assert!(late.contains("the import took more than 1 s"), "{late}");
    fs::remove_file(ward.installed.path("python3")).expect("there");
    let absent = Ward::complaint(&mut ward.doctor());
    assert!(absent.contains("no program ./python3"), "{absent}");
}

#[test]
fn missing_and_broken_compilers_are_found() {
    let ward = Ward::new();
    let name = "ttnn/runtime/sfpi/compiler/bin/riscv-tt-elf-g++";
    ward.program(name, "#!/bin/sh\necho 'cannot execute binary file' >&2; exit 126\n");
    let broken = Ward::complaint(&mut ward.doctor());
    assert!(broken.contains("does not run: cannot execute binary file"), "{broken}");
    ward.program(name, "#!/no/such/loader\n");
    let loader = Ward::complaint(&mut ward.doctor());
    assert!(loader.contains("does not run"), "{loader}");
    fs::remove_file(ward.installed.path(name)).expect("there");
    // A machine on which the vendor's package is installed has one all the same.
    if !std::path::Path::new("/opt/tenstorrent/sfpi").exists() {
        let missing = Ward::complaint(&mut ward.doctor());
        assert!(missing.contains("no kernel compiler at"), "{missing}");
    }
}

#[test]
fn variables_that_contradict_are_found() {
    let ward = Ward::new();
    let with = |name: &str, value: &str| Ward::complaint(ward.doctor().env(name, value));
    let text = with("TT_METAL_SIMULATOR", "/nowhere/lib.so");
    assert!(text.contains("no such file") && text.contains("tilescope env"), "{text}");
    let text = with("TT_METAL_HOME", "/nowhere");
    assert!(text.contains("has no folder tt_metal"), "{text}");
    // A file where a folder has to be.
    let file = ward.installed.path("python3");
    let text = with("TT_METAL_CACHE", &file.to_string_lossy());
    assert!(text.contains("is no folder") && text.contains("TT_METAL_CACHE"), "{text}");
    let text = with("TILESCOPE_THREADS", "many");
    assert!(text.contains("TILESCOPE_THREADS=many"), "{text}");
    // A library without its descriptor.
    fs::create_dir(ward.installed.path("alone")).expect("made");
    let alone = ward.installed.path("alone/libtilescope_bh.so");
    fs::copy(ward.installed.library(), &alone).expect("copied");
    let text = with("TT_METAL_SIMULATOR", &alone.to_string_lossy());
    assert!(text.contains("soc_descriptor.yaml") && text.contains("sim install"), "{text}");
    let mut command = ward.doctor();
    command.env("TT_METAL_SLOW_DISPATCH_MODE", "0");
    let hints = Ward::findings(&mut command, "hint", 0);
    assert!(
        hints.iter().any(|hint| hint.contains("means slow dispatch all the same")),
        "{hints:#?}"
    );
}
