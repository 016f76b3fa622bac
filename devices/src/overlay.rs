//! NoC overlay: stream registers, as far as idle streams have them.
//!
//! Sources: `[isa-wh: NoC/Overlay/AsGeneralUse.md]` (widths, side effects), `[isa-wh:
//! NoC/Overlay/README.md]` (capabilities, state), `[hdr: hw/inc/internal/tt-1xx/blackhole/noc/
//! noc_overlay_parameters.h]` (indices; the Blackhole pages are not used) `[unknown: U-023]`.
//!
//! Software uses idle streams as counters: circular buffers keep "tiles acknowledged" in register
//! 8 and "tiles received" in register 10. Not modelled: the stream engine. Whatever would start a
//! stream, push a message or load configuration from L1 faults.

use sim_core::{Category, StateHasher};
use zero_pages::ZeroPages;

use crate::fault::{DeviceFault, ReadClass};

/// Streams of a Tensix tile.
pub const STREAMS: usize = memory_map::layout::STREAM_COUNT as usize;
/// Register indices of one stream's 4 KiB.
pub const REGISTERS: u16 = 1024;

/// The named registers that behave in some way of their own, by index.
pub mod index {
    #![allow(missing_docs, reason = "the names are the vendor's, without prefix and suffix")]
    use memory_map::reg::overlay as reg;

    const fn at(offset: u32) -> u16 {
        (offset / 4) as u16
    }

    pub const SOURCE_ENDPOINT_NEW_MSG_INFO: u16 = at(reg::SOURCE_ENDPOINT_NEW_MSG_INFO_OFFSET);
    pub const NUM_MSGS_RECEIVED_INC: u16 = at(reg::NUM_MSGS_RECEIVED_INC_OFFSET);
    pub const MISC_CFG: u16 = at(reg::MISC_CFG_OFFSET);
    pub const REMOTE_SRC: u16 = at(reg::REMOTE_SRC_OFFSET);
    pub const REMOTE_SRC_PHASE: u16 = at(reg::REMOTE_SRC_PHASE_OFFSET);
    pub const REMOTE_DEST_BUF_START: u16 = at(reg::REMOTE_DEST_BUF_START_OFFSET);
    pub const REMOTE_DEST_BUF_SIZE: u16 = at(reg::REMOTE_DEST_BUF_SIZE_OFFSET);
    pub const REMOTE_DEST_WR_PTR: u16 = at(reg::REMOTE_DEST_WR_PTR_OFFSET);
    pub const BUF_START: u16 = at(reg::BUF_START_OFFSET);
    pub const RD_PTR: u16 = at(reg::RD_PTR_OFFSET);
    pub const WR_PTR: u16 = at(reg::WR_PTR_OFFSET);
    pub const MSG_INFO_PTR: u16 = at(reg::MSG_INFO_PTR_OFFSET);
    pub const MSG_INFO_WR_PTR: u16 = at(reg::MSG_INFO_WR_PTR_OFFSET);
    pub const CURR_PHASE_BASE: u16 = at(reg::CURR_PHASE_BASE_OFFSET);
    pub const CURR_PHASE: u16 = at(reg::CURR_PHASE_OFFSET);
    pub const PHASE_AUTO_CFG_PTR_BASE: u16 = at(reg::PHASE_AUTO_CFG_PTR_BASE_OFFSET);
    pub const PHASE_AUTO_CFG_PTR: u16 = at(reg::PHASE_AUTO_CFG_PTR_OFFSET);
    pub const PHASE_AUTO_CFG_HEADER: u16 = at(reg::PHASE_AUTO_CFG_HEADER_OFFSET);
    pub const WAIT_STATUS: u16 = at(reg::WAIT_STATUS_OFFSET);
    pub const NUM_MSGS_RECEIVED: u16 = at(reg::NUM_MSGS_RECEIVED_OFFSET);
    pub const NEXT_RECEIVED_MSG_ADDR: u16 = at(reg::NEXT_RECEIVED_MSG_ADDR_OFFSET);
    pub const NEXT_RECEIVED_MSG_SIZE: u16 = at(reg::NEXT_RECEIVED_MSG_SIZE_OFFSET);
    pub const PHASE_ADVANCE: u16 = at(reg::PHASE_ADVANCE_OFFSET);
    pub const REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE: u16 =
        at(reg::REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE_OFFSET);
    pub const RESET: u16 = at(reg::RESET_OFFSET);
    pub const MSG_INFO_CAN_PUSH_NEW_MSG: u16 = at(reg::MSG_INFO_CAN_PUSH_NEW_MSG_OFFSET);
    pub const REMOTE_DEST_BUF_SPACE_AVAILABLE: u16 =
        at(reg::REMOTE_DEST_BUF_SPACE_AVAILABLE_OFFSET);
    pub const DEBUG_STATUS_2: u16 = at(reg::DEBUG_STATUS_OFFSET) + 2;
}
use index as r;

/// Words kept per stream: plain registers 0..=41, then the space-available counters.
const PLAIN: usize = 42;
const SPACE: usize = 32;

/// `MISC_CFG` bit that makes a stream load configuration from L1
/// `[isa-wh: NoC/Overlay/README.md]`.
const PHASE_AUTO_CONFIG: u32 = 1 << 9;

/// One register that changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegisterChange {
    /// Register index.
    pub register: u16,
    /// Value before, as it would have read.
    pub before: u32,
    /// Value after.
    pub after: u32,
}

/// What a stream can do beyond the common set `[isa-wh: NoC/Overlay/README.md]`; on Blackhole the
/// multicast-capable ones are 0 to 3 as well `[hdr: noc_overlay_parameters.h]`.
#[derive(Clone, Copy)]
struct Capabilities {
    multicast: bool,
    gather: bool,
    dram: bool,
}

const fn capabilities(stream: usize) -> Capabilities {
    Capabilities {
        multicast: stream < 4,
        gather: stream < 6,
        dram: stream < 4 || matches!(stream, 8..=11),
    }
}

/// How many space-available counters a stream has.
const fn space_count(stream: usize) -> usize {
    if capabilities(stream).multicast { SPACE } else { 1 }
}

/// Bits of a plain register that exist, 0 if it does not on this stream.
fn width_mask(stream: usize, register: u16) -> u32 {
    let can = capabilities(stream);
    let bits = match register {
        r::MISC_CFG | r::REMOTE_SRC => 24,
        r::REMOTE_SRC_PHASE | r::CURR_PHASE_BASE | r::CURR_PHASE => 20,
        6 | 16 => 4,
        7 => 18,
        9 | 14 if can.dram => 15,
        36..=41 if can.dram => 24,
        24 if can.multicast => 19,
        25 if can.multicast => 6,
        26 if can.gather => 4,
        9 | 14 | 24 | 25 | 26 | 36..=41 => 0,
        r::REMOTE_DEST_BUF_START
        | r::REMOTE_DEST_BUF_SIZE
        | r::REMOTE_DEST_WR_PTR
        | 12
        | 13
        | r::BUF_START
        | 18
        | r::RD_PTR
        | r::WR_PTR
        | 21
        | r::MSG_INFO_PTR
        | r::MSG_INFO_WR_PTR
        | r::PHASE_AUTO_CFG_PTR_BASE
        | r::PHASE_AUTO_CFG_PTR => 17,
        r::PHASE_AUTO_CFG_HEADER => return 0xFFFF_F000,
        _ => return u32::MAX,
    };
    (1_u32 << bits).wrapping_sub(1)
}

/// All streams of a tile. Most are never touched.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The registers that keep a value: the plain ones, and the counters of space.
    streams: ZeroPages<[([u32; PLAIN], [u32; SPACE]); STREAMS]>,
}

/// One stream.
#[derive(Clone, Copy)]
struct Stream<'a> {
    plain: &'a [u32; PLAIN],
    space: &'a [u32; SPACE],
}

impl Default for Overlay {
    fn default() -> Self {
        Self::new()
    }
}

#[cold]
fn no_stream(stream: u8) -> DeviceFault {
    let text = format!("overlay stream {stream} does not exist; there are {STREAMS}");
    DeviceFault::new(Category::UndefinedBehavior, "overlay-unmapped", text)
}

fn engine(stream: u8, register: u16, what: &str) -> DeviceFault {
    let text = format!("stream {stream} register {register}: {what}, which is not simulated");
    DeviceFault::new(Category::Unsupported, "overlay-stream-engine", text)
}

/// What is against a write.
#[derive(Clone, Copy)]
enum Objection {
    /// It would need the stream engine, since it does this.
    Engine(&'static str),
    /// It cannot work.
    ReadOnly,
}

#[inline]
const fn objection(register: u16, value: u32) -> Option<Objection> {
    Some(Objection::Engine(match register {
        r::SOURCE_ENDPOINT_NEW_MSG_INFO | r::NUM_MSGS_RECEIVED_INC => "pushes a message",
        r::PHASE_ADVANCE => "starts the stream",
        r::MISC_CFG if value & PHASE_AUTO_CONFIG != 0 => "loads configuration from L1",
        0..42 | r::REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE => return None,
        r::RESET | 206 | 207 | 224..=226 | 254..=256 | 264..=269 | 272 | 276 | 291..=294 => {
            "controls the stream engine"
        }
        _ => return Some(Objection::ReadOnly),
    }))
}

/// A write is refused.
#[cold]
fn refusal(stream: u8, register: u16, objection: Objection) -> DeviceFault {
    match objection {
        Objection::Engine(what) => engine(stream, register, what),
        Objection::ReadOnly => {
            let text = format!("stream {stream} register {register} is read-only or unused");
            DeviceFault::new(Category::NonContractual, "overlay-read-only", text)
        }
    }
}

impl Overlay {
    /// All streams idle, all registers zero.
    #[must_use]
    pub fn new() -> Self {
        Self { streams: ZeroPages::new() }
    }

    /// Stream and register index of a byte offset into the overlay's address range.
    #[must_use]
    pub fn locate(offset: u32) -> Option<(u8, u16)> {
        let stream = u8::try_from(offset >> 12).ok().filter(|&s| usize::from(s) < STREAMS)?;
        (offset & 3 == 0).then_some((stream, (offset >> 2 & 0x3FF) as u16))
    }

    /// How a polling core has to treat a register: all of them change only by writes.
    #[must_use]
    pub fn read_class(register: u16) -> ReadClass {
        let _ = register;
        ReadClass::Pure
    }

    fn stream(&self, stream: u8) -> Result<Stream<'_>, DeviceFault> {
        let (plain, space) =
            self.streams.get(usize::from(stream)).ok_or_else(|| no_stream(stream))?;
        Ok(Stream { plain, space })
    }

    /// Reads a register of a stream.
    ///
    /// # Errors
    /// `overlay-unmapped`: no such stream. `overlay-stream-engine`: shows a running stream's
    /// state, which is not simulated. `overlay-write-only`: has no value.
    pub fn read(&self, stream: u8, register: u16) -> Result<u32, DeviceFault> {
        let state = self.stream(stream)?;
        Ok(match register {
            r::PHASE_ADVANCE => 0,
            r::SOURCE_ENDPOINT_NEW_MSG_INFO
            | r::NUM_MSGS_RECEIVED_INC
            | r::REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE => {
                let text = format!("stream {stream} register {register} is write-only");
                let category = Category::UnpredictableValue;
                return Err(DeviceFault::new(category, "overlay-write-only", text));
            }
            r::CURR_PHASE | r::REMOTE_SRC_PHASE => {
                let base = state.plain[usize::from(r::CURR_PHASE_BASE)];
                state.plain[usize::from(register)].wrapping_sub(base) & 0xF_FFFF
            }
            r::PHASE_AUTO_CFG_PTR => {
                let base = state.plain[usize::from(r::PHASE_AUTO_CFG_PTR_BASE)];
                state.plain[usize::from(register)].wrapping_sub(base) & 0x1_FFFF
            }
            0..42 => state.plain[usize::from(register)],
            // Idle: waits for software to start it.
            r::WAIT_STATUS => 1,
            r::NUM_MSGS_RECEIVED | r::NEXT_RECEIVED_MSG_SIZE => 0,
            r::NEXT_RECEIVED_MSG_ADDR => {
                let start = state.plain[usize::from(r::BUF_START)];
                start.wrapping_add(state.plain[usize::from(r::RD_PTR)]) & 0x1_FFFF
            }
            r::MSG_INFO_CAN_PUSH_NEW_MSG => {
                let [a, b] = [r::MSG_INFO_PTR, r::MSG_INFO_WR_PTR].map(usize::from);
                u32::from(state.plain[a] == state.plain[b])
            }
            r::DEBUG_STATUS_2 => {
                let count = space_count(usize::from(stream));
                u32::from(state.space[..count].iter().all(|&space| space != 0)) << 3
            }
            297..329 => match usize::from(register - r::REMOTE_DEST_BUF_SPACE_AVAILABLE) {
                i if i < space_count(usize::from(stream)) => state.space[i],
                _ => 0,
            },
            _ => return Err(engine(stream, register, "shows the stream engine's state")),
        })
    }

    /// Phase (`CURR_PHASE`) and message count as `STREAMWAIT` sees them.
    ///
    /// # Errors
    /// `overlay-unmapped`: no such stream.
    pub fn progress(&self, stream: u8) -> Result<(u32, u32), DeviceFault> {
        Ok((self.read(stream, r::CURR_PHASE)?, self.read(stream, r::NUM_MSGS_RECEIVED)?))
    }

    /// Whether [`Overlay::write`] would take that.
    #[must_use]
    pub fn takes(&self, stream: u8, register: u16, value: u32) -> bool {
        usize::from(stream) < STREAMS
            && objection(register, value).is_none()
            && register != r::REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE
    }

    /// Writes a register of a stream; tells `changed` of every register that has changed.
    ///
    /// # Errors
    /// `overlay-unmapped`: no such stream. `overlay-stream-engine`: would start a stream or push a
    /// message. `overlay-read-only`: the register cannot be written.
    pub fn write(
        &mut self,
        stream: u8,
        register: u16,
        value: u32,
        mut changed: impl FnMut(RegisterChange),
    ) -> Result<(), DeviceFault> {
        let number = usize::from(stream);
        if number >= STREAMS {
            return Err(no_stream(stream));
        }
        if let Some(objection) = objection(register, value) {
            return Err(refusal(stream, register, objection));
        }
        let changed = &mut changed;
        match register {
            r::PHASE_AUTO_CFG_HEADER => {
                let phase = self.streams[number].0[usize::from(r::CURR_PHASE)];
                self.set(number, r::CURR_PHASE, phase.wrapping_add(value & 0xFFF), changed);
                self.set(number, register, value, changed);
            }
            r::CURR_PHASE | r::REMOTE_SRC_PHASE => {
                let base = self.streams[number].0[usize::from(r::CURR_PHASE_BASE)];
                self.set(number, register, value.wrapping_add(base), changed);
            }
            r::PHASE_AUTO_CFG_PTR => {
                let base = self.streams[number].0[usize::from(r::PHASE_AUTO_CFG_PTR_BASE)];
                self.set(number, register, value.wrapping_add(base), changed);
            }
            r::REMOTE_DEST_BUF_SIZE => {
                self.set(number, register, value, changed);
                for i in 0..space_count(number) {
                    self.set_space(number, i, value, changed);
                }
            }
            r::REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE => {
                let i = (value & 0x3F) as usize;
                if i < space_count(number) {
                    let sum = self.streams[number].1[i].wrapping_add(value >> 6);
                    self.set_space(number, i, sum, changed);
                } else {
                    let text = format!("stream {stream} has no space-available counter {i}");
                    let category = Category::UndefinedBehavior;
                    return Err(DeviceFault::new(category, "overlay-counter", text));
                }
            }
            0..42 => {
                self.set(number, register, value, changed);
                let cleared: &[u16] = match register {
                    r::BUF_START => &[r::RD_PTR, r::WR_PTR],
                    r::REMOTE_DEST_BUF_START => &[r::REMOTE_DEST_WR_PTR],
                    _ => &[],
                };
                cleared.iter().for_each(|&other| self.set(number, other, 0, changed));
            }
            // Nothing else gets past the check.
            _ => {}
        }
        Ok(())
    }

    fn set(
        &mut self,
        stream: usize,
        register: u16,
        value: u32,
        changed: &mut impl FnMut(RegisterChange),
    ) {
        let value = value & width_mask(stream, register);
        let slot = &mut self.streams[stream].0[usize::from(register)];
        let before = std::mem::replace(slot, value);
        if before != value {
            changed(RegisterChange { register, before, after: value });
        }
    }

    fn set_space(
        &mut self,
        stream: usize,
        i: usize,
        value: u32,
        changed: &mut impl FnMut(RegisterChange),
    ) {
        let value = value & 0x1_FFFF;
        let before = std::mem::replace(&mut self.streams[stream].1[i], value);
        if before != value {
            let register = r::REMOTE_DEST_BUF_SPACE_AVAILABLE + i as u16;
            changed(RegisterChange { register, before, after: value });
        }
    }

    /// All streams idle, all registers zero.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Adds the registers to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { streams } = self;
        for (plain, space) in streams.iter() {
            hasher.words(plain);
            hasher.words(space);
        }
    }
}

#[cfg(test)]
mod tests;
