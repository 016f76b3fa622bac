//! The tape of a session, kept if `TILESCOPE_TAPE=FILE` asks for it: every call that reaches the chip, in
//! order, with what it gave. `%p` in the name becomes the process id.
//!
//! Calls that a chip at rest answers by itself change nothing but the time; the time they came to is on
//! the tape as one record. A process that forks goes on with a tape of its own.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tape::{Call, Header, Options, TapeWriter};

use crate::bell::tape_is_taken;
use crate::memory::TtsimMemory;

/// Written to disk at least so often while the host calls.
const FLUSHED: Duration = Duration::from_millis(200);

/// Variables that define the machine. With `auto` as the length of a clock that depends on who is parked.
const SETTINGS: [&str; 9] = [
    "TILESCOPE_PRODUCT",
    "TILESCOPE_COLUMNS_OFF",
    "TILESCOPE_CYCLES_PER_CLOCK",
    "TILESCOPE_EPOCH",
    "TILESCOPE_TIMING",
    "TILESCOPE_WARN",
    "TILESCOPE_PARKING",
    "TILESCOPE_AHEAD",
    "TILESCOPE_SHORTCUTS",
];
/// Variables that say where names of kernels are to be found.
const PLACES: [&str; 3] = ["HOME", "TMPDIR", "VIRTUAL_ENV"];
/// Those of the vendor's runtime begin so.
const RUNTIME: &str = "TT_METAL_";

/// One access of the device to the host's memory.
#[derive(Debug)]
enum Dma {
    Read(u64, Vec<u8>),
    Write(u64, Vec<u8>),
}

type DmaLog = Arc<Mutex<Vec<Dma>>>;

/// The host's memory, with a log of what the device does to it.
#[derive(Debug)]
struct LoggedMemory {
    memory: TtsimMemory,
    log: DmaLog,
}

impl chip::HostMemory for LoggedMemory {
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        self.memory.read(paddr, bytes);
        self.log.lock().push(Dma::Read(paddr, bytes.to_vec()));
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        self.memory.write(paddr, bytes);
        self.log.lock().push(Dma::Write(paddr, bytes.to_vec()));
    }
}

#[derive(Debug)]
struct Running {
    writer: TapeWriter,
    pattern: PathBuf,
    pid: u32,
    flushed: Instant,
    dma: DmaLog,
}

/// The tape, if one is kept. It goes on from session to session of a process.
#[derive(Debug, Default)]
pub(crate) struct Taping(Option<Box<Running>>);

/// The variables that are wanted, by name.
fn variables(wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let all = std::env::vars_os();
    let text =
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    text.filter(|(name, _)| wanted(name)).collect()
}

/// The file of a pattern: `%p` is the process; a second process without one gets its id appended.
fn file(pattern: &Path, second: bool) -> PathBuf {
    let text = pattern.to_string_lossy();
    let pid = process::id();
    if text.contains("%p") {
        return PathBuf::from(text.replace("%p", &pid.to_string()));
    }
    if second { PathBuf::from(format!("{text}.{pid}")) } else { pattern.to_owned() }
}

impl Taping {
    /// None kept.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Starts a tape if the environment asks for one and none runs yet; what is wrong with the wish, if
    /// anything.
    pub(crate) fn start(&mut self) -> Option<String> {
        let pattern = std::env::var_os("TILESCOPE_TAPE").map(PathBuf::from)?;
        if self.0.is_some() {
            return None;
        }
        let limit = match std::env::var("TILESCOPE_TAPE_BYTES").ok().map(|text| text.parse()) {
            None => None,
            Some(Ok(bytes)) => Some(bytes),
            Some(Err(_)) => return Some("TILESCOPE_TAPE_BYTES is no number of bytes".to_owned()),
        };
        let header = Header {
            settings: variables(|name| SETTINGS.contains(&name)),
            program: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            directory: std::env::current_dir().unwrap_or_default(),
            pid: process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            environment: variables(|name| PLACES.contains(&name) || name.starts_with(RUNTIME)),
        };
        let path = file(&pattern, tape_is_taken());
        match TapeWriter::create(&path, &header, &Options { limit_bytes: limit }) {
            Ok(writer) => {
                self.0 = Some(Box::new(Running {
                    writer,
                    pattern,
                    pid: process::id(),
                    flushed: Instant::now(),
                    dma: DmaLog::default(),
                }));
                None
            }
            Err(error) => Some(format!("no tape: cannot write {}: {error}", path.display())),
        }
    }

    /// Where the tape is, if one is kept.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.0.as_ref().map(|running| running.writer.path())
    }

    /// The host's memory as the chip is to have it.
    pub(crate) fn memory(&self, memory: TtsimMemory) -> Box<dyn chip::HostMemory> {
        match &self.0 {
            Some(running) => Box::new(LoggedMemory { memory, log: Arc::clone(&running.dma) }),
            None => Box::new(memory),
        }
    }

    /// Takes a call that has ended, after what the device did to the host's memory meanwhile.
    #[inline]
    pub(crate) fn call(&mut self, call: &Call<'_>) {
        if let Some(running) = &mut self.0 {
            running.call(call);
        }
    }

    /// Time for what takes time: flushes now and then, and gives what went wrong, once.
    pub(crate) fn visit(&mut self) -> Option<String> {
        let running = self.0.as_mut()?;
        if running.flushed.elapsed() >= FLUSHED {
            running.flush();
        }
        running.complaint()
    }

    /// All that was taken goes to disk.
    pub(crate) fn flush(&mut self) -> Option<String> {
        let running = self.0.as_mut()?;
        running.flush();
        running.complaint()
    }
}

impl Running {
    fn call(&mut self, call: &Call<'_>) {
        if process::id() != self.pid {
            self.go_on_alone();
        }
        let mut dma = self.dma.lock();
        for access in dma.drain(..) {
            match &access {
                Dma::Read(paddr, bytes) => {
                    self.writer.call(&Call::DmaRead { paddr: *paddr, bytes });
                }
                Dma::Write(paddr, bytes) => {
                    self.writer.call(&Call::DmaWrite { paddr: *paddr, bytes });
                }
            }
        }
        self.writer.call(call);
    }

    /// In a forked child: a tape of its own, which begins with all that was before.
    fn go_on_alone(&mut self) {
        self.pid = process::id();
        if let Ok(writer) = self.writer.fork(&file(&self.pattern, true)) {
            self.writer = writer;
        }
    }

    fn flush(&mut self) {
        self.flushed = Instant::now();
        if self.writer.pending() {
            self.writer.flush();
        }
    }

    fn complaint(&mut self) -> Option<String> {
        let error = self.writer.error()?;
        Some(format!("the tape {} ends here: {error}", self.writer.path().display()))
    }
}
