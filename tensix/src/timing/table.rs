//! The table of costs: opcodes, cycles, and where the figures are from.

use std::fmt::Write as _;

use isa::op::{Opcode, ROWS, Unit};

use super::Cost;

/// What some opcodes cost.
struct Row {
    opcodes: &'static [Opcode],
    cost: Cost,
    /// What else there is to know.
    note: &'static str,
    source: &'static str,
}

const fn row(
    opcodes: &'static [Opcode],
    cost: Cost,
    note: &'static str,
    source: &'static str,
) -> Row {
    Row { opcodes, cost, note, source }
}

const TWO_REGISTERS: &[Opcode] = &[
    Opcode::Adddmareg,
    Opcode::Subdmareg,
    Opcode::Muldmareg,
    Opcode::Bitwopdmareg,
    Opcode::Shiftdmareg,
    Opcode::Cmpdmareg,
];

/// Everything that does not cost one cycle of everything.
const ROWS_OF_COSTS: &[Row] = &[
    row(
        &[Opcode::Reg2flop, Opcode::Flushdma],
        Cost::occupying(2),
        "at least",
        "[isa-wh: TensixCoprocessor/ScalarUnit.md]",
    ),
    row(
        TWO_REGISTERS,
        Cost::occupying(3),
        "4 if the two GPRs are of different aligned groups of four",
        "[isa-wh: TensixCoprocessor/ScalarUnit.md]",
    ),
    row(
        &[
            Opcode::Loadind,
            Opcode::Storeind,
            Opcode::Loadreg,
            Opcode::Storereg,
            Opcode::Atswap,
            Opcode::Tbufcmd,
            Opcode::Rstdma,
        ],
        Cost::occupying(3),
        "at least",
        "[isa-wh: TensixCoprocessor/ScalarUnit.md]",
    ),
    row(
        &[Opcode::Atincget],
        Cost::occupying(3),
        "at least; one per 12 cycles",
        "[isa-wh: TensixCoprocessor/ATINCGET.md]",
    ),
    row(
        &[Opcode::Atcas, Opcode::Atincgetptr],
        Cost::occupying(15),
        "at least, for each attempt",
        "[isa-wh: TensixCoprocessor/ScalarUnit.md]",
    ),
    row(
        &[Opcode::Wrcfg, Opcode::Rdcfg],
        Cost::pipelined(1, 2),
        "RDCFG: at least",
        "[isa-bh: TensixCoprocessor/ConfigurationUnit.md]",
    ),
    row(
        &[Opcode::Cfgshiftmask],
        Cost::pipelined(2, 2),
        "",
        "[isa-bh: TensixCoprocessor/ConfigurationUnit.md]",
    ),
    row(
        &[Opcode::Streamwrcfg],
        Cost::pipelined(1, 5),
        "at least",
        "[isa-bh: TensixCoprocessor/ConfigurationUnit.md]",
    ),
    row(
        &[
            Opcode::Sfpmad,
            Opcode::Sfpadd,
            Opcode::Sfpmul,
            Opcode::Sfpmuli,
            Opcode::Sfpaddi,
            Opcode::Sfplut,
            Opcode::Sfplutfp32,
            Opcode::Sfpmul24,
        ],
        Cost::pipelined(1, 2),
        "what reads the result in the next cycle waits for one more, apart from the documented misses",
        "[isa-bh: TensixCoprocessor/SFPMAD.md]",
    ),
    row(
        &[Opcode::Sfpswap],
        Cost::pipelined(1, 2),
        "in the next cycle the unit takes nothing but SFPNOP",
        "[isa-wh: TensixCoprocessor/SFPSWAP.md]",
    ),
    row(
        &[Opcode::Sfpshft2, Opcode::Sfpconfig],
        Cost::pipelined(1, 2),
        "at most",
        "[isa-bh: TensixCoprocessor/VectorUnit.md]",
    ),
    row(
        &[
            Opcode::Mvmul,
            Opcode::Dotpv,
            Opcode::Gapool,
            Opcode::Gmpool,
            Opcode::Elwmul,
            Opcode::Elwadd,
            Opcode::Elwsub,
        ],
        Cost::pipelined(1, 5),
        "for four cycles nothing reads the aligned 8 rows of Dst that were written",
        "[isa-wh: TensixCoprocessor/MatrixUnit.md] [isa-bh: TensixCoprocessor/Dst.md]",
    ),
    row(&[Opcode::Shiftxb], Cost::pipelined(2, 2), "", "[isa-wh: TensixCoprocessor/SHIFTXB.md]"),
    row(
        &[Opcode::Movd2a],
        Cost::pipelined(1, 2),
        "in the next cycle the unit takes nothing but MOVD2A and MOVB2A",
        "[isa-wh: TensixCoprocessor/MOVD2A.md]",
    ),
    row(
        &[Opcode::Movd2b],
        Cost::pipelined(1, 4),
        "in the next three cycles the unit takes nothing but MOVD2B",
        "[isa-wh: TensixCoprocessor/MOVD2B.md]",
    ),
    row(
        &[Opcode::Mova2d, Opcode::Movb2d, Opcode::Movdbga2d, Opcode::Movdbgb2d],
        Cost::pipelined(1, 4),
        "in the next three cycles the unit takes nothing that reads Dst, ELWADD and ELWSUB apart",
        "[isa-wh: TensixCoprocessor/MOVA2D.md]",
    ),
    row(&[Opcode::Movb2a], Cost::pipelined(1, 4), "", "[isa-wh: TensixCoprocessor/MatrixUnit.md]"),
    row(
        &[Opcode::Unpacr],
        Cost::occupying(2),
        "for the first address; then 16, 32 or 64 bytes of L1 per cycle, by Throttle_mode and mode",
        "[isa-wh: TensixCoprocessor/UNPACR_Regular.md]",
    ),
    row(
        &[Opcode::Pacr],
        Cost::ONE,
        "64 bytes to L1 per cycle, or per five cycles if they accumulate",
        "[isa-wh: TensixTile/L1.md] [isa-bh: TensixCoprocessor/PACR.md] [unknown: U-084]",
    ),
    row(
        &[Opcode::Xmov],
        Cost::ONE,
        "the move: 8 x 16 bytes in 11 cycles, or 16 bytes per cycle of zeroes",
        "[isa-wh: TensixTile/Mover.md]",
    ),
];

const COSTS: [Cost; 256] = {
    let mut costs = [Cost::ONE; 256];
    let mut i = 0;
    while i < ROWS_OF_COSTS.len() {
        let mut j = 0;
        while j < ROWS_OF_COSTS[i].opcodes.len() {
            costs[ROWS_OF_COSTS[i].opcodes[j] as usize] = ROWS_OF_COSTS[i].cost;
            j += 1;
        }
        i += 1;
    }
    costs
};

/// The row of an opcode.
pub(super) fn cost(opcode: Opcode) -> Cost {
    COSTS[opcode as usize]
}

/// Whether the opcode reads two GPRs.
pub(super) fn reads_two_registers(opcode: Opcode) -> bool {
    opcode.unit() == Unit::Scalar && TWO_REGISTERS.contains(&opcode)
}

/// The table as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "| instructions | unit takes the next after | thread goes on after | done after | notes | source |\n\
         |---|---|---|---|---|---|\n",
    );
    for row in ROWS_OF_COSTS {
        let names: Vec<_> = row.opcodes.iter().map(|opcode| opcode.mnemonic()).collect();
        let Cost { unit, thread, latency } = row.cost;
        let (names, note, source) = (names.join(", "), row.note, row.source);
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {names} | {unit} | {thread} | {latency} | {note} | {source} |");
    }
    let count = |opcode: &Opcode| ROWS_OF_COSTS.iter().any(|row| row.opcodes.contains(opcode));
    let rest = ROWS.iter().filter(|row| !count(&row.opcode)).count();
    let _ = writeln!(page, "| the {rest} others | 1 | 1 | 1 | | pages of the units |");
    page
}
