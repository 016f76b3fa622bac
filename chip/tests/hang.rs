//! Chips that hang, and chips that only look like it.
//!
//! Programs are a few instructions each; what the vendor's firmware keeps in L1 is written by the host
//! `[spec: boot-and-sync 1.4, 1.5]`.

use std::sync::Arc;

use chip::{Chip, ChipConfig, Hang, HostPoll, Likeness, Role, Stance, Witness};
use isa::asm::{addi, beq, branch, j, li, lw, sw};
use isa::encode;
use memory_map::mailbox::{FIELDS, Field, Layout, MAILBOX_BYTES, address};
use memory_map::reg::tile_control;
use sim_core::{CoreId, WaitReason};
use tile::Verdict;

/// Where tiles are in translated coordinates, and their numbers.
const FIRST: ((u32, u32), u16) = ((1, 2), 0);
const SECOND: ((u32, u32), u16) = ((2, 2), 1);
/// SOFT_RESET_0 with BRISC alone released.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const ONLY_BRISC_RUNS: u32 = 0x4_7000;
/// BRISC and TRISC1 released `[isa-bh: TensixTile/SoftReset.md]`.
const BRISC_AND_TRISC1_RUN: u32 = 0x4_5000;
/// Where TRISC1 starts unless told otherwise `[isa-bh: TensixTile/SoftReset.md]`.
const TRISC1_START: u32 = 0xA000;
/// Program of BRISC, past the mailbox block; address 0 jumps there.
const PROGRAM: u32 = 0x1_0000;
/// Kernel configuration: semaphores at 0x100 to 0x200.
const CONFIG: u32 = 0x2_0000;
const SEMAPHORE: u32 = CONFIG + 0x110;
/// A word that means nothing to firmware.
const WORD: u32 = 0x4_0000;

const GO: u8 = 0x80;
const HOST: u8 = 1;
const DEVICE: u8 = 0;

fn field(name: &str) -> u64 {
    u64::from(address(name).expect("a row of the mailbox table"))
}

fn write(chip: &mut Chip, at: (u32, u32), addr: u64, bytes: &[u8]) {
    chip.tile_write(at.0, at.1, addr, bytes).expect("L1 or a register");
}

/// BRISC executes that.
fn start(chip: &mut Chip, at: (u32, u32), program: &[u32]) {
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    write(chip, at, PROGRAM.into(), &bytes);
    write(chip, at, 0, &j(PROGRAM.cast_signed()).to_le_bytes());
    write(chip, at, SOFT_RESET_0, &ONLY_BRISC_RUNS.to_le_bytes());
}

/// BRISC polls a word until it is not zero.
fn polls(chip: &mut Chip, at: (u32, u32), addr: u32) {
    let mut program = li(5, addr).to_vec();
    program.extend([lw(6, 5, 0), beq(6, 0, -4), j(0)]);
    start(chip, at, &program);
}

/// L1 as the vendor's firmware has it, with a launch of that mode in force or none.
fn firmware(chip: &mut Chip, at: (u32, u32), launched: Option<u8>) {
    write(chip, at, field("core_info.core_magic_number"), &0x50EC_09A3_u32.to_le_bytes());
    write(chip, at, field("launch[0].kernel_config_base[0]"), &CONFIG.to_le_bytes());
    write(chip, at, field("launch[0].sem_offset[0]"), &0x100_u16.to_le_bytes());
    write(chip, at, field("launch[0].local_cb_offset"), &0x200_u16.to_le_bytes());
    if let Some(mode) = launched {
        write(chip, at, field("launch[0].mode"), &[mode]);
        write(chip, at, field("go_messages[0].signal"), &[GO]);
    }
}

/// Firmware between two launches: BRISC polls the go message.
fn resting(chip: &mut Chip, at: (u32, u32)) {
    firmware(chip, at, None);
    let go = field("go_messages[0].signal") as u32 & !3;
    polls(chip, at, go);
}

fn chip() -> Chip {
    Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() })
}

/// The host polls the go message of a tile.
fn go_of((_, tile): ((u32, u32), u16)) -> [HostPoll; 1] {
    let addr = field("go_messages[0].signal") as u32 & !3;
    [HostPoll { tile, addr, bytes: 4 }]
}

/// What is found at each stance.
fn found(chip: &mut Chip, words: &[HostPoll]) -> [Option<Hang>; 3] {
    chip.clock(4096);
    [Stance::Free, Stance::Waits, Stance::Polls]
        .map(|stance| chip.hang(stance, words, &Witness::default()))
}

fn verdicts(hangs: &[Option<Hang>; 3]) -> [Option<Verdict>; 3] {
    [0, 1, 2].map(|at| hangs[at].as_ref().map(|hang| hang.verdict))
}

#[test]
fn device_at_rest_is_no_hang_whatever_the_host_does() {
    let mut chip = chip();
    resting(&mut chip, FIRST.0);
    resting(&mut chip, SECOND.0);
    for words in [&go_of(FIRST)[..], &[]] {
        assert_eq!(verdicts(&found(&mut chip, words)), [None; 3]);
    }
}

#[test]
fn semaphore_that_no_core_is_left_to_count_is_a_deadlock_at_once() {
    let mut chip = chip();
    firmware(&mut chip, FIRST.0, Some(HOST));
    polls(&mut chip, FIRST.0, SEMAPHORE);
    let hangs = found(&mut chip, &[]);
    let hang = hangs[0].as_ref().expect("the host may do anything, and cannot end it");
    assert_eq!(hang.verdict, Verdict::Deadlock);
    let tiles: Vec<_> = hang.stuck().map(|tile| (tile.place.worker(), tile.role)).collect();
    assert_eq!(tiles, [((0, 0), Role::HostLaunched)]);
}

/// Firmware of another version has its fields elsewhere. Until that is said its tile is one without the vendor's
/// firmware, whose words the host may write.
#[test]
fn launch_of_another_versions_firmware_is_known_when_its_layout_is() {
    const APART: u32 = 0x40;
    let moved = |field: &Field| Field { offset: field.offset + APART, ..field.clone() };
    let layout = Layout::new(MAILBOX_BYTES + APART, FIELDS.iter().map(moved).collect());
    let layout = layout.expect("a size that can be");
    let mut chip = chip();
    let at = |name| u64::from(layout.address(name).expect("a field"));
    write(&mut chip, FIRST.0, at("core_info.core_magic_number"), &0x50EC_09A3_u32.to_le_bytes());
    write(&mut chip, FIRST.0, at("launch[0].kernel_config_base[0]"), &CONFIG.to_le_bytes());
    write(&mut chip, FIRST.0, at("launch[0].sem_offset[0]"), &0x100_u16.to_le_bytes());
    write(&mut chip, FIRST.0, at("launch[0].local_cb_offset"), &0x200_u16.to_le_bytes());
    write(&mut chip, FIRST.0, at("launch[0].mode"), &[HOST]);
    write(&mut chip, FIRST.0, at("go_messages[0].signal"), &[GO]);
    polls(&mut chip, FIRST.0, SEMAPHORE);
    assert_eq!(verdicts(&found(&mut chip, &[])), [None; 3]);
    chip.set_mailbox(Arc::new(layout));
    let hangs = found(&mut chip, &[]);
    assert_eq!(
        hangs[0].as_ref().expect("nobody is left to count").tiles[0].role,
        Role::HostLaunched
    );
}

/// A tile that rests may be launched and count the semaphore, until the host has waited for long.
#[test]
fn semaphore_that_a_resting_tile_could_count_is_a_deadlock_when_the_host_waits() {
    let mut chip = chip();
    firmware(&mut chip, FIRST.0, Some(HOST));
    polls(&mut chip, FIRST.0, SEMAPHORE);
    resting(&mut chip, SECOND.0);
    let hangs = found(&mut chip, &go_of(FIRST));
    assert_eq!(verdicts(&hangs)[..2], [None, Some(Verdict::Deadlock)]);
    // A host that waits for another tile waits for nothing of this one.
    assert_eq!(verdicts(&found(&mut chip, &go_of(SECOND))), [None; 3]);
}

#[test]
fn semaphore_that_a_working_tile_could_count_is_none() {
    let mut chip = chip();
    firmware(&mut chip, FIRST.0, Some(HOST));
    polls(&mut chip, FIRST.0, SEMAPHORE);
    firmware(&mut chip, SECOND.0, Some(HOST));
    start(&mut chip, SECOND.0, &[addi(5, 5, 1), j(-4)]);
    assert_eq!(verdicts(&found(&mut chip, &go_of(FIRST))), [None; 3]);
}

/// A word of the host's own is waited for by a kernel that the host waits for.
#[test]
fn word_that_only_the_host_could_write_is_a_host_wait() {
    let mut chip = chip();
    firmware(&mut chip, FIRST.0, Some(HOST));
    polls(&mut chip, FIRST.0, WORD);
    let expected = [None, None, Some(Verdict::HostWait)];
    assert_eq!(verdicts(&found(&mut chip, &go_of(FIRST))), expected);
    // A persistent kernel, and a host that does something else.
    assert_eq!(verdicts(&found(&mut chip, &[])), [None; 3]);
}

/// Watcher's pause is ended by the host's watcher, whatever the program waits for.
#[test]
fn core_that_watcher_has_paused_is_a_host_wait() {
    for mode in [HOST, DEVICE] {
        let mut chip = chip();
        let flags = field("watcher.pause_status.flags[0]") as u32 & !3;
        firmware(&mut chip, FIRST.0, Some(mode));
        polls(&mut chip, FIRST.0, flags);
        // In fast dispatch somebody serves commands.
        if mode == DEVICE {
            firmware(&mut chip, SECOND.0, Some(HOST));
            polls(&mut chip, SECOND.0, WORD);
        }
        let words = if mode == HOST { &go_of(FIRST)[..] } else { &[] };
        let found = verdicts(&found(&mut chip, words));
        assert_eq!(found, [None, None, Some(Verdict::HostWait)], "mode {mode}");
    }
}

#[test]
fn dispatcher_that_waits_for_commands_is_none_and_ends_no_wait_of_a_worker() {
    let mut chip = chip();
    // The dispatcher polls a queue that the host writes.
    firmware(&mut chip, SECOND.0, Some(HOST));
    polls(&mut chip, SECOND.0, WORD);
    resting(&mut chip, FIRST.0);
    assert_eq!(verdicts(&found(&mut chip, &[])), [None; 3]);
    firmware(&mut chip, FIRST.0, Some(DEVICE));
    polls(&mut chip, FIRST.0, SEMAPHORE);
    write(&mut chip, FIRST.0, SOFT_RESET_0, &0x4_7800_u32.to_le_bytes());
    polls(&mut chip, FIRST.0, SEMAPHORE);
    let hangs = found(&mut chip, &[]);
    assert_eq!(verdicts(&hangs)[..2], [None, Some(Verdict::Deadlock)]);
    let hang = hangs[1].as_ref().expect("a deadlock");
    let roles: Vec<_> = hang.stuck().map(|tile| tile.role).collect();
    assert!(roles.contains(&Role::DeviceLaunched), "{roles:?}");
}

/// Without the vendor's runtime nothing is known but that the host waits for a word of that tile.
#[test]
fn bare_tile_hangs_if_the_host_waits_for_one_of_its_words() {
    let mut chip = chip();
    polls(&mut chip, FIRST.0, WORD);
    let word = [HostPoll { tile: FIRST.1, addr: WORD + 0x100, bytes: 4 }];
    assert_eq!(verdicts(&found(&mut chip, &word))[..2], [None, Some(Verdict::Deadlock)]);
    assert_eq!(verdicts(&found(&mut chip, &[])), [None; 3]);
}

/// What a paused core makes others wait for is not the program's mistake, and what hangs without it is.
#[test]
fn core_that_a_debugger_has_paused_will_go_on() {
    let mut chip = chip();
    polls(&mut chip, FIRST.0, WORD);
    let word = [HostPoll { tile: FIRST.1, addr: WORD + 0x100, bytes: 4 }];
    let before = found(&mut chip, &word)[1].as_ref().map(Hang::key).expect("it waits for good");
    // DR(1) of BRISC: pause, and continue [isa-wh: TensixTile/BabyRISCV/DebugInterface.md].
    let command = |chip: &mut Chip, bit: u32| {
        write(chip, FIRST.0, tile_control::RISC_DBG_CNTL_1.into(), &(1_u32 << bit).to_le_bytes());
        for control in [0x8001_0001_u32, 0] {
            write(chip, FIRST.0, tile_control::RISC_DBG_CNTL_0.into(), &control.to_le_bytes());
        }
    };
    command(&mut chip, 0);
    assert_eq!(verdicts(&found(&mut chip, &word)), [None; 3]);
    let standing = chip.standing();
    assert_eq!(standing.tiles[0].waits[0].reason, WaitReason::Paused);
    // BRISC of another tile reads what TRISC0 has sent it, which is held in reset.
    start(&mut chip, SECOND.0, &[&li(5, 0xFFEC_1000)[..], &[lw(6, 5, 0), j(0)]].concat());
    let both = [word[0], HostPoll { tile: SECOND.1, addr: WORD, bytes: 4 }];
    let hang = found(&mut chip, &both)[1].take().expect("the other one waits for good");
    assert_eq!(hang.stuck().map(|tile| tile.number).collect::<Vec<_>>(), [SECOND.1]);
    assert_eq!(
        hang.paused().map(|(tile, core)| (tile.worker(), core)).collect::<Vec<_>>(),
        [((0, 0), CoreId::Brisc)]
    );
    command(&mut chip, 2);
    let after = found(&mut chip, &both)[1].as_ref().map(Hang::key).expect("both do");
    assert_eq!(after[..before.len()], before, "it waits where it did");
    assert!(after.len() > before.len());
}

/// Looks at a word every 200 cycles by the wall clock, and counts behind it when that is not zero.
fn looks_by_clock(addr: u32) -> Vec<u32> {
    let mut program = li(5, tile_control::WALL_CLOCK_L).to_vec();
    program.extend(li(9, addr));
    program.extend([lw(6, 5, 0), addi(6, 6, 200), lw(7, 5, 0), branch(6, 7, 6, -4), lw(8, 9, 0)]);
    program.extend([beq(8, 0, -20), sw(8, 9, 4), j(-28)]);
    program
}

/// A kernel that waits for good and lets time pass between two looks.
#[test]
fn kernel_that_polls_with_waits_by_the_clock_hangs_as_one_without() {
    let mut chip = chip();
    firmware(&mut chip, FIRST.0, Some(HOST));
    start(&mut chip, FIRST.0, &looks_by_clock(SEMAPHORE));
    chip.clock(1 << 14);
    let none = Witness::default();
    assert!(chip.hang(Stance::Free, &go_of(FIRST), &none).is_none(), "it moves");
    let witness = chip.witness();
    chip.clock(1 << 14);
    let hang = chip.hang(Stance::Free, &go_of(FIRST), &witness).expect("no core is left to count");
    let waits: Vec<_> = hang.stuck().flat_map(|tile| &tile.waits).collect();
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!((waits[0].reason, waits[0].reads[0].addr), (WaitReason::Spin, SEMAPHORE));
    // It has been counted meanwhile.
    write(&mut chip, FIRST.0, SEMAPHORE.into(), &1_u32.to_le_bytes());
    chip.clock(1 << 14);
    assert!(chip.hang(Stance::Free, &go_of(FIRST), &witness).is_none());
}

/// BRISC of a device that has been through an LLK test waits for the next command, while its host reads.
#[test]
fn command_that_is_waited_for_by_the_clock_is_no_hang() {
    let mut chip = chip();
    start(&mut chip, FIRST.0, &looks_by_clock(WORD));
    chip.clock(1 << 14);
    let witness = chip.witness();
    chip.clock(1 << 14);
    let words = [HostPoll { tile: FIRST.1, addr: WORD + 0x100, bytes: 4 }];
    for stance in [Stance::Free, Stance::Waits, Stance::Polls] {
        assert!(chip.hang(stance, &words, &witness).is_none(), "{stance:?}");
    }
}

/// BRISC of an LLK test looks at its command word every so many cycles; a kernel on TRISC1 waits for good.
#[test]
fn core_that_waits_by_the_clock_and_does_nothing_ends_no_wait() {
    let mut chip = chip();
    start(&mut chip, FIRST.0, &looks_by_clock(WORD));
    // TRISC1 polls a word that nobody writes; its program lies where it starts out of reset.
    let mut program = li(5, WORD + 0x200).to_vec();
    program.extend([lw(6, 5, 0), beq(6, 0, -4), j(0)]);
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    write(&mut chip, FIRST.0, TRISC1_START.into(), &bytes);
    write(&mut chip, FIRST.0, SOFT_RESET_0, &BRISC_AND_TRISC1_RUN.to_le_bytes());
    chip.clock(4096);
    let words = [HostPoll { tile: FIRST.1, addr: WORD + 0x100, bytes: 4 }];
    let none = Witness::default();
    assert!(chip.hang(Stance::Waits, &words, &none).is_none(), "BRISC moves");
    let witness = chip.witness();
    chip.clock(4096);
    let hang = chip.hang(Stance::Polls, &words, &witness).expect("nobody has done anything since");
    assert_eq!(hang.stuck().count(), 1);
    // It has been commanded: it stores.
    write(&mut chip, FIRST.0, WORD.into(), &1_u32.to_le_bytes());
    chip.clock(4096);
    assert!(chip.hang(Stance::Waits, &words, &witness).is_none());
}

/// TRISC1 pushes faster than its thread goes through its wait gate: at most moments the core waits for the
/// thread, the thread for its gate, and nobody for anything else.
#[test]
fn thread_whose_wait_has_just_been_met_is_no_hang_whoever_looks_when() {
    const PUSH: u32 = 0xFFE4_0000;
    let mut chip = chip();
    firmware(&mut chip, FIRST.0, Some(HOST));
    polls(&mut chip, FIRST.0, SEMAPHORE);
    let mut program = li(5, PUSH).to_vec();
    program.extend(li(6, encode::stallwait(1, 0x1FF)));
    program.extend(li(7, encode::dmanop()));
    program.extend([sw(6, 5, 0), sw(7, 5, 0)].repeat(8));
    program.push(j(-64));
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    write(&mut chip, FIRST.0, TRISC1_START.into(), &bytes);
    write(&mut chip, FIRST.0, SOFT_RESET_0, &BRISC_AND_TRISC1_RUN.to_le_bytes());
    let mut held = 0;
    for look in 0..2000 {
        chip.clock(1);
        let waits = chip.inspect(FIRST.1, tile::Tile::waits);
        held += usize::from(waits.iter().any(|wait| wait.reason == WaitReason::WaitGateOccupied));
        for stance in [Stance::Free, Stance::Waits, Stance::Polls] {
            let hang = chip.hang(stance, &go_of(FIRST), &Witness::default());
            assert!(hang.is_none(), "look {look}, {stance:?}: {hang:?}");
        }
    }
    assert!(held > 100, "the gate held {held} times");
}

/// Two pulses of a chip on which BRISC runs that.
fn pulses(program: &[u32], polls: &[HostPoll]) -> Option<Likeness> {
    let mut chip = chip();
    start(&mut chip, FIRST.0, program);
    chip.clock(4096);
    let now = chip.now();
    let (before, moving) = chip.pulse(polls, now)?;
    assert_eq!(moving.len(), 1, "BRISC alone");
    chip.clock(1 << 16);
    Some(before.likeness(&chip.pulse(polls, now)?.0))
}

/// A heartbeat gets nowhere; who walks over L1, sends on a NoC or ends does, and so does one for whom nobody
/// waits: no hint is given of a persistent kernel.
#[test]
fn pulse_of_a_loop_that_only_stores_to_its_word_stays_the_same() {
    let awaited = [HostPoll { tile: FIRST.1, addr: WORD + 0x100, bytes: 4 }];
    let to = |addr: u32| li(5, addr).to_vec();
    let heartbeat = [to(WORD), vec![addi(6, 6, 1), sw(6, 5, 0), j(-8)]].concat();
    assert_eq!(pulses(&heartbeat, &awaited), Some(Likeness::All));
    assert_eq!(pulses(&heartbeat, &[]), None, "nobody waits for it");
    let walks = [to(WORD), vec![addi(5, 5, 16), sw(5, 5, 0), j(-8)]].concat();
    assert_eq!(pulses(&walks, &awaited), Some(Likeness::None), "it writes ever more");
    // NOC_TARG_ADDR_LO of NoC 0: what it commands changes.
    let commands = [to(0xFFB2_0000), vec![addi(6, 6, 16), sw(6, 5, 0), j(-8)]].concat();
    assert_eq!(pulses(&commands, &awaited), Some(Likeness::Memory), "it programs a NoC");
    let polls = [to(WORD), vec![lw(6, 5, 0), beq(6, 0, -4), j(0)]].concat();
    assert_eq!(pulses(&polls, &awaited), None, "it waits");
}

/// BRISC writes to the other tile and waits for the acknowledgement, over and over; registers as firmware
/// programs them `[isa-bh: NoC/MemoryMap.md]`. With `cut` it does so once, and waits for one too many.
fn writes(chip: &mut Chip, to: (u32, u32), bytes: u32, cut: bool) {
    const NIU: u32 = 0xFFB2_0000;
    let (own, other) = (FIRST.0.0 | FIRST.0.1 << 6, to.0 | to.1 << 6);
    // A non-posted write of initiator 0.
    let setup =
        [(0x00, WORD), (0x08, own), (0x0C, WORD), (0x14, other), (0x20, bytes), (0x1C, 0x12)];
    let mut words = li(5, NIU).to_vec();
    for (register, value) in setup {
        words.extend(li(8, value));
        words.push(sw(8, 5, register));
    }
    words.extend(li(9, WORD - 4));
    words.push(addi(8, 0, 1));
    let head = words.len();
    // NIU_MST_WR_ACK_RECEIVED before and after.
    words.extend([lw(14, 5, 0x204), sw(8, 5, 0x40), lw(15, 5, 0x204), beq(15, 14, -4)]);
    if cut {
        words.extend([lw(14, 5, 0x204), beq(15, 14, -4)]);
    }
    words.extend([addi(11, 11, 1), sw(11, 9, 0)]);
    let back = -4 * (words.len() - head) as i32;
    words.push(j(back));
    start(chip, FIRST.0, &words);
}

#[test]
fn core_that_waits_for_a_write_under_way_is_no_hang_whoever_looks_when() {
    for bytes in [4, 1024, 16_384] {
        let mut chip = chip();
        writes(&mut chip, SECOND.0, bytes, false);
        let count = HostPoll { tile: FIRST.1, addr: WORD - 4, bytes: 4 };
        for clocks in 0..400 {
            chip.clock(1 + clocks % 13);
            for stance in [Stance::Free, Stance::Waits, Stance::Polls] {
                let hang = chip.hang(stance, &[count], &Witness::default());
                assert!(hang.is_none(), "{bytes} bytes, {stance:?} at {}: {hang:?}", chip.now());
            }
        }
        let mut rounds = [0; 4];
        chip.tile_read(FIRST.0.0, FIRST.0.1, u64::from(WORD - 4), &mut rounds).unwrap();
        assert!(u32::from_le_bytes(rounds) > 3, "it works");
    }
}

/// It is at work at every moment, also when it just waits for an acknowledgement.
#[test]
fn pulses_of_who_writes_the_same_for_ever_have_their_memory_in_common() {
    let mut chip = chip();
    writes(&mut chip, SECOND.0, 1024, false);
    let count = [HostPoll { tile: FIRST.1, addr: WORD - 4, bytes: 4 }];
    chip.clock(1024);
    let (mut before, mut waiting) = (None, 0);
    for clocks in 0..200 {
        let since = chip.now();
        chip.clock(1024 + clocks % 13);
        let (pulse, moving) = chip.pulse(&count, since).expect("it writes");
        let [one] = moving[..] else { panic!("BRISC alone: {moving:?}") };
        waiting += u32::from(one.waits);
        if let Some(before) = before.replace(pulse.clone()) {
            assert_eq!(before.likeness(&pulse), Likeness::Memory);
        }
    }
    assert!((20..200).contains(&waiting), "it waits {waiting} times");
}

#[test]
fn core_that_waits_for_one_acknowledgement_too_many_hangs_when_the_last_has_come() {
    let mut chip = chip();
    writes(&mut chip, SECOND.0, 1024, true);
    let count = HostPoll { tile: FIRST.1, addr: WORD - 4, bytes: 4 };
    let polls = &found(&mut chip, &[count])[2];
    assert_eq!(polls.as_ref().map(|hang| hang.verdict), Some(Verdict::HostWait));
}

#[test]
fn looking_for_a_hang_changes_nothing() {
    let hash = |look: bool| {
        let mut chip = chip();
        firmware(&mut chip, FIRST.0, Some(HOST));
        polls(&mut chip, FIRST.0, SEMAPHORE);
        resting(&mut chip, SECOND.0);
        for _ in 0..50 {
            chip.clock(7);
            if look {
                let _ = chip.witness();
                let _ = chip.hang(Stance::Waits, &go_of(FIRST), &Witness::default());
            }
        }
        write(&mut chip, FIRST.0, SEMAPHORE.into(), &1_u32.to_le_bytes());
        chip.clock(100);
        (chip.now(), chip.state_hash())
    };
    assert_eq!(hash(true), hash(false));
}
