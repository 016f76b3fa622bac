//! Who an NIU is, and which tiles a coordinate means.
//!
//! Sources: `[isa-bh: NoC/MemoryMap.md]` (`NOC_NODE_ID`, `NOC_ID_LOGICAL`, broadcast rectangles),
//! `[isa-wh: NoC/Coordinates.md]`, `[spec: boot-and-sync 8.12]`.
//!
//! NoC 0 counts columns rightwards and rows downwards from (0, 0) at the top left; NoC 1 counts
//! the other way from the bottom right. With translation on, software uses one coordinate per
//! tile for both: for Tensix tiles the NoC 0 coordinate, counted over the tiles that are not
//! fused off.

use memory_map::reg::noc_niu::noc_node_id;

use super::packet::Coordinate;

/// Columns of the NoC.
pub(super) const WIDTH: u8 = 17;
/// Rows of the NoC.
pub(super) const HEIGHT: u8 = 12;

/// Columns (NoC 0) without Tensix tiles: these never receive broadcasts `[ttsim: src/sim.h]`.
const NON_TENSIX_COLUMNS: [u8; 3] = [0, 8, 9];
/// Rows (NoC 0) without Tensix tiles.
const NON_TENSIX_ROWS: [u8; 2] = [0, 1];

/// Where an NIU sits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Identity {
    /// NoC 0 or 1.
    pub noc: u8,
    /// Position in NoC 0 coordinates.
    pub physical: Coordinate,
    /// Position in translated coordinates; equals `physical` on a chip without fused-off tiles.
    pub logical: Coordinate,
}

/// A NoC 0 coordinate as the given NoC counts it. Coordinates outside the grid stay.
fn mirror(noc: u8, at: Coordinate) -> Coordinate {
    if noc == 0 || at.x >= WIDTH || at.y >= HEIGHT {
        return at;
    }
    Coordinate { x: WIDTH - 1 - at.x, y: HEIGHT - 1 - at.y }
}

impl Identity {
    /// Own position in this NoC's raw coordinates.
    #[must_use]
    pub fn raw(&self) -> Coordinate {
        mirror(self.noc, self.physical)
    }

    /// A coordinate as written, in this NoC's raw coordinates.
    #[must_use]
    pub fn to_raw(&self, written: Coordinate, translate: bool) -> Coordinate {
        if !translate {
            return written;
        }
        let noc0 = if written == self.logical { self.physical } else { written };
        mirror(self.noc, noc0)
    }

    /// `NOC_NODE_ID`: own raw coordinates, grid size, and whether X is routed first. The dateline
    /// bits are left 0 `[unknown: U-022]`.
    #[must_use]
    pub fn node_id(&self) -> u32 {
        let x_first = u32::from(self.noc == 0);
        self.raw().to_bits()
            | noc_node_id::WIDTH.put(WIDTH.into())
            | noc_node_id::HEIGHT.put(HEIGHT.into())
            | noc_node_id::X_FIRST.put(x_first)
    }

    /// Masks of columns and rows, in raw coordinates, that firmware excludes from broadcasts.
    #[must_use]
    pub fn broadcast_opt_out(&self) -> (u32, u32) {
        let columns = NON_TENSIX_COLUMNS
            .iter()
            .fold(0, |mask, &x| mask | 1 << mirror(self.noc, Coordinate { x, y: 0 }).x);
        let rows = NON_TENSIX_ROWS
            .iter()
            .fold(0, |mask, &y| mask | 1 << mirror(self.noc, Coordinate { x: 0, y }).y);
        (columns, rows)
    }

    /// Routers passed on the way from this NIU to a raw coordinate and back. Packets only move in
    /// the direction in which coordinates count up, around the torus `[isa-bh: NoC/README.md]`.
    #[must_use]
    pub fn hops(&self, to: Coordinate) -> (u8, u8) {
        let from = self.raw();
        let way = |a: u8, b: u8, size: u8| (b % size + size - a % size) % size;
        let there = way(from.x, to.x, WIDTH) + way(from.y, to.y, HEIGHT);
        let back = way(to.x, from.x, WIDTH) + way(to.y, from.y, HEIGHT);
        (there, back)
    }

    /// Recipients of a broadcast to the raw rectangle: whether this NIU is one, and how many
    /// others there are.
    #[must_use]
    pub fn broadcast(
        &self,
        start: Coordinate,
        end: Coordinate,
        include_source: bool,
        opt_out: (u32, u32),
    ) -> (bool, u16) {
        let Coordinate { x, y } = self.raw();
        let own = Coordinate { x: x.min(31), y: y.min(31) };
        let in_rectangle = spans((start.x, end.x), own.x)
            && spans((start.y, end.y), own.y)
            && opt_out.0 >> own.x & 1 == 0
            && opt_out.1 >> own.y & 1 == 0;
        let (columns, rows) = receivers(start, end, opt_out);
        let all = (columns.count_ones() * rows.count_ones()) as u16;
        (in_rectangle && include_source, all - u16::from(in_rectangle && all != 0))
    }

    /// The other recipients of a broadcast to the raw rectangle, in NoC 0 coordinates, row by row.
    pub fn recipients(
        &self,
        start: Coordinate,
        end: Coordinate,
        opt_out: (u32, u32),
    ) -> impl Iterator<Item = Coordinate> {
        let (own, noc) = (self.raw(), self.noc);
        let (columns, rows) = receivers(start, end, opt_out);
        bits(rows)
            .flat_map(move |y| bits(columns).map(move |x| Coordinate { x, y }))
            .filter(move |&at| at != own)
            .map(move |at| mirror(noc, at))
    }
}

/// Whether a raw column or row lies between two others, around the torus.
fn spans((first, last): (u8, u8), at: u8) -> bool {
    if first <= last { first <= at && at <= last } else { at <= last || first <= at }
}

/// The columns and rows, as bits, of a raw rectangle that take part in broadcasts.
fn receivers(start: Coordinate, end: Coordinate, opt_out: (u32, u32)) -> (u32, u32) {
    let within = |count: u8, ends: (u8, u8)| {
        (0..count).fold(0, |all, at| all | u32::from(spans(ends, at)) << at)
    };
    (within(WIDTH, (start.x, end.x)) & !opt_out.0, within(HEIGHT, (start.y, end.y)) & !opt_out.1)
}

/// The numbers of the bits that are set, the least first.
fn bits(mut set: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let at = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (at < u32::BITS).then_some(at as u8)
    })
}
