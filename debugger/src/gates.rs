//! Wait gates for whoever debugs: stops by command, what stands there in words.

use std::fmt::Write as _;

use isa::op::Opcode;
use observe::Names;
use sim_core::observer::Slot;
use sim_core::{CoreId, ThreadId, WaitReason};

use crate::gate::{GateStop, Sites};
use crate::naming::Naming;
use crate::party::Party;
use crate::recording::Recording;
use crate::travel::Traveller;

/// How a stop is asked for.
pub(crate) const USAGE: &str =
    "break [T0|T1|T2] [MNEMONIC] [FILE:LINE|0xPC] [mop N] [replay N]: at least one of them\n";

/// The name of an instruction.
pub(crate) fn mnemonic(word: u32) -> &'static str {
    Opcode::from_word(word).map_or("a word that is no instruction", Opcode::mnemonic)
}

/// Where in an expansion an instruction is, in words that follow its name.
fn place(slot: Slot) -> String {
    let mut text = String::new();
    if slot.mop != 0 {
        let _ = write!(text, ", {} of its MOP", slot.mop);
    }
    if let Some(slot) = slot.replay.checked_sub(1) {
        let _ = write!(text, ", replay slot {slot}");
    }
    text
}

/// A Tensix thread in a few words.
pub(crate) fn title(traveller: &Traveller, thread: ThreadId) -> String {
    let machine = traveller.machine();
    let gate = machine.gate(thread);
    let mut text = thread.to_string();
    match (gate.front, gate.wait) {
        (Some(front), _) => {
            let _ = write!(text, " {}{}", mnemonic(front.word), place(front.slot));
        }
        (None, Some(wait)) => text += &format!(" {}", mnemonic(wait.word)),
        (None, None) => text += " has nothing at its gate",
    }
    let passes = traveller.passing().is_some_and(|passing| passing.thread == thread);
    match gate.wait {
        _ if passes => text += ", passes",
        Some(wait) if wait.reason == WaitReason::WaitGateOccupied => {}
        Some(wait) => {
            let _ = write!(text, ", waits since cycle {}: {}", wait.since, wait.reason);
        }
        None => {}
    }
    text
}

/// A Tensix thread in a line, with its operands and where it was pushed.
pub(crate) fn line(traveller: &Traveller, thread: ThreadId, names: &dyn Names) -> String {
    let gate = traveller.machine().gate(thread);
    let mut text = title(traveller, thread);
    let word = gate.front.map(|front| front.word).or(gate.wait.map(|wait| wait.word));
    if let (Some(word), Some(origin)) = (word, gate.origin()) {
        let _ = write!(text, ": {}, pushed by {} at ", isa::disasm::tensix(word), origin.core);
        let _ = match names.site(origin.core, origin.pc) {
            Some(code) => write!(text, "{code} (pc {:#x})", origin.pc),
            None => write!(text, "pc {:#x}", origin.pc),
        };
    }
    text + "\n"
}

/// Whether a place in the source is in that file, which may be given without its directories.
fn is_in(known: Option<&str>, file: &str) -> bool {
    known.is_some_and(|known| {
        known.strip_suffix(file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    })
}

/// The instructions of kernels that stand in a line or were inlined into it, by part of the session.
fn sites(naming: &Naming, recording: &Recording, file: &str, line: u32) -> Sites {
    let mut sites = Sites::new();
    for stage in &recording.stages {
        let names = naming.at(stage);
        let found = sites.entry(stage.began).or_default();
        for core in CoreId::ALL {
            for pc in names.kernel_code(core).into_iter().flatten().step_by(4) {
                let places = names.code(core, pc).into_iter().chain(names.site(core, pc));
                let mut places = places.chain(names.callers(core, pc));
                if places.any(|code| code.line == Some(line) && is_in(code.file.as_deref(), file)) {
                    found.insert(pc);
                }
            }
        }
    }
    sites
}

fn thread(word: &str) -> Option<ThreadId> {
    ThreadId::ALL.into_iter().find(|thread| thread.to_string().eq_ignore_ascii_case(word))
}

fn address(word: &str) -> Option<u32> {
    u32::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

/// What a stop asks for, but for the line.
fn asked(text: &str) -> Result<(GateStop, Option<(String, u32)>), String> {
    let mut stop = GateStop { text: text.to_owned(), ..GateStop::default() };
    let (mut line, mut words) = (None, text.split_whitespace().peekable());
    words.next_if(|word| word.eq_ignore_ascii_case("tensix"));
    if words.peek().is_none() {
        return Err(USAGE.to_owned());
    }
    while let Some(word) = words.next() {
        let mut number = |what: &str, most: u32| {
            let given = words.next().and_then(|number| number.parse().ok());
            let given = given.filter(|given: &u32| *given <= most);
            given.ok_or_else(|| format!("{what} N: N is a number up to {most}\n"))
        };
        if let Some(thread) = thread(word) {
            stop.thread = Some(thread);
        } else if word.eq_ignore_ascii_case("mop") {
            stop.mop = Some(number("mop", u32::MAX)?);
        } else if word.eq_ignore_ascii_case("replay") {
            stop.replay = Some(number("replay", 31)? as u8);
        } else if let Some(opcode) = Opcode::from_mnemonic(&word.to_uppercase()) {
            stop.opcode = Some(opcode);
        } else if let Some(pc) = address(word) {
            stop.sites = Some([(sim_core::Cycle::ZERO, [pc].into())].into());
        } else if let Some((file, number)) = word.rsplit_once(':')
            && let Ok(number) = number.parse()
        {
            line = Some((file.to_owned(), number));
        } else {
            return Err(format!("{word:?} is no thread, instruction, place or address; {USAGE}"));
        }
    }
    Ok((stop, line))
}

/// Sets a stop in all tiles, and says so.
pub(crate) fn add(
    party: &mut Party,
    naming: &Naming,
    (number, once): (u32, bool),
    text: &str,
) -> Result<String, String> {
    let (stop, line) = asked(text)?;
    let stop = GateStop { number, once, ..stop };
    let mut count = 0;
    for tile in 0..party.tiles() {
        let mut stop = stop.clone();
        if let Some((file, line)) = &line {
            let found = sites(naming, party.recorded(tile).recording(), file, *line);
            count += found.values().map(std::collections::BTreeSet::len).sum::<usize>();
            stop.sites = Some(found);
        }
        party.add_gate_stop(tile, stop);
    }
    if let Some((file, line)) = line
        && count == 0
    {
        party.retain_gate_stops(|stop| stop.number != number);
        return Err(format!("no instruction of a kernel is at {file}:{line}\n"));
    }
    Ok(format!("stop {stop}\n"))
}

/// Removes a stop, or all of them, and says so.
pub(crate) fn delete(party: &mut Party, text: &str) -> String {
    match text.parse::<u32>() {
        _ if text.is_empty() => {
            party.retain_gate_stops(|_| false);
            "no more stops at wait gates\n".to_owned()
        }
        Ok(number) if party.gate_stops().iter().any(|stop| stop.number == number) => {
            party.retain_gate_stops(|stop| stop.number != number);
            String::new()
        }
        _ => format!("there is no stop {text} at a wait gate; `monitor breaks` lists them\n"),
    }
}

/// The stops there are.
pub(crate) fn list(party: &Party) -> String {
    let stops: String = party.gate_stops().iter().map(|stop| format!("{stop}\n")).collect();
    if stops.is_empty() { "no stops at wait gates\n".to_owned() } else { stops }
}
