//! Writes to backend configuration by field.

use isa::config::{ConfigField, Scope, in_word};
use sim_core::{CoreId, CoreSet};

use super::config_thread;
use crate::text::{Dec, Hex, put};

/// The fields whose value changed, each with both values; changed bits without a field as such.
pub(super) fn text(out: &mut String, state: u8, index: u16, before: u32, after: u32) {
    let scope = match config_thread(state) {
        Some(thread) => {
            put!(out; "ThreadConfig[", super::name_of(thread), "][");
            Scope::Thread
        }
        None => {
            put!(out; "Config[", Dec(state), "][");
            Scope::Config
        }
    };
    put!(out; Dec(index), "]:");
    let mut separator = " ";
    let mut rest = before ^ after;
    for field in in_word(scope, index.into()) {
        let mask = mask_in(field, index.into());
        rest &= !mask;
        if (before ^ after) & mask != 0 {
            out.push_str(std::mem::replace(&mut separator, ", "));
            change(out, field, index.into(), before, after);
        }
    }
    if rest != 0 {
        put!(out; separator, "unnamed bits ", Hex(before & rest), " -> ", Hex(after & rest));
    }
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

fn change(out: &mut String, field: &ConfigField, index: u32, before: u32, after: u32) {
    put!(out; field.name, " ");
    if field.width > 32 {
        put!(out; "word ", Dec(index - field.addr32), " ", Hex(before), " -> ", Hex(after));
        return;
    }
    value(out, field.of_word(before));
    out.push_str(" -> ");
    value(out, field.of_word(after));
}

fn value(out: &mut String, value: u32) {
    match value {
        small @ 0..=9 => put!(out; Dec(small)),
        large => put!(out; Hex(large)),
    }
}

/// Bit mask: 0 B, 1 T0, 2 T1, 3 T2, 4 NC, as [`CoreId`] counts.
pub(super) fn icache_text(mask: u8) -> String {
    let cores: Vec<_> = CoreSet(mask).iter().map(CoreId::name).collect();
    let cores = if cores.is_empty() { "no core".to_owned() } else { cores.join(", ") };
    format!("invalidates the instruction cache of {cores}")
}
