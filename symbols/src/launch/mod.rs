//! What a tile's L1 says about the launch that is in force: kernels, arguments, semaphores and
//! circular buffers.
//!
//! It reads the vendor firmware's mailbox block, by the layout of that firmware's version. A tile that runs something
//! else, as the LLK tests do, has none, and the checks below say so.
//!
//! Sources: `[spec: boot-and-sync 1.4, 1.5, 7.1, 7.3]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`,
//! `[hdr: hw/firmware/src/tt-1xx/brisc.cc]`.

mod slot;

use std::sync::{Arc, LazyLock};

use memory_map::layout::{L1_BYTES, in_l1};
use memory_map::mailbox::Layout;
use sim_core::CoreId;

pub use slot::{CircularBuffer, CoreLaunch, Launch, RemoteBuffer, message_index};

use slot::{Slot, Slots};

/// `core_info.core_magic_number` of a worker tile `[hdr: hw/inc/hostdev/dev_msgs.h]`.
pub const WORKER: u32 = 0x50EC_09A3;
/// Bytes from one semaphore to the next: `L1_ALIGNMENT` of Blackhole
/// `[hdr: hw/inc/api/dataflow/dataflow_api.h]` (`get_semaphore`).
pub const SEMAPHORE_STRIDE: u32 = 16;
/// Semaphores a program can have at most `[inferred: ids of the host's interface are 0 to 15]`.
pub const SEMAPHORES: u32 = 16;
/// Launch messages of a tile, `launch_msg_buffer_num_entries` `[hdr: hw/inc/hostdev/dev_msgs.h]`.
pub const LAUNCH_SLOTS: u32 = 8;
/// Go messages of a tile, `go_message_num_entries` `[hdr: hw/inc/hostdev/dev_msgs.h]`.
pub const GO_MESSAGES: u32 = 9;
/// `RUN_MSG_GO`.
const GO: u8 = 0x80;

/// L1 of a tile, to be read.
pub trait Memory {
    /// Fills `bytes` from L1 address `addr` on; all of it lies in L1.
    fn l1(&self, addr: u32, bytes: &mut [u8]);
}

impl<F: Fn(u32, &mut [u8])> Memory for F {
    fn l1(&self, addr: u32, bytes: &mut [u8]) {
        self(addr, bytes);
    }
}

/// A copy of L1 from address 0 on; what it does not have reads as zero.
impl Memory for [u8] {
    fn l1(&self, addr: u32, bytes: &mut [u8]) {
        bytes.fill(0);
        let Some(from) = usize::try_from(addr).ok().and_then(|addr| self.get(addr..)) else {
            return;
        };
        let length = from.len().min(bytes.len());
        bytes[..length].copy_from_slice(&from[..length]);
    }
}

pub(crate) fn bytes<const N: usize>(memory: &dyn Memory, addr: u32) -> [u8; N] {
    let mut bytes = [0; N];
    fill(memory, addr, &mut bytes);
    bytes
}

/// Reads what may lie outside L1, where there is nothing but zeros.
pub(crate) fn fill(memory: &dyn Memory, addr: u32, bytes: &mut [u8]) {
    if u32::try_from(bytes.len()).is_ok_and(|length| in_l1(addr, length)) {
        memory.l1(addr, bytes);
    }
}

pub(crate) fn word(memory: &dyn Memory, addr: u32) -> u32 {
    u32::from_le_bytes(bytes(memory, addr))
}

/// What firmware was last told to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Go {
    /// Which go message firmware listens to (one per sub-device).
    pub index: u32,
    /// Its signal, see `RUN_MSG_...`.
    pub signal: u8,
    /// Coordinates of the tile that is told when it is done.
    pub master: (u8, u8),
    /// Which of that tile's counters.
    pub dispatch_message_offset: u8,
}

/// Who launches, as the launch message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// A dispatcher on the device (fast dispatch): firmware goes on to the next slot when done.
    Device,
    /// The host (slow dispatch, and the dispatcher's own kernels): always the same slot.
    Host,
}

/// How far a launch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Written, neither started nor told to go.
    Staged,
    /// Its kernels are started and wait for GO.
    Preloaded,
    /// GO was given and DONE has not been said.
    Running,
    /// DONE. In host mode a next launch whose message is written but not started looks so too.
    Finished,
}

/// What the mailbox block says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launched {
    /// The slot firmware reads next, or reads now.
    pub read_pointer: u32,
    /// The go message in force.
    pub go: Go,
    /// Bytes by which BRISC starts NCRISC, TRISC0, TRISC1, TRISC2.
    pub subordinates: [u8; 4],
    /// The launch in force, or the last one; `None` before the first.
    pub launch: Option<Launch>,
}

/// Whether that lies in BRISC's firmware of the version whose layout of the mailbox block is the built-in one.
#[must_use]
pub fn is_built_in(entry: u32) -> bool {
    memory_map::layout::area(entry).is_some_and(|area| area.name == "brisc_firmware")
}

/// Where the firmware of BRISC begins: the word at 0 jumps there. [`None`] where there is none.
#[must_use]
pub fn entry(memory: &dyn Memory) -> Option<u32> {
    jump_target(word(memory, 0))
}

/// The mailbox block of a version of the firmware, ready to be read.
#[derive(Debug)]
pub struct Mailbox {
    layout: Layout,
    /// Where BRISC's firmware begins; [`None`]: where that of the built-in layout lies.
    entry: Option<u32>,
    slots: Slots,
    magic: u32,
    read_pointer: u32,
    go_index: u32,
    go: u32,
    subordinates: u32,
}

static BUILT_IN: LazyLock<Arc<Mailbox>> = LazyLock::new(|| {
    let mailbox = Mailbox::of(Layout::built_in().clone(), None);
    Arc::new(mailbox.expect("the mailbox table has a row for each field"))
});

impl Mailbox {
    /// That of ttnn 0.81.1.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    /// That of firmware whose BRISC begins at `entry`. [`None`] if the layout lacks a field that every version has.
    #[must_use]
    pub fn new(layout: Layout, entry: u32) -> Option<Self> {
        Self::of(layout, Some(entry))
    }

    fn of(layout: Layout, entry: Option<u32>) -> Option<Self> {
        Some(Self {
            entry,
            slots: Slots::of(&layout)?,
            magic: layout.address("core_info.core_magic_number")?,
            read_pointer: layout.address("launch_msg_rd_ptr")?,
            go_index: layout.address("go_message_index")?,
            go: layout.address("go_messages[0].dispatch_message_offset")?,
            subordinates: layout.address("subordinate_sync.dm1")?,
            layout,
        })
    }

    /// Whether firmware that begins there may be of this version.
    fn is_of(&self, entry: u32) -> bool {
        self.entry.map_or_else(|| is_built_in(entry), |own| own == entry)
    }

    /// How much further up firmware lies than the built-in table says, with all behind the block.
    #[must_use]
    pub fn firmware_offset(&self) -> i32 {
        let built_in = memory_map::layout::area_base("brisc_firmware");
        // Both lie in L1.
        self.entry.zip(built_in).map_or(0, |(own, built_in)| own.wrapping_sub(built_in) as i32)
    }

    /// The names and addresses of its fields.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl Launched {
    /// Reads the mailbox block; [`None`] if L1 does not hold one that firmware uses:
    /// the word at 0 must jump to BRISC's firmware of that version, and pointers, the go signal, the bytes of the
    /// subordinates and the tile's magic number (0 or a worker's) must have values that exist.
    #[must_use]
    pub fn read(memory: &dyn Memory, mailbox: &Mailbox) -> Option<Self> {
        entry(memory).filter(|entry| mailbox.is_of(*entry))?;
        let magic = word(memory, mailbox.magic);
        let read_pointer = word(memory, mailbox.read_pointer);
        let index = word(memory, mailbox.go_index);
        if (magic != 0 && magic != WORKER) || read_pointer >= LAUNCH_SLOTS || index >= GO_MESSAGES {
            return None;
        }
        let go = bytes::<4>(memory, mailbox.go + 4 * index);
        let go =
            Go { index, signal: go[3], master: (go[1], go[2]), dispatch_message_offset: go[0] };
        let subordinates = bytes::<4>(memory, mailbox.subordinates);
        if !matches!(go.signal, 0 | 0x40 | 0x80 | 0xC0 | 0xE0 | 0xF0)
            || !subordinates.iter().all(|byte| matches!(byte, 0..=3 | 0x40 | 0x80))
        {
            return None;
        }
        let launch = in_force(memory, &mailbox.slots, read_pointer, go.signal);
        Some(Self { read_pointer, go, subordinates, launch })
    }
}

/// The slot whose launch is in force. With a dispatcher on the device firmware clears `enables` of
/// a slot when it is done and goes on to the next; with the host as dispatcher it stays.
fn in_force(memory: &dyn Memory, slots: &Slots, read_pointer: u32, signal: u8) -> Option<Launch> {
    let slot = |index: u32| slots.read(memory, index & (LAUNCH_SLOTS - 1));
    let current = slot(read_pointer);
    let launch = |slot: &Slot, phase| slot.launch(memory, phase);
    if signal == GO {
        return launch(&current, Phase::Running);
    }
    if current.preload() {
        return launch(&current, Phase::Preloaded);
    }
    if current.dispatch() == Some(Dispatch::Host) {
        return launch(&current, Phase::Finished);
    }
    let previous = slot(read_pointer.wrapping_sub(1));
    let done = previous.dispatch() == Some(Dispatch::Device) && previous.enables() == 0;
    let finished = if done { launch(&previous, Phase::Finished) } else { None };
    let staged = || launch(&current, Phase::Staged).filter(|launch| launch.enables != 0);
    finished.or_else(staged)
}

/// Where an unconditional jump at address 0 leads, if the word is one that saves no address.
fn jump_target(word: u32) -> Option<u32> {
    if word & 0xFFF != 0x06F {
        return None;
    }
    let bits = |from: u32, count: u32, to: u32| (word >> from & ((1 << count) - 1)) << to;
    let target = bits(31, 1, 20) | bits(12, 8, 12) | bits(20, 1, 11) | bits(21, 10, 1);
    (target < L1_BYTES && in_l1(target, 4)).then_some(target)
}

impl Launch {
    /// What a core runs.
    #[must_use]
    pub const fn core(&self, core: CoreId) -> &CoreLaunch {
        &self.cores[core.index()]
    }

    /// The semaphore that covers an L1 address, by id.
    #[must_use]
    pub fn semaphore(&self, addr: u32) -> Option<u32> {
        let offset = addr.checked_sub(self.semaphores)?;
        let id = offset / SEMAPHORE_STRIDE;
        (id < self.semaphore_count).then_some(id)
    }

    /// The local circular buffer of that index.
    #[must_use]
    pub fn buffer(&self, index: u32) -> Option<&CircularBuffer> {
        self.buffers.iter().find(|buffer| buffer.index == index)
    }

    /// The local circular buffer whose pages cover an L1 address; several may share memory.
    #[must_use]
    pub fn buffer_at(&self, addr: u32) -> Option<&CircularBuffer> {
        self.buffers.iter().find(|buffer| addr.wrapping_sub(buffer.address) < buffer.bytes)
    }
}
