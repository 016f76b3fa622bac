//! What a host may do between epochs. It sees the tile as the NoC does.

use memory_map::View;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, Context, CoreId, Event, GuestError, Observer, Width};

use devices::fabric::SunkWrite;

use crate::asker::Asker;
use crate::debug::Debugger;
use crate::inputs::Inputs;
use crate::late::Mail;
use crate::message::{Arrival, Departure, Input, InputKind, Refused};
use crate::tile::Tile;

impl<O: Observer> Tile<O> {
    /// Reads an aligned word.
    ///
    /// # Errors
    /// As [`Tile::host_read`].
    pub fn host_read_word(&mut self, addr: u32) -> Result<u32, Box<GuestError>> {
        let mut bytes = [0; 4];
        self.host_read(addr, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes an aligned word.
    ///
    /// # Errors
    /// As [`Tile::host_write`].
    pub fn host_write_word(&mut self, addr: u32, value: u32) -> Result<(), Box<GuestError>> {
        self.host_write(addr, &value.to_le_bytes())
    }
}

impl<O: Observer + ?Sized> Tile<O> {
    fn host(&self) -> Asker {
        Asker {
            view: View::Noc,
            agent: AgentId::Host,
            core: None,
            pc: 0,
            cycle: self.bus.now,
            end: self.bus.now,
        }
    }

    fn host_error(&self, fault: devices::DeviceFault) -> Box<GuestError> {
        let at = Context { cycle: self.bus.now, agent: AgentId::Host, pc: None, word: None };
        Box::new(fault.at(at))
    }

    /// [`Tile::host_read`]
    pub(crate) fn host_read_here(
        &mut self,
        addr: u32,
        bytes: &mut [u8],
    ) -> Result<(), Box<GuestError>> {
        let host = self.host();
        self.note_host_read(addr, bytes.len());
        self.bus.read_block(host, addr, bytes).map_err(|fault| self.host_error(fault))
    }

    /// Reads L1, which is nothing to the tile. Bytes beyond the end read as zero.
    pub fn read_l1(&mut self, addr: u32, bytes: &mut [u8]) {
        self.bus.cores.read_l1_block(addr, bytes);
    }

    /// [`Tile::host_write`]
    pub(crate) fn host_write_here(
        &mut self,
        addr: u32,
        bytes: &[u8],
    ) -> Result<(), Box<GuestError>> {
        let host = self.host();
        self.note_input(|| InputKind::Write { addr, bytes: bytes.into() });
        self.bus.cores.observer.tell(host.stamp(), || {
            let mut first = [0; 4];
            let count = bytes.len().min(4);
            first[..count].copy_from_slice(&bytes[..count]);
            Event::HostWrite {
                addr,
                value: u32::from_le_bytes(first),
                bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            }
        });
        self.bus.refresh_watches();
        let done = self.bus.write_block(host, addr, bytes);
        if addr >= L1_BYTES {
            self.bus.recheck_waits();
        }
        // A register may have the debug bus write to L1.
        self.bus.cores.wake_by_stores(self.bus.now);
        done.map_err(|fault| self.host_error(fault))
    }

    /// A byte, half or word of L1.
    #[must_use]
    pub fn l1_value(&self, addr: u32, width: Width) -> u32 {
        self.bus.cores.l1().read(addr, width)
    }

    /// Writes that left the tile for others, oldest first.
    #[must_use]
    pub fn sunk_writes(&self) -> &[SunkWrite] {
        self.bus.fabric.sink.writes()
    }

    /// Lets a core that halted for the debugger go on.
    pub fn resume(&mut self, core: CoreId) {
        Debugger { bus: &mut self.bus }.resume(core);
    }

    /// [`Tile::keep_inputs`]
    pub(crate) fn keep_inputs_here(&mut self) {
        let (config, first) = (self.bus.config, self.snapshot_here(None));
        self.kept = Some(Box::new(Inputs { config, first, inputs: Vec::new() }));
    }

    /// What has come since [`Tile::keep_inputs`], which ends with this.
    pub fn take_inputs(&mut self) -> Option<Inputs> {
        self.kept.take().map(|kept| *kept)
    }

    /// [`Tile::give`]
    pub(crate) fn give_here(&mut self, input: &InputKind) {
        match input {
            InputKind::Write { addr, bytes } => drop(self.host_write_here(*addr, bytes)),
            InputKind::Read { addr, bytes } => {
                drop(self.host_read_here(*addr, &mut vec![0; *bytes]));
            }
            InputKind::Arrival(arrival) => self.receive_here(arrival.clone()),
        }
    }

    pub(crate) fn note_input(&mut self, kind: impl FnOnce() -> InputKind) {
        let cycle = self.bus.now;
        if let Some(kept) = &mut self.kept {
            kept.inputs.push(Input { cycle, kind: kind() });
        }
    }

    /// Notes a read of the host, unless it is of L1, which no read changes.
    pub(crate) fn note_host_read(&mut self, addr: u32, bytes: usize) {
        if u64::from(addr) + bytes as u64 > u64::from(L1_BYTES) {
            self.note_input(|| InputKind::Read { addr, bytes });
        }
    }

    /// [`Tile::receive`]
    pub(crate) fn receive_here(&mut self, arrival: Arrival) {
        self.note_input(|| InputKind::Arrival(arrival.clone()));
        self.bus.fabric.receive(arrival, self.bus.now);
    }

    /// [`Tile::leave`]
    pub(crate) fn leave_here(&mut self, arrival: &mut Option<Arrival>) {
        let mail = Mail { bus: &self.bus };
        let lies = |arrival: &mut Arrival| self.kept.is_none() && mail.lies(&arrival.message);
        if let Some(arrival) = arrival.take_if(lies) {
            self.bus.fabric.receive(arrival, self.bus.now);
        }
    }

    /// How many messages have not taken effect.
    #[must_use]
    pub fn mail(&self) -> usize {
        self.bus.fabric.mail_count()
    }

    /// Whether there are messages to others.
    #[must_use]
    pub fn has_departures(&self) -> bool {
        self.bus.fabric.has_departures()
    }

    /// The core that has a NoC initiator's last command from that instruction.
    #[must_use]
    pub fn issuer(&self, pc: u32) -> Option<CoreId> {
        self.bus.fabric.issuer(pc)
    }

    /// Who sent the request for which a mistake was returned, if it is one of another endpoint.
    pub fn take_refused(&mut self, mistake: &GuestError) -> Option<Refused> {
        self.bus.fabric.take_refused(mistake)
    }

    /// Takes the messages to others, oldest first.
    pub fn take_departures(&mut self) -> std::vec::Drain<'_, Departure> {
        self.bus.fabric.take_departures()
    }
}
