//! Guest images: ELF executables and flat binaries, checked before a byte of them is used.
//!
//! It reads a 32-bit little-endian RISC-V `ET_EXEC` file into segments with the address where the
//! *loader* puts the bytes (the physical address) and the address where they are *used* (the
//! virtual address). It does not relocate, and it does not decide what belongs to which core.
//! No byte sequence makes it panic; every error is one line that starts with the file's name.
//!
//! Sources: the ELF specification (gABI, RISC-V psABI), `[spec: boot-and-sync 1.1, 1.2]`.

use std::path::Path;
use std::sync::Arc;

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::program_header::{PF_W, PF_X, PT_LOAD};
use goblin::elf::section_header::SHT_SYMTAB;
use goblin::elf::{Elf, Header, ProgramHeader, SectionHeader, Symtab};

use memory_map::layout::{LOCAL_RAM_BASE, in_l1, in_local_ram};

/// `e_flags` bit of the RISC-V psABI: the file holds compressed instructions.
const EF_RISCV_RVC: u32 = 1;
/// Upper limit on the size of an image file; the largest vendor ELF is far below it.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// An image that cannot be used, and why, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct ImageError {
    /// The file as the user named it.
    pub file: String,
    /// What is wrong with it.
    pub problem: ImageProblem,
}

/// What can be wrong with an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageProblem {
    /// The file could not be read.
    #[error("cannot read: {0}")]
    Read(#[from] std::io::Error),
    /// A directory, a pipe or a device.
    #[error("not a regular file")]
    NotAFile,
    /// Larger than anything a tile could hold.
    #[error("{0} bytes is too large for an image")]
    TooLarge(u64),
    /// The magic number is missing.
    #[error("not an ELF file")]
    NotElf,
    /// An ELF for something else; the text names the first difference.
    #[error("not a 32-bit little-endian RISC-V executable: {0}")]
    WrongMachine(String),
    /// The cores fetch 32-bit instructions only.
    #[error(
        "holds compressed (RVC) instructions, which the baby RISC-V cores do not have; \
         build with -march=rv32im... without c"
    )]
    Compressed,
    /// A table or a segment reaches beyond the end of the file.
    #[error("truncated or damaged: {0} reaches beyond the end of the file")]
    Truncated(String),
    /// No `PT_LOAD` segment has any size.
    #[error("no loadable segments")]
    NothingToLoad,
    /// Two segments claim the same bytes.
    #[error("segments overlap: {0:#x}..{1:#x} and {2:#x}..{3:#x}")]
    Overlap(u64, u64, u64, u64),
    /// A segment is neither in L1 nor in local RAM.
    #[error(
        "segment {0:#x}..{1:#x} is outside L1 (0..0x180000) and local RAM (0xffb00000..0xffb02000)"
    )]
    OutOfRange(u64, u64),
    /// A flat image has no bytes.
    #[error("the file is empty")]
    Empty,
}

/// One loadable piece of an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Address where the loader puts [`Segment::bytes`] (ELF `p_paddr`).
    pub addr: u32,
    /// Address where the program uses them (ELF `p_vaddr`).
    pub run_addr: u32,
    /// The bytes in the file; the program clears what lies between them and `memory_bytes`.
    pub bytes: Vec<u8>,
    /// Bytes in memory, at least `bytes.len()`.
    pub memory_bytes: u32,
    /// May be executed.
    pub executable: bool,
    /// May be written.
    pub writable: bool,
}

/// What a symbol names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// Code.
    Function,
    /// Data.
    Object,
    /// A label of the linker or of assembly code.
    Label,
}

/// One named address of the symbol table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Name as the linker wrote it (mangled).
    pub name: String,
    /// Address or value.
    pub value: u32,
    /// Bytes, 0 when the table does not say.
    pub size: u32,
    /// What it names.
    pub kind: SymbolKind,
}

/// A checked image.
#[derive(Clone, Debug)]
pub struct Image {
    /// The file as the user named it.
    pub name: String,
    /// Segments by ascending load address; those without bytes in the file last.
    pub segments: Vec<Segment>,
    /// First instruction.
    pub entry: u32,
    /// Named addresses, empty for a stripped ELF and for flat images.
    pub symbols: Vec<Symbol>,
    /// The whole ELF file, for its debug information; `None` for flat images.
    pub file: Option<Arc<[u8]>>,
}

impl Image {
    /// Reads and checks an ELF file.
    ///
    /// # Errors
    /// [`ImageError`] when it cannot be read or is not usable.
    pub fn read_elf(path: &Path) -> Result<Self, ImageError> {
        let name = path.display().to_string();
        let bytes = read(path, &name)?;
        Self::parse_elf(&name, bytes.into())
    }

    /// Checks the bytes of an ELF file; `name` goes into error messages.
    ///
    /// # Errors
    /// [`ImageError`] when they are not usable. Never panics, whatever the bytes.
    pub fn parse_elf(name: &str, bytes: Arc<[u8]>) -> Result<Self, ImageError> {
        parse(name, bytes).map_err(|problem| ImageError { file: name.to_owned(), problem })
    }

    /// Reads a flat image that belongs at `address` and starts with its first instruction.
    ///
    /// # Errors
    /// [`ImageError`] when it cannot be read, is empty, or does not fit.
    pub fn read_flat(path: &Path, address: u32) -> Result<Self, ImageError> {
        let name = path.display().to_string();
        let bytes = read(path, &name)?;
        Self::from_flat(&name, bytes, address)
    }

    /// A flat image from bytes; `name` goes into error messages.
    ///
    /// # Errors
    /// [`ImageError`] when it is empty or does not fit at `address`.
    pub fn from_flat(name: &str, bytes: Vec<u8>, address: u32) -> Result<Self, ImageError> {
        let fail = |problem| ImageError { file: name.to_owned(), problem };
        if bytes.is_empty() {
            return Err(fail(ImageProblem::Empty));
        }
        let end = u64::from(address) + bytes.len() as u64;
        let out = || fail(ImageProblem::OutOfRange(address.into(), end));
        let size = u32::try_from(bytes.len()).map_err(|_| out())?;
        if !in_l1(address, size) && !in_local_ram(address, size) {
            return Err(out());
        }
        let segment = Segment {
            addr: address,
            run_addr: address,
            bytes,
            memory_bytes: size,
            executable: true,
            writable: true,
        };
        Ok(Self {
            name: name.to_owned(),
            segments: vec![segment],
            entry: address,
            symbols: Vec::new(),
            file: None,
        })
    }

    /// The symbol of that name: exact, or the demangled last part (`cfg_state_id` finds
    /// `ckernel::cfg_state_id`). Exact matches win, then the lowest address.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        let exact = self.symbols.iter().find(|symbol| symbol.name == name);
        exact.or_else(|| self.symbols.iter().find(|symbol| last_part(&symbol.name) == name))
    }

    /// Value of a symbol, see [`Image::symbol`].
    #[must_use]
    pub fn address_of(&self, name: &str) -> Option<u32> {
        self.symbol(name).map(|symbol| symbol.value)
    }

    /// Segments with bytes to load, by ascending load address.
    pub fn loadable(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| !segment.bytes.is_empty())
    }

    /// End of the globals in the local RAM of the core, if there are any.
    #[must_use]
    pub fn local_end(&self) -> Option<u32> {
        let local = self.segments.iter().filter(|segment| segment.run_addr >= LOCAL_RAM_BASE);
        local.map(|segment| segment.run_addr.saturating_add(segment.memory_bytes)).max()
    }
}

/// The last component of a possibly mangled C++ name, without parameters.
fn last_part(name: &str) -> String {
    let plain = addr2line::demangle_auto(name.into(), None);
    let head = plain.split('(').next().unwrap_or(&plain);
    head.rsplit("::").next().unwrap_or(head).to_owned()
}

/// The bytes of a regular file of sensible size; `name` goes into error messages.
///
/// # Errors
/// [`ImageError`] when it is no such file or cannot be read.
pub fn read(path: &Path, name: &str) -> Result<Vec<u8>, ImageError> {
    let fail = |problem| ImageError { file: name.to_owned(), problem };
    let meta = std::fs::metadata(path).map_err(|error| fail(error.into()))?;
    if !meta.is_file() {
        return Err(fail(ImageProblem::NotAFile));
    }
    if meta.len() > MAX_FILE_BYTES {
        return Err(fail(ImageProblem::TooLarge(meta.len())));
    }
    std::fs::read(path).map_err(|error| fail(error.into()))
}

fn parse(name: &str, bytes: Arc<[u8]>) -> Result<Image, ImageProblem> {
    let header = check_header(&bytes)?;
    let ctx = Ctx::new(Container::Little, Endian::Little);
    let mut segments = Vec::new();
    for program in program_headers(&bytes, &header, ctx)? {
        if program.p_type == PT_LOAD && program.p_memsz > 0 {
            segments.push(segment_range(bytes.len(), &program)?);
        }
    }
    if segments.is_empty() {
        return Err(ImageProblem::NothingToLoad);
    }
    check_overlap(&segments, |s| (s.load, s.file_size))?;
    check_overlap(&segments, |s| (s.run, s.memory_size))?;
    segments.sort_by_key(|range| (range.file_size == 0, range.load));
    let segments = segments.iter().map(|range| range.take(&bytes)).collect();
    let symbols = symbols(&bytes, &header, ctx)?;
    let entry = u32::try_from(header.e_entry).unwrap_or(0);
    Ok(Image { name: name.to_owned(), segments, entry, symbols, file: Some(bytes) })
}

/// Everything the first 52 bytes can tell.
fn check_header(bytes: &[u8]) -> Result<Header, ImageProblem> {
    let truncated = || ImageProblem::Truncated("the ELF header".to_owned());
    let wrong = |what: String| Err(ImageProblem::WrongMachine(what));
    if bytes.len() < 4 || bytes[..4] != *b"\x7fELF" {
        return Err(ImageProblem::NotElf);
    }
    let (class, data) = match (bytes.get(4), bytes.get(5)) {
        (Some(&class), Some(&data)) => (class, data),
        _ => return Err(truncated()),
    };
    if class != 1 {
        return wrong(format!("class is {}", if class == 2 { "64-bit" } else { "unknown" }));
    }
    if data != 1 {
        return wrong(format!("data is {}", if data == 2 { "big-endian" } else { "unknown" }));
    }
    let header = Elf::parse_header(bytes).map_err(|_| truncated())?;
    if header.e_machine != goblin::elf::header::EM_RISCV {
        let machine = goblin::elf::header::machine_to_str(header.e_machine);
        return wrong(format!("machine is {machine} ({})", header.e_machine));
    }
    if header.e_type != goblin::elf::header::ET_EXEC {
        let kind = goblin::elf::header::et_to_str(header.e_type);
        return wrong(format!("type is {kind}, must be linked as EXEC"));
    }
    if header.e_flags & EF_RISCV_RVC != 0 {
        return Err(ImageProblem::Compressed);
    }
    Ok(header)
}

fn program_headers(
    bytes: &[u8],
    header: &Header,
    ctx: Ctx,
) -> Result<Vec<ProgramHeader>, ImageProblem> {
    let truncated = || ImageProblem::Truncated("the program header table".to_owned());
    let offset = usize::try_from(header.e_phoff).map_err(|_| truncated())?;
    if offset > bytes.len() {
        return Err(truncated());
    }
    ProgramHeader::parse(bytes, offset, header.e_phnum.into(), ctx).map_err(|_| truncated())
}

/// A segment's numbers, checked against the file and the address map, before any copy.
struct Range {
    file_offset: usize,
    file_size: u32,
    load: u32,
    run: u32,
    memory_size: u32,
    flags: u32,
}

impl Range {
    fn take(&self, bytes: &[u8]) -> Segment {
        let end = self.file_offset.saturating_add(self.file_size as usize);
        Segment {
            addr: self.load,
            run_addr: self.run,
            bytes: bytes.get(self.file_offset..end).unwrap_or_default().to_vec(),
            memory_bytes: self.memory_size,
            executable: self.flags & PF_X != 0,
            writable: self.flags & PF_W != 0,
        }
    }
}

/// `length`: bytes in the file.
fn segment_range(length: usize, program: &ProgramHeader) -> Result<Range, ImageProblem> {
    let end = |start: u64, size: u64| start.saturating_add(size);
    let what = || ImageProblem::Truncated(format!("the segment at {:#x}", program.p_vaddr));
    if program.p_filesz > program.p_memsz || end(program.p_offset, program.p_filesz) > length as u64
    {
        return Err(what());
    }
    let narrow = |value: u64, start: u64, size: u64| {
        u32::try_from(value).map_err(|_| ImageProblem::OutOfRange(start, end(start, size)))
    };
    let range = Range {
        file_offset: usize::try_from(program.p_offset).map_err(|_| what())?,
        file_size: narrow(program.p_filesz, program.p_paddr, program.p_filesz)?,
        load: narrow(program.p_paddr, program.p_paddr, program.p_filesz)?,
        run: narrow(program.p_vaddr, program.p_vaddr, program.p_memsz)?,
        memory_size: narrow(program.p_memsz, program.p_vaddr, program.p_memsz)?,
        flags: program.p_flags,
    };
    let fits = |start, size| in_l1(start, size) || in_local_ram(start, size);
    if !fits(range.run, range.memory_size) {
        let end = end(program.p_vaddr, program.p_memsz);
        return Err(ImageProblem::OutOfRange(program.p_vaddr, end));
    }
    if range.file_size > 0 && !fits(range.load, range.file_size) {
        let end = end(program.p_paddr, program.p_filesz);
        return Err(ImageProblem::OutOfRange(program.p_paddr, end));
    }
    Ok(range)
}

/// Sorted neighbours are enough: overlap anywhere shows between two of them.
fn check_overlap(
    segments: &[Range],
    span: impl Fn(&Range) -> (u32, u32),
) -> Result<(), ImageProblem> {
    let mut spans: Vec<(u64, u64)> = segments
        .iter()
        .map(&span)
        .filter(|&(_, size)| size > 0)
        .map(|(start, size)| (u64::from(start), u64::from(start) + u64::from(size)))
        .collect();
    spans.sort_unstable();
    for pair in spans.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Err(ImageProblem::Overlap(pair[0].0, pair[0].1, pair[1].0, pair[1].1));
        }
    }
    Ok(())
}

fn symbols(bytes: &[u8], header: &Header, ctx: Ctx) -> Result<Vec<Symbol>, ImageProblem> {
    if header.e_shnum == 0 || header.e_shoff == 0 {
        return Ok(Vec::new());
    }
    let truncated = |what: &str| ImageProblem::Truncated(what.to_owned());
    let offset = usize::try_from(header.e_shoff).map_err(|_| truncated("section table"))?;
    if offset > bytes.len() {
        return Err(truncated("the section header table"));
    }
    let sections = SectionHeader::parse(bytes, offset, header.e_shnum.into(), ctx)
        .map_err(|_| truncated("the section header table"))?;
    let Some(table) = sections.iter().find(|section| section.sh_type == SHT_SYMTAB) else {
        return Ok(Vec::new());
    };
    let names = sections.get(table.sh_link as usize).and_then(|names| contents(bytes, names));
    let names = names.ok_or_else(|| truncated("the symbol name table"))?;
    contents(bytes, table).ok_or_else(|| truncated("the symbol table"))?;
    // Fixed by the gABI for 32-bit files: a symbol has 16 bytes.
    let count = usize::try_from(table.sh_size / 16).unwrap_or(0);
    let start = usize::try_from(table.sh_offset).unwrap_or(usize::MAX);
    if count == 0 {
        return Ok(Vec::new());
    }
    let table =
        Symtab::parse(bytes, start, count, ctx).map_err(|_| truncated("the symbol table"))?;
    Ok(table.iter().filter_map(|symbol| named(&symbol, names)).collect())
}

fn named(symbol: &goblin::elf::Sym, names: &[u8]) -> Option<Symbol> {
    use goblin::elf::sym::{STT_FUNC, STT_NOTYPE, STT_OBJECT};
    let kind = match symbol.st_type() {
        STT_FUNC => SymbolKind::Function,
        STT_OBJECT => SymbolKind::Object,
        STT_NOTYPE => SymbolKind::Label,
        _ => return None,
    };
    let tail = names.get(symbol.st_name..)?;
    let name = String::from_utf8_lossy(tail.split(|&byte| byte == 0).next()?).into_owned();
    // `$x...` are mapping symbols, `.L...` local labels: names for tools, not for people.
    if name.is_empty() || name.starts_with('$') || name.starts_with(".L") {
        return None;
    }
    let value = u32::try_from(symbol.st_value).ok()?;
    Some(Symbol { name, value, size: u32::try_from(symbol.st_size).ok()?, kind })
}

/// The bytes of a section, if they are all in the file.
fn contents<'a>(bytes: &'a [u8], section: &SectionHeader) -> Option<&'a [u8]> {
    let start = usize::try_from(section.sh_offset).ok()?;
    let size = usize::try_from(section.sh_size).ok()?;
    bytes.get(start..start.checked_add(size)?)
}

/// The debug sections of an ELF that [`Image::parse_elf`] accepted, by name; empty when absent.
#[must_use]
pub(crate) fn section<'a>(bytes: &'a [u8], name: &str) -> &'a [u8] {
    let find = || -> Option<&'a [u8]> {
        let header = Elf::parse_header(bytes).ok()?;
        if header.e_shnum == 0 || header.e_shoff == 0 {
            return None;
        }
        let ctx = Ctx::new(Container::Little, Endian::Little);
        let offset = usize::try_from(header.e_shoff).ok().filter(|&at| at <= bytes.len())?;
        let sections = SectionHeader::parse(bytes, offset, header.e_shnum.into(), ctx).ok()?;
        let names = contents(bytes, sections.get(usize::from(header.e_shstrndx))?)?;
        sections.iter().find_map(|section| {
            let tail = names.get(section.sh_name..)?;
            let found = tail.split(|&byte| byte == 0).next()? == name.as_bytes();
            if found { contents(bytes, section) } else { None }
        })
    };
    find().unwrap_or_default()
}

/// The range in the file of an ELF file's first piece of code; `bytes` are the first of the file.
pub(crate) fn code_at(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let header = check_header(bytes).ok()?;
    let ctx = Ctx::new(Container::Little, Endian::Little);
    let programs = program_headers(bytes, &header, ctx).ok()?;
    let loads = |p: &&ProgramHeader| p.p_type == PT_LOAD && p.p_filesz > 0;
    let code = programs.iter().filter(loads).find(|program| program.p_flags & PF_X != 0)?;
    let start = usize::try_from(code.p_offset).ok()?;
    Some(start..start.checked_add(usize::try_from(code.p_filesz).ok()?)?)
}

/// Load address of a piece of code and its bytes in the file.
pub(crate) type CodeRange = (u32, std::ops::Range<usize>);

/// The lowest load address of an ELF file of `length` bytes and where its code lies, without reading more of it;
/// `bytes` are the first of the file.
pub(crate) fn code_ranges(bytes: &[u8], length: usize) -> Option<(u32, Vec<CodeRange>)> {
    let header = check_header(bytes).ok()?;
    let ctx = Ctx::new(Container::Little, Endian::Little);
    let programs = program_headers(bytes, &header, ctx).ok()?;
    let loads = programs.iter().filter(|p| p.p_type == PT_LOAD && p.p_filesz > 0);
    let ranges: Vec<_> = loads.filter_map(|program| segment_range(length, program).ok()).collect();
    let linked = ranges.iter().map(|range| range.load).min()?;
    let code = ranges.iter().filter(|range| range.flags & PF_X != 0);
    let code = code
        .map(|range| (range.load, range.file_offset..range.file_offset + range.file_size as usize));
    Some((linked, code.collect()))
}
