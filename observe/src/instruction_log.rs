//! Every executed instruction of chosen cores, one line each.

use std::io::{self, Write};

use sim_core::{CoreId, CoreSet, Observer, Retire};

use crate::BuiltInNames;
use crate::names::Names;

/// Writes a line per instruction: cycle, core, pc, word, disassembly, result, source.
///
/// A write that fails ends the log, not the simulation: the error is kept for
/// [`InstructionLog::finish`], and nothing more is written. Iterations of a polling loop
/// that a parked core skips are missing.
#[derive(Debug)]
pub struct InstructionLog<W: Write, N = BuiltInNames> {
    writer: W,
    names: N,
    cores: CoreSet,
    /// What each line begins with.
    prefix: String,
    lines: u64,
    error: Option<io::Error>,
}

impl<W: Write, N: Names> InstructionLog<W, N> {
    /// A log of `cores`. The writer is best buffered.
    #[must_use]
    pub const fn new(writer: W, cores: CoreSet, names: N) -> Self {
        Self { writer, names, cores, prefix: String::new(), lines: 0, error: None }
    }

    /// The same, with every line beginning with those words: whose log it is.
    #[must_use]
    pub fn with_prefix(self, prefix: String) -> Self {
        Self { prefix, ..self }
    }

    /// How many lines were written.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// The error that ended the log, if one did.
    #[must_use]
    pub const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Flushes and hands the writer back.
    ///
    /// # Errors
    /// The first write or the flush failed. A pipe whose reader has gone is not an error.
    pub fn finish(mut self) -> io::Result<W> {
        let result = match self.error {
            Some(error) => Err(error),
            None => self.writer.flush(),
        };
        match result {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(self.writer),
        }
    }

    fn write(&mut self, core: CoreId, retire: &Retire) -> io::Result<()> {
        let Retire { cycle, pc, word, rd, value } = *retire;
        let text = isa::disasm::rv32(word, pc);
        let writer = &mut self.writer;
        writer.write_all(self.prefix.as_bytes())?;
        write!(writer, "{cycle:>9} {core:<6} {pc:#07x} {word:08x}  {text:<36}")?;
        if rd != 0 {
            write!(writer, " {}={value:#x}", isa::disasm::xreg(rd.into()))?;
        }
        if let Some(code) = self.names.code(core, pc) {
            write!(writer, "  [{code}]")?;
        }
        writeln!(writer)
    }
}

impl<W: Write + 'static, N: Names + 'static> Observer for InstructionLog<W, N> {
    fn wants_retires(&self, core: CoreId) -> bool {
        self.error.is_none() && self.cores.contains(core)
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if self.error.is_some() || !self.cores.contains(core) {
            return;
        }
        match self.write(core, retire) {
            Ok(()) => self.lines += 1,
            Err(error) => self.error = Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Cycle;

    fn retire(word: u32, rd: u8, value: u32) -> Retire {
        Retire { cycle: Cycle(12), pc: 0x3AE0, word, rd, value }
    }

    /// Words: `addi a0,zero,5` and `sw a0,0(a1)` by the RISC-V manual's formats.
    #[test]
    fn instruction_line_shows_result_only_when_there_is_one() {
        let mut log = InstructionLog::new(Vec::new(), CoreSet::only(CoreId::Brisc), BuiltInNames);
        log.retire(CoreId::Brisc, &retire(0x0050_0513, 10, 5));
        log.retire(CoreId::Trisc0, &retire(0x0050_0513, 10, 5));
        log.retire(CoreId::Brisc, &retire(0x00A5_A023, 0, 0));
        assert_eq!(log.lines(), 2);
        let text = String::from_utf8(log.finish().unwrap()).unwrap();
        let pad = |text| format!("{text:<36}");
        assert_eq!(
            text,
            format!(
                "       12 BRISC  0x03ae0 00500513  {} a0=0x5\n       12 BRISC  0x03ae0 00a5a023  {}\n",
                pad("li\ta0,5").replace('\t', " "),
                pad("sw a0,0(a1)")
            )
        );
    }

    /// Takes one write, then fails as given.
    struct Closes(Option<io::ErrorKind>);

    impl Write for Closes {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.unwrap_or(io::ErrorKind::Other).into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn closed_pipe_ends_the_log_quietly() {
        let writer = Closes(Some(io::ErrorKind::BrokenPipe));
        let mut log = InstructionLog::new(writer, CoreSet::ALL, BuiltInNames);
        assert!(log.wants_retires(CoreId::Brisc));
        log.retire(CoreId::Brisc, &retire(0x13, 0, 0));
        log.retire(CoreId::Brisc, &retire(0x13, 0, 0));
        assert!(!log.wants_retires(CoreId::Brisc));
        assert_eq!(log.lines(), 0);
        assert!(log.finish().is_ok());
    }

    #[test]
    fn full_disk_is_reported_at_the_end() {
        let mut log = InstructionLog::new(
            Closes(Some(io::ErrorKind::StorageFull)),
            CoreSet::ALL,
            BuiltInNames,
        );
        log.retire(CoreId::Brisc, &retire(0x13, 0, 0));
        let error = log.finish().err().map(|error| error.kind());
        assert_eq!(error, Some(io::ErrorKind::StorageFull));
    }
}
