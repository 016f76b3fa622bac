//! The device library: ours, and the one that the environment names.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use hostlib::DynamicLibrary;

use super::super::live::settings::{SIMULATOR, SLOW_DISPATCH};
use super::super::sim::{DEVICE_LIBRARY, LIB_HINT, SOC_DESCRIPTOR, own_library};
use super::super::soc;
use super::Finding;
use super::probe::{Answer, ask};
use crate::exit::Exit;

/// Loading takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Vendor and device in configuration space `[spec: host-abi 2.3]`.
const IDENTITY: u32 = 0xB140_1E52;
/// What a library of somebody else has instead of a version.
const FOREIGN: &str = "none";

/// Loads a library, opens a chip and prints the version.
///
/// # Errors
/// It does not load, or opens no chip.
pub(super) fn load(path: &Path, out: &mut dyn Write) -> Result<Exit> {
    let library = DynamicLibrary::open(path)?;
    let version = library.version();
    if version.is_some() {
        library.init();
        let identity = library.config_read(0, 0);
        library.exit();
        if identity != IDENTITY {
            // The library has said why.
            return Ok(Exit::Host);
        }
    }
    writeln!(out, "{}", version.as_deref().unwrap_or(FOREIGN))?;
    Ok(Exit::Ok)
}

/// What our library says when a variable of its own means nothing.
const NO_DEVICE: &str = "no device: ";

/// The version of a library, asked in a process of its own, or what is wrong with it.
fn version(path: &Path) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args(["doctor", "--load"]).arg(path);
    for wish in ["TILESCOPE_TAPE", "TILESCOPE_REPORT", "TILESCOPE_RUN_DIR"] {
        command.env_remove(wish);
    }
    match ask(&mut command, PATIENCE) {
        Answer::Said(text) => Ok(text.trim().to_owned()),
        Answer::Failed(why) => {
            let why = why.trim_start_matches("error: ").trim_start_matches("tilescope: ");
            Err(why.to_owned())
        }
        Answer::Late => Err(format!("it took more than {} s to load", PATIENCE.as_secs())),
        Answer::Absent => Err("this program's own file is gone".to_owned()),
    }
}

pub(super) fn look(findings: &mut Vec<Finding>) {
    let own = own(findings);
    environment(own.as_deref(), findings);
}

fn own(findings: &mut Vec<Finding>) -> Option<PathBuf> {
    const TOPIC: &str = "library";
    const OURS: &str = env!("CARGO_PKG_VERSION");
    let path = match own_library(DEVICE_LIBRARY, LIB_HINT) {
        Ok(path) => path,
        Err(error) => {
            findings.push(Finding::wrong(TOPIC, format!("{error:#}")));
            return None;
        }
    };
    let shown = path.display();
    findings.push(match version(&path) {
        Ok(version) if version == OURS => Finding::ok(TOPIC, format!("{shown}, version {version}")),
        Ok(version) => Finding::wrong(
            TOPIC,
            format!(
                "{shown} has version {version}, this program {OURS}; install both from one build"
            ),
        ),
        Err(why) if why.contains(NO_DEVICE) => {
            Finding::wrong(TOPIC, format!("{why}; unset that variable, or mend it"))
        }
        Err(why) => Finding::wrong(TOPIC, format!("{shown} cannot be used: {why}; {LIB_HINT}")),
    });
    Some(path)
}

/// What the environment says, which `tilescope run` does not need and other ways of starting do.
fn environment(own: Option<&Path>, findings: &mut Vec<Finding>) {
    const MEND: &str = "eval \"$(tilescope env)\" sets it right";
    let Some(path) = std::env::var_os(SIMULATOR).filter(|path| !path.is_empty()) else {
        findings.push(Finding::ok(SIM, "TT_METAL_SIMULATOR is unset; tilescope run sets it"));
        dispatch(false, findings);
        return;
    };
    let path = PathBuf::from(path);
    let shown = path.display();
    if !path.is_file() {
        let text = format!("TT_METAL_SIMULATOR={shown}: no such file; unset it, or {MEND}");
        findings.push(Finding::wrong(SIM, text));
        return;
    }
    let same =
        own.is_some_and(|own| matches!((fs::read(own), fs::read(&path)), (Ok(a), Ok(b)) if a == b));
    findings.push(match version(&path) {
        _ if same => Finding::ok(SIM, format!("TT_METAL_SIMULATOR={shown} is our library")),
        Ok(version) if version == FOREIGN => Finding::hint(
            SIM,
            format!("TT_METAL_SIMULATOR={shown} is another simulator; tilescope run takes ours"),
        ),
        Ok(version) => Finding::hint(
            SIM,
            format!(
                "TT_METAL_SIMULATOR={shown} is another build of our library ({version}); {MEND}"
            ),
        ),
        Err(why) => {
            Finding::wrong(SIM, format!("TT_METAL_SIMULATOR={shown} cannot be used: {why}; {MEND}"))
        }
    });
    descriptor(&path.with_file_name(SOC_DESCRIPTOR), same, findings);
    dispatch(true, findings);
}

const SIM: &str = "simulator";

fn descriptor(path: &Path, ours: bool, findings: &mut Vec<Finding>) {
    const TOPIC: &str = "descriptor";
    let shown = path.display();
    findings.push(match fs::read_to_string(path) {
        Err(error) => Finding::wrong(
            TOPIC,
            format!("{shown}: {error}; tilescope sim install writes it beside the library"),
        ),
        Ok(text) if ours && text != soc::text() => Finding::hint(
            TOPIC,
            format!("{shown} is not the one that belongs to the library; tilescope sim install"),
        ),
        Ok(_) => Finding::ok(TOPIC, shown.to_string()),
    });
}

fn dispatch(simulator: bool, findings: &mut Vec<Finding>) {
    const TOPIC: &str = "dispatch";
    let value = std::env::var_os(SLOW_DISPATCH);
    findings.push(match value {
        Some(value) if value == "0" => Finding::hint(
            TOPIC,
            "TT_METAL_SLOW_DISPATCH_MODE=0 means slow dispatch all the same: unset it for fast dispatch",
        ),
        Some(_) => Finding::ok(TOPIC, "slow (TT_METAL_SLOW_DISPATCH_MODE is set)"),
        None if simulator => Finding::hint(
            TOPIC,
            "fast: TT_METAL_SLOW_DISPATCH_MODE is unset; slow dispatch is simpler to look at",
        ),
        None => Finding::ok(TOPIC, "slow, unless tilescope run gets --fast-dispatch"),
    });
}
