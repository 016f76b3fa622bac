//! Handshake-level events as `tracing` events.

use sim_core::{Event, Observer, Stamp};

use crate::describe::{describe, target_of};
use crate::names::Names;
use crate::target::Target;
use crate::{BuiltInNames, DEFAULT_L1};

/// Emits one `tracing` event per simulated event whose [`Target`] a subscriber wants.
///
/// Fields: `cycle`, `agent`, `pc`, `function`, `file`, `line` where known, and the message. What
/// no subscriber wants is not put into words. Nothing is kept.
#[derive(Clone, Debug)]
pub struct HandshakeLog<N = BuiltInNames> {
    names: N,
    ranges: Vec<(u32, u32)>,
}

impl<N: Names> HandshakeLog<N> {
    /// A log that names things with `names` and watches [`DEFAULT_L1`].
    #[must_use]
    pub fn new(names: N) -> Self {
        Self { names, ranges: vec![DEFAULT_L1] }
    }

    /// Watches these ranges `[start, end)` of L1 byte addresses as well. Stores to unnamed words
    /// have the target `tilescope::l1`.
    #[must_use]
    pub fn with_l1(mut self, ranges: &[(u32, u32)]) -> Self {
        self.ranges.extend_from_slice(ranges);
        self
    }
}

impl Default for HandshakeLog {
    fn default() -> Self {
        Self::new(BuiltInNames)
    }
}

impl<N: Names + 'static> Observer for HandshakeLog<N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, width, .. } = *event
            && !crate::hash::touches(&self.ranges, addr, width.bytes())
        {
            return;
        }
        if target_of(event, &self.names).is_some_and(Target::is_enabled)
            && let Some(line) = describe(stamp, event, &self.names)
        {
            Target::emit(&line);
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.ranges.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::names::CodeName;
    use crate::testing::at;
    use sim_core::observer::SemaphoreOp;
    use sim_core::{AgentId, CoreId, ThreadId, Width};
    use tracing_subscriber::EnvFilter;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

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

    /// What a subscriber with this filter prints for three events.
    fn printed(filter: &str) -> String {
        let captured = Captured::default();
        let writer = captured.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(filter))
            .without_time()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let mut log = HandshakeLog::new(OneFunction);
            let brisc = AgentId::Core(CoreId::Brisc);
            let value = 0x80;
            let go = Event::L1Store { addr: 0x68, value, width: Width::Byte };
            log.event(at(7, brisc, 0x3C28), &go);
            let semaphore =
                Event::Semaphore { index: 1, op: SemaphoreOp::Post, before: 0, after: 1, max: 1 };
            log.event(at(8, AgentId::Thread(ThreadId::T1), 0x71F0), &semaphore);
            let far = Event::L1Store { addr: 0x4000, value, width: Width::Byte };
            log.event(at(9, brisc, 0), &far);
        });
        let bytes = captured.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    const GO: &str = " INFO tilescope::go: subordinate_sync.dm1 = RUN_SYNC_MSG_GO (0x80) cycle=7 \
                      agent=BRISC pc=0x3c28 function=\"main\" file=\"brisc.cc\" line=42\n";
    const SEMAPHORE: &str = " INFO tilescope::semaphore: post MATH_PACK 0 -> 1, max 1 cycle=8 \
                             agent=Tensix T1 pc=0x71f0\n";

    #[test]
    fn filter_for_everything_prints_both_handshakes() {
        assert_eq!(printed("tilescope=trace"), format!("{GO}{SEMAPHORE}"));
    }

    #[test]
    fn filter_for_one_target_prints_only_it() {
        assert_eq!(printed("tilescope::semaphore=info"), SEMAPHORE);
        assert_eq!(printed("tilescope::go"), GO);
        assert_eq!(printed("off"), "");
    }
}
