//! The view on a terminal.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::travels::{Picture, SourceLine};
use super::view::{CoreView, View};

/// What the last line says if nothing is typed.
const KEYS: &str = "s epoch  i instruction  n 100 cycles  e event  c continue (capitals: back)  b breakpoint  y why  ? help  \
                    q quit";

/// What `?` shows: keys, and what the panes are.
pub(super) const HELP: &str = "\
s, S            one epoch on, back
i, I            one instruction of the chosen core on, back
n, N            100 cycles and the rest of their epoch on, back
e, E            behind the next handshake of this tile, before the last one
c, C            on, back to the next breakpoint or watchpoint; else to the end, the beginning; a key stops it
space           play, and stop
g               go to a cycle; Home, 0 to the beginning; End, $ to the end
x               to where the last came to what it waits for at the end: a hang closed there
the mouse       on the time line: goes there, also dragged
b               breakpoint at a function, file:line or address; Enter alone: here; again: none there
w               stop where a word of L1 is written; again: no longer;  B: stop nowhere
1 to 5          source of BRISC, TRISC0, TRISC1, TRISC2, NCRISC
Tab, right      the next tile; Shift-Tab, left: the one before
y               why the session ends as it does
?, h, F1        this help; any key leaves it, q quits
q, Esc, Ctrl-C  quit

cores       running, parked (a poll that nobody has answered), waiting, in reset, faulted
wait gates  Tensix threads: what each is held by, and the instruction it holds back
semaphores  of the coprocessor; circular buffers: pages in them, pushed and popped
mailboxes   words on their way from core to core
events      the last handshakes of this tile, the newest last
time line   the whole session, with its launches; within an epoch only cores are further than its beginning";

/// A line cut into parts that fit, the further ones indented.
fn folded(line: &str, width: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest: Vec<char> = line.chars().collect();
    while rest.len() > width.max(8) {
        let space = rest[..width].iter().rposition(|c| *c == ' ').filter(|at| *at > width / 2);
        let behind = rest.split_off(space.unwrap_or(width));
        parts.push(rest.into_iter().collect());
        let indent = "    ".chars();
        rest = indent.chain(behind.into_iter().skip_while(|c| *c == ' ')).collect();
    }
    parts.push(rest.into_iter().collect());
    parts
}

/// Puts a text over everything, from that line of it on. Gives from which it could be.
pub(super) fn over(frame: &mut Frame<'_>, title: &str, text: &str, from: usize) -> usize {
    let whole = frame.area();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0) as u16;
    let width = widest.saturating_add(4).min(whole.width);
    let all: Vec<String> =
        text.lines().flat_map(|line| folded(line, usize::from(width.saturating_sub(4)))).collect();
    let lines = all.len();
    let height = (lines as u16).saturating_add(2).min(whole.height);
    let area = Rect { x: (whole.width - width) / 2, y: (whole.height - height) / 2, width, height };
    let room = usize::from(height.saturating_sub(2));
    let from = from.min(lines.saturating_sub(room));
    let shown = all.iter().skip(from).take(room);
    let shown: Vec<Line<'_>> = shown.map(|line| Line::from(format!(" {line}"))).collect();
    let title = match lines > room {
        true => format!("{title}: {} to {} of {lines}, arrows move", from + 1, from + room),
        false => title.to_owned(),
    };
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(shown).block(Block::bordered().title(title)), area);
    from
}

/// Where the panes lie whose size somebody must know.
pub(super) struct Places {
    /// The time line.
    pub(super) time: Rect,
    /// Lines of source and of events.
    pub(super) lines: usize,
}

fn panes(area: Rect) -> [Rect; 6] {
    Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(7),
        Constraint::Length(10),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(area)
}

/// Where panes lie on a screen of that size.
pub(super) fn places(area: Rect) -> Places {
    let [_, _, _, below, time, _] = panes(area);
    Places { time, lines: usize::from(below.height.saturating_sub(2)) }
}

/// Draws everything. What is being `typed` is the last line.
pub(super) fn draw(frame: &mut Frame<'_>, picture: &Picture, typed: Option<&str>) {
    let view = &picture.view;
    let [head, cores, middle, below, time, keys] = panes(frame.area());
    let title = format!("tilescope  cycle {}  {}", view.cycle, picture.status);
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
    let [source, tape] = Layout::horizontal([Constraint::Fill(1); 2]).areas(below);
    source_pane(frame, source, picture);
    list(frame, tape, "events", picture.events.clone());
    time_line(frame, time, picture);
    match typed {
        Some(typed) => frame.render_widget(Line::from(format!("{typed}_")).bold(), keys),
        None => frame.render_widget(Line::from(KEYS).dim(), keys),
    }
}

fn source_pane(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let line = |line: &SourceLine| {
        let mark = if line.breaks { '*' } else { ' ' };
        let arrow = if line.is_here { '>' } else { ' ' };
        let text = format!("{mark}{arrow}{:>5}  {}", line.number, line.text.replace('\t', "    "));
        let text = Span::from(text);
        Line::from(if line.is_here { text.bold() } else { text })
    };
    let lines: Vec<Line<'_>> = picture.source.iter().map(line).collect();
    let title = format!("{}: {}", picture.core, picture.place);
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}

/// Column of a part of the session.
fn column(part: f64, width: u16) -> usize {
    (part * f64::from(width.saturating_sub(1))).round() as usize
}

fn time_line(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let mut cells = vec!['-'; usize::from(area.width)];
    for mark in &picture.marks {
        if let Some(cell) = cells.get_mut(column(*mark, area.width)) {
            *cell = '|';
        }
    }
    let here = column(picture.position, area.width);
    if let Some(cell) = cells.get_mut(here) {
        *cell = '#';
    }
    let text: String = cells.into_iter().collect();
    frame.render_widget(Line::from(text).fg(Color::Cyan), area);
}

/// The part of the session that a column of the time line stands for.
pub(super) fn part(area: Rect, column: u16) -> f64 {
    let width = area.width.saturating_sub(1).max(1);
    f64::from(column.saturating_sub(area.x)) / f64::from(width)
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
