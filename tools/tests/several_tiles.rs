//! Plans of several tiles on the command line: results, verdicts, exit status, and what is for one tile.

mod perfetto;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use perfetto::{Trace, processes};
use prost::Message as _;

fn plan(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests").join(name).join("case.toml")
}

fn tilescope(command: &str, name: &str, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .arg(command)
        .arg(plan(name))
        .args(options)
        .env("TILESCOPE_CACHE", "no-such-cache")
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn launch_shows_stages_and_what_the_plan_reads() {
    let output = tilescope("launch", "demos/two-tiles", &["--embedded"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("2 tiles with firmware"), "{text}");
    assert!(text.contains("two-tiles    DONE at cycle "), "{text}");
    let read = "  read DRAM channel 5 at 0x2000:\n    00002000  02 00 00 00 04 00 00 00 06";
    assert!(text.contains(read), "{text}");
}

#[test]
fn check_counts_tiles_and_runs_nothing() {
    let output = tilescope("launch", "demos/two-tiles", &["--check"]);
    assert!(said(&output).ends_with("1 launch on 2 tiles, no mistake found\n"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn why_names_the_sender_first_and_ends_with_status_3() {
    let output = tilescope("why", "hazards/D1-increment-astray", &["--embedded"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let first = text.lines().next().unwrap_or_default();
    for part in ["DEADLOCK[D1]: signal-astray", "tile (0, 0)", "BRISC", "increment-astray.c:16"] {
        assert!(first.contains(part), "{part}:\n{text}");
    }
    let output = tilescope("why", "hazards/D1-increment-astray", &["--embedded", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["verdict"], "DEADLOCK");
    assert_eq!(value["report"]["cause"]["hazard"]["id"], "D1");
}

/// A folder, and the paths of files in it as text.
fn files<const N: usize>(names: [&str; N]) -> (tempfile::TempDir, [String; N]) {
    let dir = tempfile::tempdir().expect("a folder");
    let paths = names.map(|name| dir.path().join(name).display().to_string());
    (dir, paths)
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(path).expect("written")
}

/// The views of every command: each as it is on a tape of a host program.
#[test]
fn each_command_writes_the_recordings_of_all_tiles() {
    for (command, more) in
        [("launch", &[][..]), ("why", &[]), ("report", &[]), ("state", &["--show", "pc"])]
    {
        let (_dir, [jsonl, perfetto, waves]) = files(["e.jsonl", "p.pftrace", "w.fst"]);
        let mut options = vec!["--embedded", "--jsonl", &jsonl, "--perfetto", &perfetto];
        options.extend(["--waves", &waves]);
        options.extend(more);
        let output = tilescope(command, "demos/two-tiles", &options);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(0), "{command}: {text}");
        let mut seen = BTreeSet::new();
        for line in String::from_utf8(read(&jsonl)).expect("text").lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            seen.extend(event["tile"].as_array().map(|at| (at[0].as_u64(), at[1].as_u64())));
        }
        assert_eq!(seen.len(), 2, "{command}: {seen:?}");
        let trace = Trace::decode(&read(&perfetto)[..]).expect("a trace");
        let processes: BTreeSet<String> = processes(&trace).into_values().collect();
        assert_eq!(processes.len(), 2, "{command}: {processes:?}");
        let flows = |event: &perfetto::TrackEvent| !event.flows.is_empty();
        let arrows = trace.packet.iter().filter_map(|packet| packet.event.as_ref());
        assert!(arrows.filter(|event| flows(event)).count() > 2, "{command}: arrows");
        assert!(read(&waves).len() > 1000, "{command}");
    }
}

#[test]
fn forms_of_an_explanation_come_with_any_command() {
    for command in ["launch", "why", "report", "state"] {
        let (_dir, [html, sarif, dot]) = files(["h.html", "s.sarif", "g.dot"]);
        let options = ["--embedded", "--html", &html, "--sarif", &sarif, "--dot", &dot];
        let output = tilescope(command, "hazards/D1-increment-astray", &options);
        assert_eq!(output.status.code(), Some(3), "{command}: {}", said(&output));
        for (path, part) in [(&html, "increment-astray"), (&sarif, "D1"), (&dot, "digraph")] {
            let text = String::from_utf8(read(path)).expect("text");
            assert!(text.contains(part), "{command} {path}");
        }
    }
}

/// The map names by colour whoever has to do with it: one tile waits first, the others of a chain are stuck, one
/// has sent to the wrong place, one has returned. Tiles that are alike are one box of the graph.
#[test]
fn page_and_graph_show_who_has_to_do_with_it() {
    let forms = |name: &str| {
        let (_dir, [html, dot]) = files(["h.html", "g.dot"]);
        tilescope("why", name, &["--embedded", "--html", &html, "--dot", &dot]);
        let text = |path: &str| String::from_utf8(read(path)).expect("text");
        (text(&html), text(&dot))
    };
    let cells = |page: &str, class: &str| page.matches(&format!("<td class={class} ")).count();
    let (page, dot) = forms("hazards/D2-rectangle-one-short");
    assert_eq!((cells(&page, "cause"), cells(&page, "sent"), cells(&page, "done")), (1, 1, 2));
    assert!(page.contains("DEADLOCK[D2]: multicast-misses-tile</h1>"), "{page}");
    assert!(page.contains("likely meant for it, and went elsewhere:"), "{page}");
    assert!(!dot.contains("has sent it elsewhere"), "it is stuck itself: {dot}");
    let (page, dot) = forms("hazards/D4-chain-of-ten");
    assert_eq!((cells(&page, "cause"), cells(&page, "stuck"), cells(&page, "done")), (1, 8, 1));
    assert_eq!(dot.matches("style=dashed").count(), 2, "{dot}");
    let (_, dot) = forms("hazards/D1-increment-astray");
    assert!(dot.contains("tile (0, 0), has sent it elsewhere"), "{dot}");
}

/// Tiles stand in the same way only if their kernels are the same ones: two programs may have waits at the same pc.
/// The second kernel here is the first one under the name of another source, with the operands of a comparison
/// swapped, so that it is told apart by its code.
#[test]
fn tiles_with_waits_at_one_pc_of_two_kernels_are_not_alike() {
    let case = plan("hazards/D4-chain-of-ten");
    let dir = case.parent().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let mut elf = std::fs::read(dir.join("buggy-brisc.elf")).expect("a kernel");
    std::fs::write(folder.path().join("buggy-brisc.elf"), &elf).expect("written");
    // beq a2, t1 and beq t1, a2 by the GNU assembler.
    let swapped = (&0x0266_0c63_u32.to_le_bytes()[..], &0x02c3_0c63_u32.to_le_bytes()[..]);
    for (old, new) in [swapped, (b"chain-of-ten.c", b"other-people.c")] {
        let is_old = |at: &usize| elf[*at..].starts_with(old);
        let places: Vec<usize> = (0..elf.len()).filter(is_old).collect();
        assert!(!places.is_empty(), "{old:?}");
        places.iter().for_each(|at| elf[*at..at + new.len()].copy_from_slice(new));
    }
    std::fs::write(folder.path().join("other-brisc.elf"), &elf).expect("written");
    let text = std::fs::read_to_string(&case).expect("a plan");
    let path = folder.path().join("case.toml");
    let on = "\n[[launch.on]]\ntiles = [[3, 0]]\nkernel.brisc.elf = \"other-brisc.elf\"\n";
    std::fs::write(&path, text + on).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(["why", "--embedded"])
        .arg(&path)
        .env("TILESCOPE_CACHE", "no-such-cache")
        .output()
        .expect("it runs");
    let text = said(&output);
    assert!(text.contains("(3, 0) [NoC (4, 2)], launched by the host: BRISC polls"), "{text}");
    let alike: Vec<&str> = text.lines().filter(|line| line.contains("so do ")).collect();
    let [alike] = alike[..] else { panic!("{text}") };
    assert!(alike.contains("(2, 0), (4, 0)"), "{alike}");
    assert!(text.contains("other-people.c:13"), "{text}");
}

#[test]
fn report_and_state_tell_each_tile_and_can_be_narrowed_to_one() {
    let output = tilescope("report", "demos/two-tiles", &["--embedded", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["verdict"], "DONE");
    assert_eq!(value["tiles"].as_array().expect("tiles").len(), 2);
    let output = tilescope("report", "demos/two-tiles", &["--embedded", "--tiles", "1,0"]);
    let text = said(&output);
    assert!(text.contains("tile 1,0 (NoC 2-2)") && !text.contains("tile 0,0"), "{text}");
    assert!(text.contains("[main trisc.c:"), "names of the firmware:\n{text}");
    assert!(text.contains("[kernel_main two-tiles.c:"), "names of its kernel:\n{text}");
    let options =
        ["--embedded", "--tiles", "0,0", "--show", "core.brisc.pc", "--dump", "0x1000:16"];
    let text = said(&tilescope("state", "demos/two-tiles", &options));
    assert!(text.starts_with("DONE at cycle ") && text.contains("brisc"), "{text}");
    assert!(text.contains("tile 0,0 (NoC 1-2)\n00001000 "), "{text}");
    let output = tilescope("state", "demos/two-tiles", &["--embedded", "--tiles", "5,5"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("--tiles 5,5: the session has done nothing there"), "{error}");
}

#[test]
fn state_stops_at_a_cycle_and_after_a_launch() {
    let state = |options: &[&str]| {
        let mut all = vec!["--embedded", "--json", "--tiles", "0,0"];
        all.extend(options);
        let output = tilescope("state", "demos/two-tiles", &all);
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        value["cycle"].as_u64().expect("a cycle")
    };
    let (boot, launch, end) =
        (state(&["--after-launch", "0"]), state(&["--after-launch", "1"]), state(&[]));
    assert!(boot < launch && launch <= end, "{boot} {launch} {end}");
    let early = state(&["--at-cycle", "1500"]);
    assert!((1500..end).contains(&early), "{early}");
    let output = tilescope("state", "demos/two-tiles", &["--embedded", "--after-launch", "2"]);
    assert_eq!(output.status.code(), Some(2));
}

/// A mistake is named by the source of the kernel; of a jump to nowhere by who has called.
#[test]
fn mistake_of_a_kernel_is_named_by_function_and_line() {
    for (id, parts) in [
        ("C11-undefined", ["Tensix T", "pc 0x", " in kernel_main undefined-instruction.c:"]),
        ("C11-illegal", ["NCRISC", "pc 0x30010", " in no code that is known, called from "]),
    ] {
        let (dir, _) = case(id);
        let (_folder, path) = on_two_tiles(&dir);
        let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(["launch", "--embedded", &path])
            .env("TILESCOPE_CACHE", "no-such-cache")
            .output()
            .expect("it runs");
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        for tile in ["tile (0, 0) [NoC (1, 2)]", "tile (2, 1) [NoC (3, 3)]"] {
            let line = text.lines().find(|line| line.contains("error: ") && line.contains(tile));
            let line = line.unwrap_or_else(|| panic!("none of {tile}:\n{text}"));
            assert!(
                line.contains("cycle ") && parts.iter().all(|part| line.contains(part)),
                "{line}"
            );
        }
    }
}

/// A plan of the corpus on two tiles that do nothing to each other; the kernels stay where they are.
fn on_two_tiles(dir: &Path) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(dir.join("case.toml")).expect("a plan");
    let text = text.replace("elf = \"", &format!("elf = \"{}/", dir.display()));
    let text = text.replacen("[[launch]]", "[[launch]]\ntiles = [[0, 0], [2, 1]]", 1);
    let path = folder.path().join("case.toml");
    std::fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    (folder, path)
}

/// Each of the contracts of the corpus that hangs nobody, on two tiles that do nothing to each other.
#[test]
fn contracts_are_looked_at_on_every_tile_and_can_be_allowed() {
    for id in ["B10", "C14", "C15", "C16", "C17"] {
        let (dir, name) = case(id);
        let (folder, path) = on_two_tiles(&dir);
        let why = |options: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_tilescope"))
                .args(["why", "--embedded", "--max-cycles", "200000"])
                .arg(&path)
                .args(options)
                .env("TILESCOPE_CACHE", "no-such-cache")
                .output()
                .expect("it runs")
        };
        let text = said(&why(&[]));
        assert!(text.contains(&format!("[{id}]")), "{name}:\n{text}");
        let allow = folder.path().join("allow.toml");
        std::fs::write(&allow, format!("[[allow]]\nid = \"{id}\"\nreason = \"known\"\n"))
            .expect("written");
        let text = said(&why(&["--allow", &allow.display().to_string()]));
        assert!(!text.contains(&format!("warning[{id}]")), "{name}:\n{text}");
    }
}

/// What is told first has the line, also of a wait that no other tile can end.
#[test]
fn headline_of_a_wait_within_a_tile_has_its_line() {
    let dir = plan("hazards/A1-cb-starved").canonicalize().expect("in the corpus");
    let (_folder, path) = on_two_tiles(dir.parent().expect("a folder"));
    let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(["why", "--embedded", &path])
        .env("TILESCOPE_CACHE", "no-such-cache")
        .output()
        .expect("it runs");
    let text = said(&output);
    let first = text.lines().next().unwrap_or_default();
    let class = "DEADLOCK[A1]: cb-starved on 2 tile(s): tile (0, 0) [NoC (1, 2)] NCRISC polls for ";
    assert!(first.starts_with(class), "{first}");
    assert!(first.ends_with(" in kernel_main cb-starved.c:18"), "{first}");
}

/// The folder of a class of the corpus.
fn case(id: &str) -> (PathBuf, String) {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/hazards");
    let mut entries = std::fs::read_dir(&all).expect("the corpus").flatten();
    let entry = entries.find(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with(&format!("{id}-"))
    });
    let entry = entry.unwrap_or_else(|| panic!("{id} is in the corpus"));
    let path = entry.path().canonicalize().expect("there");
    (path, entry.file_name().to_string_lossy().into_owned())
}

/// The instructions that a listing has: tile, cycle, core.
fn listed(path: &str) -> Vec<(String, u64, String)> {
    let text = String::from_utf8(read(path)).expect("text");
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let tile = words.next().expect("a tile");
        let cycle = words.next().and_then(|word| word.parse().ok()).expect("a cycle");
        (tile, cycle, words.next().expect("a core"))
    };
    text.lines().map(line).collect()
}

/// The boot word of the embedded firmware is `jal x0, 0x3AE0` by the GNU assembler; every tile's BRISC begins
/// with it. NCRISC of the plan's second tile runs a kernel, so that it is out of its reset there.
#[test]
fn instructions_of_all_tiles_are_listed_in_the_order_of_cycles() {
    let (_dir, [list, narrow, last]) = files(["all.log", "narrow.log", "last.log"]);
    let name = "demos/two-tiles";
    tilescope("launch", name, &["--embedded", "--instructions", &list]);
    let all = listed(&list);
    let text = String::from_utf8(read(&list)).expect("text");
    assert!(
        text.lines().next().is_some_and(|line| line.contains("2e10306f  j 0x3ae0")),
        "{text:.99}"
    );
    let tiles: BTreeSet<&str> = all.iter().map(|(tile, ..)| tile.as_str()).collect();
    assert_eq!(tiles.len(), 2, "{tiles:?}");
    assert!(all.is_sorted_by_key(|(_, cycle, _)| *cycle));
    // What is narrowed down is part of it.
    let (tile, middle) = (tiles.first().expect("two"), all[all.len() / 2].1);
    let from = middle.to_string();
    let options = ["--embedded", "--tiles", tile, "--cores", "brisc", "--from", &from];
    tilescope("why", name, &[&options[..], &["--instructions", &narrow]].concat());
    let part =
        |one: &&(String, u64, String)| one.0 == **tile && one.1 >= middle && one.2 == "BRISC";
    let expected: Vec<_> = all.iter().filter(part).cloned().collect();
    assert!(!expected.is_empty());
    assert_eq!(listed(&narrow), expected);
    tilescope("report", name, &["--embedded", "--instructions", &last, "--last", "7"]);
    assert_eq!(listed(&last), all[all.len() - 7..]);
}

#[test]
fn what_only_a_lone_tile_has_says_so() {
    for (command, options) in [
        ("launch", &["--embedded", "--logical", "1,1"][..]),
        ("launch", &["--embedded", "--stale-icache"]),
        ("why", &["--embedded", "--elf", "somewhere"]),
    ] {
        let output = tilescope(command, "demos/two-tiles", options);
        let error = String::from_utf8(output.stderr.clone()).expect("text");
        assert_eq!(output.status.code(), Some(2), "{command} {options:?}: {error}");
        assert!(error.contains("plan") && error.trim().lines().count() == 1, "{error}");
    }
}

/// A kernel that writes 64 bytes to DRAM, on two tiles with other data, in one launch and in two.
#[test]
fn note_tells_what_is_written_over_unread_in_one_launch() {
    let elf = plan("demos/two-tiles").with_file_name("ncrisc.elf");
    let kernel = format!(
        "semaphores = [1]\nkernel.ncrisc = {{ elf = '{}', args = ['dram(5)', 0x2000, 'sem(0)'] }}\n",
        elf.display()
    );
    let input = "[[launch.input]]\ntile = [1, 0]\naddress = 0x30000\nwords = [1, 2, 3]\n";
    let together =
        format!("[[launch]]\nname = 'both'\ntiles = [[[0, 0], [1, 0]]]\n{kernel}{input}");
    let apart = format!(
        "[[launch]]\nname = 'first'\ntiles = [[0, 0]]\n{kernel}\n\
         [[launch]]\nname = 'second'\ntiles = [[1, 0]]\n{kernel}{input}"
    );
    for (text, is_lost) in [(together, true), (apart, false)] {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("case.toml"), text).expect("written");
        let name = dir.path().display().to_string();
        let output = tilescope("why", &name, &["--embedded"]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        let notes: Vec<_> = text.lines().filter(|line| line.starts_with("note: ")).collect();
        assert_eq!(notes.len(), usize::from(is_lost), "{text}");
        for part in [
            "note: tile (1, 0) [NoC (2, 2)]: [dram-overwritten]: write of other data at 0x2000 of DRAM bank 5",
            "over those of tile (0, 0) [NoC (1, 2)], NCRISC",
            "from the same line",
            "two-tiles.c:24",
        ] {
            assert_eq!(text.contains(part), is_lost, "{part}:\n{text}");
        }
        let output = tilescope("why", &name, &["--embedded", "--json"]);
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let notes = value["notes"].as_array().map(Vec::len);
        assert_eq!(notes, Some(usize::from(is_lost)), "{value}");
    }
}
