//! One image and what its debug information says, read once for all cores, tiles and threads that
//! run it.
//!
//! DWARF goes through `addr2line`; where it is silent the symbol table answers. Answers are cached
//! per address, so that a log may ask for every line.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock};

use memory_map::mailbox::Layout;
use sim_core::sync::Mutex;

use crate::code::{Frame, Location, arguments, shorten};
use crate::dwarf::{Reader, load_dwarf};
use crate::files::{SourceText, normal};
use crate::formats::{BufferFormats, is_table};
use crate::image::{Image, SymbolKind};
use crate::mailbox_layout;
use crate::variables::{Held, Variable, variables};

type Context = addr2line::Context<Reader>;

/// An image, a title for people, and its debug information, read when first asked for.
pub struct Module {
    name: Arc<str>,
    title: Arc<str>,
    source: Option<Arc<str>>,
    image: Arc<Image>,
    /// The lock makes the context's own caches safe to share; nobody holds it for long.
    context: OnceLock<Option<Mutex<Context>>>,
    known: Mutex<HashMap<u32, Option<Arc<Location>>>>,
    statements: OnceLock<Vec<Statement>>,
    mailbox: OnceLock<Option<Layout>>,
    formats: OnceLock<Option<BufferFormats>>,
}

/// A statement of the source and the linked address at which it begins. One that the compiler has left
/// without code of its own begins where the next one does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Linked address.
    pub address: u32,
    /// The last component of the file's path.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Module {
    /// An image called by its file's name.
    #[must_use]
    pub fn new(image: Arc<Image>) -> Self {
        let title: Arc<str> = image.name.as_str().into();
        Self::titled(image, title, None)
    }

    /// An image with a title (the kernel's name) and the path of its source file, if known.
    #[must_use]
    pub fn titled(image: Arc<Image>, title: Arc<str>, source: Option<Arc<str>>) -> Self {
        Self {
            name: image.name.as_str().into(),
            title,
            source,
            image,
            context: OnceLock::new(),
            known: Mutex::default(),
            statements: OnceLock::new(),
            mailbox: OnceLock::new(),
            formats: OnceLock::new(),
        }
    }

    /// The image's file as it was named.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What people call it.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The kernel's source file, as its host named it.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The image.
    #[must_use]
    pub const fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Where the mailbox block has what if this is firmware of which debug information says so.
    pub fn mailbox(&self) -> Option<&Layout> {
        self.mailbox.get_or_init(|| mailbox_layout::of_firmware(&self.image)).as_ref()
    }

    /// The formats of circular buffers for which this kernel was compiled, if its host's files say so.
    pub fn formats(&self, sources: &SourceText) -> Option<&BufferFormats> {
        let read = || {
            let path = self.source_files().into_iter().find(|path| is_table(path))?;
            BufferFormats::parse(&sources.file(&path)?)
        };
        self.formats.get_or_init(read).as_ref()
    }

    /// Whether a linked address lies in this image's code.
    #[must_use]
    pub fn holds_code(&self, address: u32) -> bool {
        let code = self.image.segments.iter().filter(|segment| segment.executable);
        code.into_iter().any(|s| address.wrapping_sub(s.run_addr) < s.memory_bytes)
    }

    /// Where a linked address is in the source; `None` outside the image's code.
    #[must_use]
    pub fn locate(&self, address: u32) -> Option<Arc<Location>> {
        if !self.holds_code(address) {
            return None;
        }
        if let Some(known) = self.known.lock().get(&address) {
            return known.clone();
        }
        let found = self.find(address).map(Arc::new);
        self.known.lock().insert(address, found.clone());
        found
    }

    /// Arguments and locals, with values, that are in force at a linked address, of the author's function there.
    #[must_use]
    pub fn variables(&self, address: u32, held: Held<'_>) -> Vec<Variable> {
        let Some(location) = self.locate(address) else { return Vec::new() };
        let Some(file) = &self.image.file else { return Vec::new() };
        variables(file, address, &location.own_frame().function, held)
    }

    fn find(&self, address: u32) -> Option<Location> {
        let mut frames = self.frames(address).unwrap_or_default();
        if frames.is_empty() {
            frames.push(Frame {
                function: self.function(address)?,
                arguments: String::new(),
                file: None,
                line: None,
                column: None,
            });
        }
        let frame = frames.remove(0);
        let (image, source) = (Arc::clone(&self.name), self.source.clone());
        Some(Location::new(image, source, frame, frames))
    }

    fn context(&self) -> Option<&Mutex<Context>> {
        let load = || {
            let file = self.image.file.as_ref()?;
            Context::from_dwarf(load_dwarf(file)).ok().map(Mutex::new)
        };
        self.context.get_or_init(load).as_ref()
    }

    /// Frames from DWARF, innermost first.
    fn frames(&self, address: u32) -> Option<Vec<Frame>> {
        let mut found = Vec::new();
        let context = self.context()?.lock();
        let mut frames = context.find_frames(u64::from(address)).skip_all_loads().ok()?;
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|function| {
                let name = function.demangle().ok()?;
                Some((shorten(&name), arguments(&name)))
            });
            let location = frame.location;
            let (function, arguments) =
                name.or_else(|| Some((self.function(address)?, String::new())))?;
            found.push(Frame {
                function,
                arguments,
                file: location.as_ref().and_then(|at| at.file).map(str::to_owned),
                line: location.as_ref().and_then(|at| at.line),
                column: location.as_ref().and_then(|at| at.column).filter(|column| *column != 0),
            });
        }
        Some(found)
    }

    /// The function of the symbol table that covers an address, or the label before it.
    fn function(&self, address: u32) -> Option<String> {
        let code = self.image.symbols.iter().filter(|symbol| {
            symbol.kind != SymbolKind::Object
                && symbol.value <= address
                && self.holds_code(symbol.value)
        });
        let best = code.max_by_key(|symbol| (symbol.value, symbol.kind == SymbolKind::Function))?;
        let covers = best.size == 0 || address - best.value < best.size;
        covers.then(|| shorten(&addr2line::demangle_auto(best.name.as_str().into(), None)))
    }

    /// The statements that begin in a range of linked addresses, in the order of the line table.
    #[must_use]
    pub fn statements(&self, range: std::ops::Range<u32>) -> &[Statement] {
        let all = self.statements.get_or_init(|| self.read_statements());
        let at = |address: u32| all.partition_point(|statement| statement.address < address);
        all.get(at(range.start)..at(range.end)).unwrap_or_default()
    }

    fn read_statements(&self) -> Vec<Statement> {
        let mut found = Vec::new();
        let Some(file) = &self.image.file else { return found };
        let dwarf = load_dwarf(file);
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            statements_of_unit(&dwarf, &unit, &mut found);
        }
        // What begins at one address stays in the order of the table.
        found.sort_by_key(|statement| statement.address);
        found
    }

    /// The files that the line tables mention, by path, each once.
    #[must_use]
    pub fn source_files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let Some(file) = &self.image.file else { return found };
        let dwarf = load_dwarf(file);
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            files_of_unit(&dwarf, &unit, &mut found);
        }
        found
    }
}

/// Adds the statements in the line table of a unit.
fn statements_of_unit(
    dwarf: &gimli::Dwarf<Reader>,
    unit: &gimli::Unit<Reader>,
    found: &mut Vec<Statement>,
) {
    let Some(program) = unit.line_program.clone() else { return };
    let mut rows = program.rows();
    let mut names: HashMap<u64, Arc<str>> = HashMap::new();
    while let Ok(Some((header, row))) = rows.next_row() {
        let (Some(line), false) = (row.line(), row.end_sequence()) else { continue };
        let (Ok(line), Ok(address)) = (u32::try_from(line.get()), u32::try_from(row.address()))
        else {
            continue;
        };
        if !row.is_stmt() {
            continue;
        }
        let short = || {
            let path = row.file(header)?.path_name();
            let text = dwarf.attr_string(unit, path).ok()?;
            let text = String::from_utf8_lossy(text.bytes()).into_owned();
            Some(Arc::from(text.rsplit('/').next().unwrap_or(&text)))
        };
        let file = names.entry(row.file_index()).or_insert_with(|| short().unwrap_or_default());
        found.push(Statement { address, file: Arc::clone(file), line });
    }
}

/// Adds the paths in the line table of a unit.
fn files_of_unit(
    dwarf: &gimli::Dwarf<Reader>,
    unit: &gimli::Unit<Reader>,
    found: &mut BTreeSet<String>,
) {
    let text = |value| {
        let text = dwarf.attr_string(unit, value).ok()?;
        Some(String::from_utf8_lossy(text.bytes()).into_owned())
    };
    let at = unit.comp_dir.as_ref().map(|dir| String::from_utf8_lossy(dir.bytes()).into_owned());
    let at = at.unwrap_or_default();
    let Some(program) = &unit.line_program else { return };
    let header = program.header();
    for file in header.file_names() {
        let Some(name) = text(file.path_name()) else { continue };
        let directory = file.directory(header).and_then(text).unwrap_or_default();
        found.insert(normal(&join(&join(&at, &directory), &name)));
    }
}

fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') || directory.is_empty() {
        path.to_owned()
    } else {
        format!("{directory}/{path}")
    }
}
