//! A write to L1, cut into the named fields it covers.

use crate::names::{Names, is_go_signal, subordinate};

/// The part of a write that falls into one named field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// Path of the field.
    pub(crate) name: String,
    /// First byte of the field that was written.
    pub(crate) byte: u32,
    /// Bytes of the field that were written.
    pub(crate) bytes: u32,
    /// Size of the field.
    pub(crate) field_bytes: u32,
    /// Their value, little-endian.
    pub(crate) value: u32,
}

impl Part {
    /// Whether the whole field was written.
    pub(crate) fn is_whole(&self) -> bool {
        self.byte == 0 && self.bytes == self.field_bytes
    }

    /// Whether it belongs to the go and subordinate handshakes.
    pub(crate) fn is_go(&self) -> bool {
        is_go_signal(&self.name) || subordinate(&self.name).is_some()
    }

    /// `field`, or `field+2`.
    fn place(&self) -> String {
        if self.byte == 0 { self.name.clone() } else { format!("{}+{}", self.name, self.byte) }
    }

    /// `NAME (0x80)`, or `0x80`.
    fn value_text(&self, names: &dyn Names) -> String {
        let meaning = if self.is_whole() { names.l1_value(&self.name, self.value) } else { None };
        match meaning {
            Some(meaning) => format!("{meaning} ({:#x})", self.value),
            None => format!("{:#x}", self.value),
        }
    }
}

/// `a = 0x1, b = NAME (0x80)`; members of one structure that get the same value stand together:
/// `s.{x,y} = 0x1`.
pub(crate) fn text(parts: &[Part], names: &dyn Names) -> String {
    let mut groups: Vec<(String, Vec<String>, String)> = Vec::new();
    for part in parts {
        let (place, value) = (part.place(), part.value_text(names));
        let (parent, member) = match place.rsplit_once('.') {
            Some((parent, member)) => (format!("{parent}."), member.to_owned()),
            None => (String::new(), place),
        };
        match groups.last_mut() {
            Some(last) if !parent.is_empty() && last.0 == parent && last.2 == value => {
                last.1.push(member);
            }
            _ => groups.push((parent, vec![member], value)),
        }
    }
    let texts: Vec<_> = groups
        .iter()
        .map(|(parent, members, value)| match members.as_slice() {
            [member] => format!("{parent}{member} = {value}"),
            several => format!("{parent}{{{}}} = {value}", several.join(",")),
        })
        .collect();
    texts.join(", ")
}

/// Cuts a write of up to four bytes; bytes without a name are left out.
pub(crate) fn parts(addr: u32, value: u32, bytes: u32, names: &dyn Names) -> Vec<Part> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.min(4) {
        let Some(place) = addr.checked_add(at).and_then(|addr| names.l1(addr)) else {
            at += 1;
            continue;
        };
        let count = place.bytes.saturating_sub(place.byte).clamp(1, bytes.min(4) - at);
        let mask = if count >= 4 { u32::MAX } else { (1 << (8 * count)) - 1 };
        found.push(Part {
            name: place.name,
            byte: place.byte,
            bytes: count,
            field_bytes: place.bytes,
            value: value >> (8 * at) & mask,
        });
        at += count;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::BuiltInNames;

    fn written(addr: u32, value: u32, bytes: u32) -> String {
        let names = BuiltInNames;
        text(&parts(addr, value, bytes, &names), &names)
    }

    /// Addresses: mailbox block at 0x60, `subordinate_sync` at +8, `go_messages` at +0x490
    /// [spec: boot-and-sync 1.4].
    #[test]
    fn word_over_four_bytes_is_cut_into_fields() {
        assert_eq!(
            written(0x68, 0x4040_8000, 4),
            "subordinate_sync.dm1 = RUN_SYNC_MSG_DONE (0x0), \
             subordinate_sync.trisc0 = RUN_SYNC_MSG_GO (0x80), \
             subordinate_sync.{trisc1,trisc2} = RUN_SYNC_MSG_INIT (0x40)"
        );
    }

    #[test]
    fn byte_inside_a_longer_field_shows_its_place() {
        assert_eq!(written(0x72, 0xAB, 1), "launch[0].kernel_config_base[0]+2 = 0xab");
    }

    #[test]
    fn unnamed_bytes_are_left_out() {
        assert_eq!(written(0x10_0000, 1, 4), "");
        assert_eq!(written(0x4F3, 0x80, 1), "go_messages[0].signal = RUN_MSG_GO (0x80)");
    }
}
