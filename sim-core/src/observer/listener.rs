//! Observers: the trait, none, two at once, perhaps one, any behind a pointer.

use super::cells::{Glimpse, ShowsCells};
use super::event::{Event, ParkedSpan, Stamp};
use crate::batch::{Jump, Retire};
use crate::ids::CoreId;
use crate::l1::L1;

/// A consumer of the event stream.
pub trait Observer: 'static {
    /// Whether events are wanted at all. Read where events are told of and where ways are chosen,
    /// nowhere else.
    const ENABLED: bool = true;

    /// Called once per event, in `(cycle, agent)` order.
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let _ = (stamp, event);
    }

    /// Tells of an event, which is not even built if none are wanted.
    #[inline(always)]
    fn tell(&mut self, stamp: Stamp, event: impl FnOnce() -> Event) {
        if Self::ENABLED {
            self.event(stamp, &event());
        }
    }

    /// Whether [`Observer::retire`] is wanted for this core. Asked once per run slice.
    fn wants_retires(&self, core: CoreId) -> bool {
        let _ = core;
        false
    }

    /// Called once per executed instruction of a core that was asked for, in program order; not
    /// ordered against the events of other agents within an epoch. A core that is parked in a
    /// polling loop retires nothing.
    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let _ = (core, retire);
    }

    /// Called with all instructions of a run slice. An observer of only few of them can pass the
    /// others by here.
    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        for retire in retires {
            self.retire(core, retire);
        }
    }

    /// Whether [`Observer::jumps`] is wanted for this core. Asked once per tile.
    fn wants_jumps(&self, core: CoreId) -> bool {
        let _ = core;
        false
    }

    /// Called with the jumps (`jal`, `jalr`; no branches) that a core has executed, in program order;
    /// otherwise as [`Observer::retire`]. Costs far less: they suffice to know in which
    /// function a core is.
    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        let _ = (core, jumps);
    }

    /// Called when a parked core is taken up again. Not an event: whether and when a core parks is
    /// the simulator's business and changes nothing in the machine.
    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        let _ = (core, span);
    }

    /// Whether [`Observer::l1_read`] is wanted. Asked once per instruction that reads.
    fn wants_l1_reads(&self) -> bool {
        false
    }

    /// Called when an instruction of the coprocessor has read bytes of L1. Not an event, as loads of
    /// cores are none.
    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        let _ = (stamp, addr, bytes);
    }

    /// Whether [`Observer::cells`] is wanted. Asked twice per instruction of the coprocessor.
    fn wants_cells(&self) -> bool {
        false
    }

    /// Called before and after each instruction of the coprocessor, and behind accesses of cores to it, with the
    /// values of what no event tells.
    fn cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        let _ = (glimpse, shown);
    }

    /// Whether [`Observer::dst_read`] is wanted. Asked once per instruction of the coprocessor.
    fn wants_dst_reads(&self) -> bool {
        false
    }

    /// Called when an instruction of the coprocessor is about to read those rows of Dst, as far as that can be
    /// told from the instruction: `PACR`, `SFPLOAD`. `held` says whether any of them is valid: written since it
    /// was cleared.
    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        let _ = (stamp, rows, held);
    }

    /// Whether [`Observer::look`] is wanted. Asked once before each epoch.
    fn wants_look(&self) -> bool {
        false
    }

    /// Called before the tile goes on, with its L1 as all agents will find it: a launch that has just been
    /// told of stands there, and no core has taken it up.
    fn look(&mut self, l1: &L1) {
        let _ = l1;
    }

    /// L1 ranges `[start, end)` whose stores are wanted as [`Event::L1Store`].
    fn observed_l1(&self) -> Vec<(u32, u32)> {
        Vec::new()
    }
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullObserver;

impl Observer for NullObserver {
    const ENABLED: bool = false;
}

/// Two consumers of one stream.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const ENABLED: bool = A::ENABLED || B::ENABLED;

    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.0.event(stamp, event);
        self.1.event(stamp, event);
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.0.wants_retires(core) || self.1.wants_retires(core)
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if self.0.wants_retires(core) {
            self.0.retire(core, retire);
        }
        if self.1.wants_retires(core) {
            self.1.retire(core, retire);
        }
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        if self.0.wants_retires(core) {
            self.0.retires(core, retires);
        }
        if self.1.wants_retires(core) {
            self.1.retires(core, retires);
        }
    }

    fn wants_jumps(&self, core: CoreId) -> bool {
        self.0.wants_jumps(core) || self.1.wants_jumps(core)
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        if self.0.wants_jumps(core) {
            self.0.jumps(core, jumps);
        }
        if self.1.wants_jumps(core) {
            self.1.jumps(core, jumps);
        }
    }

    fn wants_l1_reads(&self) -> bool {
        self.0.wants_l1_reads() || self.1.wants_l1_reads()
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        if self.0.wants_l1_reads() {
            self.0.l1_read(stamp, addr, bytes);
        }
        if self.1.wants_l1_reads() {
            self.1.l1_read(stamp, addr, bytes);
        }
    }

    fn wants_cells(&self) -> bool {
        self.0.wants_cells() || self.1.wants_cells()
    }

    fn cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        if self.0.wants_cells() {
            self.0.cells(glimpse, shown);
        }
        if self.1.wants_cells() {
            self.1.cells(glimpse, shown);
        }
    }

    fn wants_dst_reads(&self) -> bool {
        self.0.wants_dst_reads() || self.1.wants_dst_reads()
    }

    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        if self.0.wants_dst_reads() {
            self.0.dst_read(stamp, rows, held);
        }
        if self.1.wants_dst_reads() {
            self.1.dst_read(stamp, rows, held);
        }
    }

    fn wants_look(&self) -> bool {
        self.0.wants_look() || self.1.wants_look()
    }

    fn look(&mut self, l1: &L1) {
        if self.0.wants_look() {
            self.0.look(l1);
        }
        if self.1.wants_look() {
            self.1.look(l1);
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.0.parked(core, span);
        self.1.parked(core, span);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        let mut ranges = self.0.observed_l1();
        ranges.extend(self.1.observed_l1());
        ranges
    }
}

/// An optional consumer.
impl<O: Observer> Observer for Option<O> {
    const ENABLED: bool = O::ENABLED;

    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Some(inner) = self {
            inner.event(stamp, event);
        }
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.as_ref().is_some_and(|inner| inner.wants_retires(core))
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if let Some(inner) = self {
            inner.retire(core, retire);
        }
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        if let Some(inner) = self {
            inner.retires(core, retires);
        }
    }

    fn wants_jumps(&self, core: CoreId) -> bool {
        self.as_ref().is_some_and(|inner| inner.wants_jumps(core))
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        if let Some(inner) = self {
            inner.jumps(core, jumps);
        }
    }

    fn wants_l1_reads(&self) -> bool {
        self.as_ref().is_some_and(Observer::wants_l1_reads)
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        if let Some(inner) = self {
            inner.l1_read(stamp, addr, bytes);
        }
    }

    fn wants_cells(&self) -> bool {
        self.as_ref().is_some_and(Observer::wants_cells)
    }

    fn cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        if let Some(inner) = self {
            inner.cells(glimpse, shown);
        }
    }

    fn wants_dst_reads(&self) -> bool {
        self.as_ref().is_some_and(Observer::wants_dst_reads)
    }

    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        if let Some(inner) = self {
            inner.dst_read(stamp, rows, held);
        }
    }

    fn wants_look(&self) -> bool {
        self.as_ref().is_some_and(Observer::wants_look)
    }

    fn look(&mut self, l1: &L1) {
        if let Some(inner) = self {
            inner.look(l1);
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        if let Some(inner) = self {
            inner.parked(core, span);
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.as_ref().map(Observer::observed_l1).unwrap_or_default()
    }
}

/// Any observer: [`Observer`] as seen through a pointer.
///
/// A machine that is watched exists once, as that of `dyn AnyObserver`. Made for each type of observer it was
/// half of what there was to compile.
pub trait AnyObserver: 'static {
    /// [`Observer::event`].
    fn hear(&mut self, stamp: Stamp, event: &Event);
    /// [`Observer::wants_retires`].
    fn hears_retires(&self, core: CoreId) -> bool;
    /// [`Observer::retires`].
    fn hear_retires(&mut self, core: CoreId, retires: &[Retire]);
    /// [`Observer::wants_jumps`].
    fn hears_jumps(&self, core: CoreId) -> bool;
    /// [`Observer::jumps`].
    fn hear_jumps(&mut self, core: CoreId, jumps: &[Jump]);
    /// [`Observer::parked`].
    fn hear_parked(&mut self, core: CoreId, span: ParkedSpan);
    /// [`Observer::wants_l1_reads`].
    fn hears_l1_reads(&self) -> bool;
    /// [`Observer::l1_read`].
    fn hear_l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32);
    /// [`Observer::wants_cells`].
    fn hears_cells(&self) -> bool;
    /// [`Observer::cells`].
    fn hear_cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells);
    /// [`Observer::wants_dst_reads`].
    fn hears_dst_reads(&self) -> bool;
    /// [`Observer::dst_read`].
    fn hear_dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool);
    /// [`Observer::wants_look`].
    fn wants_to_look(&self) -> bool;
    /// [`Observer::look`].
    fn look_at(&mut self, l1: &L1);
    /// [`Observer::observed_l1`].
    fn hears_l1(&self) -> Vec<(u32, u32)>;
}

impl<O: Observer> AnyObserver for O {
    fn hear(&mut self, stamp: Stamp, event: &Event) {
        self.event(stamp, event);
    }

    fn hears_retires(&self, core: CoreId) -> bool {
        self.wants_retires(core)
    }

    fn hear_retires(&mut self, core: CoreId, retires: &[Retire]) {
        self.retires(core, retires);
    }

    fn hears_jumps(&self, core: CoreId) -> bool {
        self.wants_jumps(core)
    }

    fn hear_jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        self.jumps(core, jumps);
    }

    fn hear_parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.parked(core, span);
    }

    fn hears_l1_reads(&self) -> bool {
        self.wants_l1_reads()
    }

    fn hear_l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        self.l1_read(stamp, addr, bytes);
    }

    fn hears_cells(&self) -> bool {
        self.wants_cells()
    }

    fn hear_cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        self.cells(glimpse, shown);
    }

    fn hears_dst_reads(&self) -> bool {
        self.wants_dst_reads()
    }

    fn hear_dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        self.dst_read(stamp, rows, held);
    }

    fn wants_to_look(&self) -> bool {
        self.wants_look()
    }

    fn look_at(&mut self, l1: &L1) {
        self.look(l1);
    }

    fn hears_l1(&self) -> Vec<(u32, u32)> {
        self.observed_l1()
    }
}

impl Observer for dyn AnyObserver {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.hear(stamp, event);
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.hears_retires(core)
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.hear_retires(core, std::slice::from_ref(retire));
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        self.hear_retires(core, retires);
    }

    fn wants_jumps(&self, core: CoreId) -> bool {
        self.hears_jumps(core)
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        self.hear_jumps(core, jumps);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.hear_parked(core, span);
    }

    fn wants_l1_reads(&self) -> bool {
        self.hears_l1_reads()
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        self.hear_l1_read(stamp, addr, bytes);
    }

    fn wants_cells(&self) -> bool {
        self.hears_cells()
    }

    fn cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        self.hear_cells(glimpse, shown);
    }

    fn wants_dst_reads(&self) -> bool {
        self.hears_dst_reads()
    }

    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        self.hear_dst_read(stamp, rows, held);
    }

    fn wants_look(&self) -> bool {
        self.wants_to_look()
    }

    fn look(&mut self, l1: &L1) {
        self.look_at(l1);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.hears_l1()
    }
}
