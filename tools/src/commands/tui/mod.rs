//! `tilescope tui`: a tile to look at while it runs.
//!
//! [`view`] says what there is to see, `stepper` carries out a plan step by step, `draw` puts the
//! view on a terminal, and this file reads keys.

mod draw;
mod stepper;
pub mod view;

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use loader::plan::LaunchPlan;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use super::machine::MachineArgs;
use super::run::choose_firmware;
use crate::exit::Exit;
use stepper::Stepper;

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

Keys: s one epoch, n 100 cycles, e to the next handshake, c or space run on and stop, q quit
";

/// Look at a tile while it runs
///
/// Five cores with function, line and what they wait for; the wait gates, semaphores, circular
/// buffers and mailboxes; the last handshakes.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct TuiArgs {
    /// The plan, a TOML file (see `tilescope launch --help`); without it firmware only boots
    #[arg(value_name = "KERNELS.toml")]
    pub plan: Option<PathBuf>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// What a key asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Command {
    Step,
    Cycles,
    NextEvent,
    RunOrStop,
    Quit,
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
        _ => return None,
    })
}

/// Shows the tile until the user has seen enough.
///
/// # Errors
/// Standard output is no terminal; host mistakes as in `launch`.
pub fn run(args: &TuiArgs, out: &mut dyn Write) -> Result<Exit> {
    let launches = match &args.plan {
        Some(path) => LaunchPlan::read(path)?.launches,
        None => Vec::new(),
    };
    let set = choose_firmware(&args.machine, out)?;
    out.flush()?;
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!("tui needs a terminal; `tilescope why` and `tilescope launch` do not");
    }
    let config = args.machine.tile_config();
    let mut stepper = Stepper::new(config, &set, args.machine.logical, launches)?;
    let mut terminal = ratatui::init();
    let result = interact(&mut terminal, &mut stepper);
    ratatui::restore();
    result.map(|()| Exit::Ok)
}

fn interact(terminal: &mut DefaultTerminal, stepper: &mut Stepper) -> Result<()> {
    let epoch = stepper.tile().config().epoch.cycles();
    let mut is_running = false;
    loop {
        let picture = view::view(stepper.tile(), &stepper.names, stepper.buffers());
        let events: Vec<&str> =
            stepper.tile().observer().lines.iter().map(String::as_str).collect();
        terminal.draw(|frame| draw::draw(frame, &picture, &stepper.status, &events))?;
        let asked = if is_running && !event::poll(KEY_TIME)? {
            None
        } else {
            match event::read()? {
                Event::Key(key) => command(key),
                _ => None,
            }
        };
        match asked {
            Some(Command::Quit) => return Ok(()),
            Some(step @ (Command::Step | Command::Cycles | Command::NextEvent)) => {
                is_running = false;
                match step {
                    Command::Step => stepper.advance(epoch)?,
                    Command::Cycles => stepper.advance(100)?,
                    _ => stepper.advance_to_event(EVENT_CYCLES)?,
                };
            }
            Some(Command::RunOrStop) => is_running = !is_running,
            None => {}
        }
        if is_running {
            is_running = stepper.advance(SLICE_CYCLES)?;
        }
    }
}
