//! Plans of several tiles: what goes to which tile, what arguments name, and the mistake told for each.
//! Offsets in the message: `[spec: boot-and-sync 1.4, 7.1]`; coordinates: `[spec: host-abi 2.6]`.

mod common;

use std::fs;

use common::{Load, RET, elf};
use loader::plan::{Action, At, ChipPlan, LaunchPlan, Plan, Target, TileLaunch};
use tempfile::TempDir;

/// A directory with two kernels, at 0xB000 and 0xC000.
fn kernels() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, at) in [("sender", 0xB000), ("receiver", 0xC000)] {
        let bytes = elf(at, &[Load::code(at, &[0x13, RET])], &[]);
        fs::write(dir.path().join(format!("{name}.elf")), bytes).expect("written");
    }
    dir
}

fn parse(text: &str) -> Result<Plan, String> {
    Plan::parse(text, "K.toml", kernels().path()).map_err(|error| error.to_string())
}

fn good(text: &str) -> ChipPlan {
    match parse(text).expect("a good plan") {
        Plan::Chip(plan) => plan,
        Plan::Tile(_) => panic!("a plan of one tile"),
    }
}

fn bad(keys: &str) -> String {
    let error = parse(&format!("[[launch]]\nname = 'l'\n{keys}")).expect_err("a bad plan");
    assert!(!error.contains('\n'), "{error}");
    error.strip_prefix("K.toml: launch \"l\": ").unwrap_or(&error).to_owned()
}

/// The first words of BRISC's runtime arguments.
fn arguments<const N: usize>(tile: &TileLaunch) -> [u32; N] {
    let (address, block) = &tile.launch.writes[0];
    assert_eq!(*address, 0xA080);
    let offset = u16::from_le_bytes([tile.launch.message[0x1C], tile.launch.message[0x1D]]);
    let word = |index: usize| {
        let at = usize::from(offset) + 4 * index;
        u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"))
    };
    std::array::from_fn(word)
}

const RING: &str = r#"
[[launch]]
name = "ring"
tiles = [[2, 1], [[0, 0], [1, 0]]]
semaphores = [7, 0]
kernel.brisc = { elf = "sender.elf", args = ["noc_x(x + 1, y)", "noc_y(x + 1, y)", "sem(1)", "index"] }

[[launch.on]]
tiles = [[1, 0]]
semaphores = [9, 0]
kernel.brisc.args = ["noc(0, 0)", "count", 5]
kernel.ncrisc.elf = "receiver.elf"
input = [{ address = 0x30000, words = [1] }]

[[launch.input]]
dram = 3
address = 0x1000
words = [2]

[[launch.input]]
tile = [2, 1]
address = 0x30000
words = [3]

[[launch.input]]
tile = [5, 5]
address = 0x30000
words = [4]

[[launch.expect]]
address = 0x40000
words = [6]

[[launch.meanwhile]]
wait = { tile = [1, 0], address = 0x30000, words = [8] }

[[launch.after]]
read = { dram = 3, address = 0x1000, bytes = 4 }

[[launch.after]]
cycles = 50
"#;

#[test]
fn tiles_and_rectangles_are_launched_in_the_order_of_the_list() {
    let launch = good(RING).launches.remove(0);
    let workers: Vec<_> = launch.tiles.iter().map(|tile| (tile.worker, tile.noc)).collect();
    assert_eq!(workers, [((2, 1), (3, 3)), ((0, 0), (1, 2)), ((1, 0), (2, 2))]);
}

#[test]
fn arguments_are_worked_out_for_each_tile() {
    let launch = good(RING).launches.remove(0);
    // Semaphores begin at the block's start, 16 bytes apart.
    assert_eq!(arguments(&launch.tiles[0]), [4, 3, 0xA090, 0]);
    assert_eq!(arguments(&launch.tiles[1]), [2, 2, 0xA090, 1]);
    assert_eq!(arguments(&launch.tiles[2]), [2 << 6 | 1, 3, 5]);
}

#[test]
fn some_tiles_have_another_kernel_other_semaphores_and_more_input() {
    let launch = good(RING).launches.remove(0);
    let initial = launch.tiles.iter().map(|tile| tile.launch.writes[0].1[0]);
    assert_eq!(initial.collect::<Vec<_>>(), [7, 7, 9]);
    let kernels = launch.tiles.iter().map(|tile| tile.launch.kernels.len());
    assert_eq!(kernels.collect::<Vec<_>>(), [1, 1, 2]);
    let input = |tile: &TileLaunch| {
        let found = tile.launch.writes.iter().find(|(address, _)| *address == 0x30000);
        found.map(|(_, bytes)| bytes[0])
    };
    let inputs = launch.tiles.iter().map(input);
    assert_eq!(inputs.collect::<Vec<_>>(), [Some(3), None, Some(1)]);
    assert!(launch.tiles.iter().all(|tile| tile.launch.expects.len() == 1));
}

/// Channel 3 is reached at (17, 21), tile (5, 5) at (6, 7).
#[test]
fn dram_and_tiles_that_are_not_launched_get_their_input_too() {
    let launch = good(RING).launches.remove(0);
    let inputs: Vec<_> = launch.inputs.iter().map(|block| (block.at, block.bytes[0])).collect();
    let dram = At { target: Target::Dram(3), noc: (17, 21), address: 0x1000 };
    let other = At { target: Target::Tile((5, 5)), noc: (6, 7), address: 0x30000 };
    assert_eq!(inputs, [(dram, 2), (other, 4)]);
    assert_eq!(launch.after, [Action::Read(dram, 4), Action::Pass(50)]);
    assert!(matches!(&launch.meanwhile[..], [Action::Wait(block)] if block.bytes == [8, 0, 0, 0]));
}

#[test]
fn plan_without_any_of_it_is_of_one_tile() {
    let text = "[[launch]]\nname = 'l'\nkernel.brisc = { elf = 'sender.elf', args = ['sem(0)'] }";
    let text = format!("{text}\nsemaphores = [1]");
    assert!(matches!(parse(&text), Ok(Plan::Tile(_))));
    let error = LaunchPlan::parse(RING, "K.toml", kernels().path()).expect_err("several tiles");
    assert!(error.to_string().starts_with("K.toml: it is of several tiles"), "{error}");
}

#[test]
fn every_mistake_is_told_in_a_line() {
    let tiles = |list: &str| bad(&format!("tiles = {list}"));
    assert_eq!(tiles("[]"), "tiles: names no tile");
    let exist = "columns are 0 to 13, rows 0 to 9";
    assert_eq!(tiles("[[14, 0]]"), format!("tiles: there is no tile (14, 0): {exist}"));
    assert_eq!(tiles("[[0, 0], [[0, 0], [1, 1]]]"), "tiles: (0, 0) stands there twice");
    assert!(tiles("[3]").starts_with("tiles: 3: expected [x, y] or [[x, y], [x, y]]"));
    assert!(tiles("[[[1, 0], [0, 0]]]").ends_with("the second corner lies before the first"));
    let on = "tiles = [[0, 0]]\non = [{ tiles = [[1, 0]] }]";
    assert_eq!(bad(on), "on.tiles: (1, 0) is none of the launch's tiles");
    let mode = "mode = 'dev'\ntiles = [[0, 0]]";
    assert_eq!(bad(mode), "mode: a plan of several tiles has mode = \"host\"");
    let args = "tiles = [[0, 0]]\nkernel.brisc = { elf = 'sender.elf', args = ['noc(x - 1, y)'] }";
    let why = "kernel.brisc.args: \"noc(x - 1, y)\": there is no tile (-1, 0)";
    assert_eq!(bad(args), format!("tile (0, 0): {why}: {exist}"));
    let both = "input = [{ tile = [0, 0], dram = 0, address = 0, words = [1] }]";
    assert_eq!(bad(both), "input 1: is either of a tile or of dram");
    let channel = "expect = [{ dram = 8, address = 0, words = [1] }]";
    assert_eq!(bad(channel), "expect 1: there is no DRAM channel 8: they are 0 to 7");
    let action = "after = [{ cycles = 1, read = { address = 0, bytes = 4 } }]";
    assert_eq!(bad(action), "after 1: needs exactly one of write, read, wait, cycles");
    let lone = "kernel.brisc = { elf = 'sender.elf', args = ['index'] }";
    assert_eq!(bad(lone), "kernel.brisc.args: \"index\": only in a launch with `tiles`");
}
