//! Programs for the coprocessor made of bytes: what the three TRISCs push and store is what somebody
//! could mean, over all units, and reaches data rather than the first mistake.
//!
//! Bytes are read from the front until none is left, so that a fuzzer can grow and cut a program.
//! Modes that do not exist are still hit; with every check lowered ([`every_check`]) the coprocessor
//! goes on behind them.

use isa::asm::{j, li, sw};
use isa::config::{ALL, ConfigField, Scope, field};
use isa::op::{Opcode, ROWS, Unit};
use tensix::Warned;

/// Window of a TRISC onto its thread's instruction FIFO, and the configuration.
const PUSH: u32 = 0xFFE4_0000;
const CONFIG: u32 = 0xFFEF_0000;
/// Most instructions and stores per thread, so that a program ends in a few thousand cycles.
const STEPS: usize = 60;

/// All checks of the coprocessor as warnings.
pub(crate) fn every_check() -> Warned {
    tensix::checks::CHECKS.iter().fold(Warned::NONE, |set, row| set.with(row.check))
}

struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn byte(&mut self) -> u32 {
        u32::from(self.0.next().copied().unwrap_or(0))
    }

    fn word(&mut self) -> u32 {
        (0..4).fold(0, |word, _| word << 8 | self.byte())
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.byte() as usize % choices.len()]
    }
}

/// Fields that say what data are, with what is worth trying.
const FORMATS: &[(ConfigField, &[u32])] = &[
    (field::ALU_FORMAT_SPEC_REG0_SrcA, &[0, 1, 4, 5, 8, 9, 14]),
    (field::ALU_FORMAT_SPEC_REG1_SrcB, &[0, 1, 4, 5, 8, 9, 14]),
    (field::ALU_FORMAT_SPEC_REG2_Dstacc, &[0, 1, 2, 4, 5, 6, 8, 9]),
    (field::ALU_ACC_CTRL_Fp32_enabled, &[0, 1]),
    (field::ALU_ACC_CTRL_INT8_math_enabled, &[0, 0, 1]),
    (field::ALU_ACC_CTRL_SFPU_Fp32_enabled, &[0, 1]),
    (field::THCON_SEC0_REG2_Out_data_format, &[0, 1, 2, 4, 5, 6, 10, 14]),
    (field::THCON_SEC1_REG2_Out_data_format, &[0, 1, 2, 4, 5, 6, 10, 14]),
    (field::THCON_SEC0_REG2_Unpack_If_Sel, &[0, 0, 1]),
    (field::THCON_SEC0_REG2_Tileize_mode, &[0, 0, 1]),
    (field::THCON_SEC0_REG2_Haloize_mode, &[0, 0, 1]),
    (field::THCON_SEC0_REG2_Upsample_rate, &[0, 0, 1, 2, 3]),
    (field::THCON_SEC0_REG2_Throttle_mode, &[0, 1, 2]),
    (field::THCON_SEC0_REG1_In_data_format, &[0, 1, 2, 4, 5, 6, 8, 9, 14]),
    (field::THCON_SEC0_REG1_Out_data_format, &[0, 1, 2, 3, 4, 5, 6, 7, 10, 14, 15]),
    (field::THCON_SEC0_REG1_Pack_L1_Acc, &[0, 0, 1]),
    (field::THCON_SEC0_REG1_Disable_zero_compress, &[0, 1, 1]),
    (field::PCK_DEST_RD_CTRL_Read_32b_data, &[0, 1]),
    (field::STACC_RELU_ApplyRelu, &[0, 1, 2, 3]),
    (field::THCON_SEC0_REG3_Base_address, &[0x2000, 0x1_7FF0, 0x400]),
    (field::THCON_SEC1_REG3_Base_address, &[0x2000, 0x1_7FF0, 0x400]),
    (field::THCON_SEC0_REG1_L1_Dest_addr, &[0x3000, 0x1_7FFC, 0x800]),
];

/// Descriptor of a tile of that format: uncompressed as a rule, 16 to 256 datums in a row, four
/// faces.
fn descriptor(bytes: &mut Bytes<'_>) -> [u32; 2] {
    let format = bytes.of(&[0, 1, 2, 4, 5, 6, 7, 8, 10, 14, 15]);
    let plain = u32::from(!bytes.byte().is_multiple_of(8));
    let width = bytes.of(&[16, 32, 256]);
    [format | plain << 4 | width << 16, 16 | 4 << 16]
}

/// Stores to configuration, as address and value.
fn configure(bytes: &mut Bytes<'_>, shadow: &mut [u32], stores: &mut Vec<(u32, u32)>) {
    let mut store = |shadow: &mut [u32], word: u32, value: u32| {
        shadow[word as usize] = value;
        stores.push((CONFIG + 4 * word, value));
    };
    match bytes.byte() % 4 {
        0 => {
            let first = bytes.of(&[
                field::THCON_SEC0_REG0_TileDescriptor.addr32,
                field::THCON_SEC1_REG0_TileDescriptor.addr32,
            ]);
            let [low, high] = descriptor(bytes);
            store(shadow, first, low);
            store(shadow, first + 1, high);
        }
        1 | 2 => {
            let (field, values) = bytes.of(FORMATS);
            let value = bytes.of(values);
            let old = shadow[field.addr32 as usize];
            store(shadow, field.addr32, field.insert(old, value));
        }
        _ => {
            let any: Vec<&ConfigField> = ALL
                .iter()
                .filter(|field| field.scope == Scope::Config && field.width < 9)
                .collect();
            let field = any[bytes.word() as usize % any.len()];
            let old = shadow[field.addr32 as usize];
            store(shadow, field.addr32, field.insert(old, bytes.byte()));
        }
    }
}

/// An instruction of any unit, all units alike; those that wait for somebody are rare.
fn instruction(bytes: &mut Bytes<'_>) -> u32 {
    let unit = bytes.of(&[
        Unit::Unpacker,
        Unit::Matrix,
        Unit::Matrix,
        Unit::Vector,
        Unit::Vector,
        Unit::Packer,
        Unit::Scalar,
        Unit::Config,
        Unit::Misc,
        Unit::Sync,
        Unit::Mover,
        Unit::Frontend,
    ]);
    let waits = |opcode: Opcode| {
        matches!(
            opcode,
            Opcode::Atgetm
                | Opcode::Semwait
                | Opcode::Streamwait
                | Opcode::Stallwait
                | Opcode::Atcas
                | Opcode::Atincgetptr
        )
    };
    let patient = bytes.byte().is_multiple_of(16);
    let rows: Vec<_> =
        ROWS.iter().filter(|row| row.unit == unit && (patient || !waits(row.opcode))).collect();
    let row = rows[bytes.byte() as usize % rows.len()];
    let arguments = match bytes.byte() % 4 {
        0 => 0,
        1 => bytes.byte(),
        2 => bytes.word() & bytes.word() & bytes.word(),
        _ => bytes.word() & bytes.word(),
    };
    (row.opcode as u32) << 24 | arguments & 0x00FF_FFFF
}

/// What the source banks are given with, so that not everybody waits for them.
const SETDVALID: u32 = (Opcode::Setdvalid as u32) << 24 | 3;

/// Code for BRISC, which does nothing, and for the three TRISCs.
pub(crate) fn programs(input: &[u8]) -> Vec<Vec<u32>> {
    let thirds = input.chunks(input.len().div_ceil(3).max(1));
    let mut all = vec![vec![j(0)]];
    for third in thirds.chain([&[][..]; 3]).take(3) {
        let mut bytes = Bytes(third.iter());
        let mut shadow = [0; isa::config::CONFIG_WORDS as usize];
        let mut stores = Vec::new();
        while bytes.0.len() != 0 && stores.len() < STEPS {
            match bytes.byte() % 8 {
                0..3 => configure(&mut bytes, &mut shadow, &mut stores),
                3 => stores.push((PUSH, SETDVALID)),
                _ => stores.push((PUSH, instruction(&mut bytes))),
            }
        }
        let mut words = Vec::new();
        for (address, value) in stores {
            words.extend(li(5, address));
            words.extend(li(6, value));
            words.push(sw(6, 5, 0));
        }
        words.push(j(0));
        all.push(words);
    }
    all
}
