//! A session played from its tape is the session: the same state at each of the host's reads, whoever
//! watches and with whatever threads.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::Path;

use chip::{Chip, ChipConfig, ClockStep, TensixTile};
use isa::asm::{addi, bne, j, li, lw, r, sw};
use observe::EventHash;
use replay::{Machine, Player, What};
use session::Lens;
use sim_core::{NullObserver, Observer};
use tape::{Call, Header, Options, Tape, TapeWriter};

/// Some columns of Tensix tiles `[spec: host-abi 2.6]`: so many that threads share them.
const COLUMNS: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12];
/// SOFT_RESET_0, and its value with BRISC released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
const COUNT: u64 = 0x2_0000;
const RECEIVED: u64 = 0x3_0000;

/// Numbers that follow no rule.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// BRISC counts and adds up what it has received. Every `wait` rounds it sends both to another tile, or it
/// waits until it has received something else; registers as firmware programs them
/// `[isa-bh: NoC/MemoryMap.md]`.
fn program(own: (u32, u32), to: (u32, u32), wait: u32, polls: bool) -> Vec<u8> {
    let mut words = li(5, 0xFFB2_0000).to_vec();
    words.extend(li(6, COUNT as u32));
    words.extend(li(9, RECEIVED as u32));
    let place = |(x, y): (u32, u32)| x | y << 6;
    for (register, value) in
        [(0x08, place(own)), (0x14, place(to)), (0x20, 8), (0x1C, 0x2092), (0x00, COUNT as u32)]
    {
        words.extend(li(8, value));
        words.push(sw(8, 5, register));
    }
    let head = words.len();
    words.push(addi(12, 0, wait.cast_signed()));
    words.push(lw(10, 9, 0));
    words.push(r(0, 0, 11, 11, 10));
    words.push(addi(12, 12, -1));
    words.push(bne(12, 0, -12));
    words.push(sw(11, 6, 4));
    words.push(addi(7, 7, 1));
    words.push(sw(7, 6, 0));
    words.push(sw(9, 5, 0x0C));
    words.push(addi(8, 0, 1));
    words.push(sw(8, 5, 0x40));
    // Until the command register is free again.
    words.push(lw(8, 5, 0x40));
    words.push(bne(8, 0, -4));
    if polls {
        // Until something else has come.
        words.push(lw(13, 9, 0));
        words.push(bne(13, 10, 8));
        words.push(j(-8));
    }
    words.push(j(-4 * (words.len() - head) as i32));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A host that does whatever comes to its mind, and whose calls go on a tape with the state after each
/// read.
struct Host {
    chip: Chip,
    tape: TapeWriter,
    reads: u64,
}

impl Host {
    fn write(&mut self, (x, y): (u32, u32), addr: u64, bytes: &[u8]) {
        assert_eq!(self.chip.tile_write(x, y, addr, bytes), Ok(()));
        self.tape.call(&Call::TileWrite { x, y, addr, bytes });
    }

    fn read(&mut self, (x, y): (u32, u32), addr: u64) {
        let mut bytes = [0; 8];
        assert_eq!(self.chip.tile_read(x, y, addr, &mut bytes), Ok(()));
        self.tape.call(&Call::TileRead { x, y, addr, bytes: &bytes });
        let (cycle, hash) = (self.chip.now().0, self.chip.state_hash());
        self.tape.call(&Call::State { cycle, hash });
        self.reads += 1;
    }

    fn clock(&mut self, clocks: u32) {
        self.chip.clock(clocks);
        self.tape.call(&Call::Clock { clocks });
    }
}

/// A live session with so many threads. Gives how many reads there were.
fn live(path: &Path, seed: u64, threads: usize) -> u64 {
    let config = ChipConfig { threads, clock: ClockStep::Cycles(64), ..ChipConfig::default() };
    let settings = vec![("TILESCOPE_CYCLES_PER_CLOCK".into(), "64".into())];
    let header = Header { settings, ..Header::default() };
    let tape = TapeWriter::create(path, &header, &Options::default()).unwrap();
    let mut host = Host { chip: Chip::new(config), tape, reads: 0 };
    host.tape.call(&Call::Init);
    let mut numbers = Numbers(seed);
    let any = |numbers: &mut Numbers| (COLUMNS[numbers.below(10) as usize], 2);
    for x in COLUMNS {
        let (to, wait) = (any(&mut numbers), 1 + numbers.below(40) as u32);
        let program = program((x, 2), to, wait, numbers.below(3) == 0);
        host.write((x, 2), 0, &program);
        host.write((x, 2), SOFT_RESET_0, &BRISC.to_le_bytes());
    }
    for _ in 0..60 {
        let tile = any(&mut numbers);
        match numbers.below(8) {
            0 | 1 => host.write(tile, SOFT_RESET_0, &BRISC.to_le_bytes()),
            2 => host.write(tile, SOFT_RESET_0, &0x4_7800_u32.to_le_bytes()),
            3 => host.write(tile, RECEIVED, &numbers.below(1 << 30).to_le_bytes()),
            4 => host.read(tile, COUNT),
            5 => host.read(tile, RECEIVED),
            _ => host.clock(1 + numbers.below(12) as u32),
        }
    }
    COLUMNS[..4].iter().for_each(|&x| host.read((x, 2), COUNT));
    host.tape.call(&Call::Exit);
    host.reads
}

/// Plays a tape; every state on it is compared. Gives how many there were.
fn play<O: Observer + Send + 'static>(tape: &Tape, make: impl Fn() -> Chip<O>) -> u64 {
    let mut player = Player::new(tape);
    let (mut chip, mut states) = (make(), 0);
    while let Some(played) = player.step(&mut chip).unwrap() {
        match played.what {
            What::Init => chip = make(),
            What::State => states += 1,
            _ => {}
        }
    }
    states
}

#[test]
fn state_at_each_read_is_the_live_ones_whoever_watches() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, threads) in [(1, 1), (2, 4)] {
        let path = folder.path().join("a.tape");
        let reads = live(&path, seed, threads);
        assert!(reads > 12, "{reads}");
        let tape = Tape::open(&path).unwrap();
        let config = replay::config_of(&tape).unwrap();
        for threads in [1, 2, 4] {
            let config = ChipConfig { threads, ..config };
            let states = [
                play::<NullObserver>(&tape, || Chip::new(config)),
                // Traffic alone, and the books of half of the tiles.
                play(&tape, || Chip::watched(config, |_| Lens::new(None))),
                play(&tape, || {
                    Chip::watched(config, |tile: TensixTile| {
                        Lens::new(
                            tile.worker().0.is_multiple_of(2).then(|| vec![(RECEIVED as u32, 4)]),
                        )
                    })
                }),
                // Every event.
                play(&tape, || Chip::watched(config, |_| EventHash::new())),
            ];
            assert_eq!(states, [reads; 4], "seed {seed}, {threads} threads");
        }
    }
}

/// The comparison is one: a machine that is in another state is noticed.
#[test]
fn another_state_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    live(&path, 1, 1);
    let tape = Tape::open(&path).unwrap();
    let config = replay::config_of(&tape).unwrap();
    let (mut player, mut chip) = (Player::new(&tape), Chip::new(config));
    let differs = loop {
        match player.step(&mut chip) {
            Ok(Some(played)) if played.what == What::Init => {
                chip = Chip::new(config);
                // What nobody reads before the first state.
                Machine::tile_write(&mut chip, 1, 2, 0x10_0000, &[1]);
            }
            Ok(Some(_)) => {}
            other => break other,
        }
    };
    let text = differs.unwrap_err().to_string();
    assert!(text.contains("state, at cycle"), "{text}");
}
