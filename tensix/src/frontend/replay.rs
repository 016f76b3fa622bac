//! The replay expander of one thread: records instructions and plays them back.
//!
//! Sources: `[isa-wh: TensixCoprocessor/REPLAY.md]` (newest version: a count of 0 is 32, counts
//! above 32 are not supported); the Blackhole page calls it similar.

use isa::operands;
use sim_core::CoreId;

use crate::queue::{Origin, Queued};

/// Instructions a replay buffer holds.
pub(crate) const SLOTS: usize = 32;

const _: () = assert!(operands::Replay::START_IDX.mask().count_ones() == SLOTS.trailing_zeros());

/// What the expander is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Passing instructions on.
    Pass,
    /// Recording the next `left` instructions from slot `index` on.
    Record { index: u8, left: u8, execute: bool },
    /// Emitting `left` of `count` instructions from slot `index` on, on behalf of the `REPLAY` of
    /// `origin`.
    Play { index: u8, left: u8, count: u8, origin: Origin, mop: u32 },
}

/// A `REPLAY` with more instructions than the buffer has slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLong;

/// The expander's state: its buffer and what it is doing.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    pub(crate) buffer: [u32; SLOTS],
    pub(crate) mode: Mode,
}

impl Replay {
    pub(crate) const fn new() -> Self {
        Self { buffer: [0; SLOTS], mode: Mode::Pass }
    }

    /// Takes a `REPLAY` instruction.
    pub(crate) fn begin(&mut self, entry: Queued) -> Result<(), TooLong> {
        // Ten bits by the vendor's macro, six by the page; anything above 32 is refused, so the
        // difference cannot matter [llk: instructions/assembly.yaml].
        if operands::Replay::of(entry.word()).macro_len > SLOTS as u32 {
            return Err(TooLong);
        }
        self.begin_wrapped(entry);
        Ok(())
    }

    /// Takes a `REPLAY` instruction whose count is what six bits hold; the buffer wraps.
    pub(crate) fn begin_wrapped(&mut self, entry: Queued) {
        let operands = operands::Replay::of(entry.word());
        let left = match operands.len {
            0 => SLOTS as u8,
            count => count as u8,
        };
        let index = operands.start_idx as u8;
        self.mode = if operands.load_mode {
            Mode::Record { index, left, execute: operands.execute_while_loading }
        } else {
            Mode::Play { index, left, count: left, origin: entry.origin(), mop: entry.mop() }
        };
    }

    /// Stores an instruction while recording; says whether it is also passed on.
    #[inline]
    pub(crate) fn record(&mut self, word: u32) -> bool {
        let Mode::Record { index, left, execute } = self.mode else { return true };
        self.buffer[usize::from(index)] = word;
        self.mode = if left == 1 {
            Mode::Pass
        } else {
            Mode::Record { index: (index + 1) % SLOTS as u8, left: left - 1, execute }
        };
        execute
    }

    /// The next instruction of a playback.
    #[inline]
    pub(crate) fn play(&mut self) -> Option<Queued> {
        let Mode::Play { index, left, count, origin, mop } = self.mode else { return None };
        self.mode = if left == 1 {
            Mode::Pass
        } else {
            let next = (index + 1) % SLOTS as u8;
            Mode::Play { index: next, left: left - 1, count, origin, mop }
        };
        Some(Queued::expanded(self.buffer[usize::from(index)], origin, mop, index + 1))
    }

    /// Whether it plays what the thread's TRISC pushed.
    pub(crate) const fn plays_for_trisc(&self) -> bool {
        matches!(self.mode, Mode::Play { origin, .. } if !matches!(origin.core, CoreId::Brisc))
    }

    /// Whether a playback has instructions left.
    #[inline]
    pub(crate) const fn is_playing(&self) -> bool {
        matches!(self.mode, Mode::Play { .. })
    }

    /// The mode as numbers, for the state hash.
    pub(crate) fn mode_words(&self) -> [u32; 4] {
        match self.mode {
            Mode::Pass => [0; 4],
            Mode::Record { index, left, execute } => {
                [1, u32::from(index), u32::from(left), u32::from(execute)]
            }
            Mode::Play { index, left, origin, mop, .. } => {
                [2 | mop << 2, u32::from(index), u32::from(left), origin.pc]
            }
        }
    }
}
