//! Tests of the unpackers: a coprocessor, an L1 and a few ways to set them up.

mod formats;
mod nops;
mod paths;
mod robustness;

use std::collections::BTreeMap;

use isa::config::{ConfigField, field};
use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, CoreId, Cycle, GuestError, L1, ThreadId, Width};

use crate::state::src::SrcCells;
use crate::{Coprocessor, Env, Origin, TimingModel};

/// `UNPACR` of unpacker 0: multi-context mode, context 0, counters of thread 0.
const UNPACR_A: u32 = 0x4200_0080;
/// The same of unpacker 1.
const UNPACR_B: u32 = 0x4280_0080;
/// Hand the bank over.
const FLIP: u32 = 1 << 6;
const ROW_SEARCH: u32 = 1 << 2;
const USE_COUNTER: u32 = 1 << 3;
const ALL_ZERO: u32 = 1 << 4;

/// `SETC16`.
const fn setc16(field: &ConfigField, value: u32) -> u32 {
    0xB200_0000 | field.addr32 << 16 | value << field.lo
}

/// A tile of which L1 and register stores matter.
#[derive(Default)]
struct Memory {
    l1: L1,
    stores: Vec<(u32, u32)>,
}

impl Env for Memory {
    const OBSERVED: bool = false;
    fn event(&mut self, _: Stamp, _: Event) {}
    fn stream_register(&self, _: u8, _: u16) -> u32 {
        0
    }
    fn invalidate_icache(&mut self, _: u8, _: Stamp) {}
    fn l1_word(&self, addr: u32) -> u32 {
        self.l1.word(addr)
    }
    fn l1_write(&mut self, addr: u32, value: u32, width: Width, _: Stamp) {
        self.l1.write(addr, value, width);
    }
    fn store_register(&mut self, addr: u32, value: u32, _: Stamp) {
        self.stores.push((addr, value));
    }
    fn request_register(&mut self, _: ThreadId, _: u8, _: u32, _: Stamp) {}
}

/// A coprocessor whose unpackers read BF16 tiles of 16 by 16 at address 0x1000.
struct Fixture {
    tensix: Coprocessor,
    memory: Memory,
    now: u64,
    config: BTreeMap<u32, u32>,
}

/// Address of the first datum.
const TILE: u32 = 0x1000;

impl Fixture {
    fn new() -> Self {
        let mut fixture = Self {
            tensix: Coprocessor::new(TimingModel::Unit),
            memory: Memory::default(),
            now: 0,
            config: BTreeMap::new(),
        };
        for unpacker in 0..2 {
            fixture.descriptor(unpacker, 5, 16, 16);
            fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Out_data_format, 5);
            fixture.thcon(unpacker, &field::THCON_SEC0_REG2_Disable_zero_compress_cntx0, 1);
            fixture.thcon(unpacker, &field::THCON_SEC0_REG3_Base_address, TILE / 16 - 1);
        }
        fixture.set(&field::THCON_SEC0_REG5_Tile_x_dim_cntx0, 16);
        fixture.set(&field::THCON_SEC0_REG5_Dest_cntx0_address, 64);
        fixture.run(&[setc16(&field::SRCA_SET_SetOvrdWithAddr, 1)]);
        fixture
    }

    fn stamp(&self) -> Stamp {
        Stamp { cycle: Cycle(self.now), agent: AgentId::Core(CoreId::Trisc0), pc: 0 }
    }

    fn word(&mut self, word: u32, value: u32) {
        self.config.insert(word, value);
        let at = self.stamp();
        self.tensix.write_config(word, value, at, &mut self.memory).expect("the word exists");
    }

    /// Sets a field.
    fn set(&mut self, field: &ConfigField, value: u32) {
        self.set_at(field.addr32, field, value);
    }

    /// Sets a field of section 0 in the section of `unpacker`.
    fn thcon(&mut self, unpacker: u32, field: &ConfigField, value: u32) {
        self.set_at(field.addr32 + 48 * unpacker, field, value);
    }

    fn set_at(&mut self, word: u32, field: &ConfigField, value: u32) {
        let old = self.config.get(&word).copied().unwrap_or(0);
        self.word(word, field.insert(old, value));
    }

    /// Uncompressed, one Z and one W.
    fn descriptor(&mut self, unpacker: u32, format: u32, x_dim: u32, y_dim: u32) {
        let first = 64 + 48 * unpacker;
        for (index, value) in
            [x_dim << 16 | 0x10 | format, 1 << 16 | y_dim, 0, 0].iter().enumerate()
        {
            self.word(first + index as u32, *value);
        }
    }

    /// Input and output format of `unpacker`.
    fn formats(&mut self, unpacker: u32, input: u32, output: u32) {
        let word = 64 + 48 * unpacker;
        let old = self.config[&word];
        self.word(word, old & !0xF | input);
        self.thcon(unpacker, &field::THCON_SEC0_REG2_Out_data_format, output);
    }

    fn try_run(&mut self, words: &[u32]) -> Result<(), GuestError> {
        self.try_run_on(ThreadId::T0, words)
    }

    fn try_run_on(&mut self, thread: ThreadId, words: &[u32]) -> Result<(), GuestError> {
        for &word in words {
            let origin = Origin { core: thread.core(), pc: 0x6000 };
            let now = Cycle(self.now);
            self.tensix.push(thread, false, word, origin, now, &mut self.memory)?;
            self.try_steps(8)?;
        }
        Ok(())
    }

    fn try_steps(&mut self, count: u64) -> Result<(), GuestError> {
        for _ in 0..count {
            self.tensix.step(Cycle(self.now), &mut self.memory)?;
            self.now += 1;
        }
        Ok(())
    }

    fn steps(&mut self, count: u64) {
        self.try_steps(count).expect("modelled");
    }

    fn run(&mut self, words: &[u32]) {
        self.try_run(words).expect("modelled");
    }

    fn error_id(&mut self, words: &[u32]) -> &'static str {
        self.try_run(words).expect_err("a mistake").id
    }

    /// X of thread 0: from `first` to `last`.
    fn extent(&mut self, unpacker: u32, first: u32, last: u32) {
        let adc = &mut self.tensix.backend.adcs[0].0[unpacker as usize];
        adc[0].x.value = first;
        adc[1].x.value = last;
    }

    /// Cells of a bank.
    fn bank(&self, operand: usize, bank: usize) -> &SrcCells {
        &self.tensix.backend.src[operand].cells[bank]
    }

    /// Half-words of L1, from [`TILE`] on.
    fn halves(&mut self, values: impl IntoIterator<Item = u16>) {
        for (index, value) in (0..).zip(values) {
            self.memory.l1.write(TILE + 2 * index, u32::from(value), Width::Half);
        }
    }

    fn bytes(&mut self, address: u32, values: impl IntoIterator<Item = u8>) {
        for (index, value) in (0..).zip(values) {
            self.memory.l1.write(address + index, u32::from(value), Width::Byte);
        }
    }
}

/// Cells of BF16 values: sign and exponent in place, seven bits of mantissa on top of ten.
fn bf16_cells<const N: usize>(values: [u16; N]) -> [u32; N] {
    values.map(|value| u32::from(value) << 3)
}
