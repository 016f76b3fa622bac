//! What the words of a command ask a NoC interface for `[isa-bh: NoC/MemoryMap.md]`.

use crate::registers::reg::noc_niu::{noc_ctrl as field, noc_targ_addr_hi as place};

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NocRequest {
    /// Brings data from another tile.
    Read,
    /// Changes a word of another tile and may bring back what was there.
    Atomic,
    /// Sends data that lie in the tile.
    Write,
    /// Sends a word that stands in the command.
    InlineWrite,
}

/// A word of NOC_CTRL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NocControl(pub u32);

impl NocControl {
    /// Value of the request type that no request may have.
    pub const RESERVED: u32 = 3;

    /// What it does; of the reserved type, what a write does.
    #[must_use]
    pub const fn request(self) -> NocRequest {
        match (field::CMD.of(self.0), field::WR_INLINE.is_set(self.0)) {
            (0, _) => NocRequest::Read,
            (1, _) => NocRequest::Atomic,
            (_, false) => NocRequest::Write,
            (_, true) => NocRequest::InlineWrite,
        }
    }

    /// Whether it is a read.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self.request(), NocRequest::Read)
    }

    /// Whether it is an atomic.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self.request(), NocRequest::Atomic)
    }

    /// Whether a response comes back: always for a read, else if it is asked for.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        self.is_read() || field::RESP_MARKED.is_set(self.0)
    }

    /// Whether it goes to a rectangle of tiles.
    #[must_use]
    pub const fn is_multicast(self) -> bool {
        field::BRCST_PACKET.is_set(self.0)
    }

    /// Whether the sender of a multicast is among its receivers, if it lies in the rectangle.
    #[must_use]
    pub const fn includes_sender(self) -> bool {
        field::BRCST_SRC_INCLUDE.is_set(self.0)
    }

    /// The virtual channel that it has to take; none where the interface chooses.
    #[must_use]
    pub const fn channel(self) -> Option<u32> {
        if field::VC_STATIC.is_set(self.0) { Some(field::STATIC_VC.of(self.0)) } else { None }
    }
}

/// The word of a command that names its receivers: a tile, or two corners of a rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NocCoordinate(pub u32);

impl NocCoordinate {
    /// Column and row of the tile, or of the corner at the end.
    #[must_use]
    pub const fn end(self) -> (u8, u8) {
        (place::X.of(self.0) as u8, place::Y.of(self.0) as u8)
    }

    /// Column and row of the corner at the start, of a multicast.
    #[must_use]
    pub const fn start(self) -> (u8, u8) {
        (place::BRCST_START_X.of(self.0) as u8, place::BRCST_START_Y.of(self.0) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_six_bits_each() {
        let rectangle = NocCoordinate(63 | 2 << 6 | 1 << 12 | 40 << 18);
        assert_eq!((rectangle.end(), rectangle.start()), ((63, 2), (1, 40)));
    }

    #[test]
    fn words_of_the_vendors_library_are_what_it_means_by_them() {
        // Composed by hand from the shifts of `noc_parameters.h`.
        let unicast_write = NocControl(1 << 1 | 1 << 7 | 1 << 13 | 1 << 4);
        assert_eq!(unicast_write.request(), NocRequest::Write);
        assert_eq!(unicast_write.channel(), Some(1));
        assert!(unicast_write.is_answered() && !unicast_write.is_multicast());
        let read = NocControl(0x2090);
        assert!(read.is_read() && read.is_answered());
        assert!(NocControl(0).is_answered(), "a read that does not ask for it");
        assert_eq!(NocControl(0).channel(), None);
        let increment = NocControl(1 << 7 | 4 << 13 | 1);
        assert!(increment.is_atomic() && !increment.is_answered());
        assert_eq!(increment.channel(), Some(4));
        let inline = NocControl(2 | 1 << 3 | 1 << 5 | 1 << 17);
        assert_eq!(inline.request(), NocRequest::InlineWrite);
        assert!(inline.is_multicast() && inline.includes_sender());
    }
}
