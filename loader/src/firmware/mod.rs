//! Firmware sets: five ELF images that belong together, what can be learned from them, and the
//! bytes a host stages before it releases BRISC from reset.
//!
//! It knows the layout of the vendor's `pre-compiled/<id>/` directories and a flat directory of
//! five ELFs. It does not download and does not run anything.
//!
//! Sources: `[spec: boot-and-sync 1.1, 1.3, 1.6]`, read there from the ELFs of the ttnn wheel.

mod boot;
mod info;
mod version;

use std::path::{Path, PathBuf};

use sim_core::CoreId;

use crate::layout::{MESSAGE_ORDER, key, message_index};
use symbols::image::{Image, ImageError};

pub use boot::{BankTables, BootImage, BootOptions, Write, ZERO_UNTIL};
pub use info::{FirmwareInfo, identify};

/// A firmware set that cannot be used, and why, in one line.
#[derive(Debug, thiserror::Error)]
pub enum FirmwareError {
    /// One of the five images is not usable.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The directory does not look like a firmware set.
    #[error("{dir}: not a firmware set: {reason}")]
    Layout {
        /// The directory as the user named it.
        dir: String,
        /// What is missing.
        reason: String,
    },
    /// The images are there, but do not fit the boot protocol.
    #[error("{file}: {reason}")]
    Boot {
        /// The image at fault.
        file: String,
        /// What is wrong.
        reason: String,
    },
}

impl FirmwareError {
    fn boot(image: &Image, reason: impl Into<String>) -> Self {
        Self::Boot { file: image.name.clone(), reason: reason.into() }
    }
}

/// Five images, one per core.
#[derive(Clone, Debug)]
pub struct FirmwareSet {
    /// The directory they came from, or a name for sets made in memory.
    pub name: String,
    /// In launch-message order: BRISC, NCRISC, TRISC0, TRISC1, TRISC2.
    images: [Image; 5],
}

impl FirmwareSet {
    /// Reads the five ELFs of a directory.
    ///
    /// # Errors
    /// [`FirmwareError`] when a file is missing, or is not a usable image.
    pub fn read(dir: &Path) -> Result<Self, FirmwareError> {
        let name = dir.display().to_string();
        let mut images = Vec::with_capacity(MESSAGE_ORDER.len());
        for core in MESSAGE_ORDER {
            images.push(Image::read_elf(&find_elf(dir, core)?)?);
        }
        let images = images.try_into().expect("MESSAGE_ORDER has five cores");
        Ok(Self { name, images })
    }

    /// A set from images made elsewhere, in launch-message order.
    #[must_use]
    pub fn from_images(name: &str, images: [Image; 5]) -> Self {
        Self { name: name.to_owned(), images }
    }

    /// The image of one core.
    #[must_use]
    pub fn image(&self, core: CoreId) -> &Image {
        &self.images[message_index(core)]
    }

    /// Cores and their images in launch-message order.
    pub fn images(&self) -> impl Iterator<Item = (CoreId, &Image)> {
        MESSAGE_ORDER.into_iter().zip(&self.images)
    }
}

/// `dir/brisc/brisc.elf` (vendor layout) or `dir/brisc.elf` (flat).
fn find_elf(dir: &Path, core: CoreId) -> Result<PathBuf, FirmwareError> {
    let fail = |reason: String| FirmwareError::Layout { dir: dir.display().to_string(), reason };
    if !dir.is_dir() {
        return Err(fail("no such directory".to_owned()));
    }
    let file = format!("{}.elf", key(core));
    let nested = dir.join(key(core)).join(&file);
    let flat = dir.join(&file);
    match (nested.is_file(), flat.is_file()) {
        (true, false) => Ok(nested),
        (false, true) => Ok(flat),
        (true, true) => Err(fail(format!("both {file} and {0}/{file} exist", key(core)))),
        (false, false) => Err(fail(format!("neither {0}/{file} nor {file} exists", key(core)))),
    }
}
