//! What other tiles have done, and have not, for the word that a tile waits for.

use std::collections::BTreeMap;
use std::fmt;

use observe::why::hazards::{self, Hazard};
use serde::Serialize;

use crate::tiles::list;

/// Why something did not come where it was likely meant to; what is surest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Astray {
    /// A multicast leaves out the tile that sends it.
    Loopback,
    /// The corners of a multicast are the wrong way round for its NoC.
    Corners,
    /// The rectangle of a multicast leaves out the tile.
    Rectangle,
    /// It went to others that do the same as the tile.
    Peers,
    /// It went to another tile.
    Tile,
    /// It went to another word of the tile.
    Word,
}

impl Astray {
    /// Whether that is more than a suspicion: nothing of the kind is meant to be so.
    #[must_use]
    pub const fn is_sure(self) -> bool {
        matches!(self, Self::Loopback | Self::Corners | Self::Rectangle)
    }

    /// Whether the tile is among those the command is written for, whoever else may write the word.
    pub(crate) const fn names_the_tile(self) -> bool {
        matches!(self, Self::Loopback | Self::Corners)
    }

    /// The class of hang that comes of it.
    pub(crate) const fn hazard(self) -> Hazard {
        match self {
            Self::Peers | Self::Tile | Self::Word | Self::Corners => hazards::D1,
            Self::Rectangle => hazards::D2,
            Self::Loopback => hazards::D3,
        }
    }
}

impl fmt::Display for Astray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a multicast leaves out the tile that sends it unless it is told to",
            Self::Corners => "the corners are the wrong way round for that NoC, it went elsewhere",
            Self::Rectangle => "the rectangle leaves out this tile",
            Self::Peers => "to tiles that do the same as this one, and not to this one",
            Self::Tile => "to another tile, perhaps meant for this one",
            Self::Word => "to another word of this tile, perhaps meant for this one",
        })
    }
}

/// Something that was sent to an address on another tile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sender {
    /// The tile that sent, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// Its core.
    pub core: String,
    /// Function, file and line, or the pc.
    pub place: String,
    /// What and to where.
    pub what: String,
    /// Why it did not come where it was likely meant to, if it did not.
    pub astray: Option<Astray>,
    /// How often.
    pub count: u64,
    /// Cycle of the last one.
    pub last: u64,
    /// The tile has finished its launch.
    pub finished: bool,
    /// It went to a rectangle of tiles.
    #[serde(skip)]
    pub(crate) is_multicast: bool,
}

/// A tile that has written a word less often than others that run the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Behind {
    /// The tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// How often it has.
    pub count: u64,
    /// How often the others have.
    pub others: u64,
    /// The core, and where one of them writes.
    pub core: String,
    /// Function, file and line, or the pc.
    pub place: String,
    /// It has finished its launch.
    pub finished: bool,
}

/// A tile that waits for an answer to what it has not sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unasked {
    /// The tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// How often it has sent.
    pub count: u64,
    /// How often it was answered, the last time after the last of those.
    pub answers: u64,
    /// The core, and where it sends.
    pub core: String,
    /// Function, file and line, or the pc.
    pub place: String,
}

/// A tile that took what had ended one wait for the end of the next one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Stale {
    /// The tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// The core.
    pub core: String,
    /// The word that it waited for, by name.
    pub word: String,
    /// What it was waited for to be, and was.
    pub value: u32,
    /// Where the first wait ended: function, file and line, or the pc.
    pub first: String,
    /// Where the second one was over at once.
    pub again: String,
    /// When.
    pub cycle: u64,
}

/// A core that has set a word back after it waited for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SetBack {
    /// The core.
    pub core: String,
    /// What it had waited for the word to be.
    pub value: u32,
    /// The load of that wait.
    #[serde(skip)]
    pub(crate) pc: u32,
    /// Where it set the word back: function, file and line, or the pc.
    pub place: String,
}

/// The word that a tile waits for and that others write.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Remote {
    /// Its name.
    pub word: String,
    /// Its address.
    #[serde(skip)]
    pub(crate) addr: u32,
    /// Who has written it since the launch.
    pub arrived: Vec<Sender>,
    /// What went to the same address of other tiles and was likely meant for this one.
    pub elsewhere: Vec<Sender>,
    /// Tiles that run what the senders run, and have sent nothing.
    pub silent: Vec<(u8, u8)>,
    /// Tiles that run what other senders run, and have sent less often.
    pub behind: Vec<Behind>,
    /// Tiles that have finished and written no such word of any tile, while others that run the same have, if
    /// nobody has written this one.
    pub quit: Vec<Behind>,
    /// Tiles that have written it, were answered by this one, and wait for another answer.
    pub unasked: Vec<Unasked>,
    /// Of those who have written it: who went on with an old count.
    pub stale: Vec<Stale>,
    /// Cores of this tile that have set it back after their last wait for it.
    pub set_back: Vec<SetBack>,
    /// What this tile has sent itself to tiles on which no core runs.
    pub unheard: Vec<Sender>,
    /// How many have written it, if all of them as often as each other.
    #[serde(skip)]
    pub(crate) even: Option<u64>,
}

/// What a watched run has seen besides the state.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// By tile and address of the word.
    pub(crate) remotes: BTreeMap<((u8, u8), u32), Remote>,
    /// The last requests of tiles that wait for a NoC.
    pub(crate) requests: BTreeMap<(u8, u8), Vec<Sender>>,
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (x, y) = self.tile;
        write!(
            f,
            "tile ({x}, {y}) {} in {}: {} x {}",
            self.core, self.place, self.count, self.what
        )?;
        if let Some(why) = self.astray {
            write!(f, ": {why}")?;
        }
        write!(f, ", last at cycle {}", self.last)?;
        if self.finished { f.write_str("; it has finished") } else { Ok(()) }
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "sent to {} since the launch:", self.word)?;
        if self.arrived.is_empty() {
            writeln!(f, "  nothing")?;
        }
        for sender in &self.arrived {
            writeln!(f, "  {sender}")?;
        }
        if !self.elsewhere.is_empty() {
            writeln!(f, "likely meant for it, and went elsewhere:")?;
        }
        for sender in &self.elsewhere {
            writeln!(f, "  * {sender}")?;
        }
        if !self.unheard.is_empty() {
            writeln!(f, "sent from here to tiles on which no core runs:")?;
        }
        for sender in &self.unheard {
            writeln!(f, "  {sender}")?;
        }
        for behind in &self.behind {
            let (x, y) = behind.tile;
            let ends = if behind.finished { "; it has finished" } else { "" };
            writeln!(
                f,
                "less often than others that run the same: tile ({x}, {y}), {} of {} x{ends}",
                behind.count, behind.others
            )?;
        }
        if !self.quit.is_empty() {
            let tiles: Vec<_> = self.quit.iter().map(|quit| quit.tile).collect();
            writeln!(
                f,
                "have finished and raised it on no tile, as others that run the same have: {}",
                list(&tiles)
            )?;
        }
        if !self.unasked.is_empty() {
            let tiles: Vec<_> = self.unasked.iter().map(|unasked| unasked.tile).collect();
            writeln!(f, "were answered and wait for more without a new one: {}", list(&tiles))?;
        }
        for stale in &self.stale {
            writeln!(
                f,
                "went on with an old count: tile {:?} {} in {}: {} was {} since its wait in {}, last at cycle {}",
                stale.tile,
                stale.core,
                stale.again,
                stale.word,
                stale.value,
                stale.first,
                stale.cycle
            )?;
        }
        if !self.silent.is_empty() {
            writeln!(f, "run the same as those who wrote, and have not: {}", list(&self.silent))?;
        }
        Ok(())
    }
}
