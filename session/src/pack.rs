//! A tape that explains itself elsewhere: the files that name what ran on the chip are put into it.
//!
//! Which files that are the tape says itself: those whose code the host has sent. Nothing is played.

use std::io;
use std::path::{Path, PathBuf};

use symbols::catalog::{Catalog, ItemKind, Places};
use tape::{Attachment, AttachmentKind, Tape, TapeError, attach};

/// Files put into a tape.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Packed {
    /// Programs of cores.
    pub programs: usize,
    /// Source files.
    pub sources: usize,
    /// Files with names of kernels and operations.
    pub names: usize,
    /// Bytes by which the tape has grown.
    pub bytes: u64,
}

/// Why a tape does not explain itself.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// It cannot be read.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// Nothing can be added to it.
    #[error("cannot add names to {path}: {cause}", path = path.display())]
    Attach {
        /// The tape.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// Puts into a tape what explains it: ELF files of the firmware and the kernels that its host has
/// loaded, the sources of their lines, and what the host wrote of kernels and operations. They are
/// looked for where the host has left them, and in the directories `elf`.
///
/// # Errors
/// The tape cannot be read or written, or is still being written. It is as it was.
pub fn pack(path: &Path, elf: &[PathBuf]) -> Result<Packed, PackError> {
    let tape = Tape::open(path)?;
    let header = tape.header();
    let catalog = Catalog::gather(&Places {
        directory: header.map(|header| header.directory.clone()).unwrap_or_default(),
        environment: header.map(|header| header.environment.clone()).unwrap_or_default(),
        extra: elf.to_vec(),
    });
    let used = catalog.loaded(|look| tape.payloads(look))?;
    drop(tape);
    let items = catalog.collect(&used);
    let mut packed = Packed::default();
    let mut attachments = Vec::new();
    for item in &items {
        let (kind, count) = match item.kind {
            ItemKind::Elf => (AttachmentKind::Elf, &mut packed.programs),
            ItemKind::Text => (AttachmentKind::Text, &mut packed.sources),
            ItemKind::Names => (AttachmentKind::Names, &mut packed.names),
        };
        *count += 1;
        attachments.push(Attachment { kind, path: Path::new(&item.path), bytes: &item.bytes });
    }
    let failed = |cause| PackError::Attach { path: path.to_owned(), cause };
    let size = || std::fs::metadata(path).map(|file| file.len()).map_err(failed);
    let before = size()?;
    attach(path, &attachments).map_err(failed)?;
    packed.bytes = size()?.saturating_sub(before);
    Ok(packed)
}
