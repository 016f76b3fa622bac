//! Arguments of `tilescope boot`.

use clap::Args;

use super::machine::{MachineArgs, OutputArgs};

const EXAMPLES: &str = "\
Examples:
  tilescope boot                                  the cached set with most banks
  tilescope boot --firmware 7/140 --log -         with every handshake on the screen
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
    /// Run this many cycles more after firmware reported done
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub then_cycles: u64,
}
