//! What the library exports: hosts take decisions by what they find.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeSet;
use std::process::Command;

/// Names `nm -D` shows as defined.
fn exported() -> BTreeSet<String> {
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(common::library()).output().unwrap();
    assert!(output.status.success(), "nm, of the C compiler's package");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect()
}

#[test]
fn ttsim_symbols_are_those_of_a_single_chip() {
    let ttsim: BTreeSet<String> =
        exported().into_iter().filter(|name| name.starts_with("libttsim")).collect();
    let wanted = hostlib::abi::SYMBOLS.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(ttsim, wanted);
}

#[test]
fn everything_else_is_in_the_header() {
    let header = include_str!("../include/tilescope.h");
    for name in exported() {
        let known = name.starts_with("libttsim") || header.contains(&format!(" {name}("));
        assert!(known || header.contains(&format!("*{name}(")), "{name} is exported by accident");
    }
}
