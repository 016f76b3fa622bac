//! Registers of a thread for gdb: all of a core, of a Tensix thread only where its instruction was pushed.

use gdbstub::arch::{Arch, Registers};
use gdbstub_arch::riscv::reg::id::RiscvRegId;

/// The cores' architecture, with registers that need not be there.
#[derive(Debug)]
pub(crate) enum TileArch {}

impl Arch for TileArch {
    type Usize = u32;
    type Registers = Frame;
    type BreakpointKind = usize;
    type RegId = RiscvRegId<u32>;
}

/// Integer registers and pc.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Frame {
    /// x0 to x31. A Tensix thread has none: what its core held when it pushed is gone.
    pub(crate) x: Option<[u32; 32]>,
    pub(crate) pc: u32,
}

impl Registers for Frame {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.pc
    }

    fn gdb_serialize(&self, mut write: impl FnMut(Option<u8>)) {
        let known = |x: &[u32; 32]| x.map(|one| one.to_le_bytes().map(Some));
        let x = self.x.as_ref().map_or([[None; 4]; 32], known);
        let pc = self.pc.to_le_bytes().map(Some);
        x.into_iter().flatten().chain(pc).for_each(&mut write);
    }

    /// Nothing is written in a recorded session.
    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        if bytes.len() == 4 * 33 { Ok(()) } else { Err(()) }
    }
}
