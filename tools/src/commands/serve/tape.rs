//! A chip that plays a host's calls; one of its tiles is looked at.

use anyhow::{Context as _, Result, bail};
use chip::{Chip, ChipConfig, TensixTile};
use observe::BuiltInNames;
use replay::{PlayError, Player, What, config_of};
use serde_json::{Value, json};
use session::second::{Answer, Question};
use tape::Tape;
use tensix::Register;

use super::stream::Stream;
use super::wire::Ask;
use super::{ServeArgs, look};

type Events = Option<Stream<BuiltInNames>>;

/// The chip, and where in the tape it is.
pub(super) struct Subject<'t> {
    tape: &'t Tape,
    player: Player<'t>,
    chip: Chip<Events>,
    config: ChipConfig,
    /// The tile that is looked at.
    worker: (u8, u8),
    number: u16,
    keeps_events: bool,
    question: Question,
    last: Option<What>,
    /// The first thing that the chip did otherwise than the tape has it.
    difference: Option<String>,
    is_over: bool,
    explained: Option<Answer>,
}

/// A fresh chip, of which one tile may be watched.
fn chip(config: ChipConfig, worker: (u8, u8), keeps_events: bool) -> Chip<Events> {
    Chip::watched(config, move |tile: TensixTile| {
        let watched = keeps_events && tile.worker() == worker;
        watched.then(|| Stream::new(BuiltInNames))
    })
}

impl<'t> Subject<'t> {
    /// A chip before the first call.
    pub(super) fn new(tape: &'t Tape, args: &ServeArgs) -> Result<Self> {
        let (config, worker) = (config_of(tape)?, args.tile);
        let chip = chip(config, worker, args.events);
        let mut tiles = (0_u16..).zip(chip.grid().tensix());
        let number = tiles.find(|(_, tile)| tile.worker() == worker).map(|(number, _)| number);
        let (x, y) = worker;
        let number =
            number.with_context(|| format!("--tile {x},{y}: the chip has no such tile"))?;
        drop(tiles);
        let question = Question { elf: args.elf.clone(), ..Question::default() };
        Ok(Self {
            tape,
            player: Player::new(tape),
            chip,
            config,
            worker,
            number,
            keeps_events: args.events,
            question,
            last: None,
            difference: None,
            is_over: false,
            explained: None,
        })
    }

    fn step(&mut self) -> Result<()> {
        let played = match self.player.step(&mut self.chip) {
            Ok(played) => played,
            Err(PlayError::Differs(difference)) => {
                self.difference.get_or_insert_with(|| difference.to_string());
                Some(difference.played)
            }
            Err(error) => return Err(error.into()),
        };
        self.last = played.map(|played| played.what).or(self.last);
        match played.map(|played| played.what) {
            None | Some(What::End) => self.is_over = true,
            Some(What::Init) => self.chip = chip(self.config, self.worker, self.keeps_events),
            Some(_) => {}
        }
        Ok(())
    }
}

impl super::Subject for Subject<'_> {
    fn status(&mut self) -> Value {
        json!({
            "kind": "tape",
            "cycle": self.chip.now().0,
            "stage": if self.player.is_open() { "session" } else { "closed" },
            "verdict": self.is_over.then_some("END"),
            "message": self.last.map(|what| what.to_string()),
            "call": self.player.index(),
            "difference": self.difference,
            "tile": [self.worker.0, self.worker.1],
        })
    }

    fn run(&mut self, ask: &Ask) -> Result<()> {
        let until = ask.cycles.map(|cycles| self.chip.now().0.saturating_add(cycles));
        let mut calls = ask.calls.unwrap_or(u64::MAX);
        while !self.is_over && calls > 0 && until.is_none_or(|until| self.chip.now().0 < until) {
            self.step()?;
            calls -= 1;
        }
        Ok(())
    }

    fn read(&mut self, address: u32, bytes: &mut [u8]) -> Result<()> {
        Ok(self.chip.examine(self.number, |tile| tile.host_read(address, bytes))?)
    }

    fn write(&mut self, _: u32, _: &[u8]) -> Result<()> {
        bail!("a tape says itself what is written")
    }

    fn registers(&mut self) -> Register {
        self.chip.examine(self.number, tile::Tile::registers)
    }

    fn look(&mut self) -> Value {
        self.chip.inspect(self.number, |tile| look::look(tile, &BuiltInNames, &[]))
    }

    fn events(&mut self) -> Result<Vec<u8>> {
        if !self.keeps_events {
            bail!("events are not kept; the session has to begin with them");
        }
        let is_over = self.is_over;
        Ok(self.chip.examine(self.number, |tile| {
            let (now, parked) = (tile.now(), tile.parked());
            let Some(stream) = tile.observer_mut() else { return Vec::new() };
            if is_over {
                stream.close(now, &parked);
            }
            stream.take()
        }))
    }

    fn explain(&mut self, form: &str) -> Result<String> {
        // Playing it gives all forms.
        let answer = match &mut self.explained {
            Some(answer) => answer,
            none => none.insert(session::second::why(self.tape, &self.question)?),
        };
        let Some(report) = &answer.report else {
            return Ok(match form {
                "json" => {
                    json!({ "verdict": "DONE", "calls": answer.calls, "cycle": answer.cycle })
                        .to_string()
                }
                _ => format!("no hang ({} calls, cycle {})\n", answer.calls, answer.cycle),
            });
        };
        Ok(match form {
            "json" => report.json(),
            "text" => report.to_string(),
            "html" => report.html(),
            "sarif" => report.sarif(),
            other => bail!("no form {other:?}; there are json, text, html and sarif"),
        })
    }
}
