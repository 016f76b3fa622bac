//! The ways into L1 past the run phase: what keeps decoded code, watches and observers right.

use std::sync::Arc;

use devices::DeviceFault;
use sim_core::agent::PAGE_OBSERVED;
use sim_core::l1::PAGE_BYTES;
use sim_core::{AgentId, Category, CoreId, Cycle, Event, L1, Observer, Width};

use crate::asker::{Asker, fault};
use crate::cores::Cores;

/// Bytes from which on it is worth while to ask about all of a piece at once.
const WORTH_ASKING: usize = 64;

impl<O: Observer + ?Sized> Cores<O> {
    /// The one way into L1 outside a lone runner: keeps decoded code and watches right. Returns
    /// whether the page is observed.
    #[inline]
    pub(crate) fn write_l1(&mut self, addr: u32, value: u32, width: Width, end: Cycle) -> bool {
        let flags = self.shared.page_flags(addr);
        if flags & !PAGE_OBSERVED != 0 {
            self.code_changes(addr, width.bytes(), flags, end);
        }
        self.shared.l1.write(addr, value, width);
        self.watch_hit |= self.shared.maybe_watched(addr);
        flags & PAGE_OBSERVED != 0
    }

    /// So many bytes from `addr` on, in pages with these flags, are about to change.
    #[cold]
    fn code_changes(&mut self, addr: u32, bytes: u32, flags: u8, end: Cycle) {
        for id in CoreId::ALL {
            if flags >> id as u8 & 1 == 1 && self.slots[id].holds_code(addr, bytes) {
                // What it did until now it did with the old code.
                self.wake(id, end);
                self.slots[id].invalidate_code(addr, bytes);
            }
        }
    }

    /// Reads L1 for something other than a core.
    pub(crate) fn read_l1_block(&mut self, addr: u32, bytes: &mut [u8]) {
        match self.own_l1(bytes.len()) {
            Some(l1) => l1.read_block(addr, bytes),
            None => self.shared.l1.read_bytes(addr, bytes),
        }
    }

    /// L1 to itself for a block of that many bytes, if that is worth while and no thread of an engine
    /// shares it.
    fn own_l1(&mut self, bytes: usize) -> Option<&mut L1> {
        if bytes < WORTH_ASKING {
            return None;
        }
        Arc::get_mut(&mut self.shared).map(|shared| &mut shared.l1)
    }

    /// Whether a piece that is large enough to ask is in L1 already. That does not depend on who shares L1.
    fn holds(&mut self, addr: u32, piece: &[u8]) -> bool {
        piece.len() >= WORTH_ASKING
            && match self.own_l1(piece.len()) {
                Some(l1) => l1.holds_block(addr, piece),
                None => self.shared.l1.holds_bytes(addr, piece),
            }
    }

    /// Writes L1 by something other than a core.
    pub(crate) fn write_l1_block(&mut self, asker: Asker, addr: u32, bytes: &[u8]) {
        let (mut at, mut rest) = (addr, bytes);
        while !rest.is_empty() {
            let left = (PAGE_BYTES - at % PAGE_BYTES) as usize;
            let (piece, others) = rest.split_at(left.min(rest.len()));
            let flags = self.shared.page_flags(at);
            if flags & PAGE_OBSERVED != 0 && asker.agent != AgentId::Host {
                // Somebody wants to hear of each store.
                self.write_l1_words(asker, at, piece);
            } else {
                // Kernels are written anew with each launch, most of them as they were.
                let is_code = flags & !PAGE_OBSERVED != 0;
                if !is_code || !self.holds(at, piece) {
                    if is_code {
                        self.code_changes(at, piece.len() as u32, flags, asker.end);
                    }
                    match self.own_l1(piece.len()) {
                        Some(l1) => l1.write_block(at, piece),
                        None => self.shared.l1.write_bytes(at, piece),
                    }
                }
                self.watch_hit |= self.shared.watches_any(at, piece.len());
            }
            (at, rest) = (at + piece.len() as u32, others);
        }
    }

    /// Writes word by word, in an observed page.
    fn write_l1_words(&mut self, asker: Asker, addr: u32, bytes: &[u8]) {
        let (mut at, mut rest) = (addr, bytes);
        while !rest.is_empty() {
            let (value, width) = if at & 3 == 0 && rest.len() >= 4 {
                let word = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
                (word, Width::Word)
            } else {
                (u32::from(rest[0]), Width::Byte)
            };
            self.write_l1(at, value, width, asker.end);
            self.observer.event(asker.stamp(), &Event::L1Store { addr: at, value, width });
            (at, rest) = (at + width.bytes(), &rest[width.bytes() as usize..]);
        }
    }
}

/// Whether so many bytes from `addr` on lie in L1.
pub(crate) fn check_l1(addr: u32, bytes: usize) -> Result<(), DeviceFault> {
    if u32::try_from(bytes).is_ok_and(|bytes| L1::contains(addr, bytes)) {
        return Ok(());
    }
    let message = format!("{bytes} bytes at {addr:#x} reach beyond the end of L1");
    Err(fault(Category::UndefinedBehavior, "beyond-l1", message))
}
