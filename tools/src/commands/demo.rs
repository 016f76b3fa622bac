//! `tilescope demo`: built-in examples.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use firmware_tests::demo;
use loader::diagnose::diagnose;
use loader::plan::LaunchPlan;

use super::machine::MachineArgs;
use super::run::embedded_firmware;
use super::why::{self, WhyOutput};
use crate::exit::Exit;

/// Which example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Demo {
    /// A kernel whose math thread loses a semaphore get, and hangs
    Hang,
}

/// Run a built-in example
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// Which
    #[arg(value_enum)]
    pub demo: Demo,
    /// Write the example's plan, kernels and sources into this directory and stop
    #[arg(long, value_name = "DIR")]
    pub extract: Option<PathBuf>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: WhyOutput,
}

/// Runs an example.
///
/// # Errors
/// A file cannot be written.
pub fn run(args: &DemoArgs, out: &mut dyn Write) -> Result<Exit> {
    let Demo::Hang = args.demo;
    if let Some(dir) = &args.extract {
        write_files(dir)?;
        let plan = dir.join("case.toml");
        writeln!(out, "{}: try `tilescope why {0} --embedded`", plan.display())?;
        return Ok(Exit::Ok);
    }
    let dir = tempfile::tempdir().context("a temporary directory")?;
    write_files(dir.path())?;
    let plan = LaunchPlan::read(&dir.path().join("case.toml"))?;
    let set = embedded_firmware()?;
    let diagnosis = diagnose(&set, &plan.launches, &why::setup(&args.machine, Vec::new()))?;
    why::show(&diagnosis.explanation, &args.output, out)?;
    Ok(why::exit(&diagnosis))
}

fn write_files(dir: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for (name, bytes) in demo::HANG {
        let path = dir.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
