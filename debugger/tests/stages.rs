//! Parts of a session and what belongs to each.

use std::path::Path;

use debugger::Recording;
use debugger::recording::Limits;
use loader::firmware::BootOptions;
use loader::plan::LaunchPlan;
use tile::TileConfig;

/// Launches are told apart although the name of one begins like that of another.
#[test]
fn each_launch_has_its_own_circular_buffers() {
    let set = firmware_tests::embedded::set().expect("the embedded firmware");
    let plan = "../firmware-tests/hazards/A1-cb-starved/clean.toml";
    let mut launches = LaunchPlan::read(Path::new(plan)).expect("the plan").launches;
    launches.push(launches[0].clone());
    "add".clone_into(&mut launches[0].name);
    "add_again".clone_into(&mut launches[1].name);
    launches[1].circular.clear();
    let limits = Limits { max_cycles: 1_000_000, stop: None };
    let (config, options) = (TileConfig::default(), BootOptions::default());
    let recording = Recording::of_plan(config, &set, &options, &launches, limits);
    let stages = recording.expect("the plan can be carried out").stages;
    let counts: Vec<_> =
        stages.iter().map(|stage| (&*stage.name, stage.circular().len())).collect();
    assert_eq!(counts, [("boot", 0), ("add", 1), ("add_again", 0)]);
}
