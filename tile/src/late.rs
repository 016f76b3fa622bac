//! Messages that are taken late: a tile in which nothing goes on need not be visited for those that nothing in it
//! notices.
//!
//! A write of another tile to words that no core looks at, and that no core has decoded, is the same to everybody
//! whenever it is taken before somebody looks at the tile. Such messages lie in the inbox until the tile is looked at,
//! gets another message, or has something to do ([`crate::Tile::catch_up`]); then they take effect in their cycles, one
//! after the other.

use sim_core::agent::PAGE_OBSERVED;
use sim_core::l1::PAGE_BYTES;
use sim_core::{L1, Observer, Shortcut};

use crate::bus::Bus;
use crate::message::Message;
use crate::plan;
use crate::watchers::Watchers;

/// What has come to a tile in which nothing goes on.
pub(crate) struct Mail<'a, O: Observer + ?Sized> {
    pub(crate) bus: &'a Bus<O>,
}

impl<O: Observer + ?Sized> Mail<'_, O> {
    /// Whether nobody in the tile notices any of the messages there, if there are some.
    pub(crate) fn all_lie(&self) -> bool {
        let bus = self.bus;
        !bus.fabric.has_mail()
            || bus.fabric.mail().all(Message::only_gives)
                && self.may_lie()
                && bus.fabric.mail().all(|message| self.is_unheard(message))
    }

    /// Whether nobody in the tile notices a message that only gives.
    pub(crate) fn lies(&self, message: &Message) -> bool {
        debug_assert!(message.only_gives(), "{message:?} is waited for");
        self.may_lie() && self.is_unheard(message)
    }

    /// Whether nothing but a core that is parked on L1, or executes it, could notice a message: none looks at the NIUs,
    /// whose counters it changes.
    fn may_lie(&self) -> bool {
        let bus = self.bus;
        bus.takes(Shortcut::LateMessages)
            && plan::may_be_late::<O>()
            && !bus.cores.anybody_waits()
            && bus.tensix.unit.watched_l1().is_none()
            && !Watchers::of(bus).look_at_nius()
    }

    /// Whether a message writes L1 that no parked core reads or executes, and nothing else.
    fn is_unheard(&self, message: &Message) -> bool {
        let Message::Request { packet, .. } = message else { return false };
        packet.written().iter().all(|&(addr, bytes)| {
            u32::try_from(addr).is_ok_and(|addr| self.is_unnoticed(addr, bytes))
        })
    }

    /// Whether so many bytes from `addr` on are L1, and no parked core has to do with them.
    fn is_unnoticed(&self, addr: u32, bytes: u32) -> bool {
        if !L1::contains(addr, bytes) {
            return false;
        }
        let cores = &self.bus.cores;
        let code_of = |page: u32| cores.shared.page_flags(page * PAGE_BYTES) & !PAGE_OBSERVED;
        let last = (addr + bytes.max(1) - 1) / PAGE_BYTES;
        let code = (addr / PAGE_BYTES..=last).fold(0, |all, page| all | code_of(page));
        cores.iter().all(|(id, core)| {
            let Some(spin) = core.spin() else { return true };
            let executes = code >> id as u8 & 1 == 1 && core.holds_code(addr, bytes);
            !executes && !spin.reads_any(addr, bytes)
        })
    }
}
