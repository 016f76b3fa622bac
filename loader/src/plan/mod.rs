//! `KERNELS.toml`: what to launch on a booted tile, or on several of a chip, turned into the exact L1
//! writes, the launch message and the go word of each launch.
//!
//! It checks everything that can be checked without running: files, addresses, overlaps, value
//! ranges. It does not run anything and does not know which firmware will read the message, only
//! its layout. No TOML text makes it panic.
//!
//! Sources: `[spec: boot-and-sync 1.4, 7.1, 7.4]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`.

mod args;
mod build;
mod chip;
mod file;
mod launch;
mod merge;
mod message;

use std::path::Path;

pub use observe::why::CircularBuffer;
use symbols::image::read;

pub use self::args::Worker;
pub use self::chip::{Action, At, Block, ChipLaunch, ChipPlan, Target, TileLaunch};
pub use launch::{Expect, Kernel, Launch};
pub use message::{GO_MESSAGE, LAUNCH_RD_PTR, MESSAGE_BYTES, Mode, launch_slot};

/// A plan that cannot be used: one line with file, launch and key.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file is not TOML, or has no launches.
    #[error("{file}: {reason}")]
    File {
        /// The plan as the user named it.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A launch is wrong.
    #[error("{file}: launch {launch}: {reason}")]
    Launch {
        /// The plan as the user named it.
        file: String,
        /// The launch's name in quotes, or its number from 1.
        launch: String,
        /// The key and what is wrong with it.
        reason: String,
    },
}

/// A checked plan of one tile.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// Launches in the order of the file, at least one.
    pub launches: Vec<Launch>,
}

/// A checked plan: of one tile, or of several with what a host does beside.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Every launch is of one tile, the only one there is.
    Tile(LaunchPlan),
    /// Launches on the tiles of a chip, DRAM, and actions of the host.
    Chip(ChipPlan),
}

impl Plan {
    /// Reads a plan; files named in it are relative to its directory.
    ///
    /// # Errors
    /// [`PlanError`] for the first mistake found.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        let name = path.display().to_string();
        let fail = |reason: String| PlanError::File { file: name.clone(), reason };
        let bytes = read(path, &name).map_err(|error| fail(error.problem.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| fail("not UTF-8 text".to_owned()))?;
        Self::parse(&text, &name, path.parent().unwrap_or(Path::new("")))
    }

    /// Checks the text of a plan. `name` goes into error messages, `dir` is what files named in it
    /// are relative to.
    ///
    /// # Errors
    /// [`PlanError`] for the first mistake found.
    pub fn parse(text: &str, name: &str, dir: &Path) -> Result<Self, PlanError> {
        let fail = |reason: String| PlanError::File { file: name.to_owned(), reason };
        let mut raw = Vec::new();
        for (index, value) in file::parse(text).map_err(fail)?.into_iter().enumerate() {
            let launch = file::launch_name(&value, index);
            let fail = |reason| PlanError::Launch { file: name.to_owned(), launch, reason };
            raw.push(file::launch(value).map_err(fail)?);
        }
        let of_chip = raw.iter().any(chip::is_of_chip);
        let places = args::Places::default();
        let mut images = build::Images::default();
        let (mut on_tile, mut on_chip) = (Vec::new(), Vec::new());
        for (index, raw) in raw.into_iter().enumerate() {
            let launch = format!("{:?}", raw.name);
            let fail = |reason| PlanError::Launch { file: name.to_owned(), launch, reason };
            if of_chip {
                on_chip.push(chip::launch(&raw, index, dir, &places, &mut images).map_err(fail)?);
                continue;
            }
            let scope =
                args::Scope { places: &places, own: None, count: 1, semaphores: Vec::new() };
            on_tile.push(build::launch(raw, index, dir, &mut images, scope).map_err(fail)?);
        }
        Ok(if of_chip {
            Self::Chip(ChipPlan { launches: on_chip })
        } else {
            Self::Tile(LaunchPlan { launches: on_tile })
        })
    }
}

impl LaunchPlan {
    /// Reads a plan of one tile; files named in it are relative to its directory.
    ///
    /// # Errors
    /// [`PlanError`] for the first mistake found, or if the plan is of several tiles.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        Plan::read(path)?.of_one_tile(&path.display().to_string())
    }

    /// As [`Plan::parse`], of a plan of one tile.
    ///
    /// # Errors
    /// [`PlanError`] for the first mistake found, or if the plan is of several tiles.
    pub fn parse(text: &str, name: &str, dir: &Path) -> Result<Self, PlanError> {
        Plan::parse(text, name, dir)?.of_one_tile(name)
    }
}

impl Plan {
    fn of_one_tile(self, file: &str) -> Result<LaunchPlan, PlanError> {
        let reason = "it is of several tiles: `tilescope launch` and `tilescope why` take it";
        match self {
            Self::Tile(plan) => Ok(plan),
            Self::Chip(_) => {
                Err(PlanError::File { file: file.to_owned(), reason: reason.to_owned() })
            }
        }
    }
}
