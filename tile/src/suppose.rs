//! What a waiting agent hopes for, made true from outside: for who asks, on a copy of a tile, what would happen
//! if.

use devices::{Mailboxes, Overlay};
use sim_core::{CoreId, L1, Width};
use tensix::Coprocessor;

/// Something that could become true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Supposition {
    /// A register of a stream holds that much more.
    Stream {
        /// The stream.
        stream: u8,
        /// The register.
        register: u16,
        /// How much.
        more: u32,
    },
    /// A semaphore has a value: 0, or one that is not.
    Semaphore {
        /// Its number.
        index: u8,
        /// Whether it is not 0.
        raised: bool,
    },
    /// A mailbox holds one more word.
    Word {
        /// Writer.
        from: CoreId,
        /// Reader.
        to: CoreId,
        /// The word.
        value: u32,
    },
    /// A mailbox has room for one more word.
    Room {
        /// Writer.
        from: CoreId,
        /// Reader.
        to: CoreId,
    },
    /// The bank of SrcA (0) or SrcB (1) that the matrix unit is at is filled, or the one that the unpackers
    /// are at is free.
    Bank {
        /// Which operand.
        operand: u8,
        /// Filled, else free.
        filled: bool,
    },
    /// A word of L1 has a value.
    L1 {
        /// Byte address.
        addr: u32,
        /// The value.
        value: u32,
    },
}

impl Supposition {
    /// Makes it true. `false`: it cannot be.
    pub(crate) fn come_true(
        self,
        tensix: &mut Coprocessor,
        overlay: &mut Overlay,
        mailboxes: &mut Mailboxes,
        l1: &L1,
    ) -> bool {
        match self {
            Self::Stream { stream, register, more } => {
                let now = overlay.read(stream, register);
                let set = now.and_then(|now| {
                    overlay.write(stream, register, now.wrapping_add(more) & CREDITS, |_| ())
                });
                set.is_ok()
            }
            Self::Semaphore { index, raised } => {
                let index = u32::from(index);
                let most = tensix.semaphore_max(index).max(1);
                let value = u8::from(raised);
                tensix.set_semaphore(index, u8::min(value, most));
                true
            }
            Self::Word { from, to, value } => {
                mailboxes.can_push(from, to).unwrap_or(false)
                    && mailboxes.push(from, to, value).is_ok()
            }
            Self::Room { from, to } => mailboxes.pop(from, to).is_ok_and(|popped| popped.is_some()),
            Self::Bank { operand, filled } => {
                tensix.hand_over(operand, filled);
                true
            }
            Self::L1 { addr, value } => {
                let fits = addr % 4 == 0 && addr < sim_core::l1::L1_BYTES;
                if fits {
                    l1.write(addr, value, Width::Word);
                }
                fits
            }
        }
    }
}

/// The counters of circular buffers are 17 bits wide `[spec: boot-and-sync 3]`.
const CREDITS: u32 = 0x1_FFFF;

#[cfg(test)]
mod tests {
    use sim_core::NullObserver;

    use super::*;
    use crate::{Tile, TileConfig};

    #[test]
    fn what_is_supposed_is_what_cores_see() {
        let mut tile = Tile::new(TileConfig::default(), NullObserver).expect("a tile");
        let (from, to) = (CoreId::Trisc0, CoreId::Trisc1);
        assert!(!tile.suppose(Supposition::Room { from, to }), "there was no word");
        assert!(tile.suppose(Supposition::Word { from, to, value: 7 }));
        assert_eq!(tile.bus.devices.mailboxes.values(from, to).collect::<Vec<_>>(), [7]);
        assert!(tile.suppose(Supposition::Room { from, to }));
        assert_eq!(tile.bus.devices.mailboxes.depth(from, to), 0);
        assert!(tile.suppose(Supposition::L1 { addr: 0x3_0000, value: 9 }));
        assert_eq!(tile.l1_value(0x3_0000, Width::Word), 9);
        assert!(tile.suppose(Supposition::Stream { stream: 3, register: 10, more: 2 }));
        assert_eq!(tile.bus.devices.overlay.read(3, 10), Ok(2));
        assert!(tile.suppose(Supposition::Semaphore { index: 4, raised: true }));
        assert_eq!(tile.bus.tensix.unit.read_semaphore(4), 1);
    }
}
