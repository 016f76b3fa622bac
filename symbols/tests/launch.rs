//! What L1 says about a launch. Layouts and signals: `[spec: boot-and-sync 1.4, 1.5, 7.1, 7.3]`.

mod common;

use common::L1;
use proptest::prelude::*;
use sim_core::CoreId;
use symbols::launch::{CircularBuffer, Dispatch, Launch, Launched, Mailbox, Memory as _, Phase};

const GO: u8 = 0x80;

fn launch(l1: &L1) -> Option<Launch> {
    Launched::read(&l1.memory(), &Mailbox::built_in()).expect("the block is there").launch
}

#[test]
fn launch_of_the_host_has_its_addresses() {
    let mut l1 = L1::booted();
    l1.launch(0, true, 0x1F);
    l1.signal(GO);
    l1.byte(0x70 + 0x68, 1);
    l1.word(0x70 + 0x6C, 0x1234);
    l1.word(0x70 + 0x48 + 4, 0x260);
    l1.watcher_id(0, 1, 7);
    l1.half(0x70 + 0x1E + 4 * 2, 0xFFFF);
    let launch = launch(&l1).expect("a message is there");
    assert_eq!((launch.slot, launch.phase, launch.dispatch), (0, Phase::Running, Dispatch::Host));
    assert_eq!((launch.config_base, launch.host_assigned_id), (0xA080, 0x1234));
    assert_eq!((launch.brisc_noc, launch.semaphores), (1, 0xA180));
    let ncrisc = launch.core(CoreId::Ncrisc);
    assert!(ncrisc.enabled);
    assert_eq!((ncrisc.text, ncrisc.text_bytes, ncrisc.watcher_id), (0xC080, 0x260, 7));
    assert_eq!((ncrisc.arguments, ncrisc.common_arguments), (Some(0xA090), Some(0xA0E0)));
    let trisc0 = launch.core(CoreId::Trisc0);
    assert_eq!((trisc0.arguments, trisc0.common_arguments), (Some(0xA0A0), None));
    assert_eq!(launch.core(CoreId::Trisc2).text, 0xF080);
}

#[test]
fn bit_two_enables_all_triscs() {
    let mut l1 = L1::booted();
    l1.launch(0, true, 0b100);
    let launch = launch(&l1).expect("a message is there");
    let enabled = CoreId::ALL.map(|core| launch.core(core).enabled);
    assert_eq!(enabled, [false, true, true, true, false]);
}

#[test]
fn launch_from_the_device_is_the_slot_before_the_pointer_once_done() {
    let mut l1 = L1::booted();
    l1.launch(3, false, 7);
    l1.watcher_id(3, 0, 9);
    l1.read_pointer(3);
    l1.signal(GO);
    let running = launch(&l1).expect("a message is there");
    assert_eq!((running.slot, running.phase), (3, Phase::Running));
    // Firmware says DONE, clears enables and goes on.
    l1.signal(0);
    l1.word(0x70 + 0x90 * 3 + 0x70, 0);
    l1.read_pointer(4);
    let done = launch(&l1).expect("a message is there");
    assert_eq!((done.slot, done.phase, done.dispatch), (3, Phase::Finished, Dispatch::Device));
    assert_eq!(done.core(CoreId::Brisc).watcher_id, 9);
    // The ring closes.
    l1.launch(7, false, 0);
    l1.read_pointer(0);
    assert_eq!(launch(&l1).map(|launch| launch.slot), Some(7));
}

#[test]
fn next_launch_from_the_device_is_in_force_once_told_to_go() {
    let mut l1 = L1::booted();
    l1.launch(0, false, 0);
    l1.launch(1, false, 7);
    l1.read_pointer(1);
    assert_eq!(launch(&l1).map(|launch| (launch.slot, launch.phase)), Some((0, Phase::Finished)));
    l1.signal(GO);
    assert_eq!(launch(&l1).map(|launch| (launch.slot, launch.phase)), Some((1, Phase::Running)));
}

#[test]
fn launch_before_go_is_staged_or_preloaded() {
    let mut l1 = L1::booted();
    l1.launch(0, false, 7);
    assert_eq!(launch(&l1).map(|launch| launch.phase), Some(Phase::Staged));
    l1.byte(0x70 + 0x8F, 0x80);
    assert_eq!(launch(&l1).map(|launch| launch.phase), Some(Phase::Preloaded));
    l1.signal(GO);
    assert_eq!(launch(&l1).map(|launch| launch.phase), Some(Phase::Running));
}

#[test]
fn host_launch_that_is_done_stays() {
    let mut l1 = L1::booted();
    l1.launch(0, true, 3);
    let launch = launch(&l1).expect("a message is there");
    assert_eq!((launch.slot, launch.phase, launch.enables), (0, Phase::Finished, 3));
}

#[test]
fn go_message_of_a_sub_device_counts() {
    let mut l1 = L1::booted();
    l1.launch(0, false, 7);
    l1.word(0x520, 2);
    l1.bytes(0x4F0 + 8, &[1, 16, 3, 0x80]);
    let launched = Launched::read(&l1.memory(), &Mailbox::built_in()).expect("the block is there");
    assert_eq!((launched.go.index, launched.go.signal, launched.go.master), (2, GO, (16, 3)));
    assert_eq!(launched.launch.map(|launch| launch.phase), Some(Phase::Running));
}

#[test]
fn booted_tile_without_a_launch_has_none() {
    assert_eq!(launch(&L1::booted()), None);
}

#[test]
fn l1_without_the_block_is_told() {
    let read = |change: &dyn Fn(&mut L1)| {
        let mut l1 = L1::booted();
        l1.launch(0, true, 7);
        change(&mut l1);
        Launched::read(&l1.memory(), &Mailbox::built_in())
    };
    assert!(read(&|_| {}).is_some());
    // BRISC of an LLK test begins with its own code: auipc gp.
    assert_eq!(read(&|l1| l1.word(0, 0x0000_0197)), None);
    // A jump elsewhere, or one that saves a return address.
    assert_eq!(read(&|l1| l1.word(0, 0x0000_006F)), None);
    assert_eq!(read(&|l1| l1.word(0, 0x2E10_30EF)), None);
    assert_eq!(read(&|l1| l1.word(0x6C, 8)), None);
    assert_eq!(read(&|l1| l1.word(0x520, 9)), None);
    assert_eq!(read(&|l1| l1.byte(0x4F3, 0x13)), None);
    assert_eq!(read(&|l1| l1.byte(0x6A, 0x77)), None);
    assert_eq!(read(&|l1| l1.word(0xBC4, 0x1234_5678)), None);
    // Hosts of our own need not write the magic number.
    assert!(read(&|l1| l1.word(0xBC4, 0)).is_some());
}

#[test]
fn semaphore_is_known_by_its_address() {
    let mut l1 = L1::booted();
    l1.launch(0, true, 1);
    let launch = launch(&l1).expect("a message is there");
    // 0x20 bytes before the buffers' configurations: two semaphores of 16 bytes.
    assert_eq!(launch.semaphore_count, 2);
    assert_eq!(launch.semaphore(0xA180), Some(0));
    assert_eq!(launch.semaphore(0xA18F), Some(0));
    assert_eq!(launch.semaphore(0xA190), Some(1));
    assert_eq!(launch.semaphore(0xA1A0), None);
    assert_eq!(launch.semaphore(0xA17C), None);
}

#[test]
fn circular_buffers_are_those_of_the_mask() {
    let mut l1 = L1::booted();
    l1.launch(0, true, 1);
    l1.bytes(0x70 + 0x60, &(1_u64 << 3 | 1 << 40).to_le_bytes());
    let config = |l1: &mut L1, index: u32, words: [u32; 4]| {
        for (i, word) in (0..).zip(words) {
            l1.word(0xA1A0 + 16 * index + 4 * i, word);
        }
    };
    config(&mut l1, 2, [0x2_0000, 64, 1, 64]);
    config(&mut l1, 3, [0x3_0000, 4096, 2, 2048]);
    config(&mut l1, 40, [0x4_0000, 2048, 1, 2048]);
    let launch = launch(&l1).expect("a message is there");
    let of = |index, address, bytes, pages| CircularBuffer {
        index,
        address,
        bytes,
        pages,
        page_bytes: 2048,
    };
    assert_eq!(launch.buffers, [of(3, 0x3_0000, 4096, 2), of(40, 0x4_0000, 2048, 1)]);
    assert_eq!(launch.buffer(40).map(|buffer| buffer.address), Some(0x4_0000));
    assert_eq!(launch.buffer_at(0x3_0FFF).map(|buffer| buffer.index), Some(3));
    assert_eq!(launch.buffer_at(0x3_1000), None);
}

#[test]
fn remote_buffers_count_down_and_may_be_absent() {
    let mut l1 = L1::booted();
    l1.launch(0, true, 1);
    l1.byte(0x70 + 0x6A, 62);
    // Index 63 is not on this tile; 62 is.
    l1.word(0xA6A8, 0x5_0000);
    l1.word(0xA6AC, 1024);
    for (i, word) in (0..).zip([1, 4, 0x6_0000, 0, 0x6_0000, 0x5_0040, 0x5_0080, 0x5_0080]) {
        l1.word(0x5_0000 + 4 * i, word);
    }
    let launch = launch(&l1).expect("a message is there");
    let [buffer] = launch.remote_buffers[..] else { panic!("{:?}", launch.remote_buffers) };
    assert_eq!((buffer.index, buffer.page_bytes, buffer.sender), (62, 1024, true));
    assert_eq!((buffer.receivers, buffer.address, buffer.others), (4, 0x6_0000, 0x5_0040));
    assert_eq!(buffer.pages_sent, 0x5_0080);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn damaged_block_never_panics(
        changes in prop::collection::vec((0_u32..0x600, any::<u8>()), 0..200),
        signal in prop::sample::select(vec![0_u8, 0x80]),
        length in 0_usize..0x18_0000,
    ) {
        let mut l1 = L1::booted();
        l1.launch(0, true, 7);
        for (at, value) in changes.into_iter().filter(|(at, _)| *at >= 0x70) {
            l1.byte(at, value);
        }
        l1.signal(signal);
        if let Some(launch) = Launched::read(&l1.memory(), &Mailbox::built_in()).and_then(|found| found.launch) {
            let _ = (launch.semaphore(0xA180), launch.buffer_at(0xA180), launch.buffer(3));
        }
        l1.0.truncate(length);
        let cut = &l1.0[..];
        let _ = Launched::read(&|addr: u32, bytes: &mut [u8]| cut.l1(addr, bytes), &Mailbox::built_in());
    }
}
