//! One slot of the launch ring, taken apart.

use memory_map::layout::in_l1;
use memory_map::mailbox::Layout;
use sim_core::CoreId;

use super::{Dispatch, Memory, Phase, SEMAPHORE_STRIDE, SEMAPHORES, fill, word};

/// More bytes than a launch message has.
const MAX_SLOT_BYTES: u32 = 1 << 12;
/// Bytes of the configuration of a local circular buffer: address, size, pages, bytes of a page
/// `[spec: boot-and-sync 7.1]`.
const BUFFER_CONFIG_BYTES: u32 = 16;
/// Bytes of the configuration of a remote circular buffer: address of more, bytes of a page.
const REMOTE_CONFIG_BYTES: u32 = 8;
const BUFFERS: u32 = 64;
/// `RTA_CRTA_NO_ARGS_SENTINEL` `[hdr: hw/inc/hostdev/rta_constants.h]`.
const NO_ARGUMENTS: u16 = 0xFFFF;

/// Position of a core in the arrays of the launch message: BRISC, NCRISC, TRISC0, TRISC1, TRISC2
/// `[hdr: hw/inc/hostdev/dev_msgs.h]`. It differs from the order of [`CoreId::ALL`].
#[must_use]
pub const fn message_index(core: CoreId) -> usize {
    match core {
        CoreId::Brisc => 0,
        CoreId::Ncrisc => 1,
        CoreId::Trisc0 => 2,
        CoreId::Trisc1 => 3,
        CoreId::Trisc2 => 4,
    }
}

/// Where the slots lie, and the fields in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    first: u32,
    stride: u32,
    config_base: usize,
    sem_offset: usize,
    local_cb_offset: usize,
    remote_cb_offset: usize,
    rta: usize,
    crta: usize,
    mode: usize,
    text_offset: usize,
    /// Versions up to 0.72 have no such field.
    text_size: Option<usize>,
    local_cb_mask: usize,
    noc: usize,
    noc_mode: usize,
    min_remote_cb: usize,
    host_assigned_id: usize,
    enables: usize,
    watcher_ids: usize,
    origin_x: usize,
    origin_y: usize,
    preload: usize,
}

impl Slots {
    /// [`None`] if the layout lacks one of them.
    pub(super) fn of(layout: &Layout) -> Option<Self> {
        let first = layout.address("launch[0].kernel_config_base[0]")?;
        let stride = layout.address("launch[1].kernel_config_base[0]")?.checked_sub(first)?;
        let field = |name: &str| {
            let at = layout.address(&format!("launch[0].{name}"))?;
            at.checked_sub(first).map(|at| at as usize)
        };
        Some(Self {
            first,
            stride: stride.min(MAX_SLOT_BYTES),
            config_base: field("kernel_config_base[0]")?,
            sem_offset: field("sem_offset[0]")?,
            local_cb_offset: field("local_cb_offset")?,
            remote_cb_offset: field("remote_cb_offset")?,
            rta: field("rta_offset[0].rta")?,
            crta: field("rta_offset[0].crta")?,
            mode: field("mode")?,
            text_offset: field("kernel_text_offset[0]")?,
            text_size: field("kernel_text_size[0]"),
            local_cb_mask: field("local_cb_mask")?,
            noc: field("brisc_noc_id")?,
            noc_mode: field("brisc_noc_mode")?,
            min_remote_cb: field("min_remote_cb_start_index")?,
            host_assigned_id: field("host_assigned_id")?,
            enables: field("enables")?,
            watcher_ids: field("watcher_kernel_ids[0]")?,
            origin_x: field("sub_device_origin_x")?,
            origin_y: field("sub_device_origin_y")?,
            preload: field("preload")?,
        })
    }

    pub(super) fn read(&self, memory: &dyn Memory, index: u32) -> Slot {
        let mut bytes = vec![0; self.stride as usize];
        fill(memory, self.first + index * self.stride, &mut bytes);
        Slot { index, bytes, at: *self }
    }
}

/// What one core runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CoreLaunch {
    /// Firmware starts it. Firmware tests one bit for all three TRISCs. Cleared, with a dispatcher
    /// on the device, when the launch is done.
    pub enabled: bool,
    /// L1 address of the kernel's first instruction.
    pub text: u32,
    /// Bytes of the kernel, if the host said so.
    pub text_bytes: u32,
    /// The host's number of the kernel, 0 if it has none.
    pub watcher_id: u16,
    /// L1 address of the runtime arguments.
    pub arguments: Option<u32>,
    /// L1 address of the common runtime arguments.
    pub common_arguments: Option<u32>,
}

/// A circular buffer of the tile as configured (not as filled).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CircularBuffer {
    /// Index that kernels use.
    pub index: u32,
    /// First byte in L1.
    pub address: u32,
    /// Bytes of all pages.
    pub bytes: u32,
    /// Pages.
    pub pages: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
}

/// One end of a circular buffer between tiles `[hdr: hw/inc/internal/circular_buffer_init.h]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemoteBuffer {
    /// Index that kernels use.
    pub index: u32,
    /// L1 address of its configuration.
    pub config: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// This tile writes; otherwise it reads.
    pub sender: bool,
    /// How many tiles read.
    pub receivers: u32,
    /// First byte in L1.
    pub address: u32,
    /// L1 address of the NoC coordinates of the other end: pairs of words, one pair per receiver.
    pub others: u32,
    /// L1 address of the count of pages sent; that of pages acknowledged is 16 bytes further.
    pub pages_sent: u32,
}

/// A launch message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Which of the eight slots.
    pub slot: u32,
    /// How far it is.
    pub phase: Phase,
    /// Who launched it.
    pub dispatch: Dispatch,
    /// Bit 0 BRISC, 1 NCRISC, 2 all TRISCs; 0 when a launch from the device is done.
    pub enables: u32,
    /// L1 address from which the offsets count.
    pub config_base: u32,
    /// The number the host gave to this run of the program.
    pub host_assigned_id: u32,
    /// Which NoC BRISC uses in dedicated mode; NCRISC uses the other.
    pub brisc_noc: u8,
    /// 0 dedicated, 1 dynamic.
    pub noc_mode: u8,
    /// Logical coordinates of the sub-device's first tile.
    pub origin: (u8, u8),
    /// L1 address of semaphore 0.
    pub semaphores: u32,
    /// How many semaphores fit before whatever comes next.
    pub semaphore_count: u32,
    /// By [`CoreId::index`].
    pub cores: [CoreLaunch; CoreId::COUNT],
    /// L1 address of the configurations of the local circular buffers, if there are any.
    pub buffer_configs: Option<u32>,
    /// L1 address of those of the remote ones; it says nothing where there are none.
    pub remote_configs: u32,
    /// Local circular buffers by index.
    pub buffers: Vec<CircularBuffer>,
    /// Remote circular buffers, the highest index first.
    pub remote_buffers: Vec<RemoteBuffer>,
}

/// The bytes of a slot.
pub(super) struct Slot {
    index: u32,
    bytes: Vec<u8>,
    at: Slots,
}

impl Launch {
    /// Where firmware takes the arguments of a core to be that has none.
    #[must_use]
    pub fn no_arguments(&self) -> u32 {
        self.config_base.wrapping_add(NO_ARGUMENTS.into())
    }
}

impl Slot {
    fn take<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut found = [0; N];
        if let Some(from) = self.bytes.get(offset..offset + N) {
            found.copy_from_slice(from);
        }
        found
    }

    fn byte(&self, offset: usize) -> u8 {
        self.take::<1>(offset)[0]
    }

    fn half(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.take(offset))
    }

    fn word(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.take(offset))
    }

    pub(super) fn preload(&self) -> bool {
        self.byte(self.at.preload) & 0x80 != 0 && self.base().is_some()
    }

    pub(super) fn enables(&self) -> u32 {
        self.word(self.at.enables)
    }

    /// Who launched; `None` when the slot holds no message: no configuration address in L1.
    pub(super) fn dispatch(&self) -> Option<Dispatch> {
        self.base()?;
        match self.byte(self.at.mode) {
            0 => Some(Dispatch::Device),
            1 => Some(Dispatch::Host),
            _ => None,
        }
    }

    fn base(&self) -> Option<u32> {
        let base = self.word(self.at.config_base);
        (base != 0 && base.is_multiple_of(4) && in_l1(base, 4)).then_some(base)
    }

    pub(super) fn launch(&self, memory: &dyn Memory, phase: Phase) -> Option<Launch> {
        let (base, dispatch) = (self.base()?, self.dispatch()?);
        let sem_offset = self.half(self.at.sem_offset);
        Some(Launch {
            slot: self.index,
            phase,
            dispatch,
            enables: self.enables(),
            config_base: base,
            host_assigned_id: self.word(self.at.host_assigned_id),
            brisc_noc: self.byte(self.at.noc),
            noc_mode: self.byte(self.at.noc_mode),
            origin: (self.byte(self.at.origin_x), self.byte(self.at.origin_y)),
            semaphores: base.wrapping_add(sem_offset.into()),
            semaphore_count: self.semaphore_count(sem_offset.into()),
            cores: CoreId::ALL.map(|core| self.core(core, base)),
            buffer_configs: (self.buffer_mask() != 0).then(|| self.buffer_configs(base)),
            remote_configs: base.wrapping_add(self.half(self.at.remote_cb_offset).into()),
            buffers: self.buffers(memory, base),
            remote_buffers: self.remote_buffers(memory, base),
        })
    }

    fn core(&self, core: CoreId, base: u32) -> CoreLaunch {
        let i = message_index(core);
        let address = |offset: usize| {
            let offset = self.half(offset + 4 * i);
            (offset != NO_ARGUMENTS).then(|| base.wrapping_add(offset.into()))
        };
        CoreLaunch {
            enabled: self.enables() >> i.min(2) & 1 == 1,
            text: base.wrapping_add(self.word(self.at.text_offset + 4 * i)),
            text_bytes: self.at.text_size.map_or(0, |at| self.word(at + 4 * i)),
            watcher_id: self.half(self.at.watcher_ids + 2 * i),
            arguments: address(self.at.rta),
            common_arguments: address(self.at.crta),
        }
    }

    /// Semaphores lie between the arguments and the circular buffers' configurations: up to the
    /// next thing that has an offset.
    fn semaphore_count(&self, start: u32) -> u32 {
        let halves = [self.at.local_cb_offset, self.at.remote_cb_offset];
        let texts = (0..5).map(|i| self.word(self.at.text_offset + 4 * i));
        let others = halves.into_iter().map(|at| u32::from(self.half(at))).chain(texts);
        let end = others.filter(|other| *other >= start && *other != 0).min();
        end.map_or(SEMAPHORES, |end| ((end - start) / SEMAPHORE_STRIDE).min(SEMAPHORES))
    }

    fn buffer_mask(&self) -> u64 {
        u64::from_le_bytes(self.take(self.at.local_cb_mask))
    }

    fn buffer_configs(&self, base: u32) -> u32 {
        base.wrapping_add(self.half(self.at.local_cb_offset).into())
    }

    fn buffers(&self, memory: &dyn Memory, base: u32) -> Vec<CircularBuffer> {
        let (mask, configs) = (self.buffer_mask(), self.buffer_configs(base));
        let set = (0..BUFFERS).filter(|index| mask >> index & 1 == 1);
        set.map(|index| {
            let at = configs.wrapping_add(BUFFER_CONFIG_BYTES * index);
            let of = |word_index: u32| word(memory, at.wrapping_add(4 * word_index));
            let (address, bytes, pages, page_bytes) = (of(0), of(1), of(2), of(3));
            CircularBuffer { index, address, bytes, pages, page_bytes }
        })
        .filter(|buffer| in_l1(buffer.address, buffer.bytes))
        .collect()
    }

    fn remote_buffers(&self, memory: &dyn Memory, base: u32) -> Vec<RemoteBuffer> {
        let first = u32::from(self.byte(self.at.min_remote_cb));
        let configs = base.wrapping_add(self.half(self.at.remote_cb_offset).into());
        let downward = (first..BUFFERS).rev().zip(0_u32..);
        let found = downward.filter_map(|(index, n)| {
            let at = configs.wrapping_add(REMOTE_CONFIG_BYTES * n);
            let (config, page_bytes) = (word(memory, at), word(memory, at.wrapping_add(4)));
            // 0: this tile has no end of the buffer.
            if config == 0 || !in_l1(config, 32) {
                return None;
            }
            let of = |n: u32| word(memory, config.wrapping_add(4 * n));
            Some(RemoteBuffer {
                index,
                config,
                page_bytes,
                sender: of(0) != 0,
                receivers: of(1),
                address: of(2),
                others: of(5),
                pages_sent: of(6),
            })
        });
        found.collect()
    }
}
