//! What lies where in a tile's L1.

use std::ops::Range;
use std::sync::Arc;

use sim_core::AgentId;

use super::buffer::CircularBuffer;
use super::finding::Finding;
use super::formats::Formats;
use super::hazards as h;

/// What lies where, for the checks.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// Code of kernels in L1.
    pub code: Vec<Range<u32>>,
    /// Circular buffers.
    pub circular: Vec<CircularBuffer>,
    /// Formats of their data; none where the host's files do not say.
    pub formats: Option<Arc<Formats>>,
    /// Coordinates of this tile as NoC commands name it, `y << 6 | x`.
    pub own: Vec<u32>,
    /// The same of the other Tensix tiles.
    pub others: Arc<[u32]>,
}

/// Where the vendor's firmware has its code, on every tile alike `[spec: boot-and-sync 1.2]`.
pub(super) fn firmware_code() -> Range<u32> {
    let areas = memory_map::layout::AREAS.iter().filter(|area| area.name.ends_with("_firmware"));
    let ranges = areas.map(|area| area.base..area.base + area.bytes);
    ranges.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)).unwrap_or_default()
}

/// Circular buffers that lie on top of each other. Two of the same place and size share a buffer on
/// purpose.
#[must_use]
pub fn layout(circular: &[CircularBuffer]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, one) in circular.iter().enumerate() {
        for other in &circular[at + 1..] {
            let same = (one.address, one.size) == (other.address, other.size);
            let apart = one.end() <= other.address || other.end() <= one.address;
            if same || apart || one.index == other.index {
                continue;
            }
            findings.push(Finding {
                hazard: h::C4,
                cycle: 0,
                agent: AgentId::Host,
                pc: 0,
                place: "the launch".to_owned(),
                code: None,
                source: None,
                callers: Vec::new(),
                text: format!(
                    "CB {} ({:#x}..{:#x}) and CB {} ({:#x}..{:#x}) overlap",
                    one.index,
                    one.address,
                    one.end(),
                    other.index,
                    other.address,
                    other.end()
                ),
                count: 1,
            });
        }
    }
    findings
}

impl Regions {
    /// The buffer of that index, unless launches differ about it.
    pub(super) fn buffer(&self, index: u8) -> Option<CircularBuffer> {
        let mut own = self.circular.iter().filter(|buffer| buffer.index == index);
        let first = own.next().copied()?;
        own.all(|other| *other == first).then_some(first)
    }

    /// A transfer that begins in a buffer and ends behind it, in words.
    pub(super) fn left_by(&self, addr: u64, bytes: u32) -> Option<String> {
        let addr = u32::try_from(addr).ok()?;
        let begins = |buffer: &&CircularBuffer| addr >= buffer.address && addr < buffer.end();
        let buffer = self.circular.iter().find(begins)?;
        let end = buffer.end();
        (u64::from(addr) + u64::from(bytes) > u64::from(end)).then(|| {
            format!(
                "transfer of {bytes} bytes at {addr:#x} leaves CB {} ({:#x}..{end:#x})",
                buffer.index, buffer.address
            )
        })
    }
}
