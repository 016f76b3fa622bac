//! The first moment of a session at which something holds.
//!
//! The session is carried out epoch by epoch with a look after each; nobody need know when to look, or
//! that the condition stays. What was written in the epoch that is found is asked of [`crate::who`].
//! Two sessions are compared by their state hashes, first in windows and then epoch by epoch.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sim_core::observer::ShowsCells as _;
use sim_core::{Cycle, Event, NullObserver, Observer, Stamp, Width};
use tensix::{CellValue, RegisterValue};
use tile::{Tile, TileSnapshot};

use crate::recording::Recording;
use crate::who::{NotUnderstood, What};

/// Cycles after which two sessions are compared.
const WINDOW: u64 = 1 << 12;
/// Epochs in which a difference of devices comes to memory, if it does soon.
const SETTLES: u64 = 64;

/// How a value is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Equal.
    Is,
    /// Not equal.
    IsNot,
    /// Less, without sign.
    Below,
    /// Greater, without sign.
    Above,
}

impl Relation {
    const fn holds(self, value: u32, than: u32) -> bool {
        match self {
            Self::Is => value == than,
            Self::IsNot => value != than,
            Self::Below => value < than,
            Self::Above => value > than,
        }
    }
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// A value is as wanted: a word of L1, a semaphore, a cell of the coprocessor.
    Value(What, Relation, u32),
    /// A valid cell of Dst is not a number.
    Nan,
}

/// A condition that cannot be looked for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoCondition {
    /// What is compared is not understood.
    #[error(transparent)]
    What(#[from] NotUnderstood),
    /// It is no comparison.
    #[error(
        "{0:?} is neither nan nor WHAT=VALUE, WHAT!=VALUE, WHAT<VALUE or WHAT>VALUE, as in 0x1a000=5"
    )]
    Form(String),
    /// It has no value of one word.
    #[error(
        "{0} has no value to compare: a word of L1, a semaphore, or one cell as in dst:0.3 has"
    )]
    Value(What),
}

/// The relations, the longer signs first.
const RELATIONS: [(&str, Relation); 4] =
    [("!=", Relation::IsNot), ("=", Relation::Is), ("<", Relation::Below), (">", Relation::Above)];

impl FromStr for Condition {
    type Err = NoCondition;

    fn from_str(text: &str) -> Result<Self, NoCondition> {
        if text.eq_ignore_ascii_case("nan") {
            return Ok(Self::Nan);
        }
        let form = || NoCondition::Form(text.to_owned());
        let split = |(sign, relation): &(&str, Relation)| {
            text.split_once(sign).map(|(what, value)| (what, *relation, value))
        };
        let (what, relation, value) = RELATIONS.iter().find_map(split).ok_or_else(form)?;
        let what: What = what.trim().parse()?;
        let value = value.trim().replace('_', "");
        let value = match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        };
        let is_one = match what {
            What::L1(_) | What::Semaphore(_) => true,
            What::Cells(cells) => cells.each().len() == 1,
            _ => false,
        };
        if !is_one {
            return Err(NoCondition::Value(what));
        }
        Ok(Self::Value(what, relation, value.ok_or_else(form)?))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nan => f.write_str("a NaN in Dst"),
            Self::Value(what, relation, value) => {
                let sign = RELATIONS.iter().find(|(_, known)| known == relation);
                write!(f, "{what}{}{value:#x}", sign.map_or("", |(sign, _)| sign))
            }
        }
    }
}

/// Notes whether the coprocessor has done anything.
#[derive(Debug, Default)]
struct Stirred(bool);

impl Observer for Stirred {
    fn event(&mut self, _: Stamp, event: &Event) {
        self.0 |= matches!(event, Event::Issue { .. });
    }
}

fn value<O: Observer>(tile: &Tile<O>, what: What) -> u32 {
    match what {
        What::L1(addr) => tile.l1_value(addr, Width::Word),
        What::Semaphore(index) => tile.coprocessor().read_semaphore(u32::from(index)),
        What::Cells(cells) => cells.each().first().map_or(0, |cell| tile.coprocessor().cell(*cell)),
        _ => 0,
    }
}

/// Row and column of the first valid cell of Dst that is not a number.
fn nan<O: Observer>(tile: &mut Tile<O>) -> Option<(u32, usize)> {
    let tree = tile.registers();
    ["tensix.dst.rows16", "tensix.dst.rows32"].into_iter().find_map(|path| {
        let RegisterValue::Cells(cells) = &tree.find(path)?.value else { return None };
        let rows = cells.rows.iter().filter(|row| cells.in_force && row.valid);
        rows.into_iter().find_map(|row| {
            let is_nan = |cell: &u32| match cells.format.value(cells.kind, *cell) {
                CellValue::Float(bits) => f32::from_bits(bits).is_nan(),
                _ => false,
            };
            Some((row.row, row.cells.iter().position(is_nan)?))
        })
    })
}

/// Where a condition holds first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The end of the epoch in which it came about: it holds there.
    pub cycle: Cycle,
    /// What is there, in words.
    pub what: String,
}

/// The first moment from a cycle on at which a condition holds.
///
/// # Errors
/// The host gives no memory for a tile.
pub fn first(
    recording: &Recording,
    condition: Condition,
    from: Cycle,
) -> std::io::Result<Option<Found>> {
    let mut tile = Tile::new(recording.config, Stirred(true))?;
    tile.restore(&recording.first);
    let (mut given, epoch) = (0, recording.config.epoch.cycles());
    loop {
        recording.give(&mut tile, &mut given);
        let now = tile.now();
        if now >= from {
            let found = match condition {
                Condition::Value(what, relation, than) => {
                    let value = value(&tile, what);
                    relation.holds(value, than).then(|| format!("{what} is {value:#x}"))
                }
                Condition::Nan if std::mem::take(&mut tile.observer_mut().0) => {
                    let found = nan(&mut tile);
                    found.map(|(row, column)| format!("dst:{row}.{column} is not a number"))
                }
                Condition::Nan => None,
            };
            if let Some(what) = found {
                return Ok(Some(Found { cycle: now, what }));
            }
        }
        if now >= recording.until {
            return Ok(None);
        }
        // Where nothing moves nothing changes before something comes from outside.
        let next = if tile.is_active() {
            now + epoch
        } else {
            recording.next_input(given).unwrap_or(recording.until).max(now + epoch)
        };
        recording.run(&mut tile, &mut given, next.max(Cycle(from.0.min(recording.until.0))));
    }
}

/// One of two sessions that are compared.
struct Side<'r> {
    recording: &'r Recording,
    tile: Tile<NullObserver>,
    given: usize,
    kept: (TileSnapshot, usize),
}

impl<'r> Side<'r> {
    fn new(recording: &'r Recording) -> std::io::Result<Self> {
        let mut tile = Tile::new(recording.config, NullObserver)?;
        tile.restore(&recording.first);
        Ok(Self { recording, tile, given: 0, kept: (recording.first.clone(), 0) })
    }

    fn keep(&mut self) {
        self.kept = (self.tile.snapshot(Some(&self.kept.0)), self.given);
    }

    fn go_back(&mut self) {
        self.tile.restore(&self.kept.0);
        self.given = self.kept.1;
    }

    fn run(&mut self, until: Cycle) -> u64 {
        self.recording.run(&mut self.tile, &mut self.given, until);
        self.recording.give(&mut self.tile, &mut self.given);
        self.tile.state_hash()
    }
}

/// Words of L1 that differ, the first few, and how many there are.
fn words<O: Observer>(one: &Tile<O>, other: &Tile<O>) -> (Vec<u32>, usize) {
    let differs =
        |addr: &u32| one.l1_value(*addr, Width::Word) != other.l1_value(*addr, Width::Word);
    let all: Vec<u32> = (0..memory_map::layout::L1_BYTES).step_by(4).filter(differs).collect();
    (all.iter().copied().take(4).collect(), all.len())
}

/// The first moment at which a tile differs from that of another session: at the end of a window, then by
/// epochs. Differences that vanish within a window are not seen.
///
/// # Errors
/// As [`first`].
pub fn first_difference(
    one: &Arc<Recording>,
    other: &Arc<Recording>,
) -> std::io::Result<Option<Found>> {
    let (mut one, mut other) = (Side::new(one)?, Side::new(other)?);
    let end = one.recording.until.min(other.recording.until);
    let epoch = one.recording.config.epoch.cycles();
    let mut now = Cycle::ZERO;
    if one.run(now) != other.run(now) {
        return Ok(Some(Found { cycle: now, what: "they differ from the beginning".to_owned() }));
    }
    while now < end {
        one.keep();
        other.keep();
        let next = (now + WINDOW).min(end);
        if one.run(next) == other.run(next) {
            now = next;
            continue;
        }
        one.go_back();
        other.go_back();
        while now < next {
            now = (now + epoch).min(next);
            if one.run(now) != other.run(now) {
                break;
            }
        }
        let differ = now;
        // What was on its way arrives.
        let last = (now + SETTLES * epoch).min(end);
        let (mut some, mut count) = words(&one.tile, &other.tile);
        while count == 0 && now < last {
            now += epoch;
            one.run(now);
            other.run(now);
            (some, count) = words(&one.tile, &other.tile);
        }
        let list: Vec<String> = some.iter().map(|addr| format!("{addr:#x}")).collect();
        let list = list.join(", ");
        let state = "cores, devices or what is on its way differ";
        let what = match count {
            0 => format!("{state}, and no word of L1 soon after"),
            count if now == differ => format!("{count} words of L1 differ, the first: {list}"),
            count => format!("{state}; at cycle {now} {count} words of L1, the first: {list}"),
        };
        return Ok(Some(Found { cycle: differ, what }));
    }
    Ok(None)
}
