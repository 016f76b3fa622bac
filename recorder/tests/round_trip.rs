//! A session through the recorder on a device library of a few lines of C: what is recorded is what
//! was called and answered, and replays on that library.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hostlib::{DynamicLibrary, Op, Recording};

/// A device whose memory is 256 bytes, whatever the address; a clock adds one to byte 0.
const DEVICE: &str = r"
#include <stdint.h>
#include <string.h>
static uint8_t mem[256];
static void (*rd)(uint64_t, void *, uint32_t);
static void (*wr)(uint64_t, const void *, uint32_t);
void libttsim_init(void) { memset(mem, 0, sizeof mem); }
void libttsim_exit(void) {}
void libttsim_set_pci_dma_mem_callbacks(void (*r)(uint64_t, void *, uint32_t),
                                        void (*w)(uint64_t, const void *, uint32_t)) { rd = r; wr = w; }
uint32_t libttsim_pci_config_rd32(uint32_t b, uint32_t o) { return b << 16 | o; }
void libttsim_pci_config_wr32(uint32_t b, uint32_t o, uint32_t v) { mem[200] = b + o + v; }
void libttsim_pci_mem_rd_bytes(uint64_t a, void *p, uint32_t n) { memcpy(p, mem + a % 128, n); }
void libttsim_pci_mem_wr_bytes(uint64_t a, const void *p, uint32_t n) { memcpy(mem + a % 128, p, n); }
void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t a, void *p, uint32_t n) { memset(p, x + y + a, n); }
void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t a, const void *p, uint32_t n) { (void)x, (void)y, (void)a, (void)p, (void)n; }
void libttsim_clock(uint32_t n) { mem[0] += n; if (rd) { rd(0x10, mem + 8, 2); wr(0x20, mem + 8, 2); } }
";

fn recorder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let deps = test.parent().unwrap();
    let name = "libtilescope_record.so";
    let places = [deps.join(name), deps.join("..").join(name)];
    places.into_iter().find(|path| path.is_file()).expect("cargo builds it for its tests")
}

fn device(dir: &Path) -> PathBuf {
    let (source, library) = (dir.join("device.c"), dir.join("libdevice.so"));
    std::fs::write(&source, DEVICE).unwrap();
    let done =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(done.unwrap().success());
    library
}

/// The child: a host that does a little of everything, loading twice.
fn host() {
    let probe = DynamicLibrary::open(&recorder()).unwrap();
    probe.init();
    assert_eq!(probe.config_read(8, 4), 8 << 16 | 4);
    probe.exit();
    drop(probe);
    let library = DynamicLibrary::open(&recorder()).unwrap();
    library.set_host_memory(Some(Box::new(Sevens)));
    library.init();
    library.config_write(0, 4, 6);
    library.mem_write(0x10, b"abc");
    let mut bytes = [0; 3];
    library.mem_read(0x10, &mut bytes);
    assert_eq!(bytes, *b"abc");
    library.clock(5);
    library.mem_read(0, &mut bytes);
    assert_eq!(bytes, [5, 0, 0]);
    library.tile_write(1, 2, 0x40, b"x");
    library.tile_read(1, 2, 0x40, &mut bytes);
    assert_eq!(bytes, [0x43; 3]);
    // No exit: the host ends in mid-session.
}

#[derive(Debug)]
struct Sevens;

impl hostlib::HostMemory for Sevens {
    fn read(&mut self, _paddr: u64, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    fn write(&mut self, _paddr: u64, bytes: &[u8]) {
        assert_eq!(bytes, [7, 7]);
    }
}

#[test]
fn recorded_session_has_every_call_and_answer() {
    if std::env::var_os("TILESCOPE_RECORD_TARGET").is_some() {
        host();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "recorded_session_has_every_call_and_answer", "--nocapture"])
        .env("TILESCOPE_RECORD_TARGET", device(dir.path()))
        .env("TILESCOPE_RECORD_FILE", dir.path().join(OsStr::from_bytes(b"caf\xE9.%p.rec")))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files: Vec<PathBuf> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rec"))
        .collect();
    let [file] = &files[..] else { panic!("one file for both sessions: {files:?}") };
    let recording = Recording::parse(std::fs::read(file).unwrap()).unwrap();
    assert!(recording.is_complete());
    let calls: Vec<(Op, u64, u64, Vec<u8>)> =
        recording.records().map(|r| (r.op, r.a0, r.a1, r.bytes.to_vec())).collect();
    let expected: Vec<(Op, u64, u64, Vec<u8>)> = vec![
        (Op::Init, 0, 0, vec![]),
        (Op::ConfigRead, 8, 4, vec![4, 0, 8, 0]),
        (Op::Exit, 0, 0, vec![]),
        (Op::SetCallbacks, 0, 0, vec![]),
        (Op::Init, 0, 0, vec![]),
        (Op::ConfigWrite, 0, 4, vec![6, 0, 0, 0]),
        (Op::MemWrite, 0x10, 0, b"abc".to_vec()),
        (Op::MemRead, 0x10, 0, b"abc".to_vec()),
        (Op::Clock, 5, 0, vec![]),
        (Op::DmaRead, 0x10, 0, vec![7, 7]),
        (Op::DmaWrite, 0x20, 0, vec![7, 7]),
        (Op::MemRead, 0, 0, vec![5, 0, 0]),
        (Op::TileWrite, 0x40, 1 | 2 << 32, b"x".to_vec()),
        (Op::TileRead, 0x40, 1 | 2 << 32, vec![0x43; 3]),
    ];
    assert_eq!(calls, expected);
}

/// A host that begins a session and polls until it is killed.
fn polling_host() {
    let library = DynamicLibrary::open(&recorder()).unwrap();
    library.init();
    library.mem_write(0x10, b"abc");
    loop {
        library.clock(1);
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn killed_host_leaves_what_it_did_up_to_then() {
    if std::env::var_os("TILESCOPE_RECORD_TARGET").is_some() {
        polling_host();
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("session.rec");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed_host_leaves_what_it_did_up_to_then", "--nocapture"])
        .env("TILESCOPE_RECORD_TARGET", device(dir.path()))
        .env("TILESCOPE_RECORD_FILE", &file)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let calls = loop {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let recording = Recording::parse(bytes).ok().filter(|recording| recording.len() >= 3);
        if let Some(recording) = recording {
            break recording;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("nothing is written while the host polls");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let ops: Vec<Op> = calls.records().take(3).map(|record| record.op).collect();
    assert_eq!(ops, [Op::Init, Op::MemWrite, Op::Clock]);
}
