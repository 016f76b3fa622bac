//! The schedules of the vendor's kernels with SFPLOADMACRO: what each is for comes out.
//!
//! The instructions are those that the headers in the `ttnn` wheel give
//! `[hdr: hw/ckernels/blackhole/metal/llk_api/llk_sfpu, tt-llk/tt_llk_blackhole/common/inc/sfpu]`,
//! mostly for one face of 256 datums; expected values are worked out from what a kernel computes,
//! on integers and the host's floating point. Every kernel runs with an instruction in each cycle
//! and, but for those that depend on that, with cycles in between in which nothing issues.

use isa::config::field;
use isa::encode;

use super::super::LANES;
use super::{Bench, store, template};

mod casts;
mod functions;
mod integers;
mod selection;

/// A face in the order of SFPLOAD: 32 lanes of address 0, of address 2, ... 14.
type Face = [u32; 256];

/// Modes of SFPLOAD and SFPSTORE, by the vendor's names.
const DEFAULT: u32 = 0;
const FP16B: u32 = 2;
const FP32: u32 = 3;
const INT32: u32 = 4;
const LO16: u32 = 6;
/// SFPSTORE: halves of a word exchanged.
const SWAPPED: u32 = 9;

/// Address modifiers: 7 leaves the row alone, 6 is for the next one. 3 never changes anything.
const STAY: u32 = 7;
const NEXT: u32 = 6;
const NEUTRAL: u32 = 3;

/// Sequence bytes: VB instead of VC is what the macro loads; the result or the stored register is
/// the bonus register.
const VB: u32 = 0x80;
const BONUS: u32 = 0x40;

/// Registers with constants.
const ZERO: u32 = 9;
const ONE: u32 = 10;
const MINUS_ONE: u32 = 11;

/// First address of a tile.
const fn tile(index: u32) -> u32 {
    64 * index
}

/// The instructions of a kernel.
struct Kernel {
    words: Vec<u32>,
    /// Depends on an instruction in each cycle, as replay buffers give.
    back_to_back: bool,
    /// What address modifiers 5, 6 and 7 add to the row.
    steps: [u16; 3],
}

impl Kernel {
    /// With templates as SFPCONFIG or a destination above 11 sets them.
    fn new(templates: &[u32]) -> Self {
        Self { words: templates.to_vec(), back_to_back: false, steps: [0, 2, 0] }
    }

    fn push(&mut self, word: u32) {
        self.words.push(word);
    }

    fn nops(&mut self, count: usize) {
        self.words.extend(std::iter::repeat_n(encode::sfpnop(), count));
    }

    /// A constant through L0 to a destination of SFPCONFIG.
    fn configure(&mut self, dest: u32, value: u32) {
        self.push(encode::sfploadi(value & 0xFFFF, 10, 0));
        self.push(encode::sfploadi(value >> 16, 8, 0));
        self.push(encode::sfpconfig(0, dest, 0));
    }

    /// A macro: bytes for Simple, MAD, Round and Store.
    fn sequence(&mut self, index: u32, bytes: [u32; 4]) {
        let [simple, mad, round, store] = bytes;
        self.configure(4 + index, simple | mad << 8 | round << 16 | store << 24);
    }

    fn misc(&mut self, value: u32) {
        self.push(encode::sfpconfig(1, 8, value));
    }

    fn load(&mut self, vd: u32, mode: u32, modifier: u32, address: u32) {
        self.push(encode::sfpload(address, modifier, mode, vd));
    }

    fn store(&mut self, vd: u32, mode: u32, modifier: u32, address: u32) {
        self.push(encode::sfpstore(address, modifier, mode, vd));
    }

    fn load_macro(&mut self, (index, vd): (u32, u32), mode: u32, modifier: u32, address: u32) {
        let address = address | vd >> 2;
        self.push(encode::sfploadmacro(address, modifier, mode, index << 2 | vd & 3));
    }
}

/// What Dst holds, for instructions of the default mode.
#[derive(Clone, Copy)]
enum Dst {
    /// 32 bits.
    Wide,
    /// BF16.
    Half,
}

/// 16 rows of Dst.
#[derive(Clone, Copy)]
struct Place {
    address: u32,
    mode: u32,
    /// Rows are those of the high halves of 32-bit rows.
    high: bool,
}

const fn at(address: u32, mode: u32) -> Place {
    Place { address, mode, high: false }
}

impl Place {
    fn addresses(self) -> impl Iterator<Item = u32> {
        let physical = move |row: u32| if self.high { (row & !7) * 2 + (row & 7) } else { row };
        (0..16).step_by(2).map(move |row| self.address + physical(row))
    }
}

/// Cycles without an instruction behind each instruction.
type Gap<'a> = &'a mut dyn FnMut() -> u64;

/// Runs a kernel on faces in Dst; what is then in other places.
fn run(
    kernel: &Kernel,
    dst: Dst,
    inputs: &[(Place, Face)],
    outputs: &[Place],
    gap: Gap<'_>,
) -> Vec<Face> {
    let mut bench = Bench::new();
    let state = &mut bench.config.states[0];
    match dst {
        Dst::Wide => set(state, &field::ALU_ACC_CTRL_SFPU_Fp32_enabled, 1),
        Dst::Half => set(state, &field::ALU_FORMAT_SPEC_REG1_SrcB, 5),
    }
    let modifiers = field::ADDR_MOD_DST_SEC0_DestIncr.addr32 as usize;
    bench.config.threads[1][modifiers + 5..modifiers + 8].copy_from_slice(&kernel.steps);
    bench.config.generation += 1;
    for (place, face) in inputs {
        for (address, lanes) in place.addresses().zip(face.chunks(LANES)) {
            bench.set_lreg(0, |lane| lanes[lane]);
            bench.cycle(encode::sfpstore(address, NEUTRAL, place.mode, 0));
        }
    }
    for &word in &kernel.words {
        let rows = &mut bench.matrix.rwcs[1].dst;
        match word >> 24 {
            // SETRWC, INCRWC of the matrix unit.
            0x37 => *rows = 0,
            0x38 => *rows += (word >> 14 & 0xF) as u16,
            _ => {
                bench.cycle(word);
                for _ in 0..gap() {
                    bench.idle();
                }
                continue;
            }
        }
        bench.idle();
    }
    // Delays by instruction have ended with the kernel's own instructions; those by cycle may not.
    for _ in 0..8 {
        bench.idle();
    }
    assert!(!bench.vector.is_active(), "something is still scheduled");
    bench.matrix.rwcs[1].dst = 0;
    outputs
        .iter()
        .map(|place| {
            let mut face = [0; 256];
            for (address, lanes) in place.addresses().zip(face.chunks_mut(LANES)) {
                bench.cycle(encode::sfpload(address, NEUTRAL, place.mode, 0));
                lanes.copy_from_slice(&bench.vector.file.lregs[0]);
            }
            face
        })
        .collect()
}

fn set(state: &mut [u32], field: &isa::config::ConfigField, value: u32) {
    let word = &mut state[field.addr32 as usize];
    *word = field.insert(*word, value);
}

/// Runs a kernel with all gaps that it allows and compares each datum.
fn compare(
    kernel: &Kernel,
    dst: Dst,
    inputs: &[(Place, Face)],
    outputs: &[Place],
    accept: impl Fn(usize, usize, u32) -> bool,
) {
    let mut random = Random(77);
    let mut gaps: Vec<Box<dyn FnMut() -> u64>> =
        vec![Box::new(|| 0), Box::new(|| 1), Box::new(move || u64::from(random.next() & 3))];
    if kernel.back_to_back {
        gaps.truncate(1);
    }
    for (index, gap) in gaps.iter_mut().enumerate() {
        let results = run(kernel, dst, inputs, outputs, gap);
        for (face, result) in results.iter().enumerate() {
            for (datum, &value) in result.iter().enumerate() {
                let operands: Vec<_> = inputs.iter().map(|input| input.1[datum]).collect();
                assert!(
                    accept(face, datum, value),
                    "gaps {index}, output {face}, datum {datum}: {value:#x} of {operands:#x?}"
                );
            }
        }
    }
}

/// The same for one face out, with one expected value for each datum.
fn exactly(
    kernel: &Kernel,
    dst: Dst,
    inputs: &[(Place, Face)],
    output: Place,
    expected: impl Fn(usize) -> u32,
) {
    compare(kernel, dst, inputs, &[output], |_, datum, value| value == expected(datum));
}

struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

/// Any 256 words.
fn words(seed: u32) -> Face {
    let mut random = Random(seed);
    std::array::from_fn(|_| random.next())
}

/// FP32 numbers of both signs with exponents around 1.0's.
fn floats(seed: u32) -> Face {
    words(seed).map(|bits| bits & 0x807F_FFFF | (112 + (bits >> 23 & 31)) << 23)
}

/// BF16 numbers of both signs, as FP32.
fn halves(seed: u32) -> Face {
    floats(seed).map(|bits| bits & 0xFFFF_0000)
}

fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}
