//! Stores that cores have posted to L1, applied in the order in which they happened, or in any other that comes to
//! the same.
//!
//! [`Merge`] is that order. Stores on trial are kept in another form, in which their order shows
//! ([`Cores::apply_on_trial`]).

use riscv::Core;
use riscv::ahead::{TrialStore, TrialStores};
use sim_core::engine::Slots;
use sim_core::{AgentId, CoreId, Cycle, Event, Observer, Shortcut, Shortcuts, Store, Width};

use crate::cores::Cores;
use crate::plan;

/// In which order stores are gone through.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// All of a core before those of the next. Right if no two cores stored to the same word.
    ByCore,
    /// Bit *8 c + i* says that core *i* stored in the *c*th cycle.
    Bits(u64),
    /// By their cycles, those before the second of two counting as of the first.
    ByCycle { start: Cycle, end: Cycle },
}

/// A way through the posted stores of all cores.
struct Merge {
    order: Order,
    /// How many stores of each core are behind it.
    next: [usize; CoreId::COUNT],
}

impl Merge {
    fn new(order: Order) -> Self {
        Self { order, next: [0; CoreId::COUNT] }
    }

    /// Goes on up to a store that `sink` does not take, and gives that; `None` behind the last one.
    #[inline]
    fn feed(
        &mut self,
        slots: &Slots<Core>,
        mut sink: impl FnMut(&Store) -> bool,
    ) -> Option<(CoreId, Store)> {
        let Self { order, next } = self;
        match order {
            Order::ByCore => {
                for (id, core) in slots.iter() {
                    let next = &mut next[id.index()];
                    let Some(rest) = core.batch.stores.get(*next..) else { continue };
                    if let Some(index) = rest.iter().position(|store| !sink(store)) {
                        *next += index + 1;
                        return Some((id, rest[index]));
                    }
                    *next += rest.len();
                }
            }
            Order::Bits(bits) => {
                // As many as three bits can tell: no number needs a check.
                let mut left: [&[Store]; 8] = [&[]; 8];
                for (id, core) in slots.iter() {
                    let rest = core.batch.stores.get(next[id.index()]..);
                    left[id.index()] = rest.unwrap_or_default();
                }
                let mut open = std::mem::take(bits);
                while open != 0 {
                    let number = (open.trailing_zeros() & 7) as usize;
                    open &= open - 1;
                    let (store, rest) = left[number].split_first()?;
                    left[number] = rest;
                    if !sink(store) {
                        *bits = open;
                        for (id, core) in slots.iter() {
                            next[id.index()] = core.batch.stores.len() - left[id.index()].len();
                        }
                        return Some((CoreId::ALL[number % CoreId::COUNT], *store));
                    }
                }
            }
            Order::ByCycle { start, end } => loop {
                let head = |id: CoreId| slots[id].batch.stores.get(next[id.index()]);
                let heads = CoreId::ALL
                    .into_iter()
                    .filter_map(|id| Some((head(id)?.cycle.max(*start), id)));
                let (_, id) = heads.filter(|(cycle, _)| cycle < &*end).min()?;
                let store = head(id)?;
                next[id.index()] += 1;
                if !sink(store) {
                    return Some((id, *store));
                }
            },
        }
        None
    }
}

impl<O: Observer + ?Sized> Cores<O> {
    /// Applies stores of the epoch `[start, end)`, which are all to L1.
    pub(crate) fn apply_posted(&mut self, start: Cycle, end: Cycle, shortcuts: Shortcuts) {
        let order = if !shortcuts.has(Shortcut::MergedStores) {
            Order::ByCycle { start, end }
        } else if plan::may_reorder_stores::<O>() && self.stores_are_disjoint() {
            Order::ByCore
        } else {
            self.in_order(start, end)
        };
        let mut merge = Merge::new(order);
        loop {
            let view = self.shared.run_view();
            // Nearly all stores are of words: worth a copy of the code without shifts.
            let quiet = |store: &Store| match store.width {
                Width::Word => view.write_quiet(store.addr, store.value, Width::Word),
                width => view.write_quiet(store.addr, store.value, width),
            };
            let Some((id, store)) = merge.feed(&self.slots, quiet) else { return };
            self.apply_l1_store(id, &store, end);
        }
    }

    /// Applies stores of an epoch on trial, in the order in which they happened: what they overwrite is added to `kept`,
    /// with its address. `false`: a store may be noticed.
    pub(crate) fn apply_on_trial(&mut self, kept: &mut Vec<(u32, u32)>) -> bool {
        let view = self.shared.run_view();
        // As many as three bits can tell: no number needs a check.
        let mut stores = [&TrialStores::NONE; 8];
        let mut open = 0;
        for (id, core) in self.slots.iter() {
            let own = core.trial_stores();
            stores[id.index()] = own;
            open |= own.bits() << id as u64;
        }
        while open != 0 {
            let number = open.trailing_zeros() as usize;
            open &= open - 1;
            let TrialStore { addr, value, width } = *stores[number % 8].at(number / 8);
            // Nearly all stores are of words: worth a copy of the code without shifts.
            let old = match width {
                Width::Word => view.replace_quiet(addr, value, Width::Word),
                width => view.replace_quiet(addr, value, width),
            };
            let Some(old) = old else { return false };
            kept.push((addr & !3, old));
        }
        for id in CoreId::ALL {
            self.slots[id].clear_trial_stores();
        }
        true
    }

    /// Applies a store of a core to L1.
    #[inline]
    pub(crate) fn apply_l1_store(&mut self, id: CoreId, store: &Store, end: Cycle) {
        if self.write_l1(store.addr, store.value, store.width, end) {
            let Store { cycle, addr, value, pc, width } = *store;
            self.emit(cycle, AgentId::Core(id), pc, || Event::L1Store { addr, value, width });
        }
    }

    /// Forgets stores that have been applied.
    pub(crate) fn clear_posted(&mut self) {
        for id in CoreId::ALL {
            let core = &mut self.slots[id];
            if !core.batch.stores.is_empty() {
                core.clear_posted();
            }
        }
    }

    /// Whether certainly no two cores stored to the same word.
    fn stores_are_disjoint(&self) -> bool {
        let (mut words, mut blocks) = (0, 0);
        for (_, core) in self.iter() {
            let (own_words, own_blocks) = core.stored_summary();
            if words & own_words != 0 && blocks & own_blocks != 0 {
                return false;
            }
            words |= own_words;
            blocks |= own_blocks;
        }
        true
    }

    /// The order in which the stores happened, in 64 bits if they suffice.
    fn in_order(&self, start: Cycle, end: Cycle) -> Order {
        let mut bits = 0;
        for (id, core) in self.iter() {
            let mut own = 0;
            for store in &core.batch.stores {
                // Before the epoch is far behind it.
                let cycle = store.cycle.0.wrapping_sub(start.0);
                let bit = 1_u64 << (8 * (cycle & 7));
                if cycle > 7 || own & bit != 0 {
                    return Order::ByCycle { start, end };
                }
                own |= bit;
            }
            bits |= own << id as u64;
        }
        Order::Bits(bits)
    }
}
