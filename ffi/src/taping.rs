//! The tape of a session, kept if `TILESCOPE_TAPE=FILE` asks for it: every call that reaches the chip, in
//! order, with what it gave. `%p` in the name becomes the process id; a name that somebody else has taken gets
//! it appended.
//!
//! Calls that a chip at rest answers by itself change nothing but the time; the time they came to is on
//! the tape as one record. A process that forks goes on with a tape of its own.

use std::io;
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
/// Tapes of one name and process.
const MOST_TAPES: u32 = 64;
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
    /// It was said that the tape is full.
    told_full: bool,
}

/// The tape, if one is kept. It goes on from session to session of a process, unless the environment
/// names another file.
#[derive(Debug, Default)]
pub(crate) struct Taping(Option<Box<Running>>);

/// The variables that are wanted, by name.
fn variables(wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let all = std::env::vars_os();
    let text =
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    text.filter(|(name, _)| wanted(name)).collect()
}

/// The size beyond which no file of this process may grow: a host that tries is ended by a signal
/// [man: setrlimit(2), proc_pid_limits(5)].
fn most_file_bytes() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Names for the tape of a pattern, the first that is free is taken: `%p` is the process; a second process
/// without one, or a second library in a process, appends to it.
fn files(pattern: &Path, second: bool) -> impl Iterator<Item = PathBuf> {
    let (text, pid) = (pattern.to_string_lossy().into_owned(), process::id());
    let own = text.contains("%p");
    let text = text.replace("%p", &pid.to_string());
    let plain = (own || !second).then(|| text.clone());
    let numbered = if own { text } else { format!("{text}.{pid}") };
    let more = (2..=MOST_TAPES).map({
        let numbered = numbered.clone();
        move |number| format!("{numbered}.{number}")
    });
    let first = if own { None } else { Some(numbered) };
    plain.into_iter().chain(first).chain(more).map(PathBuf::from)
}

/// Makes a tape under the first name that is free.
fn first_free(
    mut names: impl Iterator<Item = PathBuf>,
    make: impl Fn(&Path) -> io::Result<TapeWriter>,
) -> Result<TapeWriter, String> {
    loop {
        let Some(path) = names.next() else { return Err("no tape: no name is free".to_owned()) };
        match make(&path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            Err(error) => return Err(format!("no tape: cannot write {}: {error}", path.display())),
            Ok(writer) => return Ok(writer),
        }
    }
}

impl Taping {
    /// None kept.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Starts a tape if the environment asks for one, or goes on with the one of the last session if it
    /// still names that; what is wrong with the wish, if anything.
    pub(crate) fn start(&mut self) -> Option<String> {
        let pattern = std::env::var_os("TILESCOPE_TAPE").map(PathBuf::from)?;
        if let Some(running) = &mut self.0
            && running.pattern == pattern
            && (running.pid == process::id() && running.writer.take_up().is_ok())
        {
            let made = running.writer.make_room();
            return made.err().map(|error| running.complain(&error));
        }
        // Who names another file from session to session, as a runner of tests does, gets one for each.
        let before = self.flush();
        self.0 = None;
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
        let limit_bytes = limit.into_iter().chain(most_file_bytes()).min();
        let options = Options { limit_bytes };
        let make = |path: &Path| TapeWriter::create(path, &header, &options);
        match first_free(files(&pattern, tape_is_taken()), make) {
            Ok(writer) => {
                self.0 = Some(Box::new(Running {
                    writer,
                    pattern,
                    pid: process::id(),
                    flushed: Instant::now(),
                    dma: DmaLog::default(),
                    told_full: false,
                }));
                before
            }
            Err(complaint) => Some(complaint),
        }
    }

    /// In a forked child: a tape of its own, which begins with all that was before.
    pub(crate) fn go_on_alone(&mut self) -> Option<String> {
        self.0.as_mut()?.go_on_alone()
    }

    /// Between two sessions: all that was taken is on disk, and others may have the tape.
    pub(crate) fn let_go(&mut self) -> Option<String> {
        let running = self.0.as_mut()?;
        running.writer.let_go();
        running.complaint()
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

    fn go_on_alone(&mut self) -> Option<String> {
        self.pid = process::id();
        // What was recorded and not written yet is in both.
        match first_free(files(&self.pattern, true), |path| self.writer.fork(path)) {
            Ok(writer) => {
                self.writer = writer;
                None
            }
            // The parent's tape says so itself when somebody writes to it here.
            Err(complaint) => Some(complaint),
        }
    }

    fn flush(&mut self) {
        self.flushed = Instant::now();
        if self.writer.pending() {
            self.writer.flush();
        }
    }

    fn complaint(&mut self) -> Option<String> {
        if let Some(error) = self.writer.error() {
            return Some(self.complain(&error));
        }
        let is_full = self.writer.is_full();
        let is_news = is_full && !self.told_full;
        self.told_full = is_full;
        is_news.then(|| {
            format!(
                "the tape {} has as many bytes as it may have, {}: what the session does from now on is not on it",
                self.writer.path().display(),
                self.writer.written()
            )
        })
    }

    fn complain(&self, error: &io::Error) -> String {
        format!("the tape {} ends here: {error}", self.writer.path().display())
    }
}
