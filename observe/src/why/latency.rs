//! Results that are used before they are there.
//!
//! Most results are there from the cycle of issue on in the simulation, and later on hardware. That holds most
//! instructions back that would find the old value; what it lets through is said here, whether or not the result was
//! right in this run.

use isa::config::{self, Scope, Users};
use isa::lregs::{late_results, missed_reads};
use isa::op::{Opcode, Unit};
use isa::operands::{
    Atincget, Atincgetptr, Loadind, Mad, Reg2flop, ScalarArithmetic, ScalarOperation, Stallwait,
    TileRegister, Wrcfg,
};
use sim_core::{AgentId, Event, Stamp, ThreadId, WaitReason};

use super::circular::Violation;
use super::hazards as h;

/// Vector registers that instructions write: the others are constants `[isa-bh: TensixCoprocessor/LReg.md]`.
const LREGS: u32 = 0xFF;
/// SFPMAD_MOD1_INDIRECT_VD: any register may be the one `[isa-bh: TensixCoprocessor/SFPMAD.md]`.
const INDIRECT: u32 = 1 << 3;
/// STALLWAIT waits for loads into GPRs `[isa-bh: TensixCoprocessor/STALLWAIT.md]`.
const THCON: u32 = 1 << 0;

/// What the last instructions have left on its way.
#[derive(Clone, Debug, Default)]
pub(super) struct Latency {
    /// The last instruction of the vector unit, and the registers that it writes a cycle late.
    vector: Option<(Opcode, u32)>,
    threads: [Thread; ThreadId::COUNT],
}

/// Of one thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// The last instruction was WRCFG: the field that it has changed and who goes by it.
    configured: Option<(Users, &'static str)>,
    /// GPRs that are loaded, and what loads them.
    loaded: u64,
    load: Option<Opcode>,
}

impl Latency {
    /// Takes an event.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) -> Option<Violation> {
        match *event {
            Event::Issue { thread, word, .. } => {
                let opcode = Opcode::from_word(word)?;
                let early = self.threads[thread.index()].issued(stamp, opcode, word);
                let vector = match opcode.unit() {
                    Unit::Vector => self.vector(stamp, opcode, word),
                    _ => None,
                };
                early.or(vector)
            }
            Event::Config { state: 0 | 1, index, before, after } => {
                let AgentId::Thread(thread) = stamp.agent else { return None };
                self.threads[thread.index()].configured(u32::from(index), before ^ after);
                None
            }
            // All that the thread was given has been executed.
            Event::SyncDone { thread, reason: WaitReason::CoprocessorBusy { .. } } => {
                self.threads[thread.index()].loaded = 0;
                None
            }
            _ => None,
        }
    }

    fn vector(&mut self, stamp: Stamp, opcode: Opcode, word: u32) -> Option<Violation> {
        let is_known = opcode.row().lregs.va.is_none() || Mad::of(word).instr_mod1 & INDIRECT == 0;
        let late = if is_known { late_results(opcode, word) & LREGS } else { 0 };
        let (writer, written) = self.vector.replace((opcode, late))?;
        let early = written & missed_reads(opcode, word);
        if early == 0 {
            return None;
        }
        let (reader, writer) = (opcode.row().name, writer.row().name);
        let text = format!(
            "{reader} reads LReg {} right behind the {writer} that writes it a cycle later",
            early.trailing_zeros(),
        );
        Some((stamp, h::B14, text))
    }
}

impl Thread {
    /// A word of Config was changed by the thread.
    fn configured(&mut self, index: u32, changed: u32) {
        let Some((users, name)) = &mut self.configured else { return };
        for field in config::in_word(Scope::Config, index) {
            if field.has_bits(index, changed) && field.users != Users::NONE {
                (*users, *name) = (users.and(field.users), field.name);
            }
        }
    }

    fn issued(&mut self, stamp: Stamp, opcode: Opcode, word: u32) -> Option<Violation> {
        let begun = (opcode == Opcode::Wrcfg).then_some((Users::NONE, ""));
        let configured = std::mem::replace(&mut self.configured, begun);
        if let Some((_, field)) =
            configured.filter(|(users, _)| users.meets(Users::of_instruction(word)))
        {
            let name = opcode.row().name;
            let text =
                format!("{name} goes by {field} right behind the WRCFG that sets it a cycle later");
            return Some((stamp, h::B5, text));
        }
        let early = self.loaded & gprs_read(opcode, word);
        match opcode {
            Opcode::Stallwait if Stallwait::of(word).wait_res & THCON != 0 => self.loaded = 0,
            Opcode::Flushdma => self.loaded = 0,
            _ => {
                self.loaded &= !gprs_written(opcode, word);
                let loaded = gprs_loaded(opcode, word);
                if loaded != 0 {
                    (self.loaded, self.load) = (self.loaded | loaded, Some(opcode));
                }
            }
        }
        let load = self.load.filter(|_| early != 0)?;
        self.loaded &= !early;
        let (name, load) = (opcode.row().name, load.row().name);
        let register = early.trailing_zeros();
        let text = format!("{name} reads GPR {register} without having waited for {load}");
        Some((stamp, h::B5, text))
    }
}

/// GPRs that an instruction reads for what it computes or sets, as a mask. Addresses of memory apart.
pub(super) fn gprs_read(opcode: Opcode, word: u32) -> u64 {
    match opcode {
        Opcode::Wrcfg => {
            let Wrcfg { gpr_address, wr128b, .. } = Wrcfg::of(word);
            if wr128b { 0xF << (gpr_address & !3) } else { 1 << gpr_address }
        }
        Opcode::Reg2flop => 1 << Reg2flop::of(word).reg_index,
        Opcode::Storereg => 1 << TileRegister::of(word).tdma_data_reg_index,
        Opcode::Adddmareg | Opcode::Subdmareg | Opcode::Muldmareg => {
            let ScalarArithmetic { op_a_reg_index, op_b_reg_index, op_b_is_const, .. } =
                ScalarArithmetic::of(word);
            1 << op_a_reg_index | u64::from(!op_b_is_const) << op_b_reg_index
        }
        Opcode::Bitwopdmareg | Opcode::Shiftdmareg | Opcode::Cmpdmareg => {
            let ScalarOperation { op_a_reg_index, op_b_reg_index, op_b_is_const, .. } =
                ScalarOperation::of(word);
            1 << op_a_reg_index | u64::from(!op_b_is_const) << op_b_reg_index
        }
        _ => 0,
    }
}

/// GPRs that an instruction writes before the thread's next one.
pub(super) fn gprs_written(opcode: Opcode, word: u32) -> u64 {
    match opcode {
        Opcode::Adddmareg | Opcode::Subdmareg | Opcode::Muldmareg => {
            1 << ScalarArithmetic::of(word).result_reg_index
        }
        Opcode::Bitwopdmareg | Opcode::Shiftdmareg | Opcode::Cmpdmareg => {
            1 << ScalarOperation::of(word).result_reg_index
        }
        _ => 0,
    }
}

/// GPRs that come from memory some time later `[isa-wh: TensixCoprocessor/LOADIND.md]`, `ATINCGET.md`.
pub(super) fn gprs_loaded(opcode: Opcode, word: u32) -> u64 {
    match opcode {
        Opcode::Loadind => 1 << Loadind::of(word).data_reg_index,
        Opcode::Loadreg => 1 << TileRegister::of(word).tdma_data_reg_index,
        Opcode::Atincget => 1 << Atincget::of(word).data_reg_index,
        Opcode::Atincgetptr => 1 << Atincgetptr::of(word).data_reg_index,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use isa::config::field;
    use isa::encode;
    use sim_core::Cycle;
    use sim_core::observer::Slot;

    use super::*;

    const THREAD: ThreadId = ThreadId::T0;
    const SFPNOP: u32 = 0x8F00_0000;
    /// Of unpacker 0 and of unpacker 1.
    const UNPACR: [u32; 2] = [0x4200_0000, 0x4280_0000];

    fn stamp() -> Stamp {
        Stamp { cycle: Cycle(1), agent: AgentId::Thread(THREAD), pc: 0xD000 }
    }

    fn issue(latency: &mut Latency, word: u32) -> Option<(&'static str, String)> {
        let event = Event::Issue { thread: THREAD, word, slot: Slot::default() };
        latency.event(stamp(), &event).map(|(_, hazard, text)| (hazard.id, text))
    }

    fn said(words: &[u32]) -> Vec<(&'static str, String)> {
        let mut latency = Latency::default();
        words.iter().filter_map(|word| issue(&mut latency, *word)).collect()
    }

    #[test]
    fn late_result_is_missed_by_the_next_instruction_only_and_by_those_that_hardware_forgets() {
        let mad = encode::sfpmad(0, 3, 2, 1, 0);
        let (add, store) = (encode::sfpiadd(4, 3, 1, 0), encode::sfpstore(0, 0, 0, 3));
        let text = "SFPIADD reads LReg 3 right behind the SFPMAD that writes it a cycle later";
        assert_eq!(said(&[mad, add]), [("B14", text.to_owned())]);
        assert_eq!(said(&[mad, SFPNOP, add]), []);
        assert_eq!(said(&[mad, store, add]), [], "the stall logic knows of SFPSTORE");
        assert_eq!(said(&[mad, encode::sfpiadd(4, 2, 1, 0)]), [], "another register");
        // Which register is written depends on the data.
        assert_eq!(said(&[encode::sfpmad(8, 3, 2, 1, 0), add]), []);
    }

    #[test]
    fn configuration_is_there_for_the_instruction_behind_the_next_one() {
        let (wrcfg, index) = (encode::wrcfg(76, 0, 8), 76);
        let config = |state| Event::Config { state, index, before: 1, after: 2 };
        let mut latency = Latency::default();
        let mut run = |words: &[u32], state| {
            assert_eq!(issue(&mut latency, wrcfg), None);
            assert_eq!(latency.event(stamp(), &config(state)), None);
            words.iter().find_map(|word| issue(&mut latency, *word))
        };
        let (id, text) = run(&UNPACR[..1], 0).expect("the address is not there");
        assert_eq!(id, "B5");
        assert_eq!(
            text,
            "UNPACR goes by THCON_SEC0_REG3_Base_address right behind the WRCFG that sets it a cycle later"
        );
        assert_eq!(run(&[0x0200_0000, UNPACR[0]], 0), None, "a NOP between");
        assert_eq!(run(&UNPACR[1..], 0), None, "the other unpacker's");
        // Of a thread's own configuration.
        assert_eq!(run(&UNPACR[..1], 2), None);
        assert_eq!(field::THCON_SEC0_REG3_Base_address.addr32, u32::from(index));
    }

    #[test]
    fn load_into_a_register_has_to_be_waited_for() {
        let (load, use_it) = (encode::loadreg(0x100, 5), encode::wrcfg(209, 0, 5));
        let text = "WRCFG reads GPR 5 without having waited for LOADREG";
        assert_eq!(said(&[load, 0x6000_0000, use_it]), [("B5", text.to_owned())]);
        assert_eq!(said(&[load, encode::wrcfg(209, 0, 6)]), []);
        // Four registers from an aligned one on.
        assert_eq!(said(&[load, encode::wrcfg(209, 1, 7)]).len(), 1);
        let wait = encode::stallwait(THCON, 1 << 7);
        assert_eq!(said(&[load, wait, use_it]), []);
        assert_eq!(said(&[load, encode::stallwait(1 << 3, 1 << 7), use_it]).len(), 1);
        let mut latency = Latency::default();
        assert_eq!(issue(&mut latency, load), None);
        let reason = WaitReason::CoprocessorBusy { thread: THREAD };
        assert_eq!(latency.event(stamp(), &Event::SyncDone { thread: THREAD, reason }), None);
        assert_eq!(issue(&mut latency, use_it), None, "the core has waited for the thread");
    }
}
