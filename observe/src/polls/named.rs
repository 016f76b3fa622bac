//! What a poll waits for, and what that is called: by the trace and by [`crate::why`] alike.

use memory_map::{Target, lookup};
use sim_core::CoreId;
use sim_core::l1::L1_BYTES;
use sim_core::observer::Look;

use crate::describe::{mailbox_peer, view_of};
use crate::names::{Names, is_go_signal, subordinate};
use crate::resource::{ACKED, CREDIT_MASK, RECEIVED, Resource, Way};

/// First byte of `subordinate_sync`, and the cores its bytes belong to `[spec: boot-and-sync 1.4]`.
pub(crate) const SYNC: u32 = 0x68;
/// See [`SYNC`].
pub(crate) const SYNC_ORDER: [CoreId; 4] =
    [CoreId::Ncrisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

/// What a polled word of L1 is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The run message.
    Run,
    /// The core's own byte of the word by which firmware starts kernels: its name.
    Own(String),
    /// The bytes of others there.
    Others,
    /// Anything else: its name.
    Word(String),
}

/// What a word of L1 is for that a core polls.
pub(crate) fn role(names: &dyn Names, core: CoreId, addr: u32) -> Role {
    let field = names.l1(addr).map(|place| place.name);
    let name = || field.clone().or_else(|| names.page(addr));
    let name = || name().unwrap_or_else(|| Resource::Word(addr).to_string());
    let own = SYNC_ORDER.iter().position(|other| *other == core);
    match field.as_deref() {
        Some(field) if is_go_signal(field) || field.starts_with("go_messages") => Role::Run,
        Some(field) if subordinate(field).is_some() => match own {
            Some(own) if own == (addr - SYNC) as usize => Role::Own(name()),
            _ => Role::Others,
        },
        _ => Role::Word(name()),
    }
}

/// What would end a poll of that register, if it belongs to something that agents hand each other. `credit` knows
/// which way a loop waits that reads both counters of a circular buffer, if anybody does.
pub(crate) fn on_register(
    core: CoreId,
    looks: &[Look],
    look: &Look,
    credit: impl FnOnce(u8) -> Option<Way>,
) -> Option<(Resource, Way)> {
    if look.addr < L1_BYTES {
        return None;
    }
    let hit = lookup(view_of(core), look.addr)?;
    match hit.target {
        Target::Semaphores => {
            let way = if look.value == 0 { Way::Give } else { Way::Take };
            Some((Resource::Semaphore(((hit.offset / 4) & 7) as u8), way))
        }
        Target::Overlay => {
            let stream = (hit.offset >> 12) as u8;
            let way = credit_way(looks, stream, credit)?;
            Some((Resource::Circular(stream), way))
        }
        Target::Mailbox => {
            let from = mailbox_peer(look.addr);
            Some((Resource::Mailbox { from, to: core }, Way::Give))
        }
        _ => None,
    }
}

/// Which way a loop on the credits of a circular buffer waits: one that reads only the received count waits for
/// pages, one that reads only the acknowledged count for room. Of one that reads both, `known` says it, else
/// the difference.
pub(crate) fn credit_way(
    looks: &[Look],
    stream: u8,
    known: impl FnOnce(u8) -> Option<Way>,
) -> Option<Way> {
    let read = |register: u16| {
        let offset =
            u32::from(stream) * memory_map::layout::STREAM_STRIDE + u32::from(register) * 4;
        let is_it = |look: &&Look| look.addr >= L1_BYTES && look.addr & 0x3_FFFF == offset;
        looks.iter().find(is_it).map(|look| look.value)
    };
    match (read(RECEIVED), read(ACKED)) {
        (Some(received), Some(acked)) => Some(known(stream).unwrap_or_else(|| {
            let is_empty = received.wrapping_sub(acked) & CREDIT_MASK == 0;
            if is_empty { Way::Give } else { Way::Take }
        })),
        (Some(_), None) => Some(Way::Give),
        (None, Some(_)) => Some(Way::Take),
        (None, None) => None,
    }
}

/// `a post of semaphore MATH_PACK`.
pub(crate) fn action(resource: Resource, way: Way) -> String {
    let verb = if way == Way::Take { resource.take() } else { resource.give() };
    let article = if verb.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {verb} of {resource}")
}

/// Whether a register shows nothing but time.
pub(crate) fn is_clock(core: CoreId, addr: u32) -> bool {
    let name = memory_map::register_name(view_of(core), addr);
    addr >= L1_BYTES && name.is_some_and(|name| name.contains("WALL_CLOCK"))
}

/// Whether a word of L1 is one by which somebody is told to begin, or has ended.
pub(crate) fn is_signal(addr: u32) -> bool {
    let field = memory_map::mailbox::place(addr).map(|place| place.name);
    field.is_some_and(|field| is_go_signal(&field) || subordinate(&field).is_some())
}

/// Bytes from an address that is read to what is read by it.
const FIELD: u32 = 256;
/// What firmware keeps for itself lies below; numbers so small are counts.
const FIRST: u32 = 0x1000;

/// Whether a value that was read at an address says where another load reads.
pub(crate) fn is_base(value: u32, from: u32, addr: u32) -> bool {
    addr != from && from < L1_BYTES && value >= FIRST && addr.wrapping_sub(value) < FIELD
}

/// Which load of a round a poll is told by: of a device; else of a signal or a field that firmware gives a meaning; else of a
/// word that has changed; else the last one, as arguments and pointers are read before it.
pub(super) fn chosen(core: CoreId, looks: &[Look], last: &[u32]) -> Option<usize> {
    let is_pointer = |at: &Look| looks.iter().any(|look| is_base(at.value, at.addr, look.addr));
    let find = |is_it: &dyn Fn(usize, &Look) -> bool| {
        let mut own = looks.iter().enumerate().filter(|(_, look)| !is_pointer(look));
        own.find(|(at, look)| is_it(*at, look)).map(|(at, _)| at)
    };
    find(&|_, look| look.addr >= L1_BYTES && !is_clock(core, look.addr))
        .or_else(|| find(&|_, look| is_signal(look.addr)))
        .or_else(|| find(&|_, look| memory_map::mailbox::place(look.addr).is_some()))
        .or_else(|| find(&|at, look| last.get(at).is_some_and(|last| *last != look.value)))
        .or_else(|| looks.iter().rposition(|look| look.addr < L1_BYTES && !is_pointer(look)))
        .or_else(|| looks.iter().rposition(|look| look.addr < L1_BYTES))
        .or_else(|| looks.len().checked_sub(1))
}

/// A poll in words.
pub(crate) fn told(
    names: &dyn Names,
    core: CoreId,
    look: Option<&Look>,
    waits_for: Option<(Resource, Way)>,
) -> String {
    if let Some((resource, way)) = waits_for {
        return format!("polls for {}", action(resource, way));
    }
    let Some(&Look { addr, value, .. }) = look.filter(|look| !is_clock(core, look.addr)) else {
        return "waits by the wall clock".to_owned();
    };
    if addr >= L1_BYTES {
        let name = memory_map::register_name(view_of(core), addr);
        return format!("polls {}", name.unwrap_or_else(|| format!("{addr:#010x}")));
    }
    match role(names, core, addr) {
        Role::Run => "waits for a run message".to_owned(),
        Role::Own(name) => format!("waits for GO in {name}"),
        Role::Others => reports(addr, value),
        Role::Word(name) => format!("polls {name}"),
    }
}

/// A wait for the cores whose bytes of a value are not zero.
fn reports(addr: u32, value: u32) -> String {
    let busy = |at: &usize| {
        at.checked_sub((addr - SYNC) as usize).is_some_and(|byte| value >> (8 * byte) & 0xFF != 0)
    };
    let names: Vec<_> = (0..4).filter(busy).map(|at| SYNC_ORDER[at].name()).collect();
    match names.is_empty() {
        true => "waits for other cores to report done".to_owned(),
        false => format!("waits for {} to report done", names.join(", ")),
    }
}
