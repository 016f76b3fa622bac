//! The command line: what can be asked, and what each command does.
//!
//! Every command writes its answer to the writer it is given and returns how it went; errors
//! travel as one line and are printed in one place, `main`.

pub mod allow;
mod asked;
#[cfg(feature = "debug")]
pub mod bisect;
pub mod boot;
#[cfg(feature = "debug")]
pub mod debug;
pub mod demo;
pub mod disasm;
pub mod doctor;
mod dump;
pub mod env;
mod files;
pub mod firmware;
mod forms;
pub mod launch;
pub mod live;
pub mod log;
pub mod machine;
pub mod of_plan;
pub mod pack;
pub mod progress;
pub mod record;
#[cfg(feature = "debug")]
mod recorded;
pub mod regs;
pub mod replay;
pub mod report;
pub mod run;
pub mod serve;
mod shares;
#[cfg(feature = "shell")]
pub mod shell;
pub mod sim;
pub mod sinks;
pub mod soc;
pub mod source;
pub mod stalls;
pub mod state;
mod tape_sinks;
pub mod taped;
pub mod tiles;
pub mod tui;
pub mod views;
mod waits;
#[cfg(feature = "debug")]
pub mod who;
pub mod why;

use clap::{Parser, Subcommand};

use crate::exit::EXIT_HELP;

const ABOUT: &str = "See what a Tensix tile does: boot firmware, launch kernels, explain hangs.";

const EXAMPLES: &str = "\
Examples:
  tilescope firmware fetch                 get the vendor's firmware with your own pip, once
  tilescope boot                           boot it until the tile reports done
  tilescope boot --trace-handshakes        the same, printing every handshake
  tilescope launch KERNELS.toml            boot, then launch the kernels of a plan
  tilescope state KERNELS.toml             the same, then every register by name
  tilescope why KERNELS.toml               why it hangs, down to the source line
  tilescope debug KERNELS.toml             gdb for all cores, forwards and backwards
  tilescope who KERNELS.toml 0x1a000       who wrote that word last
  tilescope bisect KERNELS.toml --expect nan   when Dst has a NaN for the first time
  tilescope tui KERNELS.toml               look at it while it runs
  tilescope report KERNELS.toml            where the cycles went
  tilescope demo hang                      a kernel that hangs, explained
  tilescope disasm kernel.elf              disassemble, Tensix instructions included
  tilescope regs SOFT_RESET_0              what a register is, and who can see it
  tilescope run -- PROGRAM                 a host program on the simulated chip; why, if it hangs
  tilescope doctor                         is all there that host programs need?
  tilescope sim install ~/sim              the chip as a library for ttnn, tt-metal, tt-exalens
  tilescope record -o a.rec -- PROGRAM     record what a host program does to a chip
  tilescope replay a.rec                   do the same again, and compare every read
";

/// See what a Tensix tile does.
#[derive(Parser, Debug)]
#[command(name = "tilescope", version, about = ABOUT, subcommand_required = true)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Use --help for examples and exit codes.")]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_HELP}"))]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be asked.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Boot firmware on a tile until it reports done
    Boot(boot::BootArgs),
    /// Boot firmware, then launch the kernels of a plan
    Launch(launch::LaunchArgs),
    /// Boot and launch, then show registers by name
    State(state::args::StateArgs),
    /// Run a plan and explain how it ends: why it hangs, down to the source line
    Why(why::WhyArgs),
    /// Run a plan and say where the cycles went, per core, thread, reason and source line
    Report(stalls::StallArgs),
    /// Look at a tile while it runs: cores, gates, semaphores, buffers, mailboxes
    #[cfg(feature = "tui")]
    Tui(tui::TuiArgs),
    /// Debug a session with gdb, forwards and backwards
    #[cfg(feature = "debug")]
    Debug(debug::DebugArgs),
    /// Say who wrote something last: a word of L1, a cell of Dst, a semaphore, a register
    #[cfg(feature = "debug")]
    Who(who::WhoArgs),
    /// Say when something holds for the first time, or when two sessions begin to differ
    #[cfg(feature = "debug")]
    Bisect(bisect::BisectArgs),
    /// Built-in examples: famous bugs, explained or shown
    Demo(demo::DemoArgs),
    /// Get, list and check the vendor's firmware
    Firmware(firmware::FirmwareArgs),
    /// Disassemble an ELF file, a flat image or single words
    Disasm(disasm::DisasmArgs),
    /// Explain addresses, registers, configuration fields, CSRs and instructions
    Regs(regs::RegsArgs),
    /// Run a host program on the simulated chip, and say why if it hangs
    Run(live::LiveArgs),
    /// Put into a tape what explains it on another machine
    Pack(pack::PackArgs),
    /// Print what a shell needs for host programs to find the simulated chip
    Env(env::EnvArgs),
    /// Look whether all is there that host programs need, and say how to mend it
    Doctor(doctor::DoctorArgs),
    /// Replay recorded host sessions and compare every read
    Replay(replay::ReplayArgs),
    /// Run a host program and record what it does to the chip
    Record(record::RecordArgs),
    /// Install the chip as a library for host software
    Sim(sim::SimArgs),
    /// Step through a plan or a tape from another program: what the Python module is written over
    Serve(serve::ServeArgs),
    /// Print completions for a shell
    #[cfg(feature = "shell")]
    Completions(shell::CompletionsArgs),
    /// Write man pages into a directory
    #[cfg(feature = "shell")]
    Man(shell::ManArgs),
}

/// Whether a text is meant as a number: then a wrong one is a mistake, not a name.
#[must_use]
pub fn looks_numeric(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// A pair of small numbers as people write it, `X,Y`.
///
/// # Errors
/// One line when it is none.
pub fn parse_xy(text: &str) -> Result<(u8, u8), String> {
    let fail = || format!("{text:?} is not X,Y with numbers below 256");
    let (x, y) = text.split_once(',').ok_or_else(fail)?;
    Ok((x.trim().parse().map_err(|_| fail())?, y.trim().parse().map_err(|_| fail())?))
}

/// A number as people write it: decimal, or hexadecimal with `0x`; `_` may group digits.
///
/// # Errors
/// One line when it is not a 32-bit number.
pub fn parse_u32(text: &str) -> Result<u32, String> {
    let plain = text.replace('_', "");
    let hex = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
    let value = hex.map_or_else(|| plain.parse(), |digits| u32::from_str_radix(digits, 16));
    value.map_err(|_| format!("{text:?} is not a 32-bit number (decimal, or hexadecimal with 0x)"))
}
