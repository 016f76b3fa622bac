//! Jumps that are marked because they close a polling loop, in the eight bytes of an [`Op`].
//!
//! Which do is found when they are decoded (`crate::poll`).

use crate::op::{Kind, Op, SINK};

/// The jumps that can be marked, by number.
const KINDS: [Kind; 7] =
    [Kind::Jal, Kind::Beq, Kind::Bne, Kind::Blt, Kind::Bge, Kind::Bltu, Kind::Bgeu];

/// The jump that a [`Kind::Poll`] stands for.
pub(crate) const fn original(op: Op) -> Op {
    Op { kind: KINDS[op.rd as usize % KINDS.len()], rd: SINK, ..op }
}

/// Whether a round of the loop that a [`Kind::Poll`] closes leaves the loop's own text.
pub(crate) const fn calls(op: Op) -> bool {
    op.rd as usize >= KINDS.len()
}

/// A jump, marked: its kind goes where its destination was, which it has not.
pub(crate) const fn marked(op: Op, calls: bool) -> Option<Op> {
    let number = match op.kind {
        Kind::Jal if op.rd == SINK => 0,
        Kind::Beq => 1,
        Kind::Bne => 2,
        Kind::Blt => 3,
        Kind::Bge => 4,
        Kind::Bltu => 5,
        Kind::Bgeu => 6,
        _ => return None,
    };
    let rd = if calls { number + KINDS.len() as u8 } else { number };
    Some(Op { kind: Kind::Poll, rd, ..op })
}
