//! Any bytes as what a gdb client says: answered or dropped, never a panic, and the session ends as it does
//! unobserved.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, OnceLock};

use debugger::monitor::Monitor;
use debugger::recording::{Code, End, Stage};
use debugger::{Machine, Naming, Party, Recording, server};
use gdbstub::conn::{Connection, ConnectionExt};
use isa::asm::{addi, j, lui, sw};
use sim_core::engine::EngineKind;
use sim_core::{Cycle, NullObserver};
use tile::{Stop, Tile, TileConfig};

/// SOFT_RESET_0, and its value with BRISC released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u32 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;

struct Said(VecDeque<u8>);

impl Connection for Said {
    type Error = io::Error;

    fn write(&mut self, _: u8) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ConnectionExt for Said {
    fn read(&mut self) -> io::Result<u8> {
        self.0.pop_front().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.0.front() {
            Some(byte) => Ok(Some(*byte)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn recording() -> &'static Arc<Recording> {
    static RECORDING: OnceLock<Arc<Recording>> = OnceLock::new();
    RECORDING.get_or_init(|| {
        let config = TileConfig { engine: EngineKind::Inline, ..TileConfig::default() };
        let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
        for (addr, word) in
            (0..).step_by(4).zip([lui(4, 0x2_0000), addi(5, 5, 1), sw(5, 4, 0), j(-8)])
        {
            tile.host_write_word(addr, word).expect("L1 is mapped");
        }
        tile.host_write_word(SOFT_RESET_0, BRISC).expect("it is a register");
        let first = tile.snapshot(None);
        while tile.now() < Cycle(2_000) {
            if let Stop::Quiescent(_) = tile.run(Cycle(2_000), None) {
                tile.pass_time(Cycle(2_000));
            }
        }
        let stages =
            vec![Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() }];
        Arc::new(Recording {
            place: (0, 0),
            number: 0,
            config,
            first,
            inputs: Vec::new(),
            stages,
            until: tile.now(),
            end: End::Limit,
            hash: tile.state_hash(),
        })
    })
}

/// One input.
pub(crate) fn feed(bytes: &[u8]) {
    let recording = recording();
    let machine = Machine::new(Arc::clone(recording)).expect("memory");
    let party = Party::new(vec![machine], Cycle(1_000));
    let monitor = Monitor::new(Naming::of_session(), String::new);
    let client = Said(bytes.iter().copied().collect());
    let (mut party, _, _) = server::serve(party, monitor, client);
    party.go_to(recording.until);
    assert_eq!(party.tile(0).machine_mut().state_hash(), recording.hash);
}
