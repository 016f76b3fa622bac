//! A real client: Debian's gdb drives the server, from the command line and over its machine interface.
//! Where there is no gdb that knows RISC-V each test says that it was skipped.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
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

/// A Tensix thread is a thread: its pc is who pushed, a step is the next instruction through its gate.
#[test]
fn gdb_steps_a_tensix_thread_at_its_wait_gate() {
    let Some(gdb) = gdb() else { return };
    let server = Server::start("../../programs/kernels/matmul/case.toml", 1);
    let commands = owned(&[
        "monitor tbreak tensix T1 MVMUL",
        "continue",
        "info threads",
        "backtrace",
        "monitor when",
        "stepi",
        "monitor when",
        "reverse-stepi",
        "monitor when",
        "print $dst(0)",
        "print $srca(0)[1] + 1",
        "print $lregf(0)[3]",
        "print $config(\"ALU_FORMAT_SPEC_REG0_SrcA\")",
        "print $tensix(\"tensix.sync.semaphore2.value\")",
        "python print(gdb.parse_and_eval('$dst(0)').type)",
        "monitor tbreak T2 matmul.c:43",
        "monitor breaks",
        "continue",
        "monitor tensix",
        "monitor value dst 5000",
        "monitor break tensix nonsense",
        "monitor break T0 matmul.c:1",
        "monitor delete 7",
        "thread 3",
        "stepi",
        "continue",
    ]);
    let said = batch(gdb, &server, &commands);
    let stderr = said.split_once("--- stderr").map_or("", |(_, stderr)| stderr);
    assert_has(stderr, &["stop 1: tensix T1 MVMUL (once)", "tilescope: T1 MVMUL, passes: MVMUL "]);
    assert_has(&said, &["(0,0 TRISC0", "(0,0 T0 ", "* 7 ", "(0,0 T1 MVMUL, passes)", "(0,0 T2 "]);
    assert_has(&said, &["#0 ", "kernel_main () at", "matmul.c:"]);
    let whens: Vec<&str> = said.lines().filter(|line| line.starts_with("cycle ")).collect();
    assert!(whens.len() == 3 && whens[0] == whens[2] && whens[0] != whens[1], "{whens:?}: {said}");
    assert!(whens.iter().all(|when| when.contains(", T1, in \"matmul\"")), "{whens:?}");
    assert_has(&said, &["$1 = {", "$2 = ", "$3 = ", "$4 = 5", "$5 = ", "float [16]"]);
    assert_has(stderr, &["2: T2 matmul.c:43 (once)"]);
    assert_has(stderr, &["T2 ", ", passes", "kernel_main matmul.c:43"]);
    assert_has(stderr, &["error: there is no dst 5000"]);
    assert_has(stderr, &["no thread, instruction, place or address", "no instruction of a kernel"]);
    assert_has(stderr, &["there is no stop 7"]);
    assert_has(&said, &["(Thread 1.3)", "No more reverse-execution history"]);
    assert_eq!(server.finish(), [Ok(())]);
}

/// What a MOP expands to has the place of the MOP.
#[test]
fn gdb_stops_within_the_expansion_of_a_mop() {
    let Some(gdb) = gdb() else { return };
    let server = Server::start("../A4-get-from-mop/case.toml", 1);
    let commands = owned(&[
        "monitor break T0 SEMGET mop 1",
        "continue",
        "backtrace 1",
        "continue",
        "reverse-continue",
        "reverse-continue",
        "monitor when",
    ]);
    let said = batch(gdb, &server, &commands);
    let stop = "tilescope: T0 SEMGET, 1 of its MOP, passes: SEMGET ";
    let trap = "Thread 6 received signal SIGTRAP";
    assert_has(&said, &[trap, "#0 ", trap, "get-from-mop.c", trap, "--- stderr", stop, stop, stop]);
    assert_has(&said, &["No more reverse-execution history", "--- stderr", "cycle 0, "]);
    assert_eq!(server.finish(), [Ok(())]);
}

/// gdb's machine interface, which editors use.
struct Interface {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
    ask: ChildStdin,
}

impl Interface {
    fn start(gdb: &str, arguments: &[&OsStr]) -> Self {
        let mut child = Command::new(gdb)
            .args(["-nx", "-q", "-i=mi"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("gdb runs");
        let said = BufReader::new(child.stdout.take().expect("piped")).lines();
        let ask = child.stdin.take().expect("piped");
        Self { child, said, ask }
    }

    fn say(&mut self, text: &str) {
        writeln!(self.ask, "{text}").expect("gdb listens");
    }

    /// The next line that begins so.
    fn until(&mut self, wanted: &str) -> String {
        let mut seen = String::new();
        for line in self.said.by_ref() {
            let line = line.expect("text");
            seen += &line;
            seen.push('\n');
            if line.starts_with(wanted) {
                return line;
            }
        }
        panic!("no {wanted} in\n{seen}");
    }

    fn end(mut self) {
        self.say("99-gdb-exit");
        self.until("99^exit");
        drop(self.ask);
        self.child.wait().expect("it ends");
    }
}

#[test]
fn gdb_mi_stops_steps_and_goes_back() {
    let Some(gdb) = gdb() else { return };
    let server = Server::start("case.toml", 1);
    let mut gdb = Interface::start(gdb, &[OsStr::new("-x"), server.script.as_os_str()]);
    let push = line("THREAD == 0", "for (u32 tile");
    gdb.say(&format!("1-break-insert -t pipeline-starved.c:{push}"));
    gdb.until("1^done");
    gdb.say("2-exec-continue");
    assert!(gdb.until("*stopped,reason=\"breakpoint-hit\"").contains(&format!("line=\"{push}\"")));
    gdb.say("3-thread-info");
    assert!(gdb.until("3^done").contains("0,0 TRISC2"));
    gdb.say("4-stack-list-variables --simple-values");
    assert!(gdb.until("4^done").contains("variables=["));
    gdb.say("5-exec-next");
    assert!(gdb.until("*stopped").contains("end-stepping-range"));
    gdb.say("6-exec-next --reverse");
    assert!(gdb.until("*stopped").contains("pipeline-starved.c"));
    gdb.say("7-exec-finish");
    let _ = gdb.until("7^");
    gdb.end();
    server.finish();
}

/// As VS Code's adapter begins: with a program, and the script sourced by command. Then a Tensix thread is one like the
/// others, and its contents are values for the watch window.
#[test]
fn gdb_mi_begins_as_an_editor_does_and_sees_tensix_threads() {
    let Some(gdb) = gdb() else { return };
    let server = Server::start("../../programs/kernels/matmul/case.toml", 1);
    let firmware = server.script.with_file_name("firmware-brisc.elf");
    let mut gdb = Interface::start(gdb, &[]);
    gdb.say("1-gdb-set breakpoint pending on");
    gdb.until("1^done");
    gdb.say(&format!("2-file-exec-and-symbols {}", firmware.display()));
    gdb.until("2^done");
    gdb.say(&format!("3-interpreter-exec console \"source {}\"", server.script.display()));
    gdb.until("*stopped");
    gdb.until("3^done");
    gdb.say("4-interpreter-exec console \"monitor tbreak T1 MVMUL\"");
    gdb.until("4^done");
    gdb.say("5-exec-continue");
    let stopped = gdb.until("*stopped");
    assert!(stopped.contains("thread-id=\"7\"") && stopped.contains("matmul.c"), "{stopped}");
    gdb.say("6-thread-info 7");
    assert!(gdb.until("6^done").contains("0,0 T1 MVMUL, passes"));
    gdb.say("7-stack-list-frames --thread 7");
    assert!(gdb.until("7^done").contains("func=\"kernel_main\""));
    gdb.say("8-var-create - * \"$dst(0)\"");
    assert!(gdb.until("8^done").contains("type=\"float [16]\""));
    gdb.say("9-data-evaluate-expression \"$dst(5000)\"");
    assert!(gdb.until("9^error").contains("there is no dst 5000"));
    gdb.say("10-exec-step-instruction --thread 7");
    let stopped = gdb.until("*stopped");
    assert!(stopped.contains("end-stepping-range"), "{stopped}");
    assert!(stopped.contains("thread-id=\"7\""), "{stopped}");
    gdb.say("11-exec-step-instruction --thread 7 --reverse");
    assert!(gdb.until("*stopped").contains("thread-id=\"7\""));
    gdb.end();
    assert_eq!(server.finish(), [Ok(())]);
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
