//! Names inside the firmware's mailbox block: `0x4f3` is `go_messages[0].signal`.
//!
//! The names come from the debug information of the firmware that runs (type `mailboxes_t`), so
//! that they are right for any firmware version; without it they come from the built-in table of
//! the `memory-map` crate. Names of values are `observe`'s.
//!
//! Sources: DWARF 5; `[spec: boot-and-sync 1.4, 1.5]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`.

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, EndianArcSlice, LittleEndian, Unit};
use gimli::{UnitOffset, constants as dw};

use memory_map::mailbox::{self, MAILBOX_BASE};

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
const FRIENDLY: [(&str, &str); 5] = [
    ("subordinate_sync.map[0]", "subordinate_sync.dm1"),
    ("subordinate_sync.map[1]", "subordinate_sync.trisc0"),
    ("subordinate_sync.map[2]", "subordinate_sync.trisc1"),
    ("subordinate_sync.map[3]", "subordinate_sync.trisc2"),
    ("].kernel_config.", "]."),
];
/// The same for the ends of names.
const FRIENDLY_END: [(&str, &str); 2] = [("].rta_offset", "].rta"), ("].crta_offset", "].crta")];

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

    /// The scalar at a byte offset.
    fn field(&self, mut offset: u32) -> Option<Field> {
        let mut shape = self;
        let mut name = String::new();
        loop {
            match shape {
                Shape::Scalar { bytes } => {
                    return (offset < *bytes).then_some(Field {
                        name,
                        byte: offset,
                        bytes: *bytes,
                    });
                }
                Shape::Array { count, element } => {
                    let index = offset.checked_div(element.bytes())?;
                    if index >= *count {
                        return None;
                    }
                    offset -= index * element.bytes();
                    name += &format!("[{index}]");
                    shape = element;
                }
                Shape::Struct { members, .. } => {
                    let covers = |member: &&Member| {
                        offset
                            .checked_sub(member.offset)
                            .is_some_and(|at| at < member.shape.bytes())
                    };
                    // In a union several cover it: named parts say most, then many parts.
                    let says = |member: &&Member| {
                        let named = matches!(member.shape, Shape::Struct { .. });
                        (named, member.shape.leaves())
                    };
                    let best = members.iter().filter(covers).max_by_key(says)?;
                    offset -= best.offset;
                    if !best.name.is_empty() {
                        let dot = if name.is_empty() { "" } else { "." };
                        name += &format!("{dot}{}", best.name);
                    }
                    shape = &best.shape;
                }
            }
        }
    }
}

/// A scalar field at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Path from the start of the block, e.g. `launch[2].kernel_config.enables`.
    pub name: String,
    /// Byte inside the field.
    pub byte: u32,
    /// Bytes of the field.
    pub bytes: u32,
}

/// The names of one firmware's mailbox block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MailboxNames {
    /// `None`: the built-in table.
    shape: Option<Shape>,
}

impl MailboxNames {
    /// The names of the built-in table (ttnn 0.81.1).
    #[must_use]
    pub const fn built_in() -> Self {
        Self { shape: None }
    }

    /// The names of a firmware image, or the built-in ones when it has no debug information.
    #[must_use]
    pub fn for_firmware(image: Option<&Image>) -> Self {
        image.and_then(Self::from_image).unwrap_or(const { Self::built_in() })
    }

    /// Reads the type `mailboxes_t` of a firmware image; `None` without usable debug information.
    #[must_use]
    pub fn from_image(image: &Image) -> Option<Self> {
        let dwarf = load_dwarf(image.file.as_ref()?);
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            let mut walk = Walk { dwarf: &dwarf, unit: &unit, nodes: 0 };
            if let Some(shape) = walk.find("mailboxes_t") {
                return Some(Self { shape: Some(shape) });
            }
        }
        None
    }

    /// Bytes of the block.
    #[must_use]
    pub fn size_bytes(&self) -> u32 {
        self.shape.as_ref().map_or(mailbox::MAILBOX_BYTES, Shape::bytes)
    }

    /// The field that covers an L1 address; `None` outside the block and in padding.
    #[must_use]
    pub fn field(&self, address: u32) -> Option<Field> {
        let Some(shape) = &self.shape else {
            let place = mailbox::place(address)?;
            return Some(Field { name: place.name, byte: place.byte, bytes: place.bytes });
        };
        let mut field = shape.field(address.checked_sub(MAILBOX_BASE)?)?;
        for (raw, friendly) in FRIENDLY {
            field.name = field.name.replace(raw, friendly);
        }
        for (raw, friendly) in FRIENDLY_END {
            if let Some(start) = field.name.strip_suffix(raw) {
                field.name = format!("{start}{friendly}");
            }
        }
        Some(field)
    }

    /// Name of an L1 address, `field+n` inside a longer field.
    #[must_use]
    pub fn name(&self, address: u32) -> Option<String> {
        let field = self.field(address)?;
        Some(if field.byte == 0 { field.name } else { format!("{}+{}", field.name, field.byte) })
    }
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
