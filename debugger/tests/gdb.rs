//! A real client: Debian's gdb drives the server, from the command line and over its machine interface.
//! Where there is no gdb that knows RISC-V each test says that it was skipped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use debugger::monitor::Monitor;
use debugger::recording::Limits;
use debugger::{Machine, Naming, Party, Recording, script, server};
use loader::diagnose::{Setup, diagnose};
use loader::firmware::BootOptions;
use loader::names::LoadedNames;
use loader::plan::LaunchPlan;
use tile::TileConfig;

const HAZARD: &str = "../firmware-tests/hazards/A1-pipeline-starved";
const SOURCE: &str =
    include_str!("../../firmware-tests/hazards/A1-pipeline-starved/pipeline-starved.c");

/// The line of the source that has this text, from the line with `behind` on.
fn line(behind: &str, text: &str) -> usize {
    let lines = SOURCE.lines().zip(1..);
    let mut rest = lines.skip_while(|(line, _)| !line.contains(behind));
    rest.find(|(line, _)| line.contains(text)).expect("the source has it").1
}

/// A gdb that knows RISC-V.
fn gdb() -> Option<&'static str> {
    let knows = |name: &&&str| {
        let mut command = Command::new(name);
        let asked = command.args(["-nx", "-batch", "-ex", "set architecture riscv:rv32"]).output();
        asked.is_ok_and(|answer| answer.status.success() && answer.stderr.is_empty())
    };
    let found = ["gdb-multiarch", "riscv64-unknown-elf-gdb"].iter().find(knows).copied();
    if found.is_none() {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr()
            .write_all(b"skipped: no gdb that knows RISC-V; apt-get install gdb-multiarch\n");
    }
    found
}

/// A server of the plan for so many clients; at the end the session must end as it did unobserved.
struct Server {
    address: String,
    script: PathBuf,
    _dir: tempfile::TempDir,
    thread: JoinHandle<Vec<Result<(), String>>>,
}

impl Server {
    fn start(plan: &str, clients: usize) -> Self {
        let (sender, receiver) = channel();
        let plan = Path::new(HAZARD).join(plan);
        let dir = tempfile::tempdir().expect("a temporary directory");
        let to = dir.path().to_owned();
        let thread = std::thread::spawn(move || {
            let set = firmware_tests::embedded::set().expect("the embedded firmware");
            let launches = LaunchPlan::read(&plan).expect("the plan").launches;
            let (config, options) = (TileConfig::default(), BootOptions::default());
            let limits = Limits { max_cycles: 1_000_000, stop: None };
            let recording = Recording::of_plan(config, &set, &options, &launches, limits);
            let recording = Arc::new(recording.expect("the plan can be carried out"));
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            let address = listener.local_addr().expect("it is bound").to_string();
            let programs = script::programs(&set, &launches);
            let script = script::write(&to, &programs, &address).expect("files");
            let machine = Machine::new(Arc::clone(&recording)).expect("memory");
            let party = Party::new(vec![machine], recording.stages[1].began);
            let names = Naming::of_plan(LoadedNames::new(&set));
            let monitor = Monitor::new(names, move || {
                let diagnosis = diagnose(&set, &launches, &Setup::default());
                diagnosis.expect("the plan can be explained").explanation.to_string()
            });
            sender.send((address, script)).expect("the test waits for it");
            let mut outcomes = Vec::new();
            let state = serve(&listener, party, monitor, &mut outcomes, clients);
            assert_eq!(state, recording.hash, "a debugger changes nothing");
            outcomes
        });
        let (address, script) = receiver.recv().expect("the server starts");
        Self { address, script, _dir: dir, thread }
    }

    /// What became of the clients.
    fn finish(self) -> Vec<Result<(), String>> {
        self.thread.join().expect("the server ends in order")
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream
    }
}

fn serve(
    listener: &TcpListener,
    mut party: Party,
    mut monitor: Monitor,
    outcomes: &mut Vec<Result<(), String>>,
    clients: usize,
) -> u64 {
    for _ in 0..clients {
        let (client, _) = listener.accept().expect("a client");
        let outcome;
        (party, monitor, outcome) = server::serve(party, monitor, client);
        outcomes.push(outcome);
    }
    let end = party.here().machine().end();
    party.go_to(end.cycle);
    party.tile(0).machine_mut().state_hash()
}

/// What gdb says to these commands.
fn batch(gdb: &str, server: &Server, commands: &[String]) -> String {
    let mut command = Command::new(gdb);
    command.args(["-nx", "-batch", "-x"]).arg(&server.script);
    for line in commands {
        command.args(["-ex", line]);
    }
    let answer = command.output().expect("gdb runs");
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    format!("{text}\n--- stderr\n{}", String::from_utf8_lossy(&answer.stderr))
}

fn owned(commands: &[&str]) -> Vec<String> {
    commands.iter().map(|&line| line.to_owned()).collect()
}

fn assert_has(text: &str, wanted: &[&str]) {
    let mut rest = text;
    for piece in wanted {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => panic!("no {piece:?} behind what came before in:\n{text}"),
        }
    }
}

#[test]
fn gdb_breaks_in_the_kernels_of_all_five_cores() {
    let Some(gdb) = gdb() else { return };
    let mut commands = Vec::new();
    // Lines of which gdb keeps a row: of several at one address it knows the last.
    let places = [
        ("NCRISC", line("ROLE_NCRISC", "for (u32 page")),
        ("TRISC0", line("THREAD == 0", "for (u32 tile")),
        ("TRISC1", line("THREAD == 1", "for (u32 tile")),
        ("TRISC2", line("#else", "for (u32 tile")),
        ("BRISC", line("ROLE_BRISC", "for (u32 page")),
    ];
    let server = Server::start("case.toml", 1);
    for (core, line) in places {
        commands.push(format!("echo -- {core}\\n"));
        commands.push("monitor goto 9000".to_owned());
        commands.push("maintenance flush register-cache".to_owned());
        commands.push(format!("tbreak pipeline-starved.c:{line}"));
        commands.extend(owned(&[
            "continue",
            "info threads",
            "backtrace",
            // Into the block of the loop's variable.
            "stepi 20",
            "backtrace full",
        ]));
    }
    commands.extend(owned(&["print $mcycle", "monitor tiles"]));
    let said = batch(gdb, &server, &commands);
    for (core, line) in places {
        let (_, part) = said.split_once(&format!("-- {core}\n")).expect("it is echoed");
        let part = part.split("\n-- ").next().unwrap_or(part);
        let at = format!("pipeline-starved.c:{line}");
        assert_has(part, &["hit Temporary breakpoint", &at, "* "]);
        let current = part.lines().find(|line| line.starts_with("* ")).expect("a thread");
        assert!(current.contains(&format!("(0,0 {core}")), "{core}: {part}");
        let local = if core.starts_with('T') { "tile = " } else { "page = " };
        assert_has(part, &["#0 ", "kernel_main () at", local]);
    }
    assert_has(&said, &["0,0 BRISC", ": pc ", "0,0 NCRISC", ": pc "]);
    assert_eq!(server.finish(), [Ok(())]);
}

#[test]
fn gdb_goes_back_to_the_writer_of_a_word() {
    let Some(gdb) = gdb() else { return };
    let server = Server::start("case.toml", 1);
    let push = line("THREAD == 0", "for (u32 tile");
    let mut commands = vec![format!("tbreak pipeline-starved.c:{push}")];
    commands.extend(owned(&[
        "continue",
        "monitor when",
        "stepi",
        "stepi",
        "reverse-stepi",
        "reverse-stepi",
        "monitor when",
        "continue",
        "monitor gates",
        "monitor why",
        "continue",
        // The word that tells that a kernel is to run: the host writes it, and the firmware does.
        "watch *(unsigned *)0x4f0",
        "reverse-continue",
        "reverse-continue",
        "monitor who 0x4f0",
        "delete",
        "reverse-continue",
    ]));
    let said = batch(gdb, &server, &commands);
    assert_has(&said, &["hit Temporary breakpoint"]);
    let whens: Vec<&str> = said.lines().filter(|line| line.starts_with("cycle ")).collect();
    assert!(whens.len() >= 2 && whens[0] == whens[1], "there and back again: {said}");
    assert_has(&said, &["SIGSTOP", "No more reverse-execution history"]);
    assert_has(&said, &["DEADLOCK since cycle", "TRISC0", "DEADLOCK[A1]", "pipeline-starved.c"]);
    assert_has(&said, &["Hardware watchpoint 2", "Old value = ", "New value = "]);
    assert_eq!(server.finish(), [Ok(())]);
}

/// The machine interface, which editors use.
#[test]
fn gdb_mi_stops_steps_and_goes_back() {
    let Some(gdb) = gdb() else { return };
    let server = Server::start("case.toml", 1);
    let mut child = Command::new(gdb)
        .args(["-nx", "-q", "-i=mi", "-x"])
        .arg(&server.script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("gdb runs");
    let mut said = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut ask = child.stdin.take().expect("piped");
    let mut until = |wanted: &str| -> String {
        let mut seen = String::new();
        for line in said.by_ref() {
            let line = line.expect("text");
            seen += &line;
            seen.push('\n');
            if line.starts_with(wanted) {
                return line;
            }
        }
        panic!("no {wanted} in\n{seen}");
    };
    let mut say = |text: &str| writeln!(ask, "{text}").expect("gdb listens");
    let push = line("THREAD == 0", "for (u32 tile");
    say(&format!("1-break-insert -t pipeline-starved.c:{push}"));
    until("1^done");
    say("2-exec-continue");
    assert!(until("*stopped,reason=\"breakpoint-hit\"").contains(&format!("line=\"{push}\"")));
    say("3-thread-info");
    assert!(until("3^done").contains("0,0 TRISC2"));
    say("4-stack-list-variables --simple-values");
    assert!(until("4^done").contains("variables=["));
    say("5-exec-next");
    assert!(until("*stopped").contains("end-stepping-range"));
    say("6-exec-next --reverse");
    assert!(until("*stopped").contains("pipeline-starved.c"));
    say("7-exec-finish");
    let _ = until("7^");
    say("8-gdb-exit");
    until("8^exit");
    drop(ask);
    child.wait().expect("it ends");
    server.finish();
}

fn packet(body: &str) -> String {
    let sum = body.bytes().fold(0, u8::wrapping_add);
    format!("${body}#{sum:02x}")
}

/// Reads until a whole packet has come, and gives its body.
fn reply(stream: &mut TcpStream) -> String {
    let (mut body, mut byte) = (Vec::new(), [0]);
    while byte[0] != b'$' {
        stream.read_exact(&mut byte).expect("an answer");
    }
    loop {
        stream.read_exact(&mut byte).expect("an answer");
        if byte[0] == b'#' {
            return String::from_utf8_lossy(&body).into_owned();
        }
        body.push(byte[0]);
    }
}

/// Clients that say nonsense, leave in the middle, or come two at a time: each is served or dropped,
/// and the next one is served.
#[test]
fn clients_that_misbehave_do_no_harm() {
    let server = Server::start("case.toml", 5);
    // It leaves in the middle of a packet.
    server.connect().write_all(b"$qSupp").expect("it listens");
    // Nonsense, with wrong sums.
    server.connect().write_all(b"\x00\xFF#$#$zzz#00$m#9a$vCont;q#00").expect("it listens");
    // It leaves while the machine runs.
    let mut third = server.connect();
    third.write_all(packet("vCont?").as_bytes()).expect("it listens");
    reply(&mut third);
    third.write_all(packet("vCont;c").as_bytes()).expect("it listens");
    drop(third);
    // Two at a time: the second waits for the first.
    let (mut fourth, mut fifth) = (server.connect(), server.connect());
    fifth.write_all(packet("?").as_bytes()).expect("it listens");
    fourth.write_all(packet("?").as_bytes()).expect("it listens");
    assert!(reply(&mut fourth).starts_with(['S', 'T']));
    // Memory that is not there, and writing: refused.
    fourth.write_all(packet("mffff0000,4").as_bytes()).expect("it listens");
    assert!(reply(&mut fourth).starts_with('E'));
    fourth.write_all(packet("M0,1:00").as_bytes()).expect("it listens");
    assert!(reply(&mut fourth).starts_with('E'));
    drop(fourth);
    assert!(reply(&mut fifth).starts_with(['S', 'T']));
    fifth.write_all(packet("D").as_bytes()).expect("it listens");
    assert_eq!(reply(&mut fifth), "OK");
    assert_eq!(server.finish().len(), 5);
}
