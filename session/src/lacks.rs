//! What the wait for a word lacks, of those who write it.

use crate::remote::{Astray, Behind, Remote, Sender, SetBack, Unasked};
use crate::standpoint::Standpoint;

/// What a word is and what is waited for, if all who raise it have, as often as each other, and that is too
/// few: who would do it behind a wait has done his part.
pub(crate) fn few(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &Remote,
) -> Option<(u32, u32)> {
    let wanted = all[at].links()[wait].target?;
    let value = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr)?.value;
    let is_all = remote.even == Some(u64::from(value)) && remote.silent.is_empty();
    // One alone goes round less often than it should.
    if value < 2 || value >= wanted || !is_all {
        return None;
    }
    let has_sent = |tile: (u8, u8)| remote.arrived.iter().any(|sender| sender.tile == tile);
    let writes =
        |other: &Standpoint| other.would.iter().any(|would| would.writes(all[at].tile.noc, addr));
    // The list of those who have sent may have been cut.
    let is_cut = remote.arrived.len() < value as usize;
    let done = all.iter().filter(|other| writes(other)).all(|other| has_sent(other.tile.tile));
    (is_cut || done).then_some((value, wanted))
}

/// Who has raised a word less often than others that run the same, if that is all that is missing.
pub(crate) fn behind<'a>(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &'a Remote,
) -> Vec<&'a Behind> {
    let load = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr);
    let Some((wanted, load)) = all[at].links()[wait].target.zip(load) else { return Vec::new() };
    let lacks: u64 = remote.behind.iter().map(|behind| behind.others - behind.count).sum();
    let is_all = wanted > load.value && u64::from(wanted - load.value) <= lacks;
    if is_all { remote.behind.iter().collect() } else { Vec::new() }
}

/// Who waits for an answer that it has not asked for, if that is all that a wait lacks.
pub(crate) fn unasked<'a>(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &'a Remote,
) -> &'a [Unasked] {
    let load = all[at].hung.waits[wait].reads.iter().find(|load| load.addr == addr);
    let Some((wanted, load)) = all[at].links()[wait].target.zip(load) else { return &[] };
    let lacks = wanted.saturating_sub(load.value);
    if (1..=remote.unasked.len()).contains(&(lacks as usize)) { &remote.unasked } else { &[] }
}

/// Who has set a word back after its last wait in the same place, which was for less than what it waits for now.
pub(crate) fn set_back<'a>(
    all: &[Standpoint],
    (at, wait): (usize, usize),
    addr: u32,
    remote: &'a Remote,
) -> Option<(&'a SetBack, u32)> {
    let own = &all[at].hung.waits[wait];
    let wanted = all[at].links()[wait].target?;
    let load = own.reads.iter().find(|load| load.addr == addr)?;
    let is_it = |back: &&SetBack| {
        (&*back.core, back.pc) == (&*own.agent.to_string(), load.pc)
            && back.value < wanted
            && load.value < wanted
    };
    remote.set_back.iter().find(is_it).map(|back| (back, wanted))
}

/// What was likely meant for a word and did not come. A word beside it that has something in it says nothing
/// where something else is known.
pub(crate) fn missed(remote: &Remote) -> Option<&Sender> {
    let knows_more = !remote.arrived.is_empty() || !remote.unheard.is_empty();
    let says = |sender: &&Sender| !knows_more || sender.astray != Some(Astray::Word);
    remote.elsewhere.iter().find(says)
}
