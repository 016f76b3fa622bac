//! Every command on every kind of session, through the program: plans, and recordings made here of a chip whose
//! tiles ask things of each other. What is written is read back by other means.

mod perfetto;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hostlib::abi::{BAR0, WINDOW_REGISTERS};
use hostlib::recording::{Op, Record, write_magic, write_record};
use isa::asm::{addi, bne, branch, j, li, lw, sw};
use perfetto::{Trace, processes};
use prost::Message as _;
use serde_json::Value;

/// Translated coordinates of three tiles in a row: workers 0,0 and 1,0 and 2,0.
const TILES: [u64; 3] = [1, 2, 3];
const ROW: u64 = 2;
/// SOFT_RESET_0, and its value with only BRISC released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
/// A word that nobody writes.
const NEVER: u32 = 0x4_0000;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A request of NoC 0 initiator 0: registers and values, then the command `[isa-bh: NoC/MemoryMap.md]`.
fn request(setup: &[(u32, u32)]) -> Vec<u32> {
    let mut words = Vec::new();
    for &(register, value) in setup {
        words.extend(li(8, value));
        words.extend(li(7, 0xFFB2_0000 + register));
        words.push(sw(8, 7, 0));
    }
    words.extend(li(7, 0xFFB2_0040));
    words.push(addi(8, 0, 1));
    words.push(sw(8, 7, 0));
    // Until the command register is free again.
    words.extend([lw(8, 7, 0), bne(8, 0, -4)]);
    words
}

/// Packets that tile 0,0 sends to others: a write, a write of two packets, a posted write, a read, and a multicast
/// to two tiles.
const SENT: usize = 1 + 2 + 1 + 1 + 2;
/// Those that are answered: all but the posted one.
const ANSWERED: usize = SENT - 1;

/// What BRISC of tile 0,0 does: the requests above, then nothing.
fn asks() -> Vec<u32> {
    let at = |x: u32| x | (ROW as u32) << 6;
    let write = |control: u32, to: u32, bytes: u32| {
        request(&[
            (0x00, 0x2_0000),
            (0x08, at(1)),
            (0x0C, 0x3_0000),
            (0x14, to),
            (0x20, bytes),
            (0x1C, control),
        ])
    };
    let mut words = write(0x2092, at(2), 64);
    words.extend(write(0x2092, at(2), 32 << 10));
    words.extend(write(0x2082, at(2), 32));
    words.extend(request(&[
        (0x00, 0x3_0000),
        (0x08, at(2)),
        (0x0C, 0x2_0000),
        (0x14, at(1)),
        (0x20, 64),
        (0x1C, 0x2090),
    ]));
    // NOC_CTRL bit 5, on the virtual channels of broadcasts: to the rectangle from the corner in bits 23:12.
    words.extend(write(0x80B2, at(3) | at(2) << 12, 16));
    words.push(j(0));
    words
}

/// Polls a word.
fn polls() -> Vec<u32> {
    let mut words = li(5, NEVER).to_vec();
    words.extend([lw(6, 5, 0), branch(0, 6, 0, -4)]);
    words
}

/// A recording under way.
struct Tape(Vec<u8>);

impl Tape {
    fn new() -> Self {
        let mut file = Vec::new();
        write_magic(&mut file).expect("memory");
        let mut tape = Self(file);
        tape.put(Op::Init, 0, 0, &[]);
        tape
    }

    fn put(&mut self, op: Op, a0: u64, a1: u64, bytes: &[u8]) {
        write_record(&mut self.0, &Record { op, a0, a1, bytes }).expect("memory");
    }

    fn start(&mut self, x: u64, program: &[u32]) {
        let at = x | ROW << 32;
        self.put(Op::TileWrite, 0, at, &bytes(program));
        self.put(Op::TileWrite, SOFT_RESET_0, at, &BRISC.to_le_bytes());
    }

    /// Reads a word of tile 1,0 through a window over and over, as hosts wait.
    fn waits(&mut self) {
        const AWAITED: u64 = 0x5_0000;
        let register = u128::from(AWAITED >> 21) | 2 << 43 | u128::from(ROW) << 49;
        for (word, bytes) in (0..).zip(register.to_le_bytes()[..12].chunks(4)) {
            self.put(Op::MemWrite, WINDOW_REGISTERS + 4 * word, 0, bytes);
        }
        for _ in 0..300 {
            self.put(Op::MemRead, BAR0 + AWAITED, 0, &[0; 4]);
            self.put(Op::Clock, 1, 0, &[]);
        }
    }

    fn write(mut self, dir: &Path, name: &str, closes: bool) -> String {
        if closes {
            self.put(Op::Exit, 0, 0, &[]);
        }
        let path = dir.join(name);
        fs::write(&path, self.0).expect("written");
        path.display().to_string()
    }
}

/// Tile 0,0 asks, 1,0 and 2,0 serve and do nothing themselves.
fn good(dir: &Path) -> String {
    let mut tape = Tape::new();
    tape.start(TILES[1], &[j(0)]);
    tape.start(TILES[2], &[j(0)]);
    tape.start(TILES[0], &asks());
    tape.put(Op::Clock, 8000, 0, &[]);
    tape.write(dir, "good.rec", true)
}

/// The same, but tile 1,0 waits for what never comes, and so does the host.
fn hangs(dir: &Path) -> String {
    let mut tape = Tape::new();
    tape.start(TILES[1], &polls());
    tape.start(TILES[0], &asks());
    tape.waits();
    tape.write(dir, "hangs.rec", false)
}

fn tilescope(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(args).env("TILESCOPE_CACHE", "no-such-cache").stdin(Stdio::null());
    command.output().expect("it runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn ends(args: &[&str], status: i32) -> String {
    let output = tilescope(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {errors}\n{}", stdout(&output));
    stdout(&output)
}

fn refusal(args: &[&str]) -> String {
    let output = tilescope(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{args:?}: {text}");
    text
}

fn json(args: &[&str], status: i32) -> Value {
    serde_json::from_str(&ends(args, status)).expect("one JSON object")
}

fn plan() -> String {
    let dir: PathBuf = firmware_tests::programs_dir().join("kernels/five-core");
    dir.join("case.toml").display().to_string()
}

#[test]
fn perfetto_of_a_tape_has_a_process_per_tile_and_an_arrow_per_packet() {
    let dir = tempfile::tempdir().expect("a folder");
    let (tape, path) = (good(dir.path()), dir.path().join("t.pftrace"));
    ends(&["why", &tape, "--perfetto", &path.display().to_string()], 0);
    let bytes = fs::read(&path).expect("written");
    let trace = Trace::decode(bytes.as_slice()).expect("a trace");
    let of = processes(&trace);
    let mut names: Vec<&String> = of.values().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["tile 0,0 (NoC 1-2)", "tile 1,0 (NoC 2-2)", "tile 2,0 (NoC 3-2)"]);
    // Where arrows of the NoC, which have the highest bit, touch: process by arrow, in the order of time.
    let mut stops: BTreeMap<u64, Vec<(u64, &str, bool)>> = BTreeMap::new();
    for packet in &trace.packet {
        let Some(event) = &packet.event else { continue };
        let (time, process) =
            (packet.timestamp.expect("a time"), of[&event.track.expect("a track")].as_str());
        let own = |id: &&u64| **id >> 63 == 1;
        for id in event.flows.iter().filter(own) {
            stops.entry(*id).or_default().push((time, process, false));
        }
        for id in event.last_flows.iter().filter(own) {
            stops.entry(*id).or_default().push((time, process, true));
        }
    }
    assert_eq!(stops.len(), SENT, "{stops:?}");
    let mut answered = 0;
    for stops in stops.values() {
        assert_eq!(stops[0].1, "tile 0,0 (NoC 1-2)", "{stops:?}");
        assert_ne!(stops[1].1, "tile 0,0 (NoC 1-2)", "{stops:?}");
        assert!(stops.windows(2).all(|two| two[0].0 < two[1].0), "{stops:?}");
        assert!(stops.last().expect("two at least").2, "an arrow ends: {stops:?}");
        if let [_, _, back] = stops.as_slice() {
            assert_eq!(back.1, "tile 0,0 (NoC 1-2)");
            answered += 1;
        }
    }
    assert_eq!(answered, ANSWERED);
    let to_third = stops.values().filter(|stops| stops[1].1 == "tile 2,0 (NoC 3-2)").count();
    assert_eq!(to_third, 1, "the multicast reaches the third tile");
}

#[test]
fn json_lines_of_a_tape_say_which_tile_and_pair_requests_by_their_tickets() {
    let dir = tempfile::tempdir().expect("a folder");
    let tape = good(dir.path());
    let lines = |more: &[&str]| -> Vec<Value> {
        let path = dir.path().join("e.jsonl").display().to_string();
        ends(&[&["launch", &tape, "--jsonl", &path][..], more].concat(), 0);
        let text = fs::read_to_string(&path).expect("written");
        let all: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        assert_eq!(all[0]["schema"], "tilescope-events");
        let (tail, events) = all[1..].split_last().expect("a tail");
        assert_eq!(
            (&tail["end"], tail["events"].as_u64()),
            (&"DONE".into(), Some(events.len() as u64))
        );
        events.to_vec()
    };
    let all = lines(&[]);
    let mut last = 0;
    for (at, line) in all.iter().enumerate() {
        assert_eq!(line["seq"].as_u64(), Some(at as u64));
        assert!(line["tile"].is_array(), "{line}");
        let cycle = line["cycle"].as_u64().expect("a cycle");
        assert!(cycle + 8 >= last, "more than an epoch back: {line}");
        last = last.max(cycle);
    }
    let of = |event: &str| all.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    let issued: u64 =
        of("NocIssue").iter().map(|line| line["packets"].as_u64().expect("some")).sum();
    // The multicast is one packet that two tiles serve.
    assert_eq!(issued as usize, SENT - 1);
    let tickets: Vec<u64> =
        of("NocDone").iter().map(|line| line["ticket"].as_u64().expect("one")).collect();
    let mut sorted = tickets.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..issued).collect::<Vec<_>>());
    let served = of("NocServe");
    assert_eq!(served.len(), SENT);
    for line in served {
        assert_eq!(line["source"], 0);
        assert!(tickets.contains(&line["ticket"].as_u64().expect("one")), "{line}");
        assert!(
            line["text"].as_str().is_some_and(|text| text.contains("for tile (0, 0)")),
            "{line}"
        );
    }
    let one = lines(&["--tiles", "1,0"]);
    assert!(!one.is_empty() && one.iter().all(|line| line["tile"] == serde_json::json!([1, 0])));
    let middle = all[all.len() / 2]["cycle"].as_u64().expect("a cycle");
    let late = lines(&["--from", &middle.to_string()]);
    assert!(!late.is_empty() && late.len() < all.len());
    assert!(late.iter().all(|line| line["cycle"].as_u64() >= Some(middle)));
    let text = |mut line: Value| {
        line["seq"] = Value::Null;
        line
    };
    let ending: Vec<Value> = all[all.len() - 5..].iter().cloned().map(text).collect();
    let ended: Vec<Value> = lines(&["--last", "5"]).into_iter().map(text).collect();
    assert_eq!(ended, ending);
}

#[test]
fn state_of_a_session_is_the_same_whoever_watches_and_on_any_number_of_threads() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).display().to_string();
    for (tape, status) in [(good(dir.path()), 0), (hangs(dir.path()), 3)] {
        let plain = json(&["launch", &tape, "--json"], status);
        let recording = tape::Tape::open(Path::new(&tape)).expect("a recording");
        let config = replay::config_of(&recording).expect("settings");
        let mut calls = plain["calls"].as_u64().expect("a number");
        let mut hash = 0;
        replay::exact(&recording, config, |chip, _| {
            calls -= 1;
            hash = chip.state_hash();
            if calls == 0 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        })
        .expect("it plays");
        assert_eq!(plain["state_hash"], format!("{hash:016x}"), "{tape}");
        let views = ["--perfetto", &path("p"), "--waves", &path("w"), "--jsonl", &path("j")];
        for threads in ["1", "2"] {
            for tiles in ["busy", "all", "1,0"] {
                let mut args = vec!["launch", &tape, "--json", "--threads", threads];
                args.extend(["--tiles", tiles]);
                args.extend(views);
                let watched = json(&args, status);
                for key in ["state_hash", "cycles", "verdict", "calls"] {
                    assert_eq!(watched[key], plain[key], "{key} {threads} {tiles} {tape}");
                }
            }
        }
        // The same bytes, whatever the number of threads.
        let bytes = |threads: &str| {
            let mut args = vec!["launch", &tape, "--threads", threads];
            args.extend(views);
            ends(&args, status);
            ["p", "w", "j"].map(|name| fs::read(path(name)).expect("written"))
        };
        assert!(bytes("1") == bytes("2"), "files differ with threads");
    }
}

#[test]
fn hang_of_a_tape_is_told_in_every_form() {
    let dir = tempfile::tempdir().expect("a folder");
    let tape = hangs(dir.path());
    let path = |name: &str| dir.path().join(name).display().to_string();
    let said =
        ends(&["why", &tape, "--html", &path("h"), "--dot", &path("d"), "--sarif", &path("s")], 3);
    assert!(said.contains("DEADLOCK on ") && said.contains("0x40000"), "{said}");
    let page = fs::read_to_string(path("h")).expect("written");
    assert!(page.contains("href=\"#t1-0\"") && page.contains("id=\"t1-0\""), "{page}");
    let graph = fs::read_to_string(path("d")).expect("written");
    assert!(graph.starts_with("digraph") && graph.trim_end().ends_with('}'), "{graph}");
    assert!(graph.contains("cluster_1_0") && graph.contains("color=red"), "{graph}");
    let log: Value =
        serde_json::from_str(&fs::read_to_string(path("s")).expect("written")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let report = json(&["why", &tape, "--json"], 3);
    assert_eq!(report["verdict"], "DEADLOCK");
    assert!(report["warnings"].is_array());
    // Other commands write the same files beside their own answers.
    for command in ["launch", "report", "state"] {
        fs::remove_file(path("h")).expect("there");
        ends(&[command, &tape, "--html", &path("h")], 3);
        assert_eq!(fs::read_to_string(path("h")).expect("written"), page, "{command}");
    }
}

#[test]
fn guest_error_of_a_tape_is_told_and_is_its_status() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut tape = Tape::new();
    // No instruction `[riscv: all ones are illegal]`.
    tape.start(TILES[0], &[u32::MAX]);
    tape.put(Op::Clock, 1000, 0, &[]);
    let tape = tape.write(dir.path(), "errs.rec", true);
    let said = ends(&["why", &tape], 1);
    assert!(said.contains("error: tile (0, 0) [NoC (1, 2)]"), "{said}");
    let value = json(&["why", &tape, "--json"], 1);
    assert_eq!(value["errors"].as_array().map(Vec::len), Some(1));
    assert!(ends(&["launch", &tape], 1).contains("error: tile (0, 0) [NoC (1, 2)]"));
}

#[test]
fn report_of_a_tape_is_the_sum_of_its_tiles() {
    let dir = tempfile::tempdir().expect("a folder");
    let tape = good(dir.path());
    let value = json(&["report", &tape, "--json", "--top", "1000"], 0);
    let tiles = value["tiles"].as_array().expect("tiles");
    assert_eq!(tiles.len(), 3);
    let cycles = |rows: &Value, key: &str| -> u64 {
        let rows = rows.as_array().expect("agents");
        let brisc = rows.iter().find(|row| row["agent"] == "BRISC").expect("it ran");
        brisc[key].as_u64().expect("a number")
    };
    for key in ["cycles", "works", "waits", "polls"] {
        let sum: u64 = tiles.iter().map(|tile| cycles(&tile["agents"], key)).sum();
        assert_eq!(cycles(&value["agents"], key), sum, "{key}");
    }
    assert!(cycles(&tiles[0]["agents"], "works") > 50);
    // A window counts no more than it has.
    let now = value["cycles"].as_u64().expect("a number");
    let from = (now - 1000).to_string();
    let late = json(&["report", &tape, "--json", "--from", &from], 0);
    assert_eq!(cycles(&late["tiles"][1]["agents"], "cycles"), 1000);
    let said = ends(&["report", &tape], 0);
    assert!(said.contains("3 tiles together") && said.contains("tile 1,0 (NoC 2-2)"), "{said}");
}

/// A plan whose kernels are started before their go signal, on two tiles.
fn early(dir: &Path) -> String {
    let kernels =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/programs/kernels/preload");
    let text = fs::read_to_string(kernels.join("case.toml")).expect("the plan");
    let text = text.replace("mode = \"host\"", "mode = \"host\"\ntiles = [[0, 0], [1, 0]]");
    let text = text.replace("elf = \"", &format!("elf = \"{}/", kernels.display()));
    let plan = dir.join("early.toml");
    fs::write(&plan, text).expect("written");
    plan.display().to_string()
}

/// What kernels do until their go signal is theirs.
#[test]
fn report_names_what_waits_for_its_go_signal() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = early(dir.path());
    let value = json(&["report", &plan, "--embedded", "--json", "--top", "1000"], 0);
    for agent in value["agents"].as_array().expect("agents") {
        let shares = agent["shares"].as_array().expect("shares");
        let place = |share: &Value| share["place"].as_str().expect("text").to_owned();
        // At address 0 stands a jump to the firmware.
        let nameless = |place: &String| place.starts_with("pc ") && place != "pc 0x0";
        let nameless: Vec<_> = shares.iter().map(place).filter(nameless).collect();
        assert_eq!(nameless, <[String; 0]>::default(), "{}", agent["agent"]);
        if ["BRISC", "NCRISC", "TRISC0"].contains(&agent["agent"].as_str().expect("a name")) {
            let waits = shares.iter().filter(|share| share["reason"] == "waits for a run message");
            assert!(
                waits.map(place).any(|place| place == "kernel_main preload.c:10"),
                "{shares:?}"
            );
        }
    }
}

#[test]
fn listing_names_what_is_started_before_its_go_signal() {
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, listing) = (early(dir.path()), dir.path().join("listing"));
    let listing = listing.display().to_string();
    let until_go = ["--from", "10000", "--to", "19999"];
    let args = [&["launch", &plan, "--embedded", "--instructions", &listing], &until_go[..]];
    ends(&args.concat(), 0);
    let text = fs::read_to_string(&listing).expect("a listing");
    let nameless: Vec<_> = text.lines().filter(|line| !line.ends_with(']')).collect();
    assert_eq!(nameless, <[&str; 0]>::default());
    for core in ["BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"] {
        let in_kernel =
            |line: &&str| line.contains(core) && line.contains("[kernel_main preload.c");
        assert!(text.lines().any(|line| in_kernel(&line)), "{core}");
    }
}

#[test]
fn report_of_a_plan_has_a_window_too() {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../firmware-tests/programs/kernels/five-core/case.toml");
    let plan = plan.display().to_string();
    let report = |options: &[&str]| {
        let value = json(&[&["report", &plan, "--embedded", "--json"], options].concat(), 0);
        let brisc = value["agents"].as_array().expect("agents")[0]["cycles"].as_u64();
        (value["cycles"].as_u64().expect("a number"), brisc.expect("a number"))
    };
    let (end, _) = report(&[]);
    assert_eq!(report(&["--from", &(end - 1000).to_string()]), (end, 1000));
    assert_eq!(report(&["--to", "4000"]), (4000, 4000));
    assert_eq!(report(&["--from", "3000", "--to", "4000"]), (4000, 1000));
}

#[test]
fn state_of_a_tape_shows_chosen_tiles() {
    let dir = tempfile::tempdir().expect("a folder");
    let tape = good(dir.path());
    let args = ["state", &tape, "--tiles", "0-1,0", "--show", "core.brisc.pc"];
    let said = ends(&args, 0);
    assert!(said.contains("tile 0,0 (NoC 1-2)") && said.contains("tile 1,0 (NoC 2-2)"), "{said}");
    assert!(!said.contains("tile 2,0"), "{said}");
    let value = json(&[&args[..], &["--json"]].concat(), 0);
    // Tile 1,0 jumps to itself at address 0; tile 0,0 at the end of its program.
    assert_eq!(value["tiles"][1]["state"]["core"]["brisc"]["pc"], 0);
    let end = 4 * (asks().len() as u64 - 1);
    assert_eq!(value["tiles"][0]["state"]["core"]["brisc"]["pc"], end);
    let early = json(&[&args[..], &["--json", "--at-cycle", "1"]].concat(), 0);
    assert_eq!(early["verdict"], "STOPPED");
}

#[test]
fn plan_has_the_same_views_in_every_command() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = plan();
    for command in ["why", "report", "state", "launch"] {
        let path = |name: &str| dir.path().join(format!("{command}.{name}")).display().to_string();
        let mut args = vec![command, &plan, "--embedded", "--tiles", "0,0"];
        let files = [path("p"), path("j"), path("w"), path("h"), path("s"), path("d")];
        let options = ["--perfetto", "--jsonl", "--waves", "--html", "--sarif", "--dot"];
        for (option, file) in options.iter().zip(&files) {
            args.extend([*option, file.as_str()]);
        }
        ends(&args, 0);
        for file in &files {
            assert!(fs::metadata(file).is_ok_and(|file| file.len() > 0), "{file}");
        }
        let trace =
            Trace::decode(fs::read(&files[0]).expect("written").as_slice()).expect("a trace");
        assert!(processes(&trace).values().all(|name| name == "Tensix tile"));
        let events = fs::read_to_string(&files[1]).expect("written");
        assert!(!events.contains("\"tile\":"), "a lone tile is not named");
    }
}

/// Each of the three tiles begins at address 0; what two of them have there is `j 0`, encoded above.
#[test]
fn instructions_of_a_tape_are_listed_with_their_tile() {
    let dir = tempfile::tempdir().expect("a folder");
    let (tape, list) = (good(dir.path()), dir.path().join("i.log").display().to_string());
    ends(&["why", &tape, "--instructions", &list, "--cores", "brisc"], 0);
    let text = fs::read_to_string(&list).expect("written");
    let jumps = |tile: &str| {
        let of = |line: &&str| line.starts_with(tile) && line.contains(" 0000006f  j 0x0");
        text.lines().filter(of).count()
    };
    assert!(jumps("1,0 ") > 0 && jumps("2,0 ") > 0 && jumps("0,0 ") == 0, "{text}");
    assert!(text.lines().all(|line| line.split_whitespace().nth(2) == Some("BRISC")), "{text}");
    let error = refusal(&["why", &tape, "--instructions", &dir.path().display().to_string()]);
    assert!(error.contains("cannot write"), "{error}");
}

#[test]
fn what_makes_no_sense_is_one_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let (tape, plan) = (good(dir.path()), plan());
    for (args, expected) in [
        (&["why", &tape, "--epoch", "4"][..], "--epoch is for plans"),
        (&["report", &tape, "--embedded"], "--embedded is for plans"),
        (&["launch", &tape, "--check"], "--check and --only are for plans"),
        (&["state", &tape, "--after-launch", "1"], "--after-launch is for plans"),
        (&["why", &tape, "--tiles", "9,9"], "--tiles 9,9: the session has done nothing there"),
        (&["why", &tape, "--from", "9", "--to", "3"], "that is no time at all"),
        (&["why", &plan, "--embedded", "--tiles", "3,1"], "the plan has one tile, 0,0"),
        (&["why", &plan, "--embedded", "--elf", "."], "--elf is for tapes"),
        (&["why", &plan, "--embedded", "--threads", "2"], "--threads is for tapes"),
        (&["tui", &tape, "--json"], "--json is not for tui"),
        (&["run", "--no-tape", "--perfetto", "p", "--", "true"], "--no-tape"),
        (&["run", "--json", "--", "true"], "--json is not for run"),
    ] {
        let said = refusal(args);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    let output = tilescope(&["why", &tape, "--tiles", "x"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("neither busy nor all"), "{said}");
}
