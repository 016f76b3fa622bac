//! The screen: pictures of a model, and keys that make it go on.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use super::playing::Playing;
use super::stepper::Stepper;
use super::{draw, view};
use crate::commands::machine::MachineArgs;
use crate::commands::run::choose_firmware;
use crate::commands::taped::Taped;
use crate::commands::tiles::Tiles;
use crate::commands::views::{Source, ViewArgs, forms_of_plan, records_of_plan};
use crate::exit::Exit;

/// Cycles between two pictures while it runs on.
const SLICE_CYCLES: u64 = 2_000;
/// Time for a key between two slices.
const KEY_TIME: Duration = Duration::from_millis(1);
/// Cycles in which the next event is looked for.
const EVENT_CYCLES: u64 = 1_000_000;

const EXAMPLES: &str = "\
Examples:
  tilescope tui KERNELS.toml       boot, then the launches of a plan
  tilescope tui --embedded         tilescope's own firmware boots

  tilescope tui my.tstape          what a host program did, tile by tile

Keys: s one epoch, n 100 cycles, e to the next handshake, c or space run on and stop, q quit
Of several tiles a step is at least one call of the host; Tab and Shift-Tab, or the arrows, turn to other tiles.
? shows all keys and what the panes are.
";

/// Look at a tile while it runs
///
/// Five cores with function, line and what they wait for; the wait gates, semaphores, circular
/// buffers and mailboxes; the last handshakes.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct TuiArgs {
    /// The plan, a TOML file (see `tilescope launch --help`), or the tape or recording of a host program;
    /// without it firmware only boots
    #[arg(value_name = "SESSION", conflicts_with = "program")]
    pub plan: Option<PathBuf>,
    /// A host program and its arguments: it is run as `tilescope run` does, and its tape is played
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// What is written besides, before the screen is taken.
    #[command(flatten)]
    pub views: ViewArgs,
}

/// What a key asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Command {
    Step,
    Cycles,
    NextEvent,
    RunOrStop,
    NextTile,
    LastTile,
    Help,
    Quit,
}

/// What is looked at and goes on when told to.
pub(super) trait Model {
    /// What there is to see now.
    fn picture(&mut self) -> view::View;
    /// What it says of itself, in a line.
    fn status(&self) -> String;
    /// The last handshakes, the newest last.
    fn events(&mut self) -> Vec<String>;
    /// Cycles of the smallest step.
    fn step(&self) -> u64;
    /// Goes on for at most that many cycles; whether it can go on further.
    fn advance(&mut self, cycles: u64) -> Result<bool>;
    /// Goes on to the next handshake; whether there was one within that many cycles.
    fn advance_to_event(&mut self, cycles: u64) -> Result<bool>;
    /// Looks at another tile, that many further in the list.
    fn turn(&mut self, _by: isize) {}
}

fn command(key: event::KeyEvent) -> Option<Command> {
    if key.kind != KeyEventKind::Press {
        return None;
    }
    Some(match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Command::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Command::Quit,
        KeyCode::Char('s') => Command::Step,
        KeyCode::Char('n') => Command::Cycles,
        KeyCode::Char('e') => Command::NextEvent,
        KeyCode::Char('c' | ' ') => Command::RunOrStop,
        KeyCode::Tab | KeyCode::Right => Command::NextTile,
        KeyCode::BackTab | KeyCode::Left => Command::LastTile,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => Command::Help,
        _ => return None,
    })
}

/// Whether a key quits wherever one is: Esc leaves the help first.
fn is_quit(key: event::KeyEvent) -> bool {
    key.code != KeyCode::Esc
}

/// Shows the tile until the user has seen enough.
///
/// # Errors
/// Standard output is no terminal; host mistakes as in `launch`.
pub fn run(args: &TuiArgs, out: &mut dyn Write) -> Result<Exit> {
    let TuiArgs { plan, program, machine, views } = args;
    if views.forms.json {
        bail!(
            "--json is not for tui, which is for looking; `tilescope state --json` is for programs"
        );
    }
    let is_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    let no_terminal = "tui needs a terminal; `tilescope why` and `tilescope launch` do not";
    if let Some(chip) = crate::commands::views::chip_plan(plan.as_deref(), program)? {
        if !is_terminal {
            bail!("{no_terminal}");
        }
        let tiles = Tiles::open(chip, machine, views, out)?;
        tiles.files(views, out)?;
        out.flush()?;
        return show(&mut Playing::new(&tiles.asked)?);
    }
    let source = Source::of(plan.as_deref(), program, views, machine, out)?;
    if let Source::Tape(path) = &source {
        if !is_terminal {
            bail!("{no_terminal}");
        }
        let session = Taped::open(path, views)?;
        session.files(views, out)?;
        out.flush()?;
        return show(&mut Playing::new(&session)?);
    }
    let launches = source.launches()?;
    let set = choose_firmware(machine, out)?;
    out.flush()?;
    if !is_terminal {
        bail!("{no_terminal}");
    }
    records_of_plan(&source, machine, views, out)?;
    forms_of_plan(&source, machine, views, out)?;
    out.flush()?;
    show(&mut Stepper::new(machine.tile_config(), &set, machine.logical, launches)?)
}

fn show(model: &mut dyn Model) -> Result<Exit> {
    let mut terminal = ratatui::init();
    let result = interact(&mut terminal, model);
    ratatui::restore();
    result.map(|()| Exit::Ok)
}

fn interact(terminal: &mut DefaultTerminal, model: &mut dyn Model) -> Result<()> {
    let epoch = model.step();
    let (mut is_running, mut helps) = (false, false);
    loop {
        let (picture, events, status) = (model.picture(), model.events(), model.status());
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        terminal.draw(|frame| {
            draw::draw(frame, &picture, &status, &events);
            if helps {
                draw::help(frame);
            }
        })?;
        let asked = if is_running && !event::poll(KEY_TIME)? {
            None
        } else {
            match event::read()? {
                Event::Key(key) if helps && key.kind == KeyEventKind::Press => {
                    helps = false;
                    command(key).filter(|asked| *asked == Command::Quit && is_quit(key))
                }
                Event::Key(key) => command(key),
                _ => None,
            }
        };
        match asked {
            Some(Command::Help) => (helps, is_running) = (true, false),
            Some(Command::Quit) => return Ok(()),
            Some(step @ (Command::Step | Command::Cycles | Command::NextEvent)) => {
                is_running = false;
                match step {
                    Command::Step => model.advance(epoch)?,
                    Command::Cycles => model.advance(100)?,
                    _ => model.advance_to_event(EVENT_CYCLES)?,
                };
            }
            Some(Command::RunOrStop) => is_running = !is_running,
            Some(Command::NextTile) => model.turn(1),
            Some(Command::LastTile) => model.turn(-1),
            None => {}
        }
        if is_running {
            is_running = model.advance(SLICE_CYCLES)?;
        }
    }
}
