//! Perfetto traces read back with an independent decoder.

use std::collections::BTreeMap;

/// Messages of the public `perfetto_trace.proto`, as far as they are looked at.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(crate) packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Packet {
    #[prost(uint64, optional, tag = "8")]
    pub(crate) timestamp: Option<u64>,
    #[prost(message, optional, tag = "11")]
    pub(crate) event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    pub(crate) track: Option<Track>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Track {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(crate) process: Option<Process>,
    #[prost(uint64, optional, tag = "5")]
    pub(crate) parent: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Process {
    #[prost(int32, optional, tag = "1")]
    pub(crate) pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    pub(crate) name: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TrackEvent {
    #[prost(int32, optional, tag = "9")]
    pub(crate) kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub(crate) track: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub(crate) name: Option<String>,
    #[prost(fixed64, repeated, tag = "47")]
    pub(crate) flows: Vec<u64>,
    #[prost(fixed64, repeated, tag = "48")]
    pub(crate) last_flows: Vec<u64>,
}

/// The process of each track, by the name of the process.
pub(crate) fn processes(trace: &Trace) -> BTreeMap<u64, String> {
    let (mut parents, mut names) = (BTreeMap::new(), BTreeMap::new());
    for track in trace.packet.iter().filter_map(|packet| packet.track.as_ref()) {
        let uuid = track.uuid.expect("tracks have numbers");
        parents.insert(uuid, track.parent);
        if let Some(process) = &track.process {
            names.insert(uuid, process.name.clone().expect("a name"));
        }
    }
    let top = |mut uuid: u64| {
        while let Some(parent) = parents[&uuid] {
            uuid = parent;
        }
        names[&uuid].clone()
    };
    parents.keys().map(|uuid| (*uuid, top(*uuid))).collect()
}
