//! Contract violations of a tile that is launched again and again.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use observe::why::{
    Checks, CircularBuffer, Configuration, Finding, Formats, Loads, Part, Regions, Stack, Stacks,
};
use serde::Serialize;
use sim_core::observer::ParkedSpan;
use sim_core::{CoreId, Cycle, Event, Observer, Retire, Stamp};
use symbols::formats::BufferFormats;
use symbols::launch::{Launch, message_index};
use symbols::tile_names::TileNames;

use crate::eye::Sink;
use crate::names::LiveNames;

/// Checks with the names and regions of the launch in force.
#[derive(Clone, Debug)]
pub struct LaunchChecks {
    names: LiveNames,
    checks: Checks<LiveNames>,
    loads: Loads<LiveNames>,
    stacks: Stacks<LiveNames>,
    /// The tile as NoC commands name it.
    own: u32,
    /// The same of the other tiles.
    others: Arc<[u32]>,
}

impl LaunchChecks {
    /// Checks of the tile `own` among `tiles`, all by translated coordinates. Ids in `suppressed` are not reported.
    #[must_use]
    pub fn new(
        own: (u8, u8),
        tiles: &[(u8, u8)],
        workers: Arc<[(u8, u8)]>,
        suppressed: Vec<String>,
    ) -> Self {
        let names = LiveNames::new(workers);
        let checks = Checks::of_launches(names.clone(), suppressed.clone());
        let named = |(x, y): (u8, u8)| u32::from(y) << 6 | u32::from(x);
        let others = tiles.iter().filter(|tile| **tile != own).map(|tile| named(*tile));
        let others: Arc<[u32]> = others.collect();
        let loads = Loads::new(names.clone(), vec![named(own)], suppressed.clone());
        let loads = loads.among(Arc::clone(&others));
        let stacks = Stacks::new(names.clone(), Vec::new(), suppressed);
        Self { names, checks, loads, stacks, own: named(own), others }
    }

    /// What was found so far, oldest first; of a program that is done also what it has left behind.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut checks = self.checks.clone();
        checks.settle();
        let ready = checks.findings().iter().chain(self.stacks.findings()).cloned();
        ready.chain(self.loads.findings()).collect()
    }
}

impl Observer for LaunchChecks {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.checks.event(stamp, event);
        self.loads.event(stamp, event);
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.loads.wants_retires(core)
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        self.loads.retires(core, retires);
        self.stacks.retires(core, retires);
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.loads.retire(core, retire);
        self.stacks.retire(core, retire);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.loads.parked(core, span);
    }

    fn wants_l1_reads(&self) -> bool {
        self.checks.wants_l1_reads() || self.loads.wants_l1_reads()
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        self.checks.l1_read(stamp, addr, bytes);
        self.loads.l1_read(stamp, addr, bytes);
    }

    fn wants_dst_reads(&self) -> bool {
        self.checks.wants_dst_reads()
    }

    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        self.checks.dst_read(stamp, rows, held);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.checks.observed_l1()
    }
}

/// Circular buffers of the launch in force.
#[must_use]
pub fn circular(names: &TileNames) -> Vec<CircularBuffer> {
    let buffers = names.launch().into_iter().flat_map(|launch| &launch.buffers);
    let buffers = buffers.map(|buffer| CircularBuffer {
        index: buffer.index as u8,
        address: buffer.address,
        size: buffer.bytes,
        pages: buffer.pages,
        page_bytes: buffer.page_bytes,
    });
    buffers.collect()
}

/// What the configuration of a launch holds.
fn configuration(launch: &Launch) -> Configuration {
    let mut cores = CoreId::ALL.to_vec();
    cores.retain(|core| launch.cores[core.index()].enabled);
    cores.sort_by_key(|core| message_index(*core));
    // ttnn 0.81.1 puts offset 0 where it gives none, others [hdr: hw/inc/hostdev/rta_constants.h] a value that marks that.
    // Arguments lie in the order of the message, the common ones behind the others.
    let (base, nowhere) = (launch.config_base, launch.no_arguments());
    let starts = |core: &CoreId| launch.cores[core.index()].arguments;
    let is_behind = |core: &CoreId| starts(core).is_some_and(|start| start > base);
    let mut parts =
        vec![(launch.semaphores, Part::Semaphores), (launch.remote_configs, Part::Remote)];
    parts.extend(launch.buffer_configs.map(|start| (start, Part::Buffers)));
    let mut none = Vec::new();
    for (at, core) in cores.iter().enumerate() {
        let own = &launch.cores[core.index()];
        parts.push((own.text, Part::Code));
        let before = cores[..at].iter().any(is_behind);
        let any = cores.iter().any(is_behind);
        for (start, part, is_taken) in [
            (own.arguments, Part::Arguments(*core), before),
            (own.common_arguments, Part::Common(*core), any),
        ] {
            match start {
                Some(start) if start != base || !is_taken => parts.push((start, part)),
                _ => none.push((start.unwrap_or(nowhere), part)),
            }
        }
    }
    Configuration::new(parts, none)
}

/// Formats of their data.
fn formats(names: &TileNames) -> Option<Arc<Formats>> {
    let of = |core: CoreId| names.core(core).kernel()?.formats(names.sources());
    joined(of(CoreId::Trisc0), of(CoreId::Trisc2))
}

/// What the kernel of TRISC0 says of unpacking, and that of TRISC2 of packing. Programs with other formats can have the
/// code of a thread in common, if it does not go by what differs: each knows for sure only what it sets itself.
fn joined(unpack: Option<&BufferFormats>, pack: Option<&BufferFormats>) -> Option<Arc<Formats>> {
    if unpack.is_none() && pack.is_none() {
        return None;
    }
    Some(Arc::new(Formats {
        unpack: unpack.map(|own| own.unpack.clone()).unwrap_or_default(),
        pack: pack.map(|own| own.pack.clone()).unwrap_or_default(),
    }))
}

/// What bounds the stacks of the launch's kernels.
fn stacks(names: &TileNames) -> Vec<Stack> {
    let of = |core: CoreId| {
        let code = names.kernel_range(core)?;
        let modules = [names.core(core).kernel(), names.core(core).firmware()];
        let ends = modules.into_iter().flatten().map(|module| module.image().local_end());
        Some(Stack { core, code, data_end: ends.max().flatten()? })
    };
    CoreId::ALL.into_iter().filter_map(of).collect()
}

impl Sink for LaunchChecks {
    fn launched(&mut self, _: Cycle, names: &Arc<TileNames>, _: bool) {
        self.names.set(names);
        self.stacks.launched(stacks(names));
        let circular = circular(names);
        self.loads.launched(&circular, names.launch().map(configuration).unwrap_or_default());
        self.checks.launched(Regions {
            code: CoreId::ALL.into_iter().filter_map(|core| names.kernel_range(core)).collect(),
            circular,
            formats: formats(names),
            own: vec![self.own],
            others: Arc::clone(&self.others),
        });
    }

    fn announced(&mut self, names: &Arc<TileNames>) {
        self.names.announce(names);
    }
}

/// A violation, and the tiles on which it was seen.
#[derive(Clone, Debug, Serialize)]
pub struct Warning {
    /// What was seen, on the first of them.
    pub finding: Finding,
    /// What else the same check says of the same line there, as of the other input of an operation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The tiles, as the vendor's runtime counts workers.
    pub tiles: Vec<(u8, u8)>,
}

/// Further texts of one place that are kept.
const ALSO: usize = 3;

/// The findings of several tiles, each once per place in the source.
#[must_use]
pub fn merge(findings: impl IntoIterator<Item = ((u8, u8), Vec<Finding>)>) -> Vec<Warning> {
    let mut all: BTreeMap<(&'static str, String, String), Warning> = BTreeMap::new();
    for (tile, list) in findings {
        for finding in list {
            let key = (finding.hazard.id, finding.agent.to_string(), finding.place.clone());
            let warning = match all.entry(key) {
                Entry::Vacant(new) => {
                    new.insert(Warning { finding, also: Vec::new(), tiles: vec![tile] });
                    continue;
                }
                Entry::Occupied(old) => old.into_mut(),
            };
            // What other tiles say differs by their values.
            if warning.tiles == [tile] {
                warning.add(finding.text);
            } else if !warning.tiles.contains(&tile) {
                warning.tiles.push(tile);
            }
        }
    }
    let mut list: Vec<_> = all.into_values().collect();
    list.sort_by_key(|warning| warning.finding.cycle);
    list
}

impl Warning {
    fn add(&mut self, text: String) {
        let is_new = text != self.finding.text && !self.also.contains(&text);
        if is_new && self.also.len() < ALSO {
            self.also.push(text);
        }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finding = &self.finding;
        writeln!(f, "warning[{}]: {}", finding.hazard.id, finding.text)?;
        write!(
            f,
            "  --> tile {}, {} at {}, cycle {}",
            crate::tiles::list(&self.tiles),
            finding.agent,
            finding.place,
            finding.cycle
        )?;
        if finding.count > 1 {
            write!(f, ", {} times", finding.count)?;
        }
        writeln!(f)?;
        self.also.iter().try_for_each(|text| writeln!(f, "  also there: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use symbols::launch::{CoreLaunch, Dispatch, Phase};

    use super::*;

    const BASE: u32 = 0xA080;

    /// A launch of all cores with these offsets of arguments in the order of the message; TRISCs have the last one.
    fn launch(offsets: [Option<u32>; 3], common: Option<u32>) -> Launch {
        let cores = CoreId::ALL.map(|core| CoreLaunch {
            enabled: true,
            text: BASE + 0x400,
            text_bytes: 0x100,
            watcher_id: 0,
            arguments: offsets[message_index(core).min(2)].map(|offset| BASE + offset),
            common_arguments: common.map(|offset| BASE + offset),
        });
        Launch {
            slot: 0,
            phase: Phase::Running,
            dispatch: Dispatch::Host,
            enables: 7,
            config_base: BASE,
            host_assigned_id: 0,
            brisc_noc: 0,
            noc_mode: 0,
            origin: (0, 0),
            semaphores: BASE + 0x40,
            semaphore_count: 0,
            cores,
            buffer_configs: Some(BASE + 0x40),
            remote_configs: BASE + 0x80,
            buffers: Vec::new(),
            remote_buffers: Vec::new(),
        }
    }

    #[test]
    fn formats_are_those_of_the_thread_that_sets_them() {
        let of = |unpack, pack| BufferFormats { unpack: vec![unpack], pack: vec![pack] };
        let (first, third) = (of(5, 6), of(0, 7));
        let both = joined(Some(&first), Some(&third)).expect("both are known");
        assert_eq!((&both.unpack[..], &both.pack[..]), (&[5][..], &[7][..]));
        let one = joined(None, Some(&third)).expect("one is known");
        assert_eq!((&one.unpack[..], &one.pack[..]), (&[][..], &[7][..]));
        assert!(joined(None, None).is_none());
    }

    /// Both inputs of an operation are taken in one line. Other tiles say the same with other values.
    #[test]
    fn texts_of_one_place_are_kept_beside_each_other() {
        let of = |pc: u32, text: &str| Finding {
            hazard: observe::why::hazards::C28,
            cycle: 5,
            agent: sim_core::AgentId::Core(CoreId::Trisc0),
            pc,
            place: "kernel.cpp:7".to_owned(),
            code: None,
            source: None,
            callers: Vec::new(),
            text: text.to_owned(),
            count: 1,
        };
        let first = vec![of(0, "CB 0"), of(4, "CB 1"), of(8, "CB 1"), of(12, "CB 0")];
        let list = merge([((0, 0), first), ((1, 0), vec![of(0, "CB 2"), of(4, "CB 1")])]);
        let [warning] = &list[..] else { panic!("{list:?}") };
        assert_eq!(
            (&warning.finding.text[..], &warning.also[..]),
            ("CB 0", &["CB 1".to_owned()][..])
        );
        assert_eq!(warning.tiles, [(0, 0), (1, 0)]);
        assert!(warning.to_string().ends_with("  also there: CB 1\n"), "{warning}");
        let many = (0..9).map(|at| of(at, &format!("CB {at}"))).collect();
        assert_eq!(merge([((0, 0), many)])[0].also.len(), ALSO);
    }

    /// What is said of a core's load from the configuration, of which nobody has written anything.
    fn said(launch: &Launch, core: CoreId, addr: u32) -> String {
        let found = configuration(launch).loaded(core, addr, |_| false);
        found.map(|(_, text)| text).unwrap_or_default()
    }

    #[test]
    fn who_has_no_arguments_is_told_by_where_those_of_others_lie() {
        let (b, nc, t0) = (CoreId::Brisc, CoreId::Ncrisc, CoreId::Trisc0);
        // BRISC's are the first, NCRISC's begin behind them, and TRISCs have none.
        let all = launch([Some(0), Some(8), Some(0)], Some(0));
        let none = "reads argument 0, but TRISC0 was given none; 0xa080 belongs to BRISC";
        assert_eq!(said(&all, t0, BASE), none);
        let common = "reads common argument 0, but NCRISC was given none; 0xa080 belongs to BRISC";
        assert_eq!(said(&all, nc, BASE), common);
        let far = "reads argument 14, but NCRISC was given 14 at most; 0xa0c0 belongs to the circular buffers";
        assert_eq!(said(&all, nc, BASE + 0x40), far);
        // Whose the first are is not known.
        let one = launch([Some(0), Some(0), Some(0)], Some(0));
        for core in [b, nc, t0] {
            let text = "reads argument 0, which nobody has ever written";
            assert_eq!(said(&one, core, BASE), text, "{core}");
        }
        // A host that says so itself.
        let marked = launch([None, Some(0), None], None);
        let nowhere = marked.no_arguments();
        assert_eq!(said(&marked, b, nowhere), "reads argument 0, but BRISC was given none");
        assert_eq!(said(&marked, t0, BASE + 0x40), "", "the configuration is no argument of it");
    }
}
