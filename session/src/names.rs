//! What is known of a tile from files: names of its code, buffers and semaphores.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

use chip::Chip;
use memory_map::mailbox::{Layout, MAILBOX_BASE, MAX_BYTES, Place};
use observe::{CodeName, Excerpt, FrameName, Held, Names};
use sim_core::sync::Mutex;
use sim_core::{CoreId, L1, Observer, Width};
use symbols::catalog::Catalog;
use symbols::code::Frame;
use symbols::launch::{self, Launched, Phase};
use symbols::tile_names::TileNames;
use symbols::variables::{self, Variable};
use tile::Tile;

use crate::view::TileView;

/// Bytes of a semaphore's value; what follows up to the next one is padding.
const SEMAPHORE_BYTES: u32 = 4;

/// Most arguments that firmware has room for `[hdr: hw/inc/hostdev/dev_msgs.h]`.
const ARGUMENTS: u32 = 341;

/// Names of one tile for whoever explains.
#[derive(Clone, Debug)]
pub struct CodeNames(Arc<TileNames>);

impl CodeNames {
    /// What files say of a tile.
    #[must_use]
    pub const fn new(names: Arc<TileNames>) -> Self {
        Self(names)
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

impl Names for CodeNames {
    fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        Some(code_name(&self.0.locate(core, pc)?.frame))
    }

    fn site(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        Some(code_name(self.0.locate(core, pc)?.own_frame()))
    }

    fn excerpt(&self, core: CoreId, pc: u32) -> Option<Excerpt> {
        let location = self.0.locate(core, pc)?;
        let frame = location.own_frame();
        let line = frame.line?;
        let text = self.0.sources().whole_line(frame.file.as_deref()?, line)?;
        Some(Excerpt { line, text, column: frame.column })
    }

    fn variables(&self, core: CoreId, pc: u32, held: Held<'_>) -> Vec<(String, i64)> {
        let told = |variable: Variable| (variable.name, variable.value);
        let Held { register, word } = held;
        let held = variables::Held { register, word };
        let found = self.0.core(core).symbols().variables(pc, held);
        found.into_iter().map(told).collect()
    }

    fn callers(&self, core: CoreId, pc: u32) -> Vec<CodeName> {
        let location = self.0.locate(core, pc);
        location.map_or_else(Vec::new, |location| {
            location.callers().into_iter().map(code_name).collect()
        })
    }

    fn frames(&self, core: CoreId, pc: u32) -> Vec<FrameName> {
        let location = self.0.locate(core, pc);
        location.map_or_else(Vec::new, |location| location.frames().map(frame_name).collect())
    }

    fn statements(&self, core: CoreId, range: Range<u32>) -> Vec<(String, u32)> {
        if !self.0.is_kernel(core, range.start) {
            return Vec::new();
        }
        let header = |file: &str| file.ends_with(".h") || file.ends_with(".hpp");
        let found = self.0.core(core).symbols().statements(range).into_iter();
        let own = found.filter(|(file, _)| !header(file));
        own.map(|(file, line)| (file.to_string(), line)).collect()
    }

    fn line_text(&self, core: CoreId, pc: u32, line: u32) -> Option<Excerpt> {
        let location = self.0.locate(core, pc)?;
        let file = location.own_frame().file.clone()?;
        let text = self.0.sources().whole_line(&file, line)?;
        Some(Excerpt { line, text, column: None })
    }

    fn argument(&self, core: CoreId, addr: u32) -> Option<String> {
        let index =
            |base: u32| addr.checked_sub(base).map(|at| at / 4).filter(|at| *at < ARGUMENTS);
        let own = self.0.arguments(core).and_then(index);
        let common = || self.0.common_arguments(core).and_then(index);
        let own = own.map(|at| format!("argument {at}"));
        own.or_else(|| common().map(|at| format!("common argument {at}")))
    }

    fn function(&self, core: CoreId, pc: u32) -> Option<String> {
        let location = self.0.locate(core, pc)?;
        Some(location.frames().next_back()?.function.clone())
    }

    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        self.0.is_kernel(core, pc)
    }

    fn kernel_code(&self, core: CoreId) -> Option<Range<u32>> {
        self.0.kernel_range(core)
    }

    fn l1(&self, addr: u32) -> Option<Place> {
        if let Some(launch) = self.0.launch()
            && let Some(index) = launch.semaphore(addr)
        {
            let base = launch.semaphores + index * launch::SEMAPHORE_STRIDE;
            let byte = addr - base;
            let name = format!("semaphore {index} ({base:#x})");
            return (byte < SEMAPHORE_BYTES).then_some(Place {
                name,
                byte,
                bytes: SEMAPHORE_BYTES,
            });
        }
        self.0.launched()?;
        self.0.mailbox()?.layout().place(addr)
    }

    fn mailbox_address(&self, field: &str) -> Option<u32> {
        match self.0.mailbox() {
            Some(mailbox) => mailbox.layout().address(field),
            None => memory_map::mailbox::address(field),
        }
    }

    fn firmware_offset(&self) -> i32 {
        self.0.mailbox().map_or(0, |mailbox| mailbox.firmware_offset())
    }
}

/// The names in force.
#[derive(Debug, Default)]
struct InForce {
    names: Option<CodeNames>,
    /// Those of the next launch, if its kernels have been started before its go signal.
    coming: Option<CodeNames>,
    /// How many there have been.
    generation: u32,
}

/// Names of one tile that change with each launch. Copies are the same names.
#[derive(Clone, Debug)]
pub struct LiveNames {
    now: Arc<Mutex<InForce>>,
    /// Coordinates of all tiles by their numbers, as the vendor's runtime counts workers.
    workers: Arc<[(u8, u8)]>,
}

impl LiveNames {
    /// No names yet, on a chip whose tiles have those coordinates.
    #[must_use]
    pub fn new(workers: Arc<[(u8, u8)]>) -> Self {
        Self { now: Arc::default(), workers }
    }

    /// Other code is about to run. Its kernels are started before their go signal and wait for it: until
    /// [`LiveNames::set`] these names tell of the code of these kernels, and the others of all else.
    pub fn announce(&self, names: &Arc<TileNames>) {
        let mut now = self.now.lock();
        now.coming = Some(CodeNames(Arc::clone(names)));
        now.generation += 1;
    }

    /// Other code runs from now on.
    pub fn set(&self, names: &Arc<TileNames>) {
        let mut now = self.now.lock();
        let generation = now.generation + 1;
        *now = InForce { names: Some(CodeNames(Arc::clone(names))), coming: None, generation };
    }

    fn ask<R>(&self, ask: impl FnOnce(&CodeNames) -> Option<R>) -> Option<R> {
        ask(self.now.lock().names.as_ref()?)
    }

    /// Asks the names whose code that is.
    fn ask_of<R>(
        &self,
        (core, pc): (CoreId, u32),
        ask: impl FnOnce(&CodeNames) -> Option<R>,
    ) -> Option<R> {
        let now = self.now.lock();
        let coming = now.coming.as_ref().filter(|names| names.is_kernel(core, pc));
        ask(coming.or(now.names.as_ref())?)
    }
}

impl Names for LiveNames {
    fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        self.ask_of((core, pc), |names| names.code(core, pc))
    }

    fn site(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        self.ask_of((core, pc), |names| names.site(core, pc))
    }

    fn excerpt(&self, core: CoreId, pc: u32) -> Option<Excerpt> {
        self.ask_of((core, pc), |names| names.excerpt(core, pc))
    }

    fn variables(&self, core: CoreId, pc: u32, held: Held<'_>) -> Vec<(String, i64)> {
        self.ask_of((core, pc), |names| Some(names.variables(core, pc, held))).unwrap_or_default()
    }

    fn callers(&self, core: CoreId, pc: u32) -> Vec<CodeName> {
        self.ask_of((core, pc), |names| Some(names.callers(core, pc))).unwrap_or_default()
    }

    fn frames(&self, core: CoreId, pc: u32) -> Vec<FrameName> {
        self.ask_of((core, pc), |names| Some(names.frames(core, pc))).unwrap_or_default()
    }

    fn kernel_code(&self, core: CoreId) -> Option<Range<u32>> {
        self.ask(|names| names.kernel_code(core))
    }

    fn statements(&self, core: CoreId, range: Range<u32>) -> Vec<(String, u32)> {
        self.ask_of((core, range.start), |names| Some(names.statements(core, range)))
            .unwrap_or_default()
    }

    fn line_text(&self, core: CoreId, pc: u32, line: u32) -> Option<Excerpt> {
        self.ask_of((core, pc), |names| names.line_text(core, pc, line))
    }

    fn argument(&self, core: CoreId, addr: u32) -> Option<String> {
        self.ask(|names| names.argument(core, addr))
    }

    fn function(&self, core: CoreId, pc: u32) -> Option<String> {
        self.ask_of((core, pc), |names| names.function(core, pc))
    }

    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        self.ask_of((core, pc), |names| Some(names.is_kernel(core, pc))).unwrap_or(false)
    }

    fn l1(&self, addr: u32) -> Option<Place> {
        match &self.now.lock().names {
            Some(names) => names.l1(addr),
            // The firmware has not said yet that it is none.
            None => memory_map::mailbox::place(addr),
        }
    }

    fn mailbox_address(&self, field: &str) -> Option<u32> {
        match &self.now.lock().names {
            Some(names) => names.mailbox_address(field),
            None => memory_map::mailbox::address(field),
        }
    }

    fn firmware_offset(&self) -> i32 {
        self.now.lock().names.as_ref().map_or(0, Names::firmware_offset)
    }

    fn endpoint(&self, number: u16) -> Option<String> {
        let (x, y) = self.workers.get(usize::from(number))?;
        Some(format!("tile ({x}, {y})"))
    }

    fn generation(&self) -> u32 {
        self.now.lock().generation
    }
}

/// What is launched, in a line: the operation, if the host has told, and the kernels, each once. `None` if no
/// file tells.
#[must_use]
pub fn title(names: &TileNames) -> Option<String> {
    let mut kernels: Vec<&str> = Vec::new();
    for kernel in CoreId::ALL.into_iter().filter_map(|core| names.kernel_name(core)) {
        if !kernels.contains(&kernel) {
            kernels.push(kernel);
        }
    }
    match (names.operation(), kernels.is_empty()) {
        (Some(operation), true) => Some(operation.to_owned()),
        (Some(operation), false) => Some(format!("{operation}: {}", kernels.join(", "))),
        (None, true) => None,
        (None, false) => Some(kernels.join(", ")),
    }
}

/// Reads what L1 says about the launch in force, and finds the files that belong to it, unless those are `early` names.
pub(crate) fn read_l1(l1: &L1, catalog: &Catalog, early: Option<&TileNames>) -> Arc<TileNames> {
    let memory = |addr: u32, bytes: &mut [u8]| l1.read_bytes(addr, bytes);
    let names = early.and_then(|early| early.reread(&memory));
    Arc::new(names.unwrap_or_else(|| TileNames::read(&memory, catalog)))
}

/// As [`read_l1`], if the launch in force has not been given its go signal and its kernels are started nevertheless.
pub(crate) fn read_early(l1: &L1, catalog: &Catalog) -> Option<Arc<TileNames>> {
    let memory = |addr: u32, bytes: &mut [u8]| l1.read_bytes(addr, bytes);
    let launch = Launched::read(&memory, &*catalog.mailbox(&memory)?)?.launch?;
    (launch.phase == Phase::Preloaded).then(|| Arc::new(TileNames::read(&memory, catalog)))
}

/// L1 of a tile, as it stands.
fn memory<O: Observer>(tile: &Tile<O>) -> impl Fn(u32, &mut [u8]) + '_ {
    move |addr, bytes: &mut [u8]| {
        for (at, byte) in (addr..).zip(bytes) {
            let inside = at < memory_map::layout::L1_BYTES;
            *byte = if inside { tile.l1_value(at, Width::Byte) as u8 } else { 0 };
        }
    }
}

/// Reads what a tile's L1 says about its launch, and finds the files that belong to it.
#[must_use]
pub fn read_names<O: Observer>(tile: &Tile<O>, catalog: &Catalog) -> Arc<TileNames> {
    Arc::new(TileNames::read(&memory(tile), catalog))
}

/// Finds out where the firmware of a session keeps what in its mailbox block, for what is said of the chip: of another
/// version than the built-in table's by its file, for which is looked once.
pub fn learn_mailbox<O: Observer + Send + 'static, C: Borrow<Catalog>>(
    chip: &mut Chip<O>,
    catalog: impl FnOnce() -> C,
) {
    if chip.knows_mailbox() {
        return;
    }
    let standing = chip.standing();
    let mut numbers = standing.tiles.iter().map(|tile| tile.number);
    let is_booted = |number: &u16| {
        let entry = |tile: &Tile<O>| launch::entry(&memory(tile));
        chip.inspect(*number, entry).is_some()
    };
    let Some(number) = numbers.find(is_booted) else { return };
    let is_other = chip.inspect(number, |tile| {
        let entry = launch::entry(&memory(tile));
        let is_worker = |addr| tile.l1_value(addr, Width::Word) == launch::WORKER;
        entry != memory_map::layout::area_base("brisc_firmware")
            && (MAILBOX_BASE..MAILBOX_BASE + MAX_BYTES).step_by(4).any(is_worker)
    });
    let own = if is_other {
        let catalog = catalog();
        chip.inspect(number, |tile| catalog.borrow().mailbox(&memory(tile)))
    } else {
        None
    };
    let layout = own.map_or_else(|| Layout::built_in().clone(), |own| own.layout().clone());
    chip.set_mailbox(Arc::new(layout));
}

/// The operation that a tile runs, with the host's number of its program.
fn operation(names: &TileNames) -> Option<String> {
    let program = match names.program() {
        Some(program) => format!(" (program {program})"),
        None => String::new(),
    };
    Some(format!("{}{program}", names.operation()?))
}

impl TileView {
    /// What those names say of a tile.
    #[must_use]
    pub fn new(names: &Arc<TileNames>) -> Self {
        let kernel =
            |core: CoreId| Some((core.name().to_owned(), names.kernel_name(core)?.to_owned()));
        Self {
            circular: crate::checks::circular(names),
            kernels: CoreId::ALL.into_iter().filter_map(kernel).collect(),
            operation: operation(names),
            code: CoreId::ALL
                .into_iter()
                .filter_map(|core| Some((core, names.kernel_range(core)?)))
                .collect(),
            names: Box::new(CodeNames(Arc::clone(names))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use chip::ChipConfig;
    use isa::asm::j;
    use symbols::catalog::{Item, ItemKind};
    use symbols::image::Image;

    use super::*;

    /// The file of firmware of another version, whose BRISC begins there `[hdr: hw/inc/hostdev/dev_msgs.h]` of 0.71.2.
    const OLDER: &str = "../firmware-tests/programs/versions/older.elf";
    const ENTRY: i32 = 0x38E0;
    const MAGIC: u64 = 0x60 + 2952;
    const GO: u32 = 0x60 + 912;

    /// A chip of whose first tile address 0 jumps to `entry`, where that file's program lies, and whether it is a worker.
    fn chip(entry: i32, is_worker: bool) -> Chip {
        let mut chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        let mut write = |addr: u64, bytes: &[u8]| {
            chip.tile_write(1, 2, addr, bytes).expect("L1");
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(OLDER);
        let image = Image::read_elf(&path).expect("a good file");
        for segment in image.loadable() {
            write(segment.addr.into(), &segment.bytes);
        }
        write(0, &j(entry).to_le_bytes());
        if is_worker {
            write(MAGIC, &launch::WORKER.to_le_bytes());
        }
        chip
    }

    fn catalog() -> Catalog {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(OLDER);
        let bytes = fs::read(path).expect("it is there").as_slice().into();
        Catalog::from_items([Item { kind: ItemKind::Elf, path: "brisc/brisc.elf".into(), bytes }])
    }

    #[test]
    fn mailbox_of_another_version_is_learnt_from_its_file_once() {
        let mut chip = chip(ENTRY, true);
        learn_mailbox(&mut chip, catalog);
        assert_eq!(chip.mailbox_layout().address("go_messages[0].signal"), Some(GO + 3));
        learn_mailbox(&mut chip, || -> Catalog { unreachable!("it is known") });
    }

    #[test]
    fn files_are_not_asked_of_the_built_in_version_and_of_other_programs() {
        let built_in = memory_map::layout::area_base("brisc_firmware").expect("the table has it");
        for (entry, is_worker) in [(built_in.cast_signed(), true), (ENTRY, false)] {
            let mut chip = chip(entry, is_worker);
            learn_mailbox(&mut chip, || -> Catalog { unreachable!("nothing is to be learnt") });
            assert_eq!(chip.mailbox_layout(), Layout::built_in());
        }
    }

    #[test]
    fn tile_without_a_program_may_be_given_one_later() {
        let mut chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        learn_mailbox(&mut chip, || -> Catalog { unreachable!("nothing runs") });
        assert!(!chip.knows_mailbox());
    }
}
