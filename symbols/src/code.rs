//! Names for addresses: pc to function, file and line (with inlined frames), data address to
//! variable, name to address. One [`Symbols`] per core: firmware plus the kernels of the current
//! launch, which are replaced at each launch and may run elsewhere than linked.
//!
//! What one file says is [`Module`]'s, which caches its answers and may be shared by tiles and
//! threads; here it is put where it runs. A damaged debug section gives fewer names, never an
//! error: names are a service, not part of a result.

use std::fmt;
use std::sync::Arc;

use crate::files::{Role, is_file, role};
use crate::image::{Image, SymbolKind};
use crate::module::Module;
use crate::variables::{Held, Variable};

/// One function activation in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Demangled name.
    pub function: String,
    /// Template arguments as the demangler writes them, with commas between; empty where there are none.
    pub arguments: String,
    /// Source file as the compiler recorded it.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
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
    /// The kernel's source file, if whoever found the image knew it.
    pub source: Option<Arc<str>>,
    /// The innermost frame: inlined code if there is any.
    pub frame: Frame,
    /// The frames it was inlined into, from the inside out; empty when nothing was inlined.
    pub inlined_into: Vec<Frame>,
    /// Which of all frames is the author's.
    own: usize,
}

impl Location {
    /// A place in an image, whose kernel's source file may be known, with the frames there.
    #[must_use]
    pub fn new(
        image: Arc<str>,
        source: Option<Arc<str>>,
        frame: Frame,
        inlined_into: Vec<Frame>,
    ) -> Self {
        let mut location = Self { image, source, frame, inlined_into, own: 0 };
        location.own = location.find_own();
        location
    }

    /// All frames, from the inside out.
    #[must_use]
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        std::iter::once(&self.frame).chain(&self.inlined_into)
    }

    /// The frame that the author of the code knows: the innermost one in the kernel's own source
    /// file; else in a source file that belongs to no library; else in a header that belongs to
    /// none; else in what wraps a kernel into a program. Where all is library code it is the
    /// outermost frame: the function that was called.
    #[must_use]
    pub fn own_frame(&self) -> &Frame {
        self.frames().nth(self.own).unwrap_or(&self.frame)
    }

    /// Looks at the paths of all files, which takes long where a report asks for each executed instruction.
    fn find_own(&self) -> usize {
        let files: Vec<_> =
            self.frames().map(|frame| frame.file.as_deref().unwrap_or_default()).collect();
        let is_source =
            |file: &&str| self.source.as_ref().is_some_and(|source| is_file(file, source));
        let roles: Vec<_> = files.iter().map(|file| role(file)).collect();
        let with = |wanted| roles.iter().position(|role| *role == wanted);
        let own = files.iter().position(is_source).or_else(|| with(Role::Source));
        let own = own.or_else(|| with(Role::Header)).or_else(|| with(Role::Wrapper));
        own.unwrap_or(self.inlined_into.len())
    }
}

impl Location {
    /// The frames that the own frame was inlined into, from the inside out, without wrappers and
    /// libraries: where the author's own functions are called from.
    #[must_use]
    pub fn callers(&self) -> Vec<&Frame> {
        let own = self.own_frame();
        let behind = self.frames().skip_while(|frame| !std::ptr::eq(*frame, own)).skip(1);
        let authors = |frame: &&Frame| {
            let role = role(frame.file.as_deref().unwrap_or_default());
            matches!(role, Role::Source | Role::Header)
        };
        behind.filter(authors).collect()
    }
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

/// A demangled name without return type, template arguments, parameters and clone suffix.
pub(crate) fn shorten(name: &str) -> String {
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

/// The last template arguments of a demangled name in front of its parameters.
pub(crate) fn arguments(name: &str) -> String {
    let (mut last, mut depth) = (String::new(), 0_u32);
    for c in name.split(" [clone").next().unwrap_or(name).chars() {
        match c {
            '<' => {
                depth += 1;
                if depth == 1 {
                    last.clear();
                    continue;
                }
            }
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            // What precedes was the return type.
            ' ' if depth == 0 => last.clear(),
            _ => {}
        }
        if depth > 0 {
            last.push(c);
        }
    }
    last
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

/// A module and how far from its linked address it runs.
#[derive(Debug)]
struct Loaded {
    module: Arc<Module>,
    /// Run address minus linked address, wrapping.
    bias: u32,
}

impl Loaded {
    fn at(module: Arc<Module>, address: u32) -> Self {
        let linked = module.image().loadable().map(|segment| segment.addr).min();
        Self { bias: address.wrapping_sub(linked.unwrap_or(address)), module }
    }

    fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.module.image(), other.module.image()) && self.bias == other.bias
    }
}

/// Names for one core.
#[derive(Debug)]
pub struct Symbols {
    firmware: Option<Loaded>,
    kernels: Vec<Loaded>,
}

impl Symbols {
    /// Names for a core that runs this firmware, where it was linked.
    #[must_use]
    pub fn for_core(firmware: Option<Arc<Image>>) -> Self {
        Self::with_firmware(firmware.map(|image| Arc::new(Module::new(image))))
    }

    /// The same with firmware that other cores or tiles run too.
    #[must_use]
    pub fn with_firmware(firmware: Option<Arc<Module>>) -> Self {
        let firmware = firmware.map(|module| Loaded { module, bias: 0 });
        Self { firmware, kernels: Vec::new() }
    }

    /// Replaces the kernels: each image with the L1 address where its first loaded byte lies now.
    /// Kernels win over firmware where both claim an address; flat images add nothing. Whether they
    /// are others than before.
    pub fn set_kernels(&mut self, kernels: impl IntoIterator<Item = (Arc<Image>, u32)>) -> bool {
        // What has been read of the debug information of an image stays.
        let modules: Vec<_> = kernels
            .into_iter()
            .map(|(image, address)| {
                let same = |old: &&Loaded| Arc::ptr_eq(old.module.image(), &image);
                let known = self.kernels.iter().find(same).map(|old| Arc::clone(&old.module));
                (known.unwrap_or_else(|| Arc::new(Module::new(image))), address)
            })
            .collect();
        self.set_modules(modules)
    }

    /// The same with modules that other cores or tiles run too.
    pub fn set_modules(&mut self, kernels: impl IntoIterator<Item = (Arc<Module>, u32)>) -> bool {
        let loaded: Vec<_> =
            kernels.into_iter().map(|(module, address)| Loaded::at(module, address)).collect();
        // A launch that is repeated changes nothing.
        if loaded.len() == self.kernels.len()
            && self.kernels.iter().zip(&loaded).all(|(old, new)| old.same(new))
        {
            return false;
        }
        self.kernels = loaded;
        true
    }

    /// Where a pc is in the source; `None` outside all known code.
    #[must_use]
    pub fn locate(&self, pc: u32) -> Option<Arc<Location>> {
        self.loaded().find_map(|loaded| loaded.module.locate(pc.wrapping_sub(loaded.bias)))
    }

    /// Arguments and locals of a kernel, with values, that are in force at a pc, of the author's function there.
    #[must_use]
    pub fn variables(&self, pc: u32, held: Held<'_>) -> Vec<Variable> {
        let holds = |kernel: &&Loaded| kernel.module.holds_code(pc.wrapping_sub(kernel.bias));
        let kernel = self.kernels.iter().find(holds);
        kernel.map_or_else(Vec::new, |kernel| {
            kernel.module.variables(pc.wrapping_sub(kernel.bias), held)
        })
    }

    /// The file and line of each statement of a kernel that begins in a range of addresses, in order.
    #[must_use]
    pub fn statements(&self, range: std::ops::Range<u32>) -> Vec<(Arc<str>, u32)> {
        let holds =
            |loaded: &&Loaded| loaded.module.holds_code(range.start.wrapping_sub(loaded.bias));
        let Some(Loaded { module, bias }) = self.kernels.iter().find(holds) else {
            return Vec::new();
        };
        let linked = range.start.wrapping_sub(*bias)..range.end.wrapping_sub(*bias);
        let found = module.statements(linked).iter();
        found.map(|statement| (Arc::clone(&statement.file), statement.line)).collect()
    }

    /// Address of a named symbol, kernels first, see [`Image::symbol`] for what matches. Code of
    /// kernels that run elsewhere than linked gets its run address.
    #[must_use]
    pub fn address_of(&self, name: &str) -> Option<u32> {
        self.loaded().find_map(|loaded| {
            let value = loaded.module.image().address_of(name)?;
            let code = loaded.module.holds_code(value);
            Some(if code { value.wrapping_add(loaded.bias) } else { value })
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
            let symbol = loaded.module.image().symbols.iter().find(covers)?;
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
    use super::{arguments, shorten};

    #[test]
    fn demangled_name_loses_parameters_return_type_and_clone_suffix() {
        assert_eq!(shorten("noc_init(unsigned long)"), "noc_init");
        assert_eq!(shorten("void a::f<(unsigned char)1, b<2> >(int) [clone .isra.0]"), "a::f");
        assert_eq!(shorten("(anonymous namespace)::f(int)"), "{anonymous}::f");
        assert_eq!(shorten("a::operator()(int) const"), "a::operator()(int) const");
        assert_eq!(shorten("main"), "main");
        assert_eq!(arguments("void f<(a::B)1, c<2>, true>(int)"), "(a::B)1, c<2>, true");
        assert_eq!(arguments("a<1>::f(b<2>)"), "1");
        assert_eq!(arguments("a<1> f(b<2>)"), "");
        assert_eq!(arguments("a<1>::f<2>()"), "2");
        assert_eq!(arguments("main"), "");
    }
}
