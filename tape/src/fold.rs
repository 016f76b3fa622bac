//! Folding: calls to tokens, so that what a host repeats costs next to nothing.
//!
//! Each different call has a number in a dictionary. Of the numbers of the last [`REACH`] calls
//! whoever writes and whoever reads keep a ring, and a run of calls that repeats what came some
//! calls before is one token, as long as it may be: a host that polls, one word or many tiles in
//! turn with window registers in between, is one token per block.
//!
//! ```text
//! 0                                 forget the dictionary and the ring
//! 1 distance count                  the calls from `distance` calls ago on, `count` of them
//! 2 count                           the same with the distance of the last such token
//! 3 number                          the call of that number
//! 16 + op fields                    a new call, which gets the next number
//! ```
//!
//! Fields: of what has a payload, its address less the end of the last one of that operation
//! (zigzag), column and row of a tile, its length, and the payload or from 64 bytes on the numbers
//! of its pieces (zigzag of the difference to the last). Of the others both numbers.
//!
//! The cycles of `Rest` and all of `State` differ each time while what is around them repeats, so
//! they have streams of their own. A `Rest` is predicted to last as long as the one it is folded
//! onto, else as the last one. The stream has the differences (zigzag); 0 and a count stands for so
//! many predictions that were right. Of a `State` it has the cycles since the last one (zigzag) and the hash.

use crate::call::Op;
use crate::dictionary::{Dictionary, Key, MOST_CALLS, REST};
use crate::search::Search;
use crate::wire::{put, zigzag};

/// How far back a call may be that is repeated.
pub(crate) const REACH: usize = 4096;
pub(crate) const MASK: u64 = REACH as u64 - 1;

/// Tokens.
pub(crate) const FORGET: u8 = 0;
pub(crate) const COPY: u8 = 1;
pub(crate) const AGAIN: u8 = 2;
pub(crate) const KNOWN: u8 = 3;
pub(crate) const NEW: u8 = 16;

const SLOTS: usize = MOST_CALLS * 2;
const EMPTY: u32 = u32::MAX;

/// The last calls.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    pub(crate) numbers: Box<[u32]>,
    /// The cycles of those that are `Rest`.
    pub(crate) cycles: Box<[u64]>,
    /// Calls since the ring was empty.
    pub(crate) position: u64,
}

impl Ring {
    pub(crate) fn new() -> Self {
        Self { numbers: vec![0; REACH].into(), cycles: vec![0; REACH].into(), position: 0 }
    }

    /// Whether there is a call at that distance.
    #[inline]
    pub(crate) fn reaches(&self, distance: u64) -> bool {
        distance != 0 && distance <= self.position.min(REACH as u64)
    }

    #[inline]
    pub(crate) fn at(&self, distance: u64) -> (u32, u64) {
        let at = (self.position.wrapping_sub(distance) & MASK) as usize;
        (self.numbers[at], self.cycles[at])
    }

    #[inline]
    pub(crate) fn push(&mut self, number: u32, cycles: u64) {
        let at = (self.position & MASK) as usize;
        self.numbers[at] = number;
        if number == REST {
            self.cycles[at] = cycles;
        }
        self.position += 1;
    }
}

/// What both sides know of the calls before.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) dictionary: Dictionary,
    pub(crate) ring: Ring,
    /// Distance of the last copy, 0 for none.
    pub(crate) last_distance: u64,
    /// Ends of the last payloads, by operation.
    pub(crate) addresses: [u64; Op::ALL.len()],
    pub(crate) last_piece: u64,
    pub(crate) last_rest: u64,
    pub(crate) last_cycle: u64,
}

impl Past {
    pub(crate) fn new() -> Self {
        Self {
            dictionary: Dictionary::new(),
            ring: Ring::new(),
            last_distance: 0,
            addresses: [0; Op::ALL.len()],
            last_piece: 0,
            last_rest: 0,
            last_cycle: 0,
        }
    }

    pub(crate) fn forget(&mut self) {
        self.dictionary.clear();
        self.ring.position = 0;
        self.last_distance = 0;
    }
}

/// Calls on their way into a block.
#[derive(Clone)]
pub(crate) struct Folder {
    past: Past,
    /// By hash, the numbers of calls.
    table: Box<[u32]>,
    /// By number, where the call was last.
    last_seen: Vec<u64>,
    search: Search,
    /// What is being repeated, 0 for nothing, and how often it was since the last token.
    distance: u64,
    copied: u64,
    /// Predictions that were right since the last number.
    right: u64,
    tokens: Vec<u8>,
    rests: Vec<u8>,
    states: Vec<u8>,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let past = Past::new();
        let mut folder = Self {
            table: vec![EMPTY; SLOTS].into(),
            last_seen: Vec::with_capacity(MOST_CALLS),
            search: Search::new(),
            distance: 0,
            copied: 0,
            right: 0,
            tokens: Vec::new(),
            rests: Vec::new(),
            states: Vec::new(),
            past,
        };
        folder.enter_always();
        folder
    }

    /// The calls without arguments are in every dictionary.
    fn enter_always(&mut self) {
        self.last_seen.clear();
        self.last_seen.resize(self.past.dictionary.len() as usize, u64::MAX);
        for (number, op) in [Op::Rest, Op::State, Op::Init, Op::Exit].into_iter().enumerate() {
            let slot = self.find(&Key { op, a0: 0, a1: 0, length: 0, identity: &[] });
            self.table[slot] = number as u32;
        }
    }

    /// The slot of a call, or the one it would get.
    fn find(&self, key: &Key<'_>) -> usize {
        let mut slot = key.hash() as usize % SLOTS;
        while self.table[slot] != EMPTY && !self.past.dictionary.is(self.table[slot], key) {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    /// Takes a call. `numbers` are those of `Rest` and `State`.
    #[inline]
    pub(crate) fn push(&mut self, key: &Key<'_>, numbers: (u64, u64)) {
        let number = if self.distance != 0
            && let (expected, _) = self.past.ring.at(self.distance)
            && self.past.dictionary.is(expected, key)
        {
            self.copied += 1;
            expected
        } else {
            self.begin(key)
        };
        match key.op {
            Op::Rest => self.rest(numbers.0),
            Op::State => self.state(numbers),
            _ => {}
        }
        self.last_seen[number as usize] = self.past.ring.position;
        self.past.ring.push(number, numbers.0);
        self.search.earn();
    }

    /// What comes now is not what was being repeated: the best token for it.
    #[cold]
    fn begin(&mut self, key: &Key<'_>) -> u32 {
        self.end_copy();
        self.distance = 0;
        let slot = self.find(key);
        let number = self.table[slot];
        if number == EMPTY {
            return self.add(key, slot);
        }
        match self.earlier(number) {
            Some(distance) => (self.distance, self.copied) = (distance, 1),
            None => {
                self.tokens.push(KNOWN);
                put(&mut self.tokens, number.into());
            }
        }
        number
    }

    /// How far back to begin with a call that is known.
    fn earlier(&mut self, number: u32) -> Option<u64> {
        let ring = &self.past.ring;
        let last = self.past.last_distance;
        if ring.reaches(last) && ring.at(last).0 == number {
            return Some(last);
        }
        if let Some(distance) = self.search.longest(ring, number) {
            return Some(distance);
        }
        let distance = ring.position.wrapping_sub(self.last_seen[number as usize]);
        (self.last_seen[number as usize] != u64::MAX && ring.reaches(distance)).then_some(distance)
    }

    fn add(&mut self, key: &Key<'_>, mut slot: usize) -> u32 {
        if self.past.dictionary.is_full() {
            self.tokens.push(FORGET);
            self.past.forget();
            self.table.fill(EMPTY);
            self.enter_always();
            slot = self.find(key);
        }
        self.write_new(key);
        let number = self.past.dictionary.add(key).expect("room was made");
        self.table[slot] = number;
        self.last_seen.push(u64::MAX);
        number
    }

    fn write_new(&mut self, key: &Key<'_>) {
        let (tokens, past) = (&mut self.tokens, &mut self.past);
        tokens.push(NEW + key.op as u8);
        if !key.op.has_bytes() {
            put(tokens, key.a0);
            put(tokens, key.a1);
            return;
        }
        let address = &mut past.addresses[key.op as usize];
        put(tokens, zigzag(key.a0.wrapping_sub(*address)));
        *address = key.a0.wrapping_add(key.length.into());
        if matches!(key.op, Op::TileRead | Op::TileWrite) {
            put(tokens, key.a1 & 0xFFFF_FFFF);
            put(tokens, key.a1 >> 32);
        }
        put(tokens, key.length.into());
        if (key.length as usize) < crate::blobs::LEAST_BYTES {
            tokens.extend_from_slice(key.identity);
            return;
        }
        for piece in key.identity.as_chunks().0 {
            let piece = u64::from_le_bytes(*piece);
            put(tokens, zigzag(piece.wrapping_sub(past.last_piece)));
            past.last_piece = piece;
        }
    }

    fn rest(&mut self, cycles: u64) {
        let copied = self.distance != 0;
        let predicted =
            if copied { self.past.ring.at(self.distance).1 } else { self.past.last_rest };
        self.past.last_rest = cycles;
        if cycles == predicted {
            self.right += 1;
        } else {
            self.end_right();
            put(&mut self.rests, zigzag(cycles.wrapping_sub(predicted)));
        }
    }

    fn state(&mut self, (cycle, hash): (u64, u64)) {
        put(&mut self.states, zigzag(cycle.wrapping_sub(self.past.last_cycle)));
        self.states.extend_from_slice(&hash.to_le_bytes());
        self.past.last_cycle = cycle;
    }

    fn end_right(&mut self) {
        if self.right != 0 {
            self.rests.push(0);
            put(&mut self.rests, self.right);
            self.right = 0;
        }
    }

    fn end_copy(&mut self) {
        if self.copied == 0 {
            return;
        }
        if self.distance == self.past.last_distance {
            self.tokens.push(AGAIN);
        } else {
            self.tokens.push(COPY);
            put(&mut self.tokens, self.distance);
        }
        put(&mut self.tokens, self.copied);
        self.past.last_distance = self.distance;
        self.copied = 0;
    }

    /// Whether a block would have calls in it.
    pub(crate) fn is_pending(&self) -> bool {
        self.copied != 0 || !self.tokens.is_empty()
    }

    /// About how many bytes a block would have.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.tokens.len() + self.rests.len() + self.states.len()
    }

    /// The payload of a block with all calls until now; what is being repeated may go on after it.
    pub(crate) fn take(&mut self, block: &mut Vec<u8>) {
        self.end_copy();
        self.end_right();
        block.clear();
        put(block, self.tokens.len() as u64);
        put(block, self.rests.len() as u64);
        for stream in [&mut self.tokens, &mut self.rests, &mut self.states] {
            block.extend_from_slice(stream);
            stream.clear();
        }
    }
}
