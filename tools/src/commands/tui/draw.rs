//! The view on a terminal.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::view::{CoreView, View};

/// What the last line says.
const KEYS: &str = "s step  n 100 cycles  e next event  c continue  Tab next tile  ? help  q quit";

/// What `?` shows: keys, and what the panes are.
pub(super) const HELP: &str = "\
s               one epoch; of several tiles one call of the host
n               100 cycles, or as much more as that call takes
e               to the next handshake of this tile
c, space        run on, and stop
Tab, right      the next tile; Shift-Tab, left: the one before
?, h, F1        this help; any key leaves it, q quits
q, Esc, Ctrl-C  quit

cores       running, parked (a poll that nobody has answered), waiting, in reset, faulted
wait gates  Tensix threads: what each is held by, and the instruction it holds back
semaphores  of the coprocessor; circular buffers: pages in them, pushed and popped
mailboxes   words on their way from core to core
events      the last handshakes of this tile, the newest last";

/// Puts the help over everything.
pub(super) fn help(frame: &mut Frame<'_>) {
    let lines = HELP.lines().count() as u16;
    let columns = HELP.lines().map(|line| line.chars().count()).max().unwrap_or(0) as u16;
    let whole = frame.area();
    let (width, height) = ((columns + 4).min(whole.width), (lines + 2).min(whole.height));
    let area = Rect { x: (whole.width - width) / 2, y: (whole.height - height) / 2, width, height };
    let text: Vec<Line<'_>> = HELP.lines().map(|line| Line::from(format!(" {line}"))).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(text).block(Block::bordered().title("help")), area);
}

/// Draws everything. `events` are the last handshakes, the newest last.
pub(super) fn draw(frame: &mut Frame<'_>, view: &View, status: &str, events: &[&str]) {
    let [head, cores, middle, tape, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(7),
        Constraint::Length(10),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let title = format!("tilescope  cycle {}  {status}", view.cycle);
    frame.render_widget(Line::from(title).bold(), head);
    for (pane, area) in
        view.cores.iter().zip(Layout::horizontal([Constraint::Fill(1); 5]).split(cores).iter())
    {
        core(frame, *area, pane);
    }
    let [gates, semaphores, buffers, mailboxes] = Layout::horizontal([
        Constraint::Fill(5),
        Constraint::Fill(3),
        Constraint::Fill(3),
        Constraint::Fill(4),
    ])
    .areas(middle);
    list(frame, gates, "wait gates", gate_lines(view));
    let rows = view.semaphores.iter().map(|(name, value)| format!("{name:<18} {value:>2}"));
    list(frame, semaphores, "semaphores", rows.collect());
    list(frame, buffers, "circular buffers", buffer_lines(view));
    let rows = view.mailboxes.iter().map(|(from, to, words)| format!("{from} -> {to}: {words:x?}"));
    list(frame, mailboxes, "mailboxes", rows.collect());
    let room = usize::from(tape.height.saturating_sub(2));
    let newest = &events[events.len().saturating_sub(room)..];
    list(frame, tape, "events", newest.iter().map(|line| (*line).to_owned()).collect());
    frame.render_widget(Line::from(KEYS).dim(), keys);
}

fn core(frame: &mut Frame<'_>, area: Rect, core: &CoreView) {
    let colour = match core.state {
        "running" => Color::Green,
        "faulted" | "halted" => Color::Red,
        "in reset" => Color::DarkGray,
        _ => Color::Yellow,
    };
    let place =
        if core.function.is_empty() { format!("{:#x}", core.pc) } else { core.function.clone() };
    let lines = vec![
        Line::from(core.state).fg(colour),
        Line::from(place),
        Line::from(core.line.clone()),
        Line::from(core.waits.clone()),
    ];
    let block = Block::bordered().title(core.core.name()).border_style(Style::new().fg(colour));
    let text = Paragraph::new(Text::from(lines)).wrap(Wrap { trim: true }).block(block);
    frame.render_widget(text, area);
}

fn gate_lines(view: &View) -> Vec<String> {
    let gate = |gate: &super::view::GateView| match &gate.waits {
        Some(waits) => {
            vec![format!("{}: {waits}", gate.thread), format!("    {}", gate.instruction)]
        }
        None => vec![format!("{}: open", gate.thread)],
    };
    view.gates.iter().flat_map(gate).collect()
}

fn buffer_lines(view: &View) -> Vec<String> {
    let line = |buffer: &super::view::BufferView| {
        let held = buffer.held();
        format!(
            "CB {:>2}: {held} of {} ({} in, {} out)",
            buffer.index, buffer.pages, buffer.pushed, buffer.popped
        )
    };
    view.buffers.iter().map(line).collect()
}

fn list(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<String>) {
    let lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}
