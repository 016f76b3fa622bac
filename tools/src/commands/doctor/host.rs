//! The rest of the machine: compiler, caches, variables that contradict each other, room, debugger.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use super::Finding;
use super::probe::{Answer, ask};
use super::python::Python;
use crate::fetch::Cache;

/// A program that prints its version takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Where the vendor's packages put the kernel compiler, beside the folder of the runtime.
const SYSTEM_SFPI: &str = "/opt/tenstorrent/sfpi";
/// Below a root of the compiler.
const COMPILER: &str = "compiler/bin/riscv-tt-elf-g++";
/// Room that a first program needs for its kernels, and what is comfortable, in MB.
const LEAST_MB: u64 = 200;
const ROOM_MB: u64 = 2000;

pub(super) fn look(python: Option<&Python>, findings: &mut Vec<Finding>) {
    let ttnn = python.and_then(|python| python.ttnn.as_deref());
    let roots = roots(ttnn, findings);
    if let Some(ttnn) = ttnn {
        findings.push(firmware(ttnn));
    }
    if !roots.is_empty() {
        findings.push(compiler(&roots));
    }
    caches(findings);
    findings.push(debugger());
}

/// Folders in which the runtime looks for its files, the first that counts first.
fn roots(ttnn: Option<&Path>, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for name in ["TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME"] {
        let Some(root) = std::env::var_os(name).filter(|root| !root.is_empty()) else { continue };
        let root = PathBuf::from(root);
        let shown = root.display();
        if !root.join("tt_metal").is_dir() {
            let text =
                format!("{name}={shown} has no folder tt_metal; unset it, or name a checkout");
            findings.push(Finding::wrong("variables", text));
        } else if ttnn.is_some_and(|ttnn| !ttnn.starts_with(&root)) {
            let text = format!("{name}={shown}: kernels come from there, ttnn from elsewhere");
            findings.push(Finding::hint("variables", text));
        }
        roots.push(root);
    }
    roots.extend(ttnn.map(Path::to_owned));
    roots
}

fn firmware(ttnn: &Path) -> Finding {
    const TOPIC: &str = "firmware";
    let dir = ttnn.join("tt_metal/pre-compiled");
    let sets = std::fs::read_dir(&dir).map_or(0, |entries| entries.flatten().count());
    match sets {
        0 => Finding::hint(
            TOPIC,
            format!("none in {}; the runtime compiles it at first use", dir.display()),
        ),
        sets => Finding::ok(TOPIC, format!("{sets} sets in {}", dir.display())),
    }
}

fn compiler(roots: &[PathBuf]) -> Finding {
    const TOPIC: &str = "compiler";
    let system = PathBuf::from(SYSTEM_SFPI);
    let places = roots.iter().map(|root| root.join("runtime/sfpi")).chain([system]);
    let places: Vec<PathBuf> = places.map(|place| place.join(COMPILER)).collect();
    let Some(path) = places.iter().find(|path| path.exists()) else {
        let looked: Vec<_> = places.iter().map(|path| path.display().to_string()).collect();
        let text = format!(
            "no kernel compiler at {}; ttnn brings it, or the vendor's package sfpi",
            looked.join(", ")
        );
        return Finding::wrong(TOPIC, text);
    };
    let shown = path.display();
    match ask(Command::new(path).arg("--version"), PATIENCE) {
        Answer::Said(text) => {
            let first = text.lines().next().unwrap_or("no version").to_owned();
            Finding::ok(TOPIC, format!("{shown}: {first}"))
        }
        Answer::Failed(why) => Finding::wrong(TOPIC, format!("{shown} does not run: {why}")),
        Answer::Late => Finding::wrong(TOPIC, format!("{shown} does not answer")),
        Answer::Absent => Finding::wrong(
            TOPIC,
            format!("{shown} does not run: its interpreter or loader is missing"),
        ),
    }
}

/// The first folder on the way up that exists.
fn existing(path: &Path) -> &Path {
    path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."))
}

fn caches(findings: &mut Vec<Finding>) {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let kernels = std::env::var_os("TT_METAL_CACHE").filter(|dir| !dir.is_empty());
    let kernels = kernels.map(PathBuf::from).or_else(|| Some(home?.join(".cache")));
    match kernels {
        Some(dir) => findings.push(folder("kernels", &dir, "TT_METAL_CACHE names another")),
        None => findings.push(Finding::wrong(
            "kernels",
            "neither HOME nor TT_METAL_CACHE says where compiled kernels are to be kept",
        )),
    }
    match Cache::directory() {
        Ok(dir) => findings.push(folder("cache", &dir, "TILESCOPE_CACHE names another")),
        Err(error) => findings.push(Finding::hint("cache", format!("{error:#}"))),
    }
    let temporary = std::env::temp_dir();
    findings.push(folder("temporary", &temporary, "TMPDIR names another"));
    if let Ok(here) = std::env::current_dir() {
        let text = "generated/ and the tape are written here";
        findings.push(match folder("directory", &here, "go to another") {
            Finding { grade: super::Grade::Wrong, topic, text: why } => {
                Finding::hint(topic, format!("{why}; {text}"))
            }
            fine => fine,
        });
    }
}

/// A folder that has to be written to.
fn folder(topic: &'static str, path: &Path, mend: &str) -> Finding {
    let shown = path.display();
    let there = existing(path);
    if !there.is_dir() {
        return Finding::wrong(topic, format!("{} is no folder; {mend}", there.display()));
    }
    if let Err(error) = access(there, AccessFlags::W_OK | AccessFlags::X_OK) {
        let text = format!("{} cannot be written to: {}; {mend}", there.display(), error.desc());
        return Finding::wrong(topic, text);
    }
    let Ok(disk) = statvfs(there) else { return Finding::ok(topic, shown.to_string()) };
    #[expect(clippy::useless_conversion, reason = "narrower on other systems")]
    let free = u64::from(disk.blocks_available()) * u64::from(disk.fragment_size()) / 1_000_000;
    room(topic, &shown.to_string(), free, mend)
}

/// A folder on a disk with so many MB left.
fn room(topic: &'static str, shown: &str, free: u64, mend: &str) -> Finding {
    match free {
        ..LEAST_MB => {
            Finding::wrong(topic, format!("{shown}: the disk is full, {free} MB left; {mend}"))
        }
        LEAST_MB..ROOM_MB => Finding::hint(topic, format!("{shown}: only {free} MB left; {mend}")),
        _ => Finding::ok(topic, format!("{shown}, {} GB free", free / 1000)),
    }
}

fn debugger() -> Finding {
    const TOPIC: &str = "gdb";
    for name in ["gdb", "gdb-multiarch"] {
        if let Answer::Said(text) = ask(Command::new(name).arg("--version"), PATIENCE) {
            return Finding::ok(TOPIC, text.lines().next().unwrap_or(name).to_owned());
        }
    }
    Finding::hint(TOPIC, "none; only to look into a host program that stands still")
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::*;

    #[test]
    fn room_on_a_disk_is_graded() {
        let found = |free| room("kernels", "/kernels", free, "TT_METAL_CACHE names another");
        let full = found(LEAST_MB - 1);
        assert_eq!(full.grade, Grade::Wrong);
        assert_eq!(
            full.text,
            "/kernels: the disk is full, 199 MB left; TT_METAL_CACHE names another"
        );
        let little = found(LEAST_MB);
        assert_eq!(little.grade, Grade::Hint);
        assert_eq!(little.text, "/kernels: only 200 MB left; TT_METAL_CACHE names another");
        assert_eq!(found(ROOM_MB - 1).grade, Grade::Hint);
        let enough = found(ROOM_MB);
        assert_eq!((enough.grade, enough.text.as_str()), (Grade::Ok, "/kernels, 2 GB free"));
    }
}
