//! Named bits of a word.

use serde::Deserialize;

use crate::error::Problems;

/// Named bits of a register or a CSR.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name as documented.
    pub name: String,
    /// Lowest bit.
    pub lo: u32,
    /// Bits.
    pub width: u32,
    /// One line of explanation.
    #[serde(default)]
    pub doc: String,
}

/// Checks that the fields of a word stand in order, apart from each other, within its `bits`.
pub(super) fn check(owner: &str, fields: &[Field], bits: u32, problems: &mut Problems) {
    let mut end = 0;
    for field in fields {
        if field.width == 0 || field.lo < end || field.lo + field.width > bits {
            problems.add(format!("{owner}.{}: overlaps or leaves the register", field.name));
        }
        end = field.lo + field.width;
    }
}
