//! The host's memory while a tape is played: what the tape says the device did there.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use chip::HostMemory;
use sim_core::sync::Mutex;

use crate::exact::Mismatch;

/// An access of the device to the host's memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// It wrote.
    pub is_write: bool,
    /// Address in the host's memory.
    pub paddr: u64,
    /// What was written, or supplied by the host.
    pub bytes: Vec<u8>,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_write, paddr, bytes } = self;
        let verb = if *is_write { "write" } else { "read" };
        write!(f, "{verb} of {} bytes at {paddr:#x} of the host's memory", bytes.len())?;
        if *is_write {
            write!(f, ":")?;
            bytes.iter().take(16).try_for_each(|byte| write!(f, " {byte:02x}"))?;
        }
        Ok(())
    }
}

/// How much is known of when the device did something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strictness {
    /// Within which call, and in which order.
    PerCall,
    /// Only that it was about then: old recordings do not say which call it was within.
    PerSession,
}

#[derive(Debug)]
struct Inner {
    strictness: Strictness,
    expected: VecDeque<Access>,
    first: Option<Mismatch>,
    read: bool,
    write: bool,
}

impl Inner {
    /// Takes what the tape has for an access.
    fn take(&mut self, is_write: bool, paddr: u64, bytes: &[u8]) -> Option<Access> {
        let fits = |access: &Access| {
            (access.is_write, access.paddr) == (is_write, paddr)
                && access.bytes.len() == bytes.len()
                && (!is_write || access.bytes == bytes)
        };
        let at = match self.strictness {
            Strictness::PerCall => self.expected.front().is_some_and(fits).then_some(0),
            Strictness::PerSession => self.expected.iter().position(fits),
        };
        at.and_then(|at| self.expected.remove(at))
    }

    fn extra(&mut self, is_write: bool, paddr: u64, bytes: &[u8]) {
        let access = || Mismatch::Extra(Access { is_write, paddr, bytes: bytes.to_vec() });
        self.first.get_or_insert_with(access);
    }
}

/// What the device will do, shared by a player and the machine.
#[derive(Clone, Debug)]
pub(crate) struct Script(Arc<Mutex<Inner>>);

impl Script {
    pub(crate) fn new(strictness: Strictness) -> Self {
        let expected = VecDeque::new();
        let inner = Inner { strictness, expected, first: None, read: false, write: false };
        Self(Arc::new(Mutex::new(inner)))
    }

    /// The memory for a machine.
    pub(crate) fn memory(&self) -> Box<dyn HostMemory> {
        Box::new(self.clone())
    }

    /// Which functions the host has.
    pub(crate) fn set_functions(&self, read: bool, write: bool) {
        let mut inner = self.0.lock();
        (inner.read, inner.write) = (read, write);
    }

    /// The device does this within the next call.
    pub(crate) fn expect(&self, is_write: bool, paddr: u64, bytes: &[u8]) {
        let access = Access { is_write, paddr, bytes: bytes.to_vec() };
        self.0.lock().expected.push_back(access);
    }

    /// What was different within a call that has ended.
    pub(crate) fn check(&self) -> Option<Mismatch> {
        let mut inner = self.0.lock();
        let missing = inner.strictness == Strictness::PerCall;
        let missing = if missing { inner.expected.pop_front() } else { None };
        if missing.is_some() {
            inner.expected.clear();
        }
        inner.first.take().or(missing.map(Mismatch::Missing))
    }

    /// What the device has not done until the end.
    pub(crate) fn finish(&self) -> Option<Mismatch> {
        let mut inner = self.0.lock();
        let missing = inner.expected.pop_front();
        inner.expected.clear();
        missing.map(Mismatch::Missing)
    }
}

impl HostMemory for Script {
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        let mut inner = self.0.lock();
        match inner.take(false, paddr, bytes) {
            Some(access) => bytes.copy_from_slice(&access.bytes),
            // Without the host's function the device sees a bus without memory.
            None => {
                bytes.fill(0xFF);
                if inner.read {
                    inner.extra(false, paddr, bytes);
                }
            }
        }
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        let mut inner = self.0.lock();
        if inner.take(true, paddr, bytes).is_none() && inner.write {
            inner.extra(true, paddr, bytes);
        }
    }
}
