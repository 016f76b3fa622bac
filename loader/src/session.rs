//! The host's side of the mailbox protocol: boot a firmware set on a tile, then launch kernels.
//!
//! Everything goes through L1 words and SOFT_RESET_0, as with a real host; firmware is unmodified.
//! Source: `[spec: boot-and-sync 1.3, 7]`.

use std::sync::atomic::{AtomicBool, Ordering};

use sim_core::{Cycle, GuestError, Observer, Width};
use tile::{HostWait, Stop, Tile, TileConfig};

use crate::firmware::{BootImage, BootOptions, FirmwareError, FirmwareSet};
use crate::plan::{Expect, GO_MESSAGE, LAUNCH_RD_PTR, Launch, MESSAGE_BYTES, Mode, launch_slot};

/// SOFT_RESET_0 with everything released but NCRISC and the TRISCs, which BRISC releases.
const ONLY_BRISC_RUNS: u32 = 0x47000;
/// Byte of `go_messages[0].signal`.
pub const GO_SIGNAL: u32 = GO_MESSAGE + 3;
/// Signal value "done" `[hdr: hw/inc/hostdev/dev_msgs.h]`.
const RUN_MSG_DONE: u32 = 0;
/// Offset of the preload byte in a launch message.
const PRELOAD_OFFSET: u32 = MESSAGE_BYTES as u32 - 1;

/// Cycles between firmware's "done" and the host's next write: no host answers sooner over PCIe
/// `[inferred: a read takes about a microsecond there, 1,350 cycles]`. Firmware counts on it:
/// after "done" it reads the mode and the slot of the launch once more, which a host that writes
/// in the next cycle would replace under it `[spec: boot-and-sync 7.3]`.
pub const HOST_REACTION_CYCLES: u64 = 1000;
/// Cycles that preloaded kernels get before the go signal. Fixed, so that the run is the same
/// whether their polling is simulated or parked.
pub const PRELOAD_LEAD_CYCLES: u64 = 10_000;

/// How a boot or a launch ended.
#[derive(Debug)]
pub enum Outcome {
    /// Firmware reported done.
    Done,
    /// The tile stopped first.
    Stopped(Stop),
}

/// A word of a launch's expectation that does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// L1 byte address.
    pub address: u32,
    /// Expected byte.
    pub expected: u8,
    /// Byte found.
    pub found: u8,
}

/// What went wrong before the tile could run.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The firmware set cannot be staged.
    #[error(transparent)]
    Firmware(#[from] FirmwareError),
    /// The host cannot start the engine's threads.
    #[error("cannot start the engine: {0}")]
    Engine(#[from] std::io::Error),
    /// A host access was refused.
    #[error("{0}")]
    Access(Box<GuestError>),
}

impl From<Box<GuestError>> for SessionError {
    fn from(error: Box<GuestError>) -> Self {
        Self::Access(error)
    }
}

/// A tile with firmware on it.
#[derive(Debug)]
pub struct Session<O: Observer> {
    /// The tile.
    pub tile: Tile<O>,
    launch_began: Cycle,
    stop: Option<&'static AtomicBool>,
}

/// Cycles after which somebody who may stop the run is asked again.
const SLICE_CYCLES: u64 = 100_000;

impl<O: Observer> Session<O> {
    /// Stages the firmware and releases BRISC; nothing has run yet.
    ///
    /// # Errors
    /// The set does not fit the boot protocol, or the host cannot start threads.
    pub fn stage(
        config: TileConfig,
        set: &FirmwareSet,
        options: &BootOptions,
        observer: O,
    ) -> Result<Self, SessionError> {
        let image = BootImage::stage(set, options)?;
        let mut tile = Tile::new(config, observer)?;
        for (address, bytes) in &image.writes {
            tile.host_write(*address, bytes)?;
        }
        tile.host_write_word(memory_map::reg::tile_control::SOFT_RESET_0, ONLY_BRISC_RUNS)?;
        Ok(Self { tile, launch_began: Cycle(0), stop: None })
    }

    /// From now on runs end as if their limit were reached when `flag` is set.
    pub fn stop_at(&mut self, flag: &'static AtomicBool) {
        self.stop = Some(flag);
    }

    fn run(&mut self, limit: Cycle, wait: Option<HostWait>) -> Stop {
        let Some(flag) = self.stop else { return self.tile.run(limit, wait) };
        // Short launches end before their first slice does.
        if flag.load(Ordering::SeqCst) {
            return Stop::Limit;
        }
        loop {
            let slice = limit.min(self.tile.now() + SLICE_CYCLES);
            match self.tile.run(slice, wait) {
                Stop::Limit if self.tile.now() < limit && !flag.load(Ordering::SeqCst) => {}
                stop => return stop,
            }
        }
    }

    /// Runs until firmware reports done, at most `max_cycles` from now.
    pub fn run_to_done(&mut self, max_cycles: u64) -> Outcome {
        let limit = self.tile.now() + max_cycles;
        let wait = HostWait { addr: GO_SIGNAL, width: Width::Byte, value: RUN_MSG_DONE };
        match self.run(limit, Some(wait)) {
            Stop::Met => Outcome::Done,
            stop => Outcome::Stopped(stop),
        }
    }

    /// Runs until nothing moves any more, at most `max_cycles` from now.
    pub fn settle(&mut self, max_cycles: u64) -> Stop {
        let limit = self.tile.now() + max_cycles;
        self.run(limit, None)
    }

    /// Lets time pass as a host does that is busy elsewhere; gives back what stops the tile.
    fn let_pass(&mut self, cycles: u64) -> Option<Stop> {
        let limit = self.tile.now() + cycles;
        match self.tile.run(limit, None) {
            Stop::Limit => None,
            Stop::Quiescent(_) => {
                self.tile.pass_time(limit);
                None
            }
            stop => Some(stop),
        }
    }

    /// The stop that it is to have come to that cycle.
    fn at(&self, limit: Cycle) -> Option<Stop> {
        (self.tile.now() >= limit).then_some(Stop::Limit)
    }

    /// Cycle in which the host raised the last go signal; 0 before the first.
    #[must_use]
    pub const fn launch_began(&self) -> Cycle {
        self.launch_began
    }

    /// Writes a launch, raises the go signal and runs until firmware reports done; once. The first
    /// write comes [`HOST_REACTION_CYCLES`] from now.
    ///
    /// In device mode firmware then tells its dispatcher and moves on to the next slot, which
    /// this waits for. At most `max_cycles` from now, all in all.
    ///
    /// # Errors
    /// A write of the plan is refused.
    pub fn launch(&mut self, launch: &Launch, max_cycles: u64) -> Result<Outcome, SessionError> {
        let limit = self.tile.now() + max_cycles;
        let stop = self.let_pass(HOST_REACTION_CYCLES.min(max_cycles));
        self.launch_began = self.tile.now();
        if let Some(stop) = stop.or_else(|| self.at(limit)) {
            return Ok(Outcome::Stopped(stop));
        }
        for (address, bytes) in &launch.writes {
            self.tile.host_write(*address, bytes)?;
        }
        let slot_index = self.tile.l1_value(LAUNCH_RD_PTR, Width::Word);
        let slot = launch_slot(slot_index);
        self.tile.host_write(slot, &launch.message)?;
        if launch.preload {
            // Kernels start now and wait for the signal themselves. The bit must be gone before
            // it is raised, or firmware starts them again [spec: boot-and-sync 7.3].
            let left = limit.0.saturating_sub(self.tile.now().0);
            let stop = self.let_pass(PRELOAD_LEAD_CYCLES.min(left));
            if let Some(stop) = stop.or_else(|| self.at(limit)) {
                return Ok(Outcome::Stopped(stop));
            }
            self.launch_began = self.tile.now();
            let preload = slot + PRELOAD_OFFSET;
            self.tile.host_write(preload, &[0])?;
        }
        self.tile.host_write_word(GO_MESSAGE, launch.go_word)?;
        let outcome = self.run_to_done(limit.0.saturating_sub(self.tile.now().0));
        if launch.mode == Mode::Dev && matches!(outcome, Outcome::Done) {
            let next =
                HostWait { addr: LAUNCH_RD_PTR, width: Width::Word, value: (slot_index + 1) & 7 };
            return Ok(match self.run(limit, Some(next)) {
                Stop::Met => Outcome::Done,
                stop => Outcome::Stopped(stop),
            });
        }
        Ok(outcome)
    }

    /// Bytes of L1 that are not as a launch expects, in address order.
    #[must_use]
    pub fn mismatches(&self, expects: &[Expect]) -> Vec<Mismatch> {
        let mut wrong = Vec::new();
        for expect in expects {
            for (address, &expected) in (expect.address..).zip(&expect.bytes) {
                let found = self.tile.l1_value(address, Width::Byte) as u8;
                if found != expected {
                    wrong.push(Mismatch { address, expected, found });
                }
            }
        }
        wrong
    }
}
