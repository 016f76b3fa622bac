//! The whole architectural state by name, for whoever wants to look at it.
//!
//! A plain tree that owns its data: it is built on request and costs nothing otherwise. Fields of
//! the configuration have the vendor's names ([`isa::config`]); everything else has the names of
//! the ISA documentation in lower case.

use std::borrow::Cow;

use isa::config::{ALL, ConfigField, Scope};
use sim_core::ThreadId;

use crate::coprocessor::Coprocessor;
use crate::frontend::{Frontend, MopState};
use crate::state::adc::{Channel, Counter, ThreadAdcs};
use crate::state::rwc::Rwc;
use crate::state::src::SrcBanks;

/// A named part of the state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// Its name within its group.
    pub name: Cow<'static, str>,
    /// What it holds.
    pub value: RegisterValue,
}

/// What a register holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegisterValue {
    /// A number, zero-extended.
    Number(u64),
    /// A truth value.
    Flag(bool),
    /// A symbol, such as the holder of a mutex.
    Text(Cow<'static, str>),
    /// Equal elements in order: lanes, slots of a queue, words of a long field.
    Words(Vec<u32>),
    /// Parts with names of their own.
    Group(Vec<Register>),
}

impl Register {
    fn new(name: impl Into<Cow<'static, str>>, value: RegisterValue) -> Self {
        Self { name: name.into(), value }
    }

    fn number(name: impl Into<Cow<'static, str>>, value: impl Into<u64>) -> Self {
        Self::new(name, RegisterValue::Number(value.into()))
    }

    fn flag(name: &'static str, value: bool) -> Self {
        Self::new(name, RegisterValue::Flag(value))
    }

    fn text(name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, RegisterValue::Text(value.into()))
    }

    fn words(name: impl Into<Cow<'static, str>>, value: impl IntoIterator<Item = u32>) -> Self {
        Self::new(name, RegisterValue::Words(value.into_iter().collect()))
    }

    fn group(
        name: impl Into<Cow<'static, str>>,
        members: impl IntoIterator<Item = Register>,
    ) -> Self {
        Self::new(name, RegisterValue::Group(members.into_iter().collect()))
    }

    /// The part at a path of names with dots in between, such as `adc.T0.unpacker0.channel1.y`.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&Register> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
        let RegisterValue::Group(members) = &self.value else { return None };
        let member = members.iter().find(|member| member.name == first)?;
        match rest {
            Some(rest) => member.find(rest),
            None => Some(member),
        }
    }
}

/// One group per thread, named as threads are.
fn per_thread(name: &'static str, members: impl Fn(ThreadId) -> Vec<Register>) -> Register {
    Register::group(
        name,
        ThreadId::ALL.map(|thread| Register::group(thread.to_string(), members(thread))),
    )
}

impl Coprocessor {
    /// The whole state as a tree. SrcA, SrcB and Dst are there as ownership and validity only.
    #[must_use]
    pub fn registers(&self) -> Register {
        let backend = &self.backend;
        let config = &backend.config;
        Register::group(
            "tensix",
            [
                per_thread("frontend", |thread| frontend(&self.threads[thread.index()])),
                per_thread("wait", |thread| self.wait(thread)),
                Register::group(
                    "config",
                    config.states.iter().enumerate().map(|(state, words)| {
                        Register::group(format!("state{state}"), fields(Scope::Config, words))
                    }),
                ),
                per_thread("thread_config", |thread| {
                    let words = config.threads[thread.index()].map(u32::from);
                    fields(Scope::Thread, &words)
                }),
                per_thread("gpr", |thread| {
                    let gprs = &backend.scalar.gprs[thread.index()];
                    let named = gprs.iter().enumerate();
                    named.map(|(i, &value)| Register::number(format!("r{i}"), value)).collect()
                }),
                per_thread("adc", |thread| adcs(&backend.adcs[thread.index()])),
                per_thread("rwc", |thread| rwcs(&backend.matrix.rwcs[thread.index()])),
                Register::group(
                    "src",
                    ["a", "b"].into_iter().zip(&backend.src).map(|(name, banks)| src(name, banks)),
                ),
                self.sync_registers(),
                self.vector_registers(),
                self.scalar_registers(),
                self.unpacker_registers(),
                self.packer_registers(),
                Register::words(
                    "dst_valid",
                    backend
                        .matrix
                        .dst
                        .valid
                        .iter()
                        .flat_map(|&rows| [rows as u32, (rows >> 32) as u32]),
                ),
            ],
        )
    }

    fn wait(&self, thread: ThreadId) -> Vec<Register> {
        let wait = self.wait_state(thread);
        let reason = wait.map_or("none".to_owned(), |wait| wait.reason.to_string());
        let word = wait.map_or(0, |wait| wait.word);
        vec![
            Register::text("reason", reason),
            Register::number("instruction", word),
            Register::number("since", wait.map_or(0, |wait| wait.since.0)),
        ]
    }

    fn sync_registers(&self) -> Register {
        let sync = &self.backend.sync;
        let semaphores = sync.semaphores.iter().enumerate().map(|(index, semaphore)| {
            let members = [
                Register::number("value", semaphore.value),
                Register::number("max", semaphore.max),
            ];
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

    fn vector_registers(&self) -> Register {
        let vector = &self.backend.vector;
        let lregs =
            vector.lregs.iter().enumerate().map(|(index, lanes)| {
                Register::words(format!("lreg{index}"), lanes.iter().copied())
            });
        let state = [
            Register::number("lane_flags", vector.predicate.flags),
            Register::number("use_lane_flags", vector.predicate.used),
            Register::number("lane_enabled", vector.enabled()),
            Register::words("lane_config", vector.lane_config),
        ];
        Register::group("vector", state.into_iter().chain(lregs))
    }

    fn unpacker_registers(&self) -> Register {
        let unpackers = &self.backend.unpackers;
        let threads = ThreadId::ALL.map(ThreadId::index);
        let one = |(index, name)| {
            let rows = threads.map(|thread| u32::from(unpackers.src_row(index, thread)));
            let contexts =
                threads.map(|thread| u32::from(unpackers.context_counter(index, thread)));
            let members =
                [Register::words("src_row", rows), Register::words("context_counter", contexts)];
            Register::group(name, members)
        };
        Register::group("unpackers", ["unpacker0", "unpacker1"].into_iter().enumerate().map(one))
    }

    fn packer_registers(&self) -> Register {
        let packer = &self.backend.packer;
        let report = &packer.tile;
        Register::group(
            "packer",
            [
                Register::number("last_tile_size", report.last_size),
                Register::number("last_thread", report.last_thread),
                Register::words("acc_tile_size", report.accumulated.map(u32::from)),
                Register::number("all_zero_flags", report.all_zero),
                Register::words("exponent_histogram", packer.histogram.bins.map(u32::from)),
                Register::number("max_exponent", packer.histogram.max),
            ],
        )
    }

    fn scalar_registers(&self) -> Register {
        let backend = &self.backend;
        let outstanding = backend.scalar.outstanding.map(u32::from);
        let blocking = backend.scalar.blocking.as_ref();
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
                Register::flag("mover_has_commands", backend.mover.has_commands()),
                Register::number("soft_reset", backend.held),
            ],
        )
    }
}

/// The fields of one array of configuration words.
fn fields(scope: Scope, words: &[u32]) -> Vec<Register> {
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

fn frontend(frontend: &Frontend) -> Vec<Register> {
    let words = |name, queue: &mut dyn Iterator<Item = u32>| Register::words(name, queue);
    vec![
        words("before_mop", &mut frontend.first.iter().map(|entry| entry.word())),
        words("before_replay", &mut frontend.second.iter().map(|entry| entry.word())),
        words("before_wait_gate", &mut frontend.third.iter().map(|entry| entry.word())),
        Register::words("mop_config", frontend.mop_config),
        Register::number("mop_mask_high", frontend.mask_high),
        Register::flag("mop_expanding", matches!(frontend.mop, MopState::Expanding { .. })),
        Register::words("replay_buffer", frontend.replay.buffer),
        Register::flag("replay_playing", frontend.replay.is_playing()),
        Register::number(
            "latched_wait",
            frontend.gate.latch.as_ref().map_or(0, |latch| latch.word),
        ),
    ]
}

fn adcs(adcs: &ThreadAdcs) -> Vec<Register> {
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

fn rwcs(rwc: &Rwc) -> Vec<Register> {
    vec![
        Register::number("src_a", rwc.src_a),
        Register::number("src_a_cr", rwc.src_a_cr),
        Register::number("src_b", rwc.src_b),
        Register::number("src_b_cr", rwc.src_b_cr),
        Register::number("dst", rwc.dst),
        Register::number("dst_cr", rwc.dst_cr),
        Register::number("fidelity_phase", rwc.fidelity),
    ]
}

fn src(name: &'static str, banks: &SrcBanks) -> Register {
    let client = |matrix: bool| if matrix { "matrix unit" } else { "unpackers" };
    Register::group(
        name,
        [
            Register::text("bank0_client", client(banks.owned_by_matrix[0])),
            Register::text("bank1_client", client(banks.owned_by_matrix[1])),
            Register::number("unpacker_bank", banks.unpacker_bank),
            Register::number("matrix_bank", banks.matrix_bank),
            Register::words("implied_format", banks.implied_format.map(u32::from)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::TimingModel;

    #[test]
    fn fields_and_counters_are_found_by_their_names() {
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        // Words and bits of [hdr: cfg_defines.h]: ALU_FORMAT_SPEC_REG2_Dstacc is word 1, 28:25.
        tensix.backend.config.states[1][1] = 9 << 25;
        tensix.backend.config.threads[2][5] = 3;
        tensix.backend.adcs[1].0[2][0].y.cr = 77;
        tensix.backend.sync.semaphores[4].value = 3;
        tensix.backend.scalar.gprs[0][63] = 5;
        let tree = tensix.registers();
        for (path, value) in [
            ("config.state1.ALU_FORMAT_SPEC_REG2_Dstacc", 9),
            ("config.state0.ALU_FORMAT_SPEC_REG2_Dstacc", 0),
            ("thread_config.T2.SRCA_SET_Base", 3),
            ("adc.T1.packers.channel0.y_cr", 77),
            ("sync.semaphore4.value", 3),
            ("gpr.T0.r63", 5),
        ] {
            let found = tree.find(path).map(|register| &register.value);
            assert_eq!(found, Some(&RegisterValue::Number(value)), "{path}");
        }
        assert_eq!(tree.find("sync.mutex1"), None);
        assert_eq!(tree.find("config.state0.NO_SUCH_FIELD"), None);
    }

    #[test]
    fn names_within_a_group_are_unique() {
        fn check(register: &Register) {
            let RegisterValue::Group(members) = &register.value else { return };
            let mut names: Vec<_> = members.iter().map(|member| &member.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "in {}", register.name);
            members.iter().for_each(check);
        }
        check(&Coprocessor::new(TimingModel::Unit).registers());
    }
}
