//! What a recording must carry so that it can be explained elsewhere.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{Catalog, places};
use crate::files::{Role, role};
use crate::formats::is_table;
use crate::module::Module;

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ItemKind {
    /// An ELF file.
    Elf,
    /// Source text.
    Text,
    /// A file in which the host names kernels and programs.
    Names,
}

/// A file to be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its path, as other items mention it.
    pub path: String,
    /// All of it.
    pub bytes: Arc<[u8]>,
}

impl Catalog {
    /// Everything that explains these modules without the file system: their ELF files, the
    /// sources their lines are in (not the vendor's library), and the host's records.
    #[must_use]
    pub fn collect(&self, used: &[Arc<Module>]) -> Vec<Item> {
        let mut found = BTreeMap::new();
        let mut add = |kind, path: &str, bytes: Arc<[u8]>| {
            let item = || Item { kind, path: path.to_owned(), bytes };
            found.entry(path.to_owned()).or_insert_with(item);
        };
        for module in used {
            if let Some(file) = &module.image().file {
                add(ItemKind::Elf, module.name(), Arc::clone(file));
            }
            for path in module.source_files() {
                if role(&path) == Role::Library && !is_table(&path) {
                    continue;
                }
                if let Some(text) = self.sources.file(&path) {
                    add(ItemKind::Text, &path, text.as_bytes().into());
                }
            }
        }
        for path in places::all_record_files(&self.places, &self.store) {
            if let Some(bytes) = self.store.read(Path::new(&path)) {
                add(ItemKind::Names, &path.to_string_lossy(), bytes);
            }
        }
        found.into_values().collect()
    }
}
