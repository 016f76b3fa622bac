//! Where files come from: the file system, or what a tape carries.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::normal;
use crate::image::read;

/// Deepest directory looked into below one that was named.
const MAX_DEPTH: u32 = 8;
/// Most files taken from one directory tree.
pub(super) const MAX_FILES: usize = 32_768;

/// A source of files.
#[derive(Debug, Default)]
pub(crate) enum Store {
    /// The file system.
    #[default]
    Disk,
    /// Files kept in memory, by their normal path.
    Kept(BTreeMap<String, Arc<[u8]>>),
}

/// What tells one version of a file from another.
pub(super) type Stamp = Option<(u64, std::time::SystemTime)>;

impl Store {
    /// The bytes of a regular file.
    pub(crate) fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        match self {
            Self::Disk => read(path, "").ok().map(Into::into),
            Self::Kept(files) => files.get(&normal(&path.to_string_lossy())).cloned(),
        }
    }

    /// The first bytes of a regular file, at most `most`, and how many it has.
    pub(super) fn first(&self, path: &Path, most: usize) -> Option<(Vec<u8>, usize)> {
        match self {
            Self::Kept(_) => {
                let all = self.read(path)?;
                Some((all[..all.len().min(most)].to_vec(), all.len()))
            }
            Self::Disk => {
                // Opening a pipe would wait for somebody at its other end.
                let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
                let length = usize::try_from(meta.len()).ok()?;
                let most = most.min(length);
                let mut first = Vec::with_capacity(most);
                File::open(path).ok()?.take(most as u64).read_to_end(&mut first).ok()?;
                Some((first, length))
            }
        }
    }

    pub(super) fn stamp(&self, path: &Path) -> Stamp {
        let Self::Disk = self else { return None };
        let meta = std::fs::metadata(path).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    }

    /// Entries of a directory, by name; nothing where there is none.
    pub(super) fn entries(&self, directory: &Path) -> Vec<PathBuf> {
        self.told_entries(directory).into_iter().map(|(path, _)| path).collect()
    }

    /// Those entries, and whether each is a directory or a link to one.
    fn told_entries(&self, directory: &Path) -> Vec<(PathBuf, bool)> {
        let Self::Disk = self else { return Vec::new() };
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        let told = |entry: std::fs::DirEntry| {
            let (path, kind) = (entry.path(), entry.file_type());
            // What a link leads to only its target tells.
            let is_directory = match kind {
                Ok(kind) if !kind.is_symlink() => kind.is_dir(),
                _ => path.is_dir(),
            };
            (path, is_directory)
        };
        let mut found: Vec<_> = entries.flatten().map(told).collect();
        found.sort();
        found
    }

    /// Files that end in `.elf` below a directory; all kept ones whatever the directory.
    pub(super) fn elf_files(&self, directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        match self {
            Self::Kept(files) => {
                found.extend(files.keys().filter(|path| path.ends_with(".elf")).map(PathBuf::from));
            }
            Self::Disk => self.walk(directory, MAX_DEPTH, &mut found),
        }
        found
    }

    fn walk(&self, directory: &Path, depth: u32, found: &mut Vec<PathBuf>) {
        for (path, is_directory) in self.told_entries(directory) {
            if found.len() >= MAX_FILES {
                return;
            }
            // A link to a directory may lead back here; the depth ends that.
            if is_directory {
                if depth > 0 {
                    self.walk(&path, depth - 1, found);
                }
            } else if path.extension().is_some_and(|end| end == "elf") {
                found.push(path);
            }
        }
    }
}
