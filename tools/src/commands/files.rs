//! Files that a session is recorded into.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Seek as _, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use observe::Waves;
use sim_core::{AgentId, Cycle};

use crate::output::{Output, STDERR, STDOUT};

/// Where what is recorded goes.
pub(super) type Out = Box<dyn Write>;

/// What one agent still does at the end: who, since when, in words.
pub(super) type Open = (AgentId, Option<Cycle>, String);

/// Waves need a file to go back in; standard output gets a copy at the end.
pub(super) struct WaveFile {
    pub(super) waves: Waves<BufWriter<File>>,
    name: String,
    copied: Option<File>,
}

impl WaveFile {
    /// A file with one scope per tile, of those names.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn create(path: &Path, scopes: &[String]) -> Result<Self> {
        let fail = || format!("cannot write {}", path.display());
        let (file, copied, name) = if path.as_os_str() == "-" {
            let file = tempfile::tempfile().context("cannot make a temporary file")?;
            let copied = file.try_clone().context("cannot make a temporary file")?;
            (file, Some(copied), STDOUT.to_owned())
        } else {
            let file = File::create(path).with_context(fail)?;
            (file, None, path.display().to_string())
        };
        let waves = Waves::of_tiles(BufWriter::new(file), scopes).with_context(fail)?;
        Ok(Self { waves, name, copied })
    }

    /// Ends it.
    ///
    /// # Errors
    /// It could not be written.
    pub(super) fn finish(self, now: Cycle) -> Result<()> {
        self.waves.finish(now).with_context(|| format!("cannot write {}", self.name))?;
        let Some(mut file) = self.copied else { return Ok(()) };
        file.rewind().context("cannot read a temporary file")?;
        let mut out = Output::new(STDOUT, io::stdout());
        io::copy(&mut file, &mut out)?;
        out.flush()?;
        Ok(())
    }
}

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 64 << 10;

fn buffered(name: impl Into<String>, inner: impl Write + 'static) -> Out {
    Box::new(BufWriter::with_capacity(BUFFER_BYTES, Output::new(name, inner)))
}

pub(super) fn create(path: &Path) -> Result<Out> {
    if path.as_os_str() == "-" {
        return Ok(buffered(STDOUT, io::stdout()));
    }
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(buffered(path.display().to_string(), file))
}

/// Where executed instructions go: there are too many of them for standard output.
pub(super) fn listing(path: &Path) -> Result<Out> {
    if path.as_os_str() == "-" { Ok(buffered(STDERR, io::stderr())) } else { create(path) }
}

/// Where the log goes: a person sees each line at once.
pub(super) fn screen(json: bool) -> Out {
    match (json, io::stdout().is_terminal()) {
        (true, _) => Box::new(io::LineWriter::new(Output::new(STDERR, io::stderr()))),
        (false, true) => Box::new(Output::new(STDOUT, io::stdout())),
        (false, false) => buffered(STDOUT, io::stdout()),
    }
}
