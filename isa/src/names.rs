//! Names of numbers: wait conditions, semaphores, mutexes, data formats.
//!
//! Semaphore and mutex names are a convention of the vendor's kernels; the hardware knows indices.

/// One named number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Bit, index or code.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// Storage bits per datum, for data formats; else 0.
    pub bits: u32,
    /// One line of explanation.
    pub doc: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/wait_conditions.rs"));
include!(concat!(env!("OUT_DIR"), "/semaphores.rs"));
include!(concat!(env!("OUT_DIR"), "/data_formats.rs"));

/// The row of `number` in `list`.
#[must_use]
pub fn find(list: &'static [Named], number: u32) -> Option<&'static Named> {
    list.iter().find(|row| row.number == number)
}

/// Name of semaphore `index`.
#[must_use]
pub fn semaphore(index: u32) -> Option<&'static str> {
    find(SEMAPHORES, index).map(|row| row.name)
}

/// Name of mutex `index`.
#[must_use]
pub fn mutex(index: u32) -> Option<&'static str> {
    find(MUTEXES, index).map(|row| row.name)
}

/// Row of the four-bit data format `code`.
#[must_use]
pub fn format(code: u32) -> Option<&'static Named> {
    find(FORMATS, code)
}

/// Names of the bits that are set in `mask`, joined with `|`; `none` for 0. A bit without a name
/// prints as its number.
#[must_use]
pub fn bits(list: &'static [Named], mask: u32) -> String {
    let names: Vec<String> = (0..32)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(|bit| find(list, bit).map_or_else(|| format!("bit{bit}"), |row| row.name.to_owned()))
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join("|") }
}
