//! A core alone with L1, and two ways to run it: in epochs and alone.

use riscv::{Core, CoreConfig, Status};
use sim_core::agent::PAGE_OBSERVED;
use sim_core::l1::PAGE_BYTES;
use sim_core::{Agent, CoreId, Cycle, EpochLength, Shared, Shortcuts, Width};

use super::programs;

/// Just before the end of a page of decoded instructions, so that programs cross it.
const CODE: u32 = 0x1000 - 32;
pub(crate) const DATA: u32 = 0x8000;
const LOCAL: u32 = 0xFFB0_0000;

/// A core with the L1 it runs from.
pub(crate) struct Machine {
    pub(crate) core: Core,
    pub(crate) shared: Shared,
    epoch: EpochLength,
    now: u64,
}

/// Everything a program could tell apart.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) registers: Vec<u32>,
    local: Vec<u32>,
    l1: Vec<u32>,
    pc: u32,
    cycle: u64,
    instructions: u64,
}

impl Machine {
    pub(crate) fn new(words: &[u32], patches: &[u32], epoch: u32, shortcuts: Shortcuts) -> Self {
        let epoch = EpochLength::new(epoch).expect("the tests use valid lengths");
        let shared = Shared::new();
        for (index, &word) in words.iter().enumerate() {
            shared.l1.set_word(CODE + index as u32 * 4, word);
        }
        let config = CoreConfig { epoch, shortcuts, ..CoreConfig::default() };
        let mut core = Core::new(CoreId::Brisc, config);
        core.release(CODE, Cycle::ZERO, false);
        core.set_register(programs::CODE_REGISTER, CODE);
        core.set_register(programs::LOCAL_REGISTER, LOCAL);
        core.set_register(programs::DATA_REGISTER, DATA);
        for (register, &word) in programs::PATCH_REGISTERS.zip(patches) {
            core.set_register(register, word);
        }
        Self { core, shared, epoch, now: 0 }
    }

    /// What a tile does to L1 and to decoded code.
    pub(crate) fn write(&mut self, addr: u32, value: u32, width: Width) {
        if self.shared.page_flags(addr) & !PAGE_OBSERVED != 0 {
            self.core.wake(&self.shared, Cycle(self.now));
            self.core.invalidate_code(addr, width.bytes());
        }
        self.shared.l1.write(addr, value, width);
        if !self.core.spin_holds(&self.shared.l1) {
            self.core.wake(&self.shared, Cycle(self.now));
        }
    }

    fn commit(&mut self) {
        for store in std::mem::take(&mut self.core.batch.stores) {
            self.write(store.addr, store.value, store.width);
        }
        self.core.clear_posted();
    }

    pub(crate) fn run_epochs(&mut self, until: u64) {
        while self.now < until {
            let end = self.epoch.end_of_epoch(Cycle(self.now));
            self.core.run(&self.shared, end);
            self.now = end.0;
            self.commit();
        }
    }

    pub(crate) fn run_alone(&mut self, until: u64) {
        while self.now < until {
            self.core.run_alone(&self.shared, Cycle(until), self.epoch);
            // What was stored takes effect at the end of its epoch, also if the core parked in it.
            self.now = self.epoch.round_up(self.core.cycle()).0.max(self.now);
            self.commit();
            if matches!(self.core.status(), Status::Parked(_)) {
                self.now = until;
            }
        }
    }

    pub(crate) fn state(mut self) -> State {
        assert!(self.core.batch.fault.is_none(), "{:?}", self.core.batch.fault);
        self.core.wake(&self.shared, Cycle(self.now));
        State {
            registers: (0..32).map(|index| self.core.register(index)).collect(),
            local: (0..64)
                .map(|index| self.core.read_local(index * 4, Width::Word).expect("it exists"))
                .collect(),
            l1: (CODE / 4..(DATA + PAGE_BYTES) / 4)
                .map(|index| self.shared.l1.word(index * 4))
                .collect(),
            pc: self.core.pc(),
            cycle: self.core.cycle().0,
            instructions: self.core.instructions(),
        }
    }
}
