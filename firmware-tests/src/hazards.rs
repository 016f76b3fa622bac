//! The hazard corpus: every kernel with a bug is named right, its clean twin is silent.
//!
//! A folder of `hazards/` is called `<id>-<name>` and holds the plan of the buggy kernel
//! (`case.toml`) and of its twin (`clean.toml`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chip::ChipConfig;
use loader::diagnose::{Setup, diagnose};
use loader::firmware::FirmwareSet;
use loader::plan::{ChipPlan, LaunchPlan, Plan as KernelPlan};
use observe::BuiltInNames;
use observe::why::hazards::{Hazard, by_id};
use observe::why::{Checks, End, Explanation, Regions};
use replay::{Options, OwnChip, Plan};
use session::plan::{End as ChipEnd, PlanHost};
use session::second::Question;
use tile::{Stop, TileConfig};

use crate::golden;

/// How a plan of the corpus ended, and what was said.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict's name.
    pub end: &'static str,
    /// Ids of what was named, the one of the headline first.
    pub ids: Vec<&'static str>,
    /// The first line about the cause.
    pub headline: String,
    /// What a reader sees of the cause before anything else; of several tiles, one sentence.
    pub cause: String,
    /// All of it.
    pub report: String,
}

/// What became of a pair of kernels.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The folder's name.
    pub folder: String,
    /// The class it stands for.
    pub hazard: Hazard,
    /// How the buggy kernel ended, and what was named first.
    pub buggy: Judged,
    /// How the clean twin ended.
    pub clean: Judged,
    /// Lines that have to be edited, as the sources mark them.
    pub places: Vec<Marked>,
}

impl Outcome {
    /// What is wrong, if anything is.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        let named = &self.buggy.ids;
        if named.first() != Some(&self.hazard.id) {
            return Some(format!("the bug is named {named:?}"));
        }
        if let Some(place) = self.places.iter().find(|place| !place.is_named(&self.buggy.cause)) {
            return Some(format!("the report does not begin with {place}"));
        }
        let Judged { end, ids, .. } = &self.clean;
        if *end != End::Done.name() || !ids.is_empty() {
            return Some(format!("the clean twin ends {end} {ids:?}"));
        }
        None
    }
}

/// Marks the line of a kernel that has to be edited.
const MARK: &str = "/* HERE */";
/// Marks a line that the buggy kernel lacks. No report can name what has no code: the line before it, or the one
/// behind, is as good.
const MISSING: &str = "/* MISSING HERE */";

/// A line that a source marks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marked {
    /// `file.c`.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// Whether the buggy kernel has no code for it.
    pub missing: bool,
}

impl Marked {
    /// Whether a text names the line, or one beside it that is missing.
    #[must_use]
    pub fn is_named(&self, text: &str) -> bool {
        let reach = usize::from(self.missing);
        (self.line - reach..=self.line + reach).any(|line| names(text, &self.file, line))
    }
}

impl std::fmt::Display for Marked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, line, missing } = self;
        let beside = if *missing { ", which is missing, or a line beside it" } else { "" };
        write!(f, "{file}:{line}{beside}")
    }
}

/// Whether a text has `file:line`, and not `file:line0`.
fn names(text: &str, file: &str, line: usize) -> bool {
    let place = format!("{file}:{line}");
    let ends = |behind: &str| !behind.starts_with(|c: char| c.is_ascii_digit());
    text.match_indices(&place).any(|(at, _)| ends(&text[at + place.len()..]))
}

/// The marked lines of the sources of a folder.
fn marked(folder: &Path) -> Vec<Marked> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut marked = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|kind| kind != "c") {
            continue;
        }
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let missing = line.contains(MISSING);
            if missing || line.contains(MARK) {
                marked.push(Marked { file: file.to_owned(), line: at + 1, missing });
            }
        }
    }
    marked
}

/// What a reader sees before everything that has less to do with it.
fn leading(explanation: &Explanation) -> String {
    let text = explanation.to_string();
    let (lead, _) = text.split_once("\nothers\n").unwrap_or((&text, ""));
    let (lead, _) = lead.split_once("\nwarning[").unwrap_or((lead, ""));
    lead.to_owned()
}

fn of_one_tile(set: &FirmwareSet, plan: &LaunchPlan, setup: &Setup) -> Result<Judged, String> {
    let diagnosis = diagnose(set, &plan.launches, setup).map_err(|error| error.to_string())?;
    let explanation = diagnosis.explanation;
    let end = if diagnosis.wrong { End::WrongResult } else { explanation.end };
    Ok(Judged {
        end: end.name(),
        ids: explanation.ids(),
        headline: explanation.headline.clone(),
        cause: leading(&explanation),
        report: explanation.to_string(),
    })
}

fn of_several(set: &FirmwareSet, plan: ChipPlan) -> Result<Judged, String> {
    let config = ChipConfig { threads: 1, ..ChipConfig::default() };
    let host = PlanHost::new(plan, set, config, CHIP_LIMIT).map_err(|error| error.to_string())?;
    let answer = session::plan::why(&host, &Question::default());
    let answer = answer.map_err(|error| error.to_string())?;
    let mut judged = Judged {
        end: answer.end.name(),
        ids: Vec::new(),
        headline: String::new(),
        cause: String::new(),
        report: answer.outcome.faults.join("\n"),
    };
    if answer.end == ChipEnd::WrongResult {
        judged.headline = format!("{:?}", answer.outcome.wrong);
    }
    if let Some(report) = answer.report {
        judged.report.push_str(&report.to_string());
        judged.ids.extend(report.cause.hazard.map(|hazard| hazard.id));
        judged.headline.clone_from(&report.cause.headline);
        judged.cause = report.cause.headline;
    }
    // What would be said of a program that does not hang.
    judged.ids.extend(answer.warnings.iter().map(|warning| warning.finding.hazard.id));
    if let Some(first) = answer.warnings.first().filter(|_| judged.cause.is_empty()) {
        let observe::why::Finding { text, agent, place, .. } = &first.finding;
        judged.headline = format!("{text} ({agent} in {place})");
        judged.cause.clone_from(&judged.headline);
    }
    Ok(judged)
}

/// The folders of the corpus, in the order of their ids.
///
/// # Errors
/// The corpus cannot be read.
pub fn folders(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut folders: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_by_key(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let id = name.split('-').next().unwrap_or_default();
        let number = id.get(1..).and_then(|digits| digits.parse::<u32>().ok());
        (name.chars().next(), number, name)
    });
    Ok(folders)
}

/// Cycles after which a kernel of the corpus that proves nothing is stopped.
const LIMIT: u64 = 200_000;
/// The same of several tiles: a host that waits in vain does so for a while before it is called a hang.
const CHIP_LIMIT: u64 = 2_000_000;

/// How the corpus is diagnosed.
#[must_use]
pub fn setup() -> Setup {
    Setup { max_cycles: LIMIT, ..Setup::default() }
}

/// Runs one pair.
///
/// # Errors
/// The folder is not a pair of plans, or stands for no known class.
pub fn run(folder: &Path, set: &FirmwareSet, setup: &Setup) -> Result<Outcome, String> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let id = name.split('-').next().unwrap_or_default();
    let hazard = *by_id(id).ok_or_else(|| format!("{name}: no class has the id {id:?}"))?;
    let judged = |file: &str| match KernelPlan::read(&folder.join(file))
        .map_err(|error| error.to_string())?
    {
        KernelPlan::Tile(plan) => of_one_tile(set, &plan, setup),
        KernelPlan::Chip(plan) => of_several(set, plan),
    };
    let (buggy, clean) = (judged("case.toml")?, judged("clean.toml")?);
    Ok(Outcome { folder: name, hazard, buggy, clean, places: marked(folder) })
}

/// What is said about programs that have no bug, in words; and how many there are. Programs that
/// are made to be refused are left out.
///
/// # Errors
/// The vectors cannot be read or run.
pub fn noise_of_vectors(dir: &Path) -> Result<(Vec<String>, usize), String> {
    let groups = golden::load(dir).map_err(|error| error.to_string())?;
    let (mut noise, mut count) = (Vec::new(), 0);
    for group in &groups {
        for vector in group.vectors.iter().filter(|vector| vector.expect_error.is_none()) {
            let checks = Checks::new(BuiltInNames, Regions::default(), Vec::new());
            let (stop, tile) = golden::watch(group, vector, TileConfig::default(), checks)?;
            count += 1;
            let name = &vector.name;
            if let Stop::Quiescent(quiescence) = &stop {
                let stuck = quiescence.waits.iter().filter(|wait| wait.stuck);
                noise.extend(stuck.map(|wait| format!("{name}: DEADLOCK: {wait}")));
            } else {
                noise.push(format!("{name}: {stop:?}"));
            }
            let findings = tile.observer().findings().iter();
            noise.extend(findings.map(|one| format!("{name}: {}: {}", one.hazard.id, one.text)));
        }
    }
    Ok((noise, count))
}

/// The same of recorded host sessions: what a replay on our own chip reports, and how many
/// recordings there are.
///
/// # Errors
/// A recording cannot be read or replayed.
pub fn noise_of_recordings(dir: &Path) -> Result<(Vec<String>, usize), String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".rec.xz"));
    files.sort();
    let mut noise = Vec::new();
    for file in &files {
        let recording = Arc::new(replay::read(file).map_err(|error| error.to_string())?);
        let plan = Plan::of(&recording);
        let mut chip = OwnChip::new(ChipConfig::default());
        let outcome = replay::replay(&mut chip, &recording, &plan, &Options::default())?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        noise.extend(outcome.reports.iter().map(|report| format!("{name}: {report}")));
        if !outcome.passed() {
            noise.push(format!("{name}: reads differ"));
        }
    }
    Ok((noise, files.len()))
}

/// What stands above the table.
const PREFACE: &str = "\
# Hazards that are named

Written by `cargo run --release -p firmware-tests --bin hazards -- --table docs/hazards.md` from a run of the corpus: every kernel below
`firmware-tests/hazards/` has the bug of its class and a clean twin, made from one source, that nothing is said about.
`DEADLOCK` is a proof; the rest of a report says why. A class without `DEADLOCK` is a contract violation that is reported although the run ends.
The sources mark the line that has to be edited (`/* HERE */`): the run of the corpus looks for its file and line in front of everything that is
only beside the point. A line that the buggy kernel lacks (`/* MISSING HERE */`) has no code that could be named; the line before it or behind it counts.
Most classes have several kernels of different shapes: other cores in the roles, waits in functions, mistakes after good rounds, instructions
that come from the MOP or replay expander, and several waits of which one is the cause.

Classes with D are of [several tiles](plans.md). Their tables show the first line of a report over the chip, which names the tile, the core and the
line to edit.

Of a circle of waits, the member that says most about its cause gives the name: a mutex before a circular buffer, that before a core that waits for its own
thread, then semaphores, banks, and mailboxes last. When a program is done, words that nobody has read from a mailbox (A11), held mutexes (A10) and
full banks (A7) are reported too: they hang the next one.

Nothing is said about the reference vectors (`--vectors DIR`) and the recorded host sessions (`--recordings DIR`) either.

Not covered: A20 and A21 (silicon only), and of the B classes B2, B3 and B7 (when a unit takes a setting, and when a fill is done, is not
public), B4, B9 and B13. B5, B6, B14 and B15 are about what hardware does not wait for: the result is right here, or
was in this run. Of B5 a WRCFG right behind a SETDMAREG is left out, which kernels of the vendor have in many places. A16 is about a
core that has turned its data cache on, which firmware turns off; the simulated cores have none, so that what it names is right here. B11 is
reported where the data of a NoC write have not left in the simulated time, which has no congestion, and of a pop if something is pushed into
that buffer later in the launch: kernels leave pages where they are that they pop last. B10 and C17 of a page that its producer changes behind the push are
reported once another core takes something from that buffer: a page that nobody ever takes is scratch memory. B12 is reported of a core
that sends both itself, to the same place. C20 needs the header that a host writes for a compute kernel, which no kernel below has. C18 is
not reported of buffers into which nobody writes in the launch: a tensor that lies there is read beside who pushes and pops it. C21 is not
reported of a core that has polled something else than a buffer of its tile since, which may have told it. C22 is about pages into which nobody has
written since the launch, and that were popped once, as a tensor is pushed where it lies; and about those into which nobody has ever written; of both,
only if nor has anybody into one that was pushed with them: what fills a block up may hold anything. And it is about the second half of a page, or all but its first quarter, and
about those of a core that has waited for reads over a NoC and sent none, if they are read, or stay there and nobody has ever written into them. C9 of a host's program goes by what lies behind the arguments in the
launch's configuration: how many there are it does not say, nor whose the first are if nobody has any behind them. C25 is about buffers from which something was popped, but not about
what only fills up a push of which the rest was read and popped; and about those from which nothing was popped and whose reader has never gone on from what
was pushed first: what else is kept to the end is kept on purpose. C28 is about buffers that are popped in more than one step, or by a core that waits for its
writes and has sent none: a tensor that stays where it lies may be popped at once, as may a constant that is not needed, and reads of the host are not seen. Of the same
pages of each block it says so only of buffers that share no bytes and that an unpacker reads, behind two blocks of as many pages. Of buffers that
share bytes, as results and partial ones do, it is the one that was pushed there last whose data are read. C5 is about
words of L1: loads of cores, and what NoC transfers, unpackers, the mover and the scalar unit take of which a part was never written.
A transfer of nothing but unwritten words is taken for a copy: what is loaded from its destination is reported. An unpack of nothing but
unwritten words is reported once the coprocessor writes to L1 afterwards: a kernel that only wants a bank filled may unpack anything. Of a host's
program it is about cores that load from a page into which nobody has ever written, nor does until the kernels are done, or from elsewhere in L1 if
nothing lies in front of it that was written, which a loop may read ahead of; and about writes over a NoC to memory from where nobody has ever written. Compressed and
upsampled unpacks are not looked at, nor are reads of SrcA, SrcB, LReg 0 to 7 and semaphores that nobody has set; constants that a kernel can set, LReg
12 to 14, are. Of Dst it is about sections: whether
math, or unpack, has written anything to one since it was taken, where the vector unit loads from it or pack takes it; and, where pack clears what it
gives back, about their tiles, but not in sections in which math clears rows itself. C23 and C24 go by the names of
the vendor's library in debug information and their template arguments, not by what an operation is given when it is set up. Of what an operation leaves behind C24 knows what changes
the unpackers' and the packer's settings, and a reduction's edge masks; of those nothing behind a section of Dst that pack has not given back. C26 is about sections as a whole, and
about tiles that math copies there and of which neither the vector unit nor pack reads a row, where math moves nothing back from Dst: which results are packed is not looked at. C27
is about the formats that unpackers, matrix unit and packer go by, about GPRs and the replay buffer; what firmware has set once counts as set, but for
GPRs that it clears.

A poll is found in its first round, also one that calls functions. A loop that stores to L1 or to a device in every round (a heartbeat, a
waypoint) or looks at the clock is none, whatever it waits for: its stores are events that others may see. It ends as `NO-PROGRESS` at
`--max-cycles`, and the class of what it polls is named as a hint. A loop whose
registers come round only after several rounds is found by looking from time to time, up to 1,024 cycles late.

| id | name | kernel | verdict | what the report says first |
|---|---|---|---|---|
";

/// The table of the corpus in Markdown.
#[must_use]
pub fn table(outcomes: &[Outcome]) -> String {
    let mut text = String::from(PREFACE);
    for outcome in outcomes {
        let headline = outcome.buggy.headline.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| {} | {} | `{}` | {} | {headline} |",
            outcome.hazard.id, outcome.hazard.name, outcome.folder, outcome.buggy.end
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize, missing: bool) -> Marked {
        Marked { file: "a.c".to_owned(), line, missing }
    }

    #[test]
    fn place_is_named_by_its_whole_number() {
        assert!(at(11, false).is_named("in main a.c:11, pc 0x80"));
        assert!(!at(1, false).is_named("in main a.c:11, pc 0x80"));
        assert!(!at(10, false).is_named("in main a.c:11, pc 0x80"));
    }

    #[test]
    fn line_that_has_no_code_is_named_by_its_neighbours() {
        assert!(at(10, true).is_named("in main a.c:11"));
        assert!(at(12, true).is_named("in main a.c:11"));
        assert!(!at(13, true).is_named("in main a.c:11"));
    }
}
