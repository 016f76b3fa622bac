//! The libttsim ABI as a host uses it, and as no host should: the process lives on.
//!
//! Each test runs in a process of its own, because the library has one chip per process.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::ffi::c_void;
use std::path::Path;
use std::process::{Command, Output};

use hostlib::DynamicLibrary;
use hostlib::abi::{BAR0, BAR2, BAR4, WINDOW_REGISTERS};

const CHILD: &str = "TILESCOPE_TEST_CHILD";
/// Vendor and device `[spec: host-abi 2.3]`.
const IDENTITY: u32 = 0xB140_1E52;

/// Runs the test `name` of this file once more as a child, with `CHILD` set.
fn child(name: &str, variables: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().unwrap();
    Command::new(program)
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        // Cores of some of these hosts are at work for ever: on a slow machine they would be hinted at.
        .env("TILESCOPE_NO_PROGRESS", "off")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// Runs `body` in a child and returns what it wrote to standard error.
fn in_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce(DynamicLibrary)) -> String {
    if std::env::var_os(CHILD).is_some() {
        body(DynamicLibrary::open(&common::library()).unwrap());
        return String::new();
    }
    let output = child(name, variables);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("1 passed"), "{text}");
    errors
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Writes a window's register, word by word as hosts do `[spec: host-abi 2.4]`.
fn write_register(library: &DynamicLibrary, window: u64, register: u128) {
    for (word, bytes) in (0..).zip(register.to_le_bytes()[..12].chunks(4)) {
        library.mem_write(WINDOW_REGISTERS + 12 * window + 4 * word, bytes);
    }
}

/// Points window `window` at a tile.
fn point(library: &DynamicLibrary, window: u64, (x, y): (u32, u32), address: u64) {
    let register = u128::from(address >> 21) | u128::from(x) << 43 | u128::from(y) << 49;
    write_register(library, window, register);
}

fn read<const N: usize>(library: &DynamicLibrary, paddr: u64) -> [u8; N] {
    let mut bytes = [0x5A; N];
    library.mem_read(paddr, &mut bytes);
    bytes
}

/// Resident memory in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// What the vendor's stack does with a library `[spec: host-abi 2.1]`.
#[test]
fn probing_and_loading_again_gives_a_fresh_chip() {
    let errors = in_child("probing_and_loading_again_gives_a_fresh_chip", &[], |library| {
        library.init();
        let found: Vec<u32> = (0..32).map(|device| library.config_read(device << 3, 0)).collect();
        assert_eq!(found[0], IDENTITY);
        assert!(found[1..].iter().all(|&word| word == u32::MAX));
        point(&library, 3, (1, 2), 0);
        library.mem_write(BAR0 + (3 << 21) + 0x100, b"first");
        assert_eq!(read::<5>(&library, BAR0 + (3 << 21) + 0x100), *b"first");
        library.exit();
        drop(library);
        let library = DynamicLibrary::open(&common::library()).unwrap();
        library.set_raw_callbacks(None, None);
        library.init();
        point(&library, 3, (1, 2), 0);
        assert_eq!(read::<5>(&library, BAR0 + (3 << 21) + 0x100), [0; 5]);
        library.exit();
    });
    assert_eq!(errors, "");
}

#[test]
fn thousand_rounds_do_not_grow() {
    let errors = in_child("thousand_rounds_do_not_grow", &[], |library| {
        let mut early = 0;
        for round in 0..1000 {
            library.init();
            point(&library, 0, (1, 2), 0);
            library.mem_write(BAR0, &[1; 4096]);
            library.clock(1);
            library.exit();
            if round == 99 {
                early = resident();
            }
        }
        let late = resident();
        assert!(late < early + 4096, "{early} KiB after 100 rounds, {late} after 1000");
    });
    assert_eq!(errors, "");
}

#[test]
fn two_threads_may_call() {
    let errors = in_child("two_threads_may_call", &[], |library| {
        library.init();
        point(&library, 0, (1, 2), 0);
        point(&library, 1, (2, 2), 0);
        std::thread::scope(|scope| {
            for window in 0..2_u64 {
                let library = &library;
                scope.spawn(move || {
                    for count in 0..500_u32 {
                        let paddr = BAR0 + (window << 21) + 0x200;
                        library.mem_write(paddr, &count.to_le_bytes());
                        library.clock(1);
                        assert_eq!(read(library, paddr), count.to_le_bytes());
                    }
                });
            }
        });
        std::thread::scope(|scope| {
            scope.spawn(|| library.exit());
        });
    });
    assert_eq!(errors, "");
}

/// A host that polls a chip at rest is answered without the lock; nothing shows it.
#[test]
fn polls_at_rest_see_every_change_and_let_time_pass() {
    const WALL_CLOCK: u64 = 0xFFB1_21F0;
    let name = "polls_at_rest_see_every_change_and_let_time_pass";
    let errors = in_child(name, &[("TILESCOPE_CYCLES_PER_CLOCK", "16")], |library| {
        let poll = |times: u32, paddr, value: u32| {
            for _ in 0..times {
                assert_eq!(read(&library, paddr), value.to_le_bytes());
                library.clock(1);
            }
        };
        for _ in 0..2 {
            library.init();
            point(&library, 0, (1, 2), 0);
            point(&library, 1, (1, 2), WALL_CLOCK);
            let clock = BAR0 + (1 << 21) + WALL_CLOCK % (2 << 20);
            let polled = BAR0 + 0x300;
            poll(3, polled, 0);
            let before = u32::from_le_bytes(read(&library, clock));
            poll(1000, polled, 0);
            let after = u32::from_le_bytes(read(&library, clock));
            assert_eq!(after - before, 16_000);
            library.mem_write(polled, &7_u32.to_le_bytes());
            poll(5, polled, 7);
            library.tile_write(1, 2, 0x300, &8_u32.to_le_bytes());
            poll(5, polled, 8);
            // As hosts do: the window is aimed before each access.
            for _ in 0..5 {
                point(&library, 0, (1, 2), 0);
                let mut three = [0; 12];
                three[..4].copy_from_slice(&8_u32.to_le_bytes());
                assert_eq!(read(&library, polled), three);
                library.clock(1);
            }
            point(&library, 0, (2, 2), 0);
            poll(5, polled, 0);
            assert_eq!(read(&library, polled), [0; 12]);
            library.exit();
        }
    });
    assert_eq!(errors, "");
}

/// A host that waits, with that limit, for a BRISC that runs `program` for ever; what is said.
fn waits_for_ever(name: &str, limit: &str, program: &[u32]) -> String {
    in_child(name, &[("TILESCOPE_NO_PROGRESS", limit)], |library| {
        library.init();
        let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        library.tile_write(1, 2, 0, &bytes);
        library.tile_write(1, 2, 0xFFB1_21B0, &0x4_7000_u32.to_le_bytes());
        point(&library, 0, (1, 2), 0);
        for _ in 0..1000 {
            library.clock(1024);
            assert_eq!(read::<4>(&library, BAR0 + 0x3_0100), [0; 4]);
        }
        library.exit();
    })
}

/// BRISC counts for ever in a word of its own: no proof can say that it will not end.
#[test]
fn host_that_waits_for_a_loop_that_stores_gets_a_hint_once() {
    use isa::asm::{addi, j, li, sw};
    let name = "host_that_waits_for_a_loop_that_stores_gets_a_hint_once";
    let mut program = li(5, 0x3_0000).to_vec();
    program.extend([addi(6, 6, 1), sw(6, 5, 0), j(-8)]);
    for (limit, hints) in [("200000", 1), ("off", 0), ("soon", 0)] {
        let errors = waits_for_ever(name, limit, &program);
        if is_child() {
            return;
        }
        assert_eq!(errors.matches("NO-PROGRESS (a hint, no proof)").count(), hints, "{errors}");
        let told = "tile (0, 0) [NoC (1, 2)] BRISC goes round pc 0x8 to 0x10";
        assert_eq!(errors.matches(told).count(), hints, "{errors}");
        assert_eq!(errors.matches("stores to L1 0x30000").count(), hints, "{errors}");
        assert_eq!(errors.contains("is neither a number of cycles"), limit == "soon", "{errors}");
    }
}

/// BRISC programs a NoC interface for ever: its state is another one each time, and memory stays as it is. Half a
/// limit is enough if the host gives up, as it does here after a million cycles.
#[test]
fn host_that_waits_while_no_memory_changes_gets_another_hint_once() {
    use isa::asm::{addi, j, li, sw};
    let mut commands = li(5, 0xFFB2_0000).to_vec();
    commands.extend([addi(6, 6, 16), sw(6, 5, 0), j(-8)]);
    let name = "host_that_waits_while_no_memory_changes_gets_another_hint_once";
    for (limit, hints) in [("200000", 1), ("2000000", 1), ("off", 0)] {
        let errors = waits_for_ever(name, limit, &commands);
        if is_child() {
            return;
        }
        let told = "tile (0, 0) [NoC (1, 2)] BRISC was seen in pc 0x";
        for text in ["NO-PROGRESS", "hardly any memory has changed", told] {
            assert_eq!(errors.matches(text).count(), hints, "{limit} {text}: {errors}");
        }
    }
}

/// BRISC programs a NoC interface for a while and then ends: what the host waited for has come.
#[test]
fn host_that_waits_for_what_comes_in_the_end_gets_no_hint() {
    use isa::asm::{addi, bne, j, li, sw};
    let mut program = [li(5, 0xFFB2_0000), li(7, 245_000)].concat();
    program.extend([addi(6, 6, 16), sw(6, 5, 0), addi(7, 7, -1), bne(7, 0, -12), j(0)]);
    let name = "host_that_waits_for_what_comes_in_the_end_gets_no_hint";
    let errors = waits_for_ever(name, "2500000", &program);
    if is_child() {
        return;
    }
    assert!(!errors.contains("hardly any memory has changed"), "{errors}");
}

/// BRISC writes ever more of L1, and may come to its end.
#[test]
fn host_that_waits_while_memory_changes_gets_no_hint() {
    use isa::asm::{addi, j, li, sw};
    let mut walks = li(5, 0x4_0000).to_vec();
    walks.extend([addi(5, 5, 4), sw(5, 5, 0), j(-8)]);
    let name = "host_that_waits_while_memory_changes_gets_no_hint";
    let errors = waits_for_ever(name, "200000", &walks);
    if is_child() {
        return;
    }
    assert!(!errors.contains("NO-PROGRESS"), "{errors}");
}

/// BRISC polls a word that nobody writes, and the host polls another one without ever letting time pass.
#[test]
fn host_that_only_reads_is_told_of_a_hang() {
    let name = "host_that_only_reads_is_told_of_a_hang";
    let errors = in_child(name, &[], |library| {
        Waits::begin(&library).polls();
        library.exit();
    });
    if is_child() {
        return;
    }
    for part in ["DEADLOCK on 1 tile", "BRISC polls L1 word 0x30000 = 0x0"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    assert_eq!(errors.matches("DEADLOCK on").count(), 1, "once: {errors}");
}

/// What a host does whose BRISC polls a word that nobody writes.
struct Waits<'a>(&'a DynamicLibrary);

impl Waits<'_> {
    /// DR(1) of BRISC: pause, and continue `[isa-wh: TensixTile/BabyRISCV/DebugInterface.md]`.
    const PAUSE: u32 = 1 << 0;
    const CONTINUE: u32 = 1 << 2;

    fn begin(library: &DynamicLibrary) -> Waits<'_> {
        use isa::asm::{beq, j, li, lw};
        library.init();
        let mut program = li(5, 0x3_0000).to_vec();
        program.extend([lw(6, 5, 0), beq(6, 0, -4), j(0)]);
        let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        library.tile_write(1, 2, 0, &bytes);
        // SOFT_RESET_0 with BRISC alone released [isa-bh: TensixTile/SoftReset.md].
        library.tile_write(1, 2, 0xFFB1_21B0, &0x4_7000_u32.to_le_bytes());
        point(library, 0, (1, 2), 0);
        library.clock(4096);
        Waits(library)
    }

    fn polls(&self) {
        let began = std::time::Instant::now();
        while began.elapsed() < std::time::Duration::from_millis(1500) {
            assert_eq!(read::<4>(self.0, BAR0 + 0x3_0100), [0; 4]);
        }
    }

    /// A command of a debugger beside the host.
    fn debugger(&self, command: u32) {
        self.0.tile_write(1, 2, 0xFFB1_2084, &command.to_le_bytes());
        for control in [0x8001_0001_u32, 0] {
            self.0.tile_write(1, 2, 0xFFB1_2080, &control.to_le_bytes());
        }
    }
}

/// A debugger pauses a core that hangs, and lets it go on: it hangs as it did.
#[test]
fn hang_is_told_once_though_a_debugger_looks_at_it() {
    let name = "hang_is_told_once_though_a_debugger_looks_at_it";
    let errors = in_child(name, &[], |library| {
        let host = Waits::begin(&library);
        host.polls();
        for command in [Waits::PAUSE, Waits::CONTINUE] {
            host.debugger(command);
            host.polls();
        }
        // The host does something else, and waits for the same once more.
        library.tile_write(1, 2, 0x3_0000, &[0]);
        library.clock(4096);
        host.polls();
        library.exit();
    });
    if is_child() {
        return;
    }
    assert_eq!(errors.matches("DEADLOCK on").count(), 2, "once for each wait: {errors}");
    assert!(!errors.contains("debugger"), "{errors}");
}

/// A debugger pauses a core before it is seen to hang, as tt-triage does and never lets it go on.
#[test]
fn host_that_waits_for_a_core_that_a_debugger_has_paused_is_told_so() {
    let name = "host_that_waits_for_a_core_that_a_debugger_has_paused_is_told_so";
    let errors = in_child(name, &[], |library| {
        let host = Waits::begin(&library);
        host.debugger(Waits::PAUSE);
        host.polls();
        host.polls();
        host.debugger(Waits::CONTINUE);
        host.polls();
        library.exit();
    });
    if is_child() {
        return;
    }
    let note =
        "note: the host waits while a debugger has paused BRISC of tile (0, 0) [NoC (1, 2)]:";
    assert_eq!(errors.matches(note).count(), 1, "{errors}");
    assert_eq!(errors.matches("DEADLOCK on").count(), 1, "{errors}");
    assert!(errors.find(note) < errors.find("DEADLOCK"), "{errors}");
}

#[test]
fn tile_calls_go_past_the_windows() {
    let errors = in_child("tile_calls_go_past_the_windows", &[], |library| {
        library.init();
        library.tile_write(3, 4, 0x4000, b"through the NoC");
        point(&library, 9, (3, 4), 0);
        assert_eq!(read::<15>(&library, BAR0 + (9 << 21) + 0x4000), *b"through the NoC");
        // DRAM channel 0 by its translated coordinate `[spec: host-abi 2.6]`, in its upper half.
        library.tile_write(18, 12, 0x8000_0000, b"dram");
        let mut bytes = [0; 4];
        library.tile_read(18, 12, 0x8000_0000, &mut bytes);
        assert_eq!(bytes, *b"dram");
        library.exit();
    });
    assert_eq!(errors, "");
}

#[test]
fn mistakes_are_named_once_and_the_process_lives() {
    let name = "mistakes_are_named_once_and_the_process_lives";
    let errors = in_child(name, &[], |library| {
        // Without a session.
        assert_eq!(library.config_read(0, 0), u32::MAX);
        assert_eq!(read::<4>(&library, BAR0), [0xFF; 4]);
        library.clock(1);
        library.exit();
        library.init();
        // In no BAR, past the last, and around the end of all addresses.
        for paddr in [0, BAR0 - 1, BAR2 + (1 << 20), BAR4 + (32 << 30), u64::MAX] {
            assert_eq!(read::<8>(&library, paddr), [0xFF; 8], "{paddr:#x}");
            library.mem_write(paddr, &[0; 8]);
        }
        // Out of the window at its end.
        point(&library, 0, (1, 2), 0);
        assert_eq!(read::<8>(&library, BAR0 + (1 << 21) - 4), [0xFF; 8]);
        // Where no tile is, and a rectangle beside the grid.
        point(&library, 1, (40, 50), 0);
        assert_eq!(read::<4>(&library, BAR0 + (1 << 21)), [0xFF; 4]);
        let beside: u128 = 60 << 43 | 60 << 49 | 50 << 55 | 50 << 61 | 1 << 69;
        write_register(&library, 1, beside);
        library.mem_write(BAR0 + (1 << 21), &[0; 4]);
        assert_eq!(read::<4>(&library, BAR0 + (1 << 21)), [0xFF; 4], "no read from a rectangle");
        // A register by halves, and at an odd address.
        point(&library, 2, (1, 2), 0xFFA0_0000);
        let registers = BAR0 + (2 << 21) + 0x11_0000;
        let _ = read::<2>(&library, registers + 0x21B0);
        let _ = read::<4>(&library, registers + 0x21B1);
        library.mem_write(WINDOW_REGISTERS + 2, &[0; 3]);
        let mut bytes = [0; 4];
        library.tile_read(900, 900, 0, &mut bytes);
        assert_eq!(bytes, [0xFF; 4]);
        // The same once more: said once.
        assert_eq!(read::<8>(&library, 0), [0xFF; 8]);
        assert_eq!(library.config_read(0, 0), IDENTITY, "and all is well");
        library.exit();
    });
    if is_child() {
        return;
    }
    for part in ["without a session", "libttsim_exit without", "is in no BAR", "no tile is there"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    let lines: Vec<&str> = errors.lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("tilescope: ")), "{errors}");
    let first = lines.iter().filter(|line| line.contains("address 0x0 (+8)")).count();
    assert_eq!(first, 2, "one for reading, one for writing: {errors}");
}

#[test]
fn null_buffer_is_a_mistake() {
    let errors = in_child("null_buffer_is_a_mistake", &[], |_| {
        // Through the Rust half of the same crate: a slice cannot be null.
        tilescope_bh::ttsim::libttsim_init();
        null_calls();
        tilescope_bh::ttsim::libttsim_exit();
    });
    if !is_child() {
        assert!(errors.contains("the buffer is a null pointer"), "{errors}");
    }
}

#[expect(unsafe_code, reason = "calls as C makes them")]
fn null_calls() {
    use tilescope_bh::ttsim::{libttsim_pci_mem_rd_bytes, libttsim_pci_mem_wr_bytes};
    // SAFETY: what is tested is that a null pointer is never followed.
    unsafe {
        libttsim_pci_mem_rd_bytes(BAR0, std::ptr::null_mut(), 4);
        libttsim_pci_mem_wr_bytes(BAR0, std::ptr::null(), 4);
        libttsim_pci_mem_rd_bytes(BAR0, std::ptr::null_mut(), 0);
    }
}

/// A mistake under each policy: `(exit code, signal)`.
#[test]
fn policy_decides_whether_the_process_goes_on() {
    use std::os::unix::process::ExitStatusExt as _;
    let name = "policy_decides_whether_the_process_goes_on";
    if is_child() {
        let library = DynamicLibrary::open(&common::library()).unwrap();
        library.init();
        assert_eq!(read::<4>(&library, 0), [0xFF; 4]);
        library.exit();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report.txt");
    let run = |policy: &str| {
        let variables = [("TILESCOPE_ON_ERROR", policy), ("TILESCOPE_REPORT", path(&report))];
        child(name, &variables).status
    };
    assert_eq!(run("continue").code(), Some(0));
    assert_eq!(run("exit").code(), Some(1));
    assert!(run("abort").signal().is_some());
    assert_eq!(run("nonsense").code(), Some(0));
    let text = std::fs::read_to_string(&report).unwrap();
    assert_eq!(text.matches("is in no BAR").count(), 4, "{text}");
    assert!(text.contains("TILESCOPE_ON_ERROR=\"nonsense\""), "{text}");
}

#[test]
fn setting_that_means_nothing_gives_no_device() {
    let variables = [("TILESCOPE_THREADS", "many")];
    let name = "setting_that_means_nothing_gives_no_device";
    let errors = in_child(name, &variables, |library| {
        library.init();
        assert_eq!(library.config_read(0, 0), u32::MAX);
        library.exit();
    });
    if !is_child() {
        assert!(errors.contains("no device: TILESCOPE_THREADS=many"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

/// A memory function that calls the library gets an answer, not a deadlock.
#[test]
fn memory_function_that_calls_back_is_refused() {
    let name = "memory_function_that_calls_back_is_refused";
    let errors = in_child(name, &[], |library| {
        drop(library);
        tilescope_bh::ttsim::libttsim_set_pci_dma_mem_callbacks(Some(calls_back), None);
        tilescope_bh::ttsim::libttsim_init();
        host_memory_read();
        tilescope_bh::ttsim::libttsim_exit();
    });
    if !is_child() {
        assert!(errors.contains("called from a memory callback"), "{errors}");
    }
}

/// Through window 0 of the PCIe tile, which is not translated `[spec: host-abi 2.5]`.
#[expect(unsafe_code, reason = "calls as C makes them")]
fn host_memory_read() {
    let mut bytes = [0_u8; 4];
    // SAFETY: the buffer is ours.
    unsafe {
        tilescope_bh::ttsim::libttsim_tile_rd_bytes(19, 24, 0x1000, bytes.as_mut_ptr().cast(), 4);
    }
    assert_eq!(bytes, [7; 4]);
}

#[expect(unsafe_code, reason = "a function that C calls")]
unsafe extern "C" fn calls_back(_paddr: u64, to: *mut c_void, size: u32) {
    assert_eq!(tilescope_bh::ttsim::libttsim_pci_config_rd32(0, 0), u32::MAX);
    // SAFETY: the library lends `size` bytes.
    unsafe { to.cast::<u8>().write_bytes(7, size as usize) }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
