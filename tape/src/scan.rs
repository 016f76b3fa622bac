//! Which blocks of a file are whole.

use std::io;

use crate::block::{HEAD_BYTES, Head, MAGIC};
use crate::source::Source;

/// A block in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) head: Head,
    pub(crate) at: u64,
}

/// The whole blocks of a file.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub(crate) places: Vec<Place>,
    /// Where the last one ends.
    pub(crate) end: u64,
}

/// Walks over a file's blocks as long as they are whole.
pub(crate) fn scan(source: &Source) -> io::Result<Blocks> {
    let (mut places, mut end) = (Vec::new(), MAGIC.len() as u64);
    let (length, mut stored) = (source.length(), Vec::new());
    while length - end >= HEAD_BYTES as u64 {
        let mut head = [0; HEAD_BYTES];
        source.read(end, &mut head)?;
        let at = end + HEAD_BYTES as u64;
        let Some(head) = Head::parse(head).filter(|head| u64::from(head.stored) <= length - at)
        else {
            break;
        };
        stored.resize(head.stored as usize, 0);
        source.read(at, &mut stored)?;
        if !head.holds(&stored) {
            break;
        }
        places.push(Place { head, at });
        end = at + u64::from(head.stored);
    }
    Ok(Blocks { places, end })
}
