//! Tiles that sleep, or nearly, and others that send them requests of all kinds.

use chip::Chip;
use isa::asm::{addi, beq, bne, branch, j, li, lw, r, sw};
use memory_map::reg::{noc_niu, overlay};

/// SOFT_RESET_0, and its value with BRISC alone released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
/// Where a tile counts, and what it sends from.
const ROUNDS: u32 = 0x2_0000;
const SOURCE: u32 = 0x2_8000;
/// What is sent to, and where the loop of [`Sleeper::Code`] is.
const DATA: u32 = 0x3_0000;
const CODE: u32 = 0x3_8000;
/// Where answers go.
const ANSWERS: u32 = 0x2_C000;
/// How many writes that want an acknowledgement have come over NoC 0 `[isa-bh: NoC/Counters.md]`.
const WRITES_RECEIVED: u32 = 0xFFB2_0000 + noc_niu::NIU_SLV_NONPOSTED_WR_REQ_RECEIVED_OFFSET;
/// A register of a stream that any value may be written to: inline writes to L1 are a mistake.
const REGISTER: u32 = 0xFFB4_8000 + overlay::REMOTE_DEST_BUF_SIZE_OFFSET;
/// The tiles that sleep: from x = 1 on, in row 2.
const SLEEPERS: u32 = 7;
const ROW: u32 = 2;

/// What BRISC of a tile does that gets requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sleeper {
    /// It is held in reset.
    Reset,
    /// It polls that word of the data, and counts its changes.
    Word(u32),
    /// It polls how many writes have come.
    Counter,
    /// It polls the register that inline writes go to.
    Register,
    /// It waits so many cycles by the wall clock, and adds up that word of the data.
    Clock(u32, u32),
    /// It polls a word that nobody writes, in a loop that requests write over.
    Code,
}

/// What a request does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    /// Writes so many bytes.
    Write(u32),
    /// Writes so many bytes to all tiles that sleep.
    Multicast(u32),
    /// Writes a word that comes with the request to a register.
    Inline,
    /// Adds, and wants the old value or not.
    Add(bool),
    /// Reads so many bytes.
    Read(u32),
}

/// A request and how long the sender waits behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) deed: Deed,
    /// Which of the tiles that sleep.
    pub(crate) to: u32,
    /// Which word: of the data, or of the loop.
    pub(crate) word: u32,
    pub(crate) in_code: bool,
    /// Whether a write wants an acknowledgement.
    pub(crate) marked: bool,
    pub(crate) pause: u32,
}

fn sleeping(sleeper: Sleeper) -> Vec<u32> {
    let mut words: Vec<u32> = Vec::new();
    words.extend(li(6, ROUNDS));
    words.extend(li(9, DATA));
    words.extend(li(5, WRITES_RECEIVED));
    words.extend(li(13, 0xFFB1_21F0));
    words.extend(li(15, CODE));
    words.extend(li(16, REGISTER));
    let looks = |base, offset: u32| {
        // Until it shows something else than the last time; then it is kept and counted.
        [
            lw(11, base, offset.cast_signed()),
            beq(11, 10, -4),
            addi(10, 11, 0),
            addi(7, 7, 1),
            sw(7, 6, 0),
            sw(10, 6, 4),
            j(-24),
        ]
    };
    match sleeper {
        Sleeper::Reset => {}
        Sleeper::Word(word) => words.extend(looks(9, 4 * word)),
        Sleeper::Counter => words.extend(looks(5, 0)),
        Sleeper::Register => words.extend(looks(16, 0)),
        Sleeper::Clock(cycles, word) => {
            words.extend(li(14, cycles));
            words.extend([
                lw(10, 13, 0),
                lw(11, 13, 0),
                r(0x20, 0, 11, 11, 10),
                branch(6, 11, 14, -8),
                lw(11, 9, (4 * word).cast_signed()),
                r(0, 0, 7, 7, 11),
                sw(7, 6, 0),
                j(-28),
            ]);
        }
        Sleeper::Code => {
            // jalr x0, x15, 0.
            words.push(0x67 | 15 << 15);
        }
    }
    words
}

/// The loop of [`Sleeper::Code`], whose second word requests replace by words that change another register.
fn code() -> Vec<u32> {
    vec![lw(10, 9, 0x7FC), addi(11, 0, 1), beq(10, 0, -8), sw(11, 6, 0), j(-16)]
}

fn sending(x: u32, requests: &[Request]) -> Vec<u32> {
    const WRITE: u32 = 1 << 1;
    const INLINE: u32 = 1 << 3;
    const MARKED: u32 = 1 << 4;
    // To a rectangle, whose path is reserved.
    const MANY: u32 = 1 << 5 | 1 << 8;
    const ADD: u32 = 1 << 12 | 31 << 2;
    let own = x | ROW << 6;
    let mut words: Vec<u32> = Vec::new();
    words.extend(li(5, 0xFFB2_0000));
    words.extend(li(6, ROUNDS));
    let head = words.len();
    for &Request { deed, to, word, in_code, marked, pause } in requests {
        let one = (1 + to % SLEEPERS) | (ROW << 6);
        let all = SLEEPERS | ROW << 6 | (1 | ROW << 6) << 12;
        let at = if in_code { CODE } else { DATA } + 4 * word;
        // Both addresses are the same in a block of 16 bytes.
        let source = if in_code { SOURCE } else { ROUNDS } + at % 16;
        let answers = ANSWERS + at % 16;
        let answer = if marked { MARKED } else { 0 };
        let (control, near, far, length) = match deed {
            Deed::Write(bytes) => (WRITE | answer, (source, own), (at, one), bytes),
            Deed::Multicast(bytes) => (WRITE | MANY | answer, (source, own), (at, all), bytes),
            Deed::Inline => (WRITE | INLINE | answer, (REGISTER, one), (REGISTER, one), 4),
            Deed::Add(wants) => {
                let answer = if wants { MARKED } else { 0 };
                (1 | answer, (at, one), (answers, own), ADD | (word % 4))
            }
            Deed::Read(bytes) => (MARKED, (at, one), (answers, own), bytes),
        };
        let registers = [
            (0x00, near.0),
            (0x04, 0),
            (0x08, near.1),
            (0x0C, far.0),
            (0x10, 0),
            (0x14, far.1),
            (0x18, 0),
            (0x1C, control),
            (0x20, length),
            (0x28, 3 + word),
        ];
        for (register, value) in registers {
            words.extend(li(8, value));
            words.push(sw(8, 5, register));
        }
        // Whatever word is sent first is new.
        words.push(addi(7, 7, 1));
        words.extend([0, 4, 8, 12].map(|offset| sw(7, 6, offset)));
        words.extend([addi(8, 0, 1), sw(8, 5, 0x40)]);
        // Until the command register is free again, and some more.
        words.extend([lw(8, 5, 0x40), bne(8, 0, -4)]);
        words.extend([addi(12, 0, (1 + pause).cast_signed()), addi(12, 12, -1), bne(12, 0, -4)]);
    }
    let back = -4 * (words.len() - head) as i32;
    words.push(j(back));
    words
}

fn put(chip: &mut Chip, x: u32, addr: u32, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(chip.tile_write(x, ROW, addr.into(), &bytes), Ok(()));
}

/// Lets tiles sleep, as many as are told of, and others in the same row send.
pub(crate) fn start(chip: &mut Chip, sleepers: &[Sleeper], senders: &[Vec<Request>]) {
    for (x, &sleeper) in (1..=SLEEPERS).zip(sleepers) {
        put(chip, x, CODE, &code());
        put(chip, x, 0, &sleeping(sleeper));
        if !matches!(sleeper, Sleeper::Reset) {
            assert_eq!(chip.tile_write(x, ROW, SOFT_RESET_0, &BRISC.to_le_bytes()), Ok(()));
        }
    }
    for (x, requests) in (10..).zip(senders) {
        put(chip, x, SOURCE, &[4, 5, 6, 7].map(|value| addi(11, 0, value)));
        put(chip, x, 0, &sending(x, requests));
        assert_eq!(chip.tile_write(x, ROW, SOFT_RESET_0, &BRISC.to_le_bytes()), Ok(()));
    }
}
