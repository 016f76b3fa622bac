//! Where a firmware keeps what in its mailbox block: `0x4f3` is `go_messages[0].signal`, in ttnn 0.81.1.
//!
//! It is read from the debug information of the firmware (type `mailboxes_t`), so that it is right for any version.
//!
//! Sources: DWARF 5; `[spec: boot-and-sync 1.4, 1.5]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`.

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, EndianArcSlice, LittleEndian, Unit};
use gimli::{UnitOffset, constants as dw};

use memory_map::mailbox::{Dim, Field, Layout};

use crate::dwarf::load_dwarf;
use crate::image::Image;

type Reader = EndianArcSlice<LittleEndian>;
type Entry = DebuggingInformationEntry<Reader>;

/// Types nest no deeper than this; a deeper chain is damage.
const MAX_DEPTH: u32 = 24;
/// Upper limit on the number of type nodes read.
const MAX_NODES: u32 = 20_000;

/// Parts of the compiler's names and what people call them, so that names are the same with and
/// without debug information: the table of `memory-map` leaves out what says nothing
/// `[spec: boot-and-sync 1.4]`.
const FRIENDLY: [(&str, &str); 1] = [("].kernel_config.", "].")];
/// The same for the ends of names.
const FRIENDLY_END: [(&str, &str); 2] = [("].rta_offset", "].rta"), ("].crta_offset", "].crta")];
/// An array whose elements have names of their own.
const NAMED: (&str, [&str; 4]) = (
    "subordinate_sync.map[]",
    [
        "subordinate_sync.dm1",
        "subordinate_sync.trisc0",
        "subordinate_sync.trisc1",
        "subordinate_sync.trisc2",
    ],
);
/// An array of characters that is one value: a waypoint.
const VALUE: &str = ".waypoint[]";
/// What has to lie where the built-in layout has it, if that is to be taken: it knows better names for the rest.
const DECISIVE: [&str; 9] = [
    "subordinate_sync.dm1",
    "launch_msg_rd_ptr",
    "launch[7].kernel_config_base[0]",
    "launch[7].preload",
    "go_messages[8].signal",
    "go_message_index",
    "watcher.pause_status.flags[0]",
    "aerisc_run_flag",
    "core_info.core_magic_number",
];

/// A type, as far as naming needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Shape {
    Scalar { bytes: u32 },
    Struct { bytes: u32, members: Vec<Member> },
    Array { count: u32, element: Box<Shape> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Member {
    /// Empty for an anonymous struct or union.
    name: String,
    offset: u32,
    shape: Shape,
}

impl Shape {
    fn bytes(&self) -> u32 {
        match self {
            Self::Scalar { bytes } | Self::Struct { bytes, .. } => *bytes,
            Self::Array { count, element } => count.saturating_mul(element.bytes()),
        }
    }

    /// How many different scalars can be named; decides between the members of a union.
    fn leaves(&self) -> u32 {
        match self {
            Self::Scalar { .. } => 1,
            Self::Struct { members, .. } => {
                members.iter().fold(0, |sum, member| sum.saturating_add(member.shape.leaves()))
            }
            Self::Array { count, element } => count.saturating_mul(element.leaves()),
        }
    }

    /// Its scalars, each array as one of them; `at` says where it lies and what it is called.
    fn rows(&self, at: &At, rows: &mut Vec<Field>) {
        match self {
            Self::Scalar { bytes } => rows.extend(at.rows(*bytes)),
            Self::Array { count, element } => {
                let dim = Dim { count: *count, stride: element.bytes() };
                if dim.stride != 0 {
                    element.rows(&at.element(dim), rows);
                }
            }
            Self::Struct { members, .. } => {
                for member in told(members) {
                    member.shape.rows(&at.member(member), rows);
                }
            }
        }
    }
}

/// The members to be named, by their places. Of those of a union that lie on each other one is: named parts say most,
/// then many parts.
fn told(members: &[Member]) -> Vec<&Member> {
    let says = |member: &&Member| {
        let named = matches!(member.shape, Shape::Struct { .. });
        std::cmp::Reverse((named, member.shape.leaves()))
    };
    let mut ranked: Vec<_> = members.iter().filter(|member| member.shape.bytes() != 0).collect();
    ranked.sort_by_cached_key(says);
    let mut told: Vec<&Member> = Vec::new();
    for member in ranked {
        let is_apart =
            |other: &&Member| member.end() <= other.offset || other.end() <= member.offset;
        if told.iter().all(is_apart) {
            told.push(member);
        }
    }
    told.sort_by_key(|member| member.offset);
    told
}

impl Member {
    fn end(&self) -> u32 {
        self.offset.saturating_add(self.shape.bytes())
    }
}

/// Where a part lies and what it is called.
#[derive(Clone, Default)]
struct At {
    name: String,
    offset: u32,
    dims: Vec<Dim>,
}

impl At {
    fn member(&self, member: &Member) -> Self {
        let dot = if self.name.is_empty() || member.name.is_empty() { "" } else { "." };
        Self {
            name: format!("{}{dot}{}", self.name, member.name),
            offset: self.offset.saturating_add(member.offset),
            dims: self.dims.clone(),
        }
    }

    fn element(&self, dim: Dim) -> Self {
        let mut dims = self.dims.clone();
        dims.push(dim);
        Self { name: format!("{}[]", self.name), offset: self.offset, dims }
    }

    /// The rows of a scalar: one, but for elements with names of their own.
    fn rows(&self, bytes: u32) -> Vec<Field> {
        let row = |name: String, offset: u32, dims: Vec<Dim>| Field {
            name: name.into(),
            offset,
            bytes,
            dims: dims.into(),
            doc: "",
        };
        if self.name == NAMED.0 {
            let stride = self.dims.first().map_or(bytes, |dim| dim.stride);
            let at = |index: u32| self.offset.saturating_add(index.saturating_mul(stride));
            let offsets = (0..).map(at);
            let named = NAMED.1.into_iter().zip(offsets);
            return named.map(|(name, offset)| row(name.into(), offset, Vec::new())).collect();
        }
        if let (Some(name), [dims @ .., last]) = (self.name.strip_suffix(VALUE), &self.dims[..]) {
            let bytes = last.count.saturating_mul(bytes);
            return vec![Field { bytes, ..row(name.into(), self.offset, dims.to_vec()) }];
        }
        let mut name = self.name.clone();
        for (raw, friendly) in FRIENDLY {
            name = name.replace(raw, friendly);
        }
        for (raw, friendly) in FRIENDLY_END {
            if let Some(start) = name.strip_suffix(raw) {
                name = format!("{start}{friendly}");
            }
        }
        vec![row(name, self.offset, self.dims.clone())]
    }
}

/// The layout of a firmware image by its type `mailboxes_t`, [`None`] without usable debug information. It is the
/// built-in one if what matters lies where that has it.
#[must_use]
pub fn of_firmware(image: &Image) -> Option<Layout> {
    let read = as_compiled(image)?;
    Some(if read.agrees(&DECISIVE) { Layout::built_in().clone() } else { read })
}

/// As [`of_firmware`], with all names as the compiler has them.
#[must_use]
pub fn as_compiled(image: &Image) -> Option<Layout> {
    let dwarf = load_dwarf(image.file.as_ref()?);
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let mut walk = Walk { dwarf: &dwarf, unit: &unit, nodes: 0 };
        if let Some(shape) = walk.find("mailboxes_t") {
            let mut rows = Vec::new();
            shape.rows(&At::default(), &mut rows);
            return Layout::new(shape.bytes(), rows);
        }
    }
    None
}

/// Reads types out of one compilation unit.
struct Walk<'a> {
    dwarf: &'a Dwarf<Reader>,
    unit: &'a Unit<Reader>,
    nodes: u32,
}

impl Walk<'_> {
    /// The complete structure type of that name.
    fn find(&mut self, wanted: &str) -> Option<Shape> {
        let mut entries = self.unit.entries();
        while let Ok(Some(entry)) = entries.next_dfs() {
            if entry.tag() == dw::DW_TAG_structure_type
                && entry.attr_value(dw::DW_AT_byte_size).is_some()
                && self.name(entry).as_deref() == Some(wanted)
            {
                return self.shape(entry.offset(), MAX_DEPTH);
            }
        }
        None
    }

    fn name(&self, entry: &Entry) -> Option<String> {
        let value = entry.attr_value(dw::DW_AT_name)?;
        let text = self.dwarf.attr_string(self.unit, value).ok()?;
        Some(String::from_utf8_lossy(text.bytes()).into_owned())
    }

    fn shape(&mut self, at: UnitOffset, depth: u32) -> Option<Shape> {
        self.nodes += 1;
        if depth == 0 || self.nodes > MAX_NODES {
            return None;
        }
        let entry = self.unit.entry(at).ok()?;
        match entry.tag() {
            dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_atomic_type => self.shape(target(&entry)?, depth - 1),
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type | dw::DW_TAG_class_type => {
                let bytes = number(&entry, dw::DW_AT_byte_size)?;
                Some(Shape::Struct { bytes, members: self.members(at, depth)? })
            }
            dw::DW_TAG_array_type => {
                let element = self.shape(target(&entry)?, depth - 1)?;
                let counts = self.dimensions(at)?;
                Some(counts.iter().rev().fold(element, |inner, &count| Shape::Array {
                    count,
                    element: Box::new(inner),
                }))
            }
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type => Some(Shape::Scalar { bytes: 4 }),
            _ => Some(Shape::Scalar { bytes: number(&entry, dw::DW_AT_byte_size)? }),
        }
    }

    fn members(&mut self, at: UnitOffset, depth: u32) -> Option<Vec<Member>> {
        let mut found = Vec::new();
        let mut tree = self.unit.entries_tree(Some(at)).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            // A base class is a member without a name; static members have no place in the object.
            let part = [dw::DW_TAG_member, dw::DW_TAG_inheritance].contains(&entry.tag());
            if !part || entry.attr_value(dw::DW_AT_external).is_some() {
                continue;
            }
            let bits = number(entry, dw::DW_AT_data_bit_offset);
            let offset = number(entry, dw::DW_AT_data_member_location).or(bits.map(|bit| bit / 8));
            found.push(Member {
                name: self.name(entry).unwrap_or_default(),
                offset: offset.unwrap_or(0),
                shape: self.shape(target(entry)?, depth - 1)?,
            });
        }
        Some(found)
    }

    /// Element counts, outermost first.
    fn dimensions(&self, at: UnitOffset) -> Option<Vec<u32>> {
        let mut counts = Vec::new();
        let mut tree = self.unit.entries_tree(Some(at)).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if entry.tag() != dw::DW_TAG_subrange_type {
                continue;
            }
            let bound = number(entry, dw::DW_AT_upper_bound).map(|last| last.wrapping_add(1));
            counts.push(number(entry, dw::DW_AT_count).or(bound).unwrap_or(0));
        }
        Some(counts)
    }
}

fn number(entry: &Entry, name: gimli::DwAt) -> Option<u32> {
    u32::try_from(entry.attr_value(name)?.udata_value()?).ok()
}

fn target(entry: &Entry) -> Option<UnitOffset> {
    match entry.attr_value(dw::DW_AT_type)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file may say anything.
    #[test]
    fn part_that_is_too_large_to_be_there_is_left_out() {
        let part = |name: &str, offset, shape| Member { name: name.into(), offset, shape };
        let map = Shape::Array { count: 4, element: Box::new(Shape::Scalar { bytes: 1 << 31 }) };
        let sync = Shape::Struct { bytes: u32::MAX, members: vec![part("map", 8, map)] };
        let pointer = part("launch_msg_rd_ptr", 12, Shape::Scalar { bytes: 4 });
        let block =
            Shape::Struct { bytes: 64, members: vec![part("subordinate_sync", 0, sync), pointer] };
        let mut rows = Vec::new();
        block.rows(&At::default(), &mut rows);
        let layout = Layout::new(block.bytes(), rows).expect("a size that can be");
        assert_eq!(layout.address("subordinate_sync.trisc2"), None);
    }

    /// Of a union the member with names of its own is told, wherever the others stand.
    #[test]
    fn member_of_a_union_that_says_most_is_named() {
        let byte = |name: &str, offset| Member {
            name: name.into(),
            offset,
            shape: Shape::Scalar { bytes: 1 },
        };
        let all = Member { name: "all".into(), offset: 0, shape: Shape::Scalar { bytes: 4 } };
        let members = vec![byte("x", 0), byte("y", 1), byte("unused", 2), byte("signal", 3)];
        let parts =
            Member { name: String::new(), offset: 0, shape: Shape::Struct { bytes: 4, members } };
        for members in [vec![all.clone(), parts.clone()], vec![parts, all]] {
            let mut rows = Vec::new();
            Shape::Struct { bytes: 4, members }.rows(&At::default(), &mut rows);
            let names: Vec<_> = rows.iter().map(|row| (&*row.name, row.offset)).collect();
            assert_eq!(names, [("x", 0), ("y", 1), ("unused", 2), ("signal", 3)]);
        }
    }
}
