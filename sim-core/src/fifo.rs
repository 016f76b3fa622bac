//! A bounded queue. The capacity is a hardware fact, so it is a required argument.

use std::collections::VecDeque;

/// A first-in first-out queue that never holds more than its capacity.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    entries: VecDeque<T>,
    capacity: usize,
}

impl<T> Fifo<T> {
    /// An empty queue for `capacity` entries.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { entries: VecDeque::with_capacity(capacity), capacity }
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// Gives the entry back when the queue is full.
    pub fn push(&mut self, entry: T) -> Result<(), T> {
        if self.is_full() {
            return Err(entry);
        }
        self.entries.push_back(entry);
        Ok(())
    }

    /// Removes the oldest entry.
    pub fn pop(&mut self) -> Option<T> {
        self.entries.pop_front()
    }

    /// The oldest entry.
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.entries.front()
    }

    /// Entries from oldest to newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }

    /// Number of entries held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether no entry fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    /// How many entries still fit.
    #[must_use]
    pub fn free(&self) -> usize {
        self.capacity - self.entries.len()
    }

    /// How many entries fit in all.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Drops all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}
