//! The firmware mailbox structure in L1: addresses to names and back.
//!
//! It is a convention of the vendor firmware, not of the hardware, and other versions have their fields elsewhere:
//! [`Layout`] is that of one of them. The functions are of the built-in one, ttnn 0.81.1.
//! Sources: `[spec: boot-and-sync 1.4]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`, firmware debug data.

use std::borrow::Cow;

use crate::layout::Area;

/// A field, perhaps inside arrays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Path with `[]` for each index.
    pub name: Cow<'static, str>,
    /// Byte offset of the first element from [`MAILBOX_BASE`].
    pub offset: u32,
    /// Size of one element in bytes.
    pub bytes: u32,
    /// Indices, outermost first.
    pub dims: Cow<'static, [Dim]>,
    /// One line of explanation.
    pub doc: &'static str,
}

/// One index of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim {
    /// Number of elements.
    pub count: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
}

include!(concat!(env!("OUT_DIR"), "/l1_layout.rs"));

/// The field at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name with indices, e.g. `launch[0].kernel_config_base[0]`.
    pub name: String,
    /// Byte inside the field.
    pub byte: u32,
    /// Size of the field in bytes.
    pub bytes: u32,
}

impl Place {
    /// Its name, with `+n` inside a longer field.
    #[must_use]
    pub fn into_name(self) -> String {
        if self.byte == 0 { self.name } else { format!("{}+{}", self.name, self.byte) }
    }
}

impl Field {
    /// Name with the given indices filled in; missing ones count as 0.
    fn with_indices(&self, indices: &[u32]) -> String {
        let mut parts = self.name.split("[]");
        let mut name = parts.next().unwrap_or_default().to_owned();
        for (i, part) in parts.enumerate() {
            name += &format!("[{}]{part}", indices.get(i).copied().unwrap_or(0));
        }
        name
    }

    /// Byte of the field at that distance from its first element; each index on the way is told.
    fn byte(&self, mut distance: u32, mut index_is: impl FnMut(u32)) -> Option<u32> {
        for dim in &*self.dims {
            let index = distance / dim.stride;
            if index >= dim.count {
                return None;
            }
            index_is(index);
            distance -= index * dim.stride;
        }
        (distance < self.bytes).then_some(distance)
    }

    /// Offset of the first byte behind its last element; [`None`] of one without a size that can be.
    fn end(&self) -> Option<u32> {
        self.dims.iter().try_fold(self.offset.checked_add(self.bytes)?, |end, dim| {
            let last = dim.count.checked_sub(1)?;
            (dim.stride != 0).then(|| end.checked_add(last.checked_mul(dim.stride)?))?
        })
    }

    fn place(&self, distance: u32) -> Option<Place> {
        let mut indices = Vec::with_capacity(self.dims.len());
        let byte = self.byte(distance, |index| indices.push(index))?;
        Some(Place { name: self.with_indices(&indices), byte, bytes: self.bytes })
    }

    fn address(&self, indices: &[u32]) -> Option<u32> {
        if indices.len() != self.dims.len() {
            return None;
        }
        let mut address = MAILBOX_BASE + self.offset;
        for (dim, index) in self.dims.iter().zip(indices) {
            if *index >= dim.count {
                return None;
            }
            address += dim.stride * index;
        }
        Some(address)
    }
}

/// Where a version of the firmware keeps what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    bytes: u32,
    fields: Cow<'static, [Field]>,
}

/// More bytes than the structure of any version has.
pub const MAX_BYTES: u32 = 1 << 16;

static BUILT_IN: Layout = Layout { bytes: MAILBOX_BYTES, fields: Cow::Borrowed(FIELDS) };

impl Layout {
    /// The layout of ttnn 0.81.1, from the table.
    #[must_use]
    pub const fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The layout of another version: bytes of the structure, and its fields. What does not lie in it is left out.
    /// [`None`] of a structure that is too large to be one.
    #[must_use]
    pub fn new(bytes: u32, mut fields: Vec<Field>) -> Option<Self> {
        fields.retain(|field| field.end().is_some_and(|end| end <= bytes));
        (bytes <= MAX_BYTES).then_some(Self { bytes, fields: Cow::Owned(fields) })
    }

    /// Bytes of the structure.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The fields that begin at byte `addr` of L1 or before, and how far before.
    fn before(&self, addr: u32) -> impl Iterator<Item = (&Field, u32)> {
        let offset = addr.checked_sub(MAILBOX_BASE).filter(|offset| *offset < self.bytes);
        offset.into_iter().flat_map(|offset| {
            let fields = self.fields.iter().filter(move |field| field.offset <= offset);
            fields.map(move |field| (field, offset - field.offset))
        })
    }

    /// The field that covers byte `addr` of L1.
    #[must_use]
    pub fn place(&self, addr: u32) -> Option<Place> {
        self.before(addr).find_map(|(field, distance)| field.place(distance))
    }

    /// Whether a field covers byte `addr` of L1.
    #[must_use]
    pub fn covers(&self, addr: u32) -> bool {
        self.before(addr).any(|(field, distance)| field.byte(distance, |_| ()).is_some())
    }

    /// L1 address of a field by its name with indices, e.g. `go_messages[0].signal`.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<u32> {
        let mut path = String::new();
        let mut indices = Vec::new();
        let mut rest = name;
        while let Some((before, after)) = rest.split_once('[') {
            let (index, tail) = after.split_once(']')?;
            indices.push(index.parse().ok()?);
            path += before;
            path += "[]";
            rest = tail;
        }
        path += rest;
        self.fields.iter().find(|field| field.name == path)?.address(&indices)
    }

    /// Whether what the built-in layout names by these names lies at the same addresses here.
    #[must_use]
    pub fn agrees(&self, names: &[&str]) -> bool {
        self.bytes == MAILBOX_BYTES && names.iter().all(|name| self.address(name) == address(name))
    }
}

/// [`Layout::place`] of the built-in layout.
#[must_use]
pub fn place(addr: u32) -> Option<Place> {
    BUILT_IN.place(addr)
}

/// [`Layout::covers`] of the built-in layout.
#[must_use]
pub fn covers(addr: u32) -> bool {
    BUILT_IN.covers(addr)
}

/// Name of the field of the built-in layout that covers byte `addr` of L1, with `+n` inside a longer field.
#[must_use]
pub fn name(addr: u32) -> Option<String> {
    place(addr).map(Place::into_name)
}

/// [`Layout::address`] of the built-in layout.
#[must_use]
pub fn address(name: &str) -> Option<u32> {
    BUILT_IN.address(name)
}
