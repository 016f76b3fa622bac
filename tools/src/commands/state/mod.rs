//! `tilescope state`: every register of the tile by name, at the end of a run or in its middle.
//!
//! Rooms: `select` which parts of the tree are asked for; `values` cells and words in a format;
//! `show` text; `object` JSON.

mod object;
mod select;
mod show;
mod values;

use std::ffi::OsString;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use session::survey::TileSeen;
use tensix::{CellFormat, Register};

use super::machine::{MachineArgs, OutputArgs};
use super::run::{Run, StageEnd};
use super::taped;
use super::views::{Source, forms_of_plan};
use crate::exit::Exit;
use crate::output::{counted, note};
use select::Selection;

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
    const fn format(self) -> Option<CellFormat> {
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

/// Boots, launches as far as asked, and shows the state.
///
/// # Errors
/// Host mistakes: a broken plan, no firmware, a pattern that matches nothing, a file that cannot be
/// written.
pub fn run(args: &StateArgs, out: &mut dyn Write) -> Result<Exit> {
    let StateArgs { plan, program, machine, output, .. } = args;
    if let Some(chip) = super::views::chip_plan(plan.as_deref(), program)? {
        return super::tiles::state(chip, args, out);
    }
    let source = Source::of(plan.as_deref(), program, &output.views, machine, out)?;
    if let Source::Tape(path) = &source {
        return taped::state(path, args, out);
    }
    let launches = source.launches()?;
    let count: usize = launches.iter().map(|launch| launch.repeat as usize).sum();
    let stop = args.after_launch.unwrap_or(count);
    if stop > count {
        let count = counted(count as u64, "launch", "launches");
        bail!("--after-launch {stop}: the plan has {count}, repetitions counted");
    }
    let mut run = Run::start(&args.machine, &args.output, out)?;
    if let Some(cycle) = args.at_cycle {
        run.stop_at(cycle);
    }
    let rounds = launches
        .iter()
        .flat_map(|launch| (0..launch.repeat).map(move |round| (launch, round)))
        .take(stop);
    let mut going = run.boot();
    for (launch, round) in rounds {
        if !going || run.reached_stop() {
            break;
        }
        going = run.launch(launch, round)?;
    }
    let stopped = run.reached_stop();
    let only_stopped =
        stopped && run.stages.last().is_some_and(|stage| matches!(stage.end, StageEnd::Limit));
    let exit = run.finish_with(&args.output, out, |run, out| show(args, run, stopped, out))?;
    forms_of_plan(&source, machine, &output.views, out)?;
    Ok(if only_stopped { Exit::Ok } else { exit })
}

fn show(args: &StateArgs, run: &mut Run, stopped: bool, out: &mut dyn Write) -> Result<()> {
    if let Some(cycle) = args.at_cycle.filter(|_| !stopped) {
        let now = run.tile().now();
        note(&format!("--at-cycle {cycle}: the run ended before, at cycle {now}"));
    }
    let tree = run.tile_mut().registers();
    let selection = Selection::new(args, &tree)?;
    if args.output.json() {
        object::write(run, &tree, &selection, out)
    } else {
        show::write(run, &tree, &selection, out)
    }
}

/// Writes the state of tiles of a chip: place, name and registers of each.
///
/// # Errors
/// A pattern matches nothing; the output cannot be written.
pub(super) fn show_tiles(
    args: &StateArgs,
    cycle: u64,
    verdict: &str,
    tiles: &[(&TileSeen, Register)],
    out: &mut dyn Write,
) -> Result<()> {
    if args.output.json() {
        return object::write_tiles(args, cycle, verdict, tiles, out);
    }
    writeln!(out, "{verdict} at cycle {cycle}")?;
    for (tile, tree) in tiles {
        let selection = Selection::new(args, tree)?;
        writeln!(out, "\n{}", tile.name())?;
        show::write_tree(tree, &selection, out)?;
    }
    if !args.all && args.show.is_empty() {
        writeln!(out, "\nWhat is zero is not shown (--all shows it).")?;
    }
    Ok(())
}

/// What these arguments select of a tree of registers, as the JSON object's `state`.
///
/// # Errors
/// A pattern matches nothing.
pub fn selected(args: &StateArgs, tree: &Register) -> Result<serde_json::Value> {
    let selection = Selection::new(args, tree)?;
    Ok(object::state(tree, &selection).into())
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
