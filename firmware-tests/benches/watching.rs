//! What watching costs: launches of two kernels with nobody, with what every report ends with, and
//! with each form of output besides, which goes nowhere.
//!
//! A tile is booted once and launched again and again, so that start-up and the reading of debug
//! information do not count. `five-core` does nothing but handshakes, `matmul` computes.

use std::io::{Cursor, sink};
use std::rc::Rc;

use criterion::{Criterion, criterion_group, criterion_main};
use firmware_tests::embedded;
use loader::firmware::BootOptions;
use loader::names::LoadedNames;
use loader::plan::{Launch, LaunchPlan};
use loader::session::{Outcome, Session};
use observe::{EventHash, JsonLines, Perfetto, Polls, Summary, Targets, TextLog, Waves};
use sim_core::observer::ParkedSpan;
use sim_core::{CoreId, Event, NullObserver, Observer, Retire, Stamp};
use tile::TileConfig;

/// Far more than a launch takes.
const LIMIT: u64 = 1_000_000;

type Names = Rc<LoadedNames>;
type Base = (EventHash, Summary<Names>);

fn launch_of(kernel: &str) -> Launch {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("programs/kernels").join(kernel).join("case.toml");
    LaunchPlan::read(&path).expect("a plan").launches.remove(0)
}

fn waves() -> Waves<Cursor<Vec<u8>>> {
    Waves::new(Cursor::default()).expect("memory takes it")
}

/// Finds the loops that poll, as the commands do for what they write, and forgets them.
#[derive(Default)]
struct Polling(Polls);

impl Observer for Polling {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.0.event(stamp, event);
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.0.wants_retires(core)
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        self.0.retires(core, retires);
        self.0.ended().for_each(drop);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.0.parked(core, span);
    }
}

/// Times launches that `make` watches.
fn launches<O: Observer>(c: &mut Criterion, name: &str, make: impl Fn(&Names) -> O) {
    let set = embedded::set().expect("the embedded images are intact");
    for kernel in ["five-core", "matmul"] {
        let launch = launch_of(kernel);
        let names = Rc::new(LoadedNames::new(&set));
        names.set_kernels(&launch.kernels);
        let (config, options) = (TileConfig::default(), BootOptions::default());
        let session = Session::stage(config, &set, &options, make(&names));
        let mut session = session.expect("it boots");
        assert!(matches!(session.run_to_done(LIMIT), Outcome::Done), "the boot ends");
        c.bench_function(&format!("{name}/{kernel}"), |b| {
            b.iter(|| {
                let outcome = session.launch(&launch, LIMIT).expect("a sound plan");
                assert!(matches!(outcome, Outcome::Done), "{kernel}: {outcome:?}");
            });
        });
    }
}

fn base(names: &Names) -> Base {
    (EventHash::new(), Summary::new(Rc::clone(names)))
}

fn watching(c: &mut Criterion) {
    launches(c, "nobody", |_| NullObserver);
    launches(c, "summary", base);
    launches(c, "handshakes", |names| {
        let wanted = Targets::parse("info").expect("a level");
        (base(names), TextLog::new(sink(), Rc::clone(names), wanted))
    });
    launches(c, "jsonl", |names| {
        (base(names), (JsonLines::new(sink(), Rc::clone(names)), Polling::default()))
    });
    launches(c, "perfetto", |names| {
        (base(names), (Perfetto::new(sink(), Rc::clone(names), true), Polling::default()))
    });
    launches(c, "waves", |names| (base(names), waves()));
    launches(c, "everything", |names| {
        let perfetto = Perfetto::new(sink(), Rc::clone(names), true);
        let lines = JsonLines::new(sink(), Rc::clone(names));
        (base(names), ((lines, Polling::default()), (perfetto, waves())))
    });
}

criterion_group!(benches, watching);
criterion_main!(benches);
