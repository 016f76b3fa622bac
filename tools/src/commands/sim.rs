//! `tilescope sim`: the chip as a library in a directory of its own, ready for host software.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};

use super::live::settings::{SIMULATOR, SLOW_DISPATCH};
use super::soc;
use crate::exit::Exit;
use crate::fetch::DEFAULT_VERSION;
use crate::output::{shell_word, write_whole};

/// File name of our device library.
pub const DEVICE_LIBRARY: &str = "libtilescope_bh.so";
/// The file that host software wants beside a device library.
pub const SOC_DESCRIPTOR: &str = "soc_descriptor.yaml";

/// What helps when our own device library is missing.
pub const LIB_HINT: &str = "`cargo build --release -p ffi` makes it, --lib names another";

const EXAMPLES: &str = r#"Host software of the vendor's stack (ttnn, tt-metal, the LLK tests, tt-exalens) loads the library
that TT_METAL_SIMULATOR names, and wants soc_descriptor.yaml beside it.

Examples:
  eval "$(tilescope sim install ~/sim)"
"#;

/// Install the chip as a library for host software
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct SimArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SimCommand,
}

/// What can be done with the library.
#[derive(Subcommand, Clone, Debug)]
pub enum SimCommand {
    /// Write the library and its soc_descriptor.yaml to a directory
    Install {
        /// Directory; it is made if need be
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Take this library instead of the one that belongs to this program
        #[arg(long, value_name = "LIB.so")]
        lib: Option<PathBuf>,
    },
}

/// Runs the command.
///
/// # Errors
/// One line when there is no library, or the directory cannot be written.
pub fn run(args: &SimArgs, out: &mut dyn Write) -> Result<Exit> {
    let SimCommand::Install { dir, lib } = &args.command;
    let library = match lib {
        Some(path) => path.clone(),
        None => own_library(DEVICE_LIBRARY, LIB_HINT)?,
    };
    let installed = install(&library, None, dir)?;
    let slow = Path::new("1");
    export(&[(SIMULATOR, &installed), (SLOW_DISPATCH, slow)], out)?;
    writeln!(
        out,
        "# Tried with ttnn {DEFAULT_VERSION}. Fast dispatch works too: leave the second one unset."
    )?;
    Ok(Exit::Ok)
}

/// Settings for a shell.
///
/// # Errors
/// The output cannot be written.
pub fn export(settings: &[(&str, &Path)], out: &mut dyn Write) -> Result<()> {
    for (name, value) in settings {
        write!(out, "export {name}=")?;
        out.write_all(&shell_word(value.as_os_str()))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Copies `library` into `dir`, with a descriptor beside it: `descriptor`, or our own.
///
/// # Errors
/// One line when a file cannot be read or written.
pub fn install(library: &Path, descriptor: Option<&Path>, dir: &Path) -> Result<PathBuf> {
    let Some(name) = library.file_name() else { bail!("{} is not a file", library.display()) };
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let dir = dir.canonicalize().with_context(|| format!("cannot use {}", dir.display()))?;
    let bytes = fs::read(library).with_context(|| format!("cannot read {}", library.display()))?;
    let target = dir.join(name);
    write_whole(&target, &bytes)?;
    let text = match descriptor {
        Some(path) => {
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        None => soc::text(),
    };
    write_whole(&dir.join(SOC_DESCRIPTOR), text.as_bytes())?;
    Ok(target)
}

/// The library of that name which belongs to this program: beside it, or where cargo and packages
/// put libraries.
///
/// # Errors
/// One line when there is none; `hint` says what makes or replaces it.
pub fn own_library(name: &str, hint: &str) -> Result<PathBuf> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let dir = program.parent().unwrap_or(Path::new("."));
    let places = [dir.join(name), dir.join("deps").join(name), dir.join("../lib").join(name)];
    let found = places.into_iter().find(|path| path.is_file());
    found.with_context(|| format!("no {name} beside {}; {hint}", program.display()))
}
