//! The memory-mapped devices of a tile, but for the coprocessor.

use devices::{Mailboxes, Niu, Overlay, PcBufs, Pic, Tdma, TileControl};
use sim_core::StateHasher;

use crate::config::TileConfig;

/// Everything with registers that is no core and not the coprocessor.
#[derive(Clone, Debug)]
pub(crate) struct Devices {
    pub(crate) mailboxes: Mailboxes,
    pub(crate) pcbufs: PcBufs,
    pub(crate) control: TileControl,
    pub(crate) tdma: Tdma,
    pub(crate) nius: [Niu; 2],
    pub(crate) overlay: Overlay,
    pub(crate) pic: Pic,
}

impl Devices {
    /// As after power-on.
    pub(crate) fn new(config: &TileConfig) -> Self {
        Self {
            mailboxes: Mailboxes::new(),
            pcbufs: PcBufs::new(),
            control: TileControl::new(),
            tdma: Tdma::new(),
            nius: [0, 1].map(|noc| config.niu(noc)),
            overlay: Overlay::new(),
            pic: Pic::new(),
        }
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { mailboxes, pcbufs, control, tdma, nius, overlay, pic } = self;
        mailboxes.hash_state(hasher);
        pcbufs.hash_state(hasher);
        control.hash_state(hasher);
        tdma.hash_state(hasher);
        nius.iter().for_each(|niu| niu.hash_state(hasher));
        overlay.hash_state(hasher);
        pic.hash_state(hasher);
    }
}
