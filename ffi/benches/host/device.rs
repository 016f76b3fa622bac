//! What a host does to a device library, timed. One [`Bench`] per process: the memory figures look
//! at the whole process, and some libraries keep state.

use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use hostlib::{DynamicLibrary, Op};
use rustix::time::{ClockId, clock_gettime};

use crate::guest::{self, Program};

/// BAR0 and its window registers, of 12 bytes each `[spec: host-abi 2.4]`.
const BAR0: u64 = 0x1_0000_0000;
const WINDOW_BYTES: u64 = 2 << 20;
const WINDOW_REGISTERS: u64 = BAR0 + 0x1FC0_0000;
/// The window this program uses.
const WINDOW: u64 = 7;
const L1_BYTES: u64 = 1536 << 10;

/// Registers of a tile `[isa-bh: TensixTile/SoftReset.md]`, `[spec: boot-and-sync 1.3]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const ALL_HELD: u32 = 0x4_7800;
/// Reset bits of BRISC, the three TRISCs and NCRISC, in the order in which cores are taken.
const RESET_BITS: [u32; 5] = [1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 18];
/// Reset PC of the TRISCs and NCRISC with their override words: all start at 0 then.
const RESET_PCS: [(u64, u32); 6] = [
    (0xFFB1_2228, 0),
    (0xFFB1_222C, 0),
    (0xFFB1_2230, 0),
    (0xFFB1_2234, 7),
    (0xFFB1_2238, 0),
    (0xFFB1_223C, 1),
];
/// Calls within which a program counts something.
const PATIENCE: u32 = 10_000;
/// A word to poll.
const POLLED: u64 = 0x2_0000;

/// What a figure is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Milliseconds,
    Megabytes,
    PerSecond,
}

impl Unit {
    /// A figure as text.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::PerSecond if value >= 1e8 => format!("{:.0} M/s", value / 1e6),
            Self::PerSecond => format!("{:.3} M/s", value / 1e6),
        }
    }

    /// How many times better the first is.
    pub(crate) fn advantage(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Self::PerSecond => ours / theirs,
            Self::Milliseconds | Self::Megabytes => theirs / ours,
        }
    }
}

/// Something to measure.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) run: fn(&Bench) -> Result<f64, String>,
}

/// A loaded library.
pub(crate) struct Bench {
    library: DynamicLibrary,
    time: Duration,
    /// For how many seconds the last rate was looked at.
    looked: Cell<f64>,
}

impl Bench {
    pub(crate) fn open(path: &Path, seconds: f64) -> Result<Self, String> {
        let library = DynamicLibrary::open(path).map_err(|error| error.to_string())?;
        library.set_host_memory(None);
        Ok(Self { library, time: Duration::from_secs_f64(seconds), looked: Cell::new(0.0) })
    }

    /// For how many seconds a rate was looked at; 0 for what is none.
    pub(crate) fn looked(&self) -> f64 {
        self.looked.get()
    }

    fn word(&self, paddr: u64, value: u32) {
        self.library.mem_write(paddr, &value.to_le_bytes());
    }

    /// Points the window at an address of a tile; gives where that lies in BAR0.
    fn window(&self, (x, y): (u32, u32), addr: u64) -> u64 {
        let register = WINDOW_REGISTERS + 12 * WINDOW;
        self.word(register, (addr >> 21) as u32);
        self.word(register + 4, x << 11 | y << 17);
        self.word(register + 8, 0);
        BAR0 + WINDOW * WINDOW_BYTES + addr % WINDOW_BYTES
    }

    fn tile_write(&self, tile: (u32, u32), addr: u64, bytes: &[u8]) {
        self.library.mem_write(self.window(tile, addr), bytes);
    }

    fn tile_word(&self, tile: (u32, u32), addr: u64) -> u32 {
        let mut bytes = [0; 4];
        self.library.mem_read(self.window(tile, addr), &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Lets some cores of `tiles` tiles, by their place in [`RESET_BITS`], run a program.
    fn start(&self, program: Program, tiles: usize, cores: Range<usize>) {
        let code: Vec<u8> = program().iter().flat_map(|word| word.to_le_bytes()).collect();
        let released = RESET_BITS[cores].iter().fold(ALL_HELD, |held, bit| held & !bit);
        for tile in tensix().take(tiles) {
            self.tile_write(tile, SOFT_RESET_0, &ALL_HELD.to_le_bytes());
            self.tile_write(tile, 0, &code);
            for (register, value) in RESET_PCS {
                self.tile_write(tile, register, &value.to_le_bytes());
            }
            self.tile_write(tile, SOFT_RESET_0, &released.to_le_bytes());
        }
    }

    /// Calls `act` for the time asked for; gives calls per second.
    fn rate(&self, per_look: u32, mut act: impl FnMut()) -> f64 {
        let begun = Instant::now();
        let mut calls = 0u64;
        loop {
            (0..per_look).for_each(|_| act());
            calls += u64::from(per_look);
            let passed = begun.elapsed();
            if passed >= self.time {
                self.looked.set(passed.as_secs_f64());
                return calls as f64 / passed.as_secs_f64();
            }
        }
    }
}

impl Bench {
    /// What the program on the first tile counts per second, looked at after so many clocks.
    fn counted(&self, clocks: u32) -> Result<f64, String> {
        let count = || self.tile_word((1, 2), u64::from(guest::COUNT));
        let mut before = 0;
        for _ in 0..PATIENCE {
            self.library.clock(clocks);
            before = count();
            if before != 0 {
                break;
            }
        }
        let begun = Instant::now();
        self.rate(1, || self.library.clock(clocks));
        // A short look ends before anything more is counted.
        for _ in 0..PATIENCE {
            if count() != before {
                break;
            }
            self.library.clock(clocks);
        }
        let passed = begun.elapsed();
        self.looked.set(passed.as_secs_f64());
        let counted = count().wrapping_sub(before);
        if before == 0 || counted == 0 {
            return Err("the program does not run".to_owned());
        }
        Ok(f64::from(counted) / passed.as_secs_f64())
    }
}

/// NoC 0 coordinates of the Tensix tiles `[spec: host-abi 2.6]`.
fn tensix() -> impl Iterator<Item = (u32, u32)> {
    (2..12).flat_map(|y| (1..8).chain(10..17).map(move |x| (x, y)))
}

/// Resident memory of this process in megabytes.
fn resident() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map(|kilobytes| kilobytes / 1024.0).ok_or_else(|| "no VmRSS here".to_owned())
}

/// `libttsim_init`.
pub(crate) fn init(bench: &Bench) -> Result<f64, String> {
    let begun = Instant::now();
    bench.library.init();
    let passed = begun.elapsed();
    bench.library.exit();
    Ok(passed.as_secs_f64() * 1e3)
}

/// Resident memory once the device is there.
pub(crate) fn memory_after_init(bench: &Bench) -> Result<f64, String> {
    bench.library.init();
    resident()
}

/// Resident memory once every byte of every L1 has been written.
pub(crate) fn memory_all_l1(bench: &Bench) -> Result<f64, String> {
    bench.library.init();
    let ones = vec![1; L1_BYTES as usize];
    tensix().for_each(|tile| bench.tile_write(tile, 0, &ones));
    drop(ones);
    resident()
}

/// Clocks per second with all cores in reset.
pub(crate) fn empty_clock(bench: &Bench) -> Result<f64, String> {
    const CLOCKS: u32 = 10_000;
    bench.library.init();
    Ok(bench.rate(1, || bench.library.clock(CLOCKS)) * f64::from(CLOCKS))
}

/// Steps per second with some cores running a program.
pub(crate) fn steps(
    bench: &Bench,
    program: Program,
    tiles: usize,
    cores: usize,
) -> Result<f64, String> {
    bench.library.init();
    bench.start(program, tiles, 0..cores);
    // At least what the longest step of a poll is, so that both sides do as many cycles as clocks.
    let clocks = 4096u32;
    bench.library.clock(clocks);
    let rate = bench.rate(1, || bench.library.clock(clocks));
    Ok(rate * f64::from(clocks) * (tiles * cores) as f64)
}

/// Clocks per second of some tiles, in each of which TRISC0's kernel computes in the vector unit and BRISC and
/// NCRISC load and store.
pub(crate) fn busy_tiles(bench: &Bench, tiles: usize) -> Result<f64, String> {
    /// Behind the program of the other two.
    const KERNEL: u32 = 0x1000;
    bench.library.init();
    let kernel: Vec<u8> = (guest::SFPMAD)().iter().flat_map(|word| word.to_le_bytes()).collect();
    // They begin when the kernel is there, and BRISC last.
    bench.start(guest::LOAD_STORE, tiles, 0..0);
    let (of_trisc0, _) = RESET_PCS[0];
    let released = [0, 1, 4].iter().fold(ALL_HELD, |held, &core| held & !RESET_BITS[core]);
    for tile in tensix().take(tiles) {
        bench.tile_write(tile, KERNEL.into(), &kernel);
        bench.tile_write(tile, of_trisc0, &KERNEL.to_le_bytes());
        bench.tile_write(tile, SOFT_RESET_0, &released.to_le_bytes());
    }
    let clocks = 4096u32;
    bench.library.clock(clocks);
    Ok(bench.rate(1, || bench.library.clock(clocks)) * f64::from(clocks))
}

/// What a tile takes in which all cores have run, in MB: of 140, less what there was before.
pub(crate) fn memory_per_tile(bench: &Bench) -> Result<f64, String> {
    const TILES: usize = 140;
    bench.library.init();
    let before = resident()?;
    bench.start(guest::LOAD_STORE, TILES, 0..5);
    bench.library.clock(4096);
    Ok((resident()? - before) / TILES as f64)
}

/// Reads of a word with one clock after each, per second, while cores poll.
pub(crate) fn polls(bench: &Bench, tiles: usize, cores: usize) -> Result<f64, String> {
    bench.library.init();
    bench.start(guest::POLL, tiles, 0..cores);
    let at = bench.window((1, 2), POLLED);
    bench.library.clock(100);
    Ok(bench.rate(20, || {
        bench.library.mem_read(at, &mut [0; 4]);
        bench.library.clock(1);
    }))
}

/// Blocks of 64 KiB written into L1 per second.
pub(crate) fn block_writes(bench: &Bench) -> Result<f64, String> {
    bench.library.init();
    let at = bench.window((1, 2), 0x2_0000);
    let block = vec![3; 64 << 10];
    Ok(bench.rate(8, || bench.library.mem_write(at, &block)))
}

/// Blocks of 64 KiB read from L1 per second.
pub(crate) fn block_reads(bench: &Bench) -> Result<f64, String> {
    bench.library.init();
    let at = bench.window((1, 2), 0x2_0000);
    let mut block = vec![3; 64 << 10];
    bench.library.mem_write(at, &block);
    Ok(bench.rate(8, || bench.library.mem_read(at, &mut block)))
}

/// NoC requests of one tile per second, one after the other.
pub(crate) fn requests(bench: &Bench, program: Program) -> Result<f64, String> {
    bench.library.init();
    bench.start(program, 1, 0..1);
    bench.counted(4096)
}

/// Tensix instructions per second of a kernel on one TRISC.
pub(crate) fn instructions(bench: &Bench, kernel: Program) -> Result<f64, String> {
    bench.library.init();
    bench.start(kernel, 1, 1..2);
    Ok(bench.counted(512)? * f64::from(guest::PLAYED))
}

/// The calls of the recording that `TILESCOPE_RECORDING` names, without comparing what they give: CPU time of the
/// thread that makes them, in milliseconds.
pub(crate) fn replay(bench: &Bench) -> Result<f64, String> {
    replayed(Some(&bench.library))
}

/// As [`replay`], but no call is made: what the replayer takes for itself.
pub(crate) fn replay_nothing(_: &Bench) -> Result<f64, String> {
    replayed(None)
}

fn replayed(library: Option<&DynamicLibrary>) -> Result<f64, String> {
    let path = std::env::var_os("TILESCOPE_RECORDING").ok_or("TILESCOPE_RECORDING is not set")?;
    let recording = replay::read(Path::new(&path)).map_err(|error| error.to_string())?;
    // What the replayer does itself is not to be measured: the calls are laid out before the first.
    let records: Vec<_> = recording.records().collect();
    let longest = records.iter().map(|record| record.bytes.len()).max().unwrap_or(0);
    // Written, so that none of its pages is missing.
    let mut room = vec![0xFF; longest];
    let begun = own_time();
    for record in &records {
        let buffer = &mut room[..record.bytes.len()];
        let (x, y) = record.tile();
        let Some(library) = library else {
            std::hint::black_box((record, buffer, x, y));
            continue;
        };
        match record.op {
            Op::Init => library.init(),
            Op::Exit => library.exit(),
            Op::ConfigRead => {
                let _ = library.config_read(record.a0 as u32, record.a1 as u32);
            }
            Op::ConfigWrite => {
                library.config_write(record.a0 as u32, record.a1 as u32, record.word());
            }
            Op::MemRead => library.mem_read(record.a0, buffer),
            Op::MemWrite => library.mem_write(record.a0, record.bytes),
            Op::TileRead => library.tile_read(x, y, record.a0, buffer),
            Op::TileWrite => library.tile_write(x, y, record.a0, record.bytes),
            Op::Clock => library.clock(record.a0 as u32),
            _ => {}
        }
    }
    Ok((own_time() - begun) * 1e3)
}

/// Seconds for which this thread has had a CPU. Where `TILESCOPE_COUNTED` says that something counts instructions
/// instead, none: valgrind does not know that clock.
fn own_time() -> f64 {
    if std::env::var_os("TILESCOPE_COUNTED").is_some() {
        return 0.0;
    }
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
