//! `l1_layout.toml`: what the vendor firmware keeps where in L1.

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::source;

/// The table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Source keys of all rows.
    pub source: Vec<String>,
    /// First byte of the mailbox structure.
    pub mailbox_base: u32,
    /// Its size in bytes.
    pub mailbox_bytes: u32,
    /// Coarse areas of L1, by address.
    pub area: Vec<Area>,
    /// Fields of the mailbox structure.
    pub field: Vec<Field>,
}

/// One area of L1.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Name, lower case.
    pub name: String,
    /// First byte.
    pub base: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// One line of explanation.
    #[serde(default)]
    pub doc: String,
}

/// One field, perhaps inside arrays.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Path with `[]` for each index, e.g. `launch[].kernel_config_base[]`.
    pub name: String,
    /// Byte offset of the first element from the mailbox base.
    pub offset: u32,
    /// Size of one element in bytes.
    pub bytes: u32,
    /// `[count, stride]` of each index, outermost first.
    #[serde(default)]
    pub dims: Vec<[u32; 2]>,
    /// One line of explanation.
    #[serde(default)]
    pub doc: String,
}

impl Field {
    /// Offsets of all elements, each with its indices.
    #[must_use]
    pub fn elements(&self) -> Vec<u32> {
        let mut offsets = vec![self.offset];
        for [count, stride] in &self.dims {
            offsets = offsets
                .iter()
                .flat_map(|base| (0..*count).map(move |i| base + i * stride))
                .collect();
        }
        offsets
    }
}

/// Reads and checks the table.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Layout, TableError> {
    let mut layout: Layout = super::read(table, toml)?;
    let mut problems = Problems::default();
    source::check("l1_layout", &layout.source, &mut problems);
    check_areas(&mut layout.area, &mut problems);
    let mut owner: Vec<Option<usize>> =
        vec![None; usize::try_from(layout.mailbox_bytes.min(1 << 20)).unwrap_or(0)];
    for (i, field) in layout.field.iter().enumerate() {
        if field.name.matches("[]").count() != field.dims.len() {
            problems.add(format!("{}: indices and dims differ in number", field.name));
        }
        for byte in field.elements().into_iter().flat_map(|o| o..o + field.bytes) {
            match owner.get_mut(byte as usize) {
                None => {
                    problems.add(format!("{}: leaves the mailbox", field.name));
                    break;
                }
                Some(Some(j)) => {
                    problems.add(format!("{}: overlaps {}", field.name, layout.field[*j].name));
                    break;
                }
                Some(free) => *free = Some(i),
            }
        }
    }
    problems.finish(table)?;
    Ok(layout)
}

fn check_areas(areas: &mut [Area], problems: &mut Problems) {
    areas.sort_by_key(|a| a.base);
    for pair in areas.windows(2) {
        if pair[0].base + pair[0].bytes > pair[1].base {
            problems.add(format!("{}: overlaps {}", pair[1].name, pair[0].name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(rows: &str) -> String {
        let toml = format!(
            "source = [\"inferred:test\"]\nmailbox_base = 0x60\nmailbox_bytes = 16\narea = []\n\
             field = [{rows}]"
        );
        parse("t.toml", &toml).expect_err("the rows are wrong").to_string()
    }

    #[test]
    fn mailbox_field_overlap_is_refused() {
        let text = refusal("{name=\"a\",offset=0,bytes=4},{name=\"b\",offset=3,bytes=1}");
        assert!(text.contains("b: overlaps a"), "{text}");
    }

    #[test]
    fn mailbox_array_leaving_structure_is_refused() {
        let text = refusal("{name=\"a[]\",offset=0,bytes=4,dims=[[5,4]]}");
        assert!(text.contains("a[]: leaves the mailbox"), "{text}");
    }

    #[test]
    fn mailbox_index_without_dimension_is_refused() {
        let text = refusal("{name=\"a[]\",offset=0,bytes=4}");
        assert!(text.contains("a[]: indices and dims differ in number"), "{text}");
    }
}
