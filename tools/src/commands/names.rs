//! Names for what a tile did, from the ELF images that run on it.

use std::cell::RefCell;
use std::sync::Arc;

use loader::firmware::FirmwareSet;
use loader::plan::Kernel;
use loader::symbols::Symbols;
use observe::{CodeName, Names};
use sim_core::CoreId;

/// Code names from DWARF: the firmware's, and those of the kernels launched last.
#[derive(Debug)]
pub struct LoadedNames {
    cores: RefCell<Vec<Symbols>>,
}

impl LoadedNames {
    /// Names for a tile that runs this firmware.
    #[must_use]
    pub fn new(set: &FirmwareSet) -> Self {
        let symbols = |core| Symbols::for_core(Some(Arc::new(set.image(core).clone())));
        Self { cores: RefCell::new(CoreId::ALL.into_iter().map(symbols).collect()) }
    }

    /// From now on these kernels are loaded, and no others.
    pub fn set_kernels(&self, kernels: &[Kernel]) {
        for (id, symbols) in CoreId::ALL.into_iter().zip(self.cores.borrow_mut().iter_mut()) {
            let own = kernels.iter().filter(|kernel| kernel.core == id);
            symbols.set_kernels(own.map(|kernel| (Arc::clone(&kernel.image), kernel.address)));
        }
    }
}

impl Names for LoadedNames {
    fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        let cores = self.cores.borrow();
        let location = cores.get(core.index())?.locate(pc)?;
        let frame = &location.frame;
        Some(CodeName {
            function: frame.function.clone(),
            file: frame.short_file().map(str::to_owned),
            line: frame.line,
        })
    }
}
