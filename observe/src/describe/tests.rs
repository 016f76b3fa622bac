use super::*;
use crate::names::BuiltInNames;
use crate::testing::{at, event_of};
use proptest::prelude::*;
use sim_core::observer::Look;
use sim_core::{CoreId, Cycle, EventKind, WaitReason, Width};

fn line(stamp: Stamp, event: Event) -> String {
    describe(stamp, &event, &BuiltInNames).unwrap().to_string()
}

fn text(event: Event) -> String {
    describe(at(10, AgentId::Host, 0), &event, &BuiltInNames).unwrap().text
}

#[test]
fn line_has_columns_for_cycle_agent_pc_target() {
    let stamp = at(2368, AgentId::Core(CoreId::Brisc), 0x3C28);
    let store = Event::L1Store { addr: 0x6C, value: 0, width: Width::Word };
    assert_eq!(line(stamp, store), "     2368 BRISC     0x03c28 mailbox   launch_msg_rd_ptr = 0x0");
    assert_eq!(
        line(at(5, AgentId::Host, 0), Event::Halt { core: CoreId::Ncrisc }),
        "        5 host      -       reset     NCRISC halted"
    );
}

/// Addresses: mailbox block at 0x60; go_messages[0].signal at 0x4F3, launch[0].enables at 0xE0,
/// waypoints at 0x534 [spec: boot-and-sync 1.4].
#[test]
fn l1_words_have_the_firmware_names() {
    let store = |addr, value, width| text(Event::L1Store { addr, value, width });
    assert_eq!(store(0x4F3, 0, Width::Byte), "go_messages[0].signal = RUN_MSG_DONE (0x0)");
    assert_eq!(store(0xE0, 7, Width::Word), "launch[0].enables = BRISC|NCRISC|TRISCs (0x7)");
    let waypoint = u32::from_le_bytes(*b"GW\0\0");
    assert_eq!(store(0x534, waypoint, Width::Word), "watcher.debug_waypoint[0] = GW (0x5747)");
    assert_eq!(store(0x3AE4, 1, Width::Word), "L1 0x3ae4 (brisc_firmware+0x4) = 0x1");
}

#[test]
fn host_writes_say_what_they_cover() {
    let write = |addr, value, bytes| text(Event::HostWrite { addr, value, bytes });
    assert_eq!(write(0x4F3, 0x80, 1), "host writes go_messages[0].signal = RUN_MSG_GO (0x80)");
    assert_eq!(
        write(0x70, 0x8400, 144),
        "host writes 144 bytes from launch[0].kernel_config_base[0], first word 0x8400"
    );
    assert_eq!(write(0xFFB1_21B0, 0x4_7000, 4), "host writes tile_control.SOFT_RESET_0 = 0x47000");
}

#[test]
fn semaphores_and_mutexes_have_their_llk_names() {
    let semaphore =
        |op, before, after| text(Event::Semaphore { index: 1, op, before, after, max: 2 });
    assert_eq!(semaphore(SemaphoreOp::Post, 0, 1), "post MATH_PACK 0 -> 1, max 2");
    assert_eq!(semaphore(SemaphoreOp::Get, 0, 0), "get MATH_PACK stays 0, max 2");
    assert_eq!(text(Event::Mutex { index: 0, acquired: true }), "acquired mutex REG_RMW");
    assert_eq!(text(Event::Mutex { index: 3, acquired: false }), "released mutex THREAD2_ADC");
}

#[test]
fn fifos_name_both_ends() {
    let (from, to) = (CoreId::Brisc, CoreId::Trisc0);
    assert_eq!(
        text(Event::MailboxPush { from, to, value: 0xAB, depth: 1 }),
        "mailbox B -> T0 push 0xab (depth 1)"
    );
    assert_eq!(
        text(Event::PcBufPop { thread: ThreadId::T2, value: 5, depth: 0 }),
        "PCBuf T2 pop 0x5 (depth 0)"
    );
}

/// NOC_CTRL: 0x2090 read with response, 0x208A posted inline write, 0x92 write with response
/// [spec: boot-and-sync 2.2 step 11 and 6]; coordinates y << 6 | x.
#[test]
fn noc_commands_say_type_tile_and_counter() {
    let command = |control, bytes| Event::NocIssue {
        noc: 1,
        initiator: 3,
        control,
        addr: 0x4000,
        coordinate: 2 << 6 | 5,
        bytes,
        ticket: 7,
        packets: 1,
    };
    assert_eq!(
        text(command(0x2090, 64)),
        "NoC 1 initiator 3: read of 64 bytes from tile (5,2) 0x4000, counted in \
         NIU_MST_RD_RESP_RECEIVED"
    );
    assert_eq!(
        text(command(0x208A, 4)),
        "NoC 1 initiator 3: inline write of 4 bytes to tile (5,2) 0x4000, posted"
    );
    assert_eq!(
        text(command(0x92, 32)),
        "NoC 1 initiator 3: write of 32 bytes to tile (5,2) 0x4000, counted in \
         NIU_MST_WR_ACK_RECEIVED"
    );
}

/// Registers 8 and 10 of stream n are the counters of circular buffer n [spec: boot-and-sync 3].
#[test]
fn stream_registers_are_circular_buffer_counters() {
    let stream = |register| text(Event::Stream { stream: 3, register, before: 4, after: 5 });
    assert_eq!(stream(8), "CB 3 tiles acked 4 -> 5");
    assert_eq!(stream(10), "CB 3 tiles received 4 -> 5");
    assert_eq!(stream(17), "stream 3 BUF_START 0x4 -> 0x5");
}

/// A store to a counter, and a poll of it, have the name that the reports have for it.
#[test]
fn counters_of_circular_buffers_are_named_where_cores_write_and_poll() {
    let stamp = at(10, AgentId::Core(CoreId::Brisc), 0x80);
    let store = |addr| {
        let event = Event::DeviceStore { addr, value: 3, width: Width::Word };
        describe(stamp, &event, &BuiltInNames).unwrap().text
    };
    assert_eq!(store(0xFFB4_8020), "CB 8 tiles acked = 0x3");
    assert_eq!(store(0xFFB4_8028), "CB 8 tiles received = 0x3");
    let look = Look { pc: 0x80, addr: 0xFFB4_8028, value: 3 };
    let polled = crate::poll_text(&BuiltInNames, CoreId::Trisc0, &[look]);
    assert_eq!(polled, "polls for a push of CB 8");
}

#[test]
fn waits_name_conditions_and_durations() {
    let reason = WaitReason::Semaphore { mask: 2, condition: 1 };
    assert_eq!(
        text(Event::WaitBegin { reason }),
        "begins to wait: SEMWAIT on MATH_PACK while ON_ZERO"
    );
    assert_eq!(
        text(Event::WaitEnd { reason, since: Cycle(3) }),
        "waited 7 cycles: SEMWAIT on MATH_PACK while ON_ZERO"
    );
    let reason = WaitReason::Stall { conditions: 0x18 };
    assert_eq!(text(Event::WaitBegin { reason }), "begins to wait: STALLWAIT on PACK|MATH");
}

/// Opcode 0xA6 is SEMWAIT, 0x02 NOP [isa-bh: TensixCoprocessor/SEMWAIT.md].
#[test]
fn pushes_and_issues_are_disassembled() {
    let (thread, word) = (ThreadId::T1, 0x0200_0000);
    assert_eq!(text(Event::Push { thread, word, after_mop: false }), "push to T1: NOP");
    assert_eq!(
        text(Event::Push { thread, word, after_mop: true }),
        "push to T1 behind the MOP expander: NOP"
    );
    let slot = Slot { mop: 3, replay: 1 };
    assert_eq!(
        text(Event::Issue { thread, word, slot }),
        "T1 issues NOP (MOP step 3, REPLAY slot 0)"
    );
}

/// Fields of ThreadConfig word 12: SrcAIncr bits 5:0, SrcACR bit 6
/// [hdr: hw/inc/internal/tt-1xx/blackhole/cfg_defines.h].
#[test]
fn config_changes_are_shown_by_field() {
    assert_eq!(
        text(Event::Config { state: 3, index: 12, before: 0x01, after: 0x1_0042 }),
        "ThreadConfig[T1][12]: ADDR_MOD_AB_SEC0_SrcAIncr 1 -> 2, ADDR_MOD_AB_SEC0_SrcACR 0 -> 1, \
         unnamed bits 0x0 -> 0x10000"
    );
    assert_eq!(
        text(Event::IcacheInvalidate { mask: 0x1F }),
        "invalidates the instruction cache of BRISC, TRISC0, TRISC1, TRISC2, NCRISC"
    );
}

#[test]
fn reset_says_where_the_core_starts() {
    let core = CoreId::Trisc1;
    assert_eq!(
        text(Event::Reset { core, asserted: false, pc: 0x70E0 }),
        "TRISC1 leaves reset, starts at 0x70e0"
    );
    assert_eq!(text(Event::Reset { core, asserted: true, pc: 0 }), "TRISC1 enters reset");
}

proptest! {
    /// Also with numbers that no real tile produces.
    #[test]
    fn every_kind_of_event_has_a_line(
        event in proptest::sample::select(EventKind::ALL.to_vec()).prop_flat_map(event_of)
    ) {
        let line = describe(at(1, AgentId::Host, 0), &event, &BuiltInNames);
        prop_assert!(line.is_some_and(|line| !line.text.is_empty()));
    }
}

/// Code of three programs at addresses that are theirs; one is a kernel.
struct Programs;

impl Names for Programs {
    fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        let function = match (core, pc >> 8) {
            (CoreId::Brisc, 1) => "setup",
            (CoreId::Ncrisc, 1) => "reader",
            (CoreId::Trisc1, 2) => "math",
            _ => return None,
        };
        Some(CodeName { function: function.to_owned(), file: None, line: None })
    }

    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        core == CoreId::Ncrisc && pc >> 8 == 1
    }
}

#[test]
fn place_of_a_thread_or_noc_is_that_of_the_core_that_gave_the_instruction() {
    let of = |agent, pc| {
        let done = Event::NocDone { noc: 0, initiator: 1, ticket: 0 };
        describe(at(1, agent, pc), &done, &Programs).unwrap().code.map(|code| code.function)
    };
    let thread = AgentId::Thread(ThreadId::T1);
    assert_eq!(of(thread, 0x204).as_deref(), Some("math"));
    assert_eq!(of(thread, 0x104).as_deref(), Some("setup"), "BRISC pushes into all threads");
    assert_eq!(of(AgentId::Noc(1), 0x104).as_deref(), Some("reader"), "kernels come first");
    assert_eq!(of(AgentId::Noc(0), 0x204).as_deref(), Some("math"));
    assert_eq!(of(AgentId::Noc(0), 0x304), None);
    assert_eq!(of(AgentId::Core(CoreId::Trisc1), 0x104), None);
}
