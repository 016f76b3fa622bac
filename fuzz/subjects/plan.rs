//! Any text as a plan: refused in one line or turned into disjoint writes, never a panic.

use std::path::Path;

use loader::plan::{Launch, Plan};

/// One input.
pub(crate) fn feed(text: &str) {
    // The directory does not exist, so no file can be named.
    match Plan::parse(text, "fuzz.toml", Path::new("no-such-directory")) {
        Ok(plan) => {
            let launches: Vec<Launch> = match plan {
                Plan::Tile(plan) => plan.launches,
                Plan::Chip(plan) => {
                    let tiles = plan.launches.into_iter().flat_map(|launch| launch.tiles);
                    tiles.map(|tile| tile.launch).collect()
                }
            };
            for launch in &launches {
                for pair in launch.writes.windows(2) {
                    assert!(pair[0].0 as usize + pair[0].1.len() <= pair[1].0 as usize);
                }
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}
