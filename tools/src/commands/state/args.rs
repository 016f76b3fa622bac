//! What is asked of a state.

use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tensix::CellFormat;

use crate::commands::machine::{MachineArgs, OutputArgs};

const EXAMPLES: &str = "\
Names are paths with dots: core.brisc.pc, mailbox.brisc_to_trisc0, pcbuf.T1, noc0.NIU_MST_RD_REQ_SENT,
tensix.adc.T0.unpacker0.channel1.y, tensix.config.state0.ALU_FORMAT_SPEC_REG2_Dstacc,
tensix.src.a.bank0, tensix.dst.rows16, tensix.vector.lreg3, tensix.sync.semaphore4.value ...
A pattern matches whole parts of a path anywhere in it, in either case; `*` stands for anything.
docs/state.md lists the groups and describes the JSON object.

Examples:
  tilescope state                                        after a boot
  tilescope state KERNELS.toml                           when the launches are done, or hang
  tilescope state KERNELS.toml --show dst --rows 0..8    rows of Dst, in the format in force
  tilescope state KERNELS.toml --show 'lreg*' --format fp32
  tilescope state KERNELS.toml --show adc.T1 --show 'semaphore*'
  tilescope state KERNELS.toml --at-cycle 20000 --json
  tilescope state KERNELS.toml --after-launch 1 --show config.state0 --all
  tilescope state my.tstape --tiles 0,0 --show core       of a program, at its end
";

/// How cells and vector registers are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum FormatChoice {
    /// Cells in the format that the configuration speaks of, words in hexadecimal
    #[default]
    Auto,
    /// Bits as stored
    Raw,
    /// FP32 (Dst as words)
    Fp32,
    /// TF32 (Dst as words)
    Tf32,
    /// BF16 (Dst as half-words)
    Bf16,
    /// FP16 (Dst as half-words)
    Fp16,
    /// Sign and magnitude in the mantissa of an FP16 (Dst as half-words)
    Int8,
    /// 16-bit integers (Dst as half-words)
    Int16,
    /// 32-bit integers (Dst as words)
    Int32,
}

impl FormatChoice {
    /// The format asked for; none if each part is to be shown in its own.
    pub(super) const fn format(self) -> Option<CellFormat> {
        Some(match self {
            Self::Auto => return None,
            Self::Raw => CellFormat::Raw,
            Self::Fp32 => CellFormat::Fp32,
            Self::Tf32 => CellFormat::Tf32,
            Self::Bf16 => CellFormat::Bf16,
            Self::Fp16 => CellFormat::Fp16,
            Self::Int8 => CellFormat::Int8,
            Self::Int16 => CellFormat::Int16,
            Self::Int32 => CellFormat::Int32,
        })
    }
}

/// Show registers by name
///
/// Firmware boots, the launches of the plan follow, and the state is shown when all is done, when
/// nothing moves any more, or when and where the options say.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct StateArgs {
    /// The plan, a TOML file (see `tilescope launch --help`), or the tape or recording of a host program;
    /// without it firmware only boots
    #[arg(value_name = "SESSION", conflicts_with = "program")]
    pub plan: Option<PathBuf>,
    /// A host program and its arguments: it is run as `tilescope run` does, and its tape is asked
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// Stop at this cycle since power-on, rounded up to an epoch (`--epoch 1` is exact); of a tape, after the
    /// call of the host that comes to it
    #[arg(long, value_name = "CYCLE", conflicts_with = "after_launch")]
    pub at_cycle: Option<u64>,
    /// Stop after that many launches, repetitions counted; 0 is after the boot
    #[arg(long, value_name = "COUNT")]
    pub after_launch: Option<usize>,
    /// Show only what matches; may be repeated [default: all that is not zero]
    #[arg(long, value_name = "PATTERN")]
    pub show: Vec<String>,
    /// Show zeros too
    #[arg(long)]
    pub all: bool,
    /// How cells of SrcA, SrcB and Dst, vector registers and GPRs are shown
    #[arg(long, value_enum, default_value_t)]
    pub format: FormatChoice,
    /// Rows of SrcA, SrcB and Dst [default: those that are not zero]
    #[arg(long, value_name = "A..B", value_parser = parse_span)]
    pub rows: Option<Range<u32>>,
    /// Columns of SrcA, SrcB and Dst
    #[arg(long, value_name = "A..B", value_parser = parse_span, default_value = "0..16")]
    pub columns: Range<u32>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `A..B` with A below B, or one number.
fn parse_span(text: &str) -> Result<Range<u32>, String> {
    let fail = || format!("{text:?} is not A..B with A below B, nor a number");
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| fail());
    let (start, end) = match text.split_once("..") {
        Some((start, end)) => (number(start)?, number(end)?),
        None => (number(text)?, number(text)?.saturating_add(1)),
    };
    if start < end { Ok(start..end) } else { Err(fail()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_half_open_and_never_empty() {
        assert_eq!(parse_span("4..8"), Ok(4..8));
        assert_eq!(parse_span("7"), Ok(7..8));
        assert_eq!(parse_span("0..0").ok(), None);
        assert_eq!(parse_span("8..4").ok(), None);
        assert_eq!(parse_span("4294967295").ok(), None);
        assert_eq!(parse_span("x..3").ok(), None);
    }
}
