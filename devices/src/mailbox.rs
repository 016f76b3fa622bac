//! Mailboxes: sixteen FIFOs of 32-bit values from each of BRISC and TRISC0-2 to each of them.
//!
//! Source: `[isa-wh: TensixTile/BabyRISCV/Mailboxes.md]`, which the Blackhole page declares
//! identical. Not here: who waits for what (the tile tracks blocked readers and writers), and the
//! shared buffers in which an excess write sits before it stalls the core.

use sim_core::{Category, CoreId, Fifo, StateHasher};

use crate::fault::DeviceFault;

/// Values one FIFO can hold, and also values all four FIFOs of one writer can hold together.
pub const CAPACITY: usize = 4;

/// Cores with mailboxes: BRISC, TRISC0, TRISC1, TRISC2.
pub const CORES: usize = 4;

/// All mailboxes of a tile.
#[derive(Clone, Debug)]
pub struct Mailboxes {
    /// `[writer][reader]`; the lengths of one writer's row add up to at most [`CAPACITY`].
    fifos: [[Fifo<u32>; CORES]; CORES],
}

impl Default for Mailboxes {
    fn default() -> Self {
        Self::new()
    }
}

/// The mailbox number of a core.
fn index(core: CoreId) -> Result<usize, DeviceFault> {
    let index = core.index();
    if index < CORES {
        return Ok(index);
    }
    Err(DeviceFault::new(
        Category::UndefinedBehavior,
        "mailbox-core",
        format!("{core} has no mailboxes"),
    ))
}

/// FIFO depth as events carry it.
fn depth(fifo: &Fifo<u32>) -> u8 {
    u8::try_from(fifo.len()).unwrap_or(u8::MAX)
}

impl Mailboxes {
    /// Empty mailboxes.
    #[must_use]
    pub fn new() -> Self {
        let row = || std::array::from_fn(|_| Fifo::new(CAPACITY));
        Self { fifos: std::array::from_fn(|_| row()) }
    }

    /// Whether a write `from -> to` goes through now: the FIFO has room and the writer's four
    /// FIFOs hold fewer than four values in all.
    ///
    /// # Errors
    /// `mailbox-core`: one of the two is NCRISC.
    pub fn can_push(&self, from: CoreId, to: CoreId) -> Result<bool, DeviceFault> {
        let row = &self.fifos[index(from)?];
        let held: usize = row.iter().map(Fifo::len).sum();
        Ok(!row[index(to)?].is_full() && held < CAPACITY)
    }

    /// Who would have to pop for a push `from -> to` that has no room: the reader of most words; of equal ones
    /// `to`.
    #[must_use]
    pub fn holder(&self, from: CoreId, to: CoreId) -> CoreId {
        let Ok(from) = index(from) else { return to };
        let readers = CoreId::ALL.into_iter().filter(|reader| reader.index() < CORES);
        let held = |reader: &CoreId| (self.fifos[from][reader.index()].len(), *reader == to);
        readers.max_by_key(held).unwrap_or(to)
    }

    /// Appends `value` to the FIFO `from -> to`; gives its depth afterwards.
    ///
    /// # Errors
    /// `mailbox-core`: one of the two is NCRISC. `mailbox-full`: [`Mailboxes::can_push`] was
    /// false; the hardware would have made the write wait.
    pub fn push(&mut self, from: CoreId, to: CoreId, value: u32) -> Result<u8, DeviceFault> {
        let full = DeviceFault::new(
            Category::Unsupported,
            "mailbox-full",
            format!("mailbox {from} -> {to} has no room and the write was not held back"),
        );
        if !self.can_push(from, to)? {
            return Err(full);
        }
        let fifo = &mut self.fifos[index(from)?][index(to)?];
        fifo.push(value).map_err(|_| full)?;
        Ok(depth(fifo))
    }

    /// Takes the oldest value of the FIFO `from -> to` and the depth afterwards; `None` if it is
    /// empty, in which case the hardware answers the read later.
    ///
    /// # Errors
    /// `mailbox-core`: one of the two is NCRISC.
    pub fn pop(&mut self, from: CoreId, to: CoreId) -> Result<Option<(u32, u8)>, DeviceFault> {
        let fifo = &mut self.fifos[index(from)?][index(to)?];
        Ok(fifo.pop().map(|value| (value, depth(fifo))))
    }

    /// The non-blocking query (address bit 2 set): 1 if `from -> to` holds a value, else 0. Zero
    /// for cores without mailboxes.
    #[must_use]
    pub fn status(&self, from: CoreId, to: CoreId) -> u32 {
        u32::from(self.depth(from, to) != 0)
    }

    /// Values held by the FIFO `from -> to`; zero for cores without mailboxes.
    #[must_use]
    pub fn depth(&self, from: CoreId, to: CoreId) -> u8 {
        match (index(from), index(to)) {
            (Ok(from), Ok(to)) => depth(&self.fifos[from][to]),
            _ => 0,
        }
    }

    /// Discards everything `core` has written, as entering soft reset does
    /// `[isa-bh: TensixTile/SoftReset.md]`.
    pub fn clear_writer(&mut self, core: CoreId) {
        if let Ok(from) = index(core) {
            self.fifos[from].iter_mut().for_each(Fifo::clear);
        }
    }

    /// Empties everything.
    pub fn reset(&mut self) {
        self.fifos.iter_mut().flatten().for_each(Fifo::clear);
    }

    /// The values on their way `from -> to`, oldest first; none for a core without mailboxes.
    pub fn values(&self, from: CoreId, to: CoreId) -> impl Iterator<Item = u32> {
        let fifo = index(from).and_then(|from| Ok(&self.fifos[from][index(to)?])).ok();
        fifo.into_iter().flat_map(|fifo| fifo.iter().copied())
    }

    /// Adds the contents to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { fifos } = self;
        for fifo in fifos.iter().flatten() {
            hasher.u8(depth(fifo));
            fifo.iter().for_each(|&value| hasher.u32(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CoreId::{Brisc, Ncrisc, Trisc0, Trisc1, Trisc2};

    // Expected values: the functional model in [isa-wh: TensixTile/BabyRISCV/Mailboxes.md].

    #[test]
    fn mailbox_pop_returns_values_in_write_order() {
        let mut boxes = Mailboxes::new();
        assert_eq!(boxes.push(Brisc, Trisc1, 7), Ok(1));
        assert_eq!(boxes.push(Brisc, Trisc1, 8), Ok(2));
        assert_eq!(boxes.pop(Brisc, Trisc1), Ok(Some((7, 1))));
        assert_eq!(boxes.pop(Brisc, Trisc1), Ok(Some((8, 0))));
        assert_eq!(boxes.pop(Brisc, Trisc1), Ok(None));
    }

    #[test]
    fn mailbox_directions_are_separate_fifos() {
        let mut boxes = Mailboxes::new();
        boxes.push(Trisc0, Trisc2, 1).unwrap();
        assert_eq!(boxes.status(Trisc0, Trisc2), 1);
        assert_eq!(boxes.status(Trisc2, Trisc0), 0);
    }

    #[test]
    fn mailbox_four_values_in_one_fifo_fill_the_writer() {
        let mut boxes = Mailboxes::new();
        for value in 0..4 {
            assert_eq!(boxes.can_push(Trisc0, Brisc), Ok(true));
            boxes.push(Trisc0, Brisc, value).unwrap();
        }
        assert_eq!(boxes.can_push(Trisc0, Brisc), Ok(false));
        assert_eq!(boxes.can_push(Trisc0, Trisc1), Ok(false));
        assert_eq!(boxes.holder(Trisc0, Trisc1), Brisc, "whose words fill the room");
        assert_eq!(boxes.can_push(Trisc1, Brisc), Ok(true));
    }

    #[test]
    fn mailbox_one_value_in_each_fifo_fills_the_writer() {
        let mut boxes = Mailboxes::new();
        for to in [Brisc, Trisc0, Trisc1, Trisc2] {
            boxes.push(Brisc, to, 0).unwrap();
        }
        assert_eq!(boxes.can_push(Brisc, Trisc2), Ok(false));
        assert_eq!(boxes.holder(Brisc, Trisc2), Trisc2, "of equal ones the one that is written");
        boxes.pop(Brisc, Trisc0).unwrap();
        assert_eq!(boxes.can_push(Brisc, Trisc2), Ok(true));
    }

    #[test]
    fn mailbox_writer_reset_keeps_what_others_wrote() {
        // [isa-bh: TensixTile/SoftReset.md] "mailboxes writable by the RISCV".
        let mut boxes = Mailboxes::new();
        boxes.push(Trisc0, Brisc, 1).unwrap();
        boxes.push(Brisc, Trisc0, 2).unwrap();
        boxes.clear_writer(Trisc0);
        assert_eq!(boxes.depth(Trisc0, Brisc), 0);
        assert_eq!(boxes.depth(Brisc, Trisc0), 1);
    }

    #[test]
    fn mailbox_of_ncrisc_faults() {
        let mut boxes = Mailboxes::new();
        assert_eq!(boxes.push(Ncrisc, Brisc, 1).unwrap_err().id, "mailbox-core");
        assert_eq!(boxes.pop(Brisc, Ncrisc).unwrap_err().id, "mailbox-core");
    }
}
