//! What the wait gate has to know about a word, by its opcode byte.

pub(crate) use isa::op::Resource;
use isa::op::{GateRule, OPCODE, Opcode, ROWS, Unit};

/// Gate-level facts of one opcode: those columns of its row ([`isa::op::OpRow`]) that are asked for in
/// every cycle, side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decoded {
    pub(crate) opcode: Opcode,
    pub(crate) unit: Unit,
    pub(crate) resource: Resource,
    /// What besides its unit's state can hold it at the gate.
    pub(crate) gate: GateRule,
    /// Source operands that must belong to the matrix unit: bit 0 SrcA, bit 1 SrcB.
    pub(crate) needs: u8,
    pub(crate) blocked_by: u16,
    /// Whether it may leave something behind that acts later or elsewhere.
    pub(crate) stirs: bool,
    /// Whether several that follow each other may execute in one go.
    pub(crate) in_stretches: bool,
}

/// By opcode byte.
static TABLE: [Option<Decoded>; 256] = table();

const fn table() -> [Option<Decoded>; 256] {
    let mut table = [None; 256];
    let mut i = 0;
    while i < ROWS.len() {
        let row = &ROWS[i];
        table[row.opcode as usize] = Some(Decoded {
            opcode: row.opcode,
            unit: row.unit,
            resource: row.resource,
            gate: row.gate,
            needs: row.needs,
            blocked_by: row.blocked_by,
            stirs: row.stirs,
            in_stretches: row.in_stretches,
        });
        i += 1;
    }
    table
}

/// The facts for a word; `None` if its opcode byte is not assigned.
#[inline]
pub(crate) fn decode(word: u32) -> Option<&'static Decoded> {
    TABLE[OPCODE.get(word) as usize].as_ref()
}
