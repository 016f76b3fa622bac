//! Sessions of several tiles: each tile does again, alone, what it did on the chip, and a debugger goes through
//! all of them in one line.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chip::ChipConfig;
use debugger::{Hit, Machine, Moment, Party, Recording, several};
use firmware_tests::{embedded, hazards_dir};
use loader::plan::{ChipPlan, Plan};
use session::plan::PlanHost;
use session::selection::Selection;
use session::survey::{TileSeen, catalog, look};
use session::watch::Course;
use session::{Host, SessionError};
use sim_core::{CoreId, Cycle};
use tape::Tape;

/// Records the tiles of a session that are chosen.
fn record<H: Host>(host: &H, tiles: &str) -> Result<Vec<Arc<Recording>>, SessionError> {
    let catalog = catalog(host, &[]);
    let looked = look(host, &catalog, Some(1))?;
    let selection: Selection = tiles.parse().expect("tiles");
    let tiles: Vec<TileSeen> = looked.survey.chosen(&selection).cloned().collect();
    let course = Course { survey: &looked.survey, catalog: &catalog, tiles: &tiles, until: None };
    several::record(host, &course, || true)
}

fn plan(dir: &Path) -> Option<ChipPlan> {
    match Plan::read(&dir.join("case.toml")).expect("a plan") {
        Plan::Chip(plan) => Some(plan),
        Plan::Tile(_) => None,
    }
}

fn record_plan(plan: ChipPlan) -> Vec<Arc<Recording>> {
    let set = embedded::set().expect("the embedded images are intact");
    let config = ChipConfig { threads: 1, ..ChipConfig::default() };
    let host = PlanHost::new(plan, &set, config, 2_000_000).expect("firmware that fits");
    record(&host, "busy").expect("accesses that the chip takes")
}

fn two_tiles() -> Vec<Arc<Recording>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/demos/two-tiles");
    record_plan(plan(&dir).expect("a plan of several tiles"))
}

/// Each tile alone, at full speed and instruction by instruction near the end, stands at the end where it stood
/// on the chip.
fn assert_same(recordings: &[Arc<Recording>], what: &str) {
    assert!(!recordings.is_empty(), "{what}");
    for recording in recordings {
        let mut machine = Machine::new(Arc::clone(recording)).expect("memory");
        machine.seek(machine.end());
        assert_eq!(machine.state_hash(), recording.hash, "{what}: tile {:?}", recording.place);
        // Back, some instructions, and on again.
        let back = Cycle(recording.until.0.saturating_sub(3_001));
        machine.seek(Moment::at(back));
        while machine.moment().cycle < back + 500 && machine.advance() {}
        machine.seek(machine.end());
        assert_eq!(machine.state_hash(), recording.hash, "{what}: tile {:?}", recording.place);
    }
}

#[test]
fn tiles_of_a_plan_do_again_alone_what_they_did_together() {
    let recordings = two_tiles();
    assert_eq!(recordings.len(), 2);
    assert_same(&recordings, "two-tiles");
    let mut plans = 0;
    for entry in std::fs::read_dir(hazards_dir()).expect("hazards") {
        let dir = entry.expect("an entry").path();
        if !dir.join("case.toml").is_file() {
            continue;
        }
        if let Some(plan) = plan(&dir) {
            assert_same(&record_plan(plan), &dir.display().to_string());
            plans += 1;
        }
    }
    assert!(plans >= 5, "{plans} plans of several tiles");
}

/// Recordings of host programs that come with the project's shared data.
fn recordings() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/host/recordings");
    let Ok(entries) = std::fs::read_dir(dir) else {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr().write_all(b"skipped: no recordings of host programs here\n");
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".rec.xz"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn tiles_of_host_programs_do_again_alone_what_they_did_together() {
    let named =
        ["ttnn_add.", "ttnn_matmul.", "ttnn_sumh.", "llk_matmul.", "llk_mailbox.", "llk_risc"];
    for path in recordings() {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if named.iter().any(|wanted| name.starts_with(wanted)) {
            let tape = Tape::open(&path).expect("a recording");
            let recordings = record(&tape, "busy").expect("it can be played");
            // Some of a hundred that do alike. Where nothing is launched no tile is busy.
            if !recordings.is_empty() || name != "ttnn_open_close.rec.xz" {
                assert_same(&recordings[..recordings.len().min(3)], &name);
            }
        }
    }
}

/// Where a party stands: cycle, tile, core.
fn place(party: &Party) -> (Cycle, usize, CoreId) {
    let moment = party.here().machine().moment();
    (moment.cycle, party.focus().tile, moment.turn.core())
}

/// The moments at which cores of any tile begin the instruction at an address, by a walk through each tile alone.
fn begins(recordings: &[Arc<Recording>], pc: u32, from: Cycle) -> Vec<(Cycle, usize, CoreId)> {
    let mut all = Vec::new();
    for (tile, recording) in recordings.iter().enumerate() {
        let mut machine = Machine::new(Arc::clone(recording)).expect("memory");
        machine.seek(Moment::at(from));
        let mut begun = [None; CoreId::COUNT];
        loop {
            if let Some(attempt) = machine.attempt() {
                let is_first = begun[attempt.core.index()].replace(attempt.number)
                    != Some(attempt.number)
                    && machine.retried()[attempt.core.index()] != Some(attempt.number);
                let words = 0..attempt.words;
                if is_first && words.into_iter().any(|word| attempt.pc + 4 * word == pc) {
                    all.push((machine.moment().cycle, tile, attempt.core));
                }
            }
            if !machine.advance() {
                break;
            }
        }
    }
    all.sort_unstable();
    all
}

/// A breakpoint in code that runs on both tiles is met in the order of the line, forwards and backwards, and steps
/// in between change nothing.
#[test]
fn breakpoints_are_met_in_one_line_over_all_tiles() {
    let recordings = two_tiles();
    let launch = recordings[0].stages.last().expect("stages").began;
    // What the first core of the first tile does some time after the launch, firmware that both run.
    let mut machine = Machine::new(Arc::clone(&recordings[0])).expect("memory");
    machine.seek(Moment::at(launch + 100));
    let pc = loop {
        if let Some(attempt) = machine.attempt() {
            break attempt.pc;
        }
        assert!(machine.advance(), "somebody does something");
    };
    let wanted = begins(&recordings, pc, launch);
    assert!(wanted.len() > 1, "{wanted:?}");
    let machines = recordings
        .iter()
        .map(|recording| Machine::one_of(Arc::clone(recording), 2).expect("memory"))
        .collect();
    let mut party = Party::new(machines, launch);
    party.add_breakpoint(pc);
    let some = wanted.iter().take(40);
    for at in some.clone() {
        let hit = party.forward(&mut || true);
        assert_eq!((hit, place(&party)), (Hit::Break(at.2), *at));
        // gdb looks at all threads.
        for seat in party.seats() {
            let _ = party.tile(seat.tile).pc(seat.turn);
        }
    }
    for at in some.clone().rev().skip(1) {
        let hit = party.backward(&mut || true);
        assert_eq!((hit, place(&party)), (Hit::Break(at.2), *at));
        // As gdb steps: without its breakpoints.
        party.clear_stops();
        let (seat, before) = (party.focus(), place(&party));
        assert_eq!(party.step(seat, &mut || true), Hit::Step(at.2));
        assert_eq!(party.step_back(seat, &mut || true), Hit::Step(at.2));
        assert_eq!(place(&party), before);
        party.add_breakpoint(pc);
    }
    party.clear_stops();
    assert_eq!(party.forward(&mut || true), Hit::End);
    for (tile, recording) in recordings.iter().enumerate() {
        let hash = party.tile(tile).machine_mut().state_hash();
        assert_eq!(hash, recording.hash, "looked at, and the same");
    }
}
