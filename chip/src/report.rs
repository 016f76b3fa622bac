//! What went wrong in the machine, in words, for whoever asks next.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use devices::DeviceFault;
use devices::niu::{Coordinate, NocPacket};
use sim_core::{AgentId, CoreId, Cycle, GuestError};
use tile::Ebreak;

use crate::grid::{Other, TensixTile};

/// The check that a request to no tile fails.
const NOWHERE: &str = "noc-no-such-tile";
const UNWRITTEN: &str = "dram-never-written";
const ASKEW: &str = "noc-read-alignment";
/// In the place of a tile's number, where it does not matter which one it was.
const ANY_TILE: u16 = u16::MAX;
/// Most reports that are kept; a guest that errs in a loop must not fill the memory.
const KEPT: usize = 1000;

/// Something that a guest did wrong, in words and in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// What it was, with tile, agent, pc and cycle.
    pub text: String,
    /// What the host could do about it, if anything.
    pub hint: Option<String>,
    /// Number of the tile, as [`crate::Grid::tensix`] counts.
    pub tile: u16,
    /// The core and the instruction, if it was one of a core: of a Tensix instruction, the one that pushed it.
    pub at: Option<(CoreId, u32)>,
}

impl Display for Mistake {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// Who has sent a request: `, BRISC, pc 0xa33c`.
fn by(issuer: Option<(CoreId, u32)>) -> String {
    issuer.map_or_else(String::new, |(core, pc)| format!(", {core}, pc {pc:#x}"))
}

/// Guest mistakes, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    mistakes: Vec<Mistake>,
    notes: Vec<Mistake>,
    dropped: u64,
    /// How often requests of an instruction were refused for the same reason.
    refusals: BTreeMap<Refusal, u64>,
}

/// A read of an endpoint's memory.
pub(crate) struct Read {
    pub(crate) cycle: Cycle,
    pub(crate) endpoint: Other,
    /// Where that is, as the request names it.
    pub(crate) at: Coordinate,
    pub(crate) addr: u64,
    pub(crate) bytes: u32,
}

/// A tile, the core and the instruction there, and the check that its request failed.
type Refusal = (u16, Option<(CoreId, u32)>, &'static str);

impl Reports {
    fn add(&mut self, mistake: Mistake) {
        if self.mistakes.len() < KEPT {
            self.mistakes.push(mistake);
        } else {
            self.dropped += 1;
        }
    }

    /// Counts what goes on, perhaps in a loop: of the same instruction the first is told, the tenth, the hundredth and
    /// so on, each but the first with how many there are.
    fn count(&mut self, what: Refusal) -> Option<Option<String>> {
        let count = self.refusals.entry(what).or_insert(0);
        *count += 1;
        match *count {
            1 => Some(None),
            count if count == 10_u64.pow(count.ilog10()) => {
                Some(Some(format!("{count} such requests so far")))
            }
            _ => None,
        }
    }

    /// A refused request.
    fn add_refusal(&mut self, check: &'static str, mistake: Mistake) {
        if let Some(counted) = self.count((mistake.tile, mistake.at, check)) {
            let hint = counted.or(mistake.hint);
            self.add(Mistake { hint, ..mistake });
        }
    }

    /// A read of DRAM where nobody has written, most often by an address that is none, or of what was written
    /// elsewhere: counted by the instruction, whichever tile executes it. `tile` is that of a core, else it is the
    /// host who reads.
    pub(crate) fn unwritten(
        &mut self,
        tile: Option<(u16, TensixTile)>,
        issuer: Option<(CoreId, u32)>,
        read: &Read,
    ) {
        let what = "where nobody has written anything: zeroes here, anything on hardware";
        self.read(tile, issuer, read, (UNWRITTEN, what));
    }

    /// A read of which the two addresses differ modulo what the endpoint wants: counted in the same way.
    pub(crate) fn askew(
        &mut self,
        tile: (u16, TensixTile),
        issuer: Option<(CoreId, u32)>,
        read: &Read,
        (to, unit): (u64, u64),
    ) {
        let what = format!("to {to:#x}: they differ modulo {unit}, which hardware gets wrong");
        self.read(Some(tile), issuer, read, (ASKEW, &what));
    }

    /// Something to say of a read.
    fn read(
        &mut self,
        tile: Option<(u16, TensixTile)>,
        issuer: Option<(CoreId, u32)>,
        read: &Read,
        (check, what): (&'static str, &str),
    ) {
        let Some(hint) = self.count((ANY_TILE, issuer, check)) else { return };
        if self.notes.len() >= KEPT {
            return;
        }
        let who = tile.map_or_else(|| "the host".to_owned(), |(_, tile)| tile.to_string());
        let Read { cycle, endpoint, at, addr, bytes } = read;
        let text = format!(
            "{who}: [{check}]: read of {bytes} bytes at {addr:#x} of {endpoint} [NoC ({}, {})], {what} (cycle {cycle}{})",
            at.x,
            at.y,
            by(issuer)
        );
        let tile = tile.map_or(ANY_TILE, |(number, _)| number);
        self.notes.push(Mistake { text, hint, tile, at: issuer });
    }

    /// A mistake in a tile.
    pub(crate) fn guest(
        &mut self,
        (number, tile): (u16, TensixTile),
        error: &GuestError,
        issuer: Option<CoreId>,
    ) {
        let check = tensix::Check::by_id(error.id).ok();
        let core = match error.at.agent {
            AgentId::Core(core) => Some(core),
            AgentId::Thread(thread) => Some(thread.core()),
            AgentId::Noc(_) => issuer,
            AgentId::Unit(_) | AgentId::Host => None,
        };
        self.add(Mistake {
            text: format!("{tile}: {error}"),
            hint: check.map(|check| {
                format!("TILESCOPE_WARN={} goes on with: {}", error.id, check.row().lowered)
            }),
            tile: number,
            at: core.zip(error.at.pc),
        });
    }

    /// A request of a tile that another one refused: the sender's mistake.
    pub(crate) fn refused(
        &mut self,
        (number, tile, issuer): (u16, TensixTile, Option<(CoreId, u32)>),
        by_whom: TensixTile,
        error: &GuestError,
    ) {
        let GuestError { category, id, message, at } = error;
        let text = format!(
            "{tile}: {category} [{id}]: {message}, for a request to {by_whom} (cycle {}, {}{})",
            at.cycle,
            at.agent,
            by(issuer)
        );
        self.add_refusal(id, Mistake { text, hint: None, tile: number, at: issuer });
    }

    /// A core that has come to an `ebreak`; `attended`: the host is a debugger, which may have placed it.
    pub(crate) fn ebreak(
        &mut self,
        (number, tile): (u16, TensixTile),
        ebreak: Ebreak,
        attended: bool,
    ) {
        let Ebreak { core, pc, cycle } = ebreak;
        let what = if attended {
            "a debugger is at work and can let it go on"
        } else {
            "no debugger has been seen, so it stays there: a failed assertion of the kernel \
             (LLK_ASSERT, ASSERT) or a trap of the compiler"
        };
        let text = format!(
            "{tile}: [ebreak]: {core} has stopped at ebreak or ecall, pc {pc:#x}, cycle {cycle}"
        );
        if !attended {
            let (hint, at) = (Some(what.to_owned()), Some((core, pc)));
            self.add(Mistake { text, hint, tile: number, at });
        } else if self.notes.len() < KEPT {
            let text = format!("{text}: {what}");
            self.notes.push(Mistake { text, hint: None, tile: number, at: None });
        }
    }

    /// Takes what is worth saying and no mistake.
    pub(crate) fn take_notes(&mut self) -> Vec<Mistake> {
        std::mem::take(&mut self.notes)
    }

    /// A request to a coordinate where nothing is.
    pub(crate) fn nowhere(
        &mut self,
        (number, tile): (u16, TensixTile),
        cycle: Cycle,
        packet: &NocPacket,
        at: Coordinate,
        issuer: Option<(CoreId, u32)>,
    ) {
        let text = format!(
            "{tile}: UndefinedBehavior [{NOWHERE}]: NoC {} request for address {:#x} \
             of NoC ({}, {}), where no tile is (cycle {cycle}{})",
            packet.noc,
            packet.address(),
            at.x,
            at.y,
            by(issuer)
        );
        self.add_refusal(NOWHERE, Mistake { text, hint: None, tile: number, at: issuer });
    }

    /// A request that an endpoint refused.
    pub(crate) fn endpoint(
        &mut self,
        (number, tile): (u16, TensixTile),
        cycle: Cycle,
        endpoint: Other,
        (packet, issuer): (&NocPacket, Option<(CoreId, u32)>),
        fault: &DeviceFault,
    ) {
        let at = Coordinate::from_bits(packet.coordinate());
        let text = format!(
            "{tile}: {fault} (NoC {} request for address {:#x} of {endpoint} [NoC ({}, {})], cycle {cycle}{})",
            packet.noc,
            packet.address(),
            at.x,
            at.y,
            by(issuer)
        );
        self.add_refusal(fault.id, Mistake { text, hint: None, tile: number, at: issuer });
    }

    /// Whether there is anything to take.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        !self.mistakes.is_empty() || !self.notes.is_empty() || self.dropped != 0
    }

    /// Takes all mistakes.
    pub(crate) fn take(&mut self) -> Vec<Mistake> {
        let mut mistakes = std::mem::take(&mut self.mistakes);
        if self.dropped != 0 {
            let text = format!("{} more reports were dropped", self.dropped);
            mistakes.push(Mistake { text, hint: None, tile: 0, at: None });
            self.dropped = 0;
        }
        mistakes
    }
}
