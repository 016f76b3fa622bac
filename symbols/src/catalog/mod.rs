//! Debug information for a live session: which kernel a number in the launch message means, which
//! file holds its lines, and which file is what stands in L1.
//!
//! A host leaves traces where it runs (`generated/`), in its cache of built kernels, and in the
//! directories of the LLK tests. None of it is needed, all of it may be stale: a later process in
//! the same directory overwrites it. So a number is only a hint, and no file gives names for code
//! that does not stand in L1 as the file says. Files are read when they are first asked for.
//!
//! Sources: `[spec: live-sessions]`, files written by ttnn 0.81.1 and its LLK tests.

mod content;
mod index;
mod items;
mod loaded;
mod places;
mod records;
pub(crate) mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_map::mailbox::Layout;
use sim_core::CoreId;
use sim_core::sync::{Mutex, in_parts};

pub use items::{Item, ItemKind};
pub use places::Places;
pub use records::Operation;

use crate::files::{Role, SourceText, normal, role};
use crate::image::Image;
use crate::launch::{self, Mailbox, Memory};
use crate::module::Module;
use content::{Candidate, Seen, Wanted, compare};
use index::Index;
use places::Group;
use records::{Operations, Records};
use store::{MAX_FILES, Stamp, Store};

/// A kernel as the host's records name it; whether it is what runs is another question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelFile {
    /// Its ELF file for one core.
    pub elf: PathBuf,
    /// Name without path.
    pub name: String,
    /// Its source file, as the host named it.
    pub source: Option<PathBuf>,
    /// The host's number of the program it was compiled for, in the inspector's logs.
    pub program: Option<u64>,
    /// The operation whose kernel it is, as far as the path of the source tells.
    pub operation: Option<String>,
}

/// How many files of a cache are read at once,
const READERS: usize = 8;
/// and of how many it is worth while.
const FEW_FILES: usize = 64;

/// Files with names in them, looked for where a host leaves them.
#[derive(Debug)]
pub struct Catalog {
    places: Places,
    store: Arc<Store>,
    state: Mutex<State>,
    /// Held by who gathers the candidates of a group, which takes seconds: others wait for what that finds.
    gathering: Mutex<()>,
    sources: Arc<SourceText>,
}

#[derive(Debug, Default)]
struct State {
    records: Records,
    operations: Operations,
    stamps: Vec<Stamp>,
    read: bool,
    /// Files that were read, with what they were like before that.
    modules: BTreeMap<PathBuf, (Stamp, Option<Arc<Module>>)>,
    /// What files held when they were looked at.
    pool: BTreeMap<PathBuf, (Stamp, Option<Arc<Candidate>>)>,
    candidates: BTreeMap<Group, Arc<Index>>,
    /// By where the firmware of BRISC begins.
    mailboxes: BTreeMap<u32, Arc<Mailbox>>,
    notes: BTreeSet<String>,
}

impl Catalog {
    /// A catalog of what these places hold. Nothing is read yet.
    #[must_use]
    pub fn gather(places: &Places) -> Self {
        Self::with(places.clone(), Store::Disk)
    }

    /// A catalog of files that were kept, see [`Catalog::collect`]; the file system is not asked.
    #[must_use]
    pub fn from_items(items: impl IntoIterator<Item = Item>) -> Self {
        let kept = items.into_iter().map(|item| (normal(&item.path), item.bytes));
        Self::with(Places::default(), Store::Kept(kept.collect()))
    }

    fn with(places: Places, store: Store) -> Self {
        let store = Arc::new(store);
        let sources = Arc::new(SourceText::of(Arc::clone(&store)));
        Self { places, store, state: Mutex::default(), gathering: Mutex::default(), sources }
    }

    /// The text of source files.
    #[must_use]
    pub fn sources(&self) -> Arc<SourceText> {
        Arc::clone(&self.sources)
    }

    /// Forgets which files there are, and looks again when next asked. To be called when something
    /// was not found and the host has gone on since; what has not changed is not read again.
    pub fn refresh(&self) {
        let mut state = self.state.lock();
        state.read = false;
        state.candidates.clear();
        state.modules.retain(|_, (_, module)| module.is_some());
    }

    /// What the host's records say of a kernel by its watcher kernel id, for one core.
    #[must_use]
    pub fn kernel(&self, watcher_id: u16, core: CoreId) -> Option<KernelFile> {
        if watcher_id == 0 {
            return None;
        }
        self.read_records_once();
        let mut state = self.state.lock();
        let known = |state: &State| Some(kernel_file(state.records.get(&watcher_id)?, core));
        if known(&state).is_none() && self.records_changed(&state) {
            self.read_records(&mut state);
        }
        known(&state).flatten()
    }

    /// The operation of a launch by its `host_assigned_id`, if the host wrote such down. Nothing
    /// tells whether it is that of another process in the same directory but that its kernels are.
    #[must_use]
    pub fn operation(&self, host_assigned_id: u32) -> Option<Operation> {
        self.read_records_once();
        let mut state = self.state.lock();
        if !state.operations.contains_key(&host_assigned_id) && self.records_changed(&state) {
            self.read_records(&mut state);
        }
        state.operations.get(&host_assigned_id).cloned()
    }

    /// Where the firmware that stands in L1 keeps what in its mailbox block: as its file says, else as the built-in
    /// table does if firmware with that layout begins there. [`None`] of a tile that runs something else.
    #[must_use]
    pub fn mailbox(&self, memory: &dyn Memory) -> Option<Arc<Mailbox>> {
        let entry = launch::entry(memory)?;
        if let Some(known) = self.state.lock().mailboxes.get(&entry) {
            return Some(Arc::clone(known));
        }
        let module = self.find(CoreId::Brisc, memory, None);
        let Some(layout) = module.as_ref().and_then(|module| module.mailbox()) else {
            // It may be there when asked again.
            return launch::is_built_in(entry).then(Mailbox::built_in);
        };
        let found = if layout == Layout::built_in() && launch::is_built_in(entry) {
            Mailbox::built_in()
        } else {
            Arc::new(Mailbox::new(layout.clone(), entry)?)
        };
        self.state.lock().mailboxes.insert(entry, Arc::clone(&found));
        Some(found)
    }

    /// The kernel that stands in L1 at `text`: the one the id means if it is that, else whichever
    /// known file is.
    #[must_use]
    pub fn find_kernel(
        &self,
        core: CoreId,
        watcher_id: u16,
        memory: &dyn Memory,
        text: u32,
    ) -> Option<Arc<Module>> {
        let by_id = |catalog: &Self| {
            let kernel = catalog.kernel(watcher_id, core)?;
            catalog.verified(&kernel, memory, text)
        };
        if let Some(module) = by_id(self) {
            return Some(module);
        }
        // A later process may have written the records anew.
        let changed = {
            let mut state = self.state.lock();
            let changed = self.records_changed(&state);
            state.read &= !changed;
            changed
        };
        let again = if changed { by_id(self) } else { None };
        again.or_else(|| self.find(core, memory, Some(text)))
    }

    /// The file whose code stands in L1: with its first loaded byte at `text`, or where it was
    /// linked (`None`), as firmware and LLK tests are.
    #[must_use]
    pub fn find(
        &self,
        core: CoreId,
        memory: &dyn Memory,
        text: Option<u32>,
    ) -> Option<Arc<Module>> {
        let wanted = Wanted { core, at: text };
        let groups: &[Group] = match text {
            Some(_) => &[Group::Extra, Group::Kernels],
            None => &[Group::Extra, Group::Firmware, Group::Llk],
        };
        groups.iter().find_map(|group| {
            let candidates = self.candidates(*group);
            let alike = best(&candidates, wanted, &Seen(memory));
            let path = &alike.first()?.path;
            let module = self.module(path, |image| self.described(path, image))?;
            if let Some(other) = alike.get(1) {
                let (path, other) = (path.display(), other.path.display());
                let note = format!("{path}: taken, though {other} holds the same code");
                self.state.lock().notes.insert(note);
            }
            Some(module)
        })
    }

    /// What was looked for and not found, and what was left out, one line each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.state.lock().notes.iter().cloned().collect()
    }

    /// The file that a record means, if its code stands at `text`.
    fn verified(&self, kernel: &KernelFile, memory: &dyn Memory, text: u32) -> Option<Arc<Module>> {
        [records::loaded(&kernel.elf), kernel.elf.clone()].into_iter().find_map(|path| {
            let source = kernel.source.as_ref().map(|source| source.display().to_string());
            let module = self.module(&path, |_| (kernel.name.clone(), source))?;
            if compare(module.image(), &Seen(memory), Some(text)).is_some() {
                return Some(module);
            }
            // The file may have been built anew since it was read.
            let fresh = self.changed(&path, &module)?;
            compare(fresh.image(), &Seen(memory), Some(text)).map(|_| fresh)
        })
    }

    /// The module of a file that is not what it was when it was read.
    fn changed(&self, path: &Path, module: &Module) -> Option<Arc<Module>> {
        if let stamp @ Some(_) = self.store.stamp(path)
            && self.state.lock().modules.get(path).is_some_and(|(read, _)| *read == stamp)
        {
            return None;
        }
        let bytes = self.store.read(path)?;
        if module.image().file.as_ref() == Some(&bytes) {
            return None;
        }
        self.state.lock().modules.remove(path);
        let title = module.title().to_owned();
        self.module(path, |_| (title, module.source().map(str::to_owned)))
    }

    /// The module of a file, made once.
    fn module(
        &self,
        path: &Path,
        describe: impl FnOnce(&Arc<Image>) -> (String, Option<String>),
    ) -> Option<Arc<Module>> {
        if let Some((_, known)) = self.state.lock().modules.get(path) {
            return known.clone();
        }
        let stamp = self.store.stamp(path);
        let name = normal(&path.to_string_lossy());
        let image = self.store.read(path).and_then(|bytes| Image::parse_elf(&name, bytes).ok());
        let module = image.map(|image| {
            let image = Arc::new(image);
            let (title, source) = describe(&image);
            Arc::new(Module::titled(image, title.into(), source.map(Into::into)))
        });
        let mut state = self.state.lock();
        // That a file lies beside another is only usual.
        if module.is_none() && !name.ends_with(".xip.elf") {
            state.notes.insert(format!("{name}: no usable ELF file"));
        }
        // Another thread may have been quicker; all share one.
        state.modules.entry(path.to_owned()).or_insert((stamp, module)).1.clone()
    }

    /// Title and source of a file that was found by its code: from the records if they name it,
    /// else from its path and from its line tables.
    fn described(&self, path: &Path, image: &Arc<Image>) -> (String, Option<String>) {
        self.read_records_once();
        let text = normal(&path.to_string_lossy());
        let linked = text.strip_suffix(".xip.elf").unwrap_or(&text);
        let recorded = {
            let state = self.state.lock();
            let same = |elf: &String| normal(elf) == linked;
            let record = state.records.values().find(|record| record.elfs.iter().any(same));
            record.and_then(|record| record.source.clone())
        };
        let source = recorded.or_else(|| only_source(image));
        let stem = source.as_ref().and_then(|source| Path::new(source).file_stem()?.to_str());
        let title = places::title(&text).or_else(|| stem.map(str::to_owned));
        (title.unwrap_or_else(|| text.rsplit('/').next().unwrap_or(&text).to_owned()), source)
    }

    fn candidates(&self, group: Group) -> Arc<Index> {
        let known = || self.state.lock().candidates.get(&group).cloned();
        if let Some(known) = known() {
            return known;
        }
        let _alone = self.gathering.lock();
        if let Some(known) = known() {
            return known;
        }
        let paths = self.files(group);
        let paths: Vec<_> = places::loadable(&paths).collect();
        let index = Arc::new(Index::of(self.candidates_of(&paths)));
        let mut state = self.state.lock();
        Arc::clone(state.candidates.entry(group).or_insert(index))
    }

    /// The code of files, in their order. Several are read at once: a disk that has not been asked for them for long
    /// takes milliseconds for each, of thousands.
    fn candidates_of(&self, paths: &[&PathBuf]) -> Vec<Arc<Candidate>> {
        let parts = if paths.len() < FEW_FILES { 1 } else { READERS };
        in_parts(paths, parts, |paths| {
            paths.iter().filter_map(|path| self.candidate(path)).collect()
        })
    }

    /// The ELF files of a group.
    fn files(&self, group: Group) -> BTreeSet<PathBuf> {
        self.read_records_once();
        let directories = {
            let state = self.state.lock();
            places::directories(group, &self.places, &self.store, &state.records)
        };
        let mut paths = BTreeSet::new();
        let mut notes = Vec::new();
        for directory in &directories {
            let found = self.store.elf_files(directory);
            if found.is_empty() {
                notes.push(format!("{}: no ELF files", directory.display()));
            }
            if found.len() >= MAX_FILES {
                notes.push(format!("{}: only {MAX_FILES} files looked at", directory.display()));
            }
            paths.extend(found);
        }
        if directories.is_empty() {
            notes.push(format!("no directory of {}", group.what()));
        }
        self.state.lock().notes.extend(notes);
        paths
    }

    /// The code of one file, read again only when the file is another.
    fn candidate(&self, path: &Path) -> Option<Arc<Candidate>> {
        let stamp = self.store.stamp(path);
        if let Some((of, known)) = self.state.lock().pool.get(path)
            && *of == stamp
        {
            return known.clone();
        }
        let candidate = Candidate::read(&self.store, path).map(Arc::new);
        let mut state = self.state.lock();
        state.pool.insert(path.to_owned(), (stamp, candidate.clone()));
        // A module of what the file was before would no longer be found by its code.
        let outdated = |(_, module): &(Stamp, Option<Arc<Module>>)| {
            let file = module.as_ref().and_then(|module| module.image().file.clone());
            file.is_some() && file != self.store.read(path)
        };
        if state.modules.get(path).is_some_and(outdated) {
            state.modules.remove(path);
        }
        candidate
    }

    fn record_files(&self) -> Vec<PathBuf> {
        places::record_files(&self.places, &self.store)
    }

    fn records_changed(&self, state: &State) -> bool {
        let stamps: Vec<_> =
            self.record_files().iter().map(|path| self.store.stamp(path)).collect();
        stamps != state.stamps
    }

    fn read_records_once(&self) {
        let mut state = self.state.lock();
        if !state.read {
            self.read_records(&mut state);
        }
    }

    fn read_records(&self, state: &mut State) {
        state.read = true;
        state.records.clear();
        state.operations.clear();
        state.stamps.clear();
        for path in self.record_files() {
            state.stamps.push(self.store.stamp(&path));
            let Some(bytes) = self.store.read(&path) else {
                state.notes.insert(format!("{}: not there", path.display()));
                continue;
            };
            state.notes.remove(&format!("{}: not there", path.display()));
            match path.file_name().and_then(|name| name.to_str()) {
                Some("kernel_elf_paths.txt") => records::elf_paths(&bytes, &mut state.records),
                Some("mesh_workloads_log.yaml") => {
                    records::workloads(&bytes, &mut state.operations);
                }
                Some("kernel_names.txt") => records::names(&bytes, &mut state.records),
                _ => records::inspector(&bytes, &mut state.records),
            }
        }
    }
}

/// Whether a program stands in L1, with its first loaded byte at `at`, or where it was linked.
pub(crate) fn stands(module: &Module, memory: &dyn Memory, at: Option<u32>) -> bool {
    compare(module.image(), &Seen(memory), at).is_some()
}

/// The candidates that are most like what stands in memory; several only if nothing tells them
/// apart.
fn best<'a>(candidates: &'a Index, wanted: Wanted, memory: &Seen<'_>) -> Vec<&'a Candidate> {
    let like = candidates.likely(wanted, memory).filter_map(|candidate| {
        let likeness = candidate.compare(wanted, memory)?;
        Some(((likeness, candidate.rank()), candidate))
    });
    let like: Vec<_> = like.collect();
    let top = like.iter().map(|(rank, _)| *rank).max();
    like.into_iter().filter(|(rank, _)| Some(*rank) == top).map(|(_, found)| found).collect()
}

/// The source file of a program that has but one.
fn only_source(image: &Arc<Image>) -> Option<String> {
    let files = Module::new(Arc::clone(image)).source_files();
    let mut own = files.into_iter().filter(|file| role(file) == Role::Source);
    own.next().filter(|_| own.next().is_none())
}

/// What a record says for one core.
fn kernel_file(record: &records::Record, core: CoreId) -> Option<KernelFile> {
    let own = record.elfs.iter().find(|elf| content::core_of(Path::new(elf)) == Some(core));
    let key = places::key(core);
    let built = || record.directory.as_ref().map(|path| format!("{path}/{key}/{key}.elf"));
    // Without a list of files the directory tells; with one the core must be in it.
    let elf = if record.elfs.is_empty() { built()? } else { own?.clone() };
    let elf = normal(&elf);
    let stem = record.source.as_ref().and_then(|source| Path::new(source).file_stem()?.to_str());
    let name = record.name.clone().or_else(|| stem.map(str::to_owned));
    Some(KernelFile {
        name: name.or_else(|| places::title(&elf)).unwrap_or_else(|| elf.clone()),
        elf: elf.into(),
        operation: record.source.as_deref().and_then(places::operation),
        source: record.source.as_ref().map(PathBuf::from),
        program: record.program,
    })
}
