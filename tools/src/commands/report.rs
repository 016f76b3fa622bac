//! What a run has come to, as text and as JSON.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use observe::Names;
use serde_json::{Value, json};
use sim_core::{AgentId, CoreId, GuestError, Width};
use tile::{AgentWait, Quiescence};

use super::machine::OutputArgs;
use super::run::{Run, Stage, StageEnd};
use super::waits::{l1_name, place, wait_text};
use crate::exit::Exit;

/// Mismatching bytes shown per launch.
const MISMATCHES_SHOWN: usize = 8;

fn quiescence_text(names: &dyn Names, quiescence: &Quiescence, out: &mut dyn Write) -> Result<()> {
    if let Some(host) = &quiescence.host {
        let name = l1_name(names, host.addr);
        writeln!(out, "  host      waits for {name} = {:#x}", host.value)?;
    }
    for wait in &quiescence.waits {
        let mark = if wait.stuck { '*' } else { ' ' };
        writeln!(out, "{mark} {}", wait_text(names, wait))?;
    }
    let stuck: Vec<_> = quiescence.waits.iter().filter(|wait| wait.stuck).collect();
    if !stuck.is_empty() {
        writeln!(out, "  * can never move again: it waits only for others that are marked")?;
    }
    Ok(())
}

fn fault_text(names: &dyn Names, fault: &GuestError, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "error[{}]: {}", fault.id, fault.message)?;
    let at = place(names, fault.at.agent, fault.at.pc);
    writeln!(out, "  --> {}, cycle {}{at}", fault.at.agent, fault.at.cycle)?;
    if let Some(word) = fault.at.word {
        let text = match fault.at.agent {
            AgentId::Core(_) => isa::disasm::rv32(word, fault.at.pc.unwrap_or(0)),
            _ => isa::disasm::tensix(word),
        };
        writeln!(out, "   = instruction {word:#010x}: {text}")?;
    }
    let kind = if fault.category.is_guest_fault() {
        "the guest's doing"
    } else {
        "not simulated; the guest may be right"
    };
    writeln!(out, "   = {} ({kind})", fault.category)?;
    if let Ok(check) = tensix::Check::by_id(fault.id) {
        let lowered = check.row().lowered;
        writeln!(out, "   = --warn {} makes it a warning; then: {lowered}", fault.id)?;
    }
    Ok(())
}

fn stage_text(run: &Run, stage: &Stage, out: &mut dyn Write) -> Result<()> {
    let cycles = stage.ended - stage.began;
    let verdict = stage.end.verdict();
    writeln!(out, "{:<12} {verdict} at cycle {}, {cycles} cycles", stage.name, stage.ended)?;
    let names: &dyn Names = &*run.names;
    match &stage.end {
        StageEnd::Done => {}
        StageEnd::Wrong(wrong) => {
            for byte in wrong.iter().take(MISMATCHES_SHOWN) {
                writeln!(
                    out,
                    "  L1 {:#x}: expected {:#04x}, found {:#04x}",
                    byte.address, byte.expected, byte.found
                )?;
            }
            if wrong.len() > MISMATCHES_SHOWN {
                let more = wrong.len() - MISMATCHES_SHOWN;
                writeln!(out, "  and {more} bytes more")?;
            }
        }
        StageEnd::Quiescent(quiescence) => quiescence_text(names, quiescence, out)?,
        StageEnd::Fault(fault) => fault_text(names, fault, out)?,
        StageEnd::Limit | StageEnd::Interrupted => {
            let why = match stage.end {
                StageEnd::Limit => "the cycle limit was reached",
                _ => "interrupted",
            };
            writeln!(out, "  {why}; still busy or waiting:")?;
            let (tile, waits) = (run.tile(), run.tile().waits());
            for wait in &waits {
                writeln!(out, "  {}", wait_text(names, wait))?;
            }
            for core in CoreId::ALL.into_iter().filter(|&core| !tile.is_dead(core)) {
                let agent = AgentId::Core(core);
                if waits.iter().all(|wait| wait.agent != agent) {
                    let at = place(names, agent, Some(tile.core(core).pc()));
                    writeln!(out, "  {:<9} runs{at}", agent.to_string())?;
                }
            }
        }
        StageEnd::Halted(core) => {
            let pc = run.tile().core(*core).pc();
            writeln!(out, "  {core} halted{}", place(names, AgentId::Core(*core), Some(pc)))?;
        }
    }
    Ok(())
}

/// The last component of a set's directory: a report reads the same wherever the set lies.
fn short_name(name: &str) -> &str {
    Path::new(name).file_name().and_then(|last| last.to_str()).unwrap_or(name)
}

/// The readable report.
///
/// # Errors
/// The output cannot be written.
pub fn text(run: &mut Run, out: &mut dyn Write) -> Result<()> {
    let (set, info) = &run.firmware;
    let config = run.tile().config();
    let banks = match (info.dram_banks, info.l1_banks) {
        (Some(dram), Some(l1)) => format!(" ({dram} DRAM banks, {l1} L1 banks)"),
        _ => String::new(),
    };
    writeln!(out, "firmware     {}{banks}", short_name(&set.name))?;
    writeln!(
        out,
        "tile         engine {}, {} cycles per epoch",
        config.engine.resolve().name(),
        config.epoch.cycles()
    )?;
    for stage in &run.stages {
        stage_text(run, stage, out)?;
    }
    for warning in run.tile().warnings() {
        let at = place(&*run.names, warning.at.agent, warning.at.pc);
        writeln!(out, "warning[{}]: {}", warning.id, warning.message)?;
        writeln!(out, "  --> {}, cycle {}{at}", warning.at.agent, warning.at.cycle)?;
        if let Ok(check) = tensix::Check::by_id(warning.id) {
            writeln!(out, "   = {}, lowered: {}", warning.category, check.row().lowered)?;
        }
    }
    let waits = run.tile().waits();
    writeln!(out)?;
    write!(out, "{}", run.tile().observer().1.0)?;
    writeln!(out)?;
    let instructions = run.tile_mut().instructions();
    writeln!(out, "core       instructions  now")?;
    for (id, count) in CoreId::ALL.into_iter().zip(instructions) {
        let wait = waits.iter().find(|wait| wait.agent == AgentId::Core(id));
        let now = match wait {
            Some(wait) => {
                let text = wait_text(&*run.names, wait);
                text.get(10..).unwrap_or(&text).to_owned()
            }
            None => {
                let core = run.tile().core(id);
                let state = format!("{:?}", core.status()).to_lowercase();
                format!("{state}{}", place(&*run.names, AgentId::Core(id), Some(core.pc())))
            }
        };
        writeln!(out, "{:<10} {count:>12}  {now}", id.name())?;
    }
    writeln!(out)?;
    let cycles = run.tile().now().0;
    writeln!(
        out,
        "{cycles} cycles in {:.1} ms; event hash {:016x}, state hash {:016x}",
        run.seconds * 1e3,
        run.tile().observer().0.hash(),
        run.tile_mut().state_hash()
    )?;
    Ok(())
}

fn wait_json(names: &dyn Names, wait: &AgentWait) -> Value {
    json!({
        "agent": wait.agent.to_string(),
        "text": wait_text(names, wait).get(10..).unwrap_or_default(),
        "since": wait.since.map(|cycle| cycle.0),
        "pc": wait.pc,
        "code": match wait.agent {
            AgentId::Core(core) => wait.pc.and_then(|pc| names.code(core, pc)),
            _ => None,
        },
        "word": wait.word,
        "held": wait.held.map(|held| json!({ "word": held.word, "pc": held.pc })),
        "reads": wait.reads.iter().map(|load| json!({
            "address": load.addr, "value": load.value, "device": load.device,
        })).collect::<Vec<_>>(),
        "stuck": wait.stuck,
    })
}

fn stage_json(run: &Run, stage: &Stage) -> Value {
    let names: &dyn Names = &*run.names;
    let mut value = json!({
        "name": stage.name,
        "verdict": stage.end.verdict(),
        "began": stage.began,
        "ended": stage.ended,
        "cycles": stage.ended - stage.began,
    });
    match &stage.end {
        StageEnd::Fault(fault) => {
            value["error"] = json!({
                "category": fault.category.name(),
                "id": fault.id,
                "message": fault.message,
                "cycle": fault.at.cycle.0,
                "agent": fault.at.agent.to_string(),
                "pc": fault.at.pc,
                "word": fault.at.word,
                "code": match fault.at.agent {
                    AgentId::Core(core) => fault.at.pc.and_then(|pc| names.code(core, pc)),
                    AgentId::Thread(thread) => {
                        fault.at.pc.and_then(|pc| names.code(thread.core(), pc))
                    }
                    _ => None,
                },
            });
        }
        StageEnd::Quiescent(quiescence) => {
            value["waits"] = quiescence.waits.iter().map(|wait| wait_json(names, wait)).collect();
        }
        StageEnd::Limit | StageEnd::Interrupted => {
            value["waits"] = run.tile().waits().iter().map(|wait| wait_json(names, wait)).collect();
        }
        StageEnd::Wrong(wrong) => {
            value["mismatches"] = wrong
                .iter()
                .map(|byte| {
                    json!({ "address": byte.address, "expected": byte.expected,
                            "found": byte.found })
                })
                .collect();
        }
        StageEnd::Done | StageEnd::Halted(_) => {}
    }
    value
}

/// The JSON object.
///
/// # Errors
/// The output cannot be written.
pub fn json(run: &mut Run, out: &mut dyn Write) -> Result<()> {
    let instructions = run.tile_mut().instructions();
    let state_hash = run.tile_mut().state_hash();
    let per_core: serde_json::Map<String, Value> = CoreId::ALL
        .into_iter()
        .zip(instructions)
        .map(|(id, count)| (id.name().to_lowercase(), json!(count)))
        .collect();
    let tile = run.tile();
    let (set, info) = &run.firmware;
    let verdict = run.stages.last().map_or("DONE", |stage| stage.end.verdict());
    let value = json!({
        "verdict": verdict,
        "cycles": tile.now().0,
        "instructions": per_core,
        "go_signal": tile.l1_value(loader::session::GO_SIGNAL, Width::Byte),
        "event_hash": format!("{:016x}", tile.observer().0.hash()),
        "state_hash": format!("{state_hash:016x}"),
        "events": tile.observer().0.count(),
        "engine": tile.config().engine.resolve().name(),
        "epoch": tile.config().epoch.cycles(),
        "firmware": {
            "name": short_name(&set.name),
            "dram_banks": info.dram_banks,
            "l1_banks": info.l1_banks,
        },
        "stages": run.stages.iter().map(|stage| stage_json(run, stage)).collect::<Vec<_>>(),
        "warnings": tile.warnings().iter().map(|warning| json!({
            "id": warning.id,
            "category": warning.category.name(),
            "message": warning.message,
            "cycle": warning.at.cycle.0,
            "agent": warning.at.agent.to_string(),
            "pc": warning.at.pc,
            "word": warning.at.word,
        })).collect::<Vec<_>>(),
        "summary": tile.observer().1.0.report(),
        "host_seconds": run.seconds,
    });
    writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
    Ok(())
}

/// Ends a run with the report in the form that is asked for, and gives the exit status of its last stage.
///
/// # Errors
/// The output cannot be written.
pub fn finish(run: Run, output: &OutputArgs, out: &mut dyn Write) -> Result<Exit> {
    run.finish_with(
        output,
        out,
        |run, out| if output.json() { json(run, out) } else { text(run, out) },
    )
}
