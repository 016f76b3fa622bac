//! Causes that lie on other tiles: chips of a few tiles with programs of a few instructions, and what is
//! said first.
//!
//! BRISC of each tile waits for a word of its own and sends an increment to another tile; who never sends, or
//! sends elsewhere, is the cause. Programs are written here, so where each instruction lies is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use chip::{Chip, ChipConfig, Hang, HostPoll, Stance, Witness};
use isa::asm::{addi, bne, j, li, lw, sw};
use sim_core::{CoreId, NullObserver};
use symbols::catalog::Catalog;

use crate::Kept;
use crate::explain::report;
use crate::lens::Lens;
use crate::names::read_names;
use crate::remote::Astray;
use crate::report::Report;
use crate::suppose::what_if;
use crate::traffic::Traffic;
use crate::view::TileView;

/// SOFT_RESET_0 with BRISC alone released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const ONLY_BRISC_RUNS: u32 = 0x4_7000;
/// Where programs lie; address 0 jumps there.
const PROGRAM: u32 = 0x1_0000;
/// The word that a tile waits for, and one beside it.
const WORD: u32 = 0x4_0000;
const BESIDE: u32 = WORD + 16;
/// First command register of NoC 0 `[isa-bh: NoC/MemoryMap.md]`.
const NIU: u32 = 0xFFB2_0000;
const EBREAK: u32 = 0x0010_0073;
/// NOC_CTRL: an atomic without a response; a write of data with one, to a rectangle or with its own tile too
/// `[isa-bh: NoC/MemoryMap.md]`.
const ATOMIC: u32 = 0x1;
const MULTICAST: u32 = 0x2 | 1 << 5;
const LOOPBACK: u32 = 1 << 17;

/// A worker, by its translated coordinate.
type At = (u32, u32);
const A: At = (1, 2);
const B: At = (2, 2);
const C: At = (3, 2);

/// BRISC polls its word until it is `value`.
fn waits(value: u32) -> Vec<u32> {
    let mut words = [li(5, WORD), li(7, value)].concat();
    words.extend([lw(6, 5, 0), bne(6, 7, -4)]);
    words
}

/// As the registers of a command have it.
fn pair((x, y): At) -> u32 {
    x | y << 6
}

/// Writes command registers and starts the command.
fn command(registers: &[(i32, u32)]) -> Vec<u32> {
    let mut words = li(10, NIU).to_vec();
    for &(register, value) in registers.iter().chain(&[(0x40, 1)]) {
        words.extend(li(11, value));
        words.push(sw(11, 10, register));
    }
    // Until the command is taken.
    words.extend([lw(11, 10, 0x40), bne(11, 0, -4)]);
    words
}

/// Increments a word of a tile: opcode 1, 32 bits wide, the word within 16 bytes `[isa-wh: NoC/Atomics.md]`.
fn increments(at: At, addr: u32) -> Vec<u32> {
    let operands = 1 << 12 | 31 << 2 | addr >> 2 & 3;
    let target = [(0x00, addr), (0x04, 0), (0x08, pair(at))];
    command(&[&target[..], &[(0x1C, ATOMIC), (0x20, operands), (0x28, 1)]].concat())
}

/// Reads 16 bytes of another tile into tile A, with a response.
fn reads(from: At, addr: u32) -> Vec<u32> {
    const READ: u32 = 1 << 4;
    let (from, to) = ([(0x00, addr), (0x08, pair(from))], [(0x0C, WORD), (0x14, pair(A))]);
    command(&[&from[..], &to, &[(0x1C, READ), (0x20, 16)]].concat())
}

/// Writes a word with something in it to that word of all tiles of a rectangle.
fn multicasts(from: At, first: At, last: At, control: u32) -> Vec<u32> {
    let source = PROGRAM;
    let registers = [
        (0x00, source),
        (0x04, 0),
        (0x08, pair(from)),
        (0x0C, WORD),
        (0x10, 0),
        (0x14, pair(first) << 12 | pair(last)),
        (0x1C, control),
        (0x20, 4),
    ];
    command(&registers)
}

fn ends() -> Vec<u32> {
    vec![j(0)]
}

fn start<O: Kept + Send + 'static>(chip: &mut Chip<O>, (x, y): At, parts: &[Vec<u32>]) {
    let bytes: Vec<u8> = parts.concat().iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut write = |addr: u64, bytes: &[u8]| {
        chip.tile_write(x, y, addr, bytes).expect("L1 or a register");
    };
    write(PROGRAM.into(), &bytes);
    write(0, &j(PROGRAM.cast_signed()).to_le_bytes());
    write(SOFT_RESET_0, &ONLY_BRISC_RUNS.to_le_bytes());
}

/// The host polls a word of tile A that is nobody's.
fn hang<O: Kept + Send + 'static>(chip: &mut Chip<O>) -> Hang {
    chip.clock(1 << 14);
    let polls = [HostPoll { tile: 0, addr: WORD + 0x100, bytes: 4 }];
    chip.hang(Stance::Waits, &polls, &Witness::default()).expect("nobody moves")
}

/// What the state alone tells.
fn from_state(programs: &[(At, &[Vec<u32>])]) -> Report {
    let mut chip: Chip<NullObserver> =
        Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    for (at, parts) in programs {
        start(&mut chip, *at, parts);
    }
    let hang = hang(&mut chip);
    report(&mut chip, &hang, |_, _| TileView::default())
}

/// What a watched run tells.
fn watched(programs: &[(At, &[Vec<u32>])]) -> Report {
    let config = ChipConfig { threads: 1, ..ChipConfig::default() };
    let mut chip =
        Chip::watched(config, |_| Lens::new(Some(vec![(WORD, 4)])).with_counts(vec![WORD]));
    for (at, parts) in programs {
        start(&mut chip, *at, parts);
    }
    let hang = hang(&mut chip);
    let mut told = report(&mut chip, &hang, |_, _| TileView::default());
    let mut traffic = Traffic::default();
    let catalog = Catalog::from_items(Vec::new());
    let mut names = BTreeMap::new();
    for tile in &hang.tiles {
        chip.inspect(tile.number, |machine| {
            let own = read_names(machine, &catalog);
            traffic.add(tile, &Arc::clone(&own), machine.observer());
            names.insert(tile.number, own);
        });
    }
    traffic.tell(&mut chip, &hang, &mut told);
    let hash = chip.state_hash();
    what_if(&chip, &hang, &names, &mut told);
    assert_eq!(chip.state_hash(), hash, "it is only looked at");
    told
}

/// Where the first tile's program is after so many words.
fn pc(words: usize) -> String {
    format!("pc {:#x}", PROGRAM + 4 * words as u32)
}

/// The tiles of a chain, the first symptom first.
fn chain(report: &Report) -> Vec<(u8, u8)> {
    report.cause.chain.iter().map(|step| step.tile).collect()
}

#[test]
fn what_the_host_waits_for_is_named_before_what_it_reads_of_every_tile() {
    let mut chip: Chip<NullObserver> =
        Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    start(&mut chip, A, &[waits(1)]);
    chip.clock(1 << 14);
    let word = |name| memory_map::mailbox::address(name).expect("a field");
    let (print, go) = (word("dprint_buf.wpos"), word("go_messages[0].signal"));
    let mut told = |words: &[(u16, u32)]| {
        let poll = |&(tile, addr)| HostPoll { tile, addr, bytes: 4 };
        let polls: Vec<_> = words.iter().map(poll).collect();
        let hang = chip.hang(Stance::Waits, &polls, &Witness::default()).expect("nobody moves");
        report(&mut chip, &hang, |_, _| TileView::default()).host
    };
    let done = "for DONE (it is";
    let text = told(&[(0, print), (1, print), (2, print), (0, WORD), (1, go)]);
    assert!(
        text.starts_with("the host polls the go message of tile (1, 0) [NoC (2, 2)]"),
        "{text}"
    );
    assert!(text.contains(done), "{text}");
    let rest = "), dprint_buf.wpos of tile (0, 0) [NoC (1, 2)] and of 2 more tiles, \
                the word at 0x40000 of tile (0, 0) [NoC (1, 2)]";
    assert!(text.ends_with(rest), "{text}");
    let text = told(&[(0, print), (1, print)]);
    let pair = "the host polls dprint_buf.wpos of tile (0, 0) [NoC (1, 2)] and of another tile";
    assert_eq!(text, pair);
    let text = told(&[(0, go), (1, go), (2, go), (3, go), (0, print), (1, print)]);
    assert_eq!(text.matches(done).count(), 3, "{text}");
    assert!(text.ends_with(", 3 words more"), "{text}");
}

#[test]
fn core_that_stopped_behind_a_chain_of_ten_is_the_root() {
    let row: Vec<At> = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13].map(|x| (x, 2)).to_vec();
    let mut programs = Vec::new();
    for pair in row.windows(2) {
        // Each waits for the one on its right.
        programs.push((pair[1], pair[0]));
    }
    let parts: Vec<(At, Vec<Vec<u32>>)> = programs
        .iter()
        .map(|&(own, left)| {
            let wait = if own.0 == 13 { vec![EBREAK] } else { waits(1) };
            (own, vec![wait, increments(left, WORD), ends()])
        })
        .chain([(A, vec![waits(1), ends()])])
        .collect();
    let parts: Vec<(At, &[Vec<u32>])> = parts.iter().map(|(at, parts)| (*at, &parts[..])).collect();
    let told = from_state(&parts);
    let text = told.to_string();
    assert!(
        told.cause
            .headline
            .starts_with("tile (10, 0) [NoC (13, 2)] BRISC has stopped at an ebreak"),
        "{text}"
    );
    assert_eq!(chain(&told), (0..=10).map(|x| (x, 0)).collect::<Vec<_>>(), "{text}");
    assert_eq!(told.tiles[0].tile, (10, 0), "{text}");
    let place = pc(waits(1).len() + increments(A, WORD).len() - 3);
    let needs = told.cause.chain[0].needs.clone().expect("who would do it");
    let expected =
        format!("an atomic by BRISC of tile (1, 0) [NoC (2, 2)], behind its own wait, in {place}");
    assert_eq!(needs, expected);
}

#[test]
fn tiles_that_wait_for_each_other_are_a_circle() {
    let told = from_state(&[
        (A, &[waits(1), increments(B, WORD), ends()]),
        (B, &[waits(1), increments(C, WORD), ends()]),
        (C, &[waits(1), increments(A, WORD), ends()]),
    ]);
    let text = told.to_string();
    assert!(told.cause.circle, "{text}");
    let tiles: Vec<_> = told.cause.ring.iter().map(|step| step.tile).collect();
    assert_eq!(tiles, [(0, 0), (2, 0), (1, 0), (0, 0)], "{text}");
    assert!(
        text.contains(
            "a circle: tile (0, 0) [NoC (1, 2)] waits for tile (2, 0) [NoC (3, 2)] waits for \
             tile (1, 0) [NoC (2, 2)] waits for tile (0, 0) [NoC (1, 2)]"
        ),
        "{text}"
    );
}

/// Two could end the wait of A, and one of them is stuck for good on its own: that is no circle with the other.
#[test]
fn wait_that_either_of_two_could_end_is_no_circle() {
    let told = from_state(&[
        (A, &[waits(1), increments(B, WORD), ends()]),
        (B, &[waits(1), increments(A, WORD), ends()]),
        (C, &[vec![EBREAK], increments(A, WORD), ends()]),
    ]);
    let text = told.to_string();
    assert!(!told.cause.circle, "{text}");
    assert!(
        told.cause.headline.starts_with("tile (2, 0) [NoC (3, 2)] BRISC has stopped"),
        "{text}"
    );
}

#[test]
fn increment_of_the_wrong_tile_is_named_with_its_sender() {
    // C sits beside A, and has nothing to do.
    let told =
        watched(&[(A, &[waits(1), ends()]), (B, &[increments(C, WORD), ends()]), (C, &[ends()])]);
    let place = pc(increments(C, WORD).len() - 3);
    let text = told.to_string();
    let expected = format!(
        "tile (1, 0) [NoC (2, 2)] BRISC in {place}: 1 x atomic to tile (2, 0) [NoC (3, 2)]: to \
         another tile"
    );
    assert!(told.cause.headline.starts_with(&expected), "{text}");
    assert!(text.contains("tile (0, 0) [NoC (1, 2)] BRISC polls L1 word 0x40000"), "{text}");
}

#[test]
fn increment_of_the_wrong_word_is_named() {
    let told = watched(&[(A, &[waits(1), ends()]), (B, &[increments(A, BESIDE), ends()])]);
    let text = told.to_string();
    assert!(told.cause.headline.contains("to another word of this tile"), "{text}");
}

/// A word that the tile clears itself has its own use, whatever lies beside it.
#[test]
fn increment_of_a_word_that_the_tile_uses_is_not_taken_for_another() {
    let clears = [li(5, BESIDE).to_vec(), vec![sw(0, 5, 0)]].concat();
    let late = [li(5, 400).to_vec(), vec![addi(5, 5, -1), bne(5, 0, -4)]].concat();
    let told =
        watched(&[(A, &[clears, waits(1), ends()]), (B, &[late, increments(A, BESIDE), ends()])]);
    let headline = &told.cause.headline;
    assert!(headline.contains("nothing has been sent to L1 word 0x40000"), "{told}");
}

/// A waits for B, which waits for what A would send behind that, and has sent nothing itself.
#[test]
fn one_who_waits_for_the_answer_is_named_where_nobody_asked() {
    let told = watched(&[(A, &[waits(1), increments(B, WORD), ends()]), (B, &[waits(1), ends()])]);
    let headline = &told.cause.headline;
    assert!(headline.contains("nothing has been sent to L1 word 0x40000"), "{told}");
    assert!(
        headline.contains("tile (1, 0) [NoC (2, 2)] BRISC polls L1 word 0x40000")
            && headline.contains("who waits for what comes behind that, has not either"),
        "{told}"
    );
}

/// What is said of a copy in which something else is true.
fn supposed(report: &Report) -> Vec<&str> {
    report.tiles[0].explanation.supposed.iter().map(|supposed| &supposed.text[..]).collect()
}

/// A and B wait for each other. With what A waits for it asks B, which answers, and both come to their end; with
/// what B waits for it does what A waits for.
#[test]
fn copy_in_which_the_awaited_word_is_there_tells_who_goes_on_on_which_tile() {
    let told = watched(&[
        (A, &[waits(1), increments(B, WORD), ends()]),
        (B, &[waits(1), increments(A, WORD), ends()]),
    ]);
    let place = pc(waits(1).len() + increments(A, WORD).len() - 3);
    let expected = [
        format!(
            "if L1 word 0x40000 of tile (0, 0) were 0x1, BRISC there would send an atomic to tile (1, 0) [NoC (2, 2)] \
             in {place}; all others that are stuck would go on too, and the program would come to its end"
        ),
        format!(
            "if L1 word 0x40000 of tile (1, 0) were 0x1, BRISC of tile (1, 0) would send an atomic to tile (0, 0) \
             [NoC (1, 2)] in {place}"
        ),
    ];
    assert_eq!(supposed(&told), expected, "{told}");
    let agents: Vec<_> = told.tiles[0].explanation.supposed.iter().map(|one| one.tile).collect();
    assert_eq!(agents, [Some((0, 0)), Some((1, 0))]);
    assert!(told.to_string().contains("what if\n    if L1 word 0x40000"), "{told}");
}

/// A would wait again, and B does not write what A waits for, whatever it gets.
#[test]
fn copies_in_which_nobody_does_it_say_so() {
    let told = watched(&[
        (A, &[waits(1), waits(2), ends()]),
        (B, &[vec![addi(0, 0, 0)], waits(3), ends()]),
    ]);
    let texts = supposed(&told);
    let [first, last] = texts[..] else { panic!("{told}") };
    assert!(first.contains("were 0x1, BRISC there would go on; nobody else would go on"), "{told}");
    let then = "then BRISC polls L1 word 0x40000 = 0x1, compared with 0x2";
    assert!(first.ends_with(then), "{told}");
    assert_eq!(
        last,
        "nobody would write L1 word 0x40000 of tile (0, 0) any more, whatever else came"
    );
}

/// Three are waited for, once; the fourth increment goes on from there.
#[test]
fn count_that_goes_on_is_said_to_be_never_set_back() {
    let once = increments(A, WORD);
    let late = |rounds: u32| [li(5, rounds).to_vec(), vec![addi(5, 5, -1), bne(5, 0, -4)]].concat();
    let told = watched(&[
        (A, &[waits(1), late(400), waits(1), ends()]),
        (B, &[once.clone(), late(100), once, ends()]),
    ]);
    let text = told.to_string();
    assert!(text.contains("A15"), "{text}");
    assert!(text.contains("a store that sets L1 word 0x40000 back: it was 0x1 at cycle"), "{text}");
}

/// B asks, A answers, and both begin another round, for which B has not asked.
#[test]
fn answer_that_nobody_asked_for_is_told_with_who_waits_for_it() {
    let clear = [li(5, WORD).to_vec(), vec![sw(0, 5, 0)]].concat();
    let answers = [waits(1), clear.clone(), increments(B, WORD)].concat();
    let asks = increments(A, WORD);
    let told = |second: &[u32]| {
        watched(&[
            (A, &[answers.clone(), answers.clone(), waits(2), ends()]),
            (
                B,
                &[
                    asks.clone(),
                    waits(1),
                    clear.clone(),
                    second.to_vec(),
                    waits(1),
                    asks.clone(),
                    ends(),
                ],
            ),
        ])
    };
    let text = told(&[]).to_string();
    let place = pc(asks.len() - 3);
    let expected = format!(
        "tile (1, 0) [NoC (2, 2)] BRISC waits for another answer and has not raised L1 word 0x40000 for it: \
         1 x in {place}, 1 answered; a circle: "
    );
    assert!(told(&[]).cause.headline.starts_with(&expected), "{text}");
    assert_eq!(told(&[]).cause.hazard.map(|hazard| hazard.id), Some("D7"), "{text}");
    // Asked for, both rounds are over: B has ended when A waits for more than it sends.
    let text = told(&[asks.clone(), clear.clone()].concat()).to_string();
    assert!(!text.contains("D7") && !text.contains("another answer"), "{text}");
}

/// B waits for the same count twice. Only if it sets it back, the second wait is one.
#[test]
fn who_goes_on_with_an_old_count_is_told() {
    let clear = [li(5, WORD).to_vec(), vec![sw(0, 5, 0)]].concat();
    let answers = increments(A, WORD);
    let told = |back: &[u32]| {
        watched(&[
            (B, &[waits(1), back.to_vec(), answers.clone(), waits(1), answers.clone(), ends()]),
            (
                A,
                &[
                    increments(B, WORD),
                    waits(1),
                    clear.clone(),
                    waits(1),
                    clear.clone(),
                    waits(1),
                    ends(),
                ],
            ),
        ])
    };
    let report = told(&[]);
    let second = pc(waits(1).len() + answers.len() + waits(1).len() - 2);
    let expected = format!(
        "tile (1, 0) [NoC (2, 2)] BRISC did not wait in {second}: L1 word 0x40000 was 1 as at the end of its wait before \
         in {}, and nobody has set it back; tile (0, 0) [NoC (1, 2)] BRISC polls ",
        pc(waits(1).len() - 2)
    );
    assert!(report.cause.headline.starts_with(&expected), "{report}");
    assert_eq!(report.cause.hazard.map(|hazard| hazard.id), Some("A15"), "{report}");
    let text = told(&clear).to_string();
    assert!(!text.contains("did not wait"), "{text}");
}

/// A sets its word back after each round and waits for one more in each.
#[test]
fn who_sets_a_count_back_and_waits_for_more_is_told() {
    let round = [vec![lw(6, 5, 0), bne(6, 7, -4), sw(0, 5, 0), addi(7, 7, 1)], increments(B, WORD)]
        .concat();
    let back = j(-4 * round.len() as i32);
    let start = [li(5, WORD), li(7, 1)].concat();
    let clear = [li(5, WORD).to_vec(), vec![sw(0, 5, 0)]].concat();
    let answer = [increments(A, WORD), waits(1), clear].concat();
    let report = watched(&[
        (A, &[start.clone(), round, vec![back]]),
        (B, &[answer.clone(), answer.clone(), answer, ends()]),
    ]);
    let expected = format!(
        "tile (0, 0) [NoC (1, 2)] BRISC sets L1 word 0x40000 back in {}, and waits for 2 where it waited for 1 before; a \
         circle: ",
        pc(start.len() + 2)
    );
    assert!(report.cause.headline.starts_with(&expected), "{report}");
    assert_eq!(report.cause.hazard.map(|hazard| hazard.id), Some("A15"), "{report}");
}

/// What C has sent to B is what B waits for, though A lacks one and B does something else than A.
#[test]
fn what_a_receiver_looks_at_was_meant_for_it() {
    let twice = [increments(B, WORD), increments(B, WORD)].concat();
    let told = |looks: Vec<u32>| {
        let report = watched(&[
            (A, &[waits(2), ends()]),
            (B, &[looks, increments(A, WORD), ends()]),
            (C, &[twice.clone(), ends()]),
        ]);
        report.to_string().contains("likely meant for it")
    };
    assert!(told(Vec::new()));
    assert!(!told(waits(2)));
}

#[test]
fn multicast_without_loopback_leaves_out_its_sender() {
    for (control, hangs) in [(MULTICAST, true), (MULTICAST | LOOPBACK, false)] {
        let sends = multicasts(A, A, B, control);
        let sum = [sends, waits(li(10, NIU)[0]), ends()];
        if hangs {
            let told = watched(&[(A, &sum), (B, &[ends()])]);
            let text = told.to_string();
            assert!(told.cause.headline.contains("leaves out the tile that sends it"), "{text}");
        } else {
            let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
            start(&mut chip, A, &sum);
            chip.clock(1 << 14);
            let polls = [HostPoll { tile: 0, addr: WORD, bytes: 4 }];
            let hang = chip.hang(Stance::Waits, &polls, &Witness::default());
            assert!(hang.is_none(), "the clean twin comes to its end");
        }
    }
}

/// Who counts on more acknowledgements than a multicast has recipients sees how many there are.
#[test]
fn multicast_that_a_barrier_waits_for_is_told_with_the_number_of_its_tiles() {
    /// Counter of acknowledged writes, and the bit of a request for one `[isa-bh: NoC/MemoryMap.md]`.
    const ACKNOWLEDGED: i32 = 0x204;
    const ANSWERED: u32 = 1 << 4;
    for (control, tiles) in [(0, "one tile"), (LOOPBACK, "2 tiles")] {
        let sends = multicasts(A, A, B, MULTICAST | ANSWERED | control);
        let awaits = [li(7, 5).to_vec(), vec![lw(6, 10, ACKNOWLEDGED), bne(6, 7, -4)]].concat();
        let text = watched(&[(A, &[sends, awaits, ends()]), (B, &[ends()])]).to_string();
        assert!(text.contains("BRISC polls noc0.NIU_MST_WR_ACK_RECEIVED"), "{text}");
        assert!(
            text.contains(&format!(", 4 bytes at {WORD:#x} of {tiles}, last at cycle")),
            "{text}"
        );
    }
}

/// A and B have sent something, so they count as tiles that do the same.
#[test]
fn rectangle_one_short_is_named() {
    let told = watched(&[
        (A, &[increments(A, WORD + 0x200), multicasts(A, B, B, MULTICAST), waits(9), ends()]),
        (B, &[increments(B, WORD + 0x200), waits(li(10, NIU)[0]), ends()]),
        (C, &[increments(C, WORD + 0x200), waits(1), ends()]),
    ]);
    let text = told.to_string();
    let of_c = told.tiles.iter().find(|tile| tile.tile == (2, 0)).expect("it waits");
    let remote = of_c.remote.as_ref().expect("a word of others'");
    let why = remote.elsewhere.first().and_then(|sender| sender.astray);
    assert_eq!(why, Some(Astray::Rectangle), "{text}");
}

/// Twice raised, and waited for once: both senders are named.
#[test]
fn overshoot_names_those_who_raised_the_word() {
    let twice = [increments(A, WORD), increments(A, WORD)].concat();
    // A looks late: the count has passed 1 by then.
    let late = [li(5, 400).to_vec(), vec![addi(5, 5, -1), bne(5, 0, -4)]].concat();
    let told = watched(&[
        (A, &[late, waits(1), ends()]),
        (B, &[twice, ends()]),
        (C, &[increments(A, WORD), ends()]),
    ]);
    let text = told.to_string();
    assert!(text.contains("A15"), "{text}");
    for part in [
        "L1 word 0x40000 was raised by",
        "tile (1, 0) [NoC (2, 2)] BRISC in",
        "tile (2, 0) [NoC (3, 2)] BRISC in",
    ] {
        assert!(told.cause.headline.contains(part), "{part}: {text}");
    }
}

/// What a parked core compares with is read off its code where nobody has watched it get there.
#[test]
fn wait_of_a_tile_that_nobody_watched_says_what_is_waited_for() {
    let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    start(&mut chip, A, &[waits(0x123), ends()]);
    let hang = hang(&mut chip);
    let told = report(&mut chip, &hang, |_, _| TileView::default());
    let text = &told.tiles[0].explanation.headline;
    assert_eq!(text, "BRISC polls L1 word 0x40000 = 0x0, compared with 0x123", "{told}");
}

/// BRISC pushes a word that means nothing to Tensix T0, and NOPs until there is no room.
#[test]
fn mistake_of_a_tensix_thread_is_the_cause_of_what_hangs_for_it() {
    const PUSH_T0: u32 = 0xFFE4_0000;
    let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    let pushes = [vec![sw(6, 5, 0)], li(6, 0x0200_0000).to_vec(), vec![sw(6, 5, 0); 64]].concat();
    start(&mut chip, A, &[li(5, PUSH_T0).to_vec(), li(6, 0xFE00_0000).to_vec(), pushes, ends()]);
    let hang = hang(&mut chip);
    let told = report(&mut chip, &hang, |_, _| TileView::default());
    let text =
        "Tensix T0 has made a mistake and stays where it is: no Tensix instruction has opcode 0xfe";
    assert!(told.cause.headline.contains(text), "{told}");
    let waits = "BRISC waits for room in the instruction FIFO of Tensix T0";
    assert!(told.to_string().contains(waits), "{told}");
    // Nor does anything else of the thread.
    let explanation = &told.tiles[0].explanation;
    assert_eq!((explanation.hazard, explanation.waits.len()), (None, 2), "{told}");
}

/// A kernel that waits and has a conversion to an integer that asks for truncation: a warning, and not the cause.
#[test]
fn cast_of_a_kernel_is_told_beside_the_hang() {
    let fcvt = 0xC005_1553_u32;
    let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    start(&mut chip, A, &[waits(1), ends(), vec![fcvt]]);
    let hang = hang(&mut chip);
    let view = |_: &_, _: &_| TileView {
        code: vec![(CoreId::Brisc, PROGRAM..PROGRAM + 0x100)],
        ..TileView::default()
    };
    let told = report(&mut chip, &hang, view);
    assert_eq!(told.tiles[0].explanation.ids(), ["C13"], "{told}");
    assert!(told.cause.headline.contains("polls L1 word 0x40000"), "{told}");
}

#[test]
fn request_to_no_tile_is_told_with_the_core_and_the_instruction() {
    let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    let sends = increments((40, 40), WORD);
    let at = PROGRAM + 4 * (sends.len() as u32 - 3);
    start(&mut chip, A, &[sends, ends()]);
    chip.clock(1 << 12);
    let mistakes = chip.take_mistakes();
    let [mistake] = &mistakes[..] else { panic!("{mistakes:?}") };
    assert!(mistake.text.contains("noc-no-such-tile"), "{mistake}");
    assert!(mistake.text.contains(&format!(", BRISC, pc {at:#x})")), "{mistake}");
    assert_eq!(mistake.at, Some((CoreId::Brisc, at)));
}

/// A port of the first channel of DRAM `[spec: host-abi 2.6]`.
const DRAM: At = (17, 12);

/// Who reads DRAM that nobody has written has most often a wrong address. It is no mistake, and told once.
#[test]
fn read_of_dram_that_nobody_has_written_is_a_note() {
    for is_written in [false, true] {
        let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        let sends = reads(DRAM, WORD);
        let length = sends.len() as u32;
        let at = PROGRAM + 4 * (length - 3);
        if is_written {
            assert_eq!(chip.tile_write(DRAM.0, DRAM.1, WORD.into(), &[1; 4]), Ok(()));
        }
        let mut word = [0; 4];
        assert_eq!(chip.tile_read(DRAM.0, DRAM.1, WORD.into(), &mut word), Ok(()));
        start(&mut chip, A, &[sends.clone(), sends, ends()]);
        chip.clock(1 << 12);
        assert_eq!(chip.take_reports(), Vec::<String>::new());
        let notes = chip.take_notes();
        let places: Vec<_> = notes.iter().map(|note| note.at).collect();
        let second = at + 4 * length;
        let all = vec![None, Some((CoreId::Brisc, at)), Some((CoreId::Brisc, second))];
        assert_eq!(places, if is_written { Vec::new() } else { all }, "{notes:?}");
        let is_told = |note: &chip::Mistake| note.text.contains("[dram-never-written]");
        assert!(notes.iter().all(is_told), "{notes:?}");
    }
}

/// The network hands data of DRAM on in pieces of 64 bytes, and does not shift them.
#[test]
fn read_of_dram_that_is_not_aligned_as_its_destination_is_a_note() {
    for shift in [0, 16, 64] {
        let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        let from = WORD + shift;
        assert_eq!(chip.tile_write(DRAM.0, DRAM.1, from.into(), &[1; 4]), Ok(()));
        start(&mut chip, A, &[reads(DRAM, from), ends()]);
        chip.clock(1 << 12);
        let texts: Vec<_> = chip.take_notes().into_iter().map(|note| note.text).collect();
        let wrong = usize::from(shift % 64 != 0);
        assert_eq!(texts.len(), wrong, "{texts:?}");
        assert!(texts.iter().all(|text| text.contains("they differ modulo 64")), "{texts:?}");
    }
}

/// What another tile refuses is its sender's mistake, with the core and the instruction there.
#[test]
fn request_that_another_tile_refuses_is_told_with_its_sender() {
    const NOTHING: u32 = 0x40_0000;
    let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    let sends = reads(B, NOTHING);
    let at = PROGRAM + 4 * (sends.len() as u32 - 3);
    start(&mut chip, A, &[sends, increments(B, WORD), ends()]);
    chip.clock(1 << 12);
    let mistakes = chip.take_mistakes();
    let [mistake] = &mistakes[..] else { panic!("{mistakes:?}") };
    let text = mistake.to_string();
    assert!(text.starts_with("tile (0, 0) [NoC (1, 2)]: UndefinedBehavior ["), "{text}");
    assert!(text.contains(", for a request to tile (1, 0) [NoC (2, 2)] (cycle "), "{text}");
    assert!(text.ends_with(&format!(", NoC 0, BRISC, pc {at:#x})")), "{text}");
    assert_eq!((mistake.tile, mistake.at), (0, Some((CoreId::Brisc, at))));
}

/// A loop that goes on after each refused request is not told of a thousand times.
#[test]
fn requests_of_a_loop_are_told_once_and_then_by_tens() {
    for (from, addr) in [((40, 40), BESIDE), (B, 0x40_0000)] {
        let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        let sends = reads(from, addr);
        let back = -4 * (sends.len() as i32 + 1);
        let program = [li(12, 123).to_vec(), sends, vec![addi(12, 12, -1), bne(12, 0, back)]];
        start(&mut chip, A, &[program.concat(), ends()]);
        chip.clock(1 << 14);
        let texts: Vec<_> = chip.take_mistakes().iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 3, "{texts:#?}");
        assert!(texts[0].ends_with(')'), "{texts:#?}");
        assert!(texts[1].ends_with("; 10 such requests so far"), "{texts:#?}");
        assert!(texts[2].ends_with("; 100 such requests so far"), "{texts:#?}");
    }
}

/// Who reads from no tile waits for a response that nobody sends: a hang, whatever else was said of it.
#[test]
fn one_who_waits_for_a_response_of_no_tile_is_stuck() {
    /// Counter of responses to reads `[isa-bh: NoC/MemoryMap.md]`.
    const READS_ANSWERED: i32 = 0x208;
    for (from, is_there) in [((40, 40), false), (B, true)] {
        let sends = reads(from, BESIDE);
        let awaits = [li(7, 1).to_vec(), vec![lw(6, 10, READS_ANSWERED), bne(6, 7, -4)]].concat();
        let mut chip: Chip<NullObserver> =
            Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        start(&mut chip, A, &[sends, awaits, ends()]);
        chip.clock(1 << 12);
        assert_eq!(chip.take_mistakes().len(), usize::from(!is_there));
        let polls = [HostPoll { tile: 0, addr: WORD + 0x100, bytes: 4 }];
        let hang = chip.hang(Stance::Waits, &polls, &Witness::default());
        let stuck = hang.map(|hang| report(&mut chip, &hang, |_, _| TileView::default()));
        let text = stuck.map(|told| told.to_string()).unwrap_or_default();
        assert_eq!(text.contains("BRISC polls noc0.NIU_MST_RD_RESP_RECEIVED"), !is_there, "{text}");
        let why = "the counter shows 0, software expects 1, and nobody answers a read of 0x40010 of NoC (40, 40)";
        assert_eq!(text.contains(why), !is_there, "{text}");
    }
}

/// Who clears all of SOFT_RESET_0 lets NCRISC run whatever stands at its fixed address. That is nobody's mistake,
/// unless somebody has said that its program is there.
#[test]
fn ncrisc_let_go_by_the_way_makes_no_mistake() {
    const NCRISC_START: u32 = 0x1_2000;
    /// NCRISC_RESET_PC and its override `[isa-bh: TensixTile/SoftReset.md]`.
    const RESET_PC: u64 = 0xFFB1_2238;
    const OVERRIDE: u64 = 0xFFB1_223C;
    for said in [false, true] {
        let mut chip: Chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        let mut write = |addr: u64, word: u32| {
            chip.tile_write(A.0, A.1, addr, &word.to_le_bytes()).expect("L1 or a register");
        };
        // The TRISCs have something to do, and at NCRISC's address there is no instruction.
        [0x6000, 0xA000, 0xE000].into_iter().for_each(|trisc| write(trisc, j(0)));
        write(NCRISC_START.into(), 0);
        if said {
            write(RESET_PC, NCRISC_START);
            write(OVERRIDE, 1);
        }
        let releases = [li(5, SOFT_RESET_0 as u32).to_vec(), vec![sw(0, 5, 0)]].concat();
        start(&mut chip, A, &[releases, ends()]);
        chip.clock(1 << 12);
        let mistakes = chip.take_mistakes();
        assert_eq!(mistakes.len(), usize::from(said), "{mistakes:?}");
    }
}

#[test]
fn word_that_nobody_writes_is_said_to_be_one() {
    let told = watched(&[(A, &[waits(1), ends()]), (B, &[ends()])]);
    let text = told.to_string();
    assert!(told.cause.headline.contains("nothing has been sent to L1 word 0x40000"), "{text}");
}
