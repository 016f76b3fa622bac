//! `tilescope state` through the built binary, on embedded firmware. What the mutex kernels leave
//! behind is derived in `firmware-tests/programs/kernels/mutex/case.toml`: 75 in configuration word
//! 209 after the first launch, and 1 in GPR 21 of every thread.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn tilescope(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(args).env("TILESCOPE_CACHE", "no-such-cache").stdin(Stdio::null());
    command.output().expect("the binary runs")
}

fn state(args: &[&str]) -> String {
    let args = [&["state", "--embedded"], args].concat();
    let output = tilescope(&args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&state(&[args, &["--json"]].concat())).expect("one JSON object")
}

fn mutex() -> String {
    let path = firmware_tests::programs_dir().join("kernels/mutex/case.toml");
    path.display().to_string()
}

#[test]
fn state_after_a_launch_shows_what_kernels_left_behind() {
    let shown = ["--after-launch", "1", "--show", "scratch_sec0_val", "--show", "gpr.*.r21"];
    let value = json(&[&[mutex().as_str()], &shown[..]].concat());
    assert_eq!(value["schema"], "tilescope-state/1");
    assert_eq!(value["stages"].as_array().map(Vec::len), Some(2));
    assert_eq!(value["stages"][1]["verdict"], "DONE");
    let tensix = &value["state"]["tensix"];
    assert_eq!(tensix["config"]["state0"]["SCRATCH_SEC0_val"], 75);
    for thread in ["T0", "T1", "T2"] {
        assert_eq!(tensix["gpr"][thread]["r21"], 1, "{thread}");
    }
    assert_eq!(value["state"]["core"], Value::Null, "not asked for");
    let text = state(&[&[mutex().as_str()], &shown[..]].concat());
    assert!(text.contains("mutex-config DONE at cycle"), "{text}");
    assert!(text.contains("SCRATCH_SEC0_val             0x4b (75)"), "{text}");
}

#[test]
fn state_at_a_cycle_is_that_of_the_same_run_everywhere() {
    let at = |more: &[&str]| {
        let plan = mutex();
        json(&[&[plan.as_str(), "--at-cycle", "6500", "--epoch", "1", "--all"], more].concat())
    };
    let inline = at(&["--engine", "inline"]);
    assert_eq!(inline["cycle"], 6500);
    assert_eq!(at(&["--engine", "threads"]), inline);
    assert_eq!(at(&["--no-parking"])["state"]["tensix"], inline["state"]["tensix"]);
}

#[test]
fn state_has_every_group_and_every_row_when_asked() {
    let value = json(&["--all", "--rows", "0..1024"]);
    let state = &value["state"];
    for group in ["core", "mailbox", "pcbuf", "noc0", "noc1", "tensix"] {
        assert!(state[group].is_object(), "no {group}");
    }
    // [spec: boot-and-sync 3]: after the boot the go signal is done and four cores poll L1.
    assert_eq!(state["core"]["ncrisc"]["status"], "running");
    assert_eq!(state["core"]["trisc1"]["zero"], 0);
    assert_eq!(state["mailbox"]["brisc_to_trisc0"], Value::Array(Vec::new()));
    assert_eq!(state["noc0"]["NIU_MST_RD_REQ_SENT"], 0);
    let tensix = &state["tensix"];
    assert_eq!(tensix["vector"]["lreg10"].as_array().map(Vec::len), Some(32));
    assert_eq!(tensix["src"]["b"]["bank1"]["rows"].as_array().map(Vec::len), Some(64));
    assert_eq!(tensix["dst"]["rows16"]["rows"].as_array().map(Vec::len), Some(1024));
    assert_eq!(tensix["dst"]["rows32"], Value::Null, "not the width in force");
    for part in ["frontend", "wait", "thread_config", "gpr", "adc", "rwc"] {
        assert!(tensix[part]["T2"].is_object(), "no {part}");
    }
    for part in ["sync", "scalar", "mover", "units", "unpackers", "packer"] {
        assert!(tensix[part].is_object(), "no {part}");
    }
}

#[test]
fn vector_registers_and_cells_are_read_in_the_format_asked_for() {
    // [isa-bh: TensixCoprocessor/SFPCONFIG.md], [spec: numerics 5]: the constants 0.8373, 0, 1.
    let text = state(&["--show", "lreg8", "--show", "lreg10", "--format", "fp32"]);
    assert!(text.contains("0.837300") || text.contains("0.8373"), "{text}");
    let value = json(&["--show", "lreg10", "--show", "dst", "--format", "fp32", "--rows", "5"]);
    let tensix = &value["state"]["tensix"];
    assert_eq!(tensix["vector"]["lreg10"]["raw"][31], 0x3F80_0000);
    assert_eq!(tensix["vector"]["lreg10"]["values"][31], 1.0);
    assert_eq!(tensix["dst"]["rows16"], Value::Null);
    let wide = &tensix["dst"]["rows32"];
    assert_eq!((&wide["kind"], &wide["format"]), (&"dst32".into(), &"fp32".into()));
    assert_eq!(wide["rows"][0]["row"], 5);
    assert_eq!(wide["rows"][0]["values"].as_array().map(Vec::len), Some(16));
    let narrow = ["--show", "dst", "--format", "int8", "--rows", "0..2", "--columns", "4..6"];
    let narrow = &json(&narrow)["state"]["tensix"]["dst"]["rows16"];
    assert_eq!(narrow["first_column"], 4);
    assert_eq!(narrow["rows"][1]["raw"].as_array().map(Vec::len), Some(2));
}

#[test]
fn mistakes_in_what_is_asked_for_are_one_line() {
    for (args, part) in [
        (&["--show", "no_such_register"][..], "no_such_register"),
        (&["--after-launch", "1"], "the plan has 0 launches"),
    ] {
        let output = tilescope(&[&["state", "--embedded"], args].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text.starts_with("error: ") && text.lines().count() == 1, "{text}");
        assert!(text.contains(part), "{text}");
    }
    for args in [&["--rows", "8..4"][..], &["--format", "fp64"]] {
        let output = tilescope(&[&["state", "--embedded"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn rows_of_dst_after_a_kernel_are_the_numbers_it_computed() {
    // kernels/add1/case.toml: x(i) + 1 with x(i) = (7 i^2 + 3 i) mod 255 - 127; the last face, from
    // i = 768 on, is in the second half of Dst.
    let plan = firmware_tests::programs_dir().join("kernels/add1/case.toml");
    let plan = plan.display().to_string();
    let value = json(&[&plan, "--show", "tensix.dst", "--rows", "512..528"]);
    let rows = &value["state"]["tensix"]["dst"]["rows16"];
    assert_eq!((&rows["format"], &rows["in_force"]), (&"bf16".into(), &true.into()));
    for (index, i) in (768_i64..1024).enumerate() {
        let expected = ((7 * i * i + 3 * i) % 255 - 126) as f64;
        let found = &rows["rows"][index / 16]["values"][index % 16];
        assert_eq!(found.as_f64(), Some(expected), "x({i})");
    }
    // The unpackers filled SrcB with ones, and recorded BF16.
    let value = json(&[&plan, "--show", "src.b.bank1", "--rows", "15"]);
    let bank = &value["state"]["tensix"]["src"]["b"]["bank1"];
    assert_eq!(bank["format"], "bf16");
    assert_eq!(bank["rows"][0]["values"], Value::from(vec![1.0; 16]));
}
