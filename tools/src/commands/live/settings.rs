//! What makes a host program find the simulated chip: a library with its descriptor, and variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::super::sim::{DEVICE_LIBRARY, LIB_HINT, install, own_library};

/// The library that the vendor's stack loads.
pub const SIMULATOR: &str = "TT_METAL_SIMULATOR";
/// Who hands work to the chip; that it is set is what counts, not to what.
pub const SLOW_DISPATCH: &str = "TT_METAL_SLOW_DISPATCH_MODE";

/// Who hands work to the tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// The host itself.
    Slow,
    /// Kernels on the chip.
    Fast,
    /// As the environment says, which does say it.
    AsSet,
}

impl Dispatch {
    /// What an option and the environment come to.
    #[must_use]
    pub fn wanted(fast: bool) -> Self {
        match (fast, std::env::var_os(SLOW_DISPATCH)) {
            (true, _) => Self::Fast,
            (false, Some(_)) => Self::AsSet,
            (false, None) => Self::Slow,
        }
    }
}

/// The variables, and what they are to be; `None` is unset.
#[derive(Clone, Debug)]
pub struct Settings(Vec<(&'static str, Option<OsString>)>);

impl Settings {
    /// Installs a library, our own unless another is given, in a directory of its own.
    ///
    /// # Errors
    /// One line when there is no library, or the directory cannot be written.
    pub fn installed(lib: Option<&Path>, dir: &Path, dispatch: Dispatch) -> Result<Self> {
        let library = match lib {
            Some(path) => path.to_owned(),
            None => own_library(DEVICE_LIBRARY, LIB_HINT)?,
        };
        let installed: PathBuf = install(&library, None, dir)?;
        let mut settings = vec![(SIMULATOR, Some(installed.into_os_string()))];
        match dispatch {
            Dispatch::Slow => settings.push((SLOW_DISPATCH, Some("1".into()))),
            Dispatch::Fast => settings.push((SLOW_DISPATCH, None)),
            Dispatch::AsSet => {}
        }
        Ok(Self(settings))
    }

    /// Gives them to a program.
    pub fn apply(&self, command: &mut Command) {
        for (name, value) in &self.0 {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }

    /// Lines for a shell.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, value)| match value {
            Some(value) => format!("export {name}={}", quoted(&value.to_string_lossy())),
            None => format!("unset {name}"),
        })
    }
}

/// A word as shells take it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:,@%=".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
