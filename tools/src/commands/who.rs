//! `tilescope who`: who wrote something last, or writes it next.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use debugger::who::chain::follow;
use debugger::who::{What, last_before, next_after};
use debugger::{Machine, Moment};

use session::selection::Selection;
use sim_core::Cycle;

use super::machine::MachineArgs;
use super::recorded::Recorded;
use super::views::Select;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  tilescope who KERNELS.toml 0x1a000                 who stored to that word of L1 last
  tilescope who KERNELS.toml semaphore4 --at 20000   who changed it last before a cycle
  tilescope who KERNELS.toml cb0 --at 20000 --next   who pushes or pops next
  tilescope who KERNELS.toml 0x1a000 --depth 8       and where the value came from, step by step
  tilescope who KERNELS.toml dst:12.3                a cell of Dst; also srca0:5, lreg3, T1:r12
  tilescope who KERNELS.toml ALU_FORMAT_SPEC_REG0_SrcA   a configuration field by its name
  tilescope who KERNELS.toml TRISC1:0xffb00010       a word of a core's local RAM
  tilescope who KERNELS.toml BRISC:a0                a register of a core
  tilescope who my.tstape 0x1a000 --tile 3,1         of a tile of a host program
";

/// Say who wrote something last
///
/// Carries the session out, goes back to the last change, and says when it was, who did it and in which
/// line of the source.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct WhoArgs {
    /// A plan (a TOML file, see `tilescope launch --help`) or the tape or recording of a host program
    #[arg(value_name = "SESSION")]
    pub plan: PathBuf,
    /// What: an address of L1 or of a device register, semaphoreN, cbN, configN, a configuration field by its name
    /// (with @0, @1 or @T1), dst:ROW[.COLUMN] or dst32:, srca0:ROW[.COLUMN] or srca1:, srcb0:, srcb1:, lregN[.LANE],
    /// T1:rN (a GPR), CORE:ADDRESS or CORE:REGISTER
    #[arg(value_name = "WHAT")]
    pub what: What,
    /// Before that cycle instead of at the end
    #[arg(long, value_name = "CYCLE")]
    pub at: Option<u64>,
    /// Who writes it next instead, from that cycle on
    #[arg(long, requires = "at")]
    pub next: bool,
    /// Then where the value came from, so many steps back: through stores, loads, arithmetic, the NoC, unpacking
    /// and packing
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "next")]
    pub depth: usize,
    /// The tile that is meant, by its column and row; else the first busy one
    #[arg(long, value_name = "X,Y")]
    pub tile: Option<Selection>,
    /// Of a tape: directory with ELF files of its kernels, looked up by content; may be repeated
    #[arg(long, value_name = "DIR")]
    pub elf: Vec<PathBuf>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Answers.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &WhoArgs, out: &mut dyn Write) -> Result<Exit> {
    // A value may have come from any other tile.
    let tiles = if args.depth == 0 { args.tile.clone() } else { None };
    let select = Select { tiles, elf: args.elf.clone(), threads: None };
    let recorded = Recorded::of(Some(&args.plan), &[], &args.machine, &select, out)?;
    let machines = recorded.machines()?;
    let is_meant = |machine: &Machine| {
        args.tile.as_ref().is_none_or(|tile| tile.has(machine.recording().place, false))
    };
    let Some(tile) = machines.iter().position(is_meant) else {
        bail!("--tile: that tile is not busy, and a value is followed over busy tiles");
    };
    let machine = &machines[tile];
    let at = Moment::at(args.at.map_or(machine.end().cycle, Cycle));
    if args.depth > 0 {
        let all: Vec<&Machine> = machines.iter().collect();
        let links = follow(&all, tile, args.what, at, args.depth);
        for link in links.context(NO_MEMORY)? {
            write!(out, "{}", link.text(&all, &recorded.naming))?;
        }
        return Ok(Exit::Ok);
    }
    let ask = if args.next { next_after } else { last_before };
    match ask(machine, args.what, at).context(NO_MEMORY)? {
        Some(written) => {
            let names = recorded.naming.at(machine.recording().stage_at(written.cycle));
            writeln!(out, "{}", written.with_names(&*names))?;
        }
        None => writeln!(out, "nobody")?,
    }
    Ok(Exit::Ok)
}

const NO_MEMORY: &str = "no memory for a tile";
