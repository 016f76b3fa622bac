//! Where somebody is and what he waits for, in words.

use observe::Names;
use sim_core::observer::Look;
use sim_core::{AgentId, CoreId, WaitReason};
use tile::{AgentWait, WatchedLoad};

/// The source of an instruction: ` in function file:line`, or nothing.
pub(super) fn place(names: &dyn Names, agent: AgentId, pc: Option<u32>) -> String {
    let core = match agent {
        AgentId::Core(core) => Some(core),
        // A Tensix instruction is placed where it was pushed, usually by the thread's TRISC.
        AgentId::Thread(thread) => Some(thread.core()),
        AgentId::Unit(_) | AgentId::Noc(_) | AgentId::Host => None,
    };
    let Some(pc) = pc else { return String::new() };
    let code = core.and_then(|core| names.code(core, pc));
    code.map_or_else(|| format!(" at {pc:#x}"), |code| format!(" at {pc:#x} in {code}"))
}

pub(super) fn l1_name(names: &dyn Names, addr: u32) -> String {
    match names.l1(addr) {
        Some(place) => format!("{} ({addr:#x})", place.name),
        None => format!("{addr:#x}"),
    }
}

/// What an agent waits for and since when, in words.
pub(super) fn wait_words(names: &dyn Names, wait: &AgentWait) -> String {
    let mut text = if wait.reason == WaitReason::Spin {
        let core = match wait.agent {
            AgentId::Core(core) => core,
            _ => CoreId::Brisc,
        };
        let mut reads: Vec<String> = Vec::new();
        for load in &wait.reads {
            let what = match load.device {
                true => register_name(core, load.addr),
                false => l1_name(names, load.addr),
            };
            let read = format!("{what} = {:#x}", load.value);
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        let look = |load: &WatchedLoad| Look { pc: load.pc, addr: load.addr, value: load.value };
        let looks: Vec<Look> = wait.reads.iter().map(look).collect();
        let (told, reads) = (observe::poll_text(names, core, &looks), reads.join(", "));
        // What has no meaning of its own is told by what it reads.
        let is_plain = told.starts_with("polls ") && !told.starts_with("polls for ");
        if is_plain { format!("polls {reads}") } else { format!("{told} ({reads})") }
    } else {
        wait.reason.to_string()
    };
    if let Some(since) = wait.since {
        text.push_str(&format!(", since cycle {since}"));
    }
    text
}

/// The same with the agent in front and the place behind.
pub(super) fn wait_text(names: &dyn Names, wait: &AgentWait) -> String {
    let mut text = format!("{:<9} {}", wait.agent.to_string(), wait_words(names, wait));
    text.push_str(&place(names, wait.agent, wait.pc));
    if let Some(word) = wait.word {
        text.push_str(&format!(": {}", isa::disasm::tensix(word)));
    }
    if let Some(held) = wait.held {
        text.push_str(&format!(", holds back {}", isa::disasm::tensix(held.word)));
    }
    text
}

fn register_name(core: CoreId, addr: u32) -> String {
    use memory_map::View;
    let view = match core {
        CoreId::Brisc => View::B,
        CoreId::Trisc0 => View::T0,
        CoreId::Trisc1 => View::T1,
        CoreId::Trisc2 => View::T2,
        CoreId::Ncrisc => View::Nc,
    };
    memory_map::register_name(view, addr).unwrap_or_else(|| format!("{addr:#010x}"))
}
