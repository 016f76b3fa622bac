//! `UNPACR_NOP`: side effects in sequence with `UNPACR`.
//!
//! Blackhole's encoding is `[llk: instructions/assembly.yaml#UNPACR_NOP]`, with the fields of register
//! writes as parts of the row.
//!
//! Sources: also `[isa-wh: TensixCoprocessor/UNPACR_NOP_*.md]`.

use isa::config::field;
use isa::operands::UnpacrNop;

use super::settings::Section;
use super::{Reach, unpacker_of};
use crate::env::Env;
use crate::state::src::{SRC_COLUMNS, SrcBanks};
use crate::units::Issued;

/// All 19 bits of a cell: the lowest value `[isa-wh: UNPACR_NOP_ZEROSRC.md]`.
const NEGATIVE_INFINITY: u32 = 0x7_FFFF;

/// Cells that hold one.
const ONE_FP16: u32 = 15 << 10;
const ONE_BF16: u32 = 127 << 10;
const ONE_INT8: u32 = 16 << 10 | 1;

/// Registers that an `UNPACR_NOP` can write, and the overlay's among them
/// `[isa-wh: TensixCoprocessor/UNPACR_NOP_SETREG.md]`.
const REGISTERS: u32 = 0xFFB0_0000;
const STREAMS: u32 = 0xFFB4_0000;
const STREAM_BYTES: u32 = 0x1000;
/// `STREAM_MSG_DATA_CLEAR_REG_INDEX` `[hdr: noc_overlay_parameters.h]`.
const MSG_DATA_CLEAR: u32 = 266;

/// What an `UNPACR_NOP` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nop {
    /// Occupies the unpacker.
    Idle,
    /// Clears a bank or both, then perhaps hands it over.
    Clear { value: u32, both: bool, wait_like_unpacr: bool, set_dvalid: bool },
    /// Hands the bank over.
    SetDvalid,
    /// Frees messages of an overlay stream: the configured one, or one named here.
    OverlayClear { stream: Option<u8> },
    /// Writes a register of the tile.
    SetRegister { select: u32, address: u32, value: u32, accumulate: bool },
}

impl Nop {
    pub(super) const fn decode(operands: UnpacrNop) -> Self {
        let operation = operands.unpack_pop;
        // Without anything else, Wormhole's encoding of setting dvalid.
        if operands.clr_to1_fmt_ctrl == 3 && operation != 3 || operands.below_unpacker == 7 {
            return Self::SetDvalid;
        }
        match operation {
            1 => Self::Clear {
                value: operands.src_clr_val_ctrl,
                both: operands.bank_clr_ctrl,
                wait_like_unpacr: operands.stall_clr_cntrl,
                set_dvalid: operands.set_dvalid,
            },
            2 => Self::Idle,
            // Bit 2 makes it a register write; Wormhole has operation 4 for that.
            operation => {
                if operands.set_register {
                    Self::SetRegister {
                        select: operands.address_set_low as u32
                            | (operands.address_set_high as u32) << 1,
                        address: operands.stream_id,
                        value: operands.register_value,
                        accumulate: operands.accumulate,
                    }
                } else if operation == 3 && operands.register_value != 0 {
                    Self::OverlayClear { stream: Some(operands.stream_id as u8) }
                } else {
                    Self::OverlayClear { stream: None }
                }
            }
        }
    }

    /// The bank that has to belong to the unpackers first.
    pub(super) fn waits_for(self, banks: &SrcBanks) -> Option<bool> {
        match self {
            Self::Clear { wait_like_unpacr: true, .. } => Some(banks.unpacker_bank()),
            Self::Clear { wait_like_unpacr: false, .. } => Some(banks.matrix_bank()),
            Self::Idle | Self::SetDvalid | Self::OverlayClear { .. } | Self::SetRegister { .. } => {
                None
            }
        }
    }
}

impl Reach<'_> {
    /// `UNPACR_NOP`.
    pub(super) fn nop<E: Env>(&mut self, operands: UnpacrNop, issued: &Issued, env: &mut E) {
        let unpacker = usize::from(operands.unpacker_select);
        match Nop::decode(operands) {
            Nop::Idle => {}
            Nop::SetDvalid => self.unpackers.set_dvalid(issued.thread, unpacker, &mut self.banks),
            Nop::Clear { value, both, set_dvalid, .. } => {
                let cell = self.clear_value(issued, operands, value);
                let banks = &mut self.banks.src[unpacker];
                let own = usize::from(banks.unpacker_bank());
                for (bank, cells) in banks.cells.iter_mut().enumerate() {
                    if both || bank == own {
                        cells.fill([cell; SRC_COLUMNS]);
                    }
                }
                if set_dvalid {
                    self.unpackers.set_dvalid(issued.thread, unpacker, &mut self.banks);
                }
            }
            Nop::OverlayClear { stream } => {
                let configured = [
                    &field::NOC_OVERLAY_MSG_CLEAR_StreamId_0,
                    &field::NOC_OVERLAY_MSG_CLEAR_StreamId_1,
                ][unpacker];
                let configured = self.banks.config.thread_field(issued.thread.index(), configured);
                let stream = stream.map_or(configured, u32::from);
                let address = STREAMS + stream * STREAM_BYTES + MSG_DATA_CLEAR * 4;
                env.store_register(address, 1, issued.stamp());
            }
            Nop::SetRegister { select, address, value, accumulate } => {
                let base = self.register_base(issued.thread.index(), select);
                self.store_register(issued, base | address << 12, (value, accumulate), env);
            }
        }
    }

    /// Writes a register, or accumulates towards it: a value of zero starts the sum again without
    /// a write.
    fn store_register<E: Env>(
        &mut self,
        issued: &Issued,
        address: u32,
        (value, accumulate): (u32, bool),
        env: &mut E,
    ) {
        let mut value = value;
        if accumulate {
            let sum = &mut self.unpackers.units[unpacker_of(issued.word)].register_accumulator;
            *sum = if value == 0 { 0 } else { (*sum + value) & 0x1_FFFF };
            if value == 0 {
                return;
            }
            value = *sum;
        }
        env.store_register(address, value, issued.stamp());
    }

    /// Base address of register writes: ten low bits and two high bits, around the six that the
    /// instruction has. Blackhole keeps four such sets of twelve bits in configuration, two per
    /// section; which set a selector of two bits names is inferred
    /// `[llk: llk_lib/hal/cfg/thcon.h]` [unknown: U-057].
    fn register_base(&self, thread: usize, select: u32) -> u32 {
        let section = Section::new(self.banks.config, thread, (select >> 1 & 1) as usize);
        let sets = section.thcon(&field::THCON_SEC0_REG10_Unpacker_Reg_Wr_Addr);
        let set = sets >> (12 * (select & 1)) & 0xFFF;
        REGISTERS | (set >> 10) << 18 | (set & 0x3FF) << 2
    }

    /// The cell that a clear writes. How the immediate lies in a cell is not documented: we take
    /// its low 19 bits in the physical order sign, mantissa, exponent [unknown: U-058].
    /// The format field of "one" has names but is called reserved `[llk: ckernel_instr_params.h]`.
    fn clear_value(&self, issued: &Issued, operands: UnpacrNop, select: u32) -> u32 {
        match select {
            0 => 0,
            1 => NEGATIVE_INFINITY,
            2 => match operands.clr_to1_fmt_ctrl {
                0 => ONE_FP16,
                1 => ONE_BF16,
                _ => ONE_INT8,
            },
            _ => {
                let unpacker = usize::from(operands.unpacker_select);
                let section = Section::new(self.banks.config, issued.thread.index(), unpacker);
                let physical = section.own([
                    &field::UNP0_NOP_REG_CLR_VAL_nop_reg_clr_val,
                    &field::UNP1_NOP_REG_CLR_VAL_nop_reg_clr_val,
                ]);
                physical & 0x4_0000 | (physical & 0xFF) << 10 | physical >> 8 & 0x3FF
            }
        }
    }
}
