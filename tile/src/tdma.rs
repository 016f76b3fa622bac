//! TDMA-RISC as cores reach it, and the order that Auto TTSync gives to accesses of the coprocessor's
//! registers.
//!
//! The registers are of three kinds: those of [`devices::Tdma`], commands for the coprocessor's
//! command processor, and metadata of its packer and unpackers.

use devices::tdma::Metadata;
use devices::{DeviceFault, Tdma};
use memory_map::{Hit, Target};
use sim_core::{CoreId, GuestError, WaitReason};
use tensix::{Coprocessor, TrackedAccess};

use crate::asker::Asker;

/// A store to a register: `Ok(Err)` is a mistake of a command.
pub(crate) fn store(
    tensix: &mut Coprocessor,
    tdma: &mut Tdma,
    asker: &Asker,
    (offset, value): (u32, u32),
) -> Result<Result<(), GuestError>, DeviceFault> {
    match Tdma::metadata(offset) {
        Some((_, Metadata::AccumulatedSize(_))) => {
            tensix.reset_packed_sizes(value);
            return Ok(Ok(()));
        }
        Some((packer, Metadata::Pop)) => {
            tensix.pop_metadata(packer);
            return Ok(Ok(()));
        }
        Some(_) => return Ok(Ok(())),
        None => {}
    }
    let core = asker.core.unwrap_or(CoreId::Brisc);
    if let Some(devices::MoverCommand { word, parameters, base }) =
        tdma.write(offset, value, core)?
    {
        let command = tensix::TdmaCommand { word, parameters, base };
        return Ok(tensix.push_tdma(command, asker.stamp()));
    }
    Ok(Ok(()))
}

/// A load from a register.
pub(crate) fn load(
    tensix: &mut Coprocessor,
    tdma: &Tdma,
    asker: &Asker,
    offset: u32,
) -> Result<u32, DeviceFault> {
    let Some((packer, what)) = Tdma::metadata(offset) else {
        let shown = devices::tdma::Shown {
            commands: tensix.tdma_status(asker.cycle),
            metadata: tensix.metadata_status(),
            packers: [0, 1].map(|unpacker| tensix.packer_status(unpacker)),
        };
        return tdma.read(offset, asker.core.unwrap_or(CoreId::Brisc), shown);
    };
    Ok(match what {
        Metadata::Size(thread) => tensix.packed_size(packer, thread),
        Metadata::AccumulatedSize(thread) => tensix.accumulated_sizes(packer, thread),
        Metadata::ZeroFlags => tensix.zero_flags(packer),
        // A core waits for a tile before it comes here.
        Metadata::Peek => tensix.peek_metadata(packer).unwrap_or(0),
        Metadata::Pop => tensix.pop_metadata(packer),
    })
}

/// Whether a load finds the metadata FIFO empty that it shows the front of.
pub(crate) fn waits_for_tile(tensix: &Coprocessor, hit: Hit) -> Option<WaitReason> {
    let waits = hit.target == Target::TdmaRisc
        && matches!(Tdma::metadata(hit.offset & !3), Some((packer, Metadata::Peek))
            if tensix.peek_metadata(packer).is_none());
    waits.then_some(WaitReason::PackerMetadata)
}

/// Whether Auto TTSync holds an access of a core back.
pub(crate) fn waits_for_instructions(
    tensix: &Coprocessor,
    tracked: u8,
    (id, hit, store): (CoreId, Hit, bool),
) -> Option<WaitReason> {
    if tracked == 0 {
        return None;
    }
    let thread = id.thread()?;
    let access = match hit.target {
        Target::GprOwn => TrackedAccess::Gprs,
        Target::TdmaRisc => TrackedAccess::TdmaRisc,
        Target::TensixCfg => TrackedAccess::Config(hit.offset / 4),
        _ => return None,
    };
    let waits = tensix.holds_access(thread, access, store);
    waits.then_some(WaitReason::CoprocessorBusy { thread })
}
