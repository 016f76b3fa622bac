//! `monitor` commands: what gdb has no words for.

use std::fmt::Write as _;

use loader::plan::CircularBuffer;
use observe::Names;
use sim_core::{AgentId, CoreId, Cycle, ThreadId};
use tensix::RegisterValue;

use crate::gates;
use crate::machine::Machine;
use crate::moment::Turn;
use crate::naming::Naming;
use crate::party::{Party, Seat};
use crate::recording::End;
use crate::shown;
use crate::travel::{Traveller, Watch};
use crate::who::chain::follow;
use crate::who::{self, What};

/// Commands and what they do.
const COMMANDS: &[(&str, &str)] = &[
    ("help", "this list"),
    ("why", "why the session ends as it does, down to the source line"),
    ("when", "the moment, and where it is in the session"),
    (
        "goto CYCLE",
        "go to a cycle, forwards or backwards (then `maintenance flush register-cache`)",
    ),
    ("who WHAT", "who wrote last: 0x1a000, semaphore4, cb0, config12, TRISC1:a0, BRISC:0xffb00010"),
    ("next WHAT", "who writes it next"),
    ("from WHAT [N]", "who wrote it last, and where the value came from, up to N steps back (8)"),
    ("state [PATH]", "registers by name, such as tensix.sync.semaphore4 or noc0"),
    ("dst [ROW]", "rows of Dst in the format in force"),
    ("srca [ROW]", "rows of the bank of SrcA that the matrix unit uses; srcb likewise"),
    ("srcb [ROW]", "of SrcB"),
    ("lreg [N]", "LRegs, lane by lane"),
    ("config NAME", "a field of the configuration in every state, or all that begin so"),
    ("semaphores", "values and maxima of the coprocessor's semaphores"),
    ("cbs", "circular buffers of the launch: pages pushed and popped"),
    ("mailboxes", "words in the mailboxes"),
    ("gates", "who waits for what"),
    ("tensix", "what stands at the wait gates of the Tensix threads, and who pushed it"),
    (
        "break ...",
        "stop at wait gates: [T0|T1|T2] [MNEMONIC] [FILE:LINE|0xPC] [mop N] [replay N]; `tbreak ...` once",
    ),
    ("tbreak ...", "the same, once"),
    ("breaks", "the stops at wait gates"),
    ("delete [N]", "removes such a stop, or all of them"),
    (
        "value WHAT",
        "what the functions of tilescope.py ask for: `dst 3`, `srca 0`, `lreg 1`, `config NAME`",
    ),
    ("tiles", "cores, what they do and where"),
];

/// Stream registers that count pushed and popped pages of a circular buffer
/// `[hdr: hw/inc/internal/circular_buffer_interface.h]`.
const PUSHED: u16 = 10;
const POPPED: u16 = 8;

/// Steps back that `from` goes if nobody says how many, and at most.
const STEPS: usize = 8;
const MOST_STEPS: usize = 64;

/// Explains how a session ends.
type Explainer = Box<dyn FnMut() -> String + Send>;

/// What the commands need to know besides the machine.
pub struct Monitor {
    naming: Naming,
    explain: Explainer,
    explained: Option<String>,
    /// How many stops at wait gates there have been.
    stops: u32,
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor").field("naming", &self.naming).finish_non_exhaustive()
    }
}

impl Monitor {
    /// Commands for a session; `explain` says how it ends and why.
    #[must_use]
    pub fn new(naming: Naming, explain: impl FnMut() -> String + Send + 'static) -> Self {
        Self { naming, explain: Box::new(explain), explained: None, stops: 0 }
    }

    /// The names that hold where a traveller stands.
    fn names_at(&self, traveller: &Traveller) -> Box<dyn Names + '_> {
        let machine = traveller.machine();
        self.naming.at(machine.recording().stage_at(machine.moment().cycle))
    }

    /// A core as gdb lists it. What it does is said of the tile that is looked at: others would have to be
    /// taken there one by one.
    pub(crate) fn thread_name(&self, party: &Party, seat: Seat) -> String {
        let machine = party.recorded(seat.tile);
        let (x, y) = machine.recording().place;
        if seat.tile != party.focus().tile {
            return format!("{x},{y} {}", seat.turn);
        }
        let core = match seat.turn {
            Turn::Core(core) => core,
            Turn::Gate(thread) => return format!("{x},{y} {}", gates::title(party.here(), thread)),
        };
        let status = machine.core(core).status();
        let word = match status {
            riscv::Status::Reset => " in reset",
            riscv::Status::Waiting => " waits",
            riscv::Status::PushBlocked(_) => " waits to push",
            riscv::Status::Faulted => " has erred",
            riscv::Status::Halted => " halted",
            riscv::Status::Running | riscv::Status::Parked(_) => "",
        };
        format!("{x},{y} {core}{word}")
    }

    /// What a gate is about to let through.
    pub(crate) fn passes(&self, party: &Party, thread: ThreadId) -> String {
        let traveller = party.here();
        format!("tilescope: {}", gates::line(traveller, thread, &*self.names_at(traveller)))
    }

    /// Who but a core has changed a watched word in the epoch before.
    pub(crate) fn who_changed(&self, party: &Party, watch: Watch) -> String {
        let traveller = party.here();
        let machine = traveller.machine();
        let found = who::last_before(machine, What::L1(watch.addr & !3), machine.moment());
        match found {
            Ok(Some(written)) => {
                format!("tilescope: {}\n", written.with_names(&*self.names_at(traveller)))
            }
            _ => String::new(),
        }
    }

    /// The answer to a command.
    pub fn answer(&mut self, party: &mut Party, asked: Seat, command: &str) -> String {
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        let traveller = party.tile(asked.tile);
        match name {
            "" | "help" => help(),
            "why" => self.why(),
            "when" => when(traveller),
            "goto" => go_to(party, rest),
            "who" => self.who(traveller, asked.turn.core(), rest, false),
            "next" => self.who(traveller, asked.turn.core(), rest, true),
            "from" => self.came_from(party, asked, rest),
            "state" => state(traveller, rest),
            "dst" => shown::dst(&traveller.machine_mut().registers(), rest),
            "srca" => shown::src(&traveller.machine_mut().registers(), 'a', rest),
            "srcb" => shown::src(&traveller.machine_mut().registers(), 'b', rest),
            "lreg" => shown::lreg(&traveller.machine_mut().registers(), rest),
            "config" => shown::config(&traveller.machine_mut().registers(), rest),
            "semaphores" => semaphores(traveller),
            "cbs" => Self::circular(traveller),
            "mailboxes" => state(traveller, "mailbox"),
            "gates" => self.gates(traveller),
            "tensix" => self.tensix(traveller),
            "break" | "tbreak" => self.add_stop(party, rest, name == "tbreak"),
            "breaks" => gates::list(party),
            "delete" => gates::delete(party, rest),
            "value" => shown::told(&traveller.machine_mut().registers(), rest),
            "tiles" => self.tiles(party),
            _ => {
                let near = COMMANDS.iter().filter(|(known, _)| known.starts_with(name));
                let near: Vec<&str> = near.map(|(known, _)| *known).collect();
                match near.as_slice() {
                    [one] => {
                        let word = one.split(' ').next().unwrap_or(one);
                        self.answer(party, asked, &format!("{word} {rest}"))
                    }
                    [] => format!("{name:?} is no command; `monitor help` lists them\n"),
                    many => format!("{name:?} may be {}\n", many.join(", ")),
                }
            }
        }
    }

    fn why(&mut self) -> String {
        if self.explained.is_none() {
            self.explained = Some((self.explain)());
        }
        self.explained.clone().unwrap_or_default()
    }

    fn who(&self, traveller: &Traveller, asked: CoreId, text: &str, next: bool) -> String {
        // An address of local RAM is the asked core's.
        let what = text.parse::<What>().or_else(|_| format!("{asked}:{text}").parse());
        let what = match what {
            Ok(what) => what,
            Err(error) => return format!("{error}\n"),
        };
        let (machine, names) = (traveller.machine(), self.names_at(traveller));
        let found = if next {
            who::next_after(machine, what, machine.moment())
        } else {
            who::last_before(machine, what, machine.moment())
        };
        match found {
            Ok(Some(written)) => format!("{}\n", written.with_names(&*names)),
            Ok(None) if next => "nobody, up to the end of the session\n".to_owned(),
            Ok(None) => "nobody since power-on\n".to_owned(),
            Err(error) => format!("{error}\n"),
        }
    }

    /// Where a value came from, over all tiles of the party.
    fn came_from(&self, party: &mut Party, asked: Seat, text: &str) -> String {
        let (what, depth) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let depth = match depth.trim() {
            "" => Ok(STEPS),
            number => number.parse::<usize>(),
        };
        let Ok(depth) = depth else { return "from WHAT [N]: N is a number of steps\n".to_owned() };
        let core = asked.turn.core();
        let what = what.parse::<What>().or_else(|_| format!("{core}:{what}").parse());
        let what = match what {
            Ok(what) => what,
            Err(error) => return format!("{error}\n"),
        };
        let at = party.tile(asked.tile).machine().moment();
        let machines: Vec<&Machine> = (0..party.tiles()).map(|tile| party.recorded(tile)).collect();
        match follow(&machines, asked.tile, what, at, depth.min(MOST_STEPS)) {
            Ok(links) => links.iter().map(|link| link.text(&machines, &self.naming)).collect(),
            Err(error) => format!("{error}\n"),
        }
    }

    fn circular(traveller: &Traveller) -> String {
        let machine = traveller.machine();
        let stage = machine.recording().stage_at(machine.moment().cycle);
        let mut text = String::new();
        for CircularBuffer { index, pages, .. } in stage.circular() {
            let count = |register| machine.look(|tile| tile.stream_register(index, register));
            let (pushed, popped) = (count(PUSHED).unwrap_or(0), count(POPPED).unwrap_or(0));
            let _ = writeln!(text, "cb {index:<3} {pages} pages, pushed {pushed}, popped {popped}");
        }
        if text.is_empty() { "no circular buffers here\n".to_owned() } else { text }
    }

    fn gates(&self, traveller: &Traveller) -> String {
        let names = self.names_at(traveller);
        let mut text = String::new();
        for wait in traveller.machine().waits() {
            let _ = write!(text, "{wait}");
            let core = match wait.agent {
                AgentId::Core(core) => Some(core),
                AgentId::Thread(thread) => Some(thread.core()),
                _ => None,
            };
            let place = core.zip(wait.pc).and_then(|(core, pc)| names.code(core, pc));
            if let Some(place) = place {
                let _ = write!(text, ", at {place}");
            }
            if let Some(word) = wait.word {
                let _ = write!(text, ": {}", isa::disasm::tensix(word));
            }
            text.push('\n');
        }
        if text.is_empty() { "nobody waits\n".to_owned() } else { text }
    }

    fn tensix(&self, traveller: &Traveller) -> String {
        let names = self.names_at(traveller);
        ThreadId::ALL.into_iter().map(|thread| gates::line(traveller, thread, &*names)).collect()
    }

    fn add_stop(&mut self, party: &mut Party, text: &str, once: bool) -> String {
        let number = self.stops + 1;
        match gates::add(party, &self.naming, (number, once), text) {
            Ok(told) => {
                self.stops = number;
                told
            }
            Err(told) => told,
        }
    }

    fn tiles(&self, party: &mut Party) -> String {
        let mut text = String::new();
        for seat in party.seats() {
            let name = self.thread_name(party, seat);
            let Turn::Core(core) = seat.turn else { continue };
            let traveller = party.tile(seat.tile);
            let (pc, machine) = (traveller.pc(core), traveller.machine());
            let count = machine.core(core).instructions();
            let place = self.names_at(traveller).code(core, pc);
            let place = place.map_or_else(String::new, |code| code.to_string());
            let _ = writeln!(text, "{name}: pc {pc:#x}, {count} instructions {place}");
        }
        text
    }
}

fn help() -> String {
    COMMANDS.iter().fold(String::new(), |mut text, (name, about)| {
        let _ = writeln!(text, "{name:<14} {about}");
        text
    })
}

fn when(traveller: &Traveller) -> String {
    let machine = traveller.machine();
    let (recording, moment) = (machine.recording(), machine.moment());
    let stage = &recording.stage_at(moment.cycle).name;
    let (snapshots, bytes) = machine.kept();
    let end = match &recording.end {
        End::Mistake(_) => "a mistake".to_owned(),
        other => other.to_string(),
    };
    format!(
        "{moment}, in {stage:?}; the session ends in cycle {} with {end}\n{snapshots} snapshots, {} KiB \
         of L1\n",
        recording.until,
        bytes / 1024
    )
}

fn go_to(party: &mut Party, text: &str) -> String {
    let cycle = match text {
        "end" => Some(party.here().machine().recording().until.0),
        _ => text.replace('_', "").parse().ok(),
    };
    match cycle {
        Some(cycle) => {
            party.go_to(Cycle(cycle));
            when(party.here())
        }
        None => format!("{text:?} is not a cycle\n"),
    }
}

fn state(traveller: &mut Traveller, path: &str) -> String {
    let registers = traveller.machine_mut().registers();
    let found = if path.is_empty() { Some(&registers) } else { registers.find(path) };
    match found {
        Some(register) => {
            let mut text = String::new();
            // All of it is thousands of lines: what has parts is only named then.
            show(register, if path.is_empty() { 1 } else { usize::MAX }, 0, &mut text);
            text
        }
        None => format!("there is no {path:?}; `monitor state` lists what there is\n"),
    }
}

fn show(register: &tensix::Register, depth: usize, indent: usize, text: &mut String) {
    let _ = write!(text, "{:indent$}{}", "", register.name);
    let _ = match &register.value {
        RegisterValue::Number(value) => writeln!(text, " {value:#x}"),
        RegisterValue::Flag(value) => writeln!(text, " {value}"),
        RegisterValue::Text(value) => writeln!(text, " {value}"),
        RegisterValue::Words(words) => writeln!(text, " {words:x?}"),
        RegisterValue::Cells(_) => writeln!(text, " (cells: see `tilescope state`)"),
        RegisterValue::Group(members) => {
            text.push('\n');
            if depth > 0 {
                members.iter().for_each(|member| show(member, depth - 1, indent + 2, text));
            }
            Ok(())
        }
    };
}

fn semaphores(traveller: &mut Traveller) -> String {
    let registers = traveller.machine_mut().registers();
    let mut text = String::new();
    for index in 0..8 {
        let part = |name: &str| {
            let path = format!("tensix.sync.semaphore{index}.{name}");
            match registers.find(&path).map(|register| &register.value) {
                Some(RegisterValue::Number(value)) => *value,
                _ => 0,
            }
        };
        let _ = writeln!(text, "semaphore {index}: {} of {}", part("value"), part("max"));
    }
    text
}
