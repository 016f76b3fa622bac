//! The groups: inputs from a fixed seed, instructions, and what the model says of the result.

use isa::config::field;
use serde_json::{Value, json};

use crate::model;
use crate::program::{self, GPRS, INPUT, LIST, List, OUT, SEMAPHORES, format};

/// Datums of a face.
const FACE: usize = 256;

/// A generator of numbers.
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    /// A BF16 with an exponent within `spread` of 1.0's; now and then zero or any bits.
    fn bf16(&mut self, spread: u32, any: bool) -> u16 {
        let bits = self.next();
        match self.below(24) {
            0 => (bits & 0x8000) as u16,
            1 | 2 if any => bits as u16,
            _ => (bits & 0x807F | (127 - spread / 2 + self.below(spread)) << 7) as u16,
        }
    }

    fn face(&mut self, spread: u32, any: bool) -> Vec<u16> {
        (0..FACE).map(|_| self.bf16(spread, any)).collect()
    }
}

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

fn halves(values: &[u16]) -> String {
    hex(values.iter().flat_map(|value| value.to_le_bytes()))
}

fn words(values: &[u32]) -> String {
    hex(values.iter().flat_map(|value| value.to_le_bytes()))
}

/// A vector: input bytes, the list, expected bytes.
fn vector(name: &str, inputs: &[(u32, String)], list: List, expect: &[(u32, String)]) -> Value {
    let list = (LIST, words(&list.words()));
    let inputs: Vec<_> = inputs.iter().chain([&list]).collect();
    json!({ "name": name, "l1_init": inputs, "scripts": { "t0": [] }, "expect": expect })
}

fn group(name: &str, vectors: impl Iterator<Item = Value>) -> Value {
    let vectors: Vec<_> = vectors.collect();
    let code: Vec<_> = program::code().into_iter().map(|(at, code)| (at, words(&code))).collect();
    json!({ "format": 1, "group": name, "code": code, "vectors": vectors })
}

/// All groups.
pub(crate) fn all() -> Vec<Value> {
    vec![elwadd(), elwmul(), mvmul(), sfpu(), pack(), convert(), scalar(), sync(), counters()]
}

fn bf16_face(list: &mut List) {
    program::set_up(list, format::BF16, format::BF16, format::BF16, format::BF16);
}

/// Two faces in, one out, all BF16.
fn binary(name: &str, a: &[u16], b: &[u16], body: impl Fn(&mut List), expect: &[u16]) -> Value {
    let mut list = List::default();
    bf16_face(&mut list);
    program::unpack(&mut list, true);
    body(&mut list);
    program::pack(&mut list, (expect.len() / 64) as u32);
    let packed: Vec<u16> = expect.iter().map(|&bits| model::packed(bits)).collect();
    let inputs = [(INPUT, halves(a)), (INPUT + 0x1000, halves(b))];
    vector(name, &inputs, list, &[(OUT, halves(&packed))])
}

fn elwadd() -> Value {
    let mut random = Random(101);
    let vectors = (0..40).map(|index| {
        let (subtract, spread) = (index % 2 == 1, 2 + index * 3);
        let (a, b) = (random.face(spread, true), random.face(spread, true));
        let expect: Vec<u16> =
            a.iter().zip(&b).map(|(&a, &b)| model::add(a, b, subtract)).collect();
        let opcode = if subtract { 0x30 } else { 0x28 };
        let body = |list: &mut List| {
            list.push(opcode, 2 << 14);
            list.push(opcode, 3 << 22 | 3 << 14 | 8);
        };
        binary(&format!("own_elwadd/{index}"), &a, &b, body, &expect)
    });
    group("own_elwadd", vectors)
}

fn elwmul() -> Value {
    let mut random = Random(202);
    let vectors = (0..32).map(|index| {
        let phases = 1 + index % 4;
        let (a, b) = (random.face(40, true), random.face(40, true));
        let expect: Vec<u16> = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| (0..phases).fold(0, |dst, phase| model::multiply(a, b, phase, dst)))
            .collect();
        let body = |list: &mut List| {
            for (rows, after, clear) in [(0, 2, 0), (8, 3, 3)] {
                for phase in 0..phases {
                    let last = phase + 1 == phases;
                    let (modifier, clear) = if last { (after, clear) } else { (1, 0) };
                    list.push(0x27, clear << 22 | modifier << 14 | rows);
                }
            }
        };
        binary(&format!("own_elwmul/{index}"), &a, &b, body, &expect)
    });
    group("own_elwmul", vectors)
}

fn mvmul() -> Value {
    let mut random = Random(303);
    let vectors = (0..32).map(|index| {
        let phases = 1 + index % 4;
        let spread = [4, 12, 40, 100][index as usize / 4 % 4];
        let (a, b) = (random.face(spread, true), random.face(spread, true));
        // Dst[i][j] += sum over k of SrcB[i][k] SrcA[k][j].
        let element = |at: usize| {
            let (i, j) = (at / 16, at % 16);
            let pairs: Vec<_> = (0..16).map(|k| (a[16 * k + j], b[16 * i + k])).collect();
            (0..phases).fold(0, |dst, phase| model::dot(&pairs, phase, dst))
        };
        let expect: Vec<u16> = (0..FACE).map(element).collect();
        let body = |list: &mut List| {
            for (rows, after, clear) in [(0, 4, 0), (8, 3, 3)] {
                for phase in 0..phases {
                    let last = phase + 1 == phases;
                    let (modifier, clear) = if last { (after, clear) } else { (1, 0) };
                    list.push(0x26, clear << 22 | modifier << 14 | rows);
                }
            }
        };
        binary(&format!("own_mvmul/{index}"), &a, &b, body, &expect)
    });
    group("own_mvmul", vectors)
}

/// Name, opcode, operands, meaning.
type Lanewise = (&'static str, u32, u32, fn(u16, u16) -> u16);

/// Operand registers of the vector unit: LReg 0 holds x, LReg 1 y; the result goes to LReg 2.
fn sfpu_operations() -> Vec<Lanewise> {
    vec![
        // a lo 16, b lo 12, c lo 8, d lo 4; 9 is 0.0 and 10 is 1.0.
        ("mad", 0x84, 1 << 12 | 2 << 4, |x, y| {
            model::stored(model::number(x) * model::number(y) + model::number(x))
        }),
        ("mul", 0x86, 1 << 12 | 9 << 8 | 2 << 4, |x, y| {
            model::stored(model::number(x) * model::number(y))
        }),
        ("add", 0x85, 10 << 16 | 1 << 8 | 2 << 4, |x, y| {
            model::stored(model::number(x) + model::number(y))
        }),
        ("abs", 0x7D, 2 << 4 | 1, |x, _| x & 0x7FFF),
        ("mov", 0x7C, 2 << 4, |x, _| x),
        ("negate", 0x7C, 2 << 4 | 1, |x, _| x ^ 0x8000),
    ]
}

fn sfpu() -> Value {
    let mut random = Random(404);
    let mut vectors = Vec::new();
    for (name, opcode, operands, function) in sfpu_operations() {
        for index in 0..8 {
            // Exponents for which a host double holds every result exactly.
            let (x, y) = (random.face(12, false), random.face(12, false));
            let nonzero = |bits: &u16| if bits & 0x7F80 == 0 { 0x3F80 } else { *bits };
            let x: Vec<u16> = x.iter().map(nonzero).collect();
            let y: Vec<u16> = y.iter().map(nonzero).collect();
            let expect: Vec<u16> = x.iter().zip(&y).map(|(&x, &y)| function(x, y)).collect();
            let mut list = List::default();
            bf16_face(&mut list);
            list.config(76, INPUT / 16 - 1);
            program::unpack(&mut list, false);
            program::move_to_dst(&mut list, 0);
            list.push(0xA2, 8 << 15 | 2); // the next unpack has the next base address
            list.config(76, (INPUT + 0x1000) / 16 - 1);
            program::unpack(&mut list, false);
            program::move_to_dst(&mut list, 16);
            list.push(0xA2, 0x100 << 15 | 0x10);
            list.push(0x8A, 3 << 12 | 10); // SFPENCC: all lanes
            for row in (0..16).step_by(2) {
                list.push(0x70, 2 << 16 | 7 << 13 | row);
                list.push(0x70, 1 << 20 | 2 << 16 | 7 << 13 | (row + 16));
                list.push(opcode, operands);
                list.push(0x8F, 0);
                list.push(0x72, 2 << 20 | 2 << 16 | 7 << 13 | row);
            }
            program::pack(&mut list, 4);
            let packed: Vec<u16> = expect.iter().map(|&bits| model::packed(bits)).collect();
            let inputs = [(INPUT, halves(&x)), (INPUT + 0x1000, halves(&y))];
            let name = format!("own_sfpu/{name}/{index}");
            vectors.push(vector(&name, &inputs, list, &[(OUT, halves(&packed))]));
        }
    }
    group("own_sfpu", vectors.into_iter())
}

/// One face through Dst.
fn through_dst(list: &mut List) {
    program::unpack(list, false);
    program::move_to_dst(list, 0);
    program::pack(list, 4);
}

fn pack() -> Value {
    let mut random = Random(505);
    let mut vectors = Vec::new();
    for index in 0..40_u32 {
        let x = random.face(16, index % 2 == 0);
        let (mode, threshold) = (index % 4, 0x3F00 + random.below(0x180) as u16);
        // Edge mask: columns whose bit is clear are zero.
        let mask = if index % 5 == 4 { random.below(0x1_0000) } else { 0xFFFF };
        let accumulate = index >= 28;
        let old: Vec<u16> = random.face(16, false);
        // Ordinary numbers only, where sums are compared.
        let tamed = |&bits: &u16| if accumulate { 0x3F80 ^ bits & 0x80FF } else { bits };
        let x: Vec<u16> = x.iter().map(tamed).collect();
        let expect: Vec<u16> = x
            .iter()
            .enumerate()
            .map(|(at, &bits)| {
                let masked = mask >> (at % 16) & 1 == 0;
                let bits = if masked { 0 } else { model::packed(model::moved(bits)) };
                let value = model::relu(bits, mode, threshold);
                if accumulate { model::accumulated(old[at], value) } else { value }
            })
            .collect();
        let mut list = List::default();
        bf16_face(&mut list);
        list.config(2, u32::from(threshold) << 6 | mode << 2);
        for section in 0..4 {
            list.config(24 + section, mask);
        }
        list.config(71, u32::from(accumulate) << 19);
        through_dst(&mut list);
        let inputs = [(INPUT, halves(&x)), (OUT, halves(&old))];
        let name = format!("own_pack/{index}");
        vectors.push(vector(&name, &inputs, list, &[(OUT, halves(&expect))]));
    }
    group("own_pack", vectors.into_iter())
}

/// A face through Dst: formats in L1, in SrcA, of Dst for the packer, in L1 again.
fn converted(
    index: u32,
    kind: &str,
    [from, src, dst, to]: [u32; 4],
    input: String,
    expect: (u32, String),
) -> Value {
    let mut list = List::default();
    program::set_up(&mut list, from, src, dst, to);
    through_dst(&mut list);
    vector(&format!("own_convert/{kind}/{index}"), &[(INPUT, input)], list, &[expect])
}

fn convert() -> Value {
    let mut random = Random(606);
    let mut vectors = Vec::new();
    for index in 0..12 {
        // FP32 in L1, BF16 in SrcA, Dst and L1.
        let x: Vec<u32> = (0..FACE).map(|_| random.next()).collect();
        let to_bf16 = |&bits: &u32| model::packed(model::moved(model::unpacked_bf16(bits)));
        let expect: Vec<u16> = x.iter().map(to_bf16).collect();
        let formats = [format::FP32, format::BF16, format::BF16, format::BF16];
        let kind = "fp32_bf16";
        vectors.push(converted(index, kind, formats, words(&x), (OUT, halves(&expect))));

        // BF16 to FP32 in the packer.
        let x = random.face(60, true);
        let wide = |&bits: &u16| u32::from(model::packed(model::moved(bits))) << 16;
        let expect: Vec<u32> = x.iter().map(wide).collect();
        let formats = [format::BF16, format::BF16, format::BF16, format::FP32];
        let kind = "bf16_fp32";
        vectors.push(converted(index, kind, formats, halves(&x), (OUT, words(&expect))));

        // FP16 to FP32.
        let x: Vec<u16> = (0..FACE).map(|_| random.next() as u16).collect();
        let expect: Vec<u32> = x.iter().map(|&bits| model::widened(bits)).collect();
        let formats = [format::FP16, format::FP16, format::FP16, format::FP32];
        let kind = "fp16_fp32";
        vectors.push(converted(index, kind, formats, halves(&x), (OUT, words(&expect))));

        // FP8 E5M2, which is the upper half of an FP16, and back.
        let x: Vec<u8> = (0..FACE).map(|_| random.next() as u8).collect();
        let expect: Vec<u8> =
            x.iter().map(|&byte| if byte & 0x7C == 0 { 0 } else { byte }).collect();
        let formats = [format::FP8, format::FP8, format::FP16, format::FP8];
        let kind = "fp8";
        // Data of eight-bit formats follow one unit of 16 bytes for exponents.
        let expect = (OUT + 16, hex(expect));
        vectors.push(converted(index, kind, formats, hex(x), expect));

        // BFP8: sixteen exponents, then the datums.
        let exponents: Vec<u8> = (0..16).map(|_| 100 + random.below(50) as u8).collect();
        let datums: Vec<u8> = (0..FACE).map(|_| random.next() as u8).collect();
        let unpacked = |at: usize| model::of_bfp8(datums[at], exponents[at / 16]);
        let x: Vec<u16> = (0..FACE).map(|at| model::packed(model::moved(unpacked(at)))).collect();
        let bytes = hex(exponents.iter().chain(&datums).copied());
        let formats = [format::BFP8, format::BFP8, format::BF16, format::BF16];
        let kind = "bfp8_bf16";
        vectors.push(converted(index, kind, formats, bytes, (OUT, halves(&x))));

        let x = random.face(1 + 3 * index, false);
        let moved: Vec<u16> = x.iter().map(|&bits| model::moved(bits)).collect();
        let blocks: Vec<_> = moved.chunks(16).map(model::to_bfp8).collect();
        let exponents = blocks.iter().map(|block| block.0);
        let bytes = hex(exponents.chain(blocks.iter().flat_map(|block| block.1.clone())));
        let formats = [format::BF16, format::BF16, format::BFP8, format::BFP8];
        let kind = "bf16_bfp8";
        vectors.push(converted(index, kind, formats, halves(&x), (OUT, bytes)));
    }
    group("own_convert", vectors.into_iter())
}

/// Opcode, mode, meaning.
type Scalar = (u32, u32, fn(u32, u32) -> u32);

/// The two-operand scalar instructions: opcode, mode, meaning `[isa-wh: ADDDMAREG.md ...]`.
fn scalar_operations() -> Vec<Scalar> {
    vec![
        (0x58, 0, u32::wrapping_add),
        (0x59, 0, u32::wrapping_sub),
        (0x5A, 0, |a, b| (a & 0xFFFF) * (b & 0xFFFF)),
        (0x5B, 0, |a, b| a & b),
        (0x5B, 1, |a, b| a | b),
        (0x5B, 2, |a, b| a ^ b),
        (0x5C, 0, |a, b| a << (b % 32)),
        (0x5C, 1, |a, b| a >> (b % 32)),
        (0x5D, 0, |a, b| u32::from(a > b)),
        (0x5D, 1, |a, b| u32::from(a < b)),
        (0x5D, 2, |a, b| u32::from(a == b)),
    ]
}

fn scalar() -> Value {
    let mut random = Random(707);
    let vectors = (0..32).map(|index| {
        let mut list = List::default();
        let mut gprs = [0_u32; 64];
        for (gpr, value) in gprs.iter_mut().enumerate() {
            *value = random.next() >> (random.below(4) * 8);
            for half in 0..2 {
                let operand = (*value >> (16 * half) & 0xFFFF) << 8 | (2 * gpr as u32 + half);
                list.push(0x45, operand);
            }
        }
        let operations = scalar_operations();
        for _ in 0..40 {
            let (opcode, mode, function) = operations[random.below(11) as usize];
            let (result, left) = (random.below(64), random.below(64));
            let (constant, right) = (random.below(2), random.below(64));
            list.push(opcode, constant << 23 | mode << 18 | result << 12 | right << 6 | left);
            let value = if constant == 1 { right } else { gprs[right as usize] };
            gprs[result as usize] = function(gprs[left as usize], value);
        }
        vector(&format!("own_scalar/{index}"), &[], list, &[(GPRS, words(&gprs))])
    });
    group("own_scalar", vectors)
}

/// Semaphores 0 to 7: initialised, posted and taken, saturating at 15 and at 0.
fn sync() -> Value {
    let mut random = Random(808);
    let vectors = (0..16).map(|index| {
        let mut list = List::default();
        let mut values = [0_u32; 8];
        for (semaphore, value) in values.iter_mut().enumerate() {
            *value = random.below(16);
            list.push(0xA3, 15 << 20 | *value << 16 | 4 << semaphore);
        }
        for _ in 0..40 {
            let mask = random.below(256);
            let post = random.below(2) == 0;
            list.push(if post { 0xA4 } else { 0xA5 }, mask << 2);
            for (semaphore, value) in values.iter_mut().enumerate() {
                if mask >> semaphore & 1 == 1 {
                    *value = if post { (*value + 1).min(15) } else { value.saturating_sub(1) };
                }
            }
        }
        vector(&format!("own_sync/{index}"), &[], list, &[(SEMAPHORES, words(&values))])
    });
    group("own_sync", vectors)
}

/// Z of the packers beyond 255: rows of Dst one by one, with and without an increment.
fn counters() -> Value {
    let mut random = Random(909);
    let vectors = (0..16).map(|index| {
        let x = random.face(16, false);
        let mut list = List::default();
        bf16_face(&mut list);
        list.config(field::PCK0_ADDR_CTRL_ZW_REG_0_Zstride.addr32, 32);
        list.thread(field::ADDR_MOD_PACK_SEC1_YsrcIncr.addr32, 1 << 12);
        // Eight rows of the face hold Z and the seven after it, all others are zero.
        let first = 16 * (15 + random.below(48));
        let mut z = first + random.below(8);
        list.push(0x50, 4 << 21 | 2 << 18 | z); // SETADC
        program::unpack(&mut list, false);
        program::move_to_dst(&mut list, first);
        list.push(0xA2, 4 << 15 | 0x810); // STALLWAIT
        let mut rows = Vec::new();
        for step in 0..8 {
            rows.push(z);
            // Address modifier 1 advances Z, 2 nothing.
            let advance = random.below(2);
            list.push(0x41, (2 - advance) << 15 | 1 << 8 | u32::from(step == 7));
            z += advance;
        }
        let expect: Vec<u16> = rows
            .iter()
            .flat_map(|row| &x[16 * (row - first) as usize..][..16])
            .map(|&bits| model::packed(model::moved(bits)))
            .collect();
        let name = format!("own_counters/{index}");
        vector(&name, &[(INPUT, halves(&x))], list, &[(OUT, halves(&expect))])
    });
    group("own_counters", vectors)
}
