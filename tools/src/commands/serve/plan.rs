//! A tile that boots and carries out a plan, a step at a time.

use std::io::Write;
use std::rc::Rc;

use anyhow::{Result, bail};
use loader::diagnose::diagnose;
use loader::firmware::FirmwareSet;
use loader::names::LoadedNames;
use loader::plan::{Launch, LaunchPlan};
use observe::why::Explanation;
use serde_json::{Value, json};
use tensix::Register;

use super::stepper::Stepper;
use super::stream::Stream;
use super::wire::Ask;
use super::{ServeArgs, look};
use crate::commands::machine::MachineArgs;
use crate::commands::of_plan::setup;
use crate::commands::run::choose_firmware;

type Events = Option<Stream<Rc<LoadedNames>>>;

/// The tile, and what an explanation needs to run it again.
pub(super) struct Subject {
    stepper: Stepper<Events>,
    set: FirmwareSet,
    launches: Vec<Launch>,
    machine: MachineArgs,
    /// L1 is no longer what the plan makes of it.
    is_edited: bool,
    explained: Option<Explanation>,
}

impl Subject {
    /// Stages firmware; nothing has run yet.
    pub(super) fn new(args: &ServeArgs, out: &mut dyn Write) -> Result<Self> {
        if !args.elf.is_empty() {
            bail!("--elf is for tapes; a plan names its ELF files");
        }
        let plan = args.session.as_deref().map(LaunchPlan::read).transpose()?;
        let launches = plan.map_or_else(Vec::new, |plan| plan.launches);
        let machine = args.machine.clone();
        let set = choose_firmware(&machine, out)?;
        let events = |names| args.events.then(|| Stream::new(names));
        let (config, copies) = (machine.tile_config(), launches.clone());
        let stepper = Stepper::watched(config, &set, machine.logical, copies, events)?;
        Ok(Self { stepper, set, launches, machine, is_edited: false, explained: None })
    }
}

impl super::Subject for Subject {
    fn status(&mut self) -> Value {
        let stepper = &self.stepper;
        let wrong = stepper.wrong.as_ref().map(|(launch, byte)| {
            json!({ "launch": launch, "address": byte.address, "expected": byte.expected,
                    "found": byte.found })
        });
        json!({
            "kind": "plan",
            "cycle": stepper.tile().now().0,
            "stage": stepper.stage(),
            "verdict": stepper.verdict(),
            "message": stepper.status,
            "wrong": wrong,
        })
    }

    fn run(&mut self, ask: &Ask) -> Result<()> {
        if ask.calls.is_some() {
            bail!("a plan makes no calls; say how many cycles");
        }
        self.stepper.go_on(ask.cycles.unwrap_or(self.machine.max_cycles))?;
        Ok(())
    }

    fn read(&mut self, address: u32, bytes: &mut [u8]) -> Result<()> {
        Ok(self.stepper.tile_mut().host_read(address, bytes)?)
    }

    fn write(&mut self, address: u32, bytes: &[u8]) -> Result<()> {
        self.is_edited = true;
        Ok(self.stepper.tile_mut().host_write(address, bytes)?)
    }

    fn registers(&mut self) -> Register {
        self.stepper.tile_mut().registers()
    }

    fn look(&mut self) -> Value {
        look::look(self.stepper.tile(), &*self.stepper.names, self.stepper.buffers())
    }

    fn events(&mut self) -> Result<Vec<u8>> {
        let is_over = self.stepper.is_over();
        let tile = self.stepper.tile_mut();
        let (now, parked) = (tile.now(), tile.parked());
        match tile.observer_mut() {
            Some(stream) => {
                if is_over {
                    stream.close(now, &parked);
                }
                Ok(stream.take())
            }
            None => bail!("events are not kept; the session has to begin with them"),
        }
    }

    fn explain(&mut self, form: &str) -> Result<String> {
        if self.is_edited {
            bail!("L1 was written from outside: the plan alone would run otherwise");
        }
        // One run gives all forms.
        let explanation = match &mut self.explained {
            Some(explanation) => explanation,
            none => {
                let setup = setup(&self.machine, Vec::new());
                none.insert(diagnose(&self.set, &self.launches, &setup)?.explanation)
            }
        };
        Ok(match form {
            "json" => serde_json::to_string(explanation)?,
            "text" => explanation.to_string(),
            "html" => explanation.html(),
            "sarif" => explanation.sarif().to_string(),
            "dot" => explanation.dot(),
            other => bail!("no form {other:?}; there are json, text, html, sarif and dot"),
        })
    }
}
