//! The screen: pictures of a session, and keys that go elsewhere in it.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers, MouseButton, MouseEventKind,
};
use ratatui::crossterm::execute;
use ratatui::layout::Rect;
use sim_core::CoreId;

use super::draw;
use super::travels::{Travels, Way};
use crate::commands::machine::MachineArgs;
use crate::commands::of_plan::{forms_of_plan, records_of_plan};
use crate::commands::recorded::Recorded;
use crate::commands::source::{Source, chip_plan};
use crate::commands::taped::Taped;
use crate::commands::tiles::Tiles;
use crate::commands::views::ViewArgs;
use crate::exit::Exit;
use crate::interrupt::end_at_interrupt;

/// Cycles between two pictures while it plays.
const SLICE_CYCLES: u64 = 2_000;
/// Time for a key between two slices.
const KEY_TIME: Duration = Duration::from_millis(1);

const EXAMPLES: &str = "\
Examples:
  tilescope tui KERNELS.toml       boot, then the launches of a plan
  tilescope tui --embedded         tilescope's own firmware boots

  tilescope tui my.tstape          what a host program did, tile by tile

Keys: s one epoch, i an instruction, n 100 cycles, e to the next handshake, c to the next breakpoint or the end; with
Shift all of them go back. g goes to a cycle, b sets a breakpoint, w watches a word, y says why it hangs, q quits.
Of several tiles Tab and Shift-Tab, or the arrows, turn to others. The mouse drags the time line.
? shows all keys and what the panes are.
";

/// Look at a session, forwards and backwards
///
/// The session is carried out once; then any moment of it can be looked at: five cores with function, line and
/// what they wait for, the wait gates, semaphores, circular buffers and mailboxes, the source, the last handshakes.
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
    Epoch(Way),
    Instruction(Way),
    Cycles(Way),
    Event(Way),
    Continue(Way),
    End(Way),
    Closing,
    Play,
    GoTo,
    Break,
    Watch,
    Clear,
    Core(CoreId),
    Turn(isize),
    Why,
    Help,
    Quit,
}

fn command(key: KeyEvent) -> Option<Command> {
    use Way::{Back, On};
    Some(match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Command::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Command::Quit,
        KeyCode::Char('s') => Command::Epoch(On),
        KeyCode::Char('S') => Command::Epoch(Back),
        KeyCode::Char('i') => Command::Instruction(On),
        KeyCode::Char('I') => Command::Instruction(Back),
        KeyCode::Char('n') => Command::Cycles(On),
        KeyCode::Char('N') => Command::Cycles(Back),
        KeyCode::Char('e') => Command::Event(On),
        KeyCode::Char('E') => Command::Event(Back),
        KeyCode::Char('c') => Command::Continue(On),
        KeyCode::Char('C') => Command::Continue(Back),
        KeyCode::Char('$') | KeyCode::End => Command::End(On),
        KeyCode::Char('0') | KeyCode::Home => Command::End(Back),
        KeyCode::Char('x') => Command::Closing,
        KeyCode::Char(' ') => Command::Play,
        KeyCode::Char('g') => Command::GoTo,
        KeyCode::Char('b') => Command::Break,
        KeyCode::Char('w') => Command::Watch,
        KeyCode::Char('B') => Command::Clear,
        KeyCode::Char(digit @ '1'..='5') => {
            Command::Core(CoreId::ALL[usize::from(digit as u8 - b'1')])
        }
        KeyCode::Tab | KeyCode::Right => Command::Turn(1),
        KeyCode::BackTab | KeyCode::Left => Command::Turn(-1),
        KeyCode::Char('y') => Command::Why,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => Command::Help,
        _ => return None,
    })
}

/// Shows the session until the user has seen enough.
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
    if !(io::stdout().is_terminal() && io::stdin().is_terminal()) {
        bail!("tui needs a terminal; `tilescope why` and `tilescope launch` do not");
    }
    let wants_files = views.records.any() || views.wants_forms();
    let mut path = plan.clone();
    if let Some(chip) = chip_plan(path.as_deref(), program)? {
        if wants_files {
            Tiles::open(chip, machine, views, out)?.files(views, out)?;
        }
    } else {
        let source = Source::of(path.as_deref(), program, views, machine, out)?;
        if let Source::Tape(tape) = &source {
            if wants_files {
                Taped::open(tape, views)?.files(views, out)?;
            }
            path = Some(tape.clone());
        } else if wants_files {
            records_of_plan(&source, machine, views, None, out)?;
            forms_of_plan(&source, machine, views, out)?;
        }
    }
    let recorded = Recorded::of(path.as_deref(), &[], machine, &views.select, out)?;
    out.flush()?;
    show(&mut Travels::new(recorded)?)
}

fn show(travels: &mut Travels) -> Result<Exit> {
    let mut terminal = ratatui::init();
    // A terminal without a mouse is as good.
    let _ = execute!(io::stdout(), EnableMouseCapture);
    // One that goes away is told by a signal only.
    end_at_interrupt(leave);
    let result = Screen::default().interact(&mut terminal, travels);
    leave();
    result.map(|()| Exit::Ok)
}

/// Gives the terminal back as it was.
fn leave() {
    let _ = execute!(io::stdout(), DisableMouseCapture);
    ratatui::restore();
}

/// What is being typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    GoTo,
    Break,
    Watch,
}

impl Question {
    const fn words(self) -> &'static str {
        match self {
            Self::GoTo => "cycle: ",
            Self::Break => "function, file:line or address: ",
            Self::Watch => "address of a word of L1: ",
        }
    }
}

/// What lies over the panes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Over {
    Help,
    Why,
}

/// What the screen is at.
#[derive(Default, Debug)]
struct Screen {
    plays: bool,
    over: Option<(Over, usize)>,
    typing: Option<(Question, String)>,
}

/// Whether somebody has pressed a key, of which the next picture will know.
fn is_waiting() -> bool {
    event::poll(Duration::ZERO).unwrap_or(true)
}

impl Screen {
    fn interact(&mut self, terminal: &mut DefaultTerminal, travels: &mut Travels) -> Result<()> {
        loop {
            let size = terminal.size()?;
            let places = draw::places(Rect::new(0, 0, size.width, size.height));
            let picture = travels.picture(places.lines)?;
            let typed =
                self.typing.as_ref().map(|(asked, text)| format!("{}{text}", asked.words()));
            let over = self.over.map(|(over, from)| match over {
                Over::Help => ("help", draw::HELP.to_owned(), from),
                Over::Why => ("why", travels.why().to_owned(), from),
            });
            let mut from = 0;
            terminal.draw(|frame| {
                draw::draw(frame, &picture, typed.as_deref());
                if let Some((title, text, first)) = &over {
                    from = draw::over(frame, title, text, *first);
                }
            })?;
            if let Some((_, first)) = &mut self.over {
                *first = from;
            }
            if !self.plays || event::poll(KEY_TIME)? {
                let mut event = event::read()?;
                // Of a mouse that is dragged only where it is now counts.
                while is_drag(&event) && event::poll(Duration::ZERO)? {
                    event = event::read()?;
                }
                if !self.heed(&event, places.time, travels)? {
                    return Ok(());
                }
            }
            self.plays = self.plays && travels.pass(SLICE_CYCLES, Way::On);
        }
    }

    /// Does what an event asks for; `false`: the user has seen enough.
    fn heed(&mut self, event: &Event, time: Rect, travels: &mut Travels) -> Result<bool> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Press => {
                if self.typing.is_some() {
                    self.typed(*key, travels);
                    return Ok(true);
                }
                if let Some((_, from)) = &mut self.over {
                    match key.code {
                        KeyCode::Up => *from = from.saturating_sub(1),
                        KeyCode::Down => *from += 1,
                        KeyCode::PageUp => *from = from.saturating_sub(20),
                        KeyCode::PageDown => *from += 20,
                        _ => {
                            self.over = None;
                            // Esc leaves only what lies over the panes.
                            let quits = command(*key) == Some(Command::Quit);
                            return Ok(!quits || key.code == KeyCode::Esc);
                        }
                    }
                    return Ok(true);
                }
                match command(*key) {
                    Some(Command::Quit) => return Ok(false),
                    Some(asked) => self.carry_out(asked, travels)?,
                    None => {}
                }
            }
            Event::Mouse(mouse) => {
                let pressed = MouseEventKind::Down(MouseButton::Left);
                let on_line = mouse.row == time.y && mouse.kind == pressed;
                if on_line || is_drag(event) && mouse.row.abs_diff(time.y) <= 1 {
                    self.plays = false;
                    travels.go_to_part(draw::part(time, mouse.column));
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn typed(&mut self, key: KeyEvent, travels: &mut Travels) {
        let Some((asked, text)) = &mut self.typing else { return };
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.typing = None;
            }
            KeyCode::Char(c) => text.push(c),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Esc => self.typing = None,
            KeyCode::Enter => {
                match asked {
                    Question::GoTo => travels.go_to_typed(text),
                    Question::Break => travels.toggle(text),
                    Question::Watch => travels.watch(text),
                }
                self.typing = None;
            }
            _ => {}
        }
    }

    fn carry_out(&mut self, asked: Command, travels: &mut Travels) -> Result<()> {
        let ask = |question| Some((question, String::new()));
        let played = std::mem::take(&mut self.plays);
        match asked {
            Command::Epoch(way) => travels.pass_epoch(way),
            Command::Instruction(way) => travels.pass_instruction(way),
            Command::Cycles(way) => drop(travels.pass(100, way)),
            Command::Event(way) => travels.pass_event(way)?,
            Command::Continue(way) => travels.run(way, &mut || !is_waiting()),
            Command::End(way) => travels.go_to_end(way),
            Command::Closing => travels.go_to_closing()?,
            Command::Play => self.plays = !played,
            Command::GoTo => self.typing = ask(Question::GoTo),
            Command::Break => self.typing = ask(Question::Break),
            Command::Watch => self.typing = ask(Question::Watch),
            Command::Clear => travels.clear(),
            Command::Core(core) => travels.choose(core),
            Command::Turn(by) => travels.turn(by),
            Command::Why => self.over = Some((Over::Why, 0)),
            Command::Help => self.over = Some((Over::Help, 0)),
            Command::Quit => {}
        }
        Ok(())
    }
}

fn is_drag(event: &Event) -> bool {
    matches!(event, Event::Mouse(mouse) if mouse.kind == MouseEventKind::Drag(MouseButton::Left))
}
