//! Traces are read back with an independent decoder: `prost`, on message types written down from
//! the public `perfetto_trace.proto`.

use super::*;
use crate::BuiltInNames;
use crate::testing::{Kept, at};
use prost::Message as _;
use sim_core::WaitReason;
use sim_core::observer::{SemaphoreOp, Slot};

#[derive(Clone, PartialEq, prost::Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    process_name: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct CounterDescriptor {}

#[derive(Clone, PartialEq, prost::Message)]
struct TrackEvent {
    #[prost(int32, optional, tag = "9")]
    kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
    #[prost(fixed64, repeated, tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

fn trace_of(events: &[(Stamp, Event)]) -> Trace {
    let kept = Kept::default();
    let mut perfetto = Perfetto::new(kept.clone(), BuiltInNames, false);
    events.iter().for_each(|(stamp, event)| perfetto.event(*stamp, event));
    perfetto.finish(Cycle(1000), &[], "DONE").expect("a vector takes everything");
    Trace::decode(kept.bytes().as_slice()).expect("the trace is a protobuf message")
}

fn track(trace: &Trace, name: &str) -> u64 {
    let descriptors = trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref());
    let found = descriptors.into_iter().find(|track| track.name.as_deref() == Some(name));
    found.and_then(|track| track.uuid).unwrap_or_else(|| panic!("no track {name}"))
}

fn events(trace: &Trace, track: u64) -> Vec<(u64, &TrackEvent)> {
    let of = |packet: &TracePacket| packet.track_event.as_ref()?.track_uuid;
    let here = trace.packet.iter().filter(|packet| of(packet) == Some(track));
    here.map(|packet| {
        let event = packet.track_event.as_ref().expect("it has a track");
        (packet.timestamp.expect("every event has a time"), event)
    })
    .collect()
}

fn semaphore(op: SemaphoreOp, before: u8, after: u8) -> Event {
    Event::Semaphore { index: 1, op, before, after, max: 2 }
}

#[test]
fn post_and_get_are_joined_by_an_arrow_and_counted() {
    let (math, pack) = (AgentId::Thread(ThreadId::T1), AgentId::Thread(ThreadId::T2));
    let trace = trace_of(&[
        (at(10, math, 0x100), semaphore(SemaphoreOp::Post, 0, 1)),
        (at(14, pack, 0x200), semaphore(SemaphoreOp::Get, 1, 0)),
    ]);
    let post = events(&trace, track(&trace, "Tensix T1"));
    let get = events(&trace, track(&trace, "Tensix T2"));
    assert_eq!(post[0].1.flow_ids.len(), 1);
    assert_eq!(post[0].1.flow_ids, get[0].1.terminating_flow_ids);
    let counter = events(&trace, track(&trace, "semaphore MATH_PACK"));
    let values: Vec<_> = counter.iter().map(|(time, event)| (*time, event.counter_value)).collect();
    assert_eq!(values, [(10, Some(1)), (14, Some(0))]);
}

#[test]
fn waits_are_slices_and_open_ones_end_with_the_trace() {
    let thread = AgentId::Thread(ThreadId::T0);
    let reason = WaitReason::Semaphore { mask: 2, condition: 1 };
    let trace = trace_of(&[
        (at(5, thread, 0x100), Event::WaitBegin { reason }),
        (at(9, thread, 0x100), Event::WaitEnd { reason, since: Cycle(5) }),
        (at(20, thread, 0x100), Event::WaitBegin { reason }),
    ]);
    let found = events(&trace, track(&trace, "Tensix T0"));
    let kinds: Vec<_> = found.iter().map(|(time, event)| (*time, event.kind)).collect();
    assert_eq!(kinds, [(5, Some(1)), (9, Some(2)), (20, Some(1)), (1000, Some(2))]);
    assert_eq!(found[0].1.name.as_deref(), Some("SEMWAIT on MATH_PACK while ON_ZERO"));
}

#[test]
fn instructions_of_one_kind_are_one_busy_span() {
    let issue = |word| Event::Issue { thread: ThreadId::T1, word, slot: Slot::default() };
    let thread = AgentId::Thread(ThreadId::T1);
    // NOP has opcode 0x02 and DMANOP 0x60 [isa-wh: TensixCoprocessor/README.md].
    let trace = trace_of(&[
        (at(1, thread, 0), issue(0x6000_0000)),
        (at(2, thread, 0), issue(0x6000_0000)),
        (at(7, thread, 0), issue(0x6000_0000)),
    ]);
    let found = events(&trace, track(&trace, "unit Scalar (ThCon)"));
    let times: Vec<_> = found.iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [1, 3, 7, 8]);
}

#[test]
fn tracks_are_declared_once_and_before_use() {
    let core = AgentId::Core(CoreId::Trisc1);
    let push =
        |value| Event::MailboxPush { from: CoreId::Trisc1, to: CoreId::Trisc2, value, depth: 1 };
    let trace = trace_of(&[(at(1, core, 0), push(1)), (at(2, core, 0), push(2))]);
    let mut known = Vec::new();
    for packet in &trace.packet {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        if let Some(track) = &packet.track_descriptor {
            assert!(!known.contains(&track.uuid));
            assert!(track.parent_uuid.is_none_or(|parent| known.contains(&Some(parent))));
            known.push(track.uuid);
        }
        if let Some(event) = &packet.track_event {
            assert!(known.contains(&event.track_uuid));
        }
    }
}

#[test]
fn output_that_is_cut_at_a_packet_is_valid() {
    let kept = Kept::default();
    let mut perfetto = Perfetto::new(kept.clone(), BuiltInNames, false);
    let thread = AgentId::Thread(ThreadId::T1);
    perfetto.event(at(10, thread, 0x100), &semaphore(SemaphoreOp::Post, 0, 1));
    drop(perfetto);
    let trace = Trace::decode(kept.bytes().as_slice()).expect("whole packets only");
    assert!(trace.packet.iter().any(|packet| packet.track_event.is_some()));
}
