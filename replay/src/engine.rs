//! Makes the recorded calls and compares what the device answers.
//!
//! Strict: every read must return the recorded bytes at the recorded point. Tolerant, the default:
//! poll iterations are not compared; another read may also show the bytes of a later read of its
//! chain (the device is ahead), or is repeated after more clocks until it shows what is expected
//! (the device is behind). `[spec: host recordings 2]`

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hostlib::recording::{Op, Record, Recording};

use crate::dma::{DmaShared, RecordedMemory};
use crate::library::Library;
use crate::plan::Plan;
use crate::window::{Target, Windows};

/// The longest single step of waiting, in host clocks.
const LONGEST_STEP: u32 = 1024;
/// Bytes of a mismatch that are kept.
const SHOWN_BYTES: usize = 16;

/// How to replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// Compare every read at its recorded point.
    pub strict: bool,
    /// Clocks that one read may wait for its value.
    pub max_clocks: u64,
    /// Mismatches after which the rest is not replayed.
    pub max_mismatches: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { strict: false, max_clocks: 2_000_000, max_mismatches: 8 }
    }
}

/// A read that did not show what was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// Number of the record.
    pub record: usize,
    /// The call.
    pub op: Op,
    /// Where it went, in words.
    pub place: String,
    /// Tile and NoC address of the first wrong byte, if the read goes to one tile.
    pub tile: Option<(u32, u32, u64)>,
    /// Size of the read in bytes.
    pub size: usize,
    /// First wrong byte.
    pub offset: usize,
    /// Recorded bytes from there on, up to sixteen.
    pub expected: Vec<u8>,
    /// What the device answered there.
    pub got: Vec<u8>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "record {}: {} of {} bytes at {}",
            self.record,
            self.op.name(),
            self.size,
            self.place
        )?;
        write!(f, ", byte {:#x}: expected", self.offset)?;
        for byte in &self.expected {
            write!(f, " {byte:02x}")?;
        }
        write!(f, ", got")?;
        self.got.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}

/// What came of a replay.
#[derive(Clone, Default, Debug)]
pub struct Outcome {
    /// Records replayed.
    pub records: usize,
    /// Reads compared, those of configuration space included.
    pub compared: u64,
    /// Poll iterations: performed, not compared.
    pub polls: u64,
    /// Reads that showed a value of a later read of their chain.
    pub early: u64,
    /// Reads that needed more clocks.
    pub late: u64,
    /// Clocks given to them, host clocks.
    pub extra_clocks: u64,
    /// Recorded clocks, host clocks.
    pub clocks: u64,
    /// Bytes read and compared.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// The device's reads of host memory.
    pub dma_reads: u64,
    /// The device's writes to host memory.
    pub dma_writes: u64,
    /// Those of them without a recorded counterpart.
    pub dma_unknown: u64,
    /// All mismatches, up to the limit.
    pub mismatches: Vec<Mismatch>,
    /// Whether the limit ended the replay.
    pub stopped: bool,
    /// State hash at the end of each session, from libraries that have one.
    pub state_hashes: Vec<u64>,
    /// What the device reported.
    pub reports: Vec<String>,
    /// Wall time of the calls and comparisons.
    pub seconds: f64,
}

impl Outcome {
    /// Whether every compared read showed what it should.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.mismatches.is_empty()
    }
}

/// Replays `recording` on `library`. A session the recording leaves open is ended.
///
/// # Errors
/// The library cannot begin a session.
pub fn replay(
    library: &mut dyn Library,
    recording: &Arc<Recording>,
    plan: &Plan,
    options: &Options,
) -> Result<Outcome, String> {
    let shared = Arc::new(DmaShared::default());
    let mut run = Run {
        library,
        recording,
        plan,
        options,
        windows: Windows::default(),
        outcome: Outcome::default(),
        scratch: Vec::new(),
        open: false,
        shared: Arc::clone(&shared),
    };
    let began = Instant::now();
    let result = run.all();
    run.close();
    result?;
    let mut outcome = run.outcome;
    outcome.seconds = began.elapsed().as_secs_f64();
    outcome.dma_reads = DmaShared::get(&shared.reads);
    outcome.dma_writes = DmaShared::get(&shared.writes);
    outcome.dma_unknown = DmaShared::get(&shared.unknown);
    Ok(outcome)
}

struct Run<'a> {
    library: &'a mut dyn Library,
    recording: &'a Arc<Recording>,
    plan: &'a Plan,
    options: &'a Options,
    windows: Windows,
    outcome: Outcome,
    scratch: Vec<u8>,
    open: bool,
    shared: Arc<DmaShared>,
}

impl Run<'_> {
    fn all(&mut self) -> Result<(), String> {
        let recording = Arc::clone(self.recording);
        for (index, record) in recording.records().enumerate() {
            self.shared.at.store(index, Ordering::Relaxed);
            self.library.begin_record(index);
            self.one(index, &record)?;
            self.outcome.records += 1;
            if self.outcome.mismatches.len() >= self.options.max_mismatches.max(1) {
                self.outcome.stopped = true;
                break;
            }
        }
        Ok(())
    }

    fn one(&mut self, index: usize, record: &Record<'_>) -> Result<(), String> {
        match record.op {
            Op::Init => {
                self.close();
                self.library.init()?;
                self.open = true;
                self.windows = Windows::default();
            }
            Op::Exit => self.close(),
            Op::SetCallbacks => {
                let shared = Arc::clone(&self.shared);
                let memory = RecordedMemory::new(Arc::clone(self.recording), shared);
                self.library.set_host_memory(Box::new(memory));
            }
            Op::ConfigRead => self.config_read(index, record),
            Op::ConfigWrite => {
                self.library.config_write(low(record.a0), low(record.a1), record.word());
            }
            Op::MemWrite => {
                self.windows.observe(record);
                self.library.mem_write(record.a0, record.bytes);
                self.outcome.bytes_written += record.bytes.len() as u64;
            }
            Op::TileWrite => {
                let (x, y) = record.tile();
                self.library.tile_write(x, y, record.a0, record.bytes);
                self.outcome.bytes_written += record.bytes.len() as u64;
            }
            Op::Clock => {
                self.library.clock(low(record.a0));
                self.outcome.clocks += u64::from(low(record.a0));
            }
            Op::MemRead | Op::TileRead => self.read(index, record),
            // What the device did then; it is compared when it does it now.
            Op::DmaRead | Op::DmaWrite => {}
        }
        Ok(())
    }

    /// Ends the session, keeping what can only be asked before that.
    fn close(&mut self) {
        if !self.open {
            return;
        }
        self.outcome.state_hashes.extend(self.library.state_hash());
        self.outcome.reports.extend(self.library.take_reports());
        self.library.exit();
        self.open = false;
    }

    fn config_read(&mut self, index: usize, record: &Record<'_>) {
        let word = self.library.config_read(low(record.a0), low(record.a1));
        self.outcome.compared += 1;
        self.outcome.bytes_read += 4;
        if word != record.word() {
            let place = format!("bus address {:#x} offset {:#x}", record.a0, record.a1);
            self.mismatch(index, record, place, None, &word.to_le_bytes());
        }
    }

    fn perform(&mut self, record: &Record<'_>, bytes: &mut [u8]) {
        if record.op == Op::MemRead {
            self.library.mem_read(record.a0, bytes);
        } else {
            let (x, y) = record.tile();
            self.library.tile_read(x, y, record.a0, bytes);
        }
    }

    fn read(&mut self, index: usize, record: &Record<'_>) {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        // Neither zeros nor ones: a library that leaves the buffer alone shall not pass by luck.
        bytes.resize(record.bytes.len(), 0xA5);
        if !self.options.strict && self.plan.is_poll(index) {
            self.perform(record, &mut bytes);
            self.outcome.polls += 1;
        } else {
            self.compare(index, record, &mut bytes);
        }
        self.scratch = bytes;
    }

    fn compare(&mut self, index: usize, record: &Record<'_>, bytes: &mut [u8]) {
        self.outcome.compared += 1;
        self.outcome.bytes_read += record.bytes.len() as u64;
        let (mut used, mut step) = (0, 1);
        loop {
            self.perform(record, bytes);
            let exact = bytes == record.bytes;
            if exact || !self.options.strict && self.is_later_value(index, bytes) {
                self.outcome.late += u64::from(used > 0);
                self.outcome.early += u64::from(!exact);
                break;
            }
            if self.options.strict || used >= self.options.max_clocks {
                let (place, tile) = self.place(record, bytes);
                self.mismatch(index, record, place, tile, bytes);
                break;
            }
            let left = self.options.max_clocks - used;
            let clocks = u32::try_from(left).map_or(step, |left| step.min(left));
            self.library.clock(clocks);
            used += u64::from(clocks);
            step = (step * 2).min(LONGEST_STEP);
        }
        self.outcome.extra_clocks += used;
    }

    fn is_later_value(&self, index: usize, bytes: &[u8]) -> bool {
        self.plan.later(index).any(|later| self.recording.record(later).bytes == bytes)
    }

    fn place(&self, record: &Record<'_>, got: &[u8]) -> (String, Option<(u32, u32, u64)>) {
        let offset = first_difference(record.bytes, got) as u64;
        if record.op == Op::TileRead {
            let (x, y) = record.tile();
            let text = format!("tile ({x},{y}) address {:#x}", record.a0);
            return (text, Some((x, y, record.a0.wrapping_add(offset))));
        }
        let target = self.windows.target(record.a0);
        let tile = match target {
            Target::Tile { at: (x, y), address, .. } => Some((x, y, address.wrapping_add(offset))),
            _ => None,
        };
        (target.to_string(), tile)
    }

    fn mismatch(
        &mut self,
        index: usize,
        record: &Record<'_>,
        place: String,
        tile: Option<(u32, u32, u64)>,
        got: &[u8],
    ) {
        let offset = first_difference(record.bytes, got);
        let part = |bytes: &[u8]| bytes[offset..].iter().copied().take(SHOWN_BYTES).collect();
        self.outcome.mismatches.push(Mismatch {
            record: index,
            op: record.op,
            place,
            tile,
            size: record.bytes.len(),
            offset,
            expected: part(record.bytes),
            got: part(got),
        });
    }
}

fn first_difference(expected: &[u8], got: &[u8]) -> usize {
    expected.iter().zip(got).take_while(|(expected, got)| expected == got).count()
}

/// The 32-bit argument a record keeps in 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "the ABI's argument has 32 bits")]
fn low(value: u64) -> u32 {
    value as u32
}
