//! What is known of a tile from files: names of its code, buffers and semaphores.

use std::sync::Arc;

use memory_map::mailbox::Place;
use observe::why::CircularBuffer;
use observe::{CodeName, Names};
use sim_core::{CoreId, Observer, Width};
use symbols::catalog::Catalog;
use symbols::code::Frame;
use symbols::tile_names::TileNames;
use tile::Tile;

use crate::report::TileView;

/// Bytes of a semaphore's value; what follows up to the next one is padding.
const SEMAPHORE_BYTES: u32 = 4;

/// Names of one tile for whoever explains.
#[derive(Clone, Debug)]
pub struct CodeNames(Arc<TileNames>);

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

    fn function(&self, core: CoreId, pc: u32) -> Option<String> {
        let location = self.0.locate(core, pc)?;
        Some(location.frames().next_back()?.function.clone())
    }

    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        self.0.is_kernel(core, pc)
    }

    fn l1(&self, addr: u32) -> Option<Place> {
        if let Some(launch) = self.0.launch()
            && let Some(index) = launch.semaphore(addr)
        {
            let base = launch.semaphores + index * symbols::launch::SEMAPHORE_STRIDE;
            let byte = addr - base;
            let name = format!("semaphore {index} ({base:#x})");
            return (byte < SEMAPHORE_BYTES).then_some(Place {
                name,
                byte,
                bytes: SEMAPHORE_BYTES,
            });
        }
        self.0.launched()?;
        memory_map::mailbox::place(addr)
    }
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

impl TileView {
    /// What those names say of a tile.
    #[must_use]
    pub fn new(names: &Arc<TileNames>) -> Self {
        let launch = names.launch();
        let circular =
            launch.into_iter().flat_map(|launch| &launch.buffers).map(|buffer| CircularBuffer {
                index: buffer.index as u8,
                address: buffer.address,
                size: buffer.bytes,
                pages: buffer.pages,
                page_bytes: buffer.page_bytes,
            });
        let kernel =
            |core: CoreId| Some((core.name().to_owned(), names.kernel_name(core)?.to_owned()));
        Self {
            circular: circular.collect(),
            kernels: CoreId::ALL.into_iter().filter_map(kernel).collect(),
            operation: names.operation().map(str::to_owned),
            names: Box::new(CodeNames(Arc::clone(names))),
        }
    }
}
