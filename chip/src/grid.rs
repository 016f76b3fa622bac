//! Which endpoint is where on the NoC, and what a coordinate that software wrote means.
//!
//! Sources: `[spec: host-abi 2.6]`, `[isa-bh: NoC/Coordinates.md]`. NoC 0 has 17 columns and 12
//! rows. Translated coordinates name Tensix tiles by their NoC 0 coordinates counted over the
//! columns that are not fused off, and everything else by coordinates outside the grid.

use devices::niu::Coordinate;

/// Columns of the NoC.
pub(crate) const WIDTH: u8 = 17;
/// Rows of the NoC.
pub(crate) const HEIGHT: u8 = 12;

/// Columns with Tensix tiles, in NoC 0 coordinates.
const TENSIX_COLUMNS: [u8; 14] = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16];
/// Rows with Tensix tiles.
const TENSIX_ROWS: std::ops::RangeInclusive<u8> = 2..=11;

/// NoC 0 row of the DRAM port with translated row 12 + index, in both columns. The sheet
/// `[spec: host-abi 2.6]` has the last two triples and the columns exchanged; chip firmware on a
/// chip with all banks, and the vendor's host driver, say this
/// `[zephyr: lib/tenstorrent/bh_arc/noc_init.c]`, `[umd: device/api/umd/device/arch]`. Software that
/// writes translated coordinates only cannot tell.
const DRAM_ROWS: [u8; 12] = [0, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6];
/// Translated row of the first of them.
const DRAM_TRANSLATED_ROW: u8 = 12;
/// NoC 0 columns of DRAM ports and their translated columns.
const DRAM_COLUMNS: [(u8, u8); 2] = [(0, 17), (9, 18)];
/// NoC 0 rows of the three ports of each channel of a column.
const CHANNEL_ROWS: [[u8; 3]; 4] = [[0, 1, 11], [2, 3, 10], [4, 8, 9], [5, 6, 7]];
/// DRAM channels.
pub(crate) const DRAM_CHANNELS: u16 = 8;
/// Ethernet channels.
pub(crate) const ETH_CHANNELS: u16 = 12;

const ARC: Coordinate = Coordinate { x: 8, y: 0 };
/// PCIe tile 0: NoC 0 and translated.
const PCIE: (Coordinate, Coordinate) = (Coordinate { x: 2, y: 0 }, Coordinate { x: 19, y: 24 });
/// Translated row of ethernet tiles; columns from 20 on.
const ETH_TRANSLATED: (u8, u8) = (20, 25);

/// What of a chip is fused off. A bit that is set: not usable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Harvest {
    /// Tensix columns, counted from left to right over the 14.
    pub columns: u16,
    /// DRAM channels; one of the right column at most.
    pub dram: u8,
    /// Ethernet channels.
    pub eth: u16,
}

/// What is sold under one name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Product {
    /// All 140 tiles.
    #[default]
    Full,
    /// 140 tiles as sold `[umd: blackhole_arch]`.
    P150,
    /// 120 tiles: two columns are fused off, as are a DRAM channel and all of ethernet
    /// `[umd: device/api/umd/device/types/cluster_descriptor_types.hpp]`.
    P100a,
}

impl Product {
    /// The product with that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "full" => Some(Self::Full),
            "p150" => Some(Self::P150),
            "p100a" => Some(Self::P100a),
            _ => None,
        }
    }

    /// The name it is chosen by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::P150 => "p150",
            Self::P100a => "p100a",
        }
    }

    /// What of it is fused off. Which columns and which channel is different from chip to chip;
    /// the last ones leave the NoC 0 and the translated coordinates of all others equal.
    #[must_use]
    pub const fn harvest(self) -> Harvest {
        match self {
            Self::Full | Self::P150 => Harvest { columns: 0, dram: 0, eth: 0 },
            Self::P100a => Harvest { columns: 0b11 << 12, dram: 1 << 7, eth: 0xFFF },
        }
    }

    /// High half of the board id: bits 4 and up say which board.
    pub(crate) const fn board(self) -> u32 {
        match self {
            Self::Full | Self::P150 => 0x400,
            Self::P100a => 0x430,
        }
    }
}

/// An endpoint that is not a Tensix tile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Other {
    /// One of the three ports of a DRAM channel.
    Dram(u16),
    /// An ethernet channel.
    Eth(u16),
    /// The management processor.
    Arc,
    /// The PCI Express tile.
    Pcie,
}

/// What is at a coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// The Tensix tile with that number.
    Tensix(u16),
    /// Something else.
    Endpoint(Other),
}

/// A usable Tensix tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensixTile {
    /// NoC 0 coordinate.
    pub physical: Coordinate,
    /// Translated coordinate.
    pub logical: Coordinate,
}

impl TensixTile {
    /// The coordinate by which the vendor's runtime counts workers: columns and rows of Tensix tiles, from 0.
    #[must_use]
    pub fn worker(self) -> (u8, u8) {
        let column = TENSIX_COLUMNS.iter().position(|&x| x == self.logical.x);
        let row = self.logical.y.saturating_sub(*TENSIX_ROWS.start());
        (column.map_or(u8::MAX, |column| column as u8), row)
    }
}

/// `tile (0, 0) [NoC (1, 2)]`: as the vendor's runtime counts workers, then the translated coordinate.
impl std::fmt::Display for TensixTile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ((x, y), noc) = (self.worker(), self.logical);
        write!(f, "tile ({x}, {y}) [NoC ({}, {})]", noc.x, noc.y)
    }
}

/// All places.
#[derive(Clone, Debug)]
pub struct Grid {
    product: Product,
    harvest: Harvest,
    tiles: Vec<TensixTile>,
    /// By `y * WIDTH + x` in NoC 0 coordinates.
    places: Vec<Option<Place>>,
    /// By `y << 6 | x` in translated coordinates: hosts look here with every access.
    translated: Vec<Option<Place>>,
}

/// As kernels call it: `DRAM bank 3`, `PCIe (host memory)`.
impl std::fmt::Display for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dram(channel) => write!(f, "DRAM bank {channel}"),
            Self::Eth(channel) => write!(f, "ethernet channel {channel}"),
            Self::Arc => f.write_str("ARC"),
            Self::Pcie => f.write_str("PCIe (host memory)"),
        }
    }
}

impl Other {
    /// A number for each, below 64.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Dram(channel) => channel,
            Self::Eth(channel) => DRAM_CHANNELS + channel,
            Self::Arc => DRAM_CHANNELS + ETH_CHANNELS,
            Self::Pcie => DRAM_CHANNELS + ETH_CHANNELS + 1,
        }
    }
}

impl Grid {
    /// The grid of a product of which that is fused off. Tiles are numbered row by row.
    #[must_use]
    pub fn new(product: Product, harvest: Harvest) -> Self {
        let mut grid = Self {
            product,
            harvest,
            tiles: Vec::new(),
            places: vec![None; usize::from(WIDTH) * usize::from(HEIGHT)],
            translated: Vec::new(),
        };
        let usable: Vec<u8> = (0..)
            .zip(TENSIX_COLUMNS)
            .filter(|&(index, _)| harvest.columns >> index & 1 == 0)
            .map(|(_, x)| x)
            .collect();
        for y in TENSIX_ROWS {
            for (&x, logical) in usable.iter().zip(TENSIX_COLUMNS) {
                let physical = Coordinate { x, y };
                let logical = Coordinate { x: logical, y };
                grid.put(physical, Place::Tensix(grid.tiles.len() as u16));
                grid.tiles.push(TensixTile { physical, logical });
            }
        }
        for (side, (x, _)) in (0..).zip(DRAM_COLUMNS) {
            for (index, rows) in (0..).zip(CHANNEL_ROWS) {
                let channel = 4 * side + index;
                if harvest.dram >> channel & 1 == 0 {
                    let place = Place::Endpoint(Other::Dram(channel));
                    rows.iter().for_each(|&y| grid.put(Coordinate { x, y }, place));
                }
            }
        }
        for channel in (0..ETH_CHANNELS).filter(|channel| harvest.eth >> channel & 1 == 0) {
            grid.put(eth_position(channel), Place::Endpoint(Other::Eth(channel)));
        }
        grid.put(ARC, Place::Endpoint(Other::Arc));
        grid.put(PCIE.0, Place::Endpoint(Other::Pcie));
        let all = (0..1u16 << 12).map(|index| (index as u8 & 63, (index >> 6) as u8));
        grid.translated =
            all.map(|(x, y)| grid.at_noc0(grid.untranslate(Coordinate { x, y })?)).collect();
        grid
    }

    /// What is at a translated coordinate, by name: `tile (0, 0)`, `DRAM bank 3`, `nothing`; the coordinate
    /// behind it.
    #[must_use]
    pub fn name(&self, (x, y): (u8, u8)) -> String {
        let at = Coordinate { x, y };
        match self.locate(0, at, true) {
            Some(Place::Tensix(number)) => self.tile(number).to_string(),
            Some(Place::Endpoint(other)) => format!("{other} [NoC ({}, {})]", at.x, at.y),
            None => format!("NoC ({}, {}), where nothing is", at.x, at.y),
        }
    }

    /// Which product it is of.
    #[must_use]
    pub fn product(&self) -> Product {
        self.product
    }

    /// What is fused off.
    #[must_use]
    pub fn harvest(&self) -> Harvest {
        self.harvest
    }

    fn put(&mut self, at: Coordinate, place: Place) {
        self.places[usize::from(at.y) * usize::from(WIDTH) + usize::from(at.x)] = Some(place);
    }

    /// All usable Tensix tiles in the order of their numbers.
    #[must_use]
    pub fn tensix(&self) -> impl ExactSizeIterator<Item = TensixTile> {
        self.tiles.iter().copied()
    }

    /// The coordinates of a tile; zeros for a number that no tile has.
    #[must_use]
    pub fn tile(&self, number: u16) -> TensixTile {
        let none = TensixTile { physical: Coordinate::default(), logical: Coordinate::default() };
        self.tiles.get(usize::from(number)).copied().unwrap_or(none)
    }

    /// The tile that the vendor's runtime calls by that column and row, and its number.
    #[must_use]
    pub fn worker(&self, worker: (u8, u8)) -> Option<(u16, TensixTile)> {
        (0..).zip(self.tensix()).find(|(_, tile)| tile.worker() == worker)
    }

    /// The translated coordinate of a DRAM channel's first port.
    #[must_use]
    pub fn dram(&self, channel: u16) -> Option<Coordinate> {
        let place = Some(Place::Endpoint(Other::Dram(channel)));
        let mut ports = DRAM_COLUMNS.iter().flat_map(|&(_, x)| {
            let rows = DRAM_TRANSLATED_ROW..DRAM_TRANSLATED_ROW + DRAM_ROWS.len() as u8;
            rows.map(move |y| Coordinate { x, y })
        });
        ports.find(|&at| self.locate(0, at, true) == place)
    }

    /// The NoC 0 coordinate of a tile.
    #[must_use]
    pub fn position(&self, number: u16) -> Coordinate {
        self.tiles.get(usize::from(number)).map_or(Coordinate::default(), |tile| tile.physical)
    }

    /// The translated coordinate of a tile, which is what software calls it.
    #[must_use]
    pub fn logical(&self, number: u16) -> Coordinate {
        self.tiles.get(usize::from(number)).map_or(Coordinate::default(), |tile| tile.logical)
    }

    /// What a translated coordinate names.
    #[must_use]
    pub fn named(&self, (x, y): (u8, u8)) -> Option<Place> {
        self.locate(0, Coordinate { x, y }, true)
    }

    /// What is at a NoC 0 coordinate.
    #[must_use]
    pub fn at_noc0(&self, at: Coordinate) -> Option<Place> {
        if at.x >= WIDTH || at.y >= HEIGHT {
            return None;
        }
        self.places[usize::from(at.y) * usize::from(WIDTH) + usize::from(at.x)]
    }

    /// What a coordinate as written means to a NoC, with translation on or off.
    #[must_use]
    pub fn locate(&self, noc: u8, at: Coordinate, translated: bool) -> Option<Place> {
        if translated {
            let index = usize::from(at.y) << 6 | usize::from(at.x);
            return if at.x < 64 { *self.translated.get(index)? } else { None };
        }
        if noc & 1 == 0 {
            return self.at_noc0(at);
        }
        if at.x >= WIDTH || at.y >= HEIGHT {
            return None;
        }
        self.at_noc0(Coordinate { x: WIDTH - 1 - at.x, y: HEIGHT - 1 - at.y })
    }

    /// The NoC 0 coordinate that a translated one names, if it names one.
    fn untranslate(&self, at: Coordinate) -> Option<Coordinate> {
        if TENSIX_COLUMNS.contains(&at.x) && TENSIX_ROWS.contains(&at.y) {
            return self.tiles.iter().find(|tile| tile.logical == at).map(|tile| tile.physical);
        }
        if let Some(&(x, _)) = DRAM_COLUMNS.iter().find(|&&(_, translated)| translated == at.x) {
            let y = *DRAM_ROWS.get(usize::from(at.y.checked_sub(DRAM_TRANSLATED_ROW)?))?;
            return Some(Coordinate { x, y });
        }
        if at.y == ETH_TRANSLATED.1 && at.x >= ETH_TRANSLATED.0 {
            let channel = u16::from(at.x - ETH_TRANSLATED.0);
            return (channel < ETH_CHANNELS).then(|| eth_position(channel));
        }
        if at == PCIE.1 {
            return Some(PCIE.0);
        }
        // What translation does not know stays as it is.
        Some(at)
    }
}

/// NoC 0 coordinate of an ethernet channel: even ones from the left, odd ones from the right.
pub(crate) fn eth_position(channel: u16) -> Coordinate {
    let half = (channel / 2) as u8;
    let x = if channel.is_multiple_of(2) { 1 + half } else { 16 - half };
    Coordinate { x, y: 1 }
}

/// Translated coordinate of an ethernet channel.
pub(crate) fn eth_translated(channel: u16) -> Coordinate {
    Coordinate { x: ETH_TRANSLATED.0 + channel as u8, y: ETH_TRANSLATED.1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Grid {
        Grid::new(Product::Full, Harvest::default())
    }

    const fn at(x: u8, y: u8) -> Coordinate {
        Coordinate { x, y }
    }

    #[test]
    fn full_chip_has_140_tiles_at_their_coordinates() {
        let grid = full();
        assert_eq!(grid.tensix().len(), 140);
        assert_eq!(grid.position(0), at(1, 2));
        assert_eq!(grid.position(139), at(16, 11));
        assert_eq!(grid.locate(0, at(1, 2), true), Some(Place::Tensix(0)));
        assert_eq!(grid.locate(1, at(1, 2), true), Some(Place::Tensix(0)));
        assert_eq!(grid.locate(1, at(15, 9), false), Some(Place::Tensix(0)));
        assert_eq!(grid.at_noc0(at(8, 5)), None);
    }

    /// `[spec: host-abi 2.6]`: x = 0 has {0, 1, 11}, {2, 3, 10}, {4, 8, 9}, {5, 6, 7}.
    #[test]
    fn dram_ports_belong_to_the_channels_of_the_sheet() {
        let grid = full();
        let rows: [&[u8]; 4] = [&[0, 1, 11], &[2, 3, 10], &[4, 8, 9], &[5, 6, 7]];
        for (side, x) in [(0, 0), (4, 9)] {
            for (channel, rows) in (0..).zip(rows) {
                for &y in rows {
                    let place = Some(Place::Endpoint(Other::Dram(side + channel)));
                    assert_eq!(grid.at_noc0(at(x, y)), place, "({x}, {y})");
                }
            }
        }
        assert_eq!(grid.locate(0, at(17, 14), true), grid.at_noc0(at(0, 11)));
        assert_eq!(grid.locate(0, at(18, 20), true), grid.at_noc0(at(9, 8)));
        assert_eq!(grid.locate(0, at(18, 24), true), None);
        // The three ports of a translated triple are one channel.
        for (x, first) in [17, 18].into_iter().flat_map(|x| [(x, 12), (x, 15), (x, 18), (x, 21)]) {
            let place = |y| grid.locate(0, at(x, y), true);
            assert!(place(first).is_some());
            assert_eq!(place(first), place(first + 1));
            assert_eq!(place(first), place(first + 2));
        }
    }

    /// `[spec: host-abi 2.6]`: workers are counted over the Tensix columns, channels 0 to 3 are at the left.
    #[test]
    fn workers_and_channels_are_found_by_what_hosts_call_them() {
        let grid = full();
        let logical = |worker| grid.worker(worker).map(|(_, tile)| tile.logical);
        assert_eq!(logical((0, 0)), Some(at(1, 2)));
        assert_eq!(logical((7, 9)), Some(at(10, 11)));
        assert_eq!((logical((14, 0)), logical((0, 10))), (None, None));
        assert_eq!(grid.worker((1, 1)).map(|(number, _)| number), Some(15));
        assert_eq!(grid.dram(0), Some(at(17, 12)));
        assert_eq!(grid.dram(5), Some(at(18, 15)));
        assert_eq!(grid.dram(8), None);
    }

    #[test]
    fn other_endpoints_are_found_by_either_coordinate() {
        let grid = full();
        assert_eq!(grid.locate(0, at(20, 25), true), Some(Place::Endpoint(Other::Eth(0))));
        assert_eq!(grid.locate(0, at(31, 25), true), Some(Place::Endpoint(Other::Eth(11))));
        assert_eq!(grid.at_noc0(at(11, 1)), Some(Place::Endpoint(Other::Eth(11))));
        assert_eq!(grid.locate(0, at(19, 24), true), Some(Place::Endpoint(Other::Pcie)));
        assert_eq!(grid.at_noc0(at(2, 0)), Some(Place::Endpoint(Other::Pcie)));
        assert_eq!(grid.locate(0, at(8, 0), true), Some(Place::Endpoint(Other::Arc)));
        assert_eq!(grid.locate(0, at(63, 63), true), None);
    }

    #[test]
    fn p100a_has_what_its_board_has() {
        let grid = Grid::new(Product::P100a, Product::P100a.harvest());
        assert_eq!(grid.tensix().len(), 120);
        assert_eq!(grid.locate(0, at(14, 5), true), grid.at_noc0(at(14, 5)));
        assert_eq!(grid.locate(0, at(15, 5), true), None);
        // The last triple of the right column is gone, ethernet altogether.
        assert!(grid.locate(0, at(17, 21), true).is_some());
        assert!(grid.locate(0, at(18, 20), true).is_some());
        assert_eq!(grid.locate(0, at(18, 21), true), None);
        assert!((20..32).all(|x| grid.locate(0, at(x, 25), true).is_none()));
    }

    /// Usable columns move together in translated coordinates.
    #[test]
    fn columns_in_the_middle_can_be_fused_off() {
        let grid = Grid::new(Product::Full, Harvest { columns: 1 << 2, ..Harvest::default() });
        assert_eq!(grid.tensix().len(), 130);
        assert_eq!(grid.at_noc0(at(3, 2)), None);
        assert_eq!(grid.locate(0, at(3, 2), true), grid.at_noc0(at(4, 2)));
        assert_eq!(grid.locate(0, at(16, 2), true), None);
    }
}
