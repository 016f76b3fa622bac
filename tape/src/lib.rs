//! The tape of a host's calls to the device library.
//!
//! The machine is a pure function of these calls, so that a tape is the whole session: whatever is
//! asked of it later is asked of a second run. A [`TapeWriter`] takes the calls while they are made,
//! folds what repeats, and writes blocks; a [`Tape`] gives them back up to the last whole block,
//! whatever has become of the writer. Under a limit whole sessions go from its beginning
//! ([`TapeWriter::make_room`]); what is kept is played to the same state. Old recordings (`hostlib::recording`) are read too.
//!
//! Not here: who calls, and what a device does.

mod attach;
mod blobs;
mod block;
mod call;
mod calls;
mod dictionary;
mod error;
mod fold;
mod lock;
mod old;
mod rest;
mod scan;
mod search;
mod source;
mod streams;
mod tape;
#[cfg(test)]
mod tests;
mod wire;
mod writer;

pub use attach::{Attachment, AttachmentKind, attach};
pub use call::{Call, Header};
pub use calls::Calls;
pub use error::TapeError;
pub use tape::{Attached, Ending, Tape};
pub use writer::{Options, TapeWriter};
