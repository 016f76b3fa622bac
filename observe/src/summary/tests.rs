use super::*;
use crate::testing::at;
use sim_core::observer::SemaphoreOp;
use sim_core::{CoreId, Cycle, ThreadId, WaitReason, Width};

const BRISC: AgentId = AgentId::Core(CoreId::Brisc);
const TRISC1: AgentId = AgentId::Core(CoreId::Trisc1);

fn byte(addr: u32, value: u32) -> Event {
    Event::L1Store { addr, value, width: Width::Byte }
}

fn host(addr: u32, value: u32) -> Event {
    Event::HostWrite { addr, value, bytes: 1 }
}

/// A launch as the firmware's protocol has it [spec: boot-and-sync 1.5]: the host sets GO, BRISC
/// starts TRISC1, TRISC1 works and says DONE, BRISC says DONE.
fn launch() -> Vec<(Stamp, Event)> {
    let mutex = WaitReason::Mutex { index: 4 };
    let push = Event::Push { thread: ThreadId::T1, word: 0x0200_0000, after_mop: false };
    let post = SemaphoreOp::Post;
    vec![
        (at(0, AgentId::Host, 0), Event::Reset { core: CoreId::Brisc, asserted: false, pc: 0 }),
        (at(50, TRISC1, 0x7100), push),
        (at(100, AgentId::Host, 0), host(0x4F3, 0x80)),
        (at(120, BRISC, 0x3C28), byte(0x6A, 0x80)),
        (at(130, TRISC1, 0x7104), push),
        (at(140, AgentId::Thread(ThreadId::T1), 0x7104), Event::WaitBegin { reason: mutex }),
        (
            at(175, AgentId::Thread(ThreadId::T1), 0x7104),
            Event::WaitEnd { reason: mutex, since: Cycle(140) },
        ),
        (
            at(176, AgentId::Thread(ThreadId::T1), 0x7108),
            Event::Semaphore { index: 1, op: post, before: 0, after: 1, max: 1 },
        ),
        (at(200, TRISC1, 0x7200), byte(0x6A, 0)),
        (at(220, BRISC, 0x3C50), byte(0x4F3, 0)),
        (
            at(230, BRISC, 0x3C60),
            Event::WaitBegin { reason: WaitReason::PcBufDrain { thread: ThreadId::T1 } },
        ),
        (at(240, AgentId::Host, 0), Event::HostWrite { addr: 0x10_0000, value: 0, bytes: 64 }),
    ]
}

fn summary_of(events: &[(Stamp, Event)]) -> Summary {
    let mut summary = Summary::default();
    events.iter().for_each(|(stamp, event)| summary.event(*stamp, event));
    summary
}

const TABLE: &str = "\
12 events up to cycle 240

milestones
        0  host      BRISC leaves reset, starts at 0x0
       50  TRISC1    first effect of TRISC1 at pc 0x7100
      100  host      host writes go_messages[0].signal = RUN_MSG_GO (0x80)
      120  BRISC     first effect of BRISC at pc 0x3c28
      120  BRISC     subordinate_sync.trisc1 = RUN_SYNC_MSG_GO (0x80)
      200  TRISC1    subordinate_sync.trisc1 = RUN_SYNC_MSG_DONE (0x0)
      220  BRISC     go_messages[0].signal = RUN_MSG_DONE (0x0)

kernel           go      done    cycles
tile            100       220       120
TRISC1          120       200        80

thread       pushed   at boot    issued
T0                0         0         0
T1                2         1         0
T2                0         0         0

        2  host writes

semaphore              inits   posts    gets saturated highest value max
MATH_PACK                  0       1       0         0       1     1   1

waits for devices and units (what cores poll for in loops: `tilescope report`)
BRISC     0 waits, 0 cycles
       10  from 230: waits for T1 to drain its PCBuf (still waits), pc 0x3c60
Tensix T1 1 waits, 35 cycles
       35  from 140: ATGETM of mutex SFPU, pc 0x7104
";

#[test]
fn launch_prints_as_a_table() {
    assert_eq!(summary_of(&launch()).to_string(), TABLE);
}

#[test]
fn report_serialises_with_names() {
    let json = serde_json::to_value(summary_of(&launch()).report()).unwrap();
    assert_eq!(json["kernels"][1]["core"], "TRISC1");
    assert_eq!(json["kernels"][1]["finished"], 200);
    assert_eq!(json["milestones"][0]["agent"], "host");
    assert_eq!(json["waits"][1]["longest"][0]["cycles"], 35);
    assert_eq!(json["counters"]["semaphores"][0]["name"], "MATH_PACK");
}

#[test]
fn long_runs_keep_a_bounded_report() {
    let launch = launch();
    let mut summary = Summary::default();
    for _ in 0..1000 {
        launch.iter().for_each(|(stamp, event)| summary.event(*stamp, event));
    }
    let report = summary.report();
    assert_eq!(report.milestones.len(), LIST_LIMIT);
    assert_eq!(report.kernels.len(), LIST_LIMIT);
    assert_eq!(report.kernels_lost, 2000 - LIST_LIMIT as u64);
    assert_eq!(report.waits[1].longest.len(), 5);
    assert_eq!(report.counters.pushes[1], 2000);
}

#[test]
fn staging_of_an_image_is_no_milestone() {
    let stage = Event::HostWrite { addr: 0x60, value: 0, bytes: 13440 };
    assert!(summary_of(&[(at(0, AgentId::Host, 0), stage)]).report().milestones.is_empty());
}
