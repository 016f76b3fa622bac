//! The whole architectural state by name, for whoever wants to look at it.
//!
//! A plain tree that owns its data: it is built on request and costs nothing otherwise. Fields of
//! the configuration have the vendor's names ([`isa::config`]); everything else has the names of
//! the ISA documentation in lower case.

use std::borrow::Cow;

use isa::config::Scope;
use sim_core::ThreadId;

use crate::backend::Backend;
use crate::frontend::Frontend;
use crate::gate::ThreadWait;
use parts::{adcs, fields, frontend, rwcs};

mod cells;
mod parts;

pub use cells::{CellFormat, CellKind, CellRow, CellValue, Cells};

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
    /// Rows of SrcA, SrcB or Dst.
    Cells(Cells),
    /// Parts with names of their own.
    Group(Vec<Register>),
}

impl Register {
    /// A part with any value.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, value: RegisterValue) -> Self {
        Self { name: name.into(), value }
    }

    /// A number.
    #[must_use]
    pub fn number(name: impl Into<Cow<'static, str>>, value: impl Into<u64>) -> Self {
        Self::new(name, RegisterValue::Number(value.into()))
    }

    /// A truth value.
    #[must_use]
    pub fn flag(name: &'static str, value: bool) -> Self {
        Self::new(name, RegisterValue::Flag(value))
    }

    /// A symbol.
    #[must_use]
    pub fn text(name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, RegisterValue::Text(value.into()))
    }

    /// Equal elements.
    #[must_use]
    pub fn words(name: impl Into<Cow<'static, str>>, value: impl IntoIterator<Item = u32>) -> Self {
        Self::new(name, RegisterValue::Words(value.into_iter().collect()))
    }

    /// Parts with names of their own.
    #[must_use]
    pub fn group(
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

/// The whole state as a tree; `wait` says what a thread waits for.
pub(crate) fn tree(
    threads: &[Frontend; 3],
    backend: &Backend,
    wait: impl Fn(ThreadId) -> Option<ThreadWait>,
) -> Register {
    let config = &backend.config;
    Register::group(
        "tensix",
        [
            per_thread("frontend", |thread| frontend(&threads[thread.index()])),
            per_thread("wait", |thread| parts::wait(wait(thread))),
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
            parts::sync(&backend.sync),
            parts::vector(&backend.vector),
            parts::scalar(&backend.scalar),
            parts::mover(&backend.mover),
            parts::unpackers(&backend.unpackers),
            parts::packer(&backend.packer),
            parts::occupied(backend.held, &backend.occupancy),
            cells::src_banks(&backend.src),
            cells::dst(config, &backend.matrix.dst),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coprocessor;
    use crate::timing::TimingModel;

    #[test]
    fn fields_and_counters_are_found_by_their_names() {
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        // Words and bits of [hdr: cfg_defines.h]: ALU_FORMAT_SPEC_REG2_Dstacc is word 1, 28:25.
        tensix.backend.config.states[1][1] = 9 << 25;
        tensix.backend.config.threads[2][5] = 3;
        tensix.backend.adcs[1].0[2][0].y.cr = 77;
        tensix.set_semaphore(4, 3);
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

    fn cells<'a>(tree: &'a Register, path: &str) -> &'a Cells {
        let found = tree.find(path).map(|register| &register.value);
        let Some(RegisterValue::Cells(cells)) = found else { panic!("no cells at {path}") };
        cells
    }

    #[test]
    fn contents_of_src_and_dst_are_shown_with_the_format_in_force() {
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        // [spec: numerics 1.2, 1.3]: 1.5 as a TF32 cell and as a stored BF16.
        tensix.backend.src[1].cells[1][63][15] = 0x1FE00;
        tensix.backend.src[1].implied_format[1] = 4;
        tensix.backend.matrix.dst.cells[3][2] = 0x407F;
        tensix.backend.matrix.dst.invalidate(5);
        let tree = tensix.registers();
        let bank = cells(&tree, "src.b.bank1");
        assert_eq!((bank.kind, bank.format), (CellKind::Src, CellFormat::Tf32));
        assert_eq!(bank.rows[63].cells[15], 0x1FE00);
        let value = bank.format.value(bank.kind, bank.rows[63].cells[15]);
        assert_eq!(value, CellValue::Float(0x3FC0_0000));
        let half = cells(&tree, "dst.rows16");
        assert_eq!((half.format, half.rows.len()), (CellFormat::Bf16, 1024));
        assert!(half.in_force && half.rows[3].valid && !half.rows[5].valid);
        let value = half.format.value(half.kind, half.rows[3].cells[2]);
        assert_eq!(value, CellValue::Float(0x3FC0_0000));
        let wide = cells(&tree, "dst.rows32");
        assert_eq!((wide.rows.len(), wide.in_force), (512, false));
        assert_eq!(wide.rows[3].cells[2], 0x407F_0000);
    }
}
