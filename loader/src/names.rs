//! Names for what a tile did, from the ELF images that run on it.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

use crate::firmware::FirmwareSet;
use crate::plan::Kernel;
use observe::{CodeName, Names};
use sim_core::CoreId;
use symbols::code::{Frame, Symbols};
use symbols::image::Segment;

/// Code names from DWARF: the firmware's, and those of the kernels launched last.
#[derive(Debug)]
pub struct LoadedNames {
    cores: RefCell<Vec<Symbols>>,
    /// Code of the kernels, as it lies in L1.
    kernels: RefCell<Vec<(CoreId, Range<u32>)>>,
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
            generation: Cell::new(0),
        }
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

fn code_name(frame: &Frame) -> CodeName {
    CodeName {
        function: frame.function.clone(),
        file: frame.short_file().map(str::to_owned),
        line: frame.line,
    }
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
        let header = |frame: &&Frame| {
            frame.short_file().is_some_and(|file| file.ends_with(".h") || file.ends_with(".hpp"))
        };
        let mut frames = std::iter::once(&location.frame).chain(&location.inlined_into);
        Some(code_name(frames.find(|frame| !header(frame)).unwrap_or(&location.frame)))
    }

    fn function(&self, core: CoreId, pc: u32) -> Option<String> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index())?.locate(pc)?;
        let frame = location.inlined_into.last().unwrap_or(&location.frame);
        Some(frame.function.clone())
    }

    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        self.kernels.borrow().iter().any(|(id, code)| *id == core && code.contains(&pc))
    }
    fn generation(&self) -> u32 {
        self.generation.get()
    }
}
