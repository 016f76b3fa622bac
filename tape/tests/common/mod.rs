//! Calls that own their bytes, and tapes of them.

#![allow(dead_code, reason = "each test uses its part")]

use std::path::Path;

use proptest::prelude::*;
use tape::{Call, Header, Options, Tape, TapeWriter};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Owned {
    call: Call<'static>,
    bytes: Vec<u8>,
}

impl Owned {
    pub(crate) fn of(call: &Call<'_>) -> Self {
        let (call, bytes) = match *call {
            Call::MemRead { paddr, bytes } => (Call::MemRead { paddr, bytes: &[] }, bytes),
            Call::MemWrite { paddr, bytes } => (Call::MemWrite { paddr, bytes: &[] }, bytes),
            Call::DmaRead { paddr, bytes } => (Call::DmaRead { paddr, bytes: &[] }, bytes),
            Call::DmaWrite { paddr, bytes } => (Call::DmaWrite { paddr, bytes: &[] }, bytes),
            Call::TileRead { x, y, addr, bytes } => {
                (Call::TileRead { x, y, addr, bytes: &[] }, bytes)
            }
            Call::TileWrite { x, y, addr, bytes } => {
                (Call::TileWrite { x, y, addr, bytes: &[] }, bytes)
            }
            Call::Init => (Call::Init, &[][..]),
            Call::Exit => (Call::Exit, &[][..]),
            Call::ConfigRead { bdf, offset, value } => {
                (Call::ConfigRead { bdf, offset, value }, &[][..])
            }
            Call::ConfigWrite { bdf, offset, value } => {
                (Call::ConfigWrite { bdf, offset, value }, &[][..])
            }
            Call::Clock { clocks } => (Call::Clock { clocks }, &[][..]),
            Call::Rest { cycles } => (Call::Rest { cycles }, &[][..]),
            Call::SetMemory { read, write } => (Call::SetMemory { read, write }, &[][..]),
            Call::State { cycle, hash } => (Call::State { cycle, hash }, &[][..]),
        };
        Self { call, bytes: bytes.to_vec() }
    }

    pub(crate) fn call(&self) -> Call<'_> {
        let bytes = self.bytes.as_slice();
        match self.call {
            Call::MemRead { paddr, .. } => Call::MemRead { paddr, bytes },
            Call::MemWrite { paddr, .. } => Call::MemWrite { paddr, bytes },
            Call::DmaRead { paddr, .. } => Call::DmaRead { paddr, bytes },
            Call::DmaWrite { paddr, .. } => Call::DmaWrite { paddr, bytes },
            Call::TileRead { x, y, addr, .. } => Call::TileRead { x, y, addr, bytes },
            Call::TileWrite { x, y, addr, .. } => Call::TileWrite { x, y, addr, bytes },
            other => other,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// What comes back: rests with nothing in between are one while the sum is a multiple of 16.
pub(crate) fn canonical(calls: &[Owned]) -> Vec<Owned> {
    let mut all: Vec<Owned> = Vec::new();
    for call in calls {
        if let (Call::Rest { cycles }, Some(last)) = (call.call, all.last_mut())
            && let Call::Rest { cycles: sum } = &mut last.call
            && *sum % 16 == 0
            && let Some(both) = sum.checked_add(cycles)
        {
            *sum = both;
        } else {
            all.push(call.clone());
        }
    }
    all
}

pub(crate) fn header() -> Header {
    Header {
        settings: vec![("TILESCOPE_EPOCH".into(), "8".into())],
        program: vec!["host".into(), "--flag".into()],
        directory: "/somewhere".into(),
        pid: 77,
        version: "0.1.0".into(),
        environment: vec![("HOME".into(), "/root".into()), ("EMPTY".into(), String::new())],
    }
}

pub(crate) fn create(path: &Path) -> TapeWriter {
    TapeWriter::create(path, &header(), &Options::default()).expect("a tape can be created")
}

/// All calls, or those before an error.
pub(crate) fn read_all(tape: &Tape) -> (Vec<Owned>, Option<String>) {
    let (mut all, mut calls) = (Vec::new(), tape.calls());
    loop {
        match calls.next() {
            Ok(Some(call)) => all.push(Owned::of(&call)),
            Ok(None) => return (all, None),
            Err(error) => return (all, Some(error.to_string())),
        }
    }
}

pub(crate) fn read(path: &Path) -> Vec<Owned> {
    let (calls, error) = read_all(&Tape::open(path).expect("a tape can be read"));
    assert_eq!(error, None);
    calls
}

/// The first place where two sequences differ.
pub(crate) fn assert_same(got: &[Owned], expected: &[Owned]) -> Result<(), TestCaseError> {
    let same = got.iter().zip(expected).take_while(|(got, expected)| got == expected).count();
    let show = |all: &[Owned]| {
        let call = all.get(same);
        call.map(|Owned { call, bytes }| format!("{call:?} {:x?}", &bytes[..bytes.len().min(16)]))
    };
    prop_assert!(
        got == expected,
        "call {same} of {} and {}: {:?} instead of {:?}",
        got.len(),
        expected.len(),
        show(got),
        show(expected)
    );
    Ok(())
}

/// Few different addresses and payloads, so that much repeats.
pub(crate) fn call() -> impl Strategy<Value = Owned> {
    let bytes = prop_oneof![
        5 => (0_u8..3, 0_usize..9).prop_map(|(byte, size)| vec![byte; size]),
        2 => (0_u8..3, 9_usize..64).prop_map(|(byte, size)| vec![byte; size]),
        2 => (0_u8..3, 64_usize..900).prop_map(|(byte, size)| vec![byte; size]),
        1 => prop::collection::vec(any::<u8>(), 0..300),
    ];
    let small = || prop_oneof![4 => 0_u32..3, 1 => any::<u32>()];
    let address =
        || prop_oneof![4 => (0_u64..3).prop_map(|at| 1 << 32 | at << 4), 1 => any::<u64>()];
    let cycles = prop_oneof![
        3 => (0_u64..5).prop_map(|n| n * 16),
        1 => 0_u64..40,
        // A sum of more than 64 bits depends on where it is flushed, and on no machine.
        1 => any::<u64>().prop_map(|cycles| cycles >> 20),
    ];
    let plain = prop_oneof![
        1 => Just(Call::Init),
        1 => Just(Call::Exit),
        4 => (0_u32..3).prop_map(|clocks| Call::Clock { clocks }),
        4 => cycles.prop_map(|cycles| Call::Rest { cycles }),
        1 => (small(), small(), small())
            .prop_map(|(bdf, offset, value)| Call::ConfigRead { bdf, offset, value }),
        1 => (small(), small(), small())
            .prop_map(|(bdf, offset, value)| Call::ConfigWrite { bdf, offset, value }),
        1 => any::<(bool, bool)>().prop_map(|(read, write)| Call::SetMemory { read, write }),
        1 => any::<(u64, u64)>().prop_map(|(cycle, hash)| Call::State { cycle, hash }),
        3 => address().prop_map(|paddr| Call::MemRead { paddr, bytes: &[] }),
        3 => address().prop_map(|paddr| Call::MemWrite { paddr, bytes: &[] }),
        1 => address().prop_map(|paddr| Call::DmaRead { paddr, bytes: &[] }),
        1 => address().prop_map(|paddr| Call::DmaWrite { paddr, bytes: &[] }),
        1 => (small(), small(), address())
            .prop_map(|(x, y, addr)| Call::TileRead { x, y, addr, bytes: &[] }),
        1 => (small(), small(), address())
            .prop_map(|(x, y, addr)| Call::TileWrite { x, y, addr, bytes: &[] }),
    ];
    (plain, bytes).prop_map(|(call, bytes)| {
        let has_bytes = matches!(
            call,
            Call::MemRead { .. }
                | Call::MemWrite { .. }
                | Call::DmaRead { .. }
                | Call::DmaWrite { .. }
                | Call::TileRead { .. }
                | Call::TileWrite { .. }
        );
        Owned { call, bytes: if has_bytes { bytes } else { Vec::new() } }
    })
}

/// Sequences in which stretches come again, with single calls in between.
pub(crate) fn calls() -> impl Strategy<Value = Vec<Owned>> {
    let stretch = (prop::collection::vec(call(), 1..8), 1_usize..30);
    prop::collection::vec((stretch, prop::collection::vec(call(), 0..3), 0_usize..4), 1..12)
        .prop_map(|stretches| {
            let mut all: Vec<Owned> = Vec::new();
            for ((stretch, times), singles, back) in stretches {
                (0..times).for_each(|_| all.extend(stretch.iter().cloned()));
                all.extend(singles);
                // Once more what came a while ago.
                let from = all.len().saturating_sub(back * 40);
                all.extend_from_within(from..all.len() - back.min(1) * (all.len() - from) / 3);
            }
            all
        })
}
