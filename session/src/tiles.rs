//! Tiles in sentences.

use chip::Role;

/// `tile (0, 1) [NoC (1, 3)]`, of the coordinates of a worker and of a NoC.
pub(crate) fn tile_name((x, y): (u8, u8), (noc_x, noc_y): (u8, u8)) -> String {
    format!("tile ({x}, {y}) [NoC ({noc_x}, {noc_y})]")
}

/// The first tiles of a list, and how many more there are.
pub(crate) fn list(tiles: &[(u8, u8)]) -> String {
    let mut texts: Vec<_> = tiles.iter().take(8).map(|(x, y)| format!("({x}, {y})")).collect();
    if tiles.len() > texts.len() {
        texts.push(format!("{} more", tiles.len() - texts.len()));
    }
    texts.join(", ")
}

/// How a tile is used, in a word.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Resting => "resting",
        Role::HostLaunched => "launched by the host",
        Role::DeviceLaunched => "launched by a dispatcher",
        Role::Dispatcher => "dispatcher",
        Role::Bare => "no runtime firmware",
    }
}
