//! Writes to backend configuration by field.

use isa::config::{ConfigField, Scope, in_word};
use sim_core::{CoreId, CoreSet};

use super::config_thread;

/// The fields whose value changed, each with both values; changed bits without a field as such.
pub(super) fn text(state: u8, index: u16, before: u32, after: u32) -> String {
    let (scope, place) = match config_thread(state) {
        Some(thread) => (Scope::Thread, format!("ThreadConfig[{thread}][{index}]")),
        None => (Scope::Config, format!("Config[{state}][{index}]")),
    };
    let changed = before ^ after;
    let mut rest = changed;
    let mut texts = Vec::new();
    for field in in_word(scope, index.into()) {
        let mask = mask_in(field, index.into());
        rest &= !mask;
        if changed & mask != 0 {
            texts.push(change(field, index.into(), before, after));
        }
    }
    if rest != 0 {
        texts.push(format!("unnamed bits {:#x} -> {:#x}", before & rest, after & rest));
    }
    format!("{place}: {}", texts.join(", "))
}

/// Bits of the field in word `index`; fields of several words fill all but perhaps the last.
fn mask_in(field: &ConfigField, index: u32) -> u32 {
    if field.width <= 32 {
        return field.mask();
    }
    let bits =
        u32::from(field.width) - 32 * (index - field.addr32).min(u32::from(field.width) / 32);
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

fn change(field: &ConfigField, index: u32, before: u32, after: u32) -> String {
    if field.width > 32 {
        let word = index - field.addr32;
        return format!("{} word {word} {before:#x} -> {after:#x}", field.name);
    }
    let value = |word| match field.of_word(word) {
        small @ 0..=9 => small.to_string(),
        large => format!("{large:#x}"),
    };
    format!("{} {} -> {}", field.name, value(before), value(after))
}

/// Bit mask: 0 B, 1 T0, 2 T1, 3 T2, 4 NC, as [`CoreId`] counts.
pub(super) fn icache_text(mask: u8) -> String {
    let cores: Vec<_> = CoreSet(mask).iter().map(CoreId::name).collect();
    let cores = if cores.is_empty() { "no core".to_owned() } else { cores.join(", ") };
    format!("invalidates the instruction cache of {cores}")
}
