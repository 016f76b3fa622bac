//! The launch message, byte for byte `[spec: boot-and-sync 1.4]`,
//! `[hdr: hw/inc/hostdev/dev_msgs.h]`.

use crate::layout::MAILBOX_BASE;

/// Bytes of one launch message.
pub const MESSAGE_BYTES: usize = 0x90;
/// L1 address of `go_messages[0]`.
pub const GO_MESSAGE: u32 = MAILBOX_BASE + 0x490;
/// L1 address of `launch_msg_rd_ptr`, the slot that firmware reads next.
pub const LAUNCH_RD_PTR: u32 = MAILBOX_BASE + 0xC;

/// L1 address of the launch message in slot `read_pointer` (0 to 7, wrapping).
#[must_use]
pub const fn launch_slot(read_pointer: u32) -> u32 {
    MAILBOX_BASE + 0x10 + (read_pointer & 7) * MESSAGE_BYTES as u32
}

/// `min_remote_cb_start_index` when there are no remote circular buffers.
const NO_REMOTE_CBS: u8 = 64;
/// Low byte of `cross_node_dfb_offset` for "none".
const NO_DFB: u16 = 0xFF;
/// Bit 7 of the `preload` byte.
const PRELOAD: u8 = 0x80;

/// Who is told that a launch is done `[hdr: hw/inc/hostdev/dev_msgs.h]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The dispatcher: firmware sends a NoC write and moves on to the next slot.
    Dev,
    /// The host, which polls the go signal; the slot stays the same.
    Host,
}

/// The values of a message that a plan decides.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) config_base: u32,
    pub(super) sem_offset: u16,
    pub(super) cb_offset: u16,
    /// Per core in message order: runtime arguments, common runtime arguments.
    pub(super) rta_offset: [(u16, u16); 5],
    pub(super) text_offset: [u32; 5],
    pub(super) text_size: [u32; 5],
    pub(super) cb_mask: u64,
    pub(super) noc: u8,
    pub(super) id: u32,
    pub(super) enables: u32,
    pub(super) preload: bool,
}

/// Lays the message out.
pub(super) fn encode(fields: &Fields, mode: Mode) -> [u8; MESSAGE_BYTES] {
    let mut message = [0; MESSAGE_BYTES];
    let mut put = |at: usize, bytes: &[u8]| message[at..at + bytes.len()].copy_from_slice(bytes);
    for kind in 0..4 {
        put(4 * kind, &fields.config_base.to_le_bytes());
        put(0x10 + 2 * kind, &fields.sem_offset.to_le_bytes());
    }
    put(0x18, &fields.cb_offset.to_le_bytes());
    put(0x1A, &fields.cb_offset.to_le_bytes());
    for core in 0..5 {
        put(0x1C + 4 * core, &fields.rta_offset[core].0.to_le_bytes());
        put(0x1E + 4 * core, &fields.rta_offset[core].1.to_le_bytes());
        put(0x34 + 4 * core, &fields.text_offset[core].to_le_bytes());
        put(0x48 + 4 * core, &fields.text_size[core].to_le_bytes());
    }
    put(0x30, &[u8::from(mode == Mode::Host)]);
    put(0x32, &NO_DFB.to_le_bytes());
    put(0x60, &fields.cb_mask.to_le_bytes());
    put(0x68, &[fields.noc, 0, NO_REMOTE_CBS]);
    put(0x6C, &fields.id.to_le_bytes());
    put(0x70, &fields.enables.to_le_bytes());
    put(0x8F, &[if fields.preload { PRELOAD } else { 0 }]);
    message
}
