//! Encodings as GNU as 2.40 writes them, with rd = 3, rs1 = 4, rs2 = 5, rs3 = 6.

use super::super::{FloatOp, decode};

const ENCODED: &[(u32, &str)] = &[
    (0x0052_71D3, "fadd.s"),
    (0x0852_71D3, "fsub.s"),
    (0x1052_71D3, "fmul.s"),
    (0x2052_01D3, "fsgnj.s"),
    (0x2052_11D3, "fsgnjn.s"),
    (0x2052_21D3, "fsgnjx.s"),
    (0x2852_01D3, "fmin.s"),
    (0x2852_11D3, "fmax.s"),
    (0xA052_21D3, "feq.s"),
    (0xA052_11D3, "flt.s"),
    (0xA052_01D3, "fle.s"),
    (0xE002_11D3, "fclass.s"),
    (0xC002_01D3, "fcvt.w.s"),
    (0xC012_01D3, "fcvt.wu.s"),
    (0xD002_01D3, "fcvt.s.w"),
    (0xD012_01D3, "fcvt.s.wu"),
    (0xE002_01D3, "fmv.x.w"),
    (0xF002_01D3, "fmv.w.x"),
    (0x3052_71C3, "fmadd.s"),
    (0x3052_71C7, "fmsub.s"),
    (0x3052_71CB, "fnmsub.s"),
    (0x3052_71CF, "fnmadd.s"),
    (0x0452_71D3, "fadd.h"),
    (0x0C52_71D3, "fsub.h"),
    (0x1452_71D3, "fmul.h"),
    (0x2452_01D3, "fsgnj.h"),
    (0x2452_11D3, "fsgnjn.h"),
    (0x2452_21D3, "fsgnjx.h"),
    (0x2C52_01D3, "fmin.h"),
    (0x2C52_11D3, "fmax.h"),
    (0xA452_21D3, "feq.h"),
    (0xA452_11D3, "flt.h"),
    (0xA452_01D3, "fle.h"),
    (0xE402_11D3, "fclass.h"),
    (0xC402_01D3, "fcvt.w.h"),
    (0xC412_01D3, "fcvt.wu.h"),
    (0xD402_01D3, "fcvt.h.w"),
    (0xD412_01D3, "fcvt.h.wu"),
    (0xE402_01D3, "fmv.x.h"),
    (0xF402_01D3, "fmv.h.x"),
    (0x3452_71C3, "fmadd.h"),
    (0x3452_71C7, "fmsub.h"),
    (0x3452_71CB, "fnmsub.h"),
    (0x3452_71CF, "fnmadd.h"),
    (0x4022_01D3, "fcvt.s.h"),
    (0x4402_01D3, "fcvt.h.s"),
];

#[test]
fn every_encoded_instruction_is_recognised() {
    for &(word, mnemonic) in ENCODED {
        assert_eq!(decode(word).map(FloatOp::mnemonic), Some(mnemonic), "{word:#010x}");
    }
}

#[test]
fn every_instruction_is_among_the_encoded() {
    assert_eq!(ENCODED.len(), FloatOp::ALL.len());
    for op in FloatOp::ALL {
        assert!(ENCODED.iter().any(|&(_, mnemonic)| mnemonic == op.mnemonic()), "{op:?}");
    }
}

#[test]
fn instructions_the_cores_lack_are_none() {
    let words = [
        (0x1852_71D3_u32, "fdiv.s"),
        (0x5802_71D3, "fsqrt.s"),
        (0x1C52_71D3, "fdiv.h"),
        (0x5C02_71D3, "fsqrt.h"),
        (0x0252_71D3, "fadd.d"),
        (0x4012_71D3, "fcvt.s.d"),
        (0xC022_71D3, "fcvt.l.s"),
        (0xD032_71D3, "fcvt.s.lu"),
        (0x3252_71C3, "fmadd.d"),
        (0x0052_7153 & !0x7F | 0x33, "an integer instruction"),
        (0x0042_2187, "flw"),
    ];
    for (word, name) in words {
        assert_eq!(decode(word), None, "{name}");
    }
}

#[test]
fn static_rounding_modes_are_accepted_but_for_the_reserved() {
    for mode in 0..8 {
        let accepted = !matches!(mode, 5 | 6);
        // fadd.s, fcvt.w.s, fmadd.h
        for word in [0x0052_01D3, 0xC002_01D3, 0x3452_01C3_u32] {
            assert_eq!(decode(word | mode << 12).is_some(), accepted, "{word:#010x} rm {mode}");
        }
    }
}

#[test]
fn register_files_follow_the_mnemonic() {
    for op in FloatOp::ALL {
        let parts: Vec<&str> = op.mnemonic().split('.').collect();
        let integer = |part: &str| matches!(part, "w" | "wu" | "x");
        let (writes, reads) = match parts[..] {
            ["fmv", "x", _] => (true, false),
            ["fmv", _, "x"] => (false, true),
            ["fcvt", to, from] => (integer(to), integer(from)),
            ["feq" | "flt" | "fle" | "fclass", _] => (true, false),
            _ => (false, false),
        };
        assert_eq!((op.writes_integer(), op.reads_integer()), (writes, reads), "{op:?}");
        let half = parts.contains(&"h");
        assert_eq!(op.is_half(), half, "{op:?}");
    }
}
