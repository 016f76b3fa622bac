//! The debug sections of an ELF file, for those who read them with `gimli`.

use std::sync::Arc;

use gimli::{EndianArcSlice, LittleEndian};

use crate::image::section;

/// Bytes of a section.
pub(crate) type Reader = EndianArcSlice<LittleEndian>;

/// Loads the debug sections of an ELF file; missing ones are empty.
pub(crate) fn load_dwarf(file: &Arc<[u8]>) -> gimli::Dwarf<Reader> {
    let load = |id: gimli::SectionId| -> Result<Reader, std::convert::Infallible> {
        Ok(Reader::new(section(file, id.name()).into(), LittleEndian))
    };
    let Ok(dwarf) = gimli::Dwarf::load(load);
    dwarf
}
