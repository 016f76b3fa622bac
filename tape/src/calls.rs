//! The calls of a tape, one after the other: folds expanded, payloads fetched.

use crate::blobs::{LEAST_BYTES, PIECE_BYTES, Shelf, pieces};
use crate::call::{Call, Op, Parts};
use crate::dictionary::{Key, REST, STATE};
use crate::error::TapeError;
use crate::fold::{AGAIN, COPY, FORGET, KNOWN, NEW, Past};
use crate::old::OldCalls;
use crate::rest;
use crate::streams::{Stream, Streams};
use crate::tape::{BlockTape, Tape, TapeKind};
use crate::wire::{Damage, unzigzag};

/// The calls of a [`Tape`] in order. What it holds in memory is a block of calls, some blocks of
/// payloads, and one payload.
#[derive(Debug)]
pub struct Calls<'t> {
    tape: &'t Tape,
    way: Way<'t>,
}

#[derive(Debug)]
enum Way<'t> {
    Blocks(Box<Unfolder<'t>>),
    Old(OldCalls<'t>),
}

impl<'t> Calls<'t> {
    pub(crate) fn new(tape: &'t Tape) -> Self {
        let way = match &tape.kind {
            TapeKind::Blocks(blocks) => Way::Blocks(Box::new(Unfolder::new(tape, blocks))),
            TapeKind::Old { recording, .. } => Way::Old(OldCalls::new(recording)),
        };
        Self { tape, way }
    }

    /// The tape they are of.
    #[must_use]
    pub fn tape(&self) -> &'t Tape {
        self.tape
    }

    /// The next call; `None` after the last one.
    ///
    /// # Errors
    /// The tape cannot be read on; nor can it when asked again.
    #[expect(
        clippy::should_implement_trait,
        reason = "what it gives lives until it is asked again"
    )]
    pub fn next(&mut self) -> Result<Option<Call<'_>>, TapeError> {
        match &mut self.way {
            Way::Blocks(unfolder) => unfolder.next(),
            Way::Old(old) => Ok(old.next()),
        }
    }
}

/// A call by number, with the numbers of `Rest` and `State`.
#[derive(Clone, Copy, Debug)]
struct Item {
    number: u32,
    numbers: (u64, u64),
}

#[derive(Debug)]
struct Unfolder<'t> {
    tape: &'t Tape,
    blocks: &'t BlockTape,
    next_block: usize,
    past: Past,
    streams: Streams,
    distance: u64,
    copies: u64,
    right: u64,
    /// What came after a rest.
    ahead: Option<Result<Option<Item>, TapeError>>,
    is_broken: bool,
    shelf: Shelf,
    identity: Vec<u8>,
    payload: Vec<u8>,
}

/// What goes wrong within: nothing is known of files there.
#[derive(Debug)]
enum Trouble {
    Damage(Damage),
    Tape(TapeError),
}

impl From<Damage> for Trouble {
    fn from(damage: Damage) -> Self {
        Self::Damage(damage)
    }
}

impl From<TapeError> for Trouble {
    fn from(error: TapeError) -> Self {
        Self::Tape(error)
    }
}

impl<'t> Unfolder<'t> {
    fn new(tape: &'t Tape, blocks: &'t BlockTape) -> Self {
        Self {
            tape,
            blocks,
            next_block: 0,
            past: Past::new(),
            streams: Streams::default(),
            distance: 0,
            copies: 0,
            right: 0,
            ahead: None,
            is_broken: false,
            shelf: Shelf::default(),
            identity: Vec::new(),
            payload: Vec::new(),
        }
    }

    fn error(&mut self, trouble: Trouble) -> TapeError {
        self.is_broken = true;
        match trouble {
            Trouble::Damage(Damage(what)) => {
                TapeError::Damaged { path: self.tape.path.clone(), what }
            }
            Trouble::Tape(error) => error,
        }
    }

    fn next(&mut self) -> Result<Option<Call<'_>>, TapeError> {
        let item = match self.ahead.take() {
            Some(ahead) => ahead?,
            None => self.item()?,
        };
        let Some(mut item) = item else { return Ok(None) };
        if item.number == REST {
            self.lengthen(&mut item);
        }
        match self.fetch(item.number) {
            Ok((op, a0, a1)) => {
                let bytes = self.payload.as_slice();
                Ok(Some(Parts { op, a0, a1, bytes }.call(item.numbers)))
            }
            Err(trouble) => Err(self.error(trouble)),
        }
    }

    /// Takes up what a rest was before a flush came in between.
    fn lengthen(&mut self, item: &mut Item) {
        loop {
            let next = self.item();
            if let Ok(Some(Item { number: REST, numbers })) = next
                && let Some(sum) = rest::sum(item.numbers.0, numbers.0)
            {
                item.numbers.0 = sum;
            } else {
                self.ahead = Some(next);
                return;
            }
        }
    }

    /// Operation and numbers of a call, and its payload in its place.
    fn fetch(&mut self, number: u32) -> Result<(Op, u64, u64), Trouble> {
        let (op, a0, a1, length) = self.past.dictionary.get(number, &mut self.identity);
        self.payload.clear();
        if (length as usize) < LEAST_BYTES {
            self.payload.extend_from_slice(&self.identity);
            return Ok((op, a0, a1));
        }
        let mut left = length as usize;
        for piece in self.identity.as_chunks().0 {
            let (tape, blocks) = (self.tape, self.blocks);
            let piece = self.shelf.piece(u64::from_le_bytes(*piece), |block, raw| {
                let place = usize::try_from(block).ok().and_then(|block| blocks.blobs.get(block));
                let place = place.ok_or(Damage("a call refers to a payload that is not there"))?;
                Ok::<_, Trouble>(blocks.load(&tape.path, place, raw)?)
            })?;
            if piece.len() != left.min(PIECE_BYTES) {
                return Err(Damage("a payload has another size than its call says").into());
            }
            left -= piece.len();
            self.payload.extend_from_slice(piece);
        }
        Ok((op, a0, a1))
    }

    fn item(&mut self) -> Result<Option<Item>, TapeError> {
        if self.is_broken {
            return Err(self.error(Damage("it cannot be read on").into()));
        }
        self.unfold().map_err(|trouble| self.error(trouble))
    }

    /// The next call, folds expanded.
    fn unfold(&mut self) -> Result<Option<Item>, Trouble> {
        while self.copies == 0 {
            if self.streams.is_at_end(Stream::Tokens) && !self.next_block()? {
                return Ok(None);
            }
            if let Some(number) = self.token()? {
                return Ok(Some(self.push(number, None)?));
            }
        }
        self.copies -= 1;
        let (number, cycles) = self.past.ring.at(self.distance);
        Ok(Some(self.push(number, Some(cycles))?))
    }

    fn next_block(&mut self) -> Result<bool, Trouble> {
        // Everything of a block is used before the next one.
        let streams = &mut self.streams;
        let used = streams.is_at_end(Stream::Rests) && streams.is_at_end(Stream::States);
        if !used || self.right != 0 {
            return Err(Damage("a block has numbers without calls").into());
        }
        let Some(place) = self.blocks.calls.get(self.next_block) else { return Ok(false) };
        self.next_block += 1;
        self.blocks.load(&self.tape.path, place, streams.raw())?;
        streams.begin()?;
        Ok(true)
    }

    /// Takes a token; gives the call if it is a single one.
    fn token(&mut self) -> Result<Option<u32>, Damage> {
        let code = self.streams.byte(Stream::Tokens)?;
        match code {
            FORGET => self.past.forget(),
            COPY | AGAIN => {
                if code == COPY {
                    self.past.last_distance = self.streams.get(Stream::Tokens)?;
                }
                self.distance = self.past.last_distance;
                self.copies = self.streams.get(Stream::Tokens)?;
                if !self.past.ring.reaches(self.distance) || self.copies == 0 {
                    return Err(Damage("a call repeats what is not there"));
                }
            }
            KNOWN => {
                let number = self.streams.small(Stream::Tokens)?;
                if number >= self.past.dictionary.len() {
                    return Err(Damage("a call is one that is not there"));
                }
                return Ok(Some(number));
            }
            _ => {
                let op = Op::ALL.get(usize::from(code).wrapping_sub(NEW.into()));
                return self.new_call(*op.ok_or(Damage("a token nobody knows"))?).map(Some);
            }
        }
        Ok(None)
    }

    fn new_call(&mut self, op: Op) -> Result<u32, Damage> {
        let (mut a1, mut length) = (0, 0);
        let mut a0 = self.streams.get(Stream::Tokens)?;
        self.identity.clear();
        if op.has_bytes() {
            let address = &mut self.past.addresses[op as usize];
            a0 = address.wrapping_add(unzigzag(a0));
            if matches!(op, Op::TileRead | Op::TileWrite) {
                let mut half = || self.streams.small(Stream::Tokens).map(u64::from);
                a1 = half()? | half()? << 32;
            }
            length = self.streams.small(Stream::Tokens)?;
            self.past.addresses[op as usize] = a0.wrapping_add(length.into());
            self.read_identity(length as usize)?;
        } else {
            a1 = self.streams.get(Stream::Tokens)?;
        }
        let key = Key { op, a0, a1, length, identity: &self.identity };
        self.past.dictionary.add(&key)
    }

    fn read_identity(&mut self, length: usize) -> Result<(), Damage> {
        if length < LEAST_BYTES {
            self.identity.extend_from_slice(self.streams.take(Stream::Tokens, length)?);
            return Ok(());
        }
        for _ in 0..pieces(length) {
            let difference = unzigzag(self.streams.get(Stream::Tokens)?);
            self.past.last_piece = self.past.last_piece.wrapping_add(difference);
            self.identity.extend(self.past.last_piece.to_le_bytes());
        }
        Ok(())
    }

    /// Takes a call up; `predicted` are the cycles of the one it repeats.
    fn push(&mut self, number: u32, predicted: Option<u64>) -> Result<Item, Damage> {
        let mut numbers = (0, 0);
        match number {
            REST => numbers.0 = self.rest(predicted.unwrap_or(self.past.last_rest))?,
            STATE => {
                let cycles = self.streams.get(Stream::States)?;
                let hash = self.streams.take(Stream::States, 8)?.first_chunk();
                let hash = hash.map_or(0, |&hash| u64::from_le_bytes(hash));
                let cycle = self.past.last_cycle.wrapping_add(unzigzag(cycles));
                self.past.last_cycle = cycle;
                numbers = (cycle, hash);
            }
            _ => {}
        }
        self.past.ring.push(number, numbers.0);
        Ok(Item { number, numbers })
    }

    fn rest(&mut self, predicted: u64) -> Result<u64, Damage> {
        if self.right == 0 {
            let difference = self.streams.get(Stream::Rests)?;
            if difference != 0 {
                self.past.last_rest = predicted.wrapping_add(unzigzag(difference));
                return Ok(self.past.last_rest);
            }
            self.right = self.streams.get(Stream::Rests)?;
            if self.right == 0 {
                return Err(Damage("no predictions that were right"));
            }
        }
        self.right -= 1;
        self.past.last_rest = predicted;
        Ok(predicted)
    }
}
