//! Whatever a client says, the server answers or drops it: random packets, well-formed and not, in any order. It
//! never panics, never hangs, and the session ends as it does unobserved.

#[path = "../../tile/tests/bare/mod.rs"]
mod bare;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, OnceLock};

use debugger::monitor::Monitor;
use debugger::recording::{Code, End, Stage};
use debugger::{Machine, Naming, Party, Recording, server};
use gdbstub::conn::{Connection, ConnectionExt};
use isa::asm::{addi, j, lui, lw, sw};
use proptest::prelude::*;
use sim_core::engine::EngineKind;
use sim_core::{Cycle, NullObserver};
use tile::{Stop, Tile, TileConfig};

/// A client that has said all it will say, and then is gone.
struct Said {
    bytes: VecDeque<u8>,
    answered: usize,
}

impl Connection for Said {
    type Error = io::Error;

    fn write(&mut self, _: u8) -> io::Result<()> {
        self.answered += 1;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ConnectionExt for Said {
    fn read(&mut self) -> io::Result<u8> {
        self.bytes.pop_front().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.bytes.front() {
            Some(byte) => Ok(Some(*byte)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Two cores that store and load, for a while.
fn recording() -> &'static Arc<Recording> {
    static RECORDING: OnceLock<Arc<Recording>> = OnceLock::new();
    RECORDING.get_or_init(|| {
        let config = TileConfig { engine: EngineKind::Inline, ..TileConfig::default() };
        let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
        let program =
            |step| vec![lui(4, 0x2_0000), addi(5, 5, step), sw(5, 4, 0), lw(6, 4, 0), j(-12)];
        bare::start(&mut tile, &[program(1), program(3)]);
        let first = tile.snapshot(None);
        let until = Cycle(2_000);
        while tile.now() < until {
            if let Stop::Quiescent(_) = tile.run(until, None) {
                tile.pass_time(until);
            }
        }
        let stage = Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() };
        Arc::new(Recording {
            place: (0, 0),
            number: 0,
            config,
            first,
            inputs: Vec::new(),
            stages: vec![stage],
            until: tile.now(),
            end: End::Limit,
            hash: tile.state_hash(),
        })
    })
}

fn packet(body: &str) -> Vec<u8> {
    let sum = body.bytes().fold(0, u8::wrapping_add);
    format!("+${body}#{sum:02x}").into_bytes()
}

fn monitor_command() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "help",
        "why",
        "when",
        "goto",
        "who",
        "next",
        "from",
        "state",
        "semaphores",
        "cbs",
        "mailboxes",
        "gates",
        "tiles",
        "dst",
        "srca",
        "srcb",
        "lreg",
        "config",
        "s",
        "g",
        "",
    ]);
    let arguments = prop_oneof![
        Just(String::new()),
        "[ -~]{0,20}",
        (0_u32..2200).prop_map(|cycle| cycle.to_string()),
        prop::sample::select(vec![
            "0x20000",
            "semaphore3",
            "dst:3.2",
            "srca0:1",
            "lreg2",
            "T1:r5",
            "BRISC:t0",
            "cb0",
            "end",
            "ALU_FORMAT_SPEC_REG0_SrcA",
            "noc0.NOC_CTRL",
            "0x20000 3",
        ])
        .prop_map(str::to_owned),
    ];
    (names, arguments).prop_map(|(name, arguments)| format!("{name} {arguments}"))
}

fn saying() -> impl Strategy<Value = Vec<u8>> {
    let thread = 0_u32..12;
    let addr = prop_oneof![
        Just(0x2_0000_u32),
        0_u32..0x40,
        Just(0xFFB0_0010),
        Just(0xFFB2_0000),
        any::<u32>(),
    ];
    let run = prop::sample::select(vec!["vCont;c", "c", "s", "bs", "bc"]);
    prop_oneof![
        4 => run.prop_map(packet),
        3 => thread.clone().prop_map(|thread| packet(&format!("vCont;s:{thread:x}"))),
        1 => (thread.clone(), addr.clone(), 0_u32..64).prop_map(|(thread, addr, bytes)| {
            packet(&format!("vCont;r{addr:x},{:x}:{thread:x}", addr.wrapping_add(bytes)))
        }),
        2 => (thread.clone(), prop::sample::select(vec!["g", "c"]))
            .prop_map(|(thread, what)| packet(&format!("H{what}{thread:x}"))),
        1 => thread.clone().prop_map(|thread| packet(&format!("T{thread:x}"))),
        2 => (addr.clone(), 0_u32..0x200).prop_map(|(at, bytes)| packet(&format!("m{at:x},{bytes:x}"))),
        1 => addr.clone().prop_map(|at| packet(&format!("M{at:x},1:00"))),
        2 => (0_u32..5, addr.clone(), 0_u32..9)
            .prop_map(|(kind, at, bytes)| packet(&format!("Z{kind},{at:x},{bytes:x}"))),
        1 => (0_u32..5, addr, 0_u32..9)
            .prop_map(|(kind, at, bytes)| packet(&format!("z{kind},{at:x},{bytes:x}"))),
        1 => any::<u16>().prop_map(|number| packet(&format!("p{number:x}"))),
        1 => prop::sample::select(vec![
            "?", "g", "qSupported:swbreak+;hwbreak+", "qfThreadInfo", "qsThreadInfo", "vCont?",
            "qXfer:features:read:target.xml:0,ffb", "qXfer:features:read:other.xml:0,ffb",
            "qXfer:features:read:target.xml:ffffffffffffffff,ffb", "qThreadExtraInfo,1",
            "QStartNoAckMode", "qAttached", "qC", "vMustReplyEmpty", "D", "k",
        ]).prop_map(packet),
        3 => monitor_command().prop_map(|command| {
            let hex: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
            packet(&format!("qRcmd,{hex}"))
        }),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => Just(vec![3]),
    ]
}

fn explain() -> String {
    "because\n".to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn whatever_is_said_is_survived(said in prop::collection::vec(saying(), 1..40)) {
        let recording = recording();
        let machine = Machine::new(Arc::clone(recording)).expect("memory");
        let party = Party::new(vec![machine], Cycle(1_000));
        let monitor = Monitor::new(Naming::of_session(), explain);
        let client = Said { bytes: said.concat().into(), answered: 0 };
        // How it went with the client is its affair.
        let (mut party, _, _) = server::serve(party, monitor, client);
        party.go_to(recording.until);
        prop_assert_eq!(party.tile(0).machine_mut().state_hash(), recording.hash);
    }
}
