//! `tilescope launch`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use loader::plan::LaunchPlan;

use super::machine::{MachineArgs, OutputArgs};
use super::run::Run;
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

Examples:
  tilescope launch KERNELS.toml
  tilescope launch KERNELS.toml --check        check the plan, run nothing
  tilescope launch KERNELS.toml --only add --trace-handshakes
"#;

/// Boot firmware, then launch the kernels of a plan
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct LaunchArgs {
    /// The plan, a TOML file
    #[arg(value_name = "KERNELS.toml")]
    pub plan: PathBuf,
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
    let mut plan = LaunchPlan::read(&args.plan)?;
    if let Some(unknown) =
        args.only.iter().find(|name| !plan.launches.iter().any(|launch| launch.name == **name))
    {
        let names: Vec<_> = plan.launches.iter().map(|launch| launch.name.as_str()).collect();
        bail!("--only {unknown}: the plan has {}", names.join(", "));
    }
    if !args.only.is_empty() {
        plan.launches.retain(|launch| args.only.contains(&launch.name));
    }
    if args.check {
        let count = counted(plan.launches.len() as u64, "launch", "launches");
        writeln!(out, "{}: {count}, no mistake found", args.plan.display())?;
        return Ok(Exit::Ok);
    }
    let mut run = Run::start(&args.machine, &args.output, out)?;
    if run.boot() {
        for launch in &plan.launches {
            for round in 0..launch.repeat {
                if !run.launch(launch, round)? {
                    return run.finish(&args.output, out);
                }
            }
        }
    }
    run.finish(&args.output, out)
}
