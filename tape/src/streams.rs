//! The payload of a block of calls: the lengths of tokens and rests, then tokens, rests and states.

use crate::wire::{Cursor, Damage};

/// What is read on its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    Tokens,
    Rests,
    States,
}

/// A block of calls, and how far each of its streams is read.
#[derive(Default, Debug)]
pub(crate) struct Streams {
    raw: Vec<u8>,
    ranges: [(usize, usize); 3],
}

impl Streams {
    /// Whether all of a stream was read.
    pub(crate) fn is_at_end(&self, stream: Stream) -> bool {
        let (at, end) = self.ranges[stream as usize];
        at == end
    }

    /// Where the next block's payload goes, for [`Streams::begin`].
    pub(crate) fn raw(&mut self) -> &mut Vec<u8> {
        &mut self.raw
    }

    /// Begins with a new payload.
    pub(crate) fn begin(&mut self) -> Result<(), Damage> {
        self.ranges = [(0, 0); 3];
        let mut from = Cursor::new(&self.raw);
        let (tokens, rests) = (from.small()? as usize, from.small()? as usize);
        let start = self.raw.len() - from.left();
        from.take(tokens)?;
        from.take(rests)?;
        let (middle, end) = (start + tokens, start + tokens + rests);
        self.ranges = [(start, middle), (middle, end), (end, self.raw.len())];
        Ok(())
    }

    fn read<'a, T>(
        &'a mut self,
        stream: Stream,
        body: impl FnOnce(&mut Cursor<'a>) -> Result<T, Damage>,
    ) -> Result<T, Damage> {
        let range = &mut self.ranges[stream as usize];
        let mut from = Cursor::new(&self.raw[range.0..range.1]);
        let result = body(&mut from);
        range.0 = range.1 - from.left();
        result
    }

    #[inline]
    pub(crate) fn byte(&mut self, stream: Stream) -> Result<u8, Damage> {
        self.read(stream, Cursor::byte)
    }

    #[inline]
    pub(crate) fn get(&mut self, stream: Stream) -> Result<u64, Damage> {
        self.read(stream, Cursor::get)
    }

    #[inline]
    pub(crate) fn small(&mut self, stream: Stream) -> Result<u32, Damage> {
        self.read(stream, Cursor::small)
    }

    pub(crate) fn take(&mut self, stream: Stream, count: usize) -> Result<&[u8], Damage> {
        self.read(stream, |from| from.take(count))
    }
}
