//! A host that stops between two of its calls when a flag is set, and says where everybody stands then.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use chip::{Chip, ChipConfig};
use replay::Played;
use sim_core::Observer;
use symbols::catalog::Catalog;

use crate::host::{Host, Play, SessionError};
use crate::names::{learn_mailbox, read_names};
use crate::positions::standing;
use crate::view::TileView;

/// A host, and the flag that stops it: [`Play::step`] gives [`SessionError::Stopped`] from then on.
#[derive(Debug)]
pub struct Heeding<H> {
    host: H,
    stop: &'static AtomicBool,
}

impl<H> Heeding<H> {
    /// The host, stopped by that flag.
    #[must_use]
    pub const fn new(host: H, stop: &'static AtomicBool) -> Self {
        Self { host, stop }
    }

    /// The host itself.
    #[must_use]
    pub const fn host(&self) -> &H {
        &self.host
    }
}

/// One time through, until it is stopped.
#[derive(Debug)]
pub struct HeedingPlay<'h, H: Host> {
    host: &'h H,
    play: H::Play<'h>,
    stop: &'static AtomicBool,
}

impl<H: Host> Host for Heeding<H> {
    type Play<'h>
        = HeedingPlay<'h, H>
    where
        Self: 'h;

    fn config(&self) -> Result<ChipConfig, SessionError> {
        self.host.config()
    }

    fn play(&self) -> HeedingPlay<'_, H> {
        HeedingPlay { host: &self.host, play: self.host.play(), stop: self.stop }
    }

    fn only_polls(&self) -> bool {
        self.host.only_polls()
    }

    fn catalog(&self, elf: &[PathBuf]) -> Catalog {
        self.host.catalog(elf)
    }
}

impl<H: Host> Play for HeedingPlay<'_, H> {
    fn step<O: Observer + Send + 'static>(
        &mut self,
        chip: &mut Chip<O>,
    ) -> Result<Option<Played>, SessionError> {
        if self.stop.load(Ordering::SeqCst) {
            return Err(SessionError::stopped(chip, &self.host.catalog(&[])));
        }
        self.play.step(chip)
    }

    fn is_open(&self) -> bool {
        self.play.is_open()
    }

    fn differences(&self) -> &[String] {
        self.play.differences()
    }
}

impl SessionError {
    /// It was stopped here, with the chip as it stands.
    #[must_use]
    pub fn stopped<O: Observer + Send + 'static>(chip: &mut Chip<O>, catalog: &Catalog) -> Self {
        learn_mailbox(chip, || catalog);
        let view = |tile: &_, _: &_| TileView::new(&read_names(tile, catalog));
        Self::Stopped(Box::new(standing(chip, view)))
    }
}
