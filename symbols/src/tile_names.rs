//! Names for one tile: what its launch message says, joined with what files say.
//!
//! Cheap to make for many tiles that run the same kernels: what is read of a file is shared.

use std::ops::Range;
use std::sync::Arc;

use sim_core::CoreId;

use crate::catalog::{Catalog, KernelFile, Operation, stands};
use crate::code::{Location, Symbols};
use crate::files::SourceText;
use crate::launch::{CircularBuffer, CoreLaunch, Launch, Launched, Mailbox, Memory, Phase};
use crate::module::Module;

/// The name of every kernel that a host gives as a string, and the directory of its files in the kernel cache, as
/// ttnn 0.81 names them.
const OF_STRING: &str = "Kernel_Source_Code";

/// Names for one core of a tile.
#[derive(Debug)]
pub struct CoreNames {
    symbols: Symbols,
    firmware: Option<Arc<Module>>,
    kernel: Option<Arc<Module>>,
    record: Option<KernelFile>,
    range: Option<Range<u32>>,
}

impl CoreNames {
    /// Functions, lines and variables of firmware and kernel.
    #[must_use]
    pub const fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The firmware that stands in L1, if a file of it was found.
    #[must_use]
    pub const fn firmware(&self) -> Option<&Arc<Module>> {
        self.firmware.as_ref()
    }

    /// The kernel that stands in L1, if a file of it was found.
    #[must_use]
    pub const fn kernel(&self) -> Option<&Arc<Module>> {
        self.kernel.as_ref()
    }

    /// What the host's records say of the kernel; only of one that stands in L1.
    #[must_use]
    pub const fn record(&self) -> Option<&KernelFile> {
        self.record.as_ref()
    }
}

/// Names for one tile at one time. To be made anew when [`TileNames::is_current`] says so.
#[derive(Debug)]
pub struct TileNames {
    mailbox: Option<Arc<Mailbox>>,
    launched: Option<Launched>,
    operation: Option<Operation>,
    cores: Arc<[CoreNames; CoreId::COUNT]>,
    sources: Arc<SourceText>,
}

impl TileNames {
    /// Reads the tile's L1 and finds the files that belong to it.
    #[must_use]
    pub fn read(memory: &dyn Memory, catalog: &Catalog) -> Self {
        let mailbox = catalog.mailbox(memory);
        let launched = mailbox.as_ref().and_then(|mailbox| Launched::read(memory, mailbox));
        let launch = launched.as_ref().and_then(|launched| launched.launch.as_ref());
        let cores = CoreId::ALL.map(|core| match &launched {
            Some(_) => with_firmware(core, launch, memory, catalog),
            None => bare(core, memory, catalog),
        });
        // A record whose kernel stands in L1 is of the host that launched it.
        let recorded = cores.iter().any(|core| core.record.is_some());
        let id = launch.filter(|_| recorded).map(|launch| launch.host_assigned_id);
        let operation = id.and_then(|id| catalog.operation(id));
        Self { mailbox, launched, operation, cores: Arc::new(cores), sources: catalog.sources() }
    }

    /// As [`TileNames::read`], if the launch in force is that of these names, in whatever phase, and their kernels stand
    /// there: they are not looked for again. `None` also if a kernel of it was not found.
    #[must_use]
    pub fn reread(&self, memory: &dyn Memory) -> Option<Self> {
        let launched = Launched::read(memory, self.mailbox.as_ref()?)?;
        let (old, new) = (self.launch()?, launched.launch.as_ref()?);
        if *old != (Launch { phase: old.phase, ..new.clone() }) {
            return None;
        }
        let is_there = |core: CoreId| {
            let own = new.core(core);
            let kernel = self.core(core).kernel.as_ref();
            kernel.map_or(!own.enabled, |module| stands(module, memory, Some(own.text)))
        };
        if !CoreId::ALL.into_iter().all(is_there) {
            return None;
        }
        Some(Self {
            mailbox: self.mailbox.clone(),
            launched: Some(launched),
            operation: self.operation.clone(),
            cores: Arc::clone(&self.cores),
            sources: Arc::clone(&self.sources),
        })
    }

    /// The text of source files.
    #[must_use]
    pub fn sources(&self) -> &SourceText {
        &self.sources
    }

    /// Whether the names still hold: the same launch is in force, in the same phase; on a tile
    /// without a mailbox block, the programs still stand in L1. Such a tile without any program
    /// that a file explains is never current.
    #[must_use]
    pub fn is_current(&self, memory: &dyn Memory) -> bool {
        let read = |mailbox: &Arc<Mailbox>| Launched::read(memory, mailbox);
        match (&self.launched, self.mailbox.as_ref().and_then(read)) {
            (Some(old), Some(new)) => old.launch == new.launch,
            (None, None) => {
                let modules = self.modules();
                !modules.is_empty() && modules.iter().all(|module| stands(module, memory, None))
            }
            _ => false,
        }
    }

    /// Where the firmware keeps what in its mailbox block; [`None`] if none is known that begins there.
    #[must_use]
    pub const fn mailbox(&self) -> Option<&Arc<Mailbox>> {
        self.mailbox.as_ref()
    }

    /// What the mailbox block says; `None` if L1 holds none.
    #[must_use]
    pub const fn launched(&self) -> Option<&Launched> {
        self.launched.as_ref()
    }

    /// The launch in force, or the last one.
    #[must_use]
    pub fn launch(&self) -> Option<&Launch> {
        self.launched.as_ref()?.launch.as_ref()
    }

    /// Names for one core.
    #[must_use]
    pub fn core(&self, core: CoreId) -> &CoreNames {
        &self.cores[core.index()]
    }

    /// Where a pc is in the source.
    #[must_use]
    pub fn locate(&self, core: CoreId, pc: u32) -> Option<Arc<Location>> {
        self.core(core).symbols.locate(pc)
    }

    /// What people call the kernel of a core.
    #[must_use]
    pub fn kernel_name(&self, core: CoreId) -> Option<&str> {
        self.core(core).kernel.as_ref().map(|module| module.title())
    }

    /// What tells the kernel of a core from others: its name, and its file if it was made of a string, since all
    /// those have one name.
    #[must_use]
    pub fn kernel_identity(&self, core: CoreId) -> Option<&str> {
        let module = self.core(core).kernel.as_ref()?;
        Some(if module.title() == OF_STRING { module.name() } else { module.title() })
    }

    /// The operation that was launched: as the host wrote down, else as the path of a kernel's
    /// source tells, see [`KernelFile::operation`].
    #[must_use]
    pub fn operation(&self) -> Option<&str> {
        let by_path = || {
            let mut records = self.cores.iter().filter_map(|core| core.record.as_ref());
            records.find_map(|record| record.operation.as_deref())
        };
        self.operation.as_ref().map(|operation| operation.name.as_str()).or_else(by_path)
    }

    /// The host's number of the program that was launched, as its records have it.
    #[must_use]
    pub fn program(&self) -> Option<u64> {
        self.cores.iter().find_map(|core| core.record.as_ref()?.program)
    }

    /// The operation as the host wrote it down, with its tensors.
    #[must_use]
    pub const fn recorded_operation(&self) -> Option<&Operation> {
        self.operation.as_ref()
    }

    /// The semaphore that covers an L1 address, by id.
    #[must_use]
    pub fn semaphore(&self, addr: u32) -> Option<u32> {
        self.launch()?.semaphore(addr)
    }

    /// The local circular buffer of that index.
    #[must_use]
    pub fn buffer(&self, index: u32) -> Option<&CircularBuffer> {
        self.launch()?.buffer(index)
    }

    /// Where the code of a core's kernel lies, also of one that no file explains.
    #[must_use]
    pub fn kernel_range(&self, core: CoreId) -> Option<Range<u32>> {
        self.core(core).range.clone()
    }

    /// Whether a pc is in the core's kernel and not in firmware.
    #[must_use]
    pub fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        self.core(core).range.as_ref().is_some_and(|range| range.contains(&pc))
    }

    /// L1 address of a core's runtime arguments.
    #[must_use]
    pub fn arguments(&self, core: CoreId) -> Option<u32> {
        self.launch()?.core(core).arguments
    }

    /// L1 address of a core's common runtime arguments.
    #[must_use]
    pub fn common_arguments(&self, core: CoreId) -> Option<u32> {
        self.launch()?.core(core).common_arguments
    }

    /// All modules in use, each once.
    #[must_use]
    pub fn modules(&self) -> Vec<Arc<Module>> {
        let mut found: Vec<Arc<Module>> = Vec::new();
        for core in &*self.cores {
            for module in core.kernel.iter().chain(&core.firmware) {
                if !found.iter().any(|known| Arc::ptr_eq(known, module)) {
                    found.push(Arc::clone(module));
                }
            }
        }
        found
    }
}

/// A core that runs the vendor's firmware and perhaps a kernel.
fn with_firmware(
    core: CoreId,
    launch: Option<&Launch>,
    memory: &dyn Memory,
    catalog: &Catalog,
) -> CoreNames {
    let firmware = catalog.find(core, memory, None);
    let mut symbols = Symbols::with_firmware(firmware.clone());
    // When a launch from the device is done only the kernel's number tells that there was one.
    let runs = |launch: &&Launch| {
        let own = launch.core(core);
        own.enabled || launch.phase == Phase::Finished && own.watcher_id != 0
    };
    let own: Option<&CoreLaunch> = launch.filter(runs).map(|launch| launch.core(core));
    let kernel = own.and_then(|own| catalog.find_kernel(core, own.watcher_id, memory, own.text));
    if let (Some(own), Some(module)) = (own, &kernel) {
        symbols.set_modules([(Arc::clone(module), own.text)]);
    }
    let code_bytes = |module: &Arc<Module>| -> u32 {
        let code = module.image().loadable().filter(|segment| segment.executable);
        code.map(|segment| segment.memory_bytes).sum()
    };
    let range = own.and_then(|own| {
        let bytes = kernel.as_ref().map_or(own.text_bytes, code_bytes);
        (bytes != 0).then(|| own.text..own.text.saturating_add(bytes))
    });
    let record = own.zip(kernel.as_ref()).and_then(|(own, module)| {
        let record = catalog.kernel(own.watcher_id, core)?;
        let elf = record.elf.to_string_lossy().into_owned();
        let same = module.name() == elf || module.name().strip_suffix(".xip.elf") == Some(&elf);
        same.then_some(record)
    });
    CoreNames { symbols, firmware, kernel, record, range }
}

/// A core whose program lies where it was linked, as the LLK tests have it: BRISC's loads the
/// others, those are the kernels.
fn bare(core: CoreId, memory: &dyn Memory, catalog: &Catalog) -> CoreNames {
    let module = catalog.find(core, memory, None);
    let symbols = Symbols::with_firmware(module.clone());
    let kernel = module.clone().filter(|_| core != CoreId::Brisc);
    let range = kernel.as_ref().and_then(|module| {
        let code = module.image().loadable().filter(|segment| segment.executable);
        let spans = code.map(|code| code.addr..code.addr.saturating_add(code.memory_bytes));
        spans.reduce(|all, next| all.start.min(next.start)..all.end.max(next.end))
    });
    let firmware = if kernel.is_some() { None } else { module };
    CoreNames { symbols, firmware, kernel, record: None, range }
}
