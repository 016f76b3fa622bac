//! The explanation as text: the cause first, then how it holds everybody else.

use std::fmt::{self, Write as _};

use super::{
    Cell, Decision, End, Explanation, Finding, Held, Ledgered, Link, Running, Writer, WrongWord,
    WrongWords,
};
use crate::names::Excerpt;

/// Width of a column of the ledger.
const COLUMN: usize = 46;

fn place(link: &Link) -> String {
    match (&link.code, link.pc) {
        (Some(code), Some(pc)) => format!("{code}, pc {pc:#x}"),
        (None, Some(pc)) => format!("pc {pc:#x}"),
        _ => String::new(),
    }
}

fn link(f: &mut fmt::Formatter<'_>, link: &Link, mark: &str) -> fmt::Result {
    let since = link.since.map_or_else(String::new, |since| format!(" since cycle {since}"));
    writeln!(f, "  {mark} {} {}{since}", link.agent, link.text)?;
    let place = place(link);
    if !place.is_empty() {
        match &link.instruction {
            Some(instruction) => writeln!(f, "      at {instruction}, pushed in {place}")?,
            None => writeln!(f, "      in {place}")?,
        }
    }
    for caller in &link.callers {
        writeln!(f, "      called in {caller}")?;
    }
    excerpt(f, link.source.as_ref())?;
    let values = link.values.iter().map(|one| format!("{} = {}", one.name, one.value));
    let values: Vec<_> = values.collect();
    if !values.is_empty() {
        writeln!(f, "      where {}", values.join(", "))?;
    }
    match &link.held {
        Some(held) => writeln!(f, "      holds back {held}"),
        None => Ok(()),
    }
}

/// The mistake that came first.
fn violation(f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
    let Finding { agent, cycle, pc, place, callers, source, text, count, .. } = finding;
    writeln!(f, "  * {agent} at cycle {cycle}: {text}")?;
    match finding.code {
        Some(_) => writeln!(f, "      in {place}, pc {pc:#x}")?,
        None => writeln!(f, "      in {place}")?,
    }
    for caller in callers {
        writeln!(f, "      called in {caller}")?;
    }
    excerpt(f, source.as_ref())?;
    if *count > 1 {
        writeln!(f, "   = {count} times")?;
    }
    Ok(())
}

impl fmt::Display for WrongWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before: Option<&Writer> = None;
        for WrongWord { address, expected, found, writer } in self.words {
            let place = self.place;
            writeln!(
                f,
                "    {place} {address:#x}: expected {expected:#010x}, found {found:#010x}"
            )?;
            match writer {
                Some(writer) => last_write(f, writer, before)?,
                None => writeln!(f, "      nobody has written it")?,
            }
            before = writer.as_ref();
        }
        Ok(())
    }
}

/// Who wrote a word last; what is the same as of the word before is not said twice.
fn last_write(f: &mut fmt::Formatter<'_>, writer: &Writer, before: Option<&Writer>) -> fmt::Result {
    let Writer { tile, agent, cycle, pc, instruction, sent, code, source, callers, .. } = writer;
    let agent = crate::describe::agent_name(*agent);
    write!(f, "      written last by {agent}")?;
    if let Some((x, y)) = tile {
        write!(f, " of tile ({x}, {y})")?;
    }
    write!(f, " at cycle {cycle}")?;
    match instruction {
        Some(instruction) => write!(f, ": {instruction}, pushed")?,
        None if let Some(sent) = sent => write!(f, ": {sent},")?,
        None if code.is_some() && agent.starts_with("NoC") => write!(f, ", started")?,
        None => {}
    }
    match (code, pc) {
        (Some(code), Some(pc)) => writeln!(f, " in {code}, pc {pc:#x}")?,
        (None, Some(pc)) => writeln!(f, " in pc {pc:#x}")?,
        _ => writeln!(f)?,
    }
    if before.is_some_and(|before| (before.pc, &before.code, before.tile) == (*pc, code, *tile)) {
        return Ok(());
    }
    for caller in callers {
        writeln!(f, "      called in {caller}")?;
    }
    excerpt(f, source.as_ref())
}

/// The line of source with a caret below what the instruction belongs to.
fn excerpt(f: &mut fmt::Formatter<'_>, source: Option<&Excerpt>) -> fmt::Result {
    let Some(source) = source else { return Ok(()) };
    let span = source.span();
    let marked = |c: char| if c == '\t' { '\t' } else { ' ' };
    let before: String = source.text.chars().take(span.start).map(marked).collect();
    writeln!(f, "  {:>7} | {}", source.line, source.text)?;
    writeln!(f, "  {:>7} | {before}{}", "", "^".repeat(span.len()))
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instruction, pc, code } = self;
        match code {
            Some(code) => write!(f, "{instruction}, pushed in {code}, pc {pc:#x}"),
            None => write!(f, "{instruction}, pushed in pc {pc:#x}"),
        }
    }
}

fn cell(cell: Option<&Cell>) -> String {
    match cell {
        Some(cell) if cell.waits => {
            format!("WAITS {} {} since {}", cell.agent, cell.place, cell.cycle)
        }
        Some(cell) => format!("{} {} @{}", cell.agent, cell.place, cell.cycle),
        None => "--".to_owned(),
    }
}

fn clipped(text: &str) -> String {
    if text.chars().count() <= COLUMN {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(COLUMN - 2).collect();
    short.push_str("..");
    short
}

fn ledger(f: &mut fmt::Formatter<'_>, ledger: &Ledgered) -> fmt::Result {
    let (give, take) = ledger.verbs;
    let (given, taken) = ledger.totals;
    writeln!(f, "\nledger of {}: {given} x {give}, {taken} x {take}", ledger.resource)?;
    if !ledger.pairs.is_empty() {
        writeln!(f, "  {:>5}  {give:<COLUMN$}  {take}", "#")?;
    }
    let mut launch = ledger.pairs.first().and_then(|pair| pair.launch.as_ref());
    for pair in &ledger.pairs {
        if let (Some(next), true) = (&pair.launch, pair.launch.as_ref() != launch) {
            writeln!(f, "         -- launch {next} --")?;
            launch = Some(next);
        }
        let mark = if ledger.divergent == Some(pair.number) { "  <== here" } else { "" };
        let (give, take) = (cell(pair.give.as_ref()), cell(pair.take.as_ref()));
        let line = format!("{:<COLUMN$}  {}{mark}", clipped(&give), clipped(&take));
        writeln!(f, "  {:>5}  {line}", pair.number)?;
    }
    if let Some(number) = ledger.divergent {
        writeln!(f, "  first pair that does not fit: {number}; {}", ledger.why)?;
    }
    for lost in &ledger.ignored {
        writeln!(f, "  without effect: {} {} @{}", lost.agent, lost.place, lost.cycle)?;
    }
    if ledger.ignored_count > ledger.ignored.len() {
        writeln!(f, "  and {} more without effect", ledger.ignored_count - ledger.ignored.len())?;
    }
    for site in &ledger.sites {
        writeln!(f, "  {site}")?;
    }
    Ok(())
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        if let Some(finding) = self.led_by.and_then(|at| self.findings.get(at)) {
            writeln!(f, "\ncause")?;
            violation(f, finding)?;
        }
        if let Some(wrong) = &self.wrong {
            if !wrong.words.is_empty() {
                writeln!(f, "\nwrong")?;
            }
            write!(f, "{}", WrongWords { place: "L1", words: &wrong.words })?;
        }
        if let Some((root, rest)) = self.chain.split_last() {
            let what = if self.led_by.is_some() { "what hangs" } else { "cause" };
            writeln!(f, "\n{what}{}", if self.circle { " (a circle)" } else { "" })?;
            link(f, &self.waits[*root], "*")?;
            let circle = (0..self.waits.len()).filter(|at| self.waits[*at].root && at != root);
            for at in circle {
                link(f, &self.waits[at], "*")?;
            }
            let held: Vec<_> = rest.iter().filter(|at| !self.waits[**at].root).collect();
            if !held.is_empty() {
                writeln!(f, "which holds")?;
            }
            for at in held.into_iter().rev() {
                link(f, &self.waits[*at], "<")?;
            }
        }
        if let Some(missing) = &self.missing {
            writeln!(f, "\nmissing: {missing}")?;
        }
        if !self.decisions.is_empty() {
            writeln!(f, "\ndecided")?;
        }
        for Decision { agent, text, pc, code, source, callers, .. } in &self.decisions {
            writeln!(f, "    {agent} {text}")?;
            match code {
                Some(code) => writeln!(f, "      in {code}, pc {pc:#x}")?,
                None => writeln!(f, "      in pc {pc:#x}")?,
            }
            for caller in callers {
                writeln!(f, "      called in {caller}")?;
            }
            excerpt(f, source.as_ref())?;
        }
        if !self.supposed.is_empty() {
            writeln!(f, "\nwhat if")?;
        }
        for supposed in &self.supposed {
            writeln!(f, "    {}", supposed.text)?;
        }
        if let Some(books) = &self.ledger {
            ledger(f, books)?;
        }
        if !self.running.is_empty() {
            writeln!(f, "\nrunning")?;
        }
        for Running { agent, text, pc, code } in &self.running {
            let place = code.as_ref().map_or_else(String::new, |code| format!("{code}, "));
            writeln!(f, "    {agent} {text} [{place}pc {pc:#x}]")?;
        }
        self.others(f)?;
        for next in &self.next {
            writeln!(f, "help: {next}")?;
        }
        Ok(())
    }
}

impl Explanation {
    /// What it is, and where it belongs.
    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.hazard.map_or_else(String::new, |hazard| format!("[{}]", hazard.id));
        let name = self.hazard.map_or_else(String::new, |hazard| format!(" {}:", hazard.name));
        let mut head = format!("{}{id}:{name} {}", self.end.name(), self.headline);
        if let Some(closed) = self.closed {
            let _ = write!(head, "\n  --> closed at cycle {closed}, found at cycle {}", self.found);
        }
        writeln!(f, "{head}")?;
        if let Some(hazard) = self.hazard {
            writeln!(f, "   = {}", hazard.doc)?;
        }
        if let (Some(launch), true) = (&self.launch, self.end != End::Done) {
            writeln!(f, "   = in launch {launch}")?;
        }
        if let Some(launch) = &self.left_by {
            writeln!(f, "   = left behind by launch {launch}")?;
        }
        if let Some(symptom) = &self.symptom {
            writeln!(f, "   = what hangs: {symptom}")?;
        }
        // A violation on the way is the headline: it may well be the cause.
        if let Some(wrong) = self.wrong.as_ref().filter(|_| self.hazard.is_some()) {
            writeln!(f, "   = {wrong}")?;
        }
        Ok(())
    }

    fn others(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |at: &usize| self.chain.contains(at) || self.waits[*at].root;
        let others: Vec<_> = (0..self.waits.len()).filter(|at| !told(at)).collect();
        if !others.is_empty() {
            writeln!(f, "\nothers")?;
        }
        for at in others {
            let link = &self.waits[at];
            let mark = if link.stuck { '*' } else { ' ' };
            writeln!(f, "  {mark} {} {} [{}]", link.agent, link.text, place(link))?;
        }
        for (at, finding) in self.findings.iter().enumerate() {
            if self.led_by == Some(at) {
                continue;
            }
            let hazard = finding.hazard;
            writeln!(f, "\nwarning[{}]: {}: {}", hazard.id, hazard.name, finding.text)?;
            writeln!(f, "  --> {}, cycle {}, {}", finding.agent, finding.cycle, finding.place)?;
            for caller in &finding.callers {
                writeln!(f, "      called in {caller}")?;
            }
            excerpt(f, finding.source.as_ref())?;
            if finding.count > 1 {
                writeln!(f, "   = {} times", finding.count)?;
            }
        }
        writeln!(f)
    }
}
