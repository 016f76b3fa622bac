//! `cargo xtask unobserved`: the library that hosts load carries nothing of the consumers of events.
//!
//! Observation is a constant of the type of a tile (`sim_core::Observer::ENABLED`), so a program
//! that watches nothing has neither the call sites nor the consumers. Texts of the consumers show it:
//! the command line has them, the library must not. That each is found in the command line
//! proves that the search can find them.

use std::path::{Path, PathBuf};

use crate::Findings;

/// What watches, and must have the texts.
const WATCHES: &str = "tilescope";
/// What does not.
const UNOBSERVED: &str = "libtilescope_bh.so";

/// Texts of the consumers: of each form of output one, and the words of an event. What explains a hang is
/// in the library, and looks only when nothing moves.
const MARKERS: &[&str] = &[
    "tilescope-events",
    "parked: ",
    "ignored: another thread or nobody holds it",
    "circular_buffers",
];

/// Looks into the programs in a folder of release builds.
pub(crate) fn check(dir: &Path) -> Findings {
    let (watching, unobserved) = (read(dir, WATCHES)?, read(dir, UNOBSERVED)?);
    let mut findings = Vec::new();
    for marker in MARKERS {
        if !contains(&watching, marker) {
            findings.push(format!("{marker:?} is not in {WATCHES}: it shows nothing"));
        }
        if contains(&unobserved, marker) {
            findings.push(format!("{marker:?} is in {UNOBSERVED}"));
        }
    }
    Ok(findings)
}

fn read(dir: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path: PathBuf = dir.join(name);
    let hint = "build both first: cargo build --release -p tools -p ffi";
    std::fs::read(&path).map_err(|error| format!("{}: {error}; {hint}", path.display()))
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(watching: &str, unobserved: &str) -> Vec<String> {
        let dir = std::env::temp_dir().join(format!("unobserved-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join(WATCHES), watching).expect("written");
        std::fs::write(dir.join(UNOBSERVED), unobserved).expect("written");
        let found = check(&dir).expect("both are there");
        std::fs::remove_dir_all(dir).expect("removed");
        found
    }

    #[test]
    fn marker_in_the_library_or_missing_in_the_program_is_found() {
        let all = MARKERS.concat();
        assert_eq!(findings(&all, "nothing"), [""; 0]);
        assert_eq!(
            findings(&all, "xx tilescope-events"),
            ["\"tilescope-events\" is in libtilescope_bh.so"]
        );
        assert_eq!(findings("", "").len(), MARKERS.len());
    }
}
