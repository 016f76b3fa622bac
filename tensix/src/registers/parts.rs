//! The parts of the tree: one function per unit or kind of register.

use isa::config::{ALL, ConfigField, Scope};
use sim_core::ThreadId;

use super::Register;
use crate::frontend::replay::Mode;
use crate::frontend::{Frontend, MopState};
use crate::gate::ThreadWait;
use crate::occupancy::Occupancy;
use crate::state::adc::{Channel, Counter, ThreadAdcs};
use crate::state::rwc::Rwc;
use crate::units::mover::Mover;
use crate::units::packer::Packer;
use crate::units::packer::output::Stream;
use crate::units::scalar::ScalarUnit;
use crate::units::sync::SyncUnit;
use crate::units::unpacker::Unpackers;
use crate::units::vector::{LoadMacro, VectorUnit};

pub(super) fn wait(wait: Option<ThreadWait>) -> Vec<Register> {
    let reason = wait.map_or("none".to_owned(), |wait| wait.reason.to_string());
    let word = wait.map_or(0, |wait| wait.word);
    vec![
        Register::text("reason", reason),
        Register::number("instruction", word),
        Register::number("since", wait.map_or(0, |wait| wait.since.0)),
    ]
}

pub(super) fn sync(sync: &SyncUnit) -> Register {
    let semaphores = sync.semaphores.iter().enumerate().map(|(index, semaphore)| {
        let members =
            [Register::number("value", semaphore.value), Register::number("max", semaphore.max)];
        Register::group(format!("semaphore{index}"), members)
    });
    // Slot 1 does not exist.
    let mutexes = [0, 2, 3, 4].into_iter().map(|index| {
        let holder =
            sync.mutexes[index].holder.map_or("nobody".to_owned(), |holder| holder.to_string());
        Register::text(format!("mutex{index}"), holder)
    });
    Register::group("sync", semaphores.chain(mutexes))
}

pub(super) fn vector(vector: &VectorUnit) -> Register {
    let file = vector.file();
    let lregs = file
        .lregs()
        .iter()
        .enumerate()
        .map(|(index, lanes)| Register::words(format!("lreg{index}"), lanes.iter().copied()));
    let predicate = file.predicate();
    let levels = predicate.stack.iter().enumerate().map(|(index, level)| {
        let members = [
            Register::number("present", level.present),
            Register::number("lane_flags", level.flags & level.present),
            Register::number("use_lane_flags", level.used & level.present),
        ];
        Register::group(format!("level{index}"), members)
    });
    let macros = file.load_macro();
    let one =
        |name: String, of: &dyn Fn(&LoadMacro) -> u32| Register::words(name, macros.iter().map(of));
    let load_macro = (0..4)
        .flat_map(|index| {
            [
                one(format!("template{index}"), &|lane| lane.templates[index]),
                one(format!("sequence{index}"), &|lane| lane.sequences[index]),
            ]
        })
        .chain([one("misc".to_owned(), &|lane| u32::from(lane.misc))]);
    let state = [
        Register::number("lane_flags", predicate.flags),
        Register::number("use_lane_flags", predicate.used),
        Register::number("lane_enabled", file.enabled()),
        Register::group("cc_stack", levels),
        Register::words("lane_config", *file.lane_config()),
        Register::words("prng", *file.prng()),
        Register::words("stack_pointers", vector.stack_pointers().map(u32::from)),
        Register::group("load_macro", load_macro),
        Register::flag("load_macro_active", vector.is_active()),
    ];
    Register::group("vector", state.into_iter().chain(lregs))
}

pub(super) fn unpackers(unpackers: &Unpackers) -> Register {
    let threads = ThreadId::ALL.map(ThreadId::index);
    let one = |(index, name)| {
        let rows = threads.map(|thread| u32::from(unpackers.src_row(index, thread)));
        let contexts = threads.map(|thread| u32::from(unpackers.context_counter(index, thread)));
        let members = [
            Register::words("src_row", rows),
            Register::words("context_counter", contexts),
            Register::number("register_accumulator", unpackers.register_accumulator(index)),
            Register::number("held_format", unpackers.held_format(index)),
        ];
        Register::group(name, members)
    };
    Register::group("unpackers", ["unpacker0", "unpacker1"].into_iter().enumerate().map(one))
}

pub(super) fn packer(packer: &Packer) -> Register {
    let report = &packer.tile;
    let progress = [
        Register::number("tile_size", report.size),
        Register::number("datums", packer.datums),
        Register::number("datums_in_block", packer.blocked),
        Register::number("tile_position_inner", packer.position.inner),
        Register::number("tile_position_outer", packer.position.outer),
        Register::number("context", packer.context),
        Register::number("planes", packer.planes),
        Register::number("register_value", packer.register_value),
        Register::number("dest_offset", report.dest_offset),
        stream("row_starts", &packer.streams.row_starts),
        stream("exponents", &packer.streams.exponents),
        stream("data", &packer.streams.data),
    ];
    let reports = [
        Register::number("last_tile_size", report.last_size),
        Register::number("last_thread", report.last_thread),
        Register::words("acc_tile_size", report.accumulated.map(u32::from)),
        Register::number("all_zero_flags", report.all_zero),
        Register::words("exponent_histogram", packer.histogram.bins.map(u32::from)),
        Register::number("max_exponent", packer.histogram.max),
        Register::words("dither", packer.dither.0),
    ];
    Register::group("packer", progress.into_iter().chain(reports))
}

pub(super) fn mover(mover: &Mover) -> Register {
    let commands = mover.commands().enumerate().map(|(index, command)| {
        let members = [
            Register::number("word", command.word),
            Register::words("parameters", command.parameters),
            Register::number("base", command.base),
        ];
        Register::group(format!("command{index}"), members)
    });
    let free = Register::number("free_at_cycle", mover.free_at().0);
    Register::group("mover", std::iter::once(free).chain(commands))
}

/// Instructions that occupy units; none in the unit timing model, where all end at once.
pub(super) fn occupied(soft_reset: u32, occupancy: &Occupancy) -> Register {
    let executing = occupancy.in_flight().iter().map(|entry| {
        let word = isa::disasm::tensix(entry.issued.word);
        format!("{} {word} until {}", entry.issued.thread, entry.done)
    });
    let executing = executing
        .enumerate()
        .map(|(index, text)| Register::text(format!("executing{index}"), text));
    let soft_reset = Register::number("soft_reset", soft_reset);
    Register::group("units", std::iter::once(soft_reset).chain(executing))
}

pub(super) fn scalar(scalar: &ScalarUnit) -> Register {
    let outstanding = scalar.outstanding.map(u32::from);
    let blocking = scalar.blocking.as_ref();
    Register::group(
        "scalar",
        [
            Register::words("outstanding", outstanding),
            Register::text(
                "occupied_by",
                blocking.map_or("nothing".to_owned(), |blocking| {
                    format!("{} {}", blocking.issued.thread, blocking.opcode.mnemonic())
                }),
            ),
        ],
    )
}

/// The fields of one array of configuration words.
pub(super) fn fields(scope: Scope, words: &[u32]) -> Vec<Register> {
    let of_array = |field: &&ConfigField| field.scope == scope;
    ALL.iter().filter(of_array).map(|field| config_field(field, words)).collect()
}

fn config_field(field: &ConfigField, words: &[u32]) -> Register {
    if field.width <= 32 {
        return Register::number(field.name, field.get(words));
    }
    let range = field.addr32 as usize..=field.last_word() as usize;
    Register::words(field.name, words.get(range).unwrap_or_default().iter().copied())
}

/// One output stream of the packer.
fn stream(name: &'static str, stream: &Stream) -> Register {
    let words = stream
        .buffer
        .chunks_exact(4)
        .map(|bytes| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)));
    let members = [
        Register::number("address", stream.address),
        Register::flag("needs_address", stream.needs_address),
        Register::number("buffered_bytes", stream.buffered),
        Register::words("buffer", words),
    ];
    Register::group(name, members)
}

pub(super) fn frontend(frontend: &Frontend) -> Vec<Register> {
    let words = |name, queue: &mut dyn Iterator<Item = u32>| Register::words(name, queue);
    let emitted = match &frontend.mop {
        MopState::Expanding { emitted, .. } => *emitted,
        MopState::Idle => 0,
    };
    vec![
        words("before_mop", &mut frontend.first.iter().map(|entry| entry.word())),
        words("before_replay", &mut frontend.second.iter().map(|entry| entry.word())),
        words("before_wait_gate", &mut frontend.third.iter().map(|entry| entry.word())),
        Register::words("mop_config", frontend.mop_config),
        Register::number("mop_mask_high", frontend.mask_high),
        Register::flag("mop_expanding", matches!(frontend.mop, MopState::Expanding { .. })),
        Register::number("mop_emitted", emitted),
        Register::words("replay_buffer", frontend.replay.buffer),
        Register::text("replay_mode", replay(frontend.replay.mode)),
        Register::number(
            "latched_wait",
            frontend.gate.latch.as_ref().map_or(0, |latch| latch.word),
        ),
    ]
}

/// What a replay expander does.
fn replay(mode: Mode) -> String {
    match mode {
        Mode::Pass => "pass".to_owned(),
        Mode::Record { index, left, execute } => {
            let how = if execute { "record and execute" } else { "record" };
            format!("{how} {left} more from slot {index}")
        }
        Mode::Play { index, left, .. } => format!("play {left} more from slot {index}"),
    }
}

pub(super) fn adcs(adcs: &ThreadAdcs) -> Vec<Register> {
    let counter = |name: &'static str, copy: &'static str, counter: Counter| {
        [Register::number(name, counter.value), Register::number(copy, counter.cr)]
    };
    let channel = |channel: &Channel| {
        let Channel { x, y, z, w } = *channel;
        [("x", "x_cr", x), ("y", "y_cr", y), ("z", "z_cr", z), ("w", "w_cr", w)]
            .into_iter()
            .flat_map(move |(name, copy, value)| counter(name, copy, value))
    };
    let names = ["unpacker0", "unpacker1", "packers"];
    let set = |(name, adc): (&'static str, &[Channel; 2])| {
        let channels = ["channel0", "channel1"].into_iter().zip(adc);
        Register::group(name, channels.map(|(name, state)| Register::group(name, channel(state))))
    };
    names.into_iter().zip(&adcs.0).map(set).collect()
}

pub(super) fn rwcs(rwc: &Rwc) -> Vec<Register> {
    vec![
        Register::number("src_a", rwc.src_a),
        Register::number("src_a_cr", rwc.src_a_cr),
        Register::number("src_b", rwc.src_b),
        Register::number("src_b_cr", rwc.src_b_cr),
        Register::number("dst", rwc.dst),
        Register::number("dst_cr", rwc.dst_cr),
        Register::number("fidelity_phase", rwc.fidelity),
        Register::number("bias", rwc.bias),
        Register::number("bias_cr", rwc.bias_cr),
    ]
}
