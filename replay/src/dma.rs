//! The host's memory during a replay: answers from the recording.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hostlib::abi::HostMemory;
use hostlib::recording::{Op, Recording};

/// What engine and memory share.
#[derive(Debug, Default)]
pub(crate) struct DmaShared {
    /// Record that is being replayed.
    pub(crate) at: AtomicUsize,
    pub(crate) reads: AtomicU64,
    pub(crate) writes: AtomicU64,
    /// Accesses without a recorded counterpart.
    pub(crate) unknown: AtomicU64,
}

impl DmaShared {
    pub(crate) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub(crate) struct RecordedMemory {
    recording: Arc<Recording>,
    /// Records by operation, address and size, in order.
    records: HashMap<(Op, u64, usize), Vec<usize>>,
    shared: Arc<DmaShared>,
}

impl RecordedMemory {
    pub(crate) fn new(recording: Arc<Recording>, shared: Arc<DmaShared>) -> Self {
        let mut records: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, record) in recording.records().enumerate() {
            if matches!(record.op, Op::DmaRead | Op::DmaWrite) {
                let key = (record.op, record.a0, record.bytes.len());
                records.entry(key).or_default().push(index);
            }
        }
        Self { recording, records, shared }
    }

    fn find(&self, op: Op, paddr: u64, size: usize) -> &[usize] {
        self.records.get(&(op, paddr, size)).map_or(&[], Vec::as_slice)
    }
}

impl HostMemory for RecordedMemory {
    /// The recorded bytes nearest to the present record; the later of two as near.
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        self.shared.reads.fetch_add(1, Ordering::Relaxed);
        let at = self.shared.at.load(Ordering::Relaxed);
        let known = self.find(Op::DmaRead, paddr, bytes.len());
        let nearest = known.iter().min_by_key(|&&index| (index.abs_diff(at), index < at)).copied();
        match nearest {
            Some(index) => bytes.copy_from_slice(self.recording.record(index).bytes),
            None => {
                self.shared.unknown.fetch_add(1, Ordering::Relaxed);
                bytes.fill(0);
            }
        }
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        self.shared.writes.fetch_add(1, Ordering::Relaxed);
        let known = self.find(Op::DmaWrite, paddr, bytes.len());
        if !known.iter().any(|&index| self.recording.record(index).bytes == bytes) {
            self.shared.unknown.fetch_add(1, Ordering::Relaxed);
        }
    }
}
