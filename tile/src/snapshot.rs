//! A tile at a moment between two epochs, to go back to.
//!
//! Complete by construction: the tile is taken apart without `..`, and all state below it derives
//! `Clone`, so that a new field is in the snapshot or does not compile. Not in it are who looks
//! (the observer, what is kept of what came from outside) and who executes (the engine and the configuration): a snapshot may be restored
//! into a tile with another observer or engine. It does not tell what the observer has seen.

use std::sync::Arc;

use devices::{DebugAccess, Mailboxes, Niu, Overlay, PcBufs, Pic, Tdma, TileControl};
use riscv::Core;
use sim_core::agent::SharedImage;
use sim_core::engine::Slots;
use sim_core::{CoreId, CoreSet, Cycle, GuestError, L1Image, Observer};
use tensix::Coprocessor;

use crate::asker::Asker;
use crate::env::Deferred;
use crate::fabric::Fabric;
use crate::tile::Tile;
use crate::trials::Trials;
use crate::waiting::{Answer, CoreWait, Ebreak, PushWait};

/// A snapshot of the fields of a tile that are its state, how it is taken and put back.
macro_rules! snapshot {
    ($($field:ident: $type:ty,)*) => {
        /// A tile at a moment between two epochs ([`Tile::snapshot`]). A copy costs next to nothing.
        #[derive(Clone, Debug)]
        pub struct TileSnapshot(Arc<State>);

        #[derive(Clone, Debug)]
        struct State {
            shared: SharedImage,
            $($field: $type,)*
        }

        impl<O: Observer + ?Sized> Tile<O> {
            /// [`Tile::snapshot`]
            pub(crate) fn snapshot_here(&self, like: Option<&TileSnapshot>) -> TileSnapshot {
                let Self { config: _, engine: _, observer: _, kept: _, shared, $($field,)* } = self;
                let none = L1Image::default();
                TileSnapshot(Arc::new(State {
                    shared: shared.image(like.map_or(&none, |like| like.0.shared.l1())),
                    $($field: $field.clone(),)*
                }))
            }

            pub(crate) fn put_back(&mut self, snapshot: &TileSnapshot) {
                let Self { config: _, engine: _, observer: _, kept: _, shared, $($field,)* } = self;
                shared.restore(&snapshot.0.shared);
                $($field.clone_from(&snapshot.0.$field);)*
            }
        }
    };
}

snapshot! {
    cores: Slots<Core>,
    now: Cycle,
    quiet_since: Option<Cycle>,
    mailboxes: Mailboxes,
    pcbufs: PcBufs,
    control: TileControl,
    tdma: Tdma,
    nius: [Niu; 2],
    overlay: Overlay,
    pic: Pic,
    tensix: Coprocessor,
    fabric: Fabric,
    answers: [Option<Answer>; CoreId::COUNT],
    core_waits: [Option<CoreWait>; CoreId::COUNT],
    push_waits: [Option<PushWait>; CoreId::COUNT],
    device_change: bool,
    devices_steady_since: Cycle,
    retry_requests: bool,
    tracked: u8,
    tracked_config: u64,
    credits_stale: bool,
    watch_hit: bool,
    host_watch: u64,
    icache_invalidations: u8,
    deferred: Deferred,
    failed: CoreSet,
    faults: Vec<GuestError>,
    debug_queue: Vec<(Asker, DebugAccess)>,
    halted: Option<CoreId>,
    known_halts: CoreSet,
    ebreaks: Vec<Ebreak>,
    trials: Trials,
}

impl TileSnapshot {
    /// When it was taken.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.0.now
    }

    /// Bytes of L1 pages that it does not share with `other`.
    #[must_use]
    pub fn bytes_beyond(&self, other: Option<&Self>) -> usize {
        let none = L1Image::default();
        self.0.shared.l1().bytes_beyond(other.map_or(&none, |other| other.0.shared.l1()))
    }
}
