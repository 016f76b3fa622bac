//! The state of the whole tile by name: cores, mailboxes, PCBufs, NIUs, and the coprocessor's tree.
//!
//! Not L1, which has a reader of its own ([`crate::Tile::l1`]), and not the devices that firmware does not
//! wait for. Reading changes nothing that a guest could notice.

use devices::{Mailboxes, Niu, PcBufs, ReadClass};
use isa::disasm::{freg, xreg};
use memory_map::Target;
use riscv::Core;
use sim_core::{CoreId, ThreadId};
use tensix::Register;

/// The cores that have mailboxes.
const MAILBOX_CORES: [CoreId; 4] = [CoreId::Brisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

pub(crate) fn core(core: &Core) -> Register {
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
    Register::group(core.id().name().to_lowercase(), state.into_iter().chain(integer).chain(float))
}

pub(crate) fn mailboxes(mailboxes: &Mailboxes) -> Register {
    let pairs = MAILBOX_CORES
        .into_iter()
        .flat_map(|from| MAILBOX_CORES.into_iter().map(move |to| (from, to)));
    let one = |(from, to): (CoreId, CoreId)| {
        let name = format!("{}_to_{}", from.name(), to.name()).to_lowercase();
        Register::words(name, mailboxes.values(from, to))
    };
    Register::group("mailbox", pairs.map(one))
}

pub(crate) fn pcbufs(pcbufs: &PcBufs) -> Register {
    let one = |thread: ThreadId| Register::words(thread.to_string(), pcbufs.values(thread));
    Register::group("pcbuf", ThreadId::ALL.map(one))
}

/// Registers of a network interface that can be read without changing it. Those of several
/// elements are one entry.
pub(crate) fn niu(noc: usize, niu: &mut Niu) -> Register {
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
