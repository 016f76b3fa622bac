//! Who acts as host of a chip: a tape, or whoever else can do the same calls again and again.
//!
//! A machine is a pure function of its host's calls. A [`Host`] can be played any number of times, each
//! time on a chip that is watched in another way, and the machine does the same. [`Stage`] is a host
//! and a chip under way.
//!
//! Not here: what is looked for on the way (`second`, `watch`).

use std::path::PathBuf;

use chip::{Chip, ChipConfig};
use replay::{PlayError, Played, Player, What, config_of};
use sim_core::Observer;
use symbols::catalog::{Catalog, Item, ItemKind, Places};
use tape::{AttachmentKind, Tape};

use crate::positions::Positions;

/// Why a session goes no further.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A tape cannot be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A host of another kind has a reason of its own, in one line.
    #[error("{0}")]
    Host(String),
    /// Somebody had enough: where everybody stood then.
    #[error("interrupted; {0}")]
    Stopped(Box<Positions>),
}

/// A host that can be played again and again, the same each time.
pub trait Host {
    /// One time through.
    type Play<'h>: Play
    where
        Self: 'h;

    /// The chip that it is the host of.
    ///
    /// # Errors
    /// There is no such chip.
    fn config(&self) -> Result<ChipConfig, SessionError>;

    /// Begins from the first call.
    fn play(&self) -> Self::Play<'_>;

    /// Whether it is known to do nothing but poll while it waits: nobody outside of the chip ends a hang then.
    fn only_polls(&self) -> bool {
        false
    }

    /// Where names of its kernels are found; `elf` are more directories with ELF files.
    fn catalog(&self, elf: &[PathBuf]) -> Catalog;
}

/// A host under way.
pub trait Play {
    /// Makes the next call and says what it was; `None` after the last one. After [`What::Init`] the next
    /// call finds a fresh chip, which the caller makes. Calls are counted from 0, the same each time.
    ///
    /// A wait is told call by call: [`What::Clock`] lets time pass, and [`What::MemRead`] or
    /// [`What::TileRead`] names the word that is polled. Whoever is asked why a session hangs goes by that.
    ///
    /// # Errors
    /// The calls cannot be read, or the chip refuses one that it must take.
    fn step<O: Observer + Send + 'static>(
        &mut self,
        chip: &mut Chip<O>,
    ) -> Result<Option<Played>, SessionError>;

    /// Whether the host has the device open: it has not said that it is done.
    fn is_open(&self) -> bool;

    /// What the machine did otherwise than the host knows it, in words, the first few.
    fn differences(&self) -> &[String] {
        &[]
    }
}

/// Differences that are told.
const TOLD: usize = 5;

/// A tape under way. What differs is noted and played on.
#[derive(Debug)]
pub struct TapePlay<'t> {
    player: Player<'t>,
    differences: Vec<String>,
}

impl Host for Tape {
    type Play<'t> = TapePlay<'t>;

    fn config(&self) -> Result<ChipConfig, SessionError> {
        Ok(config_of(self)?)
    }

    fn play(&self) -> TapePlay<'_> {
        TapePlay { player: Player::new(self), differences: Vec::new() }
    }

    /// What the tape carries, else what its host has left behind.
    fn catalog(&self, elf: &[PathBuf]) -> Catalog {
        let mut items = Vec::new();
        for attached in self.attachments() {
            let kind = match attached.kind() {
                AttachmentKind::Elf => ItemKind::Elf,
                AttachmentKind::Text => ItemKind::Text,
                AttachmentKind::Names => ItemKind::Names,
            };
            let path = attached.name().to_owned();
            // A piece that cannot be read gives fewer names.
            items.extend(attached.bytes().ok().map(|bytes| Item {
                kind,
                path: path.to_string_lossy().into_owned(),
                bytes: bytes.into(),
            }));
        }
        if !items.is_empty() && elf.is_empty() {
            return Catalog::from_items(items);
        }
        let header = self.header();
        Catalog::gather(&Places {
            directory: header.map(|header| header.directory.clone()).unwrap_or_default(),
            environment: header.map(|header| header.environment.clone()).unwrap_or_default(),
            extra: elf.to_vec(),
        })
    }
}

impl Play for TapePlay<'_> {
    fn step<O: Observer + Send + 'static>(
        &mut self,
        chip: &mut Chip<O>,
    ) -> Result<Option<Played>, SessionError> {
        let played = match self.player.step(chip) {
            Ok(played) => played,
            Err(PlayError::Differs(difference)) => {
                if self.differences.len() < TOLD {
                    self.differences.push(difference.to_string());
                }
                Some(difference.played)
            }
            Err(error) => return Err(error.into()),
        };
        Ok(played.filter(|played| played.what != What::End))
    }

    fn is_open(&self) -> bool {
        self.player.is_open()
    }

    fn differences(&self) -> &[String] {
        &self.differences
    }
}

/// A host and its chip under way, a fresh one after each [`What::Init`].
pub struct Stage<P, O: Observer + Send + 'static> {
    play: P,
    /// The machine as of now.
    pub chip: Chip<O>,
    make: Box<dyn Fn() -> Chip<O>>,
}

impl<P, O: Observer + Send + 'static> std::fmt::Debug for Stage<P, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("now", &self.chip.now()).finish_non_exhaustive()
    }
}

impl<P: Play, O: Observer + Send + 'static> Stage<P, O> {
    /// A host before its first call. `make` gives a fresh chip.
    pub fn new(play: P, make: impl Fn() -> Chip<O> + 'static) -> Self {
        Self { play, chip: make(), make: Box::new(make) }
    }

    /// One call; `None` after the last.
    ///
    /// # Errors
    /// As [`Play::step`].
    pub fn step(&mut self) -> Result<Option<Played>, SessionError> {
        let played = self.play.step(&mut self.chip)?;
        if played.is_some_and(|played| played.what == What::Init) {
            self.chip = (self.make)();
        }
        Ok(played)
    }

    /// Whether the host has the device open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.play.is_open()
    }

    /// What the machine did otherwise than the host knows it.
    #[must_use]
    pub fn differences(&self) -> &[String] {
        self.play.differences()
    }
}
