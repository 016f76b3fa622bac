//! `KERNELS.toml`: the bytes of a launch, the one-line error for each mistake, and that no text
//! makes the parser panic. Offsets in the message: `[spec: boot-and-sync 1.4, 7.1]`.

mod common;

use std::fs;
use std::path::Path;

use common::{Load, RET, elf};
use loader::plan::{Launch, LaunchPlan, Mode, launch_slot};
use proptest::prelude::*;
use tempfile::TempDir;

/// A directory with one kernel per core, 0x100 bytes apart from 0xB000, and one flat image.
fn kernels() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (index, core) in ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"].iter().enumerate() {
        let at = 0xB000 + 0x100 * index as u32;
        let loads =
            [Load::code(at, &[0x13, RET]), Load::data(0xFFB0_1000, at + 8, &[9, 9, 9, 9], 8)];
        fs::write(dir.path().join(format!("{core}.elf")), elf(at, &loads, &[])).expect("written");
    }
    fs::write(dir.path().join("flat.bin"), [0x13, 0, 0, 0]).expect("written");
    dir
}

fn parse_in(dir: &Path, text: &str) -> Result<LaunchPlan, String> {
    LaunchPlan::parse(text, "K.toml", dir).map_err(|error| error.to_string())
}

fn good(text: &str) -> Launch {
    let dir = kernels();
    parse_in(dir.path(), text).expect("a good plan").launches.remove(0)
}

fn bad(text: &str) -> String {
    let dir = kernels();
    let error = parse_in(dir.path(), text).expect_err("a bad plan");
    assert!(error.starts_with("K.toml: ") && !error.contains('\n'), "{error}");
    error.replace(&format!("{}/", dir.path().display()), "")
}

const FULL: &str = r#"
[[launch]]
name = "all"
kernel_config_base = 0xA080
noc = 1
cb = [
    { index = 2, address = 0x20000, size = 0x1000, num_pages = 4, page_size = 0x400 },
    { index = 40, address = 0x21000, size = 0x800, num_pages = 2, page_size = 0x400 },
]
semaphores = [ 5, 6 ]
kernel.brisc = { elf = "brisc.elf", args = [ 1, -1, 0xFFFFFFFF ], common_args = [ 7 ] }
kernel.ncrisc.elf = "ncrisc.elf"
kernel.trisc0.elf = "trisc0.elf"
kernel.trisc1.elf = "trisc1.elf"
kernel.trisc2.elf = "trisc2.elf"
input = [ { address = 0x30000, words = [ 1, 2 ] } ]
expect = [ { address = 0x40000, bytes_hex = "00 ff" } ]
"#;

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[test]
fn full_launch_message_has_every_field_at_its_place() {
    let launch = good(FULL);
    let message = &launch.message;
    assert_eq!(launch.mode, Mode::Host);
    for kind in 0..4 {
        assert_eq!(u32_at(message, 4 * kind), 0xA080);
    }
    assert_eq!(message[0x30], 1);
    for core in 0..5_usize {
        assert_eq!(u32_at(message, 0x34 + 4 * core), 0xB000 - 0xA080 + 0x100 * core as u32);
        assert_eq!(u32_at(message, 0x48 + 4 * core), 12);
    }
    assert_eq!(message[0x60..0x68], (1_u64 << 2 | 1 << 40).to_le_bytes());
    assert_eq!(message[0x68..0x6B], [1, 0, 64]);
    assert_eq!(u32_at(message, 0x70) & 7, 7);
    assert_eq!(message[0x8F], 0);
    assert_eq!(launch.go_word, 0x8000_0000);
}

#[test]
fn full_launch_config_block_holds_semaphores_buffers_and_arguments() {
    let launch = good(FULL);
    let (at, block) = &launch.writes[0];
    assert_eq!(*at, 0xA080);
    let sem = u16_at(&launch.message, 0x10);
    assert_eq!((u32_at(block, sem), u32_at(block, sem + 16)), (5, 6));
    let cb = u16_at(&launch.message, 0x18);
    let entry = |index: usize| [0, 4, 8, 12].map(|word| u32_at(block, cb + 16 * index + word));
    assert_eq!(entry(2), [0x20000, 0x1000, 4, 0x400]);
    assert_eq!(entry(40), [0x21000, 0x800, 2, 0x400]);
    let (args, common) = (u16_at(&launch.message, 0x1C), u16_at(&launch.message, 0x1E));
    assert_eq!([0, 4, 8].map(|word| u32_at(block, args + word)), [1, u32::MAX, u32::MAX]);
    assert_eq!(u32_at(block, common), 7);
}

#[test]
fn full_launch_writes_kernels_at_their_load_addresses() {
    let launch = good(FULL);
    let at = |address: u32| launch.writes.iter().find(|write| write.0 == address).map(|w| &w.1[..]);
    assert_eq!(at(0xB000), Some(&[0x13, 0, 0, 0, 0x67, 0x80, 0, 0][..]));
    assert_eq!(at(0xB408), Some(&[9, 9, 9, 9][..]));
    assert_eq!(at(0x30000), Some(&[1, 0, 0, 0, 2, 0, 0, 0][..]));
    assert_eq!((launch.expects[0].address, &launch.expects[0].bytes[..]), (0x40000, &[0, 255][..]));
    let mut ends = 0;
    for (address, bytes) in &launch.writes {
        assert!(*address >= ends, "writes overlap at {address:#x}");
        ends = address + bytes.len() as u32;
    }
}

#[test]
fn dev_mode_go_word_names_the_dispatcher() {
    let launch = good(
        "[[launch]]\nname = 'd'\nmode = 'dev'\npreload = true\n\
         dispatch = { x = 3, y = 2, message_offset = 1 }\nkernel.brisc = { image = 'flat.bin', address = 0xB000 }",
    );
    // Bytes of go_msg_t: offset, x, y, signal.
    assert_eq!(launch.go_word.to_le_bytes(), [1, 3, 2, 0x80]);
    assert_eq!((launch.message[0x30], launch.message[0x8F]), (0, 0x80));
    assert_eq!(u32_at(&launch.message, 0x70), 1);
    assert_eq!((launch_slot(0), launch_slot(1), launch_slot(8)), (0x70, 0x100, 0x70));
}

#[test]
fn kernels_that_are_not_enabled_are_loaded_but_not_started() {
    let launch = good("[[launch]]\nname='n'\nenables=[]\nkernel.brisc.elf='brisc.elf'");
    assert_eq!(u32_at(&launch.message, 0x70), 0);
    assert_eq!(launch.kernels.len(), 1);
}

/// A launch called `x` with these keys.
fn bad_keys(keys: &str) -> String {
    let error = bad(&format!("[[launch]]\nname = \"x\"\n{keys}"));
    error.strip_prefix("K.toml: launch \"x\": ").map(str::to_owned).expect(&error)
}

#[test]
fn mistakes_in_the_file_name_the_line_or_the_key() {
    assert_eq!(bad(""), "K.toml: no [[launch]]");
    assert!(bad("[[launch]]\nname = \n").starts_with("K.toml: line 2: "));
    assert!(bad("[[launch]]\nrepeat = 1\n").contains("launch 1: missing field `name`"));
    assert!(bad("launches = 1").contains("unknown key `launches`"));
    assert!(bad("launch = 1").contains("write [[launch]]"));
    assert!(bad_keys("colour = 1").contains("unknown field `colour`"));
    assert!(bad_keys("mode = 'fast'").contains("unknown variant `fast`"));
}

#[test]
fn mistakes_in_values_name_the_key() {
    assert_eq!(bad_keys("repeat = 0"), "repeat: must be at least 1");
    assert_eq!(bad_keys("noc = 2"), "noc: must be 0 or 1, is 2");
    assert!(bad_keys("kernel_config_base = 0xA081").contains("multiple of 16"));
    assert!(bad_keys("dispatch = { x = 1, y = 1 }").contains("no meaning with mode"));
    let args = "kernel.brisc = { elf = 'brisc.elf', args = [ 0x100000000 ] }";
    assert_eq!(bad_keys(args), "kernel.brisc.args: 4294967296 does not fit 32 bits");
    assert!(bad_keys("input = [ { address = 0x17FFFC, words = [1, 2] } ]").contains("range of L1"));
    assert!(bad_keys("input = [ { address = 0, bytes_hex = 'abc' } ]").contains("hexadecimal"));
    assert!(bad_keys("expect = [ { address = 0 } ]").contains("exactly one of"));
}

/// Bytes have 8 bits, words 32; TOML's own integers have 64 [TOML 1.0: Integer].
#[test]
fn numbers_out_of_range_name_the_key_and_the_range() {
    let byte = "expected a whole number from 0 to 255 in `";
    let word = "expected a whole number from 0 to 4294967295 in `";
    for (keys, number, expected) in [
        ("noc = 300", "`300`", format!("{byte}noc`")),
        ("dispatch = { x = 256, y = 0 }", "`256`", format!("{byte}dispatch.x`")),
        ("repeat = 5000000000", "`5000000000`", format!("{word}repeat`")),
        ("semaphores = [ 0, -1 ]", "`-1`", format!("{word}semaphores`")),
        ("input = [ { address = -4, words = [ 1 ] } ]", "`-4`", format!("{word}input.address`")),
    ] {
        let error = bad_keys(keys);
        assert!(error.contains(number) && error.ends_with(&expected), "{error}");
    }
    let either = "is out of range; expected a whole number from -2147483648 to 4294967295";
    for (keys, expected) in [
        ("repeat = 99999999999999999999", "line 3: repeat: 99999999999999999999"),
        ("repeat = 0x8000000000000000", "line 3: repeat: 0x8000000000000000"),
        (
            "semaphores = [\n  1,\n  -9_223_372_036_854_775_809 ]",
            "line 5: semaphores: -9_223_372_036_854_775_809",
        ),
        (
            "cb = [ { index = 1, size = 0x1_0000_0000_0000_0000 } ]",
            "line 3: size: 0x1_0000_0000_0000_0000",
        ),
    ] {
        let error = bad(&format!("[[launch]]\nname = \"x\"\n{keys}\n"));
        assert_eq!(error, format!("K.toml: {expected} {either}"));
    }
    assert!(bad_keys("kernel = { brisc = 3 }").ends_with("expected a table in `kernel.brisc`"));
}

#[test]
fn mistakes_in_kernels_name_the_core_and_the_file() {
    assert!(bad_keys("kernel.brisc5.elf = 'a'").starts_with("kernel.brisc5: no such core"));
    assert!(
        bad_keys("kernel.brisc.elf = 'no.elf'").starts_with("kernel.brisc: no.elf: cannot read")
    );
    assert!(bad_keys("kernel.brisc.elf = 'flat.bin'").contains("flat.bin: not an ELF file"));
    assert!(bad_keys("kernel.brisc.image = 'flat.bin'").contains("kernel.brisc.address: missing"));
    assert!(bad_keys("kernel.brisc = {}").contains("needs either elf or image"));
    assert!(bad_keys("kernel.trisc0.elf = 'trisc0.elf'").starts_with("kernel.trisc1: missing"));
    assert!(bad_keys("enables = ['ncrisc']").starts_with("kernel.ncrisc: missing"));
}

#[test]
fn kernels_in_the_wrong_place_are_refused() {
    let low = bad_keys("kernel_config_base = 0xC000\nkernel.brisc.elf = 'brisc.elf'");
    assert!(low.contains("brisc.elf: linked at 0xb000, below kernel_config_base 0xc000"), "{low}");
    let twice = "kernel.brisc.elf = 'brisc.elf'\nkernel.ncrisc.elf = 'brisc.elf'";
    assert!(bad_keys(twice).contains("kernel.ncrisc at 0xb000 overlaps kernel.brisc"));
    let block = "kernel_config_base = 0xB000\nsemaphores = [1]\nkernel.brisc.elf = 'brisc.elf'";
    assert!(bad_keys(block).contains("overlaps the kernel-config block"));
    let input = "kernel.brisc.elf = 'brisc.elf'\ninput = [ { address = 0xB004, words = [1] } ]";
    assert!(bad_keys(input).contains("input 1 at 0xb004 overlaps kernel.brisc"));
}

#[test]
fn circular_buffers_are_checked() {
    let cb = |keys: &str| bad_keys(&format!("kernel.brisc.elf = 'brisc.elf'\ncb = [{keys}]"));
    let one = "{ index = 1, address = 0x20000, size = 64, num_pages = 2, page_size = 32 }";
    assert!(cb(&format!("{one}, {one}")).contains("index 1 is used twice"));
    assert!(cb(&one.replace("index = 1", "index = 64")).contains("below 64"));
    assert!(cb(&one.replace("size = 64", "size = 65")).contains("is not num_pages 2"));
    assert!(cb(&one.replace("0x20000", "0x20008")).contains("multiples of 16"));
    assert!(cb(&one.replace("0x20000", "0x17FFF0")).contains("exceed L1"));
    assert!(cb(&one.replace("0x20000", "0xAFF0")).contains("overlaps kernel.brisc"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_plan_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}=,.\"0-9a-fx\n-]"), 1..8),
    ) {
        let mut text: Vec<char> = FULL.chars().collect();
        for (at, with) in &changes {
            let at = at.index(text.len());
            text.splice(at..=at, with.chars());
        }
        let text: String = text.into_iter().collect();
        let _ = parse_in(Path::new("no-such-directory"), &text);
    }

    #[test]
    fn any_numbers_never_panic(address in any::<i64>(), size in any::<u32>(), pages in any::<u32>(), index in any::<u8>()) {
        let text = format!(
            "[[launch]]\nname='n'\nkernel_config_base = {}\nsemaphores = [{size}]\n\
             cb = [{{ index = {index}, address = {size}, size = {size}, num_pages = 1, page_size = {size} }}]\n\
             input = [{{ address = {pages}, words = [{address}] }}]",
            pages & 0x1F_FFF0
        );
        let _ = parse_in(Path::new(""), &text);
    }
}
