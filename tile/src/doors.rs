//! The doors of the tile: what others call, and where that is compiled.
//!
//! A tile has the type of its observer, because that is wanted back. But the machine is the same for all
//! observers, and large. So it is compiled here, twice: for none, and for one that is known by a pointer only
//! ([`AnyObserver`]); every door leads to one of the two. Made anew for each type of observer, in each crate that has
//! one, the machine was some two fifths of what was compiled of the command line.

use std::any::{Any, TypeId};

use sim_core::observer::AnyObserver;
use sim_core::{CoreId, Cycle, GuestError, NullObserver, Observer, Shortcuts};
use tensix::Register;

use crate::epoch::{Outlook, Stop};
use crate::host_wait::HostWait;
use crate::message::Arrival;
use crate::message::InputKind;
use crate::quiesce::{AgentWait, Quiescence};
use crate::snapshot::TileSnapshot;
use crate::suppose::Supposition;
use crate::tile::Tile;

/// A tile that is not observed.
type Alone = Tile<NullObserver>;
/// A tile that is observed.
type Watched = Tile<dyn AnyObserver>;

/// Which of the two a tile is.
enum Seat<A, W> {
    Alone(A),
    Watched(W),
}

fn is_alone<O: Observer>() -> bool {
    TypeId::of::<O>() == TypeId::of::<NullObserver>()
}

fn seat<O: Observer>(tile: &Tile<O>) -> Seat<&Alone, &Watched> {
    let any: &dyn Any = tile;
    any.downcast_ref().map_or(Seat::Watched(tile), Seat::Alone)
}

fn seat_mut<O: Observer>(tile: &mut Tile<O>) -> Seat<&mut Alone, &mut Watched> {
    if !is_alone::<O>() {
        return Seat::Watched(tile);
    }
    let any: &mut dyn Any = tile;
    Seat::Alone(any.downcast_mut().expect("its type has just been compared"))
}

/// Doors: a method for every type of observer, and for each of the two a function that is none of a type, so that
/// this crate compiles it and no other does. They are entered seldom enough for a call.
macro_rules! doors {
    (
        impl $itself:ty, $seat:ident: $alone:ident($alone_tile:ty), $watched:ident($watched_tile:ty);
        $(
            $(#[$about:meta])*
            fn $name:ident($($given:ident: $type:ty),*) $(-> $back:ty)? = $here:ident;
        )*
    ) => {
        impl<O: Observer> Tile<O> {
            $(
                $(#[$about])*
                #[inline]
                pub fn $name(self: $itself, $($given: $type),*) $(-> $back)? {
                    match $seat(self) {
                        Seat::Alone(tile) => $alone::$name(tile, $($given),*),
                        Seat::Watched(tile) => $watched::$name(tile, $($given),*),
                    }
                }
            )*
        }

        mod $alone {
            use super::*;

            $(
                #[inline(never)]
                pub(super) fn $name(tile: $alone_tile, $($given: $type),*) $(-> $back)? {
                    tile.$here($($given),*)
                }
            )*
        }

        mod $watched {
            use super::*;

            $(
                #[inline(never)]
                pub(super) fn $name(tile: $watched_tile, $($given: $type),*) $(-> $back)? {
                    tile.$here($($given),*)
                }
            )*
        }
    };
}

doors! {
    impl &mut Self, seat_mut: alone_mut(&mut Alone), watched_mut(&mut Watched);

    /// Advances to `limit` (rounded up to an epoch boundary), until `wait` is met, or until
    /// nothing moves.
    ///
    /// With a `wait` the host is taken to do nothing until it is met: if the machine becomes
    /// quiescent first, it never will be, and the verdict is a deadlock.
    fn run(limit: Cycle, wait: Option<HostWait>) -> Stop = run_here;

    /// Advances a tile of a chip to `limit`, which is an epoch boundary, or to a guest mistake, in
    /// which case the rest is still to be done. With `until_departure` it stops as soon as a
    /// message for another endpoint is ready.
    ///
    /// # Errors
    /// A guest mistake.
    fn advance_to(limit: Cycle, until_departure: bool) -> Result<(), Box<GuestError>> = advance_to_here;

    /// Begins an epoch that is to be ended with [`Tile::end_epoch`]. `false`, and none has begun:
    /// nothing can move any more.
    fn begin_epoch() -> bool = begin_epoch_here;

    /// Takes all cores to the end of the epoch and applies what they did.
    fn end_epoch() = end_epoch_here;

    /// In an epoch that has begun: the devices and the coprocessor as the beginning of a cycle of it finds them,
    /// with `gates_next` as the wait gates do, behind what cores and packets do in that cycle. To be looked at only:
    /// the tile cannot go on from there, but be restored.
    fn show_cycle(cycle: Cycle, gates_next: bool) = show_cycle_here;

    /// Has other ways to the same result taken from now on, between two epochs.
    fn set_shortcuts(shortcuts: Shortcuts) = set_shortcuts_here;

    /// Reads the tile's address space: L1, or registers (as whole words).
    ///
    /// # Errors
    /// Nothing is mapped there for the NoC, or the device refuses.
    fn host_read(addr: u32, bytes: &mut [u8]) -> Result<(), Box<GuestError>> = host_read_here;

    /// Writes the tile's address space: L1, or registers (aligned words).
    ///
    /// # Errors
    /// Nothing is mapped there for the NoC, or the device refuses.
    fn host_write(addr: u32, bytes: &[u8]) -> Result<(), Box<GuestError>> = host_write_here;

    /// Keeps what comes from outside from now on, for [`Tile::take_inputs`].
    fn keep_inputs() = keep_inputs_here;

    /// Has something come from outside again. It takes effect now; what was refused then is refused again.
    fn give(input: &InputKind) = give_here;

    /// A message of another endpoint. It takes effect in its cycle, or now if the tile is past it.
    fn receive(arrival: Arrival) = receive_here;

    /// Takes a message of another endpoint that only gives ([`crate::Message::only_gives`]), for a tile in which nothing
    /// happens but that messages lie there. Does not take it if it is noticed: then the tile has to be brought up to date
    /// before it receives it.
    fn leave(arrival: &mut Option<Arrival>) = leave_here;

    /// Goes beyond the time of the others of a chip, up to `limit` at most, if that looks safe.
    fn venture(limit: Cycle) = venture_here;

    /// Takes the messages that lie there and have come before `now`, and lets time pass up to then: what is left alone
    /// according to [`Tile::outlook`] is as if it had been advanced. Nothing happens to a tile that is there already.
    fn catch_up(now: Cycle) = catch_up_here;

    /// Brings a tile that is ahead of `now` back: the chip looks at it, or does something to it.
    fn come_back(now: Cycle) = come_back_here;

    /// Makes it true, between two epochs. `false`: it cannot be.
    fn suppose(what: Supposition) -> bool = suppose_here;

    /// Goes back, or forward, to where a snapshot was taken of this tile or of one with equal
    /// [`crate::TileConfig`] but for engine and shortcuts. The observer is told nothing of it.
    fn restore(snapshot: &TileSnapshot) = restore_here;

    /// The whole state as a tree; its first level is `core`, `mailbox`, `pcbuf`, `noc0`, `noc1` and
    /// `tensix`. Parked cores leave their loops first, so that every register is exact as of now.
    fn registers() -> Register = registers_here;

    /// Instructions retired per core, in [`CoreId::ALL`] order, exact as of now.
    fn instructions() -> [u64; CoreId::COUNT] = instructions_here;

    /// A hash of everything that determines the future: equal for equal machines whatever engine
    /// ran them, whether cores were parked, and what observed.
    fn state_hash() -> u64 = state_hash_here;
}

doors! {
    impl &Self, seat: alone(&Alone), watched(&Watched);

    /// [`Tile::outlook`] of a tile in which nothing but messages of others can happen now.
    #[must_use]
    fn rest() -> Outlook = rest_here;

    /// Who waits for what right now. Meaningful at any time; complete when nothing moves.
    #[must_use]
    fn waits() -> Vec<AgentWait> = waits_here;

    /// What it means that nothing moves here, if nothing can by itself; `host` is
    /// what the host waits for, if it does nothing before that.
    #[must_use]
    fn verdict(host: Option<HostWait>) -> Option<Quiescence> = verdict_here;

    /// The tile as it is now, between two epochs or in one that has begun. Pages of L1 that have not changed since
    /// `like` are shared with it.
    #[must_use]
    fn snapshot(like: Option<&TileSnapshot>) -> TileSnapshot = snapshot_here;

    /// A hash of what cores can change for others: L1, devices, the coprocessor; not the cores, not the
    /// time. Equal at two moments between which nothing was done to another.
    #[must_use]
    fn effects_hash() -> u64 = effects_hash_here;

    /// As [`Tile::effects_hash`], without L1.
    #[must_use]
    fn devices_hash() -> u64 = devices_hash_here;

    /// A hash of each part of L1 of so many bytes, a multiple of 4, in order.
    #[must_use]
    fn l1_hashes(bytes: u32) -> Vec<u64> = l1_hashes_here;
}
