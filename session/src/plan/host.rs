//! The host of a plan of several tiles: boots firmware, launches, polls, reads and writes.
//!
//! Everything goes through the chip's host access, by translated coordinates, and happens call by call, so
//! that a second run can stop where a first one did. What it does depends on nothing but the plan and what
//! it reads.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chip::{ChipConfig, Grid};
use loader::firmware::{BankTables, BootImage, BootOptions, FirmwareError, FirmwareSet, identify};
use loader::plan::{At, ChipPlan, Target, Worker};
use observe::why::WrongWord;
use symbols::catalog::{Catalog, Item, ItemKind};
use symbols::files::below;
use symbols::image::Image;
use symbols::module::Module;

use super::play::PlanPlay;
use crate::host::{Host, SessionError};

/// Bytes that are not as a plan expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The launch after which they were looked at.
    pub launch: String,
    /// Where the first of them is.
    pub target: Target,
    /// Its address.
    pub address: u32,
    /// Expected bytes from there on, at most sixteen.
    pub expected: Vec<u8>,
    /// Bytes found.
    pub found: Vec<u8>,
    /// How many bytes of the block differ.
    pub bytes: usize,
    /// The first words that differ, with who wrote them last where that has been asked for.
    pub words: Vec<WrongWord>,
}

/// What the host read because the plan asked for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The launch it belongs to.
    pub launch: String,
    /// Where.
    pub at: At,
    /// What was there.
    pub bytes: Vec<u8>,
}

/// The boot, or one round of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// `boot`, or the launch's name.
    pub name: String,
    /// Cycle at which its go signals were raised.
    pub began: u64,
    /// Cycle at which the host had seen that it is done; `None` if it never was.
    pub ended: Option<u64>,
}

/// Bank tables of a whole chip: which DRAM channel and which worker a bank is.
fn tables(grid: &Grid, set: &FirmwareSet) -> Result<BankTables, FirmwareError> {
    let info = identify(set)?;
    let mut tables = BankTables::zeroed(&info);
    let packed = |x: u8, y: u8| u16::from(y) << 6 | u16::from(x);
    // Translated coordinates are the same on both NoCs.
    for words in &mut tables.dram_xy {
        for (channel, word) in (0..).zip(words) {
            *word = grid.dram(channel).map_or(0, |at| packed(at.x, at.y));
        }
    }
    for words in &mut tables.l1_xy {
        for (tile, word) in grid.tensix().zip(words) {
            *word = packed(tile.logical.x, tile.logical.y);
        }
    }
    for tile in grid.tensix() {
        let (column, row) = tile.worker();
        let place = tables.column_x.get_mut(usize::from(column));
        place.into_iter().for_each(|x| *x = tile.logical.x);
        let place = tables.row_y.get_mut(usize::from(row));
        place.into_iter().for_each(|y| *y = tile.logical.y);
    }
    Ok(tables)
}

/// What came of a plan.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What was begun: the boot, then each round of each launch.
    pub stages: Vec<Stage>,
    /// What was read because the plan asks for it.
    pub seen: Vec<Seen>,
    /// What was not as expected.
    pub wrong: Vec<Mismatch>,
    /// Mistakes of the guests, oldest first, in words.
    pub faults: Vec<String>,
    /// Nothing is left to be done.
    pub is_done: bool,
}

/// The host of a plan of several tiles. What came of the last time through is in [`PlanHost::outcome`].
#[derive(Debug)]
pub struct PlanHost {
    plan: ChipPlan,
    /// What goes to which tile before it is released.
    pub(super) boot: Vec<(Worker, (u8, u8), BootImage)>,
    /// The firmware, by the names of files that say of which core each is.
    firmware: Vec<(String, Image)>,
    config: ChipConfig,
    pub(super) max_cycles: u64,
    pub(super) outcome: RefCell<Outcome>,
}

impl PlanHost {
    /// A host that boots this firmware on every tile of the plan, and gives up when the boot or a launch
    /// takes longer than `max_cycles`.
    ///
    /// # Errors
    /// The firmware set does not fit the boot protocol.
    pub fn new(
        plan: ChipPlan,
        set: &FirmwareSet,
        config: ChipConfig,
        max_cycles: u64,
    ) -> Result<Self, FirmwareError> {
        let grid = Grid::new(config.product, config.harvest());
        let tables = tables(&grid, set)?;
        let mut boot = Vec::new();
        for (worker, noc) in plan.tiles() {
            let options = BootOptions { logical: worker, tables: Some(tables.clone()) };
            boot.push((worker, noc, BootImage::stage(set, &options)?));
        }
        let firmware = set.images().map(|(core, image)| {
            let file = format!("{}.elf", core.name().to_lowercase());
            let is_told = Path::new(&image.name).file_name() == Some(file.as_ref());
            let name = if is_told { image.name.clone() } else { format!("firmware/{file}") };
            (name, image.clone())
        });
        let firmware = firmware.collect();
        Ok(Self { plan, boot, firmware, config, max_cycles, outcome: RefCell::default() })
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &ChipPlan {
        &self.plan
    }

    /// How many stages the last time through has ended; the boot is the first.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.outcome.borrow().stages.iter().filter(|stage| stage.ended.is_some()).count()
    }

    /// How far the last time through has come.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome.borrow().clone()
    }
}

/// The sources that the line tables of an ELF file name: where their paths say, else near it.
fn sources(path: &str, image: &Image) -> Vec<Item> {
    let beside = Path::new(path).parent().map(Path::to_owned);
    let read = |path: String| {
        let found = match Path::new(&path) {
            whole if whole.is_absolute() && whole.is_file() => Some(whole.to_owned()),
            _ => below(&path, beside.as_slice()),
        };
        let bytes = std::fs::read(found?).ok()?.into();
        Some(Item { kind: ItemKind::Text, path, bytes })
    };
    let files = Module::new(Arc::new(image.clone())).source_files();
    files.into_iter().filter_map(read).collect()
}

impl Host for PlanHost {
    type Play<'h> = PlanPlay<'h>;

    fn config(&self) -> Result<ChipConfig, SessionError> {
        Ok(self.config)
    }

    fn play(&self) -> PlanPlay<'_> {
        self.outcome.replace(Outcome::default());
        PlanPlay::new(self)
    }

    /// What it does beside stands in the plan, and none of it comes before what it waits for.
    fn only_polls(&self) -> bool {
        true
    }

    /// The ELF files of the plan and of the firmware, and their sources as far as these can be found.
    fn catalog(&self, _elf: &[PathBuf]) -> Catalog {
        let tiles = self.plan.launches.iter().flat_map(|launch| &launch.tiles);
        let kernels = tiles.flat_map(|tile| &tile.launch.kernels).map(|kernel| &*kernel.image);
        let kernels = kernels.map(|image| (&image.name, image));
        let firmware = self.firmware.iter().map(|(name, image)| (name, image));
        let mut items: Vec<Item> = Vec::new();
        for (path, image) in kernels.chain(firmware) {
            let Some(file) = &image.file else { continue };
            if items.iter().all(|item| item.path != *path) {
                let sources = sources(path, image);
                let (path, bytes) = (path.clone(), file.clone());
                items.push(Item { kind: ItemKind::Elf, path, bytes });
                for source in sources {
                    if items.iter().all(|item| item.path != source.path) {
                        items.push(source);
                    }
                }
            }
        }
        Catalog::from_items(items)
    }
}
