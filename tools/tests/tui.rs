//! The program on a pseudo-terminal: the live view, what it shows as data, and the progress line.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loader::firmware::BootOptions;
use loader::names::LoadedNames;
use loader::plan::LaunchPlan;
use loader::session::{Outcome, Session};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use sim_core::{CoreId, NullObserver};
use tile::{Tile, TileConfig};
use tools::commands::tui::view::view;

fn hazard(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/hazards").join(name)
}

/// A tile in the deadlock of a kernel of the corpus, and the names of its code.
fn hung(name: &str) -> (Tile, LoadedNames, LaunchPlan) {
    let set = firmware_tests::embedded::set().expect("the embedded images are intact");
    let plan = LaunchPlan::read(&hazard(name).join("case.toml")).expect("a plan");
    let names = LoadedNames::new(&set);
    names.set_kernels(&plan.launches[0].kernels);
    let options = BootOptions::default();
    let mut session =
        Session::stage(TileConfig::default(), &set, &options, NullObserver).expect("it boots");
    assert!(matches!(session.run_to_done(100_000), Outcome::Done));
    let outcome = session.launch(&plan.launches[0], 100_000).expect("a sound plan");
    assert!(matches!(outcome, Outcome::Stopped(_)), "{outcome:?}");
    (session.tile, names, plan)
}

/// The source says what each of them does when it hangs.
#[test]
fn view_of_a_lost_get_names_function_line_and_semaphore() {
    let (tile, names, plan) = hung("A4-semaphore-decrement-lost");
    let shown = view(&tile, &names, &plan.launches[0].circular);
    let source = include_str!(
        "../../firmware-tests/hazards/A4-semaphore-decrement-lost/semaphore-decrement-lost.c"
    );
    let math = shown.cores.iter().find(|core| core.core == CoreId::Trisc1).expect("five cores");
    assert_eq!((math.state, math.function.as_str()), ("waiting", "kernel_main"));
    let number: usize = math.line.split_once(':').expect("file:line").1.parse().expect("a number");
    assert!(
        source.lines().nth(number - 1).is_some_and(|line| line.contains("tensix_sync")),
        "{math:?}"
    );
    assert!(math.waits.contains("T1"), "{math:?}");
    // MATH_PACK was posted three times and got twice.
    assert!(shown.semaphores.contains(&("MATH_PACK".to_owned(), 1)), "{:?}", shown.semaphores);
    assert!(shown.gates[1].waits.is_some() && shown.gates[0].waits.is_none());
    let gate = &shown.gates[1].instruction;
    assert!(gate.starts_with("SEMWAIT") && gate.contains("holds back SEMPOST"), "{gate}");
}

#[test]
fn view_of_a_starved_buffer_counts_its_pages() {
    let (tile, names, plan) = hung("A1-cb-starved");
    let shown = view(&tile, &names, &plan.launches[0].circular);
    // Of four pages that the reader wants three are pushed; the buffer has room for eight.
    let [buffer] = &shown.buffers[..] else { panic!("one buffer: {:?}", shown.buffers) };
    assert_eq!((buffer.index, buffer.pushed, buffer.popped, buffer.pages), (0, 3, 3, 8));
    let reader = shown.cores.iter().find(|core| core.core == CoreId::Ncrisc).expect("five cores");
    assert_eq!(reader.state, "parked");
    assert!(reader.waits.starts_with("polls "), "{reader:?}");
}

/// The program on a terminal of 40 rows.
struct OnTerminal {
    screen: Arc<Mutex<vt100::Parser>>,
    keys: Box<dyn std::io::Write + Send>,
    child: Box<dyn Child + Send + Sync>,
}

impl OnTerminal {
    fn start(args: &[&str]) -> Self {
        let size = PtySize { rows: 40, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tilescope"));
        command.args(args);
        command.env("TERM", "xterm-256color");
        let child = pty.slave.spawn_command(command).expect("it starts");
        drop(pty.slave);
        let mut reader = pty.master.try_clone_reader().expect("a reader");
        let keys = pty.master.take_writer().expect("a writer");
        let [rows, columns] = [size.rows, size.cols].map(|size| size.try_into().expect("not zero"));
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            // The terminal lives as long as somebody reads it.
            let _master = pty.master;
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                shown.lock().expect("no panic in between").process(&bytes[..count]);
            }
        });
        Self { screen, keys, child }
    }

    fn press(&mut self, key: &str) {
        self.keys.write_all(key.as_bytes()).expect("it listens");
        self.keys.flush().expect("it listens");
    }

    /// Waits until the screen shows something, and no longer changes; gives the whole of it.
    fn wait_for(&self, wanted: impl Fn(&str) -> bool, what: &str) -> String {
        // A picture comes in parts.
        self.wait(wanted, what, 5)
    }

    /// As [`Self::wait_for`], of what is so for that many looks.
    fn wait(&self, wanted: impl Fn(&str) -> bool, what: &str, looks: u32) -> String {
        let began = Instant::now();
        let (mut last, mut times) = (String::new(), 0);
        loop {
            let text = self.screen.lock().expect("no panic in between").screen().contents();
            times = if text == last { times + 1 } else { 0 };
            if times >= looks && wanted(&text) {
                return text;
            }
            last.clone_from(&text);
            assert!(began.elapsed() < Duration::from_secs(60), "no {what}:\n{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // Of a test that has failed; one that has ended is gone.
        let _ = self.child.kill();
    }
}

/// The cycle in the head line.
fn cycle(screen: &str) -> Option<u64> {
    screen.split_once("tilescope  cycle ")?.1.split_whitespace().next()?.parse().ok()
}

#[test]
fn program_steps_runs_to_an_event_and_to_the_deadlock() {
    let plan = hazard("A4-semaphore-decrement-lost").join("case.toml");
    let mut run = OnTerminal::start(&["tui", "--embedded", &plan.display().to_string()]);
    let first = run.wait_for(|text| text.contains("quit"), "first picture");
    assert_eq!(cycle(&first), Some(0));
    for pane in ["BRISC", "TRISC0", "TRISC1", "TRISC2", "NCRISC", "wait gates", "semaphores"] {
        assert!(first.contains(pane), "{pane} in\n{first}");
    }
    assert!(first.contains("circular buffers") && first.contains("mailboxes"));
    run.press("s");
    run.wait_for(|text| cycle(text) == Some(8), "picture after one epoch");
    run.press("n");
    run.wait_for(|text| cycle(text) == Some(112), "picture after a hundred cycles");
    run.press("e");
    let event = run.wait_for(|text| cycle(text).is_some_and(|cycle| cycle > 112), "next event");
    assert!(cycle(&event).is_some_and(|cycle| cycle < 9000), "{event}");
    run.press("c");
    let is_told = |text: &str| {
        let words = ["DEADLOCK", "kernel_main", "semaphore-decrement-lost.c:", "MATH_PACK"];
        words.iter().all(|word| text.contains(word))
    };
    run.wait_for(is_told, "deadlock");
    run.press("q");
    let status = run.child.wait().expect("it ends");
    assert!(status.success(), "{status:?}");
}

/// Who closes the window, or ends it from elsewhere, leaves nothing behind that works on.
#[test]
fn program_ends_with_its_terminal() {
    let plan = hazard("A4-semaphore-decrement-lost").join("case.toml");
    let mut run = OnTerminal::start(&["tui", "--embedded", &plan.display().to_string()]);
    run.wait_for(|text| text.contains("q quit"), "first picture");
    let id = run.child.process_id().expect("it runs");
    let id = nix::unistd::Pid::from_raw(id.try_into().expect("a process id"));
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGHUP).expect("it runs");
    let began = Instant::now();
    while run.child.try_wait().expect("it is ours").is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "it has lost its terminal and goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A session goes back as it came: what the screen shows of a moment does not depend on the way there.
#[test]
fn program_goes_back_to_what_it_showed() {
    let plan = hazard("A4-semaphore-decrement-lost").join("case.toml");
    let mut run = OnTerminal::start(&["tui", "--embedded", &plan.display().to_string()]);
    run.wait_for(|text| text.contains("quit"), "first picture");
    let at = |run: &OnTerminal, wanted: u64| {
        run.wait_for(|text| cycle(text) == Some(wanted), &format!("cycle {wanted}"))
    };
    // The get that is lost is at 9969, the third post at 10572.
    run.press("g");
    run.wait_for(|text| text.contains("cycle: _"), "prompt");
    run.press("10000\r");
    // A picture is whole when its last line is.
    let is_whole = |text: &str| text.contains("q quit");
    let before = run.wait_for(|text| cycle(text) == Some(10000) && is_whole(text), "picture");
    assert!(
        before.contains("9969 Tensix T2") && before.contains("get MATH_PACK stays 0"),
        "{before}"
    );
    run.press("s");
    at(&run, 10008);
    run.press("n");
    at(&run, 10112);
    run.press("N");
    at(&run, 10012 / 8 * 8);
    run.press("S");
    run.wait_for(|text| text == before, "picture as before");
    // To a line of its own file by name, both ways, and instruction by instruction within it.
    run.press("b");
    run.wait_for(|text| text.contains("address: _"), "prompt");
    run.press("semaphore-decrement-lost.c:25\r");
    run.wait_for(|text| text.contains("breakpoint at 0x"), "breakpoint");
    run.press("c");
    let is_there = |text: &str| text.contains("breakpoint: TRISC1") && text.contains("*>   25");
    let stands = cycle(&run.wait_for(is_there, "stop")).expect("a cycle");
    assert!((10500..10592).contains(&stands), "{stands}");
    run.press("i");
    run.wait_for(|text| cycle(text).is_some_and(|cycle| cycle > stands), "next instruction");
    run.press("I");
    run.wait_for(|text| cycle(text) == Some(stands) && text.contains("*>   25"), "stop again");
    run.press("$");
    run.wait_for(|text| text.contains("DEADLOCK since"), "end");
    run.press("C");
    at(&run, stands);
    run.press("E");
    run.wait_for(|text| cycle(text).is_some_and(|cycle| cycle < stands), "handshake before");
    // The time line: its last column is the end, its first the beginning.
    run.press("\x1b[<0;200;39M");
    run.wait_for(|text| text.contains("DEADLOCK since"), "end");
    run.press("\x1b[<0;1;39M");
    at(&run, 0);
    run.press("y");
    run.wait_for(|text| text.contains("DEADLOCK[A4]"), "explanation");
    run.press("x");
    run.press("bno_such\r");
    run.wait_for(|text| text.contains("no function no_such"), "a mistake");
    run.press("q");
    let status = run.child.wait().expect("it ends");
    assert!(status.success(), "{status:?}");
}

/// A recording of two tiles of one program each: 0,0 counts, 1,0 polls a word that nobody writes, and so does
/// the host.
fn recording(dir: &Path) -> String {
    use hostlib::abi::{BAR0, WINDOW_REGISTERS};
    use hostlib::recording::{Op, Record, write_magic, write_record};
    use isa::asm::{addi, branch, j, li, lw, sw};

    /// SOFT_RESET_0, and its value with only BRISC released `[isa-bh: TensixTile/SoftReset.md]`.
    const SOFT_RESET_0: u64 = 0xFFB1_21B0;
    const BRISC: u32 = 0x4_7000;
    const WORD: u64 = 0x4_0000;
    let mut file = Vec::new();
    write_magic(&mut file).expect("memory");
    let mut put = |op, a0, a1, bytes: &[u8]| {
        write_record(&mut file, &Record { op, a0, a1, bytes }).expect("memory");
    };
    put(Op::Init, 0, 0, &[]);
    let mut counts = li(5, 0x3_0000).to_vec();
    counts.extend([addi(6, 6, 1), sw(6, 5, 0), j(-8)]);
    let mut polls = li(5, WORD as u32).to_vec();
    polls.extend([lw(6, 5, 0), branch(0, 6, 0, -4)]);
    for (x, words) in [(1_u64, counts), (2, polls)] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        put(Op::TileWrite, 0, x | 2 << 32, &bytes);
        put(Op::TileWrite, SOFT_RESET_0, x | 2 << 32, &BRISC.to_le_bytes());
    }
    let register = u128::from(WORD >> 21) | 2 << 43 | 2 << 49;
    for (word, bytes) in (0..).zip(register.to_le_bytes()[..12].chunks(4)) {
        put(Op::MemWrite, WINDOW_REGISTERS + 4 * word, 0, bytes);
    }
    for _ in 0..40 {
        put(Op::MemRead, BAR0 + WORD, 0, &[0; 4]);
        put(Op::Clock, 1, 0, &[]);
    }
    let path = dir.join("two.rec");
    std::fs::write(&path, file).expect("written");
    path.display().to_string()
}

#[test]
fn tape_is_stepped_through_and_its_tiles_are_walked() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut run = OnTerminal::start(&["tui", &recording(dir.path())]);
    let first = run.wait_for(|text| text.contains("(1 of 2)"), "first picture");
    assert!(first.contains("tile 0,0 (NoC 1-2)") && cycle(&first) == Some(0), "{first}");
    run.press("?");
    let help = run.wait_for(|text| text.contains("any key leaves it"), "help");
    assert!(
        help.contains("the next tile") && help.contains("wait gates  Tensix threads"),
        "{help}"
    );
    run.press("x");
    run.wait_for(|text| !text.contains("any key leaves it"), "picture without help");
    run.press("\t");
    run.wait_for(
        |text| text.contains("tile 1,0 (NoC 2-2)") && text.contains("(2 of 2)"),
        "other tile",
    );
    // The poll is parked by then.
    run.press("n");
    let later = run.wait_for(|text| cycle(text).is_some_and(|cycle| cycle >= 100), "later");
    assert!(later.contains("parked") && later.contains("polls "), "{later}");
    run.press("\x1b[D");
    let back = run.wait_for(|text| text.contains("(1 of 2)"), "first tile again");
    assert!(back.contains("running") && cycle(&back) == cycle(&later), "{back}");
    // Round the list, backwards.
    run.press("\x1b[Z");
    run.wait_for(|text| text.contains("(2 of 2)"), "last tile");
    run.press("c");
    let end = run.wait_for(|text| cycle(text) > cycle(&later), "the end");
    // A word that is written over and over stops it, here and backwards.
    run.press("\t");
    run.press("w0x30000\r");
    run.wait_for(|text| text.contains("stops where 0x30000 is written"), "watchpoint");
    run.press("C");
    let back = run.wait_for(|text| text.contains("BRISC accesses 0x30000"), "store before");
    assert!(cycle(&back) < cycle(&end), "{back}");
    run.press("q");
    let status = run.child.wait().expect("it ends");
    assert!(status.success(), "{status:?}");
}

#[test]
fn plan_of_several_tiles_is_walked_to_its_deadlock() {
    let plan = hazard("D1-increment-astray").join("case.toml");
    let mut run = OnTerminal::start(&["tui", "--embedded", &plan.display().to_string()]);
    run.wait_for(|text| text.contains("tile 0,0") && text.contains("(1 of "), "first picture");
    run.press("c");
    run.wait_for(|text| text.contains("DEADLOCK: nothing can move any more"), "deadlock");
    // The host has watched it for long by then.
    run.press("x");
    run.wait_for(
        |text| cycle(text).is_some_and(|cycle| (9000..20_000).contains(&cycle)),
        "closing",
    );
    run.press("?");
    run.wait_for(|text| text.contains("any key leaves it"), "help");
    // It leaves both.
    run.press("q");
    let status = run.child.wait().expect("it ends");
    assert!(status.success(), "{status:?}");
}

/// A kernel of one `ret`, launched a million and a half times.
#[test]
fn repeated_launch_shows_how_far_it_is_on_a_terminal_only() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("ret.bin"), 0x0000_8067_u32.to_le_bytes()).expect("written");
    let path = dir.path().join("KERNELS.toml");
    let plan = |repeat: u32| {
        let text = format!(
            "[[launch]]\nname = 'often'\nrepeat = {repeat}\n[launch.kernel.brisc]\n\
             image = 'ret.bin'\naddress = 0xC000\n"
        );
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    for command in ["launch", "report", "why"] {
        let plan = plan(1_500_000);
        let mut run = OnTerminal::start(&[command, &plan, "--embedded"]);
        let text = run.wait(|text| text.contains("/1500000 rounds"), "progress line", 0);
        assert!(text.contains("often"), "{text}");
        run.child.kill().expect("it runs");
        run.child.wait().expect("it ends");
    }
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(["launch", &plan(3), "--embedded"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("often #3") && !text.contains("rounds"), "{text}");
}
