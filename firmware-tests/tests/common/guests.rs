//! Random guests: programs of random instructions, random accesses to devices, random Tensix
//! words. Most of what they do is sensible, so that a run gets somewhere before a mistake ends it;
//! some of it is anything at all.

use memory_map::{Access, BLOCKS, REGIONS, View};
use proptest::prelude::*;

use isa::asm::{bne, i, jal, li, store};

/// What each core sees, in the order of [`sim_core::CoreId::ALL`].
const VIEWS: [View; 5] = [View::B, View::T0, View::T1, View::T2, View::Nc];
/// Words of a random program behind the ones that set its registers.
const WORDS: usize = 64;
/// Registers a random program computes in; those above hold addresses.
const WORK: std::ops::Range<u32> = 1..16;
/// L1 that all cores share.
const DATA: u32 = 0x2_0000;

/// An address in some region of the map, or anywhere.
pub(crate) fn any_address() -> impl Strategy<Value = u32> {
    let rows: Vec<_> = REGIONS.iter().collect();
    let in_region = (prop::sample::select(rows.clone()), any::<u32>()).prop_map(|(row, at)| {
        let span = u64::from(row.limit - row.base) + 1;
        row.base + (u64::from(at) % span) as u32
    });
    let near_the_start = (prop::sample::select(rows), 0_u32..0x400)
        .prop_map(|(row, at)| row.base.saturating_add(at).min(row.limit));
    prop_oneof![3 => in_region, 3 => near_the_start, 1 => any::<u32>(), 2 => DATA..DATA + 0x100]
}

/// Addresses of named registers that a core sees, and whether they can be read and written.
fn registers(core: usize) -> Vec<(u32, bool, bool)> {
    let mut found = Vec::new();
    for block in BLOCKS {
        for instance in block.instances {
            for register in block.registers {
                let address = instance.base + register.offset;
                let hit = memory_map::lookup(VIEWS[core], address);
                if hit.is_some_and(|hit| hit.target == instance.target) {
                    let (read, write) = match register.access {
                        Access::Read => (true, false),
                        Access::Write => (false, true),
                        Access::ReadWrite => (true, true),
                    };
                    found.push((address, read, write));
                }
            }
        }
    }
    found
}

/// An aligned word in a region that a core sees: L1, local RAM, devices.
fn visible_word(core: usize) -> impl Strategy<Value = u32> {
    let visible: Vec<_> =
        REGIONS.iter().filter(|row| row.views[VIEWS[core].index()].is_some()).collect();
    (prop::sample::select(visible), 0_u32..0x400)
        .prop_map(|(row, at)| (row.base + at).min(row.limit) & !3)
}

fn any_value() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), any_address(), 0_u32..64, Just(0), Just(u32::MAX)]
}

/// Load (`false`) or store of a value at an address with a width (0 byte, 1 half, 2 word).
type Touch = (bool, u32, u32, u32);

fn touch(core: usize) -> impl Strategy<Value = Touch> {
    let registers = prop::sample::select(registers(core));
    let register = (registers, any::<bool>(), any_value()).prop_map(
        |((address, read, write), store, value)| (write && (store || !read), address, value, 2),
    );
    let memory = (DATA / 4..DATA / 4 + 8, any::<bool>(), any_value(), 0_u32..3)
        .prop_map(|(word, store, value, width)| (store, word * 4, value, width));
    let word = (any::<bool>(), visible_word(core), any_value())
        .prop_map(|(store, address, value)| (store, address, value, 2));
    let wild = (any::<bool>(), any_address(), any_value(), 0_u32..3);
    prop_oneof![30 => register, 20 => memory, 2 => word, 1 => wild]
}

/// Loads and stores of one core.
fn access_program(core: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(touch(core), 1..40).prop_map(|touches| {
        let mut words = Vec::new();
        for (is_store, address, value, width) in touches {
            words.extend(li(5, address));
            words.extend(li(6, value));
            words.push(if is_store { store(width, 6, 5, 0) } else { i(0x03, width, 7, 5, 0) });
        }
        words.push(jal(0, 0));
        words
    })
}

/// One program of accesses for each core.
pub(crate) fn access_programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let each = (0..VIEWS.len()).map(|core| access_program(core).boxed());
    each.collect::<Vec<_>>()
}

/// A word of some instruction of the cores, valid or not.
fn shaped_instruction() -> impl Strategy<Value = u32> {
    // Major opcodes of RV32IMAF with Zicsr [riscv: opcode map].
    let opcodes = vec![
        0x03_u32, 0x07, 0x0F, 0x13, 0x17, 0x23, 0x27, 0x2F, 0x33, 0x37, 0x43, 0x47, 0x4B, 0x4F,
        0x53, 0x63, 0x67, 0x6F, 0x73,
    ];
    (any::<u32>(), prop::sample::select(opcodes)).prop_map(|(word, opcode)| word & !0x7F | opcode)
}

fn instruction() -> impl Strategy<Value = u32> {
    let funct3 = prop::sample::select(vec![0_u32, 2, 3, 4, 6, 7]);
    let compute = (funct3, WORK, WORK, -2048..2048)
        .prop_map(|(funct3, rd, rs1, imm)| i(0x13, funct3, rd, rs1, imm));
    let add = (WORK, WORK, WORK).prop_map(|(rd, a, b)| b << 20 | a << 15 | rd << 7 | 0x33);
    let load = (WORK, 16_u32..32, 0..8).prop_map(|(rd, base, at)| i(0x03, 2, rd, base, at * 4));
    let save = (WORK, 16_u32..32, 0..8).prop_map(|(rs, base, at)| store(2, rs, base, at * 4));
    let jump = (WORK, WORK, -8..8).prop_map(|(a, b, words)| bne(a, b, words * 4));
    let push = calm_tensix_word().prop_map(|word| word.rotate_left(2));
    prop_oneof![
        60 => compute,
        30 => add,
        40 => load,
        40 => save,
        20 => jump,
        10 => push,
        2 => shaped_instruction(),
        1 => any::<u32>(),
    ]
}

/// Registers with values and addresses, then random words, then an endless loop.
fn random_program(core: usize) -> impl Strategy<Value = Vec<u32>> {
    let values = prop::collection::vec(any_value(), WORK.len());
    let named: Vec<u32> = registers(core).into_iter().map(|register| register.0).collect();
    let address = prop_oneof![
        20 => (DATA / 4..DATA / 4 + 8).prop_map(|word| word * 4),
        4 => prop::sample::select(named),
        1 => any_address(),
    ];
    let addresses = prop::collection::vec(address, 16);
    let words = prop::collection::vec(instruction(), WORDS);
    (values, addresses, words).prop_map(|(values, addresses, words)| {
        let registers = (1..32).zip(values.into_iter().chain(addresses));
        let mut all: Vec<u32> = registers.flat_map(|(number, value)| li(number, value)).collect();
        all.extend(words);
        all.push(jal(0, 0));
        all
    })
}

/// One random program for each core.
pub(crate) fn random_programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let each = (0..VIEWS.len()).map(|core| random_program(core).boxed());
    each.collect::<Vec<_>>()
}

/// A Tensix word with an opcode of the table that `wanted` accepts, and any arguments.
fn tensix_word(wanted: impl Fn(isa::op::Opcode) -> bool) -> impl Strategy<Value = u32> {
    let opcodes: Vec<u32> = (0..=u8::MAX)
        .filter(|&byte| isa::op::Opcode::from_byte(byte).is_some_and(&wanted))
        .map(|byte| u32::from(byte) << 24)
        .collect();
    let sparse = (any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(a, b, c)| a & b & c);
    let arguments = prop_oneof![1 => any::<u32>(), 6 => sparse, 6 => 0_u32..16, 6 => Just(0)];
    (prop::sample::select(opcodes), arguments)
        .prop_map(|(opcode, arguments)| opcode | arguments & 0x00FF_FFFF)
}

/// A word of the units that synchronise, compute scalars and configure.
fn calm_tensix_word() -> impl Strategy<Value = u32> {
    use isa::op::Unit;
    tensix_word(|opcode| {
        matches!(opcode.unit(), Unit::Sync | Unit::Scalar | Unit::Config | Unit::Frontend)
    })
}

/// Pushes words through `windows` windows, then ends.
fn push_program(windows: u32) -> impl Strategy<Value = Vec<u32>> {
    let word = prop_oneof![12 => calm_tensix_word(), 3 => tensix_word(|_| true)];
    let push = (word, 0..windows);
    prop::collection::vec(push, 1..24).prop_map(|pushes| {
        let mut words = Vec::new();
        for (word, window) in pushes {
            words.extend(li(5, 0xFFE4_0000 + 0x1_0000 * window));
            words.extend(li(6, word));
            words.push(store(2, 6, 5, 0));
        }
        words.push(jal(0, 0));
        words
    })
}

/// Pushes from BRISC to all threads, and from the TRISCs to their own. Without BRISC half of
/// the time: its pushes collide with theirs.
pub(crate) fn push_programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let brisc = prop_oneof![Just(vec![jal(0, 0)]), push_program(3)];
    (brisc, push_program(1), push_program(1), push_program(1))
        .prop_map(|(brisc, t0, t1, t2)| vec![brisc, t0, t1, t2])
}
