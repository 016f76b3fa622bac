//! An observer of one tile whose names change with each launch.
//!
//! A launch is told by a go signal. Before the tile goes on its L1 is looked at: the launch message stands
//! there and nobody has taken it up, so that the names are those of what runs then, however soon another
//! launch follows. Without the vendor's firmware it is a core's leaving of reset that says so.
//!
//! Kernels of a launch that is there in time are started before its go signal and wait for it. As soon as the launch
//! message in force says so, its names are known.

use std::sync::Arc;

use memory_map::mailbox::Layout;
use sim_core::observer::ParkedSpan;
use sim_core::{CoreId, Cycle, Event, Jump, L1, Observer, Retire, Stamp};
use symbols::catalog::Catalog;
use symbols::tile_names::TileNames;

use crate::go::{Go, Preload};
use crate::names::{read_early, read_l1};

/// An observer that is told of launches.
pub trait Sink: Observer + Send + 'static {
    /// Something was launched in that cycle; what runs from now on has those names. `runs` is false for a core
    /// that has left reset without a launch.
    fn launched(&mut self, cycle: Cycle, names: &Arc<TileNames>, is_launch: bool);

    /// What is started before its go signal has those names; they are those of the next launch.
    fn announced(&mut self, names: &Arc<TileNames>) {
        let _ = names;
    }
}

/// Launch messages of a version that is not known yet may be longer: so many bytes further its go messages still are
/// seen. Those of older versions are shorter.
const NEWER: u32 = 0x80;

/// The observer.
#[derive(Debug)]
pub struct Eye<S> {
    sink: S,
    go: Go,
    /// When something was launched that has not been looked at, and whether by a go signal.
    due: Option<(Cycle, bool)>,
    preload: Preload,
    /// Whether kernels may have been started early since last looked at.
    may_be_early: bool,
    /// The next launch's, if it has been announced.
    early: Option<Arc<TileNames>>,
    catalog: Arc<Catalog>,
}

impl<S: Sink> Eye<S> {
    /// Watches for launches on behalf of `sink`.
    #[must_use]
    pub fn new(sink: S, catalog: Arc<Catalog>) -> Self {
        let layout = Layout::built_in();
        let (go, preload) = (Go::of(layout), Preload::of(layout));
        Self { sink, go, due: None, preload, may_be_early: false, early: None, catalog }
    }

    /// On whose behalf.
    #[must_use]
    pub const fn sink(&self) -> &S {
        &self.sink
    }
}

impl<S: Sink + 'static> Observer for Eye<S> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.sink.event(stamp, event);
        if self.go.is_given(event) {
            self.due = Some((stamp.cycle, true));
        } else if matches!(event, Event::Reset { asserted: false, .. }) {
            self.due.get_or_insert((stamp.cycle, false));
        } else if self.early.is_none() && self.preload.is_touched(event) {
            self.may_be_early = true;
        }
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.sink.wants_retires(core)
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.sink.retire(core, retire);
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        self.sink.retires(core, retires);
    }

    fn wants_jumps(&self, core: CoreId) -> bool {
        self.sink.wants_jumps(core)
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        self.sink.jumps(core, jumps);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.sink.parked(core, span);
    }

    fn wants_l1_reads(&self) -> bool {
        self.sink.wants_l1_reads()
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        self.sink.l1_read(stamp, addr, bytes);
    }

    fn wants_dst_reads(&self) -> bool {
        self.sink.wants_dst_reads()
    }

    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        self.sink.dst_read(stamp, rows, held);
    }

    fn wants_look(&self) -> bool {
        self.due.is_some() || self.may_be_early
    }

    fn look(&mut self, l1: &L1) {
        let may_be_early = std::mem::take(&mut self.may_be_early);
        if let Some((cycle, is_launch)) = self.due.take() {
            let early = self.early.take();
            let names = read_l1(l1, &self.catalog, early.as_deref());
            if let Some(mailbox) = names.mailbox() {
                let layout = mailbox.layout();
                (self.go, self.preload) = (Go::of(layout), Preload::of(layout));
            }
            self.sink.launched(cycle, &names, is_launch);
        } else if may_be_early && let Some(names) = read_early(l1, &self.catalog) {
            self.sink.announced(&names);
            self.early = Some(names);
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        let mut ranges = self.sink.observed_l1();
        let (first, end) = self.preload.range();
        ranges.extend([self.go.range(), (first, end + NEWER)]);
        ranges
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use isa::asm::j;
    use sim_core::{AgentId, Width};
    use symbols::catalog::{Item, ItemKind};
    use symbols::image::Image;

    use super::*;

    /// Notes which slot of the launch ring each launch was read from, and which of them were announced.
    #[derive(Debug, Default)]
    struct Slots(Vec<(u64, Option<u32>, bool)>, Vec<Option<u32>>);

    impl Observer for Slots {}

    impl Sink for Slots {
        fn launched(&mut self, cycle: Cycle, names: &Arc<TileNames>, is_launch: bool) {
            let slot = names.launched().map(|launched| launched.read_pointer);
            self.0.push((cycle.0, slot, is_launch));
        }

        fn announced(&mut self, names: &Arc<TileNames>) {
            self.1.push(names.launched().map(|launched| launched.read_pointer));
        }
    }

    fn field(name: &str) -> u32 {
        memory_map::mailbox::address(name).expect("the table has it")
    }

    /// L1 with the vendor's firmware, which reads its launches from that slot.
    fn firmware(slot: u32) -> L1 {
        let l1 = L1::new();
        let area = memory_map::layout::AREAS.iter().find(|area| area.name == "brisc_firmware");
        let entry = area.expect("the table has it").base;
        // `jal x0, entry` at address 0 `[riscv-unprivileged: J-type]`.
        let bits = (entry >> 20 & 1) << 31
            | (entry >> 1 & 0x3FF) << 21
            | (entry >> 11 & 1) << 20
            | (entry >> 12 & 0xFF) << 12;
        l1.write(0, bits | 0x6F, Width::Word);
        l1.write(field("launch_msg_rd_ptr"), slot, Width::Word);
        l1
    }

    fn stamp(cycle: u64) -> Stamp {
        Stamp { cycle: Cycle(cycle), agent: AgentId::Host, pc: 0 }
    }

    #[test]
    fn names_are_read_once_per_launch_from_what_stands_then() {
        let catalog = Arc::new(Catalog::from_items([]));
        let mut eye = Eye::new(Slots::default(), catalog);
        let go = field("go_messages[0].signal") & !3;
        let launch = Event::HostWrite { addr: go, value: 0x8000_0000, bytes: 4 };
        let done = Event::L1Store { addr: go + 3, value: 0, width: Width::Byte };
        let mut l1 = firmware(1);
        for (cycle, slot) in [(100, 1), (101, 2)] {
            assert!(!eye.wants_look());
            eye.event(stamp(cycle), &launch);
            eye.event(stamp(cycle), &done);
            assert!(eye.wants_look());
            l1 = if slot == 1 { l1 } else { firmware(slot) };
            eye.look(&l1);
        }
        let released = Event::Reset { core: CoreId::Brisc, asserted: false, pc: 0 };
        eye.event(stamp(200), &released);
        eye.look(&L1::new());
        let expected = [(100, Some(1), true), (101, Some(2), true), (200, None, false)];
        assert_eq!(eye.sink().0, expected);
    }

    /// Firmware of another version has its go messages elsewhere: it is known when BRISC leaves reset.
    #[test]
    fn go_signals_are_those_of_the_firmware_that_was_loaded() {
        const GO: u32 = 0x60 + 912;
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../firmware-tests/programs/versions/older.elf");
        let bytes = std::fs::read(&path).expect("it is there").as_slice().into();
        let item = Item { kind: ItemKind::Elf, path: "brisc/brisc.elf".into(), bytes };
        let mut eye = Eye::new(Slots::default(), Arc::new(Catalog::from_items([item])));
        let covers = |(first, end): &(u32, u32)| (*first..*end).contains(&GO);
        assert!(eye.observed_l1().iter().any(covers), "before it is known");
        let l1 = L1::new();
        for segment in Image::read_elf(&path).expect("a good file").loadable() {
            l1.write_bytes(segment.addr, &segment.bytes);
        }
        l1.write(0, j(0x38E0), Width::Word);
        let launch = Event::HostWrite { addr: GO, value: 0x8000_0000, bytes: 4 };
        eye.event(stamp(100), &launch);
        assert!(!eye.wants_look(), "it means nothing yet");
        let released = Event::Reset { core: CoreId::Brisc, asserted: false, pc: 0 };
        eye.event(stamp(200), &released);
        eye.look(&l1);
        eye.event(stamp(300), &launch);
        eye.look(&l1);
        assert_eq!(eye.sink().0, [(200, Some(0), false), (300, Some(0), true)]);
    }

    /// The launch in force is announced once, when its kernels are started without a go signal: as soon as its message
    /// says so, or firmware comes to it.
    #[test]
    fn launch_is_announced_when_its_kernels_start_early() {
        let catalog = Arc::new(Catalog::from_items([]));
        let mut eye = Eye::new(Slots::default(), catalog);
        let store = |name: &str, value, width| Event::L1Store { addr: field(name), value, width };
        let early = |l1: &L1, slot: u32| {
            let base = format!("launch[{slot}].kernel_config_base[0]");
            l1.write(field(&base), 0x2000, Width::Word);
            l1.write(field(&format!("launch[{slot}].preload")), 0x80, Width::Byte);
        };
        let l1 = firmware(1);
        // The message of a later launch.
        early(&l1, 2);
        eye.event(stamp(100), &store("launch[2].preload", 0x80, Width::Byte));
        assert!(eye.wants_look());
        eye.look(&l1);
        assert_eq!((eye.sink().1.len(), eye.wants_look()), (0, false));
        // Firmware comes to it.
        l1.write(field("launch_msg_rd_ptr"), 2, Width::Word);
        for cycle in [200, 201] {
            eye.event(stamp(cycle), &store("launch_msg_rd_ptr", 2, Width::Word));
            eye.look(&l1);
        }
        assert_eq!((&eye.sink().1, eye.sink().0.len()), (&vec![Some(2)], 0));
        // Its go signal, and firmware that waits at a message that says so.
        eye.event(stamp(300), &store("go_messages[0].signal", 0x80, Width::Byte));
        eye.look(&l1);
        assert_eq!(eye.sink().0, [(300, Some(2), true)]);
        l1.write(field("launch_msg_rd_ptr"), 3, Width::Word);
        early(&l1, 3);
        eye.event(stamp(400), &store("launch[3].preload", 0x80, Width::Byte));
        eye.look(&l1);
        assert_eq!(eye.sink().1, [Some(2), Some(3)]);
    }
}
