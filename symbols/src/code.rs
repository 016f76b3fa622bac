//! Names for addresses: pc to function, file and line (with inlined frames), data address to
//! variable, name to address. One [`Symbols`] per core: firmware plus the kernels of the current
//! launch, which are replaced at each launch and may run elsewhere than linked.
//!
//! It reads DWARF through `addr2line` and falls back to the symbol table. Answers are cached per
//! pc, so that a log may ask for every line. A damaged debug section gives fewer names, never an
//! error: names are a service, not part of a result.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use gimli::{EndianArcSlice, LittleEndian};

use crate::image::{Image, SymbolKind, section};

type Reader = EndianArcSlice<LittleEndian>;

/// One function activation in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Demangled name.
    pub function: String,
    /// Source file as the compiler recorded it.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
}

impl Frame {
    /// The last component of the file's path.
    #[must_use]
    pub fn short_file(&self) -> Option<&str> {
        self.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file))
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        if let Some(file) = self.short_file() {
            write!(f, " {file}")?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
        }
        Ok(())
    }
}

/// Where a pc is in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The image that holds the code.
    pub image: Arc<str>,
    /// The innermost frame: inlined code if there is any.
    pub frame: Frame,
    /// The frames it was inlined into, from the inside out; empty when nothing was inlined.
    pub inlined_into: Vec<Frame>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame.fmt(f)?;
        for frame in &self.inlined_into {
            write!(f, " < {frame}")?;
        }
        Ok(())
    }
}

/// An image and how far from its linked address it runs.
struct Loaded {
    name: Arc<str>,
    image: Arc<Image>,
    /// Run address minus linked address, wrapping.
    bias: u32,
    context: OnceCell<Option<addr2line::Context<Reader>>>,
}

impl Loaded {
    fn new(image: Arc<Image>, bias: u32) -> Self {
        Self { name: image.name.as_str().into(), image, bias, context: OnceCell::new() }
    }

    /// The linked address of a pc, if it lies in this image's code.
    fn code_address(&self, pc: u32) -> Option<u32> {
        let address = pc.wrapping_sub(self.bias);
        let covers = |start: u32, size: u32| address.wrapping_sub(start) < size;
        let code = self.image.segments.iter().filter(|segment| segment.executable);
        code.into_iter().any(|s| covers(s.run_addr, s.memory_bytes)).then_some(address)
    }

    fn context(&self) -> Option<&addr2line::Context<Reader>> {
        let load = || {
            let file = self.image.file.as_ref()?;
            addr2line::Context::from_dwarf(load_dwarf(file)).ok()
        };
        self.context.get_or_init(load).as_ref()
    }

    fn locate(&self, pc: u32) -> Option<Location> {
        let address = self.code_address(pc)?;
        let mut frames = self.frames(address).unwrap_or_default();
        if frames.is_empty() {
            frames.push(Frame { function: self.function(address)?, file: None, line: None });
        }
        let frame = frames.remove(0);
        Some(Location { image: self.name.clone(), frame, inlined_into: frames })
    }

    /// Frames from DWARF, innermost first.
    fn frames(&self, address: u32) -> Option<Vec<Frame>> {
        let mut found = Vec::new();
        let mut frames = self.context()?.find_frames(u64::from(address)).skip_all_loads().ok()?;
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|function| {
                let name = function.demangle().ok()?;
                Some(shorten(&name))
            });
            let location = frame.location;
            found.push(Frame {
                function: name.or_else(|| self.function(address))?,
                file: location.as_ref().and_then(|at| at.file).map(str::to_owned),
                line: location.as_ref().and_then(|at| at.line),
            });
        }
        Some(found)
    }

    /// The function of the symbol table that covers an address, or the label before it.
    fn function(&self, address: u32) -> Option<String> {
        let code = self.image.symbols.iter().filter(|symbol| {
            symbol.kind != SymbolKind::Object
                && symbol.value <= address
                && self.code_address(symbol.value.wrapping_add(self.bias)).is_some()
        });
        let best = code.max_by_key(|symbol| (symbol.value, symbol.kind == SymbolKind::Function))?;
        let covers = best.size == 0 || address - best.value < best.size;
        covers.then(|| shorten(&addr2line::demangle_auto(best.name.as_str().into(), None)))
    }
}

/// Loads the debug sections of an ELF file; missing ones are empty.
pub(crate) fn load_dwarf(file: &Arc<[u8]>) -> gimli::Dwarf<Reader> {
    let load = |id: gimli::SectionId| -> Result<Reader, std::convert::Infallible> {
        Ok(Reader::new(section(file, id.name()).into(), LittleEndian))
    };
    let Ok(dwarf) = gimli::Dwarf::load(load);
    dwarf
}

/// A demangled name without return type, template arguments, parameters and clone suffix.
fn shorten(name: &str) -> String {
    let plain = name.split(" [clone").next().unwrap_or(name);
    if plain.contains("operator") || plain.contains('{') {
        return plain.to_owned();
    }
    let plain = plain.replace("(anonymous namespace)", "{anonymous}");
    let (mut short, mut depth) = (String::new(), 0_u32);
    for c in plain.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            // What precedes a space outside brackets was the return type.
            ' ' if depth == 0 => short.clear(),
            _ if depth == 0 => short.push(c),
            _ => {}
        }
    }
    if short.is_empty() { plain } else { short }
}

/// A named variable and the distance of an address from its start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataSymbol {
    /// Demangled name.
    pub name: String,
    /// Bytes from the start of the variable.
    pub offset: u32,
    /// Bytes of the variable.
    pub size: u32,
}

impl fmt::Display for DataSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.offset != 0 {
            write!(f, "+{:#x}", self.offset)?;
        }
        Ok(())
    }
}

/// Names for one core.
pub struct Symbols {
    firmware: Option<Loaded>,
    kernels: Vec<Loaded>,
    cache: RefCell<HashMap<u32, Option<Arc<Location>>>>,
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels: Vec<_> = self.kernels.iter().map(|kernel| &kernel.name).collect();
        f.debug_struct("Symbols")
            .field("firmware", &self.firmware.as_ref().map(|firmware| &firmware.name))
            .field("kernels", &kernels)
            .finish_non_exhaustive()
    }
}

impl Symbols {
    /// Names for a core that runs this firmware, where it was linked.
    #[must_use]
    pub fn for_core(firmware: Option<Arc<Image>>) -> Self {
        Self {
            firmware: firmware.map(|image| Loaded::new(image, 0)),
            kernels: Vec::new(),
            cache: RefCell::default(),
        }
    }

    /// Replaces the kernels: each image with the L1 address where its first loaded byte lies now.
    /// Kernels win over firmware where both claim an address; flat images add nothing. Whether they
    /// are others than before.
    pub fn set_kernels(&mut self, kernels: impl IntoIterator<Item = (Arc<Image>, u32)>) -> bool {
        let loaded = kernels.into_iter().map(|(image, address)| {
            let linked = image.loadable().map(|segment| segment.addr).min().unwrap_or(address);
            Loaded::new(image, address.wrapping_sub(linked))
        });
        let loaded: Vec<_> = loaded.collect();
        let same = |(old, new): (&Loaded, &Loaded)| {
            Arc::ptr_eq(&old.image, &new.image) && old.bias == new.bias
        };
        // A launch that is repeated: what has been read of its debug information stays.
        if loaded.len() == self.kernels.len() && self.kernels.iter().zip(&loaded).all(same) {
            return false;
        }
        self.kernels = loaded;
        self.cache.borrow_mut().clear();
        true
    }

    /// Where a pc is in the source; `None` outside all known code.
    #[must_use]
    pub fn locate(&self, pc: u32) -> Option<Arc<Location>> {
        if let Some(known) = self.cache.borrow().get(&pc) {
            return known.clone();
        }
        let found = self.loaded().find_map(|loaded| loaded.locate(pc)).map(Arc::new);
        self.cache.borrow_mut().insert(pc, found.clone());
        found
    }

    /// Address of a named symbol, kernels first, see [`Image::symbol`] for what matches. Code of
    /// kernels that run elsewhere than linked gets its run address.
    #[must_use]
    pub fn address_of(&self, name: &str) -> Option<u32> {
        self.loaded().find_map(|loaded| {
            let value = loaded.image.address_of(name)?;
            let moved = value.wrapping_add(loaded.bias);
            Some(if loaded.code_address(moved).is_some() { moved } else { value })
        })
    }

    /// The variable that covers a data address as this core sees it, firmware first (kernels
    /// repeat firmware symbols without sizes).
    #[must_use]
    pub fn data_symbol(&self, address: u32) -> Option<DataSymbol> {
        self.firmware.iter().chain(&self.kernels).find_map(|loaded| {
            let covers = |symbol: &&crate::image::Symbol| {
                symbol.kind == SymbolKind::Object
                    && address.checked_sub(symbol.value).is_some_and(|at| at < symbol.size)
            };
            let symbol = loaded.image.symbols.iter().find(covers)?;
            Some(DataSymbol {
                name: addr2line::demangle_auto(symbol.name.as_str().into(), None).into_owned(),
                offset: address - symbol.value,
                size: symbol.size,
            })
        })
    }

    fn loaded(&self) -> impl Iterator<Item = &Loaded> {
        self.kernels.iter().chain(&self.firmware)
    }
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn demangled_name_loses_parameters_return_type_and_clone_suffix() {
        assert_eq!(shorten("noc_init(unsigned long)"), "noc_init");
        assert_eq!(shorten("void a::f<(unsigned char)1, b<2> >(int) [clone .isra.0]"), "a::f");
        assert_eq!(shorten("(anonymous namespace)::f(int)"), "{anonymous}::f");
        assert_eq!(shorten("a::operator()(int) const"), "a::operator()(int) const");
        assert_eq!(shorten("main"), "main");
    }
}
