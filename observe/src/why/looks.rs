//! Who looks at the words that cores poll at the end, for observers that keep books of a tile and do not
//! check what kernels read.

use isa::word::{LOAD, opcode};
use rustc_hash::FxHashMap;
use sim_core::l1::L1_BYTES;
use sim_core::observer::ParkedSpan;
use sim_core::{CoreId, Event, Observer, Retire, Stamp};

use super::accesses::{Registers, load_address};
use super::polled::Polled;

/// Listens for reads and writes of such words.
#[derive(Clone, Debug)]
pub struct Looks {
    cores: [Registers; CoreId::COUNT],
    /// Where cores look at words in the end: core, pc and address.
    loads: Vec<(CoreId, u32, u32)>,
    /// From where an instruction has loaded last, if that was known: it stands for where it is not.
    places: FxHashMap<(CoreId, u32), u32>,
    polled: Polled,
}

impl Looks {
    /// Looks at these words of L1: byte address and bytes. `loads` are known to be of such a word.
    #[must_use]
    pub fn new(words: Vec<(u32, u32)>, loads: Vec<(CoreId, u32, u32)>) -> Self {
        let cores = std::array::from_fn(|_| Registers::reset());
        Self { cores, loads, places: FxHashMap::default(), polled: Polled::new(words) }
    }

    /// What was seen.
    #[must_use]
    pub const fn polled(&self) -> &Polled {
        &self.polled
    }
}

impl Observer for Looks {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        match *event {
            Event::L1Store { addr, .. } => self.wrote(stamp, addr, false),
            Event::L1Atomic { addr, .. } => self.wrote(stamp, addr, true),
            Event::Reset { core, asserted: false, .. } => {
                self.cores[core.index()] = Registers::reset();
            }
            _ => {}
        }
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let own = &mut self.cores[core.index()];
        if opcode(retire.word) == LOAD {
            let is_this = |load: &&(CoreId, u32, u32)| (load.0, load.1) == (core, retire.pc);
            let known = self.loads.iter().find(is_this).map(|load| load.2);
            let place = (core, retire.pc);
            let addr = known.or_else(|| load_address(retire.word, own));
            match addr.or_else(|| self.places.get(&place).copied()) {
                Some(addr) => {
                    self.places.insert(place, addr);
                    if addr < L1_BYTES {
                        self.polled.loaded(core, retire.cycle.0, addr, retire.value);
                    }
                }
                None => self.polled.loaded_somewhere(core, retire.cycle.0, retire.value),
            }
        }
        own.retire(retire);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.cores[core.index()].forget_round(&span);
    }
}

impl Looks {
    fn wrote(&mut self, stamp: Stamp, addr: u32, atomic: bool) {
        self.polled.wrote(stamp.agent, stamp.pc, stamp.cycle.0, addr, atomic);
    }
}
