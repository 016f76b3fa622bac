//! Plans of several tiles on the embedded firmware: results, host actions, verdicts.

use std::path::{Path, PathBuf};

use chip::ChipConfig;
use firmware_tests::{embedded, hazards_dir};
use loader::plan::{ChipPlan, Plan, Target};
use session::plan::{Answer, End, PlanHost};
use session::second::Question;
use sim_core::{AgentId, CoreId, Shortcuts};

fn parse(text: &str, dir: &Path) -> ChipPlan {
    match Plan::parse(text, "case.toml", dir).expect("a plan") {
        Plan::Chip(plan) => plan,
        Plan::Tile(_) => panic!("a plan of one tile"),
    }
}

fn carry_out(plan: ChipPlan, config: ChipConfig, max_cycles: u64) -> Answer {
    let set = embedded::set().expect("the embedded images are intact");
    let host = PlanHost::new(plan, &set, config, max_cycles).expect("firmware that fits");
    session::plan::why(&host, &Question::default()).expect("accesses that the chip takes")
}

fn run(text: &str, dir: &Path) -> Answer {
    carry_out(parse(text, dir), ChipConfig { threads: 1, ..ChipConfig::default() }, 2_000_000)
}

fn two_tiles() -> (PathBuf, String) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("demos/two-tiles");
    let text = std::fs::read_to_string(dir.join("case.toml")).expect("a plan");
    (dir, text)
}

fn hazard(name: &str) -> (PathBuf, String) {
    let dir = hazards_dir().join(name);
    let text = std::fs::read_to_string(dir.join("case.toml")).expect("a plan");
    (dir, text)
}

/// 2 (i + 1) for word i, as the kernels compute it.
#[test]
fn block_goes_from_dram_over_two_tiles_to_dram() {
    let (dir, text) = two_tiles();
    let answer = run(&text, &dir);
    assert_eq!((answer.end, &answer.outcome.faults[..]), (End::Done, &[][..]));
    assert_eq!(answer.outcome.wrong, []);
    let seen = &answer.outcome.seen[0];
    assert_eq!(seen.at.target, Target::Dram(5));
    assert_eq!(seen.bytes, [2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0]);
    let names: Vec<_> = answer.outcome.stages.iter().map(|stage| &stage.name[..]).collect();
    assert_eq!(names, ["boot", "two-tiles"]);
}

/// The page of plans shows a plan that does what it says.
#[test]
fn example_of_the_page_works() {
    let page = include_str!("../../docs/plans.md");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let answer = run(example.expect("a plan on the page"), &two_tiles().0);
    assert_eq!((answer.end, answer.outcome.seen.len()), (End::Done, 1));
}

#[test]
fn repeated_launch_writes_its_inputs_each_time() {
    let (dir, text) = two_tiles();
    let answer = run(&text.replace("semaphores = [0]", "semaphores = [0]\nrepeat = 3"), &dir);
    assert_eq!(answer.end, End::Done);
    assert_eq!(answer.outcome.stages.len(), 4);
    assert_eq!(answer.outcome.stages[3].name, "two-tiles #3");
}

#[test]
fn wrong_result_is_told_with_its_place_and_the_first_bytes_that_differ() {
    let (dir, text) = two_tiles();
    let answer = run(&text.replace("words = [2, 4, 6,", "words = [2, 4, 0x107,"), &dir);
    assert_eq!(answer.end, End::WrongResult);
    let [wrong] = &answer.outcome.wrong[..] else { panic!("one block is wrong") };
    assert_eq!((wrong.target, wrong.address, wrong.bytes), (Target::Dram(5), 0x2008, 2));
    assert_eq!((&wrong.expected[..2], &wrong.found[..2]), (&[7, 1][..], &[6, 0][..]));
    let [word] = &wrong.words[..] else { panic!("{:?}", wrong.words) };
    assert_eq!((word.address, word.expected, word.found), (0x2008, 0x107, 6));
    let writer = word.writer.as_ref().expect("the second tile has sent it");
    assert_eq!((writer.tile, writer.agent), (Some((1, 0)), AgentId::Core(CoreId::Ncrisc)));
    assert!(writer.sent.as_ref().is_some_and(|sent| sent.starts_with("write to DRAM bank 5")));
    let code = writer.code.as_ref().expect("the plan's ELF has its lines");
    assert_eq!((code.file.as_deref(), code.line), (Some("two-tiles.c"), Some(24)));
    let source = writer.source.as_ref().expect("the source lies beside the ELF");
    assert!(source.text.contains("send(1, arg(0), BLOCK"), "{source:?}");
    let answer = run(&text.replace("words = [1, 2, 3]", "words = [1, 9]"), &dir);
    let [wrong] = &answer.outcome.wrong[..] else { panic!("one block is wrong") };
    assert_eq!((wrong.target, wrong.address), (Target::Tile((0, 0)), 0x30004));
    let writer = wrong.words[0].writer.as_ref().expect("the loop has written it");
    assert_eq!((writer.tile, writer.agent), (None, AgentId::Core(CoreId::Brisc)));
    assert_eq!(writer.code.as_ref().and_then(|code| code.line), Some(13), "{writer:?}");
}

/// What another tile has sent is told with the command that sent it, not with the NoC that brought it.
#[test]
fn wrong_word_that_came_from_another_tile_names_its_sender() {
    let (dir, text) = two_tiles();
    // Nobody on the second tile doubles anything: what the first one has sent stays there.
    let doubles = "[[launch.on]]\ntiles = [[1, 0]]";
    let (first, _) = text.split_once(doubles).expect("its second half");
    let expect = "[[launch.expect]]\ntile = [1, 0]\naddress = 0x30004\nwords = [9]";
    let input = "[[launch.input]]\ndram = 0\naddress = 0x1000\nwords = [0, 1, 2]";
    let answer = run(&format!("{first}\n{input}\n{expect}"), &dir);
    assert_eq!(answer.end, End::WrongResult);
    let word = &answer.outcome.wrong[0].words[0];
    let writer = word.writer.as_ref().expect("the first tile");
    assert_eq!(
        (word.found, writer.tile, writer.agent),
        (2, Some((0, 0)), AgentId::Core(CoreId::Brisc))
    );
    assert_eq!(writer.sent.as_deref(), Some("write to tile (1, 0) [NoC (2, 2)]"));
    assert_eq!(writer.code.as_ref().and_then(|code| code.line), Some(15), "{writer:?}");
}

/// The collector waits for a count that nobody but the host can bring.
fn collector(more: &str) -> Answer {
    let (dir, _) = hazard("A15-overshot-by-two-tiles");
    let kernel = "kernel.brisc = { elf = 'buggy-brisc.elf', args = [0x30000] }";
    run(&format!("[[launch]]\nname = 'l'\ntiles = [[3, 4]]\n{kernel}\n{more}"), &dir)
}

#[test]
fn host_writes_while_kernels_wait_and_waits_for_what_they_write() {
    let write = "write = { tile = [3, 4], address = 0x30000, words = [4] }";
    let wait = "wait = { tile = [3, 4], address = 0x30000, words = [4] }";
    let actions = format!("meanwhile = [{{ cycles = 5000 }}, {{ {write} }}, {{ {wait} }}]");
    let answer = collector(&actions);
    assert_eq!(answer.end, End::Done);
    let launch = &answer.outcome.stages[1];
    assert!(launch.ended.is_some_and(|ended| ended >= launch.began + 5000));
}

#[test]
fn host_that_writes_nothing_can_end_no_wait() {
    let answer = collector("");
    assert_eq!(answer.end, End::Deadlock);
    let report = answer.report.expect("it hangs");
    assert_eq!(report.tiles.len(), 1);
    assert_eq!(report.tiles[0].tile, (3, 4));
    assert!(!answer.outcome.is_done);
}

#[test]
fn limit_ends_a_plan_and_shows_where_everybody_stands() {
    let (dir, _) = hazard("A15-overshot-by-two-tiles");
    let kernel = "kernel.brisc = { elf = 'buggy-brisc.elf', args = [0x30000] }";
    let text = format!(
        "[[launch]]\nname = 'l'\ntiles = [[3, 4]]\n{kernel}\nmeanwhile = [{{ wait = {{ tile = [3, 4], address = 0x30000, words = [9] }} }}]"
    );
    let config = ChipConfig { threads: 1, ..ChipConfig::default() };
    let answer = carry_out(parse(&text, &dir), config, 50_000);
    assert_eq!(answer.end, End::NoProgress);
    let positions = answer.positions.expect("where everybody stands");
    assert_eq!(positions.tiles.iter().map(|tile| tile.tile).collect::<Vec<_>>(), [(3, 4)]);
}

/// The receiver is given as (40, 40), where no tile is.
#[test]
fn mistake_of_a_guest_ends_the_plan_as_soon_as_nothing_moves() {
    let (dir, text) = hazard("D1-increment-astray");
    let text = text.replace("\"noc_x(2, 0)\", \"noc_y(2, 0)\"", "40, 40");
    let answer = run(&text, &dir);
    assert_eq!(answer.end, End::GuestError);
    assert!(answer.outcome.faults[0].contains("noc-no-such-tile"), "{:?}", answer.outcome.faults);
    assert!(answer.cycle < 1_000_000);
}

/// What happens does not depend on how it was simulated; only since when a poll is known to be one does.
#[test]
fn answer_is_the_same_on_threads_and_without_shortcuts() {
    for name in ["D4-chain-of-ten", "D2-rectangle-one-short"] {
        let (dir, text) = hazard(name);
        let answer = |config| carry_out(parse(&text, &dir), config, 2_000_000);
        let of = |answer: &Answer| {
            let cause = &answer.report.as_ref().expect("it hangs").cause;
            let tiles: Vec<_> = cause.chain.iter().map(|step| step.tile).collect();
            (answer.end, cause.headline.clone(), tiles, answer.outcome.stages.clone())
        };
        let one = answer(ChipConfig { threads: 1, ..ChipConfig::default() });
        assert_eq!(one.end, End::Deadlock);
        let two = answer(ChipConfig { threads: 2, ..ChipConfig::default() });
        let text_of = |answer: Answer| answer.report.map(|report| report.to_string());
        assert_eq!(of(&one), of(&two), "{name}");
        let parked = Shortcuts::NONE.with(sim_core::Shortcut::Parking);
        let plain = ChipConfig { threads: 1, shortcuts: parked, ..ChipConfig::default() };
        assert_eq!(of(&one), of(&answer(plain)), "{name}");
        assert_eq!(text_of(one), text_of(two), "{name}");
    }
}
