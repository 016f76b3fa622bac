//! Frontend streams as text: input words to issued words.

mod common;

use common::Bench;
use sim_core::ThreadId;
use tensix::TimingModel;

/// One case of the text file: its name, a fresh machine with the input pushed, the expected words.
fn replay(case: &str) -> (String, Vec<u32>, Vec<u32>) {
    let mut bench = Bench::new(TimingModel::Unit);
    let mut expected = Vec::new();
    let (name, body) = case.split_once('\n').expect("a case has a name");
    for line in body.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let hex = |text: &str| u32::from_str_radix(text, 16).expect("words are hexadecimal");
        match words[..] {
            ["config", index, value] => {
                bench.tensix.write_mop_config(ThreadId::T0, hex(index), hex(value)).expect("0..9");
            }
            ["in", word] => {
                bench.push(ThreadId::T0, hex(word)).expect("there is room");
                bench.step().expect("the words are modelled");
            }
            ["out", word] => expected.push(hex(word)),
            _ => panic!("cannot read line {line:?}"),
        }
    }
    bench.settle(10_000).expect("the words are modelled");
    assert!(bench.tensix.thread_idle(ThreadId::T0), "{name}: something is left over");
    (name.to_owned(), bench.issued().into_iter().map(|(_, word)| word).collect(), expected)
}

#[test]
fn frontend_streams_match_text() {
    let text = include_str!("streams/frontend.txt");
    let cases: Vec<_> = text.split("\ncase ").skip(1).map(replay).collect();
    assert_eq!(cases.len(), 9);
    for (name, issued, expected) in cases {
        assert_eq!(
            issued.iter().map(|word| format!("{word:08x}")).collect::<Vec<_>>(),
            expected.iter().map(|word| format!("{word:08x}")).collect::<Vec<_>>(),
            "{name}"
        );
    }
}
