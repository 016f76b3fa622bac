//! TDMA-RISC as cores reach it, and the order that Auto TTSync gives to accesses of the coprocessor's
//! registers.
//!
//! The registers are of three kinds: those of [`devices::Tdma`], commands for the coprocessor's
//! command processor, and metadata of its packer and unpackers.

use devices::DeviceFault;
use devices::tdma::Metadata;
use memory_map::{Hit, Target};
use sim_core::{CoreId, Observer, WaitReason};
use tensix::TrackedAccess;

use crate::route::Asker;
use crate::tile::Tile;

impl<O: Observer + ?Sized> Tile<O> {
    pub(crate) fn tdma_store(
        &mut self,
        asker: Asker,
        offset: u32,
        value: u32,
    ) -> Result<(), DeviceFault> {
        match devices::Tdma::metadata(offset) {
            Some((_, Metadata::AccumulatedSize(_))) => {
                self.tensix.reset_packed_sizes(value);
                return Ok(());
            }
            Some((packer, Metadata::Pop)) => {
                self.tensix.pop_metadata(packer);
                return Ok(());
            }
            Some(_) => return Ok(()),
            None => {}
        }
        let core = asker.core.unwrap_or(CoreId::Brisc);
        if let Some(devices::MoverCommand { word, parameters, base }) =
            self.tdma.write(offset, value, core)?
        {
            let command = tensix::TdmaCommand { word, parameters, base };
            if let Err(error) = self.tensix.push_tdma(command, asker.stamp()) {
                self.report(Box::new(error));
            }
        }
        Ok(())
    }

    pub(crate) fn tdma_load(&mut self, asker: Asker, offset: u32) -> Result<u32, DeviceFault> {
        let tensix = &mut self.tensix;
        let Some((packer, what)) = devices::Tdma::metadata(offset) else {
            let shown = devices::tdma::Shown {
                commands: tensix.tdma_status(asker.cycle),
                metadata: tensix.metadata_status(),
                packers: [0, 1].map(|unpacker| tensix.packer_status(unpacker)),
            };
            return self.tdma.read(offset, asker.core.unwrap_or(CoreId::Brisc), shown);
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
    pub(crate) fn waits_for_tile(&self, hit: Hit) -> Option<WaitReason> {
        let waits = hit.target == Target::TdmaRisc
            && matches!(devices::Tdma::metadata(hit.offset & !3), Some((packer, Metadata::Peek))
                if self.tensix.peek_metadata(packer).is_none());
        waits.then_some(WaitReason::PackerMetadata)
    }

    /// Whether Auto TTSync holds an access of a core back.
    pub(crate) fn waits_for_instructions(
        &self,
        id: CoreId,
        hit: Hit,
        store: bool,
    ) -> Option<WaitReason> {
        if self.tracked == 0 {
            return None;
        }
        let thread = id.thread()?;
        let access = match hit.target {
            Target::GprOwn => TrackedAccess::Gprs,
            Target::TdmaRisc => TrackedAccess::TdmaRisc,
            Target::TensixCfg => TrackedAccess::Config(hit.offset / 4),
            _ => return None,
        };
        let waits = self.tensix.holds_access(thread, access, store);
        waits.then_some(WaitReason::CoprocessorBusy { thread })
    }
}
