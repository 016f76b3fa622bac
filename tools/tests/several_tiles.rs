//! Plans of several tiles on the command line: results, verdicts, exit status, and what is for one tile.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

#[test]
fn views_of_one_tile_say_so() {
    for (command, options) in [
        ("launch", &["--embedded", "--trace-handshakes"][..]),
        ("launch", &["--embedded", "--logical", "1,1"]),
        ("why", &["--embedded", "--perfetto", "x.pftrace"]),
        ("state", &["--embedded"]),
    ] {
        let output = tilescope(command, "demos/two-tiles", options);
        let error = String::from_utf8(output.stderr.clone()).expect("text");
        assert_eq!(output.status.code(), Some(2), "{command} {options:?}: {error}");
        assert!(error.contains("tile") && error.trim().lines().count() == 1, "{error}");
    }
}
