//! Python, ttnn in it, and what the LLK tests need.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Finding;
use super::probe::{Answer, ask};
use crate::fetch::DEFAULT_VERSION;

/// Prints the interpreter, and where modules are, without importing them; then imports ttnn.
const SCRIPT: &str = "\
import sys, importlib.util, importlib.metadata
def tell(*words): print('tilescope', *words, sep='\\t', flush=True)
tell('python', sys.executable, sys.version.split()[0])
for name in ('ttnn', 'pytest', 'torch', 'ttexalens'):
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        spec = None
    if spec is None or spec.origin is None: continue
    try:
        version = importlib.metadata.version('tt-exalens' if name == 'ttexalens' else name)
    except Exception:
        version = '?'
    tell(name, spec.origin, version)
";

/// Imports it as programs do. What it says goes nowhere.
const IMPORT: &str = "import ttnn";

/// What a Python has.
#[derive(Debug)]
pub(super) struct Python {
    /// Folder of the package ttnn.
    pub(super) ttnn: Option<PathBuf>,
}

/// The path and the version behind a name.
fn told<'a>(said: &'a str, name: &str) -> Option<(&'a Path, &'a str)> {
    said.lines().find_map(|line| {
        let mut words = line.split('\t');
        (words.next() == Some("tilescope") && words.next() == Some(name))
            .then(|| Some((Path::new(words.next()?), words.next()?)))
            .flatten()
    })
}

/// Nothing of this may open a chip or leave a tape.
fn quiet(python: &Path, script: &str) -> Command {
    let mut command = Command::new(python);
    command.args(["-c", script]).env_remove("TILESCOPE_TAPE").env_remove("TILESCOPE_REPORT");
    command
}

pub(super) fn look(
    python: &Path,
    patience: Duration,
    findings: &mut Vec<Finding>,
) -> Option<Python> {
    const TOPIC: &str = "python";
    let shown = python.display();
    let said = match ask(&mut quiet(python, SCRIPT), patience) {
        Answer::Said(said) => said,
        Answer::Absent => {
            let text = format!("no program {shown}; --python names the one of your programs");
            findings.push(Finding::wrong(TOPIC, text));
            return None;
        }
        Answer::Failed(why) => {
            findings.push(Finding::wrong(TOPIC, format!("{shown} does not run: {why}")));
            return None;
        }
        Answer::Late => {
            let text = format!("{shown} took more than {} s; --patience", patience.as_secs());
            findings.push(Finding::wrong(TOPIC, text));
            return None;
        }
    };
    let Some((path, version)) = told(&said, "python") else {
        findings.push(Finding::wrong(TOPIC, format!("{shown} is no Python")));
        return None;
    };
    findings.push(Finding::ok(TOPIC, format!("{} {version}", path.display())));
    let llk = llk(&said);
    let ttnn = told(&said, "ttnn").and_then(|(origin, version)| {
        let dir = origin.parent()?.to_owned();
        findings.push(import(python, &dir, version, patience));
        Some(dir)
    });
    if ttnn.is_none() {
        findings.push(no_ttnn(path, llk.is_ok()));
    }
    findings.push(match llk {
        Ok(text) => Finding::ok("llk tests", text),
        Err(missing) => Finding::hint(
            "llk tests",
            format!("this Python has no {missing}; they need what their requirements.txt lists"),
        ),
    });
    Some(Python { ttnn })
}

fn no_ttnn(python: &Path, llk: bool) -> Finding {
    let text = format!(
        "{} has none: `{} -m pip install ttnn=={DEFAULT_VERSION}`, or --python names another",
        python.display(),
        python.display()
    );
    // The LLK tests do without.
    if llk { Finding::hint("ttnn", text) } else { Finding::wrong("ttnn", text) }
}

fn import(python: &Path, dir: &Path, version: &str, patience: Duration) -> Finding {
    const TOPIC: &str = "ttnn";
    let shown = dir.display();
    match ask(&mut quiet(python, IMPORT), patience) {
        Answer::Said(_) if version == DEFAULT_VERSION => {
            Finding::ok(TOPIC, format!("{version}, {shown}"))
        }
        Answer::Said(_) => Finding::hint(
            TOPIC,
            format!("{version}, {shown}; tilescope is tested with {DEFAULT_VERSION}"),
        ),
        Answer::Failed(why) => {
            Finding::wrong(TOPIC, format!("{version}, {shown} cannot be imported: {why}"))
        }
        Answer::Late => {
            let text = format!("{shown}: the import took more than {} s", patience.as_secs());
            Finding::wrong(TOPIC, format!("{text}; --patience"))
        }
        Answer::Absent => Finding::wrong(TOPIC, format!("{} is gone", python.display())),
    }
}

/// What the LLK tests need of Python; else the first that is missing.
fn llk(said: &str) -> Result<String, &'static str> {
    let mut texts = Vec::new();
    for name in ["pytest", "torch", "ttexalens"] {
        let (_, version) = told(said, name).ok_or(name)?;
        texts.push(format!("{name} {version}"));
    }
    Ok(texts.join(", "))
}
