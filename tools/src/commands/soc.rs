//! `soc_descriptor.yaml`: what the vendor's software stack wants to find beside a device library.
//!
//! Only facts of the chip are in it: which coordinate is what, and how large the memories are. Keys
//! and meanings are those that the stack's parser asks for `[umd: device/soc_descriptor.cpp]`,
//! `[hdr: soc_descriptors/blackhole_140_arch.yaml]`; coordinates are of NoC 0 `[spec: host-abi 2.6]`.

use std::fmt::Write as _;

/// Columns and rows of the NoC.
const GRID: (u32, u32) = (17, 12);
/// Rows with Tensix tiles.
const TENSIX_ROWS: std::ops::RangeInclusive<u32> = 2..=11;
const ARC: (u32, u32) = (8, 0);
/// The first is the one in use.
const PCIE: [(u32, u32); 2] = [(2, 0), (11, 0)];
/// The columns with DRAM ports.
const DRAM_COLUMNS: [u32; 2] = [0, 9];
/// Rows of the three ports of each channel of a column, in the order of the ports' numbers.
const DRAM_ROWS: [[u32; 3]; 4] = [[0, 1, 11], [2, 10, 3], [9, 4, 8], [5, 7, 6]];
/// For each channel of a column: the port that each NoC uses. The same for Tensix and ethernet.
const DRAM_PORTS: [[[u32; 2]; 4]; 2] =
    [[[2, 1], [0, 1], [0, 1], [0, 1]], [[2, 1], [2, 1], [2, 1], [2, 1]]];
/// 4 GiB less 16 MiB, which the chip's own firmware keeps.
const DRAM_BANK_BYTES: u64 = (4 << 30) - (16 << 20);
const TENSIX_L1_BYTES: u64 = 1536 << 10;
const ETHERNET_L1_BYTES: u64 = 512 << 10;
/// Ethernet channels lie alternately left and right of the middle of row 1.
const ETHERNET_CHANNELS: u32 = 14;

type At = (u32, u32);

fn ethernet(channel: u32) -> At {
    let step = channel / 2;
    (if channel.is_multiple_of(2) { 1 + step } else { 16 - step }, 1)
}

fn tensix() -> impl Iterator<Item = At> {
    let columns = (1..=7).chain(10..=16);
    TENSIX_ROWS.flat_map(move |y| columns.clone().map(move |x| (x, y)))
}

/// Places of the grid with a router and nothing that hosts use.
fn routers() -> impl Iterator<Item = At> {
    let row = (1..=16).filter(|&x| x != 9).map(|x| (x, 0));
    let column = (1..GRID.1).map(|y| (8, y));
    row.filter(|at| *at != ARC && !PCIE.contains(at)).chain(column)
}

fn list(places: impl Iterator<Item = At>) -> String {
    let names: Vec<String> = places.map(|(x, y)| format!("{x}-{y}")).collect();
    format!("[{}]", names.join(", "))
}

/// The text of the file.
#[must_use]
pub fn text() -> String {
    let mut dram = String::new();
    let mut views = String::new();
    let columns = DRAM_COLUMNS.iter().zip(DRAM_PORTS);
    let channels = columns.flat_map(|(&x, ports)| {
        DRAM_ROWS.iter().zip(ports).map(move |(rows, ports)| (x, rows, ports))
    });
    for (channel, (x, rows, [first, second])) in channels.enumerate() {
        let ports = list(rows.iter().map(|&y| (x, y)));
        // Writing to a string cannot fail.
        let _ = writeln!(dram, "  - {ports}");
        let _ = writeln!(
            views,
            "  - {{channel: {channel}, eth_endpoint: [{first}, {second}], \
             worker_endpoint: [{first}, {second}], address_offset: 0}}"
        );
    }
    let (arc, pcie) = (list([ARC].into_iter()), list(PCIE.into_iter()));
    let eth = list((0..ETHERNET_CHANNELS).map(ethernet));
    let (workers, routers) = (list(tensix()), list(routers()));
    let (columns, rows) = GRID;
    format!(
        "# Blackhole as tilescope has it; written by `tilescope sim install`.\n\
         arch_name: BLACKHOLE\n\
         grid: {{x_size: {columns}, y_size: {rows}}}\n\
         arc: {arc}\n\
         pcie: {pcie}\n\
         eth: {eth}\n\
         functional_workers: {workers}\n\
         harvested_workers: []\n\
         router_only: {routers}\n\
         # Per channel: its three ports.\n\
         dram:\n{dram}\
         # Per channel: the port for each NoC.\n\
         dram_views:\n{views}\
         dram_view_size: {DRAM_BANK_BYTES}\n\
         dram_bank_size: {DRAM_BANK_BYTES}\n\
         worker_l1_size: {TENSIX_L1_BYTES}\n\
         eth_l1_size: {ETHERNET_L1_BYTES}\n\
         features:\n  \
           noc: {{translation_id_enabled: true}}\n  \
           unpacker: {{version: 2, inline_srca_trans_without_srca_trans_instr: true}}\n  \
           math: {{dst_size_alignment: 32768}}\n  \
           packer: {{version: 2}}\n  \
           overlay: {{version: 2}}\n"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_place_of_the_grid_is_one_thing() {
        let dram =
            DRAM_COLUMNS.iter().flat_map(|&x| DRAM_ROWS.iter().flatten().map(move |&y| (x, y)));
        let ethernet = (0..ETHERNET_CHANNELS).map(ethernet);
        let all: Vec<At> = dram
            .chain(ethernet)
            .chain(tensix())
            .chain(routers())
            .chain([ARC])
            .chain(PCIE)
            .collect();
        let different: BTreeSet<At> = all.iter().copied().collect();
        assert_eq!(all.len(), different.len(), "none twice");
        assert_eq!(different.len(), (GRID.0 * GRID.1) as usize, "none left out");
        assert_eq!(tensix().count(), 140);
    }

    #[test]
    fn ethernet_channels_alternate() {
        // `[spec: host-abi 2.6]`: even 1 + n/2, odd 16 - n/2.
        let first: Vec<At> = (0..4).map(ethernet).collect();
        assert_eq!(first, [(1, 1), (16, 1), (2, 1), (15, 1)]);
    }
}
