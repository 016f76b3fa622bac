//! Where calls go to and where they are written: the target library and the open file, both opened
//! with the first call of the process.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hostlib::recording::{Op, Record, write_magic, write_record};
use hostlib::{DynamicLibrary, abi};
use parking_lot::Mutex;

/// Bytes that are kept until they are written.
const BUFFER_BYTES: usize = 1 << 16;

/// How long they are kept at most while calls come: a host that is killed leaves what it did up to
/// then.
const KEPT: Duration = Duration::from_millis(100);

struct Tape {
    target: DynamicLibrary,
    file: Mutex<Option<Open>>,
}

struct Open {
    file: BufWriter<File>,
    flushed: Instant,
}

impl Open {
    fn write(&mut self, record: &Record<'_>) -> io::Result<()> {
        write_record(&mut self.file, record)?;
        if self.flushed.elapsed() < KEPT {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.flushed = Instant::now();
        Ok(())
    }
}

static TAPE: OnceLock<Option<Tape>> = OnceLock::new();

fn say(text: &str) {
    // When standard error is gone too there is nobody left to tell.
    let _ = writeln!(io::stderr(), "tilescope record: {text}");
}

fn tape() -> Option<&'static Tape> {
    TAPE.get_or_init(|| open().map_err(|error| say(&error)).ok()).as_ref()
}

fn open() -> Result<Tape, String> {
    let target = env::var_os("TILESCOPE_RECORD_TARGET").ok_or_else(|| {
        format!("TILESCOPE_RECORD_TARGET names no library with {}, ...", abi::SYMBOLS[0])
    })?;
    let target = DynamicLibrary::open(Path::new(&target)).map_err(|error| error.to_string())?;
    let path = env::var_os("TILESCOPE_RECORD_FILE").unwrap_or_else(|| "session.%p.rec".into());
    let path = with_process_id(&path);
    let file = File::create(&path).and_then(|file| {
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, file);
        write_magic(&mut file)?;
        let mut open = Open { file, flushed: Instant::now() };
        // A recording from the first moment, if of nothing yet.
        open.flush()?;
        Ok(open)
    });
    let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(Tape { target, file: Mutex::new(Some(file)) })
}

/// The path with the process id for each `%p`, whatever else it is made of.
fn with_process_id(path: &OsStr) -> PathBuf {
    let id = process::id().to_string();
    let mut rest = path.as_bytes();
    let mut named = Vec::with_capacity(rest.len());
    while let Some(&first) = rest.first() {
        if let Some(behind) = rest.strip_prefix(b"%p") {
            named.extend_from_slice(id.as_bytes());
            rest = behind;
        } else {
            named.push(first);
            rest = &rest[1..];
        }
    }
    PathBuf::from(OsString::from_vec(named))
}

/// Runs `body` on the target; `None` when there is none.
pub(crate) fn with<T>(body: impl FnOnce(&DynamicLibrary) -> T) -> Option<T> {
    tape().map(|tape| body(&tape.target))
}

/// Writes one record. After a failure nothing more is written: a gap would make all that follows
/// wrong.
pub(crate) fn write(op: Op, a0: u64, a1: u64, bytes: &[u8]) {
    let Some(tape) = tape() else { return };
    let mut file = tape.file.lock();
    let Some(open) = file.as_mut() else { return };
    if let Err(error) = open.write(&Record { op, a0, a1, bytes }) {
        say(&format!("the recording ends here: {error}"));
        *file = None;
    }
}

/// Hands what is buffered to the file.
pub(crate) fn flush() {
    // Not `tape()`: a process that called nothing needs no file at its end.
    let Some(Some(tape)) = TAPE.get() else { return };
    let mut file = tape.file.lock();
    if let Some(Err(error)) = file.as_mut().map(Open::flush) {
        say(&format!("the recording ends here: {error}"));
        *file = None;
    }
}
