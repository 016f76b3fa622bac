//! Old recordings as calls.

use hostlib::Recording;
use hostlib::recording::{Op as OldOp, Record};

use crate::call::Call;

/// The calls of an old recording.
///
/// There a write or a clock comes before what the device did to the host's memory within it, and a
/// read after; here all calls come after.
#[derive(Debug)]
pub(crate) struct OldCalls<'t> {
    recording: &'t Recording,
    /// The next record.
    at: usize,
    /// A call, and where what the device did within it ends.
    held: Option<(usize, usize)>,
}

impl<'t> OldCalls<'t> {
    pub(crate) fn new(recording: &'t Recording) -> Self {
        Self { recording, at: 0, held: None }
    }

    fn is_dma(record: &Record<'_>) -> bool {
        matches!(record.op, OldOp::DmaRead | OldOp::DmaWrite)
    }

    pub(crate) fn next(&mut self) -> Option<Call<'t>> {
        if let Some((call, end)) = self.held
            && self.at == end
        {
            self.held = None;
            return Some(old_call(&self.recording.record(call)));
        }
        let at = self.at;
        if at >= self.recording.len() {
            return None;
        }
        let record = self.recording.record(at);
        self.at += 1;
        let within = matches!(
            record.op,
            OldOp::Clock | OldOp::MemWrite | OldOp::TileWrite | OldOp::ConfigWrite
        );
        if within {
            let mut after = self.at..self.recording.len();
            let end = after.find(|&next| !Self::is_dma(&self.recording.record(next)));
            self.held = Some((at, end.unwrap_or(self.recording.len())));
            return self.next();
        }
        Some(old_call(&record))
    }
}

fn old_call<'a>(record: &Record<'a>) -> Call<'a> {
    let &Record { op, a0, a1, bytes } = record;
    let (bdf, offset, value) = (a0 as u32, a1 as u32, record.word());
    let (x, y) = record.tile();
    match op {
        OldOp::Init => Call::Init,
        OldOp::Exit => Call::Exit,
        OldOp::ConfigRead => Call::ConfigRead { bdf, offset, value },
        OldOp::ConfigWrite => Call::ConfigWrite { bdf, offset, value },
        OldOp::MemRead => Call::MemRead { paddr: a0, bytes },
        OldOp::MemWrite => Call::MemWrite { paddr: a0, bytes },
        OldOp::Clock => Call::Clock { clocks: a0 as u32 },
        // Which of them it had is not recorded.
        OldOp::SetCallbacks => Call::SetMemory { read: true, write: true },
        OldOp::DmaRead => Call::DmaRead { paddr: a0, bytes },
        OldOp::DmaWrite => Call::DmaWrite { paddr: a0, bytes },
        OldOp::TileRead => Call::TileRead { x, y, addr: a0, bytes },
        OldOp::TileWrite => Call::TileWrite { x, y, addr: a0, bytes },
    }
}
