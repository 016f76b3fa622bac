//! The commit phase: everything the cores did takes effect, in `(cycle, agent)` order,
//! interleaved with the coprocessor and the NoC.

use sim_core::l1::L1_BYTES;
use sim_core::{
    AgentId, Context, CoreId, CoreSet, Cycle, Event, Observer, Shortcut, Stamp, Store, WaitReason,
    Width,
};

use riscv::Status;

use crate::asker::pushed_thread;
use crate::plan;
use crate::tile::Tile;
use crate::waiting::{CoreWait, PushWait, Served};

impl<O: Observer + ?Sized> Tile<O> {
    /// Applies the epoch `[start, end)`.
    pub(crate) fn commit(&mut self, start: Cycle, end: Cycle) {
        let is_busy = self.retry_requests || !self.tensix.is_asleep();
        let is_due = self.fabric.is_due_before(end);
        let mut touched = is_busy || is_due;
        let (mut posted, mut parked, mut watching, mut stale) = (false, false, false, false);
        let mut settled = plan::may_skip_ends::<O>() && self.push_waits.iter().all(Option::is_none);
        for (_, core) in self.cores.iter() {
            let batch = &core.batch;
            posted |= !batch.stores.is_empty();
            if core.is_plain() {
                continue;
            }
            touched |= batch.device_stores != 0
                || batch.fault.is_some()
                || batch.request.is_some_and(|request| request.cycle >= start);
            match core.status() {
                Status::Parked(spin) => {
                    parked = true;
                    if spin.watches_devices() {
                        watching = true;
                        stale |= spin.seen() < self.devices_steady_since;
                    }
                }
                Status::Halted | Status::PushBlocked(_) => settled = false,
                _ => {}
            }
        }
        // An atomic of the coprocessor may wait for one of these stores.
        let is_awaited = posted && self.tensix.watched_l1().is_some();
        touched |= is_awaited;
        // Whether anything may change in this epoch that a parked core looks at.
        let stirred = watching
            && (is_busy
                || is_awaited
                || is_due && self.packets_show(end)
                || self.cores_show(start));
        stale &= stirred || !self.renew_device_watchers(start, end);
        touched |= stirred | stale | !self.takes(Shortcut::QuietCommits);
        if stirred | stale {
            self.rouse_device_watchers(start, end);
        }
        if touched {
            self.commit_cycles(start, end);
            if self.tensix.is_asleep() {
                for id in CoreId::ALL {
                    self.cores[id].calm();
                }
            }
        } else if posted {
            // The words of cores that parked in this very epoch must be known; without such
            // cores there is only what the host watches.
            if parked || self.shared.watched() != self.host_watch {
                self.refresh_watches();
            }
            self.commit_memory(start, end);
        }
        self.wake_by_stores(end);
        self.now = end;
        if touched || stale || !settled {
            self.finish_cores(end);
            self.retry_requests &= self.anybody_waits();
            if !self.debug_queue.is_empty() {
                self.run_debug_queue();
            }
        } else if posted {
            // Nobody got an answer, failed, halted or began to wait.
            for id in CoreId::ALL {
                let core = &mut self.cores[id];
                if !core.batch.stores.is_empty() {
                    core.clear_posted();
                }
            }
        }
    }

    /// Cores whose words were written go on.
    pub(crate) fn wake_by_stores(&mut self, end: Cycle) {
        if !std::mem::take(&mut self.watch_hit) {
            return;
        }
        for id in CoreId::ALL {
            if !self.cores[id].spin_holds(&self.shared.l1) {
                self.wake_core(id, end);
            }
        }
    }

    /// Whether a core waits for an answer: what changes matters to nobody else.
    pub(crate) fn anybody_waits(&self) -> bool {
        self.cores.iter().any(|(_, core)| matches!(core.status(), Status::Waiting))
    }

    /// A store that a core has posted, by its number.
    #[inline]
    fn posted(&self, id: CoreId, index: usize) -> Option<&Store> {
        self.cores[id].batch.stores.get(index)
    }

    /// Nothing but L1 stores happened.
    fn commit_memory(&mut self, start: Cycle, end: Cycle) {
        if !self.takes(Shortcut::MergedStores) {
            self.commit_memory_slowly(start, end);
            return;
        }
        // Stores to different words may be applied in any order if nobody reports them.
        if plan::may_reorder_stores::<O>() && self.stores_are_disjoint() {
            for id in CoreId::ALL {
                if self.cores[id].batch.stores.is_empty() {
                    continue;
                }
                let mut next = 0;
                while let Some(index) = self.apply_quiet_stores_of(id, next) {
                    let store = self.cores[id].batch.stores[index];
                    self.apply_l1_store(id, &store, end);
                    next = index + 1;
                }
            }
            return;
        }
        let Some(mut order) = self.store_order(start) else {
            self.commit_memory_slowly(start, end);
            return;
        };
        let mut next = [0; CoreId::COUNT];
        while let Some((id, index)) = self.apply_quiet_stores(&mut order, &mut next) {
            let store = self.cores[id].batch.stores[index];
            self.apply_l1_store(id, &store, end);
        }
    }

    /// The same on trial: what is overwritten is added to `kept`, with its address. `false`: somebody
    /// may notice a store.
    pub(crate) fn commit_kept(&mut self, kept: &mut Vec<(u32, u32)>) -> bool {
        let mut done = true;
        if self.stores_are_disjoint() {
            for id in CoreId::ALL {
                done &=
                    self.cores[id].batch.stores.iter().all(|store| self.write_kept(store, kept));
            }
        } else if let Some(mut order) = self.store_order(self.now) {
            let mut next = [0; CoreId::COUNT];
            while order != 0 && done {
                let id = CoreId::ALL[(order.trailing_zeros() & 7) as usize % CoreId::COUNT];
                order &= order - 1;
                let store = &self.cores[id].batch.stores[next[id.index()]];
                next[id.index()] += 1;
                done = self.write_kept(store, kept);
            }
        } else {
            return false;
        }
        for id in CoreId::ALL {
            let core = &mut self.cores[id];
            if !core.batch.stores.is_empty() {
                core.clear_posted();
            }
        }
        done
    }

    #[inline]
    fn write_kept(&self, store: &Store, kept: &mut Vec<(u32, u32)>) -> bool {
        kept.push((store.addr & !3, self.shared.l1.word(store.addr)));
        self.shared.run_view().write_quiet(store.addr, store.value, store.width)
    }

    /// Whether certainly no two cores stored to the same word.
    fn stores_are_disjoint(&self) -> bool {
        let (mut words, mut blocks) = (0, 0);
        for (_, core) in self.cores.iter() {
            let (own_words, own_blocks) = core.stored_summary();
            if words & own_words != 0 && blocks & own_blocks != 0 {
                return false;
            }
            words |= own_words;
            blocks |= own_blocks;
        }
        true
    }

    /// Applies a core's stores from that one on, up to one that somebody may notice.
    #[inline]
    fn apply_quiet_stores_of(&self, id: CoreId, from: usize) -> Option<usize> {
        let view = self.shared.run_view();
        let stores = self.cores[id].batch.stores.get(from..)?;
        // Nearly all stores are of words: worth a copy of the code without shifts.
        let quiet = |store: &Store| match store.width {
            Width::Word => view.write_quiet(store.addr, store.value, Width::Word),
            width => view.write_quiet(store.addr, store.value, width),
        };
        stores.iter().position(|store| !quiet(store)).map(|index| from + index)
    }

    /// The posted stores in the order in which they happened: bit *8 c + i* says that core *i*
    /// stored in the *c*th cycle after `start`. `None` if that cannot be said in 64 bits.
    fn store_order(&self, start: Cycle) -> Option<u64> {
        let mut order = 0;
        for (id, core) in self.cores.iter() {
            for store in &core.batch.stores {
                let bit = store.cycle.0.checked_sub(start.0).filter(|&cycle| cycle < 8)?;
                let bit = 1 << (8 * bit + id as u64);
                if order & bit != 0 {
                    return None;
                }
                order |= bit;
            }
        }
        Some(order)
    }

    /// Applies stores, in that order, up to one that somebody may notice; says which that is: the
    /// store with that number of that core.
    fn apply_quiet_stores(
        &self,
        order: &mut u64,
        next: &mut [usize; CoreId::COUNT],
    ) -> Option<(CoreId, usize)> {
        let view = self.shared.run_view();
        while *order != 0 {
            let id = CoreId::ALL[(order.trailing_zeros() & 7) as usize % CoreId::COUNT];
            *order &= *order - 1;
            let index = next[id.index()];
            next[id.index()] += 1;
            let store = &self.cores[id].batch.stores[index];
            if !view.write_quiet(store.addr, store.value, store.width) {
                return Some((id, index));
            }
        }
        None
    }

    /// The same for any number of cycles and stores.
    fn commit_memory_slowly(&mut self, start: Cycle, end: Cycle) {
        let mut next = [0; CoreId::COUNT];
        let mut cycle = start;
        while cycle < end {
            for id in CoreId::ALL {
                while let Some(&store) = self.posted(id, next[id.index()])
                    && store.cycle <= cycle
                {
                    next[id.index()] += 1;
                    self.apply_l1_store(id, &store, end);
                }
            }
            cycle += 1;
        }
    }

    /// Something else happened: cycle by cycle.
    fn commit_cycles(&mut self, start: Cycle, end: Cycle) {
        self.refresh_watches();
        let acting = self.acting();
        let mut next = [0; CoreId::COUNT];
        let mut cycle = start;
        while cycle < end {
            self.device_change = false;
            self.deliver_noc(cycle, end);
            let mut changed = self.device_change;
            for id in acting.iter() {
                while let Some(&store) = self.posted(id, next[id.index()])
                    && store.cycle <= cycle
                {
                    next[id.index()] += 1;
                    // A core that was put into reset meanwhile has not done the rest.
                    if !matches!(self.cores[id].status(), Status::Reset) {
                        self.apply_store(id, &store, end);
                    }
                    changed |= store.addr >= L1_BYTES;
                }
                changed |= self.try_request(id, cycle, end);
            }
            changed |= !self.tensix.is_asleep();
            if self.tensix.watched_l1().is_some() {
                self.tensix.wake();
            }
            let until = self.next_deed(acting, &next, cycle + 1, end);
            let mut done = cycle + 1;
            if !self.tensix.is_asleep() {
                changed = true;
                (done, _) = self.run_tensix(cycle, until);
            }
            if changed {
                self.devices_steady_since = done;
            }
            cycle = done;
            if self.tensix.is_asleep() && until > done {
                // Nobody does anything in the cycles between.
                self.device_change = false;
                cycle = until;
            }
        }
        self.retry_requests = self.device_change;
        self.credits_stale = true;
        if self.tensix.watched_l1().is_some() {
            // The lone runner has to know before the next epoch begins.
            self.refresh_watches();
        }
    }

    /// The cores that stored something or ask for something.
    fn acting(&self) -> CoreSet {
        let mut acting = CoreSet::EMPTY;
        for (id, core) in self.cores.iter() {
            if !core.batch.stores.is_empty() || core.batch.request.is_some() {
                acting.insert(id);
            }
        }
        acting
    }

    /// The first cycle, `soonest` or later, in which anybody but the coprocessor does something: a core, a
    /// packet.
    fn next_deed(
        &self,
        acting: CoreSet,
        next: &[usize; CoreId::COUNT],
        soonest: Cycle,
        end: Cycle,
    ) -> Cycle {
        if !self.takes(Shortcut::BusySpans) {
            return soonest;
        }
        let mut deed = self.fabric.next_due().map_or(end, |due| due.min(end));
        for id in acting.iter() {
            if let Some(store) = self.posted(id, next[id.index()]) {
                deed = deed.min(store.cycle);
            }
            if let Some(request) = &self.cores[id].batch.request
                && self.answers[id.index()].is_none()
            {
                deed = deed.min(request.cycle);
            }
        }
        // What could not be answered is tried again in every cycle.
        deed.max(soonest)
    }

    /// After everything took effect: answers, faults, logs.
    fn finish_cores(&mut self, end: Cycle) {
        for id in CoreId::ALL {
            if let Some(answer) = self.answers[id.index()].take() {
                self.cores[id].complete(&self.shared, answer.value, answer.steady, end);
                self.collect_debug_result(id);
            }
            let core = &mut self.cores[id];
            if let Some(fault) = core.batch.fault.take() {
                self.report(fault);
            }
            let core = &mut self.cores[id];
            if matches!(core.status(), Status::Halted) && !self.known_halts.contains(id) {
                self.known_halts.insert(id);
                self.halted.get_or_insert(id);
                let pc = core.pc();
                self.note_ebreak(id, end);
                self.emit(end, AgentId::Core(id), pc, || Event::Halt { core: id });
            }
            self.track_push_block(id, end);
            self.hand_over_logs(id);
            self.cores[id].clear_posted();
        }
    }

    /// What a core has executed, for those who asked.
    pub(crate) fn hand_over_logs(&mut self, id: CoreId) {
        let batch = &self.cores[id].batch;
        if !batch.retired.is_empty() {
            self.observer.retires(id, &batch.retired);
        }
        if !batch.jumps.is_empty() {
            self.observer.jumps(id, &batch.jumps);
        }
    }

    /// The same for a core that did nothing but push.
    pub(crate) fn finish_pushes(&mut self, id: CoreId, end: Cycle) {
        self.track_push_block(id, end);
        self.cores[id].clear_posted();
    }

    /// Emits an event; the closure is not even built when nobody listens.
    #[inline]
    pub(crate) fn emit(
        &mut self,
        cycle: Cycle,
        agent: AgentId,
        pc: u32,
        event: impl FnOnce() -> Event,
    ) {
        self.observer.tell(Stamp { cycle, agent, pc }, event);
    }

    pub(crate) fn apply_store(&mut self, id: CoreId, store: &Store, end: Cycle) {
        if store.addr < L1_BYTES {
            self.apply_l1_store(id, store, end);
            return;
        }
        self.device_change = true;
        if let Err(fault) = self.device_store(id, store, end) {
            let at = Context {
                cycle: store.cycle,
                agent: AgentId::Core(id),
                pc: Some(store.pc),
                word: None,
            };
            self.report(Box::new(fault.at(at)));
        }
    }

    #[inline]
    fn apply_l1_store(&mut self, id: CoreId, store: &Store, end: Cycle) {
        if self.write_l1(store.addr, store.value, store.width, end) {
            let Store { cycle, addr, value, pc, width } = *store;
            self.emit(cycle, AgentId::Core(id), pc, || Event::L1Store { addr, value, width });
        }
    }

    /// Tries to answer the outstanding request of a core. Gives whether that may have changed a
    /// device.
    pub(crate) fn try_request(&mut self, id: CoreId, cycle: Cycle, end: Cycle) -> bool {
        let Some(request) = self.cores[id].batch.request else { return false };
        if request.cycle > cycle || self.answers[id.index()].is_some() {
            return false;
        }
        match self.serve(id, &request, cycle, end) {
            Ok(Served::Done(answer)) => {
                // A steady answer is a look at something that stays as it is.
                self.device_change |= !answer.steady;
                self.answers[id.index()] = Some(answer);
                if let Some(wait) = self.core_waits[id.index()].take() {
                    let (agent, CoreWait { told: reason, since, .. }) = (AgentId::Core(id), wait);
                    self.emit(cycle, agent, request.pc, || Event::WaitEnd { reason, since });
                }
                return !answer.steady;
            }
            Ok(Served::Wait(reason)) => self.note_wait(id, request.pc, reason, cycle),
            Err(fault) => {
                let at = Context {
                    cycle: request.cycle,
                    agent: AgentId::Core(id),
                    pc: Some(request.pc),
                    word: None,
                };
                self.report(Box::new(fault.at(at)));
                self.cores[id].refuse_request();
            }
        }
        false
    }

    /// Remembers why the request of a core is unanswered, and tells observers the first time.
    pub(crate) fn note_wait(&mut self, id: CoreId, pc: u32, reason: WaitReason, cycle: Cycle) {
        if let Some(wait) = &mut self.core_waits[id.index()] {
            wait.reason = reason;
        } else {
            self.core_waits[id.index()] = Some(CoreWait { told: reason, reason, since: cycle });
            self.emit(cycle, AgentId::Core(id), pc, || Event::WaitBegin { reason });
        }
    }

    /// Waits for room in an instruction FIFO begin and end between epochs.
    fn track_push_block(&mut self, id: CoreId, end: Cycle) {
        let blocked = match self.cores[id].status() {
            Status::PushBlocked(window) => Some(pushed_thread(id, *window)),
            _ => None,
        };
        let (pc, slot) = (self.cores[id].pc(), id.index());
        match (blocked, self.push_waits[slot]) {
            (Some(reason), None) => {
                self.push_waits[slot] = Some(PushWait { reason, since: end, pc });
                self.emit(end, AgentId::Core(id), pc, || Event::WaitBegin { reason });
            }
            (None, Some(PushWait { reason, since, pc })) => {
                self.push_waits[slot] = None;
                self.emit(end, AgentId::Core(id), pc, || Event::WaitEnd { reason, since });
            }
            _ => {}
        }
    }
}
