//! Runtime arguments that say what they mean instead of a number: `noc_x(1, 0)`, `sem(0)`, `index`.
//!
//! Each is one word of 32 bits, worked out for the tile that it is for.

use std::fmt;

use chip::{Grid, Harvest, Product};
use serde::Deserialize;
use serde::de::{Error, Visitor};

/// Column and row of a tile as the vendor's runtime counts workers, from 0.
pub type Worker = (u8, u8);

/// An argument as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RawArg {
    Number(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for RawArg {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = RawArg;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("i64 or a text such as \"sem(0)\"")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<RawArg, E> {
                Ok(RawArg::Number(value))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<RawArg, E> {
                Ok(RawArg::Text(value.to_owned()))
            }
        }
        from.deserialize_any(Either)
    }
}

/// Where things are on the chip that a plan is for.
#[derive(Debug)]
pub(super) struct Places(Grid);

impl Default for Places {
    fn default() -> Self {
        Self(Grid::new(Product::Full, Harvest::default()))
    }
}

impl Places {
    /// Translated NoC coordinates of a worker.
    pub(super) fn tile(&self, worker: Worker) -> Result<(u8, u8), String> {
        let found = self.0.worker(worker).map(|(_, tile)| (tile.logical.x, tile.logical.y));
        found.ok_or_else(|| {
            let (x, y) = worker;
            format!("there is no tile ({x}, {y}): columns are 0 to 13, rows 0 to 9")
        })
    }

    /// Translated NoC coordinates of a DRAM channel.
    pub(super) fn dram(&self, channel: u8) -> Result<(u8, u8), String> {
        let found = self.0.dram(channel.into()).map(|at| (at.x, at.y));
        found.ok_or_else(|| format!("there is no DRAM channel {channel}: they are 0 to 7"))
    }
}

/// What the arguments of one tile may name.
pub(super) struct Scope<'a> {
    pub(super) places: &'a Places,
    /// The tile itself and its place in the launch's list, counted from 0; none in a plan of one tile.
    pub(super) own: Option<(Worker, u32)>,
    /// Tiles of the launch.
    pub(super) count: u32,
    /// L1 addresses of the semaphores.
    pub(super) semaphores: Vec<u32>,
}

/// `NOC_TARG_ADDR_HI` and its like: a coordinate in 12 bits, of a multicast the other corner above
/// `[isa-bh: NoC/MemoryMap.md]`.
fn packed((x, y): (u8, u8)) -> u32 {
    u32::from(y) << 6 | u32::from(x)
}

impl Scope<'_> {
    /// The word that a text means.
    pub(super) fn word(&self, text: &str) -> Result<u32, String> {
        let (name, terms) = call(text).ok_or_else(|| {
            format!("{text:?}: expected a name such as \"index\" or a call such as \"noc_x(1, 0)\"")
        })?;
        let values = terms.iter().map(|term| self.term(term)).collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|why| format!("{text:?}: {why}"))?;
        self.value(name, &values).map_err(|why| format!("{text:?}: {why}"))
    }

    fn value(&self, name: &str, values: &[i64]) -> Result<u32, String> {
        let tile = |x: i64, y: i64| {
            self.own.ok_or("only in a launch with `tiles`")?;
            let worker = u8::try_from(x).ok().zip(u8::try_from(y).ok());
            worker.map_or_else(
                || Err(format!("there is no tile ({x}, {y}): columns are 0 to 13, rows 0 to 9")),
                |worker| self.places.tile(worker),
            )
        };
        let dram = |channel: i64| self.places.dram(u8::try_from(channel).unwrap_or(u8::MAX));
        Ok(match (name, values) {
            ("x" | "y", []) => return self.term(name).map(|value| value as u32),
            ("index", []) => self.own()?.1,
            ("count", []) => {
                self.own()?;
                self.count
            }
            ("sem", &[id]) => {
                let at = usize::try_from(id).ok().and_then(|id| self.semaphores.get(id));
                let count = self.semaphores.len();
                *at.ok_or_else(|| format!("the launch has {count} semaphores, counted from 0"))?
            }
            ("noc", &[x, y]) => packed(tile(x, y)?),
            ("noc", &[x0, y0, x1, y1]) => packed(tile(x0, y0)?) << 12 | packed(tile(x1, y1)?),
            ("noc_x", &[x, y]) => tile(x, y)?.0.into(),
            ("noc_y", &[x, y]) => tile(x, y)?.1.into(),
            ("dram", &[channel]) => packed(dram(channel)?),
            ("dram_x", &[channel]) => dram(channel)?.0.into(),
            ("dram_y", &[channel]) => dram(channel)?.1.into(),
            _ => return Err(KNOWN.to_owned()),
        })
    }

    fn own(&self) -> Result<(Worker, u32), String> {
        self.own.ok_or_else(|| "only in a launch with `tiles`".to_owned())
    }

    /// A number, or `x` or `y` of the tile itself, to which a number may be added.
    fn term(&self, text: &str) -> Result<i64, String> {
        let own = |name: &str| match name.trim() {
            "x" => self.own().map(|((x, _), _)| i64::from(x)),
            "y" => self.own().map(|((_, y), _)| i64::from(y)),
            other => Err(format!("{other:?} is neither a number nor x or y")),
        };
        let number = |text: &str| {
            let text = text.trim();
            text.parse::<u16>().map(i64::from).map_err(|_| format!("{text:?} is no small number"))
        };
        if let Some((name, rest)) = text.split_once('+') {
            return Ok(own(name)? + number(rest)?);
        }
        if let Some((name, rest)) = text.split_once('-') {
            return Ok(own(name)? - number(rest)?);
        }
        number(text).or_else(|_| own(text))
    }
}

/// What there is, for whoever has mistyped.
const KNOWN: &str = "there are noc(X, Y), noc(X0, Y0, X1, Y1), noc_x(X, Y), noc_y(X, Y), \
                     dram(CHANNEL), dram_x(CHANNEL), dram_y(CHANNEL), sem(ID), x, y, index, count";

/// Takes `name` or `name(term, term)` apart.
fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let text = text.trim();
    let (name, terms) = match text.split_once('(') {
        Some((name, rest)) => (name.trim(), rest.strip_suffix(')')?.split(',').collect()),
        None => (text, Vec::new()),
    };
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !name.is_empty()).then_some((name, terms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Result<u32, String> {
        let places = Places::default();
        let semaphores = vec![0xA080, 0xA090];
        Scope { places: &places, own: Some(((6, 1), 2)), count: 3, semaphores }.word(text)
    }

    /// Coordinates `[spec: host-abi 2.6]`: workers stand in columns 1 to 7 and 10 to 16, rows 2 to 11.
    #[test]
    fn tiles_are_named_by_column_and_row_of_workers() {
        assert_eq!((word("noc_x(0, 0)"), word("noc_y(0,0)")), (Ok(1), Ok(2)));
        assert_eq!((word("noc_x(x + 1, y)"), word("noc_y(x, y-1)")), (Ok(10), Ok(2)));
        assert_eq!(word("noc(13, 9)"), Ok(11 << 6 | 16));
        assert_eq!(word("noc(0, 0, 1, 2)"), Ok((2 << 6 | 1) << 12 | (4 << 6 | 2)));
        assert_eq!(
            (word("x"), word("y"), word("index"), word("count")),
            (Ok(6), Ok(1), Ok(2), Ok(3))
        );
        assert_eq!((word("sem(1)"), word("dram(4)")), (Ok(0xA090), Ok(12 << 6 | 18)));
    }

    #[test]
    fn mistakes_are_told_with_the_text() {
        for (text, why) in [
            ("noc_x(14, 0)", "there is no tile (14, 0)"),
            ("noc_y(x, y - 2)", "there is no tile (6, -1)"),
            ("sem(2)", "the launch has 2 semaphores"),
            ("dram(8)", "there is no DRAM channel 8"),
            ("tile(1)", "there are noc(X, Y)"),
            ("noc_x(1, z)", "\"z\" is neither a number nor x or y"),
            ("noc_x(1, 0", "expected a name"),
            ("", "expected a name"),
        ] {
            let error = word(text).expect_err("a mistake");
            assert!(error.starts_with(&format!("{text:?}: ")) && error.contains(why), "{error}");
        }
    }
}
