//! Where answers go: standard output and standard error, whose readers may leave.
//!
//! Not here: what is written, and which exit status a run has.

use std::io::{self, Write};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
