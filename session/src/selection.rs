//! Which tiles are looked at.

use std::fmt;
use std::str::FromStr;

/// A choice of tiles, by the coordinates with which the vendor's runtime counts workers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Selection {
    /// Those that were launched, or run something of their own.
    #[default]
    Busy,
    /// All that the session has touched.
    All,
    /// Rectangles: first and last column, first and last row.
    Rectangles(Vec<[u8; 4]>),
}

impl Selection {
    /// Whether a tile is chosen; `busy` is whether it does anything.
    #[must_use]
    pub fn has(&self, (x, y): (u8, u8), busy: bool) -> bool {
        match self {
            Self::Busy => busy,
            Self::All => true,
            Self::Rectangles(all) => all.iter().any(|&[left, right, top, bottom]| {
                (left..=right).contains(&x) && (top..=bottom).contains(&y)
            }),
        }
    }
}

/// `A` or `A-B` with A not above B.
fn span(text: &str) -> Option<(u8, u8)> {
    let number = |text: &str| text.trim().parse::<u8>().ok();
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    (first <= last).then_some((first, last))
}

/// `busy`, `all`, or `X,Y` and `X0-X1,Y0-Y1`, several with spaces or semicolons between them.
impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "busy" => return Ok(Self::Busy),
            "all" => return Ok(Self::All),
            _ => {}
        }
        let wrong = || {
            format!(
                "{text:?} is neither busy nor all nor tiles as 0,1 or 0-3,1 or 0-3,0-1 (columns, rows)"
            )
        };
        let parts = text.split([' ', ';']).filter(|part| !part.is_empty());
        let rectangles: Option<Vec<[u8; 4]>> = parts
            .map(|part| {
                let (columns, rows) = part.split_once(',')?;
                let ((left, right), (top, bottom)) = (span(columns)?, span(rows)?);
                Some([left, right, top, bottom])
            })
            .collect();
        match rectangles {
            Some(list) if !list.is_empty() => Ok(Self::Rectangles(list)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Rectangles(all) = self else {
            return f.write_str(if *self == Self::Busy { "busy" } else { "all" });
        };
        for (at, [left, right, top, bottom]) in all.iter().enumerate() {
            let between = if at == 0 { "" } else { " " };
            let span = |a: &u8, b: &u8| if a == b { a.to_string() } else { format!("{a}-{b}") };
            write!(f, "{between}{},{}", span(left, right), span(top, bottom))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_columns_and_rows() {
        let chosen: Selection = "0-2,1 5,3-4".parse().expect("it is well formed");
        assert_eq!(chosen.to_string(), "0-2,1 5,3-4");
        for (tile, has) in [((0, 1), true), ((2, 1), true), ((3, 1), false), ((5, 4), true)] {
            assert_eq!(chosen.has(tile, false), has, "{tile:?}");
        }
        let busy: Selection = "busy".parse().expect("a word");
        assert!(busy.has((1, 1), true) && !busy.has((1, 1), false));
    }

    #[test]
    fn what_is_no_tile_is_refused() {
        for text in ["", "1", "3-1,0", "a,b", "1,2,3", "256,0", " ; ", "0,-1"] {
            assert!(text.parse::<Selection>().is_err(), "{text:?}");
        }
    }
}
