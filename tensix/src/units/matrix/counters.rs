//! SETRWC, INCRWC, CLEARDVALID and what the other instructions do to counters and bank ownership.
//!
//! Sources: `[isa-wh: TensixCoprocessor/RWCs.md]`, `SETRWC.md`, `INCRWC.md`, `CLEARDVALID.md`.

use isa::config::field;
use isa::operands;
use sim_core::ThreadId;

use super::MatrixUnit;
use crate::state::src::SrcBanks;
use crate::units::config::ConfigUnit;

/// First words of `ADDR_MOD_AB_SEC` and `ADDR_MOD_DST_SEC` in thread configuration, eight each.
const ADDR_MOD_AB: usize = field::ADDR_MOD_AB_SEC0_SrcAIncr.addr32 as usize;
const ADDR_MOD_DST: usize = field::ADDR_MOD_DST_SEC0_DestIncr.addr32 as usize;

impl MatrixUnit {
    /// Advances the counters of `thread` as its address modifier says. Blackhole encodes all three
    /// bits of the modifier in the instruction, so the Wormhole bit that `ADDR_MOD_SET` and
    /// `ADDR_MOD_BIAS` provide is not needed [inferred: field `addr_mode` is three bits wide]; what
    /// `ADDR_MOD_BIAS` and `ADDR_MOD_AB2` do there is not known [unknown: U-063].
    #[inline]
    pub(crate) fn apply_addr_mod(&mut self, addr_mod: u32, thread: usize, config: &ConfigUnit) {
        let words = &config.threads[thread];
        let index = addr_mod as usize & 7;
        self.rwcs[thread] =
            self.rwcs[thread].advanced(words[ADDR_MOD_AB + index], words[ADDR_MOD_DST + index]);
    }

    /// Whether an address modifier changes no counter.
    #[inline]
    pub(crate) fn addr_mod_is_idle(addr_mod: u32, thread: usize, config: &ConfigUnit) -> bool {
        let (words, index) = (&config.threads[thread], addr_mod as usize & 7);
        words[ADDR_MOD_AB + index] | words[ADDR_MOD_DST + index] == 0
    }

    pub(crate) fn setrwc(
        &mut self,
        thread: ThreadId,
        operands: operands::Setrwc,
        config: &ConfigUnit,
        src: &mut [SrcBanks; 2],
    ) {
        let rwc = &mut self.rwcs[thread.index()];
        let (set, cr) = (operands.bit_mask, operands.rwc_cr);
        let (a, b, d) = (operands.rwc_a as u8, operands.rwc_b as u8, operands.rwc_d as u16);
        if set & 1 != 0 {
            rwc.src_a = (a + if cr & 1 != 0 { rwc.src_a_cr } else { 0 }) & 0x3F;
            rwc.src_a_cr = rwc.src_a;
        }
        if set & 2 != 0 {
            rwc.src_b = (b + if cr & 2 != 0 { rwc.src_b_cr } else { 0 }) & 0x3F;
            rwc.src_b_cr = rwc.src_b;
        }
        if set & 4 != 0 || cr & 8 != 0 {
            let base = match cr & 0xC {
                0 => 0,
                4 => rwc.dst_cr,
                _ => rwc.dst,
            };
            rwc.dst = (d + base) & 0x3FF;
            rwc.dst_cr = rwc.dst;
        }
        if set & 8 != 0 {
            rwc.fidelity = 0;
        }
        release(thread, operands.clear_ab_vld, config, src);
    }

    pub(crate) fn incrwc(&mut self, thread: ThreadId, operands: operands::Incrwc) {
        let rwc = &mut self.rwcs[thread.index()];
        let cr = operands.rwc_cr;
        let (a, b, d) = (operands.rwc_a as u8, operands.rwc_b as u8, operands.rwc_d as u16);
        if cr & 1 != 0 {
            rwc.src_a_cr = (rwc.src_a_cr + a) & 0x3F;
            rwc.src_a = rwc.src_a_cr;
        } else {
            rwc.src_a = (rwc.src_a + a) & 0x3F;
        }
        if cr & 2 != 0 {
            rwc.src_b_cr = (rwc.src_b_cr + b) & 0x3F;
            rwc.src_b = rwc.src_b_cr;
        } else {
            rwc.src_b = (rwc.src_b + b) & 0x3F;
        }
        if cr & 4 != 0 {
            rwc.dst_cr = (rwc.dst_cr + d) & 0x3FF;
            rwc.dst = rwc.dst_cr;
        } else {
            rwc.dst = (rwc.dst + d) & 0x3FF;
        }
    }
}

/// Gives the banks of `flip` back, bit 0 SrcA. `CLR_DVALID_Src*_Disable` keeps the bank, but not
/// the pointer.
#[inline]
pub(crate) fn release(thread: ThreadId, flip: u32, config: &ConfigUnit, src: &mut [SrcBanks; 2]) {
    if flip == 0 {
        return;
    }
    let thread = thread.index();
    let keep = [
        config.thread_field(thread, &field::CLR_DVALID_SrcA_Disable),
        config.thread_field(thread, &field::CLR_DVALID_SrcB_Disable),
    ];
    for (operand, banks) in src.iter_mut().enumerate() {
        if flip >> operand & 1 != 0 {
            banks.matrix_release(keep[operand] == 0, true);
        }
    }
}

/// Gives banks back regardless of configuration, or resets ownership and pointers altogether.
pub(crate) fn cleardvalid(operands: operands::Cleardvalid, src: &mut [SrcBanks; 2]) {
    for (operand, banks) in src.iter_mut().enumerate() {
        if operands.reset_ownership {
            banks.reset_ownership();
        } else if operands.cleardvalid >> operand & 1 != 0 {
            banks.matrix_release(true, !operands.keep_pointer);
        }
    }
}
