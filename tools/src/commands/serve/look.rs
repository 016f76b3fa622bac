//! What a person looks at first, as JSON: cores, gates, semaphores, circular buffers, mailboxes.

use loader::plan::CircularBuffer;
use observe::Names;
use serde_json::{Map, Value, json};
use sim_core::Observer;
use tile::Tile;

use crate::commands::tui::view::{BufferView, CoreView, GateView, View, view};

/// A tile at a glance.
pub(super) fn look<O: Observer>(
    tile: &Tile<O>,
    names: &dyn Names,
    buffers: &[CircularBuffer],
) -> Value {
    let View { cycle, cores, gates, semaphores, buffers, mailboxes } = view(tile, names, buffers);
    let mailbox = |(from, to, words): &(sim_core::CoreId, sim_core::CoreId, Vec<u32>)| json!({ "from": from.to_string(), "to": to.to_string(), "words": words });
    json!({
        "cycle": cycle,
        "cores": cores.iter().map(core).collect::<Vec<_>>(),
        "gates": gates.iter().map(gate).collect::<Vec<_>>(),
        "semaphores": semaphores.into_iter().map(|(name, value)| (name, value.into()))
            .collect::<Map<_, Value>>(),
        "buffers": buffers.iter().map(buffer).collect::<Vec<_>>(),
        "mailboxes": mailboxes.iter().map(mailbox).collect::<Vec<_>>(),
    })
}

fn core(core: &CoreView) -> Value {
    json!({
        "core": core.core.to_string(),
        "state": core.state,
        "pc": core.pc,
        "function": core.function,
        "line": core.line,
        "waits": core.waits,
    })
}

fn gate(gate: &GateView) -> Value {
    json!({
        "thread": gate.thread.to_string(),
        "waits": gate.waits,
        "instruction": gate.instruction,
    })
}

fn buffer(buffer: &BufferView) -> Value {
    let held = buffer.held();
    json!({
        "index": buffer.index,
        "pushed": buffer.pushed,
        "popped": buffer.popped,
        "held": held,
        "pages": buffer.pages,
    })
}
