//! What the tests share: a made-up L1 and the ELF files of the test programs. Addresses and offsets
//! are those of `[spec: boot-and-sync 1.2, 1.4]`, not taken from the code under test.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sim_core::CoreId;
use symbols::image::Image;

/// Cores in the order of the launch message's arrays, with the names of their files.
pub(crate) const CORES: [(CoreId, &str); 5] = [
    (CoreId::Brisc, "brisc"),
    (CoreId::Ncrisc, "ncrisc"),
    (CoreId::Trisc0, "trisc0"),
    (CoreId::Trisc1, "trisc1"),
    (CoreId::Trisc2, "trisc2"),
];

/// The test programs of the repository.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/programs")
}

pub(crate) fn image(path: &Path) -> Arc<Image> {
    Arc::new(Image::read_elf(path).expect("a good file"))
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("below the scratch directory")).expect("may be made");
    fs::write(path, bytes).expect("may be written");
}

/// L1 of a tile.
pub(crate) struct L1(pub(crate) Vec<u8>);

impl L1 {
    /// With firmware that is up: the jump to 0x3AE0 at 0 (assembled by the GNU assembler).
    pub(crate) fn booted() -> Self {
        let mut l1 = Self(vec![0; 0x18_0000]);
        l1.word(0, 0x2E10_306F);
        l1.word(0xBC4, 0x50EC_09A3);
        l1
    }

    /// For reading.
    pub(crate) fn memory(&self) -> impl Fn(u32, &mut [u8]) {
        |addr, bytes| bytes.copy_from_slice(&self.0[addr as usize..addr as usize + bytes.len()])
    }

    pub(crate) fn bytes(&mut self, at: u32, bytes: &[u8]) {
        self.0[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn byte(&mut self, at: u32, value: u8) {
        self.bytes(at, &[value]);
    }

    pub(crate) fn half(&mut self, at: u32, value: u16) {
        self.bytes(at, &value.to_le_bytes());
    }

    pub(crate) fn word(&mut self, at: u32, value: u32) {
        self.bytes(at, &value.to_le_bytes());
    }

    /// Puts an image where it was linked.
    pub(crate) fn load(&mut self, image: &Image) {
        for segment in image.loadable().filter(|segment| segment.addr < 0x18_0000) {
            self.bytes(segment.addr, &segment.bytes);
        }
    }

    /// Puts an image with its first byte at `at`.
    pub(crate) fn load_at(&mut self, image: &Image, at: u32) {
        let linked = image.loadable().map(|segment| segment.addr).min().expect("it has code");
        for segment in image.loadable() {
            self.bytes(segment.addr - linked + at, &segment.bytes);
        }
    }

    /// Slot `slot` with configuration at 0xA080: semaphores at +0x100, buffers at +0x120, remote
    /// buffers at +0x620, arguments of core i at +0x10 i, text of core i at 0x1000 (i + 1).
    pub(crate) fn launch(&mut self, slot: u32, host: bool, enables: u32) {
        let at = 0x70 + 0x90 * slot;
        self.word(at, 0xA080);
        self.half(at + 0x10, 0x100);
        self.half(at + 0x18, 0x120);
        self.half(at + 0x1A, 0x620);
        for i in 0..5 {
            self.half(at + 0x1C + 4 * i, (0x10 * i) as u16);
            self.half(at + 0x1E + 4 * i, 0x60);
            self.word(at + 0x34 + 4 * i, 0x1000 * (i + 1));
        }
        self.byte(at + 0x30, u8::from(host));
        self.byte(at + 0x6A, 64);
        self.word(at + 0x70, enables);
    }

    /// The host's number of the kernel of core `i` in message order.
    pub(crate) fn watcher_id(&mut self, slot: u32, i: u32, id: u16) {
        self.half(0x70 + 0x90 * slot + 0x78 + 2 * i, id);
    }

    pub(crate) fn signal(&mut self, signal: u8) {
        self.byte(0x4F3, signal);
    }

    pub(crate) fn read_pointer(&mut self, slot: u32) {
        self.word(0x6C, slot);
    }

    /// The test programs' firmware and their five-core kernels in slot 0, running.
    pub(crate) fn five_core() -> Self {
        let mut l1 = Self::booted();
        l1.launch(0, true, 7);
        l1.signal(0x80);
        for (i, (_, name)) in (0..).zip(CORES) {
            l1.load(&image(&programs().join(format!("embedded/{name}.elf"))));
            let kernel = image(&programs().join(format!("kernels/five-core/{name}.elf")));
            l1.load_at(&kernel, 0xA080 + 0x1000 * (i + 1));
            l1.watcher_id(0, i, [3, 5, 4, 4, 4][i as usize]);
        }
        l1
    }
}
