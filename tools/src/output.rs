//! Where answers go: standard output and standard error, whose readers may leave, and files, which
//! appear whole or not at all.
//!
//! Not here: what is written, and which exit status a run has.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::builder::styling::{AnsiColor, Style};

/// Standard output in messages.
pub const STDOUT: &str = "standard output";
/// Standard error in messages.
pub const STDERR: &str = "standard error";

/// A place that is written to. Its errors carry its name, and its reader may leave: from then on
/// everything is taken and thrown away, and the run comes to its own end.
/// `tilescope regs | head` is not an error.
#[derive(Debug)]
pub struct Output<W> {
    name: String,
    inner: W,
    closed: bool,
}

impl<W: Write> Output<W> {
    /// Nobody has left yet; `name` is for messages.
    pub fn new(name: impl Into<String>, inner: W) -> Self {
        Self { name: name.into(), inner, closed: false }
    }

    fn unless_closed<T>(
        &mut self,
        otherwise: T,
        body: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.closed {
            return Ok(otherwise);
        }
        match body(&mut self.inner) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(otherwise)
            }
            // `write` is tried again after that one, which therefore stays as it is.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            result => result.map_err(|error| {
                io::Error::new(error.kind(), format!("cannot write {}: {error}", self.name))
            }),
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |inner| inner.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.unless_closed((), |inner| inner.write_all(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), W::flush)
    }
}

/// Standard output for text: colours only on a terminal, and never with NO_COLOR.
#[must_use]
pub fn text() -> impl Write {
    Output::new(STDOUT, anstream::stdout())
}

/// Puts a whole file in the place of what is there: written beside it and renamed, so that a full disk
/// leaves the old one, and a process that has the old one mapped keeps it. What is no regular file,
/// such as `/dev/stdout`, is written to as it is.
///
/// # Errors
/// One line with the file's name.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    /// As `open` has it; the user's mask takes away from it.
    const MODE: u32 = 0o666;
    let old = match fs::metadata(path) {
        Ok(old) if !old.is_file() => return fs::write(path, bytes),
        old => old.ok().map(|old| old.permissions()),
    };
    // A link stays a link.
    let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty());
    // The error with the name of the file beside would say nothing to anybody; the code is kept.
    let code = Cell::new(None);
    let open = |path: &Path| {
        let file = fs::File::options().write(true).create_new(true).mode(MODE).open(path);
        file.inspect_err(|error| code.set(error.raw_os_error()))
    };
    let beside = tempfile::Builder::new().make_in(dir.unwrap_or(Path::new(".")), open);
    let mut file = match beside {
        Ok(file) => file,
        // There may be a file that may be written in a directory that may not.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && old.is_some() => {
            return fs::write(path, bytes);
        }
        Err(error) => return Err(code.get().map_or(error, io::Error::from_raw_os_error)),
    };
    file.as_file_mut().write_all(bytes)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old)?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// A word for a shell: as it is, or in single quotes.
#[must_use]
pub fn shell_word(word: &OsStr) -> Vec<u8> {
    let bytes = word.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_owned();
    }
    let mut quoted = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// `1 launch`, `2 launches`.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Prints an error as one line.
pub fn print_error(error: &anyhow::Error) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let text = format!("{error:#}").lines().collect::<Vec<_>>().join(" ");
    // There is nobody left to tell when standard error is gone too.
    let _ = writeln!(anstream::stderr(), "{red}error{red:#}: {text}");
}

/// Prints what a user should know, as one line on standard error.
pub fn note(text: &str) {
    // As above.
    let _ = writeln!(anstream::stderr(), "note: {text}");
}

/// Prints what this program has to say beside another one's output: one line on standard error, with
/// its name in front.
pub fn say(text: &str) {
    print_plainly(&format!("tilescope: {text}"));
}

/// Prints lines on standard error, with nothing in front.
pub fn print_plainly(text: &str) {
    // As above.
    let _ = writeln!(anstream::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// Takes so many bytes, then fails.
    struct Pipe(usize, io::ErrorKind);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(self.1.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn reader_that_leaves_is_no_error_and_gets_nothing_more() {
        let mut out = Output::new("there", Pipe(4, io::ErrorKind::BrokenPipe));
        assert!(out.write_all(b"four and more").is_ok());
        assert!(out.closed);
        out.inner.0 = 10;
        assert!(writeln!(out, "more").is_ok() && out.flush().is_ok());
        assert_eq!(out.inner.0, 10);
    }

    #[test]
    fn full_disk_stays_an_error() {
        let mut out = Output::new("there", Pipe(4, io::ErrorKind::StorageFull));
        let error = out.write_all(b"four and more").expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("cannot write there: "), "{error}");
    }

    #[test]
    fn word_for_a_shell_is_what_the_shell_reads() {
        for word in ["/plain/path-1.so", "a b", "it's", "$HOME", "", "a\nb", "~", "*"] {
            let mut script = b"printf %s ".to_vec();
            script.extend(shell_word(OsStr::new(word)));
            let mut shell = std::process::Command::new("sh");
            let output = shell.arg("-c").arg(OsStr::from_bytes(&script)).output();
            let output = output.expect("a shell is there");
            assert_eq!(output.stdout, word.as_bytes(), "{word:?}");
        }
        assert_eq!(shell_word(OsStr::new("/plain/path-1.so")), b"/plain/path-1.so");
    }

    #[test]
    fn whole_file_keeps_links_and_modes_and_leaves_nothing_beside() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        write_whole(&file, b"first").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("its own");
        std::os::unix::fs::symlink("file", &link).expect("linked");
        write_whole(&link, b"second").expect("written");
        assert_eq!(fs::read(&file).expect("there"), b"second");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 2);
        write_whole(Path::new("/dev/null"), b"gone").expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        let error = write_whole(&dir.path().join("no/such"), b"").expect_err("no folder");
        let text = format!("{error:#}");
        assert!(text.ends_with("no/such: No such file or directory (os error 2)"), "{text}");
    }
}
