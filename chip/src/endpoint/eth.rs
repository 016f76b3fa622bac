//! An ethernet tile whose link is down, as its base firmware leaves it. Its core does not run.
//!
//! Source: `[spec: host-abi 2.7]`; messages:
//! `[hdr: hw/inc/internal/tt-1xx/blackhole/eth_fw_api.h]`.

use devices::niu::Identity;
use devices::risc_debug::facts::status;
use devices::{DeviceFault, Niu, TileControl, TileControlEffect};
use memory_map::reg::{noc_niu, tile_control};
use memory_map::{Target, View, lookup};
use sim_core::{Category, Cycle, StateHasher};

use super::memory::{Endpoint, Ram, unmapped};
use crate::grid::{eth_position, eth_translated};

/// Bytes of an ethernet tile's L1.
const L1_BYTES: usize = 512 << 10;
/// Words that the base firmware leaves: address, value.
const PRESET: &[(u64, u32)] = &[
    // Boot status and link status: 2 = down.
    (0x7CC00, 0xC0DE_A000),
    (0x7CC04, 2),
    // Base firmware version 1.6.0, least byte first.
    (0x7CFBC, 0x0001_0600),
    // Functions other firmware calls: each is the `ret` at RETURN.
    (0x7CF00, RETURN as u32),
    (0x7CF04, RETURN as u32),
    (0x7CF08, RETURN as u32),
    (RETURN, 0x0000_8067),
];
/// Where an instruction that returns at once lies.
const RETURN: u64 = 0x7CF10;
/// Counts up each time it is read.
const HEARTBEAT: u64 = 0x7CC70;
/// Launch messages of the runtime's firmware. Go messages lie behind them, and each version has launch messages of its
/// own length, which the host clears at once `[hdr: hw/inc/hostdev/dev_msgs.h]`.
const LAUNCHES: u64 = 0x110;
/// So many there are, each no shorter than that.
const LAUNCH_SLOTS: usize = 8;
const LEAST_LAUNCH_BYTES: usize = 64;
/// Go messages of ttnn 0.81.1.
const GO: u64 = 0x590;
/// A go message that asks firmware to begin: it says that it has by clearing the top byte, its signal.
const GO_INIT: u32 = 0x40;

/// The host's mailbox to the base firmware: a message word, then three arguments.
const MAILBOX: u64 = 0x7D000;
/// State of a message, above its type.
const MESSAGE_STATE: u32 = 0xFFFF_0000;
const MESSAGE_CALL: u32 = 0xCA11_0000;
const MESSAGE_DONE: u32 = 0xD0E5_0000;
/// Looks at the link and updates its status, which here stays: down.
const LINK_STATUS_CHECK: u32 = 1;
/// Lets firmware of the host's run on the core.
const RELEASE_CORE: u32 = 2;

/// Registers that keep what is written: address, reset value.
const REGISTERS: &[(u64, u32)] = &[
    // SOFT_RESET_0: the two cores of an ethernet tile.
    (SOFT_RESET, CORE_RESETS),
    // IERISC_RESET_PC and its override, ERISC1's.
    (0xFFB1_4000, 0),
    (0xFFB1_4004, 0),
    (0xFFB1_4008, 0),
    (0xFFB1_400C, 0),
    // INTERRUPT_MODE of the four sources.
    (0xFFB1_4020, 0),
    (0xFFB1_4024, 0),
    (0xFFB1_4028, 0),
    (0xFFB1_402C, 0),
    (0xFFB1_4030, 0),
];

const SOFT_RESET: u64 = 0xFFB1_21B0;
/// The bits that exist there: cores 0 and 1.
const CORE_RESETS: u32 = 0x1800;
const CORE_0_RESET: u32 = 0x800;

/// What the reset register holds after a write: the firmware of core 0, once released, releases
/// core 1 `[inferred: recorded sessions write 0x1000 and read 0]`.
fn resets(written: u32) -> u32 {
    if written & CORE_0_RESET == 0 { 0 } else { written & CORE_RESETS }
}

/// Where a register of the debug hardware is in the block that a Tensix tile has at the same addresses
/// `[exalens: hardware/blackhole/eth_block.py]`.
fn debug_offset(addr: u64) -> Option<u32> {
    const BLOCK: u32 = tile_control::DBG_BUS_CTRL - tile_control::DBG_BUS_CTRL_OFFSET;
    let addr = u32::try_from(addr).ok().filter(|&addr| tile::is_debug_hardware(addr))?;
    Some(addr - BLOCK)
}

/// An ethernet tile.
#[derive(Clone, Debug)]
pub(super) struct Eth {
    channel: u16,
    /// Allocated when somebody reads or writes: many sessions never do.
    l1: Option<Ram>,
    registers: Vec<u32>,
    heartbeat: u32,
    /// Where the first go message lies.
    go: u64,
    /// Made when a debugger writes there.
    debug: Option<Box<TileControl>>,
}

impl Eth {
    pub(super) fn new(channel: u16) -> Self {
        Self {
            channel,
            l1: None,
            registers: REGISTERS.iter().map(|&(_, value)| value).collect(),
            heartbeat: 0,
            go: GO,
            debug: None,
        }
    }

    fn l1(&mut self) -> &mut Ram {
        self.l1.get_or_insert_with(|| {
            let mut ram = Ram::new(0, L1_BYTES);
            PRESET.iter().for_each(|&(addr, value)| ram.set_word(addr, value));
            ram
        })
    }

    /// The base firmware looks at its mailbox.
    fn serve_mailbox(&mut self) -> Result<(), DeviceFault> {
        let message = self.l1().word(MAILBOX);
        if message & MESSAGE_STATE != MESSAGE_CALL {
            return Ok(());
        }
        let why = match message & !MESSAGE_STATE {
            LINK_STATUS_CHECK => {
                self.l1().set_word(MAILBOX, MESSAGE_DONE | LINK_STATUS_CHECK);
                return Ok(());
            }
            RELEASE_CORE => "asks for a core to be released",
            _ => "is not one that is known",
        };
        let text = format!(
            "message {message:#010x} to an ethernet tile's firmware {why}; the cores of ethernet \
             tiles are not simulated, and nobody will answer"
        );
        Err(DeviceFault::new(Category::Unimplemented, "ethernet-message", text))
    }

    fn register(&mut self, addr: u64, bytes: usize) -> Option<&mut u32> {
        let index = REGISTERS.iter().position(|&(at, _)| at == addr)?;
        (bytes == 4).then(|| &mut self.registers[index])
    }

    /// A register of the debug hardware. The debug bus shows zeroes, whatever is chosen.
    fn debug_register(&mut self, addr: u64) -> Option<u32> {
        let offset = debug_offset(addr)?;
        let read = |debug: &mut TileControl| debug.read(offset, Cycle::ZERO).unwrap_or(0);
        Some(self.debug.as_deref_mut().map_or_else(|| read(&mut TileControl::new()), read))
    }

    /// Writes a register of the debug hardware; whether it is one. To a debugger the cores, which do not run, are
    /// paused, and nobody carries out what it asks them for.
    fn debug(&mut self, addr: u64, value: u32) -> Result<bool, DeviceFault> {
        let Some(offset) = debug_offset(addr) else { return Ok(false) };
        let debug = self.debug.get_or_insert_with(|| Box::new(TileControl::new()));
        match debug.write(offset, value, Cycle::ZERO)? {
            Some(TileControlEffect::CoreDebug(access)) => {
                debug.debug.perform(access, status::HALTED);
            }
            Some(TileControlEffect::SampleBus { addr, .. }) => {
                if let Some(sample) = self.l1().slice_mut(addr.into(), 16) {
                    sample.fill(0);
                }
            }
            _ => {}
        }
        Ok(true)
    }

    /// A register of its NIUs. They have sent nothing and have begun nothing: nobody here does.
    fn niu(&self, addr: u64) -> Option<u32> {
        let hit = lookup(View::Noc, u32::try_from(addr).ok()?)?;
        let noc = match hit.target {
            Target::Noc0 => 0,
            Target::Noc1 => 1,
            _ => return None,
        };
        if hit.offset == noc_niu::NOC_ENDPOINT_ID_OFFSET {
            // It names the kind of a tile, of this one by a number that is not known.
            return None;
        }
        let physical = eth_position(self.channel);
        let identity = Identity { noc, physical, logical: eth_translated(self.channel) };
        Niu::with_identity(identity).read(hit.offset).ok()
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { channel: _, l1, registers, heartbeat, go, debug } = self;
        if let Some(l1) = l1 {
            hasher.bytes(&l1.bytes);
        }
        hasher.words(registers);
        hasher.u32(*heartbeat);
        if *go != GO {
            hasher.u64(*go);
        }
        if let Some(debug) = debug {
            debug.hash_state(hasher);
        }
    }
}

impl Endpoint for Eth {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        if let Some(&mut value) = self.register(addr, bytes.len()) {
            bytes.copy_from_slice(&value.to_le_bytes());
            return Ok(());
        }
        if bytes.len() == 4
            && let Some(value) = self.debug_register(addr).or_else(|| self.niu(addr))
        {
            bytes.copy_from_slice(&value.to_le_bytes());
            return Ok(());
        }
        let end = addr.saturating_add(bytes.len() as u64);
        if addr < HEARTBEAT + 4 && end > HEARTBEAT {
            self.heartbeat = self.heartbeat.wrapping_add(1);
            let beat = self.heartbeat;
            self.l1().set_word(HEARTBEAT, beat);
        }
        match self.l1().slice(addr, bytes.len()) {
            Some(data) => bytes.copy_from_slice(data),
            None => return Err(unmapped("ethernet tile", addr, bytes.len())),
        }
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        if let Some(register) = self.register(addr, bytes.len()) {
            let value = bytes.try_into().map_or(0, u32::from_le_bytes);
            *register = if addr == SOFT_RESET { resets(value) } else { value };
            return Ok(());
        }
        if let Ok(value) = bytes.try_into().map(u32::from_le_bytes)
            && self.debug(addr, value)?
        {
            return Ok(());
        }
        if addr == LAUNCHES && bytes.len() >= LAUNCH_SLOTS * LEAST_LAUNCH_BYTES {
            self.go = addr + bytes.len() as u64;
        }
        let at = self.go;
        let l1 = self.l1();
        match l1.slice_mut(addr, bytes.len()) {
            Some(data) => data.copy_from_slice(bytes),
            None => return Err(unmapped("ethernet tile", addr, bytes.len())),
        }
        let go = l1.word(at);
        if go >> 24 == GO_INIT {
            l1.set_word(at, go & 0x00FF_FFFF);
        }
        let end = addr.saturating_add(bytes.len() as u64);
        if addr < MAILBOX + 4 && end > MAILBOX { self.serve_mailbox() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(eth: &mut Eth, addr: u64) -> u32 {
        let mut bytes = [0; 4];
        eth.read(addr, &mut bytes).expect("known");
        u32::from_le_bytes(bytes)
    }

    #[test]
    fn preset_words_are_those_of_the_sheet() {
        let mut eth = Eth::new(0);
        assert_eq!(word(&mut eth, 0x7CC04), 2);
        assert_eq!(word(&mut eth, 0x7CC00), 0xC0DE_A000);
        let mut version = [9; 3];
        eth.read(0x7CFBC, &mut version).expect("known");
        assert_eq!(version, [0, 6, 1]);
        assert_eq!(word(&mut eth, 0xFFB1_21B0), 0x1800);
        let function = u64::from(word(&mut eth, 0x7CF00));
        assert_eq!(word(&mut eth, function), 0x8067, "ret");
    }

    #[test]
    fn heartbeat_counts_and_requests_are_taken() {
        let mut eth = Eth::new(0);
        let first = word(&mut eth, HEARTBEAT);
        assert_eq!(word(&mut eth, HEARTBEAT), first + 1);
        let request = 0x4000_0012_u32;
        eth.write(GO, &request.to_le_bytes()).expect("L1");
        assert_eq!(word(&mut eth, GO), 0x12);
        eth.write(0x490, &request.to_le_bytes()).expect("L1");
        assert_eq!(word(&mut eth, 0x490), request, "a launch message of ttnn 0.81.1");
        // ttnn 0.71.2.
        eth.write(LAUNCHES, &[0; 8 * 112]).expect("L1");
        eth.write(0x490, &request.to_le_bytes()).expect("L1");
        assert_eq!(word(&mut eth, 0x490), 0x12);
        assert!(eth.write(L1_BYTES as u64 - 2, &[0; 4]).is_err());
    }

    /// What a debugger looks at that goes over all tiles, as `tt-triage` does.
    #[test]
    fn debugger_finds_idle_units_at_the_place_of_the_tile() {
        let mut eth = Eth::new(11);
        // NOC_NODE_ID of both NoCs: (11, 1), counted from the other corner on NoC 1.
        assert_eq!(word(&mut eth, 0xFFB2_0044) & 0xFFF, 11 | 1 << 6);
        assert_eq!(word(&mut eth, 0xFFB3_0044) & 0xFFF, 5 | 10 << 6);
        // NOC_ID_LOGICAL, NOC_CMD_CTRL of the last initiator, NIU_MST_RD_RESP_RECEIVED.
        assert_eq!(word(&mut eth, 0xFFB2_0148), 31 | 25 << 6);
        assert_eq!(word(&mut eth, 0xFFB2_1840), 0);
        assert_eq!(word(&mut eth, 0xFFB3_0208), 0);
        // A read of DR(0) of core 1, and of what it has found for a command.
        eth.write(0xFFB1_2080, &0x8002_0000_u32.to_le_bytes()).expect("taken");
        assert_eq!(word(&mut eth, 0xFFB1_2088) >> 30 & 1, 1, "there is an answer");
        assert_eq!(word(&mut eth, 0xFFB1_208C), 1, "it is paused");
        eth.write(0xFFB1_2080, &0_u32.to_le_bytes()).expect("taken");
        eth.write(0xFFB1_2080, &0x8002_0004_u32.to_le_bytes()).expect("taken");
        assert_eq!(word(&mut eth, 0xFFB1_208C), 0);
        // Its pc on the debug bus.
        eth.write(0xFFB1_2054, &(1_u32 << 29).to_le_bytes()).expect("taken");
        assert_eq!(word(&mut eth, 0xFFB1_205C), 0);
        // A sample of it comes into L1.
        eth.write(0x1_0000, &[0xAA; 32]).expect("L1");
        for (addr, value) in [(0x2048, 0x1000_u32), (0x2050, 1), (0x2050, 1 << 12 | 1)] {
            eth.write(0xFFB1_0000 + addr, &value.to_le_bytes()).expect("taken");
        }
        assert_eq!((word(&mut eth, 0x1_000C), word(&mut eth, 0x1_0010)), (0, 0xAAAA_AAAA));
        // Nobody sends requests from there.
        assert!(eth.write(0xFFB2_0040, &1_u32.to_le_bytes()).is_err());
    }

    #[test]
    fn message_is_answered_or_refused() {
        let mut eth = Eth::new(0);
        eth.write(MAILBOX, &0xCA11_0001_u32.to_le_bytes()).expect("known");
        assert_eq!(word(&mut eth, MAILBOX), 0xD0E5_0001);
        let error = eth.write(MAILBOX, &0xCA11_0002_u32.to_le_bytes()).expect_err("no core runs");
        assert_eq!(error.id, "ethernet-message");
        assert_eq!(word(&mut eth, MAILBOX), 0xCA11_0002);
        eth.write(MAILBOX + 4, &[0; 4]).expect("an argument is no message");
    }
}
