//! Formats of circular buffers, from the header that the host writes for a compute kernel.
//!
//! The header has a table of numbers for unpackers and one for the packer, with an entry for each buffer
//! `[hdr: hw/ckernels/blackhole/metal/common/chlkc_list.h]`.

/// The header that has the tables, by the end of its path.
const FILE: &str = "/chlkc_descriptors.h";

/// Formats of data in circular buffers, by index; 255 is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BufferFormats {
    /// As unpackers take them from L1.
    pub unpack: Vec<u8>,
    /// As the packer puts them into L1.
    pub pack: Vec<u8>,
}

/// Whether a file of that path says what formats buffers have.
#[must_use]
pub fn is_table(path: &str) -> bool {
    path.ends_with(FILE)
}

impl BufferFormats {
    /// From the text of the header; `None` if it lacks a table.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let unpack = numbers(text, "unpack_src_format[")?;
        let pack = numbers(text, "pack_dst_format[")?;
        Some(Self { unpack, pack })
    }
}

/// The numbers of the first table of that name, which does not begin within a longer one.
fn numbers(text: &str, name: &str) -> Option<Vec<u8>> {
    let whole = |(at, _): &(usize, &str)| text[..*at].ends_with(|c: char| c.is_whitespace());
    let (at, _) = text.match_indices(name).find(whole)?;
    let (_, from) = text[at..].split_once('{')?;
    let (inner, _) = from.split_once('}')?;
    let all = inner.split(',').map(str::trim).filter(|number| !number.is_empty());
    all.map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_by_their_whole_names() {
        let text = "#if !defined(UCK_CHLKC_PACK)\n\
            constexpr uint8_t unpack_src_format[4] = {\n    5,0,255,\n};\n\
            constexpr uint8_t unpack_dst_format[4] = {4, 4, 4, 4};\n#endif\n\
            constexpr unsigned char pack_src_format[2] = {5,5};\n\
            constexpr unsigned char pack_dst_format[2] = { 6 , 0 };\n";
        let found = BufferFormats::parse(text);
        assert_eq!(found, Some(BufferFormats { unpack: vec![5, 0, 255], pack: vec![6, 0] }));
    }

    #[test]
    fn text_that_has_no_table_or_half_of_one_says_nothing() {
        let pack = "unsigned char pack_dst_format[2] = {5,5};";
        for text in ["", pack, &format!("{pack} int unpack_src_format[2] = {{5, x}};")] {
            assert_eq!(BufferFormats::parse(text), None, "{text}");
        }
    }
}
