//! Loops that wait by the wall clock: how many rounds will be like the one that is foreseen.
//!
//! Software waits a while by reading the clock until it shows enough. In such a loop every round
//! differs from the one before, but only by what the clock showed; and that is known beforehand. So
//! for one round each register is classed by how its value changes from round to round: not at
//! all, as the clock rises or falls, or in a way that is not followed. Where a changing value is
//! compared, the outcome stays until the value passes one of a few others; until the first of
//! those cycles all rounds take the same way, and a core may be parked ([`crate::park`]).
//!
//! It errs on the side of fewer rounds: values that are not followed must not decide anything, and no
//! register that changes may be handed from one round to the next.
//!
//! What the words of the clock show: `[isa-wh: TensixTile/DebugTimestamper.md]`.

use memory_map::reg::tile_control;
use sim_core::Width;

use crate::op::{Kind, Op, REGISTERS, SINK};
use crate::poll::flow::operands;

/// What a word of the wall clock shows in a cycle; `None`: that is no word of it.
/// `WALL_CLOCK_H` shows what the last read of `WALL_CLOCK_L` latched: it must have been in the same
/// era, of 2^32 cycles.
pub(crate) fn clock_word(addr: u32, width: Width, cycle: u64) -> Option<u32> {
    match (addr, width) {
        (tile_control::WALL_CLOCK_L, Width::Word) => Some(low(cycle)),
        (tile_control::WALL_CLOCK_1 | tile_control::WALL_CLOCK_H, Width::Word) => Some(era(cycle)),
        _ => None,
    }
}

/// The low half of the clock.
const fn low(cycle: u64) -> u32 {
    (cycle & 0xFFFF_FFFF) as u32
}

/// The high half of the clock.
pub(crate) const fn era(cycle: u64) -> u32 {
    (cycle >> 32) as u32
}

/// How a register's value changes from round to round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trend {
    /// Not at all.
    Fixed,
    /// It grows by the length of a round, modulo 2^32.
    Rising,
    /// It shrinks by the length of a round, modulo 2^32.
    Falling,
    /// Not known.
    Unclear,
}

/// A value in the foreseen round, and in the others.
type Course = (u32, Trend);

/// The courses of all registers through one round.
pub(super) struct ClockFlow {
    trends: [Trend; REGISTERS],
    /// Registers that were read before they were written, and those that were written; bit *r* is `x`*r*.
    handed_on: u32,
    written: u32,
    /// Cycles for which every comparison certainly comes out the same.
    steady: u64,
}

impl ClockFlow {
    pub(super) fn new() -> Self {
        Self { trends: [Trend::Fixed; REGISTERS], handed_on: 0, written: 0, steady: u64::MAX }
    }

    /// Goes past an instruction that is about to be executed in that cycle. `false`: what it does may
    /// be different in another round.
    pub(super) fn pass(&mut self, op: Op, x: &[u32], cycle: u64) -> bool {
        let immediate = (op.imm, Trend::Fixed);
        let trend = match op.kind {
            Kind::LoadImmediate | Kind::Jal => Trend::Fixed,
            Kind::Fence => return true,
            Kind::Addi => self.read(op.rs1, x).1,
            Kind::Add => sum(self.read(op.rs1, x).1, self.read(op.rs2, x).1),
            Kind::Sub => sum(self.read(op.rs1, x).1, opposite(self.read(op.rs2, x).1)),
            Kind::Slt | Kind::Sltu => {
                let (left, right) = (self.read(op.rs1, x), self.read(op.rs2, x));
                self.compare(left, right)
            }
            Kind::Slti | Kind::Sltiu => {
                let left = self.read(op.rs1, x);
                self.compare(left, immediate)
            }
            Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu => {
                let (left, right) = (self.read(op.rs1, x), self.read(op.rs2, x));
                return self.compare(left, right) == Trend::Fixed;
            }
            Kind::Lb | Kind::Lh | Kind::Lw | Kind::Lbu | Kind::Lhu | Kind::Jalr => {
                let (base, trend) = self.read(op.rs1, x);
                if trend != Trend::Fixed {
                    return false;
                }
                let addr = base.wrapping_add(op.imm);
                if op.kind == Kind::Lw { self.look(addr, cycle) } else { Trend::Fixed }
            }
            // What is stored is there already, in this round and in the others.
            Kind::Sb | Kind::Sh | Kind::Sw => {
                let (base, value) = (self.read(op.rs1, x).1, self.read(op.rs2, x).1);
                return (base, value) == (Trend::Fixed, Trend::Fixed);
            }
            kind if operands(kind) == Some(1) => unclear_if_moving(self.read(op.rs1, x).1),
            // Whatever it is, of values that stay it makes one that stays.
            _ => match (self.read(op.rs1, x).1, self.read(op.rs2, x).1) {
                (Trend::Fixed, other) => unclear_if_moving(other),
                _ => Trend::Unclear,
            },
        };
        if op.rd < SINK {
            self.trends[usize::from(op.rd)] = trend;
            self.written |= 1 << op.rd;
        }
        true
    }

    fn read(&mut self, register: u8, x: &[u32]) -> Course {
        let register = register & 31;
        self.handed_on |= 1 << register & !self.written;
        (x[usize::from(register)], self.trends[usize::from(register)])
    }

    /// A load of a word.
    fn look(&mut self, addr: u32, cycle: u64) -> Trend {
        if clock_word(addr, Width::Word, cycle).is_none() {
            return Trend::Fixed;
        }
        // Nothing is said of the next era.
        self.keep(low(cycle), &[0]);
        if addr == tile_control::WALL_CLOCK_L { Trend::Rising } else { Trend::Fixed }
    }

    /// A comparison of any kind: the outcome, a value like any other.
    fn compare(&mut self, left: Course, right: Course) -> Trend {
        match (left.1, right.1) {
            (Trend::Fixed, Trend::Fixed) => {}
            (Trend::Unclear, _) | (_, Trend::Unclear) => return Trend::Unclear,
            (_, Trend::Fixed) => self.keep_course(left, right.0),
            (Trend::Fixed, _) => self.keep_course(right, left.0),
            // Their difference stays, but for the ends of the range.
            (one, other) if one == other => {
                self.keep_course(left, 0);
                self.keep_course(right, 0);
            }
            _ => return Trend::Unclear,
        }
        Trend::Fixed
    }

    /// The value is compared with that one: less, equal or greater, with or without sign.
    fn keep_course(&mut self, (value, trend): Course, with: u32) {
        const LEAST: u32 = i32::MIN.cast_unsigned();
        if trend == Trend::Rising {
            self.keep(value, &[with, with.wrapping_add(1), 0, LEAST]);
        } else {
            // Turned round it rises, and passes what is one below.
            let marks = [with, with.wrapping_sub(1), u32::MAX, LEAST - 1];
            self.keep(!value, &marks.map(|mark| !mark));
        }
    }

    /// Nothing changes before a value that rises comes to one of the marks.
    fn keep(&mut self, value: u32, marks: &[u32]) {
        for &mark in marks {
            let left = mark.wrapping_sub(value);
            self.steady = self.steady.min(if left == 0 { 1 << 32 } else { u64::from(left) });
        }
    }

    /// How many rounds of that many cycles take the same way, this one included; the registers before
    /// and after it are given. `None`: a register that changes is handed on.
    pub(super) fn rounds(&self, before: &[u32], after: &[u32], period: u64) -> Option<u64> {
        let stays = |register: usize| {
            self.trends[register] == Trend::Fixed && before[register] == after[register]
        };
        let hands_on = |register: usize| self.handed_on >> register & 1 != 0;
        (1..32)
            .all(|register| stays(register) || !hands_on(register))
            .then(|| self.steady.div_ceil(period))
    }
}

fn unclear_if_moving(trend: Trend) -> Trend {
    if trend == Trend::Fixed { trend } else { Trend::Unclear }
}

fn opposite(trend: Trend) -> Trend {
    match trend {
        Trend::Rising => Trend::Falling,
        Trend::Falling => Trend::Rising,
        other => other,
    }
}

fn sum(one: Trend, other: Trend) -> Trend {
    match (one, other) {
        (Trend::Fixed, trend) | (trend, Trend::Fixed) => trend,
        (Trend::Rising, Trend::Falling) | (Trend::Falling, Trend::Rising) => Trend::Fixed,
        _ => Trend::Unclear,
    }
}
