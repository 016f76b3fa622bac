//! What runs write: complete files whatever ends them, and a run that nobody's watching changes.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(args).env("TILESCOPE_CACHE", "no-such-cache").stdin(Stdio::null());
    command
}

fn tilescope(args: &[&str]) -> Output {
    command(args).output().expect("it runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn plan(folder: &str, file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests");
    root.join(folder).join(file).display().to_string()
}

fn hazard(name: &str) -> String {
    plan(&format!("hazards/{name}"), "case.toml")
}

/// Lines of an event file that is complete: head, events, tail `[docs/events.md]`.
fn events(text: &str) -> Vec<Value> {
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let (head, tail) = (lines.first().expect("a head"), lines.last().expect("a tail"));
    assert_eq!(head["schema"], "tilescope-events", "{head}");
    assert!(tail.get("end").is_some(), "{tail}");
    lines[1..lines.len() - 1].to_vec()
}

/// A trace is a sequence of packets, field 1 of the outermost message, to the last byte
/// `[perfetto: protos/perfetto/trace/trace.proto]`. Gives their number.
fn packets(bytes: &[u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        assert_eq!(bytes[at], 0x0A, "packet {count}");
        at += 1;
        let (mut length, mut shift) = (0_usize, 0);
        loop {
            let byte = bytes[at];
            at += 1;
            length |= usize::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        at += length;
        count += 1;
    }
    assert_eq!(at, bytes.len(), "the last packet is complete");
    count
}

/// Header block first `[GTKWave manual: Appendix F]`: type 0, 329 bytes, and the end time behind
/// the start time.
fn waves(bytes: &[u8]) {
    let word = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!((bytes[0], word(1)), (0, 329));
    assert!(word(17) > word(9), "a time has passed");
}

/// All forms at once into a folder; what the program printed.
fn all_outputs(dir: &Path, plan: &str, more: &[&str]) -> Output {
    let path = |name: &str| dir.join(name).display().to_string();
    let (jsonl, perfetto, fst) = (path("e.jsonl"), path("p.pftrace"), path("w.fst"));
    let log = path("i.log");
    let mut args = vec!["launch", plan, "--embedded", "--jsonl", &jsonl, "--perfetto", &perfetto];
    args.extend(["--waves", &fst, "--instructions", &log]);
    args.extend(more);
    tilescope(&args)
}

fn assert_complete(dir: &Path) {
    let read = |name: &str| fs::read(dir.join(name)).expect("written");
    let jsonl = String::from_utf8(read("e.jsonl")).expect("text");
    assert!(events(&jsonl).len() > 100);
    assert!(packets(&read("p.pftrace")) > 100);
    waves(&read("w.fst"));
}

#[test]
fn guest_error_leaves_complete_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = all_outputs(dir.path(), &hazard("C11-undefined-instruction"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_complete(dir.path());
}

#[test]
fn deadlock_leaves_complete_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = all_outputs(dir.path(), &hazard("A4-semaphore-decrement-lost"), &[]);
    assert_eq!(output.status.code(), Some(3));
    assert_complete(dir.path());
}

/// NCRISC counts for ever: `addi t0, t0, 1` and back.
fn endless_plan() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let words = [0x0012_8293_u32, 0xFFDF_F06F];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(dir.path().join("count.bin"), bytes).expect("written");
    let text = "[[launch]]\nname = 'count'\n[launch.kernel.ncrisc]\nimage = 'count.bin'\naddress = 0xC000\n";
    let plan = dir.path().join("KERNELS.toml");
    fs::write(&plan, text).expect("written");
    let plan = plan.display().to_string();
    (dir, plan)
}

/// Waits until something has come about.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed().as_secs() < 60, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// A program that ends with the test, whatever the test ends with.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    let kill = Command::new("sh").args(["-c", &kill]).status();
    assert!(kill.expect("a shell is there").success());
}

#[test]
fn interrupt_leaves_complete_files() {
    let (dir, plan) = endless_plan();
    let jsonl = dir.path().join("e.jsonl").display().to_string();
    let perfetto = dir.path().join("p.pftrace").display().to_string();
    let args = ["launch", &plan, "--embedded", "--max-cycles", "100000000000", "--jsonl", &jsonl];
    let mut child = command(&args)
        .args(["--perfetto", &perfetto, "--no-functions"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    // Once the file has a beginning, the run is under way.
    until("nothing is written", || fs::metadata(&jsonl).is_ok_and(|file| file.len() > 0));
    signal(&child, "INT");
    let mut printed = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(4), "{printed}");
    assert!(printed.contains("INTERRUPTED"), "{printed}");
    assert!(events(&fs::read_to_string(&jsonl).expect("written")).len() > 100);
    // Tracks and the waits of the boot; the functions are left out.
    assert!(packets(&fs::read(&perfetto).expect("written")) > 30);
}

/// A run that writes nothing but its report, and one with the log that is not an event file.
#[test]
fn interrupt_of_a_run_without_recorders_gives_its_report() {
    let (dir, plan) = endless_plan();
    let log = dir.path().join("i.log");
    let path = log.display().to_string();
    let plain = ["launch", &plan, "--embedded", "--max-cycles", "100000000000"];
    for (name, more) in [
        ("INT", &[][..]),
        ("TERM", &[]),
        ("INT", &["--instructions", &path, "--cores", "ncrisc"]),
        ("TERM", &["--instructions", &path, "--cores", "ncrisc"]),
    ] {
        let child = command(&plain).args(more).stdout(Stdio::piped()).spawn().expect("it runs");
        let mut child = Started(child);
        if more.is_empty() {
            // The mask of caught signals [man: proc_pid_status(5)]: before, it would just end.
            let status = format!("/proc/{}/status", child.0.id());
            until("no signal is caught", || {
                let text = fs::read_to_string(&status).expect("it lives");
                let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
                let mask = u64::from_str_radix(mask.expect("Linux says so"), 16).expect("a mask");
                mask & (1 << 1) != 0 && mask & (1 << 14) != 0
            });
        } else {
            until("nothing is written", || fs::metadata(&log).is_ok_and(|file| file.len() > 0));
        }
        signal(&child.0, name);
        let mut printed = String::new();
        child.0.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
        assert_eq!(child.0.wait().expect("it ends").code(), Some(4), "{name} {more:?}: {printed}");
        assert!(printed.contains("INTERRUPTED") && printed.contains("state hash"), "{printed}");
        if !more.is_empty() {
            let text = fs::read_to_string(&log).expect("written");
            assert!(text.ends_with('\n'), "{name}: the last line is cut");
            fs::remove_file(&log).expect("removed");
        }
    }
}

#[test]
fn last_keeps_only_the_end() {
    let plan = plan("programs/kernels/five-core", "case.toml");
    let run = |more: &[&str]| {
        let mut args = vec!["launch", &plan, "--embedded", "--json", "--jsonl", "-"];
        args.extend(more);
        let output = tilescope(&args);
        assert_eq!(output.status.code(), Some(0));
        // The result itself is the last object.
        let text = text(&output);
        let lines = text.lines().take_while(|line| !line.contains("\"end\"")).count();
        let end = text.lines().nth(lines).expect("a tail");
        let file: Vec<&str> = text.lines().take(lines).chain([end]).collect();
        events(&file.join("\n"))
    };
    // Events are numbered as they are written.
    let unnumbered = |mut events: Vec<Value>| {
        events.iter_mut().for_each(|event| event["seq"] = Value::Null);
        events
    };
    let (all, last) = (unnumbered(run(&[])), unnumbered(run(&["--last", "50"])));
    assert!(all.len() > 1000 && last.len() == 50, "{} {}", all.len(), last.len());
    assert_eq!(all[all.len() - 50..], last[..]);
}

#[test]
fn watching_changes_neither_state_nor_cycles() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = plan("programs/kernels/five-core", "case.toml");
    let result = |output: &Output| -> Value {
        assert_eq!(output.status.code(), Some(0));
        serde_json::from_str(&text(output)).expect("one object")
    };
    let bare = result(&tilescope(&["launch", &plan, "--embedded", "--json"]));
    let watched = result(&all_outputs(dir.path(), &plan, &["--json"]));
    for key in ["state_hash", "event_hash", "cycles", "instructions"] {
        assert!(!bare[key].is_null(), "{key} in {bare}");
        assert_eq!(bare[key], watched[key], "{key}");
    }
}

#[test]
fn report_accounts_for_every_cycle() {
    let plan = plan("programs/kernels/five-core", "case.toml");
    let shown = text(&tilescope(&["report", &plan, "--embedded"]));
    assert!(
        shown.contains("BRISC: ") && shown.contains("works ") && shown.contains("five-core.c:")
    );
    let output = tilescope(&["report", &plan, "--embedded", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let value: Value = serde_json::from_str(&text(&output)).expect("one object");
    let rows = value["agents"].as_array().expect("agents");
    assert!(rows.len() >= 5, "{value}");
    for row in rows {
        let number = |key: &str| row[key].as_u64().unwrap_or_else(|| panic!("{key} in {row}"));
        assert!(number("works") + number("waits") + number("polls") <= number("cycles"), "{row}");
    }
}

/// The shape that OASIS SARIF 2.1.0 asks for, sections 3.13, 3.14, 3.19, 3.27, 3.28.
#[test]
fn sarif_has_the_shape_of_its_standard() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log.sarif").display().to_string();
    let plan = hazard("A4-semaphore-decrement-lost");
    assert_eq!(tilescope(&["why", &plan, "--embedded", "--sarif", &path]).status.code(), Some(3));
    let log: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("written")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().is_some_and(|schema| schema.contains("sarif-2.1.0")));
    let run = &log["runs"].as_array().expect("runs")[0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "tilescope");
    let rules = driver["rules"].as_array().expect("rules");
    let ids: BTreeSet<_> = rules.iter().map(|rule| rule["id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), rules.len(), "ids are unique");
    let results = run["results"].as_array().expect("results");
    assert!(results.len() >= 2, "the cause, and the get that was lost");
    for result in results {
        assert!(ids.contains(result["ruleId"].as_str().expect("a rule")), "{result}");
        let level = result["level"].as_str().expect("a level");
        assert!(["none", "note", "warning", "error"].contains(&level));
        assert!(result["message"]["text"].is_string());
        for location in result["locations"].as_array().expect("locations") {
            let physical = &location["physicalLocation"];
            assert_eq!(physical["artifactLocation"]["uri"], "semaphore-decrement-lost.c");
            assert!(physical["region"]["startLine"].as_u64().is_some_and(|line| line >= 1));
        }
    }
}

#[test]
fn dot_is_a_graph_with_the_circle_in_red() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("waits.dot").display().to_string();
    let output = tilescope(&["why", &hazard("A3-cb-self-cycle"), "--embedded", "--dot", &path]);
    assert_eq!(output.status.code(), Some(3));
    let graph = fs::read_to_string(&path).expect("written");
    let nodes: Vec<&str> = graph
        .lines()
        .filter(|line| line.contains("[label="))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(graph.starts_with("digraph") && graph.trim_end().ends_with('}'));
    let mut red = 0;
    for edge in graph.lines().filter(|line| line.contains("->") && !line.contains("label=")) {
        let mut words = edge.trim().trim_end_matches(';').split_whitespace();
        let (from, to) = (words.next().expect("from"), words.nth(1).expect("to"));
        assert!(nodes.contains(&from) && nodes.contains(&to.trim_end_matches(';')), "{edge}");
        red += usize::from(edge.contains("color=red"));
    }
    assert!(red >= 2, "a circle has two edges:\n{graph}");
}

#[test]
fn check_is_suppressed_by_id_with_a_reason() {
    let plan = hazard("A14-noc-in-flight-at-exit");
    let said = text(&tilescope(&["why", &plan, "--embedded"]));
    assert!(said.contains("A14"), "{said}");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("allow.toml").display().to_string();
    let allow = |file: &str| {
        fs::write(&path, file).expect("written");
        tilescope(&["why", &plan, "--embedded", "--allow", &path])
    };
    let output = allow("[[allow]]\nid = 'A14'\nreason = 'the next kernel waits'\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(!text(&output).contains("A14"), "{}", text(&output));
    for bad in ["[[allow]]\nid = 'A14'\nreason = ' '\n", "[[allow]]\nid = 'Z9'\nreason = 'x'\n"] {
        let output = allow(bad);
        let error = String::from_utf8(output.stderr.clone()).expect("text");
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
    }
}

/// `tilescope launch --jsonl - | head -c 1000`: quiet, and no host error.
#[test]
fn closed_pipe_ends_the_stream_quietly() {
    let plan = plan("programs/kernels/five-core", "case.toml");
    let mut child = command(&["launch", &plan, "--embedded", "--jsonl", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut some = [0; 1000];
    child.stdout.take().expect("piped").read_exact(&mut some).expect("it writes");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.code().is_some_and(|code| code != 2), "{:?}", output.status);
}

/// NCRISC counts and stores the count: no proof, but the loop is shown.
#[test]
fn livelock_is_shown_as_a_loop_that_stores() {
    let dir = tempfile::tempdir().expect("a folder");
    // lui x6, 0x30; loop: addi x5, x5, 1; sw x5, 0(x6); j loop
    let words = [0x0003_0337_u32, 0x0012_8293, 0x0053_2023, 0xFF9F_F06F];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(dir.path().join("beat.bin"), bytes).expect("written");
    let text =
        "[[launch]]\nname = 'beat'\n[launch.kernel.ncrisc]\nimage = 'beat.bin'\naddress = 0xC000\n";
    let plan = dir.path().join("KERNELS.toml");
    fs::write(&plan, text).expect("written");
    let plan = plan.display().to_string();
    let output = tilescope(&["why", &plan, "--embedded", "--max-cycles", "50000"]);
    assert_eq!(output.status.code(), Some(4));
    let said = self::text(&output);
    let headline = "NO-PROGRESS: NCRISC goes round a loop of 3 instructions, storing in each round";
    assert!(said.starts_with(headline), "{said}");
    assert!(said.contains("[pc 0xc004]"), "{said}");
}

#[test]
fn waves_and_traces_on_standard_output_are_whole_files() {
    let plan = plan("programs/kernels/five-core", "case.toml");
    let dir = tempfile::tempdir().expect("a folder");
    let run = |option: &str| {
        let mut command = command(&["launch", &plan, "--embedded", option, "-"]);
        let output = command.current_dir(dir.path()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&output.stderr).contains("state hash"));
        output.stdout
    };
    waves(&run("--waves"));
    assert!(packets(&run("--perfetto")) > 100);
    assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 0, "no file is called `-`");
}

/// A poll is one line, under the name that `why` has for it; the verdict stands where nothing else could happen.
#[test]
fn polls_and_the_verdict_are_events_under_the_names_of_why() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.jsonl");
    let path = path.to_str().expect("a path");
    let output = tilescope(&["why", &hazard("A1-cb-starved"), "--embedded", "--jsonl", path]);
    let told = text(&output);
    let lines = events(&fs::read_to_string(path).expect("the file"));
    let of = |name: &str| lines.iter().filter(|line| line["event"] == name).collect::<Vec<_>>();
    let polls = of("Poll");
    let ended =
        polls.iter().find(|poll| poll["for"][0]["resource"] == "CB 0" && poll["open"] == false);
    let ended = ended.expect("a poll of the buffer that a push ended");
    assert_eq!(ended["agent"], "NCRISC");
    let by = ended["text"].as_str().expect("a text");
    assert!(by.starts_with("polls for a push of CB 0: "), "{by}");
    assert!(by.contains("ended by BRISC at cycle") && by.ends_with("cb-starved.c:12"), "{by}");
    assert_eq!(ended["culprit"]["agent"], "BRISC");
    let open: Vec<_> = polls.iter().filter(|poll| poll["open"] == true).collect();
    assert_eq!(open.len(), 5, "{open:?}");
    for poll in open {
        let (agent, text) = (poll["agent"].as_str(), poll["text"].as_str());
        let name = text.and_then(|text| text.split(": ").next()).expect("a name");
        let line = format!("{} {name}", agent.expect("an agent"));
        assert!(told.contains(&line), "{line:?} is not in {told}");
    }
    let verdicts = of("Verdict");
    let [verdict] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!((&verdict["verdict"], &verdict["class"]), (&"DEADLOCK".into(), &"A1".into()));
    assert_eq!(verdict["line"], 18, "{verdict}");
    let closed = format!("closed at cycle {}", verdict["cycle"]);
    assert!(told.contains(&closed), "{closed}: {told}");
    let title = verdict["text"].as_str().expect("a text");
    assert!(
        title.starts_with("DEADLOCK[A1] cb-starved: NCRISC polls for a push of CB 0"),
        "{title}"
    );
}

/// What a loop polls for, when it ends and, but for a few, how often it went round do not depend on whether the
/// simulator executed each round.
#[test]
fn polls_are_the_same_when_nobody_parks() {
    let dir = tempfile::tempdir().expect("a directory");
    let polls = |more: &[&str]| {
        let path = dir.path().join("run.jsonl");
        let path = path.to_str().expect("a path");
        let plan = hazard("A1-cb-starved");
        tilescope(
            &[&["launch", &plan, "--embedded", "--jsonl", path, "--max-cycles", "11000"], more]
                .concat(),
        );
        let lines = events(&fs::read_to_string(path).expect("the file"));
        let polls =
            lines.into_iter().filter(|line| line["event"] == "Poll" && line["open"] == false);
        let of = |poll: Value| {
            let waits = poll["for"].clone();
            (
                poll["agent"].to_string(),
                waits.to_string(),
                poll["cycle"].as_u64(),
                poll["rounds"].as_u64(),
            )
        };
        let mut polls: Vec<_> = polls.map(of).collect();
        polls.sort();
        polls
    };
    let (parked, spun) = (polls(&[]), polls(&["--no-parking"]));
    assert!(parked.len() >= 6, "{parked:?}");
    let ends = |polls: &[(String, String, Option<u64>, Option<u64>)]| -> Vec<_> {
        polls
            .iter()
            .map(|(agent, waits, cycle, _)| (agent.clone(), waits.clone(), *cycle))
            .collect()
    };
    assert_eq!(ends(&parked), ends(&spun));
    for (one, other) in parked.iter().zip(&spun) {
        // Rounds that were not executed are counted by their length: one may be lost each time.
        let (one_has, other_has) = (one.3.unwrap_or(0), other.3.unwrap_or(0));
        assert!(one_has.abs_diff(other_has) <= 1 + other_has / 500, "{one:?} {other:?}");
    }
}

/// A wrong word is told with who wrote it last, or that nobody has; the trace has the same line.
#[test]
fn wrong_words_are_told_with_their_last_writers() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/hazards/C13-float-cast");
    for file in ["clean-ncrisc.elf", "float-cast.c"] {
        fs::copy(folder.join(file), dir.path().join(file)).expect("a copy");
    }
    let plan = dir.path().join("plan.toml");
    let text_of_plan = "[[launch]]\nname = \"cast\"\n[launch.kernel.ncrisc]\nelf = \"clean-ncrisc.elf\"\n\
                        [[launch.expect]]\naddress = 0x30000\nwords = [7, 9]\n";
    fs::write(&plan, text_of_plan).expect("a plan");
    let plan = plan.to_str().expect("a path");
    let output = tilescope(&["why", plan, "--embedded"]);
    assert_eq!(output.status.code(), Some(5));
    let told = text(&output);
    let lines: Vec<&str> = told.lines().collect();
    let wrong = lines.iter().position(|line| *line == "wrong").expect("a section");
    assert_eq!(lines[wrong + 1], "    L1 0x30000: expected 0x00000007, found 0x00000002");
    assert!(lines[wrong + 2].starts_with("      written last by NCRISC at cycle "), "{told}");
    assert!(lines[wrong + 2].contains("in kernel_main float-cast.c:22, pc 0x"), "{told}");
    assert!(lines[wrong + 3].contains("22 |     REG32(RESULT) = whole;"), "{told}");
    assert_eq!(lines[wrong + 5], "    L1 0x30004: expected 0x00000009, found 0x00000000");
    assert_eq!(lines[wrong + 6], "      nobody has written it");
}

/// Arguments and locals where a core waits, if debug information says where they are: the plan gives the reader
/// eight pages.
#[test]
fn loop_bounds_are_told_where_a_core_waits() {
    let told = text(&tilescope(&["why", &hazard("A1-wrong-argument"), "--embedded"]));
    assert!(told.contains("      where pages = 8\n"), "{told}");
    let output = tilescope(&["why", &hazard("A1-wrong-argument"), "--embedded", "--json"]);
    let value: Value = serde_json::from_str(&text(&output)).expect("JSON");
    let waits = value["waits"].as_array().expect("waits");
    let values = |agent: &str| {
        let wait = waits.iter().find(|wait| wait["agent"] == agent).expect("a wait");
        wait["values"].clone()
    };
    assert_eq!(values("BRISC"), serde_json::json!([{ "name": "pages", "value": 8 }]));
    // Firmware's own variables are nobody's business.
    assert_eq!(values("TRISC0"), serde_json::json!([]));
}
