//! The handshake log as text: one aligned line per event.

use std::io::{self, Write};

use sim_core::{Event, Observer, Stamp};

use crate::DEFAULT_L1;
use crate::describe::agent_name;
use crate::labels::put_duration;
use crate::names::{CodeName, Names};
use crate::polls::Episode;
use crate::scribe::Scribe;
use crate::target::{Target, Targets};
use crate::text::{Dec, Hex, Left, Right, put};

/// Writes `cycle agent topic message  [pc function file:line]` for events of chosen topics.
#[derive(Debug)]
pub struct TextLog<W: Write, N> {
    out: W,
    wanted: Targets,
    /// What each line begins with.
    prefix: String,
    /// A line of source is remembered as the end of a line of the log.
    scribe: Scribe<N, String>,
    line: String,
    error: Option<io::Error>,
}

impl<W: Write, N: Names> TextLog<W, N> {
    /// A log of these topics that names things with `names` and watches [`DEFAULT_L1`].
    pub fn new(out: W, names: N, wanted: Targets) -> Self {
        let scribe = Scribe::new(names, source, |_, _| {});
        Self { out, wanted, prefix: String::new(), scribe, line: String::new(), error: None }
    }

    /// The same, with every line beginning with those words: whose log it is.
    #[must_use]
    pub fn with_prefix(self, prefix: String) -> Self {
        Self { prefix, ..self }
    }

    /// Whether polling loops are wanted.
    pub const fn tells_polls(&self) -> bool {
        self.wanted.contains(Target::Wait)
    }

    /// Writes a polling loop as one line, in the cycle of its end, if waits are wanted.
    pub fn poll(&mut self, episode: &Episode) {
        if !self.tells_polls() {
            return;
        }
        let stamp = episode.stamp();
        self.begin_line(stamp, Target::Wait);
        let names = self.scribe.names();
        put!(&mut self.line; &episode.text(names), ": ", &episode.course(names));
        put!(&mut self.line; self.scribe.source(stamp), "\n");
        self.end_line();
    }

    fn begin_line(&mut self, stamp: Stamp, target: Target) {
        let line = &mut self.line;
        line.clear();
        line.push_str(&self.prefix);
        put!(line; Right(stamp.cycle.0, 9), " ", Left(&agent_name(stamp.agent), 9), " ");
        put!(line; Left(target.short_name(), 9), " ");
    }

    fn end_line(&mut self) {
        if self.error.is_none()
            && let Err(error) = self.out.write_all(self.line.as_bytes())
        {
            self.error = Some(error);
        }
    }

    /// Ends the log.
    ///
    /// # Errors
    /// The first error of the writer, whenever it happened.
    pub fn finish(mut self) -> io::Result<()> {
        self.error.map_or_else(|| self.out.flush(), Err)
    }
}

impl<W: Write + 'static, N: Names + 'static> Observer for TextLog<W, N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, width, .. } = *event
            && !crate::hash::touches(&[DEFAULT_L1], addr, width.bytes())
        {
            return;
        }
        let target = self.scribe.target(stamp, event);
        let Some(target) = target.filter(|&target| self.wanted.contains(target)) else { return };
        self.begin_line(stamp, target);
        put_duration(&mut self.line, stamp, event);
        let (phrase, source) = self.scribe.say(stamp, event);
        put!(&mut self.line; &phrase.text, source, "\n");
        self.end_line();
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

/// `  [pc function file:line]`, as far as it is known.
fn source(pc: u32, code: Option<CodeName>) -> String {
    let mut out = String::new();
    if pc == 0 {
        return out;
    }
    put!(&mut out; "  [", Hex(pc));
    if let Some(CodeName { function, file, line }) = code {
        put!(&mut out; " ", &function);
        if let Some(file) = file {
            put!(&mut out; " ", &file);
        }
        if let Some(line) = line {
            put!(&mut out; ":", Dec(line));
        }
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BuiltInNames;
    use crate::testing::{Kept, at};
    use sim_core::observer::SemaphoreOp;
    use sim_core::{AgentId, CoreId, ThreadId, Width};

    struct OneFunction;

    impl Names for OneFunction {
        fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
            (core == CoreId::Brisc && pc == 0x3C28).then(|| CodeName {
                function: "main".to_owned(),
                file: Some("brisc.cc".to_owned()),
                line: Some(42),
            })
        }
    }

    fn logged(filter: &str, names: impl Names + 'static) -> String {
        let kept = Kept::default();
        let mut log = TextLog::new(kept.clone(), names, Targets::parse(filter).expect("a filter"));
        let brisc = AgentId::Core(CoreId::Brisc);
        let go = Event::L1Store { addr: 0x68, value: 0x80, width: Width::Byte };
        log.event(at(7, brisc, 0x3C28), &go);
        let post =
            Event::Semaphore { index: 1, op: SemaphoreOp::Post, before: 0, after: 1, max: 1 };
        log.event(at(123_456_789_012, AgentId::Thread(ThreadId::T1), 0), &post);
        let far = Event::L1Store { addr: 0x4000, value: 1, width: Width::Byte };
        log.event(at(9, brisc, 0), &far);
        log.finish().expect("a vector takes it");
        String::from_utf8(kept.bytes()).expect("text")
    }

    const GO: &str = "        7 BRISC     go        subordinate_sync.dm1 = RUN_SYNC_MSG_GO (0x80)  \
                      [0x3c28 main brisc.cc:42]\n";
    const POST: &str = "123456789012 Tensix T1 semaphore post MATH_PACK 0 -> 1, max 1\n";

    #[test]
    fn lines_are_aligned_and_end_with_the_source() {
        assert_eq!(logged("info", OneFunction), format!("{GO}{POST}"));
        let bare = GO.replace(" main brisc.cc:42", "");
        assert_eq!(logged("go", BuiltInNames), bare);
    }
}
