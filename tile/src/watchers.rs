//! Cores parked on device registers.
//!
//! A parked core's L1 words are watched; registers of devices are not. Such a core is taken out of
//! its loop for every epoch in which something may change what it reads, and its values are looked
//! up once more where the last change may have come between two of them.

use devices::ReadClass;
use memory_map::{Target, lookup};
use riscv::WatchedLoad;
use sim_core::{CoreId, Cycle, Observer, Request, RequestKind, Shortcut};

use crate::asker::view;
use crate::tile::Tile;
use crate::waiting::Served;

/// Whether a request only looks at a device, which shows the same to the next who asks.
pub(crate) fn is_pure_load(id: CoreId, request: &Request) -> bool {
    if request.kind != RequestKind::Load {
        return false;
    }
    let Some(hit) = lookup(view(id), request.addr) else { return false };
    match hit.target {
        Target::Overlay
        | Target::Semaphores
        | Target::TensixCfg
        | Target::GprOwn
        | Target::GprAll => true,
        Target::Noc0 | Target::Noc1 => devices::Niu::read_class(hit.offset) == ReadClass::Pure,
        _ => false,
    }
}

impl<O: Observer + ?Sized> Tile<O> {
    /// Cores parked on device registers run this epoch like everybody else: something that may
    /// change those registers happens in it, or happened between their read and their parking.
    pub(crate) fn rouse_device_watchers(&mut self, start: Cycle, end: Cycle) {
        use sim_core::Agent as _;
        for id in CoreId::ALL {
            if self.cores[id].spin().is_some_and(riscv::Spin::watches_devices) {
                self.wake_core(id, start);
                self.cores[id].run(&self.shared, end);
            }
        }
    }

    /// In an epoch in which no device changes: whether all cores parked on devices would read again
    /// what they have read. If so, they are parked on values of this epoch from now on.
    pub(crate) fn renew_device_watchers(&mut self, start: Cycle, end: Cycle) -> bool {
        if !self.takes(Shortcut::DeviceWatchers) {
            return false;
        }
        for id in CoreId::ALL {
            let Some(spin) = self.cores[id].spin().filter(|spin| spin.watches_devices()) else {
                continue;
            };
            let loads: Vec<_> = spin.loads.iter().filter(|load| load.device).copied().collect();
            if !loads.iter().all(|load| self.still_shows(id, load, start, end)) {
                return false;
            }
            self.cores[id].renew_spin(start);
        }
        true
    }

    /// Whether a register shows that value, and can be looked at without changing anything.
    fn still_shows(&mut self, id: CoreId, load: &WatchedLoad, start: Cycle, end: Cycle) -> bool {
        let WatchedLoad { addr, value, width, pc, .. } = *load;
        let request = Request { cycle: start, addr, pc, width, kind: RequestKind::Load };
        if !is_pure_load(id, &request) {
            return false;
        }
        match self.serve(id, &request, start, end) {
            Ok(Served::Done(answer)) => answer.steady && answer.value & width.mask() == value,
            _ => false,
        }
    }
}
