//! What a tile's L1 says about the launch that is in force: kernels, arguments, semaphores and
//! circular buffers.
//!
//! It reads the vendor firmware's mailbox block (ttnn 0.81.1). A tile that runs something else, as
//! the LLK tests do, has none, and the checks below say so.
//!
//! Sources: `[spec: boot-and-sync 1.4, 1.5, 7.1, 7.3]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`,
//! `[hdr: hw/firmware/src/tt-1xx/brisc.cc]`.

mod slot;

use memory_map::layout::{L1_BYTES, in_l1};
use memory_map::mailbox::address;
use sim_core::CoreId;

pub use slot::{CircularBuffer, CoreLaunch, Launch, RemoteBuffer, message_index};

use slot::Slot;

/// `core_info.core_magic_number` of a worker tile.
const WORKER: u32 = 0x50EC_09A3;
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

/// Address of a field that the table of `memory-map` has.
fn at(name: &str) -> u32 {
    address(name).expect("the mailbox table has a row for this field")
}

impl Launched {
    /// Reads the mailbox block; `None` if L1 does not hold one that firmware uses: the word at 0
    /// must jump to where BRISC firmware lies, and pointers, the go signal, the bytes of the
    /// subordinates and the tile's magic number (0 or a worker's) must have values that exist.
    #[must_use]
    pub fn read(memory: &dyn Memory) -> Option<Self> {
        let firmware =
            memory_map::layout::AREAS.iter().find(|area| area.name == "brisc_firmware")?;
        let entry = jump_target(word(memory, 0))?;
        if !(firmware.base..firmware.base + firmware.bytes).contains(&entry) {
            return None;
        }
        let magic = word(memory, at("core_info.core_magic_number"));
        let read_pointer = word(memory, at("launch_msg_rd_ptr"));
        let index = word(memory, at("go_message_index"));
        if (magic != 0 && magic != WORKER) || read_pointer >= LAUNCH_SLOTS || index >= GO_MESSAGES {
            return None;
        }
        let go = bytes::<4>(memory, at("go_messages[0].dispatch_message_offset") + 4 * index);
        let go =
            Go { index, signal: go[3], master: (go[1], go[2]), dispatch_message_offset: go[0] };
        let subordinates = bytes::<4>(memory, at("subordinate_sync.dm1"));
        if !matches!(go.signal, 0 | 0x40 | 0x80 | 0xC0 | 0xE0 | 0xF0)
            || !subordinates.iter().all(|byte| matches!(byte, 0..=3 | 0x40 | 0x80))
        {
            return None;
        }
        let launch = in_force(memory, read_pointer, go.signal);
        Some(Self { read_pointer, go, subordinates, launch })
    }
}

/// The slot whose launch is in force. With a dispatcher on the device firmware clears `enables` of
/// a slot when it is done and goes on to the next; with the host as dispatcher it stays.
fn in_force(memory: &dyn Memory, read_pointer: u32, signal: u8) -> Option<Launch> {
    let slot = |index: u32| Slot::read(memory, index & (LAUNCH_SLOTS - 1));
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
