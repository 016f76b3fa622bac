//! NoC transfers of the tile: requests its NIUs start, carried out on its own address space.
//!
//! What is addressed to other tiles is absorbed by a [`HostSink`]: this crate simulates one tile.

use devices::{DeviceFault, HostSink, InFlight, MemoryPort, NocTiming, PacketKind, Stage};
use memory_map::View;
use sim_core::l1::L1_BYTES;
use sim_core::{
    AgentId, Category, Context, CoreId, Cycle, Event, L1, Observer, StateHasher, Width,
};

use crate::route::{Asker, fault};
use crate::tile::Tile;

/// The tile's NoC traffic.
#[derive(Debug)]
pub(crate) struct Fabric {
    in_flight: devices::Fabric,
    pub(crate) sink: HostSink,
    /// Who used an initiator last, for diagnoses: `[noc][initiator]`.
    issuers: [[Option<(CoreId, u32)>; 4]; 2],
}

impl Default for Fabric {
    fn default() -> Self {
        Self {
            in_flight: devices::Fabric::new(NocTiming::documented()),
            sink: HostSink::new(),
            issuers: [[None; 4]; 2],
        }
    }
}

impl Fabric {
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.is_idle()
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        self.in_flight.hash_state(hasher);
        hasher.u64(self.sink.total());
    }
}

/// The tile as its NIUs see it.
struct Port<'a, O: Observer> {
    tile: &'a mut Tile<O>,
    asker: Asker,
}

fn beyond(address: u64) -> DeviceFault {
    let message = format!("NoC access to {address:#x}: a tile has 32-bit addresses");
    fault(Category::UndefinedBehavior, "unmapped-access", message)
}

impl<O: Observer> MemoryPort for Port<'_, O> {
    fn read_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        let addr = u32::try_from(address).map_err(|_| beyond(address))?;
        self.tile.read_block(self.asker, addr, bytes)
    }

    fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        let addr = u32::try_from(address).map_err(|_| beyond(address))?;
        self.tile.write_block(self.asker, addr, bytes)
    }
}

impl<O: Observer> Tile<O> {
    /// A store to an NIU register; may start a request.
    pub(crate) fn noc_store(
        &mut self,
        asker: Asker,
        noc: u8,
        offset: u32,
        value: u32,
    ) -> Result<(), DeviceFault> {
        let Some(packet) = self.nius[usize::from(noc & 1)].write(offset, value, asker.cycle)?
        else {
            return Ok(());
        };
        HostSink::check(&packet)?;
        if let Some(core) = asker.core {
            self.fabric.issuers[usize::from(noc & 1)][usize::from(packet.initiator & 3)] =
                Some((core, asker.pc));
        }
        self.emit(asker.cycle, asker.agent, asker.pc, || Event::NocIssue {
            noc,
            initiator: packet.initiator,
            control: packet.control,
            addr: packet.address(),
            coordinate: packet.coordinate(),
            bytes: packet.bytes(),
        });
        self.fabric.in_flight.launch(&packet, asker.cycle);
        Ok(())
    }

    /// Carries out what is due up to `cycle`.
    pub(crate) fn deliver_noc(&mut self, cycle: Cycle, end: Cycle) {
        while let Some((at, entry)) = self.fabric.in_flight.pop(cycle) {
            self.device_change = true;
            self.deliver(entry, at, end);
        }
    }

    fn deliver(&mut self, mut entry: InFlight, at: Cycle, end: Cycle) {
        let (noc, initiator) = (entry.packet.noc & 1, entry.packet.initiator & 3);
        let issuer = self.fabric.issuers[usize::from(noc)][usize::from(initiator)];
        let agent = AgentId::Noc(noc);
        let pc = issuer.map_or(0, |(_, pc)| pc);
        let asker = Asker { view: View::Noc, agent, core: None, pc, cycle: at, end };
        let result = devices::fabric::perform(&mut entry, &mut Port { tile: self, asker });
        match result {
            Ok(Some(access)) => self.fabric.sink.absorb(access, at),
            Ok(None) => {}
            Err(fault) => {
                let pc = issuer.map(|(_, pc)| pc);
                self.report(Box::new(fault.at(Context { cycle: at, agent, pc, word: None })));
                return;
            }
        }
        self.nius[usize::from(noc)].advance(&entry.packet, entry.stage);
        let last = match entry.packet.kind {
            PacketKind::Read { .. } | PacketKind::Atomic { .. } => {
                entry.packet.nonposted && entry.stage == Stage::Responded
                    || !entry.packet.nonposted && entry.stage == Stage::Performed
            }
            _ if entry.packet.nonposted => entry.stage == Stage::Responded,
            _ => entry.stage == Stage::Performed,
        };
        if last {
            self.emit(at, agent, pc, || Event::NocDone { noc, initiator });
        }
        self.fabric.in_flight.push_back(entry, at);
    }

    /// Reads a block through the NoC's view: L1, or aligned words of registers.
    pub(crate) fn read_block(
        &mut self,
        asker: Asker,
        addr: u32,
        bytes: &mut [u8],
    ) -> Result<(), DeviceFault> {
        if addr < L1_BYTES {
            check_l1(addr, bytes.len())?;
            self.shared.l1.read_bytes(addr, bytes);
            return Ok(());
        }
        let (mut at, mut rest) = (addr, bytes);
        while !rest.is_empty() {
            // One device read per word, however many of its bytes are wanted.
            let word = self.load_as(asker, at & !3, Width::Word)?.value.to_le_bytes();
            let skip = (at & 3) as usize;
            let count = rest.len().min(4 - skip);
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(&word[skip..skip + count]);
            at = (at & !3).wrapping_add(4);
            rest = tail;
        }
        Ok(())
    }

    /// Writes a block through the NoC's view: L1, or aligned words of registers.
    pub(crate) fn write_block(
        &mut self,
        asker: Asker,
        addr: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceFault> {
        if addr < L1_BYTES {
            check_l1(addr, bytes.len())?;
            self.write_l1_block(addr, bytes, asker.end);
            return Ok(());
        }
        let mut at = addr;
        for chunk in bytes.chunks(4) {
            if at & 3 != 0 || chunk.len() != 4 {
                let message = format!(
                    "write of {} bytes to {addr:#010x}: registers take aligned words only",
                    bytes.len()
                );
                return Err(fault(Category::UndefinedBehavior, "narrow-device-access", message));
            }
            let word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
            self.store_as(asker, at, word, Width::Word)?;
            at += 4;
        }
        Ok(())
    }

    /// Writes L1 by something other than a core.
    fn write_l1_block(&mut self, addr: u32, bytes: &[u8], end: Cycle) {
        let mut at = addr;
        let mut rest = bytes;
        while !rest.is_empty() {
            if at & 3 == 0 && rest.len() >= 4 {
                let word = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
                self.write_l1(at, word, Width::Word, end);
                (at, rest) = (at + 4, &rest[4..]);
            } else {
                self.write_l1(at, u32::from(rest[0]), Width::Byte, end);
                (at, rest) = (at + 1, &rest[1..]);
            }
        }
    }
}

fn check_l1(addr: u32, bytes: usize) -> Result<(), DeviceFault> {
    if u32::try_from(bytes).is_ok_and(|bytes| L1::contains(addr, bytes)) {
        return Ok(());
    }
    let message = format!("{bytes} bytes at {addr:#x} reach beyond the end of L1");
    Err(fault(Category::UndefinedBehavior, "beyond-l1", message))
}
