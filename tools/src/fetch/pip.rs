//! Runs the user's own `pip` and shows how much has arrived. Where pip downloads from is the
//! user's configuration, not ours.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, io};

use anyhow::{Context as _, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};

use super::Interrupt;

/// CPython versions that wheels have been built for; the firmware inside is the same.
const PYTHON_VERSIONS: [&str; 4] = ["3.10", "3.11", "3.12", "3.13"];
/// Platforms that wheels have been built for, newest first; pip takes the first that fits.
const PLATFORMS: [&str; 4] =
    ["manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "linux_x86_64"];
/// How often the progress line looks at the download.
const POLL: Duration = Duration::from_millis(100);

/// Downloads the wheel into a subdirectory of `dir`: first for this machine's Python, then for
/// the versions and platforms that wheels are built for.
///
/// # Errors
/// One line with pip's own last word, when no attempt succeeds.
pub(super) fn download(version: &str, dir: &Path, interrupt: &Interrupt) -> Result<PathBuf> {
    let target = dir.join("wheel");
    let scratch = dir.join("pip");
    for dir in [&target, &scratch] {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    }
    let progress = progress_line(version);
    let mut last = anyhow!("pip was not run");
    for python_version in std::iter::once(None).chain(PYTHON_VERSIONS.map(Some)) {
        let mut command = command(version, &target, &scratch, python_version);
        let output = run(&mut command, dir, &progress, interrupt)?;
        match output {
            Ok(()) => {
                progress.finish_and_clear();
                return find_wheel(&target);
            }
            Err(message) => {
                // Another tag only helps when pip found no file for this one.
                let retry = message.contains("No matching distribution")
                    || message.contains("not a supported wheel");
                last = anyhow!(
                    "pip could not download ttnn {version}: {message} (is this machine online? \
                     otherwise bring the wheel here and use --wheel FILE)"
                );
                if !retry {
                    break;
                }
            }
        }
    }
    progress.finish_and_clear();
    Err(last)
}

/// A line with the bytes so far; invisible when standard error is not a terminal.
fn progress_line(version: &str) -> ProgressBar {
    let progress = ProgressBar::new_spinner();
    let template = "{spinner} {msg} {bytes} at {bytes_per_sec} [{elapsed}]";
    if let Ok(style) = ProgressStyle::with_template(template) {
        progress.set_style(style);
    }
    progress.set_message(format!("ttnn {version}"));
    progress
}

fn command(version: &str, target: &Path, scratch: &Path, python: Option<&str>) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"]);
    command.args(["--quiet", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]);
    command.arg("-d").arg(target).arg(format!("ttnn=={version}"));
    if let Some(python) = python {
        command.args(["--implementation", "cp", "--python-version", python]);
        command.args(PLATFORMS.iter().flat_map(|platform| ["--platform", platform]));
    }
    // Pip writes to a temporary directory first; here it can be watched and is cleaned up.
    command.env("TMPDIR", scratch);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Runs pip to its end; the inner error is what pip said.
fn run(
    command: &mut Command,
    dir: &Path,
    progress: &ProgressBar,
    interrupt: &Interrupt,
) -> Result<Result<(), String>> {
    // To a file, not a pipe: nobody needs to drain it while we watch the download.
    let log_path = dir.join("pip.log");
    let log = fs::File::create(&log_path).context("cannot write to the cache")?;
    let mut child =
        command.stderr(Stdio::from(log)).spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                anyhow!("python3 not found; download the ttnn wheel yourself and use --wheel FILE")
            }
            _ => anyhow!("cannot run python3: {error}"),
        })?;
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for pip")? {
            break status;
        }
        if let Err(error) = interrupt.check() {
            stop(&mut child);
            progress.finish_and_clear();
            return Err(error);
        }
        progress.set_position(tree_bytes(dir));
        std::thread::sleep(POLL);
    };
    interrupt.check()?;
    if status.success() {
        return Ok(Ok(()));
    }
    let log = fs::read(&log_path).unwrap_or_default();
    Ok(Err(last_error(&String::from_utf8_lossy(&log))))
}

/// Ends pip; it may have ended by itself from the same Ctrl-C.
fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Pip's last line that says what is wrong.
fn last_error(log: &str) -> String {
    let lines = || log.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.starts_with("ERROR")).or_else(|| lines().next());
    let line = line.unwrap_or("it failed without a message");
    line.trim_start_matches("ERROR:").trim().to_owned()
}

fn find_wheel(dir: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut wheels = entries.flatten().map(|entry| entry.path());
    match wheels.find(|path| path.extension().is_some_and(|extension| extension == "whl")) {
        Some(wheel) => Ok(wheel),
        None => bail!("pip ended without an error, but left no wheel"),
    }
}

/// Bytes of all files below a directory. Files that vanish while we look count as nothing.
fn tree_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => tree_bytes(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::last_error;

    #[test]
    fn pip_log_with_several_lines_gives_the_last_error() {
        let log = "WARNING: x\nERROR: Could not find a version\nERROR: No matching distribution \
                   found for ttnn==9\n\n[notice] pip\n";
        assert_eq!(last_error(log), "No matching distribution found for ttnn==9");
        assert_eq!(
            last_error("/usr/bin/python3: No module named pip\n"),
            "/usr/bin/python3: No module named pip"
        );
    }
}
