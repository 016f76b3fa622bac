//! What the wait gate has to know about a word, by its opcode byte.

use isa::op::{Opcode, ROWS, Unit};

/// What an instruction competes for at the wait gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Resource {
    /// Nothing: any number per cycle.
    Free,
    /// A unit that takes one instruction per cycle over all threads.
    Shared,
    /// The mutex that the instruction names.
    Mutex,
}

/// Gate-level facts of one opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decoded {
    pub(crate) opcode: Opcode,
    pub(crate) unit: Unit,
    pub(crate) resource: Resource,
    /// Whether something besides its unit's state can hold it at the gate.
    pub(crate) has_gate_rule: bool,
    pub(crate) blocked_by: u16,
}

/// By opcode byte.
static TABLE: [Option<Decoded>; 256] = table();

const fn table() -> [Option<Decoded>; 256] {
    let mut table = [None; 256];
    let mut i = 0;
    while i < ROWS.len() {
        let row = &ROWS[i];
        let (opcode, unit) = (row.opcode, row.unit);
        let resource = match (opcode, unit) {
            (Opcode::Atgetm | Opcode::Atrelm, _) => Resource::Mutex,
            // SETC16 up to three per cycle [isa-bh: TensixCoprocessor/ConfigurationUnit.md]; one
            // per thread for the miscellaneous unit [isa-wh: MiscellaneousUnit.md].
            (Opcode::Setc16, _) | (_, Unit::Misc | Unit::Frontend) => Resource::Free,
            _ => Resource::Shared,
        };
        let has_gate_rule = matches!(
            opcode,
            Opcode::Atgetm | Opcode::Atrelm | Opcode::Xmov | Opcode::Unpacr | Opcode::UnpacrNop
        );
        table[opcode as usize] =
            Some(Decoded { opcode, unit, resource, has_gate_rule, blocked_by: row.blocked_by });
        i += 1;
    }
    table
}

/// The facts for a word; `None` if its opcode byte is not assigned.
#[inline]
pub(crate) fn decode(word: u32) -> Option<&'static Decoded> {
    TABLE[(word >> 24) as usize].as_ref()
}
