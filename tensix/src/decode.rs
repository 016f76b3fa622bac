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
    /// Source operands that must belong to the matrix unit: bit 0 SrcA, bit 1 SrcB.
    pub(crate) needs: u8,
    pub(crate) blocked_by: u16,
    /// Whether it may leave something behind that acts in later cycles or outside the coprocessor:
    /// a latched wait, something scheduled or in progress, an access to L1 or a register.
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
        let (needs, blocked_by, stirs) = (needs(opcode), row.blocked_by, stirs(opcode, unit));
        let in_stretches = in_stretches(opcode);
        table[opcode as usize] = Some(Decoded {
            opcode,
            unit,
            resource,
            has_gate_rule,
            needs,
            blocked_by,
            stirs,
            in_stretches,
        });
        i += 1;
    }
    table
}

/// [`Decoded::stirs`]: of all but those that certainly change nothing but registers.
const fn stirs(opcode: Opcode, unit: Unit) -> bool {
    match (opcode, unit) {
        (Opcode::Sfploadmacro, _) => true,
        (Opcode::Sempost | Opcode::Semget | Opcode::Nop | Opcode::Dmanop, _) => false,
        (_, Unit::Matrix | Unit::Vector) => false,
        _ => true,
    }
}

/// [`Decoded::in_stretches`]: of those that playbacks hold most often, or that do next to nothing,
/// so that the way to them is what they cost.
const fn in_stretches(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Nop
            | Opcode::Dmanop
            | Opcode::Sempost
            | Opcode::Semget
            | Opcode::Sfpload
            | Opcode::Sfpstore
            | Opcode::Sfpmad
            | Opcode::Sfpadd
            | Opcode::Sfpmul
    )
}

/// Source operands that an instruction waits for `[spec: boot-and-sync 5.8]`; MOVB2A waits for
/// SrcB only `[llk: llk_math_transpose_dest.h]`; those without a page, for what the vendor's list
/// gives as `src_mask` `[llk: instructions/assembly.yaml]`.
const fn needs(opcode: Opcode) -> u8 {
    match opcode {
        Opcode::Mova2d
        | Opcode::Shiftxa
        | Opcode::Trnspsrca
        | Opcode::Setashrmh
        | Opcode::Setashrmh0
        | Opcode::Setashrmh1
        | Opcode::Setashrmv => 1,
        Opcode::Movb2d | Opcode::Movb2a | Opcode::Trnspsrcb | Opcode::Shiftxb | Opcode::Rareb => 2,
        Opcode::Mvmul
        | Opcode::Dotpv
        | Opcode::Gapool
        | Opcode::Gmpool
        | Opcode::Elwmul
        | Opcode::Elwadd
        | Opcode::Elwsub
        | Opcode::Mfconv3s1
        | Opcode::Conv3s1
        | Opcode::Conv3s2
        | Opcode::Apool3s1
        | Opcode::Apool3s2
        | Opcode::Mpool3s1
        | Opcode::Mpool3s2 => 3,
        _ => 0,
    }
}

/// The facts for a word; `None` if its opcode byte is not assigned.
#[inline]
pub(crate) fn decode(word: u32) -> Option<&'static Decoded> {
    TABLE[(word >> 24) as usize].as_ref()
}
