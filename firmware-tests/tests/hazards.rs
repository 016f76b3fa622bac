//! The hazard corpus: every bug is named right, every clean twin is silent, and the explanation is
//! the same whatever engine ran. Ids: the catalogue of hazards.

use firmware_tests::{embedded, hazards, hazards_dir};
use loader::diagnose::{Setup, diagnose};
use loader::firmware::FirmwareSet;
use loader::plan::LaunchPlan;
use observe::why::{End, Explanation};
use sim_core::engine::EngineKind;
use tile::TileConfig;

fn set() -> FirmwareSet {
    embedded::set().expect("the embedded images are intact")
}

fn explained(folder: &str, file: &str, config: TileConfig) -> Explanation {
    let plan = LaunchPlan::read(&hazards_dir().join(folder).join(file)).expect("a plan");
    let setup = Setup { config, ..hazards::setup() };
    diagnose(&set(), &plan.launches, &setup).expect("it runs").explanation
}

#[test]
fn corpus_every_bug_is_named_and_every_twin_is_silent() {
    let set = set();
    let (mut wrong, mut outcomes) = (Vec::new(), Vec::new());
    let folders = hazards::folders(&hazards_dir()).expect("a corpus");
    assert!(folders.len() >= 28);
    for folder in folders {
        let outcome = hazards::run(&folder, &set, &hazards::setup()).expect("a pair of plans");
        wrong.extend(outcome.complaint().map(|text| format!("{}: {text}", outcome.folder)));
        outcomes.push(outcome);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let page = include_str!("../../docs/hazards.md");
    assert!(hazards::table(&outcomes) == page, "docs/hazards.md is stale: run hazards --table");
}

#[test]
fn explanation_is_the_same_on_both_engines() {
    for folder in ["A3-cb-self-cycle", "A4-semaphore-decrement-lost", "A15-l1-semaphore-overshoot"]
    {
        let text = |engine| {
            let config = TileConfig { engine, ..TileConfig::default() };
            explained(folder, "case.toml", config).to_string()
        };
        assert_eq!(text(EngineKind::Inline), text(EngineKind::Threads), "{folder}");
    }
}

/// llk#181: the get that overtakes its post is the cause, and stands in the report with its line.
#[test]
fn lost_get_is_shown_with_its_line_and_its_pair() {
    let explanation = explained("A4-semaphore-decrement-lost", "case.toml", TileConfig::default());
    assert_eq!(explanation.end, End::Deadlock);
    let books = explanation.ledger.as_ref().expect("a ledger");
    assert_eq!(books.totals, (3, 2));
    assert_eq!(books.divergent, Some(3));
    assert_eq!(books.ignored_count, 1);
    let source = include_str!("../hazards/A4-semaphore-decrement-lost/semaphore-decrement-lost.c");
    let line = source.lines().position(|line| line.contains("TT_SEMGET")).expect("it gets") + 1;
    assert_eq!(books.ignored[0].place, format!("semaphore-decrement-lost.c:{line}"));
}

/// A page, a graph and a SARIF log have what their readers need.
#[test]
fn exports_name_the_cause() {
    let explanation = explained("A3-cb-self-cycle", "case.toml", TileConfig::default());
    assert!(explanation.circle);
    let dot = explanation.dot();
    assert!(dot.starts_with("digraph") && dot.contains("color=red"), "{dot}");
    let html = explanation.html();
    assert!(html.contains("<svg") && html.contains("A3"));
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("src="));
    assert!(
        html.contains("<title>BRISC") || html.contains("<title>NCRISC"),
        "whoever points is told more"
    );
    let sarif = explanation.sarif();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "A3");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "cb-self-cycle.c");
}

/// The page has the handshake of each resource of a circle, with lanes for those who should have acted, and the
/// lines of source of those who did.
#[test]
fn page_of_a_circle_draws_all_of_its_resources() {
    let explanation = explained("A3-three-in-a-ring", "case.toml", TileConfig::default());
    let others: Vec<_> = explanation.books.iter().map(|books| books.name.clone()).collect();
    assert_eq!(others, ["CB 8", "CB 9"]);
    let html = explanation.html();
    for part in
        ["The handshake: CB 10", "CB 8, which waits too", ">never</text>", "cb_push_back(out, 1);"]
    {
        assert!(html.contains(part), "{part}: {html}");
    }
    // What is proved is drawn alone: nobody is guessed here.
    assert!(!html.contains("with guesses"));
}

/// Two cores that poll device registers must not keep each other from being recognised, nor may a
/// core be parked on a value that has changed since it was read.
#[test]
fn pollers_of_devices_are_neither_missed_nor_parked_on_old_values() {
    let stuck = explained("A3-cb-self-cycle", "case.toml", TileConfig::default());
    assert_eq!(stuck.end, End::Deadlock);
    for epoch in [1, 4, 8, 16] {
        let epoch = sim_core::EpochLength::new(epoch).expect("a length");
        let config = TileConfig { epoch, ..TileConfig::default() };
        let wraps = explained("C3-cb-wrap", "case.toml", config);
        assert_eq!(wraps.end, End::Done, "{wraps}");
    }
}

/// What reports have to say in so many words, by the kernel that shows it.
const WORDS: [(&str, &str); 23] = [
    ("A2-wait-exceeds-capacity", "waits for 4 pages of CB 5, which has 3"),
    ("A1-waits-for-too-many", "polls for 2 pages of CB 1 (7 pushed, 6 popped, 1 of 4 pages in it)"),
    ("A1-waits-for-too-many", "NCRISC is done with its kernel and waits for GO"),
    ("A1-waits-for-too-many", "= in launch waits-for-too-many"),
    ("A11-left-by-launches", "= left behind by launch left-by-launches #1"),
    ("A11-left-by-launches", "-- launch left-by-launches #2 --"),
    ("A1-cb-starved", "BRISC left the loop around a push of CB 0 after 3 rounds"),
    ("A1-cb-starved", "for (u32 page = 0; page < PAGES - BUG; page++)"),
    ("A1-wrong-argument", "took the 7 that it decided by from argument 1"),
    ("A1-count-from-mailbox", "the 3 from mailbox TRISC0 -> TRISC2"),
    ("A11-word-of-another-launch", "from mailbox TRISC0 -> TRISC2, in launch first"),
    ("A1-wrong-buffer", "pushed 3 pages into CB 3 here, from which nobody pops"),
    ("A6-no-commit", "looks at semaphore MATH_PACK (1) here and has no code for a post of it"),
    ("A6-acquire-order", "behind that it would do it in kernel_main acquire-order.c:19"),
    (
        "A8-dvalid-never-set",
        "goes 3 times through the loop around a fill of SrcA, which is unrolled",
    ),
    ("A13-one-too-many", "NCRISC last wrote what this wait compares with"),
    ("A6-bound-in-math", "and TRISC1 is done and has not cleared it"),
    ("A18-sanitizer", "has ended in an endless loop"),
    ("C1-recursion-on-trisc", "recursion-on-trisc.c:8, pc"),
    ("A3-answer-before-question", "if CB 1 had a page more, BRISC would push CB 0 in ask"),
    ("A1-pipeline-starved", "nobody would push CB 2 any more, whatever else came"),
    (
        "A11-word-of-another-core",
        "TRISC2 has not read what stands in mailbox TRISC0 -> TRISC2, pushed",
    ),
    ("A1-waits-for-own-push", "TRISC2 would do it itself, behind this wait"),
];

#[test]
fn reports_say_so_in_words() {
    for (folder, words) in WORDS {
        let text = explained(folder, "case.toml", TileConfig::default()).to_string();
        assert!(text.contains(words), "{folder} does not say {words:?}:\n{text}");
    }
}
