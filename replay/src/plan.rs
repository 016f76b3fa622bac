//! What of a recording is a host's polling, and which later values a faster device may show.
//!
//! Two reads belong to one *chain* when they ask for the same bytes of the same place: same call,
//! same arguments, and the same contents of the window register in force; and no host write to
//! those bytes through the same window contents lies between them. A read that is followed by
//! another of its chain with no host data write in between is a *poll iteration*: the host saw the
//! value, and asked again. Writes to window registers are not data. `[spec: host recordings 2]`

use std::collections::HashMap;

use hostlib::recording::{Op, Record, Recording};

use crate::window::Windows;

/// What the replayer knows of each record beforehand.
#[derive(Clone, Debug)]
pub struct Plan {
    poll: Vec<bool>,
    next: Vec<Option<u32>>,
}

#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct Place {
    op: Op,
    a0: u64,
    a1: u64,
    size: usize,
    window: [u32; 3],
}

struct Chain {
    from: u64,
    end: u64,
    /// The latest read, and how many data writes the recording had made by then; `None` after a
    /// write to the bytes.
    last: Option<(usize, u64)>,
}

fn end(record: &Record<'_>) -> u64 {
    record.a0.saturating_add(record.bytes.len() as u64)
}

impl Plan {
    /// Finds the chains of a recording.
    ///
    /// # Panics
    /// The recording has more than 2^32 records; it would not fit into memory.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let mut plan =
            Self { poll: vec![false; recording.len()], next: vec![None; recording.len()] };
        let mut windows = Windows::default();
        let mut places: HashMap<Place, usize> = HashMap::new();
        let mut chains: Vec<Chain> = Vec::new();
        let mut of_window: HashMap<[u32; 3], Vec<usize>> = HashMap::new();
        let mut writes = 0;
        for (index, record) in recording.records().enumerate() {
            if windows.observe(&record) {
                continue;
            }
            let window = match record.op {
                Op::MemRead | Op::MemWrite => windows.register(record.a0),
                _ => [0; 3],
            };
            match record.op {
                Op::MemWrite | Op::TileWrite => {
                    writes += 1;
                    for &chain in of_window.get(&window).into_iter().flatten() {
                        let chain = &mut chains[chain];
                        if record.a0 < chain.end && chain.from < end(&record) {
                            chain.last = None;
                        }
                    }
                }
                Op::MemRead | Op::TileRead => {
                    let Record { op, a0, a1, bytes } = record;
                    let place = Place { op, a0, a1, size: bytes.len(), window };
                    let chain = *places.entry(place).or_insert_with(|| {
                        chains.push(Chain { from: a0, end: end(&record), last: None });
                        of_window.entry(window).or_default().push(chains.len() - 1);
                        chains.len() - 1
                    });
                    if let Some((before, then)) = chains[chain].last {
                        plan.next[before] = Some(u32::try_from(index).expect("fits memory"));
                        plan.poll[before] = then == writes;
                    }
                    chains[chain].last = Some((index, writes));
                }
                _ => {}
            }
        }
        plan
    }

    /// Whether record `index` is a poll iteration, which is performed and not compared.
    #[must_use]
    pub fn is_poll(&self, index: usize) -> bool {
        self.poll[index]
    }

    /// The later reads of the chain that record `index` belongs to.
    pub fn later(&self, index: usize) -> impl Iterator<Item = usize> {
        let next = |index: usize| self.next[index].map(|next| next as usize);
        std::iter::successors(next(index), move |&index| next(index))
    }
}
