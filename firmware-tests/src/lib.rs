//! Firmware, kernels and whole-tile tests.
//!
//! This library hands out what lies beside it: the embedded firmware ([`embedded`]), the folders of programs and
//! instruction suites, their case files ([`cases`]) and the suites' rows ([`suites`]), and runs recorded reference
//! vectors on a tile ([`golden`]). How the programs are built: `programs/README.md`; where the suites come from: `suites/rv/README.md`.

pub mod cases;
pub mod demo;
pub mod embedded;
pub mod golden;
pub mod hazards;
pub mod suites;

use std::path::PathBuf;

/// Folder of the programs' sources, ELFs and case files in this checkout.
#[must_use]
pub fn programs_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// Folder of the hazard kernels in this checkout.
#[must_use]
pub fn hazards_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("hazards")
}

/// Folder of the instruction-level suites in this checkout.
#[must_use]
pub fn suites_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("suites")
}
