//! Every bare program under `programs/bare`, without firmware: its words, and how it ends.
//! Expected values: derived by hand in each source and `case.toml`.

mod common;

use std::path::Path;

use common::{
    ALL_HELD, RESET_BITS, RESET_PCS, Results, SOFT_RESET_0, assert_only_expected_failures,
    case_paths, on, record,
};
use firmware_tests::cases::{self, BareCase, VerdictKind};
use sim_core::engine::EngineKind;
use sim_core::{AgentId, CoreId, Cycle, GuestError, ThreadId, WaitReason, Width};
use symbols::image::Image;
use tensix::TimingModel;
use tile::{Quiescence, Stop, Tile, TileConfig, Verdict};

/// Cases that cannot work yet, and words of their report. One that passes fails the test.
const EXPECTED_FAILURES: &[(&str, &str)] = &[];

/// Loads the case's programs and inputs and releases the cores.
fn stage(case: &BareCase, folder: &Path, config: TileConfig) -> Tile {
    let mut tile = Tile::new(config, sim_core::NullObserver).expect("the host can start threads");
    let mut held = ALL_HELD;
    for program in &case.core {
        let core = core_id(&program.core);
        assert_eq!(program.address, RESET_PCS[core.index()], "{}: reset PC", case.name);
        let image = Image::read_elf(&folder.join(&program.elf)).expect("the ELF is usable");
        for segment in image.loadable() {
            tile.host_write(segment.addr, &segment.bytes).expect("L1 is mapped");
        }
        if program.released {
            held &= !RESET_BITS[core.index()];
        }
    }
    for input in &case.input {
        let bytes = input.bytes(folder).expect("the input is readable");
        tile.host_write(input.address, &bytes).expect("L1 is mapped");
    }
    tile.host_write_word(SOFT_RESET_0, held).expect("the register is mapped");
    tile
}

fn core_id(name: &str) -> CoreId {
    CoreId::from_name(name).unwrap_or_else(|| panic!("{name} is no core"))
}

/// The agent that a case file calls `trisc0` or `thread0`.
fn agent(name: &str) -> AgentId {
    match name.strip_prefix("thread").and_then(|index| index.parse::<usize>().ok()) {
        Some(index) => AgentId::Thread(ThreadId::ALL[index]),
        None => AgentId::Core(core_id(name)),
    }
}

fn blocked(case: &BareCase) -> Vec<AgentId> {
    let mut agents: Vec<AgentId> = case.verdict.blocked.iter().map(|name| agent(name)).collect();
    agents.sort_by_key(|agent| agent.code());
    agents
}

fn check_words(case: &BareCase, tile: &Tile) -> Result<(), String> {
    for expect in &case.expect {
        for (address, &want) in (expect.address..).step_by(4).zip(&expect.words) {
            let got = tile.l1_value(address, Width::Word);
            if got != want {
                return Err(format!("L1 {address:#x}: {got:#x} instead of {want:#x}"));
            }
        }
    }
    Ok(())
}

fn check_done(case: &BareCase, end: &Quiescence) -> Result<(), String> {
    let released = case.core.iter().filter(|core| core.released).count();
    let ended = end.waits.iter().filter(|wait| wait.reason == WaitReason::Ended).count();
    let all = end.verdict == Verdict::HostWait && ended >= released && ended == end.waits.len();
    if all { Ok(()) } else { Err(format!("not all have ended: {end:?}")) }
}

fn check_deadlock(case: &BareCase, end: &Quiescence) -> Result<(), String> {
    let mut stuck: Vec<AgentId> =
        end.waits.iter().filter(|wait| wait.stuck).map(|wait| wait.agent).collect();
    stuck.sort_by_key(|agent| agent.code());
    if end.verdict == Verdict::Deadlock && stuck == blocked(case) {
        Ok(())
    } else {
        Err(format!("{} with {stuck:?} stuck: {end:?}", end.verdict.name()))
    }
}

/// The mistake is the guest's, of the named core, at an instruction of its program.
fn check_fault(case: &BareCase, folder: &Path, fault: &GuestError) -> Result<(), String> {
    let program = &case.core[0];
    let image = Image::read_elf(&folder.join(&program.elf)).expect("the ELF is usable");
    let inside = |pc: u32| {
        image
            .loadable()
            .any(|segment| segment.addr <= pc && pc - segment.addr < segment.bytes.len() as u32)
    };
    let placed = fault.at.pc.is_some_and(inside);
    if blocked(case) == [fault.at.agent] && fault.category.is_guest_fault() && placed {
        Ok(())
    } else {
        Err(format!("not its mistake: {fault}"))
    }
}

/// With a debugger the core halts; without one this is diagnosed.
fn check_halt(case: &BareCase, stop: &Stop, debugger: bool) -> Result<(), String> {
    let right = match stop {
        Stop::Halted(core) => debugger && blocked(case) == [AgentId::Core(*core)],
        Stop::Fault(fault) => {
            !debugger && fault.id == "ebreak-without-debugger" && blocked(case) == [fault.at.agent]
        }
        _ => false,
    };
    if right { Ok(()) } else { Err(format!("no halt: {stop:?}")) }
}

fn check_host_wait(end: &Quiescence) -> Result<(), String> {
    let spins = end.waits.iter().any(|wait| wait.reason == WaitReason::Spin);
    if end.verdict == Verdict::HostWait && spins && end.waits.iter().all(|wait| !wait.stuck) {
        Ok(())
    } else {
        Err(format!("not the host's turn: {end:?}"))
    }
}

fn run(case: &BareCase, folder: &Path, config: TileConfig) -> Result<(), String> {
    let mut tile = stage(case, folder, config);
    let stop = tile.run(Cycle(case.limit), None);
    let words = check_words(case, &tile);
    let end = match (case.verdict.kind, &stop) {
        (VerdictKind::Done, Stop::Quiescent(end)) => check_done(case, end),
        (VerdictKind::Deadlock, Stop::Quiescent(end)) => check_deadlock(case, end),
        (VerdictKind::HostWait, Stop::Quiescent(end)) => check_host_wait(end),
        (VerdictKind::Fault, Stop::Fault(fault)) => check_fault(case, folder, fault),
        (VerdictKind::Halt, stop) => check_halt(case, stop, config.debugger),
        (kind, stop) => Err(format!("{kind:?} expected: {stop:?}")),
    };
    match (words, end) {
        (Ok(()), Ok(())) => Ok(()),
        (words, end) => {
            Err([words.err(), end.err()].into_iter().flatten().collect::<Vec<_>>().join("; "))
        }
    }
}

fn run_all(config: TileConfig) -> Results {
    let mut results = Results::new();
    for path in case_paths("bare") {
        let file = cases::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let folder = path.parent().expect("a file is in a folder");
        for case in &file.case {
            record(&mut results, &case.name, run(case, folder, config));
        }
    }
    results
}

#[test]
fn bare_programs_end_as_expected_on_both_engines() {
    for engine in [EngineKind::Inline, EngineKind::Threads] {
        assert_only_expected_failures(&run_all(on(engine)), EXPECTED_FAILURES);
    }
}

#[test]
fn bare_programs_end_as_expected_in_lock_step_and_in_long_epochs() {
    for epoch in [1, 4, 64] {
        let config = common::config(EngineKind::Inline, true, epoch);
        assert_only_expected_failures(&run_all(config), EXPECTED_FAILURES);
    }
}

#[test]
fn bare_programs_with_documented_costs_end_as_expected() {
    let config = TileConfig { timing: TimingModel::Documented, ..on(EngineKind::Inline) };
    assert_only_expected_failures(&run_all(config), EXPECTED_FAILURES);
}

#[test]
fn bare_programs_with_a_debugger_halt_at_ebreak() {
    let config = TileConfig { debugger: true, ..on(EngineKind::Inline) };
    assert_only_expected_failures(&run_all(config), EXPECTED_FAILURES);
}
