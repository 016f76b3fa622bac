//! `tilescope boot`.

use std::io::Write;

use anyhow::Result;
use clap::Args;

use super::machine::{MachineArgs, OutputArgs};
use super::of_plan::forms_of_plan;
use super::report::finish;
use super::run::Run;
use super::source::Source;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  tilescope boot                               the cached set with most banks
  tilescope boot --embedded                    tilescope's own firmware, nothing to download
  tilescope boot --firmware 7/140 --json       one JSON object
  tilescope boot --trace-handshakes            every handshake, with names and source lines
  tilescope boot --log go,reset                only these topics
  tilescope boot --instructions boot.log --cores brisc
  tilescope boot --firmware my/fw --dump 0x60:64  own firmware, then the start of the mailbox
";

/// Boot firmware on a tile until it reports done
///
/// The firmware's five images are staged in L1, BRISC is released from reset, and the tile runs
/// until the go signal reads DONE (or until a deadlock is proved, or a limit is reached).
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct BootArgs {
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Boots and reports.
///
/// # Errors
/// Host mistakes: no firmware, a broken image, a file that cannot be written.
pub fn run(args: &BootArgs, out: &mut dyn Write) -> Result<Exit> {
    let BootArgs { machine, output } = args;
    let source = Source::of(None, &[], &output.views, machine, out)?;
    let mut run = Run::start(machine, output, out)?;
    run.boot();
    let exit = finish(run, output, out)?;
    forms_of_plan(&source, machine, &output.views, out)?;
    Ok(exit)
}
