//! Random register traffic never panics and stays deterministic: whatever a guest writes, a
//! device answers with a value or a fault.

use devices::{
    Fabric, HostSink, MemoryPort, Niu, NocTiming, Overlay, PcBufs, Pic, Tdma, TileControl, fabric,
    fault::DeviceFault,
};
use proptest::prelude::*;
use sim_core::{CoreId, Cycle, StateHasher, ThreadId};

/// Swallows writes and reads as a pattern.
struct Pattern;

impl MemoryPort for Pattern {
    fn read_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = (address as u8).wrapping_add(i as u8);
        }
        Ok(())
    }

    fn write_bytes(&mut self, _address: u64, _bytes: &[u8]) -> Result<(), DeviceFault> {
        Ok(())
    }
}

/// Offsets that often hit a register.
fn offsets() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (0_u32..0x800).prop_map(|word| word * 4)]
}

/// Offsets of initiator registers, with values that often make a valid request.
fn noc_writes() -> impl Strategy<Value = (u32, u32)> {
    let here = 2_u32 << 6 | 1;
    let offset = (0_u32..4, 0_u32..17).prop_map(|(i, word)| i * 0x800 + word * 4);
    let value = prop_oneof![
        any::<u32>(),
        Just(here),
        Just(1_u32),
        Just(0x2090_u32),
        Just(0x2092_u32),
        Just(0x2091_u32),
        Just(0x80B2_u32),
        (0_u32..0x1800).prop_map(|block| block * 0x100),
    ];
    (offset, value)
}

fn drive_noc(writes: &[(u32, u32)]) -> u64 {
    let mut niu = Niu::new(0, 1, 2);
    let mut flying = Fabric::new(NocTiming::documented());
    let mut sink = HostSink::new();
    for (i, &(offset, value)) in writes.iter().enumerate() {
        let now = Cycle(i as u64);
        while let Some((cycle, mut entry)) = flying.pop(now) {
            if let Ok(Some(access)) = fabric::perform(&mut entry, &mut Pattern) {
                sink.absorb(access, cycle);
            }
            niu.advance(&entry.packet, entry.stage);
            flying.push_back(entry, cycle);
        }
        // Splitting a gigabyte is allowed but slow; nobody needs it here.
        if let Ok(Some(packet)) = niu.write(offset, value, now)
            && packet.parts() < 64
        {
            flying.launch(&packet, now);
        }
        let _ = niu.read(offset);
    }
    let mut hasher = StateHasher::default();
    niu.hash_state(&mut hasher);
    flying.hash_state(&mut hasher);
    sink.hash_state(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn noc_random_commands_are_deterministic(
        writes in proptest::collection::vec(noc_writes(), 0..200)
    ) {
        prop_assert_eq!(drive_noc(&writes), drive_noc(&writes));
    }

    #[test]
    fn register_blocks_random_access_never_panics(
        accesses in proptest::collection::vec((offsets(), any::<u32>(), 0_usize..5), 0..100),
    ) {
        let mut control = TileControl::new();
        let mut tdma = Tdma::new();
        let mut pic = Pic::new();
        let mut niu = Niu::new(1, 16, 11);
        let mut overlay = Overlay::new();
        for (i, &(offset, value, core)) in accesses.iter().enumerate() {
            let now = Cycle(u64::from(value) << 8 | i as u64);
            let core = CoreId::ALL[core];
            let _ = control.write(offset, value, now);
            let _ = control.read(offset, now);
            let _ = control.external_read(offset);
            let _ = TileControl::read_class(offset);
            let _ = control.entry_pc(core);
            let _ = tdma.write(offset, value, core);
            let _ = tdma.read(offset, core, devices::tdma::Shown::default());
            let _ = Tdma::read_class(offset);
            let _ = pic.write(offset, value);
            let _ = pic.read(offset);
            let _ = Pic::snapshot_core(offset);
            let _ = niu.write(offset, value, now);
            let _ = niu.read(offset);
            if let Some((stream, register)) = Overlay::locate(offset & 0x3_FFFF) {
                let _ = overlay.write(stream, register, value, |_| ());
                let _ = overlay.read(stream, register);
            }
        }
    }

    #[test]
    fn overlay_write_reports_exactly_what_reads_differently(
        stream in 0_u8..64,
        writes in proptest::collection::vec((0_u16..42, any::<u32>()), 1..20),
    ) {
        let mut overlay = Overlay::new();
        for (register, value) in writes {
            let before: Vec<_> = (297..329).map(|r| overlay.read(stream, r)).collect();
            let mut changes = Vec::new();
            let changed = overlay.write(stream, register, value, |change| changes.push(change));
            if changed.is_err() {
                continue;
            }
            for (register, before) in (297..329).zip(before) {
                let after = overlay.read(stream, register);
                let reported = changes.iter().any(|change| change.register == register);
                prop_assert_eq!(reported, before != after);
            }
        }
    }

    #[test]
    fn pcbuf_random_traffic_never_exceeds_its_capacity(
        steps in proptest::collection::vec((0_usize..3, any::<bool>(), any::<u32>()), 0..200),
    ) {
        let mut bufs = PcBufs::new();
        for (thread, push, value) in steps {
            let thread = ThreadId::ALL[thread];
            if push {
                let fits = bufs.can_push(thread);
                prop_assert_eq!(bufs.push(thread, value).is_ok(), fits);
            } else {
                bufs.pop(thread);
            }
            prop_assert!(bufs.depth(thread) <= 16);
        }
    }
}
