//! The state of the whole tile by name: cores, mailboxes, PCBufs, NIUs, and the coprocessor's tree.
//!
//! Not L1, which has a reader of its own ([`Tile::l1`]), and not the devices that firmware does not
//! wait for. Reading changes nothing that a guest could notice.

use devices::{Niu, ReadClass};
use isa::disasm::{freg, xreg};
use memory_map::Target;
use sim_core::{CoreId, Observer, ThreadId};
use tensix::Register;

use crate::tile::Tile;

/// The cores that have mailboxes.
const MAILBOX_CORES: [CoreId; 4] = [CoreId::Brisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

impl<O: Observer + ?Sized> Tile<O> {
    /// [`Tile::registers`]
    pub(crate) fn registers_here(&mut self) -> Register {
        self.wake_all();
        let cores = CoreId::ALL.map(|id| self.core_registers(id));
        let nocs = [0, 1].map(|noc| niu_registers(noc, &mut self.nius[noc]));
        let rest = [self.mailbox_registers(), self.pcbuf_registers()];
        let parts = [Register::group("core", cores)].into_iter().chain(rest).chain(nocs);
        Register::group("tile", parts.chain([self.tensix.registers()]))
    }

    /// What lies in the mailbox from one core to another, the oldest word first.
    #[must_use]
    pub fn mailbox_values(&self, from: CoreId, to: CoreId) -> Vec<u32> {
        self.mailboxes.values(from, to).collect()
    }

    /// A register of a NoC stream, as far as streams have them.
    #[must_use]
    pub fn stream_register(&self, stream: u8, register: u16) -> Option<u32> {
        self.overlay.read(stream, register).ok()
    }

    fn core_registers(&self, id: CoreId) -> Register {
        let core = &self.cores[id];
        let status = format!("{:?}", core.status()).to_lowercase();
        let state = [
            Register::text("status", status),
            Register::number("pc", core.pc()),
            Register::number("instructions", core.instructions()),
        ];
        let integer =
            (0..32_u8).map(|index| Register::number(xreg(u32::from(index)), core.register(index)));
        let float = (0..32_u8)
            .map(|index| Register::number(freg(u32::from(index)), core.float_register(index)));
        Register::group(id.name().to_lowercase(), state.into_iter().chain(integer).chain(float))
    }

    fn mailbox_registers(&self) -> Register {
        let pairs = MAILBOX_CORES
            .into_iter()
            .flat_map(|from| MAILBOX_CORES.into_iter().map(move |to| (from, to)));
        let one = |(from, to): (CoreId, CoreId)| {
            let name = format!("{}_to_{}", from.name(), to.name()).to_lowercase();
            Register::words(name, self.mailboxes.values(from, to))
        };
        Register::group("mailbox", pairs.map(one))
    }

    fn pcbuf_registers(&self) -> Register {
        let one =
            |thread: ThreadId| Register::words(thread.to_string(), self.pcbufs.values(thread));
        Register::group("pcbuf", ThreadId::ALL.map(one))
    }
}

/// Registers of a network interface that can be read without changing it. Those of several
/// elements are one entry.
fn niu_registers(noc: usize, niu: &mut Niu) -> Register {
    let target = if noc == 0 { Target::Noc0 } else { Target::Noc1 };
    let rows = memory_map::block(target).map_or(&[][..], |(block, _)| block.registers);
    let pure = rows.iter().filter(|row| Niu::read_class(row.offset) == ReadClass::Pure);
    let values = pure.filter_map(|row| {
        let words = (0..row.count).map(|index| niu.read(row.offset + index * row.stride).ok());
        let words: Vec<u32> = words.collect::<Option<_>>()?;
        Some(match words[..] {
            [word] => Register::number(row.name, word),
            _ => Register::words(row.name, words),
        })
    });
    Register::group(format!("noc{noc}"), values.collect::<Vec<_>>())
}
