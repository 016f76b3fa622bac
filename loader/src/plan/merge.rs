//! What of a launch is for which tile: `tiles`, and `[[launch.on]]` over what stands above it.

use std::collections::BTreeSet;

use toml::Value;

use super::args::{Places, Worker};
use super::file::{RawBlock, RawKernel, RawLaunch, RawOn};

/// Workers of a list of `[x, y]` and `[[x, y], [x, y]]`, which is a rectangle with its corners; each once,
/// in the order of the list.
pub(super) fn tiles(list: &[Value], places: &Places) -> Result<Vec<Worker>, String> {
    let mut found: Vec<Worker> = Vec::new();
    for item in list {
        let ((x0, y0), (x1, y1)) = corners(item)
            .ok_or_else(|| format!("tiles: {item}: expected [x, y] or [[x, y], [x, y]]"))?;
        if x0 > x1 || y0 > y1 {
            return Err(format!("tiles: {item}: the second corner lies before the first"));
        }
        places.tile((x1, y1)).map_err(|why| format!("tiles: {why}"))?;
        for worker in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (x, y))) {
            if found.contains(&worker) {
                return Err(format!("tiles: ({}, {}) stands there twice", worker.0, worker.1));
            }
            found.push(worker);
        }
    }
    Ok(found)
}

fn corners(item: &Value) -> Option<(Worker, Worker)> {
    let [first, second] = item.as_array()?.as_slice() else { return None };
    let pair = |value: &Value| match value.as_array()?.as_slice() {
        [x, y] => number(x).zip(number(y)),
        _ => None,
    };
    match (number(first), number(second)) {
        (Some(x), Some(y)) => Some(((x, y), (x, y))),
        _ => pair(first).zip(pair(second)),
    }
}

fn number(value: &Value) -> Option<u8> {
    u8::try_from(value.as_integer()?).ok()
}

/// The tiles of a launch; (0, 0) if it names none.
pub(super) fn launched(raw: &RawLaunch, places: &Places) -> Result<Vec<Worker>, String> {
    let Some(list) = &raw.tiles else { return Ok(vec![(0, 0)]) };
    let found = tiles(list, places)?;
    if found.is_empty() {
        return Err("tiles: names no tile".to_owned());
    }
    let known: BTreeSet<_> = found.iter().copied().collect();
    for on in &raw.on {
        let mut blocks = on.input.iter().chain(&on.expect);
        if blocks.any(|block| block.tile.is_some() || block.dram.is_some()) {
            return Err("on: input and expect are of its own tiles; take away tile and dram".into());
        }
        for (x, y) in tiles(&on.tiles, places).map_err(|why| format!("on.{why}"))? {
            if !known.contains(&(x, y)) {
                return Err(format!("on.tiles: ({x}, {y}) is none of the launch's tiles"));
            }
        }
    }
    Ok(found)
}

/// The launch as it is for one tile.
pub(super) fn for_tile(
    raw: &RawLaunch,
    worker: Worker,
    places: &Places,
) -> Result<RawLaunch, String> {
    let mut own = raw.clone();
    own.on = Vec::new();
    let here =
        |block: &RawBlock| block.dram.is_none() && block.tile.is_none_or(|[x, y]| (x, y) == worker);
    own.input.retain(here);
    own.expect.retain(here);
    for on in &raw.on {
        if tiles(&on.tiles, places)?.contains(&worker) {
            add(&mut own, on);
        }
    }
    Ok(own)
}

/// What is given takes the place of what stands there; inputs and expectations come in addition.
fn add(own: &mut RawLaunch, on: &RawOn) {
    fn replace<T: Clone>(old: &mut T, new: Option<&T>) {
        if let Some(new) = new {
            old.clone_from(new);
        }
    }
    replace(&mut own.cb, on.cb.as_ref());
    replace(&mut own.semaphores, on.semaphores.as_ref());
    if on.enables.is_some() {
        own.enables.clone_from(&on.enables);
    }
    for (core, new) in &on.kernel {
        let old = own.kernel.entry(core.clone()).or_default();
        merge(old, new);
    }
    own.input.extend(on.input.iter().cloned());
    own.expect.extend(on.expect.iter().cloned());
}

fn merge(old: &mut RawKernel, new: &RawKernel) {
    if new.elf.is_some() || new.image.is_some() {
        old.elf.clone_from(&new.elf);
        old.image.clone_from(&new.image);
        old.address = new.address;
    }
    if new.args.is_some() {
        old.args.clone_from(&new.args);
    }
    if new.common_args.is_some() {
        old.common_args.clone_from(&new.common_args);
    }
}
