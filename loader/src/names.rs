//! Names for what a tile did, from the ELF images that run on it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::firmware::FirmwareSet;
use crate::plan::{CircularBuffer, Kernel, Launch};
use memory_map::mailbox::Place;
use observe::{CodeName, Excerpt, FrameName, Held, Names};
use sim_core::CoreId;
use symbols::code::{Frame, Location, Symbols};
use symbols::files::below;
use symbols::image::Segment;
use symbols::variables::{self, Variable};

/// Bytes of an argument, and of a semaphore.
const WORD: u32 = 4;

/// Lines of a file; `None` of one that cannot be read.
type Lines = Option<Vec<String>>;

/// Code names from DWARF: the firmware's, and those of the kernels launched last.
#[derive(Debug)]
pub struct LoadedNames {
    cores: RefCell<Vec<Symbols>>,
    /// Code of the kernels, as it lies in L1.
    kernels: RefCell<Vec<(CoreId, Range<u32>)>>,
    /// Arguments of the kernels in L1.
    arguments: RefCell<Vec<(CoreId, Range<u32>)>>,
    /// Addresses of the semaphores of the launch.
    semaphores: RefCell<Vec<u32>>,
    /// Circular buffers of the launch.
    circular: RefCell<Vec<CircularBuffer>>,
    /// Lines of source files, by path as debug information has it.
    files: RefCell<HashMap<(Arc<str>, String), Lines>>,
    /// Counts the launches of other kernels than those before.
    generation: Cell<u32>,
}

impl LoadedNames {
    /// Names for a tile that runs this firmware.
    #[must_use]
    pub fn new(set: &FirmwareSet) -> Self {
        let symbols = |core| Symbols::for_core(Some(Arc::new(set.image(core).clone())));
        Self {
            cores: RefCell::new(CoreId::ALL.into_iter().map(symbols).collect()),
            kernels: RefCell::default(),
            arguments: RefCell::default(),
            semaphores: RefCell::default(),
            circular: RefCell::default(),
            files: RefCell::default(),
            generation: Cell::new(0),
        }
    }

    /// The text of a line of a source file: where its path says, else near the ELF file.
    fn line(&self, image: &Arc<str>, file: &str, line: u32) -> Option<String> {
        let read = || {
            let beside = Path::new(&**image).parent().map(Path::to_owned);
            let found = match Path::new(file) {
                whole if whole.is_absolute() && whole.is_file() => Some(whole.to_owned()),
                _ => below(file, beside.as_slice()),
            };
            let text = std::fs::read_to_string(found?).ok()?;
            Some(text.lines().map(|line| line.trim_end().to_owned()).collect())
        };
        let mut files = self.files.borrow_mut();
        let lines = files.entry((Arc::clone(image), file.to_owned())).or_insert_with(read);
        lines.as_ref()?.get(usize::try_from(line.checked_sub(1)?).ok()?).cloned()
    }

    /// From now on arguments, semaphores and circular buffers are those of this launch.
    pub fn set_launch(&self, launch: &Launch) {
        let Launch { arguments, semaphores, circular, .. } = launch;
        arguments.clone_into(&mut self.arguments.borrow_mut());
        semaphores.clone_into(&mut self.semaphores.borrow_mut());
        circular.clone_into(&mut self.circular.borrow_mut());
    }

    /// A semaphore, an argument or a page of the launch.
    fn of_launch(&self, addr: u32) -> Option<Place> {
        let semaphores = self.semaphores.borrow();
        if let Some(index) = semaphores.iter().position(|at| (*at..at + WORD).contains(&addr)) {
            let name = format!("semaphore {index} ({:#x})", semaphores[index]);
            return Some(Place { name, byte: addr - semaphores[index], bytes: WORD });
        }
        let arguments = self.arguments.borrow();
        if let Some((core, range)) = arguments.iter().find(|(_, range)| range.contains(&addr)) {
            let (index, byte) = ((addr - range.start) / WORD, addr % WORD);
            let name = format!("argument {index} of {core} ({:#x})", addr - byte);
            return Some(Place { name, byte, bytes: WORD });
        }
        None
    }

    /// From now on these kernels are loaded, and no others.
    pub fn set_kernels(&self, kernels: &[Kernel]) {
        let code = |kernel: &Kernel| {
            let bytes = |segment: &Segment| segment.memory_bytes;
            let segments = kernel.image.loadable().filter(|segment| segment.executable);
            let length: u32 = segments.map(bytes).sum();
            (kernel.core, kernel.address..kernel.address.saturating_add(length))
        };
        *self.kernels.borrow_mut() = kernels.iter().map(code).collect();
        for (id, symbols) in CoreId::ALL.into_iter().zip(self.cores.borrow_mut().iter_mut()) {
            let own = kernels.iter().filter(|kernel| kernel.core == id);
            if symbols.set_kernels(own.map(|kernel| (Arc::clone(&kernel.image), kernel.address))) {
                self.generation.set(self.generation.get().wrapping_add(1));
            }
        }
    }
}

fn frame_name(frame: &Frame) -> FrameName {
    FrameName { code: code_name(frame), arguments: frame.arguments.clone() }
}

fn code_name(frame: &Frame) -> CodeName {
    CodeName {
        function: frame.function.clone(),
        file: frame.short_file().map(str::to_owned),
        line: frame.line,
    }
}

/// The first frame outside a header: the line that its author knows.
fn own(location: &Location) -> &Frame {
    let header = |frame: &&Frame| {
        frame.short_file().is_some_and(|file| file.ends_with(".h") || file.ends_with(".hpp"))
    };
    location.frames().find(|frame| !header(frame)).unwrap_or(&location.frame)
}

impl Names for LoadedNames {
    fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index())?.locate(pc)?;
        Some(code_name(&location.frame))
    }

    fn site(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index())?.locate(pc)?;
        Some(code_name(own(&location)))
    }

    fn excerpt(&self, core: CoreId, pc: u32) -> Option<Excerpt> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index())?.locate(pc)?;
        let frame = own(&location);
        let line = frame.line?;
        let text = self.line(&location.image, frame.file.as_deref()?, line)?;
        Some(Excerpt { line, text, column: frame.column })
    }

    fn argument(&self, core: CoreId, addr: u32) -> Option<String> {
        let arguments = self.arguments.borrow();
        let own = |(id, range): &&(CoreId, Range<u32>)| *id == core && range.contains(&addr);
        let (_, range) = arguments.iter().find(own)?;
        Some(format!("argument {}", (addr - range.start) / 4))
    }

    fn statements(&self, core: CoreId, range: Range<u32>) -> Vec<(String, u32)> {
        let cores = self.cores.borrow();
        let found = cores.get(core.index()).map(|symbols| symbols.statements(range));
        let header = |file: &str| file.ends_with(".h") || file.ends_with(".hpp");
        let own = found.into_iter().flatten().filter(|(file, _)| !header(file));
        own.map(|(file, line)| (file.to_string(), line)).collect()
    }

    fn line_text(&self, core: CoreId, pc: u32, line: u32) -> Option<Excerpt> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index())?.locate(pc)?;
        let text = self.line(&location.image, own(&location).file.as_deref()?, line)?;
        Some(Excerpt { line, text, column: None })
    }

    fn variables(&self, core: CoreId, pc: u32, held: Held<'_>) -> Vec<(String, i64)> {
        let told = |variable: Variable| (variable.name, variable.value);
        let cores = self.cores.borrow();
        let Held { register, word } = held;
        let held = variables::Held { register, word };
        let found = cores.get(core.index()).map(|symbols| symbols.variables(pc, held));
        found.into_iter().flatten().map(told).collect()
    }

    fn callers(&self, core: CoreId, pc: u32) -> Vec<CodeName> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index()).and_then(|symbols| symbols.locate(pc));
        location.map_or_else(Vec::new, |location| {
            location.callers().into_iter().map(code_name).collect()
        })
    }

    fn frames(&self, core: CoreId, pc: u32) -> Vec<FrameName> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index()).and_then(|symbols| symbols.locate(pc));
        location.map_or_else(Vec::new, |location| location.frames().map(frame_name).collect())
    }

    fn function(&self, core: CoreId, pc: u32) -> Option<String> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index())?.locate(pc)?;
        let frame = location.inlined_into.last().unwrap_or(&location.frame);
        Some(frame.function.clone())
    }

    fn l1(&self, addr: u32) -> Option<Place> {
        self.of_launch(addr).or_else(|| memory_map::mailbox::place(addr))
    }

    fn page(&self, addr: u32) -> Option<String> {
        let circular = self.circular.borrow();
        let inside = |buffer: &&CircularBuffer| addr.wrapping_sub(buffer.address) < buffer.size;
        let buffer = circular.iter().find(inside).filter(|buffer| buffer.page_bytes != 0)?;
        let page = (addr - buffer.address) / buffer.page_bytes;
        Some(format!("page {page} of CB {} ({addr:#x})", buffer.index))
    }

    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        self.kernels.borrow().iter().any(|(id, code)| *id == core && code.contains(&pc))
    }

    fn kernel_code(&self, core: CoreId) -> Option<Range<u32>> {
        let kernels = self.kernels.borrow();
        let own = kernels.iter().find(|(id, _)| *id == core);
        own.map(|(_, code)| code.clone())
    }

    fn generation(&self) -> u32 {
        self.generation.get()
    }
}
