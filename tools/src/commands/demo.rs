//! `tilescope demo`: built-in examples.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use firmware_tests::demo::{EXAMPLES, Example, Shows, by_name};
use loader::firmware::BootOptions;
use loader::names::LoadedNames;
use loader::session::{Outcome, Session};
use observe::{Line, Names as _, describe};
use sim_core::{AgentId, Event, Observer, Stamp};

use super::machine::MachineArgs;
use super::of_plan::records_of_plan;
use super::run::choose_firmware;
use super::source::Source;
use super::views::ViewArgs;
use super::why::{self, WhyArgs};
use crate::exit::Exit;
use crate::output::write_whole;

const LIST: &str = "\
Examples:
  tilescope demo hang                    a kernel that hangs, explained
  tilescope demo signal-before-data      one that comes out wrong, as a timeline
  tilescope demo hang --html hang.html   the same as a page
  tilescope demo hang --extract DIR      its plan, kernels and sources
";

/// Run a built-in example
///
/// Famous bugs of public kernels, each as small as it gets. Those that hang are explained; those that
/// only come out wrong are shown as a timeline: to name them, the order of two agents' accesses would
/// have to be judged, which is not done. The embedded firmware boots, unless another is named; all else is as
/// with `tilescope why`.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = LIST)]
pub struct DemoArgs {
    /// Which
    #[arg(value_parser = PossibleValuesParser::new(EXAMPLES.iter().map(|one| {
        clap::builder::PossibleValue::new(one.name).help(one.about)
    })))]
    pub demo: String,
    /// Write the example's plan, kernels and sources into this directory and stop
    #[arg(long, value_name = "DIR")]
    pub extract: Option<PathBuf>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: ViewArgs,
}

/// Runs an example.
///
/// # Errors
/// A file cannot be written.
pub fn run(args: &DemoArgs, out: &mut dyn Write) -> Result<Exit> {
    let example = by_name(&args.demo).context("clap knows the names")?;
    if let Some(dir) = &args.extract {
        write_files(example, dir)?;
        let plan = dir.join("case.toml");
        writeln!(out, "{}: try `tilescope why {0} --embedded`", plan.display())?;
        return Ok(Exit::Ok);
    }
    let dir = tempfile::tempdir().context("a temporary directory")?;
    write_files(example, dir.path())?;
    let plan = dir.path().join("case.toml");
    let DemoArgs { mut machine, output, .. } = args.clone();
    machine.embedded |= machine.firmware.is_none();
    match example.shows {
        Shows::Timeline(topics, ranges) if !output.forms.json && !output.wants_forms() => {
            let source = Source::of(Some(&plan), &[], &output, &machine, out)?;
            let exit = timeline(&machine, example, &source, (topics, ranges), out)?;
            records_of_plan(&source, &machine, &output, None, out)?;
            Ok(exit)
        }
        _ => why::run(&WhyArgs { plan: Some(plan), program: Vec::new(), machine, output }, out),
    }
}

fn write_files(example: &Example, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for (name, bytes) in example.files {
        let path = dir.join(name);
        write_whole(&path, bytes)?;
    }
    Ok(())
}

/// What kernels did, by topics.
struct Evidence {
    names: Rc<LoadedNames>,
    topics: &'static [&'static str],
    ranges: &'static [(u32, u32)],
    lines: Vec<Line>,
}

impl Observer for Evidence {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let core = match stamp.agent {
            AgentId::Core(core) => Some(core),
            AgentId::Thread(thread) => Some(thread.core()),
            AgentId::Host => return,
            _ => None,
        };
        if core.is_some_and(|core| !self.names.is_kernel(core, stamp.pc)) {
            return;
        }
        if let Event::L1Store { addr, .. } = event
            && !self.ranges.iter().any(|(start, end)| (start..end).contains(&addr))
        {
            return;
        }
        let line = describe(stamp, event, &self.names);
        self.lines.extend(line.filter(|line| self.topics.contains(&line.target.short_name())));
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.ranges.to_vec()
    }
}

fn timeline(
    machine: &MachineArgs,
    example: &Example,
    source: &Source,
    (topics, ranges): (&'static [&'static str], &'static [(u32, u32)]),
    out: &mut dyn Write,
) -> Result<Exit> {
    let launches = source.launches()?;
    let set = choose_firmware(machine, out)?;
    let names = Rc::new(LoadedNames::new(&set));
    let evidence = Evidence { names: Rc::clone(&names), topics, ranges, lines: Vec::new() };
    let options = BootOptions { logical: machine.logical, ..BootOptions::default() };
    let mut session = Session::stage(machine.tile_config(), &set, &options, evidence)?;
    let limit = machine.max_cycles;
    let mut exit = Exit::Ok;
    if let Outcome::Stopped(_) = session.run_to_done(limit) {
        exit = Exit::NoProgress;
    }
    for launch in &launches {
        names.set_kernels(&launch.kernels);
        if let Outcome::Stopped(_) = session.launch(launch, limit)? {
            exit = Exit::NoProgress;
        }
        let wrong = session.mismatches(&launch.expects);
        writeln!(out, "{}: {}\n", example.name, example.about)?;
        print(&session.tile.observer().lines, out)?;
        for byte in wrong.iter().take(4) {
            exit = Exit::WrongResult;
            writeln!(
                out,
                "L1 {:#x}: expected {:#x}, found {:#x}",
                byte.address, byte.expected, byte.found
            )?;
        }
    }
    writeln!(
        out,
        "\nNothing hangs, and no single step is wrong: the order is. No verdict is given; this is \
         what happened."
    )?;
    Ok(exit)
}

/// Runs of stores by one agent from one place become two lines.
fn print(lines: &[Line], out: &mut dyn Write) -> Result<()> {
    let same = |a: &Line, b: &Line| {
        a.target == b.target && a.agent == b.agent && a.pc == b.pc && a.target.short_name() == "l1"
    };
    for run in lines.chunk_by(same) {
        writeln!(out, "{}", run[0])?;
        if run.len() > 2 {
            writeln!(out, "{:>9} {} more like it", "", run.len() - 2)?;
        }
        if let [_, .., last] = run {
            writeln!(out, "{last}")?;
        }
    }
    writeln!(out)?;
    Ok(())
}
