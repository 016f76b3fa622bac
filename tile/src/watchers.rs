//! Cores parked on device registers.
//!
//! A parked core's L1 words are watched; registers of devices are not. Such a core is taken out of
//! its loop for every epoch in which something may change what it reads, and its values are looked
//! up once more where the last change may have come between two of them.

use devices::{Niu, ReadClass};
use memory_map::{Target, lookup};
use riscv::{Core, Spin, view};
use sim_core::engine::Slots;
use sim_core::l1::L1_BYTES;
use sim_core::{
    CoreId, CoreSet, Cycle, EpochLength, Observer, Request, RequestKind, Shortcut, Store, ThreadId,
};
use tensix::Coprocessor;

use crate::bus::Bus;
use crate::devices::Devices;
use crate::fabric::Fabric;
use crate::route::overlay_register;

/// A set of devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeviceSet(u64);

impl DeviceSet {
    pub(crate) const NONE: Self = Self(0);

    /// DeviceSet whose registers show nothing but themselves. The debug registers of the control block, say, show
    /// other units.
    const PLAIN: u64 = Target::Noc0.bit()
        | Target::Noc1.bit()
        | Target::Overlay.bit()
        | Target::GprOwn.bit()
        | Target::GprAll.bit()
        | Target::TensixCfg.bit()
        | Target::Semaphores.bit();

    /// Registers that show nothing of what the coprocessor does but its register stores.
    const SELDOM: u64 = Target::Noc0.bit() | Target::Noc1.bit() | Target::Overlay.bit();

    /// What never changes those.
    const APART: u64 = Target::L1.bit()
        | Target::Overlay.bit()
        | Target::MopCfgOwn.bit()
        | Target::GprAll.bit()
        | Target::GprOwn.bit()
        | Target::PushOwn.bit()
        | Target::PushT0AfterMop.bit()
        | Target::PushT1AfterMop.bit()
        | Target::PushT2AfterMop.bit()
        | Target::PcBufT0.bit()
        | Target::PcBufT1.bit()
        | Target::PcBufT2.bit()
        | Target::PcBufOwn.bit()
        | Target::TtSync.bit()
        | Target::Semaphores.bit()
        | Target::Mailbox.bit()
        | Target::TensixCfg.bit();

    /// Whether one of them may show what changes in `targets`.
    const fn show(self, targets: u64) -> bool {
        self.0 & (targets | !Self::PLAIN) != 0
    }
}

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
        Target::Noc0 | Target::Noc1 => Niu::read_class(hit.offset) == ReadClass::Pure,
        _ => false,
    }
}

/// Cores parked on registers, and the devices that they may look at.
pub(crate) struct Watchers<'a> {
    cores: &'a Slots<Core>,
    devices: &'a Devices,
    tensix: &'a Coprocessor,
    fabric: &'a Fabric,
    epoch: EpochLength,
    /// Whether [`Shortcut::DeviceWatchers`] is taken; else everything shows.
    is_on: bool,
}

impl<'a> Watchers<'a> {
    pub(crate) fn of<O: Observer + ?Sized>(bus: &'a Bus<O>) -> Self {
        let Bus { cores, devices, tensix, fabric, .. } = bus;
        let is_on = bus.takes(Shortcut::DeviceWatchers);
        let epoch = bus.config.epoch;
        Self { cores: &cores.slots, devices, tensix: &tensix.unit, fabric, epoch, is_on }
    }

    /// Of which devices cores parked on registers look at some.
    pub(crate) fn watched_devices(&self) -> DeviceSet {
        let spins = self.cores.iter().filter_map(|(_, core)| core.spin());
        DeviceSet(spins.fold(0, |all, spin| all | spin.targets()))
    }

    /// Whether a core may be parked on what an NIU shows.
    pub(crate) fn look_at_nius(&self) -> bool {
        self.watched_devices().show(Target::Noc0.bit() | Target::Noc1.bit())
    }

    /// Whether a store to a device concerns the coprocessor, or cores parked on registers of `watched`.
    pub(crate) fn store_shows(&self, id: CoreId, store: &Store, watched: DeviceSet) -> bool {
        let Some(hit) = lookup(view(id), store.addr) else { return true };
        match hit.target {
            Target::Noc0 if self.devices.nius[0].takes_setting(hit.offset) => {
                watched.show(Target::Noc0.bit())
            }
            Target::Noc1 if self.devices.nius[1].takes_setting(hit.offset) => {
                watched.show(Target::Noc1.bit())
            }
            _ if !self.tensix.sleeps_on() => true,
            Target::Overlay => watched.show(Target::Overlay.bit()),
            Target::GprOwn | Target::GprAll => {
                watched.show(Target::GprOwn.bit() | Target::GprAll.bit())
            }
            Target::MopCfgOwn => watched.show(0),
            _ => true,
        }
    }

    /// The cores parked on registers that anything concerns which cores have done since `start`.
    pub(crate) fn shown_by_cores(&self, start: Cycle) -> CoreSet {
        let spins = self.cores.iter().filter_map(|(id, core)| Some((id, core.spin()?)));
        let mut shown = CoreSet::EMPTY;
        for (id, spin) in spins.filter(|(_, spin)| spin.watches_devices()) {
            if self.cores_show(start, DeviceSet(spin.targets())) {
                shown.insert(id);
            }
        }
        shown
    }

    /// Whether anything that cores have done since `start` concerns one parked on registers of `watched`.
    fn cores_show(&self, start: Cycle, watched: DeviceSet) -> bool {
        self.cores.iter().any(|(id, core)| {
            let batch = &core.batch;
            let request = batch.request.filter(|request| request.cycle >= start);
            let mut stores = batch.stores.iter().filter(|store| store.addr >= L1_BYTES);
            batch.fault.is_some()
                || request.is_some_and(|request| !is_pure_load(id, &request))
                || stores.any(|store| self.store_concerns(id, store, watched))
        })
    }

    /// Whether a store to a device concerns cores parked on registers of `watched`. What an NIU is given, a
    /// command too, changes nothing in that epoch but what itself shows, or what is changed by a read of it: a packet
    /// takes longer to get anywhere.
    fn store_concerns(&self, id: CoreId, store: &Store, watched: DeviceSet) -> bool {
        let other = match lookup(view(id), store.addr).map(|hit| hit.target) {
            Some(Target::Noc0) if self.epoch.cycles() <= self.fabric.least_cycles() => 1,
            Some(Target::Noc1) if self.epoch.cycles() <= self.fabric.least_cycles() => 0,
            _ => return self.store_shows(id, store, watched),
        };
        let nius = [Target::Noc0.bit(), Target::Noc1.bit()];
        watched.show(nius[1 - other])
            || self.devices.nius[other].reads_change_it() && watched.show(nius[other])
    }

    /// Whether a core looks at registers that nothing but cores, packets and register stores change.
    pub(crate) fn looks_at_plain(&self, id: CoreId) -> bool {
        let Some(spin) = self.cores[id].spin() else { return false };
        spin.words() == 0 && spin.targets() & !DeviceSet::SELDOM == 0
    }

    /// Whether anything that cores have done since `start` may change registers of [`DeviceSet::SELDOM`] that one is
    /// parked on.
    pub(crate) fn cores_touch(&self, start: Cycle) -> bool {
        let watched = self.watched_devices();
        self.cores.iter().any(|(id, core)| {
            let batch = &core.batch;
            let touches = |addr: u32, stores: bool| {
                let Some(hit) = lookup(view(id), addr) else { return true };
                match hit.target {
                    Target::Noc0 | Target::Noc1 | Target::Overlay if stores => {
                        watched.0 & hit.target.bit() != 0
                    }
                    Target::Noc0 | Target::Noc1 => Niu::read_class(hit.offset) != ReadClass::Pure,
                    target => target.bit() & DeviceSet::APART == 0,
                }
            };
            let asks = |request: &Request| match request.kind {
                RequestKind::Load => touches(request.addr, false),
                RequestKind::Store { .. } => touches(request.addr, true),
                RequestKind::Amo { .. } | RequestKind::StatusCsr => false,
            };
            let request = batch.request.filter(|request| request.cycle >= start);
            let mut stores = batch.stores.iter().filter(|store| store.addr >= L1_BYTES);
            batch.fault.is_some()
                || request.is_some_and(|request| asks(&request))
                || stores.any(|store| touches(store.addr, true))
        })
    }

    /// Whether a device is certain to take a store that concerns nothing else.
    pub(crate) fn is_certain(&self, id: CoreId, store: &Store) -> bool {
        let Some(hit) = lookup(view(id), store.addr) else { return false };
        let index = hit.offset / 4;
        match hit.target {
            Target::Noc0 | Target::Noc1 => true,
            Target::Overlay => {
                let (stream, register) = overlay_register(hit.offset);
                self.devices.overlay.takes(stream, register, store.value)
            }
            Target::GprOwn => id.thread().is_some(),
            Target::GprAll => ThreadId::from_index((index / 64) as usize).is_some(),
            Target::MopCfgOwn => id.thread().is_some() && Coprocessor::has_mop_word(index),
            _ => false,
        }
    }

    /// Whether packets do anything to registers before `end` that a core may notice.
    pub(crate) fn packets_show(&self, end: Cycle) -> bool {
        !self.shown_by_packets(end).is_empty()
    }

    /// The cores that may notice before `end` what packets do to registers, if they are parked on some: all if packets
    /// access others than their own counters.
    pub(crate) fn shown_by_packets(&self, end: Cycle) -> CoreSet {
        if !self.is_on {
            return CoreSet::ALL;
        }
        let watched = self.watched_devices();
        let looks_at = [Target::Noc0, Target::Noc1].map(|noc| watched.show(noc.bit()));
        // What the registers would show then.
        let mut nius: [Option<Niu>; 2] = [None, None];
        for (packet, stage) in self.fabric.reached_before(end) {
            let is_carried_out = stage.is_none() || packet.target().includes_own();
            if packet.goes_beyond(L1_BYTES.into())
                || is_carried_out && packet.asks_beyond(L1_BYTES.into())
            {
                return CoreSet::ALL;
            }
            let noc = usize::from(packet.noc & 1);
            if looks_at[noc] {
                let niu = nius[noc].get_or_insert_with(|| self.devices.nius[noc].clone());
                match stage {
                    Some(stage) => niu.advance(packet, stage),
                    None => niu.receive(packet),
                }
            }
        }
        let mut shown = CoreSet::EMPTY;
        for (id, core) in self.cores.iter() {
            if let Some(spin) = core.spin()
                && spin.watches_devices()
                && (DeviceSet(spin.targets()).show(0) || loads_show(id, spin, &mut nius))
            {
                shown.insert(id);
            }
        }
        shown
    }
}

/// Whether NIUs, of those given, show something else than a core is parked on.
///
/// Stages only add to a register or only take from it: what differs on the way differs at the end.
/// What is no register of an NIU changes by writes only.
fn loads_show(id: CoreId, spin: &Spin, nius: &mut [Option<Niu>; 2]) -> bool {
    if nius.iter().all(Option::is_none) {
        return false;
    }
    let mut loads = spin.loads().iter().filter(|load| load.device);
    loads.any(|load| {
        let Some(hit) = lookup(view(id), load.addr) else { return false };
        let niu = match hit.target {
            Target::Noc0 => &mut nius[0],
            Target::Noc1 => &mut nius[1],
            _ => return false,
        };
        let Some(niu) = niu else { return false };
        let shift = (load.addr & 3) * 8;
        let shown = |word: u32| word >> shift & load.width.mask();
        Niu::read_class(hit.offset & !3) != ReadClass::Pure
            || niu.read(hit.offset & !3).map(shown) != Ok(load.value)
    })
}
