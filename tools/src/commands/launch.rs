//! `tilescope launch`.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use loader::plan::{ChipPlan, Launch};
use observe::why::WrongWords;

use super::machine::{MachineArgs, OutputArgs};
use super::of_plan::{forms_of_plan, of_launches};
use super::report::finish;
use super::run::Run;
use super::source::{Source, chip_plan};
use super::taped;
use crate::exit::Exit;
use crate::output::counted;

const EXAMPLES: &str = r#"A plan is a TOML file; paths in it are relative to it:

  [[launch]]
  name = "add"
  mode = "host"                      # or "dev": firmware tells a dispatcher
  repeat = 1                         # times
  enables = ["brisc", "trisc"]       # default: the cores that have a kernel
  kernel_config_base = 0xA080        # default; kernels are linked above it
  noc = 0
  cb = [ { index = 0, address = 0x20000, size = 0x1000, num_pages = 4, page_size = 0x400 } ]
  semaphores = [ 0, 0 ]              # initial values, 16 bytes apart

  [launch.kernel.brisc]
  elf = "brisc.elf"                  # or: image = "brisc.bin", address = 0xB000
  args = [ 1, 2, 3 ]
  common_args = []

  [[launch.input]]
  address = 0x30000
  words = [ 1, 2 ]                   # or bytes_hex = "00ff", or file = "input.bin"

  [[launch.expect]]                  # exit status 5 when it does not hold
  address = 0x40000
  words = [ 7 ]

With one TRISC kernel all three are needed: firmware starts the TRISCs together.

Several tiles of a chip, started together; columns and rows of workers, from 0:

  [[launch]]
  name = "ring"
  tiles = [ [0, 0], [[1, 0], [3, 0]] ]   # a tile, and a rectangle with both corners
  semaphores = [ 0 ]

  [launch.kernel.brisc]                  # on all of them
  elf = "ring.elf"
  args = [ "noc_x(x + 1, y)", "noc_y(x + 1, y)", "sem(0)" ]

  [[launch.on]]                          # on some of them: what is given here takes the place of
  tiles = [ [3, 0] ]                     # the above; input and expect come in addition
  kernel.brisc.args = [ "noc_x(0, 0)", "noc_y(0, 0)", "sem(0)" ]

  [[launch.input]]
  dram = 0                               # a DRAM channel, 0 to 7; or tile = [1, 0], one tile's L1;
  address = 0x1000                       # else L1 of all tiles of the launch
  file = "input.bin"

  [[launch.meanwhile]]                   # what the host does once all have started, in order: one of
  wait = { tile = [0, 0], address = 0x30000, words = [ 1 ] }    # polls until it stands there
  [[launch.meanwhile]]
  write = { tile = [3, 0], address = 0x30000, words = [ 1 ] }
  [[launch.after]]                       # the same when all are done
  read = { dram = 0, address = 0x1000, bytes = 16 }             # shown
  [[launch.after]]
  cycles = 1000                          # lets time pass

An argument may be a text, worked out for each tile:

  noc_x(X, Y), noc_y(X, Y)   coordinates of a tile on the NoC, for get_noc_addr and its like
  noc(X, Y)                  both in one word, y << 6 | x
  noc(X0, Y0, X1, Y1)        corners of a multicast in one word, the first 12 bits higher
  dram_x(C), dram_y(C), dram(C)   the same of a DRAM channel
  sem(ID)                    L1 address of a semaphore of the launch
  x, y, index, count         column, row, place in `tiles` from 0, tiles of the launch

X and Y are numbers, or x or y of the tile itself with a number added or taken away: noc_x(x + 1, y).

Examples:
  tilescope launch KERNELS.toml
  tilescope launch KERNELS.toml --check        check the plan, run nothing
  tilescope launch KERNELS.toml --only add --trace-handshakes
  tilescope launch my.tstape --tiles 0,0 --perfetto t.pftrace
"#;

/// Boot firmware, then launch the kernels of a plan; or do what a host program did
///
/// Of a tape or a program: what was launched on which tile, and how it ended.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct LaunchArgs {
    /// The plan, a TOML file, or the tape or recording of a host program
    #[arg(value_name = "SESSION", required_unless_present = "program", conflicts_with = "program")]
    pub plan: Option<PathBuf>,
    /// A host program and its arguments: it is run as `tilescope run` does, and its tape is played
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// Check the plan and stop
    #[arg(long)]
    pub check: bool,
    /// Run only the launch of this name; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Boots, launches and reports.
///
/// # Errors
/// Host mistakes: a broken plan, no firmware, a file that cannot be written.
pub fn run(args: &LaunchArgs, out: &mut dyn Write) -> Result<Exit> {
    let LaunchArgs { plan, program, machine, output, .. } = args;
    if let Some(chip) = chip_plan(plan.as_deref(), program)? {
        return of_several(chip, args, out);
    }
    let source = Source::of(plan.as_deref(), program, &output.views, machine, out)?;
    if let Source::Tape(path) = &source {
        if args.check || !args.only.is_empty() {
            bail!("--check and --only are for plans: a tape is played as it is");
        }
        return taped::launch(path, output, out);
    }
    let mut launches = source.launches()?;
    if let Some(unknown) =
        args.only.iter().find(|name| !launches.iter().any(|launch| launch.name == **name))
    {
        let names: Vec<_> = launches.iter().map(|launch| launch.name.as_str()).collect();
        bail!("--only {unknown}: the plan has {}", names.join(", "));
    }
    if !args.only.is_empty() {
        launches.retain(|launch| args.only.contains(&launch.name));
    }
    if args.check {
        let count = counted(launches.len() as u64, "launch", "launches");
        let plan = plan.as_deref().unwrap_or(Path::new(""));
        writeln!(out, "{}: {count}, no mistake found", plan.display())?;
        return Ok(Exit::Ok);
    }
    let mut run = Run::start(machine, output, out)?;
    if run.boot() {
        'all: for launch in &launches {
            for round in 0..launch.repeat {
                if !run.launch(launch, round)? {
                    break 'all;
                }
            }
        }
    }
    let exit = finish(run, output, out)?;
    if matches!(exit, Exit::WrongResult) && !output.json() && !output.takes_stdout() {
        writers(&launches, machine, out)?;
    }
    forms_of_plan(&source, machine, &output.views, out)?;
    Ok(exit)
}

/// The first wrong words with who wrote each of them last, which another run tells.
fn writers(launches: &[Launch], machine: &MachineArgs, out: &mut dyn Write) -> Result<()> {
    let told = of_launches(launches, machine, Vec::new(), &mut std::io::sink())?;
    if let Some(wrong) = &told.explanation.wrong {
        let words = WrongWords { place: "L1", words: &wrong.words };
        write!(out, "\nwrong in {}\n{words}", wrong.launch)?;
    }
    Ok(())
}

/// Checks or launches a plan of several tiles.
fn of_several(mut plan: ChipPlan, args: &LaunchArgs, out: &mut dyn Write) -> Result<Exit> {
    let names: Vec<String> = plan.launches.iter().map(|launch| launch.name.clone()).collect();
    if let Some(unknown) = args.only.iter().find(|only| !names.contains(only)) {
        bail!("--only {unknown}: the plan has {}", names.join(", "));
    }
    if !args.only.is_empty() {
        plan.launches.retain(|launch| args.only.contains(&launch.name));
    }
    if !args.check {
        return super::tiles::launch(plan, args, out);
    }
    let count = counted(plan.launches.len() as u64, "launch", "launches");
    let tiles = counted(plan.tiles().len() as u64, "tile", "tiles");
    let path = args.plan.as_deref().unwrap_or(Path::new(""));
    writeln!(out, "{}: {count} on {tiles}, no mistake found", path.display())?;
    Ok(Exit::Ok)
}
