//! A plan of one tile: its diagnosis, and what is asked for besides a command's own answer.

use std::io::{self, Write};

use anyhow::Result;
use loader::diagnose::{Diagnosis, Setup, diagnose_watched};
use loader::plan::Launch;
use observe::why::{End, Explanation, Judgement};
use session::{Positions, SessionError};

use super::forms::{WhyOutput, suppressed, write_form};
use super::machine::{MachineArgs, OutputArgs};
use super::progress::Rounds;
use super::run::{Run, choose_firmware};
use super::source::Source;
use super::views::ViewArgs;
use crate::exit::Exit;
use crate::interrupt::heed_interrupts;

/// Writes the explanation in every form that was asked for.
///
/// # Errors
/// Something cannot be written.
pub fn show(explanation: &Explanation, output: &WhyOutput, out: &mut dyn Write) -> Result<()> {
    write_files(explanation, output, out)?;
    if output.takes_stdout() {
        return Ok(());
    }
    if output.json {
        writeln!(out, "{}", serde_json::to_string_pretty(explanation)?)?;
    } else {
        write!(out, "{explanation}")?;
    }
    Ok(())
}

/// Writes the explanation into the files that were asked for.
///
/// # Errors
/// Something cannot be written.
pub(super) fn write_files(
    explanation: &Explanation,
    output: &WhyOutput,
    out: &mut dyn Write,
) -> Result<()> {
    write_form(&output.sarif, &|| format!("{:#}\n", explanation.sarif()), out)?;
    write_form(&output.dot, &|| explanation.dot(), out)?;
    write_form(&output.html, &|| explanation.html(), out)
}

/// What a diagnosis needs to know of the command line.
#[must_use]
pub fn setup(machine: &MachineArgs, suppressed: Vec<String>) -> Setup {
    Setup {
        config: machine.tile_config(),
        logical: machine.logical,
        max_cycles: machine.max_cycles,
        suppressed,
        stop: None,
    }
}

/// The exit status of an explained run.
#[must_use]
pub fn exit(diagnosis: &Diagnosis) -> Exit {
    match diagnosis.explanation.end {
        End::WrongResult => Exit::WrongResult,
        End::Done => Exit::Ok,
        End::Deadlock => Exit::Deadlock,
        End::HostWait | End::NoProgress | End::Halted => Exit::NoProgress,
        End::GuestError => Exit::Guest,
    }
}

/// Runs a plan and explains how it ends.
///
/// # Errors
/// Host mistakes, each in one line.
pub(super) fn diagnosis(
    source: &Source,
    machine: &MachineArgs,
    output: &WhyOutput,
    out: &mut dyn Write,
) -> Result<Diagnosis> {
    of_launches(&source.launches()?, machine, suppressed(output)?, out)
}

/// As [`diagnosis`], of launches of a plan.
///
/// # Errors
/// Host mistakes, each in one line.
pub(super) fn of_launches(
    launches: &[Launch],
    machine: &MachineArgs,
    suppressed: Vec<String>,
    out: &mut dyn Write,
) -> Result<Diagnosis> {
    let set = choose_firmware(machine, out)?;
    let mut rounds = Rounds::new(false);
    let mut watch = |launch: &Launch, round| rounds.begin(launch, round);
    let setup = Setup { stop: Some(heed_interrupts()), ..setup(machine, suppressed) };
    let diagnosis = diagnose_watched(&set, launches, &setup, &mut watch)?;
    rounds.clear();
    if diagnosis.interrupted {
        let noc = setup.config.coordinates;
        let stands = Positions::of_tile(machine.logical, noc, &diagnosis.explanation);
        return Err(SessionError::Stopped(Box::new(stands)).into());
    }
    Ok(diagnosis)
}

/// Writes what is asked for of a plan besides a command's own answer: the explanation in files.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn forms_of_plan(
    source: &Source,
    machine: &MachineArgs,
    views: &ViewArgs,
    out: &mut dyn Write,
) -> Result<()> {
    if views.wants_forms() {
        let diagnosis = diagnosis(source, machine, &views.forms, out)?;
        write_files(&diagnosis.explanation, &views.forms, out)?;
    }
    Ok(())
}

/// Writes what is asked for of a plan besides a command's own answer: what happened.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn records_of_plan(
    source: &Source,
    machine: &MachineArgs,
    views: &ViewArgs,
    judgement: Option<Judgement>,
    out: &mut dyn Write,
) -> Result<()> {
    if !views.records.any() {
        return Ok(());
    }
    let output = OutputArgs { views: views.only_records(), ..OutputArgs::default() };
    let launches = source.launches()?;
    let mut run = Run::start(machine, &output, out)?;
    run.judgement = judgement;
    if run.boot() {
        'all: for launch in &launches {
            for round in 0..launch.repeat {
                if !run.launch(launch, round)? {
                    break 'all;
                }
            }
        }
    }
    run.finish_with(&output, &mut io::sink(), |_, _| Ok(()))?;
    Ok(())
}
